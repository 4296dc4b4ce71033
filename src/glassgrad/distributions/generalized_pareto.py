"""The generalized Pareto distribution: what exceeds a high threshold."""

from __future__ import annotations

import math
from typing import Any

from ..ground.size import Size
from . import constraints
from .distribution import Distribution
from .functions import functions as f
from .utils import batch_of, broadcast_all

__all__ = ["GeneralizedPareto"]


class GeneralizedPareto(Distribution):
    """Numbers from ``loc`` on at ``scale``, with heavier tails the larger ``concentration``; exponential at zero.

    Source: https://docs.pytorch.org/docs/stable/distributions.html#generalizedpareto
    """

    arg_constraints = {"loc": constraints.real, "scale": constraints.positive, "concentration": constraints.real}
    has_rsample = True
    _parameters = {"loc": 0, "scale": 0, "concentration": 0}

    def __init__(self, loc: Any, scale: Any, concentration: Any, validate_args: bool | None = None) -> None:
        self.loc, self.scale, self.concentration = broadcast_all(loc, scale, concentration)
        super().__init__(batch_of(self.loc, loc, scale, concentration), validate_args=validate_args)

    @constraints.dependent_property(is_discrete=False, event_dim=0)
    def support(self) -> Any:
        """From loc on; up to an end where the concentration is negative."""
        end = self.loc - self.scale / self.concentration
        return constraints.interval(self.loc, f.where(self.concentration < 0, end, math.inf))

    def _split(self) -> tuple[Any, Any]:
        """Where the concentration is next to zero, and the concentrations with ones there."""
        c = self.concentration
        near = f.isclose(c, f.zeros_like(c))
        return near, f.where(near, f.ones_like(c), c)

    def _z(self, x: Any) -> Any:
        return (x - self.loc) / self.scale

    def rsample(self, sample_shape: Any = Size()) -> Any:  # noqa: B008
        """Quantiles of uniform numbers."""
        shape = self._extended_shape(sample_shape)
        return self.icdf(f.rand(shape, dtype=self.loc.dtype, device=self.loc.device))

    def log_prob(self, value: Any) -> Any:
        """The logarithm of the density."""
        if self._validate_args:
            self._validate_sample(value)
        z = self._z(value)
        near, c = self._split()
        y = 1 / c + f.ones_like(z)
        power = f.where(y == 0, y, y * (c * z).log1p())
        return -self.scale.log() - f.where(near, z, power)

    def log_survival_function(self, value: Any) -> Any:
        """The logarithm of the chance of more than ``value``."""
        if self._validate_args:
            self._validate_sample(value)
        z = self._z(value)
        near, c = self._split()
        return f.where(near, -z, -(c * z).log1p() / c)

    def log_cdf(self, value: Any) -> Any:
        """The logarithm of the chance of at most ``value``."""
        return (-self.log_survival_function(value).exp()).log1p()

    def cdf(self, value: Any) -> Any:
        """The chance of at most ``value``."""
        return self.log_cdf(value).exp()

    def icdf(self, value: Any) -> Any:
        """The quantile of ``value``."""
        near, c = self._split()
        level = (-value).log1p()
        return f.where(
            near, self.loc - self.scale * level, self.loc + self.scale / c * (-c * level).expm1()
        )

    @property
    def mean(self) -> Any:
        """NaN for a concentration of one or more."""
        valid = self.concentration < 1
        c = f.where(valid, self.concentration, 0.5)
        return f.where(valid, self.loc + self.scale / (1 - c), math.nan)

    @property
    def variance(self) -> Any:
        """NaN for a concentration of one half or more."""
        valid = self.concentration < 0.5
        c = f.where(valid, self.concentration, 0.25)
        return f.where(valid, self.scale**2 / ((1 - c) ** 2 * (1 - 2 * c)), math.nan)

    @property
    def mode(self) -> Any:
        """``loc``."""
        return self.loc

    def entropy(self) -> Any:
        """The entropy in nats."""
        return f.broadcast_to(self.scale.log() + self.concentration + 1, self._batch_shape)
