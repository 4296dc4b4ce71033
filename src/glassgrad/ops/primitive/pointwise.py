"""The elementary functions, elementwise: exponentials, roots, circular and hyperbolic functions, the logistic one."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ...core.row import op
from ...kernels import compiled
from .compare import unsupported, where

ndarray = np.ndarray
_ONE = {np.dtype(code): np.ones((), code) for code in ("f4", "f8", "F", "D")}
_LN2, _LN10 = math.log(2), math.log(10)


def one_of(self: Any) -> Any:
    """A 0-d one of the same dtype: an array for arrays, which ufuncs take faster than a scalar."""
    return _ONE.get(self.dtype, 1) if type(self) is ndarray else 1


def single(function: Any, self: Any) -> Any:
    """``function`` of a half precision array computed in float32, rounded once at the end."""
    return function(self.astype("f4")).astype(self.dtype)


# -- exponentials and logarithms -------------------------------------------------------------------------------------


@op(inplace=True)
def exp(self: Any, /) -> Any:
    """The exponential."""
    if self.size >= compiled.CURVED and self.size >= compiled.least:  # the first is the rarer, so asked first
        if (made := compiled.elementary.made(np.exp, self)) is not None:
            return made
    return np.exp(self)


@op(inplace=True)
def exp2(self: Any, /) -> Any:
    """Two to the power of each element."""
    return np.exp2(self) if self.dtype.kind != "c" else np.exp(self * _LN2)


@op(inplace=True)
def expm1(self: Any, /) -> Any:
    """The exponential minus one, exact near zero."""
    return np.expm1(self)


@op(inplace=True)
def log(self: Any, /) -> Any:
    """The natural logarithm."""
    return np.log(self)


@op(inplace=True)
def log2(self: Any, /) -> Any:
    """The logarithm to base 2."""
    return np.log2(self)


@op(inplace=True)
def log10(self: Any, /) -> Any:
    """The logarithm to base 10."""
    return np.log10(self)


@op(node="Log1PBackward0", inplace=True)
def log1p(self: Any, /) -> Any:
    """The logarithm of one plus each element, exact near zero."""
    return np.log1p(self)


exp.derivative(self=lambda grad, result: grad * result)
exp2.derivative(self=lambda grad, result: grad * (result * _LN2))
expm1.derivative(self=lambda grad, result: grad * (result + 1))
log.derivative(self=lambda grad, self: grad / self)
log2.derivative(self=lambda grad, self: grad / (self * _LN2))
log10.derivative(self=lambda grad, self: grad / (self * _LN10))
log1p.derivative(self=lambda grad, self: grad / (self + 1))

# -- roots -----------------------------------------------------------------------------------------------------------


@op(inplace=True)
def sqrt(self: Any, /) -> Any:
    """The square root."""
    return np.sqrt(self)


@op(inplace=True)
def rsqrt(self: Any, /) -> Any:
    """One over the square root."""
    if self.dtype.itemsize == 2:
        return single(rsqrt.row.kernel, self)
    return np.reciprocal(np.sqrt(self))


sqrt.derivative(self=lambda grad, result: grad / (result + result))
rsqrt.derivative(self=lambda grad, result: grad * (result * result * result) * -0.5)

# -- circular functions ----------------------------------------------------------------------------------------------


@op(inplace=True)
def sin(self: Any, /) -> Any:
    """The sine."""
    if self.size >= compiled.CURVED and self.size >= compiled.least:
        if (made := compiled.elementary.made(np.sin, self)) is not None:
            return made
    return np.sin(self)


@op(inplace=True)
def cos(self: Any, /) -> Any:
    """The cosine."""
    if self.size >= compiled.CURVED and self.size >= compiled.least:
        if (made := compiled.elementary.made(np.cos, self)) is not None:
            return made
    return np.cos(self)


@op(inplace=True)
def tan(self: Any, /) -> Any:
    """The tangent."""
    return np.tan(self)


@op("arcsin", inplace=True)
def asin(self: Any, /) -> Any:
    """The angle with this sine."""
    return np.arcsin(self)


@op("arccos", inplace=True)
def acos(self: Any, /) -> Any:
    """The angle with this cosine."""
    return np.arccos(self)


@op("arctan", inplace=True)
def atan(self: Any, /) -> Any:
    """The angle with this tangent."""
    return np.arctan(self)


sin.derivative(self=lambda grad, self: grad * cos(self))
cos.derivative(self=lambda grad, self: -(grad * sin(self)))
tan.derivative(self=lambda grad, result: grad * (result * result + 1))
asin.derivative(self=lambda grad, self: grad * rsqrt(1 - self * self))
acos.derivative(self=lambda grad, self: -(grad * rsqrt(1 - self * self)))
atan.derivative(self=lambda grad, self: grad / (self * self + 1))

# -- hyperbolic functions --------------------------------------------------------------------------------------------


@op(inplace=True)
def sinh(self: Any, /) -> Any:
    """The hyperbolic sine."""
    return np.sinh(self)


@op(inplace=True)
def cosh(self: Any, /) -> Any:
    """The hyperbolic cosine."""
    return np.cosh(self)


@op(inplace=True)
def tanh(self: Any, /) -> Any:
    """The hyperbolic tangent."""
    if self.size >= compiled.CURVED and self.size >= compiled.least:
        if (made := compiled.elementary.made(np.tanh, self)) is not None:
            return made
    return np.tanh(self)


@op()
def tanh_backward(grad_output: Any, output: Any, /) -> Any:
    """``grad_output`` times one minus the square of a hyperbolic tangent."""
    if output.size >= compiled.least and (made := compiled.activation.tanh_backward(grad_output, output)) is not None:
        return made
    one = one_of(output)
    return grad_output * (one - output * output)


@op("arcsinh", inplace=True)
def asinh(self: Any, /) -> Any:
    """The number with this hyperbolic sine."""
    return np.arcsinh(self)


@op("arccosh", inplace=True)
def acosh(self: Any, /) -> Any:
    """The number, at least zero, with this hyperbolic cosine."""
    return np.arccosh(self)


@op("arctanh", inplace=True)
def atanh(self: Any, /) -> Any:
    """The number with this hyperbolic tangent."""
    return np.arctanh(self)


tanh_backward.internal()
sinh.derivative(self=lambda grad, self: grad * cosh(self))
cosh.derivative(self=lambda grad, self: grad * sinh(self))
tanh.derivative(self=lambda grad, result: tanh_backward(grad, result))
tanh_backward.derivative(
    grad_output=lambda grad, output: tanh_backward(grad, output),
    output=lambda grad, output, grad_output: grad * grad_output * output * -2,
)
asinh.derivative(self=lambda grad, self: grad * rsqrt(self * self + 1))
acosh.derivative(self=lambda grad, self: grad * (rsqrt(self + 1) * rsqrt(self - 1)))
atanh.derivative(self=lambda grad, self: grad / (1 - self * self))

# -- the logistic function -------------------------------------------------------------------------------------------

_MANY = 4000
_HALF = {np.dtype(code): np.array(0.5, code) for code in ("f4", "f8")}


@op(inplace=True)
def sigmoid(self: Any, /) -> Any:
    """The logistic function 1 / (1 + exp(-x))."""
    if self.size >= compiled.least and (made := compiled.activation.sigmoid(self)) is not None:
        return made
    if type(self) is ndarray and self.size > _MANY and self.dtype in _HALF and self.min() > -8:
        half = _HALF[self.dtype]  # faster; further down the tangent would lose the small results
        out = np.tanh(self * half)
        out *= half
        out += half
        return out
    if self.dtype.itemsize == 2:
        return single(sigmoid.row.kernel, self)
    if type(self) is not ndarray:
        return 1 / (np.exp(-self) + 1)
    return np.reciprocal(np.exp(np.negative(self)) + one_of(self))


@op()
def sigmoid_backward(grad_output: Any, output: Any, /) -> Any:
    """``grad_output`` times the slope of the logistic function whose value is ``output``."""
    if output.size >= compiled.least and (g := compiled.activation.sigmoid_backward(grad_output, output)) is not None:
        return g
    one = one_of(output)
    return grad_output * ((one - output) * output)


@op(inplace=True)
def logit(self: Any, /, eps: Any = None) -> Any:
    """The logarithm of the odds p / (1 - p), p first clamped to [eps, 1 - eps]."""
    if self.dtype.kind == "c":
        raise unsupported("logit_cpu", self)
    if self.dtype.itemsize == 2:
        return single(lambda x: logit.row.kernel(x, eps), self)
    if eps is not None:
        kind = self.dtype.type
        self = np.clip(self, kind(eps), kind(1 - eps))
    return np.log(self / (1 - self))


sigmoid_backward.internal()
sigmoid.derivative(self=lambda grad, result: sigmoid_backward(grad, result))
sigmoid_backward.derivative(
    grad_output=lambda grad, output: sigmoid_backward(grad, output),
    output=lambda grad, output, grad_output: grad * grad_output * (1 - (output + output)),
)


@logit.derivative("self")
def slope_of_logit(grad: Any, self: Any, eps: Any) -> Any:
    """The gradient over p (1 - p); zero (NaN without ``eps``) outside the range."""
    slope = grad / (self * (1 - self))
    if eps is None:
        return where(self >= 0, where(self <= 1, slope, _NAN), _NAN)
    return where(self >= eps, where(self <= 1 - eps, slope, 0), 0)


_NAN = math.nan

for _row in (
    exp, exp2, expm1, log, log2, log10, log1p, sqrt, rsqrt, sin, cos, tan, asin, acos, atan, sinh, cosh, tanh, asinh,
    acosh, atanh, sigmoid, logit,
):  # fmt: skip
    _row.typed_as("float")
for _row, _ufunc in (
    (exp, np.exp), (exp2, np.exp2), (expm1, np.expm1), (log, np.log), (log2, np.log2), (log10, np.log10),
    (log1p, np.log1p), (sqrt, np.sqrt), (sin, np.sin), (cos, np.cos), (tan, np.tan), (asin, np.arcsin),
    (acos, np.arccos), (atan, np.arctan), (sinh, np.sinh), (cosh, np.cosh), (tanh, np.tanh), (asinh, np.arcsinh),
    (acosh, np.arccosh), (atanh, np.arctanh),
):  # fmt: skip
    _curved = "CURVED" if _row in (exp, sin, cos, tanh) else "LARGE"  # which kernels/native/elementary.py computes
    _row.applies(_ufunc, f"{_row.row.name}_ufunc(a0)", _curved)
