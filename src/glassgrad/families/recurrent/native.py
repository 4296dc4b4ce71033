"""Whole sequences of an LSTM, a GRU and plain units, and back: all steps in one call, which samples are shared out to.

What the input gives to the gates is one product for all steps, and so are the gradients of the weights; what is
left for a step is the product with the state, whose weights stay in the cache. For an LSTM whose input has few
features, so do the input's: then its product too is left to the step, which looks at the gates while they are in
the cache.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ...kernels.native import tiles
from ...kernels.native.binding import shared_out
from ..matrix.native import dot
from . import gates as gates_of

Array = np.ndarray[Any, Any]
f4, f8 = np.float32, np.float64
_FITTING = 1 << 20  # bytes of weights that stay in a core's cache beside those of the state


def _walk(way: Any, shape: tuple[int, ...]) -> tuple[Array, Array]:
    """Where the rows of each step start, and how many they are, in the order of the walk."""
    if way.sizes is None:
        widths = np.full(shape[0], shape[1], np.intp)
    else:
        widths = np.array(way.sizes, np.intp)
    starts = np.cumsum(widths) - widths
    return (starts[::-1].copy(), widths[::-1].copy()) if way.reverse else (starts, widths)


def _rows(array: Array, kind: Any) -> Array:
    """All steps' rows below each other, contiguous."""
    rows: Array = np.ascontiguousarray(array, kind).reshape(-1, array.shape[-1])
    return rows


def _arriving(grad: Array | None, kind: Any, hidden: int) -> Array:
    return np.empty((0, hidden), kind) if grad is None else _rows(grad, kind)


def _last(grad: Array | None, like: Array) -> Array:
    """A copy of the gradient of the last state: zeros where none came."""
    return np.zeros(like.shape, like.dtype) if grad is None else np.array(grad, order="C")


def _served(x: Array) -> bool:
    return x.dtype == f4 or x.dtype == f8


def _shared_out(kernel: Any, batch: int, rows: int, hidden: int, weights: Array, *arguments: Any) -> None:
    """Share out ``batch`` samples; each has room for a row of products, and for one more."""
    wide = weights.shape[0] * weights.shape[2]
    room = np.empty(batch * (wide + hidden), weights.dtype)
    shared_out(kernel, batch, rows * weights.size >> 5, room, *arguments, grain=tiles.HEIGHT)


def _input_to_gates(x: Array, w_ih: Array, out: Array) -> None:
    """What the input gives to the gates of all steps."""
    dot(_rows(x, x.dtype), w_ih.T, out=out)


def _of_input(slopes: Array, w_ih: Array, x: Array) -> Array:
    """The gradient of the input, in memory of its own shape: who keeps it need not copy it."""
    grad = np.empty(x.shape, x.dtype)
    dot(slopes, w_ih, out=grad.reshape(len(slopes), -1))
    return grad


def lstm_forward(
    way: Any, keep: bool, x: Array, w_ih: Array, w_hh: Array, b_ih: Array, b_hh: Array, hx: Array, cx: Array
) -> tuple[Array, Array, Array, Array] | None:
    """Output of all steps, last hidden and cell state; the gates and cell states of all steps, if ``keep``."""
    if not _served(x):
        return None
    hidden, (starts, widths) = w_hh.shape[1], _walk(way, x.shape)
    rows = x.size // x.shape[-1]
    reserve = np.empty((5 * rows, hidden), x.dtype)
    gates, cells = reserve[: 4 * rows].reshape(rows, 4 * hidden), reserve[4 * rows :]
    out = np.empty((*x.shape[:-1], hidden), x.dtype)
    state, cell = np.array(hx, order="C"), np.array(cx, order="C")
    weights, inputs = tiles.packed(w_hh.T), _rows(x, x.dtype)
    if len(hx) >= tiles.HEIGHT and w_ih.nbytes <= _FITTING:
        inner = tiles.packed(w_ih.T)
    else:
        inner = np.empty((0, 0, 0), x.dtype)
        dot(inputs, w_ih.T, out=gates)
    _shared_out(
        gates_of.lstm_there, len(hx), rows, hidden, weights, starts, widths, inputs, inner, gates, b_ih + b_hh,
        weights, state,
        cell, out.reshape(rows, hidden), cells,
    )  # fmt: skip
    return out, state, cell, reserve if keep else np.empty((0, hidden), x.dtype)


def lstm_backward(
    way: Any, needs: tuple[bool, ...], grad_out: Array | None, grad_h: Array | None, grad_c: Array | None,
    reserve: Array, x: Array, w_ih: Array, w_hh: Array, b_ih: Array, b_hh: Array, hx: Array, cx: Array,
) -> list[Array | None]:  # fmt: skip
    """The gradients of input, weights, biases and both first states, where ``needs`` says so."""
    hidden, (starts, widths) = w_hh.shape[1], _walk(way, x.shape)
    kind, rows = x.dtype, len(reserve) // 5
    gates, cells = reserve[: 4 * rows].reshape(rows, 4 * hidden), reserve[4 * rows :]
    state, cell = _last(grad_h, hx), _last(grad_c, cx)
    slopes, before = np.empty((rows, 4 * hidden), kind), np.empty((rows, hidden), kind)
    weights = tiles.packed(w_hh)
    _shared_out(
        gates_of.lstm_back, len(hx), rows, hidden, weights, starts, widths, gates, cells, np.ascontiguousarray(hx),
        np.ascontiguousarray(cx), weights, _arriving(grad_out, kind, hidden), state, cell, slopes, before,
    )  # fmt: skip
    grads = [_of_input(slopes, w_ih, x) if needs[0] else None, *_of_weights(slopes, x, before, needs)]
    return [*grads, state, cell, None]


