"""Special functions, elementwise: the error function and the gamma function with their kin."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from ...core.row import op
from ...kernels.columns import not_implemented
from ..compare.rows import where
from ..pointwise.limit import abs, sgn
from ..pointwise.rows import cos, exp, log, sin, single
from . import kernels as polynomial
from . import kernels as special
from . import scipy_special
from .kernels import lgamma as log_gamma


def _floats(function: Any, name: str) -> Any:
    """``function`` for real floats only, half precision by way of float32."""

    def serve(self: Any) -> Any:
        if self.dtype.kind == "c":
            raise not_implemented(name, self)
        return function(self) if self.dtype.itemsize > 2 else single(function, self)

    return serve


_erf, _erfc, _erfinv = (_floats(f, f"{f.__name__}_vml_cpu") for f in (special.erf, special.erfc, special.erfinv))
_lgamma, _digamma = _floats(special.lgamma, "lgamma_vml_cpu"), _floats(special.digamma, "digamma")


@op(inplace=True, typed="float", layout="elementwise", batched="point")
def erf(self: Any, /) -> Any:
    """The error function."""
    return _erf(self)


erf.derivative(self=lambda grad, self: grad * (exp(-(self * self)) * _SLOPE_OF_ERF))


@op(inplace=True, typed="float", layout="elementwise", batched="point")
def erfc(self: Any, /) -> Any:
    """One minus the error function."""
    return _erfc(self)


erfc.derivative(self=lambda grad, self: grad * (exp(-(self * self)) * -_SLOPE_OF_ERF))


@op(inplace=True, typed="float", layout="elementwise", batched="point")
def erfinv(self: Any, /) -> Any:
    """The inverse of the error function."""
    return _erfinv(self)


erfinv.derivative(self=lambda grad, self: grad * (exp(erfinv(self) ** 2) * _SLOPE_OF_ERFINV))


@op(inplace=True, typed="float", layout="elementwise", batched="point")
def lgamma(self: Any, /) -> Any:
    """The logarithm of the absolute value of the gamma function."""
    return _lgamma(self)


lgamma.derivative(self=lambda grad, self: grad * digamma(self))


@op(inplace=True, typed="float", layout="elementwise", batched="point")
def digamma(self: Any, /) -> Any:
    """The logarithmic derivative of the gamma function."""
    return _digamma(self)


digamma.derivative(self=lambda grad, self: grad * polygamma_of(self, 1))


@op(
    node="PolygammaBackward0",
    typed="float",
    public=False,
    hidden=("order",),
    shows={"n": ("order", lambda order: order)},
    batched="point",
)
def polygamma_of(self: Any, /, order: Any) -> Any:
    """The derivative of digamma of an order."""
    if self.dtype.kind == "c":
        raise not_implemented("trigamma" if order == 1 else "polygamma" if order else "digamma", self)
    if self.dtype.itemsize == 2:
        return single(lambda x: polygamma_of.row.kernel(x, order), self)
    if order > 1:
        return scipy_special.polygamma(order, self)
    return special.trigamma(self) if order else special.digamma(self)


polygamma_of.derivative(self=lambda grad, self, order: grad * polygamma_of(self, order + 1))


@op(inplace=True, typed="float", layout="elementwise", batched="point")
def sinc(self: Any, /) -> Any:
    """sin(pi x) / (pi x), one at zero."""
    if self.dtype.itemsize == 2:
        return single(sinc.row.kernel, self)
    zero = self == 0
    x = self * self.dtype.type(math.pi) + zero
    return np.where(zero, self.dtype.type(1), np.sin(x) / x)[()]


@sinc.derivative("self")
def slope_of_sinc(grad: Any, self: Any) -> Any:
    """The gradient times the slope of sinc, zero at zero."""
    x = self * _PI
    square = x * self
    return where(square == 0, 0, grad * ((x * cos(x) - sin(x)) / square))


_SLOPE_OF_ERF = 2 / math.sqrt(math.pi)
_SLOPE_OF_ERFINV = math.sqrt(math.pi) / 2
_PI = math.pi


# -- the normal distribution and entropy -------------------------------------------------------------------------------


def _full(function: Any, name: str, self: Any) -> Any:
    """``function`` of float32 and float64 only."""
    if self.dtype.kind == "c" or self.dtype.itemsize == 2:
        raise not_implemented(name, self)
    return function(self)


@op(typed="float", public=False, layout="elementwise", batched="point")
def special_entr(self: Any, /) -> Any:
    """``-x log(x)``, zero at zero and minus infinity below."""
    if self.dtype.kind == "c":
        raise not_implemented("entr_cpu", self)
    if self.dtype.itemsize == 2:
        return single(special_entr.row.kernel, self)
    kind = self.dtype.type
    inside = np.where(self > 0, self, kind(1))
    return np.where(self > 0, -inside * np.log(inside), np.where(self == 0, kind(0), np.where(
        self < 0, kind(-math.inf), self)))[()]  # fmt: skip


special_entr.derivative(self=lambda grad, self: grad * (-1 - log(self)))


@op(typed="float", public=False, layout="elementwise", batched="point")
def special_erfcx(self: Any, /) -> Any:
    """The scaled complementary error function ``exp(x^2) erfc(x)``."""
    return _full(scipy_special.erfcx, "erfcx_cpu", self)


special_erfcx.derivative(self=lambda grad, self, result: grad * (2 * self * result - _TWO_OVER_ROOT_PI))


@op(typed="float", public=False, layout="elementwise", batched="point")
def special_log_ndtr(self: Any, /) -> Any:
    """The logarithm of the normal distribution function."""
    return _full(scipy_special.log_ndtr, "log_ndtr_cpu", self)


special_log_ndtr.derivative(self=lambda grad, self, result: grad / (exp(self * self / 2 + result) * _ROOT_TWO_PI))


@op(typed="float", public=False, layout="elementwise", batched="point")
def special_ndtri(self: Any, /) -> Any:
    """The quantiles of the normal distribution."""
    return _full(scipy_special.ndtri, "ndtri_cpu", self)


special_ndtri.derivative(self=lambda grad, result: grad * (exp(result * result / 2) * _ROOT_TWO_PI))


_TWO_OVER_ROOT_PI = 2 / math.sqrt(math.pi)
_ROOT_TWO_PI = math.sqrt(2 * math.pi)


def _xlog1py(self: Any, other: Any) -> Any:
    if self.dtype.kind == "c":
        raise not_implemented("xlog1py_cpu", self)
    zero = np.logical_and(self == 0, other == other)
    return np.where(zero, self.dtype.type(0), self * np.log1p(np.where(zero, other.dtype.type(0), other)))[()]


@op(node="SpecialXlog1PyBackward0", typed="float", strict=True, public=False, batched="point")
def special_xlog1py(self: Any, other: Any, /) -> Any:
    """``self * log1p(other)``, zero where ``self`` is zero."""
    return _xlog1py(self, other)


special_xlog1py.derivative(
    self=lambda grad, self, other: where(
        self == 0, where(other <= -1, 0, special_xlog1py(grad, other)), special_xlog1py(grad, other)
    ),
    other=lambda grad, self, other: grad * self / (other + 1),
)


@op(node="SpecialXlog1PyBackward2", typed="float", public=False, batched="point")
def xlog1py_number(self: Any, /, other: Any) -> Any:
    """``self`` times the logarithm of one plus a number, zero where ``self`` is zero."""
    return _xlog1py(self, self.dtype.type(other))


xlog1py_number.derivative(
    self=lambda grad, self, other: (
        xlog1py_number(grad, other) if other > -1 else where(self == 0, 0, xlog1py_number(grad, other))
    )
)


@op(node="SpecialXlog1PyBackward1", typed="float", public=False, batched="point")
def xlog1py_of_number(other: Any, /, self: Any) -> Any:
    """A number times the logarithms of one plus ``other``, zero for the number zero."""
    return _xlog1py(other.dtype.type(self), other)


xlog1py_of_number.derivative(other=lambda grad, other, self: grad * self / (other + 1))


# -- The incomplete gamma functions, the multivariate one and Hurwitz's zeta function, elementwise.

ndarray = np.ndarray


def _incomplete(function: Any, name: str, self: Any, other: Any) -> Any:
    if self.dtype.kind not in "fV":
        raise not_implemented(name, self)
    if self.dtype.itemsize == 2:
        return function(self.astype("f4"), other.astype("f4")).astype(self.dtype)
    return function(self, other)


def refuse_igamma(grad: Any) -> Any:
    """Raise PyTorch's error for the gradient in the parameter."""
    raise NotImplementedError("the derivative for 'igamma: input' is not implemented.")


