"""Evenly spread numbers, and what every distribution shares: knows generators and arrays, no tensors."""

from __future__ import annotations

from collections.abc import Sequence
from math import isfinite, prod
from typing import Any, NamedTuple

import ml_dtypes
import numpy as np

from glassgrad.ground.generator import Generator
from glassgrad.ground.runtime import warn
from glassgrad.kernels import compiled


class Floating(NamedTuple):
    """A floating type as PyTorch's messages and kernels know it."""

    scalar_name: str
    c_name: str
    digits: int  # of the mantissa: whole numbers up to 2**digits are exact
    largest: float


BFLOAT16 = np.dtype(ml_dtypes.bfloat16)
FLOATS = {
    np.dtype(np.float16): Floating("Half", "c10::Half", 11, 65504.0),
    BFLOAT16: Floating("BFloat16", "c10::BFloat16", 8, float(ml_dtypes.finfo(BFLOAT16).max)),
    np.dtype(np.float32): Floating("Float", "float", 24, float(np.finfo(np.float32).max)),
    np.dtype(np.float64): Floating("Double", "double", 53, float(np.finfo(np.float64).max)),
}
COMPLEX = {np.dtype(np.complex64): np.dtype(np.float32), np.dtype(np.complex128): np.dtype(np.float64)}
SCALAR_NAMES = {
    **{dtype: facts.scalar_name for dtype, facts in FLOATS.items()},
    np.dtype(np.complex64): "ComplexFloat",
    np.dtype(np.complex128): "ComplexDouble",
    np.dtype(np.bool_): "Bool",
    np.dtype(np.uint8): "Byte",
    np.dtype(np.int8): "Char",
    np.dtype(np.int16): "Short",
    np.dtype(np.int32): "Int",
    np.dtype(np.int64): "Long",
    np.dtype(np.uint16): "UInt16",
    np.dtype(np.uint32): "UInt32",
    np.dtype(np.uint64): "UInt64",
}
BARE_UNSIGNED = (np.dtype(np.uint16), np.dtype(np.uint32), np.dtype(np.uint64))  # few kernels of PyTorch take them
C_NAMES = {
    "b1": "bool", "u1": "unsigned char", "i1": "signed char", "i2": "short int", "i4": "int", "i8": "long int",
    "u2": "short unsigned int", "u4": "unsigned int", "u8": "long unsigned int",
}  # fmt: skip
PIECE = 32_768  # numbers drawn and worked on at a time, which the cache holds
_MASK24 = np.uint32(2**24 - 1)
MASK53 = np.uint64(2**53 - 1)
_STEP24 = np.float32(2.0**-24)
_F64 = np.dtype(np.float64)
_F32 = np.dtype(np.float32)


def serving(gen: Generator, n: int) -> tuple[Any, Any] | None:
    """The compiled samplers, and the state of ``gen`` that they draw from; None where NumPy draws ``n`` numbers.

    Fewer than are worth loading them for come from them too once they are loaded: the numbers are the same.
    """
    if compiled.least == compiled.NEVER or not compiled.is_ready("random", n if n >= compiled.least else 0):
        return None
    native = compiled.random
    if compiled.least == compiled.NEVER:  # Numba is there, but refuses
        return None
    if gen.words is None:
        gen.move(native.Twister)
    return native, gen.words


def unit32(gen: Generator, n: int) -> np.ndarray:
    """``n`` float32 numbers from [0, 1), multiples of 2**-24, one 32-bit draw each."""
    values = np.empty(n, np.float32)
    with gen.lock:
        if (native := serving(gen, n)) is not None:
            native[0].uniform32(native[1], values)
            return values
        for start in range(0, n, PIECE):
            piece = values[start : start + PIECE]
            draws = gen.random32(len(piece))
            draws &= _MASK24
            piece[...] = draws.view(np.int32)
            piece *= _STEP24
    return values


