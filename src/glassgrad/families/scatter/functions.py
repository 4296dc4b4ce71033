"""PyTorch's signatures of fetching and placing by index, where the dimension comes before the index."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...core import write
from ...core.tensor import Tensor, wrap
from ...ground import dtypes, errors, modes
from ...ground.dtypes import called
from ...ground.runtime import warn_once
from ...kernels.columns import not_implemented
from ...ops.declare import composite
from ...tensor import writable
from ...tensor.lifted import all_values
from ..index import slices
from ..index.getitem import put_in_place
from ..index.rows import blank, masked_fill
from ..reduce.extreme import refuse_empty
from ..shape.rows import axis_of
from . import rows
from .rows import segmented


def _index(function: str, index: Any, position: int = 2) -> None:
    if not isinstance(index, Tensor):
        raise TypeError(f"{function}(): argument 'index' (position {position}) must be Tensor, not {called(index)}")


@composite()
def gather(input: Tensor, dim: int, index: Tensor, *, sparse_grad: bool = False, out: Any = None) -> Tensor:
    """The elements that ``index`` names along ``dim``, in the shape of ``index``."""
    _index("gather", index)
    return rows.gather(input, index, dim, sparse_grad, out=out)


@composite()
def index_select(input: Tensor, dim: int, index: Tensor, *, out: Any = None) -> Tensor:
    """The slices of ``dim`` that ``index`` names."""
    _index("index_select", index)
    return slices.index_select(input, index, dim, out=out)


# -- scatter -----------------------------------------------------------------------------------------------------------

_SCATTER = (
    "scatter() received an invalid combination of arguments - got ({}), but expected one of:\n * (int dim, Tensor "
    "index, Tensor src)\n * (int dim, Tensor index, Tensor src, *, str reduce)\n * (int dim, Tensor index, Number "
    "value)\n * (int dim, Tensor index, Number value, *, str reduce)\n"
)
_DEPRECATED = (
    "The reduce argument of torch.scatter with Tensor src is deprecated and will be removed in a future PyTorch "
    "release. Use torch.scatter_reduce instead for more reduction options. (Triggered internally at "
    "/__w/pytorch/pytorch/aten/src/ATen/native/TensorAdvancedIndexing.cpp:225.)"
)
_NUMBERS = (int, float, complex, np.number)


def _placing(input: Tensor, dim: int, index: Any, src: Any, value: Any, reduce: str | None) -> tuple[Any, Any, Any]:
    """The row of ``scatter`` that fits, its further inputs and its settings."""
    if isinstance(value, Tensor) and not (value._array.ndim or value.requires_grad):
        value = value.item()  # type: ignore[attr-defined]
    source = value if src is None else src
    kinds = _NUMBERS if src is None else (*_NUMBERS, Tensor)
    if not isinstance(source, kinds) or None not in (src, value):
        given = [each for each in (dim, index, src, value) if each is not None]
        raise TypeError(_SCATTER.format(", ".join(map(called, given))))
    _index("scatter", index)
    dim = dtypes.need_int("scatter", "dim", 1, dim)
    if reduce is not None:
        if reduce not in ("add", "multiply"):
            raise RuntimeError("reduce argument must be either add or multiply.")
        kind = "sum" if reduce == "add" else "prod"
        if isinstance(source, Tensor):
            warn_once(_DEPRECATED)
        else:
            source = masked_fill(blank(input, index._array.shape), _everywhere(index), source)
        return rows.scatter_reduce, (index, source), (dim, kind, True)
    if isinstance(source, Tensor):
        return rows.scatter, (index, source), (dim,)
    return rows.scatter_value, (index,), (dim, source)


def _everywhere(index: Tensor) -> Tensor:
    return wrap(np.ones(index._array.shape, bool))


def _placed(row: Any, tensors: Any, settings: Any, out: Any) -> Tensor:
    """A row of scatter; where ``out=`` lies on what is read PyTorch tells before its dtype."""
    try:
        return row(*tensors, *settings, out=out)  # type: ignore[no-any-return]
    except RuntimeError as error:
        if str(error).startswith(errors.OUT_DTYPE[:20]):
            for tensor in tensors[1:]:
                writable.check_overlap_with(out, tensor, True)
        raise


@composite()
def scatter(
    input: Tensor, dim: int, index: Tensor, src: Any = None, *, value: Any = None, reduce: str | None = None,
    out: Any = None,
) -> Tensor:  # fmt: skip
    """The tensor with ``src``, or a number, where ``index`` points along ``dim``."""
    row, others, settings = _placing(input, dim, index, src, value, reduce)
    return _placed(row, (input, *others), settings, out)


@composite(function=False)
def scatter_(
    self: Tensor, dim: int, index: Tensor, src: Any = None, *, value: Any = None, reduce: str | None = None
) -> Tensor:
    """In-place :func:`scatter`."""
    row, others, settings = _placing(self, dim, index, src, value, reduce)
    return write.in_place(row.row, self, others, settings)


@composite()
def scatter_add(input: Tensor, dim: int, index: Tensor, src: Tensor, *, out: Any = None) -> Tensor:
    """The tensor with ``src`` added where ``index`` points along ``dim``."""
    _index("scatter_add", index)
    return _placed(rows.scatter_add, (input, index, src), (dim,), out)


@composite(function=False)
def scatter_add_(self: Tensor, dim: int, index: Tensor, src: Tensor) -> Tensor:
    """In-place :func:`scatter_add`."""
    _index("scatter_add_", index)
    return write.in_place(rows.scatter_add.row, self, (index, src), (dim,))


@composite()
def scatter_reduce(
    input: Tensor, dim: int, index: Tensor, src: Tensor, reduce: str, *, include_self: bool = True, out: Any = None
) -> Tensor:
    """The tensor with what ``src`` sends to each place reduced into it."""
    _index("scatter_reduce", index)
    return _placed(rows.scatter_reduce, (input, index, src), (dim, reduce, include_self), out)


@composite(function=False)
def scatter_reduce_(
    self: Tensor, dim: int, index: Tensor, src: Tensor, reduce: str, *, include_self: bool = True
) -> Tensor:
    """In-place :func:`scatter_reduce`."""
    _index("scatter_reduce_", index)
    return write.in_place(rows.scatter_reduce.row, self, (index, src), (dim, reduce, include_self))


# -- whole slices ------------------------------------------------------------------------------------------------------


def _factor(function: str, alpha: Any, input: Any) -> Any:
    """A number by which is multiplied; PyTorch's error for anything else."""
    if isinstance(alpha, Tensor) and not (alpha._array.ndim or alpha.requires_grad):
        alpha = alpha.item()  # type: ignore[attr-defined]
    if not isinstance(alpha, _NUMBERS):
        raise TypeError(f"{function}(): argument 'alpha' must be Number, not {called(alpha)}")
    if isinstance(alpha, complex) and isinstance(input, Tensor):
        dtypes.check_number(alpha, input._array.dtype)
    return alpha


