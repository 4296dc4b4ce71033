"""Elements fetched and placed by index along one dimension, each row with its adjoint; knows arrays only."""

from __future__ import annotations

import builtins
from math import prod
from typing import Any

import numpy as np

from ...core.row import op
from ...ground import dtypes, errors
from ...ground.layout import dense_like
from ...ground.meta import in_single
from ...kernels.columns import not_implemented
from ..cast.rows import fill_number
from ..compare.rows import where
from ..index.rows import blank, masked_fill
from ..shape.rows import axis_of, reshape, unsigned
from .kernels import added, along_axis, covered, fetched, inside, put_where

ndarray = np.ndarray


def name_of(array: Any) -> str:
    """The name of an array's dtype, as in "Float"."""
    return dtypes.of(array.dtype).scalar_name


_TAKE_OUT = (
    "take(): self and out expected to have the same dtype, but got self.dtype = {Wanted} and out.dtype = {Found}"
)
BEYOND_DATA = "INDICES element is out of DATA bounds, id={0} axis_dim={2}"
BEYOND = "index {} is out of bounds for dimension {} with size {}"


def check_bounds(index: Any, size: int, axis: int, wording: str = BEYOND) -> None:
    """RuntimeError where an index is not in [0, ``size``)."""
    if not inside(index, size):
        bad = index[(index < 0) | (index >= size)]
        raise RuntimeError(wording.format(int(bad.reshape(-1)[0]), axis, size))


def _checked(name: str, self: Any, index: Any, dim: int, src: Any = None) -> int:
    """The dimension meant; PyTorch's errors where index (and source) do not fit."""
    axis = axis_of(dim, self.ndim)
    if index.size and (index.dtype.kind != "i" or index.itemsize < 4):
        raise RuntimeError(f"{name}(): Expected dtype int32/int64 for index")
    if src is not None and src.dtype != self.dtype:
        raise RuntimeError("scatter(): Expected self.dtype to be equal to src.dtype")
    if not index.size:
        return axis
    whose = "input" if name == "gather" else "self"
    if max(index.ndim, 1) != max(self.ndim, 1):
        raise RuntimeError(f"Index tensor must have the same number of dimensions as {whose} tensor")
    shape, sizes = index.shape or (1,), self.shape or (1,)
    if shape == sizes and src is None:
        check_bounds(index, sizes[axis], axis)
        return axis
    beyond = [at for at, size in enumerate(shape) if at != axis and size > sizes[at]]
    if src is not None and max(src.ndim, 1) != len(shape):
        if 0 < src.ndim < len(shape) and not (beyond or any(n > m for n, m in zip(shape, src.shape, strict=False))):
            axis_of(src.ndim, src.ndim)  # the first size that PyTorch misses
        raise RuntimeError("Index tensor must have the same number of dimensions as src tensor")
    if name == "gather":
        if beyond:
            raise RuntimeError(
                f"Size does not match at dimension {beyond[0]} expected index {list(index.shape)} to be no larger than "
                f"self {list(self.shape)} apart from dimension {axis}"
            )
    elif src is not None and (beyond or any(n > m for n, m in zip(shape, src.shape or (1,), strict=True))):
        raise RuntimeError(
            f"Expected index {list(index.shape)} to be no larger than self {list(self.shape)} apart from dimension "
            f"{axis} and to be no larger size than src {list(src.shape)}"
        )
    elif beyond:
        raise RuntimeError(
            f"Expected index {list(index.shape)} to be no larger than self {list(self.shape)} apart from dimension "
            f"{axis}"
        )
    check_bounds(index, sizes[axis], axis)
    return axis


@op(
    auxiliary=("index",),
    public=False,
    hidden=("self_sizes",),
    shows={"dim": ("dim", unsigned), "sparse_grad": ("dim", lambda dim: False)},
    out=errors.OUT_DTYPE,
    disjoint=("self",),
    aligned=True,
    layout="plain",
    forward="linear",
    batched="dims",
)
def gather(self: Any, index: Any, /, dim: Any, sparse_grad: Any = False) -> Any:
    """The elements that ``index`` names along ``dim``, in the shape of ``index``."""
    axis = _checked("gather", self, index, dim)
    if index.ndim > 1 and index.size:
        return fetched(self, index, axis)
    if not index.size:
        return np.empty(index.shape, self.dtype)
    return np.asarray(self).reshape(-1)[index]


