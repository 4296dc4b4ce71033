"""The Dirichlet distribution: vectors of chances."""

from __future__ import annotations

from typing import Any

from ..autograd.function import Function, once_differentiable
from ..ground.size import Size
from ..nn.functional import one_hot
from . import constraints
from .exp_family import ExponentialFamily
from .functions import functions as f

__all__ = ["Dirichlet"]


class _Dirichlet(Function):
    """Draws, with the gradient that holds fixed each component's chance of a smaller value."""

    @staticmethod
    def forward(ctx: Any, concentration: Any) -> Any:
        x = f._sample_dirichlet(concentration)
        ctx.save_for_backward(x, concentration)
        return x

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad_output: Any) -> Any:
        x, concentration = ctx.saved_tensors
        total = concentration.sum(-1, True).expand_as(concentration)
        slope = f._dirichlet_grad(x, concentration, total)
        return slope * (grad_output - (x * grad_output).sum(-1, True))


class Dirichlet(ExponentialFamily):
    """Vectors of chances that sum to one; ``concentration`` (*, K) pulls towards its components.

    Source: https://docs.pytorch.org/docs/stable/distributions.html#dirichlet
    """

    arg_constraints = {"concentration": constraints.independent(constraints.positive, 1)}
    support = constraints.simplex
    has_rsample = True
    _parameters = {"concentration": 1}

    def __init__(self, concentration: Any, validate_args: bool | None = None) -> None:
        if concentration.dim() < 1:
            raise ValueError("`concentration` parameter must be at least one-dimensional.")
        self.concentration = concentration
        shape = concentration.shape
        super().__init__(shape[:-1], shape[-1:], validate_args=validate_args)

    def rsample(self, sample_shape: Any = Size()) -> Any:  # noqa: B008
        """Vectors of chances, differentiable by the concentrations once."""
        return _Dirichlet.apply(self.concentration.expand(self._extended_shape(sample_shape)))

    def log_prob(self, value: Any) -> Any:
        """The logarithm of the density."""
        if self._validate_args:
            self._validate_sample(value)
        a = self.concentration
        return f.xlogy(a - 1.0, value).sum(-1) + a.sum(-1).lgamma() - a.lgamma().sum(-1)

    @property
    def mean(self) -> Any:
        """The concentrations over their sum."""
        return self.concentration / self.concentration.sum(-1, True)

    @property
    def mode(self) -> Any:
        """The likeliest vector; a corner where all concentrations are below one."""
        above = (self.concentration - 1).clamp(min=0.0)
        found = above / above.sum(-1, True)
        corner = (self.concentration < 1).all(dim=-1)
        found[corner] = one_hot(found[corner].argmax(dim=-1), above.shape[-1]).to(found)
        return found

    @property
    def variance(self) -> Any:
        """The variance of each component."""
        total = self.concentration.sum(-1, True)
        return self.concentration * (total - self.concentration) / (total.pow(2) * (total + 1))

    def entropy(self) -> Any:
        """The entropy in nats."""
        a, k = self.concentration, self.concentration.size(-1)
        total = a.sum(-1)
        return (
            a.lgamma().sum(-1) - total.lgamma() - (k - total) * total.digamma() - ((a - 1.0) * a.digamma()).sum(-1)
        )

    @property
    def _natural_params(self) -> tuple[Any, ...]:
        return (self.concentration,)

    def _log_normalizer(self, x: Any) -> Any:  # type: ignore[override]
        return x.lgamma().sum(-1) - x.sum(-1).lgamma()
