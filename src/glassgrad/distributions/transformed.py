"""Families that are another one's samples transformed."""

from __future__ import annotations

import math
from math import inf, nan
from operator import attrgetter
from typing import Any, ClassVar

from ..ground import dtypes
from . import constraints
from .categories import ExpRelaxedCategorical
from .composed import TransformedDistribution
from .distribution import Distribution
from .interval import Uniform
from .location import Cauchy, LocationScale, Normal
from .positive import Exponential, Gamma
from .transforms import (
    AbsTransform,
    AffineTransform,
    ExpTransform,
    PowerTransform,
    SigmoidTransform,
    StickBreakingTransform,
)
from .trials import LogitRelaxedBernoulli
from .utils import NUMBERS, broadcast_all, euler_constant, overwritten
from .utils import functions as f


class Half(TransformedDistribution):
    """The absolute values of numbers of a family around zero, ``_whole``."""

    arg_constraints = {"scale": constraints.positive}
    support = constraints.nonnegative
    has_rsample = True
    _whole: ClassVar[type[LocationScale]]

    def __init__(self, scale: Any, validate_args: bool | None = None) -> None:
        super().__init__(self._whole(0, scale, validate_args=False), AbsTransform(), validate_args=validate_args)

    scale = property(attrgetter("base_dist.scale"), doc="That of the numbers with their sign.")
    mode = property(lambda self: f.zeros_like(self.scale), doc="Zero.")

    def _log_prob(self, value: Any) -> Any:
        """The logarithm of the density: minus infinity below zero."""
        return f.where(value >= 0, self.base_dist.log_prob(value) + math.log(2), -math.inf)

    cdf = Distribution.cdf  # not by the transform, whose inverse is one of two

    def _cdf(self, value: Any) -> Any:
        return 2 * self.base_dist.cdf(value) - 1

    def icdf(self, prob: Any) -> Any:
        """The quantile of ``prob``."""
        return self.base_dist.icdf((prob + 1) / 2)

    def entropy(self) -> Any:
        return self.base_dist.entropy() - math.log(2)


class HalfNormal(Half):
    """The absolute values of normal numbers of mean zero and deviation ``scale``."""

    _whole = Normal

    scale = property(attrgetter("base_dist.scale"), doc="The deviation before the sign is lost.")
    mean = property(lambda self: self.scale * math.sqrt(2 / math.pi), doc="The scale times the root of 2 / pi.")

    @property
    def variance(self) -> Any:
        """The square of the scale times 1 - 2 / pi."""
        return self.scale.pow(2) * (1 - 2 / math.pi)


class HalfCauchy(Half):
    """The absolute values of Cauchy numbers around zero, half of them within ``scale``."""

    _whole = Cauchy

    scale = property(attrgetter("base_dist.scale"), doc="The median.")

    @property
    def mean(self) -> Any:
        """Infinity."""
        return f.full(self._extended_shape(), math.inf, dtype=self.scale.dtype, device=self.scale.device)

    variance = property(attrgetter("base_dist.variance"), doc="Infinity.")

    def _log_prob(self, value: Any) -> Any:
        """The logarithm of the density: minus infinity below zero."""
        value = f.as_tensor(value, dtype=self.scale.dtype, device=self.scale.device)
        return f.where(value >= 0, self.base_dist.log_prob(value) + math.log(2), -math.inf)


class LogNormal(TransformedDistribution):
    """Numbers whose logarithms are normal of mean ``loc`` and deviation ``scale``."""

    arg_constraints = {"loc": constraints.real, "scale": constraints.positive}
    support = constraints.positive
    has_rsample = True

    def __init__(self, loc: Any, scale: Any, validate_args: bool | None = None) -> None:
        base = Normal(loc, scale, validate_args=validate_args)
        super().__init__(base, ExpTransform(), validate_args=validate_args)

    loc = property(attrgetter("base_dist.loc"), doc="The mean of the logarithms.")
    scale = property(attrgetter("base_dist.scale"), doc="The deviation of the logarithms.")
    mean = property(lambda self: (self.loc + self.scale.pow(2) / 2).exp(), doc="exp(loc + scale^2 / 2).")
    mode = property(lambda self: (self.loc - self.scale.square()).exp(), doc="exp(loc - scale^2).")

    @property
    def variance(self) -> Any:
        """(exp(scale^2) - 1) exp(2 loc + scale^2)."""
        square = self.scale.pow(2)
        return square.expm1() * (2 * self.loc + square).exp()

    def entropy(self) -> Any:
        return self.base_dist.entropy() + self.loc


class LogisticNormal(TransformedDistribution):
    """Vectors (*, K) of chances, made of K - 1 normal numbers of means ``loc`` and deviations ``scale``."""

    arg_constraints = {"loc": constraints.real, "scale": constraints.positive}
    support = constraints.simplex
    has_rsample = True

    def __init__(self, loc: Any, scale: Any, validate_args: bool | None = None) -> None:
        base = Normal(loc, scale, validate_args=validate_args)
        if not base.batch_shape:
            base = base.expand([1])
        super().__init__(base, StickBreakingTransform(), validate_args=validate_args)

    loc = property(attrgetter("base_dist.base_dist.loc"), doc="The means of the normal numbers.")
    scale = property(attrgetter("base_dist.base_dist.scale"), doc="The deviations of the normal numbers.")