gather.derivative(self=lambda grad, index, self_sizes, dim: gather_backward(grad, index, self_sizes, dim))


@op(auxiliary=("index",), public=False, forward="linear", batched="dims")
def gather_backward(grad_output: Any, index: Any, /, sizes: Any, dim: Any) -> Any:
    """Zeros of ``sizes`` with ``grad_output`` added where ``index`` points along ``dim``."""
    return added(np.zeros(sizes, grad_output.dtype), index, grad_output, axis_of(dim, len(sizes)))


gather_backward.derivative(grad_output=lambda grad, index, dim: gather(grad, index, dim))


@op(public=False, forward="linear", batched="dims")
def corner(self: Any, /, sizes: Any) -> Any:
    """The first elements along every dimension."""
    if 0 in sizes:
        return np.empty(sizes, self.dtype)
    whole = np.reshape(self, self.shape or (1,))  # one number may be counted as a dimension of one
    return whole[tuple(builtins.slice(size) for size in sizes)].copy().reshape(sizes)


corner.derivative(self=lambda grad, self_sizes: corner_backward(grad, self_sizes))


@op(public=False, forward="linear", batched="dims")
def corner_backward(grad_output: Any, /, sizes: Any) -> Any:
    """Zeros of ``sizes`` with ``grad_output`` in the first places along every dimension."""
    out = np.zeros(sizes or (1,), grad_output.dtype)
    if grad_output.size:  # an empty one may have any number of dimensions
        out[tuple(builtins.slice(size) for size in grad_output.shape)] = grad_output
    return out.reshape(sizes)


corner_backward.derivative(grad_output=lambda grad, grad_output_sizes: corner(grad, grad_output_sizes))


def _fetch(grad: Any, index: Any, index_sizes: Any, src_sizes: Any, dim: Any) -> Any:
    """The gradient that the places written or added to have; none for what ``index`` does not cover."""
    gradient = gather(grad, index, dim)
    return gradient if index_sizes == src_sizes else corner_backward(gradient, src_sizes)


#: The columns of what places elements by an index.
_PLACING: Any = {
    "inplace": True, "auxiliary": ("index",), "public": False, "shows": {"dim": ("dim", unsigned)},
    "out": errors.OUT_DTYPE, "batched": "dims",
}  # fmt: skip


@op(**_PLACING, hidden=("index_sizes", "src_sizes"), disjoint=("index", "src"), forward="linear")
def scatter(self: Any, index: Any, src: Any, /, dim: Any) -> Any:
    """``self`` with the elements of ``src`` where ``index`` points along ``dim``."""
    axis = _checked("scatter", self, index, dim, src)
    out = np.array(self, order="C")
    if index.size:
        put_where(out.reshape(out.shape or (1,)), index, covered(src, index), axis)
    return out


scatter.derivative(src=_fetch, self=lambda grad, index, dim: scatter_value(grad, index, dim, 0))


@op(node="ScatterBackward1", **_PLACING, disjoint=("index",))
def scatter_value(self: Any, index: Any, /, dim: Any, value: Any) -> Any:
    """``self`` with a number where ``index`` points along ``dim``."""
    axis = _checked("scatter", self, index, dim)
    out = np.array(self, order="C")
    if index.size:
        dtypes.check_number(value, self.dtype)
        out.reshape(out.shape or (1,))[along_axis(index, axis)] = dtypes.cast(np.asarray(value), self.dtype)
    return out


scatter_value.derivative(self=lambda grad, index, dim: scatter_value(grad, index, dim, 0))


