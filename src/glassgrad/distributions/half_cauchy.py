"""The half-Cauchy distribution: sizes of Cauchy numbers."""

from __future__ import annotations

import math
from typing import Any

from .cauchy import Cauchy
from .functions import functions as f
from .half import Half

__all__ = ["HalfCauchy"]


class HalfCauchy(Half):
    """The absolute values of Cauchy numbers around zero, half of them within ``scale``.

    Source: https://docs.pytorch.org/docs/stable/distributions.html#halfcauchy
    """

    _parameters = {}
    _whole = Cauchy

    @property
    def scale(self) -> Any:
        """The median."""
        return self.base_dist.scale

    @property
    def mean(self) -> Any:
        """Infinity."""
        return f.full(self._extended_shape(), math.inf, dtype=self.scale.dtype, device=self.scale.device)

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
