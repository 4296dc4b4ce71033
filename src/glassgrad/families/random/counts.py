"""Numbers taken from the stream one after another, as PyTorch's serial kernels do: knows generators, no tensors.

How many a sampler needs is only known as it goes.  Where many are expected, a block is drawn ahead, numbers are handed
out from it, and on leaving the generator is set back to where the last one used had left it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from math import cos, exp, floor, inf, isnan, lgamma, log, log1p, nan, pi, sin, sqrt
from operator import length_hint
from typing import Any

import numpy as np

from glassgrad.families.random.uniform import serving, unit64
from glassgrad.families.special.kernels import digamma
from glassgrad.ground.generator import Generator

_FEW = 64  # so many cost less one by one than saving the state and setting it back
_LARGEST = 65_536
_MASK53 = 2**53 - 1


class Stream:
    """Uniform and normal float64 numbers, one at a time, of a generator that nobody else draws from meanwhile.

    ``expected`` is about how many will be taken; a wrong guess costs time only.
    """

    def __init__(self, gen: Generator, expected: int) -> None:
        self.gen = gen
        self.block = min(expected, _LARGEST)
        self.rest: Iterator[float] = iter(())
        self.saved: Any = None
        self.size = 0

    def __enter__(self) -> Stream:
        self.gen.lock.acquire()
        self.numbers = self._units() if self.block > _FEW else iter(self._single, None)
        waiting = self.gen.next_normal
        self.kept = [waiting is not None, waiting or 0.0]
        return self

    def __exit__(self, *_: Any) -> None:
        try:
            self.gen.next_normal = self.kept[1] if self.kept[0] else None
            unused = length_hint(self.rest)
            if unused:
                twister = self.gen.twister()
                twister.set_state(*self.saved)
                twister.random32(2 * (self.size - unused))
        finally:
            self.gen.lock.release()

    def _single(self) -> float:
        high, low = self.gen.random32(2).tolist()
        return ((high << 32 | low) & _MASK53) * 2.0**-53

    def _units(self) -> Iterator[float]:
        while True:
            self.saved = self.gen.twister().state()
            self.size = self.block
            self.rest = iter(unit64(self.gen, self.size).tolist())
            yield from self.rest


# -- One number after another: in Python, and compiled from the same text.

_MANY = 10.0  # from this mean on a count is found by rejection
_SQUEEZE = float(np.float32(0.0331))  # PyTorch's constants are single precision
# the error of Stirling's formula for 0 to 9
_TAILS = (
    0.0810614667953272, 0.0413406959554092, 0.0276779256849983, 0.02079067210376509, 0.0166446911898211,
    0.0138761288230707, 0.0118967099458917, 0.0104112652619720, 0.00925546218271273, 0.00833056343336287,
)  # fmt: skip


def samplers(unit: Any, floor: Any, compiled: Callable[[Any], Any]) -> tuple[Any, Any, Any, Any]:
    """Samplers of a normal, a gamma, a Poisson and a binomial number.

    ``unit(stream)`` gives the next float64 from [0, 1); ``compiled`` makes of each function what is to be called.
    """

    @compiled
    def normal(stream: Any, kept: Any) -> Any:
        """``kept`` says whether the second number of a pair waits, and which. Source: Box and Muller (1958)."""
        if kept[0]:
            kept[0] = 0
            return kept[1]
        angle = 2.0 * pi * unit(stream)
        radius = sqrt(-2.0 * log1p(-unit(stream)))
        kept[0] = 1
        kept[1] = radius * sin(angle)
        return radius * cos(angle)

    @compiled
    def gamma(stream: Any, kept: Any, shape: Any, exponent: Any, d: Any, c: Any) -> Any:
        """``exponent`` is zero but for shape parameters below one. Source: Marsaglia and Tsang (2000)."""
        scale = 1.0
        if exponent != 0:
            if shape == 0:
                return 0.0
            scale = (1.0 - unit(stream)) ** exponent
        while True:
            x = normal(stream, kept)
            y = 1.0 + c * x
            while y <= 0:
                x = normal(stream, kept)
                y = 1.0 + c * x
            v = y * y * y
            u = 1.0 - unit(stream)
            square = x * x
            if u < 1.0 - _SQUEEZE * square * square or log(u) < 0.5 * square + d * (1.0 - v + log(v)):
                return (scale * d) * v

    @compiled
    def many_events(stream: Any, rate: Any) -> Any:
        """By transformed rejection. Source: Hoermann (1993), PTRS."""
        b = 0.931 + 2.53 * sqrt(rate)
        a = -0.059 + 0.02483 * b
        alpha, bound = 1.1239 + 1.1328 / (b - 3.4), 0.9277 - 3.6224 / (b - 2)
        while True:
            u = unit(stream) - 0.5
            v = unit(stream)
            us = 0.5 - abs(u)
            k = floor((2 * a / us + b) * u + rate + 0.43) if us > 0 else -1.0
            if us >= 0.07 and v <= bound:
                return float(k)
            if k < 0 or us < 0.013 and v > us:
                continue
            level = log(v) if v > 0 else -inf
            if level + log(alpha) - log(a / (us * us) + b) <= -rate + k * log(rate) - lgamma(k + 1):
                return float(k)

    @compiled
    def poisson(stream: Any, rate: Any) -> Any:
        """By products of uniform numbers, or for high rates by rejection; -1 if the rate is none."""
        if not rate >= 0:
            return -1.0
        if rate >= _MANY:
            return many_events(stream, rate) if rate < inf else rate
        count, product, end = 0.0, 1.0, exp(-rate)
        while rate != 0:
            product *= unit(stream)
            if product <= end:
                break
            count += 1.0
        return count

    @compiled
    def tail(k: Any) -> Any:
        if k < 10:
            return _TAILS[int(k)]
        square = (k + 1) * (k + 1)
        return (1.0 / 12 - (1.0 / 360 - 1.0 / 1260 / square) / square) / (k + 1)

    @compiled
    def many_successes(stream: Any, n: Any, p: Any, mean: Any, deviation: Any, odds: Any, middle: Any) -> Any:
        """By transformed rejection. Source: Hoermann (1993), BTRS, with the logarithm its listing lacks."""
        b = 1.15 + 2.53 * deviation
        a = -0.0873 + 0.0248 * b + 0.01 * p
        c = mean + 0.5
        bound = 0.92 - 4.2 / b
        alpha = (2.83 + 5.1 / b) * deviation
        level = tails = nan  # most numbers are taken before these are wanted
        while True:
            u = unit(stream) - 0.5
            v = unit(stream)
            us = 0.5 - abs(u)
            k = float(floor((2 * a / us + b) * u + c)) if us > 0 else -1.0
            if k < 0 or k > n:
                continue
            if us >= 0.07 and v <= bound:
                return k
            if isnan(level):
                level = (middle + 0.5) * log((middle + 1) / (odds * (n - middle + 1)))
                tails = tail(middle) + tail(n - middle)
            upper = (
                level
                + (n + 1) * log((n - middle + 1) / (n - k + 1))
                + (k + 0.5) * log(odds * (n - k + 1) / (k + 1))
                + tails
                - tail(k)
                - tail(n - k)
            )
            x = v * alpha / (a / (us * us) + b)
            if (log(x) if x > 0 else -inf) <= upper:
                return k

    @compiled
    def few_successes(stream: Any, trials: Any, log_rest: Any) -> Any:
        """Counted by the gaps between them, which are geometric."""
        trial, successes = 0.0, 0.0
        while True:
            u = unit(stream)
            trial += -floor(-(log(u) / log_rest)) if u > 0 else inf
            if not trial <= trials:
                return successes
            successes += 1.0

    @compiled
    def binomial(
        stream: Any, trials: Any, chance: Any, rare: Any, mean: Any, log_rest: Any, deviation: Any, odds: Any,
        middle: Any,
    ) -> Any:  # fmt: skip
        """The rarer outcome is counted, of chance ``rare``."""
        if trials <= 0 or chance <= 0:
            return 0.0
        if chance >= 1:
            return trials
        if isnan(chance):
            return nan
        if not trials < inf:  # without end, or NaN
            return trials
        if mean >= _MANY:
            k = many_successes(stream, trials, rare, mean, deviation, odds, middle)
        else:
            k = few_successes(stream, trials, log_rest)
        return trials - k if chance > 0.5 else k

    return normal, gamma, poisson, binomial


normal, _gamma, _poisson, _binomial = samplers(next, floor, lambda function: function)


# -- Counts drawn as PyTorch's CPU kernels draw them: Poisson and binomial; knows generators and arrays, no tensors.

_NO_RATE = "invalid Poisson rate, expected rate to be non-negative"
_WORTH = 64  # numbers that the compiled form makes while a loop in Python makes one


def poisson(gen: Generator, rates: np.ndarray) -> np.ndarray:
    """Counts of events whose mean numbers ``rates`` holds, as float64, element by element in row-major order."""
    if np.isnan(rates).any():
        raise RuntimeError(_NO_RATE)
    # a loop in Python takes some microseconds for each number
    with gen.lock:
        if (native := serving(gen, _WORTH * rates.size)) is not None:
            drawn = np.empty(rates.size)
            if not native[0].poisson(native[1], rates.reshape(-1).astype(np.float64), drawn):
                raise RuntimeError(_NO_RATE)
            return drawn.reshape(rates.shape)
    listed = rates.reshape(-1).astype(np.float64).tolist()
    expected = int(sum(rate + 1 if rate < _MANY else 3 for rate in listed if rate >= 0)) + 1
    counts = []
    with Stream(gen, expected) as stream:
        for rate in listed:
            counts.append(_poisson(stream.numbers, rate))
            if counts[-1] < 0:
                raise RuntimeError(_NO_RATE)
    return np.array(counts, np.float64).reshape(rates.shape)


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
    with Stream(gen, 3 * n.size) as stream:
        successes = [_binomial(stream.numbers, *row) for row in rows]
    return np.array(successes, np.float64).astype(count.dtype).reshape(count.shape)


# -- Gamma and Dirichlet numbers as PyTorch's CPU kernels draw them, and how they move with their parameters.
#
# Knows generators and arrays, no tensors.  The slopes hold the chance of a smaller number fixed, and use the expansions
# and fits of Jankowiak and Obermeyer, Pathwise derivatives beyond the reparameterization trick (2018).

F8 = np.dtype("f8")
_THIRD = np.float32(1) / np.float32(3)  # in single precision, as _SQUEEZE


# -- drawing ----------------------------------------------------------------------------------------------------------


def standard_gamma(gen: Generator, alpha: np.ndarray) -> np.ndarray:
    """Gamma numbers of shape parameters ``alpha`` and rate one, in its floating dtype, none below the smallest normal.

    Element by element in row-major order. Source: Marsaglia and Tsang (2000), doi:10.1145/358407.358414
    """
    kind = alpha.dtype.type
    one = kind(1)
    flat = np.ascontiguousarray(alpha).reshape(-1)
    small = flat < one
    with np.errstate(all="ignore"):
        raised = np.where(small, flat + one, flat)
        exponent = np.where(small, one / flat, kind(0))
        d = (raised - kind(_THIRD)).astype(F8)
        c = 1.0 / np.sqrt(9.0 * d)
    with gen.lock:
        if (native := serving(gen, _WORTH * flat.size)) is not None:
            drawn, kept = np.empty(flat.size), np.array([gen.next_normal is not None, gen.next_normal or 0.0])
            native[0].gamma(native[1], kept, flat.astype(F8), exponent.astype(F8), d, c.astype(F8), drawn)
            gen.next_normal = float(kept[1]) if kept[0] else None
            return np.maximum(drawn.astype(alpha.dtype), np.finfo(alpha.dtype).tiny).reshape(alpha.shape)
    facts = zip(*(a.tolist() for a in (flat, exponent, d, c)), strict=True)
    with Stream(gen, 4 * flat.size) as stream:
        samples = [_gamma(stream.numbers, stream.kept, *row) for row in facts]
    values = np.array(samples, F8).astype(alpha.dtype)
    return np.maximum(values, np.finfo(alpha.dtype).tiny).reshape(alpha.shape)


def dirichlet(gen: Generator, alpha: np.ndarray) -> np.ndarray:
    """Vectors of chances along the last dimension: float64 gamma numbers over their sum, within the open interval."""
    kind = alpha.dtype
    gamma = standard_gamma(gen, alpha.astype(F8))
    parts = (gamma / np.add.reduce(gamma, axis=-1, keepdims=True)).astype(kind)
    return np.clip(parts, np.finfo(kind).tiny, np.nextafter(kind.type(1), kind.type(0)))


# -- slopes of gamma numbers ------------------------------------------------------------------------------------------

# exp(P/Q), polynomials in log(alpha) whose coefficients are quadratics in log(x / alpha)
_BIVARIATE = np.array([
    [0.16009398, -0.094634809, 0.025146376, -0.0030648343, 1, 0.32668115, 0.10406089, 0.0014179084],
    [0.53487893, 0.1298071, 0.065735949, -0.0015649758, 0.16639465, 0.020070113, -0.0035938915, -0.00058392623],
    [0.040121004, -0.0065914022, -0.0026286047, -0.0013441777, 0.017050642, -0.0021309326, 0.00085092367,
     -1.5247877e-07],
])  # fmt: skip


def standard_gamma_grad(alpha: np.ndarray, x: np.ndarray) -> np.ndarray:
    """How a gamma number ``x`` moves with its shape parameter: computed in float64, given in the dtype of ``alpha``."""
    a, v = np.broadcast_arrays(np.asarray(alpha, F8), np.asarray(x, F8))
    a, v = a.reshape(-1), v.reshape(-1)
    out = np.empty(a.size)
    near = v < float(np.float32(0.8))
    large = ~near & (a > 8)
    centre = large & (float(np.float32(0.9)) * a <= v) & (v <= float(np.float32(1.1)) * a)
    with np.errstate(all="ignore"):
        for where, slope in (
            (near, _gamma_series), (centre, _gamma_centre), (large & ~centre, _gamma_saddle),
            (~near & ~large, _gamma_fit),
        ):  # fmt: skip
            if where.any():
                out[where] = slope(a[where], v[where])
    return out.astype(alpha.dtype).reshape(np.broadcast_shapes(alpha.shape, x.shape))


def _gamma_series(a: Any, x: Any) -> Any:
    term = np.ones_like(x)
    below = a.copy()
    first, second = term / below, term / (below * below)
    for i in range(1, 6):
        term *= -x / i
        below += 1
        first += term / below
        second += term / (below * below)
    power = x**a
    slope = (np.log(x) - digamma(a)) * (power * first) - power * second
    return np.nan_to_num(-slope / (x ** (a - 1) * np.exp(-x)), nan=0.0, posinf=np.inf, neginf=-np.inf)


def _gamma_centre(a: Any, x: Any) -> Any:
    square = a * a
    first = 1 + 24 * a * (1 + 12 * a)
    second = 1440 * square + 6 * x * (53 - 120 * x) - 65 * x * x / a + a * (107 + 3600 * x)
    return first * second / (1244160 * square * square)


def _gamma_saddle(a: Any, x: Any) -> Any:
    root, off, ratio = np.sqrt(8 * a), a - x, np.log(x / a)
    depth = (-off - a * ratio) ** -1.5
    sides = root / off + np.where(x < a, -depth, depth)
    inner = ratio * sides - np.sqrt(2 / a) * (a + x) / (off * off)
    return -(1 + 1 / (12 * a) * (1 + 1 / (24 * a))) * x * inner / root


def _gamma_fit(a: Any, x: Any) -> Any:
    u, v = np.log(x / a)[:, None], np.log(a)
    c = (_BIVARIATE[0] + u * (_BIVARIATE[1] + u * _BIVARIATE[2])).T
    p = c[0] + v * (c[1] + v * (c[2] + v * c[3]))
    q = c[4] + v * (c[5] + v * (c[6] + v * c[7]))
    return np.exp(p / q)


# -- slopes of Dirichlet numbers --------------------------------------------------------------------------------------

_QUOTIENT = np.array([
    [[[1.003668233, -0.01061107488, -0.0657888334, 0.01201642863],
      [0.6336835991, -0.3557432599, 0.05486251648, -0.001465281033],
      [-0.03276231906, 0.004474107445, 0.002429354597, -0.0001557569013]],
     [[0.221950385, -0.3187676331, 0.01799915743, 0.01074823814],
      [-0.2951249643, 0.06219954479, 0.01535556598, 0.001550077057],
      [0.02155310298, 0.004170831599, 0.001292462449, 6.976601077e-05]],
     [[-0.05980841433, 0.008441916499, 0.01085618172, 0.002319392565],
      [0.02911413504, 0.01400243777, -0.002721828457, 0.000751041181],
      [0.005900514878, -0.001936558688, -9.495446725e-06, 5.385558597e-05]]],
    [[[1, -0.02924021934, -0.04438342661, 0.007285809825],
      [0.6357567472, -0.3473456711, 0.05454656494, -0.002407477521],
      [-0.03301322327, 0.004845219414, 0.00231480583, -0.0002307248149]],
     [[0.5925320577, -0.1757678135, 0.01505928619, 0.000564515273],
      [0.1014815858, -0.06589186703, 0.01272886114, -0.0007316646956],
      [-0.007258481865, 0.001096195486, 0.0003934994223, -4.12701925e-05]],
     [[0.06469649321, -0.0236701437, 0.002902096474, -5.896963079e-05],
      [0.001925008108, -0.002869809258, 0.0008000589141, -6.063713228e-05],
      [-0.0003477407336, 6.959756487e-05, 1.097287507e-05, -1.650964693e-06]]],
])  # fmt: skip


def dirichlet_grad(x: np.ndarray, alpha: np.ndarray, total: np.ndarray) -> np.ndarray:
    """How a Dirichlet number ``x`` moves with its own parameter, over ``1 - x``; ``total`` is the parameters' sum."""
    kind = x.dtype
    near_edge = total * x * (1 - x)  # in the dtype given, as what it decides
    v, a, t, edge = (np.asarray(part, F8).reshape(-1) for part in np.broadcast_arrays(x, alpha, total, near_edge))
    b = t - a
    low = (v <= 0.5) & (edge < 2.5)
    high = ~low & (v >= 0.5) & (edge < 0.75)
    middle = ~low & ~high & (a > 6) & (b > 6)
    out = np.empty(v.size)
    with np.errstate(all="ignore"):
        for where, slope in ((low, _near_zero), (high, _near_one), (middle, _beta_middle)):
            if where.any():
                out[where] = slope(v[where], a[where], b[where])
        rest = ~(low | high | middle)
        if rest.any():
            out[rest] = _beta_fit(v[rest], a[rest], t[rest])
    return out.astype(kind).reshape(near_edge.shape)


