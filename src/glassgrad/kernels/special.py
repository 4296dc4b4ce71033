"""Special functions of arrays: erf, erfc, erfinv, lgamma, digamma, trigamma, two of Bessel's; knows NumPy only.

Small arrays are mapped through the C library where it has the function; large ones are evaluated by polynomials,
block by block, or by compiled kernels, which compute the same.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import lru_cache
from typing import Any

import numpy as np

from glassgrad.kernels import coefficients as c
from glassgrad.kernels import compiled

F4, F8 = np.dtype("f4"), np.dtype("f8")
FEW = 200  # below so many elements a loop over libm is faster than a dozen array passes
_VERY_FEW = 24  # the same, of functions that the C library does not have
BLOCK = 8192  # elements that stay in cache during all passes
_DISTANCE = 10.0  # from here on asymptotic series give every digit
_TOP, _BOTTOM = (tuple(map(np.float32, part)) for part in (c.ERF_TOP, c.ERF_BOTTOM))


def _mapped(function: Callable[[float], float], x: Any) -> Any:
    """``function`` of each element, in the dtype of ``x``."""
    if x.ndim == 0:
        return x.dtype.type(function(float(x)))
    return np.array([function(v) for v in x.ravel().tolist()], x.dtype).reshape(x.shape)


def _blocked(function: Callable[[Any], Any], x: Any) -> Any:
    """``function`` of an array, a large one by blocks."""
    flat = x.reshape(-1)
    if flat.size <= BLOCK:
        return function(flat).astype(x.dtype, copy=False).reshape(x.shape)[()]
    out = np.empty(flat.size, x.dtype)
    for start in range(0, flat.size, BLOCK):
        out[start : start + BLOCK] = function(flat[start : start + BLOCK])
    return out.reshape(x.shape)


_as_array = lru_cache(None)(np.array)


def _horner(t: Any, coefficients: tuple[Any, ...]) -> Any:
    """A polynomial of float64 numbers, or a short one of others, the constant first."""
    if t.size <= FEW and len(coefficients) > 8:  # all powers at once: fewer calls
        powers = np.empty((len(coefficients), t.size))
        powers[0] = 1
        powers[1:] = t
        return _as_array(coefficients) @ np.multiply.accumulate(powers)
    total = t * coefficients[-1]
    total += coefficients[-2]
    for factor in coefficients[-3::-1]:
        total *= t
        total += factor
    return total


# -- the error function ------------------------------------------------------------------------------------------------


def _square_exp(x: Any) -> Any:
    """exp(-x^2), the rounding error of the square taken back."""
    high = (x.view("i8") & -(1 << 27)).view("f8")  # its square is exact
    return np.exp(-high * high) * np.exp(-(x - high) * (x + high))


def _tail(x: Any) -> Any:
    """erfc of float64 values that are not negative."""
    x = np.minimum(x, 28.0)
    return _horner((x - c.MIDDLE_OF_TAIL) / (x + c.MIDDLE_OF_TAIL), c.SCALED_TAIL) * _square_exp(x) / (1 + 2 * x)


def _erf_block(x: Any) -> Any:
    if x.dtype == F4:
        z = np.clip(x, np.float32(-3.9), np.float32(3.9))
        s = z * z
        return z * _horner(s, _TOP) / _horner(s, _BOTTOM)
    size = np.abs(x)
    small = size < 1
    s = np.where(small, x, 0.0)
    near = s * _horner(2 * s * s - 1, c.ERF_SMALL)
    return np.where(small, near, np.copysign(1 - _tail(size), x))


def _erfc_block(x: Any) -> Any:
    wide = x.astype(F8)
    tail = _tail(np.abs(wide))
    return np.where(wide < 0, 2 - tail, tail)


def erf(x: Any) -> Any:
    """The error function."""
    if x.size <= FEW:
        return _mapped(math.erf, x)
    if x.size >= compiled.least and (made := compiled.special.erf(x)) is not None:
        return made
    return _blocked(_erf_block, x)


def erfc(x: Any) -> Any:
    """One minus the error function, exact in the tail."""
    if x.size >= compiled.least and (made := compiled.special.erfc(x)) is not None:
        return made
    return _mapped(math.erfc, x) if x.size <= FEW else _blocked(_erfc_block, x)


def _erfinv_block(x: Any) -> Any:
    """By a polynomial to eight digits, for float64 with a step of Halley's, on the side where nothing cancels."""
    wide = x.astype(F8)
    size = np.abs(wide)
    v = np.where(size < 1, size, 0.0)
    root = np.sqrt(4 - np.log((1 - v) * (1 + v)))
    z = v * _horner((root - 4.25) / 2.25, c.INVERSE_RATIO)
    if x.dtype == F8:
        miss = np.where(v < 0.5, _erf_block(z) - v, (1 - v) - _tail(z))
        step = miss * (math.sqrt(math.pi) / 2) * np.exp(z * z)
        z -= step / (1 + z * step)
    z = np.copysign(np.where(size == 1, np.inf, z), wide)
    return np.where(size <= 1, z, np.nan)


