"""The inverse gamma distribution: reciprocals of gamma numbers."""

from __future__ import annotations

from math import inf
from typing import Any

from . import constraints
from .functions import functions as f
from .gamma import Gamma
from .transformed_distribution import TransformedDistribution
from .transforms import PowerTransform

__all__ = ["InverseGamma"]


class InverseGamma(TransformedDistribution):
    """Numbers whose reciprocals are gamma numbers of ``concentration`` and ``rate``.

    Source: https://docs.pytorch.org/docs/stable/distributions.html#inversegamma
    """

    arg_constraints = {"concentration": constraints.positive, "rate": constraints.positive}
    support = constraints.positive
    has_rsample = True
    _parameters = {}

    def __init__(self, concentration: Any, rate: Any, validate_args: bool | None = None) -> None:
        base = Gamma(concentration, rate, validate_args=validate_args)
        super().__init__(base, PowerTransform(-base.rate.new_ones(())), validate_args=validate_args)

    @property
    def concentration(self) -> Any:
        """The shape of the reciprocals."""
        return self.base_dist.concentration

    @property
    def rate(self) -> Any:
        """The rate of the reciprocals."""
        return self.base_dist.rate

    @property
    def mean(self) -> Any:
        """Infinite for a concentration of one or less."""
        a = self.concentration
        return f.where(a > 1, self.rate / (a - 1), inf)

    @property
    def mode(self) -> Any:
        """The likeliest number."""
        return self.rate / (self.concentration + 1)

    @property
    def variance(self) -> Any:
        """Infinite for a concentration of two or less."""
        a = self.concentration
        return f.where(a > 2, self.rate.square() / ((a - 1).square() * (a - 2)), inf)

    def entropy(self) -> Any:
        """The entropy in nats."""
        a = self.concentration
        return a + self.rate.log() + a.lgamma() - (1 + a) * a.digamma()
