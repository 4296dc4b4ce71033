"""The continuous Bernoulli distribution: densities p^x (1 - p)^(1 - x) between zero and one."""

from __future__ import annotations

import math
from typing import Any

from ..autograd.grad_mode import no_grad
from ..ground.size import Size
from ..nn.functional import binary_cross_entropy_with_logits
from . import constraints
from .chances import ByChance
from .exp_family import ExponentialFamily
from .functions import functions as f
from .utils import batch_of, broadcast_all, clamp_probs, lazy_property, logits_to_probs

__all__ = ["ContinuousBernoulli"]


class ContinuousBernoulli(ByChance, ExponentialFamily):
    """Numbers between zero and one, denser towards one the larger ``probs`` or ``logits``.

    Between ``lims`` the formulas, which divide nothing by nothing at one half, give way to their Taylor series.
    Source: G. Loaiza-Ganem and J. Cunningham, The continuous Bernoulli (2019)
    """

    arg_constraints = {"probs": constraints.unit_interval, "logits": constraints.real}
    support = constraints.unit_interval
    has_rsample = True
    _mean_carrier_measure = 0
    _parameters = ByChance._parameters
    _constants = ("_lims",)

    def __init__(
        self, probs: Any = None, logits: Any = None, lims: tuple[float, float] = (0.499, 0.501),
        validate_args: bool | None = None,
    ) -> None:  # fmt: skip
        self._take(probs, logits)
        if probs is not None:
            if validate_args is not None and not constraints.unit_interval.check(self.probs).all():
                raise ValueError("The parameter probs has invalid values")
            self.probs = self._param = clamp_probs(self.probs)
        self._lims = lims
        super().__init__(batch_of(self._param, logits if probs is None else probs), validate_args=validate_args)

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
    def stddev(self) -> Any:
        """The root of the variance."""
        return self.variance.sqrt()

    @property
    def variance(self) -> Any:
        """The variance."""
        p = self._cut_probs()
        formula = p * (p - 1.0) / (1.0 - 2.0 * p).pow(2) + 1.0 / ((-p).log1p() - p.log()).pow(2)
        x = (self.probs - 0.5).pow(2)
        return self._either(formula, 1.0 / 12.0 - (1.0 / 15.0 - 128.0 / 945.0 * x) * x)

    def sample(self, sample_shape: Any = Size()) -> Any:  # noqa: B008
        """Quantiles of uniform numbers, without a gradient."""
        with no_grad():
            return self.rsample(sample_shape)

    def rsample(self, sample_shape: Any = Size()) -> Any:  # noqa: B008
        """Quantiles of uniform numbers."""
        shape = self._extended_shape(sample_shape)
        return self.icdf(f.rand(shape, dtype=self.probs.dtype, device=self.probs.device))

    def log_prob(self, value: Any) -> Any:
        """The logarithm of the density."""
        if self._validate_args:
            self._validate_sample(value)
        logits, value = broadcast_all(self.logits, value)
        return -binary_cross_entropy_with_logits(logits, value, reduction="none") + self._cont_bern_log_norm()

    def cdf(self, value: Any) -> Any:
        """The chance of at most ``value``."""
        if self._validate_args:
            self._validate_sample(value)
        p = self._cut_probs()
        formula = (p.pow(value) * (1.0 - p).pow(1.0 - value) + p - 1.0) / (2.0 * p - 1.0)
        inside = self._either(formula, value)
        above = f.where(value >= 1.0, f.ones_like(value), inside)
        return f.where(value <= 0.0, f.zeros_like(value), above)

    def icdf(self, value: Any) -> Any:
        """The quantile of ``value``."""
        p = self._cut_probs()
        rest = (-p).log1p()
        return self._either(((-p + value * (2.0 * p - 1.0)).log1p() - rest) / (p.log() - rest), value)

    def entropy(self) -> Any:
        """The entropy in nats."""
        rest = (-self.probs).log1p()
        return self.mean * (rest - self.probs.log()) - self._cont_bern_log_norm() - rest

    @property
    def _natural_params(self) -> tuple[Any, ...]:
        return (self.logits,)

    def _log_normalizer(self, x: Any) -> Any:  # type: ignore[override]
        far = (x <= self._lims[0] - 0.5) | (x > self._lims[1] - 0.5)
        kept = f.where(far, x, (self._lims[0] - 0.5) * f.ones_like(x))
        formula = kept.expm1().abs().log() - kept.abs().log()
        return f.where(far, formula, 0.5 * x + x.pow(2) / 24.0 - x.pow(4) / 2880.0)
