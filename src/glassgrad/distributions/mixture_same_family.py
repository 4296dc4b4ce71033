"""Mixtures of the members of a batch."""

from __future__ import annotations

from typing import Any

from ..autograd.grad_mode import no_grad
from ..ground.size import Size
from . import constraints
from .categorical import Categorical
from .distribution import Distribution

__all__ = ["MixtureSameFamily"]


class MixtureSameFamily(Distribution):
    """One of the last batch dimension's components, chosen by a Categorical each time.

    Source: https://docs.pytorch.org/docs/stable/distributions.html#mixturesamefamily
    """

    arg_constraints: dict[str, constraints.Constraint] = {}  # type: ignore[assignment]
    has_rsample = False
    _parameters = {}
    _constants = ("_num_component", "_event_ndims")

    def __init__(
        self, mixture_distribution: Any, component_distribution: Any, validate_args: bool | None = None
    ) -> None:
        if not isinstance(mixture_distribution, Categorical):
            raise ValueError(
                " The Mixture distribution needs to be an  instance of torch.distributions.Categorical"
            )
        if not isinstance(component_distribution, Distribution):
            raise ValueError("The Component distribution needs to be an instance of torch.distributions.Distribution")
        self._mixture_distribution, self._component_distribution = mixture_distribution, component_distribution
        own, batch = mixture_distribution.batch_shape, component_distribution.batch_shape[:-1]
        for a, b in zip(reversed(own), reversed(batch), strict=False):
            if a != 1 and b != 1 and a != b:
                raise ValueError(
                    f"`mixture_distribution.batch_shape` ({own}) is not compatible with "
                    f"`component_distribution.batch_shape`({batch})"
                )
        count, found = mixture_distribution.logits.shape[-1], component_distribution.batch_shape[-1]
        if count != found:
            raise ValueError(
                f"`mixture_distribution component` ({count}) does not equal "
                f"`component_distribution.batch_shape[-1]` ({found})"
            )
        self._num_component = count
        self._event_ndims = len(component_distribution.event_shape)
        super().__init__(batch, component_distribution.event_shape, validate_args=validate_args)

    def _expand_inner(self, new: Any, batch_shape: Size) -> None:
        new._component_distribution = self._component_distribution.expand(batch_shape + (self._num_component,))  # noqa: RUF005
        new._mixture_distribution = self._mixture_distribution.expand(batch_shape)

    @constraints.dependent_property
    def support(self) -> Any:
        """The components'."""
        return constraints.MixtureSameFamilyConstraint(self._component_distribution.support)

    @property
    def mixture_distribution(self) -> Any:
        """What chooses."""
        return self._mixture_distribution

    @property
    def component_distribution(self) -> Any:
        """What is chosen from."""
        return self._component_distribution

    def _pad(self, x: Any) -> Any:
        """``x`` with a dimension for the components."""
        return x.unsqueeze(-1 - self._event_ndims)

    def _pad_mixture_dimensions(self, x: Any) -> Any:
        """The chances, ready to meet the components' moments."""
        own, sizes = len(self.mixture_distribution.batch_shape), x.shape
        more = 0 if own == 1 else len(self.batch_shape) - own
        return x.reshape((*sizes[:-1], *(1,) * more, sizes[-1], *(1,) * self._event_ndims))

    @property
    def mean(self) -> Any:
        """The components' means, weighed."""
        probs = self._pad_mixture_dimensions(self.mixture_distribution.probs)
        return (probs * self.component_distribution.mean).sum(-1 - self._event_ndims)

    @property
    def variance(self) -> Any:
        """The mean of the variances and the variance of the means."""
        probs, parts = self._pad_mixture_dimensions(self.mixture_distribution.probs), self.component_distribution
        dim = -1 - self._event_ndims
        within = (probs * parts.variance).sum(dim)
        return within + (probs * (parts.mean - self._pad(self.mean)).pow(2.0)).sum(dim)

    def cdf(self, x: Any) -> Any:
        """The chance of at most ``x``."""
        return (self.component_distribution.cdf(self._pad(x)) * self.mixture_distribution.probs).sum(-1)

    def log_prob(self, x: Any) -> Any:
        """The logarithm of the density."""
        if self._validate_args:
            self._validate_sample(x)
        levels = self.component_distribution.log_prob(self._pad(x))
        return (levels + self.mixture_distribution.logits.log_softmax(-1)).logsumexp(-1)

    def sample(self, sample_shape: Any = Size()) -> Any:  # noqa: B008
        """The chosen ones of samples of all components."""
        with no_grad():
            dim = len(sample_shape) + len(self.batch_shape)
            chosen = self.mixture_distribution.sample(sample_shape)
            drawn = self.component_distribution.sample(sample_shape)
            chosen = chosen.reshape((*chosen.shape, *(1,) * (self._event_ndims + 1)))
            chosen = chosen.repeat((*(1,) * (dim + 1), *self.event_shape))
            return drawn.gather(dim, chosen).squeeze(dim)

    def __repr__(self) -> str:
        return f"MixtureSameFamily(\n  {self.mixture_distribution},\n  {self.component_distribution})"
