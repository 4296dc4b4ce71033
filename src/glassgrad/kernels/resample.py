"""Interpolation on arrays: along each axis every result is a weighted sum of a few elements; knows NumPy only.

The elements of one axis that results are made of, their *taps*, have places and weights.  The adjoint gives each
element the weighted results that it went into.  Weights are computed in the precision that PyTorch computes them in.
"""

from __future__ import annotations

from functools import lru_cache
from math import ceil
from typing import Any, NamedTuple

import numpy as np

_ALL = slice(None)
DENSE = 256  # elements of an axis up to which the adjoint is a product with a matrix


class Taps(NamedTuple):
    """Along one axis: for each tap the place of each result's element, and its weight (None: one tap of weight 1)."""

    size: int
    places: Any
    weights: Any

    @property
    def same(self) -> bool:
        """Whether every result is the element at its own place."""
        if self.weights is not None or self.places.shape[1] != self.size:
            return False
        return bool(np.all(self.places[0] == np.arange(self.size)))


def step(size: int, count: int, align: bool, scale: float | None, kind: Any) -> Any:
    """The distance of neighbouring results, in elements."""
    if align:
        return kind(kind(size - 1) / kind(count - 1)) if count > 1 else kind(0)
    return kind(1.0 / scale) if scale is not None and scale > 0 else kind(kind(size) / kind(count))


@lru_cache(256)
def taps(method: str, size: int, count: int, align: bool, scale: float | None, dtype: Any) -> Taps:
    """The taps of ``count`` results along an axis of ``size`` elements, by method.

    "nearest", "exact" (the nearest, by centres), "linear", "cubic"; with a filter as wide as the step, against
    aliasing, "linear aa", "cubic aa" and "lanczos aa".
    """
    kind: Any = np.float64 if dtype == np.float64 else np.float32
    distance = step(size, count, align, scale, kind)
    number: Any = np.arange(count).astype(kind)
    if size == count and method != "cubic":
        return Taps(size, np.arange(count)[None], None)
    if method in ("nearest", "exact"):
        at = number * distance if method == "nearest" else (number + kind(0.5)) * distance
        return Taps(size, np.minimum(np.floor(at).astype(np.int64), size - 1)[None], None)
    if method.endswith(" aa"):
        return _filtered(method[:-3], size, count, distance, kind)
    at = number * distance if align else distance * (number + kind(0.5)) - kind(0.5)
    if method == "linear":
        at = np.maximum(at, kind(0))
    first = np.minimum(np.floor(at).astype(np.int64), size - 1)
    part = np.clip(at - first.astype(kind), kind(0), kind(1))
    if method == "linear":
        places = np.stack([first, first + (first < size - 1)])
        return Taps(size, places, np.stack([kind(1) - part, part]))
    places = np.clip(first + np.arange(-1, 3)[:, None], 0, size - 1)
    return Taps(size, places, cubic(part, kind))


def cubic(part: Any, kind: Any) -> Any:
    """The weights of four neighbours, by Keys' cubic with a = -0.75, at ``part`` of the way from the second on."""
    a = kind(-0.75)
    x, y = part + kind(1), kind(1) - part
    z = y + kind(1)

    def outer(t: Any) -> Any:
        return ((a * t - kind(5) * a) * t + kind(8) * a) * t - kind(4) * a

    def inner(t: Any) -> Any:
        return ((a + kind(2)) * t - (a + kind(3))) * t * t + kind(1)

    return np.stack([outer(x), inner(part), inner(y), outer(z)])


def _filter(name: str, x: Any) -> Any:
    """The weight of an element ``x`` away, in units of the filter."""
    x = np.abs(x)
    if name == "linear":
        return np.maximum(1 - x, 0)
    if name == "cubic":  # a = -0.5, as in imaging libraries
        near = (1.5 * x - 2.5) * x * x + 1
        far = ((-0.5 * x + 2.5) * x - 4) * x + 2
        return np.where(x < 1, near, np.where(x < 2, far, 0))
    return np.where(x < 3, np.sinc(x) * np.sinc(x / 3), 0)


def _filtered(name: str, size: int, count: int, distance: Any, kind: Any) -> Taps:
    width = {"linear": 2, "cubic": 4, "lanczos": 6}[name]
    support = kind(width * 0.5) * (distance if distance >= 1 else kind(1))
    half = kind(0.5)
    centre = distance * (np.arange(count).astype(kind) + half)
    first = np.maximum((centre - support + half).astype(np.int64), 0)
    number = np.minimum((centre + support + half).astype(np.int64), size) - first
    most = min(ceil(support) * 2 + 1, int(number.max(initial=1)))
    number = np.clip(number, 0, most)
    offsets = np.arange(most)[:, None]
    shrink = kind(1) / distance if distance >= 1 else kind(1)
    weights = _filter(name, ((offsets + first).astype(kind) - centre + half) * shrink).astype(kind)
    weights[offsets >= number] = 0
    total = weights.sum(axis=0)
    weights = weights / np.where(total == 0, kind(1), total)
    return Taps(size, np.minimum(offsets + first, size - 1), weights)


