"""The normal distribution's function on a logarithmic scale, its inverse, and the scaled error function behind them."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from .chebyshev import by_blocks, clenshaw
from .special import erfc, erfinv

# (1 + 2 x) exp(x^2) erfc(x) in t = (x - 2) / (x + 2), 0 <= x
_ERFCX = (
    1.1760066555883004, 0.025779673870048207, -0.10659315067778503, 0.03880887957448382, -0.005414899930893725,
    -0.00040815257282372384, 0.00019843768248553527, 9.842532776048127e-06, -7.763265561062859e-06,
    -7.174001457529682e-07, 3.140694955581843e-07, 6.188423669546144e-08, -9.890619934492214e-09,
    -4.59539962251018e-09, -7.180587728177086e-11, 2.6296183336364044e-10, 4.867734056607904e-11,
    -8.026804193759018e-12, -4.779133570845297e-12, -4.3470126478464375e-13, 2.4123142738462003e-13,
    8.610900521277307e-14, 2.5947648983718217e-15, -5.872254381500454e-15, -1.7019328812338413e-15,
    1.3873587121758e-17, 1.4092174407317463e-16, 3.841275494056573e-17, -7.1152931201208e-19,
    -3.480409460564532e-18,
)  # fmt: skip
_ROOT_HALF = math.sqrt(0.5)


def _erfcx(x: Any) -> Any:
    """``exp(x^2) erfc(x)`` of x >= 0."""
    z = np.minimum(x, 1e300)  # infinity over infinity is nothing
    return clenshaw((z - 2) / (z + 2), _ERFCX) / (1 + 2 * x)


@by_blocks
def erfcx(x: Any) -> Any:
    """The scaled complementary error function ``exp(x^2) erfc(x)``."""
    size = np.abs(x)
    out = _erfcx(size)
    below = x < 0
    if below.any():
        z = size[below]
        high = (z.view("i8") & -(1 << 27)).view("f8")  # its square is exact
        out[below] = 2 * (np.exp(high * high) * np.exp((z - high) * (z + high))) - out[below]
        out[x < -27] = np.inf
    return out


@by_blocks
def log_ndtr(x: Any) -> Any:
    """The logarithm of the normal distribution function, with every digit in the lower tail."""
    z = x * _ROOT_HALF
    low = np.minimum(z, 0.0)
    tail = np.log(_erfcx(-low) / 2) - low * low
    return np.where(x < -1, tail, np.log1p(-erfc(np.maximum(z, -1.0)) / 2))


def _lower(p: Any) -> Any:
    """The quantile of 0 < p < 0.2: an estimate of three digits, then Halley's steps on a scale without underflow.

    Source: M. Abramowitz and I. Stegun, Handbook of mathematical functions, 26.2.23.
    """
    log = np.log(p)
    t = np.sqrt(-2 * log)
    top, bottom = (0.010328 * t + 0.802853) * t + 2.515517, ((0.001308 * t + 0.189269) * t + 1.432788) * t + 1
    x = top / bottom - t
    for _ in range(2):
        miss = math.sqrt(math.pi / 2) * _erfcx(-x * _ROOT_HALF) - math.sqrt(2 * math.pi) * np.exp(log + x * x / 2)
        x = x - miss / (1 + x * miss / 2)
    return x


@by_blocks
def ndtri(p: Any) -> Any:
    """The quantiles of the normal distribution: infinite at 0 and 1, NaN beyond."""
    middle = p - 0.5  # exact for p from 0.25 up
    out = math.sqrt(2) * erfinv(np.clip(2 * middle, -0.7, 0.7))
    low = (p > 0) & (p < 0.2)
    if low.any():
        out[low] = _lower(p[low])
    high = (p > 0.8) & (p < 1)
    if high.any():
        out[high] = -_lower(1 - p[high])
    out[p == 0] = -np.inf
    out[p == 1] = np.inf
    out[(p < 0) | (p > 1) | (p != p)] = np.nan
    return out
