"""Elementwise operations on large arrays, shared out among threads: the same bits as NumPy's.

Sums, products and what else is one instruction are loops of our own. Other functions are NumPy's, called for each part
by a thread of Python's: NumPy lets go of the interpreter's lock while it computes.
"""

from __future__ import annotations

import operator
from functools import partial
from typing import Any

import numpy as np

from glassgrad.ground import runtime

from .. import compiled
from . import elementary
from .binding import inlined, kernel, shared_out
from .memory import address, numbers_at

F4, F8 = np.dtype("f4"), np.dtype("f8")
_COST = 0.5  # nanoseconds for an element of our loops, which wait for memory


@inlined
def _one(step: Any, first: int, last: int, like: Any, a: int, out: int) -> None:
    """A part of a loop over the numbers at one address, which may be the result's own."""
    x, z = numbers_at(a, like), numbers_at(out, like)
    if a == out:  # one pointer for both, so that LLVM need not ask whether they overlap
        for i in range(first, last):
            z[i] = step(z[i])
    else:
        for i in range(first, last):
            z[i] = step(x[i])


@inlined
def _two(step: Any, first: int, last: int, like: Any, a: int, b: int, out: int, single: int) -> None:
    """The same of two addresses; at that of the ``single`` operand, the first or the second, is but one number."""
    x, y, z = numbers_at(a, like), numbers_at(b, like), numbers_at(out, like)
    if single == 1:
        number = x[0]
        if b == out:
            for i in range(first, last):
                z[i] = step(number, z[i])
        else:
            for i in range(first, last):
                z[i] = step(number, y[i])
    elif single == 2:
        number = y[0]
        if a == out:
            for i in range(first, last):
                z[i] = step(z[i], number)
        else:
            for i in range(first, last):
                z[i] = step(x[i], number)
    elif a == out and b == out:
        for i in range(first, last):
            z[i] = step(z[i], z[i])
    elif a == out:
        for i in range(first, last):
            z[i] = step(z[i], y[i])
    elif b == out:
        for i in range(first, last):
            z[i] = step(x[i], z[i])
    else:
        for i in range(first, last):
            z[i] = step(x[i], y[i])


def _negative(first: int, last: int, like: Any, a: int, out: int) -> None:
    _one(operator.neg, first, last, like, a, out)


def _absolute(first: int, last: int, like: Any, a: int, out: int) -> None:
    _one(abs, first, last, like, a, out)


def _sqrt(first: int, last: int, like: Any, a: int, out: int) -> None:
    _one(np.sqrt, first, last, like, a, out)


def _add(first: int, last: int, like: Any, a: int, b: int, out: int, single: int) -> None:
    _two(operator.add, first, last, like, a, b, out, single)


def _subtract(first: int, last: int, like: Any, a: int, b: int, out: int, single: int) -> None:
    _two(operator.sub, first, last, like, a, b, out, single)


def _multiply(first: int, last: int, like: Any, a: int, b: int, out: int, single: int) -> None:
    _two(operator.mul, first, last, like, a, b, out, single)


def _divide(first: int, last: int, like: Any, a: int, b: int, out: int, single: int) -> None:
    _two(operator.truediv, first, last, like, a, b, out, single)


_LOOPS: dict[Any, Any] = {
    ufunc: kernel(loop, strict=True)
    for ufunc, loop in (
        (np.negative, _negative), (np.absolute, _absolute), (np.sqrt, _sqrt), (np.add, _add),
        (np.subtract, _subtract), (np.multiply, _multiply), (np.divide, _divide),
    )
}  # fmt: skip
#: The nanoseconds that an element of NumPy's functions takes.
_NUMPYS: dict[Any, float] = {
    **dict.fromkeys((np.maximum, np.minimum, np.reciprocal, np.tanh), 0.5),
    **dict.fromkeys((np.exp, np.log, np.sin, np.cos), 1.0),
    **dict.fromkeys((
        np.exp2, np.expm1, np.log2, np.log10, np.log1p, np.tan, np.arcsin, np.arccos, np.arctan, np.sinh, np.cosh,
        np.arcsinh, np.arccosh, np.arctanh,
    ), 4.0),
}  # fmt: skip


def _part(first: int, last: int, ufunc: Any, out: Any, *operands: Any) -> None:
    """A part of NumPy's function; a number has one element, others as many as the result."""
    with np.errstate(all="ignore"):  # which is of a thread
        ufunc(*[x[first:last] if x.size > 1 else x for x in operands], out=out[first:last])


def apply(ufunc: Any, out: Any, a: Any, b: Any = None) -> Any:
    """``ufunc`` of one or two arrays, written into ``out``, which may be one of them, but overlaps none otherwise.

    All are of one dtype and contiguous; an operand may be a single number, or one that was expanded to the result's
    sizes. Gives ``out``, or ``None`` if they are not served.
    """
    dtype = out.dtype
    if dtype is not F4 and dtype is not F8:
        return None
    if b is None and out.size >= compiled.CURVED and elementary.apply(ufunc, out, a) is not None:
        return out
    size, operands = out.size, (a,) if b is None else (a, b)
    part = max(size // runtime.get_num_threads(), 1)  # one for each: what a core has written, it finds in its cache
    single = [not any(x.strides) for x in operands]
    if any(single):
        operands = tuple([_number(x) if alone else x for x, alone in zip(operands, single, strict=True)])
    loop = _LOOPS.get(ufunc)
    if all(single) and (loop is not None or ufunc in _NUMPYS):
        with np.errstate(all="ignore"):
            out[...] = ufunc(*operands)
    elif loop is not None:
        which = [] if b is None else [1 if single[0] else 2 if single[1] else 0]
        addresses = [*map(address, operands), address(out)]
        shared_out(loop, size, int(size * _COST), dtype.type(0), *addresses, *which, grain=part)
    elif ufunc in _NUMPYS:
        flat = [x.reshape(-1) for x in operands]
        shared_out(_part, size, int(size * _NUMPYS[ufunc]), ufunc, out.reshape(-1), *flat, grain=part)
    else:
        return None
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


def _number(x: Any) -> Any:
    """The one number of an operand without steps, as an array of one element."""
    return np.asarray(x)[(slice(0, 1),) * x.ndim].reshape(1)
