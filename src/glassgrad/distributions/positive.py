"""Families of positive numbers: waiting times, sums of squares and their quotients, what exceeds a threshold."""

from __future__ import annotations

import math
from operator import attrgetter
from typing import Any

from ..ground import dtypes
from ..ground.size import Size
from . import constraints
from .distribution import Distribution, ExponentialFamily
from .utils import broadcast_all, overwritten
from .utils import functions as f


class Exponential(ExponentialFamily):
    """Waiting times for events of ``rate``."""

    arg_constraints = {"rate": constraints.positive}
    support = constraints.nonnegative
    has_rsample = True
    _mean_carrier_measure = 0

    def __init__(self, rate: Any, validate_args: bool | None = None) -> None:
        (self.rate,) = broadcast_all(rate)
        super().__init__(self.rate.size(), validate_args=validate_args)

    mean = property(lambda self: self.rate.reciprocal(), doc="One over the rate.")
    mode = property(lambda self: f.zeros_like(self.rate), doc="Zero.")
    stddev = property(lambda self: self.rate.reciprocal(), doc="One over the rate.")
    variance = property(lambda self: self.rate.pow(-2), doc="One over the square of the rate.")

    def rsample(self, sample_shape: Any = Size()) -> Any:
        """Waiting times of rate one, over the rate."""
        return self.rate.new_empty(self._extended_shape(sample_shape)).exponential_() / self.rate

    def _log_prob(self, value: Any) -> Any:
        return self.rate.log() - self.rate * value

    def _cdf(self, value: Any) -> Any:
        return 1 - (-self.rate * value).exp()

    def icdf(self, value: Any) -> Any:
        return -(-value).log1p() / self.rate

    def entropy(self) -> Any:
        return 1.0 - self.rate.log()

    _natural_params = property(lambda self: (-self.rate,))

    def _log_normalizer(self, x: Any) -> Any:  # type: ignore[override]
        return -(-x).log()


class Gamma(ExponentialFamily):
    """Positive numbers of shape ``concentration`` and inverse scale ``rate``."""

    arg_constraints = {"concentration": constraints.positive, "rate": constraints.positive}
    support = constraints.nonnegative
    has_rsample = True
    _mean_carrier_measure = 0

    def __init__(self, concentration: Any, rate: Any, validate_args: bool | None = None) -> None:
        self.concentration, self.rate = broadcast_all(concentration, rate)
        super().__init__(self.concentration.size(), validate_args=validate_args)

    mean = property(lambda self: self.concentration / self.rate, doc="Concentration over rate.")

    @property
    def mode(self) -> Any:
        """The likeliest number, zero where the concentration is below one."""
        return ((self.concentration - 1) / self.rate).clamp(min=0)

    @property
    def variance(self) -> Any:
        """Concentration over the square of the rate."""
        return self.concentration / self.rate.pow(2)

    def rsample(self, sample_shape: Any = Size()) -> Any:
        """Gamma numbers, differentiable by both parameters."""
        shape = self._extended_shape(sample_shape)
        value = f._standard_gamma(self.concentration.expand(shape)) / self.rate.expand(shape)
        value.detach().clamp_(min=dtypes.finfo(value.dtype).tiny)  # in the same memory, without a record
        return value

    def log_prob(self, value: Any) -> Any:
        """The logarithm of the density."""
        value = f.as_tensor(value, dtype=self.rate.dtype, device=self.rate.device)
        if self._validate_args:
            self._validate_sample(value)
        a, rate = self.concentration, self.rate
        return f.xlogy(a, rate) + f.xlogy(a - 1, value) - rate * value - a.lgamma()

    def _cdf(self, value: Any) -> Any:
        return f.igamma(self.concentration, self.rate * value)

    def entropy(self) -> Any:
        a = self.concentration
        return a - self.rate.log() + a.lgamma() + (1.0 - a) * a.digamma()

    _natural_params = property(lambda self: (self.concentration - 1, -self.rate))

    def _log_normalizer(self, x: Any, y: Any) -> Any:  # type: ignore[override]
        return (x + 1).lgamma() + (x + 1) * (-y.reciprocal()).log()


class Chi2(Gamma):
    """Sums of the squares of ``df`` standard normal numbers; ``df`` need not be whole."""

    arg_constraints = {"df": constraints.positive}
    _batched = ("concentration", "rate")

    def __init__(self, df: Any, validate_args: bool | None = None) -> None:
        super().__init__(0.5 * df, 0.5, validate_args=validate_args)

    df = property(lambda self: self.concentration * 2, doc="How many squares are summed.")


