"""The Gumbel distribution: largest of many numbers."""

from __future__ import annotations

import math
from typing import Any

from ..ground import dtypes
from . import constraints
from .functions import functions as f
from .transformed_distribution import TransformedDistribution
from .transforms import AffineTransform, ExpTransform
from .uniform import Uniform
from .utils import NUMBERS, broadcast_all, euler_constant

__all__ = ["Gumbel"]


class Gumbel(TransformedDistribution):
    """Numbers distributed as the largest of many, around ``loc`` at ``scale``.

    Source: https://docs.pytorch.org/docs/stable/distributions.html#gumbel
    """

    arg_constraints = {"loc": constraints.real, "scale": constraints.positive}
    support = constraints.real
    _parameters = {"loc": 0, "scale": 0}

    def __init__(self, loc: Any, scale: Any, validate_args: bool | None = None) -> None:
        self.loc, self.scale = broadcast_all(loc, scale)
        limits = dtypes.finfo(self.loc.dtype)
        low, high = limits.tiny, 1 - limits.eps
        if not (isinstance(loc, NUMBERS) and isinstance(scale, NUMBERS)):
            low, high = f.full_like(self.loc, low), f.full_like(self.loc, high)
        steps = [
            ExpTransform().inv,
            AffineTransform(loc=0, scale=-f.ones_like(self.scale)),
            ExpTransform().inv,
            AffineTransform(loc=loc, scale=-self.scale),
        ]
        super().__init__(Uniform(low, high, validate_args=validate_args), steps, validate_args=validate_args)

    def log_prob(self, value: Any) -> Any:
        """The logarithm of the density."""
        if self._validate_args:
            self._validate_sample(value)
        y = (self.loc - value) / self.scale
        return (y - y.exp()) - self.scale.log()

    @property
    def mean(self) -> Any:
        """loc + scale times Euler's constant."""
        return self.loc + self.scale * euler_constant

    @property
    def mode(self) -> Any:
        """``loc``."""
        return self.loc

    @property
    def stddev(self) -> Any:
        """The scale times pi over the root of six."""
        return (math.pi / math.sqrt(6)) * self.scale

    @property
    def variance(self) -> Any:
        """The square of the deviation."""
        return self.stddev.pow(2)

    def entropy(self) -> Any:
        """The entropy in nats."""
        return self.scale.log() + (1 + euler_constant)
