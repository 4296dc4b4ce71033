"""Counts drawn as PyTorch's CPU kernels draw them: Poisson and binomial; knows generators and arrays, no tensors."""

from __future__ import annotations

from collections.abc import Callable
from math import ceil, exp, floor, inf, lgamma, log, nan, sqrt
from typing import Any

import numpy as np

from glassgrad.ground.generator import Generator
from glassgrad.kernels.serial import Stream
from glassgrad.kernels.uniform import serving

Unit = Callable[[], float]
_NO_RATE = "invalid Poisson rate, expected rate to be non-negative"
_WORTH = 64  # numbers that the compiled form makes while a loop in Python makes one
_MANY = 10.0  # from this mean on a count is found by rejection


def poisson(gen: Generator, rates: np.ndarray) -> np.ndarray:
    """Counts of events whose mean numbers ``rates`` holds, as float64, element by element in row-major order."""
    # a loop in Python takes some microseconds for each number
    with gen.lock:
        if (found := serving(gen, _WORTH * rates.size)) is not None:
            drawn = np.empty(rates.size)
            if not found[0].poisson(found[1], rates.reshape(-1).astype(np.float64), drawn):
                raise RuntimeError(_NO_RATE)
            return drawn.reshape(rates.shape)
    listed = rates.reshape(-1).astype(np.float64).tolist()
    expected = int(sum(rate + 1 if rate < _MANY else 3 for rate in listed if rate >= 0)) + 1
    with Stream(gen, expected) as stream:
        counts = [_poisson(rate, stream.unit) for rate in listed]
    return np.array(counts, np.float64).reshape(rates.shape)


def _poisson(rate: float, unit: Unit) -> int:
    """By products of uniform numbers, or for high rates by rejection. Source: Hoermann (1993), PTRS."""
    if not rate >= 0:
        raise RuntimeError(_NO_RATE)
    if rate >= _MANY:
        return _poisson_rejected(rate, unit)
    count, product, end = 0, 1.0, exp(-rate)
    while rate:
        product *= unit()
        if product <= end:
            break
        count += 1
    return count


def _poisson_rejected(rate: float, unit: Unit) -> int:
    b = 0.931 + 2.53 * sqrt(rate)
    a = -0.059 + 0.02483 * b
    alpha, bound = 1.1239 + 1.1328 / (b - 3.4), 0.9277 - 3.6224 / (b - 2)
    while True:
        u, v = unit() - 0.5, unit()
        us = 0.5 - abs(u)
        k = floor((2 * a / us + b) * u + rate + 0.43)
        if us >= 0.07 and v <= bound:
            return k
        if k < 0 or us < 0.013 and v > us:
            continue
        if _log(v) + log(alpha) - log(a / (us * us) + b) <= -rate + k * log(rate) - lgamma(k + 1):
            return k


def _log(x: float) -> float:
    return log(x) if x > 0 else -inf


def binomial(gen: Generator, count: np.ndarray, prob: np.ndarray) -> np.ndarray:
    """Numbers of successes among ``count`` trials of chance ``prob``, arrays of one shape and floating dtype.

    What PyTorch computes in that dtype is computed in it here, so that the same numbers are accepted.
    """
    kind = count.dtype.type
    one = kind(1)
    n, p = np.ascontiguousarray(count).reshape(-1), np.ascontiguousarray(prob).reshape(-1)
    with np.errstate(all="ignore"):
        rare = np.where(p > 0.5, one - p, p)  # the rarer outcome is counted
        mean = n * rare
        log_other = np.log1p(-rare)
        deviation = np.sqrt(mean * (one - rare))
        odds = rare / (one - rare)
        middle = np.floor((n + one) * rare)
    facts = (n, p, rare, mean, log_other, deviation, odds, middle)
    with gen.lock:
        if (native := serving(gen, _WORTH * n.size)) is not None:
            drawn = np.empty(n.size)
            native[0].binomial(native[1], np.array(facts, np.float64), drawn)
            return drawn.astype(count.dtype).reshape(count.shape)
    rows = zip(*(a.tolist() for a in facts), strict=True)
    found = []
    with Stream(gen, 3 * n.size) as stream:
        for trials, chance, rarer, average, log_rest, spread, ratio, peak in rows:
            if trials <= 0 or chance <= 0:
                found.append(0.0)
            elif chance >= 1:
                found.append(trials)
            elif chance != chance:  # noqa: PLR0124  NaN
                found.append(nan)
            else:
                if average >= _MANY:
                    k = _binomial_rejected(trials, rarer, average, spread, ratio, peak, stream.unit)
                else:
                    k = _binomial_by_gaps(trials, log_rest, stream.unit)
                found.append(trials - k if chance > 0.5 else k)
    return np.array(found, np.float64).astype(count.dtype).reshape(count.shape)


def _binomial_by_gaps(trials: float, log_rest: float, unit: Unit) -> float:
    """Successes counted by the gaps between them, which are geometric."""
    place, successes = 0.0, 0.0
    while True:
        u = unit()
        place += ceil(log(u) / log_rest) if u > 0 else inf
        if not place <= trials:
            return successes
        successes += 1


# the error of Stirling's formula for 0 to 9
TAILS = (
    0.0810614667953272, 0.0413406959554092, 0.0276779256849983, 0.02079067210376509, 0.0166446911898211,
    0.0138761288230707, 0.0118967099458917, 0.0104112652619720, 0.00925546218271273, 0.00833056343336287,
)  # fmt: skip


def _tail(k: float) -> float:
    if k < len(TAILS):
        return TAILS[int(k)]
    square = (k + 1) * (k + 1)
    return (1.0 / 12 - (1.0 / 360 - 1.0 / 1260 / square) / square) / (k + 1)


def _binomial_rejected(
    n: float, p: float, mean: float, deviation: float, odds: float, middle: float, unit: Unit
) -> float:
    """By transformed rejection. Source: Hoermann (1993), BTRS, with the logarithm its listing lacks."""
    b = 1.15 + 2.53 * deviation
    a = -0.0873 + 0.0248 * b + 0.01 * p
    c = mean + 0.5
    bound = 0.92 - 4.2 / b
    alpha = (2.83 + 5.1 / b) * deviation
    level: Any = None
    while True:
        u, v = unit() - 0.5, unit()
        us = 0.5 - abs(u)
        k = float(floor((2 * a / us + b) * u + c)) if us > 0 else -inf
        if k < 0 or k > n:
            continue
        if us >= 0.07 and v <= bound:
            return k
        if level is None:
            level = (
                (middle + 0.5) * log((middle + 1) / (odds * (n - middle + 1))),
                _tail(middle) + _tail(n - middle),
            )
        upper = (
            level[0]
            + (n + 1) * log((n - middle + 1) / (n - k + 1))
            + (k + 0.5) * log(odds * (n - k + 1) / (k + 1))
            + level[1]
            - _tail(k)
            - _tail(n - k)
        )
        if _log(v * alpha / (a / (us * us) + b)) <= upper:
            return k
