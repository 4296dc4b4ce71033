"""PyTorch's signatures of sorting, ranking, finding and counting."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...core.tensor import Tensor, wrap
from ...ground import dtypes
from ...ground.listening import asking
from ...ground.meta import blank, need_data
from ...kernels.columns import not_implemented
from ...ops import return_types as results
from ...ops.declare import composite
from ...tensor.out import Composed, into
from ..arithmetic.functions import need_tensor, no_match
from ..index.rows import select
from ..query.functions import result_type
from ..scatter.kernels import inside
from ..shape.rows import axis_of
from . import rows

_new = tuple.__new__


_SORTED = "*, bool stable, int dim = -1, bool descending = False", "int dim = -1, bool descending = False"


def _check_flags(name: str, dim: Any, descending: Any, stable: Any) -> None:
    """Raise PyTorch's error unless what says how to sort are truth values, and the dimension is none."""
    if isinstance(dim, bool) or not isinstance(descending, bool) or not isinstance(stable, (bool, type(None))):
        raise no_match(name, (dim, descending, stable), *(f"Tensor input, {form}" for form in _SORTED))


@composite()
def sort(input: Tensor, dim: Any = -1, descending: bool = False, *, stable: bool | None = None, out: Any = None) -> Any:
    """The elements in order along ``dim``, and where they were."""
    _check_flags("sort", dim, descending, stable)
    row = rows.sort if stable is None else rows.sort_stable
    return _new(results.sort, row(input, dim, descending, out=out))


@composite()
def msort(input: Tensor, *, out: Any = None) -> Tensor:
    """The elements in order along the first dimension."""
    outs = None if out is None else (out, wrap(np.empty(input._array.shape, np.int64)))
    return rows.sort(input, 0, False, out=outs)[0]  # type: ignore[no-any-return]


@composite()
def argsort(
    input: Tensor, dim: int = -1, descending: bool = False, stable: bool | None = None, *, out: Any = None
) -> Tensor:
    """Where the elements are that come in order along ``dim``."""
    if out is not None and stable is None:
        raise TypeError('argsort() missing 1 required positional arguments: "stable"')
    _check_flags("argsort", dim, descending, stable)
    places = rows.sort(input, dim, descending)[1]
    return places if out is None else into(Composed("argsort"), (input,), out, places)  # type: ignore[no-any-return]


@composite()
def topk(input: Tensor, k: int, dim: int = -1, largest: bool = True, sorted: bool = True, *, out: Any = None) -> Any:
    """The ``k`` largest (or smallest) elements along ``dim``, and where they are."""
    if input._array.dtype.kind == "b":
        raise RuntimeError("topk does not support bool dtypes on CPU")
    return _new(results.topk, rows.topk(input, dtypes.need_int("topk", "k", 2, k), dim, largest, sorted, out=out))


def _no_complex(input: Tensor, name: str) -> None:
    if input._array.dtype.kind == "c":
        raise not_implemented(name, input._array)


# -- different elements ------------------------------------------------------------------------------------------------


@composite()
@asking
def unique(
    input: Tensor,
    sorted: bool = True,
    return_inverse: bool = False,
    return_counts: bool = False,
    dim: int | None = None,
) -> Any:
    """The different elements, or slices of ``dim``, in order; on request where each element went, and how often."""
    _no_complex(input, "unique" if dim is None else "unique_dim")
    need_data("_unique2" if dim is None else "unique_dim", input._array)
    array = rows.comparable(np.asarray(input._array))
    if dim is None:
        values, inverse, counts = np.unique(array, return_inverse=True, return_counts=True, equal_nan=False)
        inverse = inverse.reshape(array.shape)
    else:
        axis = axis_of(dim, array.ndim)
        if not array.ndim:
            raise IndexError("Dimension specified as 0 but tensor has no dimensions")
        _check_slices(array.shape, axis)
        if not array.shape[axis]:
            values, inverse, counts = array.copy(), np.zeros(0, np.int64), np.zeros(0, np.int64)
        else:
            values, inverse, counts = np.unique(
                array, return_inverse=True, return_counts=True, axis=axis, equal_nan=False
            )
            inverse = inverse.reshape(-1)
    row = rows.unique if dim is None else rows.unique_dim
    return _answers(row(input, values.astype(input._array.dtype)), inverse, counts, return_inverse, return_counts)


