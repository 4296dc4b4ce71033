"""Functions of one real or complex variable, elementwise, and those of two that are no arithmetic."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ...kernels import special
from ...kernels.choose import keep
from ..declare import op
from .compare import maximum, unsupported, where, zero_like

ndarray = np.ndarray
_ONE = {np.dtype(code): np.ones((), code) for code in ("f4", "f8", "F", "D")}
_LN2, _LN10 = math.log(2), math.log(10)
_I = 1j


def single(function: Any, self: Any) -> Any:
    """``function`` of a half precision array computed in float32, rounded once at the end."""
    return function(self.astype("f4")).astype(self.dtype)


def _floats(function: Any, name: str) -> Any:
    """``function`` for real floats only, half precision by way of float32."""

    def serve(self: Any) -> Any:
        if self.dtype.kind == "c":
            raise unsupported(name, self)
        return function(self) if self.dtype.itemsize > 2 else single(function, self)

    return serve


# -- exponentials and logarithms -------------------------------------------------------------------------------------


@op(inplace=True)
def exp(self: Any, /) -> Any:
    """The exponential."""
    return np.exp(self)


@op("special_exp2", inplace=True)
def exp2(self: Any, /) -> Any:
    """Two to the power of each element."""
    return np.exp2(self) if self.dtype.kind != "c" else np.exp(self * _LN2)


@op("special_expm1", inplace=True)
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


@op("special_log1p", node="Log1PBackward0", inplace=True)
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
    return np.sin(self)


@op(inplace=True)
def cos(self: Any, /) -> Any:
    """The cosine."""
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
    return np.tanh(self)


@op()
def tanh_backward(grad_output: Any, output: Any, /) -> Any:
    """``grad_output`` times one minus the square of a hyperbolic tangent."""
    one = _ONE.get(output.dtype, 1) if type(output) is ndarray else 1
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
acosh.derivative(self=lambda grad, self: grad * rsqrt(self * self - 1))
atanh.derivative(self=lambda grad, self: grad / (1 - self * self))

# -- the logistic function -------------------------------------------------------------------------------------------

_MANY = 4000
_HALF = {np.dtype(code): np.array(0.5, code) for code in ("f4", "f8")}


@op("special_expit", inplace=True)
def sigmoid(self: Any, /) -> Any:
    """The logistic function 1 / (1 + exp(-x))."""
    if type(self) is ndarray and self.size > _MANY and self.dtype in _HALF and self.min() > -8:
        half = _HALF[self.dtype]  # faster; further down the tangent would lose the small results
        out = np.tanh(self * half)
        out *= half
        out += half
        return out
    if self.dtype.itemsize == 2:
        return single(sigmoid.row.kernel, self)
    one = _ONE.get(self.dtype, 1) if type(self) is ndarray else 1
    return np.reciprocal(np.exp(-self) + one)


@op()
def sigmoid_backward(grad_output: Any, output: Any, /) -> Any:
    """``grad_output`` times the slope of the logistic function whose value is ``output``."""
    one = _ONE.get(output.dtype, 1) if type(output) is ndarray else 1
    return grad_output * ((one - output) * output)


@op("special_logit", inplace=True)
def logit(self: Any, /, eps: Any = None) -> Any:
    """The logarithm of the odds p / (1 - p), p first clamped to [eps, 1 - eps]."""
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

# -- special functions -----------------------------------------------------------------------------------------------

_erf, _erfc, _erfinv = (_floats(f, f"{f.__name__}_cpu") for f in (special.erf, special.erfc, special.erfinv))
_lgamma, _digamma = _floats(special.lgamma, "lgamma_cpu"), _floats(special.digamma, "digamma")


@op("special_erf", inplace=True)
def erf(self: Any, /) -> Any:
    """The error function."""
    return _erf(self)


@op("special_erfc", inplace=True)
def erfc(self: Any, /) -> Any:
    """One minus the error function."""
    return _erfc(self)


@op("special_erfinv", inplace=True)
def erfinv(self: Any, /) -> Any:
    """The inverse of the error function."""
    return _erfinv(self)


@op("special_gammaln", inplace=True)
def lgamma(self: Any, /) -> Any:
    """The logarithm of the absolute value of the gamma function."""
    return _lgamma(self)


@op("special_digamma", "special_psi", inplace=True)
def digamma(self: Any, /) -> Any:
    """The logarithmic derivative of the gamma function."""
    return _digamma(self)


@op(node="PolygammaBackward0")
def polygamma_of(self: Any, /, n: Any) -> Any:
    """The derivative of digamma of order ``n``."""
    if self.dtype.itemsize == 2:
        return single(lambda x: special.polygamma(n, x), self)
    return special.polygamma(n, self)


@op("special_sinc", inplace=True)
def sinc(self: Any, /) -> Any:
    """sin(pi x) / (pi x), one at zero."""
    if self.dtype.itemsize == 2:
        return single(sinc.row.kernel, self)
    zero = self == 0
    x = self * self.dtype.type(math.pi) + zero
    return np.where(zero, self.dtype.type(1), np.sin(x) / x)[()]


polygamma_of.internal()
_SLOPE_OF_ERF = 2 / math.sqrt(math.pi)
_SLOPE_OF_ERFINV = math.sqrt(math.pi) / 2
_PI = math.pi
erf.derivative(self=lambda grad, self: grad * (exp(-(self * self)) * _SLOPE_OF_ERF))
erfc.derivative(self=lambda grad, self: grad * (exp(-(self * self)) * -_SLOPE_OF_ERF))
erfinv.derivative(self=lambda grad, self: grad * (exp(erfinv(self) ** 2) * _SLOPE_OF_ERFINV))
lgamma.derivative(self=lambda grad, self: grad * digamma(self))
digamma.derivative(self=lambda grad, self: grad * polygamma_of(self, 1))
polygamma_of.derivative(self=lambda grad, self, n: grad * polygamma_of(self, n + 1))


@sinc.derivative("self")
def slope_of_sinc(grad: Any, self: Any) -> Any:
    """The gradient times the slope of sinc, zero at zero."""
    x = self * _PI
    return where(self == 0, 0, grad * ((x * cos(x) - sin(x)) / (x * self)))


# -- signs and sizes -------------------------------------------------------------------------------------------------


size_of = abs  # the name is the row's below


@op("absolute", inplace=True)
def abs(self: Any, /) -> Any:
    """The absolute value."""
    if self.dtype.kind == "b":
        raise unsupported("abs_cpu", self)
    return size_of(self)


@op(inplace=True)
def sgn(self: Any, /) -> Any:
    """The sign; of a complex number, the unit number of the same direction."""
    return np.sign(self) if self.dtype.kind != "b" else self.copy()


@op(inplace=True)
def sign(self: Any, /) -> Any:
    """The sign: -1, 0 or 1."""
    kind = self.dtype.kind
    if kind == "c":
        raise NotImplementedError(
            "Unlike NumPy, torch.sign is not intended to support complex numbers. Please use torch.sgn instead."
        )
    if kind == "f":
        return np.where(self != self, self.dtype.type(0), np.sign(self))[()]
    return np.sign(self) if kind != "b" else self.copy()


@op(view=True)
def real(self: Any, /) -> Any:
    """The real part, a view."""
    return self[...].real if self.dtype.kind == "c" else self[...]


@op()
def conj(self: Any, /) -> Any:
    """The complex conjugate."""
    return np.conj(self)


@op(inplace=True)
def conj_physical(self: Any, /) -> Any:
    """The complex conjugate."""
    return np.conj(self) if self.dtype.kind == "c" else self.copy()


@op(node="ComplexBackward0")
def complex_from(real: Any, imag: Any, /) -> Any:
    """The complex number of a real and an imaginary part."""
    out = np.empty(np.broadcast_shapes(real.shape, imag.shape), np.result_type(real.dtype, np.complex64))
    out.real, out.imag = real, imag
    return out[()]


@op()
def polar(abs: Any, angle: Any, /) -> Any:
    """The complex number of a size and an angle."""
    return complex_from.row.kernel(abs * np.cos(angle), abs * np.sin(angle))


@op()
def along(self: Any, other: Any, /) -> Any:
    """The real part of ``other`` times the conjugate of ``self``."""
    return (np.conj(self) * other).real


@op(node="AngleBackward0")
def angle_of_complex(self: Any, /) -> Any:
    """The angle in radians."""
    return np.arctan2(self.imag, self.real)


@op()
def angle(self: Any, /) -> Any:
    """The angle of a real number: 0 or pi (NaN stays)."""
    return np.where(self < 0, self.dtype.type(math.pi), np.where(self != self, self, self.dtype.type(0)))[()]


for _row in (real, conj, complex_from, polar, along, angle_of_complex, angle):
    _row.internal()
for _row in (abs, sgn, real, conj, conj_physical, complex_from, polar, along, angle_of_complex):
    _row.complex_by_hand()
abs.derivative(self=lambda grad, self: grad * sgn(self))
sign.derivative(self=lambda grad: zero_like(grad))
conj.derivative(self=lambda grad: conj(grad))
conj_physical.derivative(self=lambda grad: conj_physical(grad))
real.derivative(self=lambda grad: complex_from(grad, zero_like(grad)))
complex_from.derivative(real=lambda grad: real(grad), imag=lambda grad: real(grad * -_I))
polar.derivative(
    abs=lambda grad, result: along(sgn(result), grad),
    angle=lambda grad, result: along(result * _I, grad),
)
along.derivative(self=lambda grad, other: grad * other, other=lambda grad, self: grad * self)
angle_of_complex.derivative(self=lambda grad, self: where(self == 0, 0, grad * (self * _I) / (abs(self) * abs(self))))
angle.derivative(self=lambda grad: zero_like(grad))


@sgn.derivative("self")
def slope_of_sgn(grad: Any, self: Any, result: Any) -> Any:
    """The part of the gradient across the direction, over the size; for real numbers zero."""
    return where(self == 0, 0, (grad - result * along(result, grad)) / abs(self))


# -- rounding --------------------------------------------------------------------------------------------------------


def _rounding(function: Any, name: str) -> Any:
    def serve(self: Any) -> Any:
        kind = self.dtype.kind
        if kind in "bc":
            raise unsupported(name, self)
        return self.copy() if kind in "iu" else function(self)

    return serve


_floor, _ceil = _rounding(np.floor, "floor_vml_cpu"), _rounding(np.ceil, "ceil_vml_cpu")
_trunc, _rint = _rounding(np.trunc, "trunc_vml_cpu"), _rounding(np.rint, "round_vml_cpu")


@op(inplace=True)
def floor(self: Any, /) -> Any:
    """The greatest integer not above."""
    return _floor(self)


@op(inplace=True)
def ceil(self: Any, /) -> Any:
    """The least integer not below."""
    return _ceil(self)


@op("fix", inplace=True)
def trunc(self: Any, /) -> Any:
    """The integer part."""
    return _trunc(self)


@op(inplace=True)
def round(self: Any, /) -> Any:
    """The nearest integer; halves go to the even one."""
    return _rint(self)


@op(node="RoundBackward1", inplace=True)
def round_decimals(self: Any, /, decimals: Any) -> Any:
    """Rounded to so many decimal places, or to tens, hundreds ... for negative ones."""
    if self.dtype.kind != "f" and self.dtype.kind != "V":
        raise unsupported("round_cpu", self)
    if self.dtype.itemsize == 2:
        return single(lambda x: round_decimals.row.kernel(x, decimals), self)
    power = self.dtype.type(10.0 ** (decimals if decimals > 0 else -decimals))
    return np.rint(self / power) * power if decimals < 0 else np.rint(self * power) / power


@op(inplace=True)
def frac(self: Any, /) -> Any:
    """The part behind the point, with the sign of the number."""
    if self.dtype.kind in "biuc":
        raise unsupported("frac_cpu", self)
    return self - np.trunc(self)


for _row in (floor, ceil, trunc, round, round_decimals):
    _row.derivative(self=lambda grad: zero_like(grad))
round_decimals.internal()
frac.derivative(self=lambda grad: grad)

# -- limits ----------------------------------------------------------------------------------------------------------


@op(node="ClampBackward1", inplace=True)
def clamp_numbers(self: Any, /, min: Any = None, max: Any = None) -> Any:
    """The elements, those outside [min, max] replaced by the nearer end."""
    kind = self.dtype.type
    if min is None:
        return np.minimum(self, kind(max))
    if max is None:
        return np.maximum(self, kind(min))
    return np.minimum(np.maximum(self, kind(min)), kind(max))


@op()
def within(grad_output: Any, self: Any, /, min: Any, max: Any) -> Any:
    """``grad_output`` where ``self`` lies in [min, max], zero elsewhere."""
    kind = self.dtype.type
    if min is None:
        inside = self <= kind(max)
    elif max is None:
        inside = self >= kind(min)
    else:
        inside = np.logical_and(self >= kind(min), self <= kind(max))
    return keep(inside, grad_output)


@op(node="ClampMinBackward0", inplace=True)
def clamp_min_number(self: Any, /, min: Any) -> Any:
    """The elements, at least ``min``."""
    return np.maximum(self, self.dtype.type(min))


@op(node="ClampMaxBackward0", inplace=True)
def clamp_max_number(self: Any, /, max: Any) -> Any:
    """The elements, at most ``max``."""
    return np.minimum(self, self.dtype.type(max))


@op(node="ClampBackward0", inplace=True)
def clamp_tensors(self: Any, min: Any = None, max: Any = None, /) -> Any:
    """The elements, those outside [min, max] replaced by the nearer end, which wins where the ends cross."""
    out = self if min is None else np.maximum(self, min)
    return out if max is None else np.minimum(out, max)


@op(node="ClampMinBackward1", inplace=True)
def clamp_min_tensor(self: Any, min: Any, /) -> Any:
    """The elements, at least those of ``min``."""
    return np.maximum(self, min)


@op(node="ClampMaxBackward1", inplace=True)
def clamp_max_tensor(self: Any, max: Any, /) -> Any:
    """The elements, at most those of ``max``."""
    return np.minimum(self, max)


for _row in (clamp_numbers, within, clamp_min_number, clamp_max_number, clamp_tensors, clamp_min_tensor, clamp_max_tensor):
    _row.internal()
clamp_numbers.derivative(self=lambda grad, self, min, max: within(grad, self, min, max))
within.derivative(grad_output=lambda grad, self, min, max: within(grad, self, min, max))
clamp_min_number.derivative(self=lambda grad, self, min: within(grad, self, min, None))
clamp_max_number.derivative(self=lambda grad, self, max: within(grad, self, None, max))
clamp_min_tensor.derivative(
    self=lambda grad, self, min: where(self >= min, grad, 0),
    min=lambda grad, self, min: where(self < min, grad, 0),
)
clamp_max_tensor.derivative(
    self=lambda grad, self, max: where(self <= max, grad, 0),
    max=lambda grad, self, max: where(self > max, grad, 0),
)


@clamp_tensors.derivative("self", "min", "max")
def passed_on(grad: Any, self: Any, min: Any, max: Any) -> Any:
    """To each element's gradient its owner: the element itself or the end that replaced it."""
    if min is None:
        return where(self <= max, grad, 0), None, where(self > max, grad, 0)
    if max is None:
        return where(self >= min, grad, 0), where(self < min, grad, 0), None
    inner = where(self >= min, where(self <= max, grad, 0), 0)
    lower = where(self < min, where(min < max, grad, 0), 0)
    return inner, lower, where(maximum(self, min) > max, grad, 0)


