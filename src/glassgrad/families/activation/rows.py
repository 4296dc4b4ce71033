"""Activations of neural networks: each with its fused backward row, which has a derivative of its own."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ...core.row import COMPLEX, FLOATS, REALS, op
from ...core.tensor import wrap
from ...ground import errors
from ...ground.dtypes import element
from ...kernels import compiled
from ...kernels.choose import choose, drop, keep
from ...kernels.columns import not_implemented
from ..compare.rows import where, zero_like
from ..pointwise.rows import exp, one_of, sigmoid, tanh
from ..special import kernels as special

ndarray = np.ndarray
_F4, _F8 = np.dtype("f4"), np.dtype("f8")
_ZERO = {kind: np.zeros((), kind) for kind in (_F4, _F8)}
_ZERO_F4 = np.float32(0)
_INFINITY = {kind: np.array(np.inf, kind) for kind in (_F4, _F8)}
_SIGN_LOST = (
    "In-place {name} backward calculation is triggered with a negative slope which is not supported. This is caused by "
    "calling in-place forward function with a negative slope, please call out-of-place version instead."
)
_SIGN_LOST_SUPPORT = (
    " File an issue at https://github.com/pytorch/pytorch if you do require supporting in-place leakRelu backward "
    "calculation with negative slope"
)
_MANY = 2500  # elements from which on another form is faster


def zero_of(self: Any) -> Any:
    """A 0-d zero of the same dtype; an array, which ufuncs take faster than a scalar."""
    zero = _ZERO.get(self.dtype)
    return self.dtype.type(0) if zero is None else zero


def limit_of(self: Any, number: Any) -> Any:
    """What elements are compared with: PyTorch compares those of half precision in single precision."""
    return np.float32(number) if self.dtype.char == "e" else number


# -- relu and its like -----------------------------------------------------------------------------------------------


def _relu_refusal(self: Any) -> Exception:
    if self.dtype.kind == "b":
        return RuntimeError("Boolean inputs not supported for relu")
    if self.dtype.kind == "u":
        return not_implemented("clamp_min_scalar_cpu", self)
    return NotImplementedError("clamp is not supported for complex types")


def _relu_of_floats(self: Any) -> Any:
    """``relu`` of an everyday dtype, by the quickest of three forms."""
    kind = self.dtype
    if type(self) is ndarray:
        zero = _ZERO.get(kind)
        if zero is not None:
            return np.maximum(self, zero) if self.size < _MANY else self.clip(zero, _INFINITY[kind])
    elif kind is _F4:
        return self if not self <= 0 else _ZERO_F4
    return None


@op(inplace=True, serves=(REALS, _relu_refusal), quick=_relu_of_floats, out=None, batched="point")
def relu(self: Any, /) -> Any:
    """The elements, negative ones replaced by zero."""
    return np.maximum(self, self.dtype.type(0))


relu.derivative(self=lambda grad, result: threshold_backward(grad, result, 0))


@op(
    public=False,
    native=lambda *inputs, **settings: compiled.activation.threshold_backward(*inputs, **settings),
    batched="point",
)
def threshold_backward(grad_output: Any, self: Any, /, threshold: Any) -> Any:
    """``grad_output``, zero where ``self`` is at most ``threshold``."""
    limit = None if threshold else _ZERO.get(self.dtype)
    return drop(self <= (limit_of(self, threshold) if limit is None else limit), grad_output)


threshold_backward.derivative(
    grad_output=lambda grad, self, threshold: threshold_backward(grad, self, threshold),
    self=lambda grad: zero_like(grad),
)


@op(inplace=True, public=False, serves=(REALS, "threshold_cpu"), batched="point")
def threshold(self: Any, /, threshold: Any, value: Any) -> Any:
    """The elements above ``threshold``, ``value`` for the others."""
    return choose(self <= limit_of(self, threshold), element(value, self.dtype), self)


threshold.derivative(self=lambda grad, self, threshold: threshold_backward(grad, self, threshold))


@op(node="ThresholdBackward1", inplace=True, public=False, serves=(REALS, "threshold_cpu"), batched="point")
def threshold_written(self: Any, /, threshold: Any, value: Any) -> Any:
    """What ``threshold_`` writes."""
    return choose(self <= limit_of(self, threshold), element(value, self.dtype), self)


threshold_written.derivative(self=lambda grad, self, threshold: threshold_backward(grad, self, threshold))


#: The columns of units that are computed element by element.
_UNIT: Any = {"public": False, "halves": "single", "batched": "point"}


@op(
    **_UNIT,
    native=lambda self, negative_slope=0.01: compiled.activation.leaky_relu(self, negative_slope),
    serves=(FLOATS, "leaky_relu_cpu"),
)
def leaky_relu(self: Any, /, negative_slope: Any = 0.01) -> Any:
    """The elements, negative ones times a small slope."""
    down = self * negative_slope
    return np.maximum(self, down) if 0 < negative_slope <= 1 else choose(self > zero_of(self), self, down)


leaky_relu.derivative(self=lambda grad, self, negative_slope: leaky_relu_backward(grad, self, negative_slope))


@op(node="LeakyReluBackward1", inplace=True, public=False, batched="point")
def leaky_relu_written(self: Any, /, negative_slope: Any = 0.01) -> Any:
    """What ``leaky_relu_`` writes."""
    return leaky_relu.row.kernel(self, negative_slope)


@leaky_relu_written.derivative("self")
def slope_from_result(grad: Any, result: Any, negative_slope: Any) -> Any:
    """The gradient of ``leaky_relu_``, whose input is gone: the result must tell its sign."""
    if negative_slope < 0:
        raise RuntimeError(_SIGN_LOST.format(name="leakyReLu") + _SIGN_LOST_SUPPORT)
    return leaky_relu_backward(grad, result, negative_slope)


@op(
    public=False,
    halves="single",
    native=lambda *inputs, **settings: compiled.activation.leaky_relu_backward(*inputs, **settings),
    batched="point",
)
def leaky_relu_backward(grad_output: Any, self: Any, /, negative_slope: Any) -> Any:
    """``grad_output``, times the slope where ``self`` is not positive."""
    return choose(self > zero_of(self), grad_output, grad_output * negative_slope)


leaky_relu_backward.derivative(
    grad_output=lambda grad, self, negative_slope: leaky_relu_backward(grad, self, negative_slope),
    self=lambda grad: zero_like(grad),
)


@op(lenient=True, public=False, batched="point")
def hardtanh(self: Any, /, min_val: Any = -1.0, max_val: Any = 1.0) -> Any:
    """The elements, limited to [min_val, max_val]."""
    kind = self.dtype
    if type(self) is ndarray and kind.char in "fd" and -3e38 < min_val and max_val < 3e38:
        return self.clip(kind.type(min_val), kind.type(max_val))[()]
    return np.minimum(np.maximum(self, element(min_val, kind)), element(max_val, kind))


hardtanh.derivative(self=lambda grad, self, min_val, max_val: hardtanh_backward(grad, self, min_val, max_val))


@op(public=False, batched="point")
def hardtanh_backward(grad_output: Any, self: Any, /, min_val: Any, max_val: Any) -> Any:
    """``grad_output``, zero where ``self`` is not strictly between the limits."""
    return drop(np.logical_or(self <= limit_of(self, min_val), self >= limit_of(self, max_val)), grad_output)


hardtanh_backward.derivative(
    grad_output=lambda grad, self, min_val, max_val: hardtanh_backward(grad, self, min_val, max_val),
    self=lambda grad: zero_like(grad),
)


@op(serves=(FLOATS, "hardshrink_cpu"), layout="elementwise", batched="point", out=errors.OUT_FOUND, aligned=True)
def hardshrink(self: Any, /, lambd: Any = 0.5) -> Any:
    """The elements, those within ``lambd`` of zero replaced by zero."""
    limit = element(lambd, self.dtype)
    return drop(np.logical_and(self >= -limit, self <= limit), self)


hardshrink.derivative(self=lambda grad, self, lambd: shrink_backward(grad, self, lambd))


@op(
    lenient=True, public=False, serves=(FLOATS, "softshrink_check"), halves="single", batched="point",
    out=errors.OUT_FOUND, aligned=True,
)  # fmt: skip
def softshrink(self: Any, /, lambd: Any = 0.5) -> Any:
    """The elements moved towards zero by ``lambd``, but not across it."""
    limit = self.dtype.type(lambd)
    return np.copysign(self - np.minimum(np.maximum(self, -limit), limit), self)  # zeros keep their sign


softshrink.derivative(self=lambda grad, self, lambd: shrink_backward(grad, self, lambd))


@op(public=False, batched="point")
def shrink_backward(grad_output: Any, self: Any, /, lambd: Any) -> Any:
    """``grad_output``, zero where ``self`` is within ``lambd`` of zero."""
    limit = element(lambd, self.dtype)
    return drop(np.logical_and(self >= -limit, self <= limit), grad_output)


shrink_backward.derivative(
    grad_output=lambda grad, self, lambd: shrink_backward(grad, self, lambd),
    self=lambda grad: zero_like(grad),
)


# -- exponential units -----------------------------------------------------------------------------------------------


@op(
    **_UNIT,
    native=lambda self, alpha=1.0, scale=1, input_scale=1: compiled.activation.elu(self, alpha, scale, input_scale),
    serves=(FLOATS, "elu_cpu"),
)
def elu(self: Any, /, alpha: Any = 1.0, scale: Any = 1, input_scale: Any = 1) -> Any:
    """The elements, negative ones replaced by alpha (exp(x) - 1); all times ``scale``."""
    zero = zero_of(self)
    down = np.minimum(self, zero)
    if input_scale != 1:
        down = down * input_scale
    down = np.expm1(down)
    if alpha * scale != 1:
        down = down * (alpha * scale)
    up = np.maximum(self, zero)
    up = up if scale == 1 else up * scale
    return up + down if math.isfinite(alpha * scale) else np.where(self > 0, up, down)  # one of them is zero


elu.derivative(
    self=lambda grad, self, alpha, scale, input_scale: elu_backward(grad, self, alpha, scale, input_scale, False)
)


@op(node="EluBackward1", inplace=True, public=False, batched="point")
def elu_written(self: Any, /, alpha: Any = 1.0, scale: Any = 1, input_scale: Any = 1) -> Any:
    """What ``elu_`` writes."""
    return elu.row.kernel(self, alpha, scale, input_scale)


elu_written.derivative(
    self=lambda grad, result, alpha, scale, input_scale: elu_backward(grad, result, alpha, scale, input_scale, True)
)


@op(public=False, batched="point")
def celu(self: Any, /, alpha: Any = 1.0) -> Any:
    """The elements, negative ones replaced by alpha (exp(x / alpha) - 1)."""
    return elu.row.kernel(self, alpha, 1, 1 / alpha)


celu.derivative(self=lambda grad, self, alpha: elu_backward(grad, self, alpha, 1, 1 / alpha, False))


@op(node="CeluBackward1", inplace=True, public=False, batched="point")
def celu_written(self: Any, /, alpha: Any = 1.0) -> Any:
    """What ``celu_`` writes."""
    return elu.row.kernel(self, alpha, 1, 1 / alpha)


celu_written.derivative(self=lambda grad, result, alpha: elu_backward(grad, result, alpha, 1, 1 / alpha, True))


@op(**_UNIT, native=lambda *inputs, **settings: compiled.activation.elu_backward(*inputs, **settings))
def elu_backward(
    grad_output: Any, self_or_result: Any, /, alpha: Any, scale: Any, input_scale: Any, is_result: Any
) -> Any:
    """``grad_output`` times the slope of ``elu``, found from its input or from its result."""
    x = self_or_result
    if is_result:
        if alpha < 0:
            raise RuntimeError(_SIGN_LOST.format(name="elu"))
        down = (x + alpha * scale) * input_scale
    else:
        down = np.fmin(x, zero_of(x))  # NaN counts as positive
        down = np.exp(down if input_scale == 1 else down * input_scale)
        if input_scale == alpha == scale == 1:
            return grad_output * down  # one where x is positive
        if input_scale * alpha * scale != 1:
            down = down * (input_scale * alpha * scale)
    return grad_output * choose(x <= zero_of(x), down, np.full_like(x, scale) if scale != 1 else np.ones_like(x))


@elu_backward.derivative("grad_output", "self_or_result")
def bends_of_elu(
    grad: Any, grad_output: Any, self_or_result: Any, alpha: Any, scale: Any, input_scale: Any, is_result: Any
) -> Any:
    """The gradients of elu's slope: the slope again, and its own slope below zero."""
    onward = elu_backward(grad, self_or_result, alpha, scale, input_scale, is_result)
    if is_result:
        bend = grad * grad_output * input_scale
    else:
        below = where(self_or_result < 0, self_or_result, 0)  # elsewhere the exponential may be infinite
        bend = grad * grad_output * exp(below * input_scale) * (input_scale * input_scale * alpha * scale)
    return onward, where(self_or_result < 0, bend, 0)


