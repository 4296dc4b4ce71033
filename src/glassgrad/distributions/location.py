"""What families around a ``loc`` share: where they are centred, and the two parameters of most of them."""

from __future__ import annotations

from typing import Any

from . import constraints
from .distribution import Distribution
from .utils import batch_of, broadcast_all


class Centred(Distribution):
    """A family whose mean and likeliest value is ``loc``."""

    loc: Any

    @property
    def mean(self) -> Any:
        """``loc``."""
        return self.loc

    @property
    def mode(self) -> Any:
        """``loc``."""
        return self.loc


class LocationScale(Centred):
    """A family of numbers around ``loc``, as far from it as the positive ``scale`` says."""

    arg_constraints = {"loc": constraints.real, "scale": constraints.positive}
    support = constraints.real
    has_rsample = True
    scale: Any

    def __init__(self, loc: Any, scale: Any, validate_args: bool | None = None) -> None:
        self.loc, self.scale = broadcast_all(loc, scale)
        super().__init__(batch_of(self.loc, loc, scale), validate_args=validate_args)
