"""The beta distribution: chances."""

from __future__ import annotations

from typing import Any

from ..ground.size import Size
from . import constraints
from .dirichlet import Dirichlet
from .exp_family import ExponentialFamily
from .functions import functions as f
from .utils import NUMBERS, broadcast_all

__all__ = ["Beta"]


class Beta(ExponentialFamily):
    """Chances; ``concentration1`` pulls towards one, ``concentration0`` towards zero.

    Source: https://docs.pytorch.org/docs/stable/distributions.html#beta
    """

    arg_constraints = {"concentration1": constraints.positive, "concentration0": constraints.positive}
    support = constraints.unit_interval
    has_rsample = True
    _parameters = {}
    _parts = ("_dirichlet",)

    def __init__(self, concentration1: Any, concentration0: Any, validate_args: bool | None = None) -> None:
        if isinstance(concentration1, NUMBERS) and isinstance(concentration0, NUMBERS):
            both = f.tensor([float(concentration1), float(concentration0)])
        else:
            both = f.stack(broadcast_all(concentration1, concentration0), -1)
        self._dirichlet = Dirichlet(both, validate_args=validate_args)
        super().__init__(self._dirichlet._batch_shape, validate_args=validate_args)

    @property
    def concentration1(self) -> Any:
        """The pull towards one."""
        return self._dirichlet.concentration[..., 0]

    @property
    def concentration0(self) -> Any:
        """The pull towards zero."""
        return self._dirichlet.concentration[..., 1]

    @property
    def mean(self) -> Any:
        """The first concentration's share."""
        return self.concentration1 / (self.concentration1 + self.concentration0)

    @property
    def mode(self) -> Any:
        """The likeliest chance."""
        return self._dirichlet.mode[..., 0]

    @property
    def variance(self) -> Any:
        """The variance."""
        total = self.concentration1 + self.concentration0
        return self.concentration1 * self.concentration0 / (total.pow(2) * (total + 1))

    def rsample(self, sample_shape: Any = Size()) -> Any:  # noqa: B008
        """Chances, differentiable by the concentrations once."""
        return self._dirichlet.rsample(sample_shape).select(-1, 0)

    def log_prob(self, value: Any) -> Any:
        """The logarithm of the density."""
        if self._validate_args:
            self._validate_sample(value)
        return self._dirichlet.log_prob(f.stack([value, 1.0 - value], -1))

    def entropy(self) -> Any:
        """The entropy in nats."""
        return self._dirichlet.entropy()

    @property
    def _natural_params(self) -> tuple[Any, ...]:
        return self.concentration1, self.concentration0

    def _log_normalizer(self, x: Any, y: Any) -> Any:  # type: ignore[override]
        return x.lgamma() + y.lgamma() - (x + y).lgamma()
