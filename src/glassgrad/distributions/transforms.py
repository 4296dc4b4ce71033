"""Invertible and other maps of random numbers, with the logarithm of how they stretch volume.

Source: https://docs.pytorch.org/docs/stable/distributions.html#module-torch.distributions.transforms
"""

from __future__ import annotations

import math
from operator import attrgetter
from typing import Any

from ..ground import dtypes
from ..nn.functional import logsigmoid, pad, softplus
from . import constraints
from .matrices import cholesky
from .transform import (
    FEW_DIMS,
    CatTransform,
    ComposeTransform,
    IndependentTransform,
    ReshapeTransform,
    StackTransform,
    Transform,
    _InverseTransform,  # noqa: F401  which lives here
    identity_transform,
)
from .utils import NUMBERS, broadcast_all, lazy_property, tril_matrix_to_vec, vec_to_tril_matrix
from .utils import functions as f

__all__ = [
    "AbsTransform", "AffineTransform", "CatTransform", "ComposeTransform", "CorrCholeskyTransform",
    "CumulativeDistributionTransform", "ExpTransform", "IndependentTransform", "LowerCholeskyTransform",
    "PositiveDefiniteTransform", "PowerTransform", "ReshapeTransform", "SigmoidTransform", "SoftplusTransform",
    "TanhTransform", "SoftmaxTransform", "StackTransform", "StickBreakingTransform", "Transform", "identity_transform",
]  # fmt: skip


def _clipped_sigmoid(x: Any) -> Any:
    limits = dtypes.finfo(x.dtype)
    return x.sigmoid().clamp(min=limits.tiny, max=1.0 - limits.eps)


def _need_dims(shape: Any, n: int) -> None:
    if len(shape) < n:
        raise ValueError(FEW_DIMS)


class _Alike(Transform):
    """Maps without settings: equal to all of their kind."""

    def __eq__(self, other: object) -> bool:
        return isinstance(other, type(self))

    __hash__ = None  # type: ignore[assignment]


# -- numbers ----------------------------------------------------------------------------------------------------------


class _Rising(_Alike):
    """Bijections of the real numbers that rise."""

    domain = constraints.real
    bijective = True
    sign = +1


class ExpTransform(_Rising):
    """The exponential."""

    codomain = constraints.positive

    def _call(self, x: Any) -> Any:
        return x.exp()

    def _inverse(self, y: Any) -> Any:
        return y.log()

    def log_abs_det_jacobian(self, x: Any, y: Any) -> Any:
        """``x``."""
        return x


class SoftplusTransform(_Rising):
    """log(1 + exp(x)); beyond twenty, ``x`` itself."""

    codomain = constraints.positive

    def _call(self, x: Any) -> Any:
        return softplus(x)

    def _inverse(self, y: Any) -> Any:
        return (-y).expm1().neg().log() + y

    def log_abs_det_jacobian(self, x: Any, y: Any) -> Any:
        """The logarithm of the sigmoid."""
        return -softplus(-x)


class TanhTransform(_Rising):
    """The hyperbolic tangent; a cache keeps its inverse exact near the ends."""

    codomain = constraints.interval(-1.0, 1.0)

    def _call(self, x: Any) -> Any:
        return x.tanh()

    def _inverse(self, y: Any) -> Any:
        return y.atanh()

    def log_abs_det_jacobian(self, x: Any, y: Any) -> Any:
        """2 (log 2 - x - softplus(-2 x)), which does not cancel."""
        return 2.0 * (math.log(2.0) - x - softplus(-2.0 * x))


class SigmoidTransform(_Rising):
    """The sigmoid, kept off 0 and 1."""

    codomain = constraints.unit_interval

    def _call(self, x: Any) -> Any:
        return _clipped_sigmoid(x)

    def _inverse(self, y: Any) -> Any:
        limits = dtypes.finfo(y.dtype)
        y = y.clamp(min=limits.tiny, max=1.0 - limits.eps)
        return y.log() - (-y).log1p()

    def log_abs_det_jacobian(self, x: Any, y: Any) -> Any:
        """The logarithm of s (1 - s)."""
        return -softplus(-x) - softplus(x)


class AbsTransform(_Alike):
    """The absolute value, whose inverse gives the positive number."""

    domain = constraints.real
    codomain = constraints.positive

    def _call(self, x: Any) -> Any:
        return x.abs()

    def _inverse(self, y: Any) -> Any:
        return y


