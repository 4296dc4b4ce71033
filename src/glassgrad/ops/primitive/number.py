"""Arithmetic with one Python number as PyTorch's own code does it: nodes that keep the number, not a tensor."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...core.row import op


def _as(array: Any, number: Any) -> Any:
    """A number that leaves the array's dtype as it is."""
    return array.dtype.type(number) if array.dtype.kind == "V" else number


def _is_half(array: Any) -> bool:
    return array.dtype.itemsize == 2 and array.dtype.kind in "fV"


@op(node="AddBackward1", public=False)
def add_number(self: Any, /, other: Any) -> Any:
    """``self + other``."""
    return self + _as(self, other)


add_number.derivative(self=lambda grad: grad)


@op(node="SubBackward1", public=False)
def sub_number(self: Any, /, other: Any) -> Any:
    """``self - other``."""
    return self - _as(self, other)


sub_number.derivative(self=lambda grad: grad)


@op(node="MulBackward1", public=False)
def mul_number(self: Any, /, other: Any) -> Any:
    """``self * other``."""
    if _is_half(self):  # beside half precision a factor counts in float32
        return (self.astype("f4") * np.float32(other)).astype(self.dtype)
    return self * _as(self, other)


mul_number.derivative(self=lambda grad, other: mul_number(grad, other))


@op(node="DivBackward1", public=False)
def div_number(self: Any, /, other: Any) -> Any:
    """``self / other``."""
    if _is_half(self):  # beside half precision a factor counts in float32
        return (self.astype("f4") / np.float32(other)).astype(self.dtype)
    return self / _as(self, other)


div_number.derivative(self=lambda grad, other: div_number(grad, other))
