"""Sums, products, quotients, remainders and powers, elementwise with broadcasting."""

from __future__ import annotations

import cmath
import math
from typing import Any

import numpy as np

from ...core.row import COMPLEX, REALS, op
from ...core.tensor import Tensor
from ...ground import dtypes, errors
from ...kernels import compiled
from ...kernels.columns import not_implemented
from ..compare.rows import where, zero_like
from ..pointwise.rows import log

ndarray = np.ndarray

TWO_BOOLS = (
    "Subtraction, the `-` operator, with two bool tensors is not supported. Use the `^` or `logical_xor()` operator "
    "instead."
)
ONE_BOOL = (
    "Subtraction, the `-` operator, with a bool tensor is not supported. If you are trying to invert a mask, use the "
    "`~` or `logical_not()` operator instead."
)
NEGATED_BOOL = (
    "Negation, the `-` operator, on a bool tensor is not supported. If you are trying to invert a mask, use the `~` "
    "or `logical_not()` operator instead."
)
INTEGER_ADDCDIV = (
    "Integer division with addcdiv is no longer supported, and in a future  release addcdiv will perform a true "
    "division of tensor1 and tensor2. The historic addcdiv behavior can be implemented as (input + value * "
    "torch.trunc(tensor1 / tensor2)).to(input.dtype) for integer inputs and as (input + value * tensor1 / tensor2) for "
    "float inputs. The future addcdiv behavior is just the latter implementation: (input + value * tensor1 / tensor2), "
    "for all dtypes."
)


def scaled(array: Any, alpha: Any) -> Any:
    """``alpha * array`` in the array's dtype, or PyTorch's error where ``alpha`` does not fit it."""
    kind = array.dtype.kind
    if type(alpha) is bool and kind != "b":
        raise RuntimeError("Boolean alpha only supported for Boolean results.")
    if kind in "biu" and isinstance(alpha, (float, complex)):
        raise RuntimeError("For integral input tensors, argument alpha must not be a floating point number.")
    if kind != "c" and isinstance(alpha, complex):
        raise RuntimeError("For non-complex input tensors, argument alpha must not be a complex number.")
    return array * array.dtype.type(alpha)


def _wide(row: Any, self: Any, *others: Any) -> Any:
    """A kernel of several steps at half precision: computed in float32, rounded once; narrow integers as they are."""
    wide = np.dtype("f4") if self.dtype.kind in "fV" else np.dtype("i4")
    return row.row.kernel(*(x.astype(wide) if hasattr(x, "astype") else x for x in (self, *others))).astype(self.dtype)


def _fused(self: Any, other: Any, factor: Any) -> Any:
    """``self + factor * other`` of half precision arrays as a fused multiply-add in float32 gives it."""
    exact = self.astype("f8") + other.astype("f8") * factor  # float64 holds the product of two float32 exactly
    return exact.astype("f4").astype(self.dtype)


def _rounded(self: Any, alpha: Any) -> Any:
    """A factor as PyTorch's sums keep it beside half precision: rounded to it."""
    dtypes.check_number(alpha, self.dtype)
    return float(self.dtype.type(alpha)) if self.dtype.kind in "fV" and isinstance(alpha, float) else alpha


@op(
    operator="add", inplace=True, typed="promote", ufunc=np.add, form="a0 + a1", formerly=("alpha",),
    forward="linear", batched="point",
)  # fmt: skip
def add(self: Any, other: Any, /, alpha: Any = 1) -> Any:
    """The elementwise sum ``self + alpha * other``, with broadcasting."""
    if alpha == 1:
        return self + other
    return self + scaled(other, alpha) if self.dtype.itemsize > 2 else _wide(add, self, other, _rounded(self, alpha))


add.derivative(self=lambda grad: grad, other=lambda grad, alpha: grad if alpha == 1 else grad * alpha)


def no_single_bool(a: Any, b: Any) -> None:
    """Raise PyTorch's error for a difference with truth values."""
    bools = [x for x in (a, b) if type(x) is bool or (isinstance(x, Tensor) and x._array.dtype.kind == "b")]
    if bools:
        raise RuntimeError(TWO_BOOLS if len(bools) == 2 else ONE_BOOL)


