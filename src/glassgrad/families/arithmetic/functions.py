"""What an operand may be, PyTorch's sentence for anything else, and writing over the first operand."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ...core import call, write
from ...core.tensor import Tensor
from ...ground import dtypes, errors
from ...ground.dtypes import NUMBERS, Number, called
from ...kernels.columns import not_implemented
from ...ops.declare import composite
from ...tensor import writable
from ...tensor.out import check_dtype
from ...tensor.refusals import former
from ..pointwise import limit as sign
from ..pointwise import rounding
from ..pointwise import rows as bitwise
from ..special import rows as special
from . import combined, powers, quotients
from . import rows as arithmetic
from .powers import NEGATIVE_POWER, pow_number
from .powers import pow as power
from .rows import div as quotient
from .rows import mul, reciprocal

PAIR = "Tensor input, Tensor other, *, Tensor out = None", "Tensor input, Number other, *, Tensor out = None"


def is_number(value: Any) -> bool:
    """Whether ``value`` counts as a Python number."""
    return isinstance(value, NUMBERS)


def is_operand(value: Any) -> bool:
    """Whether an operator accepts ``value`` beside a tensor."""
    return isinstance(value, Tensor) or isinstance(value, NUMBERS)


def plain(value: Any) -> Any:
    """A NumPy scalar as the Python number it stands for."""
    return value.item() if isinstance(value, np.generic) else value


def no_match(function: str, arguments: Sequence[Any], *signatures: str) -> TypeError:
    """PyTorch's error for arguments that fit none of ``signatures``."""
    got = ", ".join(called(value) for value in arguments)
    if len(signatures) == 1:
        return TypeError(
            f"{function}() received an invalid combination of arguments - got ({got}), but expected ({signatures[0]})"
        )
    listed = "".join(f" * ({signature})\n" for signature in signatures)
    return TypeError(
        f"{function}() received an invalid combination of arguments - got ({got}), but expected one of:\n{listed}"
    )


def need_tensor(function: str, name: str, position: int, value: Any) -> None:
    """Raise PyTorch's error unless ``value`` is a tensor."""
    if not isinstance(value, Tensor):
        raise TypeError(f"{function}(): argument '{name}' (position {position}) must be Tensor, not {called(value)}")


def holds(tensor: Tensor, number: Any) -> bool:
    """Whether a number leaves the tensor's dtype as it is: an int any but bool, a float only floats and above."""
    kind = tensor._array.dtype.kind
    if kind == "c":
        return True
    if isinstance(number, complex) and not isinstance(number, (int, float)):
        return False
    if kind == "f" or kind == "V":
        return True
    return kind != "b" and isinstance(number, int) and not isinstance(number, bool)


def recorded_with(tensor: Tensor, number: Any) -> bool:
    """Whether a number has to go by a row of its own, whose node does not save it: whole numbers have no history."""
    return tensor._edge is not None and tensor._array.dtype.kind not in "biu" and holds(tensor, number)


def raised(tensor: Tensor, number: Any, out: Any = None) -> Tensor:
    """The tensor in the dtype that it and a number agree on; it may not lie partly on ``out``."""
    if holds(tensor, number):
        return tensor
    if out is not None:
        from ...tensor.out import check_apart  # which comes with the first ``out=``

        check_apart(out, tensor)
    own = dtypes.of(tensor._array.dtype)
    kind = (
        dtypes.result_dtype((own,), (), (type(number),))
        if tensor._array.ndim
        else dtypes.result_dtype((), (own,), (type(number),))
    )
    return tensor.to(kind)  # type: ignore[attr-defined]


def in_float(number: Any) -> Any:
    """A number as functions that compute with floats take it."""
    return plain(number) if isinstance(number, complex) else float(number)


def of_two(function: str, both: Any, with_number: Any, of_number: Any, input: Any, other: Any, out: Any) -> Tensor:
    """A function of two tensors, or of a tensor and a number on either side: a row for each of the three."""
    if isinstance(input, Tensor) and is_number(other):
        return with_number(raised(input, in_float(other), out), plain(other), out=out)  # type: ignore[no-any-return]
    if is_number(input) and isinstance(other, Tensor):
        return of_number(raised(other, in_float(input), out), plain(input), out=out)  # type: ignore[no-any-return]
    if not (isinstance(input, Tensor) and isinstance(other, Tensor)):
        raise no_match(function, (input, other), PAIR[0], "Number self, Tensor other, *, Tensor out = None", PAIR[1])
    return both(input, other, out=out)  # type: ignore[no-any-return]


