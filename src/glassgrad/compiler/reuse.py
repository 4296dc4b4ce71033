"""Operands that nobody holds any more, seen by their references: a program's step writes its result over them."""

from __future__ import annotations

import sys
from sys import getrefcount
from typing import Any

import numpy as np

from ..kernels import compiled


def room(operands: tuple[Any, ...], place: int) -> Any:
    """Where a result may go: an operand of the caller's, if its caller's variable is all that holds it, or a copy.

    ``operands`` are those that the caller was given as ``*operands``. The plan of the program has it that they are not
    read again; whether what made them gave memory of their own is seen here.
    """
    array = operands[place]
    if getrefcount(array) <= _HELD:
        flags = array.flags  # which hold the array too
        if flags.owndata and flags.writeable and flags.c_contiguous:
            return array
    return array.copy()


def written_over(function: np.ufunc, place: int, *operands: Any) -> Any:
    """What an elementwise function gives, in the memory of one of its operands."""
    out = room(operands, place)
    if len(operands) == 1 and out.size >= max(compiled.least, compiled.CURVED):  # as the operation itself computes it
        result = compiled.elementary.apply(function, out, operands[0])
        if result is not None:
            return result
    return function(*operands, out=out)


def _references(operands: tuple[Any, ...], place: int) -> int:
    array = operands[place]
    return getrefcount(array)


def _given(*operands: Any) -> int:
    return _references(operands, 0)


def _held() -> int:
    """How many references ``room`` sees to an array that only a variable of its caller's caller holds."""
    if sys.implementation.name != "cpython" or not getattr(sys, "_is_gil_enabled", lambda: True)():
        return 0  # where references are counted in another way, every result has memory of its own
    array = np.empty(1)
    return _given(array)


_HELD = _held()