@composite()
def index_add(input: Tensor, dim: int, index: Tensor, source: Tensor, *, alpha: Any = 1, out: Any = None) -> Tensor:
    """The tensor with ``alpha`` times the slices of ``source`` added where ``index`` says."""
    _index("index_add", index)
    return slices.index_add(input, index, source, dim, _factor("index_add", alpha, input), out=out)


@composite(function=False)
def index_add_(self: Tensor, dim: int, index: Tensor, source: Tensor, *, alpha: Any = 1) -> Tensor:
    """In-place :func:`index_add`."""
    _index("index_add_", index)
    return write.in_place(slices.index_add.row, self, (index, source), (dim, _factor("index_add_", alpha, self)))


@composite()
def index_copy(input: Tensor, dim: int, index: Tensor, source: Tensor, *, out: Any = None) -> Tensor:
    """The tensor with its slices replaced by those of ``source`` where ``index`` says."""
    _index("index_copy", index)
    return slices.index_copy(input, index, source, dim, out=out)


@composite(function=False)
def index_copy_(self: Tensor, dim: int, index: Tensor, source: Tensor) -> Tensor:
    """In-place :func:`index_copy`."""
    _index("index_copy_", index)
    is_tensor = isinstance(source, Tensor)
    writable.check_writable(self, is_tensor and source.requires_grad and modes.grad_enabled())
    if is_tensor and source._array.ndim == self._array.ndim:
        writable.check_overlap(self)
        writable.check_overlap_with(self, source, True)
    return write.in_place(slices.index_copy.row, self, (index, source), (dim,))


_COMPLEX = "index_fill_(): Converting complex Scalar to non-complex type is not supported"


def _filling(input: Tensor, dim: int, index: Any, value: Any) -> tuple[Any, Any, Any]:
    _index("index_fill", index)
    if isinstance(value, Tensor):
        if value._array.ndim:
            raise RuntimeError(
                f"index_fill_ only supports a 0-dimensional value tensor, but got tensor with {value._array.ndim} "
                "dimension(s)."
            )
        if value._array.dtype.kind == "c" and input._array.dtype.kind != "c":
            raise RuntimeError(_COMPLEX)
        writable.check_number(value, input)
        return slices.index_fill_tensor, (index, value), (dim,)
    dtypes.need_number("index_fill", "value", value)
    if type(value) is complex and input._array.dtype.kind != "c":
        raise RuntimeError(_COMPLEX)
    dtypes.check_number(value, input._array.dtype)
    return slices.index_fill, (index,), (dim, value)


@composite()
def index_fill(input: Tensor, dim: int, index: Tensor, value: Any) -> Tensor:
    """The tensor with the slices that ``index`` names filled with one value."""
    row, others, settings = _filling(input, dim, index, value)
    return row(input, *others, *settings)  # type: ignore[no-any-return]


