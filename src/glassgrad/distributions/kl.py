"""Kullback-Leibler divergences: the registry of formulas, those between members of one family, and of different ones.

Between different families: where ``p`` reaches beyond the support of ``q`` the divergence is infinite.
Source: https://docs.pytorch.org/docs/stable/distributions.html#module-torch.distributions.kl
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable
from math import inf
from typing import Any

from ..nn.functional import softplus
from .categories import Categorical, OneHotCategorical
from .composed import Independent, TransformedDistribution
from .distribution import Distribution, ExponentialFamily
from .interval import Beta, Dirichlet, Uniform
from .location import Cauchy, Laplace, Normal
from .matrices import log_diagonal, solve_lower, square_length, squared_distance
from .multivariate import (
    LowRankMultivariateNormal,
    MultivariateNormal,
    _batch_lowrank_logdet,
    _batch_lowrank_mahalanobis,
)
from .positive import Exponential, Gamma
from .transformed import Gumbel, HalfNormal, Pareto
from .trials import Bernoulli, Binomial, ContinuousBernoulli, Geometric, Poisson
from .utils import _sum_rightmost, overwritten
from .utils import euler_constant as EULER
from .utils import functions as f

__all__ = ["register_kl", "kl_divergence"]

Formula = Callable[[Any, Any], Any]
_KL_REGISTRY: dict[tuple[type, type], Formula] = {}
_KL_MEMOIZE: dict[tuple[type, type], Any] = {}  # what the registry gave for the classes asked for


def register_kl(type_p: type, type_q: type) -> Callable[[Formula], Formula]:
    """A decorator of ``formula(p, q)``: the divergence of a distribution of one class from one of another.

    Of several that fit, the one for the nearest classes serves; RuntimeWarning where that is not clear.
    """
    for name, family in (("type_p", type_p), ("type_q", type_q)):
        if not isinstance(family, type) and issubclass(family, Distribution):
            raise TypeError(f"Expected {name} to be a Distribution subclass but got {family}")

    def keep(formula: Formula) -> Formula:
        _KL_REGISTRY[type_p, type_q] = formula
        _KL_MEMOIZE.clear()
        return formula

    return keep


def _dispatch_kl(type_p: type, type_q: type) -> Any:
    """The formula whose classes are nearest, the first class deciding; then the second must agree."""
    fitting = [pair for pair in _KL_REGISTRY if issubclass(type_p, pair[0]) and issubclass(type_q, pair[1])]
    if not fitting:
        return NotImplemented
    p_steps, q_steps = type_p.__mro__, type_q.__mro__
    by_p = min(fitting, key=lambda pair: (p_steps.index(pair[0]), q_steps.index(pair[1])))
    by_q = min(fitting, key=lambda pair: (q_steps.index(pair[1]), p_steps.index(pair[0])))
    formula = _KL_REGISTRY[by_p]
    if formula is not _KL_REGISTRY[by_q]:
        warnings.warn(
            f"Ambiguous kl_divergence({type_p.__name__}, {type_q.__name__}). "
            f"Please register_kl({by_p[0].__name__}, {by_q[1].__name__})",
            RuntimeWarning,
            stacklevel=3,
        )
    return formula


def kl_divergence(p: Distribution, q: Distribution) -> Any:
    """The divergence of ``p`` from ``q`` in nats, of batch shape: the mean under ``p`` of log p - log q.

    NotImplementedError where no formula is registered for their classes.
    """
    pair = type(p), type(q)
    formula = _KL_MEMOIZE.get(pair)
    if formula is None:
        formula = _KL_MEMOIZE[pair] = _dispatch_kl(*pair)
    if formula is NotImplemented:
        raise NotImplementedError(
            f"No KL(p || q) is implemented for p type {pair[0].__name__} and q type {pair[1].__name__}"
        )
    return formula(p, q)


def infinite_like(tensor: Any) -> Any:
    """Infinities in the shape of a parameter."""
    return f.full_like(tensor, inf)


# -- of one family ----------------------------------------------------------------------------------------------------


@register_kl(Bernoulli, Bernoulli)
def _bernoulli(p: Any, q: Any) -> Any:
    success = p.probs * (softplus(-q.logits) - softplus(-p.logits))
    success[q.probs == 0] = inf
    success[p.probs == 0] = 0
    failure = (1 - p.probs) * (softplus(q.logits) - softplus(p.logits))
    failure[q.probs == 1] = inf
    failure[p.probs == 1] = 0
    return success + failure


@register_kl(Beta, Beta)
def _beta(p: Any, q: Any) -> Any:
    p1, p0, q1, q0 = p.concentration1, p.concentration0, q.concentration1, q.concentration0
    p_sum, q_sum = p1 + p0, q1 + q0
    levels = (q1.lgamma() + q0.lgamma() + p_sum.lgamma()) - (p1.lgamma() + p0.lgamma() + q_sum.lgamma())
    return levels + (p1 - q1) * p1.digamma() + (p0 - q0) * p0.digamma() + (q_sum - p_sum) * p_sum.digamma()


@register_kl(Binomial, Binomial)
def _binomial(p: Any, q: Any) -> Any:
    if (p.total_count < q.total_count).any():
        raise NotImplementedError("KL between Binomials where q.total_count > p.total_count is not implemented")
    trial = p.probs * (p.logits - q.logits) + (-p.probs).log1p() - (-q.probs).log1p()
    return overwritten(p.total_count * trial, p.total_count > q.total_count, inf)


@register_kl(Categorical, Categorical)
def _categorical(p: Any, q: Any) -> Any:
    terms = p.probs * (p.logits - q.logits)
    terms[(q.probs == 0).expand_as(terms)] = inf
    terms[(p.probs == 0).expand_as(terms)] = 0
    return terms.sum(-1)


@register_kl(OneHotCategorical, OneHotCategorical)
def _one_hot(p: Any, q: Any) -> Any:
    return _categorical(p._categorical, q._categorical)


@register_kl(ContinuousBernoulli, ContinuousBernoulli)
def _continuous_bernoulli(p: Any, q: Any) -> Any:
    own = p._cont_bern_log_norm() + (-p.probs).log1p()
    return p.mean * (p.logits - q.logits) + own - q._cont_bern_log_norm() - (-q.probs).log1p()


@register_kl(Dirichlet, Dirichlet)
def _dirichlet(p: Any, q: Any) -> Any:
    a, b = p.concentration, q.concentration
    total = a.sum(-1)
    levels = total.lgamma() - b.sum(-1).lgamma() - (a.lgamma() - b.lgamma()).sum(-1)
    return levels + ((a - b) * (a.digamma() - total.digamma().unsqueeze(-1))).sum(-1)


@register_kl(Exponential, Exponential)
def _exponential(p: Any, q: Any) -> Any:
    ratio = q.rate / p.rate
    return -ratio.log() + ratio - 1


@register_kl(ExponentialFamily, ExponentialFamily)
def _exponential_family(p: Any, q: Any) -> Any:
    """By Bregman's divergence of the log-normalizer."""
    if type(p) is not type(q):
        raise NotImplementedError(
            "The cross KL-divergence between different exponential families cannot "
            "                            be computed using Bregman divergences"
        )
    natural, level, means = p._normalized()
    others = q._natural_params
    divergence = q._log_normalizer(*others) - level
    for own, other, mean in zip(natural, others, means, strict=True):
        divergence = divergence - _sum_rightmost((other - own) * mean, len(q.event_shape))
    return divergence


