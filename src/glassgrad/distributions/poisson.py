"""The Poisson distribution: numbers of events."""

from __future__ import annotations

from typing import Any

from ..autograd.grad_mode import no_grad
from ..ground.size import Size
from . import constraints
from .exp_family import ExponentialFamily
from .functions import functions as f
from .utils import batch_of, broadcast_all

__all__ = ["Poisson"]


class Poisson(ExponentialFamily):
    """Numbers of independent events, ``rate`` of them expected.

    Source: https://docs.pytorch.org/docs/stable/distributions.html#poisson
    """

    arg_constraints = {"rate": constraints.nonnegative}
    support = constraints.nonnegative_integer
    _parameters = {"rate": 0}

    def __init__(self, rate: Any, validate_args: bool | None = None) -> None:
        (self.rate,) = broadcast_all(rate)
        super().__init__(batch_of(self.rate, rate), validate_args=validate_args)

    @property
    def mean(self) -> Any:
        """The rate."""
        return self.rate

    @property
    def mode(self) -> Any:
        """The rate, rounded down."""
        return self.rate.floor()

    @property
    def variance(self) -> Any:
        """The rate."""
        return self.rate

    def sample(self, sample_shape: Any = Size()) -> Any:  # noqa: B008
        """Numbers of events."""
        with no_grad():
            return f.poisson(self.rate.expand(self._extended_shape(sample_shape)))

    def log_prob(self, value: Any) -> Any:
        """The logarithm of the chance of each number."""
        if self._validate_args:
            self._validate_sample(value)
        rate, value = broadcast_all(self.rate, value)
        return value.xlogy(rate) - rate - (value + 1).lgamma()

    @property
    def _natural_params(self) -> tuple[Any, ...]:
        return (self.rate.log(),)

    def _log_normalizer(self, x: Any) -> Any:  # type: ignore[override]
        return x.exp()
