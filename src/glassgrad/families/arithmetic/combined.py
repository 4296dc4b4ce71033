"""Sums with products and quotients, and the points between two tensors, elementwise with broadcasting."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...core.row import COMPLEX, REALS, op
from ...ground import dtypes
from .rows import wide_steps

INTEGER_ADDCDIV = (
    "Integer division with addcdiv is no longer supported, and in a future  release addcdiv will perform a true "
    "division of tensor1 and tensor2. The historic addcdiv behavior can be implemented as (input + value * "
    "torch.trunc(tensor1 / tensor2)).to(input.dtype) for integer inputs and as (input + value * tensor1 / tensor2) for "
    "float inputs. The future addcdiv behavior is just the latter implementation: (input + value * tensor1 / tensor2), "
    "for all dtypes."
)


def _fused(self: Any, other: Any, factor: Any) -> Any:
    """``self + factor * other`` of half precision arrays as a fused multiply-add in float32 gives it."""
    exact = self.astype("f8") + other.astype("f8") * factor  # float64 holds the product of two float32 exactly
    return exact.astype("f4").astype(self.dtype)


def _times(function: str, array: Any, value: Any) -> Any:
    if type(value) is not int and type(value) is not float:
        dtypes.need_number(function, "value", value)
    if value == 1:
        return array
    dtypes.check_number(value, array.dtype)
    return array * np.asarray(value).astype(array.dtype)  # in which a negative number may wrap round


@op(inplace=True, typed="promote", formerly=("value",), serves=(REALS + COMPLEX, "addcmul_cpu_out"), batched="point")
def addcmul(self: Any, tensor1: Any, tensor2: Any, /, value: Any = 1) -> Any:
    """``self + value * tensor1 * tensor2``, elementwise."""
    if self.dtype.itemsize <= 2 and self.dtype.kind in "fV":
        return wide_steps(addcmul, self, tensor1, tensor2, value)
    return self + _times("addcmul", tensor1 * tensor2, value)


addcmul.derivative(
    self=lambda grad: grad,
    tensor1=lambda grad, tensor2, value: grad * (tensor2 if value == 1 else tensor2 * value),
    tensor2=lambda grad, tensor1, value: grad * (tensor1 if value == 1 else tensor1 * value),
)


@op(inplace=True, typed="promote", formerly=("value",), batched="point")
def addcdiv(self: Any, tensor1: Any, tensor2: Any, /, value: Any = 1) -> Any:
    """``self + value * tensor1 / tensor2``, elementwise."""
    if self.dtype.itemsize <= 2 and self.dtype.kind in "fV":
        return wide_steps(addcdiv, self, tensor1, tensor2, value)
    return self + _times("addcdiv", tensor1 / tensor2, value)


addcdiv.derivative(
    self=lambda grad, tensor2: grad,  # which PyTorch keeps, whoever will read it
    tensor1=lambda grad, tensor2, value: grad * value / tensor2,
    tensor2=lambda grad, tensor1, tensor2, value: -grad * value * (tensor1 / tensor2) / tensor2,
)


@op(node="LerpBackward0", inplace=True, typed="promote", widens=True, public=False, batched="point")
def lerp_number(self: Any, end: Any, /, weight: Any) -> Any:
    """The point between ``self`` and ``end`` at one ``weight``."""
    if self.dtype.itemsize == 2:
        gap, part = end.astype("f4") - self.astype("f4"), float(np.float32(weight))
        return _fused(self, gap, part) if abs(weight) < 0.5 else _fused(end, gap, float(np.float32(part - 1)))
    kind = self.dtype.type
    if abs(weight) < 0.5:
        return self + (end - self) * kind(weight)
    return end - (end - self) * kind(1 - weight)


lerp_number.derivative(
    self=lambda grad, weight: grad * (1 - weight),
    end=lambda grad, weight: grad * weight,
)


@op(node="LerpBackward1", inplace=True, typed="promote", batched="point")
def lerp(self: Any, end: Any, weight: Any, /) -> Any:
    """The point between ``self`` and ``end`` at ``weight``: 0 gives ``self``, 1 gives ``end``."""
    if self.dtype.itemsize == 2:
        return wide_steps(lerp, self, end, weight)
    one = self.dtype.type(1)
    near = np.abs(weight) < 0.5
    return np.where(near, self + weight * (end - self), end - (end - self) * (one - weight))[()]


lerp.derivative(
    self=lambda grad, weight: grad * (1 - weight),
    end=lambda grad, weight: grad * weight,
    weight=lambda grad, self, end, weight: grad * (end - self),  # as above
)
