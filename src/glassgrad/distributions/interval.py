"""Families within bounds: uniform numbers, and chances that sum to one."""

from __future__ import annotations

from math import nan
from typing import Any

from ..autograd.function import Function, once_differentiable
from ..ground.size import Size
from ..nn.functional import one_hot
from . import constraints
from .distribution import Distribution, ExponentialFamily
from .utils import NUMBERS, broadcast_all
from .utils import functions as f


class Uniform(Distribution):
    """Numbers spread evenly over [low, high)."""

    has_rsample = True

    def __init__(self, low: Any, high: Any, validate_args: bool | None = None) -> None:
        self.low, self.high = broadcast_all(low, high)
        super().__init__(self.low.size(), validate_args=validate_args)

    @property
    def arg_constraints(self) -> dict[str, constraints.Constraint]:
        """Each bound is limited by the other."""
        return {"low": constraints.less_than(self.high), "high": constraints.greater_than(self.low)}

    @constraints.dependent_property(is_discrete=False, event_dim=0)
    def support(self) -> Any:
        """The interval."""
        return constraints.interval(self.low, self.high)

    mean = property(lambda self: (self.high + self.low) / 2, doc="The middle.")
    mode = property(lambda self: nan * self.high, doc="NaN: no value is likelier.")
    stddev = property(lambda self: (self.high - self.low) / 12**0.5, doc="The width over the root of twelve.")
    variance = property(lambda self: (self.high - self.low).pow(2) / 12, doc="The square of the width over twelve.")

    def rsample(self, sample_shape: Any = Size()) -> Any:
        """Numbers over [0, 1), stretched and shifted."""
        drawn = f.rand(self._extended_shape(sample_shape), dtype=self.low.dtype, device=self.low.device)
        return self.low + drawn * (self.high - self.low)

    def _log_prob(self, value: Any) -> Any:
        """The logarithm of the density: minus infinity outside."""
        inside = self.low.le(value).type_as(self.low) * self.high.gt(value).type_as(self.low)
        return inside.log() - (self.high - self.low).log()

    def _cdf(self, value: Any) -> Any:
        return ((value - self.low) / (self.high - self.low)).clamp(min=0, max=1)

    def icdf(self, value: Any) -> Any:
        return value * (self.high - self.low) + self.low

    def entropy(self) -> Any:
        """The logarithm of the width."""
        return (self.high - self.low).log()


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
    """Vectors of chances that sum to one; ``concentration`` (*, K) pulls towards its components."""

    arg_constraints = {"concentration": constraints.independent(constraints.positive, 1)}
    support = constraints.simplex
    has_rsample = True

    def __init__(self, concentration: Any, validate_args: bool | None = None) -> None:
        if concentration.dim() < 1:
            raise ValueError("`concentration` parameter must be at least one-dimensional.")
        self.concentration = concentration
        shape = concentration.shape
        super().__init__(shape[:-1], shape[-1:], validate_args=validate_args)

    def rsample(self, sample_shape: Any = Size()) -> Any:
        """Vectors of chances, differentiable by the concentrations once."""
        return _Dirichlet.apply(self.concentration.expand(self._extended_shape(sample_shape)))

    def _log_prob(self, value: Any) -> Any:
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
        mode = above / above.sum(-1, True)
        corner = (self.concentration < 1).all(dim=-1)
        mode[corner] = one_hot(mode[corner].argmax(dim=-1), above.shape[-1]).to(mode)
        return mode

    @property
    def variance(self) -> Any:
        """The variance of each component."""
        total = self.concentration.sum(-1, True)
        return self.concentration * (total - self.concentration) / (total.pow(2) * (total + 1))

    def entropy(self) -> Any:
        a, k = self.concentration, self.concentration.size(-1)
        total = a.sum(-1)
        return a.lgamma().sum(-1) - total.lgamma() - (k - total) * total.digamma() - ((a - 1.0) * a.digamma()).sum(-1)

    _natural_params = property(lambda self: (self.concentration,))

    def _log_normalizer(self, x: Any) -> Any:  # type: ignore[override]
        return x.lgamma().sum(-1) - x.sum(-1).lgamma()


class Beta(ExponentialFamily):
    """Chances; ``concentration1`` pulls towards one, ``concentration0`` towards zero."""

    arg_constraints = {"concentration1": constraints.positive, "concentration0": constraints.positive}
    support = constraints.unit_interval
    has_rsample = True
    _batched = ("_dirichlet",)

    def __init__(self, concentration1: Any, concentration0: Any, validate_args: bool | None = None) -> None:
        if isinstance(concentration1, NUMBERS) and isinstance(concentration0, NUMBERS):
            both = f.tensor([float(concentration1), float(concentration0)])
        else:
            both = f.stack(broadcast_all(concentration1, concentration0), -1)
        self._dirichlet = Dirichlet(both, validate_args=validate_args)
        super().__init__(self._dirichlet._batch_shape, validate_args=validate_args)

    concentration1 = property(lambda self: self._dirichlet.concentration[..., 0], doc="The pull towards one.")
    concentration0 = property(lambda self: self._dirichlet.concentration[..., 1], doc="The pull towards zero.")

    @property
    def mean(self) -> Any:
        """The first concentration's share."""
        return self.concentration1 / (self.concentration1 + self.concentration0)

    mode = property(lambda self: self._dirichlet.mode[..., 0], doc="The likeliest chance.")

    @property
    def variance(self) -> Any:
        """The variance."""
        total = self.concentration1 + self.concentration0
        return self.concentration1 * self.concentration0 / (total.pow(2) * (total + 1))

    def rsample(self, sample_shape: Any = Size()) -> Any:
        """Chances, differentiable by the concentrations once."""
        return self._dirichlet.rsample(sample_shape).select(-1, 0)

    def _log_prob(self, value: Any) -> Any:
        return self._dirichlet.log_prob(f.stack([value, 1.0 - value], -1))

    def entropy(self) -> Any:
        return self._dirichlet.entropy()

    _natural_params = property(lambda self: (self.concentration1, self.concentration0))

    def _log_normalizer(self, x: Any, y: Any) -> Any:  # type: ignore[override]
        return x.lgamma() + y.lgamma() - (x + y).lgamma()
