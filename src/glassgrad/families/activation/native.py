"""Activations of neural networks and their ways back: each number is read once, and its result written once."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ...kernels.native.binding import apart, kernel, shared_out, wide_vectors
from ...kernels.native.mathematics import exp, expm1_below, like, normal
from ...kernels.native.mathematics import sigmoid as sigmoid_of
from ...kernels.native.mathematics import softplus as softplus_of
from ...kernels.native.mathematics import tanh as tanh_of

F4, F8 = np.dtype("f4"), np.dtype("f8")
_PER_ROOT_2PI = 1 / math.sqrt(2 * math.pi)
_TANH_SCALE, _CUBIC = math.sqrt(2 / math.pi), 0.044715


def _over_all(work: Any, arrays: tuple[Any, ...], *settings: Any) -> Any:
    """What ``work`` writes for each element of ``arrays`` of one shape and dtype; ``None`` if they are not served."""
    d, shape = arrays[0].dtype, arrays[0].shape
    if d is not F4 and d is not F8:
        return None
    order = "C"
    for a in arrays:
        if a.dtype is not d or a.shape != shape:
            return None
        if not a.flags.carray:
            order = "F" if arrays[0].flags.fnc else "C" if arrays[0].flags.c_contiguous else ""
    if not order or not arrays[0].size:
        return None
    if order == "F":
        result = _over_all(work, tuple([a.T for a in arrays]), *settings)
        return None if result is None else result.T
    flat = [(a if a.flags.carray else np.array(a, order="C")).reshape(-1) for a in arrays]
    out = np.empty(shape, d)
    shared_out(work, out.size, out.size, *flat, out.reshape(-1), *settings)
    return out


# -- of the normal distribution ----------------------------------------------------------------------------------------


@kernel
def _gelu(first: Any, last: Any, x: Any, out: Any) -> None:
    apart()
    wide_vectors()
    x, out = x[first:last], out[first:last]
    for i in range(out.size):
        v = x[i]
        out[i] = v * normal(v)


@kernel
def _gelu_backward(first: Any, last: Any, grad: Any, x: Any, out: Any) -> None:
    apart()
    wide_vectors()
    grad, x, out = grad[first:last], x[first:last], out[first:last]
    for i in range(out.size):
        v = x[i]
        out[i] = grad[i] * (normal(v) + v * (exp(v * v * like(-0.5, v)) * like(_PER_ROOT_2PI, v)))


@kernel
def _gelu_tanh(first: Any, last: Any, x: Any, out: Any) -> None:
    apart()
    wide_vectors()
    x, out = x[first:last], out[first:last]
    for i in range(out.size):
        v = x[i]
        inner = like(_TANH_SCALE, v) * (v + like(_CUBIC, v) * v * v * v)
        out[i] = v * like(0.5, v) * (like(1, v) + tanh_of(inner))


@kernel
def _gelu_tanh_backward(first: Any, last: Any, grad: Any, x: Any, out: Any) -> None:
    apart()
    wide_vectors()
    grad, x, out = grad[first:last], x[first:last], out[first:last]
    for i in range(out.size):
        v = x[i]
        square = v * v
        one = like(1, v)
        u = like(_TANH_SCALE, v) * (v + like(_CUBIC, v) * square * v)
        e = exp(like(-2, v) * abs(u))
        per = one / (one + e)
        above = per if u > like(0, v) else e * per  # half of one and the tangent
        inner = like(_TANH_SCALE, v) * (one + like(3 * _CUBIC, v) * square)
        out[i] = grad[i] * (above + like(2, v) * v * (e * per * per) * inner)


def gelu(self: Any, approximate: Any) -> Any:
    """x times the normal distribution function of x."""
    return _over_all(_gelu_tanh if approximate == "tanh" else _gelu, (self,))


def gelu_backward(grad_output: Any, self: Any, approximate: Any) -> Any:
    """The gradient of ``gelu``."""
    return _over_all(_gelu_tanh_backward if approximate == "tanh" else _gelu_backward, (grad_output, self))


# -- of the logistic function ------------------------------------------------------------------------------------------


@kernel
def _sigmoid(first: Any, last: Any, x: Any, out: Any) -> None:
    apart()
    wide_vectors()
    x, out = x[first:last], out[first:last]
    for i in range(out.size):
        out[i] = sigmoid_of(x[i])


def sigmoid(self: Any) -> Any:
    """The logistic function."""
    return _over_all(_sigmoid, (self,))


@kernel
def _silu(first: Any, last: Any, x: Any, out: Any) -> None:
    apart()
    wide_vectors()
    x, out = x[first:last], out[first:last]
    for i in range(out.size):
        out[i] = x[i] / (like(1, x[i]) + exp(-x[i]))


def silu(self: Any) -> Any:
    """x times its logistic function."""
    return _over_all(_silu, (self,))


@kernel
def _silu_backward(first: Any, last: Any, grad: Any, x: Any, out: Any) -> None:
    apart()
    wide_vectors()
    grad, x, out = grad[first:last], x[first:last], out[first:last]
    for i in range(out.size):
        v = x[i]
        s, one = sigmoid_of(v), like(1, v)
        out[i] = grad[i] * (s * (one + v * (one - s)))


def silu_backward(grad_output: Any, self: Any) -> Any:
    """The gradient of ``silu``."""
    return _over_all(_silu_backward, (grad_output, self))


@kernel
def _softplus(first: Any, last: Any, x: Any, out: Any, beta: Any, threshold: Any) -> None:
    apart()
    wide_vectors()
    b, inverse, limit = like(beta, x[0]), like(1 / beta, x[0]), like(threshold, x[0])
    x, out = x[first:last], out[first:last]
    for i in range(out.size):
        scaled = x[i] * b
        soft = softplus_of(scaled) * inverse
        out[i] = x[i] if scaled > limit else soft


def softplus(self: Any, beta: Any, threshold: Any) -> Any:
    """log(1 + exp(beta x)) / beta; x itself where ``beta`` x exceeds ``threshold``."""
    if not beta:
        return None
    return _over_all(_softplus, (self,), float(beta), float(threshold))


@kernel
def _softplus_backward(first: Any, last: Any, grad: Any, x: Any, out: Any, beta: Any, threshold: Any) -> None:
    apart()
    wide_vectors()
    b, limit = like(beta, x[0]), like(threshold, x[0])
    grad, x, out = grad[first:last], x[first:last], out[first:last]
    for i in range(out.size):
        scaled = x[i] * b
        slope = sigmoid_of(scaled)
        out[i] = grad[i] if scaled > limit else grad[i] * slope


def softplus_backward(grad_output: Any, self: Any, beta: Any, threshold: Any) -> Any:
    """The gradient of ``softplus``."""
    return _over_all(_softplus_backward, (grad_output, self), float(beta), float(threshold))


@kernel
def _mish(first: Any, last: Any, x: Any, out: Any) -> None:
    apart()
    wide_vectors()
    x, out = x[first:last], out[first:last]
    for i in range(out.size):
        v = x[i]
        e = exp(v)
        n = e * (e + like(2, v))
        bent = v * (n / (n + like(2, v)))
        out[i] = v if v > like(20, v) else bent


def mish(self: Any) -> Any:
    """x times the hyperbolic tangent of log(1 + exp(x))."""
    return _over_all(_mish, (self,))


@kernel
def _mish_backward(first: Any, last: Any, grad: Any, x: Any, out: Any) -> None:
    apart()
    wide_vectors()
    grad, x, out = grad[first:last], x[first:last], out[first:last]
    for i in range(out.size):
        v = x[i]
        one, two = like(1, v), like(2, v)
        e = exp(like(40, v) if v > like(40, v) else v)
        n = e * (e + two)
        t = n / (n + two)
        out[i] = grad[i] * (t + v * (e / (one + e)) * (two / (n + two)) * (one + t))


def mish_backward(grad_output: Any, self: Any) -> Any:
    """The gradient of ``mish``."""
    return _over_all(_mish_backward, (grad_output, self))


@kernel
def _logsigmoid(first: Any, last: Any, x: Any, out: Any) -> None:
    apart()
    wide_vectors()
    x, out = x[first:last], out[first:last]
    for i in range(out.size):
        out[i] = -softplus_of(-x[i])


def logsigmoid(self: Any) -> Any:
    """The logarithm of the logistic function."""
    return _over_all(_logsigmoid, (self,))


@kernel
def _logsigmoid_backward(first: Any, last: Any, grad: Any, x: Any, out: Any) -> None:
    apart()
    wide_vectors()
    grad, x, out = grad[first:last], x[first:last], out[first:last]
    for i in range(out.size):
        out[i] = grad[i] * sigmoid_of(-x[i])


def logsigmoid_backward(grad_output: Any, self: Any) -> Any:
    """The gradient of ``logsigmoid``."""
    return _over_all(_logsigmoid_backward, (grad_output, self))


# -- with an exponential below zero ------------------------------------------------------------------------------------


@kernel
def _elu(first: Any, last: Any, x: Any, out: Any, alpha: Any, scale: Any, input_scale: Any) -> None:
    apart()
    wide_vectors()
    steep, down, up = like(input_scale, x[0]), like(alpha * scale, x[0]), like(scale, x[0])
    x, out = x[first:last], out[first:last]
    for i in range(out.size):
        v = x[i]
        below = like(0, v) if v > like(0, v) else v
        bent = expm1_below(below * steep) * down
        out[i] = v * up if v > like(0, v) else bent


def elu(self: Any, alpha: Any, scale: Any, input_scale: Any) -> Any:
    """The elements, negative ones replaced by alpha (exp(x) - 1); all times ``scale``."""
    if not input_scale > 0:
        return None
    return _over_all(_elu, (self,), float(alpha), float(scale), float(input_scale))


@kernel
def _elu_backward(first: Any, last: Any, grad: Any, x: Any, out: Any, alpha: Any, scale: Any, input_scale: Any) -> None:
    apart()
    wide_vectors()
    steep, down, up = like(input_scale, x[0]), like(input_scale * alpha * scale, x[0]), like(scale, x[0])
    grad, x, out = grad[first:last], x[first:last], out[first:last]
    for i in range(out.size):
        v = x[i]
        below = v if v <= like(0, v) else like(0, v)
        slope = exp(below * steep) * down
        out[i] = grad[i] * (slope if v <= like(0, v) else up)  # NaN counts as positive


def elu_backward(grad_output: Any, self: Any, alpha: Any, scale: Any, input_scale: Any, is_result: Any) -> Any:
    """The gradient of ``elu``, from its input."""
    if is_result or not input_scale > 0:
        return None
    return _over_all(_elu_backward, (grad_output, self), float(alpha), float(scale), float(input_scale))


# -- piecewise straight, and slopes from results -----------------------------------------------------------------------


@kernel
def _leaky_relu(first: Any, last: Any, x: Any, out: Any, negative_slope: Any) -> None:
    apart()
    slope = like(negative_slope, x[0])
    x, out = x[first:last], out[first:last]
    for i in range(out.size):
        out[i] = x[i] if x[i] > like(0, x[i]) else x[i] * slope


def leaky_relu(self: Any, negative_slope: Any) -> Any:
    """The elements, negative ones times a small slope."""
    return _over_all(_leaky_relu, (self,), float(negative_slope))


@kernel
def _leaky_relu_backward(first: Any, last: Any, grad: Any, x: Any, out: Any, negative_slope: Any) -> None:
    apart()
    slope = like(negative_slope, x[0])
    grad, x, out = grad[first:last], x[first:last], out[first:last]
    for i in range(out.size):
        out[i] = grad[i] if x[i] > like(0, x[i]) else grad[i] * slope


def leaky_relu_backward(grad_output: Any, self: Any, negative_slope: Any) -> Any:
    """The gradient of ``leaky_relu``."""
    return _over_all(_leaky_relu_backward, (grad_output, self), float(negative_slope))


@kernel
def _threshold_backward(first: Any, last: Any, grad: Any, x: Any, out: Any, threshold: Any) -> None:
    apart()
    limit = like(threshold, x[0])
    grad, x, out = grad[first:last], x[first:last], out[first:last]
    for i in range(out.size):
        out[i] = like(0, x[i]) if x[i] <= limit else grad[i]


def threshold_backward(grad_output: Any, self: Any, threshold: Any) -> Any:
    """``grad_output``, zero where ``self`` is at most ``threshold``."""
    return _over_all(_threshold_backward, (grad_output, self), float(threshold))


@kernel
def _hardswish(first: Any, last: Any, x: Any, out: Any) -> None:
    apart()
    x, out = x[first:last], out[first:last]
    for i in range(out.size):
        v = x[i]
        gate = v + like(3, v)
        gate = like(0, v) if gate < like(0, v) else gate
        gate = like(6, v) if gate > like(6, v) else gate
        out[i] = v * gate / like(6, v)


def hardswish(self: Any) -> Any:
    """x times its piecewise straight logistic function."""
    return _over_all(_hardswish, (self,))


@kernel
def _hardswish_backward(first: Any, last: Any, grad: Any, x: Any, out: Any) -> None:
    apart()
    grad, x, out = grad[first:last], x[first:last], out[first:last]
    for i in range(out.size):
        v = x[i]
        between = grad[i] * (v / like(3, v) + like(0.5, v))
        between = between if v < like(3, v) else grad[i]
        out[i] = like(0, v) if v <= like(-3, v) else between


def hardswish_backward(grad_output: Any, self: Any) -> Any:
    """The gradient of ``hardswish``."""
    return _over_all(_hardswish_backward, (grad_output, self))


@kernel
def _sigmoid_backward(first: Any, last: Any, grad: Any, x: Any, out: Any) -> None:
    apart()
    grad, x, out = grad[first:last], x[first:last], out[first:last]
    for i in range(out.size):
        out[i] = grad[i] * ((like(1, x[i]) - x[i]) * x[i])


def sigmoid_backward(grad_output: Any, output: Any) -> Any:
    """The gradient of ``sigmoid`` at its ``output``."""
    return _over_all(_sigmoid_backward, (grad_output, output))


@kernel
def _tanh_backward(first: Any, last: Any, grad: Any, x: Any, out: Any) -> None:
    apart()
    grad, x, out = grad[first:last], x[first:last], out[first:last]
    for i in range(out.size):
        out[i] = grad[i] * (like(1, x[i]) - x[i] * x[i])


def tanh_backward(grad_output: Any, output: Any) -> Any:
    """The gradient of a hyperbolic tangent at its ``output``."""
    return _over_all(_tanh_backward, (grad_output, output))
