"""The Wishart distribution of positive definite matrices."""

from __future__ import annotations

import math
import warnings
from typing import Any

from ..ground.size import Size
from . import constraints
from .chi2 import Chi2
from .exp_family import ExponentialFamily
from .functions import functions as f
from .matrices import (
    clamp_above_eps,
    digamma_sum,
    factor_of,
    log_abs_det,
    log_diagonal,
    log_multigamma,
    only_one,
    solved_by_factor,
)
from .utils import NUMBERS, lazy_property

__all__ = ["Wishart"]
_LOG_2 = math.log(2)


class Wishart(ExponentialFamily):
    """Sums of ``df`` squares ``x x'`` of normal vectors; by one of covariance, precision and triangular factor.

    Source: https://docs.pytorch.org/docs/stable/distributions.html#wishart
    """

    support = constraints.positive_definite
    has_rsample = True
    _mean_carrier_measure = 0
    _parameters = {"df": 0, "covariance_matrix": 2, "precision_matrix": 2, "scale_tril": 2}
    _constants = ("_unbroadcasted_scale_tril",)

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
        self._batch_dims = [-(x + 1) for x in range(len(batch))]
        self._unbroadcasted_scale_tril = factor_of(name, matrix)
        self._dist_chi2 = self._squares()

    def _squares(self) -> Chi2:
        """Of the diagonal of Bartlett's factor: one degree of freedom less in each row."""
        factor = self._unbroadcasted_scale_tril
        steps = f.arange(self._event_shape[-1], dtype=factor.dtype, device=factor.device)
        return Chi2(df=self.df.unsqueeze(-1) - steps.expand((*self._batch_shape, -1)))

    def _expand_inner(self, new: Any, batch_shape: Size) -> None:
        new._batch_dims = [-(x + 1) for x in range(len(batch_shape))]
        new._batch_shape, new._event_shape = batch_shape, self._event_shape
        new._dist_chi2 = new._squares()

    @property
    def arg_constraints(self) -> dict[str, constraints.Constraint]:
        """That on ``df`` depends on the size of the matrices."""
        return {
            "covariance_matrix": constraints.positive_definite,
            "precision_matrix": constraints.positive_definite,
            "scale_tril": constraints.lower_cholesky,
            "df": constraints.greater_than(self.event_shape[-1] - 1),
        }

    def _over_batch(self, matrix: Any) -> Any:
        return matrix.expand(self._batch_shape + self._event_shape)

    @lazy_property
    def scale_tril(self) -> Any:
        """The lower triangular factor of the covariance."""
        return self._over_batch(self._unbroadcasted_scale_tril)

    @lazy_property
    def covariance_matrix(self) -> Any:
        """The covariance of the vectors."""
        factor = self._unbroadcasted_scale_tril
        return self._over_batch(factor @ factor.transpose(-2, -1))

    @lazy_property
    def precision_matrix(self) -> Any:
        """The inverse of the covariance."""
        factor = self._unbroadcasted_scale_tril
        one = f.eye(self._event_shape[-1], dtype=factor.dtype, device=factor.device)
        return self._over_batch(solved_by_factor(one, factor))

    def _beside(self, number: Any) -> Any:
        return number.view((*self._batch_shape, 1, 1))

    @property
    def mean(self) -> Any:
        """``df`` times the covariance."""
        return self._beside(self.df) * self.covariance_matrix

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

    def _bartlett_sampling(self, sample_shape: Any = Size()) -> Any:  # noqa: B008
        """Source: M. Bartlett, On the theory of statistical regression (1933)"""
        p = self._event_shape[-1]
        noise = clamp_above_eps(self._dist_chi2.rsample(sample_shape).sqrt()).diag_embed(dim1=-2, dim2=-1)
        i, j = f.tril_indices(p, p, offset=-1)
        size = (*sample_shape, *self._batch_shape, p * (p - 1) // 2)
        noise[..., i, j] = f.randn(size, dtype=noise.dtype, device=noise.device)
        factor = self._unbroadcasted_scale_tril @ noise
        return factor @ factor.transpose(-2, -1)

    def rsample(self, sample_shape: Any = Size(), max_try_correction: Any = None) -> Any:  # noqa: B008
        """Matrices, drawn once more where the first check says so, and then again while they are singular.

        PyTorch's first check picks the regular ones; it is kept, for the same numbers and the same warning.
        """
        tries = 10 if max_try_correction is None else max_try_correction
        sample_shape = Size(sample_shape)
        sample = self._bartlett_sampling(sample_shape)
        found = self._gathered(self.support.check(sample))
        if found.any():
            warnings.warn("Singular sample detected.", stacklevel=2)
            for _ in range(tries):
                new = self._bartlett_sampling(found[found].shape)
                sample[found.clone()] = new  # the record keeps this one
                found[found.clone()] = self._gathered(~self.support.check(new))
                if not found.any():
                    break
        return sample

    def _gathered(self, decisions: Any) -> Any:
        return decisions.amax(self._batch_dims) if self._batch_shape else decisions

    def log_prob(self, value: Any) -> Any:
        """The logarithm of the density."""
        if self._validate_args:
            self._validate_sample(value)
        nu, p, factor = self.df, self._event_shape[-1], self._unbroadcasted_scale_tril
        trace = solved_by_factor(value, factor).diagonal(dim1=-2, dim2=-1).sum(dim=-1)
        level = -nu * (p * _LOG_2 / 2 + log_diagonal(factor)) - log_multigamma(nu / 2, p)
        return level + (nu - p - 1) / 2 * log_abs_det(value) - trace / 2

    def entropy(self) -> Any:
        """The entropy in nats."""
        nu, p = self.df, self._event_shape[-1]
        level = (p + 1) * (p * _LOG_2 / 2 + log_diagonal(self._unbroadcasted_scale_tril))
        return level + log_multigamma(nu / 2, p) - (nu - p - 1) / 2 * digamma_sum(nu / 2, p) + nu * p / 2

    @property
    def _natural_params(self) -> tuple[Any, ...]:
        return -self.precision_matrix / 2, (self.df - self._event_shape[-1] - 1) / 2

    def _log_normalizer(self, x: Any, y: Any) -> Any:  # type: ignore[override]
        p = self._event_shape[-1]
        half = y + (p + 1) / 2
        return half * (-log_abs_det(-2 * x) + _LOG_2 * p) + log_multigamma(half, p)
