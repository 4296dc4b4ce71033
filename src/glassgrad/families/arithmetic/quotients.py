"""Quotients that are rounded, and what they leave: remainders."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...core.row import REALS, op
from ...kernels import compiled
from ...kernels.columns import not_implemented
from ..compare.rows import zero_like
from .rows import wide_steps


def _nonzero(self: Any, other: Any) -> None:
    if self.dtype.kind in "biu" and not np.all(other) and np.broadcast(self, other).size:
        raise RuntimeError("ZeroDivisionError")


def _floored(self: Any, other: Any, name: str = "div_floor_cpu") -> Any:
    kind = self.dtype.kind
    if kind in "cb":
        raise not_implemented(name, self)
    if kind in "biu":
        _nonzero(self, other)
        return np.floor_divide(self, other)
    if self.size >= compiled.few or other.size >= compiled.few:
        if (quotient := compiled.arithmetic.divided(self, other, compiled.arithmetic.FLOOR)) is not None:
            return quotient
    with np.errstate(all="ignore"):
        quotient = np.floor_divide(self, other)
        odd = np.equal(other, 0)  # NumPy gives NaN for x // 0; PyTorch the quotient
        return np.where(odd, self / other, quotient)[()] if np.any(odd) else quotient


def _truncated(self: Any, other: Any) -> Any:
    if self.dtype.kind in "cb":
        raise not_implemented("div_trunc_cpu", self)
    if self.dtype.kind in "iu":
        _nonzero(self, other)
        quotient = np.floor_divide(self, other)
        return quotient + ((quotient < 0) & (quotient * other != self)).astype(self.dtype)
    return np.trunc(self / other)


@op(node="DivBackward2", inplace=True, numbers=True, typed="promote", single=True, public=False, batched="point")
def div_rounded(self: Any, other: Any, /, rounding_mode: Any) -> Any:
    """The elementwise quotient, rounded down ("floor") or towards zero ("trunc")."""
    return _floored(self, other) if rounding_mode == "floor" else _truncated(self, other)


div_rounded.derivative(
    self=lambda grad, other, rounding_mode: zero_like(grad),
    other=lambda grad, self, other, rounding_mode: zero_like(grad),
)


def refuse(name: str, space: str = "aten::") -> Any:
    """Raise PyTorch's error for a gradient that it does not define."""
    raise RuntimeError(f"derivative for {space}{name} is not implemented")


NOT_IMPLEMENTED = "torch::autograd::NotImplemented"


@op(node=NOT_IMPLEMENTED, inplace=True, numbers=True, typed="promote", single=True, batched="point")
def floor_divide(self: Any, other: Any, /) -> Any:
    """The elementwise quotient rounded down; not differentiable."""
    return _floored(self, other)


floor_divide.derivative(self=lambda grad: refuse("floor_divide"), other=lambda grad: refuse("floor_divide"))


@op(node=NOT_IMPLEMENTED, public=False, batched="point")
def floor_divide_number(self: Any, /, other: Any, reflected: Any = False) -> Any:
    """The quotient by (or, ``reflected``, of) a number, rounded down; not differentiable."""
    if self.dtype.itemsize == 2 and self.dtype.kind in "fV":
        return wide_steps(floor_divide_number, self, np.float32(other), reflected)
    number = self.dtype.type(other)
    return _floored(number, self) if reflected else _floored(self, number)


floor_divide_number.derivative(self=lambda grad: refuse("floor_divide"))


@op(node="RemainderBackward1", inplace=True, typed="promote", serves=(REALS, "remainder_cpu"), batched="point")
def remainder(self: Any, other: Any, /) -> Any:
    """What elementwise division leaves, with the sign of the divisor."""
    if self.dtype.kind in "iu":
        _nonzero(self, other)
        return np.remainder(self, other)
    if self.size >= compiled.few or other.size >= compiled.few:
        if (left := compiled.arithmetic.divided(self, other, compiled.arithmetic.REMAINDER)) is not None:
            return left
    left = np.fmod(self, other)
    return np.where((left != 0) & ((left < 0) != (other < 0)), left + other, left)[()]


remainder.derivative(
    self=lambda grad: grad,
    other=lambda grad, self, other: -grad * div_rounded(self, other, "floor"),
)


@op(node="RemainderBackward0", inplace=True, public=False, batched="point")
def remainder_number(self: Any, /, other: Any) -> Any:
    """What division by a number leaves, with the sign of the number."""
    return remainder.row.kernel(self, self.dtype.type(other))


remainder_number.derivative(self=lambda grad: grad)


@op(node=NOT_IMPLEMENTED, public=False, batched="point")
def remainder_of_number(other: Any, /, self: Any) -> Any:
    """What division of a number leaves; not differentiable."""
    return remainder.row.kernel(other.dtype.type(self), other)


remainder_of_number.derivative(other=lambda grad: refuse("remainder"))


@op(node="FmodBackward1", inplace=True, typed="promote", serves=(REALS, "fmod_cpu"), batched="point")
def fmod(self: Any, other: Any, /) -> Any:
    """What elementwise division leaves, with the sign of the dividend."""
    if self.dtype.kind in "iu":
        _nonzero(self, other)
    elif self.size >= compiled.few or other.size >= compiled.few:
        if (left := compiled.arithmetic.divided(self, other, compiled.arithmetic.FMOD)) is not None:
            return left
    return np.fmod(self, other)


fmod.derivative(
    self=lambda grad: grad,
    other=lambda grad, self, other: -grad * div_rounded(self, other, "trunc"),
)


@op(node="FmodBackward0", inplace=True, public=False, batched="point")
def fmod_number(self: Any, /, other: Any) -> Any:
    """What division by a number leaves, with the sign of the dividend."""
    return fmod.row.kernel(self, self.dtype.type(other))


fmod_number.derivative(self=lambda grad: grad)