@register_kl(Gamma, Gamma)
def _gamma(p: Any, q: Any) -> Any:
    a, b = p.concentration, q.concentration
    levels = b * (p.rate / q.rate).log() + (b.lgamma() - a.lgamma())
    return levels + (a - b) * a.digamma() + (q.rate - p.rate) * (a / p.rate)


@register_kl(Gumbel, Gumbel)
def _gumbel(p: Any, q: Any) -> Any:
    ratio, q_at, p_at = p.scale / q.scale, q.loc / q.scale, p.loc / q.scale
    tail = (q_at + (1 + ratio).lgamma() - p_at).exp()
    return -ratio.log() - q_at + p_at + ratio * EULER + tail - (1 + EULER)


@register_kl(Geometric, Geometric)
def _geometric(p: Any, q: Any) -> Any:
    return -p.entropy() - (-q.probs).log1p() / p.probs - q.logits


@register_kl(Laplace, Laplace)
def _laplace(p: Any, q: Any) -> Any:
    ratio, apart = p.scale / q.scale, (p.loc - q.loc).abs()
    return -ratio.log() + apart / q.scale + ratio * (-apart / p.scale).exp() - 1


@register_kl(Normal, Normal)
def _normal(p: Any, q: Any) -> Any:
    ratio = (p.scale / q.scale).pow(2)
    return 0.5 * (ratio + ((p.loc - q.loc) / q.scale).pow(2) - 1 - ratio.log())


