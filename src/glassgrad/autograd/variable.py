"""``Variable``, the old name of tensors: what code from before PyTorch 0.4 wraps them in.

Source: https://docs.pytorch.org/docs/stable/autograd.html#variable-deprecated
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from ..core.tensor import Tensor, alias, wrap


class _Any(type):
    """Makes every tensor an instance."""

    def __instancecheck__(cls, instance: Any) -> bool:
        return isinstance(instance, Tensor)


class Variable(metaclass=_Any):
    """A tensor on the same memory, a leaf of its own."""

    def __new__(cls, data: Any = None, requires_grad: bool = False, volatile: Any = None) -> Any:
        if volatile is not None:
            warnings.warn(
                "volatile was removed and now has no effect. Use `with torch.no_grad():` instead.",
                UserWarning,
                stacklevel=2,
            )
        if data is not None and not isinstance(data, Tensor):
            raise TypeError(f"Variable data has to be a tensor, but got {type(data).__name__}")
        tensor = wrap(np.empty(0, np.float32)) if data is None else alias(data)
        if requires_grad and not (tensor.dtype.is_floating_point or tensor.dtype.is_complex):
            raise RuntimeError("Only Tensors of floating point and complex dtype can require gradients")
        return tensor.requires_grad_(requires_grad)


__all__ = ["Variable"]