def erfinv(x: Any) -> Any:
    """The inverse of the error function: infinite at -1 and 1, NaN beyond."""
    if x.size >= compiled.least and (made := compiled.special.erfinv(x)) is not None:
        return made
    return _blocked(_erfinv_block, x)


# -- the gamma function ------------------------------------------------------------------------------------------------


def _lgamma(v: float) -> float:
    try:
        return math.lgamma(v)
    except (ValueError, OverflowError):  # poles; values beyond the largest float
        return math.inf


def _fraction(size: Any) -> Any:
    """How far numbers are from the nearest whole ones; exact, zero for infinities."""
    return np.where(size < 2.0**52, size - np.rint(size), 0.0)


def _sine(r: Any) -> Any:
    """sin(pi r) / pi."""
    return r * _horner(r * r, c.SINE)


def _lifted(x: Any) -> tuple[Any, Any, Any, Any]:
    """Numbers in float64, their sizes, which of them are below 1, and what is computed for them, from 1 on."""
    x = x.astype(F8)
    size = np.abs(x)
    below = x < 1
    return x, size, below, np.where(below, 1 + size, x)


def _lgamma_block(x: Any) -> Any:
    """By its values at 1 and beyond; negative numbers are reflected."""
    x, size, below, z = _lifted(x)
    less = np.where(below, size, x - 1)
    ratio = (z - c.MIDDLE_OF_LOG_GAMMA) / (z + c.MIDDLE_OF_LOG_GAMMA)
    value = less * (less - 1) * _horner(ratio, c.LOG_GAMMA)
    if (large := z >= 8).any():
        far = z[large]
        series = _horner(1 / (far * far), c.LOG_GAMMA_SERIES)
        value[large] = (far - 0.5) * (np.log(far) - 1) + (c.STIRLING + series / far)
    if below.any():
        negative = x < 0
        taken = np.where(negative, np.abs(_sine(_fraction(size))), np.where(below, size, 1.0))
        value = np.where(negative, -value, value) - np.log(taken)
        value[size == np.inf] = np.inf
    return value


def _digamma_block(x: Any) -> Any:
    """By its values at 1 and beyond; negative numbers are reflected."""
    x, size, below, z = _lifted(x)
    ratio = (z - c.MIDDLE_OF_DIGAMMA) / (z + c.MIDDLE_OF_DIGAMMA)
    value = ((z - c.ROOT) - c.ROOT_REST) * _horner(ratio, c.DIGAMMA)
    if (large := z >= _DISTANCE).any():
        far = z[large]
        square = 1 / (far * far)
        value[large] = np.log(far) - 0.5 / far - square * _horner(square, c.DIGAMMA_SERIES)
    if below.any():
        negative = x < 0
        value -= np.where(below & ~negative, 1 / x, 0.0)
        if negative.any():
            r = _fraction(size[negative])
            mirrored = _horner(r * r, c.COSINE) / _sine(r)
            mirrored[r == 0] = np.nan
            value[negative] += mirrored
    return value