# -- units of the normal distribution --------------------------------------------------------------------------------

_ROOT_HALF, _ROOT_2PI = math.sqrt(0.5), math.sqrt(2 * math.pi)
_TANH_SCALE, _CUBIC = math.sqrt(2 / math.pi), 0.044715


@op(
    **_UNIT,
    few=True,
    native=lambda self, approximate="none": compiled.activation.gelu(self, approximate),
    serves=(FLOATS, "GeluKernelImpl"),
    out=errors.OUT_FOUND,
    aligned=True,
    layout="elementwise",
)
def gelu(self: Any, /, approximate: Any = "none") -> Any:
    """x times the normal distribution function of x, exact or by a hyperbolic tangent."""
    if approximate == "tanh":
        return (np.tanh((self * self * _CUBIC + 1) * self * _TANH_SCALE) + 1) * self * 0.5
    return (special.erf(self * _ROOT_HALF) + 1) * self * 0.5


gelu.derivative(self=lambda grad, self, approximate: gelu_backward(grad, self, approximate))


@op(
    **_UNIT,
    few=True,
    native=lambda grad_output, self, approximate="none": compiled.activation.gelu_backward(
        grad_output, self, approximate
    ),
)
def gelu_backward(grad_output: Any, self: Any, /, approximate: Any = "none") -> Any:
    """``grad_output`` times the slope of ``gelu``."""
    x = self
    square = x * x
    if approximate == "tanh":
        t = np.tanh((square * _CUBIC + 1) * x * _TANH_SCALE)
        return grad_output * (((1 - t * t) * x * (square * (3 * _CUBIC) + 1) * _TANH_SCALE + t + 1) * 0.5)
    return grad_output * ((special.erf(x * _ROOT_HALF) + 1) * 0.5 + x * np.exp(square * -0.5) * (1 / _ROOT_2PI))


