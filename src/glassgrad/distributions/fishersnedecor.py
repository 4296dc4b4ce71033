"""The F distribution: quotients of mean squares."""

from __future__ import annotations

import math
from typing import Any

from ..ground import dtypes
from ..ground.size import Size
from . import constraints
from .distribution import Distribution
from .gamma import Gamma
from .utils import batch_of, broadcast_all

__all__ = ["FisherSnedecor"]


class FisherSnedecor(Distribution):
    """Quotients of the mean squares of ``df1`` and of ``df2`` normal numbers.

    Source: https://docs.pytorch.org/docs/stable/distributions.html#fishersnedecor
    """

    arg_constraints = {"df1": constraints.positive, "df2": constraints.positive}
    support = constraints.positive
    has_rsample = True
    _parameters = {"df1": 0, "df2": 0}
    _parts = ("_gamma1", "_gamma2")

    def __init__(self, df1: Any, df2: Any, validate_args: bool | None = None) -> None:
        self.df1, self.df2 = broadcast_all(df1, df2)
        self._gamma1 = Gamma(self.df1 * 0.5, self.df1)
        self._gamma2 = Gamma(self.df2 * 0.5, self.df2)
        super().__init__(batch_of(self.df1, df1, df2), validate_args=validate_args)

    def _df2_above(self, bound: float) -> Any:
        """``df2``, NaN where it is at most a bound."""
        found = self.df2.clone(memory_format=dtypes.contiguous_format)
        found[found <= bound] = math.nan
        return found

    @property
    def mean(self) -> Any:
        """NaN for a ``df2`` of two or less."""
        df2 = self._df2_above(2)
        return df2 / (df2 - 2)

    @property
    def mode(self) -> Any:
        """NaN for a ``df1`` of two or less."""
        found = (self.df1 - 2) / self.df1 * self.df2 / (self.df2 + 2)
        found[self.df1 <= 2] = math.nan
        return found

    @property
    def variance(self) -> Any:
        """NaN for a ``df2`` of four or less."""
        df2 = self._df2_above(4)
        return 2 * df2.pow(2) * (self.df1 + df2 - 2) / (self.df1 * (df2 - 2).pow(2) * (df2 - 4))

    def rsample(self, sample_shape: Any = Size()) -> Any:  # noqa: B008
        """Quotients of gamma numbers, kept above the smallest normal number."""
        shape = self._extended_shape(sample_shape)
        above = self._gamma1.rsample(sample_shape).view(shape)
        below = self._gamma2.rsample(sample_shape).view(shape)
        tiny = dtypes.finfo(below.dtype).tiny
        below.clamp_(min=tiny)
        return (above / below).clamp_(min=tiny)

    def log_prob(self, value: Any) -> Any:
        """The logarithm of the density."""
        if self._validate_args:
            self._validate_sample(value)
        a, b, ratio = self.df1 * 0.5, self.df2 * 0.5, self.df1 / self.df2
        level = (a + b).lgamma() - a.lgamma() - b.lgamma()
        return level + (a * ratio.log() + (a - 1) * value.log()) - (a + b) * (ratio * value).log1p()