@composite()
@asking
def unique_consecutive(
    input: Tensor, return_inverse: bool = False, return_counts: bool = False, dim: int | None = None
) -> Any:
    """The first of every run of equal elements, or slices of ``dim``; on request each element's run, and its length."""
    _no_complex(input, "unique" if dim is None else "unique_dim")
    need_data("unique_consecutive", input._array)
    array = np.asarray(input._array)
    axis = 0 if dim is None else axis_of(dim, array.ndim)
    if dim is not None:
        if not array.ndim:
            raise IndexError(f"Dimension specified as {dim} but tensor has no dimensions")
        _check_slices(array.shape, axis)
    flat = array.reshape(-1) if dim is None else np.moveaxis(array, axis, 0)
    count = flat.shape[0]
    changes = flat[1:] != flat[:-1]
    changes = changes.any(tuple(range(1, changes.ndim)))
    starts = np.concatenate(([True], changes)) if count else np.zeros(0, bool)
    first = np.flatnonzero(starts)
    inverse = np.cumsum(starts) - 1
    counts = np.diff(np.append(first, count))
    values = flat[first] if dim is None else np.array(np.moveaxis(flat[first], 0, axis))
    if dim is None:
        inverse = inverse.reshape(array.shape)
    return _answers(rows.unique_consecutive(input, values), inverse, counts, return_inverse, return_counts)


def _check_slices(sizes: tuple[int, ...], axis: int) -> None:
    """PyTorch's error where slices of a dimension are empty."""
    empty = sizes.count(0)
    if not sizes[axis] and empty > 1:
        raise RuntimeError("Number of zero sized dimensions is more than one, so unique cannot be applied ")
    if sizes[axis] and empty:
        raise RuntimeError("There are 0 sized dimensions, and they aren't selected, so unique cannot be applied")


def _answers(values: Any, inverse: Any, counts: Any, with_inverse: bool, with_counts: bool) -> Any:
    answer = [values]
    if with_inverse:
        answer.append(wrap(inverse.astype(np.int64)))
    if with_counts:
        answer.append(wrap(counts.astype(np.int64)))
    return answer[0] if len(answer) == 1 else tuple(answer)


# -- finding and counting ----------------------------------------------------------------------------------------------


@composite()
def nonzero(input: Tensor, *, out: Any = None, as_tuple: bool = False) -> Any:
    """The indices of all elements that are not zero: one in a row, or a vector for each dimension."""
    if not isinstance(as_tuple, bool):
        raise TypeError(f"nonzero(): argument 'as_tuple' must be bool, not {dtypes.called(as_tuple)}")
    if as_tuple and out is not None:
        if not isinstance(out, Tensor):
            raise TypeError(f"nonzero(): argument 'out' must be Tensor, not {dtypes.called(out)}")
        raise RuntimeError("nonzero does not support the out kwarg when as_tuple is True")
    indices = rows.nonzero(input, out=out)
    if not as_tuple:
        return indices
    if not input._array.ndim:
        return (wrap(np.zeros(indices._array.shape[0], np.int64)),)
    return tuple(select(indices, 1, dim) for dim in range(input._array.ndim))


@composite()
def argwhere(input: Tensor) -> Tensor:
    """The indices of all elements that are not zero, one in a row."""
    return rows.nonzero(input)


def _sided(function: str, right: bool, side: str | None) -> bool:
    if side is None:
        return right
    if side not in ("left", "right"):
        raise RuntimeError(f"{function}: side can only be 'left' or 'right' but got {side}")
    if side == "left" and right:
        raise RuntimeError(
            f"{function}: side and right can't be set to opposites, got side of left while right was True"
        )
    return side == "right"


def _values(function: str, values: Any) -> Tensor:
    if isinstance(values, (bool, int, float, complex, np.number)):
        if isinstance(values, complex):
            return wrap(np.asarray(values, np.complex64))
        return wrap(np.asarray(values))
    need_tensor(function, "input", 2, values)
    return values  # type: ignore[no-any-return]


