"""Pooling on arrays: windows along the last axes, their largest elements, sums, and the adjoints, of arrays.

Windows are products of intervals, so every sum and every maximum runs along one axis after the other: a *tap* is the
j-th element of all windows of an axis, a strided slice where it can be.  The largest element of a window is found with
its *code*, the number of its tap in row-major order, in as few bits as hold it; the first of equals wins, of several
NaN the last.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, lru_cache
from math import prod
from typing import Any

import numpy as np

from ...kernels import compiled
from ..scatter.kernels import inside

ndarray = np.ndarray
_ALL = slice(None)


@dataclass(frozen=True, eq=False)
class Windows:
    """The windows along one axis; those of one geometry are one object.

    size    elements of the axis
    number  of windows
    width   taps of the widest window
    starts  the place of each window's first tap, before the axis begins where there is padding; one row for each
            plane where planes have windows of their own
    step    distance of neighbouring taps
    low, high  each window's first and last tap that lie on the axis; None where all do
    taps    for each tap its place in each window, moved to the nearest tap of the window that lies on the axis
    parts   for each tap which windows have it (their numbers), and its places there
    padded  each window's width, counting what lies in the padding
    apart   whether no two windows share an element
    """

    size: int
    number: int
    width: int
    starts: Any
    step: int
    low: Any
    high: Any
    taps: tuple[Any, ...]
    parts: tuple[tuple[Any, Any], ...]
    padded: Any
    apart: bool

    @cached_property
    def cut(self) -> Any:
        """Which windows have taps that do not lie on the axis."""
        return (self.low != self.starts) | (self.high != self.starts + (self.width - 1) * self.step)

    @cached_property
    def empty(self) -> bool:
        """Whether some window has no tap on the axis: it is narrower than the distance of taps."""
        return self.low is not None and bool(np.any(self.high < self.low))

    @cached_property
    def whole(self) -> bool:
        """Whether there is one window only, the whole axis."""
        alone = self.number == 1 and self.width == self.size and self.step == 1
        return alone and self.starts.ndim == 1 and self.low is None

    @cached_property
    def trivial(self) -> bool:
        """Whether each element is a window."""
        return self.width == 1 and self.number == self.size and self.apart and self.starts.ndim == 1


def output_size(size: int, kernel: int, stride: int, padding: int, dilation: int, ceil_mode: bool) -> int:
    """The number of windows along an axis."""
    rest = size + 2 * padding - dilation * (kernel - 1) - 1
    count = (rest + (stride - 1 if ceil_mode else 0)) // stride + 1
    return count - 1 if ceil_mode and (count - 1) * stride >= size + padding else count


def _progression(places: Any) -> Any:
    """Places as a slice, where they are evenly apart."""
    if not len(places):
        return slice(0, 0)
    if len(places) == 1:
        return slice(int(places[0]), int(places[0]) + 1)
    if places[1] > places[0] and np.all(np.diff(places) == places[1] - places[0]):
        return slice(int(places[0]), int(places[-1]) + 1, int(places[1] - places[0]))
    return places


def _made(size: int, starts: Any, width: int, step: int, ends: Any, padded: Any, apart: bool) -> Windows:
    """Windows of taps ``step`` apart from ``starts`` on, as far as they lie on the axis and before ``ends``."""
    low = starts + -(np.minimum(starts, 0) // step) * step
    high = starts + np.minimum(width - 1, (np.minimum(ends, size) - 1 - starts) // step) * step
    cut = bool(np.any(low != starts) or np.any(high != starts + (width - 1) * step))
    taps: list[Any] = []
    parts: list[tuple[Any, Any]] = []
    for tap in range(width):
        places = starts + tap * step
        inside = np.flatnonzero((places >= low) & (places <= high))
        parts.append((_ALL if len(inside) == len(starts) else _progression(inside), _progression(places[inside])))
        taps.append(_progression(np.clip(np.clip(places, low, high), 0, max(size - 1, 0))))
    return Windows(
        size, len(starts), width, starts, step, low if cut else None, high if cut else None, tuple(taps), tuple(parts),
        padded, apart,
    )  # fmt: skip


@lru_cache(512)
def regular(size: int, kernel: int, stride: int, padding: int, dilation: int, ceil_mode: bool) -> Windows:
    """Windows of one width, evenly apart."""
    count = output_size(size, kernel, stride, padding, dilation, ceil_mode)
    starts = np.arange(count) * stride - padding
    padded = np.minimum(starts + kernel, size + padding) - starts
    apart = stride > (kernel - 1) * dilation
    return _made(size, starts, kernel, dilation, np.full(count, size), padded, apart)


@lru_cache(512)
def adaptive(size: int, count: int) -> Windows:
    """``count`` windows that cover the axis evenly."""
    numbers = np.arange(count)
    starts = numbers * size // max(count, 1)
    ends = -(-(numbers + 1) * size // max(count, 1))
    width = int((ends - starts).max(initial=1))
    return _made(size, starts, width, 1, ends, ends - starts, not count or size % count == 0)


def fractional(samples: Any, size: int, count: int, kernel: int) -> Windows:
    """Windows of one width at distances of one of two sizes, by each plane's random number from [0, 1)."""
    starts = np.empty((*samples.shape, count), np.int64)
    if count > 1:
        alpha = samples.dtype.type(samples.dtype.type(size - kernel) / samples.dtype.type(count - 1))
        moved = (np.arange(count - 1).astype(samples.dtype) + samples[..., None]) * alpha
        starts[..., :-1] = moved.astype(np.int64) - (samples * alpha).astype(np.int64)[..., None]
    starts[..., -1:] = size - kernel
    taps = tuple([starts + tap for tap in range(kernel)])
    return Windows(size, count, kernel, starts, 1, None, None, taps, (), None, False)


