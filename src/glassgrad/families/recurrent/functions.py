"""Recurrent networks as PyTorch's functions take them: layers, directions, packed batches, dropout; and single cells.

Source: https://docs.pytorch.org/docs/stable/nn.html#recurrent-layers
"""

from __future__ import annotations

import builtins
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import ml_dtypes
import numpy as np

from ...core.tensor import Tensor, wrap
from ...ground import dtypes, modes
from ...ground.runtime import warn_once
from ...ops.autocast import low
from ...ops.declare import composite
from ...ops.unfold import FORMS, Form
from ...tensor import lifted
from ...tensor.lifted import Lifted, derives
from ...tensor.writable import check_fits
from ..activation.rows import relu
from ..arithmetic.functions import need_tensor, no_match
from ..dropout.functions import dropout as dropped
from ..index.rows import select, slice
from ..join.functions import unsafe_chunk
from ..join.rows import cat, stack, unbind
from ..matrix.functions import linear
from ..pointwise.rows import sigmoid, tanh
from ..shape.rows import transpose, view
from . import rows
from . import rows as cell
from . import rows as fused

F32 = np.dtype(np.float32)
_KINDS = (F32, np.dtype(np.float64), np.dtype(np.float16), np.dtype(ml_dtypes.bfloat16))
_GATES = {"lstm": 4, "gru": 3, "tanh": 1, "relu": 1}
_REST = ("params", "has_biases", "num_layers", "dropout", "train", "bidirectional")
_REST_TEXT = "tuple of Tensors params, bool has_biases, int num_layers, float dropout, bool train, bool bidirectional"


class Network(NamedTuple):
    """The arguments of a call, whichever of the two signatures it used; ``sizes`` are those of a packed batch."""

    input: Any
    sizes: tuple[int, ...] | None
    hx: Any
    params: Sequence[Any]
    has_biases: bool
    num_layers: int
    dropout: float
    train: bool
    bidirectional: bool
    batch_first: bool


