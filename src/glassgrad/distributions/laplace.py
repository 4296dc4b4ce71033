"""The Laplace distribution: two exponential ones back to back."""

from __future__ import annotations

from typing import Any

from ..ground import dtypes
from ..ground.size import Size
from .location import LocationScale

__all__ = ["Laplace"]


class Laplace(LocationScale):
    """Numbers around ``loc`` whose distance from it is exponential of mean ``scale``.

    Source: https://docs.pytorch.org/docs/stable/distributions.html#laplace
    """

    _parameters = {"loc": 0, "scale": 0}

    @property
    def variance(self) -> Any:
        """Twice the square of the scale."""
        return 2 * self.scale.pow(2)

    @property
    def stddev(self) -> Any:
        """The scale times the root of two."""
        return 2**0.5 * self.scale

    def rsample(self, sample_shape: Any = Size()) -> Any:  # noqa: B008
        """Uniform numbers over (-1, 1), bent."""
        u = self.loc.new_empty(self._extended_shape(sample_shape)).uniform_(dtypes.finfo(self.loc.dtype).eps - 1, 1)
        return self.loc - self.scale * u.sign() * (-u.abs()).log1p()

    def log_prob(self, value: Any) -> Any:
        """The logarithm of the density."""
        if self._validate_args:
            self._validate_sample(value)
        return -(2 * self.scale).log() - (value - self.loc).abs() / self.scale

    def cdf(self, value: Any) -> Any:
        """The chance of at most ``value``."""
        if self._validate_args:
            self._validate_sample(value)
        off = value - self.loc
        return 0.5 - 0.5 * off.sign() * (-off.abs() / self.scale).expm1()

    def icdf(self, value: Any) -> Any:
        """The quantile of ``value``."""
        off = value - 0.5
        return self.loc - self.scale * off.sign() * (-2 * off.abs()).log1p()

    def entropy(self) -> Any:
        """The entropy in nats."""
        return 1 + (2 * self.scale).log()
