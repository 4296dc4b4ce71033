"""Special functions, elementwise: the error function and the gamma function with their kin."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ...core.row import op
from ...kernels import scipy_special, special
from .compare import unsupported, where
from .pointwise import cos, exp, log, log1p, sin, single


def _floats(function: Any, name: str) -> Any:
    """``function`` for real floats only, half precision by way of float32."""

    def serve(self: Any) -> Any:
        if self.dtype.kind == "c":
            raise unsupported(name, self)
        return function(self) if self.dtype.itemsize > 2 else single(function, self)

    return serve


_erf, _erfc, _erfinv = (_floats(f, f"{f.__name__}_vml_cpu") for f in (special.erf, special.erfc, special.erfinv))
_lgamma, _digamma = _floats(special.lgamma, "lgamma_vml_cpu"), _floats(special.digamma, "digamma")


@op(inplace=True, typed="float")
def erf(self: Any, /) -> Any:
    """The error function."""
    return _erf(self)


erf.derivative(self=lambda grad, self: grad * (exp(-(self * self)) * _SLOPE_OF_ERF))


@op(inplace=True, typed="float")
def erfc(self: Any, /) -> Any:
    """One minus the error function."""
    return _erfc(self)


erfc.derivative(self=lambda grad, self: grad * (exp(-(self * self)) * -_SLOPE_OF_ERF))


@op(inplace=True, typed="float")
def erfinv(self: Any, /) -> Any:
    """The inverse of the error function."""
    return _erfinv(self)


erfinv.derivative(self=lambda grad, self: grad * (exp(erfinv(self) ** 2) * _SLOPE_OF_ERFINV))


@op(inplace=True, typed="float")
def lgamma(self: Any, /) -> Any:
    """The logarithm of the absolute value of the gamma function."""
    return _lgamma(self)


lgamma.derivative(self=lambda grad, self: grad * digamma(self))


@op(inplace=True, typed="float")
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
)
def polygamma_of(self: Any, /, order: Any) -> Any:
    """The derivative of digamma of an order."""
    if self.dtype.itemsize == 2:
        return single(lambda x: polygamma_of.row.kernel(x, order), self)
    if order > 1:
        return scipy_special.polygamma(order, self)
    return special.trigamma(self) if order else special.digamma(self)


polygamma_of.derivative(self=lambda grad, self, order: grad * polygamma_of(self, order + 1))


@op(inplace=True, typed="float")
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
    return where(self == 0, 0, grad * ((x * cos(x) - sin(x)) / (x * self)))


_SLOPE_OF_ERF = 2 / math.sqrt(math.pi)
_SLOPE_OF_ERFINV = math.sqrt(math.pi) / 2
_PI = math.pi


# -- the normal distribution and entropy -------------------------------------------------------------------------------


def _full(function: Any, name: str, self: Any) -> Any:
    """``function`` of float32 and float64 only."""
    if self.dtype.kind == "c" or self.dtype.itemsize == 2:
        raise unsupported(name, self)
    return function(self)


@op(typed="float", public=False)
def special_entr(self: Any, /) -> Any:
    """``-x log(x)``, zero at zero and minus infinity below.

    Source: https://docs.pytorch.org/docs/stable/special.html#torch.special.entr
    """
    if self.dtype.kind == "c":
        raise unsupported("entr_cpu", self)
    if self.dtype.itemsize == 2:
        return single(special_entr.row.kernel, self)
    kind = self.dtype.type
    inside = np.where(self > 0, self, kind(1))
    return np.where(self > 0, -inside * np.log(inside), np.where(self == 0, kind(0), np.where(
        self < 0, kind(-math.inf), self)))[()]  # fmt: skip


special_entr.derivative(self=lambda grad, self: grad * (-1 - log(self)))


@op(typed="float", public=False)
def special_erfcx(self: Any, /) -> Any:
    """The scaled complementary error function ``exp(x^2) erfc(x)``.

    Source: https://docs.pytorch.org/docs/stable/special.html#torch.special.erfcx
    """
    return _full(scipy_special.erfcx, "erfcx_cpu", self)


special_erfcx.derivative(self=lambda grad, self, result: grad * (2 * self * result - _TWO_OVER_ROOT_PI))


@op(typed="float", public=False)
def special_log_ndtr(self: Any, /) -> Any:
    """The logarithm of the normal distribution function.

    Source: https://docs.pytorch.org/docs/stable/special.html#torch.special.log_ndtr
    """
    return _full(scipy_special.log_ndtr, "log_ndtr_cpu", self)


special_log_ndtr.derivative(self=lambda grad, self, result: grad / (exp(self * self / 2 + result) * _ROOT_TWO_PI))


@op(typed="float", public=False)
def special_ndtri(self: Any, /) -> Any:
    """The quantiles of the normal distribution.

    Source: https://docs.pytorch.org/docs/stable/special.html#torch.special.ndtri
    """
    return _full(scipy_special.ndtri, "ndtri_cpu", self)


special_ndtri.derivative(self=lambda grad, result: grad * (exp(result * result / 2) * _ROOT_TWO_PI))


_TWO_OVER_ROOT_PI = 2 / math.sqrt(math.pi)
_ROOT_TWO_PI = math.sqrt(2 * math.pi)


def _xlog1py(self: Any, other: Any) -> Any:
    if self.dtype.kind == "c":
        raise unsupported("xlog1py_cpu", self)
    zero = np.logical_and(self == 0, other == other)
    return np.where(zero, self.dtype.type(0), self * np.log1p(np.where(zero, other.dtype.type(0), other)))[()]


@op(node="SpecialXlog1PyBackward0", typed="float", strict=True, public=False)
def special_xlog1py(self: Any, other: Any, /) -> Any:
    """``self * log1p(other)``, zero where ``self`` is zero.

    Source: https://docs.pytorch.org/docs/stable/special.html#torch.special.xlog1py
    """
    return _xlog1py(self, other)


special_xlog1py.derivative(
    self=lambda grad, self, other: grad * where(self == 0, where(other <= -1, 0, log1p(other)), log1p(other)),
    other=lambda grad, self, other: grad * self / (other + 1),
)


@op(node="SpecialXlog1PyBackward2", typed="float", public=False)
def xlog1py_number(self: Any, /, other: Any) -> Any:
    """``self`` times the logarithm of one plus a number, zero where ``self`` is zero."""
    return _xlog1py(self, self.dtype.type(other))


xlog1py_number.derivative(
    self=lambda grad, self, other: (
        grad * _log1p_of(other) if other > -1 else where(self == 0, 0, grad * _log1p_of(other))
    )
)


@op(node="SpecialXlog1PyBackward1", typed="float", public=False)
def xlog1py_of_number(other: Any, /, self: Any) -> Any:
    """A number times the logarithms of one plus ``other``, zero for the number zero."""
    return _xlog1py(other.dtype.type(self), other)


xlog1py_of_number.derivative(other=lambda grad, other, self: grad * self / (other + 1))


def _log1p_of(number: Any) -> Any:
    return math.log1p(number) if number > -1 else -math.inf if number == -1 else math.nan