@register_kl(HalfNormal, HalfNormal)
def _half_normal(p: Any, q: Any) -> Any:
    return _normal(p.base_dist, q.base_dist)


@register_kl(Pareto, Pareto)
def _pareto(p: Any, q: Any) -> Any:
    ratio = q.alpha / p.alpha
    divergence = q.alpha * (p.scale / q.scale).log() - ratio.log() + ratio - 1
    return overwritten(divergence, p.support.lower_bound < q.support.lower_bound, inf)


@register_kl(Poisson, Poisson)
def _poisson(p: Any, q: Any) -> Any:
    return p.rate * (p.rate.log() - q.rate.log()) - (p.rate - q.rate)


@register_kl(Uniform, Uniform)
def _uniform(p: Any, q: Any) -> Any:
    return overwritten(((q.high - q.low) / (p.high - p.low)).log(), (q.low > p.low) | (q.high < p.high), inf)


@register_kl(Cauchy, Cauchy)
def _cauchy(p: Any, q: Any) -> Any:
    """Source: F. Chyzak and F. Nielsen, arXiv:1905.10965"""
    return ((p.scale + q.scale).pow(2) + (p.loc - q.loc).pow(2)).log() - (4 * p.scale * q.scale).log()


@register_kl(TransformedDistribution, TransformedDistribution)
def _transformed(p: Any, q: Any) -> Any:
    if p.transforms != q.transforms or p.event_shape != q.event_shape:
        raise NotImplementedError
    return kl_divergence(p.base_dist, q.base_dist)


@register_kl(Independent, Independent)
def _independent(p: Any, q: Any) -> Any:
    if p.reinterpreted_batch_ndims != q.reinterpreted_batch_ndims:
        raise NotImplementedError
    return _sum_rightmost(kl_divergence(p.base_dist, q.base_dist), p.reinterpreted_batch_ndims)


# -- of normal vectors: with covariances P and Q of dimension n, half of
#    log det Q - log det P + trace(Q^-1 P) + distance of the means by Q - n


def _need_same_size(p: Any, q: Any, what: str) -> None:
    if p.event_shape != q.event_shape:
        gap = " " * 26
        raise ValueError(f"KL-divergence between two {what} with{gap}different event shapes cannot be computed")


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


_TAU = 2 * math.pi


def _x_log_x(x: Any) -> Any:
    return x.xlogy(x)


# -- beyond the support -----------------------------------------------------------------------------------------------

_BEYOND: dict[type, tuple[str, tuple[type, ...]]] = {  # p, one of its parameters, and every q that it goes beyond
    Beta: ("concentration1", (Pareto,)),
    ContinuousBernoulli: ("probs", (Pareto,)),
    Exponential: ("rate", (Beta, ContinuousBernoulli, Pareto, Uniform)),
    Gamma: ("concentration", (Beta, ContinuousBernoulli, Pareto, Uniform)),
    Gumbel: ("loc", (Beta, ContinuousBernoulli, Exponential, Gamma, Pareto, Uniform)),
    Laplace: ("loc", (Beta, ContinuousBernoulli, Exponential, Gamma, Pareto, Uniform)),
    Normal: ("loc", (Beta, ContinuousBernoulli, Exponential, Gamma, Pareto, Uniform)),
    Pareto: ("scale", (Beta, ContinuousBernoulli, Uniform)),
    Poisson: ("rate", (Bernoulli, Binomial)),
}


def _infinite(parameter: str) -> Any:
    return lambda p, q: infinite_like(getattr(p, parameter))