@op(inplace=True)
def nan_to_num(self: Any, /, nan: Any = None, posinf: Any = None, neginf: Any = None) -> Any:
    """The elements, NaN and the infinities replaced by numbers: zero and the dtype's limits, unless given."""
    if self.dtype.kind in "biu":
        return self.copy()
    if self.dtype.itemsize == 2:
        limit = float(np.finfo(self.dtype).max) if self.dtype.kind == "f" else 3.3895313892515355e38
        posinf, neginf = limit if posinf is None else posinf, -limit if neginf is None else neginf
        return single(lambda x: np.nan_to_num(x, True, 0.0 if nan is None else nan, posinf, neginf), self)
    return np.nan_to_num(self, True, 0.0 if nan is None else nan, posinf, neginf)[()]


@op(constant=True)
def finite_mask(self: Any, /) -> Any:
    """Whether elements are finite numbers, for rules."""
    return np.isfinite(self)


finite_mask.internal()
nan_to_num.derivative(self=lambda grad, self: where(finite_mask(self), grad, 0))


@op(inplace=True, node="Deg2RadBackward0")
def deg2rad(self: Any, /) -> Any:
    """Degrees as radians."""
    return self * self.dtype.type(math.pi / 180)


@op(inplace=True, node="Rad2DegBackward0")
def rad2deg(self: Any, /) -> Any:
    """Radians as degrees."""
    return self * self.dtype.type(180 / math.pi)


