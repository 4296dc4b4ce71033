"""Distributions of what transforms make of another's samples."""

from __future__ import annotations

from typing import Any

from ..autograd.grad_mode import no_grad
from ..ground.size import Size
from . import constraints
from .distribution import Distribution
from .independent import Independent
from .transforms import ComposeTransform, Transform
from .utils import _sum_rightmost

__all__ = ["TransformedDistribution"]


class TransformedDistribution(Distribution):
    """What ``transforms``, one or a list, make of samples of ``base_distribution``.

    Source: https://docs.pytorch.org/docs/stable/distributions.html#transformeddistribution
    """

    arg_constraints: dict[str, constraints.Constraint] = {}  # type: ignore[assignment]
    _parameters = {}
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

    def _expand_inner(self, new: Any, batch_shape: Size) -> None:
        shape = batch_shape + self.event_shape
        for t in reversed(self.transforms):
            shape = t.inverse_shape(shape)
        new.base_dist = self.base_dist.expand(shape[: len(shape) - len(self.base_dist.event_shape)])
        new.transforms = self.transforms

    @constraints.dependent_property(is_discrete=False)
    def support(self) -> Any:
        """Where the last transform ends."""
        if not self.transforms:
            return self.base_dist.support
        found = self.transforms[-1].codomain
        more = len(self.event_shape) - found.event_dim
        return constraints.independent(found, more) if more > 0 else found

    @property
    def has_rsample(self) -> bool:  # type: ignore[override]
        """Whether the other has."""
        return self.base_dist.has_rsample  # type: ignore[no-any-return]

    def _forward(self, x: Any) -> Any:
        for t in self.transforms:
            x = t(x)
        return x

    def sample(self, sample_shape: Any = Size()) -> Any:  # noqa: B008
        """Samples of the other, transformed, without a gradient."""
        with no_grad():
            return self._forward(self.base_dist.sample(sample_shape))

    def rsample(self, sample_shape: Any = Size()) -> Any:  # noqa: B008
        """Samples of the other, transformed."""
        return self._forward(self.base_dist.rsample(sample_shape))

    def log_prob(self, value: Any) -> Any:
        """The other's at what is mapped to ``value``, less the stretching on the way."""
        if self._validate_args:
            self._validate_sample(value)
        dims, found, y = len(self.event_shape), 0.0, value
        for t in reversed(self.transforms):
            x = t.inv(y)
            dims += t.domain.event_dim - t.codomain.event_dim
            found = found - _sum_rightmost(t.log_abs_det_jacobian(x, y), dims - t.domain.event_dim)
            y = x
        return found + _sum_rightmost(self.base_dist.log_prob(y), dims - len(self.base_dist.event_shape))

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
