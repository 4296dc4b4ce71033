"""The negative binomial distribution: successes before a number of failures."""

from __future__ import annotations

from typing import Any

from ..autograd.grad_mode import no_grad
from ..ground.size import Size
from ..nn.functional import logsigmoid
from . import constraints
from .chances import ByChance
from .functions import functions as f
from .gamma import Gamma
from .utils import lazy_property

__all__ = ["NegativeBinomial"]


class NegativeBinomial(ByChance):
    """How many trials of chance ``probs`` or log-odds ``logits`` succeed before ``total_count`` of them fail.

    Source: https://docs.pytorch.org/docs/stable/distributions.html#negativebinomial
    """

    arg_constraints = {
        "total_count": constraints.greater_than_eq(0),
        "probs": constraints.half_open_interval(0.0, 1.0),
        "logits": constraints.real,
    }
    support = constraints.nonnegative_integer
    _parameters = {"total_count": 0, **ByChance._parameters}

    def __init__(
        self, total_count: Any, probs: Any = None, logits: Any = None, validate_args: bool | None = None
    ) -> None:
        (self.total_count,) = self._take(probs, logits, total_count)
        super().__init__(self._param.size(), validate_args=validate_args)

    @property
    def mean(self) -> Any:
        """Failures times odds."""
        return self.total_count * self.logits.exp()

    @property
    def mode(self) -> Any:
        """The likeliest number."""
        return ((self.total_count - 1) * self.logits.exp()).floor().clamp(min=0.0)

    @property
    def variance(self) -> Any:
        """The mean over the chance of failure."""
        return self.mean / (-self.logits).sigmoid()

    @lazy_property
    def _gamma(self) -> Any:
        """The Poisson rates of which the samples are a mixture."""
        return Gamma(self.total_count, (-self.logits).exp(), validate_args=False)

    def sample(self, sample_shape: Any = Size()) -> Any:  # noqa: B008
        """Poisson numbers of gamma rates."""
        with no_grad():
            return f.poisson(self._gamma.sample(sample_shape))

    def log_prob(self, value: Any) -> Any:
        """The logarithm of the chance of each number."""
        if self._validate_args:
            self._validate_sample(value)
        n = self.total_count
        level = n * logsigmoid(-self.logits) + value * logsigmoid(self.logits)
        orders = -(n + value).lgamma() + (1.0 + value).lgamma() + n.lgamma()
        return level - orders.masked_fill(n + value == 0.0, 0.0)
