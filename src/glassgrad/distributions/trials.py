"""Families of trials that succeed or fail: one trial, as it is or relaxed, and numbers of them."""

from __future__ import annotations

import math
from math import nan
from operator import attrgetter
from typing import Any

from ..autograd.grad_mode import no_grad
from ..ground import dtypes
from ..ground.size import Size
from ..nn.functional import binary_cross_entropy_with_logits, logsigmoid
from . import constraints
from .distribution import Distribution, ExponentialFamily, all_true, kind_of
from .positive import Gamma
from .utils import ONE_OF_TWO, broadcast_all, clamp_probs, lazy_property, logits_to_probs, overwritten, probs_to_logits
from .utils import functions as f


class ByChance(Distribution):
    """A family with one chance for each member of the batch, given as ``probs`` or as ``logits``."""

    _batched = ("_param",)
    _param: Any

    def __init__(self, probs: Any = None, logits: Any = None, validate_args: bool | None = None) -> None:
        self._take(probs, logits)
        super().__init__(self._param.size(), validate_args=validate_args)

    def _take(self, probs: Any, logits: Any, *others: Any) -> list[Any]:
        """Keep the one that is given, broadcast with the others, which are given back."""
        if (probs is None) == (logits is None):
            raise ValueError(ONE_OF_TWO)
        *others_, self._param = broadcast_all(*others, logits if probs is None else probs)
        setattr(self, "logits" if probs is None else "probs", self._param)
        return [other.type_as(self._param) for other in others_]

    def _new(self, *args: Any, **kwargs: Any) -> Any:
        return self._param.new(*args, **kwargs)

    @lazy_property
    def logits(self) -> Any:
        """The logarithms of the odds."""
        return probs_to_logits(self.probs, is_binary=True)

    @lazy_property
    def probs(self) -> Any:
        """The chances."""
        return logits_to_probs(self.logits, is_binary=True)

    param_shape = property(attrgetter("_param.shape"), doc="The shape of the chances.")


class Bernoulli(ByChance, ExponentialFamily):
    """Ones with chance ``probs``, else zeros; or by log-odds ``logits``."""

    arg_constraints = {"probs": constraints.unit_interval, "logits": constraints.real}
    support = constraints.boolean
    has_enumerate_support = True
    _mean_carrier_measure = 0

    mean = property(attrgetter("probs"), doc="The chance of success.")

    @property
    def mode(self) -> Any:
        """The likelier outcome; NaN where both are equally likely."""
        return overwritten((self.probs >= 0.5).to(self.probs), self.probs == 0.5, nan)

    variance = property(lambda self: self.probs * (1 - self.probs), doc="p (1 - p).")

    def sample(self, sample_shape: Any = Size()) -> Any:
        """Ones and zeros."""
        with no_grad():
            return f.bernoulli(self.probs.expand(self._extended_shape(sample_shape)))

    def _log_prob(self, value: Any) -> Any:
        logits, value = broadcast_all(self.logits, value)
        return -binary_cross_entropy_with_logits(logits, value, reduction="none")

    def entropy(self) -> Any:
        return binary_cross_entropy_with_logits(self.logits, self.probs, reduction="none")

    def enumerate_support(self, expand: bool = True) -> Any:
        """Zero and one along a new first dimension."""
        return self._enumerated(f.arange(2, dtype=self._param.dtype, device=self._param.device), expand)

    _natural_params = property(lambda self: (f.logit(self.probs),))

    def _log_normalizer(self, x: Any) -> Any:  # type: ignore[override]
        return x.exp().log1p()


