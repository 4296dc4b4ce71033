"""Samples through the steps of an LSTM, a GRU and plain units, and back: what ``recurrent`` shares out.

Rows are samples, one step's below the other's; step ``s`` has ``widths[s]`` rows from ``starts[s]`` on, and steps are
given in the order in which they are walked.  On the way back ``state`` holds the gradient that arrives at a step's
state, and ``before`` takes the state that each row started from.
"""

from __future__ import annotations

from typing import Any

import numba

from ...kernels.native import binding, mathematics
from ...kernels.native.binding import INWARD, kernel
from ...kernels.native.tiles import alone, further, get, multiply, place, put

wide_vectors: Any = binding.wide_vectors
_PLAIN: Any = {"nogil": True, "_nrt": False, "error_model": "numpy", "fastmath": {"contract"}, **INWARD}


def _part(function: Any) -> Any:
    return numba.njit(**_PLAIN)(function)


@_part
def _opened(gates: Any, sums: Any, bias: Any, count: int) -> None:
    """Gates between nought and one."""
    alone()
    wide_vectors()
    for j in range(count):
        put(gates, j, mathematics.sigmoid(get(sums, j) + get(bias, j)))


@_part
def _bent(gates: Any, sums: Any, bias: Any, count: int) -> None:
    """Numbers between minus one and one."""
    alone()
    wide_vectors()
    for j in range(count):
        put(gates, j, mathematics.tanh(get(sums, j) + get(bias, j)))


@_part
def _copied(source: Any, target: Any, count: int) -> None:
    for j in range(count):
        put(target, j, get(source, j))


@_part
def _added(source: Any, target: Any, count: int) -> None:
    for j in range(count):
        put(target, j, get(target, j) + get(source, j))


@_part
def _product(source: Any, row: int, weights: Any, target: Any, wide: int, rows: int, depth: int, added: bool) -> None:
    """``rows`` rows of ``depth`` numbers, ``row`` numbers apart, times packed weights."""
    n = weights.shape[2]
    multiply(source, row, 1, place(weights, 0), n, depth * n, target, wide, rows, weights.shape[0], depth, added, n)


# -- LSTM --------------------------------------------------------------------------------------------------------------


@_part
def _next_cell(cell: Any, gates: Any, hidden: int) -> None:
    for j in range(hidden):
        put(cell, j, get(gates, hidden + j) * get(cell, j) + get(gates, j) * get(gates, 2 * hidden + j))


@_part
def _shown(out: Any, cell: Any, gate: Any, hidden: int) -> None:
    alone()
    wide_vectors()
    for j in range(hidden):
        put(out, j, get(gate, j) * mathematics.tanh(get(cell, j)))


@kernel
def lstm_there(
    first: int, last: int, room: Any, starts: Any, widths: Any, x: Any, inner: Any, gates: Any, bias: Any,
    weights: Any, state: Any, cell: Any, out: Any, cells: Any,
) -> None:  # fmt: skip
    """The samples from ``first`` to ``last`` through all steps.

    ``inner`` are the weights of the input ``x``; if there are none, ``gates`` holds what it gives to each gate.
    ``gates`` takes the gates (i, f, g, o), ``out`` the hidden and ``cells`` the cell states of all steps, ``state`` and
    ``cell`` the last ones.
    """
    hidden = out.shape[1]
    never = last < first  # and no constant, for each of which products would be compiled anew
    wide = weights.shape[0] * weights.shape[2]
    sums = place(room, first * wide)
    for step in range(starts.size):
        rows = min(last, widths[step]) - first
        if rows <= 0:
            continue
        start = starts[step] + first
        if inner.size:
            _product(place(x, start * x.shape[1]), x.shape[1], inner, sums, wide, rows, x.shape[1], never)
        else:
            for index in range(rows):
                _copied(place(gates, (start + index) * 4 * hidden), further(sums, index * wide), 4 * hidden)
        _product(place(state, first * hidden), hidden, weights, sums, wide, rows, hidden, not never)
        for index in range(rows):
            sample, row = first + index, start + index
            here, total, added = place(gates, row * 4 * hidden), further(sums, index * wide), place(bias, 0)
            _opened(here, total, added, 2 * hidden)
            _bent(further(here, 2 * hidden), further(total, 2 * hidden), further(added, 2 * hidden), hidden)
            _opened(further(here, 3 * hidden), further(total, 3 * hidden), further(added, 3 * hidden), hidden)
            own, shown = place(cell, sample * hidden), place(out, row * hidden)
            _next_cell(own, here, hidden)
            _copied(own, place(cells, row * hidden), hidden)
            _shown(shown, own, further(here, 3 * hidden), hidden)
            _copied(shown, place(state, sample * hidden), hidden)


