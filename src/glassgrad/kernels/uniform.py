"""Evenly spread numbers, and what every distribution shares: knows generators and arrays, no tensors."""

from __future__ import annotations

from collections.abc import Sequence
from math import isfinite, prod
from typing import Any, NamedTuple

import ml_dtypes
import numpy as np

from glassgrad.ground.generator import Generator
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
    if n < compiled.least and (compiled.least == compiled.NEVER or "random" not in vars(compiled)):
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
        if (found := serving(gen, n)) is not None:
            found[0].uniform32(found[1], values)
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
        if (found := serving(gen, n)) is not None:
            found[0].uniform64(found[1], values)
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
        return _fused(values, factor, offset)
    with np.errstate(over="ignore", invalid="ignore"):
        values *= factor
        values += offset
    return values


def _fused(a: np.ndarray, b: float, c: float) -> np.ndarray:
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


def _upper(x: float) -> float:
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
