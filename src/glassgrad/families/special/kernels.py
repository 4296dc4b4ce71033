"""Polynomials for the kin of the error and gamma functions, as numbers: for NumPy and for compiled kernels.

Fits at Chebyshev's nodes with 50 digits, in powers, the constant first. Where a function's singularities lie to the
left of zero, a quotient (x - c) / (x + c) moves them away, and one polynomial serves a long range.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import lru_cache
from typing import Any

import numpy as np

from glassgrad.kernels import compiled

#: Bernoulli's numbers B(2), B(4) ..., of which the asymptotic series are made.
BERNOULLI = 1 / 6, -1 / 30, 1 / 42, -1 / 30, 5 / 66, -691 / 2730, 7 / 6, -3617 / 510
# erf(x) / x in t = 2 x^2 - 1, |x| <= 1
ERF_SMALL = (
    0.9654687386698673, -0.1405360890227171, 0.019852496688983708, -0.0022854855611441132, 0.00021751715604160108,
    -1.7537169441124826e-05, 1.223382738352401e-06, -7.51156928660089e-08, 4.11580059766496e-09,
    -2.035228404899467e-10, 9.167606746069445e-12, -3.8078827395263415e-13, 1.454817075960679e-14,
)  # fmt: skip
# erf(x) / x as a quotient in x^2 for float32, |x| <= 3.9; at 4 it is above one, before rounding and after
ERF_TOP = (
    1.1283791476232483, 0.18966695974018813, 0.05266810422079518, 0.0037383533892042815, 0.0002850626340279522,
    2.0664754951480167e-06,
)  # fmt: skip
ERF_BOTTOM = (
    1.0, 0.5014207481335058, 0.11381901752434562, 0.014914290744917697, 0.0011573784899401166, 3.8270067294861e-05,
)  # fmt: skip
# (1 + 2 x) exp(x^2) erfc(x) in (x - 2.5) / (x + 2.5), 0 <= x <= 28
SCALED_TAIL = (
    1.2648381843668615, -0.12235676308240435, -0.09902453957360419, 0.1576299190232245, -0.10296705603841057,
    0.032760893268453745, 0.0009318928130203816, -0.0043820783370754745, 0.0004918658724955282, 0.0006321243125254031,
    -8.847972109191718e-05, -0.00011352220728375353, 6.268483018929773e-06, 2.2699101436288894e-05,
    2.600782011482452e-06, -4.2168830857074705e-06, -1.5675174127909393e-06, 5.266344005587727e-07,
    5.082344877642665e-07, 3.1192119846384134e-08, -1.0306768073556735e-07, -3.6609536063837934e-08,
    7.71892827259057e-09, 7.139901933228197e-09, 1.2000532665386531e-09,
)  # fmt: skip
# erfinv(x) / x in (sqrt(4 - log(1 - x^2)) - 4.25) / 2.25, to eight digits for all float64 below one
INVERSE_RATIO = (
    3.587504211854625, 2.572128151140564, -0.18031345240110205, 0.10833338884391419, -0.06494354872951014,
    0.030979484655030556, 0.0038287850732632582, -0.060957393263365064, 0.15368369874621388, -0.14526829836895833,
    -0.05551128124921807, -0.056575674167509374, 0.5576087186464386, 0.0014921308289648722, -1.3446956156785734,
    0.6296481772162971, 1.2792448013975741, -0.883962162315614, -0.5708008928729836, 0.48183848933785217,
    0.10067247450170345, -0.09760533259373165,
)  # fmt: skip
# lgamma(x) / ((x - 1) (x - 2)) in (x - 2.828125) / (x + 2.828125), 1 <= x <= 8
LOG_GAMMA = (
    0.3570289977947714, -0.3580576817761923, 0.12315308717464898, -0.12592760219986757, 0.0793578687454589,
    -0.07995723293061476, 0.05965964752296639, -0.059592141022411324, 0.048046097231486874, -0.04777759358214983,
    0.04026950040092521, -0.039959432481215466, 0.03466858963751404, -0.03439131887095465, 0.030465369674624744,
    -0.029982361638727622, 0.02687217588513203, -0.028390371853644222, 0.026358318661060344, -0.016253134392333807,
    0.012791885086509169, -0.05063574251912949, 0.05247046985748961, 0.04261987575207855, -0.048245307436041385,
    -0.09045005150850027, 0.09048681463881378,
)  # fmt: skip
# digamma(x) / (x - its zero) in (x - 3.1625) / (x + 3.1625), 1 <= x <= 10
DIGAMMA = (
    0.579120607305052, -0.7725632782714683, 0.49567908581586045, -0.4910294880847414, 0.445542710965004,
    -0.4493751399683355, 0.43428365467337765, -0.4386062837767785, 0.431867832529508, -0.43531084135865206,
    0.4315778103711255, -0.43413811641978833, 0.4317213148453131, -0.4336166768656767, 0.4320817807687085,
    -0.4336364913325474, 0.43012966062578406, -0.43016443847537367, 0.4497937191208025, -0.4586517305067816,
    0.316975820347139, -0.2755857843457369, 0.9798399737411542, -1.140909213359746, -1.4147372944156362,
    1.8424711776715594, 4.682073090081155, -5.44249577691516, -5.686973617414909, 6.492007446867245,
    4.883461963873163, -5.269738417068832,
)  # fmt: skip
# x times the derivative of digamma, in the same, 1 <= x <= 10
TRIGAMMA = (
    1.1744548976073257, -0.3804402703869246, 0.4402486800428389, -0.4921735557870599, 0.5343307428919597,
    -0.5664777550455541, 0.5896333766970873, -0.6054956123998367, 0.6159064032336596, -0.6225021155857033,
    0.626563340209072, -0.6290004304839314, 0.6304391890308154, -0.6314264007085113, 0.6320088058646083,
    -0.6302580718471009, 0.6293566680797636, -0.6497709733808218, 0.6580702131873732, -0.5101196686162793,
    0.4638018074304026, -1.2470506416593519, 1.4328420442195031, 1.5494065475895447, -2.0681638603489687,
    -5.887437386424991, 6.84549910339732, 7.262693671386767, -8.314451467779595, -6.620355378254308,
    7.139933467686204,
)  # fmt: skip
# sin(pi r) / (pi r) and cos(pi r) in r^2, |r| <= 1/2: Taylor's series
SINE = (
    1.0, -1.6449340668482264, 0.8117424252833536, -0.19075182412208422, 0.0261478478176548, -0.0023460810354558235,
    0.000148428793031071, -6.975873661656381e-06, 2.5312174041370274e-07, -7.304711822217775e-09,
    1.7165384749821432e-10, -3.3481335350440666e-12,
)  # fmt: skip
COSINE = (
    1.0, -4.934802200544679, 4.0587121264167685, -1.3352627688545895, 0.2353306303588932, -0.02580689139001406,
    0.0019295743094039231, -0.0001046381049248457, 4.303069587032947e-06, -1.3878952462213771e-07,
    3.604730797462501e-09, -7.700707130601354e-11,
)  # fmt: skip
#: In 1 / x^2, from 8 on for the logarithm of gamma, from 10 on for the others.
LOG_GAMMA_SERIES = tuple(b / (2 * k * (2 * k - 1)) for k, b in enumerate(BERNOULLI, 1))
DIGAMMA_SERIES = tuple(b / (2 * k) for k, b in enumerate(BERNOULLI, 1))
TRIGAMMA_SERIES = BERNOULLI

MIDDLE_OF_TAIL, MIDDLE_OF_LOG_GAMMA, MIDDLE_OF_DIGAMMA = 2.5, 2.828125, 3.1625
#: Where digamma is zero, and what float64 leaves of that.
ROOT, ROOT_REST = 1.4616321449683622, 9.549995429965697e-17
#: What Stirling's series of the logarithm of gamma begins with, less one half.
STIRLING = math.log(2 * math.pi) / 2 - 0.5


# -- Special functions of arrays: erf, erfc, erfinv, lgamma, digamma, trigamma, two of Bessel's; knows NumPy only.
#
# Small arrays are mapped through the C library where it has the function; large ones are evaluated by polynomials,
# block by block, or by compiled kernels, which compute the same.

F4, F8 = np.dtype("f4"), np.dtype("f8")
FEW = 200  # below so many elements a loop over libm is faster than a dozen array passes
_VERY_FEW = 24  # the same, of functions that the C library does not have
BLOCK = 8192  # elements that stay in cache during all passes
_DISTANCE = 10.0  # from here on asymptotic series give every digit
_TOP, _BOTTOM = (tuple(map(np.float32, part)) for part in (ERF_TOP, ERF_BOTTOM))


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
    return _horner((x - MIDDLE_OF_TAIL) / (x + MIDDLE_OF_TAIL), SCALED_TAIL) * _square_exp(x) / (1 + 2 * x)


def _erf_block(x: Any) -> Any:
    if x.dtype == F4:
        z = np.clip(x, np.float32(-4), np.float32(4))  # where the quotient is above one
        s = z * z
        return np.clip(z * _horner(s, _TOP) / _horner(s, _BOTTOM), np.float32(-1), np.float32(1))
    size = np.abs(x)
    small = size < 1
    s = np.where(small, x, 0.0)
    near = s * _horner(2 * s * s - 1, ERF_SMALL)
    return np.where(small, near, np.copysign(1 - _tail(size), x))


def _erfc_block(x: Any) -> Any:
    wide = x.astype(F8)
    tail = _tail(np.abs(wide))
    return np.where(wide < 0, 2 - tail, tail)


def erf(x: Any) -> Any:
    """The error function."""
    if x.size <= FEW:
        return _mapped(math.erf, x)
    if x.size >= compiled.few and (values := compiled.special.erf(x)) is not None:
        return values
    return _blocked(_erf_block, x)


def erfc(x: Any) -> Any:
    """One minus the error function, exact in the tail."""
    if x.size >= compiled.few and (values := compiled.special.erfc(x)) is not None:
        return values
    return _mapped(math.erfc, x) if x.size <= FEW else _blocked(_erfc_block, x)


def _erfinv_block(x: Any) -> Any:
    """By a polynomial to eight digits, for float64 with a step of Halley's, on the side where nothing cancels."""
    wide = x.astype(F8)
    size = np.abs(wide)
    v = np.where(size < 1, size, 0.0)
    root = np.sqrt(4 - np.log((1 - v) * (1 + v)))
    z = v * _horner((root - 4.25) / 2.25, INVERSE_RATIO)
    if x.dtype == F8:
        miss = np.where(v < 0.5, _erf_block(z) - v, (1 - v) - _tail(z))
        step = miss * (math.sqrt(math.pi) / 2) * np.exp(z * z)
        z -= step / (1 + z * step)
    z = np.copysign(np.where(size == 1, np.inf, z), wide)
    return np.where(size <= 1, z, np.nan)