for _p, (_parameter, _others) in _BEYOND.items():
    for _q in _others:
        register_kl(_p, _q)(_infinite(_parameter))


# -- from a normal distribution, by the first two moments -------------------------------------------------------------


def _log_root_tau(scale: Any) -> Any:
    """The logarithm of a normal density's height, turned round."""
    return 0.5 * (scale.pow(2) * _TAU).log()


def _to_normal(p: Any, q: Any) -> Any:
    """Of any family to a normal distribution, which asks for mean, variance and entropy alone."""
    return -p.entropy() + _log_root_tau(q.scale) + (p.variance + (p.mean - q.loc).pow(2)) / (2 * q.scale.pow(2))


for _p in (Beta, ContinuousBernoulli, Exponential, Gamma, Gumbel, Laplace, Uniform):
    register_kl(_p, Normal)(_to_normal)


@register_kl(Pareto, Normal)
def _pareto_normal(p: Any, q: Any) -> Any:
    a, shared = p.alpha, p.scale / (p.alpha - 1)
    level = (math.sqrt(_TAU) * q.scale * a / p.scale).log() - a.reciprocal()
    rest = a * shared.pow(2) / (a - 2) + (a * shared - q.loc).pow(2)
    return overwritten(level + rest / (2 * q.scale.pow(2)) - 1, a <= 2, inf)


# -- from an exponential or gamma distribution ------------------------------------------------------------------------


def _log_gamma_height(q: Any) -> Any:
    """What makes gamma densities sum to one."""
    return q.concentration.lgamma() - q.concentration * q.rate.log()


def _entropy_between(low: Any, high: Any) -> Any:
    return _x_log_x(high) - _x_log_x(low)


def _mean_log(p: Any) -> Any:
    """The mean of the logarithm of a family's numbers."""
    if isinstance(p, Beta):
        return p.concentration1.digamma() - (p.concentration1 + p.concentration0).digamma()
    if isinstance(p, Exponential):
        return -p.rate.log() - EULER
    return _entropy_between(p.low, p.high) / (p.high - p.low) - 1


@register_kl(Beta, Exponential)
@register_kl(ContinuousBernoulli, Exponential)
@register_kl(Gamma, Exponential)
def _to_exponential(p: Any, q: Any) -> Any:
    return -p.entropy() - q.rate.log() + q.rate * p.mean


@register_kl(Beta, Gamma)
@register_kl(Exponential, Gamma)
def _to_gamma(p: Any, q: Any) -> Any:
    return -p.entropy() + _log_gamma_height(q) - (q.concentration - 1) * _mean_log(p) + q.rate * p.mean


@register_kl(Pareto, Exponential)  # not by its mean, whose slope is NaN where it is infinite
def _pareto_exponential(p: Any, q: Any) -> Any:
    a, shared = p.alpha, p.scale * q.rate
    return overwritten((a / shared).log() - a.reciprocal() + a * shared / (a - 1) - 1, a <= 1, inf)


@register_kl(Pareto, Gamma)
def _pareto_gamma(p: Any, q: Any) -> Any:
    a = p.alpha
    log_mean = p.scale.log() + a.reciprocal()
    divergence = a.log() - log_mean + _log_gamma_height(q) + (1 - q.concentration) * log_mean
    return overwritten(divergence + q.rate * a * p.scale / (a - 1) - 1, a <= 1, inf)


@register_kl(Uniform, Exponential)
def _uniform_exponential(p: Any, q: Any) -> Any:
    return overwritten(_to_exponential(p, q), p.low < q.support.lower_bound, inf)


@register_kl(Uniform, Gamma)
def _uniform_gamma(p: Any, q: Any) -> Any:
    return overwritten(_to_gamma(p, q), p.low < q.support.lower_bound, inf)


# -- from a Gumbel, Laplace, Pareto or uniform distribution, or a count -----------------------------------------------


@register_kl(Exponential, Gumbel)
def _exponential_gumbel(p: Any, q: Any) -> Any:
    shared, at = p.rate * q.scale, q.loc / q.scale
    return shared.log() - 1 - at + at.exp() * shared / (shared + 1) + shared.reciprocal()


