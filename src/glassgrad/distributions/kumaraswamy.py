"""The Kumaraswamy distribution: chances much like beta numbers, with quantiles in closed form."""

from __future__ import annotations

from math import nan
from typing import Any

from . import constraints
from .functions import functions as f
from .transformed_distribution import TransformedDistribution
from .transforms import AffineTransform, PowerTransform
from .uniform import Uniform
from .utils import broadcast_all, euler_constant

__all__ = ["Kumaraswamy"]


class Kumaraswamy(TransformedDistribution):
    """Chances; ``concentration1`` pulls towards one, ``concentration0`` towards zero.

    Source: https://docs.pytorch.org/docs/stable/distributions.html#kumaraswamy
    """

    arg_constraints = {"concentration1": constraints.positive, "concentration0": constraints.positive}
    support = constraints.unit_interval
    has_rsample = True
    _parameters = {"concentration1": 0, "concentration0": 0}

    def __init__(self, concentration1: Any, concentration0: Any, validate_args: bool | None = None) -> None:
        self.concentration1, self.concentration0 = broadcast_all(concentration1, concentration0)
        b = self.concentration0
        base = Uniform(f.zeros_like(b), f.ones_like(b), validate_args=validate_args)
        steps = [
            PowerTransform(b.reciprocal()),
            AffineTransform(loc=1.0, scale=-1.0),
            PowerTransform(self.concentration1.reciprocal()),
        ]
        super().__init__(base, steps, validate_args=validate_args)

    def _moment(self, n: int) -> Any:
        """The mean of the ``n``-th power: b times a beta function."""
        b, raised = self.concentration0, 1 + n / self.concentration1
        return b * (raised.lgamma() + b.lgamma() - (raised + b).lgamma()).exp()

    @property
    def mean(self) -> Any:
        """The first moment."""
        return self._moment(1)

    @property
    def mode(self) -> Any:
        """The likeliest chance; NaN where a concentration is below one."""
        a, b = self.concentration1, self.concentration0
        found = b.reciprocal() * (-b).log1p() - (-b * a).log1p()
        found[(b < 1) | (a < 1)] = nan
        return found.exp()

    @property
    def variance(self) -> Any:
        """The second moment less the square of the first."""
        return self._moment(2) - self.mean.pow(2)

    def entropy(self) -> Any:
        """The entropy in nats."""
        a, b = self.concentration1, self.concentration0
        harmonic = (b + 1).digamma() + euler_constant
        return (1 - b.reciprocal()) + (1 - a.reciprocal()) * harmonic - a.log() - b.log()