def erfinv(x: Any) -> Any:
    """The inverse of the error function: infinite at -1 and 1, NaN beyond."""
    if x.size >= compiled.few and (values := compiled.special.erfinv(x)) is not None:
        return values
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
    return r * _horner(r * r, SINE)


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
    ratio = (z - MIDDLE_OF_LOG_GAMMA) / (z + MIDDLE_OF_LOG_GAMMA)
    value = less * (less - 1) * _horner(ratio, LOG_GAMMA)
    if (large := z >= 8).any():
        far = z[large]
        series = _horner(1 / (far * far), LOG_GAMMA_SERIES)
        value[large] = (far - 0.5) * (np.log(far) - 1) + (STIRLING + series / far)
    if below.any():
        negative = x < 0
        taken = np.where(negative, np.abs(_sine(_fraction(size))), np.where(below, size, 1.0))
        value = np.where(negative, -value, value) - np.log(taken)
        value[size == np.inf] = np.inf
    return value


def _digamma_block(x: Any) -> Any:
    """By its values at 1 and beyond; negative numbers are reflected."""
    x, size, below, z = _lifted(x)
    ratio = (z - MIDDLE_OF_DIGAMMA) / (z + MIDDLE_OF_DIGAMMA)
    value = ((z - ROOT) - ROOT_REST) * _horner(ratio, DIGAMMA)
    if (large := z >= _DISTANCE).any():
        far = z[large]
        square = 1 / (far * far)
        value[large] = np.log(far) - 0.5 / far - square * _horner(square, DIGAMMA_SERIES)
    if below.any():
        negative = x < 0
        value -= np.where(below & ~negative, 1 / x, 0.0)
        if negative.any():
            r = _fraction(size[negative])
            mirrored = _horner(r * r, COSINE) / _sine(r)
            mirrored[r == 0] = np.nan
            value[negative] += mirrored
    return value


