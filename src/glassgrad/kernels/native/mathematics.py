"""Functions of one number that vectorise when they are compiled into a loop: exponentials, logarithms, sines.

Each splits its argument, takes a polynomial of the rest, and puts the power of two back by way of the number's bits.
There is no branch and no call in them, so LLVM works on 8 or 16 numbers at once. Within 3 units in the last place, most
within 1; NaN stays NaN, infinities go where they belong, results below the normal numbers are rounded, not flushed.
The order of operations is kept here (the splitting relies on it); only ``a * b + c`` may be one instruction.

Sources: Cody and Waite, "Software Manual for the Elementary Functions" (1980), for the splitting; the polynomials are
weighted minimax fits.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import types

from .binding import INWARD, intrinsic, njit, overload

f4, f8, i4, i8 = np.float32, np.float64, np.int32, np.int64
_AS = {types.float32: types.int32, types.int32: types.float32, types.float64: types.int64, types.int64: types.float64}


@intrinsic
def recast(typing: Any, x: Any) -> Any:
    """The number with the same bits: a float's as an integer, an integer's as a float."""

    def code(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.bitcast(arguments[0], context.get_value_type(signature.return_type))

    return _AS[x](x), code


_INTO = {"forceinline": True, **INWARD}


def _part(function: Any) -> Any:
    return njit(nogil=True, _nrt=False, error_model="numpy", fastmath={"contract"}, **_INTO)(function)


@intrinsic
def pick(typing: Any, condition: Any, one: Any, other: Any) -> Any:
    """``one`` where ``condition`` holds, else ``other``: both are computed, where ``if`` might become a branch."""

    def code(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.select(*arguments)

    return one(types.boolean, one, one), code


# -- for either kind of number -------------------------------------------------------------------------------------
#
# ``exp(x)`` in a kernel is ``exp32`` or ``exp64``, as the kernel is compiled for. ``like(c, x)`` is the constant ``c``
# as a number of the kind of ``x``, so that float32 is not computed with as float64.


def either(single: Any, double: Any) -> Any:
    """A function for kernels that is ``single`` of a float32, and ``double`` of a float64."""

    def function(x: Any) -> Any:
        """The function for numbers of either kind."""
        raise TypeError("this function is for compiled kernels")

    @overload(function, strict=False, jit_options=_INTO)
    def _choose(x: Any) -> Any:
        if x == types.float32:
            return lambda x: single(x)
        return lambda x: double(x)

    return function


def like(constant: Any, x: Any) -> Any:
    """``constant`` as a number of the kind of ``x``."""
    raise TypeError("this function is for compiled kernels")


@overload(like, strict=False, jit_options=_INTO)
def _choose_like(constant: Any, x: Any) -> Any:
    if x == types.float32:
        return lambda constant, x: f4(constant)
    return lambda constant, x: f8(constant)


# -- constants -----------------------------------------------------------------------------------------------------

_LOG2E4, _LOG2E8 = f4(1.4426950408889634), f8(1.4426950408889634)
_LN2_HI4, _LN2_LO4 = f4(0.693359375), f4(-2.12194440e-4)  # the first has few bits: its product with n is exact
_LN2_HI8, _LN2_LO8 = f8(6.93147180369123816490e-01), f8(1.90821492927058770002e-10)
_ROUND4, _ROUND8 = f4(12582912.0), f8(6755399441055744.0)  # adding this leaves a whole number in the last bits
_ROUND4_BITS, _ROUND8_BITS = i4(0x4B400000), i8(0x4338000000000000)
_TOP4, _BOTTOM4, _TOP8, _BOTTOM8 = f4(89.0), f4(-104.0), f8(710.0), f8(-746.0)
_NAUGHT4, _ONE4, _TWO4, _HALF4 = f4(0), f4(1), f4(2), f4(0.5)
_NAUGHT8, _ONE8, _TWO8, _HALF8 = f8(0), f8(1), f8(2), f8(0.5)
_E0, _E1, _E2, _E3, _E4 = f4(0.5), f4(0.16666514), f4(0.041666176), f4(0.008369554), f4(0.0013952457)
_D0, _D1, _D2, _D3, _D4 = 0.5000000000000014, 0.16666666666666693, 0.0416666666665022, 0.008333333333310234, 0.0013888888950720996  # noqa: E501
_D5, _D6, _D7, _D8, _D9 = 0.00019841269911743248, 2.4801485888478403e-05, 2.755722071164344e-06, 2.76327950834631e-07, 2.511662424894557e-08  # noqa: E501


# -- exponentials --------------------------------------------------------------------------------------------------


@_part
def _tail32(r: Any) -> Any:
    """``exp(r) - 1`` for ``r`` within half the logarithm of two."""
    return ((((_E4 * r + _E3) * r + _E2) * r + _E1) * r + _E0) * (r * r) + r


@_part
def _tail64(r: Any) -> Any:
    s = r * r
    low = (_D3 * r + _D2) * s + (_D1 * r + _D0)
    mid = (_D7 * r + _D6) * s + (_D5 * r + _D4)
    return (((_D9 * r + _D8) * (s * s) + mid) * (s * s) + low) * s + r


@_part
def exp32(x: Any) -> Any:
    """The exponential of a float32."""
    x = _TOP4 if x > _TOP4 else x
    x = _BOTTOM4 if x < _BOTTOM4 else x
    shifted = x * _LOG2E4 + _ROUND4
    n = shifted - _ROUND4
    r = (x - n * _LN2_HI4) - n * _LN2_LO4
    whole = i4(recast(shifted) - _ROUND4_BITS)
    first = i4(whole >> 1)
    one = recast(i4(i4(first + 127) << 23))
    two = recast(i4(i4(whole - first + 127) << 23))
    return (_tail32(r) + _ONE4) * one * two


@_part
def exp64(x: Any) -> Any:
    """The exponential of a float64."""
    x = _TOP8 if x > _TOP8 else x
    x = _BOTTOM8 if x < _BOTTOM8 else x
    shifted = x * _LOG2E8 + _ROUND8
    n = shifted - _ROUND8
    r = (x - n * _LN2_HI8) - n * _LN2_LO8
    whole = recast(shifted) - _ROUND8_BITS
    first = whole >> 1
    one = recast(i8((first + 1023) << 52))
    two = recast(i8((whole - first + 1023) << 52))
    return (_tail64(r) + _ONE8) * one * two


@_part
def expm1_below32(x: Any) -> Any:
    """``exp(x) - 1`` of a float32 that is not positive."""
    x = f4(-20.0) if x < f4(-20.0) else x
    shifted = x * _LOG2E4 + _ROUND4
    n = shifted - _ROUND4
    r = (x - n * _LN2_HI4) - n * _LN2_LO4
    scale = recast(i4(i4(recast(shifted) - _ROUND4_BITS + 127) << 23))
    return _tail32(r) * scale + (scale - _ONE4)


@_part
def expm1_below64(x: Any) -> Any:
    """``exp(x) - 1`` of a float64 that is not positive."""
    x = -40.0 if x < -40.0 else x
    shifted = x * _LOG2E8 + _ROUND8
    n = shifted - _ROUND8
    r = (x - n * _LN2_HI8) - n * _LN2_LO8
    scale = recast(i8((recast(shifted) - _ROUND8_BITS + 1023) << 52))
    return _tail64(r) * scale + (scale - _ONE8)


exp, expm1_below = either(exp32, exp64), either(expm1_below32, expm1_below64)


# -- what exponentials give ----------------------------------------------------------------------------------------


@_part
def tanh(x: Any) -> Any:
    """The hyperbolic tangent."""
    e = expm1_below(like(-2, x) * abs(x))
    t = -e / (e + like(2, x))
    return like(np.copysign(t, x), x)


@_part
def sigmoid(x: Any) -> Any:
    """``1 / (1 + exp(-x))``."""
    one = like(1, x)
    return one / (one + exp(-x))


# -- logarithms ----------------------------------------------------------------------------------------------------

_TINY4, _TINY8 = f4(1.17549435e-38), f8(2.2250738585072014e-308)
_LIFT4, _LIFT8 = f4(8388608.0), f8(4503599627370496.0)  # 2**23, 2**52: what lifts the smallest numbers up to normal
_LOW_ROOT4, _LOW_ROOT8 = i4(0x3F3504F3), i8(0x3FE6A09E667F3BCD)  # the bits of sqrt(1/2)
_L40, _L41, _L42 = f4(0.6666678), f4(0.39976543), f4(0.29900095)
_L80, _L81, _L82, _L83 = 0.6666666666666745, 0.3999999999933951, 0.2857142876056132, 0.22222196573202285
_L84, _L85, _L86 = 0.18183674689379362, 0.1531107542295107, 0.14827124415793289
_INF4, _NAN4 = f4(np.inf), f4(np.nan)
_INF8, _NAN8 = f8(np.inf), f8(np.nan)


@_part
def log32(x: Any) -> Any:
    """The natural logarithm of a float32."""
    small = x < _TINY4
    lifted = x * _LIFT4 if small else x
    bits = recast(lifted)
    whole = i4(bits - _LOW_ROOT4) >> 23
    f = recast(i4(bits - i4(whole << 23))) - _ONE4  # between sqrt(1/2) - 1 and sqrt(2) - 1
    n = f4(i4(whole)) - (f4(23) if small else _NAUGHT4)
    s = f / (_TWO4 + f)
    z = s * s
    half = _HALF4 * f * f
    rest = s * (half + ((_L42 * z + _L41) * z + _L40) * z)
    y = n * _LN2_HI4 - ((half - (rest + n * _LN2_LO4)) - f)
    y = x if x == _INF4 else y
    y = -_INF4 if x == _NAUGHT4 else y
    return y if x >= _NAUGHT4 else _NAN4


@_part
def log64(x: Any) -> Any:
    """The natural logarithm of a float64."""
    small = x < _TINY8
    lifted = x * _LIFT8 if small else x
    bits = recast(lifted)
    whole = (bits - _LOW_ROOT8) >> 52
    f = recast(i8(bits - (whole << 52))) - _ONE8
    # a whole number of few bits becomes a float without a conversion, which AVX2 does not have
    n = recast(i8(whole + _ROUND8_BITS)) - _ROUND8 - (f8(52) if small else _NAUGHT8)
    s = f / (_TWO8 + f)
    z = s * s
    half = _HALF8 * f * f
    poly = (((((_L86 * z + _L85) * z + _L84) * z + _L83) * z + _L82) * z + _L81) * z + _L80
    rest = s * (half + poly * z)
    y = n * _LN2_HI8 - ((half - (rest + n * _LN2_LO8)) - f)
    y = x if x == _INF8 else y
    y = -_INF8 if x == _NAUGHT8 else y
    return y if x >= _NAUGHT8 else _NAN8


log = either(log32, log64)

_P40, _P41, _P42, _P43, _P44 = f4(0.66666675), f4(0.3999888), f4(0.28616807), f4(0.21428452), f4(0.24298069)
_P80, _P81, _P82, _P83 = 0.6666666666666667, 0.39999999999993974, 0.2857142857251037, 0.22222222125454943
_P84, _P85, _P86, _P87 = 0.18181823203340788, 0.15384451925277876, 0.13336805886656233, 0.11715950311648185
_P88, _P89, _P810 = 0.10972567316687516, 0.06994250736926542, 0.16467621127161297


@_part
def _log1p_share32(u: Any) -> Any:
    """``log(1 + u)`` of a float32 between zero and one."""
    s = u / (_TWO4 + u)
    z = s * s
    poly = (((_P44 * z + _P43) * z + _P42) * z + _P41) * z + _P40
    return u - s * (u - z * poly)


@_part
def _log1p_share64(u: Any) -> Any:
    """``log(1 + u)`` of a float64 between zero and one."""
    s = u / (_TWO8 + u)
    z = s * s
    high = ((((_P810 * z + _P89) * z + _P88) * z + _P87) * z + _P86) * z + _P85
    poly = ((((high * z + _P84) * z + _P83) * z + _P82) * z + _P81) * z + _P80
    return u - s * (u - z * poly)


_log1p_share = either(_log1p_share32, _log1p_share64)


@_part
def softplus(x: Any) -> Any:
    """``log(1 + exp(x))``, without overflow."""
    nought = like(0, x)
    return _log1p_share(exp(-abs(x))) + (x if x > nought else nought)


# -- circular functions --------------------------------------------------------------------------------------------
#
# Quarters of a turn are taken off in parts of 33 bits, so that the product of each with a whole number below 2**20 is
# exact; what a difference loses is kept. Of a float32, half turns are taken off in float64.

#: Sines and cosines hold for numbers that are at most this far from zero.
NEAR = 2.0**20
_PER_QUARTER, _PER_HALF_TURN = 0.6366197723675814, 0.3183098861837907
_Q81, _Q82, _Q83, _Q84 = 1.5707963267341256, 6.077100506303966e-11, 2.0222662487111665e-21, 8.4784276603689e-32
_TURN1, _TURN2 = 3.1415926534682512, 1.2154201013012384e-10
_W80, _W81, _W82 = -0.16666666666666666, 0.008333333333330948, -0.00019841269836756774
_W83, _W84, _W85 = 2.7557316101617874e-06, -2.505113165023518e-08, 1.5918115263265974e-10
_V80, _V81, _V82 = 0.041666666666666664, -0.0013888888888887398, 2.480158729876456e-05
_V83, _V84, _V85 = -2.7557317271145144e-07, 2.087614614655861e-09, -1.1382623647474604e-11
_W40, _W41, _W42 = -0.1666666666387985, 0.008333332768529359, -0.0001984108650700057
_W43, _W44 = 2.753645944364609e-06, -2.408009508712208e-08


@_part
def _wave64(x: Any, ahead: Any) -> Any:
    """The sine of a float64 and so many quarters of a turn."""
    shifted = x * _PER_QUARTER + _ROUND8
    n = shifted - _ROUND8
    whole = x - n * _Q81
    w = n * _Q82
    near = whole - w
    back = near - whole
    lost = (whole - (near - back)) - (w + back)
    w = n * _Q83
    nearer = near - w
    back = nearer - near
    lost = lost + ((near - (nearer - back)) - (w + back)) - n * _Q84
    r = nearer + lost
    low = (nearer - r) + lost
    s = r * r
    half = _HALF8 * s
    c = _ONE8 - half
    odd = (((((_W85 * s + _W84) * s + _W83) * s + _W82) * s + _W81) * s + _W80) * s
    even = ((((_V85 * s + _V84) * s + _V83) * s + _V82) * s + _V81) * s + _V80
    sine = r + (odd * r + low * c)
    cosine = c + (((_ONE8 - c) - half) + (even * (s * s) - r * low))
    quarters = recast(shifted) + ahead
    y = pick((quarters & i8(1)) == i8(0), sine, cosine)
    return recast(i8(recast(y) ^ ((quarters & i8(2)) << i8(62))))


@_part
def _half_wave(r: Any, shifted: Any) -> Any:
    """The sine of a float64 within a quarter of a turn, after a number of half turns, as a float32."""
    s = r * r
    y = ((((_W44 * s + _W43) * s + _W42) * s + _W41) * s + _W40) * s * r + r
    return f4(recast(i8(recast(y) ^ (recast(shifted) << i8(63)))))


@_part
def sin32(x: Any) -> Any:
    """The sine of a float32."""
    double = f8(x)
    shifted = double * _PER_HALF_TURN + _ROUND8
    n = shifted - _ROUND8
    return pick(x == _NAUGHT4, x, _half_wave((double - n * _TURN1) - n * _TURN2, shifted))


@_part
def cos32(x: Any) -> Any:
    """The cosine of a float32."""
    double = f8(x)
    shifted = (double * _PER_HALF_TURN + _HALF8) + _ROUND8
    n = (shifted - _ROUND8) - _HALF8
    return _half_wave((double - n * _TURN1) - n * _TURN2, shifted)


@_part
def sin64(x: Any) -> Any:
    """The sine of a float64."""
    return pick(x == _NAUGHT8, x, _wave64(x, i8(0)))


@_part
def cos64(x: Any) -> Any:
    """The cosine of a float64."""
    return _wave64(x, i8(1))


sin, cos = either(sin32, sin64), either(cos32, cos64)


# -- the error function --------------------------------------------------------------------------------------------

_S80, _S81, _S82, _S83 = 0.12837916709551256, -0.3761263890318355, 0.11283791670945245, -0.026866170643274925
_S84, _S85, _S86, _S87 = 0.005223977607413488, -0.0008548325989245598, 0.00012055295307739071, -1.4924744431117065e-05
_S88, _S89, _S810 = 1.644751495573515e-06, -1.6209156057778263e-07, 1.3722894290212712e-08
_S811 = -7.801042485945627e-10
_T80, _T81, _T82, _T83 = 0.12837885645835903, 0.6366226440273227, 0.10276039153202923, -0.019096892876439037
_T84, _T85, _T86 = -0.0002641596781479857, 0.0017634873784575912, -0.0006477408998492739
_T87, _T88, _T89 = 5.7375873091452935e-05, 5.896761638884852e-05, -3.802263535335122e-05
_T810, _T811, _T812, _T813 = 1.3346115650774512e-05, -3.250618773455273e-06, 5.746461404564019e-07, -7.303315776297356e-08  # noqa: E501
_T814, _T815, _T816 = 6.359682094047311e-09, -3.4062438942218557e-10, 8.471156989541453e-12


@_part
def erf64(x: Any) -> Any:
    """The error function of a float64: a polynomial near zero, else one less an exponential."""
    z = x * x
    high = (((((_S811 * z + _S810) * z + _S89) * z + _S88) * z + _S87) * z + _S86) * z + _S85
    near = (((((high * z + _S84) * z + _S83) * z + _S82) * z + _S81) * z + _S80) * x + x
    t = abs(x)
    t = 6.0 if t > 6.0 else t
    high = (((((((_T816 * t + _T815) * t + _T814) * t + _T813) * t + _T812) * t + _T811) * t + _T810) * t + _T89) * t
    bend = (((((((high + _T88) * t + _T87) * t + _T86) * t + _T85) * t + _T84) * t + _T83) * t + _T82) * t + _T81
    far = -expm1_below64(-(t * (bend * t + _T80)) - t)
    return pick(t < 1.0, near, np.copysign(far, x))


# -- the normal distribution ---------------------------------------------------------------------------------------

_N40, _N41, _N42, _N43 = f4(0.12855193), f4(-0.064172335), f4(0.047737665), f4(-0.038792904)
_N44, _N45, _N46, _N47 = f4(0.03206953), f4(-0.026046645), f4(0.02036967), f4(-0.015008468)
_N48, _N49, _N410, _N411 = f4(0.010211059), f4(-0.006792522), f4(0.0046497267), f4(-0.0024606672)
_N412, _N413, _N414, _N415 = f4(0.00069724524), f4(-0.000496785), f4(0.0006388423), f4(-0.00024625653)
_FAR4, _PER_HALF_FAR4 = f4(30.25), f4(2 / 30.25)
_ROOT_HALF8 = f8(0.7071067811865476)


@_part
def normal32(x: Any) -> Any:
    """The chance that a standard normal number is below a float32, within 2e-7: a polynomial for all but the ends."""
    square = x * x
    t = (_FAR4 if square > _FAR4 else square) * _PER_HALF_FAR4 - _ONE4  # from -1 to 1
    high = (((_N415 * t + _N414) * t + _N413) * t + _N412) * t + _N411
    high = ((((high * t + _N410) * t + _N49) * t + _N48) * t + _N47) * t + _N46
    poly = (((((high * t + _N45) * t + _N44) * t + _N43) * t + _N42) * t + _N41) * t + _N40
    return _HALF4 + pick(square > _FAR4, f4(np.copysign(_HALF4, x)), x * poly)


@_part
def normal64(x: Any) -> Any:
    """The chance that a standard normal number is below a float64."""
    return _HALF8 + _HALF8 * erf64(x * _ROOT_HALF8)


normal = either(normal32, normal64)


# -- order ---------------------------------------------------------------------------------------------------------


@_part
def _sortable32(x: Any) -> Any:
    bits = recast(x)
    return i4(bits ^ ((bits >> i4(31)) & i4(0x7FFFFFFF)))


@_part
def _unsorted32(whole: Any) -> Any:
    return recast(i4(whole ^ ((whole >> i4(31)) & i4(0x7FFFFFFF))))


@_part
def _sortable64(x: Any) -> Any:
    bits = recast(x)
    return i8(bits ^ ((bits >> 63) & i8(0x7FFFFFFFFFFFFFFF)))


@_part
def _unsorted64(whole: Any) -> Any:
    return recast(i8(whole ^ ((whole >> 63) & i8(0x7FFFFFFFFFFFFFFF))))


#: A whole number that is larger where the float is larger, so that a largest one is found eight at a time; and back.
#: NaN (of positive sign) is above infinity.
sortable = either(_sortable32, _sortable64)


def unsorted(whole: Any) -> Any:
    """The float of a ``sortable`` number."""
    raise TypeError("this function is for compiled kernels")


@overload(unsorted, strict=False, jit_options=_INTO)
def _choose_unsorted(whole: Any) -> Any:
    if whole == types.int32:
        return lambda whole: _unsorted32(whole)
    return lambda whole: _unsorted64(whole)
