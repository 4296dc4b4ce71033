"""Recurrent layers: a whole sequence through one layer in one direction is one row.

PyTorch's graph has a node for every operation of every step, except for the LSTM of a padded batch in single precision,
which it leaves to oneDNN in one piece.  Here each is one record; its way back is a row too, whose rule differentiates
the step-by-step form in ``functions.py``.  Looked at, a record unfolds into PyTorch's nodes.
"""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np

from ...core.row import op
from ...ground import dtypes
from ...ops.unfold import differentiated, unfolding
from ..matrix import rows as linear
from ..matrix.rows import addmm, column_sums, mm, transposed_by
from ..shape.rows import axis_of, t
from . import kernels
from .kernels import Way

F32 = np.dtype(np.float32)
ndarray = np.ndarray
_NAMES = ("input", "weight_ih", "weight_hh", "bias_ih", "bias_hh", "hx", "cx", "weight_hr")


def wide(arrays: Any) -> Any:
    """The arrays, halves as float32."""
    return [a.astype(F32) if a is not None and a.dtype.itemsize == 2 else a for a in arrays]


def _as(kind: Any, arrays: Any) -> list[Any]:
    """The arrays in the dtype ``kind``; empty ones where there is none."""
    return [np.empty(0, kind) if a is None else a.astype(kind, copy=False) for a in arrays]


def put(present: tuple[bool, ...], tensors: Any) -> Any:
    """The gradients of all results, None where none came, and the other tensors."""
    arrived = iter(tensors)
    return [next(arrived) if is_present else None for is_present in present], list(arrived)


# -- LSTM --------------------------------------------------------------------------------------------------------------
# the tensors: input, weight_ih, weight_hh, bias_ih, bias_hh, hx, cx; weight_hr where there is a projection
# ``dense`` tells how the input lies in memory, on which depends what PyTorch's graph shows


def _lstm(tensors: Any, sizes: Any, reverse: bool, keep: bool) -> tuple[Any, ...]:
    kind = tensors[0].dtype
    *outputs, reserve = kernels.lstm_forward(Way(sizes, reverse), keep, *wide(tensors))
    return (*_as(kind, outputs), reserve)


@op(
    outputs=("result0", "result1", "result2", "result3"), differentiable=("result0", "result1", "result2"), public=False
)
def mkldnn_rnn_layer(tensors: Any, /, sizes: Any, reverse: bool, biased: bool, keep: bool) -> Any:
    """An LSTM layer over a padded batch in one direction: output, last hidden and cell state, reserve."""
    return _lstm(tensors, sizes, reverse, keep)


@mkldnn_rnn_layer.derivative("tensors")
def _mkldnn_rule(grads: Any, tensors: Any, result3: Any, sizes: Any, reverse: Any, biased: Any, needs: Any) -> Any:
    return _handed_back(lstm_layer_backward, grads[:3], tensors, result3, needs, sizes, reverse, biased)


@op(
    outputs=("result0", "result1", "result2", "result3"),
    differentiable=("result0", "result1", "result2"),
    public=False,
    unfold=unfolding("lstm", ("sizes", "reverse", "biased")),
)
def lstm_layer(tensors: Any, /, sizes: Any, reverse: bool, biased: bool, dense: bool, keep: bool) -> Any:
    """An LSTM layer in one direction: output, last hidden and cell state, reserve."""
    return _lstm(tensors, sizes, reverse, keep)


@lstm_layer.derivative("tensors")
def _lstm_rule(
    grads: Any, tensors: Any, tensors_sizes: Any, result3: Any, sizes: Any, reverse: Any, biased: Any, dense: Any,
    needs: Any,
) -> Any:  # fmt: skip
    return _handed_back(lstm_layer_backward, grads[:3], tensors, result3, needs, sizes, reverse, biased)


@op(outputs=_NAMES, public=False)
def lstm_layer_backward(tensors: Any, /, present: Any, wanted: Any, sizes: Any, reverse: bool, biased: bool) -> Any:
    """The gradients of an LSTM layer's tensors: ``present`` says which results have one, ``wanted`` which it is for."""
    grads, (*inputs, reserve) = put(present, wide(tensors))
    gradients = kernels.lstm_backward(Way(sizes, reverse), (*wanted, False), *(*grads, reserve, *inputs))
    return tuple(_as(tensors[sum(present)].dtype, gradients))