def written(row: Any, target: Tensor, *others: Any, settings: Any = ()) -> Tensor:
    """Write a row's result over its first input; gives that."""
    return write.in_place(row.row, target, others, settings)


def number_aside(row: Any, with_number: Any, name: str, function: bool = False) -> Any:
    """The in-place variant of a function whose number has a row of its own."""

    def in_place(self: Tensor, other: Any) -> Tensor:
        if is_number(other):
            other = plain(other)
            if row.row.strict:
                writable.check_cast(raised(self, in_float(other))._array.dtype, self)
                return written(with_number, self, settings=(other,))
            if recorded_with(self, other):
                return written(with_number, self, settings=(other,))
        return written(row, self, other)

    in_place.__name__ = in_place.__qualname__ = f"{name}_"
    in_place.__doc__ = f"In-place :func:`{name}`."
    return composite(function=function)(in_place)


# -- PyTorch's signatures of elementwise functions: numbers or tensors, rounding modes, reflected operators.

# -- sums and differences --------------------------------------------------------------------------------------------


@composite(method=False)
def rsub(input: Tensor, other: Any, *, alpha: Number = 1) -> Any:
    """``other - alpha * input``."""
    if not is_number(other):
        try:
            return arithmetic.rsub(input, other, alpha)
        except RuntimeError:
            arithmetic.sub(other, input, alpha)  # which tells of the two in PyTorch's order
            raise
    arithmetic.no_single_bool(input, other)
    other = plain(other)
    return arithmetic.rsub_number(raised(input, other), other, alpha)


@composite(function=False, name="__rsub__")
def reflected_sub(input: Tensor, other: Any) -> Any:
    """``other - input``."""
    if type(other) is int and input._array.dtype.kind == "f":
        return arithmetic.rsub_number(input, other)
    return rsub(input, other) if is_operand(other) else NotImplemented


# -- quotients -------------------------------------------------------------------------------------------------------


def _checked_mode(mode: Any) -> Any:
    if mode not in ("floor", "trunc"):
        raise RuntimeError(f"div expected rounding_mode to be one of None, 'trunc', or 'floor' but found '{mode}'")
    return mode


@composite("divide")
def div(input: Any, other: Any, *, rounding_mode: str | None = None, out: Any = None) -> Tensor:
    """The quotient, rounded towards zero ("trunc") or down ("floor") if ``rounding_mode`` says so."""
    if rounding_mode is None:
        return quotient(input, other, out=out)
    return quotients.div_rounded(input, other, _checked_mode(rounding_mode), out=out)


@composite("divide_", function=False)
def div_(self: Tensor, other: Any, *, rounding_mode: str | None = None) -> Tensor:
    """In-place :func:`div`."""
    if rounding_mode is None:
        return written(quotient, self, other)
    return written(quotients.div_rounded, self, other, settings=(_checked_mode(rounding_mode),))


@composite("__rdiv__", function=False, name="__rtruediv__")
def reflected_div(input: Tensor, other: Any) -> Any:
    """``other / input``, as PyTorch computes it: times the reciprocal."""
    return mul(reciprocal(input), other) if is_operand(other) else NotImplemented


@composite()
def floor_divide(input: Any, other: Any, *, out: Any = None) -> Tensor:
    """The quotient rounded down; not differentiable."""
    if is_number(other) and isinstance(input, Tensor) and recorded_with(input, plain(other)):
        return quotients.floor_divide_number(input, plain(other), out=out)
    if is_number(input) and isinstance(other, Tensor) and recorded_with(other, plain(input)):
        return quotients.floor_divide_number(other, plain(input), True, out=out)
    return quotients.floor_divide(plain(input), plain(other), out=out)


@composite()
def remainder(input: Any, other: Any, *, out: Any = None) -> Tensor:
    """What division leaves, with the sign of the divisor."""
    if is_number(other) and isinstance(input, Tensor):
        other = plain(other)
        if recorded_with(input, other):
            return quotients.remainder_number(input, other, out=out)
    elif is_number(input) and isinstance(other, Tensor) and out is None:
        input = plain(input)
        if recorded_with(other, input):
            return quotients.remainder_of_number(other, input)
    elif not (isinstance(input, Tensor) and isinstance(other, Tensor)):
        raise no_match("remainder", (input, other), PAIR[0], "Number self, Tensor other", PAIR[1])
    return quotients.remainder(input, other, out=out)


