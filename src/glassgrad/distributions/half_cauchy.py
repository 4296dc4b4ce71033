"""The half-Cauchy distribution: sizes of Cauchy numbers."""

from __future__ import annotations

import math
from typing import Any

from . import constraints
from .cauchy import Cauchy
from .functions import functions as f
from .transformed_distribution import TransformedDistribution
from .transforms import AbsTransform

__all__ = ["HalfCauchy"]


class HalfCauchy(TransformedDistribution):
    """The absolute values of Cauchy numbers around zero, half of them within ``scale``.

    Source: https://docs.pytorch.org/docs/stable/distributions.html#halfcauchy
    """

    arg_constraints = {"scale": constraints.positive}
    support = constraints.nonnegative
    has_rsample = True
    _parameters = {}

    def __init__(self, scale: Any, validate_args: bool | None = None) -> None:
        super().__init__(Cauchy(0, scale, validate_args=False), AbsTransform(), validate_args=validate_args)

    @property
    def scale(self) -> Any:
        """The median."""
        return self.base_dist.scale

    @property
    def mean(self) -> Any:
        """Infinity."""
        return f.full(self._extended_shape(), math.inf, dtype=self.scale.dtype, device=self.scale.device)

    @property
    def mode(self) -> Any:
        """Zero."""
        return f.zeros_like(self.scale)

    @property
    def variance(self) -> Any:
        """Infinity."""
        return self.base_dist.variance

    def log_prob(self, value: Any) -> Any:
        """The logarithm of the density: minus infinity below zero."""
        if self._validate_args:
            self._validate_sample(value)
        value = f.as_tensor(value, dtype=self.scale.dtype, device=self.scale.device)
        return f.where(value >= 0, self.base_dist.log_prob(value) + math.log(2), -math.inf)

    def cdf(self, value: Any) -> Any:
        """The chance of at most ``value``."""
        if self._validate_args:
            self._validate_sample(value)
        return 2 * self.base_dist.cdf(value) - 1

    def icdf(self, prob: Any) -> Any:
        """The quantile of ``prob``."""
        return self.base_dist.icdf((prob + 1) / 2)

    def entropy(self) -> Any:
        """The entropy in nats."""
        return self.base_dist.entropy() - math.log(2)
