"""The arrays of meta tensors: a shape and a dtype, and one element seen from everywhere."""

from __future__ import annotations

from typing import Any

import numpy as np

from .dtypes import converted


def blank(shape: tuple[int, ...], dtype: np.dtype[Any]) -> np.ndarray[Any, Any]:
    """The array of a meta tensor: its dtype is marked, and its elements share one place."""
    marked = np.dtype(dtype.str if dtype.kind != "V" else dtype, metadata={"device": "meta"})
    return np.broadcast_to(np.zeros((), marked), shape)


def cast_to(array: Any, dtype: np.dtype[Any]) -> Any:
    """An array as another dtype; of a meta tensor, without touching elements."""
    return blank(array.shape, dtype) if array.dtype.metadata else converted(array, dtype)
