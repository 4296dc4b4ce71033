"""The half-normal distribution: sizes of normal numbers."""

from __future__ import annotations

import math
from typing import Any

from .half import Half
from .normal import Normal

__all__ = ["HalfNormal"]


class HalfNormal(Half):
    """The absolute values of normal numbers of mean zero and deviation ``scale``.

    Source: https://docs.pytorch.org/docs/stable/distributions.html#halfnormal
    """

    _parameters = {}
    _whole = Normal

    @property
    def scale(self) -> Any:
        """The deviation before the sign is lost."""
        return self.base_dist.scale

    @property
    def mean(self) -> Any:
        """The scale times the root of 2 / pi."""
        return self.scale * math.sqrt(2 / math.pi)

    @property
    def variance(self) -> Any:
        """The square of the scale times 1 - 2 / pi."""
        return self.scale.pow(2) * (1 - 2 / math.pi)
