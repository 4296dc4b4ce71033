"""The gamma distribution: waiting times for several events."""

from __future__ import annotations

from typing import Any

from ..ground import dtypes
from ..ground.size import Size
from . import constraints
from .exp_family import ExponentialFamily
from .functions import functions as f
from .utils import batch_of, broadcast_all

__all__ = ["Gamma"]


class Gamma(ExponentialFamily):
    """Positive numbers of shape ``concentration`` and inverse scale ``rate``.

    Source: https://docs.pytorch.org/docs/stable/distributions.html#gamma
    """

    arg_constraints = {"concentration": constraints.positive, "rate": constraints.positive}
    support = constraints.nonnegative
    has_rsample = True
    _mean_carrier_measure = 0
    _parameters = {"concentration": 0, "rate": 0}

    def __init__(self, concentration: Any, rate: Any, validate_args: bool | None = None) -> None:
        self.concentration, self.rate = broadcast_all(concentration, rate)
        super().__init__(batch_of(self.concentration, concentration, rate), validate_args=validate_args)

    @property
    def mean(self) -> Any:
        """Concentration over rate."""
        return self.concentration / self.rate

    @property
    def mode(self) -> Any:
        """The likeliest number, zero where the concentration is below one."""
        return ((self.concentration - 1) / self.rate).clamp(min=0)

    @property
    def variance(self) -> Any:
        """Concentration over the square of the rate."""
        return self.concentration / self.rate.pow(2)

    def rsample(self, sample_shape: Any = Size()) -> Any:  # noqa: B008
        """Gamma numbers, differentiable by both parameters."""
        shape = self._extended_shape(sample_shape)
        value = f._standard_gamma(self.concentration.expand(shape)) / self.rate.expand(shape)
        value.detach().clamp_(min=dtypes.finfo(value.dtype).tiny)  # in the same memory, without a record
        return value

    def log_prob(self, value: Any) -> Any:
        """The logarithm of the density."""
        value = f.as_tensor(value, dtype=self.rate.dtype, device=self.rate.device)
        if self._validate_args:
            self._validate_sample(value)
        a, rate = self.concentration, self.rate
        return f.xlogy(a, rate) + f.xlogy(a - 1, value) - rate * value - a.lgamma()

    def cdf(self, value: Any) -> Any:
        """The chance of at most ``value``."""
        if self._validate_args:
            self._validate_sample(value)
        return f.igamma(self.concentration, self.rate * value)

    def entropy(self) -> Any:
        """The entropy in nats."""
        a = self.concentration
        return a - self.rate.log() + a.lgamma() + (1.0 - a) * a.digamma()

    @property
    def _natural_params(self) -> tuple[Any, ...]:
        return self.concentration - 1, -self.rate

    def _log_normalizer(self, x: Any, y: Any) -> Any:  # type: ignore[override]
        return (x + 1).lgamma() + (x + 1) * (-y.reciprocal()).log()