def unit64(gen: Generator, n: int) -> np.ndarray:
    """``n`` float64 numbers from [0, 1), multiples of 2**-53, one 64-bit draw each."""
    values = np.empty(n, np.float64)
    with gen.lock:
        if (native := serving(gen, n)) is not None:
            native[0].uniform64(native[1], values)
            return values
        for start in range(0, n, PIECE):
            piece = values[start : start + PIECE]
            draws = gen.random64(len(piece))
            draws &= MASK53
            piece[...] = draws.view(np.int64)
            piece *= 2.0**-53
    return values


def uniform(
    gen: Generator, shape: Sequence[int], dtype: Any = np.float32, low: float = 0.0, high: float = 1.0
) -> np.ndarray:
    """Numbers spread evenly over [low, high) in a fresh array of ``shape`` and ``dtype``; complex ones part by part.

    A result that rounding took up to ``high`` becomes ``low``. RuntimeError for bounds out of order or out of range,
    NotImplementedError for other than floating types.
    """
    dtype = np.dtype(dtype)
    if dtype == _F32 and low == 0.0 and high == 1.0:
        return unit32(gen, prod(shape)).reshape(shape)
    part = COMPLEX.get(dtype)
    if part is not None:
        _check_order(low, high)
        return uniform(gen, (*shape, 2), part, low, high).view(dtype).reshape(shape)
    if low != 0.0 or high != 1.0 or dtype not in FLOATS:
        _check_bounds(dtype, low, high)
    if dtype == _F64:
        values = unit64(gen, prod(shape))
        if low != 0.0 or high != 1.0:
            values = scaled(values, high - low, low, exact=True)
    else:
        first, width = np.float32(low), np.float32(high) - np.float32(low)
        values = unit32(gen, prod(shape)).astype(np.float64)
        values *= float(width)
        values += float(first)
        values = rounded(values, dtype)
    lowest, end = (rounded(np.array(bound, np.float64), dtype) for bound in (low, high))
    reached = values == end
    if reached.any():
        values[reached] = lowest
    return values.reshape(shape)


def rounded(values: np.ndarray, dtype: np.dtype[Any]) -> np.ndarray:
    """``values``, float32 or float64, as ``dtype``: by way of float32 to the narrow types, as C++ casts."""
    if values.dtype == dtype:
        return values
    with np.errstate(over="ignore", invalid="ignore"):
        if dtype.itemsize < 4 and values.dtype == _F64 and dtype in FLOATS:
            values = values.astype(np.float32)
        return values.astype(dtype)


def scaled(values: np.ndarray, factor: float, offset: float, exact: bool) -> np.ndarray:
    """``values * factor + offset`` in float64, in the same memory or not; rounded once if ``exact``.

    PyTorch's kernels use a fused multiply-add here. Where the result is rounded to fewer digits afterwards, it is not
    worth its price.
    """
    if factor == 1.0:
        values += offset
        return values
    if exact and offset != 0.0 and isfinite(offset) and abs(factor) < 1e290:
        return fused(values, factor, offset)
    with np.errstate(over="ignore", invalid="ignore"):
        values *= factor
        values += offset
    return values


def fused(a: Any, b: Any, c: Any) -> Any:
    """``a * b + c`` of float64, rounded once: the errors of product and sum, found exactly, are added last.

    Source: Dekker (1971), the product split in halves; Knuth, the error of a sum.
    """
    high_b = _upper(b)
    low_b = b - high_b
    high = a * 134217729.0
    high -= high - a
    low = a - high
    product = a * b
    error = high * high_b - product
    error += high * low_b
    error += low * high_b
    error += low * low_b
    total = product + c
    shift = total - product
    error += (product - (total - shift)) + (c - shift)
    total += error
    return total


def _upper(x: Any) -> Any:
    scaled_up = x * 134217729.0  # 2**27 + 1
    return scaled_up - (scaled_up - x)


# --- checks -----------------------------------------------------------------------------------------------------------


def number(x: float) -> str:
    """A number as C++ streams print it in messages: six digits at most."""
    return f"{x:g}"


def _check_order(low: float, high: float) -> None:
    if not low <= high:
        raise RuntimeError(
            f"uniform_ expects to return a [from, to) range, but found from={number(low)} > to={number(high)}"
        )


