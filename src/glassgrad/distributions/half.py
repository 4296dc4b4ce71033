"""What families of sizes share: numbers spread evenly around zero, without their sign."""

from __future__ import annotations

import math
from typing import Any, ClassVar

from . import constraints
from .functions import functions as f
from .location import LocationScale
from .transformed_distribution import TransformedDistribution
from .transforms import AbsTransform


class Half(TransformedDistribution):
    """The absolute values of numbers of a family around zero, ``_whole``."""

    arg_constraints = {"scale": constraints.positive}
    support = constraints.nonnegative
    has_rsample = True
    _whole: ClassVar[type[LocationScale]]

    def __init__(self, scale: Any, validate_args: bool | None = None) -> None:
        super().__init__(self._whole(0, scale, validate_args=False), AbsTransform(), validate_args=validate_args)

    @property
    def scale(self) -> Any:
        """That of the numbers with their sign."""
        return self.base_dist.scale

    @property
    def mode(self) -> Any:
        """Zero."""
        return f.zeros_like(self.scale)

    def log_prob(self, value: Any) -> Any:
        """The logarithm of the density: minus infinity below zero."""
        if self._validate_args:
            self._validate_sample(value)
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
