"""Student's t distribution: normal numbers over the root of a mean square of others."""

from __future__ import annotations

import math
from typing import Any

from ..ground import dtypes
from ..ground.size import Size
from . import constraints
from .chi2 import Chi2
from .distribution import Distribution
from .utils import _standard_normal, broadcast_all

__all__ = ["StudentT"]


class StudentT(Distribution):
    """Numbers around ``loc`` at ``scale``, with heavier tails the fewer degrees of freedom ``df`` there are.

    Source: https://docs.pytorch.org/docs/stable/distributions.html#studentt
    """

    arg_constraints = {"df": constraints.positive, "loc": constraints.real, "scale": constraints.positive}
    support = constraints.real
    has_rsample = True
    _parameters = {"df": 0, "loc": 0, "scale": 0}
    _parts = ("_chi2",)

    def __init__(self, df: Any, loc: Any = 0.0, scale: Any = 1.0, validate_args: bool | None = None) -> None:
        self.df, self.loc, self.scale = broadcast_all(df, loc, scale)
        self._chi2 = Chi2(self.df)
        super().__init__(self.df.size(), validate_args=validate_args)

    @property
    def mean(self) -> Any:
        """``loc``; NaN for one degree of freedom or fewer."""
        found = self.loc.clone(memory_format=dtypes.contiguous_format)
        found[self.df <= 1] = math.nan
        return found

    @property
    def mode(self) -> Any:
        """``loc``."""
        return self.loc

    @property
    def variance(self) -> Any:
        """Infinite for two degrees of freedom or fewer, NaN for one or fewer."""
        found = self.df.clone(memory_format=dtypes.contiguous_format)
        finite = self.df > 2
        found[finite] = self.scale[finite].pow(2) * self.df[finite] / (self.df[finite] - 2)
        found[(self.df <= 2) & (self.df > 1)] = math.inf
        found[self.df <= 1] = math.nan
        return found

    def rsample(self, sample_shape: Any = Size()) -> Any:  # noqa: B008
        """Normal numbers, then what they are divided by."""
        normal = _standard_normal(self._extended_shape(sample_shape), self.df.dtype, self.df.device)
        squares = self._chi2.rsample(sample_shape)
        return self.loc + self.scale * (normal * (squares / self.df).rsqrt())

    def log_prob(self, value: Any) -> Any:
        """The logarithm of the density."""
        if self._validate_args:
            self._validate_sample(value)
        df = self.df
        level = self.scale.log() + 0.5 * df.log() + 0.5 * math.log(math.pi)
        level = level + (0.5 * df).lgamma() - (0.5 * (df + 1.0)).lgamma()
        y = (value - self.loc) / self.scale
        return -0.5 * (df + 1.0) * (y**2.0 / df).log1p() - level

    def entropy(self) -> Any:
        """The entropy in nats."""
        half, more = 0.5 * self.df, 0.5 * (self.df + 1)
        log_beta = half.lgamma() + math.lgamma(0.5) - more.lgamma()
        return self.scale.log() + more * (more.digamma() - half.digamma()) + 0.5 * self.df.log() + log_beta