def _along(line: Any, axis: int, ndim: int) -> Any:
    return line.reshape(*line.shape, *(1,) * (ndim - 1 - axis))


def resample(array: Any, axes: tuple[Taps, ...]) -> Any:
    """The results along the last axes."""
    kind = array.dtype
    if any(plan.weights is not None for plan in axes):
        if kind == np.uint8:
            return _bytes(array, axes)
        if kind.itemsize == 2:
            return resample(array.astype(np.float32), axes).astype(kind)
    out = array
    dense = any(plan.weights is not None for plan in axes) and _is_dense(array, axes)
    for axis, plan in zip(range(array.ndim - 1, -1, -1), reversed(axes), strict=False):
        if plan.same:
            continue
        if plan.weights is None:
            out = out.take(plan.places[0], axis)
            continue
        if dense:
            out = _product(out, axis, _matrix(plan, kind))
            continue
        source, out = out, None
        for places, weights in zip(plan.places, plan.weights, strict=True):
            part = source.take(places, axis)
            part *= _along(weights, axis, array.ndim)
            out = part if out is None else np.add(out, part, out=out)
    return out.copy() if out is array else out


def _bytes(array: Any, axes: tuple[Taps, ...]) -> Any:
    """Bytes interpolated along one axis after the other, each time rounded to bytes again."""
    first = array.ndim - len(axes)
    for axis in range(array.ndim - 1, first - 1, -1):
        plan = axes[axis - first]
        if plan.same:
            continue
        lines = np.moveaxis(array, axis, -1).astype(np.float32)
        made = np.clip(np.floor(resample(lines, (plan,)) + np.float32(0.5)), 0, 255).astype(np.uint8)
        array = np.ascontiguousarray(np.moveaxis(made, -1, axis))
    return array


def spread(grad: Any, axes: tuple[Taps, ...]) -> Any:
    """The adjoint of ``resample``: for each element the sum of the weighted results that it went into."""
    kind = grad.dtype
    if kind.itemsize == 2:
        return spread(grad.astype(np.float32), axes).astype(kind)
    out = grad
    dense = _is_dense(grad, axes)
    for axis, plan in enumerate(axes, grad.ndim - len(axes)):
        if plan.same:
            continue
        out = _product(out, axis, _matrix(plan, kind).T) if dense else _spread_by_sums(out, axis, plan)
    return out.copy() if out is grad else out


def _is_dense(array: Any, axes: tuple[Taps, ...]) -> bool:
    """Whether products with matrices will do: quick for short axes, but one infinity would reach everything."""
    return array.dtype.kind == "f" and max([plan.size for plan in axes]) <= DENSE and bool(np.isfinite(array).all())


def _matrix(plan: Taps, dtype: Any) -> Any:
    """All weights: a row for each result, a column for each element."""
    weights = None if plan.weights is None else plan.weights.astype(dtype, copy=False).tobytes()
    return _written_out(plan.size, plan.places.tobytes(), weights, len(plan.places), dtype)


@lru_cache(64)
def _written_out(size: int, places: bytes, weights: bytes | None, count: int, dtype: Any) -> Any:
    table = np.frombuffer(places, np.int64).reshape(count, -1)
    matrix = np.zeros((table.shape[1], size), dtype)
    values = None if weights is None else np.frombuffer(weights, dtype).reshape(table.shape)
    for tap, line in enumerate(table):
        matrix[np.arange(len(line)), line] += 1 if values is None else values[tap]
    return matrix


def _product(array: Any, axis: int, matrix: Any) -> Any:
    """``matrix`` applied to every line along ``axis``."""
    if axis == array.ndim - 1:
        return np.matmul(array, matrix.T)
    after = array.shape[axis + 1 :]
    lines = array.reshape(*array.shape[: axis + 1], -1)
    return np.matmul(matrix, lines).reshape(*array.shape[:axis], len(matrix), *after)


def _spread_by_sums(grad: Any, axis: int, plan: Taps) -> Any:
    """As sums of neighbours, tap by tap."""
    out = np.zeros((*grad.shape[:axis], plan.size, *grad.shape[axis + 1 :]), grad.dtype)
    for tap, places in enumerate(plan.places):
        part = grad if plan.weights is None else grad * _along(plan.weights[tap], axis, grad.ndim)
        starts = np.flatnonzero(np.diff(places, prepend=-1))  # places never fall: equal ones are neighbours
        if len(starts) < len(places):
            part = np.add.reduceat(part, starts, axis)
        out[(_ALL,) * axis + (places[starts],)] += part
    return out
