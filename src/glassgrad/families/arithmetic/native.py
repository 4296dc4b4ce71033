"""What division leaves, and quotients rounded down, compiled: exact, many numbers at once.

A quotient that is rounded and cut off is the right whole number or one too many; a fused multiply-add then gives what
is left without an error. Quotients with more digits than a float has, and those by zero or of infinity, go one by one.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ...kernels.native.binding import inlined, intrinsic, kernel, shared_out, wide_vectors
from ...kernels.native.mathematics import like, pick

F4, F8 = np.dtype("f4"), np.dtype("f8")
_LIMIT = {F4: 2.0**22, F8: 2.0**51}  # quotients below have a digit behind the point
_PIECE = 1024
FMOD, REMAINDER, FLOOR = 0, 1, 2
#: Nanoseconds for an element.
_COST = 2


def _rounding(name: str) -> Any:
    def rounded(typing: Any, x: Any) -> Any:
        def code(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            function = builder.module.declare_intrinsic(name, [arguments[0].type])
            return builder.call(function, arguments)

        return x(x), code

    return intrinsic(rounded)


def _less_product(typing: Any, a: Any, b: Any, c: Any) -> Any:
    """``a - b * c``, rounded once."""

    def code(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        a, b, c = arguments
        return builder.fma(builder.fneg(b), c, a)

    return a(a, a, a), code


_cut, _floor, _less = _rounding("llvm.trunc"), _rounding("llvm.floor"), intrinsic(_less_product)


def _part(function: Any) -> Any:
    return inlined(function, strict=True)


@_part
def _left(a: Any, b: Any) -> Any:
    """What division leaves, with the sign of ``a``, if its quotient has few digits."""
    quotient = a / b
    left = _less(a, _cut(quotient), b)
    over = (left != like(0, a)) & ((left < like(0, a)) != (a < like(0, a)))
    left = pick(over, left + like(np.copysign(b, a), a), left)
    return pick(abs(quotient) < like(1, a), a, like(np.copysign(left, a), a))


@_part
def _leave(a: Any, b: Any, out: Any, limit: Any) -> None:
    strange = 0
    for i in range(out.size):
        out[i] = _left(a[i], b[i])
        strange += not abs(a[i] / b[i]) < limit
    if strange:
        for i in range(out.size):
            if not abs(a[i] / b[i]) < limit:
                out[i] = np.fmod(a[i], b[i])


@_part
def _follow_divisor(a: Any, b: Any, out: Any) -> None:
    """From what division leaves with the sign of the dividend to that with the divisor's."""
    for i in range(out.size):
        nought, left = like(0, out[i]), out[i]
        out[i] = pick((left != nought) & ((left < nought) != (b[i] < nought)), left + b[i], left)


@_part
def _divide(a: Any, b: Any, out: Any) -> None:
    """From what division leaves to the quotient rounded down."""
    for i in range(out.size):
        nought, one, left, y = like(0, out[i]), like(1, out[i]), out[i], b[i]
        whole = (a[i] - left) / y
        whole = pick((left != nought) & ((left < nought) != (y < nought)), whole - one, whole)
        low = _floor(whole)
        low = pick(whole - low > like(0.5, y), low + one, low)
        low = pick(whole == nought, like(np.copysign(nought, a[i] / y), y), low)
        out[i] = pick(y == nought, a[i] / y, low)


@kernel
def _divided(first: Any, last: Any, a: Any, b: Any, out: Any, what: Any, limit: Any) -> None:
    wide_vectors()
    bound = like(limit, a[0])
    one, other = np.full(_PIECE, a[0]), np.full(_PIECE, b[0])  # where there is but one number
    for start in range(first, last, _PIECE):
        end = min(start + _PIECE, last)
        x = a[start:end] if a.size > 1 else one[: end - start]
        y = b[start:end] if b.size > 1 else other[: end - start]
        to = out[start:end]
        _leave(x, y, to, bound)
        if what == REMAINDER:
            _follow_divisor(x, y, to)
        elif what == FLOOR:
            _divide(x, y, to)


def divided(a: Any, b: Any, what: int) -> Any:
    """``FMOD``, ``REMAINDER`` or ``FLOOR`` of ``a`` by ``b``: two arrays of one shape, or one and a number.

    ``None`` where they are not served.
    """
    kind = a.dtype
    if kind is not F4 and kind is not F8 or b.dtype is not kind:
        return None
    shape = a.shape if a.ndim else b.shape
    if not (a.size and b.size) or a.ndim and b.ndim and a.shape != b.shape:
        return None
    out = np.empty(shape, kind)
    flat = [np.ascontiguousarray(x).reshape(-1) for x in (a, b)]
    shared_out(_divided, out.size, _COST * out.size, *flat, out.reshape(-1), what, _LIMIT[kind])
    return out
