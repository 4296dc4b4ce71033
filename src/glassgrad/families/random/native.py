"""Numbers of the random stream, compiled: the twister, and what is made of its draws.

Every number is the one that the NumPy text gives, to the last bit. float32 normals round where PyTorch's builds for
AVX2 round: fused products are one instruction here, where NumPy takes the way through float64.
"""

from __future__ import annotations

from math import pi
from typing import Any

import numpy as np
from numba.extending import intrinsic

from ...kernels.native.binding import inlined, kernel
from ...kernels.native.mathematics import recast
from .counts import samplers
from .kernels import (  # fmt: skip
    COS,
    LN2_HIGH,
    LN2_LOW,
    LOG,
    QUARTERS,
    ROOT_HALF,
    SIN,
    TURN_HIGH,
    TURN_LOW,
    TURN_MIDDLE,
)

f4, i4, u4 = np.float32, np.int32, np.uint32
_WORDS, _SHIFT = 624, 397
_UPPER, _LOWER, _TWIST = u4(0x80000000), u4(0x7FFFFFFF), u4(0x9908B0DF)
_MASK_B, _MASK_C = u4(0x9D2C5680), u4(0xEFC60000)
_MASK24, _STEP24, _STEP53 = u4(2**24 - 1), f4(2.0**-24), 2.0**-53
_MASK53 = np.uint64(2**53 - 1)
_ONE, _HALF, _MINUS_TWO, _TWO_PI = f4(1), f4(0.5), f4(-2), f4(2 * pi)
_LOG0, _LOG1, _LOG2, _LOG3, _LOG4, _LOG5, _LOG6, _LOG7, _LOG8 = [f4(c) for c in LOG]
_SIN0, _SIN1, _SIN2 = [f4(c) for c in SIN]
_COS0, _COS1, _COS2 = [f4(c) for c in COS]
_LOW = f4(TURN_LOW)
_PIECE = 2048  # numbers drawn and worked on at a time


# -- the stream --------------------------------------------------------------------------------------------------------


@inlined
def _mixed(here: Any, after: Any, far: Any) -> Any:
    y = u4((here & _UPPER) | (after & _LOWER))
    return u4(far ^ (y >> u4(1)) ^ (_TWIST if y & u4(1) else u4(0)))


@inlined
def _twist(state: Any) -> None:
    """The next block of words. Source: Matsumoto and Nishimura (1998)."""
    for i in range(_WORDS - _SHIFT):
        state[i] = _mixed(state[i], state[i + 1], state[i + _SHIFT])
    for i in range(_WORDS - _SHIFT, _WORDS - 1):
        state[i] = _mixed(state[i], state[i + 1], state[i + _SHIFT - _WORDS])
    state[_WORDS - 1] = _mixed(state[_WORDS - 1], state[0], state[_SHIFT - 1])


@inlined
def _tempered(y: Any) -> Any:
    y = u4(y ^ (y >> u4(11)))
    y = u4(y ^ (u4(y << u4(7)) & _MASK_B))
    y = u4(y ^ (u4(y << u4(15)) & _MASK_C))
    return u4(y ^ (y >> u4(18)))


@inlined
def _draw(state: Any) -> Any:
    """One word."""
    position = state[_WORDS]
    if position >= _WORDS:
        _twist(state)
        position = u4(0)
    state[_WORDS] = position + u4(1)
    return _tempered(state[position])


@inlined
def _unit(state: Any) -> Any:
    """One float64 from [0, 1)."""
    high = np.uint64(_draw(state))
    low = np.uint64(_draw(state))
    return np.float64(np.int64(((high << np.uint64(32)) | low) & _MASK53)) * _STEP53


@inlined
def _fill(state: Any, out: Any, first: int, last: int) -> None:
    """float32 from [0, 1)."""
    while first < last:
        if state[_WORDS] >= _WORDS:
            _twist(state)
            state[_WORDS] = u4(0)
        position = np.int64(state[_WORDS])
        count: Any = min(_WORDS - position, last - first)
        for i in range(count):
            out[first + i] = f4(i4(_tempered(state[position + i]) & _MASK24)) * _STEP24
        state[_WORDS] = u4(position + count)
        first += count


@inlined
def _fill_raw(state: Any, out: Any, count: int) -> None:
    """Words."""
    first = 0
    while first < count:
        if state[_WORDS] >= _WORDS:
            _twist(state)
            state[_WORDS] = u4(0)
        position = np.int64(state[_WORDS])
        more: Any = min(_WORDS - position, count - first)
        for i in range(more):
            out[first + i] = _tempered(state[position + i])
        state[_WORDS] = u4(position + more)
        first += more


def _seed(state: Any, seed: Any) -> None:
    """The state that a number of 32 bits starts from. Source: Matsumoto and Nishimura (2002)."""
    word = u4(seed)
    state[0] = word
    for i in range(1, _WORDS):
        word = u4(u4(1812433253) * u4(word ^ (word >> u4(30))) + u4(i))
        state[i] = word
    state[_WORDS] = u4(_WORDS)


