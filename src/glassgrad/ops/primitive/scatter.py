"""Elements fetched and placed by index along one dimension, each row with its adjoint; knows arrays only."""

from __future__ import annotations

import builtins
from typing import Any

import numpy as np

from ...ground import dtypes
from ...kernels.scatter import add_rows, added, covered, fetched, inside, place, put_where
from ..declare import op
from .index import ALL, blank, masked_fill
from .shape import axis_of, expand, reshape, sum_to, unsigned, view

ndarray = np.ndarray


def _name(array: Any) -> str:
    return dtypes.of(array.dtype).scalar_name


_BEYOND = "index {} is out of bounds for dimension {} with size {}"


def _bounds(index: Any, size: int, axis: int, wording: str = _BEYOND) -> None:
    """RuntimeError where an index is not in [0, ``size``)."""
    if not inside(index, size):
        bad = index[(index < 0) | (index >= size)]
        raise RuntimeError(wording.format(int(bad.reshape(-1)[0]), axis, size))


def _checked(name: str, self: Any, index: Any, dim: int, src: Any = None) -> int:
    """The dimension meant; PyTorch's errors where index (and source) do not fit."""
    axis = axis_of(dim, self.ndim)
    if index.dtype.kind != "i" or index.itemsize < 4:
        raise RuntimeError(f"{name}(): Expected dtype int32/int64 for index")
    if not index.size:
        return axis
    whose = "input" if name == "gather" else "self"
    if max(index.ndim, 1) != max(self.ndim, 1):
        raise RuntimeError(f"Index tensor must have the same number of dimensions as {whose} tensor")
    shape, sizes = index.shape or (1,), self.shape or (1,)
    if shape == sizes and src is None:
        _bounds(index, sizes[axis], axis)
        return axis
    if src is not None and max(src.ndim, 1) != len(shape):
        raise RuntimeError("Index tensor must have the same number of dimensions as src tensor")
    beyond = [at for at, size in enumerate(shape) if at != axis and size > sizes[at]]
    if name == "gather":
        if beyond:
            raise RuntimeError(
                f"Size does not match at dimension {beyond[0]} expected index {list(index.shape)} to be no larger than "
                "self "
                f"{list(self.shape)} apart from dimension {axis}"
            )
    elif src is not None and (beyond or any(n > m for n, m in zip(shape, src.shape or (1,), strict=True))):
        raise RuntimeError(
            f"Expected index {list(index.shape)} to be no larger than self {list(self.shape)} apart from dimension "
            f"{axis} "
            f"and to be no larger size than src {list(src.shape)}"
        )
    elif beyond:
        raise RuntimeError(
            f"Expected index {list(index.shape)} to be no larger than self {list(self.shape)} apart from dimension "
            f"{axis}"
        )
    _bounds(index, sizes[axis], axis)
    return axis


@op()
def gather(self: Any, index: Any, /, dim: Any, sparse_grad: Any = False) -> Any:
    """The elements that ``index`` names along ``dim``, in the shape of ``index``."""
    axis = _checked("gather", self, index, dim)
    if index.ndim > 1 and index.size:
        return fetched(self, index, axis)
    if not index.size:
        return np.empty(index.shape, self.dtype)
    return np.asarray(self).reshape(-1)[index]


@op()
def gather_backward(grad_output: Any, index: Any, /, sizes: Any, dim: Any) -> Any:
    """Zeros of ``sizes`` with ``grad_output`` added where ``index`` points along ``dim``."""
    return added(np.zeros(sizes, grad_output.dtype), index, grad_output, axis_of(dim, len(sizes)))


@op()
def corner(self: Any, /, sizes: Any) -> Any:
    """The first elements along every dimension."""
    return self[tuple(builtins.slice(size) for size in sizes)].copy()


@op()
def corner_backward(grad_output: Any, /, sizes: Any) -> Any:
    """Zeros of ``sizes`` with ``grad_output`` in the first places along every dimension."""
    out = np.zeros(sizes, grad_output.dtype)
    out[tuple(builtins.slice(size) for size in grad_output.shape)] = grad_output
    return out


