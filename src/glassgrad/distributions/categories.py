"""Families of several categories: by number, as one-hot vectors, relaxed, counted."""

from __future__ import annotations

from math import inf, nan
from operator import attrgetter
from typing import Any

from ..ground import dtypes
from ..ground.size import Size
from ..nn.functional import one_hot
from . import constraints
from .distribution import Distribution
from .trials import Binomial
from .utils import ONE_OF_TWO, broadcast_all, clamp_probs, lazy_property, logits_to_probs, probs_to_logits
from .utils import functions as f


class Categorical(Distribution):
    """Numbers 0 to K - 1 by their chances ``probs`` (*, K), which need not sum to one, or their logarithms ``logits``.

    Source: https://docs.pytorch.org/docs/stable/distributions.html#categorical
    """

    arg_constraints = {"probs": constraints.simplex, "logits": constraints.real_vector}
    has_enumerate_support = True
    _batched = ("_param",)
    _constants = ("_num_events",)

    def __init__(self, probs: Any = None, logits: Any = None, validate_args: bool | None = None) -> None:
        if (probs is None) == (logits is None):
            raise ValueError(ONE_OF_TWO)
        param, name = (probs, "probs") if logits is None else (logits, "logits")
        if param.dim() < 1:
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

    param_shape = property(attrgetter("_param.shape"), doc="The shape of the chances.")

    @property
    def mean(self) -> Any:
        """NaN: categories have no mean."""
        return f.full(self._extended_shape(), nan, dtype=self.probs.dtype, device=self.probs.device)

    mode = property(lambda self: self.probs.argmax(dim=-1), doc="The likeliest category.")
    variance = property(attrgetter("mean"), doc="NaN: categories have no variance.")

    def sample(self, sample_shape: Any = Size()) -> Any:
        """Categories as int64."""
        shape = self._extended_shape(sample_shape)
        count = Size(sample_shape).numel()
        drawn = f.multinomial(self.probs.reshape(-1, self._num_events), count, True)
        return drawn.T.reshape(shape)

    def _log_prob(self, value: Any) -> Any:
        value, logits = f.broadcast_tensors(value.long().unsqueeze(-1), self.logits)
        return logits.gather(-1, value[..., :1]).squeeze(-1)

    def entropy(self) -> Any:
        logits = self.logits
        return -(logits.clamp(min=dtypes.finfo(logits.dtype).min) * self.probs).sum(-1)

    def enumerate_support(self, expand: bool = True) -> Any:
        """All categories along a new first dimension."""
        return self._enumerated(f.arange(self._num_events, device=self._param.device), expand)


class ByCategories(Distribution):
    """A family of vectors with a place for each of several categories, whose chances are its parameters."""

    arg_constraints = {"probs": constraints.simplex, "logits": constraints.real_vector}
    _batched = ("_categorical",)

    def __init__(self, probs: Any = None, logits: Any = None, validate_args: bool | None = None) -> None:
        self._categorical = Categorical(probs, logits)
        super().__init__(self._categorical.batch_shape, self._categorical.param_shape[-1:], validate_args=validate_args)

    def _new(self, *args: Any, **kwargs: Any) -> Any:
        return self._categorical._new(*args, **kwargs)

    probs = property(attrgetter("_categorical.probs"), doc="The chances, which sum to one.")
    logits = property(attrgetter("_categorical.logits"), doc="Logarithms of the chances.")
    param_shape = property(attrgetter("_categorical.param_shape"), doc="The shape of the chances.")


class OneHotCategorical(ByCategories):
    """One-hot vectors (*, K) by the chances ``probs`` or their logarithms ``logits``."""

    support = constraints.one_hot
    has_enumerate_support = True

    _param = property(attrgetter("_categorical._param"))
    mean = property(attrgetter("probs"), doc="The chances.")

    @property
    def mode(self) -> Any:
        """The likeliest category's vector."""
        return one_hot(self.probs.argmax(dim=-1), num_classes=self.probs.shape[-1]).to(self.probs)

    variance = property(lambda self: self.probs * (1 - self.probs), doc="p (1 - p) for each component.")

    def sample(self, sample_shape: Any = Size()) -> Any:
        """One-hot vectors, in the dtype of the chances."""
        drawn = self._categorical.sample(Size(sample_shape))
        return one_hot(drawn, self._categorical._num_events).to(self.probs)

    def _log_prob(self, value: Any) -> Any:
        return self._categorical.log_prob(value.max(-1)[1])

    def entropy(self) -> Any:
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

    def rsample(self, sample_shape: Any = Size()) -> Any:
        """One-hot vectors; the gradient is that of the chances."""
        drawn = self.sample(sample_shape)
        return drawn + (self.probs - self.probs.detach())


class ExpRelaxedCategorical(ByCategories):
    """The logarithms of relaxed one-hot vectors, at a ``temperature``.

    Source: Maddison et al., The concrete distribution (2016)
    """

    support = constraints.real_vector
    has_rsample = True
    _constants = ("temperature",)

    def __init__(
        self, temperature: Any, probs: Any = None, logits: Any = None, validate_args: bool | None = None
    ) -> None:
        self.temperature = temperature
        super().__init__(probs, logits, validate_args)

    def rsample(self, sample_shape: Any = Size()) -> Any:
        """Gumbel numbers moved by the logits, over the temperature, normalised."""
        shape = self._extended_shape(sample_shape)
        u = clamp_probs(f.rand(shape, dtype=self.logits.dtype, device=self.logits.device))
        scores = (self.logits + -((-(u.log())).log())) / self.temperature
        return scores - scores.logsumexp(dim=-1, keepdim=True)

    def log_prob(self, value: Any) -> Any:
        """The logarithm of the density."""
        k = self._categorical._num_events
        if self._validate_args:
            self._validate_sample(value)
        logits, value = broadcast_all(self.logits, value)
        level = f.full_like(self.temperature, float(k)).lgamma() - self.temperature.log().mul(-(k - 1))
        score = logits - value.mul(self.temperature)
        return (score - score.logsumexp(dim=-1, keepdim=True)).sum(-1) + level


class Multinomial(ByCategories):
    """Counts (*, K) of ``total_count`` draws among K categories of chances ``probs`` or their logarithms ``logits``."""

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

    mean = property(lambda self: self.probs * self.total_count, doc="The expected counts.")

    @property
    def variance(self) -> Any:
        """The variance of each count."""
        return self.total_count * self.probs * (1 - self.probs)

    def sample(self, sample_shape: Any = Size()) -> Any:
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

    def _log_prob(self, value: Any) -> Any:
        """The logarithm of the chance of the counts, whatever their total."""
        logits, value = broadcast_all(self.logits, value)
        logits = logits.clone(memory_format=dtypes.contiguous_format)
        orders = (value.sum(-1) + 1).lgamma() - (value + 1).lgamma().sum(-1)
        logits[(value == 0) & (logits == -inf)] = 0
        return orders + (logits * value).sum(-1)