@op(**_PLACING, hidden=("index_sizes", "src_sizes"), disjoint=("index", "src"), forward="linear")
def scatter_add(self: Any, index: Any, src: Any, /, dim: Any) -> Any:
    """``self`` with the elements of ``src`` added where ``index`` points along ``dim``."""
    axis = _checked("scatter", self, index, dim, src)
    return added(np.array(self, order="C"), index, src, axis)


scatter_add.derivative(src=_fetch, self=lambda grad: grad)


_REDUCE = {"sum": np.add, "mean": np.add, "prod": np.multiply, "amax": np.maximum, "amin": np.minimum}


def _neutral(reduce: str, dtype: Any) -> Any:
    if reduce in ("sum", "mean", "prod"):
        return int(reduce == "prod")
    low = reduce == "amax"
    if dtype.kind in "iu":
        return np.iinfo(dtype).min if low else np.iinfo(dtype).max
    return (not low) if dtype.kind == "b" else (-np.inf if low else np.inf)


@op(**_PLACING, hidden=("self_sizes", "index_sizes", "src_sizes"), disjoint=("index", "src"))
def scatter_reduce(self: Any, index: Any, src: Any, /, dim: Any, reduce: Any, include_self: Any = True) -> Any:
    """``self`` with what ``src`` sends to each place reduced into it: sum, prod, mean, amax or amin."""
    if reduce not in _REDUCE:
        raise RuntimeError(f"reduce argument must be either sum, prod, mean, amax or amin, got {reduce}")
    axis = _checked("scatter", self, index, dim, src)
    if (self.dtype.kind == "c" and reduce in ("amax", "amin")) or (self.dtype.kind == "b" and reduce == "mean"):
        raise not_implemented(f"scatter_gather_tensor_cpu_reduce_{reduce}", self)
    out = np.array(self, order="C")
    if not index.size:
        return out
    flat, at_index, part = out.reshape(out.shape or (1,)), along_axis(index, axis), covered(src, index)
    if not include_self:
        flat[at_index] = _neutral(reduce, self.dtype)
    wide = in_single(flat)  # a copy where halves are reduced: they are rounded once, at the end
    _REDUCE[reduce].at(wide, at_index, in_single(part))
    if wide is not flat:
        flat[...] = wide
    if reduce == "mean":
        counts = np.full(flat.shape, int(include_self), wide.dtype)
        np.add.at(counts, at_index, np.ones(1, wide.dtype))
        counts[counts == 0] = 1
        counts = counts.astype(self.dtype, copy=False)
        np.floor_divide(flat, counts, out=flat) if self.dtype.kind in "iu" else np.divide(flat, counts, out=flat)
    return out


@scatter_reduce.derivative("self", "src")
def shared_out(
    grad: Any, self: Any, index: Any, src: Any, result: Any, self_sizes: Any, index_sizes: Any, src_sizes: Any,
    dim: Any, reduce: Any, include_self: Any,
) -> Any:  # fmt: skip
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
        usual = gather(grad * result, index, dim) / masked_fill(src, src == 0, 1)
        to_src = where(only != 0, gather(grad * others, index, dim), usual)
    else:
        best = masked_fill(zeros, self == result, 1)
        reached = masked_fill(nothing, src == gather(result, index, dim), 1)
        # As in PyTorch, an element of ``self`` counts even where it does not take part; NaN, equal to none, gives NaN.
        fair = grad / scatter_add(best, index, reached, dim)
        to_self, to_src = fair * best, gather(fair, index, dim) * reached
    if not include_self:
        to_self = scatter_value(grad if reduce in ("amax", "amin") else to_self, index, dim, 0)
    return to_self, to_src if index_sizes == src_sizes else corner_backward(to_src, src_sizes)


# -- elements counted as if in one row ---------------------------------------------------------------------------------


def _need_long(name: str, index: Any) -> None:
    if index.dtype != np.int64:
        raise RuntimeError(f"{name}(): Expected a long tensor for index, but got {name_of(index)}")