@op(inplace=True)
def scatter(self: Any, index: Any, src: Any, /, dim: Any) -> Any:
    """``self`` with the elements of ``src`` where ``index`` points along ``dim``."""
    axis = _checked("scatter", self, index, dim, src)
    _same_dtype(self, src)
    out = np.array(self, order="C")
    if index.size:
        put_where(out.reshape(out.shape or (1,)), index, covered(src, index), axis)
    return out


@op(node="ScatterBackward1", inplace=True)
def scatter_value(self: Any, index: Any, /, dim: Any, value: Any) -> Any:
    """``self`` with a number where ``index`` points along ``dim``."""
    axis = _checked("scatter", self, index, dim)
    out = np.array(self, order="C")
    if index.size:
        out.reshape(out.shape or (1,))[place(index, axis)] = np.asarray(value).astype(self.dtype)
    return out


@op(inplace=True)
def scatter_add(self: Any, index: Any, src: Any, /, dim: Any) -> Any:
    """``self`` with the elements of ``src`` added where ``index`` points along ``dim``."""
    axis = _checked("scatter", self, index, dim, src)
    _same_dtype(self, src)
    return added(np.array(self, order="C"), index, src, axis)


def _same_dtype(self: Any, src: Any) -> None:
    if src.dtype != self.dtype:
        raise RuntimeError("scatter(): Expected self.dtype to be equal to src.dtype")


_REDUCE = {"sum": np.add, "mean": np.add, "prod": np.multiply, "amax": np.maximum, "amin": np.minimum}


def _neutral(reduce: str, dtype: Any) -> Any:
    if reduce in ("sum", "mean", "prod"):
        return int(reduce == "prod")
    low = reduce == "amax"
    if dtype.kind in "iu":
        return np.iinfo(dtype).min if low else np.iinfo(dtype).max
    return (not low) if dtype.kind == "b" else (-np.inf if low else np.inf)


@op(inplace=True)
def scatter_reduce(self: Any, index: Any, src: Any, /, dim: Any, reduce: Any, include_self: Any = True) -> Any:
    """``self`` with what ``src`` sends to each place reduced into it: sum, prod, mean, amax or amin."""
    if reduce not in _REDUCE:
        raise RuntimeError(f"reduce argument must be either sum, prod, mean, amax or amin, got {reduce}")
    axis = _checked("scatter", self, index, dim, src)
    _same_dtype(self, src)
    out = np.array(self, order="C")
    if not index.size:
        return out
    flat, at_index, part = out.reshape(out.shape or (1,)), place(index, axis), covered(src, index)
    if not include_self:
        flat[at_index] = _neutral(reduce, self.dtype)
    _REDUCE[reduce].at(flat, at_index, part)
    if reduce == "mean":
        counts = np.full(flat.shape, int(include_self), self.dtype)
        np.add.at(counts, at_index, np.ones(1, self.dtype))
        counts[counts == 0] = 1
        np.floor_divide(flat, counts, out=flat) if self.dtype.kind in "iu" else np.divide(flat, counts, out=flat)
    return out


for row in (gather_backward, corner, corner_backward, gather, scatter, scatter_value, scatter_add, scatter_reduce):
    row.internal()
for row in (gather, gather_backward, scatter, scatter_value, scatter_add, scatter_reduce):
    row.sets_apart("index")
gather.derivative(self=lambda grad, index, self_sizes, dim: gather_backward(grad, index, self_sizes, dim))
gather_backward.derivative(grad_output=lambda grad, index, dim: gather(grad, index, dim))
corner.derivative(self=lambda grad, self_sizes: corner_backward(grad, self_sizes))
corner_backward.derivative(grad_output=lambda grad, grad_output_sizes: corner(grad, grad_output_sizes))


@scatter.derivative("src")
def _fetch(grad: Any, index: Any, index_sizes: Any, src_sizes: Any, dim: Any) -> Any:
    """The gradient that the places written to have; none for what ``index`` does not cover."""
    found = gather(grad, index, dim)
    return found if index_sizes == src_sizes else corner_backward(found, src_sizes)