def _check_bounds(dtype: np.dtype[Any], low: float, high: float) -> None:
    facts = FLOATS.get(dtype)
    if facts is None:
        raise NotImplementedError(f"\"check_uniform_bounds\" not implemented for '{SCALAR_NAMES[dtype]}'")
    for name, bound in (("from", low), ("to", high)):
        if not -facts.largest <= bound <= facts.largest:
            raise RuntimeError(f"{name} is out of bounds for {facts.c_name}")
    _check_order(low, high)
    if not high - low <= facts.largest:
        raise RuntimeError(
            f"uniform_ expects to-from <= std::numeric_limits<{facts.scalar_name}>::max(), but found "
            f"to={number(high)} and from={number(low)} which result in to-from to exceed the limit"
        )


# -- Whole numbers and permutations as PyTorch's CPU kernels draw them: knows generators and arrays, no tensors.

_I64 = np.dtype(np.int64)
_WIDE_RANGE = 2**28  # from here on whole numbers take 64-bit draws


def randint(gen: Generator, shape: Sequence[int], dtype: Any = np.int64, low: int = 0, high: int = 2) -> np.ndarray:
    """Whole numbers from ``low`` to ``high - 1``: the draw's remainder, so very wide ranges are not quite even.

    RuntimeError for an empty range or one that ``dtype`` does not hold, ValueError beyond 64 bits; a warning if a
    floating type does not hold every number of the range.
    """
    dtype = np.dtype(dtype)
    if not (-(2**63) <= low < 2**63 and -(2**63) <= high < 2**63):
        raise ValueError("Overflow when unpacking long long")
    _check_limits("", low, high)
    if dtype == _I64:
        return _whole(gen, prod(shape), high - low, low, dtype).reshape(shape)
    facts = FLOATS.get(dtype)
    if facts is not None:
        low, high = _first_exact(low, dtype, facts.digits), _last_exact(high, dtype, facts.digits)
        _check_limits(" casted to dtype", low, high)
    _check_range(dtype, low, high - 1)
    return _whole(gen, prod(shape), high - low, low, dtype).reshape(shape)


def random_(
    gen: Generator, shape: Sequence[int], dtype: Any = np.float32, low: int | None = None, high: int | None = None
) -> np.ndarray:
    """Whole numbers over all that ``dtype`` holds: from ``low`` up to its largest, or without ``low`` from 0.

    Floating types count as far as they hold every number. With ``high`` too this is ``randint``.
    """
    dtype = np.dtype(dtype)
    if high is not None:
        return randint(gen, shape, dtype, 0 if low is None else low, high)
    facts = FLOATS.get(dtype)
    if low is None:
        if 0 in shape:
            return np.empty(shape, dtype)
        if dtype.kind == "c" or dtype in BARE_UNSIGNED:
            raise NotImplementedError(f"\"random_kernel_cpu\" not implemented for '{SCALAR_NAMES[dtype]}'")
        span = 2 if dtype.kind == "b" else 2**facts.digits + 1 if facts else int(np.iinfo(dtype).max) + 1
        draws = gen.random64(prod(shape)) if dtype.itemsize == 8 else gen.random32(prod(shape))
        return _reduced(draws, span, 0, dtype).reshape(shape)
    if not -(2**63) <= low < 2**63:
        raise ValueError("Overflow when unpacking long long")
    if low == -(2**63):
        return _all_64_bits(gen, shape, dtype)
    if dtype.kind == "c":
        raise RuntimeError("random_from_to_impl handles only integral, floating-point and boolean types")
    if facts is not None:
        last = 2**facts.digits
        low = _first_exact(low, dtype, facts.digits)
        if low >= last:
            raise RuntimeError(
                "random_ expects 'from' casted to dtype to be less than or equal to 'to_inc' casted to dtype, but got "
                f"from={low} > to_inc={last}"
            )
    else:
        last = 1 if dtype.kind == "b" else int(np.iinfo(dtype).max)
        last = -1 if last > 2**63 else last  # uint64: PyTorch's count is signed, and refuses
    _check_range(dtype, low, last)
    return _whole(gen, prod(shape), last - low + 1, low, dtype).reshape(shape)