@_part
def _lstm_slopes(
    d: Any, towards: Any, bent: Any, gates: Any, before: Any, slopes: Any, hidden: int, one: Any
) -> None:  # fmt: skip
    """The gradients of the gates' inputs: ``d`` arrives at the hidden state, ``towards`` at the cell."""
    alone()
    wide_vectors()
    for j in range(hidden):
        i, f, g, o = get(gates, j), get(gates, hidden + j), get(gates, 2 * hidden + j), get(gates, 3 * hidden + j)
        shown, t = get(d, j), get(bent, j)
        put(slopes, 3 * hidden + j, shown * t * (o * (one - o)))
        inner = get(towards, j) + shown * o * (one - t * t)
        put(slopes, j, inner * g * (i * (one - i)))
        put(slopes, hidden + j, inner * get(before, j) * (f * (one - f)))
        put(slopes, 2 * hidden + j, inner * i * (one - g * g))
        put(towards, j, inner * f)


@_part
def _bent_cell(cell: Any, bent: Any, hidden: int) -> None:
    alone()
    wide_vectors()
    for j in range(hidden):
        put(bent, j, mathematics.tanh(get(cell, j)))


@_part
def _multiplied(one: Any, other: Any, target: Any, count: int) -> None:
    for j in range(count):
        put(target, j, get(one, j) * get(other, j))


@kernel
def lstm_back(
    first: int, last: int, room: Any, starts: Any, widths: Any, gates: Any, cells: Any, hx: Any, cx: Any, weights: Any,
    arriving: Any, state: Any, cell: Any, slopes: Any, before: Any,
) -> None:  # fmt: skip
    """The samples from ``first`` to ``last`` back through all steps, to the first states' gradients."""
    hidden = cells.shape[1]
    never = last < first  # and no constant, for each of which products would be compiled anew
    one = cells.dtype.type(1)
    steps, wide = starts.size, weights.shape[0] * weights.shape[2]
    sums = place(room, first * (wide + hidden))
    bent = place(room, first * (wide + hidden) + (last - first) * wide)
    for step in range(steps - 1, -1, -1):
        rows = min(last, widths[step]) - first
        if rows <= 0:
            continue
        for index in range(rows):
            sample, row = first + index, starts[step] + first + index
            d, here = place(state, sample * hidden), place(gates, row * 4 * hidden)
            if arriving.size:
                _added(place(arriving, row * hidden), d, hidden)
            _bent_cell(place(cells, row * hidden), bent, hidden)
            if step + 1 < steps and sample < widths[step + 1]:
                following = place(before, (starts[step + 1] + sample) * hidden)
                _multiplied(further(here, 3 * hidden), bent, following, hidden)
            if step > 0 and sample < widths[step - 1]:
                earlier = place(cells, (starts[step - 1] + sample) * hidden)
            else:
                earlier = place(cx, sample * hidden)
                _copied(place(hx, sample * hidden), place(before, row * hidden), hidden)
            towards = place(cell, sample * hidden)
            _lstm_slopes(d, towards, bent, here, earlier, place(slopes, row * 4 * hidden), hidden, one)
        start = place(slopes, (starts[step] + first) * 4 * hidden)
        _product(start, 4 * hidden, weights, sums, wide, rows, 4 * hidden, never)
        for index in range(rows):
            _copied(further(sums, index * wide), place(state, (first + index) * hidden), hidden)


