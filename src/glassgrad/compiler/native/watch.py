"""Compares words of memory with what they were: a table of them, as ``compiler/words.py`` makes it."""

from __future__ import annotations

from typing import Any

from numba import types

from ...kernels.native.binding import kernel
from ...kernels.native.memory import numbers_at
from ..words import BEGIN, ITSELF

_WHOLE = types.int64


def _altered(where: int) -> int:
    """How many entries of a table were found as they were, and one more; 0 where all were."""
    table = numbers_at(where, _WHOLE)
    if table[0] == 0:
        return 1
    for n in range(table[1]):
        at = table[BEGIN + 3 * n]
        behind = table[BEGIN + 3 * n + 1]
        if behind != ITSELF:
            at = numbers_at(at, _WHOLE)[0] + behind
        if numbers_at(at, _WHOLE)[0] != table[BEGIN + 3 * n + 2]:
            return n + 1
    return 0


def _renew(where: int) -> int:
    """Note the versions of a table's dicts, which do not hold before somebody says so; gives their number."""
    table = numbers_at(where, _WHOLE)
    table[0] = 0
    for n in range(table[2]):
        table[BEGIN + 3 * n + 2] = numbers_at(table[BEGIN + 3 * n], _WHOLE)[0]
    return table[2]


def comparers() -> tuple[Any, Any]:
    """Both functions, compiled; they keep Python's lock, as whatever they look at could change or go without it."""
    return tuple(kernel(one, strict=True, nogil=False).compile((_WHOLE,)) for one in (_altered, _renew))
