"""Addresses of the inner loops of NumPy's universal functions: what NumPy itself runs over contiguous arrays.

A ufunc holds, for each dtype, the address of a loop over contiguous numbers, written for the widest vectors of the
processor. NumPy's public header ``ufuncobject.h`` says where it lies; that it does, and that it computes what the
function does, is tried before the loop is used.
"""

from __future__ import annotations

import ctypes
from functools import cache
from typing import Any

import numpy as np
from llvmlite import ir

from .memory import HEAD

_POINTER = ir.IntType(8).as_pointer()
_LOOP = ctypes.CFUNCTYPE(None, *[ctypes.c_void_p] * 4)


class _Ufunc(ctypes.Structure):
    """The head of PyUFuncObject, as NumPy's C interface lays it down."""

    _fields_ = [
        ("nin", ctypes.c_int), ("nout", ctypes.c_int), ("nargs", ctypes.c_int), ("identity", ctypes.c_int),
        ("functions", ctypes.POINTER(ctypes.c_void_p)), ("data", ctypes.POINTER(ctypes.c_void_p)),
        ("ntypes", ctypes.c_int), ("reserved", ctypes.c_int), ("name", ctypes.c_char_p), ("types", ctypes.c_void_p),
    ]  # fmt: skip


def call_at(builder: Any, loop: Any, operands: Any, sizes: Any, steps: Any, data: Any) -> None:
    """The instructions that call a loop: its address, and pointers or addresses of what it is given."""
    kind = ir.FunctionType(ir.VoidType(), [_POINTER] * 4)
    given = [
        builder.bitcast(one, _POINTER) if one.type.is_pointer else builder.inttoptr(one, _POINTER)
        for one in (operands, sizes, steps, data)
    ]
    builder.call(builder.inttoptr(loop, kind.as_pointer()), given)


@cache
def loop_of(function: np.ufunc, kind: np.dtype[Any]) -> tuple[int, int] | None:
    """The loop over numbers of one dtype, and the data it is given; ``None`` where that cannot be made sure of."""
    head = _Ufunc.from_address(id(function) + HEAD)
    shape = (function.nin, function.nout, function.nargs, function.ntypes)
    if (head.nin, head.nout, head.nargs, head.ntypes) != shape or function.nout != 1 or function.nin > 2:
        return None
    if not head.functions or not head.types or head.name != function.__name__.encode():
        return None
    table = ctypes.string_at(head.types, function.nargs * function.ntypes)
    wanted = bytes([kind.num]) * function.nargs
    for place, written in enumerate(function.types):
        piece = table[place * function.nargs : (place + 1) * function.nargs]
        if piece != bytes(np.dtype(letter).num for letter in written.replace("->", "")):
            return None
        if piece == wanted:
            loop, data = head.functions[place] or 0, (head.data[place] or 0) if head.data else 0
            return (loop, data) if loop and _agrees(function, kind, loop, data) else None
    return None


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
