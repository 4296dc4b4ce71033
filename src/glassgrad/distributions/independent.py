"""Batches taken as parts of one event."""

from __future__ import annotations

from typing import Any

from ..ground.size import Size
from . import constraints
from .distribution import Distribution
from .utils import _sum_rightmost

__all__ = ["Independent"]


class Independent(Distribution):
    """Another distribution, the last ``reinterpreted_batch_ndims`` dimensions of its batch being one event's.

    Source: https://docs.pytorch.org/docs/stable/distributions.html#independent
    """

    arg_constraints: dict[str, constraints.Constraint] = {}  # type: ignore[assignment]
    _parameters = {}
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

    def _expand_inner(self, new: Any, batch_shape: Size) -> None:
        new.base_dist = self.base_dist.expand(batch_shape + self.event_shape[: self.reinterpreted_batch_ndims])

    @property
    def has_rsample(self) -> bool:  # type: ignore[override]
        """Whether the other has."""
        return self.base_dist.has_rsample  # type: ignore[no-any-return]

    @property
    def has_enumerate_support(self) -> bool:  # type: ignore[override]
        """Whether the other has, and no dimension is taken."""
        return self.reinterpreted_batch_ndims <= 0 and self.base_dist.has_enumerate_support

    @constraints.dependent_property
    def support(self) -> Any:
        """The other's, in more dimensions."""
        n, found = self.reinterpreted_batch_ndims, self.base_dist.support
        return constraints.independent(found, n) if n else found

    @property
    def mean(self) -> Any:
        """The other's."""
        return self.base_dist.mean

    @property
    def mode(self) -> Any:
        """The other's."""
        return self.base_dist.mode

    @property
    def variance(self) -> Any:
        """The other's."""
        return self.base_dist.variance

    def sample(self, sample_shape: Any = Size()) -> Any:  # noqa: B008
        """As the other."""
        return self.base_dist.sample(sample_shape)

    def rsample(self, sample_shape: Any = Size()) -> Any:  # noqa: B008
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
