"""Interpolation on arrays: along each axis every result is a weighted sum of a few elements; knows NumPy only.

The elements of one axis that results are made of, their *taps*, have places and weights.  The adjoint gives each
element the weighted results that it went into.  Weights are computed in the precision that PyTorch computes them in.
"""

from __future__ import annotations

from functools import lru_cache
from itertools import product
from math import ceil, prod
from typing import Any, NamedTuple

import numpy as np

from ..pooling.kernels import matrix_along

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
            out = matrix_along(out, axis, _matrix(plan, kind))
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
        rounded = np.clip(np.floor(resample(lines, (plan,)) + np.float32(0.5)), 0, 255).astype(np.uint8)
        array = np.ascontiguousarray(np.moveaxis(rounded, -1, axis))
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
        out = matrix_along(out, axis, _matrix(plan, kind).T) if dense else _spread_by_sums(out, axis, plan)
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


# -- Sampling an image at points between its elements, with derivatives of every order; knows NumPy only.
#
# A sample is a sum over *taps*, the elements near its point, of weights that are products of one function for each
# axis.  Where the point moves only the weights change, so that a derivative by the point is the same sum with other
# functions: ``orders`` says how often each axis' function is differentiated.

BILINEAR, NEAREST, BICUBIC = 0, 1, 2
ZEROS, BORDER, REFLECTION = 0, 1, 2
_CUBIC = -0.75


def _bounded(at: Any, size: int, padding: int, align: bool) -> tuple[Any, Any]:
    """Coordinates brought back into an axis, and how fast they move: 1, -1, or 0 where they were cut off."""
    kind = at.dtype.type
    speed = np.ones_like(at)
    if padding == REFLECTION:
        low, high = (0, 2 * (size - 1)) if align else (-1, 2 * size - 1)
        if low == high:
            return np.zeros_like(at), np.zeros_like(at)
        least, span = kind(low / 2), kind((high - low) / 2)
        off = at - least
        speed = np.where(off < 0, kind(-1), kind(1))
        off = np.abs(off)
        extra, odd = np.fmod(off, span), np.floor(off / span) % 2 == 1
        at = np.where(odd, span - extra + least, extra + least)
        speed = np.where(odd, -speed, speed)
    inside = (at > 0) & (at < size - 1)
    return np.clip(at, kind(0), kind(size - 1)), np.where(inside, speed, kind(0))


class Axis:
    """Where the points lie along one axis: the taps' places, whether those are there, and their weights."""

    def __init__(self, coordinates: Any, size: int, mode: int, padding: int, align: bool) -> None:
        kind = coordinates.dtype.type
        scale = kind((size - 1) / 2) if align else kind(size / 2)
        at = (coordinates + kind(1)) * scale
        if not align:
            at -= kind(0.5)
        self.mode, self.speed = mode, np.full_like(at, scale)
        if mode != BICUBIC and padding != ZEROS:
            at, moving = _bounded(at, size, padding, align)
            self.speed = self.speed * moving
        first = np.rint(at) if mode == NEAREST else np.floor(at)
        self.part = at - first  # of a point that is no number, or infinitely far, no number
        offsets = {NEAREST: np.arange(1), BILINEAR: np.arange(2), BICUBIC: np.arange(-1, 3)}[mode]
        places = first + offsets[:, None].astype(kind)
        if mode == BICUBIC and padding != ZEROS:
            places = _bounded(places, size, padding, align)[0]
        places = np.clip(np.nan_to_num(places, nan=-10.0), -10, size + 10).astype(np.int64)
        self.there = (places >= 0) & (places < size)
        self.places = np.clip(places, 0, max(size - 1, 0))

    def weights(self, order: int) -> Any:
        """The taps' weights, differentiated ``order`` times by the coordinate."""
        x, kind = self.part, self.part.dtype.type
        if self.mode == NEAREST:
            return np.ones_like(x)[None] if order == 0 else np.zeros_like(x)[None]
        if self.mode == BILINEAR:
            if order == 0:
                return np.stack([kind(1) - x, x])
            return np.stack([-self.speed, self.speed]) if order == 1 else np.zeros((2, *x.shape), x.dtype)
        if order == 0:
            return cubic(x, kind)
        return np.stack(self._cubic(order)) * self.speed**order

    def _cubic(self, order: int) -> list[Any]:
        x = self.part
        weights = []
        for place, (distance, sign) in enumerate(((x + 1, 1), (x, 1), (1 - x, -1), (2 - x, -1))):
            terms = (_CUBIC + 2, -(_CUBIC + 3), 0, 1) if place in (1, 2) else (
                _CUBIC, -5 * _CUBIC, 8 * _CUBIC, -4 * _CUBIC
            )  # fmt: skip
            line = np.polyder(np.poly1d(terms), order)
            weights.append((sign**order * line(distance)).astype(x.dtype))
        return weights