@scatter_add.derivative("src")
def _fetch_added(grad: Any, index: Any, index_sizes: Any, src_sizes: Any, dim: Any) -> Any:
    """The same: adding and placing have one adjoint."""
    found = gather(grad, index, dim)
    return found if index_sizes == src_sizes else corner_backward(found, src_sizes)


scatter.derivative(self=lambda grad, index, dim: scatter_value(grad, index, dim, 0))
scatter_value.derivative(self=lambda grad, index, dim: scatter_value(grad, index, dim, 0))
scatter_add.derivative(self=lambda grad: grad)


@scatter_reduce.derivative("self", "src")
def _share(
    grad: Any,
    self: Any,
    index: Any,
    src: Any,
    result: Any,
    self_sizes: Any,
    index_sizes: Any,
    src_sizes: Any,
    dim: Any,
    reduce: Any,
    include_self: Any,
) -> Any:
    """Sums pass the gradient on, means divide it, products scale it, extrema share it among those that attain them."""
    if index_sizes != src_sizes:
        src = corner(src, index_sizes)
    zeros, nothing = blank(grad, self_sizes), blank(grad, index_sizes)
    ones = nothing + 1
    if reduce == "sum":
        to_self, to_src = grad, gather(grad, index, dim)
    elif reduce == "mean":
        counts = scatter_add(zeros + 1 if include_self else zeros, index, ones, dim)
        to_self = grad / masked_fill(counts, counts == 0, 1)
        to_src = gather(to_self, index, dim)
    elif reduce == "prod":
        own = masked_fill(self, self == 0, 1)
        to_self = grad * scatter_reduce(own, index, src, dim, reduce, include_self) / own
        vanishing = masked_fill(nothing, src == 0, 1)
        many = gather(scatter_add(zeros, index, vanishing, dim), index, dim)
        only = masked_fill(vanishing, many != 1, 0)  # the one zero of its place: the product of the others is left
        others = scatter_reduce(self, index, masked_fill(src, only != 0, 1), dim, reduce, include_self)
        alone = gather(grad * others, index, dim) * only
        usual = gather(grad * result, index, dim) / masked_fill(src, src == 0, 1)
        to_src = alone + masked_fill(usual, only != 0, 0)
    else:
        best = masked_fill(zeros, self == result, 1)
        reached = masked_fill(nothing, src == gather(result, index, dim), 1)
        if not include_self:
            best = scatter_value(best, index, dim, 0)
        ties = scatter_add(best, index, reached, dim)
        fair = grad / masked_fill(ties, ties == 0, 1)
        to_self, to_src = fair * best, gather(fair, index, dim) * reached
    if not include_self:
        to_self = scatter_value(grad if reduce in ("amax", "amin") else to_self, index, dim, 0)
    return to_self, to_src if index_sizes == src_sizes else corner_backward(to_src, src_sizes)
gather.shows(hidden=("self_sizes",), dim=("dim", unsigned), sparse_grad=("dim", lambda dim: False))
scatter_value.shows(dim=("dim", unsigned))
for row in (scatter, scatter_add):
    row.shows(hidden=("index_sizes", "src_sizes"), dim=("dim", unsigned))
scatter_reduce.shows(hidden=("self_sizes", "index_sizes", "src_sizes"), dim=("dim", unsigned))


# -- one index for a whole slice ---------------------------------------------------------------------------------------


def _along(axis: int, index: Any) -> tuple[Any, ...]:
    return (*(ALL,) * axis, index.reshape(-1))


