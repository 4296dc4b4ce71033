"""Indices: int64 as in PyTorch, on machines too where NumPy's own have 32 bits (WebAssembly, 32-bit ARM)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import wraps
from typing import Any

import numpy as np

I64 = np.dtype(np.int64)
#: Whether NumPy's functions give indices of 32 bits here, and some of them refuse others.
IS_NARROW = np.dtype(np.intp) != I64


def wide(kernel: Callable[..., Any], outputs: Sequence[str]) -> Callable[..., Any]:
    """On such a machine: the kernel with its indices, which are its result or the output of that name, in int64."""

    @wraps(kernel)
    def widened(*arguments: Any, **settings: Any) -> Any:
        result = kernel(*arguments, **settings)
        if not outputs:
            return result.astype(I64)
        return tuple(
            array.astype(I64) if name == "indices" else array for name, array in zip(outputs, result, strict=True)
        )

    return widened