@composite(method=False)
def searchsorted(
    sorted_sequence: Tensor, input: Any, *, out_int32: bool = False, right: bool = False, side: str | None = None,
    sorter: Tensor | None = None, out: Any = None,
) -> Tensor:  # fmt: skip
    """Where each value would be put into sorted rows so that they stay sorted."""
    name = "torch.searchsorted()"
    right = _sided(name, right, side)
    rows_of = sorted_sequence._array.shape
    values = _values("searchsorted", input)
    if sorter is not None:
        if sorter._array.shape != rows_of:
            raise RuntimeError(
                f"{name}: boundary and sorter must have the same size, but got boundary tensor {list(rows_of)}and got "
                f"sorter tensor {list(sorter._array.shape)}"
            )
        if sorter._array.dtype != np.int64:
            kind = sorter.dtype.scalar_name
            raise RuntimeError(f"{name}: sorter must be a tensor of long dtype but got dtype {kind}")
        if not inside(sorter._array, rows_of[-1] if rows_of else 1):
            raise RuntimeError(f"{name}: sorter index out of range")
    if len(rows_of) != 1:
        if not values._array.ndim:
            raise RuntimeError(
                f"{name}: input value can be a scalar only when boundaries tensor dimension is 1, but we got "
                f"boundaries tensor dim({len(rows_of)}) and input value's dim(0) numel(1)"
            )
        if not rows_of:
            raise RuntimeError(f"{name}: boundaries tensor should have positive dimension, but got 0 dimension")
        if rows_of[:-1] != values._array.shape[:-1]:
            raise RuntimeError(
                f"{name}: boundaries tensor should be 1 dimension or the first N-1 dimensions of boundaries tensor and "
                f"input value tensor must match, but we got boundaries tensor {list(rows_of)} and input value tensor "
                f"{list(values._array.shape)}"
            )
    if sorter is not None:
        sorted_sequence = sorted_sequence.detach().gather(-1, sorter)  # type: ignore[attr-defined]
    _check_out(out, out_int32)
    return rows.searchsorted(_numbers(sorted_sequence, values), values, right, out_int32, out=out)


def _numbers(boundaries: Any, values: Any) -> Any:
    """Boundaries that are truth values as numbers, where the values are."""
    return boundaries.to(values.dtype) if boundaries._array.dtype == bool != values._array.dtype else boundaries


def _check_out(out: Any, out_int32: bool) -> None:
    if isinstance(out, Tensor) and out._array.dtype != (np.int32 if out_int32 else np.int64):
        raise RuntimeError(
            "torch.searchsorted(): output tensor's dtype is wrong, it can only be Int(int32) or Long(int64) depending "
            f"on whether out_int32 flag is True, but we got output tensor's dtype {out.dtype.scalar_name} and "
            f"out_int32 flag is {out_int32}"
        )


@composite(method=False)
def bucketize(
    input: Any, boundaries: Tensor, *, out_int32: bool = False, right: bool = False, out: Any = None
) -> Tensor:
    """The number of the bucket between sorted boundaries that each value falls into."""
    if boundaries._array.ndim != 1:
        raise RuntimeError(f"boundaries tensor must be 1 dimension, but got dim({boundaries._array.ndim})")
    if out is not None:
        need_tensor("bucketize", "input", 1, input)
    values = _values("bucketize", input)
    _check_out(out, out_int32)
    return rows.searchsorted(_numbers(boundaries, values), values, right, out_int32, out=out)


@composite()
def bincount(input: Tensor, weights: Tensor | None = None, minlength: int = 0) -> Tensor:
    """How often each small integer occurs, or the sum of the weights where it does."""
    if isinstance(weights, Tensor) and weights.dtype.is_complex:
        weights = weights.to(dtypes.float64)  # type: ignore[attr-defined]
    return rows.bincount(input, weights, minlength)


_OPERANDS = (Tensor, int, float, complex, np.generic)
_ISIN = [
    f"{one}, {other}, *, bool assume_unique = False, bool invert = False, Tensor out = None"
    for one, other in (
        ("Tensor elements", "Tensor test_elements"),
        ("Number element", "Tensor test_elements"),
        ("Tensor elements", "Number test_element"),
    )
]


@composite()
@asking
def isin(
    elements: Any = None, test_elements: Any = None, *, assume_unique: bool = False, invert: bool = False,
    element: Any = None, test_element: Any = None, out: Any = None,
) -> Tensor:  # fmt: skip
    """Whether each element is among the test elements; of one number on either side, by its own name."""
    sides = [element if elements is None else elements, test_element if test_elements is None else test_elements]
    if not any(isinstance(side, Tensor) for side in sides) or not all(isinstance(side, _OPERANDS) for side in sides):
        raise no_match("isin", [side for side in sides if side is not None], *_ISIN)
    for side in sides:
        kind = side.dtype if isinstance(side, Tensor) else dtypes.of(np.asarray(side).dtype)
        if kind is dtypes.bool or kind.is_complex:
            raise RuntimeError(f"Unsupported input type encountered for isin(): {kind.scalar_name}")
    if any(isinstance(side, Tensor) and side._array.dtype.metadata for side in sides):
        return wrap(blank(np.shape(sides[0]), np.dtype(bool)))
    common = result_type(*sides)
    elements, values = [side if isinstance(side, Tensor) else wrap(np.asarray(side)) for side in sides]
    among = rows.among(elements.to(common), values.to(common), invert)
    return among if out is None else into(Composed("isin"), (), out, among)  # type: ignore[no-any-return]
