"""Special functions, elementwise: the error function and the gamma function with their kin."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from ...core.row import FLOATS, op
from ...ground.dtypes import need_int
from ...kernels.columns import not_implemented
from ...ops.declare import named
from ..compare.rows import where
from ..pointwise.limit import abs, sgn
from ..pointwise.rows import cos, exp, log, sin
from . import kernels as polynomial
from . import kernels as special
from . import scipy_special
from .kernels import lgamma as log_gamma

#: The columns of functions of one real number; half precision by way of float32.
_ONE: Any = {"inplace": True, "typed": "float", "halves": "single", "layout": "elementwise", "batched": "point"}
_HIDDEN = {**_ONE, "inplace": False, "public": False}
#: The same without half precision.
_WIDE = {**_HIDDEN, "halves": None}


def _of_one(name: str, kernel: Callable[[Any], Any], says: str, **columns: Any) -> Any:
    @op(**columns)
    @named(name, says=says)
    def function(self: Any, /) -> Any:
        """{says}"""
        return kernel(self)

    return function


erf = _of_one("erf", special.erf, "The error function.", **_ONE, widens=True, serves=(FLOATS, "erf_vml_cpu"))
erf.derivative(self=lambda grad, self: grad * (exp(-(self * self)) * _SLOPE_OF_ERF))


erfc = _of_one(
    "erfc", special.erfc, "One minus the error function.", **_ONE, widens=True, serves=(FLOATS, "erfc_vml_cpu")
)
erfc.derivative(self=lambda grad, self: grad * (exp(-(self * self)) * -_SLOPE_OF_ERF))


erfinv = _of_one(
    "erfinv", special.erfinv, "The inverse of the error function.",
    **_ONE, widens=True, serves=(FLOATS, "erfinv_vml_cpu"),
)  # fmt: skip
erfinv.derivative(self=lambda grad, self: grad * (exp(erfinv(self) ** 2) * _SLOPE_OF_ERFINV))


lgamma = _of_one(
    "lgamma", special.lgamma, "The logarithm of the absolute value of the gamma function.",
    **_ONE, serves=(FLOATS, "lgamma_vml_cpu"),
)  # fmt: skip
lgamma.derivative(self=lambda grad, self: grad * digamma(self))


digamma = _of_one(
    "digamma", special.digamma, "The logarithmic derivative of the gamma function.",
    **_ONE, serves=(FLOATS, "digamma"),
)  # fmt: skip
digamma.derivative(self=lambda grad, self: grad * polygamma_of(self, 1))


@op(
    node="PolygammaBackward0",
    typed="float",
    public=False,
    hidden=("order",),
    shows={"n": ("order", lambda order: order)},
    serves=(
        FLOATS,
        lambda self, order: not_implemented("trigamma" if order == 1 else "polygamma" if order else "digamma", self),
    ),
    halves="single",
    batched="point",
)
def polygamma_of(self: Any, /, order: Any) -> Any:
    """The derivative of digamma of an order."""
    if order > 1:
        return scipy_special.polygamma(order, self)
    return special.trigamma(self) if order else special.digamma(self)


polygamma_of.derivative(self=lambda grad, self, order: grad * polygamma_of(self, order + 1))


@op(**_ONE)
def sinc(self: Any, /) -> Any:
    """sin(pi x) / (pi x), one at zero."""
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


@op(**_HIDDEN, serves=(FLOATS, "entr_cpu"))
def special_entr(self: Any, /) -> Any:
    """``-x log(x)``, zero at zero and minus infinity below."""
    kind = self.dtype.type
    inside = np.where(self > 0, self, kind(1))
    return np.where(self > 0, -inside * np.log(inside), np.where(self == 0, kind(0), np.where(
        self < 0, kind(-math.inf), self)))[()]  # fmt: skip


special_entr.derivative(self=lambda grad, self: grad * (-1 - log(self)))


special_erfcx = _of_one(
    "special_erfcx", scipy_special.erfcx, "The scaled complementary error function ``exp(x^2) erfc(x)``.",
    **_WIDE, serves=("fd", "erfcx_cpu"),
)  # fmt: skip
special_erfcx.derivative(self=lambda grad, self, result: grad * (2 * self * result - _TWO_OVER_ROOT_PI))


special_log_ndtr = _of_one(
    "special_log_ndtr", scipy_special.log_ndtr, "The logarithm of the normal distribution function.",
    **_WIDE, serves=("fd", "log_ndtr_cpu"),
)  # fmt: skip
special_log_ndtr.derivative(self=lambda grad, self, result: grad / _ROOT_TWO_PI * exp(-(self * self / 2 + result)))


special_ndtri = _of_one(
    "special_ndtri", scipy_special.ndtri, "The quantiles of the normal distribution.",
    **_WIDE, serves=("fd", "ndtri_cpu"),
)  # fmt: skip
special_ndtri.derivative(self=lambda grad, result: grad * (exp(result * result / 2) * _ROOT_TWO_PI))


_TWO_OVER_ROOT_PI = 2 / math.sqrt(math.pi)
_ROOT_TWO_PI = math.sqrt(2 * math.pi)


_XLOG1PY: Any = {"typed": "float", "public": False, "serves": (FLOATS, "xlog1py_cpu"), "batched": "point"}


def _xlog1py(self: Any, other: Any) -> Any:
    zero = np.logical_and(self == 0, other == other)
    return np.where(zero, self.dtype.type(0), self * np.log1p(np.where(zero, other.dtype.type(0), other)))[()]


@op(node="SpecialXlog1PyBackward0", **_XLOG1PY, strict=True)
def special_xlog1py(self: Any, other: Any, /) -> Any:
    """``self * log1p(other)``, zero where ``self`` is zero."""
    return _xlog1py(self, other)


special_xlog1py.derivative(
    self=lambda grad, self, other: where(
        self == 0, where(other <= -1, 0, special_xlog1py(grad, other)), special_xlog1py(grad, other)
    ),
    other=lambda grad, self, other: grad * self / (other + 1),
)


@op(node="SpecialXlog1PyBackward2", **_XLOG1PY)
def xlog1py_number(self: Any, /, other: Any) -> Any:
    """``self`` times the logarithm of one plus a number, zero where ``self`` is zero."""
    return _xlog1py(self, self.dtype.type(other))


xlog1py_number.derivative(
    self=lambda grad, self, other: (
        xlog1py_number(grad, other) if other > -1 else where(self == 0, 0, xlog1py_number(grad, other))
    )
)


@op(node="SpecialXlog1PyBackward1", **_XLOG1PY)
def xlog1py_of_number(other: Any, /, self: Any) -> Any:
    """A number times the logarithms of one plus ``other``, zero for the number zero."""
    return _xlog1py(other.dtype.type(self), other)


xlog1py_of_number.derivative(other=lambda grad, other, self: grad * self / (other + 1))


# -- The incomplete gamma functions, the multivariate one and Hurwitz's zeta function, elementwise.

ndarray = np.ndarray
_INCOMPLETE: Any = {"inplace": True, "typed": "promote", "strict": True, "halves": "single", "batched": "point"}


def refuse_igamma(grad: Any) -> Any:
    """Raise PyTorch's error for the gradient in the parameter."""
    raise NotImplementedError("the derivative for 'igamma: input' is not implemented.")