class InverseGamma(TransformedDistribution):
    """Numbers whose reciprocals are gamma numbers of ``concentration`` and ``rate``."""

    arg_constraints = {"concentration": constraints.positive, "rate": constraints.positive}
    support = constraints.positive
    has_rsample = True

    def __init__(self, concentration: Any, rate: Any, validate_args: bool | None = None) -> None:
        base = Gamma(concentration, rate, validate_args=validate_args)
        super().__init__(base, PowerTransform(-base.rate.new_ones(())), validate_args=validate_args)

    concentration = property(attrgetter("base_dist.concentration"), doc="The shape of the reciprocals.")
    rate = property(attrgetter("base_dist.rate"), doc="The rate of the reciprocals.")

    @property
    def mean(self) -> Any:
        """Infinite for a concentration of one or less."""
        a = self.concentration
        return f.where(a > 1, self.rate / (a - 1), inf)

    mode = property(lambda self: self.rate / (self.concentration + 1), doc="The likeliest number.")

    @property
    def variance(self) -> Any:
        """Infinite for a concentration of two or less."""
        a = self.concentration
        return f.where(a > 2, self.rate.square() / ((a - 1).square() * (a - 2)), inf)

    def entropy(self) -> Any:
        a = self.concentration
        return a + self.rate.log() + a.lgamma() - (1 + a) * a.digamma()


class Pareto(TransformedDistribution):
    """Numbers from ``scale`` on, of which the larger are rarer by the power ``alpha``."""

    arg_constraints = {"alpha": constraints.positive, "scale": constraints.positive}

    def __init__(self, scale: Any, alpha: Any, validate_args: bool | None = None) -> None:
        self.scale, self.alpha = broadcast_all(scale, alpha)
        base = Exponential(self.alpha, validate_args=validate_args)
        super().__init__(base, self._steps(), validate_args=validate_args)

    def _steps(self) -> list[Any]:
        return [ExpTransform(), AffineTransform(loc=0, scale=self.scale)]

    def expand(self, batch_shape: Any, _instance: Any = None) -> Any:
        new = super().expand(batch_shape, _instance)
        new.transforms = new._steps()
        return new

    @constraints.dependent_property(is_discrete=False, event_dim=0)
    def support(self) -> Any:
        """Numbers from the scale on."""
        return constraints.greater_than_eq(self.scale)

    @property
    def mean(self) -> Any:
        """Infinite for an alpha of one or less."""
        a = self.alpha.clamp(min=1)
        return a * self.scale / (a - 1)

    mode = property(attrgetter("scale"), doc="The scale.")

    @property
    def variance(self) -> Any:
        """Infinite for an alpha of two or less."""
        a = self.alpha.clamp(min=2)
        return self.scale.pow(2) * a / ((a - 1).pow(2) * (a - 2))

    def entropy(self) -> Any:
        return (self.scale / self.alpha).log() + (1 + self.alpha.reciprocal())


class Weibull(TransformedDistribution):
    """Powers ``1 / concentration`` of waiting times, times ``scale``."""

    arg_constraints = {"scale": constraints.positive, "concentration": constraints.positive}
    support = constraints.positive
    _batched = (*TransformedDistribution._batched, "concentration_reciprocal")

    def __init__(self, scale: Any, concentration: Any, validate_args: bool | None = None) -> None:
        self.scale, self.concentration = broadcast_all(scale, concentration)
        self.concentration_reciprocal = self.concentration.reciprocal()
        base = Exponential(f.ones_like(self.scale), validate_args=validate_args)
        super().__init__(base, self._steps(), validate_args=validate_args)

    def _steps(self) -> list[Any]:
        return [PowerTransform(self.concentration_reciprocal), AffineTransform(loc=0, scale=self.scale)]

    def expand(self, batch_shape: Any, _instance: Any = None) -> Any:
        new = super().expand(batch_shape, _instance)
        new.transforms = new._steps()
        return new

    @property
    def mean(self) -> Any:
        """The scale times gamma(1 + 1 / concentration)."""
        return self.scale * (1 + self.concentration_reciprocal).lgamma().exp()

    @property
    def mode(self) -> Any:
        """The likeliest lifetime."""
        a = self.concentration
        return self.scale * ((a - 1) / a) ** a.reciprocal()

    @property
    def variance(self) -> Any:
        """By gamma functions of one and two over the concentration."""
        inverse = self.concentration_reciprocal
        return self.scale.pow(2) * ((1 + 2 * inverse).lgamma().exp() - (2 * (1 + inverse).lgamma()).exp())

    def entropy(self) -> Any:
        inverse = self.concentration_reciprocal
        return euler_constant * (1 - inverse) + (self.scale * inverse).log() + 1


