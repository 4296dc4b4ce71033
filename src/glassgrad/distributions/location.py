"""Families around a location: normal, Cauchy, Laplace, Student's t, and angles around one."""

from __future__ import annotations

import math
from operator import attrgetter
from typing import Any

from ..autograd.grad_mode import no_grad
from ..ground import dtypes
from ..ground.size import Size
from . import constraints
from .distribution import Distribution, ExponentialFamily
from .positive import Chi2
from .utils import _standard_normal, broadcast_all, lazy_property, overwritten
from .utils import functions as f


class Centred(Distribution):
    """A family whose mean and likeliest value is ``loc``."""

    loc: Any

    mean = property(attrgetter("loc"), doc="``loc``.")
    mode = property(attrgetter("loc"), doc="``loc``.")


class LocationScale(Centred):
    """A family of numbers around ``loc``, as far from it as the positive ``scale`` says."""

    arg_constraints = {"loc": constraints.real, "scale": constraints.positive}
    support = constraints.real
    has_rsample = True
    scale: Any

    def __init__(self, loc: Any, scale: Any, validate_args: bool | None = None) -> None:
        self.loc, self.scale = broadcast_all(loc, scale)
        super().__init__(self.loc.size(), validate_args=validate_args)


_HALF_LOG_TAU = math.log(math.sqrt(2 * math.pi))


class Normal(LocationScale, ExponentialFamily):
    """Numbers around ``loc`` with standard deviation ``scale``."""

    _mean_carrier_measure = 0

    stddev = property(attrgetter("scale"), doc="``scale``.")
    variance = property(lambda self: self.stddev.pow(2), doc="The square of ``scale``.")

    def sample(self, sample_shape: Any = Size()) -> Any:
        """Normal numbers without a gradient."""
        shape = self._extended_shape(sample_shape)
        with no_grad():
            return f.normal(self.loc.expand(shape), self.scale.expand(shape))

    def rsample(self, sample_shape: Any = Size()) -> Any:
        """Standard normal numbers, scaled and shifted."""
        noise = _standard_normal(self._extended_shape(sample_shape), self.loc.dtype, self.loc.device)
        return self.loc + noise * self.scale

    def _log_prob(self, value: Any) -> Any:
        scale = self.scale
        log_scale = scale.log() if hasattr(scale, "log") else math.log(scale)
        return -((value - self.loc) ** 2) / (2 * scale**2) - log_scale - _HALF_LOG_TAU

    def _cdf(self, value: Any) -> Any:
        return 0.5 * (1 + f.erf((value - self.loc) * self.scale.reciprocal() / math.sqrt(2)))

    def icdf(self, value: Any) -> Any:
        return self.loc + self.scale * f.erfinv(2 * value - 1) * math.sqrt(2)

    def entropy(self) -> Any:
        return 0.5 + 0.5 * math.log(2 * math.pi) + self.scale.log()

    @property
    def _natural_params(self) -> tuple[Any, ...]:
        variance = self.scale.pow(2)
        return self.loc / variance, -0.5 * variance.reciprocal()

    def _log_normalizer(self, x: Any, y: Any) -> Any:  # type: ignore[override]
        return -0.25 * x.pow(2) / y + 0.5 * f.log(-math.pi / y)


class Cauchy(LocationScale):
    """Numbers around ``loc``, half of them within ``scale`` of it, without a mean."""

    def _filled(self, value: float) -> Any:
        return f.full(self._extended_shape(), value, dtype=self.loc.dtype, device=self.loc.device)

    mean = property(lambda self: self._filled(math.nan), doc="NaN: there is none.")
    variance = property(lambda self: self._filled(math.inf), doc="Infinity.")

    def rsample(self, sample_shape: Any = Size()) -> Any:
        """Standard numbers, scaled and shifted."""
        return self.loc + self.loc.new_empty(self._extended_shape(sample_shape)).cauchy_() * self.scale

    def _log_prob(self, value: Any) -> Any:
        return -math.log(math.pi) - self.scale.log() - (((value - self.loc) / self.scale) ** 2).log1p()

    def _cdf(self, value: Any) -> Any:
        return ((value - self.loc) / self.scale).atan() / math.pi + 0.5

    def icdf(self, value: Any) -> Any:
        return (math.pi * (value - 0.5)).tan() * self.scale + self.loc

    def entropy(self) -> Any:
        return math.log(4 * math.pi) + self.scale.log()


