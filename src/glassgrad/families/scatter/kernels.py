"""Elements fetched, placed and added by index along one dimension; knows arrays, and the choice of kernels.

Indices are within bounds: whoever calls has looked.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np

from ...ground.dtypes import HALVES
from ...ground.meta import in_single
from ...kernels import compiled

_UNSIGNED = {8: np.dtype(np.uint64), 4: np.dtype(np.uint32)}


def inside(index: Any, size: int) -> bool:
    """Whether all indices are in [0, ``size``); read as unsigned, negative ones are too large."""
    if not index.size:
        return True
    return bool(np.maximum.reduce(index.view(_UNSIGNED[index.itemsize]), None) < size)


@lru_cache(256)
def _line(size: int, after: int) -> Any:
    """The numbers up to ``size`` along a dimension with ``after`` dimensions behind it."""
    return np.arange(size).reshape((-1,) + (1,) * after)


def along_axis(index: Any, axis: int) -> tuple[Any, ...]:
    """What an array is indexed with so that ``index`` counts along ``axis`` and all else stays in place."""
    ndim = index.ndim
    if ndim <= 1:
        return (index,) if ndim else (index.reshape(1),)
    return tuple([index if at == axis else _line(size, ndim - 1 - at) for at, size in enumerate(index.shape)])


def fetched(source: Any, index: Any, axis: int) -> Any:
    """The elements that ``index`` names along ``axis``, in its shape."""
    if index.size >= compiled.least and (elements := compiled.scatter.fetched(source, index, axis)) is not None:
        return elements
    return source[along_axis(index, axis)]


def put_where(out: Any, index: Any, source: Any, axis: int) -> None:
    """Write ``source`` where ``index`` points along ``axis``; where it points twice, the last one stays."""
    if index.ndim and index.size >= compiled.least and compiled.scatter.placed(out, index, source, axis, False):
        return
    out[along_axis(index, axis)] = source


def added(out: Any, index: Any, src: Any, axis: int) -> Any:
    """``out`` with ``src`` added into it where ``index`` points along ``axis``; halves are rounded once, at the end."""
    if not index.size:
        return out
    if out.dtype.char in HALVES:
        return added(in_single(out), index, in_single(src), axis).astype(out.dtype)
    flat = out.reshape(out.shape or (1,))
    at_index = along_axis(index, axis)
    src = covered(src, index)
    if index.ndim and index.shape[axis] == 1:  # nothing is named twice
        flat[at_index] += src
    elif index.size >= compiled.least and compiled.scatter.placed(flat, index, src, axis, True):
        pass
    elif flat.ndim == 1:
        np.add.at(flat, at_index, src.reshape(-1))
    else:
        step = 1
        at: Any = 0
        for part, size in zip(reversed(at_index), reversed(flat.shape), strict=True):
            at = at + part * step
            step *= size
        np.add.at(flat.reshape(-1), at.reshape(-1), src.reshape(-1))
    return out


def covered(src: Any, index: Any) -> Any:
    """The part of ``src`` that ``index`` covers."""
    if src.shape == index.shape:
        return src
    return src.reshape(src.shape or (1,))[tuple(slice(size) for size in index.shape or (1,))]


_SEVERAL = 64  # rows from which on they are added in turns
_FEW_TURNS = 16  # rows that a turn must have on average to be quicker than one after the other


def add_rows(out: Any, index: Any, values: Any) -> None:
    """Add ``values[i]`` into ``out[index[i]]``, one after the other.

    Wide rows are added in turns, or by themselves, which is far quicker than ``np.add.at``; narrow ones element by
    element. A row's sum is the same in all three: its values are added in their order.
    """
    if values.size >= compiled.least and compiled.scatter.add_rows(out, index, values):
        return
    if out.ndim == 1 or (out[:1].size < 32 and index.size > 16):
        np.add.at(out, index, values)
        return
    named, values = index.reshape(-1), values.reshape(-1, *out.shape[1:])
    if named.size > _SEVERAL and named.min() >= 0:
        turns = _turns(named)
        if named.size > _FEW_TURNS * len(turns):
            for turn in turns:  # no row is named twice within one
                out[named[turn]] += values[turn]
            return
    add = np.add
    rows = out if len(out) > 4 * named.size else list(out)
    for row, value in zip(named.tolist(), values, strict=True):
        row = rows[row]
        add(row, value, row)


def _turns(named: Any) -> list[Any]:
    """Where each row is named for the first time, for the second time, and so on."""
    order = named.argsort(kind="stable")
    sorted_names = named[order]
    starts = np.flatnonzero(np.concatenate(([True], sorted_names[1:] != sorted_names[:-1])))
    turn = np.arange(named.size) - np.repeat(starts, np.diff(starts, append=named.size))
    by_turn = turn.argsort(kind="stable")
    return np.split(order[by_turn], np.cumsum(np.bincount(turn))[:-1])