@op()
def index_select(self: Any, index: Any, /, dim: Any) -> Any:
    """The slices of ``dim`` that ``index`` names."""
    axis = axis_of(dim, self.ndim)
    if index.ndim > 1:
        raise IndexError("index_select(): Index is supposed to be a vector")
    if index.dtype.kind != "i" or index.itemsize < 4:
        raise RuntimeError("index_select(): Expected dtype int32 or int64 for index")
    if not self.ndim:
        if index.size != 1:
            raise RuntimeError(f"index_select(): Index to scalar can have only 1 value, got {index.size} value(s)")
        return np.array(self)
    if index.size and not self.shape[axis]:
        raise RuntimeError("index_select(): self indexing axis dim should be positive")
    if not inside(index, self.shape[axis]):
        raise IndexError("index out of range in self")
    return self.take(index.reshape(-1), axis)


@op()
def index_select_backward(grad_output: Any, index: Any, /, sizes: Any, dim: Any) -> Any:
    """Zeros of ``sizes`` with slices added where ``index`` says."""
    return _slices_added(np.zeros(sizes, grad_output.dtype), index, grad_output, axis_of(dim, len(sizes)))


def _slices_added(out: Any, index: Any, source: Any, axis: int) -> Any:
    if not out.ndim:
        out += source.reshape(()) if source.size == 1 else source.sum()
    elif index.size > 1:
        if axis:
            add_rows(np.moveaxis(out, axis, 0), index, np.moveaxis(source, axis, 0))
        else:
            add_rows(out, index, source)
    elif index.size:
        out[_along(axis, index)] += source.reshape((*out.shape[:axis], 1, *out.shape[axis + 1 :]))
    return out


def _slices(self: Any, index: Any, source: Any, dim: int) -> int:
    """The dimension of ``index_add``; PyTorch's errors where something does not fit."""
    axis = axis_of(dim, self.ndim)
    if index.ndim > 1:
        raise IndexError(
            f"index_add_(): Index is supposed to be a vector, but got dim: {index.ndim} with type: {_name(index)} and "
            f"size: {list(index.shape)}"
        )
    if index.dtype.kind != "i" or index.itemsize < 4:
        raise RuntimeError(f"index_add_(): Expected dtype int32/int64 for index but got: {_name(index)}")
    if source.dtype != self.dtype:
        raise RuntimeError(
            f"index_add_(): self ({_name(self)}) and source ({_name(source)}) must have the same scalar type"
        )
    count = source.shape[axis] if source.ndim > axis else 1
    if index.size != count:
        raise RuntimeError(
            f"index_add_(): Number of indices ({index.size}) should be equal to source.size(dim): ({count}), for dim: "
            f"{dim}"
        )
    if (*self.shape[:axis], *self.shape[axis + 1 :]) != (*source.shape[:axis], *source.shape[axis + 1 :]) or (
        self.ndim != source.ndim
    ):
        raise RuntimeError(
            "source tensor shape must match self tensor shape, excluding the specified dimension. Got self.shape = "
            f"{list(self.shape)} source.shape = {list(source.shape)}"
        )
    _bounds(index, self.shape[axis] if self.ndim else 1, axis)
    return axis


@op(inplace=True)
def index_add(self: Any, index: Any, source: Any, /, dim: Any, alpha: Any = 1) -> Any:
    """``self`` with ``alpha`` times the slices of ``source`` added where ``index`` says."""
    axis = _slices(self, index, source, dim)
    if alpha != 1:
        source = source * np.asarray(alpha).astype(self.dtype)
    return _slices_added(np.array(self, order="C"), index, source, axis)


