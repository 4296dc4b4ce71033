"""Numbers of successes among trials."""

from __future__ import annotations

from typing import Any

from ..autograd.grad_mode import no_grad
from ..ground.size import Size
from . import constraints
from .chances import ByChance
from .functions import functions as f

__all__ = ["Binomial"]


def _above_zero(x: Any) -> Any:
    """``x`` where positive, else zero; the slope at zero is one half."""
    return (x.clamp(min=0) + x - x.clamp(max=0)) / 2


class Binomial(ByChance):
    """How many of ``total_count`` trials succeed, each with chance ``probs`` or log-odds ``logits``.

    Source: https://docs.pytorch.org/docs/stable/distributions.html#binomial
    """

    arg_constraints = {
        "total_count": constraints.nonnegative_integer,
        "probs": constraints.unit_interval,
        "logits": constraints.real,
    }
    has_enumerate_support = True
    _parameters = {"total_count": 0, **ByChance._parameters}

    def __init__(
        self, total_count: Any = 1, probs: Any = None, logits: Any = None, validate_args: bool | None = None
    ) -> None:
        (self.total_count,) = self._take(probs, logits, total_count)
        super().__init__(self._param.size(), validate_args=validate_args)

    @constraints.dependent_property(is_discrete=True, event_dim=0)
    def support(self) -> Any:
        """Whole numbers up to the number of trials."""
        return constraints.integer_interval(0, self.total_count)

    @property
    def mean(self) -> Any:
        """Trials times chance."""
        return self.total_count * self.probs

    @property
    def mode(self) -> Any:
        """The likeliest number."""
        return ((self.total_count + 1) * self.probs).floor().clamp(max=self.total_count)

    @property
    def variance(self) -> Any:
        """n p (1 - p)."""
        return self.total_count * self.probs * (1 - self.probs)

    def sample(self, sample_shape: Any = Size()) -> Any:  # noqa: B008
        """Numbers of successes."""
        shape = self._extended_shape(sample_shape)
        with no_grad():
            return f.binomial(self.total_count.expand(shape), self.probs.expand(shape))

    def log_prob(self, value: Any) -> Any:
        """The logarithm of the chance of each number."""
        if self._validate_args:
            self._validate_sample(value)
        n, logits = self.total_count, self.logits
        level = n * _above_zero(logits) + n * (-logits.abs()).exp().log1p() - (n + 1).lgamma()
        return value * logits - (value + 1).lgamma() - (n - value + 1).lgamma() - level

    def _common_count(self, asker: str) -> int:
        count = int(self.total_count.max())
        if not self.total_count.min() == count:
            raise NotImplementedError(f"Inhomogeneous total count not supported by `{asker}`.")
        return count

    def entropy(self) -> Any:
        """The entropy in nats, summed over all numbers."""
        self._common_count("entropy")
        levels = self.log_prob(self.enumerate_support(False))
        return -(levels.exp() * levels).sum(0)

    def enumerate_support(self, expand: bool = True) -> Any:
        """All numbers along a new first dimension."""
        count = self._common_count("enumerate_support")
        return self._enumerated(f.arange(1 + count, dtype=self._param.dtype, device=self._param.device), expand)