class ContinuousBernoulli(ByChance, ExponentialFamily):
    """Numbers between zero and one, denser towards one the larger ``probs`` or ``logits``.

    Between ``lims`` the formulas, which divide nothing by nothing at one half, give way to their Taylor series.
    Source: G. Loaiza-Ganem and J. Cunningham, The continuous Bernoulli (2019)
    """

    arg_constraints = {"probs": constraints.unit_interval, "logits": constraints.real}
    support = constraints.unit_interval
    has_rsample = True
    _mean_carrier_measure = 0
    _constants = ("_lims",)

    def __init__(
        self, probs: Any = None, logits: Any = None, lims: tuple[float, float] = (0.499, 0.501),
        validate_args: bool | None = None,
    ) -> None:  # fmt: skip
        self._take(probs, logits)
        if probs is not None:
            if validate_args is not None and not all_true(constraints.unit_interval.check(self.probs)):
                raise ValueError("The parameter probs has invalid values")
            self.probs = self._param = clamp_probs(self.probs)
        self._lims = lims
        Distribution.__init__(self, self._param.size(), validate_args=validate_args)

    @lazy_property
    def probs(self) -> Any:
        """The chances, kept off zero and one."""
        return clamp_probs(logits_to_probs(self.logits, is_binary=True))

    def _outside_unstable_region(self) -> Any:
        return (self.probs <= self._lims[0]) | (self.probs > self._lims[1])

    def _cut_probs(self) -> Any:
        """The chances, those near one half replaced by one where the formulas hold."""
        return f.where(self._outside_unstable_region(), self.probs, self._lims[0] * f.ones_like(self.probs))

    def _either(self, formula: Any, series: Any) -> Any:
        return f.where(self._outside_unstable_region(), formula, series)

    def _cont_bern_log_norm(self) -> Any:
        """The logarithm of what makes the density sum to one."""
        p = self._cut_probs()
        low = f.where(p <= 0.5, p, f.zeros_like(p))
        high = f.where(p >= 0.5, p, f.ones_like(p))
        odds = ((-p).log1p() - p.log()).abs().log()
        formula = odds - f.where(p <= 0.5, (-2.0 * low).log1p(), (2.0 * high - 1.0).log())
        x = (self.probs - 0.5).pow(2)
        return self._either(formula, math.log(2.0) + (4.0 / 3.0 + 104.0 / 45.0 * x) * x)

    @property
    def mean(self) -> Any:
        """The mean."""
        p = self._cut_probs()
        formula = p / (2.0 * p - 1.0) + 1.0 / ((-p).log1p() - p.log())
        x = self.probs - 0.5
        return self._either(formula, 0.5 + (1.0 / 3.0 + 16.0 / 45.0 * x.pow(2)) * x)

    @property
    def variance(self) -> Any:
        """The variance."""
        p = self._cut_probs()
        formula = p * (p - 1.0) / (1.0 - 2.0 * p).pow(2) + 1.0 / ((-p).log1p() - p.log()).pow(2)
        x = (self.probs - 0.5).pow(2)
        return self._either(formula, 1.0 / 12.0 - (1.0 / 15.0 - 128.0 / 945.0 * x) * x)

    def rsample(self, sample_shape: Any = Size()) -> Any:
        """Quantiles of uniform numbers."""
        shape = self._extended_shape(sample_shape)
        return self.icdf(f.rand(shape, dtype=self.probs.dtype, device=self.probs.device))

    def _log_prob(self, value: Any) -> Any:
        logits, value = broadcast_all(self.logits, value)
        return -binary_cross_entropy_with_logits(logits, value, reduction="none") + self._cont_bern_log_norm()

    def _cdf(self, value: Any) -> Any:
        p = self._cut_probs()
        formula = (p.pow(value) * (1.0 - p).pow(1.0 - value) + p - 1.0) / (2.0 * p - 1.0)
        inside = self._either(formula, value)
        above = f.where(value >= 1.0, f.ones_like(value), inside)
        return f.where(value <= 0.0, f.zeros_like(value), above)

    def icdf(self, value: Any) -> Any:
        p = self._cut_probs()
        rest = (-p).log1p()
        return self._either(((-p + value * (2.0 * p - 1.0)).log1p() - rest) / (p.log() - rest), value)

    def entropy(self) -> Any:
        rest = (-self.probs).log1p()
        return self.mean * (rest - self.probs.log()) - self._cont_bern_log_norm() - rest

    _natural_params = property(lambda self: (self.logits,))

    def _log_normalizer(self, x: Any) -> Any:  # type: ignore[override]
        far = (x <= self._lims[0] - 0.5) | (x > self._lims[1] - 0.5)
        kept = f.where(far, x, (self._lims[0] - 0.5) * f.ones_like(x))
        formula = kept.expm1().abs().log() - kept.abs().log()
        return f.where(far, formula, 0.5 * x + x.pow(2) / 24.0 - x.pow(4) / 2880.0)


