"""Runs a tape: instructions on small arrays, one after another, by one function that is compiled for all programs.

An instruction is a few whole numbers: what to do, where the result goes, how many elements there are, and the places
of the operands in a table of addresses. Elementwise ones, of ``SHORT`` numbers, work on elements that lie one after
another; what lies otherwise is gathered before. The others, of ``LONG``, go on with numbers of their own.
A tape has several parts where NumPy's functions are called in between.
"""

from __future__ import annotations

from functools import cache
from itertools import count
from typing import Any

import numpy as np
from numba import types

from .binding import inlined, kernel
from .mathematics import like
from .memory import numbers_at

_WHOLE, _SHORT = types.int64, types.int32
_next = count().__next__
END = _next()
ADD, SUB, MUL, DIV, COPY, LE, LT, EQ, SELECT, TOTAL, NEG, ABS, SQRT = (_next() for _ in range(13))
TIMES, LESS, GATE = (_next() for _ in range(3))  # with a single number among the operands
GATHER, PRODUCT = _next(), _next()
SHORT, LONG = 6, 10  # how many numbers an instruction takes
NARROW = 8


@inlined
def _total(a: Any, n: int, zero: Any) -> Any:
    total = zero
    for i in range(n):
        total += a[i]
    return total


@inlined
def _add_times(out: Any, start: int, x: Any, b: Any, other: int, n: int) -> None:
    for i in range(n):
        out[start + i] += x * b[other + i]


def _run(where: int, at: int, first: Any) -> None:
    """Run a part of the tape whose head is at an address, from its number ``at`` on to the next end.

    ``first`` goes to the first place in the table, and tells the dtype.
    """
    head = numbers_at(where, _WHOLE)
    code = numbers_at(head[0], _SHORT)
    table = numbers_at(head[1], _WHOLE)
    numbers_at(table[0], first)[0] = first
    zero, one = like(0.0, first), like(1.0, first)
    while True:
        what = code[at]
        if what == END:
            return
        n = np.int64(code[at + 2])
        out = numbers_at(table[code[at + 1]], first)
        a = numbers_at(table[code[at + 3]], first)
        b = numbers_at(table[code[at + 4]], first)
        if what == ADD:
            for i in range(n):
                out[i] = a[i] + b[i]
        elif what == SUB:
            for i in range(n):
                out[i] = a[i] - b[i]
        elif what == MUL:
            for i in range(n):
                out[i] = a[i] * b[i]
        elif what == DIV:
            for i in range(n):
                out[i] = a[i] / b[i]
        elif what == COPY:
            for i in range(n):
                out[i] = a[i]
        elif what == LE:
            for i in range(n):
                out[i] = one if a[i] <= b[i] else zero
        elif what == LT:
            for i in range(n):
                out[i] = one if a[i] < b[i] else zero
        elif what == EQ:
            for i in range(n):
                out[i] = one if a[i] == b[i] else zero
        elif what == SELECT:
            c = numbers_at(table[code[at + 5]], first)
            for i in range(n):
                out[i] = b[i] if a[i] != zero else c[i]
        elif what == TIMES:
            x = b[0]
            for i in range(n):
                out[i] = a[i] * x
        elif what == LESS:
            c = numbers_at(table[code[at + 5]], first)
            x = c[0]
            for i in range(n):
                out[i] = a[i] - b[i] * x
        elif what == GATE:
            c = numbers_at(table[code[at + 5]], first)
            x = c[0]
            for i in range(n):
                out[i] = zero if a[i] <= x else b[i]
        elif what == TOTAL:
            out[0] = _total(a, n, zero)
        elif what == NEG:
            for i in range(n):
                out[i] = -a[i]
        elif what == ABS:
            for i in range(n):
                out[i] = abs(a[i])
        elif what == SQRT:
            for i in range(n):
                out[i] = np.sqrt(a[i])
        else:
            rows = np.int64(code[at + 6])
            ar, ac = np.int64(code[at + 7]), np.int64(code[at + 8])  # from row to row and from column to column
            if what == GATHER:
                for r in range(rows):
                    for i in range(n):
                        out[r * n + i] = a[r * ar + i * ac]
            elif n < NARROW:  # PRODUCT: number by number
                depth = np.int64(code[at + 9])
                for r in range(rows):
                    for i in range(n):
                        total = zero
                        for k in range(depth):
                            total += a[r * ar + k * ac] * b[k * n + i]
                        out[r * n + i] = total
            else:  # or row by row, those of the second matrix added up
                depth = np.int64(code[at + 9])
                for r in range(rows):
                    for i in range(n):
                        out[r * n + i] = zero
                    for k in range(depth):
                        _add_times(out, r * n, a[r * ar + k * ac], b, k * n, n)
            at += LONG - SHORT
        at += SHORT


run = kernel(_run, strict=True)


@cache
def run_for(kind: np.dtype[Any]) -> Any:
    """``run`` for numbers of a dtype, compiled, without the choice between dtypes at each call."""
    return run.compile((_WHOLE, _WHOLE, types.float32 if kind.itemsize == 4 else types.float64))