@register_kl(Gamma, Gumbel)
def _gamma_gumbel(p: Any, q: Any) -> Any:
    shared, at, a = p.rate * q.scale, q.loc / q.scale, p.concentration
    level = (a - 1) * a.digamma() - a.lgamma() - a
    tail = at.exp() * (1 + shared.reciprocal()).pow(-a) - at
    return level + (shared.log() + a / shared) + tail


@register_kl(Normal, Gumbel)
def _normal_gumbel(p: Any, q: Any) -> Any:
    p_at, q_at, ratio = p.loc / q.scale, q.loc / q.scale, (p.scale / q.scale).pow(2)
    tail = (-p_at + 0.5 * ratio + q_at).exp()
    return -(ratio.log() * 0.5) + (p_at - q_at) + tail - (0.5 * (1 + math.log(_TAU)))


@register_kl(Normal, Laplace)
def _normal_laplace(p: Any, q: Any) -> Any:
    off = p.loc - q.loc
    z = off / p.scale
    near = math.sqrt(2 / math.pi) * p.scale * (-0.5 * z.pow(2)).exp()
    far = off * (math.sqrt(0.5) * z).erf()
    return -(p.scale / q.scale).log() + (near + far) / q.scale - (0.5 * (1 + math.log(0.5 * math.pi)))


@register_kl(Uniform, Gumbel)
def _uniform_gumbel(p: Any, q: Any) -> Any:
    shared = q.scale / (p.high - p.low)
    high, low = (p.high - q.loc) / q.scale, (p.low - q.loc) / q.scale
    return shared.log() + 0.5 * (high + low) - shared * ((-high).exp() - (-low).exp())


@register_kl(Uniform, Pareto)
def _uniform_pareto(p: Any, q: Any) -> Any:
    width = p.high - p.low
    level = (q.alpha * q.scale.pow(q.alpha) * width).log()
    divergence = (_entropy_between(p.low, p.high) - width) / width * (q.alpha + 1) - level
    return overwritten(divergence, p.low < q.support.lower_bound, inf)


@register_kl(Bernoulli, Poisson)
def _bernoulli_poisson(p: Any, q: Any) -> Any:
    return -p.entropy() - (p.probs * q.rate.log() - q.rate)


# -- between zero and one ---------------------------------------------------------------------------------------------


@register_kl(Beta, ContinuousBernoulli)
def _beta_continuous_bernoulli(p: Any, q: Any) -> Any:
    return -p.entropy() - p.mean * q.logits - (-q.probs).log1p() - q._cont_bern_log_norm()


@register_kl(Beta, Uniform)
def _beta_uniform(p: Any, q: Any) -> Any:
    divergence = -p.entropy() + (q.high - q.low).log()
    return overwritten(divergence, (q.low > p.support.lower_bound) | (q.high < p.support.upper_bound), inf)


@register_kl(ContinuousBernoulli, Uniform)
def _continuous_bernoulli_uniform(p: Any, q: Any) -> Any:
    divergence = -p.entropy() + (q.high - q.low).log()
    beyond = (q.low >= p.support.lower_bound) | (q.high <= p.support.upper_bound)
    return f.where(beyond, infinite_like(divergence), divergence)


@register_kl(Uniform, ContinuousBernoulli)
def _uniform_continuous_bernoulli(p: Any, q: Any) -> Any:
    divergence = _beta_continuous_bernoulli(p, q)
    beyond = (p.high >= q.support.upper_bound) | (p.low <= q.support.lower_bound)
    return f.where(beyond, infinite_like(divergence), divergence)


@register_kl(Uniform, Beta)
def _uniform_beta(p: Any, q: Any) -> Any:
    width, one, zero = p.high - p.low, q.concentration1, q.concentration0
    rising = (one - 1) * (_entropy_between(p.low, p.high) - width) / width
    falling = (zero - 1) * (_entropy_between(1 - p.low, 1 - p.high) + width) / width
    divergence = falling + (one.lgamma() + zero.lgamma() - (one + zero).lgamma()) - width.log() - rising
    return overwritten(divergence, (p.high > q.support.upper_bound) | (p.low < q.support.lower_bound), inf)