@gelu_backward.derivative("grad_output", "self")
def bends_of_gelu(grad: Any, grad_output: Any, self: Any, approximate: Any) -> Any:
    """The gradients of gelu's slope: the slope again, and its own slope."""
    onward = gelu_backward(grad, self, approximate)
    square = self * self
    if approximate == "tanh":
        u = (square * _CUBIC + 1) * self * _TANH_SCALE
        t, twice = tanh(u), u + u
        inner = (square * (3 * _CUBIC) + 1) * _TANH_SCALE
        bend = (
            sigmoid(twice)
            * sigmoid(-twice)
            * 4
            * (inner + self * (self * (3 * _CUBIC * _TANH_SCALE) - t * inner * inner))
        )  # 1 - t * t would cancel
    else:
        bend = exp(square * -0.5) * (2 - square) * (1 / _ROOT_2PI)
    return onward, grad * grad_output * bend


# -- units of the logistic function ----------------------------------------------------------------------------------


def _silu_of_few(self: Any) -> Any:
    """``silu`` by fewer calls, where these cost more than the arithmetic."""
    return self / (np.exp(np.negative(self)) + one_of(self)) if self.size < _MANY else None


@op(
    **_UNIT,
    native=lambda self: compiled.activation.silu(self),
    serves=(FLOATS + COMPLEX, "silu_cpu"),
    quick=_silu_of_few,
)
def silu(self: Any, /) -> Any:
    """x times its logistic function."""
    return self * sigmoid.row.kernel(self)


