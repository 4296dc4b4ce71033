"""Families of vectors and matrices: normal vectors, covariances, correlations."""

from __future__ import annotations

import math
import warnings
from typing import Any

from ..autograd.grad_mode import no_grad
from ..ground import dtypes
from ..ground.size import Size
from . import constraints
from .distribution import Distribution, ExponentialFamily
from .interval import Beta
from .location import Centred
from .matrices import (
    cholesky,
    clamp_above_eps,
    digamma_sum,
    factor_of,
    log_abs_det,
    log_diagonal,
    log_multigamma,
    only_one,
    solve_lower,
    solved_by_factor,
    squared_distance,
    times,
)
from .matrices import squared_distance as _batch_mahalanobis
from .positive import Chi2
from .utils import NUMBERS, _standard_normal, broadcast_all, lazy_property
from .utils import functions as f

_batch_mv = times


class ByFactor(Distribution):
    """A family with a covariance of vectors, kept as its lower triangular factor."""

    _constants = ("_unbroadcasted_scale_tril",)
    _unbroadcasted_scale_tril: Any

    @lazy_property
    def scale_tril(self) -> Any:
        """The lower triangular factor of the covariance."""
        return self._unbroadcasted_scale_tril.expand((*self._batch_shape, -1, -1))

    @lazy_property
    def covariance_matrix(self) -> Any:
        """The covariance of the vectors."""
        factor = self._unbroadcasted_scale_tril
        return f.matmul(factor, factor.mT).expand((*self._batch_shape, -1, -1))


class MultivariateNormal(ByFactor, Centred):
    """Vectors (*, n) around ``loc``, by exactly one of covariance, precision (its inverse) and triangular factor."""

    arg_constraints = {
        "loc": constraints.real_vector,
        "covariance_matrix": constraints.positive_definite,
        "precision_matrix": constraints.positive_definite,
        "scale_tril": constraints.lower_cholesky,
    }
    support = constraints.real_vector
    has_rsample = True

    def __init__(
        self, loc: Any, covariance_matrix: Any = None, precision_matrix: Any = None, scale_tril: Any = None,
        validate_args: bool | None = None,
    ) -> None:  # fmt: skip
        if loc.dim() < 1:
            raise ValueError("loc must be at least one-dimensional.")
        name, matrix = only_one(
            ValueError, scale_tril=scale_tril, covariance_matrix=covariance_matrix, precision_matrix=precision_matrix
        )
        if matrix.dim() < 2:
            what = f"{name} matrix" if name == "scale_tril" else name
            raise ValueError(f"{what} must be at least two-dimensional, with optional leading batch dimensions")
        batch = f.broadcast_shapes(matrix.shape[:-2], loc.shape[:-1])
        setattr(self, name, matrix.expand((*batch, -1, -1)))
        self.loc = loc.expand((*batch, -1))
        super().__init__(batch, self.loc.shape[-1:], validate_args=validate_args)
        self._unbroadcasted_scale_tril = factor_of(name, matrix)

    @lazy_property
    def precision_matrix(self) -> Any:
        """The inverse of the covariance."""
        return f.cholesky_inverse(self._unbroadcasted_scale_tril).expand((*self._batch_shape, -1, -1))

    @property
    def variance(self) -> Any:
        """The diagonal of the covariance."""
        return self._unbroadcasted_scale_tril.pow(2).sum(-1).expand(self._batch_shape + self._event_shape)

    def rsample(self, sample_shape: Any = Size()) -> Any:
        """The factor times standard normal vectors, shifted."""
        noise = _standard_normal(self._extended_shape(sample_shape), self.loc.dtype, self.loc.device)
        return self.loc + times(self._unbroadcasted_scale_tril, noise)

    def _log_prob(self, value: Any) -> Any:
        factor = self._unbroadcasted_scale_tril
        distance = _batch_mahalanobis(factor, value - self.loc)
        return -0.5 * (self._event_shape[0] * math.log(2 * math.pi) + distance) - log_diagonal(factor)

    def entropy(self) -> Any:
        level = 0.5 * self._event_shape[0] * (1.0 + math.log(2 * math.pi))
        entropy = level + log_diagonal(self._unbroadcasted_scale_tril)
        return entropy.expand(self._batch_shape) if self._batch_shape else entropy


def _batch_capacitance_tril(factor: Any, diagonal: Any) -> Any:
    """The triangular factor of ``1 + W' D^-1 W``, as large as W has columns. Source: Woodbury's identity"""
    inner = f.matmul(factor.mT / diagonal.unsqueeze(-2), factor)
    return cholesky(inner + f.eye(factor.size(-1), dtype=inner.dtype, device=inner.device))