@lstm_layer_backward.derivative("tensors")
def _lstm_twice(
    grads: Any, tensors: Any, present: Any, wanted: Any, sizes: Any, reverse: Any, biased: Any, needs: Any
) -> Any:
    return differentiated("lstm", grads, tensors, present, needs, (sizes, reverse, biased))


# -- GRU and plain units -----------------------------------------------------------------------------------------------
# the tensors: input, weight_ih, weight_hh, bias_ih, bias_hh, hx


@op(
    outputs=("result0", "result1", "result2"),
    differentiable=("result0", "result1"),
    public=False,
    unfold=unfolding("gru", ("sizes", "reverse", "biased")),
)
def gru_layer(tensors: Any, /, sizes: Any, reverse: bool, biased: bool, dense: bool) -> Any:
    """A GRU layer in one direction: output, last state, reserve."""
    *outputs, reserve = kernels.gru_forward(Way(sizes, reverse), *wide(tensors))
    return (*_as(tensors[0].dtype, outputs), reserve)


@gru_layer.derivative("tensors")
def _gru_rule(
    grads: Any, tensors: Any, tensors_sizes: Any, result2: Any, sizes: Any, reverse: Any, biased: Any, dense: Any,
    needs: Any,
) -> Any:  # fmt: skip
    return _handed_back(gru_layer_backward, grads[:2], tensors, result2, needs, sizes, reverse, biased)


@op(outputs=_NAMES[:6], public=False)
def gru_layer_backward(tensors: Any, /, present: Any, wanted: Any, sizes: Any, reverse: bool, biased: bool) -> Any:
    """The gradients of a GRU layer's tensors."""
    grads, others = put(present, wide(tensors))
    gradients = kernels.gru_backward(Way(sizes, reverse), wanted, *grads, *others)
    return tuple(_as(tensors[sum(present)].dtype, gradients))


@gru_layer_backward.derivative("tensors")
def _gru_twice(
    grads: Any, tensors: Any, present: Any, wanted: Any, sizes: Any, reverse: Any, biased: Any, needs: Any
) -> Any:
    return differentiated("gru", grads, tensors, present, needs, (sizes, reverse, biased))


@op(
    outputs=("result0", "result1", "result2"),
    differentiable=("result0", "result1"),
    public=False,
    unfold=unfolding("rnn", ("sizes", "reverse", "biased", "relu")),
)
def rnn_layer(tensors: Any, /, sizes: Any, reverse: bool, biased: bool, dense: bool, relu: bool) -> Any:
    """A layer of tanh or ReLU units in one direction: output, last state, reserve."""
    *outputs, reserve = kernels.rnn_forward(Way(sizes, reverse), relu, *wide(tensors))
    return (*_as(tensors[0].dtype, outputs), reserve)


@rnn_layer.derivative("tensors")
def _rnn_rule(
    grads: Any, tensors: Any, tensors_sizes: Any, result2: Any, sizes: Any, reverse: Any, biased: Any, dense: Any,
    relu: Any, needs: Any,
) -> Any:  # fmt: skip
    return _handed_back(rnn_layer_backward, grads[:2], tensors, result2, needs, sizes, reverse, biased, relu)


@op(outputs=_NAMES[:6], public=False)
def rnn_layer_backward(
    tensors: Any, /, present: Any, wanted: Any, sizes: Any, reverse: bool, biased: bool, relu: bool
) -> Any:
    """The gradients of the tensors of a layer of plain units."""
    grads, others = put(present, wide(tensors))
    gradients = kernels.rnn_backward(Way(sizes, reverse), relu, wanted, *grads, *others)
    return tuple(_as(tensors[sum(present)].dtype, gradients))


@rnn_layer_backward.derivative("tensors")
def _rnn_twice(
    grads: Any, tensors: Any, present: Any, wanted: Any, sizes: Any, reverse: Any, biased: Any, relu: Any, needs: Any
) -> Any:
    return differentiated("rnn", grads, tensors, present, needs, (sizes, reverse, biased, relu))


def _asked(gradients: Any, needs: Any) -> list[Any]:
    """The gradients that are wanted."""
    return [gradient if needed else None for gradient, needed in zip(gradients, needs, strict=False)]


def came(grads: Any) -> tuple[bool, ...]:
    """Which results have a gradient."""
    return tuple([grad is not None for grad in grads])