def _of_weights(slopes: Array, x: Array, before: Array, needs: tuple[bool, ...]) -> list[Array | None]:
    """The gradients of both weights, and of both biases."""
    grads: list[Array | None] = [None] * 4
    if needs[1]:
        grads[0] = dot(slopes.T, _rows(x, x.dtype))
    if needs[2]:
        grads[1] = dot(slopes.T, before)
    if needs[3] or needs[4]:
        sums = np.ones(len(slopes), slopes.dtype).dot(slopes)
        grads[2], grads[3] = sums, sums.copy()
    return grads


def gru_forward(
    way: Any, x: Array, w_ih: Array, w_hh: Array, b_ih: Array, b_hh: Array, hx: Array
) -> tuple[Array, Array, Array] | None:
    """Output of all steps, last state; the gates of all steps, what the state gives to n, and the states before."""
    if not _served(x):
        return None
    hidden, (starts, widths) = w_hh.shape[1], _walk(way, x.shape)
    rows = x.size // x.shape[-1]
    reserve = np.empty((5 * rows, hidden), x.dtype)
    gates, own, before = _gru_parts(reserve)
    out = np.empty((*x.shape[:-1], hidden), x.dtype)
    state = np.array(hx, order="C")
    _input_to_gates(x, w_ih, gates)
    bias = np.concatenate([b_ih[: 2 * hidden] + b_hh[: 2 * hidden], b_hh[2 * hidden :], b_ih[2 * hidden :]])
    weights = tiles.packed(w_hh.T)
    _shared_out(
        gates_of.gru_there, len(hx), rows, hidden, weights, starts, widths, gates, bias, weights, state,
        out.reshape(rows, hidden),
        own, before,
    )  # fmt: skip
    return out, state, reserve


def _gru_parts(reserve: Array) -> tuple[Array, Array, Array]:
    size, hidden = reserve.shape
    rows = size // 5
    return reserve[: 3 * rows].reshape(rows, 3 * hidden), reserve[3 * rows : 4 * rows], reserve[4 * rows :]


def gru_backward(
    way: Any, needs: tuple[bool, ...], grad_out: Array | None, grad_h: Array | None, x: Array, w_ih: Array,
    w_hh: Array, b_ih: Array, b_hh: Array, hx: Array, reserve: Array,
) -> list[Array | None]:  # fmt: skip
    """The gradients of input, weights, biases and first state, where ``needs`` says so."""
    hidden, (starts, widths) = w_hh.shape[1], _walk(way, x.shape)
    gates, own, before = _gru_parts(reserve)
    rows = len(own)
    state = _last(grad_h, hx)
    slopes = np.empty((rows, 4 * hidden), x.dtype)  # n's state part, r, z, n's input part
    weights = tiles.packed(np.concatenate([w_hh[2 * hidden :], w_hh[: 2 * hidden]]))
    _shared_out(
        gates_of.gru_back, len(hx), rows, hidden, weights, starts, widths, gates, own, before, weights,
        _arriving(grad_out, x.dtype, hidden), state, slopes,
    )  # fmt: skip
    grads: list[Array | None] = [None, None, None, None, None, state]
    inner = slopes[:, hidden:]
    if needs[0]:
        grads[0] = _of_input(inner, w_ih, x)
    if needs[1]:
        grads[1] = dot(inner.T, _rows(x, x.dtype))
    if needs[2]:
        grads[2] = _in_order(dot(slopes[:, : 3 * hidden].T, before), hidden)
    if needs[3] or needs[4]:
        sums = np.ones(rows, x.dtype).dot(slopes)
        grads[3], grads[4] = sums[hidden:].copy(), _in_order(sums[: 3 * hidden], hidden)
    return grads


def _in_order(turned: Array, hidden: int) -> Array:
    """The parts for r, z and n, of which the last came first."""
    return np.concatenate([turned[hidden:], turned[:hidden]])


def rnn_forward(
    way: Any, relu: bool, x: Array, w_ih: Array, w_hh: Array, b_ih: Array, b_hh: Array, hx: Array
) -> tuple[Array, Array, Array] | None:
    """Output of all steps, last state, and the output once more."""
    if not _served(x):
        return None
    hidden, (starts, widths) = w_hh.shape[1], _walk(way, x.shape)
    out = np.empty((*x.shape[:-1], hidden), x.dtype)
    flat = out.reshape(-1, hidden)
    kept, state = np.empty_like(flat), np.array(hx, order="C")
    _input_to_gates(x, w_ih, flat)
    weights = tiles.packed(w_hh.T)
    _shared_out(
        gates_of.plain_there, len(hx), len(flat), hidden, weights, starts, widths, relu, flat, b_ih + b_hh, weights,
        state, kept,
    )  # fmt: skip
    return out, state, kept


def rnn_backward(
    way: Any, relu: bool, needs: tuple[bool, ...], grad_out: Array | None, grad_h: Array | None, x: Array,
    w_ih: Array, w_hh: Array, b_ih: Array, b_hh: Array, hx: Array, kept: Array,
) -> list[Array | None]:  # fmt: skip
    """The gradients of input, weights, biases and first state, where ``needs`` says so."""
    hidden, (starts, widths) = w_hh.shape[1], _walk(way, x.shape)
    state, slopes, before = _last(grad_h, hx), np.empty_like(kept), np.empty_like(kept)
    weights = tiles.packed(w_hh)
    _shared_out(
        gates_of.plain_back, len(hx), len(kept), hidden, weights, starts, widths, relu, np.ascontiguousarray(kept),
        np.ascontiguousarray(hx), weights, _arriving(grad_out, x.dtype, hidden), state, slopes, before,
    )  # fmt: skip
    by_input = _of_input(slopes, w_ih, x) if needs[0] else None
    return [by_input, *_of_weights(slopes, x, before, needs), state]