class LogitRelaxedBernoulli(ByChance):
    """The log-odds of relaxed trials of chance ``probs`` or log-odds ``logits``, at a ``temperature``.

    Source: Maddison et al., The concrete distribution (2016)
    """

    arg_constraints = {"probs": constraints.unit_interval, "logits": constraints.real}
    support = constraints.real
    _constants = ("temperature",)

    def __init__(
        self, temperature: Any, probs: Any = None, logits: Any = None, validate_args: bool | None = None
    ) -> None:
        self.temperature = temperature
        super().__init__(probs, logits, validate_args)

    def rsample(self, sample_shape: Any = Size()) -> Any:
        """Logistic numbers moved by the log-odds, over the temperature."""
        shape = self._extended_shape(sample_shape)
        probs = clamp_probs(self.probs.expand(shape))
        u = clamp_probs(f.rand(shape, dtype=probs.dtype, device=probs.device))
        return (u.log() - (-u).log1p() + probs.log() - (-probs).log1p()) / self.temperature

    def _log_prob(self, value: Any) -> Any:
        logits, value = broadcast_all(self.logits, value)
        off = logits - value.mul(self.temperature)
        return self.temperature.log() + off - 2 * off.exp().log1p()


class Geometric(ByChance):
    """How many trials fail before the first one that succeeds, each with chance ``probs`` or log-odds ``logits``."""

    arg_constraints = {"probs": constraints.unit_interval, "logits": constraints.real}
    support = constraints.nonnegative_integer

    def __init__(self, probs: Any = None, logits: Any = None, validate_args: bool | None = None) -> None:
        super().__init__(probs, logits, validate_args)
        if self._validate_args and probs is not None:
            value = self.probs
            valid = value > 0
            if not all_true(valid):
                raise ValueError(
                    f"Expected parameter probs ({kind_of(value)} of shape {tuple(value.shape)}) of distribution "
                    f"{self!r} to be positive but found invalid values:\n{value.data[~valid]}"
                )

    mean = property(lambda self: 1.0 / self.probs - 1.0, doc="1 / p - 1.")
    mode = property(lambda self: f.zeros_like(self.probs), doc="Zero.")
    variance = property(lambda self: (1.0 / self.probs - 1.0) / self.probs, doc="(1 / p - 1) / p.")

    def sample(self, sample_shape: Any = Size()) -> Any:
        """Numbers of failures."""
        with no_grad():
            u = self.probs.new_empty(self._extended_shape(sample_shape))
            u.uniform_(dtypes.finfo(self.probs.dtype).tiny, 1)
            return (u.log() / (-self.probs).log1p()).floor()

    def _log_prob(self, value: Any) -> Any:
        value, probs = broadcast_all(value, self.probs)
        probs = probs.clone(memory_format=dtypes.contiguous_format)
        probs[(probs == 1) & (value == 0)] = 0  # nothing fails, and nothing times minus infinity is nothing
        return value * (-probs).log1p() + self.probs.log()

    def entropy(self) -> Any:
        return binary_cross_entropy_with_logits(self.logits, self.probs, reduction="none") / self.probs


def _above_zero(x: Any) -> Any:
    """``x`` where positive, else zero; the slope at zero is one half."""
    return (x.clamp(min=0) + x - x.clamp(max=0)) / 2


