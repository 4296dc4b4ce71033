"""One of several categories, as a vector of one one and else zeros."""

from __future__ import annotations

from typing import Any

from ..ground.size import Size
from ..nn.functional import one_hot
from . import constraints
from .chances import ByCategories
from .functions import functions as f

__all__ = ["OneHotCategorical", "OneHotCategoricalStraightThrough"]


class OneHotCategorical(ByCategories):
    """One-hot vectors (*, K) by the chances ``probs`` or their logarithms ``logits``.

    Source: https://docs.pytorch.org/docs/stable/distributions.html#onehotcategorical
    """

    support = constraints.one_hot
    has_enumerate_support = True
    _parameters = {}

    @property
    def _param(self) -> Any:
        return self._categorical._param

    @property
    def mean(self) -> Any:
        """The chances."""
        return self.probs

    @property
    def mode(self) -> Any:
        """The likeliest category's vector."""
        return one_hot(self.probs.argmax(dim=-1), num_classes=self.probs.shape[-1]).to(self.probs)

    @property
    def variance(self) -> Any:
        """p (1 - p) for each component."""
        return self.probs * (1 - self.probs)

    def sample(self, sample_shape: Any = Size()) -> Any:  # noqa: B008
        """One-hot vectors, in the dtype of the chances."""
        drawn = self._categorical.sample(Size(sample_shape))
        return one_hot(drawn, self._categorical._num_events).to(self.probs)

    def log_prob(self, value: Any) -> Any:
        """The logarithm of the chance of each vector."""
        if self._validate_args:
            self._validate_sample(value)
        return self._categorical.log_prob(value.max(-1)[1])

    def entropy(self) -> Any:
        """The entropy in nats."""
        return self._categorical.entropy()

    def enumerate_support(self, expand: bool = True) -> Any:
        """All one-hot vectors along a new first dimension."""
        n = self.event_shape[0]
        values = f.eye(n, dtype=self._param.dtype, device=self._param.device)
        values = values.view((n, *(1,) * len(self.batch_shape), n))
        return values.expand((n, *self.batch_shape, n)) if expand else values


class OneHotCategoricalStraightThrough(OneHotCategorical):
    """One-hot vectors whose gradient goes to the chances as if they were the samples.

    Source: Y. Bengio et al., Estimating or propagating gradients through stochastic neurons (2013)
    """

    has_rsample = True
    _parameters = {}

    def rsample(self, sample_shape: Any = Size()) -> Any:  # noqa: B008
        """One-hot vectors; the gradient is that of the chances."""
        drawn = self.sample(sample_shape)
        return drawn + (self.probs - self.probs.detach())
