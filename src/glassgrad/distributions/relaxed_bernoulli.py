"""Trials whose outcome is softened so that it has a gradient."""

from __future__ import annotations

from typing import Any

from ..ground.size import Size
from . import constraints
from .chances import ByChance
from .functions import functions as f
from .transformed_distribution import TransformedDistribution
from .transforms import SigmoidTransform
from .utils import batch_of, broadcast_all, clamp_probs

__all__ = ["LogitRelaxedBernoulli", "RelaxedBernoulli"]


class LogitRelaxedBernoulli(ByChance):
    """The log-odds of relaxed trials of chance ``probs`` or log-odds ``logits``, at a ``temperature``.

    Source: Maddison et al., The concrete distribution (2016)
    """

    arg_constraints = {"probs": constraints.unit_interval, "logits": constraints.real}
    support = constraints.real
    _parameters = ByChance._parameters
    _constants = ("temperature",)

    def __init__(
        self, temperature: Any, probs: Any = None, logits: Any = None, validate_args: bool | None = None
    ) -> None:
        self.temperature = temperature
        self._take(probs, logits)
        super().__init__(batch_of(self._param, logits if probs is None else probs), validate_args=validate_args)

    def rsample(self, sample_shape: Any = Size()) -> Any:  # noqa: B008
        """Logistic numbers moved by the log-odds, over the temperature."""
        shape = self._extended_shape(sample_shape)
        probs = clamp_probs(self.probs.expand(shape))
        u = clamp_probs(f.rand(shape, dtype=probs.dtype, device=probs.device))
        return (u.log() - (-u).log1p() + probs.log() - (-probs).log1p()) / self.temperature

    def log_prob(self, value: Any) -> Any:
        """The logarithm of the density."""
        if self._validate_args:
            self._validate_sample(value)
        logits, value = broadcast_all(self.logits, value)
        off = logits - value.mul(self.temperature)
        return self.temperature.log() + off - 2 * off.exp().log1p()


class RelaxedBernoulli(TransformedDistribution):
    """Numbers between zero and one, nearer to them the lower the ``temperature``, differentiable by the chances.

    Source: https://docs.pytorch.org/docs/stable/distributions.html#relaxedbernoulli
    """

    arg_constraints = {"probs": constraints.unit_interval, "logits": constraints.real}
    support = constraints.unit_interval
    has_rsample = True
    _parameters = {}

    def __init__(
        self, temperature: Any, probs: Any = None, logits: Any = None, validate_args: bool | None = None
    ) -> None:
        base = LogitRelaxedBernoulli(temperature, probs, logits)
        super().__init__(base, SigmoidTransform(), validate_args=validate_args)

    @property
    def temperature(self) -> Any:
        """How soft the outcome is."""
        return self.base_dist.temperature

    @property
    def logits(self) -> Any:
        """The logarithms of the odds."""
        return self.base_dist.logits

    @property
    def probs(self) -> Any:
        """The chances."""
        return self.base_dist.probs
