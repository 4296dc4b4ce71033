"""Whole slices fetched and placed by one index along a dimension, each row with its adjoint; knows arrays only."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...core.row import op
from ...ground import errors
from ...ground.dtypes import HALVES, check_number
from ...ground.layout import copied
from ...ground.meta import in_single
from ...kernels.columns import not_implemented
from ..scatter.kernels import add_rows, inside
from ..scatter.rows import BEYOND, BEYOND_DATA, check_bounds, name_of, scatter_reduce, shared_out
from ..shape.rows import axis_of, expand, reshape, sum_to, unsigned, view
from .rows import ALL


def _along(axis: int, index: Any) -> tuple[Any, ...]:
    return (*(ALL,) * axis, index.reshape(-1))


@op(
    auxiliary=("index",),
    public=False,
    shows={"dim": ("dim", unsigned)},
    stores=True,
    out=errors.OUT_SAME,
    disjoint=("self", "index"), forward="linear",
)
def index_select(self: Any, index: Any, /, dim: Any) -> Any:
    """The slices of ``dim`` that ``index`` names."""
    axis = axis_of(dim, self.ndim)
    if index.ndim > 1:
        raise IndexError("index_select(): Index is supposed to be a vector")
    if not self.ndim and index.size != 1:
        raise RuntimeError(f"index_select(): Index to scalar can have only 1 value, got {index.size} value(s)")
    if index.dtype.kind != "i" or index.itemsize < 4:
        raise RuntimeError("index_select(): Expected dtype int32 or int64 for index")
    if not self.ndim:
        if not inside(index, 1):
            raise IndexError("index out of range in self")
        return np.array(self)
    size = self.shape[axis]
    if index.size and not size and self.ndim > 1:
        raise RuntimeError("index_select(): self indexing axis dim should be positive")
    if axis == 1 or (size and not self.size):  # which PyTorch computes in another kernel
        check_bounds(index, size, axis, BEYOND_DATA)
    if not inside(index, size):
        raise IndexError("index out of range in self")
    return self.take(index.reshape(-1), axis)


index_select.derivative(self=lambda grad, index, self_sizes, dim: index_select_backward(grad, index, self_sizes, dim))


@op(auxiliary=("index",), public=False, forward="linear")
def index_select_backward(grad_output: Any, index: Any, /, sizes: Any, dim: Any) -> Any:
    """Zeros of ``sizes`` with slices added where ``index`` says."""
    axis, out = axis_of(dim, len(sizes)), np.zeros(sizes, grad_output.dtype)
    return _slices_added(out, index, grad_output, axis, _is_scattered(out, axis, index))


index_select_backward.derivative(grad_output=lambda grad, index, dim: index_select(grad, index, dim))


def _is_scattered(self: Any, axis: int, index: Any, alpha: Any = 1) -> bool:
    """Whether PyTorch adds slices by the kernel of ``scatter_add``."""
    return self.ndim > 1 and axis in (0, self.ndim - 1) and alpha == 1 and index.itemsize == 8


def _slices_added(out: Any, index: Any, source: Any, axis: int, scattered: bool) -> Any:
    """``out`` with slices added, into it or into a copy; halves that are ``scattered`` are rounded once, at the end."""
    if scattered and out.dtype.char in HALVES:
        return _slices_added(in_single(out), index, in_single(source), axis, False).astype(out.dtype)
    if not out.ndim:
        out += source.reshape(()) if source.size == 1 else source.sum()
    elif index.size > 1 and source.size:
        if axis:
            add_rows(np.moveaxis(out, axis, 0), index, np.moveaxis(source, axis, 0))
        else:
            add_rows(out, index, source)
    elif index.size == 1:
        out[_along(axis, index)] += source.reshape((*out.shape[:axis], 1, *out.shape[axis + 1 :]))
    return out


def _check_slices(
    function: str, self: Any, index: Any, source: Any, axis: int, scattered: bool = False, fills: bool = False
) -> None:
    """Raise PyTorch's errors where something does not fit, for ``index_add`` and its like.

    fills  whether PyTorch fills first what the indices name
    """
    if index.ndim > 1:
        raise IndexError(
            f"{function}(): Index is supposed to be a vector, but got dim: {index.ndim} with type: {name_of(index)} "
            f"and size: {list(index.shape)}"
        )
    if index.dtype.kind != "i" or index.itemsize < 4:
        raise RuntimeError(f"{function}(): Expected dtype int32/int64 for index but got: {name_of(index)}")
    if source.dtype != self.dtype:
        raise RuntimeError(
            f"{function}(): self ({name_of(self)}) and source ({name_of(source)}) must have the same scalar type"
        )
    if axis and axis >= source.ndim:
        raise RuntimeError(
            f"{function}(): Indexing dim {axis} is out of bounds of the source tensor with dim {source.ndim}"
        )
    if not source.ndim and index.size != 1:
        raise IndexError("Dimension specified as 0 but tensor has no dimensions")
    count = source.shape[axis] if source.ndim else 1
    if index.size != count:
        raise RuntimeError(
            f"{function}(): Number of indices ({index.size}) should be equal to source.size(dim): ({count}), for dim: "
            f"{axis}"
        )
    if (*self.shape[:axis], *self.shape[axis + 1 :]) != (*source.shape[:axis], *source.shape[axis + 1 :]) or (
        self.ndim != source.ndim
    ):
        raise RuntimeError(
            "source tensor shape must match self tensor shape, excluding the specified dimension. Got self.shape = "
            f"{list(self.shape)} source.shape = {list(source.shape)}"
        )
    size = self.shape[axis] if self.ndim else 1
    if fills:
        _check_filled(index, size, axis)
    try:
        check_bounds(index, size, axis)
    except RuntimeError:
        if scattered:
            raise
        raise IndexError("index out of range in self") from None


@op(
    inplace=True,
    auxiliary=("index",),
    public=False,
    hidden=("source_sizes",),
    shows={"dim": ("dim", unsigned), "source_dim": ("source_sizes", len)},
    out=errors.OUT_DTYPE,
    disjoint=("index", "source"), forward="linear",
)
def index_add(self: Any, index: Any, source: Any, /, dim: Any, alpha: Any = 1) -> Any:
    """``self`` with ``alpha`` times the slices of ``source`` added where ``index`` says."""
    axis = axis_of(dim, self.ndim)
    scattered = _is_scattered(self, axis, index, alpha)
    _check_slices("index_add_", self, index, source, axis, scattered)
    if alpha != 1:
        check_number(alpha, self.dtype)
        source = source * np.asarray(alpha).astype(self.dtype)
    return _slices_added(np.array(self, order="C"), index, source, axis, scattered)


index_add.derivative(
    self=lambda grad: grad,
    source=lambda grad, index, source_sizes, dim, alpha: (
        reshape(index_select(grad, index, dim), source_sizes)
        if alpha == 1
        else reshape(index_select(grad, index, dim) * alpha, source_sizes)
    ),
)


@op(
    inplace=True,
    auxiliary=("index",),
    precision="widest",
    public=False,
    hidden=("source_sizes",),
    shows={"dim": ("dim", unsigned), "source_dim": ("source_sizes", len)},
    out=errors.OUT_DTYPE,
    disjoint=("index", "source"), forward="linear",
)
def index_copy(self: Any, index: Any, source: Any, /, dim: Any) -> Any:
    """``self`` with its slices replaced by those of ``source`` where ``index`` says."""
    axis = axis_of(dim, self.ndim)
    if index.ndim > 1:
        raise IndexError(f"index_copy_(): Index should have dimension 1 or 0 (got {index.ndim})")
    if not source.ndim and index.size != 1:
        raise IndexError(f"index_copy_(): When source is scalar, index should have one element (got {index.size})")
    if source.ndim and self.ndim and source.ndim != self.ndim:
        raise IndexError(
            f"index_copy_(): When source and destination are not scalars, their dimensionality must match. Source "
            f"dimensionality ({source.ndim}), destination dimensionality ({self.ndim})"
        )
    if index.dtype != np.int64:
        raise RuntimeError(f"index_copy_(): Expected a long tensor for index, but got {name_of(index)}")
    if source.dtype != self.dtype:
        raise RuntimeError(
            f"index_copy_(): self and source expected to have the same dtype, but got (self) {name_of(self)} and "
            f"(source) {name_of(source)}"
        )
    rest = (*self.shape[:axis], *self.shape[axis + 1 :])
    others = (*source.shape[:axis], *source.shape[axis + 1 :])
    if rest != others:
        shown, theirs = " ".join(map(str, rest)), " ".join(map(str, others))
        raise RuntimeError(
            "index_copy_(): Source/destination tensor must have same slice shapes. Destination slice shape: "
            f"{shown} at dimension {axis} and source slice shape: {theirs} at dimension 0."
        )
    count = source.shape[axis] if source.ndim else 1
    if index.size != count:
        raise IndexError(
            f"index_copy_(): Number of indices ({index.size}) should be equal to source.size(dim) ({count})"
        )
    try:
        check_bounds(index, self.shape[axis] if self.ndim else 1, axis, f"index_copy_(): {BEYOND}")
    except RuntimeError as error:
        raise IndexError(str(error)) from None
    out = np.array(self, order="C")
    if not self.ndim:
        out[...] = source.reshape(-1)[-1] if index.size else out
    elif index.size:
        out[_along(axis, index)] = source.reshape((*rest[:axis], count, *rest[axis:]))
    return out


index_copy.derivative(
    self=lambda grad, index, dim: index_fill(grad, index, dim, 0),
    source=lambda grad, index, source_sizes, dim: reshape(index_select(grad, index, dim), source_sizes),
)


def filled_axis(self: Any, index: Any, dim: int) -> int:
    """The dimension of ``index_fill``; PyTorch's errors where an index does not fit."""
    axis = axis_of(dim, self.ndim)
    if index.dtype != np.int64:
        raise IndexError("index_fill_(): Expected dtype int64 for index.")
    if index.ndim > 1:
        raise RuntimeError("Index has to be a vector/scalar")
    size = self.shape[axis] if self.ndim else 1
    if self.ndim < 2 or 0 not in (*self.shape[:axis], *self.shape[axis + 1 :]):  # else PyTorch looks at no index
        _check_filled(index, size, axis)
    return axis


