"""Whole sequences through a recurrent layer, and back: tanh or ReLU units, LSTM, GRU; knows arrays only.

Inside, a step is a matrix whose columns are the samples: (features, batch).  So every gate of a step is one piece of
memory, and a step is one product of matrices and a few ufuncs that write in place.  The input, the hidden state and a
row of ones lie below each other, so that one product adds both projections and both biases.  A sigmoid is a tangent,
``sigmoid(x) = tanh(x / 2) / 2 + 1 / 2``, the first half put into the weights: one call serves all gates, without
overflow.

A packed batch is taken in *runs* of steps with equally many samples.  ``state`` holds the columns of all samples: a run
takes those it has, and leaves them where the next one, longer or shorter in samples, finds them.

``reserve`` is what the way back needs of the way there, as one flat array; a matrix is the reserve of the compiled
kernels, which take over where there is enough to compute.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import prod
from typing import Any, NamedTuple

import numpy as np

from ...kernels import compiled
from ...kernels.choose import BITS

Array = np.ndarray[Any, Any]


class Run(NamedTuple):
    """Consecutive steps of one width: the first row in the packed input, how many steps, how many samples."""

    start: int
    steps: int
    width: int


def runs_of(shape: tuple[int, ...], sizes: tuple[int, ...] | None) -> list[Run]:
    """The runs of an input of ``shape``: one, unless ``sizes`` tells the number of samples at each step."""
    if sizes is None:
        return [Run(0, shape[0], shape[1])]
    runs: list[Run] = []
    start = at = 0
    while at < len(sizes):
        end = at
        while end < len(sizes) and sizes[end] == sizes[at]:
            end += 1
        runs.append(Run(start, end - at, sizes[at]))
        start += (end - at) * sizes[at]
        at = end
    return runs


def _steps_of(rows: Array, run: Run, reverse: bool) -> Array:
    """The part of ``rows`` (steps, batch, features; or packed) that belongs to a run, in the order it is walked."""
    if rows.ndim == 2:
        rows = rows[run.start : run.start + run.steps * run.width].reshape(run.steps, run.width, rows.shape[1])
    return rows[::-1] if reverse else rows


def _columns_of(matrix: Array, run: Run, reverse: bool) -> Array:
    """The columns of a matrix (features, all steps and samples) that belong to a run: (features, steps, batch)."""
    part = matrix[:, run.start : run.start + run.steps * run.width].reshape(-1, run.steps, run.width)
    return part[:, ::-1] if reverse else part


class Reserve:
    """A flat array, handed out piece by piece in the same order on both ways."""

    def __init__(self, flat: Array) -> None:
        self.flat, self.at = flat, 0

    def take(self, *shape: int) -> Array:
        """The next piece, in ``shape``."""
        size = prod(shape)
        self.at += size
        return self.flat[self.at - size : self.at].reshape(shape)


def _pieces(kind: str, run: Run, features: int, hidden: int, shown: int) -> tuple[tuple[int, ...], ...]:
    """The shapes of what a run keeps; ``features`` and ``shown`` are the sizes of its input and output."""
    steps, width = run.steps, run.width
    if kind == "gru":
        gates = (steps, 3 * hidden, width)
        return (steps, features + 1, width), (steps + 1, hidden + 1, width), gates, gates
    below = (steps + 1, features + shown + 1, width)
    if kind == "lstm":
        return below, (steps + 1, 5 * hidden, width), (steps, hidden, width)
    return (below,)


def _reserve(kind: str, runs: list[Run], sizes: tuple[int, int, int], dtype: Any) -> Reserve:
    return Reserve(np.empty(sum(prod(piece) for run in runs for piece in _pieces(kind, run, *sizes)), dtype))


def _beside(*parts: Array) -> Array:
    """Matrices side by side, and a vector as the last column."""
    return np.concatenate([part[:, None] if part.ndim == 1 else part for part in parts], axis=1)


def _lay(below: Array, steps: Array) -> None:
    """Put the input of all steps into the first rows, ones into the last."""
    below[: len(steps), : steps.shape[2]] = steps.transpose(0, 2, 1)
    below[:, -1] = 1


class Way(NamedTuple):
    """How one layer walks one direction: the samples of each step if packed, and whether from the end."""

    sizes: tuple[int, ...] | None
    reverse: bool

    def there(self, shape: tuple[int, ...]) -> Iterator[Run]:
        """The runs in the order of the forward walk."""
        runs = runs_of(shape, self.sizes)
        return reversed(runs) if self.reverse else iter(runs)

    def back(self, shape: tuple[int, ...]) -> Iterator[Run]:
        """The runs in the order of the backward walk."""
        runs = runs_of(shape, self.sizes)
        return iter(runs) if self.reverse else reversed(runs)


def _results(x: Array, shown: int) -> Array:
    return np.empty((*x.shape[:-1], shown), x.dtype)


# -- plain units -------------------------------------------------------------------------------------------------------


def rnn_forward(
    way: Way, relu: bool, x: Array, w_ih: Array, w_hh: Array, b_ih: Array, b_hh: Array, hx: Array
) -> tuple[Array, Array, Array]:
    """Output of all steps, last state, reserve."""
    if x.size // x.shape[-1] * w_hh.size >= compiled.least:
        results = compiled.recurrent.rnn_forward(way, relu, x, w_ih, w_hh, b_ih, b_hh, hx)
        if results is not None:
            return results  # type: ignore[no-any-return]
    hidden, features = w_ih.shape
    weights = _beside(w_ih, w_hh, b_ih + b_hh)
    state = np.array(hx.T)
    out = _results(x, hidden)
    runs = list(way.there(x.shape))
    reserve = _reserve("rnn", runs, (features, hidden, hidden), x.dtype)
    for run in runs:
        (below,) = (reserve.take(*shape) for shape in _pieces("rnn", run, features, hidden, hidden))
        _lay(below, _steps_of(x, run, way.reverse))
        below[0, features : features + hidden] = state[:, : run.width]
        states = below[:, features : features + hidden]
        for step in range(run.steps):
            h = states[step + 1]
            np.matmul(weights, below[step], out=h)
            if relu:
                np.maximum(h, 0, out=h)
            else:
                np.tanh(h, out=h)
        _steps_of(out, run, way.reverse)[...] = states[1:].transpose(0, 2, 1)
        state[:, : run.width] = states[run.steps]
    return out, np.array(state.T), reserve.flat


def rnn_backward(
    way: Way, relu: bool, needs: tuple[bool, ...], grad_out: Array | None, grad_h: Array | None, x: Array,
    w_ih: Array, w_hh: Array, b_ih: Array, b_hh: Array, hx: Array, flat: Array,
) -> list[Array | None]:  # fmt: skip
    """The gradients of input, weights, biases and first state, where ``needs`` says so."""
    if flat.ndim == 2:
        return compiled.recurrent.rnn_backward(  # type: ignore[no-any-return]
            way, relu, needs, grad_out, grad_h, x, w_ih, w_hh, b_ih, b_hh, hx, flat
        )
    hidden, features = w_ih.shape
    flow = _Flow(grad_out, hx.shape[0], x)
    dh = flow.states(grad_h, hidden)
    gates = np.empty((hidden, flow.count), x.dtype)
    below_all = np.empty((features + hidden + 1, flow.count), x.dtype) if any(needs[1:5]) else None
    w_back = np.ascontiguousarray(w_hh.T)
    pieces = _kept(flat, "rnn", way, x.shape, (features, hidden, hidden))
    for run in way.back(x.shape):
        (below,) = pieces[run]
        states = below[1:, features : features + hidden]
        d = np.ascontiguousarray(dh[:, : run.width])
        if relu:  # all bits of a gradient pass, or none: infinity times zero would be no number
            passes = -(~(states <= 0)).astype(BITS[x.itemsize])
            slope, arriving = passes.view(x.dtype), d.view(passes.dtype)
        else:
            slope = 1 - states * states
        towards = flow.towards(run, way.reverse)
        for step in range(run.steps - 1, -1, -1):
            if towards is not None:
                d += towards[step]
            g = slope[step]
            if relu:
                passed = passes[step]
                passed &= arriving
            else:
                g *= d
            np.matmul(w_back, g, out=d)
        dh[:, : run.width] = d
        _columns_of(gates, run, way.reverse)[...] = slope.transpose(1, 0, 2)
        if below_all is not None:
            _columns_of(below_all, run, way.reverse)[...] = below[:-1].transpose(1, 0, 2)
    return [*_of_weights(gates, below_all, x, w_ih, features, hidden, needs), np.array(dh.T)]


# -- LSTM --------------------------------------------------------------------------------------------------------------


def lstm_forward(
    way: Way, keep: bool, x: Array, w_ih: Array, w_hh: Array, b_ih: Array, b_hh: Array, hx: Array, cx: Array,
    w_hr: Array | None = None,
) -> tuple[Array, Array, Array, Array]:  # fmt: skip
    """Output of all steps, last hidden and cell state, reserve (of use only if ``keep``)."""
    if w_hr is None and x.size // x.shape[-1] * w_hh.size >= compiled.least:
        results = compiled.recurrent.lstm_forward(way, keep, x, w_ih, w_hh, b_ih, b_hh, hx, cx)
        if results is not None:
            return results  # type: ignore[no-any-return]
    features, hidden, shown = w_ih.shape[1], w_ih.shape[0] // 4, w_hh.shape[1]
    order = [slice(0, 2 * hidden), slice(3 * hidden, 4 * hidden), slice(2 * hidden, 3 * hidden)]  # i, f, o, g
    weights = _beside(w_ih, w_hh, b_ih + b_hh)
    weights = np.concatenate([weights[rows] for rows in order])
    weights[: 3 * hidden] *= x.dtype.type(0.5)
    half = x.dtype.type(0.5)
    state, cells = np.array(hx.T), np.array(cx.T)
    out = _results(x, shown)
    runs = list(way.there(x.shape))
    sizes = (features, hidden, shown)
    reserve = _reserve("lstm", runs if keep else [], sizes, x.dtype)
    multiply, matmul, tanh, add = np.multiply, np.matmul, np.tanh, np.add
    for run in runs:
        shapes = _pieces("lstm", run, *sizes)
        if keep:
            below, gates, bent = [reserve.take(*shape) for shape in shapes]
        else:  # nothing is looked at again: two steps' memory serves for all
            below = np.empty(shapes[0], x.dtype)
            two, one = np.empty((2, *shapes[1][1:]), x.dtype), np.empty(shapes[2][1:], x.dtype)
            gates, bent = [two[step % 2] for step in range(run.steps + 1)], [one] * run.steps  # type: ignore[assignment]
        _lay(below, _steps_of(x, run, way.reverse))
        states = below[:, features : features + shown]
        states[0] = state[:, : run.width]
        gates[0][4 * hidden :] = cells[:, : run.width]
        both = np.empty((2 * hidden, run.width), x.dtype)
        first, second = both[:hidden], both[hidden:]
        for step in range(run.steps):
            row = gates[step]
            four, three = row[: 4 * hidden], row[: 3 * hidden]
            matmul(weights, below[step], out=four)
            tanh(four, out=four)
            multiply(three, half, out=three)
            add(three, half, out=three)
            multiply(row[: 2 * hidden], row[3 * hidden :], out=both)  # i * g and f * c
            c = gates[step + 1][4 * hidden :]
            add(first, second, out=c)
            tanh(c, out=bent[step])
            if w_hr is None:
                multiply(row[2 * hidden : 3 * hidden], bent[step], out=states[step + 1])
            else:
                multiply(row[2 * hidden : 3 * hidden], bent[step], out=first)
                matmul(w_hr, first, out=states[step + 1])
        _steps_of(out, run, way.reverse)[...] = states[1:].transpose(0, 2, 1)
        state[:, : run.width] = states[run.steps]
        cells[:, : run.width] = gates[run.steps][4 * hidden :]
    return out, np.array(state.T), np.array(cells.T), reserve.flat


def lstm_backward(
    way: Way, needs: tuple[bool, ...], grad_out: Array | None, grad_h: Array | None, grad_c: Array | None, flat: Array,
    x: Array, w_ih: Array, w_hh: Array, b_ih: Array, b_hh: Array, hx: Array, cx: Array, w_hr: Array | None = None,
) -> list[Array | None]:  # fmt: skip
    """The gradients of input, weights, biases, both first states and the projection, where ``needs`` says so."""
    if flat.ndim == 2:
        return compiled.recurrent.lstm_backward(  # type: ignore[no-any-return]
            way, needs, grad_out, grad_h, grad_c, flat, x, w_ih, w_hh, b_ih, b_hh, hx, cx
        )
    features, hidden, shown = w_ih.shape[1], w_ih.shape[0] // 4, w_hh.shape[1]
    flow = _Flow(grad_out, hx.shape[0], x)
    dh, dc = flow.states(grad_h, shown), flow.states(grad_c, hidden)
    gates = np.empty((4 * hidden, flow.count), x.dtype)
    below_all = np.empty((features + shown + 1, flow.count), x.dtype) if any(needs[1:5]) else None
    projecting = w_hr is not None and needs[7]
    shown_all = np.empty((shown, flow.count), x.dtype) if projecting else None
    inner_all = np.empty((hidden, flow.count), x.dtype) if projecting else None
    w_back = np.ascontiguousarray(w_hh.T)
    p_back = None if w_hr is None else np.ascontiguousarray(w_hr.T)
    pieces = _kept(flat, "lstm", way, x.shape, (features, hidden, shown))
    one = x.dtype.type(1)
    multiply, matmul, add = np.multiply, np.matmul, np.add
    for run in way.back(x.shape):
        below, kept, bent = pieces[run]
        i, f, o, g, c = (kept[:-1, at * hidden : (at + 1) * hidden] for at in range(5))
        # what multiplies the gradients of cell (i, f, g) and output (o), for all steps at once
        slope = np.empty((run.steps, 4 * hidden, run.width), x.dtype)
        si, sf, sg, so = (slope[:, at * hidden : (at + 1) * hidden] for at in range(4))
        np.subtract(one, kept[:-1, : 2 * hidden], out=slope[:, : 2 * hidden])
        slope[:, : 2 * hidden] *= kept[:-1, : 2 * hidden]
        si *= g
        sf *= c
        multiply(g, g, out=sg)
        np.subtract(one, sg, out=sg)
        sg *= i
        np.subtract(one, o, out=so)
        so *= o
        so *= bent
        through = bent * bent
        np.subtract(one, through, out=through)
        through *= o
        towards = flow.towards(run, way.reverse)
        d, cell = np.ascontiguousarray(dh[:, : run.width]), np.ascontiguousarray(dc[:, : run.width])
        arrived = np.empty((run.steps, shown, run.width), x.dtype) if projecting else None
        inner = d if p_back is None else np.empty((hidden, run.width), x.dtype)
        scratch = np.empty((hidden, run.width), x.dtype)
        by_gate = slope.reshape(run.steps, 4, hidden, run.width)
        for step in range(run.steps - 1, -1, -1):
            if towards is not None:
                add(d, towards[step], out=d)
            if p_back is not None:
                if arrived is not None:
                    arrived[step] = d
                matmul(p_back, d, out=inner)
            here, last = by_gate[step, :3], so[step]
            multiply(last, inner, out=last)
            multiply(inner, through[step], out=scratch)
            add(cell, scratch, out=cell)
            multiply(here, cell, out=here)
            multiply(cell, f[step], out=cell)
            matmul(w_back, slope[step], out=d)
        dh[:, : run.width], dc[:, : run.width] = d, cell
        _columns_of(gates, run, way.reverse)[...] = slope.transpose(1, 0, 2)
        if below_all is not None:
            _columns_of(below_all, run, way.reverse)[...] = below[:-1].transpose(1, 0, 2)
        if arrived is not None:
            _columns_of(shown_all, run, way.reverse)[...] = arrived.transpose(1, 0, 2)  # type: ignore[arg-type]
            _columns_of(inner_all, run, way.reverse)[...] = (o * bent).transpose(1, 0, 2)  # type: ignore[arg-type]
    grads = _of_weights(gates, below_all, x, w_ih, features, shown, needs)
    projection = shown_all.dot(inner_all.T) if shown_all is not None and inner_all is not None else None
    return [*grads, np.array(dh.T), np.array(dc.T), projection]


# -- GRU ---------------------------------------------------------------------------------------------------------------


def gru_forward(
    way: Way, x: Array, w_ih: Array, w_hh: Array, b_ih: Array, b_hh: Array, hx: Array
) -> tuple[Array, Array, Array]:
    """Output of all steps, last state, reserve."""
    if x.size // x.shape[-1] * w_hh.size >= compiled.least:
        results = compiled.recurrent.gru_forward(way, x, w_ih, w_hh, b_ih, b_hh, hx)
        if results is not None:
            return results  # type: ignore[no-any-return]
    features, hidden = w_ih.shape[1], w_hh.shape[1]
    half = x.dtype.type(0.5)
    w_in, w_state = _beside(w_ih, b_ih), _beside(w_hh, b_hh)
    w_in[: 2 * hidden] *= half
    w_state[: 2 * hidden] *= half
    state = np.array(hx.T)
    out = _results(x, hidden)
    runs = list(way.there(x.shape))
    sizes = (features, hidden, hidden)
    reserve = _reserve("gru", runs, sizes, x.dtype)
    multiply, matmul, tanh, add, subtract = np.multiply, np.matmul, np.tanh, np.add, np.subtract
    for run in runs:
        below, above, gates, sums = (reserve.take(*shape) for shape in _pieces("gru", run, *sizes))
        _lay(below, _steps_of(x, run, way.reverse))
        above[:, -1] = 1
        states = above[:, :hidden]
        states[0] = state[:, : run.width]
        matmul(w_in, below, out=gates)
        scratch = np.empty((hidden, run.width), x.dtype)
        for step in range(run.steps):
            row, from_state = gates[step], sums[step]
            two, r, z, n = row[: 2 * hidden], row[:hidden], row[hidden : 2 * hidden], row[2 * hidden :]
            matmul(w_state, above[step], out=from_state)
            add(two, from_state[: 2 * hidden], out=two)
            tanh(two, out=two)
            multiply(two, half, out=two)
            add(two, half, out=two)
            multiply(r, from_state[2 * hidden :], out=scratch)
            add(n, scratch, out=n)
            tanh(n, out=n)
            subtract(states[step], n, out=scratch)
            multiply(scratch, z, out=scratch)
            add(n, scratch, out=states[step + 1])
        _steps_of(out, run, way.reverse)[...] = states[1:].transpose(0, 2, 1)
        state[:, : run.width] = states[run.steps]
    return out, np.array(state.T), reserve.flat


def gru_backward(
    way: Way, needs: tuple[bool, ...], grad_out: Array | None, grad_h: Array | None, x: Array, w_ih: Array, w_hh: Array,
    b_ih: Array, b_hh: Array, hx: Array, flat: Array,
) -> list[Array | None]:  # fmt: skip
    """The gradients of input, weights, biases and first state, where ``needs`` says so."""
    if flat.ndim == 2:
        return compiled.recurrent.gru_backward(  # type: ignore[no-any-return]
            way, needs, grad_out, grad_h, x, w_ih, w_hh, b_ih, b_hh, hx, flat
        )
    features, hidden = w_ih.shape[1], w_hh.shape[1]
    flow = _Flow(grad_out, hx.shape[0], x)
    dh = flow.states(grad_h, hidden)
    gates = np.empty((4 * hidden, flow.count), x.dtype)  # n's state part, r, z, n's input part
    below_all = np.empty((features + 1, flow.count), x.dtype) if needs[1] or needs[3] else None
    above_all = np.empty((hidden + 1, flow.count), x.dtype) if needs[2] or needs[4] else None
    turned = np.concatenate([w_hh[2 * hidden :], w_hh[: 2 * hidden]])
    w_back = np.ascontiguousarray(turned.T)
    pieces = _kept(flat, "gru", way, x.shape, (features, hidden, hidden))
    one = x.dtype.type(1)
    multiply, matmul, add, subtract = np.multiply, np.matmul, np.add, np.subtract
    for run in way.back(x.shape):
        below, above, kept, sums = pieces[run]
        r, z, n = (kept[:, at * hidden : (at + 1) * hidden] for at in range(3))
        before = above[:-1, :hidden]
        slope = np.empty((run.steps, 4, hidden, run.width), x.dtype)
        s_state, s_r, s_z, s_n = (slope[:, at] for at in range(4))
        multiply(n, n, out=s_n)
        subtract(one, s_n, out=s_n)
        left = one - z
        s_n *= left
        subtract(before, n, out=s_z)
        s_z *= z
        s_z *= left
        multiply(s_n, r, out=s_state)
        subtract(one, r, out=s_r)
        s_r *= s_state
        s_r *= sums[:, 2 * hidden :]
        towards = flow.towards(run, way.reverse)
        d = np.ascontiguousarray(dh[:, : run.width])
        scratch = np.empty((hidden, run.width), x.dtype)
        flat_slope = slope.reshape(run.steps, 4 * hidden, run.width)
        for step in range(run.steps - 1, -1, -1):
            if towards is not None:
                add(d, towards[step], out=d)
            here = slope[step]
            multiply(here, d, out=here)
            multiply(d, z[step], out=d)
            matmul(w_back, flat_slope[step, : 3 * hidden], out=scratch)
            add(d, scratch, out=d)
        dh[:, : run.width] = d
        _columns_of(gates, run, way.reverse)[...] = flat_slope.transpose(1, 0, 2)
        if below_all is not None:
            _columns_of(below_all, run, way.reverse)[...] = below.transpose(1, 0, 2)
        if above_all is not None:
            _columns_of(above_all, run, way.reverse)[...] = above[:-1].transpose(1, 0, 2)
    grads: list[Array | None] = [None] * 5
    if needs[0]:
        grads[0] = gates[hidden:].T.dot(w_ih).reshape(x.shape)
    if below_all is not None:
        weights = gates[hidden:].dot(below_all.T)
        grads[1] = np.array(weights[:, :features])
        grads[3] = np.array(weights[:, -1])
    if above_all is not None:
        weights = gates[: 3 * hidden].dot(above_all.T)
        weights = np.concatenate([weights[hidden:], weights[:hidden]])
        grads[2] = np.array(weights[:, :hidden])
        grads[4] = np.array(weights[:, -1])
    return [*grads, np.array(dh.T)]


# -- what the ways back share ------------------------------------------------------------------------------------------


class _Flow:
    """The gradients that arrive from above."""

    def __init__(self, grad_out: Array | None, batch: int, x: Array) -> None:
        self.grad_out, self.batch, self.dtype = grad_out, batch, x.dtype
        self.count = x.shape[0] if x.ndim == 2 else x.shape[0] * x.shape[1]

    def states(self, grad: Array | None, size: int) -> Array:
        """The gradient of the last state, as columns; zeros where none came."""
        return np.zeros((size, self.batch), self.dtype) if grad is None else np.array(grad.T, order="C")

    def towards(self, run: Run, reverse: bool) -> Array | None:
        """The gradients of a run's outputs, as columns."""
        if self.grad_out is None:
            return None
        return np.ascontiguousarray(_steps_of(self.grad_out, run, reverse).transpose(0, 2, 1))


def _kept(
    flat: Array, kind: str, way: Way, shape: tuple[int, ...], sizes: tuple[int, int, int]
) -> dict[Run, list[Array]]:
    """What each run kept."""
    reserve = Reserve(flat)
    return {run: [reserve.take(*piece) for piece in _pieces(kind, run, *sizes)] for run in way.there(shape)}


def _of_weights(
    gates: Array, below: Array | None, x: Array, w_ih: Array, features: int, shown: int,
    needs: tuple[bool, ...],
) -> list[Array | None]:  # fmt: skip
    """The gradients of input, both weights and both biases: products over all steps at once."""
    grads: list[Array | None] = [None] * 5
    if needs[0]:
        grads[0] = gates.T.dot(w_ih).reshape(x.shape)
    if below is not None:
        weights = gates.dot(below.T)
        grads[1] = np.array(weights[:, :features])
        grads[2] = np.array(weights[:, features : features + shown])
        grads[3], grads[4] = np.array(weights[:, -1]), np.array(weights[:, -1])
    return grads