@composite()
def fmod(input: Tensor, other: Any, *, out: Any = None) -> Tensor:
    """What division leaves, with the sign of the dividend."""
    if is_number(other) and isinstance(input, Tensor):
        other = plain(other)
        if recorded_with(input, other):
            return quotients.fmod_number(input, other, out=out)
    elif not (isinstance(input, Tensor) and isinstance(other, Tensor)):
        raise no_match("fmod", (input, other), *PAIR)
    return quotients.fmod(input, other, out=out)


remainder_ = number_aside(quotients.remainder, quotients.remainder_number, "remainder")
fmod_ = number_aside(quotients.fmod, quotients.fmod_number, "fmod")
floor_divide_ = number_aside(quotients.floor_divide, quotients.floor_divide_number, "floor_divide")


def _operator(name: str, function: Any, reflected: bool = False) -> None:
    """Put ``function`` behind an operator, which leaves strangers to the other operand."""

    def operate(input: Tensor, other: Any) -> Any:
        if not is_operand(other):
            return NotImplemented
        return function(other, input) if reflected else function(input, other)

    operate.__name__ = operate.__qualname__ = f"__{name}__"
    operate.__doc__ = function.__doc__
    composite(function=False, name=f"__{name}__")(operate)


_operator("floordiv", floor_divide)
_operator("rfloordiv", floor_divide, reflected=True)
_operator("ifloordiv", floor_divide_)
_operator("mod", remainder)
_operator("rmod", remainder, reflected=True)
_operator("imod", remainder_)

# -- powers ----------------------------------------------------------------------------------------------------------

_POWERS = (
    "Tensor input, Tensor exponent, *, Tensor out = None",
    "Number self, Tensor exponent, *, Tensor out = None",
    "Tensor input, Number exponent, *, Tensor out = None",
)


@composite(name="pow")
def pow(input: Any, exponent: Any, *, out: Any = None) -> Tensor:
    """``input`` to the power ``exponent``; one of them may be a number."""
    if isinstance(input, Tensor):
        if is_number(exponent):
            exponent = plain(exponent)
            if holds(input, exponent) or (type(exponent) is bool and input._array.dtype.kind == "b"):
                return pow_number(input, exponent, out=out)
            if type(exponent) is int and exponent < 0 and input._array.dtype.kind == "b":
                raise RuntimeError(NEGATIVE_POWER)
        elif not isinstance(exponent, Tensor):
            raise no_match("pow", (input, exponent), *_POWERS)
        return power(input, exponent, out=out)
    if not is_number(input) or not isinstance(exponent, Tensor):
        raise no_match("pow", (input, exponent), *_POWERS)
    input = plain(input)
    if holds(exponent, input):
        return powers.pow_base(exponent, input, out=out)
    return power(input, exponent, out=out)


@composite(function=False, name="__pow__")
def power_operator(input: Tensor, exponent: Any) -> Any:
    """``input ** exponent``."""
    if type(exponent) is int and input._array.dtype.kind == "f":
        return pow_number(input, exponent)
    return pow(input, exponent) if is_operand(exponent) else NotImplemented


@composite(function=False, name="pow_")
def pow_(self: Tensor, exponent: Any) -> Tensor:
    """In-place :func:`pow`."""
    if is_number(exponent):
        exponent = plain(exponent)
        kind = self._array.dtype.kind
        if kind in "biu" and type(exponent) is int and exponent < 0:
            raise RuntimeError(NEGATIVE_POWER)
        if holds(self, exponent) or (type(exponent) is bool and kind == "b"):
            return written(pow_number, self, settings=(exponent,))
    elif not isinstance(exponent, Tensor):
        raise no_match("pow_", (exponent,), "Tensor exponent", "Number exponent")
    return written(power, self, exponent)


_operator("rpow", pow, reflected=True)
_operator("ipow", pow_)


@composite()
def square(input: Tensor, *, out: Any = None) -> Tensor:
    """The second power."""
    need_tensor("square", "input", 1, input)
    return pow(input, 2, out=out)


@composite()
def square_(self: Tensor) -> Tensor:
    """In-place :func:`square`."""
    return pow_(self, 2)


