"""Elementwise operations on large arrays, shared out among threads: the same bits as NumPy's, where one gains by it.

What is one instruction waits for memory, and gains nothing by another core: that is NumPy's. Of its other functions,
those gain that are computed by polynomials (``elementary.py``), and the square root.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from glassgrad.ground import runtime

from .. import compiled
from . import elementary
from .binding import kernel, shared_out
from .memory import address, numbers_at

F4, F8 = np.dtype("f4"), np.dtype("f8")
_COST = 0.5  # nanoseconds for an element of our loops, which wait for memory


@partial(kernel, strict=True)
def _sqrt(first: int, last: int, like: Any, a: int, out: int) -> None:
    """The roots of a part of the numbers at one address, which may be the result's own."""
    x, z = numbers_at(a, like), numbers_at(out, like)
    if a == out:  # one pointer for both, so that LLVM need not ask whether they overlap
        for i in range(first, last):
            z[i] = np.sqrt(z[i])
    else:
        for i in range(first, last):
            z[i] = np.sqrt(x[i])


def apply(ufunc: Any, out: Any, a: Any, b: Any = None) -> Any:
    """``ufunc`` of an array, written into ``out``, which may be that, but overlaps it none otherwise.

    Both are contiguous and of one dtype. Gives ``out``, or ``None`` if they are not served, as two operands never are.
    """
    dtype = out.dtype
    if b is not None or (dtype is not F4 and dtype is not F8) or a.shape != out.shape or not a.flags.c_contiguous:
        return None
    if out.size >= compiled.CURVED and elementary.apply(ufunc, out, a) is not None:
        return out
    if ufunc is not np.sqrt:
        return None
    part = max(out.size // runtime.get_num_threads(), 1)  # one for each: what a core has written, it finds in its cache
    shared_out(_sqrt, out.size, int(out.size * _COST), dtype.type(0), address(a), address(out), grain=part)
    return out


@partial(kernel, strict=True)
def _columns_by_rows(first: int, last: int, like: Any, a: int, b: int, out: int, height: int, width: int) -> None:
    """Rows of the products: each is a number of a column times a row, added to zero."""
    column, row, z = numbers_at(a, like), numbers_at(b, like), numbers_at(out, like)
    for i in range(first, last):
        number, there, here = column[i], i // height * width, i * width
        for j in range(width):
            z[here + j] = like + number * row[there + j]


def columns_by_rows(out: Any, a: Any, b: Any) -> Any:
    """The products of columns ``a`` with rows ``b`` (samples, 1, n), written into ``out``; None if they are not served.

    a  (samples, m, 1)      out  (samples, m, n)
    """
    dtype = out.dtype
    if dtype is not F4 and dtype is not F8:
        return None
    (samples, height, width), a, b = out.shape, np.ascontiguousarray(a), np.ascontiguousarray(b)
    addresses = [address(x) for x in (a, b, out)]
    shared_out(_columns_by_rows, samples * height, int(out.size * _COST), dtype.type(0), *addresses, height, width)
    return out
