"""Sums, products, quotients and powers, elementwise with broadcasting."""

from __future__ import annotations

from typing import Any

from ..declare import op


@op(operator="add", inplace=True)
def add(self: Any, other: Any, /, alpha: Any = 1) -> Any:
    """The elementwise sum ``self + alpha * other``, with broadcasting."""
    return self + other if alpha == 1 else self + other * self.dtype.type(alpha)


add.typed_as("promote")
add.derivative(
    self=lambda grad: grad,
    other=lambda grad, alpha: grad if alpha == 1 else grad * alpha,
)


@op("multiply", operator="mul", inplace=True)
def mul(self: Any, other: Any, /) -> Any:
    """The elementwise product, with broadcasting."""
    return self * other


mul.typed_as("promote")
mul.derivative(self=lambda grad, other: grad * other, other=lambda grad, self: grad * self)