def _raw32(state: Any, out: Any) -> None:
    _fill_raw(state, out, out.size)


def _raw64(state: Any, out: Any) -> None:
    drawn = np.empty(_PIECE, u4)
    for first in range(0, out.size, _PIECE // 2):
        count = min(_PIECE // 2, out.size - first)
        _fill_raw(state, drawn, 2 * count)
        for i in range(count):
            out[first + i] = np.uint64(drawn[2 * i]) << np.uint64(32) | np.uint64(drawn[2 * i + 1])


_seeded, _drawn32, _drawn64 = kernel(_seed, strict=True), kernel(_raw32, strict=True), kernel(_raw64, strict=True)


class Twister:
    """The twister in an array of its own, ``words``: a block of them, and the place of the next."""

    __slots__ = ("words",)

    def __init__(self, seed: int) -> None:
        self.words = np.empty(_WORDS + 1, u4)
        self.seed(seed)

    def seed(self, seed: int) -> None:
        """Start anew from a number of 32 bits."""
        _seeded(self.words, seed)

    def random32(self, n: int) -> Any:
        """The next ``n`` outputs."""
        out = np.empty(n, u4)
        _drawn32(self.words, out)
        return out

    def random64(self, n: int) -> Any:
        """The next ``n`` pairs of outputs, the first of each pair being the high word."""
        out = np.empty(n, np.uint64)
        _drawn64(self.words, out)
        return out

    def state(self) -> tuple[Any, int]:
        """The block of words, and the place of the next of them."""
        return self.words[:-1].copy(), int(self.words[-1])

    def set_state(self, key: Any, position: int) -> None:
        """Go on from a state."""
        self.words[:-1], self.words[-1] = key, position

    def mark(self) -> bytes:
        """What is equal as long as nothing is drawn or set."""
        return self.words.tobytes()  # type: ignore[no-any-return]


def _uniform32(state: Any, out: Any) -> None:
    _fill(state, out, 0, out.size)


def _uniform64(state: Any, out: Any) -> None:
    drawn = np.empty(_PIECE, u4)
    for first in range(0, out.size, _PIECE // 2):
        count = min(_PIECE // 2, out.size - first)
        _fill_raw(state, drawn, 2 * count)
        for i in range(count):
            both = np.uint64(drawn[2 * i]) << np.uint64(32) | np.uint64(drawn[2 * i + 1])
            out[first + i] = np.float64(np.int64(both & _MASK53)) * _STEP53


def _below(state: Any, bound: Any, out: Any) -> None:
    drawn = np.empty(_PIECE, u4)
    for first in range(0, out.size, _PIECE // 2):
        count = min(_PIECE // 2, out.size - first)
        _fill_raw(state, drawn, 2 * count)
        for i in range(count):
            both = np.uint64(drawn[2 * i]) << np.uint64(32) | np.uint64(drawn[2 * i + 1])
            out[first + i] = np.int64(both & _MASK53) < bound


uniform32, uniform64 = kernel(_uniform32, strict=True), kernel(_uniform64, strict=True)
#: Whether each number, 53 bits of the stream, is below a whole number.
below = kernel(_below, strict=True)


# -- normal numbers, sixteen at a time ---------------------------------------------------------------------------------


def _fused(typing: Any, a: Any, b: Any, c: Any) -> Any:
    """``a * b + c``, rounded once."""

    def code(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.fma(*arguments)

    return a(a, a, a), code


_fma: Any = intrinsic(_fused)


def _strict(function: Any) -> Any:
    return inlined(function, strict=True)


@_strict
def _log32(x: Any) -> Any:
    """The natural logarithm. Source: Cephes, logf."""
    bits = i4(recast(x) - ROOT_HALF)
    exponent = f4(i4(bits >> i4(23)))
    x = recast(i4(i4(bits & i4(0x7FFFFF)) + ROOT_HALF)) - _ONE
    square = x * x
    y = _fma(_LOG0, x, _LOG1)
    y = _fma(y, x, _LOG2)
    y = _fma(y, x, _LOG3)
    y = _fma(y, x, _LOG4)
    y = _fma(y, x, _LOG5)
    y = _fma(y, x, _LOG6)
    y = _fma(y, x, _LOG7)
    y = _fma(y, x, _LOG8)
    y = y * x
    y = _fma(y, square, exponent * LN2_LOW)
    y = y - square * _HALF
    return (x + y) + exponent * LN2_HIGH


@_strict
def _sixteens(values: Any, first: int, last: int, mean: Any, std: Any, near: Any, far: Any) -> None:
    """Uniform numbers turned normal where they stand, by way of two rows. Source: Cephes, sinf."""
    half = (last - first) // 2
    for start in range(0, half, 8):
        for i in range(8):
            near[start + i] = values[first + 2 * start + i]
            far[start + i] = values[first + 2 * start + 8 + i]
    for i in range(half):
        radius = np.sqrt(_MINUS_TWO * _log32(_ONE - near[i]))
        x = _TWO_PI * far[i]
        eighth = i4(i4(i4(x * QUARTERS) + i4(1)) & i4(-2))
        turns = f4(eighth)
        x = x + turns * TURN_HIGH
        x = x + turns * TURN_MIDDLE
        x = _fma(turns, _LOW, x)
        square = x * x
        sine = _fma(_fma(_SIN0, square, _SIN1), square, _SIN2) * square
        cosine = _fma(_fma(_COS0, square, _COS1), square, _COS2) * square
        cosine = _fma(cosine, square, -(square * _HALF)) + _ONE
        sine = _fma(sine, x, x)
        swapped = (eighth & i4(2)) != 0
        one = recast(cosine if swapped else sine)
        two = recast(sine if swapped else cosine)
        one = i4(one ^ i4(i4(eighth & i4(4)) << i4(29)))
        two = i4(two ^ i4(i4(i4(eighth + i4(2)) & i4(4)) << i4(29)))
        near[i] = _fma(recast(two) * radius, std, mean)
        far[i] = _fma(recast(one) * radius, std, mean)
    for start in range(0, half, 8):
        for i in range(8):
            values[first + 2 * start + i] = near[start + i]
            values[first + 2 * start + 8 + i] = far[start + i]


def _normal32(state: Any, out: Any, mean: Any, std: Any) -> None:
    """Normal numbers; the last sixteen are drawn anew where their number is no multiple of sixteen."""
    whole = out.size // 16 * 16
    near, far = np.empty(_PIECE // 2, f4), np.empty(_PIECE // 2, f4)
    for first in range(0, whole, _PIECE):
        last = min(first + _PIECE, whole)
        _fill(state, out, first, last)
        _sixteens(out, first, last, mean, std, near, far)
    if whole < out.size:
        _fill(state, out, whole, out.size)
        _fill(state, out, out.size - 16, out.size)
        _sixteens(out, out.size - 16, out.size, mean, std, near, far)


normal32 = kernel(_normal32, strict=True)


# -- one after another -------------------------------------------------------------------------------------------------


_normal, _gamma, _poisson, _binomial = samplers(_unit, np.floor, _strict)


def _normals(state: Any, kept: Any, out: Any) -> None:
    for i in range(out.size):
        out[i] = _normal(state, kept)


def _few32(state: Any, kept: Any, out: Any, mean: Any, std: Any) -> None:
    for i in range(out.size):
        out[i] = f4(_normal(state, kept) * std + mean)


def _gammas(state: Any, kept: Any, shape: Any, exponent: Any, d: Any, c: Any, out: Any) -> None:
    for i in range(out.size):
        out[i] = _gamma(state, kept, shape[i], exponent[i], d[i], c[i])


def _poissons(state: Any, rates: Any, out: Any) -> bool:
    """Counts; False at a rate that is none."""
    for i in range(out.size):
        out[i] = _poisson(state, rates[i])
        if out[i] < 0:
            return False
    return True


def _binomials(state: Any, facts: Any, out: Any) -> None:
    """Successes; the rows of ``facts`` are those that ``counts.binomial`` computes."""
    for i in range(out.size):
        f = facts[:, i]
        out[i] = _binomial(state, f[0], f[1], f[2], f[3], f[4], f[5], f[6], f[7])


normals, gamma = kernel(_normals, strict=True), kernel(_gammas, strict=True)
#: The same as ``normals``, of another mean and deviation, rounded to float32.
few32 = kernel(_few32, strict=True)
poisson, binomial = kernel(_poissons, strict=True), kernel(_binomials, strict=True)


# -- whole numbers -----------------------------------------------------------------------------------------------------


def _whole32(state: Any, span: Any, low: Any, out: Any) -> None:
    """The remainders of words by a span below 2**28, counted from ``low``; by the span's inverse, then put right."""
    drawn = np.empty(_PIECE, u4)
    width, inverse = np.float64(span), 1.0 / span
    for first in range(0, out.size, _PIECE):
        count = min(_PIECE, out.size - first)
        _fill_raw(state, drawn, count)
        part = out[first : first + count]
        for i in range(count):
            word = np.float64(drawn[i])
            left = word - np.floor(word * inverse) * width
            left = left + width if left < 0 else left
            left = left - width if left >= width else left
            part[i] = low + np.int64(left)


whole32 = kernel(_whole32, strict=True)


# -- permutations ------------------------------------------------------------------------------------------------------


def _shuffled(state: Any, order: Any) -> None:
    """Each place in turn swapped with itself or a later one."""
    n = order.size
    for i in range(n):
        order[i] = i
    drawn = np.empty(_PIECE, u4)
    for first in range(0, n - 1, _PIECE):
        count = min(_PIECE, n - 1 - first)
        _fill_raw(state, drawn, count)
        for i in range(count):
            drawn[i] = drawn[i] % u4(n - first - i)
        for i in range(first, first + count):
            other = i + np.int64(drawn[i - first])
            order[i], order[other] = order[other], order[i]


shuffled = kernel(_shuffled, strict=True)
