"""The normal distribution of vectors whose covariance is a diagonal and a few directions."""

from __future__ import annotations

import math
from typing import Any

from ..ground.size import Size
from . import constraints
from .functions import functions as f
from .location import Centred
from .matrices import cholesky, log_diagonal, solve_lower, squared_distance, times
from .utils import _standard_normal, lazy_property

__all__ = ["LowRankMultivariateNormal"]


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
    """Vectors (*, n) around ``loc`` of covariance ``cov_factor @ cov_factor.mT + diag(cov_diag)``; factor (*, n, m).

    Source: https://docs.pytorch.org/docs/stable/distributions.html#lowrankmultivariatenormal
    """

    arg_constraints = {
        "loc": constraints.real_vector,
        "cov_factor": constraints.independent(constraints.real, 2),
        "cov_diag": constraints.independent(constraints.positive, 1),
    }
    support = constraints.real_vector
    has_rsample = True
    _parameters = {"loc": 1, "cov_factor": 2, "cov_diag": 1}
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

    def _over_batch(self, matrix: Any) -> Any:
        return matrix.expand(self._batch_shape + self._event_shape + self._event_shape)

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
        return self._over_batch(root * cholesky(inner))

    @lazy_property
    def covariance_matrix(self) -> Any:
        """The covariance."""
        factor, diagonal, _ = self._parts_of_covariance
        return self._over_batch(f.matmul(factor, factor.mT) + diagonal.diag_embed())

    @lazy_property
    def precision_matrix(self) -> Any:
        """The inverse of the covariance."""
        factor, diagonal, capacitance = self._parts_of_covariance
        solved = solve_lower(capacitance, factor.mT / diagonal.unsqueeze(-2))
        return self._over_batch(diagonal.reciprocal().diag_embed() - solved.mT @ solved)

    def rsample(self, sample_shape: Any = Size()) -> Any:  # noqa: B008
        """Normal numbers along the factor's directions, then those of the diagonal."""
        shape = self._extended_shape(sample_shape)
        factor, diagonal, _ = self._parts_of_covariance
        along = _standard_normal(shape[:-1] + self.cov_factor.shape[-1:], self.loc.dtype, self.loc.device)
        apart = _standard_normal(shape, self.loc.dtype, self.loc.device)
        return self.loc + times(factor, along) + diagonal.sqrt() * apart

    def log_prob(self, value: Any) -> Any:
        """The logarithm of the density."""
        if self._validate_args:
            self._validate_sample(value)
        factor, diagonal, capacitance = self._parts_of_covariance
        distance = _batch_lowrank_mahalanobis(factor, diagonal, value - self.loc, capacitance)
        log_det = _batch_lowrank_logdet(factor, diagonal, capacitance)
        return -0.5 * (self._event_shape[0] * math.log(2 * math.pi) + log_det + distance)

    def entropy(self) -> Any:
        """The entropy in nats."""
        log_det = _batch_lowrank_logdet(*self._parts_of_covariance)
        found = 0.5 * (self._event_shape[0] * (1.0 + math.log(2 * math.pi)) + log_det)
        return found.expand(self._batch_shape) if self._batch_shape else found