_RADIANS, _DEGREES = math.pi / 180, 180 / math.pi
deg2rad.derivative(self=lambda grad: grad * _RADIANS)
rad2deg.derivative(self=lambda grad: grad * _DEGREES)

# -- functions of two variables --------------------------------------------------------------------------------------


@op("arctan2", inplace=True)
def atan2(self: Any, other: Any, /) -> Any:
    """The angle of the point (other, self), in (-pi, pi]."""
    return np.arctan2(self, other)


@op(inplace=True)
def hypot(self: Any, other: Any, /) -> Any:
    """The length of the hypotenuse over two sides."""
    if self.dtype.kind in "biu":
        raise unsupported("hypot_cpu", self)
    return np.hypot(self, other)


@op(inplace=True)
def copysign(self: Any, other: Any, /) -> Any:
    """The sizes of ``self`` with the signs of ``other``."""
    return np.copysign(self, other)


@op(node="CopysignBackward1", inplace=True)
def copysign_number(self: Any, /, other: Any) -> Any:
    """The sizes of ``self`` with the sign of a number."""
    return np.copysign(self, self.dtype.type(other))


@op(node="torch::autograd::NotImplemented", inplace=True)
def heaviside(self: Any, values: Any, /) -> Any:
    """The step: zero below zero, one above, ``values`` at zero; not differentiable."""
    kind = self.dtype.type
    return np.where(self == 0, values, np.where(self > 0, kind(1), kind(0)))[()]