def _near_zero(x: Any, a: Any, b: Any) -> Any:
    factor = digamma(a) - digamma(a + b) - np.log(x)
    term = np.ones_like(x)
    series = term / a * (factor + 1 / a)
    for i in range(1, 11):
        term = term * ((i - b) * x / i)
        series += term / (a + i) * (factor + 1 / (a + i))
    result = x * (1 - x) ** -b * series
    return np.where(np.isnan(result), 0.0, result)


def _near_one(x: Any, a: Any, b: Any) -> Any:
    x, a, b = 1 - x, b, a
    factor = digamma(a + b) - digamma(b)
    term, betas, slopes = np.ones_like(x), np.ones_like(x), np.zeros_like(x)
    series = factor / a
    for i in range(1, 9):
        term = term * (-x / i)
        slopes = slopes * (b - i) + betas
        betas = betas * (b - i)
        series = series + term / (a + i) * (slopes + factor * betas)
    result = (1 - x) ** (1 - b) * series
    return np.where(np.isnan(result), 0.0, result)


def _beta_middle(x: Any, a: Any, b: Any) -> Any:
    total = a + b
    mean = a / total
    spread = np.sqrt(a * b / (total + 1)) / total
    centre = (mean - 0.1 * spread <= x) & (x <= mean + 0.1 * spread)
    return np.where(centre, _beta_centre(x, a, b, total), _beta_saddle(x, a, b, total, mean))


