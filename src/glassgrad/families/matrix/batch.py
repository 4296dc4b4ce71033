"""Batches of matrices multiplied, and what else is made of matrices: traces, cross products, products of three."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...core.row import COMPLEX, REALS, op
from ...ground import errors
from ...ground.dtypes import HALVES, Number
from ...ground.meta import in_single
from ...kernels import silent
from ..shape.rows import axis_of, expand, on_arrays, transpose
from .rows import (
    c_name,
    check_addmm,
    check_expands,
    combined,
    narrowed,
    product,
    products,
    refuse_bools,
    scalar_name,
    times,
)


@op(precision="low", out=errors.OUT_DTYPE, forward="each")
def bmm(self: Any, mat2: Any, /) -> Any:
    """The product of each pair of matrices in two batches."""
    check_batches(self, mat2)
    refuse_bools(self, "bmm")
    if self.dtype != mat2.dtype:
        raise RuntimeError(f"expected scalar type {scalar_name(self)} but found {scalar_name(mat2)}")
    return products(self, mat2)


bmm.derivative(
    self=lambda grad, mat2: each_by_transposed(grad, mat2),
    mat2=lambda grad, self: each_transposed_by(self, grad),
)


def check_batches(batch1: Any, batch2: Any) -> None:
    """Raise PyTorch's error unless the two are batches of matrices that can be multiplied."""
    for name, array in (("batch1", batch1), ("batch2", batch2)):
        if array.ndim != 3:
            raise RuntimeError(f"{name} must be a 3D tensor")
    wanted, got = [batch1.shape[0], batch1.shape[2]], list(batch2.shape[:2])
    if wanted != got:
        raise RuntimeError(f"Expected size for first two dimensions of batch2 tensor to be: {wanted} but got: {got}.")


def _size(array: Any, dim: int) -> int:
    """The size of a dimension; PyTorch's error where there is none such."""
    if not array.ndim:
        raise IndexError(f"Dimension specified as {dim} but tensor has no dimensions")
    return array.shape[axis_of(dim, array.ndim)]  # type: ignore[no-any-return]


@op(
    inplace=True, precision="low", hidden=("self_sizes",), out=errors.OUT_DTYPE, formerly=("beta", "alpha"),
    widens=True,
)  # fmt: skip
def baddbmm(self: Any, batch1: Any, batch2: Any, /, beta: Number = 1, alpha: Number = 1) -> Any:
    """``beta * self + alpha * (batch1 @ batch2)``; ``self`` broadcasts to the product."""
    check_expands(self, (_size(batch1, 0), _size(batch1, 1), _size(batch2, 2)))
    if self.dtype == batch1.dtype != batch2.dtype:
        raise RuntimeError(f"expected scalar type {scalar_name(self)} but found {scalar_name(batch2)}")
    names = [c_name(array) for array in (self, batch1, batch2)]
    if len(set(names)) > 1:
        raise RuntimeError("Input dtypes must be the same, got: input {}, batch1: {}, batch2: {}".format(*names))
    check_batches(batch1, batch2)
    refuse_bools(batch1, "baddbmm")
    return combined("baddbmm", self, batch1, batch2, products, beta, alpha)


baddbmm.derivative(
    self=lambda grad, self_sizes, beta: times(narrowed(grad, self_sizes), beta),
    batch1=lambda grad, batch2, alpha: times(each_by_transposed(grad, batch2), alpha),
    batch2=lambda grad, batch1, alpha: times(each_transposed_by(batch1, grad), alpha),
)


@op(
    inplace=True,
    precision="low",
    hidden=("batch1_sizes", "batch2_sizes", "self_sizes"),
    out="self and mat2 must have the same dtype, but got {Found} and {Wanted}",
    formerly=("beta", "alpha"),
    widens=True,
)
def addbmm(self: Any, batch1: Any, batch2: Any, /, beta: Number = 1, alpha: Number = 1) -> Any:
    """``beta * self + alpha * (batch1 @ batch2).sum(0)``; ``self`` broadcasts to the sum."""
    check_expands(self, (_size(batch1, 1), _size(batch2, 2)))
    for name, array in (("batch1", batch1), ("batch2", batch2)):
        if array.ndim != 3:
            raise RuntimeError(f"{name} must be a 3D tensor")
    if len(batch1) != len(batch2):
        raise RuntimeError(f"batch1 and batch2 must have same number of batches, got {len(batch1)} and {len(batch2)}")
    if batch1.shape[2] != batch2.shape[1]:
        (n, k), (l, m) = batch1.shape[1:], batch2.shape[1:]  # noqa: E741
        raise RuntimeError(f"Incompatible matrix sizes for bmm ({n}x{k} and {l}x{m})")
    count = len(batch1) * batch1.shape[2]
    rows = np.ascontiguousarray(batch1.transpose(1, 0, 2)).reshape(batch1.shape[1], count)
    columns = np.ascontiguousarray(batch2).reshape(count, batch2.shape[2])
    check_addmm(self, rows, columns)
    return combined("addbmm", self, rows, columns, product, beta, alpha)


