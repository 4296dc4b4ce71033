"""Scaled dot-product attention, one head after the other in the cache; rows of queries at a time, so that the weights
of a block stay there too.

Keys that come later than all queries of a block are left out where they must not be seen.  Numbers beyond the last key
or the last column of a head fill vectors up: their weights are zeros.
Source: Dao (2023), FlashAttention-2, arXiv:2307.08691, for making the weights anew on the way back.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numba
import numpy as np
from numba.extending import overload

from ...kernels.native import binding, mathematics, tiles
from ...kernels.native.binding import INWARD, kernel, shared_out
from ...kernels.native.memory import address
from ...kernels.native.tiles import alone, further, get, largest, multiply, place, placed, put, total

Array = np.ndarray[Any, Any]
f4, f8, i4 = np.float32, np.float64, np.int32
wide_vectors: Any = binding.wide_vectors
_recast: Any = mathematics.recast
like: Any = mathematics.like
_PLAIN: Any = {"nogil": True, "_nrt": False, "error_model": "numpy", "fastmath": {"contract"}, **INWARD}
_BLOCK = 1 << 16  # weights of a block of queries: a quarter of a megabyte of single precision


def _exp(x):  # type: ignore[no-untyped-def]
    """The exponential of a number that is hardly above nought; nought where it would not be a normal number."""


@overload(_exp, jit_options=_PLAIN)
def _of_exp(x):  # type: ignore[no-untyped-def]
    if x == numba.float32:
        return lambda x: _weight32(x)
    return lambda x: mathematics.exp64(x)


def _part(function: Any) -> Any:
    return numba.njit(**_PLAIN)(function)


_LOG2E, _HIGH, _LOW = f4(1.4426950408889634), f4(0.693359375), f4(-2.12194440e-4)
_ROUND, _ROUND_BITS = f4(12582912.0), i4(0x4B400000)  # adding this leaves a whole number in the last bits
_BOTTOM, _NOUGHT = f4(-87.0), f4(0)


@_part
def _weight32(x: Any) -> Any:
    """``exp`` for single precision: as in ``mathematics``, with one factor instead of two."""
    low = _BOTTOM if x < _BOTTOM else x
    shifted = low * _LOG2E + _ROUND
    n = shifted - _ROUND
    r = (low - n * _HIGH) - n * _LOW
    scale = _recast(i4(i4(_recast(shifted) - _ROUND_BITS + 127) << 23))
    weight = mathematics._tail32(r) * scale + scale
    return _NOUGHT if x < _BOTTOM else weight


# -- what both ways share ----------------------------------------------------------------------------------------------


@_part
def _head(where: Any, steps: Any, which: int, sample: int, head: int, like: Any) -> Any:
    """Where a head of a sample begins in one of the arrays that have these addresses and steps."""
    return placed(where[which] + sample * steps[which, 0] + head * steps[which, 1], like)


@_part
def _copied(source: Any, row: int, target: Any, wide: int, rows: int, width: int, times: Any) -> None:
    """Rows side by side, multiplied, filled up with zeros to ``wide`` numbers."""
    nought = times - times
    for r in range(rows):
        here, there = further(source, r * row), further(target, r * wide)
        for j in range(width):
            put(there, j, get(here, j) * times)
        for j in range(width, wide):
            put(there, j, nought)


@_part
def _turned(source: Any, row: int, target: Any, rows: int, width: int, n: int, nought: Any) -> None:
    """Rows as columns in vectors: (vectors of rows, width, lanes)."""
    for first in range(0, rows, n):
        there = further(target, first * width)
        lanes = min(n, rows - first)
        for lane in range(lanes):
            here = further(source, (first + lane) * row)
            for j in range(width):
                put(there, j * n + lane, get(here, j))
        for lane in range(lanes, n):
            for j in range(width):
                put(there, j * n + lane, nought)


@_part
def _masked(scores: Any, bias: Any, step: int, count: int) -> None:
    if step == 1:
        for j in range(count):
            put(scores, j, get(scores, j) + get(bias, j))
    else:
        for j in range(count):
            put(scores, j, get(scores, j) + get(bias, j * step))


@_part
def _filled(scores: Any, first: int, last: int, value: Any) -> None:
    for j in range(first, last):
        put(scores, j, value)


@_part
def _raised(scores: Any, count: int, less: Any) -> None:
    """The exponentials of the scores, each ``less`` something."""
    alone()
    wide_vectors()
    for j in range(count):
        put(scores, j, _exp(get(scores, j) - less))


@_part
def _times(source: Any, target: Any, count: int, factor: Any) -> None:
    for j in range(count):
        put(target, j, get(source, j) * factor)


# -- forward -----------------------------------------------------------------------------------------------------------


Q, K, V, OUT, BIAS = range(5)  # the places of the arrays among addresses and steps


@kernel
def _there(first: int, last: int, logs: Any, where: Any, steps: Any, sizes: Any, times: Any) -> None:
    """The heads from ``first`` to ``last`` of all samples; ``where`` and ``steps`` are of ``Q`` to ``BIAS``."""
    heads, shared, rows, columns, width, wide, n, height, size, causal = sizes
    one, endless = like(1.0, times), like(np.inf, times)
    nought = one - one
    across = -(-columns // n) * n
    room = np.empty(size, logs.dtype)  # for whichever thread takes the part
    turned = place(room, 0)
    values = further(turned, across * width)
    queries = further(values, columns * wide)
    scores = further(queries, height * wide)
    mixed = further(scores, height * across)
    for item in range(first, last):
        sample, head = item // heads, item % heads
        own = head // shared
        if item == first or head % shared == 0:
            keys = _head(where, steps, K, sample, own, logs)
            _turned(keys, steps[K, 2], turned, columns, width, n, nought)
            _copied(_head(where, steps, V, sample, own, logs), steps[V, 2], values, wide, columns, width, one)
        at, to = _head(where, steps, Q, sample, head, logs), _head(where, steps, OUT, sample, head, logs)
        for start in range(0, rows, height):
            count = min(height, rows - start)
            seen = min(columns, start + count) if causal else columns
            vectors = -(-seen // n)
            _copied(further(at, start * steps[Q, 2]), steps[Q, 2], queries, wide, count, width, times)
            multiply(queries, wide, 1, turned, n, width * n, scores, across, count, vectors, width, False, n)
            for index in range(count):
                row = start + index
                line = further(scores, index * across)
                own_seen = min(seen, row + 1) if causal else seen
                if where[BIAS]:
                    beside = further(_head(where, steps, BIAS, sample, head, logs), row * steps[BIAS, 2])
                    _masked(line, beside, steps[BIAS, 3], own_seen)
                _filled(line, own_seen, vectors * n, -endless)
                top = largest(line, vectors)
                if top == -endless:
                    top = nought
                _raised(line, vectors * n, top)
                sums = total(line, vectors)
                if sums == nought:
                    sums = one
                put(place(logs, item * rows), row, top + mathematics.log(sums))
                put(mixed, height * wide + index, one / sums)
            multiply(scores, across, 1, values, wide, n, mixed, wide, count, wide // n, seen, False, n)
            for index in range(count):
                share = get(mixed, height * wide + index)
                _times(further(mixed, index * wide), further(to, (start + index) * steps[OUT, 2]), width, share)


# -- backward ----------------------------------------------------------------------------------------------------------


@_part
def _slopes(weights: Any, back: Any, count: int, less: Any) -> None:
    alone()
    wide_vectors()
    for j in range(count):
        put(back, j, get(weights, j) * (get(back, j) - less))


@_part
def _dot(one: Any, other: Any, width: int, start: Any) -> Any:
    dot = start
    for j in range(width):
        dot += get(one, j) * get(other, j)
    return dot


G, DQ, DK, DV = range(5, 9)  # the further ones of the way back


@kernel
def _back(first: int, last: int, logs: Any, where: Any, steps: Any, sizes: Any, times: Any) -> None:
    """As ``_there``, for the heads of keys and values from ``first`` to ``last``, each with all that share it."""
    heads, shared, rows, columns, width, wide, n, height, size, causal = sizes
    one = like(1.0, times)
    nought = one - one
    across = -(-columns // n) * n
    few = heads // shared
    room = np.empty(size, logs.dtype)
    turned_keys = place(room, 0)
    turned_values = further(turned_keys, across * width)
    keys = further(turned_values, across * width)
    to_keys = further(keys, columns * wide)
    to_values = further(to_keys, columns * wide)
    queries = further(to_values, columns * wide)
    grads = further(queries, height * wide)
    mixed = further(grads, height * wide)
    weights = further(mixed, height * wide)
    back = further(weights, height * across)
    for item in range(first, last):
        sample, own = item // few, item % few
        at_keys, at_values = _head(where, steps, K, sample, own, logs), _head(where, steps, V, sample, own, logs)
        _turned(at_keys, steps[K, 2], turned_keys, columns, width, n, nought)
        _turned(at_values, steps[V, 2], turned_values, columns, width, n, nought)
        _copied(at_keys, steps[K, 2], keys, wide, columns, width, one)
        _filled(to_keys, 0, columns * wide, nought)
        _filled(to_values, 0, columns * wide, nought)
        for head in range(own * shared, (own + 1) * shared):
            at, arriving = _head(where, steps, Q, sample, head, logs), _head(where, steps, G, sample, head, logs)
            result, to = _head(where, steps, OUT, sample, head, logs), _head(where, steps, DQ, sample, head, logs)
            sums = place(logs, (sample * heads + head) * rows)
            for start in range(0, rows, height):
                count = min(height, rows - start)
                seen = min(columns, start + count) if causal else columns
                vectors = -(-seen // n)
                _copied(further(at, start * steps[Q, 2]), steps[Q, 2], queries, wide, count, width, times)
                _copied(further(arriving, start * steps[G, 2]), steps[G, 2], grads, wide, count, width, one)
                multiply(queries, wide, 1, turned_keys, n, width * n, weights, across, count, vectors, width, False, n)
                multiply(grads, wide, 1, turned_values, n, width * n, back, across, count, vectors, width, False, n)
                for index in range(count):
                    row = start + index
                    line = further(weights, index * across)
                    own_seen = min(seen, row + 1) if causal else seen
                    if where[BIAS]:
                        beside = further(_head(where, steps, BIAS, sample, head, logs), row * steps[BIAS, 2])
                        _masked(line, beside, steps[BIAS, 3], own_seen)
                    _raised(line, own_seen, get(sums, row))
                    _filled(line, own_seen, vectors * n, nought)
                    less = _dot(further(grads, index * wide), further(result, row * steps[OUT, 2]), width, nought)
                    beyond = further(back, index * across)
                    _slopes(line, beyond, own_seen, less)
                    _filled(beyond, own_seen, vectors * n, nought)
                multiply(weights, 1, across, grads, wide, n, to_values, wide, seen, wide // n, count, True, n)
                multiply(back, 1, across, queries, wide, n, to_keys, wide, seen, wide // n, count, True, n)
                multiply(back, across, 1, keys, wide, n, mixed, wide, count, wide // n, seen, False, n)
                for index in range(count):
                    _times(further(mixed, index * wide), further(to, (start + index) * steps[DQ, 2]), width, times)
        by_key, by_value = _head(where, steps, DK, sample, own, logs), _head(where, steps, DV, sample, own, logs)
        for row in range(columns):
            _times(further(to_keys, row * wide), further(by_key, row * steps[DK, 2]), width, one)
            _times(further(to_values, row * wide), further(by_value, row * steps[DV, 2]), width, one)


# -- what NumPy does around them ---------------------------------------------------------------------------------------


def _height(rows: int, columns: int, causal: bool) -> int:
    """Queries in a block: few where that leaves out keys that come later, or where there are many keys."""
    wanted = 16 if causal and columns <= 128 else 32 if causal else 64
    return max(tiles.HEIGHT, min(wanted, rows, _BLOCK // columns // tiles.HEIGHT * tiles.HEIGHT))


@lru_cache(maxsize=256)
def _plan(
    shape: tuple[int, ...], keys: tuple[int, ...], kind: Any, causal: bool, back: bool,
    strides: tuple[tuple[int, ...], ...],
) -> tuple[Array, tuple[int, ...]]:  # fmt: skip
    """Steps and sizes for queries and keys of some shapes, and arrays of some strides.

    The steps of each array are bytes from sample to sample and from head to head, and numbers from row to row and from
    column to column; the last of the sizes but one is how many numbers a part writes down on its way.
    """
    heads, rows, width = shape[1:]
    few, columns = keys[1:3]
    lanes = tiles.lanes(kind)
    wide, across = -(-width // lanes) * lanes, -(-columns // lanes) * lanes
    height = _height(rows, columns, causal)
    if back:
        size = 2 * across * width + 3 * columns * wide + height * (3 * wide + 2 * across)
    else:
        size = across * width + columns * wide + height * (2 * wide + across + 1)
    steps = np.array(strides, np.int64)
    steps[:, 2:] //= kind.itemsize
    return steps, (heads, heads // few, rows, columns, width, wide, lanes, height, size, int(causal))


_NOWHERE = (0, 0, 0, 0)  # the steps of a bias that is none


def _served(*arrays: Array) -> bool:
    kind = arrays[0].dtype
    if kind != f4 and kind != f8:
        return False
    return all([array.strides[3] == kind.itemsize and array.flags.aligned for array in arrays])


def forward(
    query: Array, key: Array, value: Array, bias: Array | None, is_causal: bool, times: Any
) -> tuple[Array, Array] | None:
    """Values averaged by the weights, and the logarithms of the weights' sums; ``bias`` is added to the scores."""
    if not _served(query, key, value):
        return None
    out = np.empty_like(query)
    logs = np.empty(query.shape[:3], query.dtype)
    _work(_there, query.shape[1], False, is_causal, times, logs, (query, key, value, out, bias))
    return out, logs