def _beta_centre(x: Any, a: Any, b: Any, total: Any) -> Any:
    square = b * b
    cubic = (453 + 1620 * b * (1 - x) - 455 * x) * b + a * (8 * (1 - x) * (135 * b - 11))
    inner = 3 * (59 + 180 * b - 90 * x) * square + a * cubic
    poly = 47 * x * square * square + a * ((43 + 20 * (16 + 27 * b) * x) * square * b + a * inner)
    above = (1 + 12 * a) * (1 + 12 * b) / (total * total)
    return above / (1 - x) * poly / (12960 * a * a * a * square * (1 + 12 * total))


def _stirling(a: Any) -> Any:
    return 1 + 1 / (12 * a) + 1 / (288 * a * a)


def _beta_saddle(x: Any, a: Any, b: Any, total: Any, mean: Any) -> Any:
    off = a * (x - 1) + b * x
    first = (2 * a * a * (x - 1) + a * b * (x - 1) - x * b * b) / (np.sqrt(2 * a / b) * total**1.5 * off * off)
    log_a = np.log(a / (total * x))
    depth = (b * np.log(b / (total * (1 - x))) + a * log_a) ** -1.5
    second = 0.5 * log_a * (np.sqrt(8 * a * b / total) / off + np.where(x < mean, depth, -depth))
    scale = _stirling(a) * _stirling(b) / _stirling(total)
    return scale * (-x / np.sqrt(2 * a * b / total)) * (first + second)


def _beta_fit(x: Any, a: Any, total: Any) -> Any:
    u = np.log(x)
    v = np.log(a) - u
    w = np.log(total) - v
    ones = np.ones_like(u)
    powers = np.einsum("in,jn,kn->ijkn", *(np.stack(rows) for rows in (
        (ones, u, u * u), (ones, v, v * v), (ones, w, w * w, w * w * w),
    )))  # fmt: skip
    p, q = np.einsum("cijk,ijkn->cn", _QUOTIENT, powers)
    return p / q * (x * (digamma(total) - digamma(a)) / (total - a))