class PowerTransform(Transform):
    """The power ``exponent`` of positive numbers."""

    domain = constraints.positive
    codomain = constraints.positive
    bijective = True
    _settings = ("exponent",)

    def __init__(self, exponent: Any, cache_size: int = 0) -> None:
        super().__init__(cache_size=cache_size)
        (self.exponent,) = broadcast_all(exponent)

    @lazy_property
    def sign(self) -> Any:
        """The exponent's."""
        return self.exponent.sign()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, PowerTransform) and bool(self.exponent.eq(other.exponent).all())

    __hash__ = None  # type: ignore[assignment]

    def _call(self, x: Any) -> Any:
        return x.pow(self.exponent)

    def _inverse(self, y: Any) -> Any:
        return y.pow(1 / self.exponent)

    def log_abs_det_jacobian(self, x: Any, y: Any) -> Any:
        """The logarithm of the slope."""
        return (self.exponent * y / x).abs().log()

    def forward_shape(self, shape: Any) -> Any:
        """The shape broadcast with the exponent's."""
        return f.broadcast_shapes(shape, self.exponent.shape)

    inverse_shape = forward_shape


class AffineTransform(Transform):
    """``loc + scale * x``; the last ``event_dim`` dimensions are those of one value."""

    bijective = True
    _settings = ("loc", "scale", "event_dim")

    def __init__(self, loc: Any, scale: Any, event_dim: int = 0, cache_size: int = 0) -> None:
        super().__init__(cache_size=cache_size)
        self.loc, self.scale, self._event_dim = loc, scale, event_dim

    event_dim = property(lambda self: self._event_dim, doc="How many dimensions one value has.")

    @constraints.dependent_property(is_discrete=False)
    def domain(self) -> Any:
        """Real numbers, or tensors of them."""
        return constraints.independent(constraints.real, self.event_dim) if self.event_dim else constraints.real

    codomain = domain

    def __eq__(self, other: object) -> bool:
        return isinstance(other, AffineTransform) and all(
            a == b if isinstance(a, NUMBERS) and isinstance(b, NUMBERS) else bool((a == b).all())
            for a, b in ((self.loc, other.loc), (self.scale, other.scale))
        )

    __hash__ = None  # type: ignore[assignment]

    @property
    def sign(self) -> Any:
        """The scale's."""
        if isinstance(self.scale, NUMBERS):
            return (self.scale > 0) - (self.scale < 0)
        return self.scale.sign()

    def _call(self, x: Any) -> Any:
        return self.loc + self.scale * x

    def _inverse(self, y: Any) -> Any:
        return (y - self.loc) / self.scale

    def log_abs_det_jacobian(self, x: Any, y: Any) -> Any:
        """The logarithm of the scale's size, for each value."""
        shape, scale, n = x.shape, self.scale, self.event_dim
        log_det = f.full_like(x, math.log(abs(scale))) if isinstance(scale, NUMBERS) else scale.abs().log()
        if n:
            log_det = log_det.view((*log_det.size()[:-n], -1)).sum(-1)
            shape = shape[:-n]
        return log_det.expand(shape)

    def forward_shape(self, shape: Any) -> Any:
        """The shape broadcast with those of loc and scale."""
        return f.broadcast_shapes(shape, getattr(self.loc, "shape", ()), getattr(self.scale, "shape", ()))

    inverse_shape = forward_shape


class CumulativeDistributionTransform(Transform):
    """The chance of a smaller number under ``distribution``: uniform over [0, 1] for its own samples."""

    bijective = True
    codomain = constraints.unit_interval
    sign = +1
    _settings = ("distribution",)

    def __init__(self, distribution: Any, cache_size: int = 0) -> None:
        super().__init__(cache_size=cache_size)
        self.distribution = distribution

    domain = property(attrgetter("distribution.support"), doc="The distribution's support.")

    def _call(self, x: Any) -> Any:
        return self.distribution.cdf(x)

    def _inverse(self, y: Any) -> Any:
        return self.distribution.icdf(y)

    def log_abs_det_jacobian(self, x: Any, y: Any) -> Any:
        """The logarithm of the density."""
        return self.distribution.log_prob(x)


# -- chances ----------------------------------------------------------------------------------------------------------