def _batch_lowrank_logdet(factor: Any, diagonal: Any, capacitance_tril: Any) -> Any:
    """The logarithm of the determinant of ``W W' + D``. Source: the matrix determinant lemma"""
    return 2 * log_diagonal(capacitance_tril) + diagonal.log().sum(-1)


def _batch_lowrank_mahalanobis(factor: Any, diagonal: Any, x: Any, capacitance_tril: Any) -> Any:
    """The squared length of ``x`` as ``W W' + D`` measures it."""
    along = times(factor.mT / diagonal.unsqueeze(-2), x)
    return (x.pow(2) / diagonal).sum(-1) - squared_distance(capacitance_tril, along)


class LowRankMultivariateNormal(Centred):
    """Vectors (*, n) around ``loc`` of covariance ``cov_factor @ cov_factor.mT + diag(cov_diag)``; factor (*, n, m)."""

    arg_constraints = {
        "loc": constraints.real_vector,
        "cov_factor": constraints.independent(constraints.real, 2),
        "cov_diag": constraints.independent(constraints.positive, 1),
    }
    support = constraints.real_vector
    has_rsample = True
    _constants = ("_unbroadcasted_cov_factor", "_unbroadcasted_cov_diag", "_capacitance_tril")

    def __init__(self, loc: Any, cov_factor: Any, cov_diag: Any, validate_args: bool | None = None) -> None:
        if loc.dim() < 1:
            raise ValueError("loc must be at least one-dimensional.")
        event = loc.shape[-1:]
        if cov_factor.dim() < 2:
            raise ValueError("cov_factor must be at least two-dimensional, with optional leading batch dimensions")
        if cov_factor.shape[-2:-1] != event:
            raise ValueError(f"cov_factor must be a batch of matrices with shape {event[0]} x m")
        if cov_diag.shape[-1:] != event:
            raise ValueError(f"cov_diag must be a batch of vectors with shape {event}")
        try:
            wide = f.broadcast_tensors(loc.unsqueeze(-1), cov_factor, cov_diag.unsqueeze(-1))
        except RuntimeError as error:
            raise ValueError(
                f"Incompatible batch shapes: loc {loc.shape}, cov_factor {cov_factor.shape}, cov_diag {cov_diag.shape}"
            ) from error
        self.loc, self.cov_factor, self.cov_diag = wide[0][..., 0], wide[1], wide[2][..., 0]
        self._unbroadcasted_cov_factor, self._unbroadcasted_cov_diag = cov_factor, cov_diag
        self._capacitance_tril = _batch_capacitance_tril(cov_factor, cov_diag)
        super().__init__(self.loc.shape[:-1], event, validate_args=validate_args)

    @property
    def _parts_of_covariance(self) -> tuple[Any, Any, Any]:
        return self._unbroadcasted_cov_factor, self._unbroadcasted_cov_diag, self._capacitance_tril

    @lazy_property
    def variance(self) -> Any:
        """The diagonal of the covariance."""
        factor, diagonal, _ = self._parts_of_covariance
        return (factor.pow(2).sum(-1) + diagonal).expand(self._batch_shape + self._event_shape)

    @lazy_property
    def scale_tril(self) -> Any:
        """The lower triangular factor of the covariance."""
        factor, diagonal, _ = self._parts_of_covariance
        root = diagonal.sqrt().unsqueeze(-1)
        scaled = factor / root
        inner = f.matmul(scaled, scaled.mT) + f.eye(self._event_shape[0], dtype=factor.dtype, device=factor.device)
        return (root * cholesky(inner)).expand((*self._batch_shape, -1, -1))

    @lazy_property
    def covariance_matrix(self) -> Any:
        """The covariance."""
        factor, diagonal, _ = self._parts_of_covariance
        return (f.matmul(factor, factor.mT) + diagonal.diag_embed()).expand((*self._batch_shape, -1, -1))

    @lazy_property
    def precision_matrix(self) -> Any:
        """The inverse of the covariance."""
        factor, diagonal, capacitance = self._parts_of_covariance
        solved = solve_lower(capacitance, factor.mT / diagonal.unsqueeze(-2))
        return (diagonal.reciprocal().diag_embed() - solved.mT @ solved).expand((*self._batch_shape, -1, -1))

    def rsample(self, sample_shape: Any = Size()) -> Any:
        """Normal numbers along the factor's directions, then those of the diagonal."""
        shape = self._extended_shape(sample_shape)
        factor, diagonal, _ = self._parts_of_covariance
        along = _standard_normal(shape[:-1] + self.cov_factor.shape[-1:], self.loc.dtype, self.loc.device)
        apart = _standard_normal(shape, self.loc.dtype, self.loc.device)
        return self.loc + times(factor, along) + diagonal.sqrt() * apart

    def _log_prob(self, value: Any) -> Any:
        factor, diagonal, capacitance = self._parts_of_covariance
        distance = _batch_lowrank_mahalanobis(factor, diagonal, value - self.loc, capacitance)
        log_det = _batch_lowrank_logdet(factor, diagonal, capacitance)
        return -0.5 * (self._event_shape[0] * math.log(2 * math.pi) + log_det + distance)

    def entropy(self) -> Any:
        log_det = _batch_lowrank_logdet(*self._parts_of_covariance)
        entropy = 0.5 * (self._event_shape[0] * (1.0 + math.log(2 * math.pi)) + log_det)
        return entropy.expand(self._batch_shape) if self._batch_shape else entropy


