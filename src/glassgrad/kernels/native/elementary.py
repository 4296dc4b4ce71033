"""Elementary functions of large arrays by polynomials, where these are quicker than NumPy's own loops.

Each kernel has two loops, one of which works in place: LLVM takes the arrays of the other to lie apart.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from glassgrad.ground import runtime

from .binding import apart, inlined, shared_out, wide_vectors
from .each import bound
from .mathematics import NEAR, cos, exp, like, recast, sin, tanh

F4, F8 = np.dtype("f4"), np.dtype("f8")
_PIECE = 1 << 7  # elements, of which it is asked whether they are near zero


@inlined
def _is_near(piece: Any) -> Any:
    """Whether sines and cosines of all its numbers are those of polynomials."""
    limit = recast(like(NEAR, piece[0]))  # as whole numbers, whose largest is found by vectors
    top = limit
    for i in range(piece.size):
        bits = recast(abs(piece[i]))
        top = bits if bits > top else top
    return top == limit


step: Any = None  # the function by polynomials, in the names that a loop is bound to
numpys: Any = None  # NumPy's


def _curve(first: Any, last: Any, x: Any, out: Any, over: Any) -> None:
    apart()
    wide_vectors()
    x, out = x[first:last], out[first:last]
    if over:
        for i in range(out.size):
            out[i] = step(out[i])
    else:
        for i in range(out.size):
            out[i] = step(x[i])


def _wave(first: Any, last: Any, x: Any, out: Any, over: Any) -> None:
    apart()
    wide_vectors()
    for at in range(first, last, _PIECE):
        piece, source = out[at : min(at + _PIECE, last)], x[at : min(at + _PIECE, last)]
        if not _is_near(source):
            for i in range(piece.size):
                piece[i] = step(source[i]) if abs(source[i]) <= like(NEAR, source[i]) else numpys(source[i])
        elif over:
            for i in range(piece.size):
                piece[i] = step(piece[i])
        else:
            for i in range(piece.size):
                piece[i] = step(source[i])


_exp, _tanh = (bound(_curve, __name__, name, step=step) for name, step in (("exp", exp), ("tanh", tanh)))
_sin = bound(_wave, __name__, "sin", step=sin, numpys=np.sin)
_cos = bound(_wave, __name__, "cos", step=cos, numpys=np.cos)

#: The functions, and the nanoseconds that one number takes.
KERNELS: dict[Any, tuple[Any, float]] = {
    (np.exp, F4): (_exp, 0.4), (np.tanh, F8): (_tanh, 1.0),
    (np.sin, F4): (_sin, 0.8), (np.sin, F8): (_sin, 2.0), (np.cos, F4): (_cos, 0.8), (np.cos, F8): (_cos, 2.0),
}  # fmt: skip


def apply(ufunc: Any, out: Any, a: Any) -> Any:
    """What ``ufunc`` computes of ``a``, written into ``out``, which may be ``a``; ``None`` if it is not served."""
    entry = KERNELS.get((ufunc, a.dtype))
    if entry is None or not a.flags.c_contiguous or not a.size:
        return None
    work, cost = entry
    part = max(a.size // runtime.get_num_threads(), 1)  # one for each: what a core has written, it finds in its cache
    shared_out(work, a.size, int(a.size * cost), a.reshape(-1), out.reshape(-1), out is a, grain=part)
    return out


def values(ufunc: Any, a: Any) -> Any:
    """The same of a large array, in an array of its own."""
    if type(a) is not np.ndarray:
        return None
    if a.flags.fnc:
        turned = values(ufunc, a.T)
        return None if turned is None else turned.T
    return apply(ufunc, np.empty(a.shape, a.dtype), a) if a.flags.c_contiguous else None