def _check_filled(index: Any, size: int, axis: int) -> None:
    if index.size and (index.min() < -size or index.max() >= size):
        bad = index[(index < -size) | (index >= size)]
        raise IndexError(f"index {int(bad.reshape(-1)[0])} is out of bounds for dimension {axis} with size {size}")


def _filled(self: Any, index: Any, dim: int, value: Any) -> Any:
    axis = filled_axis(self, index, dim)
    out = copied(self)
    if self.ndim and self.size:
        out[_along(axis, index)] = value
    elif index.size:
        out[...] = value
    return out


@op(inplace=True, auxiliary=("index",), public=False, shows={"dim": ("dim", unsigned)}, disjoint=("index",))
def index_fill(self: Any, index: Any, /, dim: Any, value: Any) -> Any:
    """``self`` with the slices that ``index`` names filled with a number."""
    return _filled(self, index, dim, np.asarray(value).astype(self.dtype))


index_fill.derivative(self=lambda grad, index, dim: index_fill(grad, index, dim, 0))


@op(
    node="IndexFillBackward1",
    inplace=True,
    auxiliary=("index",),
    public=False,
    shows={"dim": ("dim", unsigned)},
    disjoint=("index",),
)
def index_fill_tensor(self: Any, index: Any, value: Any, /, dim: Any) -> Any:
    """``self`` with the slices that ``index`` names filled with a 0-d tensor's value."""
    return _filled(self, index, dim, value.astype(self.dtype))


