"""One trial: success or none."""

from __future__ import annotations

from math import nan
from typing import Any

from ..autograd.grad_mode import no_grad
from ..ground.size import Size
from ..nn.functional import binary_cross_entropy_with_logits
from . import constraints
from .chances import ByChance
from .exp_family import ExponentialFamily
from .functions import functions as f
from .utils import batch_of, broadcast_all

__all__ = ["Bernoulli"]


class Bernoulli(ByChance, ExponentialFamily):
    """Ones with chance ``probs``, else zeros; or by log-odds ``logits``.

    Source: https://docs.pytorch.org/docs/stable/distributions.html#bernoulli
    """

    arg_constraints = {"probs": constraints.unit_interval, "logits": constraints.real}
    support = constraints.boolean
    has_enumerate_support = True
    _mean_carrier_measure = 0
    _parameters = ByChance._parameters

    def __init__(self, probs: Any = None, logits: Any = None, validate_args: bool | None = None) -> None:
        self._take(probs, logits)
        super().__init__(batch_of(self._param, logits if probs is None else probs), validate_args=validate_args)

    @property
    def mean(self) -> Any:
        """The chance of success."""
        return self.probs

    @property
    def mode(self) -> Any:
        """The likelier outcome; NaN where both are equally likely."""
        found = (self.probs >= 0.5).to(self.probs)
        found[self.probs == 0.5] = nan
        return found

    @property
    def variance(self) -> Any:
        """p (1 - p)."""
        return self.probs * (1 - self.probs)

    def sample(self, sample_shape: Any = Size()) -> Any:  # noqa: B008
        """Ones and zeros."""
        with no_grad():
            return f.bernoulli(self.probs.expand(self._extended_shape(sample_shape)))

    def log_prob(self, value: Any) -> Any:
        """The logarithm of the chance of each outcome."""
        if self._validate_args:
            self._validate_sample(value)
        logits, value = broadcast_all(self.logits, value)
        return -binary_cross_entropy_with_logits(logits, value, reduction="none")

    def entropy(self) -> Any:
        """The entropy in nats."""
        return binary_cross_entropy_with_logits(self.logits, self.probs, reduction="none")

    def enumerate_support(self, expand: bool = True) -> Any:
        """Zero and one along a new first dimension."""
        return self._enumerated(f.arange(2, dtype=self._param.dtype, device=self._param.device), expand)

    @property
    def _natural_params(self) -> tuple[Any, ...]:
        return (f.logit(self.probs),)

    def _log_normalizer(self, x: Any) -> Any:  # type: ignore[override]
        return x.exp().log1p()
