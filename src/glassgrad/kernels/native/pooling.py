"""Compiled parts of pooling: the largest of each window with its place, and values put back to their places."""

from __future__ import annotations

from functools import lru_cache
from math import prod
from typing import Any

import numpy as np

from .binding import apart as no_overlap
from .binding import kernel, shared_out
from .tiles import get, place, put

_KINDS = (np.dtype("f4"), np.dtype("f8"))
_INDEX = np.dtype("i8")


@kernel
def _put(first: int, last: int, values: Any, indices: Any, out: Any, added: bool) -> None:
    """Planes from ``first`` to ``last``; of several values at one place the last stays, unless they are ``added``."""
    count, area = values.shape[1], out.shape[1]
    for plane in range(first, last):
        given, at, made = place(values, plane * count), place(indices, plane * count), place(out, plane * area)
        for i in range(area):
            put(made, i, values.dtype.type(0))
        if added:
            for i in range(count):
                put(made, get(at, i), get(made, get(at, i)) + get(given, i))
        else:
            for i in range(count):
                put(made, get(at, i), get(given, i))


@kernel
def _all_inside(indices: Any, area: int) -> bool:
    outside = 0
    for index in indices:
        outside |= index | (area - 1 - index)  # negative where one of them is
    return outside >= 0


def put_back(values: Any, indices: Any, sizes: tuple[int, ...], apart: bool) -> Any:
    """See ``put`` in ``kernels/pooling.py``; ``None`` for what is not served."""
    if values.dtype not in _KINDS or indices.dtype != _INDEX or not values.size or values.shape != indices.shape:
        return None
    shape, area = (*values.shape[: values.ndim - len(sizes)], *sizes), prod(sizes)
    planes = prod(shape[: len(shape) - len(sizes)])
    places = np.ascontiguousarray(indices).reshape(planes, -1)
    if not _all_inside(places.reshape(-1), area):
        return None  # NumPy says what is wrong
    out = np.empty((planes, area), values.dtype)
    given = np.ascontiguousarray(values).reshape(planes, -1)
    shared_out(_put, planes, out.size + given.size, given, places, out, not apart)
    return out.reshape(shape)


@kernel
def _largest(
    first: int, last: int, x: Any, values: Any, places: Any, sizes: Any, counts: Any, widths: Any, steps: Any,
    strides: Any, starts: Any, low: Any,
) -> None:  # fmt: skip
    """Planes from ``first`` to ``last``; the first of equals wins, of several NaN the last."""
    no_overlap()
    area, lines = sizes[0] * sizes[1] * sizes[2], counts[0] * counts[1]
    count, size, stride = counts[2], sizes[2], strides[2]
    nothing = x.dtype.type(-np.inf)
    for line in range(first * lines, last * lines):
        plane, one, two = line // lines, line // counts[1] % counts[0], line % counts[1]
        begins = starts[0] + one * strides[0], starts[1] + two * strides[1]
        best, at = place(values, line * count), place(places, line * count)
        a, b = (begins[0] if begins[0] >= 0 else begins[0] + -(begins[0] // steps[0]) * steps[0]), begins[1]
        b = b if b >= 0 else b + -(b // steps[1]) * steps[1]
        head = (a * sizes[1] + b) * size
        for i in range(count):
            put(best, i, nothing)
            put(at, i, head + low[i])
        for t0 in range(widths[0]):
            a = begins[0] + t0 * steps[0]
            if a < 0 or a >= sizes[0]:
                continue
            for t1 in range(widths[1]):
                b = begins[1] + t1 * steps[1]
                if b < 0 or b >= sizes[1]:
                    continue
                for t2 in range(widths[2]):
                    where = starts[2] + t2 * steps[2]
                    begin = max(-(where // stride), 0)
                    end = min((size - 1 - where) // stride + 1, count)
                    here = (a * sizes[1] + b) * size + where
                    source = place(x, plane * area + here)
                    if stride == 2:
                        for i in range(begin, end):
                            value, known = get(source, 2 * i), get(best, i)
                            better = (value > known) | (value != value)  # noqa: PLR0124
                            put(best, i, value if better else known)
                            put(at, i, here + 2 * i if better else get(at, i))
                    else:
                        for i in range(begin, end):
                            value, known = get(source, stride * i), get(best, i)
                            better = (value > known) | (value != value)  # noqa: PLR0124
                            put(best, i, value if better else known)
                            put(at, i, here + stride * i if better else get(at, i))


def _evenly(plan: Any) -> int:
    """The distance of neighbouring windows that only the axis's ends cut; 0 for others."""
    if plan.starts.ndim != 1 or plan.empty or not plan.number:
        return 0
    stride = int(plan.starts[1] - plan.starts[0]) if plan.number > 1 else 1
    if stride <= 0 or (np.diff(plan.starts) != stride).any():
        return 0
    ends = plan.starts + np.minimum(plan.width - 1, (plan.size - 1 - plan.starts) // plan.step) * plan.step
    return stride if plan.low is None or (plan.high == ends).all() else 0


@lru_cache(256)
def _tables(axes: Any) -> Any:
    """What the kernel is told of the windows; ``None`` where they are uneven."""
    if len(axes) > 3 or not all([_evenly(plan) for plan in axes]):
        return None
    ones = (1,) * (3 - len(axes))
    last = axes[-1]
    return (
        (*ones, *[plan.size for plan in axes]), (*ones, *[plan.number for plan in axes]),
        (*ones, *[plan.width for plan in axes]), (*ones, *[plan.step for plan in axes]),
        (*ones, *[_evenly(plan) for plan in axes]), (*[0] * len(ones), *[int(plan.starts[0]) for plan in axes]),
        np.array(last.starts if last.low is None else last.low, np.int64),
    )  # fmt: skip


def largest(array: Any, axes: Any) -> Any:
    """See ``largest`` in ``kernels/pooling.py``; ``None`` for what is not served."""
    if array.dtype not in _KINDS or not array.size or axes[0].starts.ndim != 1 or all([plan.whole for plan in axes]):
        return None
    tables = _tables(axes)
    if tables is None:
        return None
    shape = (*array.shape[: array.ndim - len(axes)], *tables[1][3 - len(axes) :])
    values, places = np.empty(shape, array.dtype), np.empty(shape, np.int64)
    planes = values.size // prod(tables[1])
    flat = (array if array.flags.carray else np.array(array, order="C")).reshape(-1)
    shared_out(
        _largest, planes, values.size * prod(tables[2]), flat, values.reshape(-1), places.reshape(-1), *tables
    )
    return values, places
