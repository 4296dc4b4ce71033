"""What a row's columns put before its kernel, in one function: refusals, half precision, compiled and quick forms.

A kernel without such columns stays as it is, so nobody pays for what he does not use. What is printed for everyday
calls knows that neither refusals nor halves concern it, and asks the faster forms by itself.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

import numpy as np

from ..ground import dtypes
from ..ground.dtypes import HALVES
from ..ground.meta import in_single

F32, F64 = np.dtype("f4"), np.dtype("f8")


def not_implemented(name: str, array: Any) -> NotImplementedError:
    """PyTorch's error for a dtype that its kernel of that name does not serve."""
    return NotImplementedError(f"\"{name}\" not implemented for '{dtypes.of(array.dtype).scalar_name}'")


def kernel_of(row: Any) -> Callable[..., Any]:
    """The kernel of a row with all that its columns say."""
    if row.serves is None and row.halves is None and row.quick is None:
        return _natively(row.native, row.few, row.plain)
    plain, native, few, quick, halves = row.plain, row.native, row.few, row.quick, row.halves
    served, refusal = row.serves or ("", "")
    if native is not None:
        from . import compiled  # not at the top: many programs meet no such row

    @wraps(plain)
    def kernel(*arguments: Any, **settings: Any) -> Any:
        first = arguments[0]
        dtype = first.dtype
        if dtype is not F32 and dtype is not F64:
            char = dtype.char
            if served and char not in served:
                answer = refusal(*arguments, **settings) if callable(refusal) else not_implemented(refusal, first)
                if isinstance(answer, Exception):
                    raise answer
                return answer
            if halves is not None and char in HALVES:
                computed = kernel if halves == "single" else plain
                return computed(*map(in_single, arguments), **settings).astype(dtype)
        if native is not None and first.size >= (compiled.few if few else compiled.least):
            result = native(*arguments, **settings)
            if result is not None:
                return result
        if quick is not None:
            result = quick(*arguments, **settings) if settings else quick(*arguments)
            if result is not None:
                return result
        return plain(*arguments, **settings) if settings else plain(*arguments)  # nothing is cheaper to hand on than {}

    return kernel


def _natively(native: Callable[..., Any], few: bool, plain: Callable[..., Any]) -> Callable[..., Any]:
    """A kernel that gives arrays of enough elements to ``native``, and all that it does not serve to ``plain``."""
    from . import compiled  # as above

    @wraps(plain)
    def kernel(*arguments: Any, **settings: Any) -> Any:
        if arguments[0].size >= (compiled.few if few else compiled.least):
            result = native(*arguments, **settings)
            if result is not None:
                return result
        return plain(*arguments, **settings) if settings else plain(*arguments)  # nothing is cheaper to hand on than {}

    return kernel
