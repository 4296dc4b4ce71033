"""Elementwise operations on large arrays: NumPy's loops over several threads, written over memory that is spent."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..kernels import compiled
from .spare import spent

ndarray = np.ndarray
#: Elements from which on an elementwise operation goes this way: below, all lies in the cache of one core.
LARGE = 1 << 17 if compiled.least else 0


def applied(ufunc: Any, references: int, tensor: Any, a: Any, b: Any = None) -> Any:
    """``ufunc`` of contiguous arrays of one shape, or of an array and a number; ``None`` for others.

    ``tensor`` is the operand whose array ``a`` is, ``references`` says who holds it (``spare.spent``).
    """
    kind = a.dtype
    if type(a) is not ndarray or kind.kind != "f" or not a.flags.c_contiguous or not a.size:
        return None
    if b is not None:
        if not b.ndim:
            b = np.asarray(b)
        elif b.shape != a.shape or not b.flags.c_contiguous:
            return None
    out = a if references and spent(references, tensor, a, 4) else np.empty(a.shape, kind)
    if compiled.least <= a.size and (made := compiled.elementwise.apply(ufunc, out, a, b)) is not None:
        return made
    return ufunc(a, out=out) if b is None else ufunc(a, b, out=out)
