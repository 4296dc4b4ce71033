"""The Pareto distribution: power laws from a least value on."""

from __future__ import annotations

from typing import Any

from ..ground.size import Size
from . import constraints
from .exponential import Exponential
from .transformed_distribution import TransformedDistribution
from .transforms import AffineTransform, ExpTransform
from .utils import broadcast_all

__all__ = ["Pareto"]


class Pareto(TransformedDistribution):
    """Numbers from ``scale`` on, of which the larger are rarer by the power ``alpha``.

    Source: https://docs.pytorch.org/docs/stable/distributions.html#pareto
    """

    arg_constraints = {"alpha": constraints.positive, "scale": constraints.positive}
    _parameters = {"scale": 0, "alpha": 0}

    def __init__(self, scale: Any, alpha: Any, validate_args: bool | None = None) -> None:
        self.scale, self.alpha = broadcast_all(scale, alpha)
        base = Exponential(self.alpha, validate_args=validate_args)
        super().__init__(base, self._steps(), validate_args=validate_args)

    def _steps(self) -> list[Any]:
        return [ExpTransform(), AffineTransform(loc=0, scale=self.scale)]

    def _expand_inner(self, new: Any, batch_shape: Size) -> None:
        super()._expand_inner(new, batch_shape)
        new.transforms = new._steps()

    @constraints.dependent_property(is_discrete=False, event_dim=0)
    def support(self) -> Any:
        """Numbers from the scale on."""
        return constraints.greater_than_eq(self.scale)

    @property
    def mean(self) -> Any:
        """Infinite for an alpha of one or less."""
        a = self.alpha.clamp(min=1)
        return a * self.scale / (a - 1)

    @property
    def mode(self) -> Any:
        """The scale."""
        return self.scale

    @property
    def variance(self) -> Any:
        """Infinite for an alpha of two or less."""
        a = self.alpha.clamp(min=2)
        return self.scale.pow(2) * a / ((a - 1).pow(2) * (a - 2))

    def entropy(self) -> Any:
        """The entropy in nats."""
        return (self.scale / self.alpha).log() + (1 + self.alpha.reciprocal())