@composite()
def float_power(input: Any, exponent: Any, *, out: Any = None) -> Tensor:
    """``input`` to the power ``exponent`` in float64, or complex128 if one is complex."""
    pair = [x for x in (input, exponent) if isinstance(x, Tensor)]
    if not pair or not is_operand(input) or not is_operand(exponent):
        raise no_match("float_power", (input, exponent), *_POWERS)
    kinds = any(
        x._array.dtype.kind == "c" if isinstance(x, Tensor) else isinstance(plain(x), complex)
        for x in (input, exponent)
    )
    kind = dtypes.complex128 if kinds else dtypes.float64
    if isinstance(out, Tensor) and out.dtype is not kind:
        raise RuntimeError(
            f"the output given to float_power has dtype {out.dtype.scalar_name} but the operation's result requires "
            f"dtype {kind.scalar_name}"
        )
    number = complex if kinds else float
    sides = [x.to(kind) if isinstance(x, Tensor) else number(x) for x in (input, exponent)]  # type: ignore[attr-defined]
    return pow(*sides, out=out)


@composite(function=False)
def float_power_(self: Tensor, exponent: Any) -> Tensor:
    """In-place :func:`float_power`."""
    if not isinstance(exponent, Tensor) and not is_number(exponent):
        raise no_match("float_power_", (exponent,), "Tensor exponent", "Number exponent")
    has_complex = isinstance(exponent, complex) or any(
        isinstance(each, Tensor) and each.dtype.is_complex for each in (self, exponent)
    )
    kind = dtypes.complex128 if has_complex else dtypes.float64
    if self.dtype is not kind:
        raise RuntimeError(
            f"the base given to float_power_ has dtype {self.dtype.scalar_name} but the operation's result requires "
            f"dtype {kind.scalar_name}"
        )
    return pow_(self, exponent)


# -- sums of products ------------------------------------------------------------------------------------------------


def _integers(*tensors: Tensor) -> bool:
    return all(tensor._array.dtype.kind in "biu" for tensor in tensors)


def _three_tensors(name: str, input: Any, tensor1: Any, tensor2: Any) -> None:
    for position, (argument, value) in enumerate((("input", input), ("tensor1", tensor1), ("tensor2", tensor2)), 1):
        need_tensor(name, argument, position, value)
    if name.startswith("addcdiv") and _integers(tensor1, tensor2):
        raise RuntimeError(combined.INTEGER_ADDCDIV)


@composite()
def addcmul(input: Tensor, tensor1: Any, tensor2: Tensor, *more: Tensor, value: Number = 1, out: Any = None) -> Tensor:
    """``input + value * tensor1 * tensor2``."""
    if more:
        (input, tensor1, tensor2), (value,) = former(combined.addcmul.row, (input, tensor1, tensor2, *more))
    _three_tensors("addcmul", input, tensor1, tensor2)
    return combined.addcmul(input, tensor1, tensor2, value, out=out)


@composite(function=False)
def addcmul_(self: Tensor, tensor1: Any, tensor2: Tensor, *more: Tensor, value: Number = 1) -> Tensor:
    """In-place :func:`addcmul`."""
    if more:
        (_, tensor1, tensor2), (value,) = former(combined.addcmul.row, (self, tensor1, tensor2, *more), True)
    _three_tensors("addcmul_", self, tensor1, tensor2)
    return written(combined.addcmul, self, tensor1, tensor2, settings=(value,))


@composite()
def addcdiv(input: Tensor, tensor1: Any, tensor2: Tensor, *more: Tensor, value: Number = 1, out: Any = None) -> Tensor:
    """``input + value * tensor1 / tensor2``."""
    if more:
        (input, tensor1, tensor2), (value,) = former(combined.addcdiv.row, (input, tensor1, tensor2, *more))
    _three_tensors("addcdiv", input, tensor1, tensor2)
    return combined.addcdiv(input, tensor1, tensor2, value, out=out)


@composite(function=False)
def addcdiv_(self: Tensor, tensor1: Any, tensor2: Tensor, *more: Tensor, value: Number = 1) -> Tensor:
    """In-place :func:`addcdiv`."""
    if more:
        (_, tensor1, tensor2), (value,) = former(combined.addcdiv.row, (self, tensor1, tensor2, *more), True)
    _three_tensors("addcdiv_", self, tensor1, tensor2)
    return written(combined.addcdiv, self, tensor1, tensor2, settings=(value,))


