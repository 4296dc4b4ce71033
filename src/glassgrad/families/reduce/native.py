"""Sums, products and extremes of large arrays, compiled: block by block, the blocks' sums added up in float64.

A block's bounds follow from the array's sizes, so that the result is the same for any number of threads.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ...kernels.native.binding import inlined, kernel, shared_out, wide_vectors
from ...kernels.native.mathematics import like, sortable, unsorted

_BLOCK = 1 << 14  # of what is shared out
_RUN = 512  # added up in the array's own type
_PARTS = 32  # into how many parts the rows go of which columns are summed
_KINDS = {np.dtype("f4"), np.dtype("f8")}


@inlined
def _sum(a: Any) -> Any:
    whole = 0.0
    for start in range(0, a.size, _RUN):
        part = a[start : start + _RUN]
        value = a.dtype.type(0)
        for i in range(part.size):
            value += part[i]
        whole += value
    return whole


@inlined
def _product(a: Any) -> Any:
    whole = 1.0
    for start in range(0, a.size, _RUN):
        part = a[start : start + _RUN]
        value = a.dtype.type(1)
        for i in range(part.size):
            value *= part[i]
        whole *= value
    return whole


@kernel
def _heads(first: int, last: int, flat: Any, heads: Any, product: bool) -> None:
    for block in range(first, last):
        part = flat[block * _BLOCK : (block + 1) * _BLOCK]
        heads[block] = _product(part) if product else _sum(part)


@kernel
def _deviations(first: int, last: int, flat: Any, heads: Any, mean: Any) -> None:
    for block in range(first, last):
        whole = 0.0
        for start in range(block * _BLOCK, min((block + 1) * _BLOCK, flat.size), _RUN):
            part = flat[start : start + _RUN]
            value = flat.dtype.type(0)
            for i in range(part.size):
                off = part[i] - mean
                value += off * off
            whole += value
        heads[block] = whole


@kernel
def _of_rows(first: int, last: int, a: Any, out: Any, product: bool) -> None:
    for row in range(first, last):
        out[row] = _product(a[row]) if product else _sum(a[row])


@inlined
def _most(a: Any, sign: Any) -> Any:
    """The largest of ``sign * a``, times ``sign``; NaN if one is."""
    side = like(sign, a[0])
    most, far = sortable(a[0] * side), sortable(abs(a[0]))
    for i in range(a.size):
        at, size = sortable(a[i] * side), sortable(abs(a[i]))
        most = at if at > most else most
        far = size if size > far else far
    return like(np.nan, side) if far > sortable(like(np.inf, side)) else unsorted(most) * side


@kernel
def _most_of_rows(first: int, last: int, a: Any, out: Any, sign: Any) -> None:
    wide_vectors()
    for row in range(first, last):
        out[row] = _most(a[row], sign)


@kernel
def _of_columns(first: int, last: int, a: Any, height: int, sums: Any) -> None:
    for part in range(first, last):
        line = sums[part]
        for i in range(part * height, min(len(a), (part + 1) * height)):
            row = a[i]
            for j in range(line.size):
                line[j] += row[j]


def _served(a: Any) -> bool:
    return type(a) is np.ndarray and a.dtype in _KINDS and a.flags.c_contiguous and a.size > 0


def _over(work: Any, a: Any, setting: Any) -> Any:
    flat = a.reshape(-1)
    heads = np.empty(-(-flat.size // _BLOCK))
    shared_out(work, heads.size, flat.size, flat, heads, setting)
    return heads


def total(a: Any) -> Any:
    """The sum of all elements; None where it is not served."""
    return a.dtype.type(_over(_heads, a, False).sum()) if _served(a) else None


def product(a: Any) -> Any:
    """The product of all elements; None where it is not served."""
    return a.dtype.type(_over(_heads, a, True).prod()) if _served(a) else None


def deviations(a: Any, mean: Any) -> Any:
    """The sum of the squares of all differences from ``mean``; None where it is not served."""
    return a.dtype.type(_over(_deviations, a, a.dtype.type(mean)).sum()) if _served(a) else None


def rows(a: Any, product: bool = False) -> Any:
    """The sums, or products, of the rows of a matrix; None where it is not served."""
    if not _served(a):
        return None
    out = np.empty(len(a), a.dtype)
    shared_out(_of_rows, len(a), a.size, a, out, product)
    return out


def most_of_rows(a: Any, sign: int) -> Any:
    """The largest element (``sign`` 1) or the smallest (-1) of each row of a matrix; None where it is not served."""
    if not _served(a):
        return None
    out = np.empty(len(a), a.dtype)
    shared_out(_most_of_rows, len(a), a.size, a, out, sign)
    return out


def columns(a: Any) -> Any:
    """The sums of a matrix's columns, in the array's own type."""
    rows, width = a.shape
    height = max(-(-rows // _PARTS), 4)
    parts = -(-rows // height)
    sums = np.zeros((parts, width), a.dtype)
    shared_out(_of_columns, parts, a.size // 4, a if a.flags.carray else np.array(a, order="C"), height, sums)
    return np.add.reduce(sums, axis=0)
