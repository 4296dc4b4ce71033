"""Special functions of arrays: erf, erfc, erfinv, lgamma, digamma, polygamma; knows NumPy only.

Small arrays are mapped through the C library; large ones are evaluated by polynomials, block by block.  Chebyshev and
rational fits were computed for this file with 40 digits; each names the range it serves.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

F4, F8 = np.dtype("f4"), np.dtype("f8")
FEW = 200  # below so many elements a loop over libm is faster than a dozen array passes
BLOCK = 8192  # elements that stay in cache during all passes
_DISTANCE = 10.0  # from here on asymptotic series give every digit

# erf(x) / x in t = 2 x^2 - 1, |x| <= 1
_SMALL = (
    0.9654687386698673, -0.1405360890227171, 0.019852496688983708, -0.0022854855611441132, 0.00021751715604160108,
    -1.7537169441124826e-05, 1.223382738352401e-06, -7.51156928660089e-08, 4.11580059766496e-09,
    -2.035228404899467e-10, 9.167606746069445e-12, -3.8078827395263415e-13, 1.454817075960679e-14,
)  # fmt: skip
# exp(x^2) erfc(x) in t = (x - 1.75) / 0.75, 1 <= x <= 2.5
_MIDDLE = (
    0.2849722347374364, -0.0982322591358639, 0.03136704192398661, -0.009390935492460714, 0.0026591791241932024,
    -0.000716891445601558, 0.00018495607834436104, -4.58561672417776e-05, 1.0962893583555963e-05,
    -2.5345102432459424e-06, 5.680168039528994e-07, -1.2366191610602804e-07, 2.6200042742910317e-08,
    -5.410908195151153e-09, 1.091503155170989e-09, -2.1507030451010433e-10, 4.0876080046075043e-11,
    -7.71546700484243e-12, 1.7052432074124026e-12, -3.104341651391479e-13,
)  # fmt: skip
# exp(x^2) erfc(x) x in t, 1/x scaled from [1/28, 1/2.5] to [-1, 1]
_LARGE = (
    0.5516565357082848, -0.019667441218477, -0.0062712767549289745, 0.0013295966311683148, 2.4408052648987364e-05,
    -7.069718286240561e-05, 1.4910101051139034e-05, 9.469687823362836e-07, -1.4158660567842087e-06,
    3.6179989341575623e-07, 8.848123415971478e-09, -3.8916180158000775e-08, 1.3746988318692181e-08,
    -1.107413310847303e-09, -1.1538229569759594e-09, 6.337255864400222e-10, -1.3767009036038842e-10,
    -2.047966758496588e-11, 3.0934251391649756e-11, -1.246063325021177e-11, 3.234741453183096e-13,
    1.7641412308851228e-12, -4.462053496884871e-13, -3.101789202992153e-14,
)  # fmt: skip
# erf(x) / x as a quotient in x^2 for float32, |x| <= 3.9
_TOP = tuple(map(np.float32, (1.1283791476232483, 0.18966695974018813, 0.05266810422079518, 0.0037383533892042815,
                              0.0002850626340279522, 2.0664754951480167e-06)))  # fmt: skip
_BOTTOM = tuple(map(np.float32, (1.0, 0.5014207481335058, 0.11381901752434562, 0.014914290744917697,
                                 0.0011573784899401166, 3.8270067294861e-05)))  # fmt: skip
# erfinv(x) / x in w - 2.5 and in sqrt(w) - 3, where w = -log(1 - x^2), parted at 5.
# Source: Giles (2012), Approximating the erfinv function, GPU Computing Gems.
_NEAR = (
    1.50140941, 0.246640727, -0.00417768164, -0.00125372503, 0.00021858087, -4.39150654e-06, -3.5233877e-06,
    3.43273939e-07, 2.81022636e-08,
)  # fmt: skip
_FAR = (
    2.83297682, 1.00167406, 0.00943887047, -0.0076224613, 0.00573950773, -0.00367342844, 0.00134934322, 0.000100950558,
    -0.000200214257,
)  # fmt: skip
_BERNOULLI = (
    1 / 6, -1 / 30, 1 / 42, -1 / 30, 5 / 66, -691 / 2730, 7 / 6, -3617 / 510, 43867 / 798, -174611 / 330,
)  # fmt: skip


def _mapped(function: Callable[[float], float], x: Any) -> Any:
    """``function`` of each element, in the dtype of ``x``."""
    if x.ndim == 0:
        return x.dtype.type(function(float(x)))
    return np.array([function(v) for v in x.ravel().tolist()], x.dtype).reshape(x.shape)


def _blocked(function: Callable[[Any], Any], x: Any) -> Any:
    """``function`` of a large array, computed by blocks."""
    flat = x.reshape(-1)
    out = np.empty(flat.size, x.dtype)
    for start in range(0, flat.size, BLOCK):
        out[start : start + BLOCK] = function(flat[start : start + BLOCK])
    return out.reshape(x.shape)


def _horner(t: Any, coefficients: tuple[Any, ...]) -> Any:
    total = t * coefficients[-1]
    total += coefficients[-2]
    for c in coefficients[-3::-1]:
        total *= t
        total += c
    return total


def _square_exp(x: Any) -> Any:
    """exp(-x^2), the rounding error of the square taken back."""
    high = (x.view("i8") & -(1 << 27)).view("f8")  # its square is exact
    return np.exp(-high * high) * np.exp(-(x - high) * (x + high))


def _tail(x: Any) -> Any:
    """erfc of float64 values from 1 up."""
    out = np.zeros_like(x)
    middle = x < 2.5
    m = x[middle]
    out[middle] = _square_exp(m) * _horner((m - 1.75) / 0.75, _MIDDLE)
    far = ~middle & (x < 28)
    m = x[far]
    low, high = 1 / 28, 1 / 2.5
    out[far] = _square_exp(m) / m * _horner((2 / m - (low + high)) / (high - low), _LARGE)
    return out


def _erf_block(x: Any) -> Any:
    if x.dtype == F4:
        z = np.clip(x, np.float32(-3.9), np.float32(3.9))
        s = z * z
        return z * _horner(s, _TOP) / _horner(s, _BOTTOM)
    size = np.abs(x)
    small = size < 1
    s = np.where(small, x, 0.0)
    out = s * _horner(2 * s * s - 1, _SMALL)
    beyond = ~small
    if beyond.any():
        out[beyond] = np.copysign(1 - _tail(size[beyond]), x[beyond])
        out[np.isnan(x)] = np.nan
    return out


def _erfc_block(x: Any) -> Any:
    wide = x.astype(F8)
    size = np.abs(wide)
    small = size < 1
    s = np.where(small, wide, 0.0)
    out = 1 - s * _horner(2 * s * s - 1, _SMALL)
    near = small & (wide > 0.5)  # here 1 - erf would cancel
    if near.any():
        out[near] = [math.erfc(v) for v in wide[near].tolist()]
    beyond = ~small
    tail = _tail(size[beyond])
    out[beyond] = np.where(wide[beyond] > 0, tail, 2 - tail)
    out[np.isnan(wide)] = np.nan
    return out


def erf(x: Any) -> Any:
    """The error function."""
    return _mapped(math.erf, x) if x.size <= FEW else _blocked(_erf_block, x)


def erfc(x: Any) -> Any:
    """One minus the error function, exact in the tail."""
    return _mapped(math.erfc, x) if x.size <= FEW else _blocked(_erfc_block, x)


def _erfinv_ratio(w: Any) -> Any:
    """erfinv(x) / x to seven digits, of ``w = -log(1 - x^2)``: what a float32 can hold."""
    ratio = _horner(w - 2.5, _NEAR)
    tail = w > 5
    if tail.any():
        ratio[tail] = _horner(np.sqrt(w[tail]) - 3, _FAR)
    return ratio


def _erfinv_by_steps(p: Any, v: Any, log: Any) -> Any:
    """erfinv of ``v``, that is ``1 - p``; ``log`` is that of ``1 - v^2``."""
    a = 2 / (math.pi * 0.147) + log / 2
    z = np.sqrt(np.sqrt(a * a - log / 0.147) - a)  # Winitzki's estimate, two digits
    for _ in range(3):  # Halley's steps, on the side where nothing cancels
        miss = np.where(v < 0.5, erf(z) - v, p - erfc(z))
        step = miss * (math.sqrt(math.pi) / 2) * np.exp(z * z)
        z = z - step / (1 + z * step)
    return z


def erfinv(x: Any) -> Any:
    """The inverse of the error function: infinite at -1 and 1, NaN beyond."""
    return _blocked(_erfinv, x) if x.size > BLOCK else _erfinv(x)


def _erfinv(x: Any) -> Any:
    y = np.atleast_1d(x).astype(F8)
    rest = 1 - np.abs(y)  # exact
    inside = (rest > 0) & (rest <= 1)
    p = np.where(inside, rest, 1.0)
    v = np.where(inside, np.abs(y), 0.0)
    log = np.log(p * (2 - p))
    z = v * _erfinv_ratio(-log) if x.dtype == F4 else _erfinv_by_steps(p, v, log)
    out = np.copysign(z, y)
    out[~inside] = np.where(rest[~inside] == 0, np.copysign(np.inf, y[~inside]), np.nan)
    return out.astype(x.dtype).reshape(np.shape(x))[()]


def _lgamma(v: float) -> float:
    try:
        return math.lgamma(v)
    except (ValueError, OverflowError):  # poles; values beyond the largest float
        return math.inf


def lgamma(x: Any) -> Any:
    """The logarithm of the absolute value of the gamma function; infinite at its poles."""
    return _mapped(_lgamma, x)


def digamma(x: Any) -> Any:
    """The derivative of lgamma; NaN at the negative integers, infinite at zero."""
    x_ = np.atleast_1d(x).astype(F8)
    mirrored = x_ < 0
    z = np.where(mirrored, 1 - x_, x_)
    total = np.zeros_like(z)
    low = z < _DISTANCE
    while low.any():
        total[low] -= 1 / z[low]
        z[low] += 1
        low = z < _DISTANCE
    w = 1 / (z * z)
    series = _horner(w, tuple(b / (2 * k) for k, b in enumerate(_BERNOULLI[:8], 1)))
    total += np.log(z) - 0.5 / z - w * series
    part = x_[mirrored] - np.trunc(x_[mirrored])  # exact, where pi * x is not
    reflection = math.pi / np.tan(math.pi * part)
    reflection[part == 0] = np.nan
    total[mirrored] -= reflection
    zero = x_ == 0
    total[zero] = np.copysign(np.inf, -x_[zero])
    total[np.isposinf(x_)] = np.inf
    return total.astype(x.dtype).reshape(np.shape(x))[()]


def polygamma(n: int, x: Any) -> Any:
    """The derivative of digamma of order ``n``."""
    if n == 0:
        return digamma(x)
    z = np.atleast_1d(x).astype(F8)
    pole = (z <= 0) & (z == np.floor(z))
    z[pole] = 1.0
    odd = n % 2 == 1
    sign = np.ones_like(z)
    out = np.zeros_like(z)
    mirrored = z < 0
    if n == 1 and mirrored.any():  # trigamma's reflection saves a long sum
        part = z[mirrored] - np.trunc(z[mirrored])
        out[mirrored] = (math.pi / np.sin(math.pi * part)) ** 2
        sign[mirrored] = -1
        z[mirrored] = 1 - z[mirrored]
    s = n + 1
    total = np.zeros_like(z)
    low = z < _DISTANCE + n
    while low.any():
        total[low] += z[low] ** -s
        z[low] += 1
        low = z < _DISTANCE + n
    total += z ** (1 - s) / (s - 1) + 0.5 * z**-s  # Euler and Maclaurin on Hurwitz's zeta function
    factor = s / 2
    for k, b in enumerate(_BERNOULLI, 1):
        total += b * factor / math.factorial(2 * k - 1) / k * z ** (-s - 2 * k + 1)
        factor *= (s + 2 * k - 1) * (s + 2 * k)
    out += sign * total * math.factorial(n) * (1 if odd else -1)
    out[pole] = np.inf if odd else -np.inf
    return out.astype(x.dtype).reshape(np.shape(x))[()]