class Gumbel(TransformedDistribution):
    """Numbers distributed as the largest of many, around ``loc`` at ``scale``."""

    arg_constraints = {"loc": constraints.real, "scale": constraints.positive}
    support = constraints.real

    def __init__(self, loc: Any, scale: Any, validate_args: bool | None = None) -> None:
        self.loc, self.scale = broadcast_all(loc, scale)
        limits = dtypes.finfo(self.loc.dtype)
        low, high = limits.tiny, 1 - limits.eps
        if not (isinstance(loc, NUMBERS) and isinstance(scale, NUMBERS)):
            low, high = f.full_like(self.loc, low), f.full_like(self.loc, high)
        steps = [
            ExpTransform().inv,
            AffineTransform(loc=0, scale=-f.ones_like(self.scale)),
            ExpTransform().inv,
            AffineTransform(loc=loc, scale=-self.scale),
        ]
        super().__init__(Uniform(low, high, validate_args=validate_args), steps, validate_args=validate_args)

    def _log_prob(self, value: Any) -> Any:
        y = (self.loc - value) / self.scale
        return (y - y.exp()) - self.scale.log()

    mean = property(lambda self: self.loc + self.scale * euler_constant, doc="loc + scale times Euler's constant.")
    mode = property(attrgetter("loc"), doc="``loc``.")

    @property
    def stddev(self) -> Any:
        """The scale times pi over the root of six."""
        return (math.pi / math.sqrt(6)) * self.scale

    variance = property(lambda self: self.stddev.pow(2), doc="The square of the deviation.")

    def entropy(self) -> Any:
        return self.scale.log() + (1 + euler_constant)


class Kumaraswamy(TransformedDistribution):
    """Chances; ``concentration1`` pulls towards one, ``concentration0`` towards zero."""

    arg_constraints = {"concentration1": constraints.positive, "concentration0": constraints.positive}
    support = constraints.unit_interval
    has_rsample = True

    def __init__(self, concentration1: Any, concentration0: Any, validate_args: bool | None = None) -> None:
        self.concentration1, self.concentration0 = broadcast_all(concentration1, concentration0)
        b = self.concentration0
        base = Uniform(f.zeros_like(b), f.ones_like(b), validate_args=validate_args)
        steps = [
            PowerTransform(b.reciprocal()),
            AffineTransform(loc=1.0, scale=-1.0),
            PowerTransform(self.concentration1.reciprocal()),
        ]
        super().__init__(base, steps, validate_args=validate_args)

    def _moment(self, n: int) -> Any:
        """The mean of the ``n``-th power: b times a beta function."""
        b, raised = self.concentration0, 1 + n / self.concentration1
        return b * (raised.lgamma() + b.lgamma() - (raised + b).lgamma()).exp()

    mean = property(lambda self: self._moment(1), doc="The first moment.")

    @property
    def mode(self) -> Any:
        """The likeliest chance; NaN where a concentration is below one."""
        a, b = self.concentration1, self.concentration0
        level = b.reciprocal() * (-b).log1p() - (-b * a).log1p()
        return overwritten(level, (b < 1) | (a < 1), nan).exp()

    @property
    def variance(self) -> Any:
        """The second moment less the square of the first."""
        return self._moment(2) - self.mean.pow(2)

    def entropy(self) -> Any:
        a, b = self.concentration1, self.concentration0
        harmonic = (b + 1).digamma() + euler_constant
        return (1 - b.reciprocal()) + (1 - a.reciprocal()) * harmonic - a.log() - b.log()


class RelaxedBernoulli(TransformedDistribution):
    """Numbers between zero and one, nearer to them the lower the ``temperature``, differentiable by the chances."""

    arg_constraints = {"probs": constraints.unit_interval, "logits": constraints.real}
    support = constraints.unit_interval
    has_rsample = True

    def __init__(
        self, temperature: Any, probs: Any = None, logits: Any = None, validate_args: bool | None = None
    ) -> None:
        base = LogitRelaxedBernoulli(temperature, probs, logits)
        super().__init__(base, SigmoidTransform(), validate_args=validate_args)

    temperature = property(attrgetter("base_dist.temperature"), doc="How soft the outcome is.")
    logits = property(attrgetter("base_dist.logits"), doc="The logarithms of the odds.")
    probs = property(attrgetter("base_dist.probs"), doc="The chances.")


class RelaxedOneHotCategorical(TransformedDistribution):
    """Vectors of chances, nearer to one-hot ones the lower the ``temperature``, differentiable by the logits."""

    arg_constraints = {"probs": constraints.simplex, "logits": constraints.real_vector}
    support = constraints.simplex
    has_rsample = True

    def __init__(
        self, temperature: Any, probs: Any = None, logits: Any = None, validate_args: bool | None = None
    ) -> None:
        base = ExpRelaxedCategorical(temperature, probs, logits, validate_args=validate_args)
        super().__init__(base, ExpTransform(), validate_args=validate_args)

    temperature = property(attrgetter("base_dist.temperature"), doc="How soft the vectors are.")
    logits = property(attrgetter("base_dist.logits"), doc="Logarithms of the chances.")
    probs = property(attrgetter("base_dist.probs"), doc="The chances, which sum to one.")