def randperm(gen: Generator, n: int, dtype: Any = np.int64) -> np.ndarray:
    """The numbers 0 to ``n - 1`` in random order: each place in turn is swapped with itself or a later one.

    From n = 214,748,364 on PyTorch shuffles in another way, which is not followed: there the order is another one.
    RuntimeError for a negative ``n`` or one whose numbers ``dtype`` does not hold.
    """
    dtype = np.dtype(dtype)
    if n < 0:
        raise RuntimeError(f"Trying to create tensor with negative dimension {n}: [{n}]")
    _check_permutation(dtype, n)
    if n < 2:
        return np.zeros(n, dtype)
    with gen.lock:
        if n < 2**31 and (native := serving(gen, n)) is not None:
            shuffled = np.empty(n, np.int64)
            native[0].shuffled(native[1], shuffled)
            return shuffled.astype(dtype, copy=False)
    partner = np.arange(n - 1)
    partner += gen.random32(n - 1) % np.arange(n, 1, -1, dtype=np.uint32)
    if n < 256:
        order = list(range(n))
        for place, other in enumerate(partner.tolist()):
            order[place], order[other] = order[other], order[place]
        return np.array(order, np.int64).astype(dtype)
    return _swapped(partner).astype(dtype, copy=False)


# --- how it is done ---------------------------------------------------------------------------------------------------


def _whole(gen: Generator, n: int, span: int, low: int, dtype: np.dtype[Any]) -> np.ndarray:
    if span < _WIDE_RANGE and dtype == _I64 and n:
        with gen.lock:
            if (native := serving(gen, n)) is not None:
                values = np.empty(n, _I64)
                native[0].whole32(native[1], span, low, values)
                return values
    draw = gen.random64 if span >= _WIDE_RANGE else gen.random32
    if n <= PIECE:
        return _reduced(draw(n), span, low, dtype)
    values = np.empty(n, dtype)
    with gen.lock:
        for start in range(0, n, PIECE):
            values[start : start + PIECE] = _reduced(draw(min(PIECE, n - start)), span, low, dtype)
    return values


def _all_64_bits(gen: Generator, shape: Sequence[int], dtype: np.dtype[Any]) -> np.ndarray:
    if dtype.kind in "bc" or dtype in BARE_UNSIGNED or dtype.str[1:] == "f2":
        raise NotImplementedError(
            f"\"random_full_64_bits_range_kernel_cpu\" not implemented for '{SCALAR_NAMES[dtype]}'"
        )
    if dtype.itemsize != 8 and dtype not in FLOATS:
        raise RuntimeError("random_full_64_bits_range_kernel_cpu handles only int64, double, float and bfloat16")
    return _reduced(gen.random64(prod(shape)), 2**64, 0, dtype).reshape(shape)


def _reduced(draws: np.ndarray, span: int, low: int, dtype: np.dtype[Any]) -> np.ndarray:
    """The remainders of ``draws`` by ``span``, counted from ``low``, as ``dtype``; uses up ``draws``."""
    if not span & (span - 1):
        if span < 2 ** (8 * draws.itemsize):
            draws &= draws.dtype.type(span - 1)
    elif draws.size < 64:
        draws %= draws.dtype.type(span)
    else:  # NumPy divides by a constant much faster than it takes a remainder
        whole = draws // draws.dtype.type(span)
        whole *= draws.dtype.type(span)
        draws -= whole
    values = draws.view(np.int64) if draws.itemsize == 8 else draws.astype(np.int64)
    if low:
        values += low  # wraps as in C++
    if dtype in FLOATS and dtype.itemsize < 4:
        return values.astype(np.float32).astype(dtype)
    return values.astype(dtype, copy=False)