class SoftmaxTransform(_Alike):
    """Real vectors to chances by exponentials over their sum; the inverse, logarithms, forgets an offset."""

    domain = constraints.real_vector
    codomain = constraints.simplex

    def _call(self, x: Any) -> Any:
        raised = (x - x.max(-1, True)[0]).exp()
        return raised / raised.sum(-1, True)

    def _inverse(self, y: Any) -> Any:
        return y.log()

    def forward_shape(self, shape: Any) -> Any:
        """The same."""
        _need_dims(shape, 1)
        return shape

    inverse_shape = forward_shape


class StickBreakingTransform(_Alike):
    """Real vectors (*, K - 1) to chances (*, K): each number breaks its part off what is left of a stick.

    Source: Stan reference manual, unit simplex transform
    """

    domain = constraints.real_vector
    codomain = constraints.simplex
    bijective = True

    @staticmethod
    def _pieces(like: Any, size: int) -> Any:
        """How many pieces are still to come at each of ``size`` places, the present one not counted."""
        return size + 1 - like.new_ones(size).cumsum(-1)

    def _call(self, x: Any) -> Any:
        share = _clipped_sigmoid(x - self._pieces(x, x.shape[-1]).log())
        left = (1 - share).cumprod(-1)
        return pad(share, [0, 1], value=1) * pad(left, [1, 0], value=1)

    def _inverse(self, y: Any) -> Any:
        most = y[..., :-1]
        left = (1 - most.cumsum(-1)).clamp(min=dtypes.finfo(y.dtype).tiny)
        return most.log() - left.log() + self._pieces(y, most.shape[-1]).log()

    def log_abs_det_jacobian(self, x: Any, y: Any) -> Any:
        """The sum over the places of the logarithms of share and rest."""
        x = x - self._pieces(x, x.shape[-1]).log()
        return (-x + logsigmoid(x) + y[..., :-1].log()).sum(-1)

    def forward_shape(self, shape: Any) -> Any:
        """One more at the end."""
        _need_dims(shape, 1)
        return shape[:-1] + (shape[-1] + 1,)

    def inverse_shape(self, shape: Any) -> Any:
        """One less at the end."""
        _need_dims(shape, 1)
        return shape[:-1] + (shape[-1] - 1,)


# -- triangular factors -----------------------------------------------------------------------------------------------