def _xlogy(self: Any, other: Any) -> Any:
    zero = np.logical_and(self == 0, other == other)
    return np.where(zero, self.dtype.type(0), self * np.log(np.where(zero, other.dtype.type(1), other)))[()]


@op("special_xlogy", inplace=True)
def xlogy(self: Any, other: Any, /) -> Any:
    """``self * log(other)``, zero where ``self`` is zero."""
    return _xlogy(self, other)


@op(node="XlogyBackward2", inplace=True)
def xlogy_number(self: Any, /, other: Any) -> Any:
    """``self`` times the logarithm of a number, zero where ``self`` is zero."""
    return _xlogy(self, self.dtype.type(other))


@op(node="XlogyBackward1")
def xlogy_of_number(other: Any, /, self: Any) -> Any:
    """A number times the logarithms of ``other``, zero for the number zero."""
    return _xlogy(other.dtype.type(self), other)


@op()
def logaddexp(self: Any, other: Any, /) -> Any:
    """The logarithm of the sum of two exponentials."""
    if self.dtype.kind in "biu":
        raise unsupported("logaddexp_cpu", self)
    return np.logaddexp(self, other)


@op()
def logaddexp2(self: Any, other: Any, /) -> Any:
    """The logarithm to base 2 of the sum of two powers of two."""
    if self.dtype.kind in "biu":
        raise unsupported("logaddexp2_cpu", self)
    return np.logaddexp2(self, other)


