"""PyTorch's signatures of parts, diagonals, masks and triangles of indices, and their argument checks."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...core import write
from ...core.row import TABLE
from ...core.tensor import Tensor, wrap
from ...ground import dtypes, errors
from ...ground.device import require
from ...ground.dtypes import Number, called, need_int
from ...ground.listening import audible
from ...ground.runtime import warn
from ...ops.declare import composite
from ...tensor import writable
from ...tensor.lifted import Lifted
from ...tensor.out import check_dtype
from ..scatter.functions import gather
from ..shape.rows import axis_of, expand, reshape
from . import rows
from .getitem import expanded_warning, fitting, prepared, put_in_place

composite(function=False)(rows.unfold)


@audible
def linalg_diagonal(A: Tensor, *, offset: int = 0, dim1: int = -2, dim2: int = -1) -> Tensor:  # noqa: N803
    """The view of the diagonals of matrices, as the last dimension."""
    return rows.diagonal(A, offset, dim1, dim2)


# -- narrow and diagonal -----------------------------------------------------------------------------------------------


def _start(input: Tensor, dim: int, start: Any, length: int) -> int:
    """Where ``narrow`` begins, counted from the front; PyTorch's errors where that cannot be."""
    ndim = input._array.ndim
    if not ndim:
        raise RuntimeError("narrow() cannot be applied to a 0-dim tensor.")
    if length < 0:
        raise RuntimeError("narrow(): length must be non-negative.")
    size = input._array.shape[axis_of(dim, ndim)]
    if isinstance(start, Tensor) and (start._array.ndim or start._array.dtype.kind not in "iu"):
        raise RuntimeError("start must be an 0-dim integral Tensor.")
    start = start if type(start) is int else need_int("narrow", "start", 3, start)
    if not -size <= start <= size:
        raise IndexError(f"start out of range (expected to be in range of [{-size}, {size}], but got {start})")
    if start < 0:
        start += size
    if start + length > size:
        raise RuntimeError(f"start ({start}) + length ({length}) exceeds dimension size ({size}).")
    return start


@composite()
def narrow(input: Tensor, dim: int, start: int | Tensor, length: int) -> Tensor:
    """The view of ``length`` indices of ``dim`` from ``start`` on."""
    first = _start(input, dim, start, length)
    return rows.slice(input, dim, first, first + length, 1)


@composite()
def narrow_copy(input: Tensor, dim: int, start: int | Tensor, length: int, *, out: Any = None) -> Tensor:
    """What ``narrow`` gives, in memory of its own."""
    if isinstance(start, Tensor) and start._array.ndim:
        raise TypeError("narrow_copy(): argument 'start' (position 3) must be int, not Tensor")
    check_dtype("narrow_copy", out, input.dtype, errors.ASSERTED.format("self.dtype() == output.dtype()"))
    if isinstance(dim, int) and dim >= input._array.ndim > 0:
        raise RuntimeError(errors.ASSERTED.format("dim < static_cast<int64_t>(self_sizes.size())"))
    first = _start(input, dim, start, max(length, 0))
    if length < 0:
        size = input.size(dim)  # type: ignore[attr-defined]
        raise RuntimeError(f"start ({first}) + length ({length}) exceeds dimension size ({size}).")
    return rows.narrow_copy(input, dim, first, length, out=out)


@composite()
def diag(input: Tensor, diagonal: int = 0, *, out: Any = None) -> Tensor:
    """The diagonal of a matrix, or the matrix with a vector on its diagonal."""
    ndim = input._array.ndim
    if ndim not in (1, 2):
        raise RuntimeError(f"{'diag(): ' * (out is None)}Supports 1D or 2D tensors. Got {ndim}D")
    if ndim == 1:
        words = "diag: result type {Wanted} can't be cast to the desired out= type {Found}"
        check_dtype("diag", out, input.dtype, words, True)
    check_dtype("diag", out, input.dtype)
    if ndim == 1:
        return rows.diag_embed(input, diagonal, out=out)
    return rows.diagonal_copy(input, diagonal, 0, 1, out=out)


@composite()
def diagflat(input: Tensor, offset: int = 0) -> Tensor:
    """The matrix with all elements on its diagonal."""
    return rows.diag_embed(reshape(input, (-1,)), offset)


@composite(method=False)
def tril_indices(
    row: int, col: int, offset: int = 0, *, dtype: Any = dtypes.int64, device: Any = None, layout: Any = None
) -> Tensor:
    """The indices of the elements of a matrix on and below a diagonal, as two rows."""
    return _triangle("tril_indices", np.tril_indices, row, col, offset, dtype, device)


@composite(method=False)
def triu_indices(
    row: int, col: int, offset: int = 0, *, dtype: Any = dtypes.int64, device: Any = None, layout: Any = None
) -> Tensor:
    """The indices of the elements of a matrix on and above a diagonal, as two rows."""
    return _triangle("triu_indices", np.triu_indices, row, col, offset, dtype, device)


