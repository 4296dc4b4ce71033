"""Addresses of the inner loops of NumPy's universal functions: what NumPy itself runs over contiguous arrays."""

from __future__ import annotations

import ctypes
from functools import cache
from typing import Any

import numpy as np

from .text import NotNative

_HEAD = object.__basicsize__
_LETTERS = {"f": 11, "d": 12}  # NPY_FLOAT, NPY_DOUBLE
_LOOP = ctypes.CFUNCTYPE(None, *[ctypes.c_void_p] * 4)


class _Ufunc(ctypes.Structure):
    """The head of PyUFuncObject, as NumPy's C interface lays it down."""

    _fields_ = [
        ("nin", ctypes.c_int), ("nout", ctypes.c_int), ("nargs", ctypes.c_int), ("identity", ctypes.c_int),
        ("functions", ctypes.POINTER(ctypes.c_void_p)), ("data", ctypes.POINTER(ctypes.c_void_p)),
        ("ntypes", ctypes.c_int), ("reserved", ctypes.c_int), ("name", ctypes.c_char_p),
        ("types", ctypes.POINTER(ctypes.c_char)),
    ]  # fmt: skip


@cache
def loop_of(function: np.ufunc, kind: np.dtype[Any]) -> tuple[int, int]:
    """The loop over numbers of one dtype, and the data it is given; NotNative where that cannot be made sure of."""
    head = _Ufunc.from_address(id(function) + _HEAD)
    shape = (function.nin, function.nout, function.nargs, function.ntypes)
    if (head.nin, head.nout, head.nargs, head.ntypes) != shape or head.name != function.__name__.encode():
        raise NotNative("a NumPy whose functions are laid out in another way")
    wanted = bytes([_LETTERS[kind.char]] * function.nargs)
    types = ctypes.string_at(head.types, function.nargs * function.ntypes)
    for place in range(function.ntypes):
        if types[place * function.nargs : (place + 1) * function.nargs] == wanted:
            loop, data = head.functions[place] or 0, head.data[place] or 0
            if loop and _agrees(function, kind, loop, data):
                return loop, data
    raise NotNative(f"no loop of NumPy's for {function.__name__}")


def _agrees(function: np.ufunc, kind: np.dtype[Any], loop: int, data: int) -> bool:
    """Whether a loop computes what the function does, bit for bit."""
    whole = np.concatenate([np.linspace(-3, 3, 61), np.logspace(-6, 2, 40), [0.0, -0.0, np.inf, -np.inf, np.nan]])
    for size in (1, 2, 5, whole.size):
        arrays = [np.roll(whole, 7 * n)[-size:].astype(kind) for n in range(function.nin)]
        out = np.empty(size, kind)
        operands = (ctypes.c_void_p * function.nargs)(*(array.ctypes.data for array in (*arrays, out)))
        sizes = (ctypes.c_ssize_t * 1)(size)
        steps = (ctypes.c_ssize_t * function.nargs)(*[kind.itemsize] * function.nargs)
        _LOOP(loop)(operands, sizes, steps, data)
        with np.errstate(all="ignore"):
            if function(*arrays).tobytes() != out.tobytes():
                return False
    return True
