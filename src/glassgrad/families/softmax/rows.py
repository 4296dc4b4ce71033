"""Softmax, its logarithm, and log-sum-exp, each with a fused backward row that can be differentiated again."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...core.row import FLOATS, op
from ...ground import errors
from ...kernels import compiled
from ...kernels.columns import not_implemented
from ..pointwise.rows import exp
from ..reduce.rows import F32, F64, SMALL, along, kept_sizes, ones32, ones64, spread_dim, sum_dim

_exp, _log = np.exp, np.log
# Sums of exponentials between these are exact enough that nothing need be subtracted first.
_LEAST, _MOST = {F32: 1e-12, F64: 1e-150}, {F32: 1e30, F64: 1e300}
# A few short rows times a square of ones: each row's sum, spread over the row, in one call where there would be three.
_FEW = 1024
_SQUARES = {n: np.ones((n, n), F32) for n in range(1, 17)}


def _refusal(log: str, a: Any, dim: int) -> Any:
    """The error of a dtype that is not served; of no elements PyTorch asks no kernel, and none is made."""
    if not a.size:
        return np.empty_like(a)
    last = not a.ndim or dim % a.ndim == a.ndim - 1
    return not_implemented(f"{log}softmax_{'lastdim_' if last else ''}kernel_impl", a)


def _between(sums: Any, least: float, most: float) -> bool:
    """Whether all row sums lie between two bounds."""
    if sums.size <= 16:
        few = sums.tolist()
        return bool(few) and max(few) < most and min(few) > least
    return sums.item(sums.argmax()) < most and sums.item(sums.argmin()) > least


def _below_top(a: Any, dim: int) -> Any:
    """Each element minus the largest of its line, so that exponentials are harmless; lines of minus infinity stay."""
    top = np.asarray(np.maximum.reduce(a, axis=dim, keepdims=True, initial=-np.inf))
    top[np.isneginf(top)] = 0
    return a - top


# -- quick forms -------------------------------------------------------------------------------------------------------


def _softmax_of_short_rows(self: Any, dim: int) -> Any:
    """``softmax`` along the last dimension, where exponentials are harmless as they are."""
    shape, d = self.shape, self.dtype
    ndim = len(shape)
    if not ndim or dim != ndim - 1:
        return None
    n = shape[dim]
    ones = ones32.get(n) if d is F32 else ones64.get(n) if d is F64 else None
    if ones is None or self.strides[dim] != self.itemsize or not n and ndim != 2:
        return None
    e = _exp(self) if ndim == 2 else _exp(self.reshape(-1, n))
    sums = e.dot(ones)
    if not _between(sums, _LEAST[d], _MOST[d]):
        return None
    e /= sums.repeat(n).reshape(e.shape) if e.size <= SMALL else sums[:, None]
    return e if ndim == 2 else e.reshape(shape)


def _softmax_backward_of_few_rows(grad_output: Any, output: Any, dim: int) -> Any:
    """``softmax_backward`` of a small matrix along its rows."""
    shape = output.shape
    if dim != 1 or len(shape) != 2 or output.size > SMALL:
        return None
    g = grad_output * output
    if g.size <= _FEW and shape[1] in _SQUARES and g.dtype is F32:
        g -= output * g.dot(_SQUARES[shape[1]])
    else:
        g -= output * along(g, 1).repeat(shape[1]).reshape(shape)
    return g


def _log_softmax_of_short_rows(self: Any, dim: int) -> Any:
    """``log_softmax`` along the last dimension, where exponentials are harmless as they are."""
    shape = self.shape
    if self.dtype is not F32:
        return None
    if dim == 1 and len(shape) == 2 and self.strides[1] == 4 and self.size <= SMALL and shape[1] in ones32:
        if self.size <= 256 and shape[1] in _SQUARES:
            spread = _exp(self).dot(_SQUARES[shape[1]])
            if _between(spread[:, 0], 1e-3, 1e3):
                return np.subtract(self, _log(spread, spread), spread)
        sums = _exp(self).dot(ones32[shape[1]])
        if _between(sums, 1e-3, 1e3):  # beyond, rounding would show
            return self - np.log(sums).repeat(shape[1]).reshape(shape)
    elif shape and dim == len(shape) - 1 and self.size > 64 and self.max() < 7:
        e = _exp(self.reshape(-1, shape[dim]))
        sums = along(e, 1)
        if sums.item(sums.argmin()) > 1e-3:
            np.log(sums, sums)
            return np.subtract(self.reshape(e.shape), sums[:, None], e).reshape(shape)
    return None


def _log_softmax_backward_of_few_rows(grad_output: Any, output: Any, dim: int) -> Any:
    """``log_softmax_backward`` of a small matrix along its rows."""
    shape = output.shape
    if dim != 1 or len(shape) != 2 or output.size > SMALL:
        return None
    e = _exp(output)
    if e.size <= _FEW and shape[1] in _SQUARES and e.dtype is F32:
        e *= grad_output.dot(_SQUARES[shape[1]])
        return np.subtract(grad_output, e, e)
    e *= along(grad_output, 1).repeat(shape[1]).reshape(shape)
    return grad_output - e


# -- softmax and its logarithm -----------------------------------------------------------------------------------------


#: The columns of softmax and its logarithm.
_ALONG: Any = {"out": errors.OUT_DTYPE, "ruleless": True, "halves": "plain", "layout": "plain", "batched": "dims"}


@op(
    serves=(FLOATS, lambda self, dim: _refusal("", self, dim)),
    **_ALONG,
    native=lambda self, dim: compiled.softmax.forward(self, dim),
    quick=_softmax_of_short_rows,
    forward="reverse",
)
def softmax(self: Any, /, dim: int) -> Any:
    """Exponentials along ``dim``, scaled to sum to one."""
    e = _below_top(self, dim)
    e = np.exp(e, out=e if e.ndim else None)
    e /= along(e, dim, True)
    return e


softmax.derivative(self=lambda grad, result, dim: softmax_backward(grad, result, dim))


@op(
    public=False,
    halves="plain",
    native=lambda grad_output, output, dim: compiled.softmax.backward(grad_output, output, dim),
    quick=_softmax_backward_of_few_rows,
    batched="dims",
)
def softmax_backward(grad_output: Any, output: Any, /, dim: int) -> Any:
    """The gradient of ``softmax`` at its ``output``."""
    g = grad_output * output
    g -= output * along(g, dim, True)
    return g


softmax_backward.derivative(
    grad_output=lambda grad, output, dim: softmax_backward(grad, output, dim),
    output=lambda grad, grad_output, output, dim: (
        grad * (grad_output - sum_dim(grad_output * output, dim, True))
        - grad_output * sum_dim(grad * output, dim, True)
    ),
)


@op(
    serves=(FLOATS, lambda self, dim: _refusal("log_", self, dim)),
    **_ALONG,
    native=lambda self, dim: compiled.softmax.log_forward(self, dim),
    quick=_log_softmax_of_short_rows,
)
def log_softmax(self: Any, /, dim: int) -> Any:
    """The logarithm of ``softmax``, without its rounding."""
    below = _below_top(self, dim)
    below -= np.log(along(np.exp(below), dim, True))
    return below


log_softmax.derivative(self=lambda grad, result, dim: log_softmax_backward(grad, result, dim))


@op(
    public=False,
    halves="plain",
    native=lambda grad_output, output, dim: compiled.softmax.log_backward(grad_output, output, dim),
    quick=_log_softmax_backward_of_few_rows,
    batched="dims",
)
def log_softmax_backward(grad_output: Any, output: Any, /, dim: int) -> Any:
    """The gradient of ``log_softmax`` at its ``output``."""
    e = _exp(output)
    e *= along(grad_output, dim, True)
    return np.subtract(grad_output, e, out=e if e.ndim else None)


log_softmax_backward.derivative(
    grad_output=lambda grad, output, dim: grad - sum_dim(grad * exp(output), dim, True),
    output=lambda grad, grad_output, output, dim: -(grad * exp(output) * sum_dim(grad_output, dim, True)),
)


# -- log-sum-exp -------------------------------------------------------------------------------------------------------


@op(node="LogsumexpBackward0", public=False, halves="single", hidden=("self_sizes",), layout="plain", batched="dims")
def logsumexp_dim(self: Any, /, dim: Any, keepdim: bool = False) -> Any:
    """The logarithms of the sums of exponentials along ``dim``."""
    if self.ndim == 0:
        # of a complex number, the angle that a logarithm gives
        return np.log(np.exp(self - self.real)) + self.real if self.dtype.kind == "c" else self + 0
    real = self.real if self.dtype.kind == "c" else self
    top = np.maximum.reduce(real, axis=dim, keepdims=True, initial=-np.inf)
    top = np.where(np.isinf(top), top.dtype.type(0), top)
    logs = np.log(along(np.exp(self - top), dim, True)) + top
    if not keepdim:
        sizes = kept_sizes(self.shape, dim)
        axes = range(self.ndim) if dim is None else {i % self.ndim for i in dim}
        logs = logs.reshape([n for i, n in enumerate(sizes) if i not in axes])
    return logs[()]


logsumexp_dim.derivative(
    self=lambda grad, self, result, self_sizes, dim, keepdim: (
        spread_dim(grad, self_sizes, dim, keepdim) * shares(self, result, dim, keepdim)
    )
)


@logsumexp_dim.row.tangent
def _logsumexp_tangent(self: Any, result: Any, self_t: Any, dim: Any, keepdim: bool) -> Any:
    """The mean of the tangents, by weights that add up to one: the rounding of ``result`` is in all of them."""
    weights = shares(self, result, dim, keepdim)
    return sum_dim(weights * self_t, dim, keepdim) / sum_dim(weights, dim, keepdim)


@op(auxiliary=("total",), public=False, batched="dims")
def shares(self: Any, total: Any, /, dim: Any, keepdim: bool) -> Any:
    """``exp(self - total)``: what each element is of its sum of exponentials, whose logarithm ``total`` is."""
    if self.ndim and not keepdim:
        total = np.reshape(total, kept_sizes(self.shape, dim))
    return np.exp(self - total)


# ``total`` follows from ``self``: by a way of its own, large derivatives would cancel to their rounding, as they would
# to that of ``total``, by which the shares do not add up to one
shares.derivative(
    self=lambda grad, result, dim: result * (grad - sum_dim(grad * result, dim, True) / sum_dim(result, dim, True))
)


@op(constant=True, public=False, batched="dims")
def hardened(self: Any, /, dim: int) -> Any:
    """One at the first of the largest elements of each line along ``dim``, else zeros."""
    if not self.ndim:
        return np.ones_like(self)
    if not self.shape[dim]:
        raise IndexError(f"max(): Expected reduction dim {dim} to have non-zero size.")
    ones = np.zeros_like(self)
    np.put_along_axis(ones, np.expand_dims(self.argmax(dim), dim), 1, dim)
    return ones