_LOG_2 = math.log(2)


class Wishart(ByFactor, ExponentialFamily):
    """Sums of ``df`` squares ``x x'`` of normal vectors; by one of covariance, precision and triangular factor."""

    support = constraints.positive_definite
    has_rsample = True
    _mean_carrier_measure = 0
    _batched = ("_dist_chi2",)

    def __init__(
        self, df: Any, covariance_matrix: Any = None, precision_matrix: Any = None, scale_tril: Any = None,
        validate_args: bool | None = None,
    ) -> None:  # fmt: skip
        name, matrix = only_one(
            AssertionError, scale_tril=scale_tril, covariance_matrix=covariance_matrix,
            precision_matrix=precision_matrix,
        )  # fmt: skip
        if matrix.dim() < 2:
            raise ValueError("scale_tril must be at least two-dimensional, with optional leading batch dimensions")
        batch, event = matrix.shape[:-2], matrix.shape[-2:]
        if isinstance(df, NUMBERS):
            self.df = f.tensor(df, dtype=matrix.dtype, device=matrix.device)
        else:
            batch = f.broadcast_shapes(batch, df.shape)
            self.df = df.expand(batch)
        if self.df.le(event[-1] - 1).any():
            raise ValueError(f"Value of df={df} expected to be greater than ndim - 1 = {event[-1] - 1}.")
        setattr(self, name, matrix.expand((*batch, -1, -1)))
        if self.df.lt(event[-1]).any():
            warnings.warn(
                "Low df values detected. Singular samples are highly likely to occur for ndim - 1 < df < ndim.",
                stacklevel=2,
            )
        super().__init__(batch, event, validate_args=validate_args)
        self._unbroadcasted_scale_tril = factor = factor_of(name, matrix)
        # The squares on the diagonal of Bartlett's factor: one degree of freedom less in each row.
        steps = f.arange(event[-1], dtype=factor.dtype, device=factor.device)
        self._dist_chi2 = Chi2(df=self.df.unsqueeze(-1) - steps.expand((*batch, -1)))

    @property
    def arg_constraints(self) -> dict[str, constraints.Constraint]:
        """That on ``df`` depends on the size of the matrices."""
        return {
            "covariance_matrix": constraints.positive_definite,
            "precision_matrix": constraints.positive_definite,
            "scale_tril": constraints.lower_cholesky,
            "df": constraints.greater_than(self.event_shape[-1] - 1),
        }

    @lazy_property
    def precision_matrix(self) -> Any:
        """The inverse of the covariance."""
        factor = self._unbroadcasted_scale_tril
        one = f.eye(self._event_shape[-1], dtype=factor.dtype, device=factor.device)
        return solved_by_factor(one, factor).expand((*self._batch_shape, -1, -1))

    def _beside(self, number: Any) -> Any:
        return number.view((*self._batch_shape, 1, 1))

    mean = property(lambda self: self._beside(self.df) * self.covariance_matrix, doc="``df`` times the covariance.")

    @property
    def mode(self) -> Any:
        """The likeliest matrix; NaN where ``df`` is too small for one."""
        factor = self.df - self.covariance_matrix.shape[-1] - 1
        factor[factor <= 0] = math.nan
        return self._beside(factor) * self.covariance_matrix

    @property
    def variance(self) -> Any:
        """The variance of each element."""
        v = self.covariance_matrix
        diagonal = v.diagonal(dim1=-2, dim2=-1)
        return self._beside(self.df) * (v.pow(2) + diagonal.unsqueeze(-1) * diagonal.unsqueeze(-2))

    def _bartlett_sampling(self, sample_shape: Any = Size()) -> Any:
        """Source: M. Bartlett, On the theory of statistical regression (1933)"""
        p = self._event_shape[-1]
        noise = clamp_above_eps(self._dist_chi2.rsample(sample_shape).sqrt()).diag_embed(dim1=-2, dim2=-1)
        i, j = f.tril_indices(p, p, offset=-1)
        size = (*sample_shape, *self._batch_shape, p * (p - 1) // 2)
        noise[..., i, j] = f.randn(size, dtype=noise.dtype, device=noise.device)
        factor = self._unbroadcasted_scale_tril @ noise
        return factor @ factor.transpose(-2, -1)

    def rsample(self, sample_shape: Any = Size(), max_try_correction: Any = None) -> Any:
        """Matrices, drawn once more where the first check says so, and then again while they are singular.

        PyTorch's first check picks the regular ones; it is kept, for the same numbers and the same warning.
        """
        tries = 10 if max_try_correction is None else max_try_correction
        sample_shape = Size(sample_shape)
        sample = self._bartlett_sampling(sample_shape)
        singular = self._gathered(self.support.check(sample))
        if singular.any():
            warnings.warn("Singular sample detected.", stacklevel=2)
            for _ in range(tries):
                new = self._bartlett_sampling(singular[singular].shape)
                sample[singular.clone()] = new  # the record keeps this one
                singular[singular.clone()] = self._gathered(~self.support.check(new))
                if not singular.any():
                    break
        return sample

    def _gathered(self, decisions: Any) -> Any:
        return decisions.amax([-1 - dim for dim in range(len(self._batch_shape))]) if self._batch_shape else decisions

    def _log_prob(self, value: Any) -> Any:
        nu, p, factor = self.df, self._event_shape[-1], self._unbroadcasted_scale_tril
        trace = solved_by_factor(value, factor).diagonal(dim1=-2, dim2=-1).sum(dim=-1)
        level = -nu * (p * _LOG_2 / 2 + log_diagonal(factor)) - log_multigamma(nu / 2, p)
        return level + (nu - p - 1) / 2 * log_abs_det(value) - trace / 2

    def entropy(self) -> Any:
        nu, p = self.df, self._event_shape[-1]
        level = (p + 1) * (p * _LOG_2 / 2 + log_diagonal(self._unbroadcasted_scale_tril))
        return level + log_multigamma(nu / 2, p) - (nu - p - 1) / 2 * digamma_sum(nu / 2, p) + nu * p / 2

    _natural_params = property(lambda self: (-self.precision_matrix / 2, (self.df - self._event_shape[-1] - 1) / 2))

    def _log_normalizer(self, x: Any, y: Any) -> Any:  # type: ignore[override]
        p = self._event_shape[-1]
        half = y + (p + 1) / 2
        return half * (-log_abs_det(-2 * x) + _LOG_2 * p) + log_multigamma(half, p)


class LKJCholesky(Distribution):
    """Cholesky factors (*, dim, dim) of correlation matrices; ``concentration`` 1 is uniform, more is nearer to one.

    Source: Lewandowski, Kurowicka and Joe, Generating random correlation matrices (2009), the onion method
    """

    arg_constraints = {"concentration": constraints.positive}
    support = constraints.corr_cholesky
    _batched = ("_beta",)
    _constants = ("dim",)

    def __init__(self, dim: int, concentration: Any = 1.0, validate_args: bool | None = None) -> None:
        if dim < 2:
            raise ValueError(f"Expected dim to be an integer greater than or equal to 2. Found dim={dim}.")
        self.dim = dim
        (self.concentration,) = broadcast_all(concentration)
        row = f.arange(dim - 1, dtype=self.concentration.dtype, device=self.concentration.device)
        row = f.cat([row.new_zeros((1,)), row])
        rest = self.concentration + 0.5 * (dim - 2)
        self._beta = Beta(row + 0.5, rest.unsqueeze(-1) - 0.5 * row)
        super().__init__(self.concentration.size(), Size((dim, dim)), validate_args)

    def sample(self, sample_shape: Any = Size()) -> Any:
        """Each row: a direction, the squared length of what lies below the diagonal, the rest on it."""
        with no_grad():
            share = self._beta.sample(sample_shape).unsqueeze(-1)
            way = f.randn(self._extended_shape(sample_shape), dtype=share.dtype, device=share.device).tril(-1)
            way = way / way.norm(dim=-1, keepdim=True)
            way[..., 0, :].fill_(0.0)
            below = share.sqrt() * way
            rest = (1 - (below**2).sum(-1)).clamp(min=dtypes.finfo(below.dtype).tiny)
            return below + rest.sqrt().diag_embed()

    def _log_prob(self, value: Any) -> Any:
        """The logarithm of the density over the factors."""
        n = self.dim - 1
        diagonal = value.diagonal(dim1=-1, dim2=-2)[..., 1:]
        order = 2 * (self.concentration - 1).unsqueeze(-1) + self.dim
        order = order - f.arange(2, self.dim + 1, device=self.concentration.device)
        alpha = self.concentration + 0.5 * n
        level = 0.5 * n * math.log(math.pi) + log_multigamma(alpha - 0.5, n) - alpha.lgamma() * n
        return (order * diagonal.log()).sum(-1) - level