class Points:
    """The points of a grid (samples, *points, dimensions) on images with ``sizes``; the grid's x is the last axis."""

    def __init__(self, grid: Any, sizes: tuple[int, ...], mode: int, padding: int, align: bool) -> None:
        self.samples, self.dims, self.sizes = len(grid), len(sizes), sizes
        flat = grid.reshape(-1, self.dims)
        self.axes = [
            Axis(np.ascontiguousarray(flat[:, self.dims - 1 - place]), n, mode, padding, align)
            for place, n in enumerate(sizes)
        ]
        self.area = int(np.prod(sizes))
        points = len(flat) // max(self.samples, 1)
        self.base = np.repeat(np.arange(self.samples) * self.area, points)

    def taps(self) -> Any:
        """For each tap its number along each axis and its row in the images, one below the last where nothing is."""
        for numbers in product(*[range(len(axis.places)) for axis in self.axes]):
            row: Any = 0
            there: Any = True
            for axis, number, n in zip(self.axes, numbers, self.sizes, strict=True):
                row = row * n + axis.places[number]
                there = there & axis.there[number]
            yield numbers, np.where(there, self.base + row, self.samples * self.area)

    def weights(self, orders: tuple[int, ...]) -> list[Any]:
        """The weights of each axis; ``orders`` follow the grid's dimensions."""
        return [axis.weights(order) for axis, order in zip(self.axes, reversed(orders), strict=True)]


def rows_of(images: Any, dims: int) -> Any:
    """Images as rows, one for each place, with all channels; a last row of zeros is what lies outside."""
    channels = images.shape[1]
    out = np.zeros((len(images) * int(np.prod(images.shape[2:])) + 1, channels), images.dtype)
    out[:-1].reshape(images.shape[0], *images.shape[2:], channels)[...] = np.moveaxis(images, 1, -1)
    return out


def _weight(weights: list[Any], numbers: tuple[int, ...]) -> Any:
    weight = weights[0][numbers[0]]
    for line, number in zip(weights[1:], numbers[1:], strict=True):
        weight = weight * line[number]
    return weight


def sample(images: Any, grid: Any, orders: tuple[int, ...], mode: int, padding: int, align: bool) -> Any:
    """The images (N, C, *sizes) at the points of the grid (N, *points, dims): (N, C, *points)."""
    points = Points(grid, images.shape[2:], mode, padding, align)
    rows, weights = rows_of(images, points.dims), points.weights(orders)
    out = np.zeros((len(points.base), images.shape[1]), images.dtype)
    for numbers, row in points.taps():
        out += rows.take(row, 0) * _weight(weights, numbers)[:, None]
    channels_last = out.reshape(*grid.shape[:-1], images.shape[1])
    return np.ascontiguousarray(np.moveaxis(channels_last, -1, 1))


def scatter(
    values: Any, grid: Any, sizes: tuple[int, ...], orders: tuple[int, ...], mode: int, padding: int, align: bool
) -> Any:
    """The adjoint of ``sample``: images (N, C, *sizes) where each value lies at its taps, weighted and added up."""
    points = Points(grid, sizes, mode, padding, align)
    channels = values.shape[1]
    lines, weights = _in_rows(values), points.weights(orders)
    total = np.zeros((points.samples * points.area + 1) * channels, values.dtype)
    number = np.arange(channels)
    for numbers, row in points.taps():
        share = lines * _weight(weights, numbers)[:, None]
        np.add.at(total, (row[:, None] * channels + number).ravel(), share.ravel())
    channels_last = total[: len(total) - channels].reshape(points.samples, *sizes, channels)
    return np.ascontiguousarray(np.moveaxis(channels_last, -1, 1))


def _in_rows(values: Any) -> Any:
    """Values (N, C, *sizes) as a matrix, a row of channels for each point."""
    moved = np.moveaxis(values, 1, -1)
    return moved.reshape(prod(moved.shape[:-1]), moved.shape[-1])


def slopes(values: Any, images: Any, grid: Any, orders: tuple[int, ...], mode: int, padding: int, align: bool) -> Any:
    """For each point and dimension of the grid the derivative of the sum of ``values`` times samples."""
    points = Points(grid, images.shape[2:], mode, padding, align)
    rows, lines = rows_of(images, points.dims), _in_rows(values)
    moved = [
        points.weights(tuple([order + (place == dim) for place, order in enumerate(orders)]))
        for dim in range(points.dims)
    ]
    out = np.zeros((points.dims, len(points.base)), grid.dtype)
    for numbers, row in points.taps():
        met = np.einsum("pc,pc->p", rows.take(row, 0), lines)
        for dim, weights in enumerate(moved):
            out[dim] += met * _weight(weights, numbers)
    return np.ascontiguousarray(out.T).reshape(grid.shape)


def affine_base(sizes: tuple[int, ...], align: bool, dtype: Any) -> Any:
    """The points (x, y, ..., 1) of a regular grid over [-1, 1], row by row."""
    lines = []
    for n in sizes:
        number = np.arange(n)
        step = 2 / (n - 1) if n > 1 else 0.0
        line = np.where(number < n / 2, -1 + step * number, 1 - step * (n - 1 - number)) if n > 1 else np.zeros(n)
        lines.append(line if align else line * (n - 1) / n)
    planes = np.meshgrid(*lines, indexing="ij")
    return np.stack([*[plane.ravel() for plane in reversed(planes)], np.ones(planes[0].size)], 1).astype(dtype)
