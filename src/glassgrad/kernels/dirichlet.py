"""Gamma and Dirichlet numbers as PyTorch's CPU kernels draw them, and how they move with their parameters.

Knows generators and arrays, no tensors.  The slopes hold the chance of a smaller number fixed, and use the expansions
and fits of Jankowiak and Obermeyer, Pathwise derivatives beyond the reparameterization trick (2018).
"""

from __future__ import annotations

from math import log
from typing import Any

import numpy as np

from glassgrad.ground.generator import Generator
from glassgrad.kernels.serial import Stream
from glassgrad.kernels.special import digamma
from glassgrad.kernels.uniform import serving

F8 = np.dtype("f8")
_WORTH = 64  # numbers that the compiled form makes while a loop in Python makes one
_THIRD = np.float32(1) / np.float32(3)  # PyTorch's constants are single precision
SQUEEZE = float(np.float32(0.0331))


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
    found = []
    with Stream(gen, 4 * flat.size) as stream:
        unit, normal = stream.unit, stream.normal
        for shape, is_small, power, d_, c_ in zip(
            flat.tolist(), small.tolist(), exponent.tolist(), d.tolist(), c.tolist(), strict=True
        ):
            scale = 1.0
            if is_small:
                if shape == 0:
                    found.append(0.0)
                    continue
                scale = (1.0 - unit()) ** power
            found.append(_one(scale * d_, d_, c_, unit, normal))
    values = np.array(found, F8).astype(alpha.dtype)
    return np.maximum(values, np.finfo(alpha.dtype).tiny).reshape(alpha.shape)


def _one(scale: float, d: float, c: float, unit: Any, normal: Any) -> float:
    while True:
        x = normal()
        y = 1.0 + c * x
        while y <= 0:
            x = normal()
            y = 1.0 + c * x
        v = y * y * y
        u = 1.0 - unit()
        square = x * x
        if u < 1.0 - SQUEEZE * square * square or log(u) < 0.5 * square + d * (1.0 - v + log(v)):
            return scale * v


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