@op(
    "subtract", operator="sub", inplace=True, typed="promote", ufunc=np.subtract, refuses=no_single_bool,
    formerly=("alpha",), forward="linear", batched="point",
)  # fmt: skip
def sub(self: Any, other: Any, /, alpha: Any = 1) -> Any:
    """The elementwise difference ``self - alpha * other``, with broadcasting."""
    try:
        if alpha == 1:
            return self - other
        if self.dtype.itemsize > 2:
            return self - scaled(other, alpha)
        return _wide(sub, self, other, _rounded(self, alpha))
    except TypeError:
        raise RuntimeError(TWO_BOOLS) from None


sub.derivative(self=lambda grad: grad, other=lambda grad, alpha: -grad if alpha == 1 else grad * -alpha)


@op(lenient=True, typed="promote", refuses=no_single_bool, forward="linear", batched="point")
def rsub(self: Any, other: Any, /, alpha: Any = 1) -> Any:
    """The elementwise difference ``other - alpha * self``, with broadcasting."""
    try:
        return other - self if alpha == 1 else other - scaled(self, alpha)
    except TypeError:
        raise RuntimeError(TWO_BOOLS) from None


rsub.derivative(self=lambda grad, alpha: -grad if alpha == 1 else grad * -alpha, other=lambda grad: grad)


@op(lenient=True, node="RsubBackward1", public=False, batched="point")
def rsub_number(self: Any, /, other: Any, alpha: Any = 1) -> Any:
    """A number minus ``alpha * self``."""
    if self.dtype.kind == "V":  # bfloat16 is no weak type's equal
        other = self.dtype.type(other)
    elif self.dtype.kind in "iu":  # what does not fit wraps round
        other = np.asarray(other).astype(self.dtype)
    return other - self if alpha == 1 else other - scaled(self, alpha)


rsub_number.derivative(self=lambda grad, alpha: -grad if alpha == 1 else grad * -alpha)


@op(
    "multiply", operator="mul", inplace=True, typed="promote", single=True, ufunc=np.multiply, form="a0 * a1",
    forward="each", batched="point",
)  # fmt: skip
def mul(self: Any, other: Any, /) -> Any:
    """The elementwise product, with broadcasting."""
    return self * other


mul.derivative(self=lambda grad, other: grad * other, other=lambda grad, self: grad * self)


@op(
    "true_divide", operator="truediv", inplace=True, typed="float", single=True, ufunc=np.divide, form="a0 / a1",
    batched="point",
)  # fmt: skip
def div(self: Any, other: Any, /) -> Any:
    """The elementwise quotient, with broadcasting."""
    return self / other


div.derivative(
    self=lambda grad, other: grad / other,
    other=lambda grad, self, other: -grad * ((self / other) / other),
)


@div.row.tangent
def _div_tangent(self_t: Any, other_t: Any, other: Any, result: Any) -> Any:
    """One division, by what is known already: a power series costs one for each order so, and not two."""
    if other_t is None:
        return self_t / other
    moved = result * other_t
    return (-moved if self_t is None else self_t - moved) * reciprocal(other)


@op(
    "negative", operator="neg", inplace=True, ufunc=np.negative, out=errors.OUT_FOUND, forward="linear", batched="point"
)
def neg(self: Any, /) -> Any:
    """The elements with the other sign."""
    try:
        return -self
    except TypeError:
        raise RuntimeError(NEGATED_BOOL) from None


neg.derivative(self=lambda grad: -grad)


@op(inplace=True, typed="float", ufunc=np.reciprocal, batched="point")
def reciprocal(self: Any, /) -> Any:
    """One over each element."""
    return np.reciprocal(self) if self.dtype.kind != "V" else (1 / self.astype("f4")).astype(self.dtype)


reciprocal.derivative(self=lambda grad, result: -grad * (result * result))


# -- quotients rounded, remainders -----------------------------------------------------------------------------------


def _nonzero(self: Any, other: Any) -> None:
    if self.dtype.kind in "biu" and not np.all(other):
        raise RuntimeError("ZeroDivisionError")


def _floored(self: Any, other: Any, name: str = "div_floor_cpu") -> Any:
    kind = self.dtype.kind
    if kind in "cb":
        raise not_implemented(name, self)
    if kind in "biu":
        _nonzero(self, other)
        return np.floor_divide(self, other)
    if self.size >= compiled.least or other.size >= compiled.least:
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