@op(inplace=True, typed="promote", strict=True, batched="point")
def igamma(self: Any, other: Any, /) -> Any:
    """The regularised lower incomplete gamma function of the parameter ``self`` at ``other``.

    Differentiable in ``other`` alone.  Source: https://docs.pytorch.org/docs/stable/special.html#torch.special.gammainc
    """
    return _incomplete(scipy_special.gammainc, "igamma_cpu", self, other)


igamma.derivative(
    self=refuse_igamma,
    other=lambda grad, self, other: grad * exp((self - 1) * log(other) - other - lgamma(self)),
)


def refuse_igammac(grad: Any) -> Any:
    """Raise PyTorch's error for the gradient in the parameter."""
    raise NotImplementedError("the derivative for 'igammac: input' is not implemented.")


@op(inplace=True, typed="promote", strict=True, batched="point")
def igammac(self: Any, other: Any, /) -> Any:
    """The regularised upper incomplete gamma function of the parameter ``self`` at ``other``.

    Differentiable in ``other`` alone.  Source: https://docs.pytorch.org/docs/stable/special.html#torch.special.gammaincc
    """
    return _incomplete(scipy_special.gammaincc, "igammac_cpu", self, other)


igammac.derivative(
    self=refuse_igammac,
    other=lambda grad, self, other: -grad * exp((self - 1) * log(other) - other - lgamma(self)),
)