def _at(array: Any, axis: int, places: Any) -> Any:
    """The elements of ``array`` at ``places`` of an axis: a view where places are a slice."""
    if type(places) is slice:
        return array[(_ALL,) * axis + (places,)]
    if places.ndim == 1:
        return array.take(places, axis)
    shape = [*places.shape[:-1], *(1,) * (array.ndim - places.ndim + 1)]
    shape[axis] = places.shape[-1]
    return np.take_along_axis(array, places.reshape(shape), axis)


# -- the largest -------------------------------------------------------------------------------------------------------


def largest(array: Any, axes: tuple[Windows, ...]) -> tuple[Any, Any]:
    """The largest element of each window of the last axes, and its place in its plane, row by row."""
    kind = array.dtype
    if kind.itemsize == 2 and kind.kind in "fV":
        values, places = largest(array.astype(np.float32), axes)
        return values.astype(kind), places
    if not array.size or not all([plan.number for plan in axes]):
        shape = (*array.shape[: array.ndim - len(axes)], *[plan.number for plan in axes])
        return np.zeros(shape, kind), np.zeros(shape, np.int64)
    if all([plan.whole for plan in axes]):
        lines = array.reshape(*array.shape[: array.ndim - len(axes)], -1)
        places = lines.argmax(-1).astype(np.int64, copy=False)
        values = np.take_along_axis(lines, places[..., None], -1)
        if not np.isnan(values).any():
            shape = (*values.shape[:-1], *(1,) * len(axes))
            return values.reshape(shape), places.reshape(shape)
    values, codes = _largest(array, axes, False)
    if kind.kind == "f" and np.isnan(values.max()):
        values, codes = _largest(array, axes, True)
    places = _decoded(codes, axes)
    for axis, plan in enumerate(axes, array.ndim - len(axes)):
        if plan.empty:
            values[(_ALL,) * axis + (plan.high < plan.low,)] = -np.inf if kind.kind == "f" else np.iinfo(kind).min
    return values, places


def _largest(array: Any, axes: tuple[Windows, ...], missing: bool) -> tuple[Any, Any]:
    """Values and codes; ``missing`` says that there are NaN."""
    total = prod([plan.width for plan in axes])
    bits: Any = np.uint8 if total <= 256 else np.uint16 if total <= 65536 else np.int64
    values, codes, inner = array, None, 1
    for axis, plan in zip(range(array.ndim - 1, -1, -1), reversed(axes), strict=False):
        if not plan.trivial:
            values, codes = _along(values, codes, axis, plan, inner, bits, missing)
        inner *= plan.width
    if values.base is not None or values is array:
        values = values.copy()
    return values, np.zeros(values.shape, bits) if codes is None else codes


def _along(values: Any, codes: Any, axis: int, plan: Windows, inner: int, bits: Any, missing: bool) -> tuple[Any, Any]:
    best = _at(values, axis, plan.taps[0])
    chosen: Any = None if codes is None else _at(codes, axis, plan.taps[0])
    for tap in range(1, plan.width):
        other = _at(values, axis, plan.taps[tap])
        better = other > best
        if missing:
            better |= other != other  # noqa: PLR0124
            best = np.where(better, other, best)
        else:
            best = np.maximum(best, other, out=best) if tap > 1 else np.maximum(best, other)
        if codes is None:
            mark = better.view(np.uint8) if bits is np.uint8 else better.astype(bits)
            if tap * inner != 1:
                mark = mark * bits(tap * inner)
            chosen = mark if chosen is None else np.maximum(chosen, mark, out=chosen)
        else:
            mask = np.negative(better.view(np.uint8) if bits is np.uint8 else better.astype(bits))
            change = _at(codes, axis, plan.taps[tap]) + bits(tap * inner)
            change ^= chosen
            change &= mask
            chosen = np.bitwise_xor(chosen, change, out=change)
    return best, chosen


