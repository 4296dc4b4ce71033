"""The Cauchy distribution: the quotient of two normal numbers."""

from __future__ import annotations

import math
from typing import Any

from ..ground.size import Size
from .functions import functions as f
from .location import LocationScale

__all__ = ["Cauchy"]


class Cauchy(LocationScale):
    """Numbers around ``loc``, half of them within ``scale`` of it, without a mean.

    Source: https://docs.pytorch.org/docs/stable/distributions.html#cauchy
    """

    _parameters = {"loc": 0, "scale": 0}

    def _filled(self, value: float) -> Any:
        return f.full(self._extended_shape(), value, dtype=self.loc.dtype, device=self.loc.device)

    @property
    def mean(self) -> Any:
        """NaN: there is none."""
        return self._filled(math.nan)

    @property
    def variance(self) -> Any:
        """Infinity."""
        return self._filled(math.inf)

    def rsample(self, sample_shape: Any = Size()) -> Any:  # noqa: B008
        """Standard numbers, scaled and shifted."""
        return self.loc + self.loc.new_empty(self._extended_shape(sample_shape)).cauchy_() * self.scale

    def log_prob(self, value: Any) -> Any:
        """The logarithm of the density."""
        if self._validate_args:
            self._validate_sample(value)
        return -math.log(math.pi) - self.scale.log() - (((value - self.loc) / self.scale) ** 2).log1p()

    def cdf(self, value: Any) -> Any:
        """The chance of at most ``value``."""
        if self._validate_args:
            self._validate_sample(value)
        return ((value - self.loc) / self.scale).atan() / math.pi + 0.5

    def icdf(self, value: Any) -> Any:
        """The quantile of ``value``."""
        return (math.pi * (value - 0.5)).tan() * self.scale + self.loc

    def entropy(self) -> Any:
        """The entropy in nats."""
        return math.log(4 * math.pi) + self.scale.log()