def refuse_zeta(grad: Any) -> Any:
    """Raise PyTorch's error for the gradient in the exponent."""
    raise NotImplementedError("the derivative for 'zeta' is not implemented.")


def _zeta(self: Any, other: Any) -> Any:
    if self.dtype.kind == "c" or self.dtype.itemsize == 2:
        raise not_implemented("zeta_cpu", self)
    return scipy_special.zeta(self, other)


@op(typed="float", strict=True, public=False, batched="point")
def special_zeta(self: Any, other: Any, /) -> Any:
    """Hurwitz's zeta function of the exponent ``self`` from ``other`` on; differentiable in ``other`` alone."""
    return _zeta(self, other)


special_zeta.derivative(self=refuse_zeta, other=lambda grad, self, other: grad * -self * special_zeta(self + 1, other))


@op(node="SpecialZetaBackward2", typed="float", public=False, batched="point")
def zeta_number(self: Any, /, other: Any) -> Any:
    """Hurwitz's zeta function from a number on; no derivative."""
    return _zeta(self, np.asarray(other, self.dtype))


zeta_number.derivative(self=refuse_zeta)


@op(node="SpecialZetaBackward1", typed="float", public=False, batched="point")
def zeta_of_number(other: Any, /, self: Any) -> Any:
    """Hurwitz's zeta function of one exponent."""
    return _zeta(np.asarray(self, other.dtype), other)


zeta_of_number.derivative(other=lambda grad, self, other: grad * -self * zeta_of_number(other, self + 1))


def _no_bool(self: Any) -> None:
    if self._array.dtype.kind == "b":
        raise RuntimeError("The input tensor may not be a boolean tensor.")