def _spread(line: Any, axis: int, ndim: int) -> Any:
    """What belongs to the windows of one axis (the last of ``line``), ready to meet all windows."""
    shape = [1] * ndim
    shape[: line.ndim - 1] = line.shape[:-1]
    shape[axis] = line.shape[-1]
    return line.reshape(shape)


def _tables(axes: tuple[Windows, ...]) -> tuple[list[Any], list[int], Any]:
    """For each code its tap along each axis; the axes' pitches in a plane; and for each code its place in a window."""
    pitches = [prod([plan.size for plan in axes[place + 1 :]]) for place in range(len(axes))]
    number = np.arange(prod([plan.width for plan in axes]))
    taps: list[Any] = []
    for plan in reversed(axes):
        taps.insert(0, number % plan.width)
        number = number // plan.width
    table: Any = sum(tap * (plan.step * pitch) for tap, plan, pitch in zip(taps, axes, pitches, strict=True))
    return taps, pitches, table.astype(np.int64)


def _begins(axes: tuple[Windows, ...], ndim: int) -> Any:
    """The place in its plane of each window's first tap."""
    pitches = _tables(axes)[1]
    base: Any = 0
    for place, plan in enumerate(axes, ndim - len(axes)):
        base = base + _spread(plan.starts * pitches[place - ndim], place, ndim)
    return base


_kept_tables, _kept_begins = lru_cache(128)(_tables), lru_cache(128)(_begins)


def _decoded(codes: Any, axes: tuple[Windows, ...]) -> Any:
    """The place in its plane of each window's element, told by its code."""
    ndim, first = codes.ndim, codes.ndim - len(axes)
    kept = axes[0].starts.ndim == 1  # else windows by chance, never to come again
    taps, pitches, table = (_kept_tables if kept else _tables)(axes)
    places: Any = table.take(codes)
    places += (_kept_begins if kept else _begins)(axes, ndim)
    for place, (plan, tap, pitch) in enumerate(zip(axes, taps, pitches, strict=True)):
        if plan.low is not None:  # windows that the border cuts: their taps were moved onto the axis
            cut = _progression(np.flatnonzero(plan.cut))
            here = (_ALL,) * (first + place) + (cut,)
            at = (tap * plan.step).take(codes[here]) + _spread(plan.starts[cut], first + place, ndim)
            low, high = (_spread(edge[cut], first + place, ndim) for edge in (plan.low, plan.high))
            places[here] += (np.clip(at, low, high) - at) * pitch
    return places


def largest_values(array: Any, axes: tuple[Windows, ...]) -> Any:
    """The largest element of each window of the last axes, without its place."""
    kind = array.dtype
    if kind.itemsize == 2 and kind.kind in "fV":
        return largest_values(array.astype(np.float32), axes).astype(kind)
    if not array.size or any([plan.empty for plan in axes]):
        return largest(array, axes)[0]
    values = array
    for axis, plan in enumerate(axes, array.ndim - len(axes)):
        if plan.trivial:
            continue
        best = _at(values, axis, plan.taps[0])
        for tap in range(1, plan.width):
            other = _at(values, axis, plan.taps[tap])
            best = np.maximum(best, other, out=best) if tap > 1 else np.maximum(best, other)
        values = best
    return values.copy() if values.base is not None or values is array else values


def _flat(indices: Any, area: int, ndim: int) -> Any:
    """Places in a whole array of planes, from places in each plane."""
    first = indices.ndim - ndim
    planes = prod(indices.shape[:first])
    return indices.reshape(planes, prod(indices.shape[first:])) + (np.arange(planes) * area)[:, None]


def put(values: Any, indices: Any, sizes: tuple[int, ...], apart: bool) -> Any:
    """Planes of ``sizes`` of zeros that hold each value at its place; values at one place add up unless ``apart``."""
    ndim, area = len(sizes), prod(sizes)
    shape = (*values.shape[: values.ndim - ndim], *sizes)
    if compiled.least <= values.size > 0 and inside(indices, area):
        out = np.zeros(shape, values.dtype)
        lines = [array.reshape(prod(shape[:-ndim]), -1) for array in (out, indices, values)]
        if compiled.scatter.placed(*lines, 1, not apart):
            return out
    places = _flat(indices, area, ndim)
    if values.dtype.itemsize == 2 and values.dtype.kind in "fV" and not apart:
        return put(values.astype(np.float32), indices, sizes, apart).astype(values.dtype)
    out = np.zeros(shape, values.dtype)
    if apart:
        out.reshape(-1)[places] = values.reshape(places.shape)
    else:
        np.add.at(out.reshape(-1), places.reshape(-1), values.reshape(-1))
    return out