@op(inplace=True)
def index_copy(self: Any, index: Any, source: Any, /, dim: Any) -> Any:
    """``self`` with its slices replaced by those of ``source`` where ``index`` says."""
    axis = axis_of(dim, self.ndim)
    if index.ndim > 1:
        raise IndexError(f"index_copy_(): Index should have dimension 1 or 0 (got {index.ndim})")
    if index.dtype != np.int64:
        raise RuntimeError(f"index_copy_(): Expected a long tensor for index, but got {_name(index)}")
    if source.dtype != self.dtype:
        raise RuntimeError(
            f"index_copy_(): self and source expected to have the same dtype, but got (self) {_name(self)} and "
            "(source) "
            f"{_name(source)}"
        )
    if source.ndim and self.ndim and source.ndim != self.ndim:
        raise IndexError(
            f"index_copy_(): When source and destination are not scalars, their dimensionality must match. Source "
            f"dimensionality ({source.ndim}), destination dimensionality ({self.ndim})"
        )
    rest = (*self.shape[:axis], *self.shape[axis + 1 :])
    others = (*source.shape[:axis], *source.shape[axis + 1 :])
    if rest != others:
        shown, theirs = " ".join(map(str, rest)), " ".join(map(str, others))
        raise RuntimeError(
            "index_copy_(): Source/destination tensor must have same slice shapes. Destination slice shape: "
            f"{shown} at dimension {axis} and source slice shape: {theirs} at dimension "
            f"{0 if not source.ndim else axis}."
        )
    count = source.shape[axis] if source.ndim else 1
    if index.size != count:
        raise IndexError(
            f"index_copy_(): Number of indices ({index.size}) should be equal to source.size(dim) ({count})"
        )
    try:
        _bounds(index, self.shape[axis] if self.ndim else 1, axis, f"index_copy_(): {_BEYOND}")
    except RuntimeError as error:
        raise IndexError(str(error)) from None
    out = np.array(self, order="C")
    if not self.ndim:
        out[...] = source.reshape(())
    elif index.size:
        out[_along(axis, index)] = source.reshape((*rest[:axis], count, *rest[axis:]))
    return out


def _filled(self: Any, index: Any, dim: int, value: Any) -> Any:
    axis = axis_of(dim, self.ndim)
    if index.ndim > 1:
        raise RuntimeError("Index has to be a vector/scalar")
    if index.dtype != np.int64:
        raise IndexError("index_fill_(): Expected dtype int64 for index.")
    size = self.shape[axis] if self.ndim else 1
    if index.size and (index.min() < -size or index.max() >= size):
        bad = index[(index < -size) | (index >= size)]
        raise IndexError(f"index {int(bad.reshape(-1)[0])} is out of bounds for dimension {axis} with size {size}")
    out = np.array(self)
    if self.ndim:
        out[_along(axis, index)] = value
    elif index.size:
        out[...] = value
    return out


@op(inplace=True)
def index_fill(self: Any, index: Any, /, dim: Any, value: Any) -> Any:
    """``self`` with the slices that ``index`` names filled with a number."""
    return _filled(self, index, dim, np.asarray(value).astype(self.dtype))


@op(node="IndexFillBackward1", inplace=True)
def index_fill_tensor(self: Any, index: Any, value: Any, /, dim: Any) -> Any:
    """``self`` with the slices that ``index`` names filled with a 0-d tensor's value."""
    return _filled(self, index, dim, value.astype(self.dtype))


for row in (index_select, index_select_backward, index_add, index_copy, index_fill, index_fill_tensor):
    row.internal()
    row.sets_apart("index")
index_fill_tensor.sets_apart("index", "value")
index_select.derivative(self=lambda grad, index, self_sizes, dim: index_select_backward(grad, index, self_sizes, dim))
index_select_backward.derivative(grad_output=lambda grad, index, dim: index_select(grad, index, dim))
index_add.derivative(
    self=lambda grad: grad,
    source=lambda grad, index, source_sizes, dim, alpha: (
        reshape(index_select(grad, index, dim), source_sizes)
        if alpha == 1
        else reshape(index_select(grad, index, dim) * alpha, source_sizes)
    ),
)
index_copy.derivative(
    self=lambda grad, index, dim: index_fill(grad, index, dim, 0),
    source=lambda grad, index, source_sizes, dim: reshape(index_select(grad, index, dim), source_sizes),
)
index_fill.derivative(self=lambda grad, index, dim: index_fill(grad, index, dim, 0))
index_fill_tensor.derivative(
    self=lambda grad, index, dim: index_fill(grad, index, dim, 0),
    value=lambda grad, index, dim: sum_to(index_select(grad, index, dim), ()),
)
index_select.shows(dim=("dim", unsigned))
for row in (index_add, index_copy):
    row.shows(hidden=("source_sizes",), dim=("dim", unsigned), source_dim=("source_sizes", len))
