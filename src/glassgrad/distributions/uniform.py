"""The uniform distribution over an interval."""

from __future__ import annotations

from math import nan
from typing import Any

from ..ground.size import Size
from . import constraints
from .distribution import Distribution
from .functions import functions as f
from .utils import batch_of, broadcast_all

__all__ = ["Uniform"]


class Uniform(Distribution):
    """Numbers spread evenly over [low, high).

    Source: https://docs.pytorch.org/docs/stable/distributions.html#uniform
    """

    has_rsample = True
    _parameters = {"low": 0, "high": 0}

    def __init__(self, low: Any, high: Any, validate_args: bool | None = None) -> None:
        self.low, self.high = broadcast_all(low, high)
        super().__init__(batch_of(self.low, low, high), validate_args=validate_args)

    @property
    def arg_constraints(self) -> dict[str, constraints.Constraint]:
        """Each bound is limited by the other."""
        return {"low": constraints.less_than(self.high), "high": constraints.greater_than(self.low)}

    @constraints.dependent_property(is_discrete=False, event_dim=0)
    def support(self) -> Any:
        """The interval."""
        return constraints.interval(self.low, self.high)

    @property
    def mean(self) -> Any:
        """The middle."""
        return (self.high + self.low) / 2

    @property
    def mode(self) -> Any:
        """NaN: no value is likelier."""
        return nan * self.high

    @property
    def stddev(self) -> Any:
        """The width over the root of twelve."""
        return (self.high - self.low) / 12**0.5

    @property
    def variance(self) -> Any:
        """The square of the width over twelve."""
        return (self.high - self.low).pow(2) / 12

    def rsample(self, sample_shape: Any = Size()) -> Any:  # noqa: B008
        """Numbers over [0, 1), stretched and shifted."""
        drawn = f.rand(self._extended_shape(sample_shape), dtype=self.low.dtype, device=self.low.device)
        return self.low + drawn * (self.high - self.low)

    def log_prob(self, value: Any) -> Any:
        """The logarithm of the density: minus infinity outside."""
        if self._validate_args:
            self._validate_sample(value)
        inside = self.low.le(value).type_as(self.low) * self.high.gt(value).type_as(self.low)
        return inside.log() - (self.high - self.low).log()

    def cdf(self, value: Any) -> Any:
        """The chance of at most ``value``."""
        if self._validate_args:
            self._validate_sample(value)
        return ((value - self.low) / (self.high - self.low)).clamp(min=0, max=1)

    def icdf(self, value: Any) -> Any:
        """The quantile of ``value``."""
        return value * (self.high - self.low) + self.low

    def entropy(self) -> Any:
        """The logarithm of the width."""
        return (self.high - self.low).log()
