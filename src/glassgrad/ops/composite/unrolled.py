"""Recurrent layers step by step, in ordinary operations: what PyTorch's graph shows, for any dtype and any order."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ...core.tensor import Tensor
from ...core.write import check_fits
from ..primitive.activation import relu
from ..primitive.index import slice
from ..primitive.join import cat, stack, unbind
from ..primitive.pointwise import sigmoid, tanh
from ..unfold import FORMS, Form
from .join import unsafe_chunk
from .matrix import linear

State = tuple[Tensor, ...]  # the hidden state, and the cell state of an LSTM
Cell = Callable[[Tensor, State], State]  # from the projected input and the state to the next state


def _plus(own: Any, other: Any) -> Any:
    """The sum, which must have the sizes of ``own``: PyTorch adds in place here."""
    total = own + other
    check_fits(own, total._array.shape)
    return total


# -- one step ----------------------------------------------------------------------------------------------------------


def lstm_gates(igates: Any, hgates: Any, cx: Any) -> State:
    """One step of an LSTM from both projections: hidden and cell state."""
    i, f, g, o = unsafe_chunk(_plus(hgates, igates), 4, 1)
    i, f, g, o = sigmoid(i), sigmoid(f), tanh(g), sigmoid(o)
    cy = f * cx + i * g
    return o * tanh(cy), cy


def gru_gates(igates: Any, hgates: Any, hx: Any) -> State:
    """One step of a GRU from both projections: the state."""
    of_input, of_state = unsafe_chunk(igates, 3, 1), unsafe_chunk(hgates, 3, 1)
    r = sigmoid(_plus(of_state[0], of_input[0]))
    z = sigmoid(_plus(of_state[1], of_input[1]))
    n = tanh(of_input[2] + of_state[2] * r)
    return ((hx - n) * z + n,)


def _cell(kind: str, w_hh: Any, b_hh: Any, w_hr: Any) -> Cell:
    def plain(projected: Any, state: State) -> State:
        total = _plus(linear(state[0], w_hh, b_hh), projected)
        return (relu(total) if kind == "relu" else tanh(total),)

    def lstm(projected: Any, state: State) -> State:
        h, c = lstm_gates(projected, linear(state[0], w_hh, b_hh), state[1])
        return (h if w_hr is None else linear(h, w_hr)), c

    def gru(projected: Any, state: State) -> State:
        return gru_gates(projected, linear(state[0], w_hh, b_hh), state[0])

    return {"lstm": lstm, "gru": gru}.get(kind, plain)


# -- a layer in one direction ------------------------------------------------------------------------------------------


def layer(
    kind: str, x: Any, params: Sequence[Any], state: State, sizes: tuple[int, ...] | None, reverse: bool
) -> tuple[Tensor, ...]:
    """The outputs of all steps and the last state; ``params`` as modules list them, None for a bias that is not."""
    w_ih, w_hh, b_ih, b_hh, w_hr = params
    step_by = _cell(kind, w_hh, b_hh, w_hr)
    projected = linear(x, w_ih, b_ih)
    if sizes is not None:
        return _packed(step_by, projected, state, sizes, reverse)
    steps = list(unbind(projected, 0))
    outputs = []
    for step in reversed(steps) if reverse else steps:
        state = step_by(step, state)
        outputs.append(state[0])
    if reverse:
        outputs.reverse()
    return stack(outputs, 0), *state


def _packed(step_by: Cell, projected: Any, state: State, sizes: tuple[int, ...], reverse: bool) -> tuple[Tensor, ...]:
    """The same for samples of several lengths, the longest first: ``sizes`` tells how many have each step."""
    starts = [0]
    for size in sizes:
        starts.append(starts[-1] + size)
    outputs: list[Tensor] = []
    ended: list[State] = []
    waiting = state
    width = sizes[-1] if reverse else sizes[0]
    state = _part(waiting, 0, width) if reverse else state
    for step in range(len(sizes) - 1, -1, -1) if reverse else range(len(sizes)):
        size = sizes[step]
        if size > width:  # on the way from the end samples join
            state = _joined([state, _part(waiting, width, size)])
        elif size < width:  # on the way from the start they leave
            ended.append(_part(state, size, width))
            state = _part(state, 0, size)
        width = size
        state = step_by(_narrow(projected, starts[step], starts[step + 1]), state)
        outputs.append(state[0])
    if reverse:
        outputs.reverse()
        return cat(outputs, 0), *state
    return cat(outputs, 0), *_joined([state, *reversed(ended)])


def _narrow(tensor: Any, start: int, end: int) -> Any:
    return slice(tensor, 0, start, end, 1)


def _part(state: State, start: int, end: int) -> State:
    return tuple(_narrow(tensor, start, end) for tensor in state)


def _joined(states: Sequence[State]) -> State:
    return tuple(cat(list(tensors), 0) for tensors in zip(*states, strict=True))


# -- what the fused rows stand for -------------------------------------------------------------------------------------


def _form(kind: str, states: int) -> Callable[..., tuple[Tensor, ...]]:
    def form(*arguments: Any) -> tuple[Tensor, ...]:
        x, w_ih, w_hh, b_ih, b_hh, *rest, sizes, reverse, biased = arguments
        state, projection = tuple(rest[:states]), rest[states:]
        params = (w_ih, w_hh, b_ih if biased else None, b_hh if biased else None, projection[0] if projection else None)
        return layer(kind, x, params, state, sizes, reverse)

    return form


def _plain(*arguments: Any) -> tuple[Tensor, ...]:
    *others, is_relu = arguments
    return _form("relu" if is_relu else "tanh", 1)(*others)


FORMS["lstm"], FORMS["gru"], FORMS["rnn"] = Form(_form("lstm", 2), 1), Form(_form("gru", 1), 1), Form(_plain, 1)
FORMS["lstm_gates"] = Form(lstm_gates, 2)
FORMS["gru_gates"] = Form(gru_gates, 1)
