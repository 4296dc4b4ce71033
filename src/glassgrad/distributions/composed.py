"""Distributions made of others: batches taken as one event, transformed samples, mixtures."""

from __future__ import annotations

from operator import attrgetter
from typing import Any

from ..autograd.grad_mode import no_grad
from ..ground.size import Size
from . import constraints
from .categories import Categorical
from .distribution import Distribution
from .transforms import ComposeTransform, Transform
from .utils import _sum_rightmost


class Independent(Distribution):
    """Another distribution, the last ``reinterpreted_batch_ndims`` dimensions of its batch being one event's."""

    arg_constraints: dict[str, constraints.Constraint] = {}  # type: ignore[assignment]
    _batched = ("base_dist",)
    _constants = ("reinterpreted_batch_ndims",)

    def __init__(
        self, base_distribution: Any, reinterpreted_batch_ndims: int, validate_args: bool | None = None
    ) -> None:
        batch = base_distribution.batch_shape
        if reinterpreted_batch_ndims > len(batch):
            raise ValueError(
                "Expected reinterpreted_batch_ndims <= len(base_distribution.batch_shape), "
                f"actual {reinterpreted_batch_ndims} vs {len(batch)}"
            )
        shape = batch + base_distribution.event_shape
        cut = len(batch) - reinterpreted_batch_ndims
        self.base_dist = base_distribution
        self.reinterpreted_batch_ndims = reinterpreted_batch_ndims
        super().__init__(shape[:cut], shape[cut:], validate_args=validate_args)

    has_rsample = property(attrgetter("base_dist.has_rsample"), doc="Whether the other has.")

    @property
    def has_enumerate_support(self) -> bool:  # type: ignore[override]
        """Whether the other has, and no dimension is taken."""
        return self.reinterpreted_batch_ndims <= 0 and self.base_dist.has_enumerate_support

    @constraints.dependent_property
    def support(self) -> Any:
        """The other's, in more dimensions."""
        n, support = self.reinterpreted_batch_ndims, self.base_dist.support
        return constraints.independent(support, n) if n else support

    mean = property(attrgetter("base_dist.mean"), doc="The other's.")
    mode = property(attrgetter("base_dist.mode"), doc="The other's.")
    variance = property(attrgetter("base_dist.variance"), doc="The other's.")

    def sample(self, sample_shape: Any = Size()) -> Any:
        """As the other."""
        return self.base_dist.sample(sample_shape)

    def rsample(self, sample_shape: Any = Size()) -> Any:
        """As the other."""
        return self.base_dist.rsample(sample_shape)

    def log_prob(self, value: Any) -> Any:
        """The other's, summed over the dimensions taken."""
        return _sum_rightmost(self.base_dist.log_prob(value), self.reinterpreted_batch_ndims)

    def entropy(self) -> Any:
        """The other's, summed over the dimensions taken."""
        return _sum_rightmost(self.base_dist.entropy(), self.reinterpreted_batch_ndims)

    def enumerate_support(self, expand: bool = True) -> Any:
        """As the other, where no dimension is taken."""
        if self.reinterpreted_batch_ndims > 0:
            raise NotImplementedError("Enumeration over cartesian product is not implemented")
        return self.base_dist.enumerate_support(expand=expand)

    def __repr__(self) -> str:
        return f"{self.__class__.__name__}({self.base_dist}, {self.reinterpreted_batch_ndims})"