@op(inplace=True, typed="float", refuses=_no_bool, batched="point")
def mvlgamma(self: Any, /, p: Any) -> Any:
    """The logarithm of the gamma function of dimension ``p``.

    Source: https://docs.pytorch.org/docs/stable/special.html#torch.special.multigammaln
    """
    if p < 1:
        raise RuntimeError("p has to be greater than or equal to 1")
    if self.dtype.kind == "c":
        raise not_implemented("arange_cpu", self)
    if self.dtype.itemsize == 2:
        return single(lambda x: mvlgamma.row.kernel(x, p), self)
    kind = self.dtype.type
    total = log_gamma(np.asarray(self))
    for step in range(1, p):
        total = total + log_gamma(np.asarray(self - kind(step / 2)))
    return total + kind(p * (p - 1) * math.log(math.pi) / 4)


@mvlgamma.derivative("self")
def slope_of_mvlgamma(grad: Any, self: Any, p: Any) -> Any:
    """The gradient times the sum of the digammas of ``self`` and the halves below it."""
    total = digamma(self)
    for step in range(1, p):
        total = total + digamma(self - step / 2)
    return grad * total


# -- Bessel's functions of orders 0 and 1 and Airy's, elementwise: those with slopes in PyTorch, and those without.


def _served(function: Any, name: str, half: bool = False) -> Callable[[Any], Any]:
    """``function`` for the real floats that PyTorch serves; half precision, where it does, by way of float32."""

    def serve(self: Any) -> Any:
        if self.dtype.kind == "c" or (self.dtype.itemsize == 2 and not half):
            raise not_implemented(name, self)
        return function(self) if self.dtype.itemsize > 2 else single(function, self)

    return serve


_i0, _i0e = _served(special.i0, "i0_vml_cpu", True), _served(scipy_special.i0e, "i0e_cpu", True)
_i1, _i1e = _served(scipy_special.i1, "i1_cpu", True), _served(scipy_special.i1e, "i1e_cpu", True)


@op(inplace=True, typed="float", layout="elementwise", batched="point")
def i0(self: Any, /) -> Any:
    """The modified Bessel function of the first kind, order 0.

    Source: https://docs.pytorch.org/docs/stable/special.html#torch.special.i0
    """
    return _i0(self)


i0.derivative(self=lambda grad, self: grad * special_i1(self))


@op(node="SpecialI0EBackward0", typed="float", public=False, batched="point")
def special_i0e(self: Any, /) -> Any:
    """``exp(-|x|) I0(x)``."""
    return _i0e(self)


special_i0e.derivative(self=lambda grad, self, result: grad * (special_i1e(self) - sgn(self) * result))


@op(typed="float", public=False, batched="point")
def special_i1(self: Any, /) -> Any:
    """The modified Bessel function of the first kind, order 1."""
    return _i1(self)


@special_i1.derivative("self")
def slope_of_i1(grad: Any, self: Any, result: Any) -> Any:
    """The gradient times I0(x) - I1(x) / x; a half at zero."""
    tiny = tiny_aside(abs(self)) != abs(self)
    x = where(tiny, 1, self)
    return grad * where(tiny, 0.5, i0(x) - result / x)


@op(node="SpecialI1EBackward0", typed="float", public=False, batched="point")
def special_i1e(self: Any, /) -> Any:
    """``exp(-|x|) I1(x)``."""
    return _i1e(self)


@special_i1e.derivative("self")
def slope_of_scaled_i1(grad: Any, self: Any, result: Any) -> Any:
    """The gradient times the slope of ``exp(-|x|) I1(x)``; a half at zero."""
    tiny = tiny_aside(abs(self)) != abs(self)
    x = where(tiny, 1, self)
    return grad * where(tiny, 0.5, special_i0e(x) - result * (sgn(x) + 1 / x))


@op(constant=True, public=False, batched="point")
def tiny_aside(self: Any, /) -> Any:
    """``self``, but the dtype's rounding unit where it is no larger than that."""
    unit = np.finfo(self.dtype).eps if self.dtype.kind == "f" else 2.0**-7  # bfloat16
    return np.where(np.abs(self) > unit, self, self.dtype.type(unit))[()]