@op(inplace=True)
def ldexp(self: Any, other: Any, /) -> Any:
    """``self`` times two to the power ``other``."""
    return self * np.exp2(other)


for _row in (copysign_number, xlogy_number, xlogy_of_number):
    _row.internal()


def refuse_heaviside(grad: Any) -> Any:
    """Raise PyTorch's error for the gradient of the step."""
    raise RuntimeError("derivative for aten::heaviside is not implemented")


@atan2.derivative("self", "other")
def slopes_of_angle(grad: Any, self: Any, other: Any) -> Any:
    """The gradient times the point turned by a right angle, over its square; zero at the origin."""
    square = self * self + other * other
    shared = where(square == 0, 0, grad / square)
    return shared * other, shared * -self


hypot.derivative(
    self=lambda grad, self, result: grad * (self / result),
    other=lambda grad, other, result: grad * (other / result),
)
copysign.derivative(
    self=lambda grad, self, result: where(self == 0, 0, grad * (result / self)),
    other=lambda grad: zero_like(grad),
)
copysign_number.derivative(self=lambda grad, self, result: where(self == 0, 0, grad * (result / self)))
heaviside.derivative(self=refuse_heaviside, values=refuse_heaviside)
xlogy.derivative(
    self=lambda grad, self, other: grad * where(self == 0, where(other <= 0, 0, log(other)), log(other)),
    other=lambda grad, self, other: grad * self / other,
)
def _log_of(number: Any) -> Any:
    return math.log(number) if number > 0 else -math.inf if number == 0 else math.nan


xlogy_number.derivative(
    self=lambda grad, self, other: grad * _log_of(other) if other > 0 else where(self == 0, 0, grad * _log_of(other))
)
xlogy_of_number.derivative(other=lambda grad, other, self: grad * self / other)
logaddexp.derivative(
    self=lambda grad, self, other: grad / (exp(other - self) + 1),
    other=lambda grad, self, other: grad / (exp(self - other) + 1),
)
logaddexp2.derivative(
    self=lambda grad, self, other: grad / (exp2(other - self) + 1),
    other=lambda grad, self, other: grad / (exp2(self - other) + 1),
)
ldexp.derivative(
    self=lambda grad, other: grad * exp2(other),
    other=lambda grad, result: grad * (result * _LN2),
)

for _row in (
    exp, exp2, expm1, log, log2, log10, log1p, sqrt, rsqrt, sin, cos, tan, asin, acos, atan, sinh, cosh, tanh, asinh, acosh,
    atanh, sigmoid, logit, erf, erfc, erfinv, lgamma, digamma, polygamma_of, sinc, angle, angle_of_complex, deg2rad, rad2deg, atan2, copysign,
    xlogy, ldexp,
):  # fmt: skip
    _row.typed_as("float")
for _row in (clamp_tensors, clamp_min_tensor, clamp_max_tensor, hypot, heaviside, logaddexp, logaddexp2):
    _row.typed_as("promote")
