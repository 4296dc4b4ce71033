"""Distances and similarities of vectors, and the broadcasting that they and losses need."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...core import write
from ...core.tensor import Tensor, wrap
from ...ground import modes
from ...ground.dtypes import need_float, promote_types
from ...ground.meta import marked
from ...kernels.columns import not_implemented
from ...ops.declare import composite
from ...tensor.lifted import Lifted
from ..arithmetic.functions import need_tensor
from ..arithmetic.rows import add_number
from ..cast.rows import clone
from ..query.functions import result_type
from ..reduce.functions import check_tensor, one_dim
from ..reduce.rows import sum_dim
from ..shape.rows import expand
from .rows import cdist_forward, linalg_vector_norm, norm_dim


@composite(method=False)
def cdist(x1: Any, x2: Any, p: float = 2.0, compute_mode: str = "use_mm_for_euclid_dist_if_necessary") -> Any:
    """The ``p``-norm distances of every row of ``x1`` from every row of ``x2``."""
    check_tensor(x1, "cdist")
    check_tensor(x2, "cdist")
    need_float("cdist", "p", 3, p)
    for name, x in (("X1", x1), ("X2", x2)):
        if x._array.ndim < 2:
            raise RuntimeError(f"cdist only supports at least 2D tensors, {name} got: {x._array.ndim}D")
    if x1._array.shape[-1] != x2._array.shape[-1]:
        raise RuntimeError(
            f"X1 and X2 must have the same number of columns. X1: {x1._array.shape[-1]} X2: {x2._array.shape[-1]}"
        )
    for name, x in (("X1", x1), ("X2", x2)):
        if not x.dtype.is_floating_point:
            raise RuntimeError(f"cdist only supports floating-point dtypes, {name} got: {x.dtype.scalar_name}")
    if x1.dtype is not x2.dtype:
        if x1.dtype.itemsize == 2:
            raise not_implemented("cdist", x1._array)
        raise RuntimeError(f"expected scalar type {x1.dtype.scalar_name} but found {x2.dtype.scalar_name}")
    if not p >= 0:
        raise RuntimeError("cdist only supports non-negative p values")
    modes = ("use_mm_for_euclid_dist_if_necessary", "use_mm_for_euclid_dist", "donot_use_mm_for_euclid_dist")
    if compute_mode not in modes:
        raise ValueError(f"{compute_mode} is not a valid value for compute_mode")
    rows = max(x1._array.shape[-2], x2._array.shape[-2])
    if p == 2 and x1.dtype.itemsize == 2 and (compute_mode == modes[1] or (compute_mode == modes[0] and rows > 25)):
        return cdist_forward(x1.float(), x2.float(), 2.0).to(x1.dtype)  # by products, which PyTorch has for halves too
    return cdist_forward(x1, x2, float(p))


def together(a: Tensor, b: Tensor) -> tuple[Tensor, Tensor]:
    """Two tensors expanded to their common sizes."""
    if a._array.shape == b._array.shape:
        return a, b
    try:
        sizes = np.broadcast_shapes(a._array.shape, b._array.shape)
    except ValueError:
        raise RuntimeError(unequal(a._array.shape, b._array.shape)) from None
    return (
        a if a._array.shape == sizes else expand(a, sizes),
        b if b._array.shape == sizes else expand(b, sizes),
    )


def unequal(a: tuple[int, ...], b: tuple[int, ...]) -> str:
    """PyTorch's sentence for sizes that cannot be broadcast."""
    for dim in range(-1, -min(len(a), len(b)) - 1, -1):
        if a[dim] != b[dim] and 1 not in (a[dim], b[dim]):
            at = max(len(a), len(b)) + dim
            return (
                f"The size of tensor a ({a[dim]}) must match the size of tensor b ({b[dim]}) at non-singleton "
                f"dimension {at}"
            )
    return "sizes cannot be broadcast"


@composite(method=False)
def cosine_similarity(x1: Any, x2: Any, dim: int = 1, eps: float = 1e-8) -> Any:
    """The cosines of the angles between vectors along ``dim``."""
    check_tensor(x1, "cosine_similarity")
    check_tensor(x2, "cosine_similarity")
    need_float("cosine_similarity", "eps", 4, eps)
    common = promote_types(x1.dtype, x2.dtype)
    if not common.is_floating_point:
        name = result_type(x1, x2).scalar_name
        raise RuntimeError(f"expected common dtype to be floating point, yet common dtype is {name}")
    if x1.dtype is not x2.dtype:
        x1, x2 = x1.to(common), x2.to(common)
    if x1._array.shape != x2._array.shape:
        sizes = together(x1, x2)[0]._array.shape
        x1, x2 = x1.expand(sizes), x2.expand(sizes)
    axis = one_dim(dim, x1._array.ndim)
    if not eps >= 0:
        raise RuntimeError(f"eps must be non-negative, got: {float(eps):g}")
    return sum_dim((x1 / _length(x1, axis, eps)) * (x2 / _length(x2, axis, eps)), (axis,), False)


def _length(x: Tensor, axis: int, eps: float) -> Tensor:
    """Norms along ``axis``, at least ``eps``; their gradient knows no bound."""
    length = clone(linalg_vector_norm(x, 2, (axis,), True))
    if isinstance(length, Lifted):
        before = modes.local.grad
        try:
            modes.set_grad(False)
            return length.clamp_(min=eps)  # type: ignore[attr-defined, no-any-return]
        finally:
            modes.local.grad = before
            modes.settle()
    write.store(length, np.maximum(length._array, length._array.dtype.type(eps)))
    return length


@composite(method=False)
def pairwise_distance(x1: Any, x2: Any, p: float = 2.0, eps: float = 1e-6, keepdim: bool = False) -> Any:
    """The ``p``-norms of the differences of corresponding vectors."""
    need_tensor("pairwise_distance", "x1", 1, x1)
    need_tensor("pairwise_distance", "x2", 2, x2)
    need_float("pairwise_distance", "p", 3, p)
    need_float("pairwise_distance", "eps", 4, eps)
    apart = add_number(x1 - x2, float(eps))
    return norm_dim(apart, float(p), (max(x1._array.ndim, x2._array.ndim) - 1,), keepdim)


@composite(method=False)
def pdist(input: Any, p: float = 2.0) -> Any:
    """The ``p``-norm distances of all pairs of rows."""
    check_tensor(input, "pdist")
    if input._array.ndim != 2:
        raise RuntimeError(f"pdist only supports 2D tensors, got: {input._array.ndim}D")
    if not input.dtype.is_floating_point:
        raise RuntimeError("pdist only supports floating-point dtypes")
    if not p >= 0:
        raise RuntimeError("pdist only supports non-negative p values")
    if input._array.dtype.itemsize == 2:
        raise not_implemented("pdist", input._array)
    first, second = (wrap(marked(side, input._array)) for side in np.triu_indices(len(input._array), 1))
    apart = input.index_select(0, first) - input.index_select(0, second)
    if not input._array.shape[1]:
        return apart.sum(1)
    if p == 0:  # how many differ; none of NaN
        return apart.abs().ceil().clamp_max(1).sum(1)
    return norm_dim(apart, float(p), (1,), False)
