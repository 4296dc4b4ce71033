"""Elements and rows fetched, placed and added by index, compiled: one pass, in the order of the indices."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...kernels.native.binding import kernel, shared_out

_KINDS = {np.dtype("f4"), np.dtype("f8"), np.dtype("i8")}
_INDEX = np.dtype("i8")


@kernel
def _add_rows(out: Any, index: Any, values: Any) -> bool:
    """The rows of ``values`` added into those of ``out``; False, and nothing done, where there is no such row."""
    size, width = out.shape
    for i in range(index.size):
        if index[i] >= size or index[i] < -size:
            return False
    for i in range(index.size):
        into, value = out[index[i]], values[i]
        for j in range(width):
            into[j] += value[j]
    return True


def add_rows(out: Any, index: Any, values: Any) -> bool:
    """Add ``values[i]`` into ``out[index[i]]``, one after the other; False, and nothing done, if not served."""
    kind = out.dtype
    if kind not in _KINDS or values.dtype is not kind or index.dtype.kind != "i" or not out.flags.c_contiguous:
        return False
    count, rows = index.size, len(out)
    width = out.size // rows if rows else 0
    if not width or not count or values.size != count * width:
        return False
    flat = np.ascontiguousarray(index, _INDEX).reshape(count)
    return bool(_add_rows(out.reshape(rows, width), flat, np.ascontiguousarray(values).reshape(count, width)))


def _split(shape: tuple[int, ...], axis: int) -> tuple[int, int, int]:
    before = after = 1
    for size in shape[:axis]:
        before *= size
    for size in shape[axis + 1 :]:
        after *= size
    return before, shape[axis], after


def _alike(one: Any, other: Any, axis: int) -> bool:
    """Whether the shapes agree but along ``axis``."""
    a, b = one.shape, other.shape
    return len(a) == len(b) and a[:axis] == b[:axis] and a[axis + 1 :] == b[axis + 1 :]


@kernel
def _fetch(first: int, last: int, source: Any, index: Any, out: Any) -> None:
    before, count, after = index.shape
    for a in range(first, last):
        if after == 1:
            for i in range(count):
                out[a, i, 0] = source[a, np.uint64(index[a, i, 0]), 0]
        else:
            for i in range(count):
                for b in range(after):
                    out[a, i, b] = source[a, np.uint64(index[a, i, b]), b]


@kernel
def _put(first: int, last: int, out: Any, index: Any, source: Any, adds: bool) -> None:
    before, count, after = index.shape
    for a in range(first, last):
        if after == 1:
            into, at, values = out[a, :, 0], index[a, :, 0], source[a, :, 0]
            if adds:
                for i in range(count):
                    into[np.uint64(at[i])] += values[i]
            else:
                for i in range(count):
                    into[np.uint64(at[i])] = values[i]
            continue
        for i in range(count):
            if adds:
                for b in range(after):
                    out[a, np.uint64(index[a, i, b]), b] += source[a, i, b]
            else:
                for b in range(after):
                    out[a, np.uint64(index[a, i, b]), b] = source[a, i, b]


def fetched(source: Any, index: Any, axis: int) -> Any:
    """The elements that ``index``, which is within bounds, names along ``axis``; None where it is not served."""
    if source.dtype not in _KINDS or not _alike(source, index, axis) or not source.flags.c_contiguous:
        return None
    out = np.empty(index.shape, source.dtype)
    parts = _split(index.shape, axis)
    shared_out(
        _fetch, parts[0], index.size, source.reshape(_split(source.shape, axis)),
        np.ascontiguousarray(index, _INDEX).reshape(parts), out.reshape(parts),
    )  # fmt: skip
    return out


def placed(out: Any, index: Any, source: Any, axis: int, adds: bool) -> bool:
    """Write, or add, elements where ``index``, which is within bounds, points along ``axis``; False if not served."""
    kind = out.dtype
    if kind not in _KINDS or source.dtype is not kind or source.shape != index.shape or not out.flags.c_contiguous:
        return False
    if not _alike(out, index, axis):
        return False
    parts = _split(index.shape, axis)
    shared_out(
        _put, parts[0], index.size, out.reshape(_split(out.shape, axis)),
        np.ascontiguousarray(index, _INDEX).reshape(parts), np.ascontiguousarray(source).reshape(parts), adds,
    )  # fmt: skip
    return True
