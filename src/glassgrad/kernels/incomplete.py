"""The incomplete gamma functions and Hurwitz's zeta function of arrays; knows NumPy only."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from .chebyshev import by_blocks, clenshaw
from .special import erfc, lgamma

# log(gamma(1 + a)) / a in t = 2 a - 1 , 0 <= a <= 1
_LGAM1P = (
    -0.2647362369323025, 0.28587285859139466, -0.0235145763321575, 0.002685079974656731, -0.0003497552715727561,
    4.880755320003236e-05, -7.098358790485804e-06, 1.060746616681459e-06, -1.6155933858435658e-07,
    2.4955218012272827e-08, -3.896697345119788e-09, 6.137352658308378e-10, -9.734966110649396e-11,
    1.5533015630980043e-11, -2.4909467297324567e-12, 4.0120228240690907e-13, -6.486576014785499e-14,
    1.0522714222232995e-14, -1.7121447861626472e-15, 2.7933134227060936e-16, -4.568268129158122e-17,
    7.487532521139084e-18, -1.2296930695316564e-18,
)  # fmt: skip
# row k: the Taylor series of c_k(eta), |eta| < 0.5, computed for this file with 80 digits; DLMF 8.12.12
_TEMME = (
    (-0.3333333333333333, 0.08333333333333333, -0.014814814814814815, 0.0011574074074074073, 0.0003527336860670194,
        -0.0001787551440329218, 3.919263178522438e-05, -2.185448510679992e-06, -1.85406221071516e-06,
        8.296711340953087e-07, -1.7665952736826078e-07, 6.707853543401498e-09, 1.0261809784240309e-08,
        -4.382036018453353e-09, 9.14769958223679e-10, -2.5514193994946248e-11, -5.830772132550426e-11,
        2.4361948020667415e-11, -5.0276692801141755e-12),
    (-0.001851851851851852, -0.003472222222222222, 0.0026455026455026454, -0.0009902263374485596,
        0.00020576131687242798, -4.018775720164609e-07, -1.8098550334489977e-05, 7.64916091608111e-06,
        -1.6120900894563446e-06, 4.647127802807434e-09, 1.378633446915721e-07, -5.752545603517705e-08,
        1.1951628599778148e-08, -1.7543241719747647e-11, -1.0091543710600413e-09, 4.162792991842583e-10,
        -8.56390702649298e-11),
    (0.004133597883597883, -0.0026813271604938273, 0.0007716049382716049, 2.0093878600823047e-06,
        -0.0001073665322636516, 5.2923448829120125e-05, -1.2760635188618728e-05, 3.423578734096138e-08,
        1.3721957309062934e-06, -6.298992138380055e-07, 1.4280614206064242e-07, -2.0477098421990866e-10,
        -1.409252991086752e-08, 6.228974084922022e-09),
    (0.0006494341563786008, 0.00022947209362139917, -0.0004691894943952557, 0.00026772063206283885,
        -7.561801671883977e-05, -2.396505113867297e-07, 1.1082654115347302e-05, -5.6749528269915965e-06,
        1.4230900732435883e-06, -2.7861080291528143e-11, -1.6958404091930278e-07, 8.099464905388083e-08),
    (-0.0008618882909167117, 0.0007840392217200666, -0.0002990724803031902, -1.4638452578843418e-06,
        6.641498215465122e-05, -3.968365047179435e-05, 1.1375726970678419e-05),
    (-0.00033679855336635813, -6.972813758365857e-05, 0.0002772753244959392, -0.00019932570516188847,
        6.797780477937208e-05),
)  # fmt: skip
#: B_2k / (2k (2k - 1)): log gamma less Stirling's leading terms
_STIRLING = (1 / 12, -1 / 360, 1 / 1260, -1 / 1680, 1 / 1188, -691 / 360360, 1 / 156, -3617 / 122400)
#: B_2k / (2k)!
_MACLAURIN = (
    1 / 12, -1 / 720, 1 / 30240, -1 / 1209600, 1 / 47900160, -691 / 1307674368000, 1 / 74724249600,
    -3617 / 10670622842880000, 43867 / 5109094217170944000, -174611 / 802857662698291200000,
)  # fmt: skip
_EPS = 2.0**-53
_LARGE = 200.0  # from here on Temme's expansion serves the neighbourhood of x = a
_TERMS = 3000  # never reached: below _LARGE, and away from x = a, series and fraction settle sooner


def _power(t: Any, row: tuple[float, ...]) -> Any:
    total = np.full_like(t, row[-1])
    for c in row[-2::-1]:
        total = total * t + c
    return total


def _log1p_less(mu: Any) -> Any:
    """``log(1 + mu) - mu``, with its digits near zero."""
    small = np.abs(mu) < 0.3
    y = np.where(small, mu, 0.0)
    r = y / (2 + y)
    square = r * r  # log((1 + r) / (1 - r)) = 2 (r + r^3/3 + ...), and 2 r - y = -r y
    total = np.zeros_like(y)
    for k in range(29, 1, -2):
        total = (total + 2 / k) * square
    return np.where(small, r * (total - y), np.log1p(np.where(small, 0.0, mu)) - mu)


def _lgamma_1p(a: Any) -> Any:
    """``log(gamma(1 + a))`` of 0 <= a <= 1, with its digits near zero."""
    return a * clenshaw(2 * a - 1, _LGAM1P)


def _front(a: Any, x: Any) -> Any:
    """``x^a exp(-x) / gamma(a + 1)``."""
    big = a >= 10
    z = np.where(big, a, 10.0)
    w = 1 / (z * z)
    stirling = _power(w, _STIRLING) / z
    mu = (x - z) / z
    drop = np.where(mu < -0.3, np.log(x / z) - mu, _log1p_less(np.maximum(mu, -0.3)))
    large = np.exp(z * drop - stirling) / np.sqrt(2 * math.pi * z)
    s = np.where(big, 1.0, a)
    small = np.exp(s * np.log(x) - x - np.where(s < 1, _lgamma_1p(np.minimum(s, 1.0)), lgamma(s + 1)))
    return np.where(big, large, small)


def _series(a: Any, x: Any) -> Any:
    """P by its power series."""
    term, total, n = np.ones_like(a), np.ones_like(a), a.copy()
    for _ in range(_TERMS):
        n += 1
        term = term * (x / n)
        total += term
        if not (term > total * _EPS).any():
            break
    return total * _front(a, x)


def _fraction(a: Any, x: Any) -> Any:
    """Q by its continued fraction, in Lentz's way.  Source: DLMF 8.9.2."""
    tiny = 1e-300
    b = x + 1 - a
    c = np.full_like(a, 1 / tiny)
    d = 1 / b
    out = d.copy()
    for n in range(1, _TERMS):
        step = n * (a - n)
        b += 2
        d = step * d + b
        d = 1 / np.where(d == 0, tiny, d)
        c = b + step / c
        c = np.where(c == 0, tiny, c)
        change = c * d
        out *= change
        if not (np.abs(change - 1) > _EPS * 2).any():
            break
    return out * _front(a, x) * a