def _sorted_out(function: str, states: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Network:
    """The arguments by name; PyTorch's TypeError where they fit neither signature."""
    padded = ("input", "hx", *_REST, "batch_first")
    packed = ("data", "batch_sizes", "hx", *_REST)
    for names in (packed, padded):
        named = {**dict(zip(names, args, strict=False)), **kwargs}
        if len(named) != len(names) or len(args) + len(kwargs) != len(names) or set(named) != set(names):
            continue
        hx_fits = isinstance(named["hx"], (tuple, list) if states == "tuple of Tensors" else Tensor)
        if not (hx_fits and isinstance(named["params"], (tuple, list)) and isinstance(named[names[0]], Tensor)):
            continue
        sizes = None
        if names is packed:
            if not isinstance(named["batch_sizes"], Tensor):
                continue
            sizes = _sizes(named["batch_sizes"])
        rest = [named[name] for name in _REST]
        return Network(named[names[0]], sizes, named["hx"], *rest, named.get("batch_first", False))  # type: ignore[call-arg]
    raise no_match(
        function,
        [*args, *kwargs.values()],
        f"Tensor data, Tensor batch_sizes, {states} hx, {_REST_TEXT}",
        f"Tensor input, {states} hx, {_REST_TEXT}, bool batch_first",
    )


def _sizes(batch_sizes: Tensor) -> tuple[int, ...]:
    if batch_sizes._array.dtype != np.int64:
        raise RuntimeError(f"expected scalar type Long but found {batch_sizes.dtype.scalar_name}")
    return tuple(batch_sizes._array.tolist())


# -- networks ----------------------------------------------------------------------------------------------------------


def _network(kind: str, call: Network, states: Sequence[Sequence[Tensor]], row: Any) -> tuple[Any, list[list[Any]]]:
    """Output and last states of all layers and directions; ``states`` lists the first ones of each."""
    directions = 2 if call.bidirectional else 1
    x = transpose(call.input, 0, 1) if call.batch_first and call.sizes is None else call.input
    if not x._array.shape[0]:
        raise RuntimeError("Expected sequence length to be larger than 0 in RNN")
    projected = kind == "lstm" and states[0][0]._array.shape[-1] != states[1][0]._array.shape[-1]
    each = (4 if call.has_biases else 2) + projected
    if len(call.params) % each:
        raise RuntimeError("got an incorrect number of RNN parameters")
    wanted = call.num_layers * directions
    if len(states[0]) != wanted:
        raise RuntimeError("Expected more hidden states in stacked_rnn")
    if len(call.params) < wanted * each:
        raise RuntimeError("Expected more weights in stacked_rnn")
    last: list[list[Any]] = [[] for _ in states]
    for index in range(call.num_layers):
        outputs = []
        for direction in range(directions):
            at = index * directions + direction
            params = _of_layer(call.params[at * each : (at + 1) * each], call.has_biases, projected)
            state = tuple(firsts[at] for firsts in states)
            results = _layer(kind, row, x, params, state, call.sizes, direction == 1)
            outputs.append(results[0])
            for collected, final in zip(last, results[1:], strict=True):
                collected.append(final)
        x = cat(outputs, -1) if directions == 2 else outputs[0]
        if call.train and call.dropout and index + 1 < call.num_layers:
            x = dropped(x, call.dropout, True)
    if call.batch_first and call.sizes is None:
        x = transpose(x, 0, 1) if kind == "lstm" else x.transpose_(0, 1)  # as PyTorch does it, and names it
    return x, last


def _of_layer(params: Sequence[Any], biased: bool, projected: bool) -> tuple[Any, ...]:
    """Weights of input and state, both biases or None, the projection or None."""
    return (*params[:2], *(params[2:4] if biased else (None, None)), params[-1] if projected else None)


def _layer(
    kind: str, row: Any, x: Any, params: tuple[Any, ...], state: tuple[Any, ...], sizes: Any, reverse: bool
) -> Sequence[Any]:
    """One layer in one direction: by its fused row, or step by step where that would not do."""
    if row is fused.mkldnn_rnn_layer:  # which autocast has in its list
        (x,), params, state = low(x), low(*params), low(*state)
    if not _fits(kind, x, params, state, sizes) or (_autocasts() and row is not fused.mkldnn_rnn_layer):
        return layer(kind, x, params, state, sizes, reverse)
    w_ih, w_hh, b_ih, b_hh, w_hr = params
    biased = b_ih is not None
    if not biased:
        b_ih = b_hh = wrap(np.zeros(w_ih._array.shape[0], x._array.dtype))
    tensors = [x, w_ih, w_hh, b_ih, b_hh, *state]
    if w_hr is not None:
        tensors.append(w_hr)
    settings = [sizes, reverse, biased]
    if row is not fused.mkldnn_rnn_layer:
        settings.append(x._array.flags.c_contiguous)
    if kind == "lstm":
        settings.append(derives(*tensors))
    elif kind != "gru":
        settings.append(kind == "relu")
    return row(tensors, *settings)[:-1]  # type: ignore[no-any-return]


def _autocasts() -> bool:
    """Whether dtypes are chosen by an autocast block, operation by operation."""
    return bool(modes.watch) and modes.local.autocast is not None


def _fits(kind: str, x: Any, params: tuple[Any, ...], state: tuple[Any, ...], sizes: Any) -> bool:
    """Whether a fused row can take these: one floating dtype, all sizes as they should be."""
    tensors = [tensor for tensor in (x, *params, *state) if tensor is not None]
    dtype = x._array.dtype
    if dtype.metadata or dtype not in _KINDS or any(tensor._array.dtype is not dtype for tensor in tensors):
        return False
    w_ih, w_hh, b_ih, _, w_hr = params
    sizes_of = [tensor._array.shape for tensor in tensors]
    if (
        x._array.ndim != (3 if sizes is None else 2)
        or not x._array.size
        or w_ih._array.ndim != 2
        or w_hh._array.ndim != 2
    ):
        return False
    if sizes is not None and (
        sum(sizes) != len(x._array) or list(sizes) != sorted(sizes, reverse=True) or sizes[-1] < 1
    ):
        return False
    rows, shown = w_hh._array.shape
    hidden = rows // _GATES[kind]
    batch = x._array.shape[1] if sizes is None else sizes[0]
    wanted: list[tuple[int, ...]] = [x._array.shape, (rows, x._array.shape[-1]), (rows, shown)]
    if b_ih is not None:
        wanted += [(rows,), (rows,)]
    if w_hr is not None:
        wanted.append((shown, hidden))
    wanted += [(batch, shown), (batch, hidden)][: len(state)]
    return rows == hidden * _GATES[kind] and (shown == hidden or w_hr is not None) and sizes_of == wanted


@composite(method=False)
def lstm(*args: Any, **kwargs: Any) -> tuple[Tensor, Tensor, Tensor]:
    """Long short-term memory over a padded or packed batch: output, last hidden states, last cell states."""
    call = _sorted_out("lstm", "tuple of Tensors", args, kwargs)
    if len(call.hx) != 2:
        raise RuntimeError("lstm expects two hidden states")
    in_one = _by_onednn(call)
    parted = _parted if in_one else unbind
    states = [parted(state, 0) for state in call.hx]
    packed = call.sizes if in_one else None
    if packed is not None:  # PyTorch sees samples of one length as a padded batch
        steps = view(call.input, (len(packed), packed[0], call.input._array.shape[-1]))
        call = call._replace(input=steps, sizes=None)
    output, (h, c) = _network("lstm", call, states, fused.mkldnn_rnn_layer if in_one else fused.lstm_layer)
    if packed is not None:
        output = view(output, (-1, output._array.shape[-1]))
    return output, stack(h, 0), stack(c, 0)


def _by_onednn(call: Network) -> bool:
    """Whether PyTorch gives whole layers to oneDNN: samples of one length, single precision, and no projections."""
    tensors = (call.input, *call.params, *call.hx)
    arrays = [tensor._array for tensor in tensors]
    sizes = call.sizes
    if (
        sizes is not None
        and (len({*sizes}) != 1 or call.input._array.ndim != 2 or sum(sizes) != len(call.input._array))
        or any(isinstance(tensor, Lifted) for tensor in tensors)  # transforms see through the other row, not this one
        or call.input._array.dtype is not F32
        or any(array.dtype is not F32 and (array.itemsize > 2 or not _autocasts()) for array in arrays)  # made halves
        or not call.input._array.size
    ):
        return False
    if call.hx[0]._array.shape[-1:] == call.hx[1]._array.shape[-1:]:
        return True
    if sizes is None:
        warn_once(
            "LSTM with projections is not supported with oneDNN. Using default implementation. (Triggered "
            "internally at /__w/pytorch/pytorch/aten/src/ATen/native/RNN.cpp:1512.)"
        )
    return False


def _parted(states: Tensor, dim: int) -> list[Tensor]:
    return [select(states, dim, index) for index in range(len(states._array))]


def _one_state(function: str, kind: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Tensor, Tensor]:
    call = _sorted_out(function, "Tensor", args, kwargs)
    row = fused.gru_layer if kind == "gru" else fused.rnn_layer
    output, (h,) = _network(kind, call, [unbind(call.hx, 0)], row)
    return output, stack(h, 0)


@composite(method=False)
def gru(*args: Any, **kwargs: Any) -> tuple[Tensor, Tensor]:
    """Gated recurrent units over a padded or packed batch: output, last states."""
    return _one_state("gru", "gru", args, kwargs)


@composite(method=False)
def rnn_tanh(*args: Any, **kwargs: Any) -> tuple[Tensor, Tensor]:
    """Recurrent tanh units over a padded or packed batch: output, last states."""
    return _one_state("rnn_tanh", "tanh", args, kwargs)


@composite(method=False)
def rnn_relu(*args: Any, **kwargs: Any) -> tuple[Tensor, Tensor]:
    """Recurrent ReLU units over a padded or packed batch: output, last states."""
    return _one_state("rnn_relu", "relu", args, kwargs)


# -- cells -------------------------------------------------------------------------------------------------------------


def _check_cell(function: str, input: Any, states: Sequence[Any], w_ih: Any, w_hh: Any, gates: int) -> None:
    """Raise PyTorch's error unless the sizes of a cell's input, states and weights fit."""
    for position, (name, value) in enumerate((("input", input), ("hx", states[0]), ("w_ih", w_ih), ("w_hh", w_hh)), 1):
        need_tensor(function, name, position, value)
    features, wanted = input.size(1), w_ih.size(1)
    if features != wanted:
        raise RuntimeError(f"input has inconsistent input_size: got {features} expected {wanted}")
    hidden = w_hh.size(1)
    for number, state in enumerate(states):
        if input.size(0) != state.size(0):
            raise RuntimeError(
                f"Input batch size {input.size(0)} doesn't match hidden{number} batch size {state.size(0)}"
            )
        if state.size(1) != hidden:
            raise RuntimeError(f"hidden{number} has inconsistent hidden_size: got {state.size(1)}, expected {hidden}")
    for name, weight in (("weight_ih", w_ih), ("weight_hh", w_hh)):
        if weight.size(0) != gates * hidden:
            raise RuntimeError(
                f"{name} first dim must be {gates} * hidden_size = {gates * hidden}, but got {weight.size(0)}"
            )


def _projected(input: Tensor, weight: Tensor, bias: Any) -> Tensor:
    """``linear``, its result lying as the gates like it; step by step, the usual one."""
    a, b = input._array, weight._array
    if bias is None or a.ndim != 2 or b.ndim != 2 or bias._array.shape != b.shape[:1]:
        return linear(input, weight, bias)
    return cell.projected(bias, input, weight)  # type: ignore[no-any-return]


def _gates(row: Any, form: Callable[..., Any], igates: Tensor, hgates: Tensor, state: Tensor) -> Any:
    """One step from both projections: by the fused row where dtypes and sizes are the everyday ones."""
    a, b, c = igates._array, hgates._array, state._array
    if a.dtype is b.dtype is c.dtype and a.dtype in _KINDS and a.shape == b.shape and a.ndim == 2 == c.ndim:
        if not _autocasts() and not (modes.unusual and modes.local.saved_hooks):  # to look at a record would unpack
            return row(igates, hgates, state)
    return form(igates, hgates, state)


@composite(method=False)
def lstm_cell(input: Any, hx: Any, w_ih: Any, w_hh: Any, b_ih: Any = None, b_hh: Any = None) -> tuple[Tensor, Tensor]:
    """One step of an LSTM: the next hidden and cell state."""
    if not isinstance(hx, (tuple, list)):
        raise TypeError(f"lstm_cell(): argument 'hx' (position 2) must be tuple of Tensors, not {type(hx).__name__}")
    for position, state in enumerate(hx):
        if not isinstance(state, Tensor):
            raise TypeError(f"expected Tensor as element {position} in argument 1, but got {type(state).__name__}")
    if len(hx) != 2:
        raise RuntimeError("lstm_cell expects two hidden states")
    _check_cell("lstm_cell", input, hx, w_ih, w_hh, 4)
    igates, hgates = _projected(input, w_ih, b_ih), _projected(hx[0], w_hh, b_hh)
    states = _gates(cell.lstm_gates, lstm_gates, igates, hgates, hx[1])
    return states[0], states[1]


@composite(method=False)
def gru_cell(input: Any, hx: Any, w_ih: Any, w_hh: Any, b_ih: Any = None, b_hh: Any = None) -> Tensor:
    """One step of a GRU: the next state."""
    _check_cell("gru_cell", input, (hx,), w_ih, w_hh, 3)
    igates, hgates = _projected(input, w_ih, b_ih), _projected(hx, w_hh, b_hh)
    return _gates(cell.gru_gates, gru_gates, igates, hgates, hx)[0]  # type: ignore[no-any-return]


def _plain_cell(function: str, bend: Any, input: Any, hx: Any, w_ih: Any, w_hh: Any, b_ih: Any, b_hh: Any) -> Tensor:
    _check_cell(function, input, (hx,), w_ih, w_hh, 1)
    projected = linear(input, w_ih, b_ih)
    return bend(linear(hx, w_hh, b_hh) + projected)  # type: ignore[no-any-return, operator]


@composite(method=False)
def rnn_tanh_cell(input: Any, hx: Any, w_ih: Any, w_hh: Any, b_ih: Any = None, b_hh: Any = None) -> Tensor:
    """One step of recurrent tanh units: the next state."""
    return _plain_cell("rnn_tanh_cell", tanh, input, hx, w_ih, w_hh, b_ih, b_hh)


@composite(method=False)
def rnn_relu_cell(input: Any, hx: Any, w_ih: Any, w_hh: Any, b_ih: Any = None, b_hh: Any = None) -> Tensor:
    """One step of recurrent ReLU units: the next state."""
    return _plain_cell("rnn_relu_cell", relu, input, hx, w_ih, w_hh, b_ih, b_hh)


# -- Recurrent layers step by step, in ordinary operations: what PyTorch's graph shows, for any dtype and any order.

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


# -- Batches of samples of several lengths: padded, packed, and from one to the other.


@composite(method=False)
def _pack_padded_sequence(input: Any, lengths: Any, batch_first: bool) -> tuple[Tensor, Tensor]:
    """A padded batch without its padding, and the number of samples at each step."""
    need_tensor("_pack_padded_sequence", "input", 1, input)
    need_tensor("_pack_padded_sequence", "lengths", 2, lengths)
    return rows.pack_padded(input, lengths, batch_first)  # type: ignore[no-any-return]


@composite(method=False)
def _pad_packed_sequence(
    data: Any, batch_sizes: Any, batch_first: bool, padding_value: Any, total_length: int
) -> tuple[Tensor, Tensor]:
    """A packed batch with padding up to ``total_length`` steps, and the lengths of the samples."""
    padded = rows.pad_packed(data, batch_sizes, padding_value, total_length)
    sizes = batch_sizes._array
    lengths = np.add.reduce(sizes[:, None] > np.arange(sizes[0]), axis=0, dtype=np.int64)
    return (transpose(padded, 0, 1) if batch_first else padded), wrap(lengths)


def pad_sequence(
    sequences: Sequence[Any], batch_first: bool = False, padding_value: float = 0.0, padding_side: str = "right"
) -> Tensor:
    """Samples (length, ...) side by side, filled up with ``padding_value`` to the longest one's length."""
    if not sequences:
        raise RuntimeError("received an empty list of sequences")
    if padding_side not in ("left", "right"):
        raise RuntimeError(f"Expected padding_side to be one of left or right, but got {padding_side}.")
    for index, sequence in enumerate(sequences):
        if not isinstance(sequence, Tensor):
            raise TypeError(f"expected Tensor as element {index} in argument 0, but got {dtypes.called(sequence)}")
    first = sequences[0]._array
    if not first.ndim:
        raise RuntimeError("ArrayRef: invalid slice, N = 1; size = 0")
    lengths = [sequence._array.shape[0] if sequence._array.ndim else 1 for sequence in sequences]
    longest, count = max(lengths), len(sequences)
    sizes = (count, longest) if batch_first else (longest, count)
    kind = first.dtype
    out = np.full((*sizes, *first.shape[1:]), np.asarray(padding_value).astype(kind), kind)
    starts = [longest - length if padding_side == "left" else 0 for length in lengths]
    recorded = modes.unusual or derives(*sequences)
    if not recorded and all(
        sequence._array.shape[1:] == first.shape[1:] and sequence._array.dtype == kind for sequence in sequences
    ):
        for index, (sequence, start, length) in enumerate(zip(sequences, starts, lengths, strict=True)):
            steps = builtins.slice(start, start + length)
            out[(index, steps) if batch_first else (steps, index)] = sequence._array
        return wrap(out)
    padded = wrap(out)
    source = next((sequence for sequence in sequences if isinstance(sequence, Lifted)), None)
    if source is not None:
        padded = lifted.born_like(padded, source)
    for index, (sequence, start, length) in enumerate(zip(sequences, starts, lengths, strict=True)):
        if batch_first:
            part = slice(select(padded, 0, index), 0, start, start + length, 1)
        else:
            part = select(slice(padded, 0, start, start + length, 1), 1, index)
        part.copy_(sequence)
    return padded