# -- GRU ---------------------------------------------------------------------------------------------------------------


@_part
def _candidate(gates: Any, reset: Any, own: Any, count: int) -> None:
    alone()
    wide_vectors()
    for j in range(count):
        put(gates, j, mathematics.tanh(get(gates, j) + get(reset, j) * get(own, j)))


@_part
def _between(state: Any, gates: Any, hidden: int) -> None:
    """The new state, between the old one and the candidate."""
    alone()
    wide_vectors()
    for j in range(hidden):
        n = get(gates, 2 * hidden + j)
        put(state, j, n + get(gates, hidden + j) * (get(state, j) - n))


@kernel
def gru_there(
    first: int, last: int, room: Any, starts: Any, widths: Any, gates: Any, bias: Any, weights: Any, state: Any,
    out: Any,
    own: Any, before: Any,
) -> None:  # fmt: skip
    """The samples from ``first`` to ``last`` through all steps.

    ``gates`` holds what the input gives to each gate and takes the gates (r, z, n), ``own`` what the state gives to n,
    ``before`` the state before each step; ``bias`` is that of r and z, then the state's of n, then the input's of n.
    """
    hidden = out.shape[1]
    never = last < first  # and no constant, for each of which products would be compiled anew
    wide = weights.shape[0] * weights.shape[2]
    sums = place(room, first * wide)
    for step in range(starts.size):
        rows = min(last, widths[step]) - first
        if rows <= 0:
            continue
        _product(place(state, first * hidden), hidden, weights, sums, wide, rows, hidden, never)
        for index in range(rows):
            sample, row = first + index, starts[step] + first + index
            here, total, added = place(gates, row * 3 * hidden), further(sums, index * wide), place(bias, 0)
            current, from_state = place(state, sample * hidden), place(own, row * hidden)
            _added(here, total, 2 * hidden)
            _opened(here, total, added, 2 * hidden)
            _copied(further(total, 2 * hidden), from_state, hidden)
            _added(further(added, 2 * hidden), from_state, hidden)
            new = further(here, 2 * hidden)
            _added(further(added, 3 * hidden), new, hidden)
            _candidate(new, here, from_state, hidden)
            _copied(current, place(before, row * hidden), hidden)
            _between(current, here, hidden)
            _copied(current, place(out, row * hidden), hidden)


@_part
def _gru_slopes(d: Any, gates: Any, own: Any, before: Any, slopes: Any, hidden: int, one: Any) -> None:
    """The gradients of what the state gives to n, then of the inputs of r, z and n; what goes on past the gates."""
    alone()
    wide_vectors()
    for j in range(hidden):
        r, z, n = get(gates, j), get(gates, hidden + j), get(gates, 2 * hidden + j)
        shown = get(d, j)
        candidate = shown * (one - z) * (one - n * n)
        put(slopes, 3 * hidden + j, candidate)
        put(slopes, 2 * hidden + j, shown * (get(before, j) - n) * (z * (one - z)))
        put(slopes, j, candidate * r)
        put(slopes, hidden + j, candidate * r * get(own, j) * (one - r))
        put(d, j, shown * z)


@kernel
def gru_back(
    first: int, last: int, room: Any, starts: Any, widths: Any, gates: Any, own: Any, before: Any, weights: Any,
    arriving: Any,
    state: Any, slopes: Any,
) -> None:  # fmt: skip
    """The samples from ``first`` to ``last`` back through all steps; ``state`` ends as the gradient of the first."""
    hidden = own.shape[1]
    never = last < first  # and no constant, for each of which products would be compiled anew
    one = own.dtype.type(1)
    wide = weights.shape[0] * weights.shape[2]
    sums = place(room, first * wide)
    for step in range(starts.size - 1, -1, -1):
        rows = min(last, widths[step]) - first
        if rows <= 0:
            continue
        for index in range(rows):
            row = starts[step] + first + index
            d = place(state, (first + index) * hidden)
            if arriving.size:
                _added(place(arriving, row * hidden), d, hidden)
            _gru_slopes(
                d, place(gates, row * 3 * hidden), place(own, row * hidden), place(before, row * hidden),
                place(slopes, row * 4 * hidden), hidden, one,
            )  # fmt: skip
        start = place(slopes, (starts[step] + first) * 4 * hidden)
        _product(start, 4 * hidden, weights, sums, wide, rows, 3 * hidden, never)
        for index in range(rows):
            _added(further(sums, index * wide), place(state, (first + index) * hidden), hidden)


