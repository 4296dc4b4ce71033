"""Running sums, products and extremes, compiled: one pass, in float64."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...kernels.native.binding import kernel, shared_out

_KINDS = {np.dtype("f4"), np.dtype("f8")}


@kernel
def _running(first: int, last: int, a: Any, out: Any, product: bool, reverse: bool) -> None:
    before, count, after = a.shape
    values = np.empty(after)
    for row in range(first, last):
        if after == 1:
            value = 1.0 if product else 0.0
            for k in range(count):
                i = count - 1 - k if reverse else k
                value = value * a[row, i, 0] if product else value + a[row, i, 0]
                out[row, i, 0] = value
            continue
        values[:] = 1.0 if product else 0.0
        for k in range(count):
            i = count - 1 - k if reverse else k
            line, into = a[row, i], out[row, i]
            if product:
                for j in range(after):
                    values[j] *= line[j]
                    into[j] = values[j]
            else:
                for j in range(after):
                    values[j] += line[j]
                    into[j] = values[j]


@kernel
def _before(first: int, last: int, a: Any, out: Any, reverse: bool) -> None:
    before, count, after = a.shape
    values = np.empty(after)
    for row in range(first, last):
        if after == 1:
            value = 1.0
            for k in range(count):
                i = count - 1 - k if reverse else k
                out[row, i, 0] = value
                value *= a[row, i, 0]
            continue
        values[:] = 1.0
        for k in range(count):
            i = count - 1 - k if reverse else k
            line, into = a[row, i], out[row, i]
            for j in range(after):
                into[j] = values[j]
                values[j] *= line[j]


@kernel
def _recur(first: int, last: int, a: Any, factor: Any, out: Any, reverse: bool) -> None:
    before, count, after = a.shape
    values = np.empty(after)
    for row in range(first, last):
        if after == 1:
            value = 0.0
            for k in range(count):
                i = count - 1 - k if reverse else k
                value = a[row, i, 0] + factor[row, i, 0] * value if k else np.float64(a[row, i, 0])
                out[row, i, 0] = value
            continue
        for k in range(count):
            i = count - 1 - k if reverse else k
            line, times, into = a[row, i], factor[row, i], out[row, i]
            for j in range(after):
                values[j] = line[j] + times[j] * values[j] if k else line[j]
                into[j] = values[j]


@kernel
def _extremes(first: int, last: int, a: Any, values: Any, indices: Any, sign: int) -> None:
    before, count, after = a.shape
    for row in range(first, last):
        for j in range(after):
            value, index = a[row, 0, j], 0
            for i in range(count):
                x = a[row, i, j]
                if (x >= value if sign > 0 else x <= value) or x != x:  # noqa: PLR0124  NaN
                    value, index = x, i
                values[row, i, j] = value
                indices[row, i, j] = index


def _parts(a: Any, dim: int | None) -> tuple[int, int, int] | None:
    """The sizes before, along and after a dimension (None: all in a row); None where the array is not served."""
    if type(a) is not np.ndarray or a.dtype not in _KINDS or not a.size or not a.ndim:
        return None
    if not a.flags.c_contiguous:
        return None
    if dim is None:
        return 1, a.size, 1
    axis = dim % a.ndim
    before = int(np.prod(a.shape[:axis]))
    return before, a.shape[axis], a.size // before // a.shape[axis]


def running(a: Any, dim: int, product: bool = False, reverse: bool = False) -> Any:
    """The sums, or products, up to each place along ``dim``; from it on if ``reverse``; None where it is not served."""
    parts = _parts(a, dim)
    if parts is None:
        return None
    out = np.empty(a.shape, a.dtype)
    shared_out(_running, parts[0], a.size, a.reshape(parts), out.reshape(parts), product, reverse)
    return out


def before(a: Any, dim: int | None, reverse: bool) -> Any:
    """The products of everything before each place along ``dim``; after it if ``reverse``; None if not served."""
    parts = _parts(a, dim)
    if parts is None:
        return None
    out = np.empty(a.shape, a.dtype)
    shared_out(_before, parts[0], a.size, a.reshape(parts), out.reshape(parts), reverse)
    return out


def recur(a: Any, factor: Any, dim: int | None, reverse: bool) -> Any:
    """``y`` with ``y[j] = a[j] + factor[j] * y[j - 1]`` along ``dim``, the first ``a[0]``; None if not served."""
    if not a.ndim or a.dtype != factor.dtype or a.shape != factor.shape:
        return None
    a, factor = np.ascontiguousarray(a), np.ascontiguousarray(factor)
    parts = _parts(a, dim)
    if parts is None:
        return None
    out = np.empty(a.shape, a.dtype)
    arrays = [one.reshape(parts) for one in (a, factor, out)]
    shared_out(_recur, parts[0], 3 * a.size, *arrays, reverse)
    return out


def extremes(a: Any, dim: int, sign: int) -> Any:
    """The largest (``sign`` 1) or smallest up to each place, and the last place of each; None where not served."""
    parts = _parts(a, dim)
    if parts is None:
        return None
    values, indices = np.empty(a.shape, a.dtype), np.empty(a.shape, np.int64)
    shared_out(_extremes, parts[0], a.size, a.reshape(parts), values.reshape(parts), indices.reshape(parts), sign)
    return values, indices
