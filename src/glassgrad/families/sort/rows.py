"""Order and counting: sorting, the largest, where values fall, which differ from zero; knows arrays only."""

from __future__ import annotations

import builtins
from math import prod
from typing import Any

import numpy as np

from ...core.row import REALS, op
from ...ground import dtypes, errors
from ...kernels import compiled
from ...kernels.columns import not_implemented
from ..arithmetic.quotients import NOT_IMPLEMENTED, refuse
from ..index.rows import ALL, blank
from ..reduce.extreme import comparable
from ..scatter.rows import along_axis, scatter
from ..shape.rows import axis_of, unsigned

_F64 = np.dtype("f8")


def ordered(array: Any, axis: int, descending: bool) -> Any:
    """The indices that sort along ``axis``; ties keep their order, NaN counts as the largest."""
    array = comparable(array)
    if not descending:
        return array.argsort(axis, kind="stable")
    back = (*(ALL,) * axis, builtins.slice(None, None, -1))
    return array.shape[axis] - 1 - array[back].argsort(axis, kind="stable")[back]


def _picked(array: Any, indices: Any, axis: int) -> Any:
    return array[along_axis(indices, axis)]


#: The columns of what puts elements in order, and tells where they stood.
_ORDER: Any = {
    "outputs": ("values", "indices"), "differentiable": ("values",), "public": False,
    "shows": {"dim": ("dim", unsigned)}, "out": errors.OUT_DTYPE, "aligned": True, "batched": "dims",
}  # fmt: skip


@op(**_ORDER, layout="elementwise")
def sort(self: Any, /, dim: Any = -1, descending: Any = False) -> Any:
    """The elements in order along ``dim``, and where they were."""
    axis = axis_of(dim, self.ndim)
    if self.dtype.kind == "c":
        raise RuntimeError(" Sort does not support complex dtypes on CPU")
    if not self.ndim:
        return np.array(self), np.zeros((), np.int64)
    indices = ordered(self, axis, descending)
    return _picked(self, indices, axis), indices


sort.derivative(self=lambda grad, indices, self_sizes, dim: scatter(blank(grad, self_sizes), indices, grad, dim))


@op(node="SortBackward1", **_ORDER, layout="elementwise")
def sort_stable(self: Any, /, dim: Any = -1, descending: Any = False) -> Any:
    """The elements in order along ``dim``, ties as they were, and where they were."""
    return sort.row.kernel(self, dim, descending)


sort_stable.derivative(self=lambda grad, indices, self_sizes, dim: scatter(blank(grad, self_sizes), indices, grad, dim))


@op(**_ORDER)
def topk(self: Any, /, k: Any, dim: Any = -1, largest: Any = True, sorted: Any = True) -> Any:
    """The ``k`` largest (or smallest) elements along ``dim`` in order, and where they are."""
    axis = axis_of(dim, self.ndim)
    if not 0 <= k <= (self.shape[axis] if self.ndim else 1):
        raise RuntimeError("selected index k out of range")
    if self.dtype.kind == "c":
        raise RuntimeError(" topk does not support complex dtypes on CPU")
    if not self.ndim:
        return np.array(self), np.zeros((), np.int64)
    if self.size >= compiled.few and axis == self.ndim - 1 and self.size:
        if (extremes := compiled.sort.best(self, k, bool(largest))) is not None:
            return extremes  # type: ignore[no-any-return]
    count = self.shape[axis]
    first = (*(ALL,) * axis, builtins.slice(0, k))
    if count > 32 and 0 < k < count // 4:
        at = count - k if largest else k - 1
        best = builtins.slice(at, None) if largest else builtins.slice(0, k)
        part = comparable(self).argpartition(at, axis)[(*(ALL,) * axis, best)]
        part.sort(axis)  # equal values then keep their order
        indices = _picked(part, ordered(_picked(self, part, axis), axis, largest), axis)
    else:
        indices = ordered(self, axis, largest)[first]
    return _picked(self, indices, axis), indices.copy(order="C")


topk.derivative(self=lambda grad, indices, self_sizes, dim: scatter(blank(grad, self_sizes), indices, grad, dim))


# -- counting: no gradients --------------------------------------------------------------------------------------------


@op(
    constant=True,
    public=False,
    disjoint=("self",),
    out="nonzero: Expected out tensor to have scalar type {Wanted} but got scalar type{Found}",
)
def nonzero(self: Any, /) -> Any:
    """The indices of all elements that are not zero, one in a row."""
    if not self.ndim:
        return np.zeros((int(bool(self)), 0), np.int64)
    return np.array(self.nonzero(), np.int64).T


@op(constant=True, public=False, serves=(REALS, "searchsorted_out_cpu"))
def searchsorted(sorted_sequence: Any, self: Any, /, right: Any = False, out_int32: Any = False) -> Any:
    """Where each value would be put into sorted rows so that they stay sorted."""
    if self.dtype.kind == "c":
        raise not_implemented("searchsorted_out_cpu", self)
    side: Any = "right" if right else "left"
    sorted_sequence, self = comparable(sorted_sequence), comparable(self)
    if sorted_sequence.ndim == 1 or not self.size:
        positions = np.searchsorted(sorted_sequence.reshape(-1), self, side)
    else:
        rows, values = (a.reshape(prod(a.shape[:-1]), a.shape[-1]) for a in (sorted_sequence, self))
        positions = np.empty(values.shape, np.int64)
        for number, (row, value) in enumerate(zip(rows, values, strict=True)):
            positions[number] = np.searchsorted(row, value, side)
        positions = positions.reshape(self.shape)
    return np.asarray(positions).astype(np.int32 if out_int32 else np.int64)