def _flat(name: str, kernel: Any, doc: str, argument: str = "self") -> Any:
    """A row without a derivative, as PyTorch has it; ``argument`` is what PyTorch calls the input."""
    serve = _served(kernel, f"{name}_cpu")
    if argument == "self":

        def function(self: Any, /) -> Any:
            return serve(self)
    else:

        def function(x: Any, /) -> Any:
            return serve(x)

    function.__name__ = f"special_{name}"
    function.__doc__ = f"{doc}; no derivative."
    return op(public=False, typed="float", constant=True, layout="elementwise", batched="point")(function)


special_bessel_j0 = _flat("bessel_j0", scipy_special.j0, "The Bessel function of the first kind, order 0")
special_bessel_j1 = _flat("bessel_j1", scipy_special.j1, "The Bessel function of the first kind, order 1")
special_bessel_y0 = _flat("bessel_y0", scipy_special.y0, "The Bessel function of the second kind, order 0")
special_bessel_y1 = _flat("bessel_y1", scipy_special.y1, "The Bessel function of the second kind, order 1")
special_modified_bessel_i0 = _flat("modified_bessel_i0", special.i0, "The modified Bessel function I of order 0")
special_modified_bessel_i1 = _flat("modified_bessel_i1", scipy_special.i1, "The modified Bessel function I of order 1")
special_modified_bessel_k0 = _flat("modified_bessel_k0", scipy_special.k0, "The modified Bessel function K of order 0")
special_modified_bessel_k1 = _flat("modified_bessel_k1", scipy_special.k1, "The modified Bessel function K of order 1")
special_scaled_modified_bessel_k0 = _flat("scaled_modified_bessel_k0", scipy_special.k0e, "``exp(x) K0(x)``", "x")
special_scaled_modified_bessel_k1 = _flat("scaled_modified_bessel_k1", scipy_special.k1e, "``exp(x) K1(x)``", "x")
special_spherical_bessel_j0 = _flat("spherical_bessel_j0", special.spherical_j0, "``sin(x) / x``, one at zero", "x")
special_airy_ai = _flat("airy_ai", scipy_special.airy_ai, "Airy's function Ai", "x")


# -- Orthogonal polynomials of arguments and degrees, elementwise; PyTorch has no derivatives of them.

_NAMED: dict[str, tuple[Callable[[Any, Any], Any], str]] = {
    f"{prefix}chebyshev_polynomial_{kind}": (
        polynomial.chebyshev(kind, bool(prefix)),
        f"The Chebyshev polynomial of the {ordinal} kind" + (" of ``2 x - 1``" if prefix else ""),
    )
    for prefix in ("", "shifted_")
    for kind, ordinal in (("t", "first"), ("u", "second"), ("v", "third"), ("w", "fourth"))
} | {
    "hermite_polynomial_h": (polynomial.hermite_h, "The physicist's Hermite polynomial"),
    "hermite_polynomial_he": (polynomial.hermite_he, "The probabilist's Hermite polynomial"),
    "laguerre_polynomial_l": (polynomial.laguerre, "Laguerre's polynomial"),
    "legendre_polynomial_p": (polynomial.legendre, "Legendre's polynomial"),
}


def _row_of(name: str, kernel: Callable[[Any, Any], Any], doc: str) -> Any:
    def function(x: Any, n: Any, /) -> Any:
        if x.dtype.kind == "c" or x.dtype.itemsize == 2:
            raise not_implemented(f"{name}_cpu", x)
        return kernel(x, n)

    function.__name__ = f"special_{name}"
    function.__doc__ = f"{doc} of degree ``n``; no derivative."
    return op(public=False, typed="float", constant=True, layout="elementwise", batched="point")(function)


#: name in torch.special -> row
POLYNOMIALS = {name: _row_of(name, kernel, doc) for name, (kernel, doc) in _NAMED.items()}