for row in (index_fill, index_fill_tensor):
    row.shows(dim=("dim", unsigned))


def _line_of(ndim: int, axis: int) -> tuple[int, ...]:
    return tuple(-1 if at == axis else 1 for at in range(ndim))


@op(inplace=True)
def index_reduce(self: Any, index: Any, source: Any, /, dim: Any, reduce: Any, include_self: Any = True) -> Any:
    """``self`` with the slices of ``source`` reduced into those that ``index`` names."""
    axis = axis_of(dim, self.ndim)
    wide = np.broadcast_to(index.reshape(_line_of(source.ndim, axis)), source.shape)
    return scatter_reduce.row.kernel(self, wide, source, axis, reduce, include_self)


@index_reduce.derivative("self", "source")
def _share_slices(
    grad: Any,
    self: Any,
    index: Any,
    source: Any,
    result: Any,
    self_sizes: Any,
    source_sizes: Any,
    dim: Any,
    reduce: Any,
    include_self: Any,
) -> Any:
    """What ``scatter_reduce`` hands on, with one index for every element."""
    axis = axis_of(dim, len(self_sizes))
    wide = expand(view(index, _line_of(len(source_sizes), axis)), source_sizes)
    return _share(
        grad, self, wide, source, result, self_sizes, source_sizes, source_sizes, axis, reduce, include_self
    )


index_reduce.internal()
index_reduce.sets_apart("index")
index_reduce.shows(hidden=("self_sizes", "source_sizes"), dim=("dim", unsigned))


# -- elements counted as if in one row ---------------------------------------------------------------------------------


def _counted(name: str, self: Any, index: Any) -> Any:
    """Flat indices from the front; PyTorch's errors where there is no such element."""
    if index.dtype != np.int64:
        raise RuntimeError(f"{name}(): Expected a long tensor for index, but got {_name(index)}")
    if not self.size and index.size:
        tried = "take from" if name == "take" else "put elements into"
        raise IndexError(f"{name}(): tried to {tried} an empty tensor")
    if index.size and (index.min() < -self.size or index.max() >= self.size):
        bad = index[(index < -self.size) | (index >= self.size)]
        raise IndexError(
            f"out of range: tried to access index {int(bad.reshape(-1)[0])} on a tensor of {self.size} elements."
        )
    return index


@op()
def take(self: Any, index: Any, /) -> Any:
    """The elements that ``index`` names, counted as if the tensor were one row."""
    return self.reshape(-1)[_counted("take", self, index)]


@op(inplace=True)
def put(self: Any, index: Any, source: Any, /, accumulate: Any = False) -> Any:
    """``self`` with the elements of ``source`` put, or added, where ``index`` says, counted as if in one row."""
    if source.dtype != self.dtype:
        raise RuntimeError(
            f"put_(): self and source expected to have the same dtype, but got self.dtype = {_name(self)} and "
            "source.dtype = "
            f"{_name(source)}"
        )
    if index.size != source.size:
        raise IndexError(
            f"put_(): Expected source and index to have the same number of elements, but got source.numel() = "
            f"{source.size}, index.numel() = {index.size}"
        )
    index = _counted("put_", self, index).reshape(-1)
    out = np.array(self, order="C")
    flat = out.reshape(-1)
    if accumulate:
        np.add.at(flat, index, source.reshape(-1))
    else:
        flat[index] = source.reshape(-1)
    if out.strides == self.strides:
        return out
    laid = np.empty_like(self)
    laid[...] = out
    return laid


for row in (take, put):
    row.sets_apart("index")
put.internal()
take.derivative(self=lambda grad, index, self_sizes: put(blank(grad, self_sizes), index, grad, True))
put.derivative(
    self=lambda grad, index, source_sizes, accumulate: (
        grad if accumulate else put(grad, index, blank(grad, source_sizes), False)
    ),
    source=lambda grad, index, source_sizes: reshape(take(grad, index), source_sizes),
)
take.shows(hidden=("self_sizes",))
put.shows(hidden=("source_sizes",))
