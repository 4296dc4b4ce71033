"""The geometric distribution: failures before the first success."""

from __future__ import annotations

from typing import Any

from ..autograd.grad_mode import no_grad
from ..ground import dtypes
from ..ground.size import Size
from ..nn.functional import binary_cross_entropy_with_logits
from . import constraints
from .chances import ByChance
from .functions import functions as f
from .utils import batch_of, broadcast_all

__all__ = ["Geometric"]


class Geometric(ByChance):
    """How many trials fail before the first one that succeeds, each with chance ``probs`` or log-odds ``logits``.

    Source: https://docs.pytorch.org/docs/stable/distributions.html#geometric
    """

    arg_constraints = {"probs": constraints.unit_interval, "logits": constraints.real}
    support = constraints.nonnegative_integer
    _parameters = ByChance._parameters

    def __init__(self, probs: Any = None, logits: Any = None, validate_args: bool | None = None) -> None:
        self._take(probs, logits)
        super().__init__(batch_of(self._param, logits if probs is None else probs), validate_args=validate_args)
        if self._validate_args and probs is not None:
            value = self.probs
            valid = value > 0
            if not valid.all():
                raise ValueError(
                    f"Expected parameter probs ({type(value).__name__} of shape {tuple(value.shape)}) of distribution "
                    f"{self!r} to be positive but found invalid values:\n{value.data[~valid]}"
                )

    @property
    def mean(self) -> Any:
        """1 / p - 1."""
        return 1.0 / self.probs - 1.0

    @property
    def mode(self) -> Any:
        """Zero."""
        return f.zeros_like(self.probs)

    @property
    def variance(self) -> Any:
        """(1 / p - 1) / p."""
        return (1.0 / self.probs - 1.0) / self.probs

    def sample(self, sample_shape: Any = Size()) -> Any:  # noqa: B008
        """Numbers of failures."""
        with no_grad():
            u = self.probs.new_empty(self._extended_shape(sample_shape))
            u.uniform_(dtypes.finfo(self.probs.dtype).tiny, 1)
            return (u.log() / (-self.probs).log1p()).floor()

    def log_prob(self, value: Any) -> Any:
        """The logarithm of the chance of each number."""
        if self._validate_args:
            self._validate_sample(value)
        value, probs = broadcast_all(value, self.probs)
        probs = probs.clone(memory_format=dtypes.contiguous_format)
        probs[(probs == 1) & (value == 0)] = 0  # nothing fails, and nothing times minus infinity is nothing
        return value * (-probs).log1p() + self.probs.log()

    def entropy(self) -> Any:
        """The entropy in nats."""
        return binary_cross_entropy_with_logits(self.logits, self.probs, reduction="none") / self.probs
