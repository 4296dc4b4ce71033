"""How often each of several categories comes up."""

from __future__ import annotations

from math import inf
from typing import Any

from ..ground import dtypes
from ..ground.size import Size
from . import constraints
from .binomial import Binomial
from .chances import ByCategories
from .functions import functions as f
from .utils import broadcast_all, lazy_property

__all__ = ["Multinomial"]


class Multinomial(ByCategories):
    """Counts (*, K) of ``total_count`` draws among K categories of chances ``probs`` or their logarithms ``logits``.

    Source: https://docs.pytorch.org/docs/stable/distributions.html#multinomial
    """

    _parameters = {}
    _constants = ("total_count",)
    total_count: int

    def __init__(
        self, total_count: int = 1, probs: Any = None, logits: Any = None, validate_args: bool | None = None
    ) -> None:
        if not isinstance(total_count, int):
            raise NotImplementedError("inhomogeneous total_count is not supported")
        self.total_count = total_count
        super().__init__(probs, logits, validate_args)

    @lazy_property
    def _binomial(self) -> Any:
        """The counts of each category alone."""
        return Binomial(total_count=self.total_count, probs=self.probs)

    @constraints.dependent_property(is_discrete=True, event_dim=1)
    def support(self) -> Any:
        """Counts of the total."""
        return constraints.multinomial(self.total_count)

    @property
    def mean(self) -> Any:
        """The expected counts."""
        return self.probs * self.total_count

    @property
    def variance(self) -> Any:
        """The variance of each count."""
        return self.total_count * self.probs * (1 - self.probs)

    def sample(self, sample_shape: Any = Size()) -> Any:  # noqa: B008
        """Counts, in the dtype of the chances."""
        sample_shape = Size(sample_shape)
        drawn = self._categorical.sample(Size((self.total_count,)) + sample_shape).movedim(0, -1)
        counts = f.zeros(self._extended_shape(sample_shape), dtype=dtypes.int64, device=drawn.device)
        counts.scatter_add_(-1, drawn, f.ones_like(drawn))
        return counts.type_as(self.probs)

    def entropy(self) -> Any:
        """The entropy in nats, summed over the counts of each category."""
        n = f.tensor(self.total_count)
        counts = self._binomial.enumerate_support(expand=False)[1:]
        weighted = self._binomial.log_prob(counts).exp() * (counts + 1).lgamma()
        return n * self._categorical.entropy() - (n + 1).lgamma() + weighted.sum([0, -1])

    def log_prob(self, value: Any) -> Any:
        """The logarithm of the chance of the counts, whatever their total."""
        if self._validate_args:
            self._validate_sample(value)
        logits, value = broadcast_all(self.logits, value)
        logits = logits.clone(memory_format=dtypes.contiguous_format)
        orders = (value.sum(-1) + 1).lgamma() - (value + 1).lgamma().sum(-1)
        logits[(value == 0) & (logits == -inf)] = 0
        return orders + (logits * value).sum(-1)