@op(**_INCOMPLETE, serves=(FLOATS, "igamma_cpu"))
def igamma(self: Any, other: Any, /) -> Any:
    """The regularised lower incomplete gamma function of the parameter ``self`` at ``other``.

    Differentiable in ``other`` alone.  Source: https://docs.pytorch.org/docs/stable/special.html#torch.special.gammainc
    """
    return scipy_special.gammainc(self, other)


igamma.derivative(
    self=refuse_igamma,
    other=lambda grad, self, other: grad * exp((self - 1) * log(other) - other - lgamma(self)),
)


def refuse_igammac(grad: Any) -> Any:
    """Raise PyTorch's error for the gradient in the parameter."""
    raise NotImplementedError("the derivative for 'igammac: input' is not implemented.")


@op(**_INCOMPLETE, serves=(FLOATS, "igammac_cpu"))
def igammac(self: Any, other: Any, /) -> Any:
    """The regularised upper incomplete gamma function of the parameter ``self`` at ``other``.

    Differentiable in ``other`` alone.  Source: https://docs.pytorch.org/docs/stable/special.html#torch.special.gammaincc
    """
    return scipy_special.gammaincc(self, other)


igammac.derivative(
    self=refuse_igammac,
    other=lambda grad, self, other: -grad * exp((self - 1) * log(other) - other - lgamma(self)),
)


def refuse_zeta(grad: Any) -> Any:
    """Raise PyTorch's error for the gradient in the exponent."""
    raise NotImplementedError("the derivative for 'zeta' is not implemented.")


#: The columns of the zeta function.
_ZETA: Any = {"typed": "float", "public": False, "serves": ("fd", "zeta_cpu"), "batched": "point"}


@op(**_ZETA, strict=True)
def special_zeta(self: Any, other: Any, /) -> Any:
    """Hurwitz's zeta function of the exponent ``self`` from ``other`` on; differentiable in ``other`` alone."""
    return scipy_special.zeta(self, other)


special_zeta.derivative(self=refuse_zeta, other=lambda grad, self, other: grad * -self * special_zeta(self + 1, other))


@op(node="SpecialZetaBackward2", **_ZETA)
def zeta_number(self: Any, /, other: Any) -> Any:
    """Hurwitz's zeta function from a number on; no derivative."""
    return scipy_special.zeta(self, np.asarray(other, self.dtype))


