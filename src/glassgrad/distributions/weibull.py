"""The Weibull distribution: lifetimes."""

from __future__ import annotations

from typing import Any

from ..ground.size import Size
from . import constraints
from .exponential import Exponential
from .functions import functions as f
from .transformed_distribution import TransformedDistribution
from .transforms import AffineTransform, PowerTransform
from .utils import broadcast_all, euler_constant

__all__ = ["Weibull"]


class Weibull(TransformedDistribution):
    """Powers ``1 / concentration`` of waiting times, times ``scale``.

    Source: https://docs.pytorch.org/docs/stable/distributions.html#weibull
    """

    arg_constraints = {"scale": constraints.positive, "concentration": constraints.positive}
    support = constraints.positive
    _parameters = {"scale": 0, "concentration": 0}

    def __init__(self, scale: Any, concentration: Any, validate_args: bool | None = None) -> None:
        self.scale, self.concentration = broadcast_all(scale, concentration)
        self._shape_by_parameters()
        base = Exponential(f.ones_like(self.scale), validate_args=validate_args)
        super().__init__(base, self._steps(), validate_args=validate_args)

    def _shape_by_parameters(self) -> None:
        self.concentration_reciprocal = self.concentration.reciprocal()

    def _steps(self) -> list[Any]:
        return [PowerTransform(self.concentration_reciprocal), AffineTransform(loc=0, scale=self.scale)]

    def _expand_inner(self, new: Any, batch_shape: Size) -> None:
        super()._expand_inner(new, batch_shape)
        new._shape_by_parameters()
        new.transforms = new._steps()

    @property
    def mean(self) -> Any:
        """The scale times gamma(1 + 1 / concentration)."""
        return self.scale * (1 + self.concentration_reciprocal).lgamma().exp()

    @property
    def mode(self) -> Any:
        """The likeliest lifetime."""
        a = self.concentration
        return self.scale * ((a - 1) / a) ** a.reciprocal()

    @property
    def variance(self) -> Any:
        """By gamma functions of one and two over the concentration."""
        inverse = self.concentration_reciprocal
        return self.scale.pow(2) * ((1 + 2 * inverse).lgamma().exp() - (2 * (1 + inverse).lgamma()).exp())

    def entropy(self) -> Any:
        """The entropy in nats."""
        inverse = self.concentration_reciprocal
        return euler_constant * (1 - inverse) + (self.scale * inverse).log() + 1
