"""The normal distribution."""

from __future__ import annotations

import math
from typing import Any

from ..autograd.grad_mode import no_grad
from ..ground.size import Size
from .exp_family import ExponentialFamily
from .functions import functions as f
from .location import LocationScale
from .utils import _standard_normal

__all__ = ["Normal"]
_HALF_LOG_TAU = math.log(math.sqrt(2 * math.pi))


class Normal(LocationScale, ExponentialFamily):
    """Numbers around ``loc`` with standard deviation ``scale``.

    Source: https://docs.pytorch.org/docs/stable/distributions.html#normal
    """

    _mean_carrier_measure = 0
    _parameters = {"loc": 0, "scale": 0}

    @property
    def stddev(self) -> Any:
        """``scale``."""
        return self.scale

    @property
    def variance(self) -> Any:
        """The square of ``scale``."""
        return self.stddev.pow(2)

    def sample(self, sample_shape: Any = Size()) -> Any:  # noqa: B008
        """Normal numbers without a gradient."""
        shape = self._extended_shape(sample_shape)
        with no_grad():
            return f.normal(self.loc.expand(shape), self.scale.expand(shape))

    def rsample(self, sample_shape: Any = Size()) -> Any:  # noqa: B008
        """Standard normal numbers, scaled and shifted."""
        noise = _standard_normal(self._extended_shape(sample_shape), self.loc.dtype, self.loc.device)
        return self.loc + noise * self.scale

    def log_prob(self, value: Any) -> Any:
        """The logarithm of the density."""
        if self._validate_args:
            self._validate_sample(value)
        scale = self.scale
        log_scale = scale.log() if hasattr(scale, "log") else math.log(scale)
        return -((value - self.loc) ** 2) / (2 * scale**2) - log_scale - _HALF_LOG_TAU

    def cdf(self, value: Any) -> Any:
        """The chance of at most ``value``."""
        if self._validate_args:
            self._validate_sample(value)
        return 0.5 * (1 + f.erf((value - self.loc) * self.scale.reciprocal() / math.sqrt(2)))

    def icdf(self, value: Any) -> Any:
        """The quantile of ``value``."""
        return self.loc + self.scale * f.erfinv(2 * value - 1) * math.sqrt(2)

    def entropy(self) -> Any:
        """The entropy in nats."""
        return 0.5 + 0.5 * math.log(2 * math.pi) + self.scale.log()

    @property
    def _natural_params(self) -> tuple[Any, ...]:
        variance = self.scale.pow(2)
        return self.loc / variance, -0.5 * variance.reciprocal()

    def _log_normalizer(self, x: Any, y: Any) -> Any:  # type: ignore[override]
        return -0.25 * x.pow(2) / y + 0.5 * f.log(-math.pi / y)
