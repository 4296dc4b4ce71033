"""Activations of neural networks and their ways back: each number is read once, and its result written once."""

from __future__ import annotations

import math
from typing import Any

from ...kernels.native.each import each
from ...kernels.native.mathematics import exp, expm1_below, like, normal
from ...kernels.native.mathematics import sigmoid as sigmoid_of
from ...kernels.native.mathematics import softplus as softplus_of
from ...kernels.native.mathematics import tanh as tanh_of

_PER_ROOT_2PI = 1 / math.sqrt(2 * math.pi)
_TANH_SCALE, _CUBIC = math.sqrt(2 / math.pi), 0.044715


# -- of the normal distribution ----------------------------------------------------------------------------------------


@each()
def _gelu(x: Any) -> Any:
    return x * normal(x)


@each(2)
def _gelu_backward(grad: Any, x: Any) -> Any:
    return grad * (normal(x) + x * (exp(x * x * like(-0.5, x)) * like(_PER_ROOT_2PI, x)))


@each()
def _gelu_tanh(x: Any) -> Any:
    inner = like(_TANH_SCALE, x) * (x + like(_CUBIC, x) * x * x * x)
    return x * like(0.5, x) * (like(1, x) + tanh_of(inner))


@each(2)
def _gelu_tanh_backward(grad: Any, x: Any) -> Any:
    square = x * x
    one = like(1, x)
    u = like(_TANH_SCALE, x) * (x + like(_CUBIC, x) * square * x)
    e = exp(like(-2, x) * abs(u))
    per = one / (one + e)
    above = per if u > like(0, x) else e * per  # half of one and the tangent
    inner = like(_TANH_SCALE, x) * (one + like(3 * _CUBIC, x) * square)
    return grad * (above + like(2, x) * x * (e * per * per) * inner)


def gelu(self: Any, approximate: Any) -> Any:
    """x times the normal distribution function of x."""
    return _gelu_tanh(self) if approximate == "tanh" else _gelu(self)


def gelu_backward(grad_output: Any, self: Any, approximate: Any) -> Any:
    """The gradient of ``gelu``."""
    return (_gelu_tanh_backward if approximate == "tanh" else _gelu_backward)(grad_output, self)


# -- of the logistic function ------------------------------------------------------------------------------------------


@each()
def sigmoid(x: Any) -> Any:
    """The logistic function."""
    return sigmoid_of(x)


@each()
def silu(x: Any) -> Any:
    """x times its logistic function."""
    return x / (like(1, x) + exp(-x))


@each(2)
def silu_backward(grad: Any, x: Any) -> Any:
    """The gradient of ``silu``."""
    s, one = sigmoid_of(x), like(1, x)
    return grad * (s * (one + x * (one - s)))


@each()
def _softplus(x: Any, beta: Any, inverse: Any, threshold: Any) -> Any:
    scaled = x * like(beta, x)
    soft = softplus_of(scaled) * like(inverse, x)
    return x if scaled > like(threshold, x) else soft


def softplus(self: Any, beta: Any, threshold: Any) -> Any:
    """log(1 + exp(beta x)) / beta; x itself where ``beta`` x exceeds ``threshold``."""
    return _softplus(self, beta, 1 / float(beta), threshold) if beta else None


@each(2)
def softplus_backward(grad: Any, x: Any, beta: Any, threshold: Any) -> Any:
    """The gradient of ``softplus``."""
    scaled = x * like(beta, x)
    slope = sigmoid_of(scaled)
    return grad if scaled > like(threshold, x) else grad * slope


@each()
def mish(x: Any) -> Any:
    """x times the hyperbolic tangent of log(1 + exp(x))."""
    e = exp(x)
    n = e * (e + like(2, x))
    bent = x * (n / (n + like(2, x)))
    return x if x > like(20, x) else bent


@each(2)
def mish_backward(grad: Any, x: Any) -> Any:
    """The gradient of ``mish``."""
    one, two = like(1, x), like(2, x)
    e = exp(like(20, x) if x > like(20, x) else x)
    n = e * (e + two)
    t = n / (n + two)
    slope = t + x * (e / (one + e)) * (two / (n + two)) * (one + t)
    return grad if x > like(20, x) else grad * slope


@each()
def logsigmoid(x: Any) -> Any:
    """The logarithm of the logistic function."""
    return -softplus_of(-x)


@each(2)
def logsigmoid_backward(grad: Any, x: Any) -> Any:
    """The gradient of ``logsigmoid``."""
    return grad * sigmoid_of(-x)


# -- with an exponential below zero ------------------------------------------------------------------------------------


@each()
def _elu(x: Any, steep: Any, down: Any, up: Any) -> Any:
    below = like(0, x) if x > like(0, x) else x
    bent = expm1_below(below * like(steep, x)) * like(down, x)
    return x * like(up, x) if x > like(0, x) else bent


def elu(self: Any, alpha: Any, scale: Any, input_scale: Any) -> Any:
    """The elements, negative ones replaced by alpha (exp(x) - 1); all times ``scale``."""
    return _elu(self, input_scale, alpha * scale, scale) if input_scale > 0 else None


@each(2)
def _elu_backward(grad: Any, x: Any, steep: Any, down: Any, up: Any) -> Any:
    below = x if x <= like(0, x) else like(0, x)
    slope = exp(below * like(steep, x)) * like(down, x)
    return grad * (slope if x <= like(0, x) else like(up, x))  # NaN counts as positive


def elu_backward(grad_output: Any, self: Any, alpha: Any, scale: Any, input_scale: Any, is_result: Any) -> Any:
    """The gradient of ``elu``, from its input."""
    if is_result or not input_scale > 0:
        return None
    return _elu_backward(grad_output, self, input_scale, input_scale * alpha * scale, scale)


# -- piecewise straight, and slopes from results -----------------------------------------------------------------------


@each()
def leaky_relu(x: Any, negative_slope: Any) -> Any:
    """The elements, negative ones times a small slope."""
    return x if x > like(0, x) else x * like(negative_slope, x)


@each(2)
def leaky_relu_backward(grad: Any, x: Any, negative_slope: Any) -> Any:
    """The gradient of ``leaky_relu``."""
    return grad if x > like(0, x) else grad * like(negative_slope, x)


@each(2)
def threshold_backward(grad: Any, x: Any, threshold: Any) -> Any:
    """``grad``, zero where ``x`` is at most ``threshold``."""
    return like(0, x) if x <= like(threshold, x) else grad


@each()
def hardswish(x: Any) -> Any:
    """x times its piecewise straight logistic function."""
    gate = x + like(3, x)
    gate = like(0, x) if gate < like(0, x) else gate
    gate = like(6, x) if gate > like(6, x) else gate
    return x * gate / like(6, x)


@each(2)
def hardswish_backward(grad: Any, x: Any) -> Any:
    """The gradient of ``hardswish``."""
    between = grad * (x / like(3, x) + like(0.5, x))
    between = between if x < like(3, x) else grad
    return like(0, x) if x <= like(-3, x) else between


@each(2)
def sigmoid_backward(grad: Any, output: Any) -> Any:
    """The gradient of ``sigmoid`` at its ``output``."""
    return grad * ((like(1, output) - output) * output)


@each(2)
def tanh_backward(grad: Any, output: Any) -> Any:
    """The gradient of a hyperbolic tangent at its ``output``."""
    return grad * (like(1, output) - output * output)
