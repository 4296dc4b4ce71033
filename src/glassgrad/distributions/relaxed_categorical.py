"""One-hot vectors softened so that they have a gradient."""

from __future__ import annotations

from typing import Any

from ..ground.size import Size
from . import constraints
from .chances import ByCategories
from .functions import functions as f
from .transformed_distribution import TransformedDistribution
from .transforms import ExpTransform
from .utils import broadcast_all, clamp_probs

__all__ = ["ExpRelaxedCategorical", "RelaxedOneHotCategorical"]


class ExpRelaxedCategorical(ByCategories):
    """The logarithms of relaxed one-hot vectors, at a ``temperature``.

    Source: Maddison et al., The concrete distribution (2016)
    """

    support = constraints.real_vector
    has_rsample = True
    _parameters = {}
    _constants = ("temperature",)

    def __init__(
        self, temperature: Any, probs: Any = None, logits: Any = None, validate_args: bool | None = None
    ) -> None:
        self.temperature = temperature
        super().__init__(probs, logits, validate_args)

    def rsample(self, sample_shape: Any = Size()) -> Any:  # noqa: B008
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


class RelaxedOneHotCategorical(TransformedDistribution):
    """Vectors of chances, nearer to one-hot ones the lower the ``temperature``, differentiable by the logits.

    Source: https://docs.pytorch.org/docs/stable/distributions.html#relaxedonehotcategorical
    """

    arg_constraints = {"probs": constraints.simplex, "logits": constraints.real_vector}
    support = constraints.simplex
    has_rsample = True
    _parameters = {}

    def __init__(
        self, temperature: Any, probs: Any = None, logits: Any = None, validate_args: bool | None = None
    ) -> None:
        base = ExpRelaxedCategorical(temperature, probs, logits, validate_args=validate_args)
        super().__init__(base, ExpTransform(), validate_args=validate_args)

    @property
    def temperature(self) -> Any:
        """How soft the vectors are."""
        return self.base_dist.temperature

    @property
    def logits(self) -> Any:
        """Logarithms of the chances."""
        return self.base_dist.logits

    @property
    def probs(self) -> Any:
        """The chances, which sum to one."""
        return self.base_dist.probs