def _triangle(function: str, indices: Any, row: int, col: int, offset: int, dtype: Any, device: Any) -> Tensor:
    for name, size in (("row", row), ("col", col)):
        if size < 0:
            raise RuntimeError(f"{name} must be non-negative, got{size}")
    dtype = dtypes.demand(dtypes.int64 if dtype is None else dtype, function)
    if dtype not in (dtypes.int64, dtypes.int32):
        raise NotImplementedError(f"\"{function}\" not implemented for '{dtype.scalar_name}'")
    places = wrap(np.array(indices(row, offset, col), dtype.numpy).reshape(2, -1))
    where = require(device, function)
    return places if where == "cpu" else places.to(where)  # type: ignore[attr-defined, no-any-return]


@composite(function=False)
def fill_diagonal_(self: Tensor, fill_value: Number, wrap: bool = False) -> Tensor:
    """Write a number onto the main diagonal; with ``wrap``, of a tall matrix, again after each square."""
    shape = self._array.shape
    if len(shape) < 2:
        raise RuntimeError("dimensions must larger than 1")
    if len(shape) > 2 and len(set(shape)) > 1:
        raise RuntimeError("all dimensions of input must be of equal length")
    tops: range = range(0, max(shape[0], 1), shape[1] + 1) if wrap and len(shape) == 2 else range(1)
    for top in tops:
        diagonal: Any = self.narrow(0, top, min(shape[0] - top, shape[1])) if top else self  # type: ignore[attr-defined]
        while diagonal._array.ndim > 1:
            diagonal = diagonal.diagonal(0, 0, 1)
        diagonal.fill_(fill_value)
    return self


# -- masks -------------------------------------------------------------------------------------------------------------


def _check_mask(function: str, mask: Any, like: str = "") -> None:
    if mask._array.dtype.kind != "b":
        name = dtypes.of(mask._array.dtype)
        if like == "fill":
            raise RuntimeError(
                f"masked_fill_ only supports boolean masks, but got mask with dtype {dtypes.c_name(name)}"
            )
        if like == "scatter":
            raise RuntimeError(
                f"masked_scatter_ only supports boolean masks, but got mask with dtype {name.scalar_name}"
            )
        raise RuntimeError(f"{function}: expected BoolTensor for mask")


def _filling(function: str, input: Tensor, mask: Any, value: Any) -> tuple[Any, tuple[Any, ...], tuple[Any, ...]]:
    """The row of ``masked_fill``, its further inputs and its settings."""
    if isinstance(value, np.generic):
        value = value.item()
    if not isinstance(mask, Tensor) or not isinstance(value, (bool, int, float, complex, Tensor)):
        marks = "Tensor" if isinstance(mask, Tensor) else called(mask)
        raise TypeError(
            f"{function}() received an invalid combination of arguments - got ({marks}, {called(value)}), but expected "
            "one of:\n * (Tensor mask, Tensor value)\n * (Tensor mask, Number value)\n"
        )
    if mask._array.dtype.kind != "b" and not function.endswith("_"):
        rows.together(mask._array.shape, input._array.shape)  # which may refuse
    _check_mask(function, mask, "fill")
    if isinstance(value, Tensor):
        if value._array.ndim:
            raise RuntimeError(
                f"masked_fill_ only supports a 0-dimensional value tensor, but got tensor with {value._array.ndim} "
                "dimension(s)."
            )
        writable.check_number(value, input)
        return rows.masked_fill_tensor, (mask, value), ()
    dtypes.check_number(value, input._array.dtype)
    return rows.masked_fill, (mask,), (value,)


@composite()
def masked_fill(input: Tensor, mask: Tensor, value: Any) -> Tensor:
    """The tensor with ``value`` where ``mask`` holds."""
    row, others, settings = _filling("masked_fill", input, mask, value)
    return row(input, *others, *settings)  # type: ignore[no-any-return]


@composite(function=False)
def masked_fill_(self: Tensor, mask: Tensor, value: Any) -> Tensor:
    """In-place :func:`masked_fill`."""
    try:
        row, others, settings = _filling("masked_fill_", self, mask, value)
    except RuntimeError:
        writable.check_writable(self, False)  # which PyTorch asks first
        raise
    sizes = rows.together(self._array.shape, mask._array.shape)
    if sizes != self._array.shape:
        raise RuntimeError(f"output with shape {list(self.shape)} doesn't match the broadcast shape {list(sizes)}")
    others = (mask, *(write.separate(self, number) for number in others[1:]))
    if writable.is_doubled(self._array):
        others = (_shared(self, mask), *others[1:])
    return write.in_place(row.row, self, others, settings)