def pick(array: Any, indices: Any, ndim: int) -> Any:
    """The elements at their places in each plane of the last ``ndim`` axes."""
    area = prod(array.shape[array.ndim - ndim :])
    return array.reshape(-1).take(_flat(indices, area, ndim)).reshape(indices.shape)


# -- sums and averages -------------------------------------------------------------------------------------------------


def _uneven(plan: Windows) -> bool:
    """Whether windows lie at uneven distances: then few of them are worth a product with a matrix."""
    return not plan.apart and any(type(places) is ndarray for _, places in plan.parts)


@lru_cache(64)
def _members(size: int, count: int, dtype: Any) -> Any:
    """A row for each of ``count`` adaptive windows: ones at its elements."""
    plan = adaptive(size, count)
    matrix = np.zeros((count, size), dtype)
    numbers = np.arange(count)
    for windows, places in plan.parts:
        matrix[numbers[windows], np.arange(size)[places]] = 1
    return matrix


def matrix_along(array: Any, axis: int, matrix: Any) -> Any:
    """``matrix`` applied to every line along ``axis``."""
    if axis == array.ndim - 1:
        return np.matmul(array, matrix.T)
    after = array.shape[axis + 1 :]
    lines = array.reshape(*array.shape[: axis + 1], prod(after))
    return np.matmul(matrix, lines).reshape(*array.shape[:axis], len(matrix), *after)


def sums(array: Any, axes: tuple[Windows, ...]) -> Any:
    """The sum of each window of the last axes; padding counts as zero."""
    dense = any([_uneven(plan) for plan in axes]) and bool(np.isfinite(array).all())
    for axis, plan in enumerate(axes, array.ndim - len(axes)):
        if plan.trivial:
            continue
        if plan.whole:
            array = np.add.reduce(array, axis=axis, keepdims=True)
            continue
        if dense and _uneven(plan):
            array = matrix_along(array, axis, _members(plan.size, plan.number, array.dtype))
            continue
        total: Any = None
        for windows, places in plan.parts:
            part = _at(array, axis, places)
            if windows is not _ALL:
                if total is None:
                    total = np.zeros((*array.shape[:axis], plan.number, *array.shape[axis + 1 :]), array.dtype)
                elif total.base is not None:
                    total = total.copy()  # all windows had the first tap: it is a view of what was handed in
                total[(_ALL,) * axis + (windows,)] += part
            elif total is None:
                total = part
            elif total.base is not None:
                total = total + part
            else:
                total += part
        array = total
    return array


def spread_sums(array: Any, axes: tuple[Windows, ...]) -> Any:
    """The adjoint of ``sums``: each window's value at all its elements, added up."""
    dense = any([_uneven(plan) for plan in axes]) and bool(np.isfinite(array).all())
    for axis, plan in zip(range(array.ndim - 1, -1, -1), reversed(axes), strict=False):
        if plan.trivial:
            continue
        shape = (*array.shape[:axis], plan.size, *array.shape[axis + 1 :])
        if plan.whole:
            array = np.broadcast_to(array, shape)
            continue
        if dense and _uneven(plan):
            array = matrix_along(array, axis, _members(plan.size, plan.number, array.dtype).T)
            continue
        out = np.zeros(shape, array.dtype)
        repeated = bool(np.any(np.diff(plan.starts) == 0))
        for windows, places in plan.parts:
            part = array if windows is _ALL else _at(array, axis, windows)
            if repeated:  # several windows begin at one place
                np.add.at(np.moveaxis(out, axis, 0), places, np.moveaxis(part, axis, 0))
            elif plan.apart:
                out[(_ALL,) * axis + (places,)] = part
            else:
                out[(_ALL,) * axis + (places,)] += part
        array = out
    return array


@lru_cache(256)
def divisors(axes: tuple[Windows, ...], padding: bool, dtype: Any) -> Any:
    """The number of elements of each window, or one number if all have as many."""
    counts = []
    for plan in axes:
        if padding or plan.low is None:
            counts.append(plan.padded)
        else:
            counts.append((plan.high - plan.low) // plan.step + 1)
    if all(np.all(count == count[0]) for count in counts if len(count)):
        return dtype.type(prod([int(count[0]) for count in counts if len(count)]))
    product: Any = counts[0]
    for count in counts[1:]:
        product = product[..., None] * count
    return product.astype(dtype)