def _small_x(a: Any, x: Any) -> Any:
    """Q of x <= 1.1 where it is the smaller part: one less the series of P, its leading term without cancellation."""
    log = a * np.log(x)
    gone = np.where(a < 1, _lgamma_1p(np.minimum(a, 1.0)), lgamma(a + 1))
    term, total = np.ones_like(a), np.zeros_like(a)
    for n in range(1, 40):
        term = term * (-x / n)
        total += term / (a + n)
    return -np.expm1(log - gone) - np.exp(log - lgamma(a)) * total


def _uniform(a: Any, x: Any, upper: bool) -> Any:
    """Q, or P, of large a and x near it, by Temme's uniform expansion.  Source: DLMF 8.12."""
    mu = (x - a) / a
    half = -_log1p_less(mu)
    eta = np.copysign(np.sqrt(2 * half), mu)
    total = np.zeros_like(a)
    for row in reversed(_TEMME):
        total = total / a + _power(eta, row)
    rest = np.exp(-a * half) / np.sqrt(2 * math.pi * a) * total
    root = eta * np.sqrt(a / 2)
    return 0.5 * erfc(root) + rest if upper else 0.5 * erfc(-root) - rest


def _incomplete(a: Any, x: Any, upper: bool) -> Any:
    out = np.full_like(a, np.nan)
    usual = (a > 0) & (x > 0) & np.isfinite(a) & np.isfinite(x)
    near = usual & (a > _LARGE) & (np.abs(x - a) < 0.4 * a)
    small = usual & ~near & (x <= 1.1) & ~_lower_serves(a, x)
    series = usual & ~near & ~small & (x <= np.maximum(a, 1.0))
    rest = usual & ~near & ~small & ~series
    for chosen, function, gives_upper in ((small, _small_x, True), (series, _series, False), (rest, _fraction, True)):
        if chosen.any():
            found = function(a[chosen], x[chosen])
            out[chosen] = found if gives_upper is upper else 1 - found
    if near.any():
        out[near] = _uniform(a[near], x[near], upper)
    zero, one = (0.0, 1.0) if upper else (1.0, 0.0)
    allowed = (a >= 0) & (x >= 0)
    out[allowed & np.isinf(x) & np.isfinite(a)] = zero
    out[allowed & np.isinf(a) & np.isfinite(x)] = one
    out[allowed & (x == 0) & (a > 0)] = one
    out[allowed & (a == 0) & (x > 0)] = zero
    return out