def _trigamma_block(x: Any) -> Any:
    """By its values at 1 and beyond; negative numbers are reflected."""
    x, size, below, z = _lifted(x)
    ratio = (z - MIDDLE_OF_DIGAMMA) / (z + MIDDLE_OF_DIGAMMA)
    value = _horner(ratio, TRIGAMMA) / z
    if (large := z >= _DISTANCE).any():
        inverse = 1 / z[large]
        square = inverse * inverse
        value[large] = inverse * (1 + 0.5 * inverse + square * _horner(square, TRIGAMMA_SERIES))
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
    return total + math.log(v) - 0.5 / v - w * _sum_of_powers(w, DIGAMMA_SERIES)


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
    return total + 1 / v + w * (0.5 + _sum_of_powers(w, TRIGAMMA_SERIES) / v)


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
    if x.size >= compiled.few and (values := compiled.special.lgamma(x)) is not None:
        return values
    return _mapped(_lgamma, x) if x.size <= FEW else _quietly(_lgamma_block, x)


def digamma(x: Any) -> Any:
    """The derivative of lgamma; NaN at the negative integers, infinite at zero."""
    if x.size >= compiled.few and (values := compiled.special.digamma(x)) is not None:
        return values
    return _mapped(_digamma, x) if x.size <= _VERY_FEW else _quietly(_digamma_block, x)