silu.derivative(self=lambda grad, self: silu_backward(grad, self))


@op(**_UNIT, few=True, native=lambda grad_output, self: compiled.activation.silu_backward(grad_output, self))
def silu_backward(grad_output: Any, self: Any, /) -> Any:
    """``grad_output`` times the slope of ``silu``."""
    return grad_output * ((self * (1 - (s := sigmoid.row.kernel(self))) + 1) * s)


@silu_backward.derivative("grad_output", "self")
def bends_of_silu(grad: Any, grad_output: Any, self: Any) -> Any:
    """The gradients of silu's slope: the slope again, and its own slope."""
    s = sigmoid(self)
    bend = s * (1 - s) * (self * (1 - (s + s)) + 2)
    return silu_backward(grad, self), grad * grad_output * bend


@op(**_UNIT, few=True, native=lambda self: compiled.activation.mish(self), serves=(FLOATS, "mish_cpu"))
def mish(self: Any, /) -> Any:
    """x times the hyperbolic tangent of log(1 + exp(x))."""
    return self * np.tanh(_softplus(self))


mish.derivative(self=lambda grad, self: mish_backward(grad, self))


@op(**_UNIT, few=True, native=lambda grad_output, self: compiled.activation.mish_backward(grad_output, self))
def mish_backward(grad_output: Any, self: Any, /) -> Any:
    """``grad_output`` times the slope of ``mish``."""
    return grad_output * (self * sigmoid.row.kernel(self) * (1 - (t := np.tanh(_softplus(self))) * t) + t)