@op(node="DivBackward2", inplace=True, typed="promote", single=True, public=False, batched="point")
def div_rounded(self: Any, other: Any, /, rounding_mode: Any) -> Any:
    """The elementwise quotient, rounded down ("floor") or towards zero ("trunc")."""
    return _floored(self, other) if rounding_mode == "floor" else _truncated(self, other)


div_rounded.derivative(
    self=lambda grad, other, rounding_mode: zero_like(grad),
    other=lambda grad, self, other, rounding_mode: zero_like(grad),
)


def _no_derivative(name: str) -> RuntimeError:
    return RuntimeError(f"derivative for aten::{name} is not implemented")


def refuse_floor_divide(grad: Any) -> Any:
    """Raise PyTorch's error for the gradient of ``//``."""
    raise _no_derivative("floor_divide")


def refuse_remainder(grad: Any) -> Any:
    """Raise PyTorch's error for the gradient of ``number % tensor``."""
    raise _no_derivative("remainder")


NOT_IMPLEMENTED = "torch::autograd::NotImplemented"


@op(node=NOT_IMPLEMENTED, inplace=True, typed="promote", single=True, batched="point")
def floor_divide(self: Any, other: Any, /) -> Any:
    """The elementwise quotient rounded down; not differentiable."""
    return _floored(self, other)


floor_divide.derivative(self=refuse_floor_divide, other=refuse_floor_divide)


@op(node=NOT_IMPLEMENTED, public=False, batched="point")
def floor_divide_number(self: Any, /, other: Any, reflected: Any = False) -> Any:
    """The quotient by (or, ``reflected``, of) a number, rounded down; not differentiable."""
    if self.dtype.itemsize == 2 and self.dtype.kind in "fV":
        return _wide(floor_divide_number, self, np.float32(other), reflected)
    number = self.dtype.type(other)
    return _floored(number, self) if reflected else _floored(self, number)


floor_divide_number.derivative(self=refuse_floor_divide)


@op(node="RemainderBackward1", inplace=True, typed="promote", batched="point")
def remainder(self: Any, other: Any, /) -> Any:
    """What elementwise division leaves, with the sign of the divisor."""
    if self.dtype.kind in "cb":
        raise not_implemented("remainder_cpu", self)
    if self.dtype.kind in "iu":
        _nonzero(self, other)
        return np.remainder(self, other)
    if self.size >= compiled.least or other.size >= compiled.least:
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


remainder_of_number.derivative(other=refuse_remainder)


@op(node="FmodBackward1", inplace=True, typed="promote", batched="point")
def fmod(self: Any, other: Any, /) -> Any:
    """What elementwise division leaves, with the sign of the dividend."""
    if self.dtype.kind in "cb":
        raise not_implemented("fmod_cpu", self)
    if self.dtype.kind in "iu":
        _nonzero(self, other)
    elif self.size >= compiled.least or other.size >= compiled.least:
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


# -- powers ----------------------------------------------------------------------------------------------------------


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
    return np.power(base, exponent) if base.dtype.kind != "c" else np.exp(exponent * np.log(base))


@op(node="PowBackward0", inplace=True, public=False, batched="point")
def pow_number(self: Any, /, exponent: Any) -> Any:
    """The power of each element with one exponent."""
    if exponent == 2:
        return self * self
    if exponent == 3:
        if self.dtype.char == "e":
            return _wide(pow_number, self, 3)
        return self * self * self
    if exponent == 1:
        return +self
    kind = self.dtype.kind
    if kind in "iub":
        if exponent < 0:
            raise RuntimeError("Integers to negative integer powers are not allowed.")
        dtypes.check_number(exponent, self.dtype)
        return np.power(self, np.asarray(exponent).astype(self.dtype))
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
    exponent=lambda grad, self, exponent, result: grad * where(power_of_zero(self, exponent), 0, result * log(self)),
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
        where(exponent >= 0, 0, grad * result * _DOWN) if self == 0 else grad * (result * _log_of_number(self))
    )
)


_DOWN = -math.inf  # the slope of 0 ** x below zero


