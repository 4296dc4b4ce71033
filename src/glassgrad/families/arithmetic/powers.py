"""Powers, elementwise with broadcasting."""

from __future__ import annotations

import cmath
import math
from typing import Any

import numpy as np

from ...core.row import op
from ...ground import dtypes
from ...kernels.columns import not_implemented
from ..compare.rows import where, zero_like
from ..pointwise.rows import log
from .rows import wide_steps

NEGATIVE_POWER = "Integers to negative integer powers are not allowed."


_IN_STEPS = (3, 0.5, -0.5, -2)  #: exponents of which powers are made of products, quotients and roots


def _integer_power(self: Any, exponent: Any) -> Any:
    """A power of integers, which wraps; of negative exponents only 1 and -1 have one."""
    if not np.any(exponent < 0):
        return np.power(self, exponent)
    down = exponent < 0
    odd = exponent % 2 != 0
    size = np.power(self, np.where(down, 0, exponent).astype(self.dtype))
    tiny = np.where(self == 1, 1, np.where(self == -1, np.where(odd, -1, 1), 0))
    return np.where(down, tiny, size).astype(self.dtype)[()]


def _power(base: Any, exponent: Any) -> Any:
    """A power; complex ones by logarithms, as in PyTorch: NumPy multiplies for whole exponents, until it overflows."""
    if base.dtype.kind == "c":
        return np.exp(exponent * np.log(base))
    if exponent.size < max(base.size, 2) and (exponent == 0.5).any():
        # where one exponent is for many, NumPy takes the root, which is another number of -inf and -0.0
        sizes = np.broadcast_shapes(base.shape, exponent.shape)
        return np.power(base, np.array(np.broadcast_to(exponent, sizes or 1), order="C")).reshape(sizes)[()]
    return np.power(base, exponent)


@op(node="PowBackward0", inplace=True, public=False, batched="point")
def pow_number(self: Any, /, exponent: Any) -> Any:
    """The power of each element with one exponent."""
    if exponent == 2:
        return self * self
    char, kind = self.dtype.char, self.dtype.kind
    if exponent == 3 and char != "e":
        return self * self * self
    if kind == "b":
        return self | (not exponent)
    if exponent == 1:
        return +self
    if kind in "iu":
        if exponent < 0:
            raise RuntimeError(NEGATIVE_POWER)
        dtypes.check_number(exponent, self.dtype)
        return np.power(self, np.asarray(exponent).astype(self.dtype))
    if char in dtypes.HALVES:
        dtypes.check_number(exponent, self.dtype)
        if exponent == 4 or char == "e" and exponent in _IN_STEPS:  # no products and roots, in PyTorch
            return _power(self, self.dtype.type(exponent))
        if exponent == -0.5:
            return wide_steps(pow_number, self, -0.5)
    if exponent == 0.5:
        return np.sqrt(self)
    if exponent == -1:
        return 1 / self
    if exponent == -0.5:
        return 1 / np.sqrt(self)
    if exponent == 4 and kind != "c":
        square = self * self
        return square * square
    if exponent == -2:
        return 1 / (self * self)
    return _power(self, self.dtype.type(exponent)) if exponent else np.ones_like(self)[()]


@pow_number.derivative("self")
def slope_of_power(grad: Any, self: Any, exponent: Any) -> Any:
    """The gradient times ``exponent * self ** (exponent - 1)``; zero for the exponent zero."""
    if exponent == 2:
        return grad * (self + self)
    if exponent == 0:
        return zero_like(grad)
    return grad * (pow_number(self, exponent - 1) * exponent)


@op(node="PowBackward1", inplace=True, typed="promote", batched="point")
def pow(self: Any, exponent: Any, /) -> Any:
    """The elementwise power, with broadcasting."""
    kind = self.dtype.kind
    if kind == "b":
        raise not_implemented("pow", self)
    return _integer_power(self, exponent) if kind in "iu" else _power(self, exponent)


pow.derivative(
    self=lambda grad, self, exponent: where(exponent == 0, 0, grad * (exponent * pow(self, exponent - 1))),
    exponent=lambda grad, self, exponent, result: grad * (result * log(where(power_of_zero(self, exponent), 1, self))),
)


@op(node="PowBackward2", public=False, batched="point")
def pow_base(exponent: Any, /, self: Any) -> Any:
    """The powers of one number."""
    base = np.asarray(self).astype(exponent.dtype)[()]
    if base == 1:
        return np.ones_like(exponent)[()]
    return _integer_power(base, exponent) if exponent.dtype.kind in "iu" else _power(base, exponent)


pow_base.derivative(
    exponent=lambda grad, exponent, self, result: (
        grad * where(power_of_zero(zero_like(exponent), exponent), 0, result * _DOWN)
        if self == 0
        else grad * (result * _log_of_number(self))
    )
)


_DOWN = -math.inf  # the slope of 0 ** x below zero


@op(constant=True, typed="promote", public=False, batched="point")
def power_of_zero(self: Any, exponent: Any, /) -> Any:
    """Where the base is zero, and the exponent real and not negative: there the power does not depend on it."""
    return (self == 0) & (exponent.real >= 0) & (exponent.imag == 0)


def _log_of_number(base: Any) -> Any:
    if isinstance(base, complex):
        return cmath.log(base)
    return math.log(base) if base > 0 else math.nan