def _check_lerp(input: Tensor, end: Any, weight: Any) -> None:
    need_tensor("lerp", "end", 2, end)
    for name, other in (("end", end), ("weight", weight)):
        if (
            isinstance(other, Tensor)
            and other._array.dtype != input._array.dtype
            and not (name == "weight" and not other._array.ndim)
        ):
            raise RuntimeError(
                f"expected dtype {dtypes.c_name(input.dtype)} for `{name}` but got dtype {dtypes.c_name(other.dtype)}"
            )
    if input._array.dtype.kind in "biu" and not (isinstance(weight, Tensor) and weight._array.dtype.kind in "fcV"):
        if not isinstance(weight, Tensor):
            raise not_implemented("lerp_kernel_scalar", input._array)
        raise not_implemented("lerp_kernel_tensor", (weight if input._array.dtype.kind == "b" else input)._array)


def _weight(input: Tensor, weight: Any) -> Any:
    """One weight as a number of the kind that ``input`` is of; PyTorch's error where there is none."""
    weight, kind = plain(weight), input._array.dtype
    if type(weight) is not float or abs(weight) > 1:  # others fit
        dtypes.check_number(weight, kind if kind.itemsize > 2 else np.dtype("f4"))
    return weight.real if kind.kind != "c" else weight


@composite()
def lerp(input: Tensor, end: Tensor, weight: Tensor | Number, *, out: Any = None) -> Tensor:
    """The point between ``input`` and ``end`` at ``weight``, a number or a tensor."""
    need_tensor("lerp", "input", 1, input)
    _check_lerp(input, end, weight)
    if isinstance(weight, Tensor):
        if out is not None and weight._array.ndim:  # which is not promoted
            call.refuse_gradients(combined.lerp.row, (input, end, weight), out)
            check_dtype("lerp", out, input.dtype, errors.OUT_FOUND)
        return combined.lerp(input, end, weight, out=out)
    return combined.lerp_number(input, end, _weight(input, weight), out=out)


@composite(function=False)
def lerp_(self: Tensor, end: Tensor, weight: Any) -> Tensor:
    """In-place :func:`lerp`."""
    try:
        _check_lerp(self, end, weight)
        weight = weight if isinstance(weight, Tensor) else _weight(self, weight)
    except RuntimeError:
        writable.check_writable(self, False)  # which PyTorch asks first
        raise
    if isinstance(weight, Tensor):
        return written(combined.lerp, self, end, weight)
    return written(combined.lerp_number, self, end, settings=(weight,))


# -- one variable ----------------------------------------------------------------------------------------------------


@composite(name="round")
def round(input: Tensor, *, decimals: int | None = None, out: Any = None) -> Tensor:
    """The nearest integer, or multiple of a power of ten; halves go to the even one."""
    return rounding.round(input, out=out) if decimals is None else rounding.round_decimals(input, decimals, out=out)


@composite()
def round_(self: Tensor, *, decimals: int | None = None) -> Tensor:
    """In-place :func:`round`."""
    if decimals is None:
        return written(rounding.round, self)
    return written(rounding.round_decimals, self, settings=(decimals,))


def _check_order(n: int) -> None:
    if n < 0:
        raise RuntimeError("polygamma(n, x) does not support negative n.")


@composite(method=False)
def polygamma(n: int, input: Tensor, *, out: Any = None) -> Tensor:
    """The derivative of digamma of order ``n``."""
    _check_order(n)
    return special.polygamma_of(input, n, out=out)


@composite(function=False, name="polygamma")
def polygamma_method(self: Tensor, n: int) -> Tensor:
    """The derivative of digamma of order ``n``."""
    _check_order(n)
    return special.polygamma_of(self, n)


@composite(function=False)
def polygamma_(self: Tensor, n: int) -> Tensor:
    """In-place :func:`polygamma`."""
    _check_order(n)
    return written(special.polygamma_of, self, settings=(n,))


@composite()
def positive(input: Tensor) -> Tensor:
    """The tensor itself."""
    if input._array.dtype.kind == "b":
        raise RuntimeError("The `+` operator, on a bool tensor is not supported.")
    return input


@composite(function=False, name="__pos__")
def pos_operator(input: Tensor) -> Tensor:
    """``+input``: the tensor itself."""
    return positive(input)


@composite(function=False, name="__abs__")
def abs_operator(input: Tensor) -> Tensor:
    """``abs(input)``."""
    return sign.abs(input)


@composite(function=False, name="__invert__")
def invert_operator(input: Tensor) -> Tensor:
    """``~input``."""
    if input._array.dtype.kind not in "biu":
        raise TypeError("~ (operator.invert) is only implemented on integer and Boolean-type tensors")
    return bitwise.bitwise_not(input)


for _name, _row in (("rlshift", bitwise.bitwise_left_shift), ("rrshift", bitwise.bitwise_right_shift)):
    _operator(_name, _row, reflected=True)