@op(constant=True, typed="promote", public=False, batched="point")
def power_of_zero(self: Any, exponent: Any, /) -> Any:
    """Where the base is zero and the exponent is not negative: there the power does not depend on the exponent."""
    return np.logical_and(self == 0, exponent.real >= 0)


def _log_of_number(base: Any) -> Any:
    if isinstance(base, complex):
        return cmath.log(base)
    return math.log(base) if base > 0 else math.nan


# -- sums of products ------------------------------------------------------------------------------------------------


def _times(array: Any, value: Any) -> Any:
    if value == 1:
        return array
    dtypes.check_number(value, array.dtype)
    return array * array.dtype.type(value)


@op(inplace=True, typed="promote", formerly=("value",), serves=(REALS + COMPLEX, "addcmul_cpu_out"), batched="point")
def addcmul(self: Any, tensor1: Any, tensor2: Any, /, value: Any = 1) -> Any:
    """``self + value * tensor1 * tensor2``, elementwise."""
    if self.dtype.itemsize <= 2 and self.dtype.kind in "fV":
        return _wide(addcmul, self, tensor1, tensor2, value)
    return self + _times(tensor1 * tensor2, value)


addcmul.derivative(
    self=lambda grad: grad,
    tensor1=lambda grad, tensor2, value: grad * (tensor2 if value == 1 else tensor2 * value),
    tensor2=lambda grad, tensor1, value: grad * (tensor1 if value == 1 else tensor1 * value),
)


@op(inplace=True, typed="promote", formerly=("value",), batched="point")
def addcdiv(self: Any, tensor1: Any, tensor2: Any, /, value: Any = 1) -> Any:
    """``self + value * tensor1 / tensor2``, elementwise."""
    if self.dtype.itemsize <= 2 and self.dtype.kind in "fV":
        return _wide(addcdiv, self, tensor1, tensor2, value)
    return self + _times(tensor1 / tensor2, value)


addcdiv.derivative(
    self=lambda grad: grad,
    tensor1=lambda grad, tensor2, value: grad * value / tensor2,
    tensor2=lambda grad, tensor1, tensor2, value: -grad * value * (tensor1 / tensor2) / tensor2,
)


@op(node="LerpBackward0", inplace=True, typed="promote", public=False, batched="point")
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
        return _wide(lerp, self, end, weight)
    one = self.dtype.type(1)
    near = np.abs(weight) < 0.5
    return np.where(near, self + weight * (end - self), end - (end - self) * (one - weight))[()]


lerp.derivative(
    self=lambda grad, weight: grad * (1 - weight),
    end=lambda grad, weight: grad * weight,
    weight=lambda grad, self, end: grad * (end - self),
)


# -- Arithmetic with one Python number as PyTorch's own code does it: nodes that keep the number, not a tensor.


def _as(array: Any, number: Any) -> Any:
    """A number that leaves the array's dtype as it is."""
    return array.dtype.type(number) if array.dtype.kind == "V" else number


def _is_half(array: Any) -> bool:
    return array.dtype.itemsize == 2 and array.dtype.kind in "fV"


@op(node="AddBackward1", public=False, typed="float", batched="point")
def add_number(self: Any, /, other: Any) -> Any:
    """``self + other``."""
    return self + _as(self, other)


add_number.derivative(self=lambda grad: grad)


@op(node="SubBackward1", public=False, typed="float", batched="point")
def sub_number(self: Any, /, other: Any) -> Any:
    """``self - other``."""
    return self - _as(self, other)


sub_number.derivative(self=lambda grad: grad)


@op(node="MulBackward1", public=False, typed="float", forward="linear", batched="point")
def mul_number(self: Any, /, other: Any) -> Any:
    """``self * other``."""
    if _is_half(self):  # beside half precision a factor counts in float32
        return (self.astype("f4") * np.float32(other)).astype(self.dtype)
    return self * _as(self, other)


mul_number.derivative(self=lambda grad, other: mul_number(grad, other))


@op(node="DivBackward1", public=False, typed="float", forward="linear", batched="point")
def div_number(self: Any, /, other: Any) -> Any:
    """``self / other``."""
    if _is_half(self):  # beside half precision a factor counts in float32
        return (self.astype("f4") / np.float32(other)).astype(self.dtype)
    return self / _as(self, other)


div_number.derivative(self=lambda grad, other: div_number(grad, other))