@mish_backward.derivative("grad_output", "self")
def bends_of_mish(grad: Any, grad_output: Any, self: Any) -> Any:
    """The gradients of mish's slope: the slope again, and its own slope."""
    s, t = sigmoid(self), tanh(softplus(self, 1, 20))
    bend = s * (1 - t * t) * (self * ((1 - s) - (t + t) * s) + 2)
    return mish_backward(grad, self), grad * grad_output * bend


def _softplus(x: Any) -> Any:
    """log(1 + exp(x)) without overflow."""
    return np.log1p(np.exp(-np.abs(x))) + np.maximum(x, zero_of(x))


@op(
    **_UNIT,
    native=lambda self, beta=1, threshold=20: compiled.activation.softplus(self, beta, threshold),
    serves=(FLOATS, "softplus_cpu"),
    out=errors.OUT_FOUND,
    aligned=True,
)
def softplus(self: Any, /, beta: Any = 1, threshold: Any = 20) -> Any:
    """log(1 + exp(beta x)) / beta; x itself where ``beta`` x exceeds ``threshold``."""
    scaled = self if beta == 1 else self * beta
    soft = _softplus(scaled) if beta == 1 else _softplus(scaled) / beta
    if beta == 1 and threshold >= 17 and self.dtype is _F4:  # up there the two are one number
        return soft
    return choose(scaled > threshold, self, soft)


softplus.derivative(self=lambda grad, self, beta, threshold: softplus_backward(grad, self, beta, threshold))


@op(**_UNIT, few=True, native=lambda *inputs, **settings: compiled.activation.softplus_backward(*inputs, **settings))
def softplus_backward(grad_output: Any, self: Any, /, beta: Any, threshold: Any) -> Any:
    """``grad_output`` times the slope of ``softplus``."""
    scaled = self if beta == 1 else self * beta
    slope, above = sigmoid.row.kernel(scaled), scaled > threshold
    return grad_output * (choose(above, np.ones_like(slope), slope) if np.any(above) else slope)


