"""Choosing between arrays element by element; knows NumPy only.

``np.where`` branches on every element, which costs ten times as much as the memory traffic when the condition is
irregular; large arrays are blended by their bits instead.
"""

from __future__ import annotations

from typing import Any

import numpy as np

ndarray = np.ndarray
LARGE = 2500  # elements from which on blending wins
BITS: dict[int, Any] = {4: np.dtype("i4"), 8: np.dtype("i8")}  # whole numbers of as many bytes
_ONE = np.int8(1)
_ZEROS: dict[np.dtype[Any], Any] = {np.dtype(code): np.zeros((), code) for code in ("f4", "f8", "i8", "F", "D")}


def choose(condition: Any, one: Any, other: Any) -> Any:
    """``one`` where ``condition`` holds, ``other`` elsewhere, with broadcasting."""
    if type(condition) is ndarray and condition.size >= LARGE and one.dtype is other.dtype:
        bits = BITS.get(one.dtype.itemsize)
        if bits is not None and one.dtype.kind != "c" and one.shape == condition.shape == other.shape:
            a, b = one.view(bits), other.view(bits)
            out = np.empty(one.shape, one.dtype)
            mask = out.view(bits)
            np.negative(condition.view("i1"), out=mask)
            mask &= a ^ b
            mask ^= b
            return out
    if not condition.shape and not one.shape and not other.shape:
        return one[()] if condition else other[()]
    return np.where(condition, one, other)[()]


def drop(condition: Any, values: Any) -> Any:
    """Zero where ``condition`` holds (be the value infinite), ``values`` elsewhere; arrays of one shape, or scalars."""
    kind = values.dtype
    if not condition.shape and not values.shape:
        return kind.type(0) if condition else values[()]
    if condition.shape != values.shape:
        return np.where(condition, kind.type(0), values)
    if condition.size >= LARGE and kind.itemsize in BITS and kind.kind != "c":
        bits = BITS[kind.itemsize]
        out = np.empty(values.shape, kind)
        mask = out.view(bits)
        np.subtract(condition.view("i1"), _ONE, out=mask)  # -1, all bits set, where the condition fails
        mask &= values.view(bits)
        return out
    out = values.copy()
    zero = _ZEROS.get(kind)
    np.copyto(out, 0 if zero is None else zero, where=condition)
    return out


def keep(condition: Any, values: Any) -> Any:
    """``values`` where ``condition`` holds, zero elsewhere."""
    return drop(np.logical_not(condition), values)
