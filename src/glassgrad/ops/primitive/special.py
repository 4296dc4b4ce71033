"""Special functions, elementwise: the error function and the gamma function with their kin."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ...kernels import special
from ..declare import op
from .compare import unsupported, where
from .pointwise import cos, exp, sin, single


def _floats(function: Any, name: str) -> Any:
    """``function`` for real floats only, half precision by way of float32."""

    def serve(self: Any) -> Any:
        if self.dtype.kind == "c":
            raise unsupported(name, self)
        return function(self) if self.dtype.itemsize > 2 else single(function, self)

    return serve


_erf, _erfc, _erfinv = (_floats(f, f"{f.__name__}_vml_cpu") for f in (special.erf, special.erfc, special.erfinv))
_lgamma, _digamma = _floats(special.lgamma, "lgamma_vml_cpu"), _floats(special.digamma, "digamma")


@op(inplace=True)
def erf(self: Any, /) -> Any:
    """The error function."""
    return _erf(self)


@op(inplace=True)
def erfc(self: Any, /) -> Any:
    """One minus the error function."""
    return _erfc(self)


@op(inplace=True)
def erfinv(self: Any, /) -> Any:
    """The inverse of the error function."""
    return _erfinv(self)


@op(inplace=True)
def lgamma(self: Any, /) -> Any:
    """The logarithm of the absolute value of the gamma function."""
    return _lgamma(self)


@op(inplace=True)
def digamma(self: Any, /) -> Any:
    """The logarithmic derivative of the gamma function."""
    return _digamma(self)


@op(node="PolygammaBackward0")
def polygamma_of(self: Any, /, order: Any) -> Any:
    """The derivative of digamma of an order."""
    if self.dtype.itemsize == 2:
        return single(lambda x: special.polygamma(order, x), self)
    return special.polygamma(order, self)


@op(inplace=True)
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
polygamma_of.derivative(self=lambda grad, self, order: grad * polygamma_of(self, order + 1))
polygamma_of.shows(hidden=("order",), n=("order", lambda order: order))


@sinc.derivative("self")
def slope_of_sinc(grad: Any, self: Any) -> Any:
    """The gradient times the slope of sinc, zero at zero."""
    x = self * _PI
    return where(self == 0, 0, grad * ((x * cos(x) - sin(x)) / (x * self)))


for _row in (erf, erfc, erfinv, lgamma, digamma, polygamma_of, sinc):
    _row.typed_as("float")