def _handed_back(backward: Any, grads: Any, tensors: Any, reserve: Any, needs: Any, *settings: Any) -> list[Any]:
    """The gradients of a layer's tensors by its backward row, as the rule sees that."""
    arrived = [grad for grad in grads if grad is not None]
    return _asked(backward([*arrived, *tensors, reserve], came(grads), needs, *settings), needs)


# -- Recurrent cells: a step as three rows, the projections of input and state, and the gates.
#
# Inside, a step is a matrix whose columns are the samples, as in ``kernels.py``: each gate is then one
# piece of memory. The projections leave their results lying that way, which is quicker for BLAS too.


@op(
    node="AddmmBackward0",
    public=False,
    fallback=lambda bias, mat1, weight: addmm(bias, mat1, t(weight)),
    unfold=linear.unfold,
)
def projected(self: Any, mat1: Any, weight: Any, /) -> Any:
    """``mat1 @ weight.T + self``, column by column in memory; all of one everyday dtype."""
    try:
        columns = weight.dot(mat1.T)
        columns += self[:, None]
    except (ValueError, AttributeError):
        return addmm.row.kernel(self, mat1, weight.T)  # it tells what is wrong
    return columns.T


projected.derivative(
    self=lambda grad, weight_sizes: column_sums(grad),
    mat1=lambda grad, weight: mm(grad, weight),
    weight=lambda grad, mat1: transposed_by(grad, mat1),
)


def _gates(array: Any, count: int) -> list[Any]:
    """The parts of (gates * hidden, batch) that belong to each gate."""
    hidden = len(array) // count
    return [array[at * hidden : (at + 1) * hidden] for at in range(count)]


def _logistic(array: Any) -> None:
    """Turn ``array`` into its logistic function, in place and without overflow."""
    half = array.dtype.type(0.5)
    array *= half
    np.tanh(array, out=array)
    array *= half
    array += half


def _rows(array: Any, kind: Any) -> Any:
    """A matrix of columns as one of rows, in the dtype ``kind``."""
    return array.T.astype(kind, order="C")


@op(outputs=("hy", "cy", "gates", "bent"), differentiable=("hy", "cy"), public=False, unfold=unfolding("lstm_gates"))
def lstm_gates(igates: Any, hgates: Any, cx: Any, /) -> Any:
    """One step of an LSTM from both projections, (batch, 4 * hidden): hidden and cell state; gates, bent cell."""
    kind = igates.dtype
    igates, hgates, cx = wide((igates, hgates, cx))
    gates = np.empty(igates.shape[::-1], igates.dtype)
    np.add(hgates.T, igates.T, out=gates)
    i, f, g, o = _gates(gates, 4)
    _logistic(gates[: 2 * len(i)])
    np.tanh(g, out=g)
    _logistic(o)
    cy = f * cx.T
    hy = i * g
    cy += hy
    bent = np.tanh(cy)
    np.multiply(o, bent, out=hy)
    return _rows(hy, kind), _rows(cy, kind), gates, bent


@lstm_gates.derivative("igates", "hgates", "cx")
def _lstm_gates_rule(
    grads: Any, igates: Any, hgates: Any, cx: Any, igates_sizes: Any, hgates_sizes: Any, cx_sizes: Any, gates: Any,
    bent: Any,
) -> Any:  # fmt: skip
    arrived = [grad for grad in grads if grad is not None]
    back, cell = lstm_gates_backward([*arrived, igates, hgates, cx, gates, bent], came(grads[:2]))
    return back, back, cell


@op(outputs=("gates", "cx"), public=False)
def lstm_gates_backward(tensors: Any, /, present: Any) -> Any:
    """The gradients of the sum of the projections and of the cell state, before one step of an LSTM."""
    kind = tensors[sum(present)].dtype
    (grad_hy, grad_cy), (_, _, cx, gates, bent) = put(present, wide(tensors))
    i, f, g, o = _gates(gates, 4)
    back = np.empty_like(gates)
    bi, bf, bg, bo = _gates(back, 4)
    if grad_hy is None:
        cell = np.array(grad_cy.T, order="C")
        bo[...] = 0
    else:
        towards = np.ascontiguousarray(grad_hy.T)
        cell = bent * bent
        np.subtract(1, cell, out=cell)
        cell *= o
        cell *= towards
        if grad_cy is not None:
            cell += grad_cy.T
        np.subtract(1, o, out=bo)
        bo *= o
        bo *= bent
        bo *= towards
    both = back[: 2 * len(i)]
    np.subtract(1, gates[: 2 * len(i)], out=both)
    both *= gates[: 2 * len(i)]
    bi *= g
    bf *= cx.T
    np.multiply(g, g, out=bg)
    np.subtract(1, bg, out=bg)
    bg *= i
    three = back[: 3 * len(i)].reshape(3, *i.shape)
    three *= cell
    cell *= f
    return back.T.astype(kind, copy=False), _rows(cell, kind)


