"""einx, jaxtyping and beartype: operations in words, and shapes that are checked."""

import einx
import torch
from beartype import beartype
from jaxtyping import Float, jaxtyped
from shown import show

torch.manual_seed(0)
x, y = torch.randn(2, 3, 4, requires_grad=True), torch.randn(4, 5)
show("sum", einx.sum("a [b] c", x))
show("dot", einx.dot("a b [c], [c] d -> a b d", x, y))
show("rearrange", einx.id("a (b c) d -> a b c d", torch.arange(24.0).reshape(2, 4, 3), b=2))
show("softmax", einx.softmax("a b [c]", x))
result = einx.mean("a [...]", einx.multiply("a b c, b -> a b c", x, torch.arange(3.0)))
result.sum().backward()
show("gradient", x.grad)
Matrix = Float[torch.Tensor, "rows columns"]
Line = Float[torch.Tensor, " columns"]


@jaxtyped(typechecker=beartype)
def scaled(x: Matrix, by: Line) -> Matrix:
    """The columns, scaled."""
    return x * by


show("checked", scaled(y, torch.ones(5)))
try:
    scaled(y, torch.ones(4))
    show("refused", False)
except Exception as error:
    show("refused", type(error).__name__)
