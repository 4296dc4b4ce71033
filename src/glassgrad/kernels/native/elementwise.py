"""NumPy's own elementwise loops, run without Python and shared out among threads: the same bits as NumPy's."""

from __future__ import annotations

from typing import Any

import numpy as np
from llvmlite import ir
from numba import types

from glassgrad.ground import runtime

from .. import compiled
from . import elementary
from .binding import intrinsic, kernel, shared_out
from .memory import DATA, word_at
from .ufunc import call_at, loop_of

F4, F8 = np.dtype("f4"), np.dtype("f8")
#: Nanoseconds for an element, by which it is decided how many threads pay.
_COST = 0.5


@intrinsic
def _call_loop(
    typing: Any, loop: Any, data: Any, count: Any, a: Any, b: Any, out: Any, sa: Any, sb: Any, so: Any
) -> Any:
    """Run a loop of NumPy's: over ``count`` elements, operands and result at these addresses, so many bytes apart."""

    def code(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        word = ir.IntType(64)
        room = builder.alloca(word, 7)

        def put(place: int, *values: Any) -> Any:
            for i, value in enumerate(values):
                builder.store(value, builder.gep(room, [ir.IntType(32)(place + i)]))
            return builder.gep(room, [ir.IntType(32)(place)])

        loop, data, count, a, b, out, sa, sb, so = arguments
        call_at(builder, loop, put(0, a, b, out), put(3, count), put(4, sa, sb, so), data)
        return context.get_dummy_value()

    return types.void(*[types.int64] * 9), code


@kernel
def _one(first: Any, last: Any, loop: Any, data: Any, a: Any, out: Any, sa: Any, step: Any) -> None:
    """A part of a loop over one array, the head of which, like that of the result, lies at an address."""
    x, z = word_at(a + DATA) + first * sa, word_at(out + DATA) + first * step
    _call_loop(loop, data, last - first, x, z, 0, sa, step, 0)


@kernel
def _two(first: Any, last: Any, loop: Any, data: Any, a: Any, b: Any, out: Any, sa: Any, sb: Any, step: Any) -> None:
    """A part of a loop over two arrays, the elements of which are so many bytes apart: none for a number."""
    x, y = word_at(a + DATA) + first * sa, word_at(b + DATA) + first * sb
    _call_loop(loop, data, last - first, x, y, word_at(out + DATA) + first * step, sa, sb, step)


def apply(ufunc: Any, out: Any, a: Any, b: Any = None) -> Any:
    """``ufunc`` of one or two arrays, written into ``out``, which may be one of them.

    All are of one dtype and contiguous; an operand may be a single number, or one that was expanded to the result's
    sizes. Gives ``out``, or ``None`` if they are not served.
    """
    dtype = out.dtype
    if dtype is not F4 and dtype is not F8:
        return None
    if b is None and out.size >= compiled.CURVED and elementary.apply(ufunc, out, a) is not None:
        return out
    found = loop_of(ufunc, dtype)
    if found is None:
        return None
    size, step = out.size, dtype.itemsize
    part = max(size // runtime.get_num_threads(), 1)  # one for each: what a core has written, it finds in its cache
    sa = step if any(a.strides) else 0
    if b is None:
        shared_out(_one, size, int(size * _COST), *found, id(a), id(out), sa, step, grain=part)
    else:
        sb = step if any(b.strides) else 0
        shared_out(_two, size, int(size * _COST), *found, id(a), id(b), id(out), sa, sb, step, grain=part)
    return out