@lstm_gates_backward.derivative("tensors")
def _lstm_gates_twice(grads: Any, tensors: Any, present: Any, needs: Any) -> Any:
    return differentiated("lstm_gates", [grads[0], None, grads[1]], tensors, present, needs, ())


@op(outputs=("hy", "gates"), differentiable=("hy",), public=False, unfold=unfolding("gru_gates"))
def gru_gates(igates: Any, hgates: Any, hx: Any, /) -> Any:
    """One step of a GRU from both projections, (batch, 3 * hidden): the state; gates."""
    kind = igates.dtype
    igates, hgates, hx = wide((igates, hgates, hx))
    from_input, from_state = igates.T, hgates.T
    gates = np.empty(from_input.shape, from_input.dtype)
    r, z, n = _gates(gates, 3)
    two = 2 * len(r)
    np.add(from_input[:two], from_state[:two], out=gates[:two])
    _logistic(gates[:two])
    np.multiply(r, from_state[two:], out=n)
    n += from_input[two:]
    np.tanh(n, out=n)
    hy = np.empty_like(n)
    np.subtract(hx.T, n, out=hy)
    hy *= z
    hy += n
    return _rows(hy, kind), gates


@gru_gates.derivative("igates", "hgates", "hx")
def _gru_gates_rule(
    grad: Any, igates: Any, hgates: Any, hx: Any, igates_sizes: Any, hgates_sizes: Any, hx_sizes: Any, gates: Any
) -> Any:
    return gru_gates_backward([grad, igates, hgates, hx, gates])


@op(outputs=("igates", "hgates", "hx"), public=False)
def gru_gates_backward(tensors: Any, /) -> Any:
    """The gradients of both projections and of the state before one step of a GRU."""
    kind = tensors[1].dtype
    grad, _, hgates, hx, gates = wide(tensors)
    r, z, n = _gates(gates, 3)
    back = np.empty_like(gates)
    br, bz, bn = _gates(back, 3)
    towards = np.ascontiguousarray(grad.T)
    left = 1 - z
    left *= towards
    np.multiply(n, n, out=bn)
    np.subtract(1, bn, out=bn)
    bn *= left
    np.subtract(hx.T, n, out=bz)
    bz *= left
    bz *= z
    np.subtract(1, r, out=br)
    br *= r
    br *= bn
    br *= hgates.T[2 * len(r) :]
    other = back.copy()
    other[2 * len(r) :] *= r
    return back.T.astype(kind, copy=False), other.T.astype(kind, copy=False), _rows(towards * z, kind)


@gru_gates_backward.derivative("tensors")
def _gru_gates_twice(grads: Any, tensors: Any, needs: Any) -> Any:
    return differentiated("gru_gates", grads, tensors, (True,), needs, ())


# -- Packed batches: samples of several lengths, the longest first, without their padding, step after step.
#
# ``batch_sizes`` tells how many samples are still there at each step.

_UNSORTED = (
    "`lengths` array must be sorted in decreasing order when `enforce_sorted` is True. You can pass "
    "`enforce_sorted=False` to pack_padded_sequence and/or pack_sequence to sidestep this requirement if you do not "
    "need ONNX exportability."
)
_TOO_SHORT = "Length of all samples has to be greater than 0, but found an element in 'lengths' that is <= 0"


def check_lengths(lengths: Any) -> None:
    """Raise PyTorch's error unless lengths, or batch sizes, are a vector of int64."""
    if lengths.ndim != 1 or lengths.dtype != np.int64:
        name = dtypes.of(lengths.dtype).scalar_name
        raise RuntimeError(
            f"'lengths' argument should be a 1D CPU int64 tensor, but got {lengths.ndim}D cpu {name} tensor"
        )


