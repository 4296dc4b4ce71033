"""The elementary functions, elementwise: exponentials, roots, circular and hyperbolic functions, the logistic one."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ...core.row import FLOATS, op
from ...ground import errors, meta
from ...ground.dtypes import need_float
from ...kernels import compiled
from ...kernels.columns import F32, not_implemented
from ...ops.declare import named
from ..compare.rows import logical_or, where, zero_like

ndarray = np.ndarray
_ONE = {np.dtype(code): np.ones((), code) for code in ("f4", "f8", "F", "D")}
_LN2, _LN10 = math.log(2), math.log(10)


def one_of(self: Any) -> Any:
    """A 0-d one of the same dtype: an array for arrays, which ufuncs take faster than a scalar."""
    return _ONE.get(self.dtype, 1) if type(self) is ndarray else 1


def single(function: Any, self: Any) -> Any:
    """``function`` of a half precision array computed in float32, rounded once at the end."""
    return function(meta.cast_to(self, F32)).astype(self.dtype)


#: The columns of functions of floating and complex numbers.
_SMOOTH: Any = {"inplace": True, "typed": "float", "batched": "point"}


def _numpys(name: str, ufunc: Any, says: str, *aliases: str, widens: bool = False) -> Any:
    """A function that NumPy computes."""

    @op(*aliases, **_SMOOTH, widens=widens, ufunc=ufunc, form=f"{name}_ufunc(a0)")
    @named(name, says=says)
    def function(self: Any, /) -> Any:
        """{says}"""
        return ufunc(self)

    return function


def _curved(name: str, ufunc: Any, says: str) -> Any:
    """A function that polynomials compute of large arrays, NumPy of others."""

    @op(**_SMOOTH, ufunc=ufunc, form=f"{name}_ufunc(a0)", large="CURVED")
    @named(name, says=says)
    def function(self: Any, /) -> Any:
        """{says}"""
        if self.size >= compiled.CURVED and self.size >= compiled.least:  # the first is the rarer, so asked first
            if (result := compiled.elementary.values(ufunc, self)) is not None:
                return result
        return ufunc(self)

    return function


# -- exponentials and logarithms -------------------------------------------------------------------------------------


exp = _curved("exp", np.exp, "The exponential.")
exp.derivative(self=lambda grad, result: grad * result)


def together(real: Any, imag: Any, kind: Any) -> Any:
    """Complex numbers of their parts: a product with i would make NaN of what is infinite."""
    out = np.empty_like(real, kind)
    out.real, out.imag = real, imag
    return out[()]


@op(inplace=True, typed="float", ufunc=np.exp2, form="exp2_ufunc(a0)", widens=True, batched="point")
def exp2(self: Any, /) -> Any:
    """Two to the power of each element."""
    if self.dtype.kind != "c":
        return np.exp2(self)
    return np.exp(together(self.real * _LN2, self.imag * _LN2, self.dtype))


exp2.derivative(self=lambda grad, result: grad * (result * _LN2))


expm1 = _numpys("expm1", np.expm1, "The exponential minus one, exact near zero.")
expm1.derivative(self=lambda grad, result: grad * (result + 1))


log = _numpys("log", np.log, "The natural logarithm.")
log.derivative(self=lambda grad, self: grad / self)


log2 = _numpys("log2", np.log2, "The logarithm to base 2.", widens=True)
log2.derivative(self=lambda grad, self: grad / (self * _LN2))


log10 = _numpys("log10", np.log10, "The logarithm to base 10.", widens=True)
log10.derivative(self=lambda grad, self: grad / (self * _LN10))


@op(node="Log1PBackward0", inplace=True, typed="float", ufunc=np.log1p, form="log1p_ufunc(a0)", batched="point")
def log1p(self: Any, /) -> Any:
    """The logarithm of one plus each element, exact near zero."""
    if self.dtype.kind != "c":
        return np.log1p(self)
    x, y = self.real, self.imag
    near = np.log1p(x * (2 + x) + y * y) / 2
    size = np.where(np.abs(self) < 0.5, near, np.log(np.hypot(x + 1, y)))
    return together(size, np.arctan2(y, x + 1), self.dtype)


log1p.derivative(self=lambda grad, self: grad / (self + 1))


# -- roots -----------------------------------------------------------------------------------------------------------


sqrt = _numpys("sqrt", np.sqrt, "The square root.")
sqrt.derivative(self=lambda grad, result: grad / (result + result))


@op(inplace=True, typed="float", halves="single", batched="point")
def rsqrt(self: Any, /) -> Any:
    """One over the square root."""
    return np.reciprocal(np.sqrt(self))


rsqrt.derivative(self=lambda grad, result: grad * (result * result * result) * -0.5)


# -- circular functions ----------------------------------------------------------------------------------------------


sin = _curved("sin", np.sin, "The sine.")
sin.derivative(self=lambda grad, self: grad * cos(self))


cos = _curved("cos", np.cos, "The cosine.")
cos.derivative(self=lambda grad, self: -(grad * sin(self)))


tan = _numpys("tan", np.tan, "The tangent.")
tan.derivative(self=lambda grad, result: grad * (result * result + 1))


asin = _numpys("asin", np.arcsin, "The angle with this sine.", "arcsin")
asin.derivative(self=lambda grad, self: grad * rsqrt(1 - self * self))


acos = _numpys("acos", np.arccos, "The angle with this cosine.", "arccos")
acos.derivative(self=lambda grad, self: -(grad * rsqrt(1 - self * self)))


atan = _numpys("atan", np.arctan, "The angle with this tangent.", "arctan")
atan.derivative(self=lambda grad, self: grad / (self * self + 1))


# -- hyperbolic functions --------------------------------------------------------------------------------------------


sinh = _numpys("sinh", np.sinh, "The hyperbolic sine.")
sinh.derivative(self=lambda grad, self: grad * cosh(self))


cosh = _numpys("cosh", np.cosh, "The hyperbolic cosine.")
cosh.derivative(self=lambda grad, self: grad * sinh(self))


tanh = _curved("tanh", np.tanh, "The hyperbolic tangent.")
tanh.derivative(self=lambda grad, result: tanh_backward(grad, result))


@op(
    public=False,
    halves="single",
    native=lambda grad_output, output: compiled.activation.tanh_backward(grad_output, output),
    batched="point",
)
def tanh_backward(grad_output: Any, output: Any, /) -> Any:
    """``grad_output`` times one minus the square of a hyperbolic tangent."""
    one = one_of(output)
    return grad_output * (one - output * output)


tanh_backward.derivative(
    grad_output=lambda grad, output: tanh_backward(grad, output),
    output=lambda grad, output, grad_output: grad * grad_output * output * -2,
)


asinh = _numpys("asinh", np.arcsinh, "The number with this hyperbolic sine.", "arcsinh")
asinh.derivative(self=lambda grad, self: grad * rsqrt(self * self + 1))


acosh = _numpys("acosh", np.arccosh, "The number, at least zero, with this hyperbolic cosine.", "arccosh")
acosh.derivative(self=lambda grad, self: grad * (rsqrt(self + 1) * rsqrt(self - 1)))


atanh = _numpys("atanh", np.arctanh, "The number with this hyperbolic tangent.", "arctanh")
atanh.derivative(self=lambda grad, self: grad / (1 - self * self))


# -- the logistic function -------------------------------------------------------------------------------------------

_MANY = 4000
_HALF = {np.dtype(code): np.array(0.5, code) for code in ("f4", "f8")}


@op(inplace=True, typed="float", native=lambda self: compiled.activation.sigmoid(self), batched="point")
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
    if type(self) is not ndarray:
        return 1 / (np.exp(-self) + 1)
    return np.reciprocal(np.exp(np.negative(self)) + one_of(self))


sigmoid.derivative(self=lambda grad, result: sigmoid_backward(grad, result))


@op(
    public=False,
    halves="single",
    native=lambda grad_output, output: compiled.activation.sigmoid_backward(grad_output, output),
    batched="point",
)
def sigmoid_backward(grad_output: Any, output: Any, /) -> Any:
    """``grad_output`` times the slope of the logistic function whose value is ``output``."""
    one = one_of(output)
    return grad_output * ((one - output) * output)


sigmoid_backward.derivative(
    grad_output=lambda grad, output: sigmoid_backward(grad, output),
    output=lambda grad, output, grad_output: grad * grad_output * (1 - (output + output)),
)


@op(lenient=True, inplace=True, typed="float", serves=(FLOATS, "logit_cpu"), halves="single", batched="point")
def logit(self: Any, /, eps: float | None = None) -> Any:
    """The logarithm of the odds p / (1 - p), p first clamped to [eps, 1 - eps]."""
    if eps is not None:
        need_float("logit", "eps", 2, eps)
        low, high = self.dtype.type(eps), self.dtype.type(1 - eps)
        in_order = low <= high  # else the lower end is asked first, and NaN is none
        self = np.clip(self, low, high) if in_order else np.where(self < low, low, np.where(self > high, high, self))
    return np.log(self / (1 - self))


@logit.derivative("self")
def slope_of_logit(grad: Any, self: Any, eps: Any) -> Any:
    """The gradient over p (1 - p); zero outside the range, NaN without ``eps``, or with one below zero."""
    if eps is None or eps < 0:
        slope = grad / ((self + 0) * (1 - self))  # -0.0 counts as 0.0
        return where(self >= 0, where(self <= 1, slope, math.nan), math.nan)
    outside = logical_or(self < eps, self > 1 - eps)
    inside = where(outside, 0.5, self)
    return where(outside, 0, grad / ((inside + 0) * (1 - inside)))


# -- Operations on the bits of integers and on truth values; none carries gradients.


#: The columns of operations on bits.
_BITS: Any = {"inplace": True, "constant": True, "ruleless": True, "typed": "promote", "batched": "point"}


def _whole(self: Any, name: str, kinds: str = "biu") -> None:
    if self.dtype.kind not in kinds:
        raise not_implemented(name, self)


@op(operator="and", **_BITS)
def bitwise_and(self: Any, other: Any, /) -> Any:
    """The bits that are set in both."""
    _whole(self, "bitwise_and_cpu")
    return self & other


@op(operator="or", **_BITS)
def bitwise_or(self: Any, other: Any, /) -> Any:
    """The bits that are set in at least one."""
    _whole(self, "bitwise_or_cpu")
    return self | other


@op(operator="xor", **_BITS)
def bitwise_xor(self: Any, other: Any, /) -> Any:
    """The bits that are set in just one."""
    _whole(self, "bitwise_xor_cpu")
    return self ^ other


@op(inplace=True, constant=True, ruleless=True, out=errors.OUT_FOUND, batched="point")
def bitwise_not(self: Any, /) -> Any:
    """The bits that are not set."""
    _whole(self, "bitwise_not_cpu")
    return ~self


@op(operator="lshift", **_BITS)
def bitwise_left_shift(self: Any, other: Any, /) -> Any:
    """The bits moved up by ``other`` places; zero where that is negative or as wide as the dtype."""
    _whole(self, "lshift_cpu", "iu")
    bits = self.dtype.itemsize * 8
    odd = (other < 0) | (other >= bits)
    return np.where(odd, self.dtype.type(0), np.left_shift(self, np.where(odd, 0, other).astype(self.dtype)))[()]


@op(operator="rshift", **_BITS)
def bitwise_right_shift(self: Any, other: Any, /) -> Any:
    """The bits moved down by ``other`` places; only the sign is left where that is negative or too wide."""
    _whole(self, "rshift_cpu", "iu")
    most = self.dtype.itemsize * 8 - 1
    odd = (other < 0) | (other > most)
    return np.right_shift(self, np.where(odd, most, other).astype(self.dtype))


# -- What integers and floats are made of, elementwise: common divisors; mantissas, exponents and neighbours.


@op(**_BITS, strict=True)
def gcd(self: Any, other: Any, /) -> Any:
    """The greatest common divisor; zero of two zeros.

    Source: https://docs.pytorch.org/docs/stable/generated/torch.gcd.html
    """
    _whole(self, "gcd_cpu", "iu")
    return np.gcd(self, other)


@op(**_BITS, strict=True)
def lcm(self: Any, other: Any, /) -> Any:
    """The least common multiple; zero beside a zero.

    Source: https://docs.pytorch.org/docs/stable/generated/torch.lcm.html
    """
    _whole(self, "lcm_cpu", "iu")
    return np.lcm(self, other)


@op(
    node="FrexpBackward0",
    outputs=("mantissa", "exponent"),
    differentiable=("mantissa",),
    public=False,
    aligned=True,
    out={
        "mantissa": "torch.frexp() expects mantissa to have dtype {wanted} but got {found}",
        "exponent": "torch.frexp() expects exponent to have int dtype but got {found}",
    },
    batched="point",
)
def frexp_parts(self: Any, /) -> Any:
    """A mantissa from a half to one, and the power of two that it is to be multiplied with."""
    if self.dtype.kind not in "fV":
        raise RuntimeError("torch.frexp() only supports floating-point dtypes")
    mantissa, exponent = np.frexp(self if self.dtype.kind == "f" else self.astype("f4"))
    exponent = np.where(np.isfinite(mantissa), exponent, 0).astype(np.int32)[()]
    return mantissa.astype(self.dtype, copy=False), exponent


frexp_parts.derivative(self=lambda grad, exponent: halved(grad, exponent))


@op(auxiliary=("exponent",), public=False, batched="point")
def halved(self: Any, exponent: Any, /) -> Any:
    """``self`` over two to the power ``exponent``, in its own dtype."""
    if self.dtype.kind == "V":
        return single(lambda x: np.ldexp(x, -exponent), self)
    return np.ldexp(self, -exponent)


halved.derivative(self=lambda grad, exponent: halved(grad, exponent))


@op(inplace=True, typed="promote", strict=True, serves=(FLOATS, "nextafter_cpu"), batched="point")
def nextafter(self: Any, other: Any, /) -> Any:
    """The float next to each element in the direction of ``other``.

    Source: https://docs.pytorch.org/docs/stable/generated/torch.nextafter.html
    """
    return np.nextafter(self, other)


# towards itself a float stays, and so PyTorch takes the slope there as zero where they are equal
nextafter.derivative(self=lambda grad, self, other: where(self == other, 0, grad), other=lambda grad: zero_like(grad))