@composite(function=False)
def index_fill_(self: Tensor, dim: int, index: Tensor, value: Any) -> Tensor:
    """In-place :func:`index_fill`."""
    writable.check_writable(self, False)
    if isinstance(value, Tensor):
        value = write.separate(self, value)
    row, others, settings = _filling(self, dim, index, value)
    if writable.is_doubled(self._array):
        everywhere = [None] * slices.filled_axis(self._array, index._array, dim)
        filling = value if isinstance(value, Tensor) else wrap(dtypes.cast(np.asarray(value), self._array.dtype))
        put_in_place("index_fill_", self, [*everywhere, index], filling)
        return self
    return write.in_place(row.row, self, others, settings)


_BETA = (
    "index_reduce() is in beta and the API may change at any time. (Triggered internally at "
    "/__w/pytorch/pytorch/aten/src/ATen/native/TensorAdvancedIndexing.cpp:1523.)"
)


def _check_reduce(reduce: str) -> None:
    warn_once(_BETA)
    if reduce not in ("prod", "mean", "amax", "amin"):
        raise RuntimeError(f"index_reduce(): Expected reduce to be one of prod, mean, amax or amin but got {reduce}.")


@composite()
def index_reduce(
    input: Tensor, dim: int, index: Tensor, source: Tensor, reduce: str, *, include_self: bool = True, out: Any = None
) -> Tensor:
    """The tensor with the slices of ``source`` reduced into those that ``index`` names."""
    _check_reduce(reduce)
    return slices.index_reduce(input, index, source, dim, reduce, include_self, out=out)


@composite(function=False)
def index_reduce_(
    self: Tensor, dim: int, index: Tensor, source: Tensor, reduce: str, *, include_self: bool = True
) -> Tensor:
    """In-place :func:`index_reduce`."""
    _check_reduce(reduce)
    return write.in_place(slices.index_reduce.row, self, (index, source), (dim, reduce, include_self))


# -- as if in one row --------------------------------------------------------------------------------------------------


@composite()
def put(input: Tensor, index: Tensor, source: Tensor, accumulate: bool = False) -> Tensor:
    """The tensor with ``source`` put, or added, where ``index`` says, counted as if in one row."""
    return rows.put(input, index, source, accumulate)


@composite(function=False)
def put_(self: Tensor, index: Tensor, source: Tensor, accumulate: bool = False) -> Tensor:
    """In-place :func:`put`."""
    return write.in_place(rows.put.row, self, (index, source), (accumulate,))


# -- PyTorch's signature of reductions of segments.

_NAMES = {"sum": "sum", "mean": "mean", "prod": "prod", "max": "max", "min": "min", "amax": "max", "amin": "min"}


def _check_lengths(lengths: Any, data: Any, unsafe: bool) -> None:
    if lengths._array.dtype.kind == "c":
        raise not_implemented("min_all", lengths._array)
    if unsafe:
        return
    refuse_empty("min", lengths._array, None)
    values = all_values(lengths)
    if (values < 0).any():
        raise RuntimeError("lengths contains negative value!")
    if (np.add.reduce(values, axis=-1) != data._array.shape[lengths._array.ndim - 1]).any():
        raise RuntimeError(
            "segment_reduce(): Expected all rows of lengths along axis to sum to data.size(lengths.dim()-1) when "
            "!unsafe."
        )


@composite("_segment_reduce", method=False)
def segment_reduce(
    data: Any, reduce: str, *, lengths: Any = None, indices: Any = None, offsets: Any = None, axis: int = 0,
    unsafe: bool = False, initial: Any = None,
) -> Tensor:  # fmt: skip
    """The sum, mean, product, maximum or minimum of each segment of ``axis``, told by lengths or by offsets.

    Leading dimensions of ``lengths`` are those of ``data``.  An empty segment gives ``initial`` or what leaves others
    as they are.  Source: https://docs.pytorch.org/docs/stable/generated/torch.segment_reduce.html
    """
    if indices is not None:
        raise RuntimeError("segment_reduce(): indices based reduction is not supported yet.")
    if reduce not in _NAMES:
        raise RuntimeError(f"reduce argument must be either sum, prod, mean, amax or amin, got {reduce}")
    if lengths is None and offsets is None:
        raise RuntimeError("segment_reduce(): Either lengths or offsets must be defined.")
    bounds, word = (lengths, "lengths") if offsets is None else (offsets, "offsets")
    axis = axis_of(axis, data._array.ndim)
    if bounds._array.ndim > data._array.ndim:
        raise RuntimeError(errors.ASSERTED.format(f"data.dim() >= {word}_value.dim()"))
    if axis != bounds._array.ndim - 1:
        raise RuntimeError(f"segment_reduce(): Expected axis to be the last dimension of {word} but got {axis}.")
    if offsets is None:
        _check_lengths(lengths, data, unsafe)
    else:
        lengths = None
    if bounds._array.dtype.kind != "i" or bounds._array.itemsize < 4:
        raise not_implemented(f"_segment_reduce_{word}_cpu_kernel1", bounds._array)
    if offsets is not None and (np.diff(all_values(offsets)) < 0).any():
        raise RuntimeError(errors.ASSERTED.format("segment_length >= 0"))
    return segmented(data, lengths, offsets, _NAMES[reduce], axis, initial)  # type: ignore[no-any-return]
