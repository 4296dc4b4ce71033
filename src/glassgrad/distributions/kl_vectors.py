"""Kullback-Leibler divergences between normal distributions of vectors.

With covariances P and Q of dimension n: (log det Q - log det P + trace(Q^-1 P) + distance of the means by Q - n) / 2.
"""

from __future__ import annotations

from typing import Any

from .functions import functions as f
from .kl import register_kl
from .lowrank_multivariate_normal import (
    LowRankMultivariateNormal,
    _batch_lowrank_logdet,
    _batch_lowrank_mahalanobis,
)
from .matrices import log_diagonal, solve_lower, square_length, squared_distance
from .multivariate_normal import MultivariateNormal


def _need_same_size(p: Any, q: Any, what: str) -> None:
    if p.event_shape != q.event_shape:
        gap = " " * 26
        raise ValueError(
            f"KL-divergence between two {what} with{gap}different event shapes cannot be computed"
        )


def _log_det(d: Any) -> Any:
    if isinstance(d, LowRankMultivariateNormal):
        return _batch_lowrank_logdet(*d._parts_of_covariance)
    return 2 * log_diagonal(d._unbroadcasted_scale_tril)


def _distance(q: Any, vector: Any) -> Any:
    """The squared length of ``vector`` as the covariance of ``q`` measures it."""
    if isinstance(q, LowRankMultivariateNormal):
        factor, diagonal, capacitance = q._parts_of_covariance
        return _batch_lowrank_mahalanobis(factor, diagonal, vector, capacitance)
    return squared_distance(q._unbroadcasted_scale_tril, vector)


def _roots(p: Any) -> list[Any]:
    """Matrices whose squares ``root @ root.mT`` sum to the covariance."""
    if isinstance(p, LowRankMultivariateNormal):
        factor, diagonal, _ = p._parts_of_covariance
        return [factor, diagonal.sqrt().diag_embed()]
    return [p._unbroadcasted_scale_tril]


def _trace(q: Any, root: Any) -> Any:
    """The trace of the inverse covariance of ``q`` times ``root @ root.mT``."""
    if isinstance(q, LowRankMultivariateNormal):  # by Woodbury's identity
        factor, diagonal, capacitance = q._parts_of_covariance
        inner = f.matmul(solve_lower(capacitance, factor.mT / diagonal.unsqueeze(-2)), root)
        return square_length(root * diagonal.rsqrt().unsqueeze(-1)) - square_length(inner)
    lower, n = q._unbroadcasted_scale_tril, root.shape[-2]
    batch = f.broadcast_shapes(lower.shape[:-2], root.shape[:-2])
    return square_length(solve_lower(lower.expand((*batch, n, n)), root.expand((*batch, *root.shape[-2:]))))


def _divergence(p: Any, q: Any) -> Any:
    trace: Any = sum(_trace(q, root) for root in _roots(p))
    return 0.5 * (_log_det(q) - _log_det(p) + trace + _distance(q, q.loc - p.loc) - p.event_shape[0])


@register_kl(MultivariateNormal, MultivariateNormal)
def _full_full(p: Any, q: Any) -> Any:
    _need_same_size(p, q, "Multivariate Normals")
    return _divergence(p, q)


@register_kl(LowRankMultivariateNormal, LowRankMultivariateNormal)
def _low_low(p: Any, q: Any) -> Any:
    _need_same_size(p, q, "Low Rank Multivariate Normals")
    return _divergence(p, q)


@register_kl(MultivariateNormal, LowRankMultivariateNormal)
@register_kl(LowRankMultivariateNormal, MultivariateNormal)
def _mixed(p: Any, q: Any) -> Any:
    _need_same_size(p, q, "(Low Rank) Multivariate Normals")
    return _divergence(p, q)