class Laplace(LocationScale):
    """Numbers around ``loc`` whose distance from it is exponential of mean ``scale``."""

    variance = property(lambda self: 2 * self.scale.pow(2), doc="Twice the square of the scale.")
    stddev = property(lambda self: 2**0.5 * self.scale, doc="The scale times the root of two.")

    def rsample(self, sample_shape: Any = Size()) -> Any:
        """Uniform numbers over (-1, 1), bent."""
        u = self.loc.new_empty(self._extended_shape(sample_shape)).uniform_(dtypes.finfo(self.loc.dtype).eps - 1, 1)
        return self.loc - self.scale * u.sign() * (-u.abs()).log1p()

    def _log_prob(self, value: Any) -> Any:
        return -(2 * self.scale).log() - (value - self.loc).abs() / self.scale

    def _cdf(self, value: Any) -> Any:
        off = value - self.loc
        return 0.5 - 0.5 * off.sign() * (-off.abs() / self.scale).expm1()

    def icdf(self, value: Any) -> Any:
        off = value - 0.5
        return self.loc - self.scale * off.sign() * (-2 * off.abs()).log1p()

    def entropy(self) -> Any:
        return 1 + (2 * self.scale).log()


class StudentT(Distribution):
    """Numbers around ``loc`` at ``scale``, with heavier tails the fewer degrees of freedom ``df`` there are."""

    arg_constraints = {"df": constraints.positive, "loc": constraints.real, "scale": constraints.positive}
    support = constraints.real
    has_rsample = True
    _batched = ("_chi2",)

    def __init__(self, df: Any, loc: Any = 0.0, scale: Any = 1.0, validate_args: bool | None = None) -> None:
        self.df, self.loc, self.scale = broadcast_all(df, loc, scale)
        self._chi2 = Chi2(self.df)
        super().__init__(self.df.size(), validate_args=validate_args)

    @property
    def mean(self) -> Any:
        """``loc``; NaN for one degree of freedom or fewer."""
        return overwritten(self.loc.clone(memory_format=dtypes.contiguous_format), self.df <= 1, math.nan)

    mode = property(attrgetter("loc"), doc="``loc``.")

    @property
    def variance(self) -> Any:
        """Infinite for two degrees of freedom or fewer, NaN for one or fewer."""
        variance = self.df.clone(memory_format=dtypes.contiguous_format)
        finite = self.df > 2
        variance[finite] = self.scale[finite].pow(2) * self.df[finite] / (self.df[finite] - 2)
        variance[(self.df <= 2) & (self.df > 1)] = math.inf
        return overwritten(variance, self.df <= 1, math.nan)

    def rsample(self, sample_shape: Any = Size()) -> Any:
        """Normal numbers, then what they are divided by."""
        normal = _standard_normal(self._extended_shape(sample_shape), self.df.dtype, self.df.device)
        squares = self._chi2.rsample(sample_shape)
        return self.loc + self.scale * (normal * (squares / self.df).rsqrt())

    def _log_prob(self, value: Any) -> Any:
        df = self.df
        level = self.scale.log() + 0.5 * df.log() + 0.5 * math.log(math.pi)
        level = level + (0.5 * df).lgamma() - (0.5 * (df + 1.0)).lgamma()
        y = (value - self.loc) / self.scale
        return -0.5 * (df + 1.0) * (y**2.0 / df).log1p() - level

    def entropy(self) -> Any:
        half, more = 0.5 * self.df, 0.5 * (self.df + 1)
        log_beta = half.lgamma() + math.lgamma(0.5) - more.lgamma()
        return self.scale.log() + more * (more.digamma() - half.digamma()) + 0.5 * self.df.log() + log_beta


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
    value: Any = coefficients[-1]
    for c in coefficients[-2::-1]:
        value = c + x * value
    return value


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

    def __init__(self, loc: Any, concentration: Any, validate_args: bool | None = None) -> None:
        self.loc, self.concentration = broadcast_all(loc, concentration)
        super().__init__(self.loc.shape, Size(), validate_args)

    def _log_prob(self, value: Any) -> Any:
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

    def sample(self, sample_shape: Any = Size()) -> Any:
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

    mean = property(attrgetter("loc"), doc="``loc``, the circular mean.")

    @lazy_property
    def variance(self) -> Any:
        """The circular variance."""
        kappa = self.concentration
        return 1 - (_log_modified_bessel_fn(kappa, order=1) - _log_modified_bessel_fn(kappa, order=0)).exp()