def trigamma(x: Any) -> Any:
    """The derivative of digamma; infinite at its poles."""
    if x.size >= compiled.few and (values := compiled.special.trigamma(x)) is not None:
        return values
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


# -- Orthogonal polynomials of tensors of arguments and of degrees: their recurrences, and Chebyshev's as cosines.
#
# Degrees are cut to integers; those below zero give zero.  Source: https://dlmf.nist.gov/18

_HERMITE_LIMIT = {4: 128, 8: 512}  # degrees from which PyTorch gives NaN, by the bytes of the dtype


def _recurrence(x: Any, n: Any, first: Any, step: Callable[[int, Any, Any], Any], where: Any = True) -> Any:
    """The polynomials of degrees ``n``, each from the two before: ``step(k, p_k, p_(k-1))`` is that of degree k + 1."""
    out = np.where(n == 0, np.ones_like(x), first)
    below, here = np.ones_like(x), first
    waiting = (n > 1) & where
    most = int(n[waiting].max()) if waiting.any() else 1
    for k in range(1, most):
        below, here = here, step(k, here, below)
        out = np.where(n == k + 1, here, out)
    return np.where(n < 0, np.zeros_like(x), out)


def _whole(x: Any, n: Any) -> tuple[Any, Any]:
    x, n = np.broadcast_arrays(x, n)
    with np.errstate(invalid="ignore"):
        return x, n.astype(np.int64)


def _chebyshev(kind: str, x: Any, n: Any, shifted: bool) -> Any:
    x, n = _whole(x, n)
    if shifted:
        x = x + x - 1
    one = x.dtype.type(1)
    odd = np.where(n % 2 == 0, one, -one)
    count, double = (n + 1).astype(x.dtype), (n + n + 1).astype(x.dtype)
    # at 1, at -1, the second polynomial, the degree above which the cosine serves within
    right, left, first, border = {
        "t": (one, odd, x, 6),
        "u": (count, odd * count, x + x, 8),
        "v": (one, odd * double, x + x - 1, 8),
        "w": (double, odd, x + x + 1, 4 if shifted else 8),
    }[kind]
    cosine = (n > border) & (np.abs(x) < 1)
    out = _recurrence(x, n, first, lambda k, p, q: (x + x) * p - q, ~cosine)
    if cosine.any():
        angle = np.arccos(np.clip(x, -1, 1))
        turned = {
            "t": lambda: np.cos(n * angle),
            "u": lambda: np.sin((n + 1) * angle) / np.sin(angle),
            "v": lambda: np.cos((n + 0.5) * angle) / np.cos(angle / 2),
            "w": lambda: np.sin((n + 0.5) * angle) / np.sin(angle / 2),
        }[kind]()
        out = np.where(cosine, turned, out)
    out = np.where((x == 1) & (n >= 0), right, np.where((x == -1) & (n >= 0), left, out))
    return out.astype(x.dtype)[()]


def chebyshev(kind: str, shifted: bool = False) -> Callable[[Any, Any], Any]:
    """The Chebyshev polynomials of a kind ("t", "u", "v" or "w"), of ``2 x - 1`` if shifted."""
    return lambda x, n: _chebyshev(kind, x, n, shifted)


def hermite_h(x: Any, n: Any) -> Any:
    """The physicist's Hermite polynomials."""
    limit = _HERMITE_LIMIT[x.dtype.itemsize]
    x, n = _whole(x, n)
    out = _recurrence(x, np.minimum(n, limit), x + x, lambda k, p, q: (x + x) * p - x.dtype.type(2 * k) * q)
    return np.where(n > limit, x.dtype.type(np.nan), out)[()]


def hermite_he(x: Any, n: Any) -> Any:
    """The probabilist's Hermite polynomials."""
    limit = _HERMITE_LIMIT[x.dtype.itemsize]
    x, n = _whole(x, n)
    out = _recurrence(x, np.minimum(n, limit), x, lambda k, p, q: x * p - x.dtype.type(k) * q)
    return np.where(n > limit, x.dtype.type(np.nan), out)[()]


def laguerre(x: Any, n: Any) -> Any:
    """Laguerre's polynomials."""
    x, n = _whole(x, n)
    number = x.dtype.type
    out = _recurrence(x, n, 1 - x, lambda k, p, q: ((number(2 * k + 1) - x) * p - number(k) * q) / number(k + 1))
    return np.where((x == 0) & (n >= 0), number(1), out)[()]


def legendre(x: Any, n: Any) -> Any:
    """Legendre's polynomials."""
    x, n = _whole(x, n)
    number = x.dtype.type
    out = _recurrence(x, n, x, lambda k, p, q: (number(2 * k + 1) * x * p - number(k) * q) / number(k + 1))
    return out[()]
