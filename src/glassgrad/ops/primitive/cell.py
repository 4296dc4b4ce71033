"""Recurrent cells: a step as three rows, the projections of input and state, and the gates.

Inside, a step is a matrix whose columns are the samples, as in ``kernels/recurrent.py``: each gate is then one
piece of memory. The projections leave their results lying that way, which is quicker for BLAS too.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ...core.row import op
from ..unfold import differentiated, unfolding
from . import linear
from .matrix import addmm, column_sums, mm, transposed_by
from .recurrent import came, put, wide
from .shape import t


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
    grads: Any,
    igates: Any,
    hgates: Any,
    cx: Any,
    igates_sizes: Any,
    hgates_sizes: Any,
    cx_sizes: Any,
    gates: Any,
    bent: Any,
) -> Any:
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