@op(constant=True, public=False)
def among(self: Any, values: Any, /, invert: Any = False) -> Any:
    """Whether each element is among ``values``; whether it is not if ``invert``."""
    return np.isin(self, values, invert=invert)


@op(node=NOT_IMPLEMENTED, public=False)
def bincount(self: Any, weights: Any = None, /, minlength: Any = 0) -> Any:
    """How often each small integer occurs, or the sum of the weights where it does."""
    if self.dtype.kind not in "iu":
        raise NotImplementedError(f"\"bincount_cpu\" not implemented for '{dtypes.of(self.dtype).scalar_name}'")
    if minlength < 0:
        raise RuntimeError("minlength should be >= 0")
    if self.ndim != 1 or (self.size and self.min() < 0):
        raise RuntimeError("bincount only supports 1-d non-negative integral inputs.")
    if weights is not None and weights.shape != self.shape:
        raise RuntimeError("weights should be 1-d and have the same length as input")
    if weights is None:
        return np.bincount(np.asarray(self, np.intp), minlength=minlength).astype(np.int64, copy=False)
    sums = np.bincount(np.asarray(self, np.intp), weights, minlength)
    return sums.astype(np.float32) if weights.dtype == np.float32 else sums


bincount.derivative(weights=lambda grad: refuse("bincount"))


@op(node=NOT_IMPLEMENTED, public=False)
def counted(self: Any, /, values: Any, name: str) -> Any:
    """What was counted, or spread, of ``self`` already; not differentiable."""
    return values


# PyTorch names ``set_`` alone by its bare name.
counted.derivative(self=lambda grad, name: refuse(name, "") if name == "set_" else refuse(name))


@op(
    constant=True,
    out="torch.histogram: input tensor and hist tensor should have the same dtype, but got input {wanted} and hist "
    "{found}",
)
def histc(self: Any, /, bins: int = 100, min: Any = 0, max: Any = 0) -> Any:
    """How many elements fall into each of ``bins`` equal parts of the range from ``min`` to ``max``."""
    bins = dtypes.need_int("histc", "bins", 2, bins)
    if bins <= 0:
        raise RuntimeError(f"torch.histogram(): bins must be > 0, but got {bins} for dimension 0")
    low, high = min, max
    for position, (name, end) in enumerate((("min", low), ("max", high)), 3):
        if isinstance(end, str) or np.ndim(end):
            kind = dtypes.called(end)
            raise TypeError(f"histc(): argument '{name}' (position {position}) must be Number, not {kind}")
        dtypes.check_number(end, self.dtype if self.dtype.kind in "fV" and not isinstance(end, complex) else _F64)
    if low == high and self.size:
        if self.dtype.kind == "c":
            raise not_implemented("aminmax_cpu", self)
        low, high = self.min().item(), self.max().item()
    if low == high:
        low, high = low - 1, high + 1
    if not (np.isfinite(low) and np.isfinite(high)):
        raise RuntimeError(f"torch.histc: range of [{low:g}, {high:g}] is not finite")
    if low > high:
        raise RuntimeError("torch.histc: max must be larger than min")
    if self.dtype.kind not in "fV":
        for end in (low, high):
            dtypes.check_number(float(end), self.dtype)
        raise not_implemented("linspace_cpu" if self.dtype.kind == "b" else "histogram_cpu", self)
    values = self.reshape(-1)
    kind = values.dtype.type
    low, high = kind(low), kind(high)
    values = values[(values >= low) & (values <= high)]
    places = (values - low) * kind(bins) / (high - low)
    if low == high or not np.isfinite((high - low) * kind(bins)):
        if not np.isfinite(high - low):  # PyTorch's edges are none then, and it counts nothing
            places = places[:0]
        # where the ends are one number, rounded, it counts in the middle; and what overflows in the first part
        places = np.where(np.isfinite(places), places.astype(np.float64), np.isnan(places) * (bins // 2))
    indices = places.astype(np.intp)
    indices[indices == bins] = bins - 1
    return np.bincount(indices, minlength=bins).astype(self.dtype)


# -- different elements ------------------------------------------------------------------------------------------------


def _refused(name: str) -> Any:
    def refuse(grad: Any) -> Any:
        """Raise PyTorch's error for the gradient of different elements."""
        raise NotImplementedError(f"the derivative for '{name}' is not implemented.")

    return refuse


@op(node="Unique2Backward0", public=False)
def unique(self: Any, /, values: Any) -> Any:
    """The different elements, as they were picked out already; not differentiable."""
    return values


unique.derivative(self=_refused("_unique2"))


@op(node="UniqueDimBackward0", public=False)
def unique_dim(self: Any, /, values: Any) -> Any:
    """The different slices of a dimension; not differentiable."""
    return values


unique_dim.derivative(self=_refused("unique_dim"))


@op(node="UniqueConsecutiveBackward0", public=False)
def unique_consecutive(self: Any, /, values: Any) -> Any:
    """The first of every run of equal elements; not differentiable."""
    return values


unique_consecutive.derivative(self=_refused("unique_consecutive"))