class FisherSnedecor(Distribution):
    """Quotients of the mean squares of ``df1`` and of ``df2`` normal numbers."""

    arg_constraints = {"df1": constraints.positive, "df2": constraints.positive}
    support = constraints.positive
    has_rsample = True
    _batched = ("_gamma1", "_gamma2")

    def __init__(self, df1: Any, df2: Any, validate_args: bool | None = None) -> None:
        self.df1, self.df2 = broadcast_all(df1, df2)
        self._gamma1 = Gamma(self.df1 * 0.5, self.df1)
        self._gamma2 = Gamma(self.df2 * 0.5, self.df2)
        super().__init__(self.df1.size(), validate_args=validate_args)

    def _df2_above(self, bound: float) -> Any:
        """``df2``, NaN where it is at most a bound."""
        return overwritten(self.df2.clone(memory_format=dtypes.contiguous_format), self.df2 <= bound, math.nan)

    @property
    def mean(self) -> Any:
        """NaN for a ``df2`` of two or less."""
        df2 = self._df2_above(2)
        return df2 / (df2 - 2)

    @property
    def mode(self) -> Any:
        """NaN for a ``df1`` of two or less."""
        return overwritten((self.df1 - 2) / self.df1 * self.df2 / (self.df2 + 2), self.df1 <= 2, math.nan)

    @property
    def variance(self) -> Any:
        """NaN for a ``df2`` of four or less."""
        df2 = self._df2_above(4)
        return 2 * df2.pow(2) * (self.df1 + df2 - 2) / (self.df1 * (df2 - 2).pow(2) * (df2 - 4))

    def rsample(self, sample_shape: Any = Size()) -> Any:
        """Quotients of gamma numbers, kept above the smallest normal number."""
        shape = self._extended_shape(sample_shape)
        above = self._gamma1.rsample(sample_shape).view(shape)
        below = self._gamma2.rsample(sample_shape).view(shape)
        tiny = dtypes.finfo(below.dtype).tiny
        below.clamp_(min=tiny)
        return (above / below).clamp_(min=tiny)

    def _log_prob(self, value: Any) -> Any:
        a, b, ratio = self.df1 * 0.5, self.df2 * 0.5, self.df1 / self.df2
        level = (a + b).lgamma() - a.lgamma() - b.lgamma()
        return level + (a * ratio.log() + (a - 1) * value.log()) - (a + b) * (ratio * value).log1p()


class GeneralizedPareto(Distribution):
    """Numbers from ``loc`` on at ``scale``, with heavier tails the larger ``concentration``; exponential at zero."""

    arg_constraints = {"loc": constraints.real, "scale": constraints.positive, "concentration": constraints.real}
    has_rsample = True

    def __init__(self, loc: Any, scale: Any, concentration: Any, validate_args: bool | None = None) -> None:
        self.loc, self.scale, self.concentration = broadcast_all(loc, scale, concentration)
        super().__init__(self.loc.size(), validate_args=validate_args)

    @constraints.dependent_property(is_discrete=False, event_dim=0)
    def support(self) -> Any:
        """From loc on; up to an end where the concentration is negative."""
        end = self.loc - self.scale / self.concentration
        return constraints.interval(self.loc, f.where(self.concentration < 0, end, math.inf))

    def _split(self) -> tuple[Any, Any]:
        """Where the concentration is next to zero, and the concentrations with ones there."""
        c = self.concentration
        near = f.isclose(c, f.zeros_like(c))
        return near, f.where(near, f.ones_like(c), c)

    def _z(self, x: Any) -> Any:
        return (x - self.loc) / self.scale

    def rsample(self, sample_shape: Any = Size()) -> Any:
        """Quantiles of uniform numbers."""
        shape = self._extended_shape(sample_shape)
        return self.icdf(f.rand(shape, dtype=self.loc.dtype, device=self.loc.device))

    def _log_prob(self, value: Any) -> Any:
        z = self._z(value)
        near, c = self._split()
        y = 1 / c + f.ones_like(z)
        power = f.where(y == 0, y, y * (c * z).log1p())
        return -self.scale.log() - f.where(near, z, power)

    def log_survival_function(self, value: Any) -> Any:
        """The logarithm of the chance of more than ``value``."""
        if self._validate_args:
            self._validate_sample(value)
        z = self._z(value)
        near, c = self._split()
        return f.where(near, -z, -(c * z).log1p() / c)

    def log_cdf(self, value: Any) -> Any:
        """The logarithm of the chance of at most ``value``."""
        return (-self.log_survival_function(value).exp()).log1p()

    def cdf(self, value: Any) -> Any:
        """The chance of at most ``value``."""
        return self.log_cdf(value).exp()

    def icdf(self, value: Any) -> Any:
        near, c = self._split()
        level = (-value).log1p()
        return f.where(near, self.loc - self.scale * level, self.loc + self.scale / c * (-c * level).expm1())

    @property
    def mean(self) -> Any:
        """NaN for a concentration of one or more."""
        valid = self.concentration < 1
        c = f.where(valid, self.concentration, 0.5)
        return f.where(valid, self.loc + self.scale / (1 - c), math.nan)

    @property
    def variance(self) -> Any:
        """NaN for a concentration of one half or more."""
        valid = self.concentration < 0.5
        c = f.where(valid, self.concentration, 0.25)
        return f.where(valid, self.scale**2 / ((1 - c) ** 2 * (1 - 2 * c)), math.nan)

    mode = property(attrgetter("loc"), doc="``loc``.")

    def entropy(self) -> Any:
        return f.broadcast_to(self.scale.log() + self.concentration + 1, self._batch_shape)
