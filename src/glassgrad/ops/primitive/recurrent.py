"""Recurrent layers: a whole sequence through one layer in one direction is one row.

PyTorch's graph has a node for every operation of every step, except for the LSTM of a padded batch in single precision,
which it leaves to oneDNN in one piece.  Here each is one record; its way back is a row too, whose rule differentiates
the step-by-step form of ``composite/unrolled.py``.  Looked at, a record unfolds into PyTorch's nodes.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ...core.row import op
from ...kernels import recurrent as kernels
from ...kernels.recurrent import Way
from ..unfold import differentiated, unfolding

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