@softplus_backward.derivative("grad_output", "self")
def bends_of_softplus(grad: Any, grad_output: Any, self: Any, beta: Any, threshold: Any) -> Any:
    """The gradients of softplus's slope: the slope again, and its own slope up to the threshold."""
    s = sigmoid(self * beta)
    bend = grad * grad_output * (s * (1 - s) * beta)
    return softplus_backward(grad, self, beta, threshold), where(self * beta >= threshold, 0, bend)  # of NaN, NaN


@op(
    node="LogSigmoidBackward0",
    **_UNIT,
    shows={"buffer": ("self", lambda tensor: wrap(np.exp(-np.abs(tensor._array))))},
    native=lambda self: compiled.activation.logsigmoid(self),
    serves=(FLOATS, "log_sigmoid_cpu"),
    out="expected scalar type {Wanted} but found {Found}",
    layout="plain",
)
def logsigmoid(self: Any, /) -> Any:
    """The logarithm of the logistic function."""
    return np.minimum(self, zero_of(self)) - np.log1p(np.exp(-np.abs(self)))


logsigmoid.derivative(self=lambda grad, self: log_sigmoid_backward(grad, self))


@op(**_UNIT, native=lambda grad_output, self: compiled.activation.logsigmoid_backward(grad_output, self))
def log_sigmoid_backward(grad_output: Any, self: Any, /) -> Any:
    """``grad_output`` times the slope of ``logsigmoid``."""
    return grad_output * sigmoid.row.kernel(-self)


@log_sigmoid_backward.derivative("grad_output", "self")
def bends_of_logsigmoid(grad: Any, grad_output: Any, self: Any) -> Any:
    """The gradients of the slope of logsigmoid: the slope again, and its own slope."""
    s = sigmoid(self)
    return log_sigmoid_backward(grad, self), grad * grad_output * (s * (s - 1))


# -- their piecewise straight forms ----------------------------------------------------------------------------------


@op(inplace=True, public=False, serves=(FLOATS, "hardsigmoid_cpu"), halves="single", batched="point")
def hardsigmoid(self: Any, /) -> Any:
    """x / 6 + 1/2, limited to [0, 1]."""
    return np.minimum(np.maximum(self + 3, self.dtype.type(0)), self.dtype.type(6)) / 6


_SIXTH = float(np.float32(1 / 6))  # in single precision, as PyTorch has it, for float64 too


hardsigmoid.derivative(self=lambda grad, self: hardsigmoid_backward(grad, self))


@op(
    inplace=True,
    **_UNIT,
    few=True,
    native=lambda self: compiled.activation.hardswish(self),
    serves=(FLOATS, "hardswish_cpu"),
)
def hardswish(self: Any, /) -> Any:
    """x times its hardsigmoid."""
    return self * np.minimum(np.maximum(self + 3, self.dtype.type(0)), self.dtype.type(6)) / 6


hardswish.derivative(self=lambda grad, self: hardswish_backward(grad, self))


@op(public=False, halves="single", batched="point")
def hardsigmoid_backward(grad_output: Any, self: Any, /) -> Any:
    """A sixth of ``grad_output`` between -3 and 3, zero outside."""
    return keep(np.logical_and(self > -3, self < 3), grad_output * _SIXTH)


hardsigmoid_backward.derivative(
    grad_output=lambda grad, self: hardsigmoid_backward(grad, self),
    self=lambda grad: zero_like(grad),
)


@op(**_UNIT, few=True, native=lambda grad_output, self: compiled.activation.hardswish_backward(grad_output, self))
def hardswish_backward(grad_output: Any, self: Any, /) -> Any:
    """``grad_output`` times the slope of ``hardswish``: zero up to -3, one from 3, x / 3 + 1/2 between."""
    return drop(self <= -3, choose(self < 3, grad_output * (self / 3 + 0.5), grad_output))


hardswish_backward.derivative(
    grad_output=lambda grad, self: hardswish_backward(grad, self),
    self=lambda grad, grad_output, self: where(self > -3, where(self < 3, grad * grad_output * _THIRD, 0), 0),
)


_THIRD = 1 / 3