def _counted(name: str, self: Any, index: Any) -> Any:
    """Flat indices from the front; PyTorch's errors where there is no such element."""
    _need_long(name, index)
    if not self.size and index.size:
        tried = "tried to take from" if name == "take" else "Tried to put elements into"
        raise IndexError(f"{name}(): {tried} an empty tensor")
    if index.size and (index.min() < -self.size or index.max() >= self.size):
        bad = index[(index < -self.size) | (index >= self.size)]
        raise IndexError(
            f"out of range: tried to access index {int(bad.reshape(-1)[0])} on a tensor of {self.size} elements."
        )
    return index


@op(auxiliary=("index",), hidden=("self_sizes",), out=_TAKE_OUT, disjoint=("self", "index"), forward="linear")
def take(self: Any, index: Any, /) -> Any:
    """The elements that ``index`` names, counted as if the tensor were one row."""
    return self.take(_counted("take", self, index))


take.derivative(self=lambda grad, index, self_sizes: put(blank(grad, self_sizes), index, grad, True))


@op(
    inplace=True,
    auxiliary=("index",),
    public=False,
    hidden=("source_sizes",),
    disjoint=("index", "source"),
    forward="linear",
)
def put(self: Any, index: Any, source: Any, /, accumulate: Any = False) -> Any:
    """``self`` with the elements of ``source`` put, or added, where ``index`` says, counted as if in one row."""
    _need_long("put_", index)
    if source.dtype != self.dtype:
        raise RuntimeError(
            f"put_(): self and source expected to have the same dtype, but got self.dtype = {name_of(self)} and "
            f"source.dtype = {name_of(source)}"
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
    laid = dense_like(self, self.dtype)
    laid[...] = out
    return laid


put.derivative(
    self=lambda grad, index, source_sizes, accumulate: (
        grad if accumulate else put(grad, index, blank(grad, source_sizes), False)
    ),
    source=lambda grad, index, source_sizes: reshape(take(grad, index), source_sizes),
)


# -- Reductions of segments: pieces of one dimension that lie one after the other.

#: reduction -> ufunc and what an empty segment gives
_KINDS = {
    "sum": (np.add, 0.0),
    "mean": (np.add, np.nan),
    "prod": (np.multiply, 1.0),
    "max": (np.maximum, -np.inf),
    "min": (np.minimum, np.inf),
}


def _bounds(data: Any, lengths: Any, offsets: Any) -> tuple[Any, Any, Any]:
    """The data as lines, and where among them each segment starts and ends."""
    layout = lengths if lengths is not None else offsets
    axis = layout.ndim - 1
    count = data.shape[axis]
    lines = data.reshape(prod(data.shape[: axis + 1]), *data.shape[axis + 1 :])
    sizes = lengths if lengths is not None else np.diff(offsets, axis=-1)
    sizes = sizes.reshape(-1, sizes.shape[-1]).astype(np.intp)
    first = offsets[..., :1].reshape(-1, 1) if offsets is not None else 0
    ends = np.cumsum(sizes, 1) + first + np.arange(len(sizes))[:, None] * count
    starts = ends - sizes
    return lines, starts.reshape(-1), ends.reshape(-1)


def _folded(ufunc: Any, lines: Any, starts: Any, ends: Any, empty: Any) -> Any:
    """``ufunc`` over each segment, ``empty`` where it has no element."""
    out = np.full((len(starts), *lines.shape[1:]), empty, lines.dtype)
    filled = ends > starts
    if filled.any():
        padded = np.concatenate([lines, lines[:1]])  # so that an end may lie behind the last element
        cuts = np.stack([starts[filled], ends[filled]], 1).reshape(-1)
        out[filled] = ufunc.reduceat(padded, cuts, axis=0)[::2]
    return out


@op(node="SegmentReduceBackward0", auxiliary=("lengths", "offsets"), public=False, batched="dims")
def segmented(
    data: Any, lengths: Any = None, offsets: Any = None, /, reduce: Any = "sum", axis: Any = 0, initial: Any = None
) -> Any:
    """The sum, mean, product or extreme of each segment of ``data``."""
    kind = data.dtype
    if kind.kind not in "fV":
        raise not_implemented("_segment_reduce_cpu", data)
    if kind.itemsize == 2:
        return segmented.row.kernel(data.astype("f4"), lengths, offsets, reduce, axis, initial).astype(kind)
    ufunc, empty = _KINDS[reduce]
    lines, starts, ends = _bounds(data, lengths, offsets)
    out = _folded(ufunc, lines, starts, ends, empty if initial is None else initial)
    sizes = (ends - starts).reshape(-1, *(1,) * (lines.ndim - 1))
    if initial is not None:
        out = np.where(sizes > 0, ufunc(out, kind.type(initial)), out)
    if reduce == "mean":
        out = np.where(sizes > 0, out / np.maximum(sizes, 1).astype(kind), out)
    layout = lengths if lengths is not None else offsets
    number = layout.shape[-1] - (lengths is None)
    return out.reshape(*layout.shape[:-1], number, *data.shape[layout.ndim :])


segmented.derivative(
    data=lambda grad, result, data, lengths, offsets, reduce, axis, initial: segment_reduce_backward(
        grad, result, data, lengths, offsets, reduce, initial
    )
)


@segmented.row.tangent
def _segmented_tangent(
    data: Any, data_t: Any, lengths: Any, offsets: Any, result: Any, reduce: Any, axis: Any, initial: Any
) -> Any:
    slope = segment_reduce_backward(fill_number(result, 1), result, data, lengths, offsets, reduce, initial)
    return segmented(slope * data_t, lengths, offsets, "sum", axis)


def refuse_again(grad: Any) -> Any:
    """Raise PyTorch's error for the second derivative."""
    raise RuntimeError("derivative for aten::_segment_reduce_backward is not implemented")


@op(auxiliary=("lengths", "offsets"), public=False, batched="first")
def segment_reduce_backward(
    grad: Any, result: Any, data: Any, lengths: Any = None, offsets: Any = None, /, reduce: Any = "sum",
    initial: Any = None,
) -> Any:  # fmt: skip
    """The gradient of each element: its segment's, shared among equals for extremes."""
    kind = data.dtype
    if kind.itemsize == 2:
        wide = [a.astype("f4") for a in (grad, result, data)]
        return segment_reduce_backward.row.kernel(*wide, lengths, offsets, reduce, initial).astype(kind)
    lines, starts, ends = _bounds(data, lengths, offsets)
    sizes = ends - starts
    where = np.concatenate([np.arange(a, b) for a, b in zip(starts, ends, strict=True)] or [np.zeros(0, np.intp)])
    owner = np.repeat(np.arange(len(sizes)), np.asarray(sizes, np.intp))
    grads = grad.reshape(-1, *lines.shape[1:])[owner]
    results = result.reshape(-1, *lines.shape[1:])[owner]
    own = lines[where]
    if reduce == "mean":
        grads = grads / sizes[owner].reshape(-1, *(1,) * (lines.ndim - 1)).astype(kind)
    elif reduce == "prod":
        hidden = (own == 0) | np.isnan(own)
        rest = np.divide(results, own, where=~hidden, out=np.zeros_like(results))
        for position in np.argwhere(hidden):  # division would lose them: multiply the others
            segment = owner[position[0]]
            others = np.arange(starts[segment], ends[segment])
            others = others[others != where[position[0]]]
            others = lines[(others, *position[1:])]
            rest[tuple(position)] = np.multiply.reduce(others) * (1 if initial is None else initial)
        grads = grads * rest
    elif reduce in ("max", "min"):
        chosen = (own == results) | np.isnan(own)
        shares = np.zeros((len(sizes), *lines.shape[1:]), kind)
        np.add.at(shares, owner, chosen.astype(kind))
        grads = np.where(chosen, grads / np.maximum(shares[owner], 1), 0)
    out = np.zeros_like(lines)
    out[where] = grads
    return out.reshape(data.shape)


segment_reduce_backward.derivative(grad=refuse_again, result=refuse_again, data=refuse_again)