zeta_number.derivative(self=refuse_zeta)


@op(node="SpecialZetaBackward1", **_ZETA)
def zeta_of_number(other: Any, /, self: Any) -> Any:
    """Hurwitz's zeta function of one exponent."""
    return scipy_special.zeta(np.asarray(self, other.dtype), other)


zeta_of_number.derivative(other=lambda grad, self, other: grad * -self * zeta_of_number(other, self + 1))


def _no_bool(self: Any) -> None:
    if self._array.dtype.kind == "b":
        raise RuntimeError("The input tensor may not be a boolean tensor.")


def check_dimension(p: int) -> None:
    """Raise PyTorch's error for a gamma function of no dimension."""
    if p < 1:
        raise RuntimeError("p has to be greater than or equal to 1")


@op(
    inplace=True, typed="float", refuses=_no_bool, serves=(FLOATS, "arange_cpu"), batched="point"
)
def mvlgamma(self: Any, /, p: int) -> Any:
    """The logarithm of the gamma function of dimension ``p``.

    Source: https://docs.pytorch.org/docs/stable/special.html#torch.special.multigammaln
    """
    p = need_int("mvlgamma", "p", 2, p)
    check_dimension(p)
    if p >= 2**63:
        raise ValueError("Overflow when unpacking long long")
    kind = self.dtype
    wide = np.dtype("f4") if kind.itemsize == 2 else kind
    terms = np.asarray(self)[..., None] + np.arange(0.5 - p / 2, 0.5, 0.5).astype(kind)
    total = log_gamma(terms.astype(wide)).astype(kind).astype(wide).sum(-1).astype(kind)  # rounded as PyTorch's steps
    return total + kind.type(p * (p - 1) * math.log(math.pi) / 4)


@mvlgamma.derivative("self")
def slope_of_mvlgamma(grad: Any, self: Any, p: Any) -> Any:
    """The gradient times the sum of the digammas of ``self`` and the halves below it."""
    total = digamma(self + 0)  # by which -0.0 is 0.0, as for PyTorch
    for step in range(1, p):
        total = total + digamma(self - step / 2)
    return grad * total


# -- Bessel's functions of orders 0 and 1 and Airy's, elementwise: those with slopes in PyTorch, and those without.

_BESSEL: Any = {"typed": "float", "public": False, "halves": "single", "batched": "point"}


@op(**_ONE, serves=(FLOATS, "i0_vml_cpu"))
def i0(self: Any, /) -> Any:
    """The modified Bessel function of the first kind, order 0.

    Source: https://docs.pytorch.org/docs/stable/special.html#torch.special.i0
    """
    return special.i0(self)


i0.derivative(self=lambda grad, self: grad * special_i1(self))


special_i0e = _of_one(
    "special_i0e", scipy_special.i0e, "``exp(-|x|) I0(x)``.",
    node="SpecialI0EBackward0", **_BESSEL, serves=(FLOATS, "i0e_cpu"),
)  # fmt: skip
special_i0e.derivative(self=lambda grad, self, result: grad * (special_i1e(self) - sgn(self) * result))


special_i1 = _of_one(
    "special_i1", scipy_special.i1, "The modified Bessel function of the first kind, order 1.",
    **_BESSEL, serves=(FLOATS, "i1_cpu"),
)  # fmt: skip
@special_i1.derivative("self")
def slope_of_i1(grad: Any, self: Any, result: Any) -> Any:
    """The gradient times I0(x) - I1(x) / x; a half at zero."""
    tiny = tiny_aside(abs(self)) != abs(self)
    x = where(tiny, 1, self)
    return grad * where(tiny, 0.5, i0(x) - result / x)


special_i1e = _of_one(
    "special_i1e", scipy_special.i1e, "``exp(-|x|) I1(x)``.",
    node="SpecialI1EBackward0", **_BESSEL, serves=(FLOATS, "i1e_cpu"),
)  # fmt: skip
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
    if argument == "self":

        def function(self: Any, /) -> Any:
            return kernel(self)
    else:

        def function(x: Any, /) -> Any:
            return kernel(x)

    function.__name__ = f"special_{name}"
    function.__doc__ = f"{doc}; no derivative."
    return op(**_WIDE, constant=True, serves=("fd", f"{name}_cpu"))(function)


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
        return kernel(x, n)

    function.__name__ = f"special_{name}"
    function.__doc__ = f"{doc} of degree ``n``; no derivative."
    return op(**_WIDE, constant=True, serves=("fd", f"{name}_cpu"))(function)


#: name in torch.special -> row
POLYNOMIALS = {name: _row_of(name, kernel, doc) for name, (kernel, doc) in _NAMED.items()}