class TransformedDistribution(Distribution):
    """What ``transforms``, one or a list, make of samples of ``base_distribution``."""

    arg_constraints: dict[str, constraints.Constraint] = {}  # type: ignore[assignment]
    _batched: tuple[str, ...] = ("base_dist",)
    _constants = ("transforms",)
    transforms: Any

    def __init__(self, base_distribution: Any, transforms: Any, validate_args: bool | None = None) -> None:
        if isinstance(transforms, Transform):
            transforms = [transforms]
        elif not isinstance(transforms, list):
            raise ValueError(f"transforms must be a Transform or list, but was {transforms}")
        elif not all(isinstance(t, Transform) for t in transforms):
            raise ValueError("transforms must be a Transform or a list of Transforms")
        self.transforms = transforms
        shape = base_distribution.batch_shape + base_distribution.event_shape
        base_dim = len(base_distribution.event_shape)
        whole = ComposeTransform(transforms)
        before, after = whole.domain.event_dim, whole.codomain.event_dim
        if len(shape) < before:
            raise ValueError(f"base_distribution needs to have shape with size at least {before}, but got {shape}.")
        image = Size(whole.forward_shape(shape))
        needed = Size(whole.inverse_shape(image))
        if shape != needed:  # parameters of the transforms make the batch larger
            base_distribution = base_distribution.expand(needed[: len(needed) - base_dim])
        if before > base_dim:
            base_distribution = Independent(base_distribution, before - base_dim)
        self.base_dist = base_distribution
        cut = len(image) - max(after, base_dim + after - before)
        if cut < 0:
            raise AssertionError(f"forward_shape length {len(image)} must be >= event_dim {len(image) - cut}")
        super().__init__(image[:cut], image[cut:], validate_args=validate_args)

    @constraints.dependent_property(is_discrete=False)
    def support(self) -> Any:
        """Where the last transform ends."""
        if not self.transforms:
            return self.base_dist.support
        codomain = self.transforms[-1].codomain
        more = len(self.event_shape) - codomain.event_dim
        return constraints.independent(codomain, more) if more > 0 else codomain

    has_rsample = property(attrgetter("base_dist.has_rsample"), doc="Whether the other has.")

    def _forward(self, x: Any) -> Any:
        for t in self.transforms:
            x = t(x)
        return x

    def sample(self, sample_shape: Any = Size()) -> Any:
        """Samples of the other, transformed, without a gradient."""
        with no_grad():
            return self._forward(self.base_dist.sample(sample_shape))

    def rsample(self, sample_shape: Any = Size()) -> Any:
        """Samples of the other, transformed."""
        return self._forward(self.base_dist.rsample(sample_shape))

    def _log_prob(self, value: Any) -> Any:
        """The other's at what is mapped to ``value``, less the stretching on the way."""
        dims, log_prob, y = len(self.event_shape), 0.0, value
        for t in reversed(self.transforms):
            x = t.inv(y)
            dims += t.domain.event_dim - t.codomain.event_dim
            log_prob = log_prob - _sum_rightmost(t.log_abs_det_jacobian(x, y), dims - t.domain.event_dim)
            y = x
        return log_prob + _sum_rightmost(self.base_dist.log_prob(y), dims - len(self.base_dist.event_shape))

    def _monotonize_cdf(self, value: Any) -> Any:
        """Chances turned round where the transforms fall."""
        sign = 1
        for t in self.transforms:
            sign = sign * t.sign
        if isinstance(sign, int) and sign == 1:
            return value
        return sign * (value - 0.5) + 0.5

    def cdf(self, value: Any) -> Any:
        """The chance of at most ``value``, where the transforms rise or fall throughout."""
        for t in reversed(self.transforms):
            value = t.inv(value)
        if self._validate_args:
            self.base_dist._validate_sample(value)
        return self._monotonize_cdf(self.base_dist.cdf(value))

    def icdf(self, value: Any) -> Any:
        """The quantile of ``value``, where the transforms rise or fall throughout."""
        return self._forward(self.base_dist.icdf(self._monotonize_cdf(value)))


class MixtureSameFamily(Distribution):
    """One of the last batch dimension's components, chosen by a Categorical each time."""

    arg_constraints: dict[str, constraints.Constraint] = {}  # type: ignore[assignment]
    has_rsample = False
    _batched = ("_mixture_distribution", "_component_distribution")
    _constants = ("_num_component", "_event_ndims")

    def __init__(
        self, mixture_distribution: Any, component_distribution: Any, validate_args: bool | None = None
    ) -> None:
        if not isinstance(mixture_distribution, Categorical):
            raise ValueError(" The Mixture distribution needs to be an  instance of torch.distributions.Categorical")
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
        count, width = mixture_distribution.logits.shape[-1], component_distribution.batch_shape[-1]
        if count != width:
            raise ValueError(
                f"`mixture_distribution component` ({count}) does not equal "
                f"`component_distribution.batch_shape[-1]` ({width})"
            )
        self._num_component = count
        self._event_ndims = len(component_distribution.event_shape)
        super().__init__(batch, component_distribution.event_shape, validate_args=validate_args)

    @constraints.dependent_property
    def support(self) -> Any:
        """The components'."""
        return constraints.MixtureSameFamilyConstraint(self._component_distribution.support)

    mixture_distribution = property(attrgetter("_mixture_distribution"), doc="What chooses.")
    component_distribution = property(attrgetter("_component_distribution"), doc="What is chosen from.")

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

    def sample(self, sample_shape: Any = Size()) -> Any:
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
