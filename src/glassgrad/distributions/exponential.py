"""The exponential distribution: waiting times."""

from __future__ import annotations

from typing import Any

from ..ground.size import Size
from . import constraints
from .exp_family import ExponentialFamily
from .functions import functions as f
from .utils import batch_of, broadcast_all

__all__ = ["Exponential"]


class Exponential(ExponentialFamily):
    """Waiting times for events of ``rate``.

    Source: https://docs.pytorch.org/docs/stable/distributions.html#exponential
    """

    arg_constraints = {"rate": constraints.positive}
    support = constraints.nonnegative
    has_rsample = True
    _mean_carrier_measure = 0
    _parameters = {"rate": 0}

    def __init__(self, rate: Any, validate_args: bool | None = None) -> None:
        (self.rate,) = broadcast_all(rate)
        super().__init__(batch_of(self.rate, rate), validate_args=validate_args)

    @property
    def mean(self) -> Any:
        """One over the rate."""
        return self.rate.reciprocal()

    @property
    def mode(self) -> Any:
        """Zero."""
        return f.zeros_like(self.rate)

    @property
    def stddev(self) -> Any:
        """One over the rate."""
        return self.rate.reciprocal()

    @property
    def variance(self) -> Any:
        """One over the square of the rate."""
        return self.rate.pow(-2)

    def rsample(self, sample_shape: Any = Size()) -> Any:  # noqa: B008
        """Waiting times of rate one, over the rate."""
        return self.rate.new_empty(self._extended_shape(sample_shape)).exponential_() / self.rate

    def log_prob(self, value: Any) -> Any:
        """The logarithm of the density."""
        if self._validate_args:
            self._validate_sample(value)
        return self.rate.log() - self.rate * value

    def cdf(self, value: Any) -> Any:
        """The chance of at most ``value``."""
        if self._validate_args:
            self._validate_sample(value)
        return 1 - (-self.rate * value).exp()

    def icdf(self, value: Any) -> Any:
        """The quantile of ``value``."""
        return -(-value).log1p() / self.rate

    def entropy(self) -> Any:
        """The entropy in nats."""
        return 1.0 - self.rate.log()

    @property
    def _natural_params(self) -> tuple[Any, ...]:
        return (-self.rate,)

    def _log_normalizer(self, x: Any) -> Any:  # type: ignore[override]
        return -(-x).log()
