"""What tensors are not here but may be in PyTorch (sparse, nested, elsewhere), and what they can be taken for."""

from __future__ import annotations

import itertools
import operator
from collections.abc import Sequence
from typing import Any

from ...core.tensor import Tensor, new
from ...ground import dtypes
from ...ground.size import Size
from ..declare import composite
from ..primitive.shape import alias
from .join import stack
from .query import stride

for _name, _doc in {
    "is_nested": "False: no tensor is nested.", "is_sparse_csr": "False: all tensors are strided.",
    "is_mtia": "False: no tensor lives on an MTIA device.", "is_vulkan": "False: no tensor lives on a Vulkan device.",
    "is_xla": "False: no tensor lives on an XLA device.", "is_ipu": "False: no tensor lives on an IPU.",
    "is_maia": "False: no tensor lives on a MAIA device.", "volatile": "False: an attribute of long ago.",
}.items():  # fmt: skip
    composite(function=False, name=_name)(property(lambda self: False, doc=_doc))  # type: ignore[arg-type]

composite(function=False, name="name")(property(lambda self: None, doc="None: tensors have no names."))  # type: ignore[arg-type]


@composite()
def is_distributed(input: Tensor) -> bool:
    """False: every tensor is of this process."""
    return False


@composite(function=False)
def to_dense(self: Tensor, dtype: Any = None, *, masked_grad: bool | None = None) -> Tensor:
    """The tensor itself, which is dense, or a copy of another dtype."""
    return self if dtype is None else self.to(dtype)  # type: ignore[attr-defined,no-any-return]


@composite(function=False)
def sparse_dim(self: Tensor) -> int:
    """0: no dimension is sparse."""
    return 0


@composite(function=False)
def dense_dim(self: Tensor) -> int:
    """The number of dimensions, all dense."""
    return self._array.ndim


def _strided_only(name: str, wanted: str) -> None:
    def refuse(self: Tensor, *args: Any) -> Any:
        raise RuntimeError(f"{name} expected sparse {wanted}layout but got Strided")

    refuse.__name__ = refuse.__qualname__ = name
    refuse.__doc__ = "PyTorch's refusal: the tensor is not sparse."
    composite(function=False)(refuse)


for _name in ("coalesce", "indices", "is_coalesced"):
    _strided_only(_name, "coordinate tensor ")
_strided_only("values", "tensor ")


@composite(function=False)
def as_subclass(self: Tensor, cls: Any) -> Any:
    """The same data and history as an instance of ``cls``, a subclass of Tensor."""
    if not (isinstance(cls, type) and issubclass(cls, Tensor)):
        raise TypeError(
            "Creating a Tensor subclass from a class that does not inherit from Tensor is not possible. Make sure your "
            "class inherits from Tensor."
        )
    source = alias(self)
    out: Any = new(cls)
    out._array, out._edge, out._counter = source._array, source._edge, source._counter
    return out


_AMBIGUOUS = "The ambiguity_check argument must be a bool or a list of memory formats."


@composite(function=False)
def dim_order(self: Tensor, *, ambiguity_check: Any = False) -> tuple[int, ...]:
    """The dimensions from the widest steps in memory to the narrowest.

    ``ambiguity_check`` asks for an error where several orders would do, or where not exactly one format of a list fits.
    """
    formats = ambiguity_check if isinstance(ambiguity_check, list) else []
    if not isinstance(ambiguity_check, (bool, list)) or any(
        not isinstance(wanted, dtypes.memory_format) for wanted in formats
    ):
        raise TypeError(_AMBIGUOUS)
    sizes = self._array.shape
    steps: Any = stride(self)
    fitting = sum(self.is_contiguous(memory_format=wanted) for wanted in formats)  # type: ignore[attr-defined]
    several = 1 in sizes or any(a == b for a, b in itertools.pairwise(steps))
    if ambiguity_check is not False and several and fitting != 1:
        raise RuntimeError(
            "The tensor does not have unique dim order, or cannot map to exact one of the given memory formats."
        )
    rows, last = (
        self.is_contiguous(memory_format=wanted)  # type: ignore[attr-defined]
        for wanted in (dtypes.contiguous_format, dtypes.channels_last)
    )
    if rows and not last:
        return tuple(range(len(sizes)))
    if last and not rows:
        return (0, *range(2, len(sizes)), 1)
    order = list(range(len(sizes)))[::-1]  # narrow steps first, until the end
    for start in range(1, len(order)):
        at = start
        for before in range(start - 1, -1, -1):
            wider = _compare(sizes, steps, order[before], order[at])
            if wider > 0:
                order[before], order[at] = order[at], order[before]
                at = before
            elif wider < 0:
                break
    if ambiguity_check and any(_compare(sizes, steps, a, b) >= 0 for a, b in itertools.pairwise(order)):
        raise RuntimeError("The tensor does not have unique dim order.")
    return tuple(order[::-1])


def _compare(sizes: Any, steps: Any, first: int, second: int) -> int:
    """1 where dimension ``first`` takes the wider steps, -1 where ``second`` does, 0 where nothing tells."""
    a, b = steps[first], steps[second]
    if not a or not b:
        return 0
    if a != b:
        return 1 if a > b else -1
    return 1 if sizes[first] > sizes[second] else 0


@composite(method=False)
def unravel_index(indices: Tensor, shape: Any) -> tuple[Tensor, ...]:
    """The coordinates of flat indices in an array of ``shape``: one tensor for each dimension.

    Source: https://docs.pytorch.org/docs/stable/generated/torch.unravel_index.html
    """
    kind = indices.dtype
    if kind.is_floating_point or kind.is_complex or kind is dtypes.bool:
        raise TypeError(f"expected 'indices' to be integer dtype, but got {kind}")
    if not isinstance(shape, (int, Sequence)):
        raise TypeError(f"expected 'shape' to be int or sequence of ints, but got {type(shape)}")
    sizes = [shape] if isinstance(shape, int) else list(shape)
    for size in sizes:
        if not isinstance(size, int):
            raise TypeError(f"expected 'shape' sequence to only contain ints, but got {type(size)}")
    if any(size < 0 for size in sizes):
        raise ValueError(f"'shape' cannot have negative values, but got {tuple(Size(sizes))}")
    steps = [*itertools.accumulate([1, *sizes[:0:-1]], operator.mul)][::-1]
    flat: Any = indices
    parts = [flat.div(step, rounding_mode="floor") % size for step, size in zip(steps, sizes, strict=True)]
    return stack(parts, -1).unbind(-1) if parts else ()  # type: ignore[attr-defined,no-any-return]