def _there(batch_sizes: Any, steps: int, batch: int) -> Any:
    """Where (steps, batch) a sample is still there."""
    mask = np.zeros((steps, batch), bool)
    mask[: len(batch_sizes)] = np.arange(batch) < batch_sizes[:steps, None]
    return mask


def _pick(padded: Any, batch_sizes: Any, batch_first: bool) -> Any:
    by_step = np.swapaxes(padded, 0, 1) if batch_first else padded
    return by_step[_there(batch_sizes, *by_step.shape[:2])]


@op(
    node="PackPaddedSequenceBackward0",
    auxiliary=("lengths",),
    outputs=("result0", "result1"),
    differentiable=("result0",),
    public=False,
)
def pack_padded(input: Any, lengths: Any, /, batch_first: bool) -> Any:
    """The elements of a padded batch that are none of the padding, step by step; how many each step has."""
    check_lengths(lengths)
    if not input.size:
        raise RuntimeError("Cannot pack empty tensors.")
    batch = input.shape[0 if batch_first else axis_of(1, input.ndim)]
    if len(lengths) != batch:
        raise RuntimeError(
            f"Expected `len(lengths)` to be equal to batch_size, but got {len(lengths)} (batch_size={batch})"
        )
    if lengths[-1] <= 0:
        raise RuntimeError(_TOO_SHORT)
    if (lengths[1:] > lengths[:-1]).any():
        raise RuntimeError(_UNSORTED)
    sizes = np.add.reduce(lengths > np.arange(lengths[0])[:, None], axis=1, dtype=np.int64)
    return _pick(input, sizes, batch_first), sizes


pack_padded.derivative(
    input=lambda grad, result1, input_sizes, batch_first: pack_padded_backward(grad, result1, input_sizes, batch_first)
)


@op(auxiliary=("batch_sizes",), public=False)
def pack_padded_backward(grad_output: Any, batch_sizes: Any, /, sizes: Any, batch_first: bool) -> Any:
    """The packed gradient in its place within zeros of ``sizes``."""
    out = np.zeros(sizes, grad_output.dtype)
    by_step = np.swapaxes(out, 0, 1) if batch_first else out
    by_step[_there(batch_sizes, *by_step.shape[:2])] = grad_output
    return out


pack_padded_backward.derivative(
    grad_output=lambda grad, batch_sizes, batch_first: pack_again(grad, batch_sizes, batch_first)
)


@op(auxiliary=("batch_sizes",), public=False)
def pack_again(self: Any, batch_sizes: Any, /, batch_first: bool) -> Any:
    """The elements of a padded batch that have a place in the packed one."""
    return _pick(self, batch_sizes, batch_first)


pack_again.derivative(
    self=lambda grad, batch_sizes, self_sizes, batch_first: pack_padded_backward(
        grad, batch_sizes, self_sizes, batch_first
    )
)


@op(node="PadPackedSequenceBackward0", auxiliary=("batch_sizes",), public=False)
def pad_packed(data: Any, batch_sizes: Any, /, padding_value: Any, total_length: int) -> Any:
    """The padded batch (steps, batch, ...) of a packed one."""
    check_lengths(batch_sizes)
    batch = int(batch_sizes[0])
    _check_runs(data.shape, batch_sizes.tolist(), batch)
    out = np.full((total_length, batch, *data.shape[1:]), np.asarray(padding_value).astype(data.dtype), data.dtype)
    out[_there(batch_sizes, total_length, batch)] = data[: int(batch_sizes.sum())]
    return out


pad_packed.derivative(data=lambda grad, batch_sizes: pack_again(grad, batch_sizes, False))


def _check_runs(shape: tuple[int, ...], sizes: list[int], batch: int) -> None:
    """Raise what PyTorch raises, which copies the steps of equally many samples at once, where sizes do not fit."""
    rest = "".join(f", {n}" for n in shape[1:])
    for start, steps, size in kernels.runs_of((), tuple(sizes)):
        there = max(min(shape[0] - start, steps * size), 0)
        if there != steps * size:
            count = there * prod(shape[1:])
            raise RuntimeError(f"shape '[{steps}, {size}{rest}]' is invalid for input of size {count}")
        if size > batch:
            raise RuntimeError(
                f"output with shape [{steps}, {batch}{rest}] doesn't match the broadcast shape [{steps}, {size}{rest}]"
            )