def _shared(target: Tensor, mask: Tensor) -> Tensor:
    """The mask of an expanded tensor: elements that share memory are filled together."""
    warn(expanded_warning("masked_fill_"))
    axes = writable.shared_axes(target._array)
    merged = TABLE["any_dim"].caller(expand(mask, target._array.shape), axes, True)
    return expand(merged, target._array.shape)


@composite()
def masked_select(input: Tensor, mask: Tensor, *, out: Any = None) -> Tensor:
    """The elements where ``mask`` holds, in a row."""
    _check_mask("masked_select", mask)
    return rows.masked_select(input, mask, out=out)


def _check_source(self: Tensor, source: Tensor) -> None:
    if source.dtype is not self.dtype:
        names = f"{self.dtype.scalar_name} and {source.dtype.scalar_name}"
        raise RuntimeError(f"masked_scatter: expected self and source to have same dtypes but got{names}")


@composite()
def masked_scatter(input: Tensor, mask: Tensor, source: Tensor) -> Tensor:
    """The tensor with the elements of ``source``, in order, where ``mask`` holds."""
    rows.together(mask._array.shape, input._array.shape)  # which may refuse
    _check_source(input, source)
    _check_mask("masked_scatter", mask, "scatter")
    return rows.masked_scatter(input, mask, source)


@composite(function=False)
def masked_scatter_(self: Tensor, mask: Tensor, source: Tensor) -> Tensor:
    """In-place :func:`masked_scatter`."""
    writable.check_writable(self, False)
    _check_source(self, source)
    expand(mask, self._array.shape)  # which may refuse
    _check_mask("masked_scatter_", mask, "scatter")
    return write.in_place(rows.masked_scatter.row, self, (mask, source), ())


# -- index tensors -----------------------------------------------------------------------------------------------------


def _indices(function: str, input: Tensor, indices: Any, values: Any) -> list[Any]:
    if not isinstance(indices, (tuple, list)):
        raise TypeError(
            f"{function}(): argument 'indices' (position 1) must be tuple of Tensors, not {called(indices)}"
        )
    for position, index in enumerate(indices):
        if not isinstance(index, Tensor):
            raise TypeError(f"expected Tensor as element {position} in argument 0, but got {called(index)}")
    if not isinstance(values, Tensor):
        raise TypeError(f"{function}(): argument 'values' (position 2) must be Tensor, not {called(values)}")
    count = len(indices)
    if count > input._array.ndim:
        raise IndexError(f"too many indices for tensor of dimension {input._array.ndim} (got {count})")
    return list(indices)


@composite()
def index_put(input: Tensor, indices: Any, values: Tensor, accumulate: bool = False) -> Tensor:
    """The tensor with ``values`` put, or added, where the index tensors point."""
    checked = prepared(input, _indices("index_put", input, indices, values))
    return rows.index_put(rows.beside(input, checked), fitting(input, checked, values, accumulate), checked, accumulate)


@composite()
def index_put_(input: Tensor, indices: Any, values: Tensor, accumulate: bool = False) -> Tensor:
    """In-place :func:`index_put`."""
    put_in_place("index_put_", input, _indices("index_put_", input, indices, values), values, accumulate)
    return input


@composite()
def take_along_dim(input: Tensor, indices: Tensor, dim: int | None = None, *, out: Any = None) -> Tensor:
    """The elements that ``indices`` name along ``dim``, with broadcasting; along a ``dim`` they go round."""
    if dim is None:
        return gather(reshape(input, (-1,)), 0, reshape(indices, (-1,)), out=out)
    if input._array.ndim != indices._array.ndim:
        raise RuntimeError(
            "torch.take_along_dim(): input and indices should have the same number of dimensions, but got "
            f"{input._array.ndim} dimensions for input, and {indices._array.ndim} dimensions for indices"
        )
    if indices._array.dtype != np.int64:
        kind = indices.dtype.scalar_name
        raise RuntimeError(f"torch.take_along_dim(): dtype of indices should be Long but got {kind}")
    axis = axis_of(dim, input._array.ndim)
    own, theirs = list(input._array.shape), list(indices._array.shape)
    if not own:
        raise IndexError(f"Dimension specified as {axis} but tensor has no dimensions")
    size, own[axis], theirs[axis] = own[axis], 1, 1
    wide = list(rows.together(tuple(own), tuple(theirs)))
    input = expand(input, (*wide[:axis], size, *wide[axis + 1 :]))
    indices = expand(indices, (*wide[:axis], indices._array.shape[axis], *wide[axis + 1 :]))
    return gather(input, axis, _from_front(indices, size), out=out)


def _from_front(indices: Tensor, size: int) -> Tensor:
    if not size and indices._array.size:
        raise RuntimeError("ZeroDivisionError")
    if isinstance(indices, Lifted):
        return indices % size if size else indices  # type: ignore[operator]
    return wrap(np.asarray(indices._array) % size) if size and indices._array.dtype.kind == "i" else indices