addbmm.derivative(
    self=lambda grad, self_sizes, beta: times(narrowed(grad, self_sizes), beta),
    batch1=lambda grad, batch1_sizes, batch2, batch2_sizes, alpha: times(
        each_by_transposed(expand(grad, (batch1_sizes[0], batch1_sizes[1], batch2_sizes[2])), batch2), alpha
    ),
    batch2=lambda grad, batch1, batch1_sizes, batch2_sizes, alpha: times(
        each_transposed_by(batch1, expand(grad, (batch1_sizes[0], batch1_sizes[1], batch2_sizes[2]))), alpha
    ),
)


@on_arrays(lambda grad, mat2: products(grad, mat2.swapaxes(1, 2)))
def each_by_transposed(grad: Any, mat2: Any) -> Any:
    """``grad @ mat2.mT`` for batches."""
    return bmm(grad, transpose(mat2, 1, 2))


@on_arrays(lambda mat1, grad: products(mat1.swapaxes(1, 2), grad))
def each_transposed_by(mat1: Any, grad: Any) -> Any:
    """``mat1.mT @ grad`` for batches."""
    return bmm(transpose(mat1, 1, 2), grad)


# -- matrices in other ways -------------------------------------------------------------------------------------------


@op(precision="single", out=None, forward="linear")
def trace(self: Any, /) -> Any:
    """The sum of a matrix's diagonal; integers add up as int64."""
    if self.ndim != 2:
        raise RuntimeError(f"trace: expected a matrix, but got tensor with dim {self.ndim}")
    refuse_bools(self, "trace")
    if self.dtype.char in HALVES:
        return in_single(self.diagonal()).sum().astype(self.dtype)
    return np.add.reduce(self.diagonal(), dtype=np.int64 if self.dtype.kind in "iu" else self.dtype)


trace.derivative(self=lambda grad, self_sizes: trace_backward(grad, self_sizes))


@op(public=False, forward="linear")
def trace_backward(grad: Any, /, sizes: Any) -> Any:
    """Zeros of ``sizes`` with the number ``grad`` all along the diagonal."""
    matrix = np.zeros(sizes, grad.dtype)
    np.fill_diagonal(matrix, grad) if sizes[0] <= sizes[1] else np.fill_diagonal(matrix[: sizes[1]], grad)
    return matrix


trace_backward.derivative(grad=lambda grad: trace(grad))


@op(
    public=False, serves=(REALS + COMPLEX, "cross"), hidden=("other_sizes", "self_sizes"),
    out=errors.OUT_DTYPE, disjoint=("self", "other"),
    forward="each", batched="dims",
)  # fmt: skip
def linalg_cross(self: Any, other: Any, /, dim: Any = -1) -> Any:
    """The vectors perpendicular to those of both inputs along ``dim``, whose size is 3; other sizes broadcast."""
    a, b = np.broadcast_arrays(np.moveaxis(self, dim, 0), np.moveaxis(other, dim, 0))
    vectors = np.stack([a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]])
    return np.ascontiguousarray(np.moveaxis(vectors, 0, dim))


linalg_cross.derivative(
    self=lambda grad, self_sizes, other, dim: narrowed(linalg_cross(other, grad, dim), self_sizes),
    other=lambda grad, self, other_sizes, dim: narrowed(linalg_cross(grad, self, dim), other_sizes),
)


@op(node="TrilinearBackward0", public=False, forward="each")
def trilinear(i1: Any, i2: Any, i3: Any, /, expand1: Any, expand2: Any, expand3: Any, sumdim: Any) -> Any:
    """The sum over ``sumdim`` of the product of three tensors, each stretched along its own dimensions ``expand``."""
    axes = range(i1.ndim + len(expand1))
    first, second, third = ([axis for axis in axes if axis not in expand] for expand in (expand1, expand2, expand3))
    left = [axis for axis in axes if axis not in sumdim]
    if i1.dtype.itemsize != 2 or i1.dtype.kind not in "fV":
        return np.ascontiguousarray(silent.einsum(i1, first, i2, second, i3, third, left, optimize=True))
    # PyTorch rounds halves after each product, and after each term of a sum over dimension 1
    wide = [array.astype("f4") for array in (i1, i2, i3)]
    both = sorted({*first, *second} & {*left, *third, 1})
    product = np.einsum(wide[0], first, wide[1], second, both).astype(i1.dtype).astype("f4")
    terms = np.einsum(product, both, wide[2], third, sorted({*left, 1})).astype(i1.dtype)
    if 1 in left:
        return terms
    by_term = np.moveaxis(terms, sorted({*left, 1}).index(1), 0)
    total = np.zeros(by_term.shape[1:], i1.dtype)
    for term in by_term:
        total += term
    return total


trilinear.derivative(
    i1=lambda grad, i2, i3, expand1, expand2, expand3, sumdim: trilinear(
        grad, i2, i3, sumdim, expand2, expand3, expand1
    ),
    i2=lambda grad, i1, i3, expand1, expand2, expand3, sumdim: trilinear(
        i1, grad, i3, expand1, sumdim, expand3, expand2
    ),
    i3=lambda grad, i1, i2, expand1, expand2, expand3, sumdim: trilinear(
        i1, i2, grad, expand1, expand2, sumdim, expand3
    ),
)
