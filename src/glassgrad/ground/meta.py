"""The arrays of meta tensors: a shape and a dtype, and one element seen from everywhere."""

from __future__ import annotations

from typing import Any

import numpy as np


def blank(shape: tuple[int, ...], dtype: np.dtype[Any]) -> np.ndarray[Any, Any]:
    """The array of a meta tensor: its dtype is marked, and its elements share one place."""
    marked = np.dtype(dtype.str if dtype.kind != "V" else dtype, metadata={"device": "meta"})
    return np.broadcast_to(np.zeros((), marked), shape)


def cast_to(array: Any, dtype: np.dtype[Any]) -> Any:
    """An array as another dtype; of a meta tensor, without touching elements.

    What repeats goes on doing so: NumPy's copy would lie as no result of PyTorch's does.
    """
    if array.dtype.metadata:
        return blank(array.shape, dtype)
    if 0 not in array.strides:
        return array.astype(dtype)
    once = array[tuple(slice(None if stride else 1) for stride in array.strides)]
    return np.broadcast_to(once.astype(dtype), array.shape)
