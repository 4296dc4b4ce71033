"""Sums, products and quotients, elementwise with broadcasting."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...core.plan import F32
from ...core.row import op
from ...core.tensor import Tensor
from ...ground import dtypes, errors

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


def is_one(function: str, alpha: Any, array: Any) -> bool:
    """Whether a factor that is no whole number is one; PyTorch's error where it does not fit the dtype of ``array``."""
    dtypes.need_number(function, "alpha", alpha)
    kind = array.dtype.kind
    if type(alpha) is bool and kind != "b":
        raise RuntimeError("Boolean alpha only supported for Boolean results.")
    if kind in "biu" and isinstance(alpha, (float, complex)):
        raise RuntimeError("For integral input tensors, argument alpha must not be a floating point number.")
    if kind != "c" and isinstance(alpha, complex):
        raise RuntimeError("For non-complex input tensors, argument alpha must not be a complex number.")
    return alpha == 1  # type: ignore[no-any-return]


def scaled(array: Any, alpha: Any) -> Any:
    """``alpha * array`` in the array's dtype."""
    return array * array.dtype.type(alpha)


def wide_steps(row: Any, self: Any, *others: Any) -> Any:
    """A kernel of several steps at half precision: computed in float32, rounded once; narrow integers as they are."""
    wide = np.dtype("f4") if self.dtype.kind in "fV" else np.dtype("i4")
    return row.row.kernel(*(x.astype(wide) if hasattr(x, "astype") else x for x in (self, *others))).astype(self.dtype)


def _rounded(self: Any, alpha: Any) -> Any:
    """A factor as PyTorch's sums keep it beside half precision: rounded to it."""
    dtypes.check_number(alpha, self.dtype)
    return float(self.dtype.type(alpha)) if self.dtype.kind in "fV" else alpha


@op(
    operator="add", inplace=True, numbers=True, typed="promote", ufunc=np.add, form="a0 + a1", formerly=("alpha",),
    forward="linear", batched="point",
)  # fmt: skip
def add(self: Any, other: Any, /, alpha: Any = 1) -> Any:
    """The elementwise sum ``self + alpha * other``, with broadcasting."""
    if alpha == 1 if type(alpha) is int else is_one("add", alpha, self):
        return self + other
    if self.dtype.itemsize > 2 or self.dtype.kind == "b":
        return self + scaled(other, alpha)
    return wide_steps(add, self, other, _rounded(self, alpha))


add.derivative(self=lambda grad: grad, other=lambda grad, alpha: grad if alpha == 1 else grad * alpha)


def no_single_bool(a: Any, b: Any) -> None:
    """Raise PyTorch's error for a difference with truth values."""
    bools = [x for x in (a, b) if type(x) is bool or (isinstance(x, Tensor) and x._array.dtype.kind == "b")]
    if bools:
        raise RuntimeError(TWO_BOOLS if len(bools) == 2 else ONE_BOOL)


@op(
    "subtract", operator="sub", inplace=True, numbers=True, typed="promote", ufunc=np.subtract, refuses=no_single_bool,
    formerly=("alpha",), forward="linear", batched="point",
)  # fmt: skip
def sub(self: Any, other: Any, /, alpha: Any = 1) -> Any:
    """The elementwise difference ``self - alpha * other``, with broadcasting."""
    try:
        if alpha == 1 if type(alpha) is int else is_one("sub", alpha, self):
            return self - other
        if self.dtype.itemsize > 2:
            return self - scaled(other, alpha)
        return wide_steps(sub, self, other, -_rounded(self, -alpha))  # what PyTorch adds has to fit
    except TypeError:
        dtypes.need_number("sub", "alpha", alpha)
        raise RuntimeError(TWO_BOOLS) from None


sub.derivative(self=lambda grad: grad, other=lambda grad, alpha: -grad if alpha == 1 else grad * -alpha)


@op(lenient=True, typed="promote", refuses=no_single_bool, forward="linear", batched="point", out=None)
def rsub(self: Any, other: Any, /, alpha: Any = 1) -> Any:
    """The elementwise difference ``other - alpha * self``, with broadcasting."""
    dtypes.need_number("rsub", "alpha", alpha)
    return sub.row.kernel(other, self, alpha)


rsub.derivative(self=lambda grad, alpha: -grad if alpha == 1 else grad * -alpha, other=lambda grad: grad)


@op(lenient=True, node="RsubBackward1", public=False, batched="point")
def rsub_number(self: Any, /, other: Any, alpha: Any = 1) -> Any:
    """A number minus ``alpha * self``."""
    if self.dtype.kind == "V":  # bfloat16 is no weak type's equal
        other = self.dtype.type(other)
    elif self.dtype.kind in "iu":  # what does not fit wraps round
        other = np.asarray(other).astype(self.dtype)
    if is_one("rsub", alpha, self):
        return other - self
    return sub.row.kernel(np.asarray(other).astype(self.dtype)[()], self, alpha)


rsub_number.derivative(self=lambda grad, alpha: -grad if alpha == 1 else grad * -alpha)


@op(
    "multiply", operator="mul", inplace=True, numbers=True, typed="promote", single=True, ufunc=np.multiply,
    form="a0 * a1", forward="each", batched="point",
)  # fmt: skip
def mul(self: Any, other: Any, /) -> Any:
    """The elementwise product, with broadcasting."""
    return self * other


mul.derivative(self=lambda grad, other: grad * other, other=lambda grad, self: grad * self)


@op(
    "true_divide", operator="truediv", inplace=True, numbers=True, typed="float", single=True, ufunc=np.divide,
    form="a0 / a1", batched="point",
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


def _no_bool(a: Any) -> None:
    """Raise PyTorch's error for the negation of truth values."""
    if isinstance(a, Tensor) and a._array.dtype.kind == "b":
        raise RuntimeError(NEGATED_BOOL)


@op(
    "negative", operator="neg", inplace=True, ufunc=np.negative, refuses=_no_bool, out=errors.OUT_FOUND,
    forward="linear", batched="point",
)  # fmt: skip
def neg(self: Any, /) -> Any:
    """The elements with the other sign."""
    return -self


neg.derivative(self=lambda grad: -grad)


@op(inplace=True, typed="float", ufunc=np.reciprocal, batched="point")
def reciprocal(self: Any, /) -> Any:
    """One over each element."""
    return np.reciprocal(self) if self.dtype.kind != "V" else (1 / dtypes.converted(self, F32)).astype(self.dtype)


reciprocal.derivative(self=lambda grad, result: -grad * (result * result))


# -- Arithmetic with one Python number as PyTorch's own code does it: nodes that keep the number, not a tensor.


def _as(array: Any, number: Any) -> Any:
    """A number that leaves the array's dtype as it is."""
    return array.dtype.type(number) if array.dtype.kind == "V" else number


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
    if self.dtype.char in dtypes.HALVES:  # beside half precision a factor counts in float32
        return (dtypes.converted(self, F32) * np.float32(other)).astype(self.dtype)
    return self * _as(self, other)


mul_number.derivative(self=lambda grad, other: mul_number(grad, other))


@op(node="DivBackward1", public=False, typed="float", forward="linear", batched="point")
def div_number(self: Any, /, other: Any) -> Any:
    """``self / other``."""
    if self.dtype.char in dtypes.HALVES:  # beside half precision a factor counts in float32
        return (dtypes.converted(self, F32) / np.float32(other)).astype(self.dtype)
    return self / _as(self, other)


div_number.derivative(self=lambda grad, other: div_number(grad, other))
