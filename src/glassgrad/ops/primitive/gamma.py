"""The incomplete gamma functions, the multivariate one and Hurwitz's zeta function, elementwise."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ...core.row import op
from ...kernels import scipy_special
from ...kernels.special import lgamma as log_gamma
from .compare import unsupported
from .pointwise import exp, log, single
from .special import digamma, lgamma

ndarray = np.ndarray


def _incomplete(function: Any, name: str, self: Any, other: Any) -> Any:
    if self.dtype.kind not in "fV":
        raise unsupported(name, self)
    if self.dtype.itemsize == 2:
        return function(self.astype("f4"), other.astype("f4")).astype(self.dtype)
    return function(self, other)


def refuse_igamma(grad: Any) -> Any:
    """Raise PyTorch's error for the gradient in the parameter."""
    raise NotImplementedError("the derivative for 'igamma: input' is not implemented.")


@op(inplace=True, typed="promote", strict=True)
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


@op(inplace=True, typed="promote", strict=True)
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
        raise unsupported("zeta_cpu", self)
    return scipy_special.zeta(self, other)


@op(typed="float", strict=True, public=False)
def special_zeta(self: Any, other: Any, /) -> Any:
    """Hurwitz's zeta function of the exponent ``self`` from ``other`` on; differentiable in ``other`` alone.

    Source: https://docs.pytorch.org/docs/stable/special.html#torch.special.zeta
    """
    return _zeta(self, other)


special_zeta.derivative(self=refuse_zeta, other=lambda grad, self, other: grad * -self * special_zeta(self + 1, other))


@op(node="SpecialZetaBackward2", typed="float", public=False)
def zeta_number(self: Any, /, other: Any) -> Any:
    """Hurwitz's zeta function from a number on; no derivative."""
    return _zeta(self, np.asarray(other, self.dtype))


zeta_number.derivative(self=refuse_zeta)


@op(node="SpecialZetaBackward1", typed="float", public=False)
def zeta_of_number(other: Any, /, self: Any) -> Any:
    """Hurwitz's zeta function of one exponent."""
    return _zeta(np.asarray(self, other.dtype), other)


zeta_of_number.derivative(other=lambda grad, self, other: grad * -self * zeta_of_number(other, self + 1))


@op(inplace=True, typed="float")
def mvlgamma(self: Any, /, p: Any) -> Any:
    """The logarithm of the gamma function of dimension ``p``.

    Source: https://docs.pytorch.org/docs/stable/special.html#torch.special.multigammaln
    """
    if p < 1:
        raise RuntimeError("p has to be greater than or equal to 1")
    if self.dtype.kind == "c":
        raise unsupported("arange_cpu", self)
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
