"""The one place where a gradient is made to match its input: shape, dtype, real or complex."""

from __future__ import annotations

from typing import Any

import numpy as np

from .row import TABLE


def fit(grad: Any, sizes: tuple[int, ...]) -> Any:
    """Sum away the axes that broadcasting added, so that an array has its input's ``sizes``."""
    shape = grad.shape
    if shape == sizes:
        return grad
    if type(grad) is not np.ndarray and hasattr(grad, "summed_to"):
        return grad.summed_to(sizes)  # a sparse one
    lead = len(shape) - len(sizes)
    sums = TABLE["sum_dim"].kernel  # the very kernel of ``fit_lifted``: arrays and Tensors give the same bits
    if lead and shape[lead:] == sizes:
        return sums(grad, tuple(range(lead)))
    axes = tuple([i for i, n in enumerate(shape) if i < lead or n != sizes[i - lead]])
    grad = sums(grad, axes, True)
    return grad.reshape(sizes)[()] if lead else grad


def fit_dtype(grad: Any, dtype: np.dtype[Any]) -> Any:
    """An array as its input's dtype; of a complex gradient of a real input, the real part."""
    if grad.dtype is dtype:
        return grad
    if grad.dtype.metadata is not None:
        from ..ground.meta import blank  # few make meta tensors

        return blank(grad.shape, dtype)
    if grad.dtype.kind == "c" and dtype.kind != "c":
        grad = grad.real
    return grad.astype(dtype)


def fit_lifted(grad: Any, sizes: tuple[int, ...], dtype: Any) -> Any:
    """The same for a Tensor, in recorded operations."""
    if grad._array.shape != sizes:
        lead = grad._array.ndim - len(sizes)
        padded = (1,) * lead + sizes
        axes = tuple(i for i, (had, wanted) in enumerate(zip(grad._array.shape, padded, strict=True)) if had != wanted)
        grad = TABLE["sum_dim"].caller(grad, axes + tuple(i for i in range(lead) if i not in axes), True)
        if lead:
            grad = TABLE["view"].caller(grad, sizes)
    if dtype is not None and grad._array.dtype != dtype:
        if grad._array.dtype.kind == "c" and dtype.kind != "c":
            grad = TABLE["real"].caller(grad)
        if grad._array.dtype != dtype:
            grad = TABLE["to_copy"].caller(grad, dtype, grad._array.dtype)
    return grad