class CorrCholeskyTransform(Transform):
    """Real vectors of D (D - 1) / 2 numbers to Cholesky factors (D, D) of correlation matrices.

    The numbers' hyperbolic tangents are shares of what is left of each row's unit length.
    Source: Stan reference manual, Cholesky factors of correlation matrices
    """

    domain = constraints.real_vector
    codomain = constraints.corr_cholesky
    bijective = True

    def _call(self, x: Any) -> Any:
        x = x.tanh()
        eps = dtypes.finfo(x.dtype).eps
        share = vec_to_tril_matrix(x.clamp(min=-1 + eps, max=1 - eps), diag=-1)
        left = (1 - share**2).sqrt().cumprod(-1)
        share = share + f.eye(share.shape[-1], dtype=share.dtype, device=share.device)
        return share * pad(left[..., :-1], [1, 0], value=1)

    def _inverse(self, y: Any) -> Any:
        left = pad((1 - (y * y).cumsum(-1))[..., :-1], [1, 0], value=1)
        share = tril_matrix_to_vec(y, diag=-1) / tril_matrix_to_vec(left, diag=-1).sqrt()
        return (share.log1p() - share.neg().log1p()) / 2

    def log_abs_det_jacobian(self, x: Any, y: Any, intermediates: Any = None) -> Any:
        """That of breaking the rows and that of the hyperbolic tangent."""
        left = tril_matrix_to_vec(1 - (y * y).cumsum(dim=-1), diag=-2)
        return 0.5 * left.log().sum(-1) + -2 * (x + softplus(-2 * x) - math.log(2.0)).sum(dim=-1)

    def forward_shape(self, shape: Any) -> Any:
        """(N,) to (D, D)."""
        _need_dims(shape, 1)
        n = shape[-1]
        d = round((0.25 + 2 * n) ** 0.5 + 0.5)
        if d * (d - 1) // 2 != n:
            raise ValueError("Input is not a flattened lower-diagonal number")
        return shape[:-1] + (d, d)

    def inverse_shape(self, shape: Any) -> Any:
        """(D, D) to (N,)."""
        _need_dims(shape, 2)
        if shape[-2] != shape[-1]:
            raise ValueError("Input is not square")
        d = shape[-1]
        return shape[:-2] + (d * (d - 1) // 2,)


class LowerCholeskyTransform(_Alike):
    """Square matrices to lower triangular ones of positive diagonals, by its exponential."""

    domain = constraints.independent(constraints.real, 2)
    codomain = constraints.lower_cholesky

    def _call(self, x: Any) -> Any:
        return x.tril(-1) + x.diagonal(dim1=-2, dim2=-1).exp().diag_embed()

    def _inverse(self, y: Any) -> Any:
        return y.tril(-1) + y.diagonal(dim1=-2, dim2=-1).log().diag_embed()


class PositiveDefiniteTransform(_Alike):
    """Square matrices to positive definite ones, by their triangular factors."""

    domain = constraints.independent(constraints.real, 2)
    codomain = constraints.positive_definite

    def _call(self, x: Any) -> Any:
        factor = LowerCholeskyTransform()(x)
        return factor @ factor.mT

    def _inverse(self, y: Any) -> Any:
        return LowerCholeskyTransform().inv(cholesky(y))


# -- the transform to a constraint -------------------------------------------------------------------------------------


class ConstraintRegistry:
    """Makers of transforms by the class of constraint; called with a constraint, it gives its transform."""

    def __init__(self) -> None:
        self._registry: dict[type, Any] = {}
        super().__init__()

    def register(self, constraint: Any, factory: Any = None) -> Any:
        """Name the maker for a class of constraint, or that of one; without a maker, a decorator of it."""
        if factory is None:
            return lambda factory: self.register(constraint, factory)
        if isinstance(constraint, constraints.Constraint):
            constraint = type(constraint)
        if not isinstance(constraint, type) or not issubclass(constraint, constraints.Constraint):
            raise TypeError(f"Expected constraint to be either a Constraint subclass or instance, but got {constraint}")
        self._registry[constraint] = factory
        return factory

    def __call__(self, constraint: Any) -> Any:
        """The transform to a constraint; NotImplementedError where none is known."""
        factory = self._registry.get(type(constraint))
        if factory is None:
            raise NotImplementedError(f"Cannot transform {type(constraint).__name__} constraints")
        return factory(constraint)


biject_to = ConstraintRegistry()
transform_to = ConstraintRegistry()
_BOTH = (biject_to, transform_to)


def _from(bound: Any, direction: int) -> Any:
    return ComposeTransform([ExpTransform(), AffineTransform(bound, direction)])


def _between(constraint: Any) -> Any:
    low, high = constraint.lower_bound, constraint.upper_bound
    squash = SigmoidTransform()
    if isinstance(low, NUMBERS) and low == 0 and isinstance(high, NUMBERS) and high == 1:
        return squash
    return ComposeTransform([squash, AffineTransform(low, high - low)])


def _by_class(registries: Any, makers: dict[Any, Any]) -> None:
    for registry in registries:
        for constraint, maker in makers.items():
            registry.register(constraint, maker)


_by_class(_BOTH, {
    constraints.real: lambda _: identity_transform,
    constraints.corr_cholesky: lambda _: CorrCholeskyTransform(),
    constraints.less_than: lambda constraint: _from(constraint.upper_bound, -1),
    constraints.interval: _between,
    constraints.half_open_interval: _between,
    constraints.greater_than: lambda constraint: _from(constraint.lower_bound, 1),
    constraints.greater_than_eq: lambda constraint: _from(constraint.lower_bound, 1),
})  # fmt: skip
_by_class((biject_to,), {constraints.simplex: lambda _: StickBreakingTransform()})
_by_class((transform_to,), {
    constraints.simplex: lambda _: SoftmaxTransform(),
    constraints.lower_cholesky: lambda _: LowerCholeskyTransform(),
    constraints.positive_definite: lambda _: PositiveDefiniteTransform(),
    constraints.positive_semidefinite: lambda _: PositiveDefiniteTransform(),
})  # fmt: skip


def _of_others(registry: ConstraintRegistry) -> dict[Any, Any]:
    return {
        constraints.independent: lambda constraint: IndependentTransform(
            registry(constraint.base_constraint), constraint.reinterpreted_batch_ndims
        ),
        constraints.cat: lambda constraint: CatTransform(
            [registry(c) for c in constraint.cseq], constraint.dim, constraint.lengths
        ),
        constraints.stack: lambda constraint: StackTransform([registry(c) for c in constraint.cseq], constraint.dim),
    }


for _registry in _BOTH:
    _by_class((_registry,), _of_others(_registry))