def _swapped(partner: np.ndarray) -> np.ndarray:
    """What swapping place t with place ``partner[t]``, for t from 0 on, makes of 0, 1, 2...

    Without a loop over the swaps: step t takes the number that the last earlier step naming the same place left there,
    and what a step leaves is what an earlier step left at its own place, and so on back to a number never moved.
    """
    n = len(partner) + 1
    steps = np.arange(n - 1)
    origin = np.arange(n + 1)  # of what stands at place t when step t comes
    staying = np.flatnonzero(partner == steps)
    partner[staying] = n  # a place of no interest
    origin[partner] = steps  # of several steps the last one counts
    partner[staying] = staying
    while True:
        further = origin.take(origin)
        if np.array_equal(further, origin):
            break
        origin = further
    width = n.bit_length()
    order = np.sort(partner << width | steps)  # by place named, then by time
    place, time = order >> width, order & ((1 << width) - 1)
    again = np.flatnonzero(place[1:] == place[:-1]) + 1
    place[again] = origin.take(time.take(again - 1))
    result = np.empty(n, np.int64)
    result[time] = place
    result[-1] = origin[n - 1]
    return result


# --- checks -----------------------------------------------------------------------------------------------------------


def _check_limits(casted: str, low: int, high: int) -> None:
    if low >= high:
        raise RuntimeError(
            f"random_ expects 'from'{casted} to be less than 'to'{casted}, but got from={low} >= to={high}"
        )


def _check_range(dtype: np.dtype[Any], low: int, last: int) -> None:
    """Refuse, or warn of, a range from ``low`` to ``last`` that is beyond the numbers of ``dtype``."""
    facts = FLOATS.get(dtype)
    if facts is not None:
        least, most, c_name = -facts.largest, facts.largest, facts.c_name
    elif dtype.kind == "c":
        raise RuntimeError("check_random_bounds handles only integral, floating-point and boolean types")
    else:
        least, most = (0, 1) if dtype.kind == "b" else (np.iinfo(dtype).min, np.iinfo(dtype).max)
        c_name = C_NAMES[dtype.str[1:]]
    for name, bound in (("from", low), ("to - 1", last)):
        if not least <= bound <= most:
            raise RuntimeError(f"{name} is out of bounds for {c_name}")
    if facts is not None:
        for name, bound in (("from", low), ("to - 1", last)):
            if abs(bound) > 2**facts.digits:
                reach = f"[-(2^{facts.digits}), 2^{facts.digits}]"
                warn(
                    f"{name} is out of bounds {reach}. Due to precision limitations {c_name} can support discrete "
                    "uniform distribution only within this range. This warning will become an error in version 1.7 "
                    "release, please fix the code in advance",
                )


def _check_permutation(dtype: np.dtype[Any], n: int) -> None:
    if dtype.kind in "iu" and n and n - 1 > np.iinfo(dtype).max:
        raise RuntimeError(f"value cannot be converted to type {dtype.name}_t without overflow")
    if dtype.kind in "bc" or dtype in BARE_UNSIGNED:
        raise NotImplementedError(f"\"randperm\" not implemented for '{SCALAR_NAMES[dtype]}'")
    facts = FLOATS.get(dtype)
    if facts is not None and facts.digits != 8 and n > 2**facts.digits + 1:  # PyTorch does not look at bfloat16
        most = "2049" if facts.digits == 11 else f"2^{facts.digits}+1"
        raise RuntimeError(f"n cannot be greater than {most} for {facts.scalar_name} type.")


def _cast(x: int, dtype: np.dtype[Any]) -> int:
    with np.errstate(over="ignore"):
        value = float(np.float64(x) if dtype.itemsize == 8 else np.float32(x).astype(dtype))
    if not abs(value) < 2.0**63:
        return -(2**63)  # what the processor makes of it
    return int(value)


def _first_exact(low: int, dtype: np.dtype[Any], digits: int) -> int:
    """``low``, or the next number the type holds if rounding would fall below it."""
    above = _cast(low + 1, dtype)
    if above < low:
        low = above + (1 << (abs(low + 1).bit_length() - digits))
    return low


def _last_exact(high: int, dtype: np.dtype[Any], digits: int) -> int:
    """``high``, or one less far if rounding would reach it."""
    below = _cast(high - 1, dtype)
    if below >= high:
        high = below - (1 << (abs(high - 1).bit_length() - digits))
    return high
