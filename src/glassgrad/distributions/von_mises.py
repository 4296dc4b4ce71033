"""The von Mises distribution: angles."""

from __future__ import annotations

import math
from typing import Any

from ..autograd.grad_mode import no_grad
from ..ground import dtypes
from ..ground.size import Size
from . import constraints
from .functions import functions as f
from .location import Centred
from .utils import broadcast_all, lazy_property

__all__ = ["VonMises"]

# I0(x) and I1(x) / x in (x / 3.75)^2 up to 3.75; beyond, sqrt(x) exp(-x) I(x) in 3.75 / x.
# Source: M. Abramowitz and I. Stegun, Handbook of Mathematical Functions, 9.8.1 to 9.8.4
_SMALL = (
    (1.0, 3.5156229, 3.0899424, 1.2067492, 0.2659732, 0.360768e-1, 0.45813e-2),
    (0.5, 0.87890594, 0.51498869, 0.15084934, 0.2658733e-1, 0.301532e-2, 0.32411e-3),
)
_LARGE = (
    (0.39894228, 0.1328592e-1, 0.225319e-2, -0.157565e-2, 0.916281e-2, -0.2057706e-1, 0.2635537e-1, -0.1647633e-1,
     0.392377e-2),
    (0.39894228, -0.3988024e-1, -0.362018e-2, 0.163801e-2, -0.1031555e-1, 0.2282967e-1, -0.2895312e-1, 0.1787654e-1,
     -0.420059e-2),
)  # fmt: skip


def _polynomial(x: Any, coefficients: tuple[float, ...]) -> Any:
    found: Any = coefficients[-1]
    for c in coefficients[-2::-1]:
        found = c + x * found
    return found


def _log_modified_bessel_fn(x: Any, order: int = 0) -> Any:
    """The logarithm of the modified Bessel function of the first kind, of order 0 or 1, for positive ``x``."""
    if order not in (0, 1):
        raise AssertionError(f"order must be 0 or 1, got {order}")
    near = _polynomial((x / 3.75) * (x / 3.75), _SMALL[order])
    if order:
        near = x.abs() * near
    far = x - 0.5 * x.log() + _polynomial(3.75 / x, _LARGE[order]).log()
    return f.where(x < 3.75, near.log(), far)


class VonMises(Centred):
    """Angles in radians around ``loc``, closer to it the larger ``concentration``.

    Source: D. Best and N. Fisher, Efficient simulation of the von Mises distribution (1979)
    """

    arg_constraints = {"loc": constraints.real, "concentration": constraints.positive}
    support = constraints.real
    has_rsample = False
    _parameters = {"loc": 0, "concentration": 0}

    def __init__(self, loc: Any, concentration: Any, validate_args: bool | None = None) -> None:
        self.loc, self.concentration = broadcast_all(loc, concentration)
        super().__init__(self.loc.shape, Size(), validate_args)

    def log_prob(self, value: Any) -> Any:
        """The logarithm of the density."""
        if self._validate_args:
            self._validate_sample(value)
        level = self.concentration * (value - self.loc).cos()
        return level - math.log(2 * math.pi) - _log_modified_bessel_fn(self.concentration, order=0)

    @lazy_property
    def _loc(self) -> Any:
        return self.loc.to(dtypes.float64)

    @lazy_property
    def _concentration(self) -> Any:
        return self.concentration.to(dtypes.float64)

    @lazy_property
    def _proposal_r(self) -> Any:
        """The parameter of the wrapped Cauchy distribution that proposals come from."""
        kappa = self._concentration
        tau = 1 + (1 + 4 * kappa**2).sqrt()
        rho = (tau - (2 * tau).sqrt()) / (2 * kappa)
        return f.where(kappa < 1e-5, 1 / kappa + kappa, (1 + rho**2) / (2 * rho))

    def sample(self, sample_shape: Any = Size()) -> Any:  # noqa: B008
        """Angles in [-pi, pi), by rejection, computed in float64."""
        with no_grad():
            x = f.empty(self._extended_shape(sample_shape), dtype=dtypes.float64, device=self.loc.device)
            done = f.zeros(x.shape, dtype=dtypes.bool, device=self.loc.device)
            r = self._proposal_r
            while not done.all():
                u1, u2, u3 = f.rand((3, *x.shape), dtype=dtypes.float64, device=self.loc.device).unbind()
                z = (math.pi * u1).cos()
                cosine = (1 + r * z) / (r + z)
                c = self._concentration * (r - cosine)
                accept = ((c * (2 - c) - u2) > 0) | ((c / u2).log() + 1 - c >= 0)
                if accept.any():
                    x = f.where(accept, (u3 - 0.5).sign() * cosine.acos(), x)
                    done = done | accept
            return ((x + math.pi + self._loc) % (2 * math.pi) - math.pi).to(self.loc.dtype)

    @property
    def mean(self) -> Any:
        """``loc``, the circular mean."""
        return self.loc

    @lazy_property
    def variance(self) -> Any:
        """The circular variance."""
        kappa = self.concentration
        return 1 - (_log_modified_bessel_fn(kappa, order=1) - _log_modified_bessel_fn(kappa, order=0)).exp()
