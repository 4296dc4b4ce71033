"""What products do to batches under ``vmap``: one product of matrices, or of batches of them, for all examples."""

from __future__ import annotations

from typing import Any

from ...core.row import TABLE
from ..reduce.rows import sum_dim
from ..shape.batches import alike, flat, fold, unfold
from ..shape.rows import transpose
from .batch import addbmm, baddbmm, bmm, trace, trace_backward, trilinear
from .rows import (
    addmm,
    addmv,
    addr,
    column_sums,
    conjugate,
    dot,
    linear_2d,
    mm,
    mv,
    outer_of,
    squeezed_row,
    vdot,
)


@mm.row.batch
def _mm(size: int, batched: Any, self: Any, mat2: Any) -> Any:
    if _ndims(batched, self, mat2) != [2, 2]:
        return NotImplemented
    if not batched[1]:
        return unfold(mm(fold(self), mat2), size)
    if not batched[0] and self._array.shape[0] == 1:  # one row: a product with each matrix, taken together
        return transpose(mv(fold(transpose(mat2, 1, 2)), self.reshape((-1,))).reshape((size, -1, 1)), 1, 2)
    return bmm(*alike(size, batched, self, mat2))


def _ndims(batched: Any, *values: Any) -> list[int]:
    """How many dimensions examples have."""
    return [value._array.ndim - is_batch for value, is_batch in zip(values, batched, strict=True)]


@bmm.row.batch
def _bmm(size: int, batched: Any, self: Any, mat2: Any) -> Any:
    if _ndims(batched, self, mat2) != [3, 3]:
        return NotImplemented
    self, mat2 = alike(size, batched, self, mat2)
    return unfold(bmm(fold(self), fold(mat2)), size)


@mv.row.batch
def _mv(size: int, batched: Any, self: Any, vec: Any) -> Any:
    if _ndims(batched, self, vec) != [2, 1]:
        return NotImplemented
    if not batched[1]:
        return mv(fold(self), vec).reshape((size, -1)) if self._array.shape[1] else NotImplemented
    if not batched[0]:
        return mm(vec, transpose(self, 0, 1))
    return bmm(self, vec.unsqueeze(2)).squeeze(2)


@dot.row.batch
def _dot(size: int, batched: Any, self: Any, tensor: Any) -> Any:
    if _ndims(batched, self, tensor) != [1, 1]:
        return NotImplemented
    if all(batched):
        return bmm(self.unsqueeze(1), tensor.unsqueeze(2)).reshape((size,))
    return mv(self, tensor) if batched[0] else mv(tensor, self)


@vdot.row.composition
def _vdot(self: Any, other: Any) -> Any:
    return dot(conjugate(self), other)


@linear_2d.row.batch
def _linear(size: int, batched: Any, self: Any, mat1: Any, weight: Any) -> Any:
    if batched != [False, True, False]:
        return NotImplemented
    return unfold(linear_2d(self, fold(mat1), weight), size)


@linear_2d.row.composition
def _linear_in_rows(self: Any, mat1: Any, weight: Any) -> Any:
    return addmm(self, mat1, transpose(weight, 0, 1))


def _added(self: Any, product: Any, beta: Any, alpha: Any) -> Any:
    """``beta * self + alpha * product``; a zero ``beta`` hides even NaN."""
    product = product if alpha == 1 else product * alpha
    return product if beta == 0 else product + (self if beta == 1 else self * beta)


@addmm.row.composition
def _addmm(self: Any, mat1: Any, mat2: Any, beta: Any, alpha: Any) -> Any:
    return _added(self, mm(mat1, mat2), beta, alpha)


@addmv.row.composition
def _addmv(self: Any, mat: Any, vec: Any, beta: Any, alpha: Any) -> Any:
    return _added(self, mv(mat, vec), beta, alpha)


@addr.row.composition
def _addr(self: Any, vec1: Any, vec2: Any, beta: Any, alpha: Any) -> Any:
    if not all(tensor.dtype.is_floating_point for tensor in (self, vec1, vec2)):
        return NotImplemented
    return _added(self, outer_of(vec1, vec2), beta, alpha)


@baddbmm.row.composition
def _baddbmm(self: Any, batch1: Any, batch2: Any, beta: Any, alpha: Any) -> Any:
    return _added(self, bmm(batch1, batch2), beta, alpha)


@addbmm.row.composition
def _addbmm(self: Any, batch1: Any, batch2: Any, beta: Any, alpha: Any) -> Any:
    return _added(self, sum_dim(bmm(batch1, batch2), (0,)), beta, alpha)


@column_sums.row.batch
def _column_sums(size: int, batched: Any, self: Any) -> Any:
    return sum_dim(self, (1,))


@squeezed_row.row.batch
def _squeezed_row(size: int, batched: Any, self: Any, dim: Any) -> Any:
    return flat(self)


@trace.row.composition
def _trace(self: Any) -> Any:
    return TABLE["sum"].caller(self.diagonal())


@trace_backward.row.composition
def _trace_backward(grad: Any, sizes: Any) -> Any:
    return TABLE["diagonal_backward"].caller(grad.expand(min(sizes)), sizes, 0, 0, 1)


@trilinear.row.batch
def _trilinear(
    size: int, batched: Any, i1: Any, i2: Any, i3: Any, expand1: Any, expand2: Any, expand3: Any, sumdim: Any
) -> Any:
    further = [tuple([dim + 1 for dim in dims]) for dims in (expand1, expand2, expand3, sumdim)]
    return trilinear(*alike(size, batched, i1, i2, i3), *further)