def _lower_serves(a: Any, x: Any) -> Any:
    """Where, for x up to 1.1, P is the smaller part and its series keeps all digits."""
    safe = np.where(x > 0, x, 1.0)
    return np.where(x <= 0.5, a * np.log(safe) < -0.4, a > 1.1 * x)


@by_blocks
def gammainc(a: Any, x: Any) -> Any:
    """The regularised lower incomplete gamma function P."""
    return _incomplete(a, x, False)


@by_blocks
def gammaincc(a: Any, x: Any) -> Any:
    """The regularised upper incomplete gamma function Q."""
    return _incomplete(a, x, True)


@by_blocks
def zeta(x: Any, q: Any) -> Any:
    """Hurwitz's zeta function, by the formula of Euler and Maclaurin.  Source: DLMF 25.11."""
    whole = q == np.floor(q)
    served = (x > 1) & ((q > 0) | (~whole & (x == np.floor(x)))) & np.isfinite(q + x)
    s, z = np.where(served, x, 2.0), np.where(served, q, 1.0)
    total = np.zeros_like(s)
    settled = np.where(z > 0, z, 0.5) * np.exp(np.minimum(40 / s, 700.0)) + 1  # what follows is below rounding
    far = 10 + s
    border = np.minimum(far, settled)
    low = z < border
    while low.any():
        total[low] += z[low] ** -s[low]
        z[low] += 1
        low = z < border
    near = z >= far
    z = np.where(near, z, 1.0)
    s = np.where(near, s, 2.0)
    here = z**-s
    rest = here * (z / (s - 1) + 0.5)
    factor, step = s * here / z, 1 / (z * z)
    for k, b in enumerate(_MACLAURIN):
        rest += b * factor
        factor = factor * ((s + 2 * k + 1) * (s + 2 * k + 2)) * step
    total += np.where(near, rest, 0.0)
    out = np.where(served, total, np.nan)
    out[(x > 1) & (q <= 0) & whole] = np.inf
    out[(x == 1) | (np.isinf(x) & (q < 1))] = np.inf
    out[np.isinf(x) & (q == 1)] = 1
    return out