def _trigamma_block(x: Any) -> Any:
    """By its values at 1 and beyond; negative numbers are reflected."""
    x, size, below, z = _lifted(x)
    ratio = (z - c.MIDDLE_OF_DIGAMMA) / (z + c.MIDDLE_OF_DIGAMMA)
    value = _horner(ratio, c.TRIGAMMA) / z
    if (large := z >= _DISTANCE).any():
        inverse = 1 / z[large]
        square = inverse * inverse
        value[large] = inverse * (1 + 0.5 * inverse + square * _horner(square, c.TRIGAMMA_SERIES))
    if below.any():
        negative = x < 0
        part = np.where(negative, _sine(_fraction(size)), x)
        value = np.where(negative, -value, value) + np.where(below, 1 / (part * part), 0.0)
        value[x == -np.inf] = np.nan
    return value


def _digamma(v: float) -> float:
    """One number's: by steps up to where the series serves, which for few numbers costs less than the blocks' calls."""
    if v <= 0:
        if v == 0:
            return -math.copysign(math.inf, v)
        r = v - round(v) if v > -(2.0**52) else 0.0
        return _digamma(1 - v) - math.pi / math.tan(math.pi * r) if r else math.nan
    total = 0.0
    while v < _DISTANCE:
        total -= 1 / v
        v += 1
    w = 1 / (v * v)
    return total + math.log(v) - 0.5 / v - w * _sum_of_powers(w, c.DIGAMMA_SERIES)


def _trigamma(v: float) -> float:
    """The same for the derivative."""
    if v <= 0:
        if v == -math.inf:
            return math.nan
        r = v - round(v) if v > -(2.0**52) else 0.0
        sine = math.sin(math.pi * r) / math.pi
        return 1 / sine / sine - _trigamma(1 - v) if sine else math.inf
    total = 0.0
    while v < _DISTANCE:
        total += 1 / v / v
        v += 1
    w = 1 / (v * v)
    return total + 1 / v + w * (0.5 + _sum_of_powers(w, c.TRIGAMMA_SERIES) / v)


def _sum_of_powers(w: float, coefficients: tuple[float, ...]) -> float:
    total = 0.0
    for factor in reversed(coefficients):
        total = total * w + factor
    return total


def _quietly(function: Callable[[Any], Any], x: Any) -> Any:
    with np.errstate(all="ignore"):
        return _blocked(function, x)


def lgamma(x: Any) -> Any:
    """The logarithm of the absolute value of the gamma function; infinite at its poles."""
    if x.size >= compiled.least and (made := compiled.special.lgamma(x)) is not None:
        return made
    return _mapped(_lgamma, x) if x.size <= FEW else _quietly(_lgamma_block, x)


def digamma(x: Any) -> Any:
    """The derivative of lgamma; NaN at the negative integers, infinite at zero."""
    if x.size >= compiled.least and (made := compiled.special.digamma(x)) is not None:
        return made
    return _mapped(_digamma, x) if x.size <= _VERY_FEW else _quietly(_digamma_block, x)


def trigamma(x: Any) -> Any:
    """The derivative of digamma; infinite at its poles."""
    if x.size >= compiled.least and (made := compiled.special.trigamma(x)) is not None:
        return made
    return _mapped(_trigamma, x) if x.size <= _VERY_FEW else _quietly(_trigamma_block, x)


# -- Bessel functions --------------------------------------------------------------------------------------------------


def i0(x: Any) -> Any:
    """The modified Bessel function of the first kind, order 0: NumPy's."""
    with np.errstate(all="ignore"):
        return np.i0(x.astype(F8)).astype(x.dtype)[()]


def spherical_j0(x: Any) -> Any:
    """The spherical Bessel function of order 0: ``sin(x) / x``, one at zero."""
    still = (x == 0) | np.isinf(x)
    z = np.where(still, x.dtype.type(1), x)
    return np.where(still, (x == 0).astype(x.dtype), np.sin(z) / z)[()]