index_fill_tensor.derivative(
    self=lambda grad, index, dim: index_fill(grad, index, dim, 0),
    value=lambda grad, index, dim: sum_to(index_select(grad, distinct(index), dim), ()),
)


@op(constant=True, public=False)
def distinct(self: Any, /) -> Any:
    """Each index once, in order."""
    return np.unique(self)


def _line_of(ndim: int, axis: int) -> tuple[int, ...]:
    return tuple(-1 if at == axis else 1 for at in range(ndim))


def _refuse_reduction(self: Any, reduce: str, include_self: bool) -> None:
    """Refuse dtypes: slices are reduced by the operation itself, in its words, elements of a vector by real numbers."""
    is_complex, is_bool = self.dtype.kind == "c", self.dtype.kind == "b"
    if not include_self and (is_complex or is_bool):
        raise not_implemented("index_reduce_func_exclude_input_init", self)
    if self.ndim < 2 and (is_complex or is_bool):
        raise not_implemented("index_func_", self)
    if is_complex and reduce in ("amax", "amin"):
        raise not_implemented(f"{reduce[1:]}imum_cpu", self)
    if is_bool and reduce == "mean":
        raise not_implemented("div_floor_cpu", self)


@op(
    inplace=True,
    auxiliary=("index",),
    public=False,
    hidden=("self_sizes", "source_sizes"),
    shows={"dim": ("dim", unsigned)},
    out=errors.OUT_DTYPE,
    disjoint=("index", "source"),
)
def index_reduce(self: Any, index: Any, source: Any, /, dim: Any, reduce: Any, include_self: Any = True) -> Any:
    """``self`` with the slices of ``source`` reduced into those that ``index`` names."""
    axis = axis_of(dim, self.ndim)
    _check_slices("index_reduce_", self, index, source, axis, fills=not include_self)
    _refuse_reduction(self, reduce, include_self)
    wide = np.broadcast_to(index.reshape(_line_of(source.ndim, axis)), source.shape)
    return scatter_reduce.row.kernel(self, wide, source, axis, reduce, include_self)


@index_reduce.derivative("self", "source")
def _share_slices(
    grad: Any, self: Any, index: Any, source: Any, result: Any, self_sizes: Any, source_sizes: Any, dim: Any,
    reduce: Any, include_self: Any,
) -> Any:  # fmt: skip
    """What ``scatter_reduce`` hands on, with one index for every element."""
    axis = axis_of(dim, len(self_sizes))
    wide = expand(view(index, _line_of(len(source_sizes), axis)), source_sizes)
    return shared_out(
        grad, self, wide, source, result, self_sizes, source_sizes, source_sizes, axis, reduce, include_self
    )