def backward(
    grad: Array, query: Array, key: Array, value: Array, out: Array, logs: Array, bias: Array | None,
    is_causal: bool, times: Any,
) -> tuple[Array, Array, Array] | None:  # fmt: skip
    """The gradients of queries, keys and values."""
    if not _served(query, key, value, out):
        return None
    if grad.strides[3] != grad.itemsize:
        grad = np.ascontiguousarray(grad)
    by_query, by_key, by_value = np.empty_like(query), np.empty_like(key), np.empty_like(value)
    arrays = (query, key, value, out, bias, grad, by_query, by_key, by_value)
    _work(_back, key.shape[1], True, is_causal, times, np.ascontiguousarray(logs), arrays)
    return by_query, by_key, by_value


def _work(
    kernel: Any, heads: int, back: bool, is_causal: bool, times: Any, logs: Array, arrays: tuple[Array | None, ...]
) -> None:
    """Share out the heads of all samples; ``arrays`` are in the order of ``Q`` to ``DV``."""
    query, keys = arrays[Q], arrays[K]
    assert query is not None and keys is not None
    strides = tuple([_NOWHERE if array is None else array.strides for array in arrays])
    steps, sizes = _plan(query.shape, keys.shape, query.dtype, is_causal, back, strides)
    where = tuple([address(array) for array in arrays])
    n = query.shape[0] * heads
    shared_out(kernel, n, (1 + back) * logs.size * keys.shape[2], logs, where, steps, sizes, times)
