"""One of several categories, by number."""

from __future__ import annotations

from math import nan
from typing import Any

from ..ground import dtypes
from ..ground.size import Size
from . import constraints
from .distribution import Distribution
from .functions import functions as f
from .utils import ONE_OF_TWO, lazy_property, logits_to_probs, probs_to_logits

__all__ = ["Categorical"]


class Categorical(Distribution):
    """Numbers 0 to K - 1 by their chances ``probs`` (*, K), which need not sum to one, or their logarithms ``logits``.

    Source: https://docs.pytorch.org/docs/stable/distributions.html#categorical
    """

    arg_constraints = {"probs": constraints.simplex, "logits": constraints.real_vector}
    has_enumerate_support = True
    _parameters = {"probs": 1, "logits": 1, "_param": 1}
    _constants = ("_num_events",)

    def __init__(self, probs: Any = None, logits: Any = None, validate_args: bool | None = None) -> None:
        if (probs is None) == (logits is None):
            raise ValueError(ONE_OF_TWO)
        given, name = (probs, "probs") if logits is None else (logits, "logits")
        if given.dim() < 1:
            raise ValueError(f"`{name}` parameter must be at least one-dimensional.")
        if logits is None:
            self.probs = self._param = probs / probs.sum(-1, keepdim=True)
        else:
            self.logits = self._param = logits - logits.logsumexp(dim=-1, keepdim=True)
        self._num_events = self._param.size()[-1]
        super().__init__(self._param.size()[:-1], validate_args=validate_args)

    def _new(self, *args: Any, **kwargs: Any) -> Any:
        return self._param.new(*args, **kwargs)

    @constraints.dependent_property(is_discrete=True, event_dim=0)
    def support(self) -> Any:
        """The numbers of the categories."""
        return constraints.integer_interval(0, self._num_events - 1)

    @lazy_property
    def logits(self) -> Any:
        """Logarithms of the chances."""
        return probs_to_logits(self.probs)

    @lazy_property
    def probs(self) -> Any:
        """The chances, which sum to one."""
        return logits_to_probs(self.logits)

    @property
    def param_shape(self) -> Any:
        """The shape of the chances."""
        return self._param.size()

    @property
    def mean(self) -> Any:
        """NaN: categories have no mean."""
        return f.full(self._extended_shape(), nan, dtype=self.probs.dtype, device=self.probs.device)

    @property
    def mode(self) -> Any:
        """The likeliest category."""
        return self.probs.argmax(dim=-1)

    @property
    def variance(self) -> Any:
        """NaN: categories have no variance."""
        return self.mean

    def sample(self, sample_shape: Any = Size()) -> Any:  # noqa: B008
        """Categories as int64."""
        shape = self._extended_shape(sample_shape)
        count = Size(sample_shape).numel()
        drawn = f.multinomial(self.probs.reshape(-1, self._num_events), count, True)
        return drawn.T.reshape(shape)

    def log_prob(self, value: Any) -> Any:
        """The logarithm of the chance of each category in ``value``."""
        if self._validate_args:
            self._validate_sample(value)
        value, logits = f.broadcast_tensors(value.long().unsqueeze(-1), self.logits)
        return logits.gather(-1, value[..., :1]).squeeze(-1)

    def entropy(self) -> Any:
        """The entropy in nats."""
        logits = self.logits
        return -(logits.clamp(min=dtypes.finfo(logits.dtype).min) * self.probs).sum(-1)

    def enumerate_support(self, expand: bool = True) -> Any:
        """All categories along a new first dimension."""
        return self._enumerated(f.arange(self._num_events, device=self._param.device), expand)
