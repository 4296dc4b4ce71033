"""Kullback-Leibler divergences between members of different families.

Where ``p`` reaches beyond the support of ``q`` the divergence is infinite.
"""

from __future__ import annotations

import math
from math import inf
from typing import Any

from .interval import Beta, Uniform
from .kl import infinite_like, register_kl
from .location import Laplace, Normal
from .positive import Exponential, Gamma
from .transformed import Gumbel, Pareto
from .trials import Bernoulli, Binomial, ContinuousBernoulli, Poisson
from .utils import euler_constant as EULER
from .utils import functions as f
from .utils import overwritten

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


@register_kl(Beta, Normal)
def _beta_normal(p: Any, q: Any) -> Any:
    total = p.concentration1 + p.concentration0
    mean = p.concentration1 / total
    square = (mean * (1 - mean) / (total + 1) + mean.pow(2)) * 0.5
    return -p.entropy() + _log_root_tau(q.scale) + (square - q.loc * mean + q.loc.pow(2) * 0.5) / q.scale.pow(2)


@register_kl(ContinuousBernoulli, Normal)
def _continuous_bernoulli_normal(p: Any, q: Any) -> Any:
    level = 0.5 * (math.log(_TAU) + (q.loc / q.scale).square()) + q.scale.log()
    rest = (p.variance + p.mean.square() - 2.0 * q.loc * p.mean) / (2.0 * q.scale.square())
    return -p.entropy() + level + rest


@register_kl(Exponential, Normal)
def _exponential_normal(p: Any, q: Any) -> Any:
    variance, square = q.scale.pow(2), p.rate.pow(2)
    rest = square.reciprocal() - q.loc / p.rate + q.loc.pow(2) * 0.5
    return 0.5 * (square * variance * _TAU).log() - 1 + rest / variance


@register_kl(Gamma, Normal)
def _gamma_normal(p: Any, q: Any) -> Any:
    variance, square, a = q.scale.pow(2), p.rate.pow(2), p.concentration
    level = 0.5 * (square * variance * _TAU).log() - a - a.lgamma()
    rest = 0.5 * (a.pow(2) + a) / square - q.loc * a / p.rate + 0.5 * q.loc.pow(2)
    return level + (a - 1) * a.digamma() + rest / variance


@register_kl(Gumbel, Normal)
def _gumbel_normal(p: Any, q: Any) -> Any:
    ratio = p.scale / q.scale
    spread = (math.pi * ratio * 0.5).pow(2) / 3
    off = ((p.loc + p.scale * EULER - q.loc) / q.scale).pow(2) * 0.5
    return -(ratio / math.sqrt(_TAU)).log() + spread + off - (EULER + 1)


@register_kl(Laplace, Normal)
def _laplace_normal(p: Any, q: Any) -> Any:
    variance = q.scale.pow(2)
    ratio = p.scale.pow(2) / variance
    rest = 0.5 * p.loc.pow(2) - p.loc * q.loc + 0.5 * q.loc.pow(2)
    return -0.5 * (2 * ratio / math.pi).log() + ratio + rest / variance - 1


@register_kl(Pareto, Normal)
def _pareto_normal(p: Any, q: Any) -> Any:
    a, shared = p.alpha, p.scale / (p.alpha - 1)
    level = (math.sqrt(_TAU) * q.scale * a / p.scale).log() - a.reciprocal()
    rest = a * shared.pow(2) / (a - 2) + (a * shared - q.loc).pow(2)
    return overwritten(level + rest / (2 * q.scale.pow(2)) - 1, a <= 2, inf)


@register_kl(Uniform, Normal)
def _uniform_normal(p: Any, q: Any) -> Any:
    width = p.high - p.low
    rest = width.pow(2) / 12 + ((p.high + p.low - 2 * q.loc) / 2).pow(2)
    return (math.sqrt(_TAU) * q.scale / width).log() + 0.5 * rest / q.scale.pow(2)


# -- from an exponential or gamma distribution ------------------------------------------------------------------------


def _log_gamma_height(q: Any) -> Any:
    """What makes gamma densities sum to one."""
    return q.concentration.lgamma() - q.concentration * q.rate.log()


@register_kl(Beta, Exponential)
@register_kl(ContinuousBernoulli, Exponential)
def _chance_exponential(p: Any, q: Any) -> Any:
    return -p.entropy() - q.rate.log() + q.rate * p.mean


@register_kl(Beta, Gamma)
def _beta_gamma(p: Any, q: Any) -> Any:
    total = p.concentration1 + p.concentration0
    log_mean = (q.concentration - 1) * (p.concentration1.digamma() - total.digamma())
    return -p.entropy() + _log_gamma_height(q) - log_mean + q.rate * p.concentration1 / total


@register_kl(Exponential, Gamma)
def _exponential_gamma(p: Any, q: Any) -> Any:
    ratio, a = q.rate / p.rate, q.concentration
    return -a * ratio.log() + ratio + a.lgamma() + a * EULER - (1 + EULER)


@register_kl(Gamma, Exponential)
def _gamma_exponential(p: Any, q: Any) -> Any:
    return -p.entropy() - q.rate.log() + q.rate * p.concentration / p.rate


@register_kl(Pareto, Exponential)
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
    divergence = q.rate * (p.high + p.low) / 2 - ((p.high - p.low) * q.rate).log()
    return overwritten(divergence, p.low < q.support.lower_bound, inf)


def _entropy_between(low: Any, high: Any) -> Any:
    return _x_log_x(high) - _x_log_x(low)


@register_kl(Uniform, Gamma)
def _uniform_gamma(p: Any, q: Any) -> Any:
    width = p.high - p.low
    log_mean = (1 - q.concentration) * (_entropy_between(p.low, p.high) - width) / width
    divergence = -width.log() + _log_gamma_height(q) + log_mean + q.rate * (p.high + p.low) / 2
    return overwritten(divergence, p.low < q.support.lower_bound, inf)


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