# -- plain units -------------------------------------------------------------------------------------------------------


@_part
def _rectified(out: Any, sums: Any, bias: Any, count: int, nought: Any) -> None:
    for j in range(count):
        x = get(sums, j) + get(bias, j)
        put(out, j, nought if x < nought else x)  # so that NaN stays


@kernel
def plain_there(
    first: int, last: int, room: Any, starts: Any, widths: Any, relu: bool, out: Any, bias: Any, weights: Any,
    state: Any,
    kept: Any,
) -> None:  # fmt: skip
    """The samples from ``first`` to ``last`` through all steps; ``out`` holds what the input gives."""
    hidden = out.shape[1]
    never = last < first  # and no constant, for each of which products would be compiled anew
    nought = out.dtype.type(0)
    wide = weights.shape[0] * weights.shape[2]
    sums = place(room, first * wide)
    for step in range(starts.size):
        rows = min(last, widths[step]) - first
        if rows <= 0:
            continue
        for index in range(rows):
            _copied(place(out, (starts[step] + first + index) * hidden), further(sums, index * wide), hidden)
        _product(place(state, first * hidden), hidden, weights, sums, wide, rows, hidden, not never)
        for index in range(rows):
            row = starts[step] + first + index
            here, total = place(out, row * hidden), further(sums, index * wide)
            if relu:
                _rectified(here, total, place(bias, 0), hidden, nought)
            else:
                _bent(here, total, place(bias, 0), hidden)
            _copied(here, place(state, (first + index) * hidden), hidden)
            _copied(here, place(kept, row * hidden), hidden)


@_part
def _plain_slopes(d: Any, kept: Any, slopes: Any, hidden: int, relu: bool, one: Any, nought: Any) -> None:
    if relu:
        for j in range(hidden):
            put(slopes, j, nought if get(kept, j) <= nought else get(d, j))
    else:
        for j in range(hidden):
            h = get(kept, j)
            put(slopes, j, get(d, j) * (one - h * h))


@kernel
def plain_back(
    first: int, last: int, room: Any, starts: Any, widths: Any, relu: bool, kept: Any, hx: Any, weights: Any,
    arriving: Any,
    state: Any, slopes: Any, before: Any,
) -> None:  # fmt: skip
    """The samples from ``first`` to ``last`` back through all steps; ``state`` ends as the gradient of the first."""
    hidden = kept.shape[1]
    never = last < first  # and no constant, for each of which products would be compiled anew
    one, nought = kept.dtype.type(1), kept.dtype.type(0)
    wide = weights.shape[0] * weights.shape[2]
    sums = place(room, first * wide)
    for step in range(starts.size - 1, -1, -1):
        rows = min(last, widths[step]) - first
        if rows <= 0:
            continue
        for index in range(rows):
            sample, row = first + index, starts[step] + first + index
            d = place(state, sample * hidden)
            if arriving.size:
                _added(place(arriving, row * hidden), d, hidden)
            if step > 0 and sample < widths[step - 1]:
                earlier = place(kept, (starts[step - 1] + sample) * hidden)
            else:
                earlier = place(hx, sample * hidden)
            _copied(earlier, place(before, row * hidden), hidden)
            _plain_slopes(d, place(kept, row * hidden), place(slopes, row * hidden), hidden, relu, one, nought)
        start = place(slopes, (starts[step] + first) * hidden)
        _product(start, hidden, weights, sums, wide, rows, hidden, never)
        for index in range(rows):
            _copied(further(sums, index * wide), place(state, (first + index) * hidden), hidden)