class Binomial(ByChance):
    """How many of ``total_count`` trials succeed, each with chance ``probs`` or log-odds ``logits``."""

    arg_constraints = {
        "total_count": constraints.nonnegative_integer,
        "probs": constraints.unit_interval,
        "logits": constraints.real,
    }
    has_enumerate_support = True

    def __init__(
        self, total_count: Any = 1, probs: Any = None, logits: Any = None, validate_args: bool | None = None
    ) -> None:
        (self.total_count,) = self._take(probs, logits, total_count)
        Distribution.__init__(self, self._param.size(), validate_args=validate_args)

    @constraints.dependent_property(is_discrete=True, event_dim=0)
    def support(self) -> Any:
        """Whole numbers up to the number of trials."""
        return constraints.integer_interval(0, self.total_count)

    mean = property(lambda self: self.total_count * self.probs, doc="Trials times chance.")

    @property
    def mode(self) -> Any:
        """The likeliest number."""
        return ((self.total_count + 1) * self.probs).floor().clamp(max=self.total_count)

    variance = property(lambda self: self.total_count * self.probs * (1 - self.probs), doc="n p (1 - p).")

    def sample(self, sample_shape: Any = Size()) -> Any:
        """Numbers of successes."""
        shape = self._extended_shape(sample_shape)
        with no_grad():
            return f.binomial(self.total_count.expand(shape), self.probs.expand(shape))

    def _log_prob(self, value: Any) -> Any:
        n, logits = self.total_count, self.logits
        level = n * _above_zero(logits) + n * (-logits.abs()).exp().log1p() - (n + 1).lgamma()
        return value * logits - (value + 1).lgamma() - (n - value + 1).lgamma() - level

    def _common_count(self, asker: str) -> int:
        count = int(self.total_count.max())
        if not self.total_count.min() == count:
            raise NotImplementedError(f"Inhomogeneous total count not supported by `{asker}`.")
        return count

    def entropy(self) -> Any:
        """The entropy in nats, summed over all numbers."""
        self._common_count("entropy")
        levels = self.log_prob(self.enumerate_support(False))
        return -(levels.exp() * levels).sum(0)

    def enumerate_support(self, expand: bool = True) -> Any:
        """All numbers along a new first dimension."""
        count = self._common_count("enumerate_support")
        return self._enumerated(f.arange(1 + count, dtype=self._param.dtype, device=self._param.device), expand)


class NegativeBinomial(ByChance):
    """How many trials of chance ``probs`` or log-odds ``logits`` succeed before ``total_count`` of them fail."""

    arg_constraints = {
        "total_count": constraints.greater_than_eq(0),
        "probs": constraints.half_open_interval(0.0, 1.0),
        "logits": constraints.real,
    }
    support = constraints.nonnegative_integer

    def __init__(
        self, total_count: Any, probs: Any = None, logits: Any = None, validate_args: bool | None = None
    ) -> None:
        (self.total_count,) = self._take(probs, logits, total_count)
        Distribution.__init__(self, self._param.size(), validate_args=validate_args)

    mean = property(lambda self: self.total_count * self.logits.exp(), doc="Failures times odds.")

    @property
    def mode(self) -> Any:
        """The likeliest number."""
        return ((self.total_count - 1) * self.logits.exp()).floor().clamp(min=0.0)

    variance = property(lambda self: self.mean / (-self.logits).sigmoid(), doc="The mean over the chance of failure.")

    @lazy_property
    def _gamma(self) -> Any:
        """The Poisson rates of which the samples are a mixture."""
        return Gamma(self.total_count, (-self.logits).exp(), validate_args=False)

    def sample(self, sample_shape: Any = Size()) -> Any:
        """Poisson numbers of gamma rates."""
        with no_grad():
            return f.poisson(self._gamma.sample(sample_shape))

    def _log_prob(self, value: Any) -> Any:
        n = self.total_count
        level = n * logsigmoid(-self.logits) + value * logsigmoid(self.logits)
        orders = -(n + value).lgamma() + (1.0 + value).lgamma() + n.lgamma()
        return level - orders.masked_fill(n + value == 0.0, 0.0)


class Poisson(ExponentialFamily):
    """Numbers of independent events, ``rate`` of them expected."""

    arg_constraints = {"rate": constraints.nonnegative}
    support = constraints.nonnegative_integer

    def __init__(self, rate: Any, validate_args: bool | None = None) -> None:
        (self.rate,) = broadcast_all(rate)
        super().__init__(self.rate.size(), validate_args=validate_args)

    mean = property(attrgetter("rate"), doc="The rate.")
    mode = property(lambda self: self.rate.floor(), doc="The rate, rounded down.")
    variance = property(attrgetter("rate"), doc="The rate.")

    def sample(self, sample_shape: Any = Size()) -> Any:
        """Numbers of events."""
        with no_grad():
            return f.poisson(self.rate.expand(self._extended_shape(sample_shape)))

    def _log_prob(self, value: Any) -> Any:
        rate, value = broadcast_all(self.rate, value)
        return value.xlogy(rate) - rate - (value + 1).lgamma()

    _natural_params = property(lambda self: (self.rate.log(),))

    def _log_normalizer(self, x: Any) -> Any:  # type: ignore[override]
        return x.exp()
