"""PyTorch's signatures of comparisons and choices: ``where``, in-place comparisons, closeness."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...core.tensor import Tensor, wrap
from ...ground import dtypes
from ...ground.listening import asking
from ...ground.meta import need_data, need_item
from ...ground.runtime import warn
from ...ops.declare import composite
from ...tensor.lifted import is_lifted
from ..arithmetic.functions import is_number, is_operand, need_tensor, no_match, plain, written
from . import rows as compare

_BOOL = np.dtype("?")
_BYTE_CONDITION = (
    "where received a uint8 condition tensor. This behavior is deprecated and will be removed in a future version of "
    "PyTorch. Use a boolean condition instead. (Triggered internally at "
    "/__w/pytorch/pytorch/aten/src/ATen/native/TensorCompare.cpp:621.)"
)


@composite()
def where(condition: Tensor, input: Any = None, other: Any = None, *, out: Any = None) -> Any:
    """``input`` where ``condition`` holds, ``other`` elsewhere; with one argument, where it is nonzero."""
    if (
        type(input) is Tensor
        and type(other) is Tensor
        and type(condition) is Tensor
        and condition._array.dtype is _BOOL
    ):
        return compare.where(condition, input, other, out=out)
    if input is None and other is None:
        return condition.nonzero(as_tuple=True)  # type: ignore[attr-defined]
    if not is_operand(input) or not is_operand(other):
        raise no_match(
            "where", (condition, input, other), "Tensor condition",
            "Tensor condition, Tensor input, Tensor other, *, Tensor out = None",
            "Tensor condition, Number self, Tensor other", "Tensor condition, Tensor input, Number other",
            "Tensor condition, Number self, Number other",
        )  # fmt: skip
    if out is not None:
        for position, (name, operand) in enumerate((("input", input), ("other", other)), 2):
            if not isinstance(operand, Tensor):
                found = dtypes.called(operand)
                raise TypeError(f"where(): argument '{name}' (position {position}) must be Tensor, not {found}")
    kind = condition._array.dtype
    if kind.kind != "b" and kind != np.uint8:
        raise RuntimeError(
            "where expected condition to be a boolean tensor, but got a tensor with dtype "
            + condition.dtype.scalar_name
        )
    if kind.kind != "b":
        warn(_BYTE_CONDITION)
    if is_number(input) and is_number(other):
        both = dtypes.result_dtype((), (), (type(plain(input)), type(plain(other))))
        input = wrap(np.asarray(plain(input)).astype(both.numpy))
    input, other = plain(input), plain(other)
    for tensor, number in ((input, other), (other, input)):
        if isinstance(tensor, Tensor) and isinstance(number, int | float):
            kind = tensor._array.dtype
            integers = kind.kind in "biu" and type(number) is float
            dtypes.check_one(number, dtypes.get_default_dtype().numpy if integers else kind)
    return compare.where(condition, input, other, out=out)


@composite(function=False, name="where")
def where_method(self: Tensor, condition: Tensor, other: Any) -> Any:
    """``self`` where ``condition`` holds, ``other`` elsewhere."""
    return where(condition, self, other)


_LARGEST = np.dtype("u8")  # whose numbers and their negatives PyTorch's parser takes


def _writes(name: str, *aliases: str) -> None:
    with_number, with_tensor = compare.WRITTEN[name]

    def in_place(self: Tensor, other: Any) -> Tensor:
        if is_number(other):
            other = plain(other)
            if isinstance(other, complex):
                getattr(compare, name)(self.detach(), other)  # type: ignore[attr-defined]  # most refuse
            number = np.asarray(other)
            if type(other) is int and self._array.dtype.kind in "iu":
                dtypes.check_number(other, _LARGEST)
                number = number.astype(self._array.dtype)  # in which PyTorch compares
            return written(with_number, self, settings=(number,))
        return written(with_tensor, self, other)

    in_place.__name__ = in_place.__qualname__ = f"{name}_"
    in_place.__doc__ = f"In-place :func:`{name}`."
    composite(*(f"{alias}_" for alias in aliases), function=False)(in_place)


for _name, *_more in (
    ("eq",), ("ne", "not_equal"), ("lt", "less"), ("le", "less_equal"), ("gt", "greater"), ("ge", "greater_equal"),
):  # fmt: skip
    _writes(_name, *_more)


def _at_least_zero(**limits: float) -> None:
    for name, value in limits.items():
        if not value >= 0:
            raise RuntimeError(f"{name} must be greater than or equal to zero, but got {value:g}")


def _limit(function: str, name: str, position: int, value: Any) -> Any:
    """A limit as a number, which may come in a tensor of no dimension that nothing tracks."""
    dtypes.need_float(function, name, position, value)
    return float(value) if isinstance(value, Tensor) else value


def _close(input: Any, other: Any, rtol: float, atol: float, equal_nan: bool) -> Any:
    """``isclose`` by rows."""
    close = input == other
    if equal_nan and (input.is_floating_point() or input.is_complex()):
        close = close | ((input != input) & (other != other))
    if rtol or atol:
        if not (input.is_floating_point() or input.is_complex()):
            input, other = input.double(), other.double()
        gap = (input - other).abs()
        close = close | (gap.isfinite() & (gap <= other.abs() * rtol + atol))
    return close


@composite()
@asking
def isclose(input: Tensor, other: Tensor, rtol: float = 1e-05, atol: float = 1e-08, equal_nan: bool = False) -> Tensor:
    """Whether elements are equal up to ``atol + rtol * abs(other)``."""
    rtol, atol = _limit("isclose", "rtol", 3, rtol), _limit("isclose", "atol", 4, atol)
    if input._array.dtype != other._array.dtype:
        raise RuntimeError(f"{input.dtype.scalar_name} did not match {other.dtype.scalar_name}")
    _at_least_zero(rtol=rtol, atol=atol)
    if is_lifted((input, other)):
        return _close(input, other, rtol, atol, equal_nan)
    a, b = input._array, other._array
    alike = compare.eq(input, other)  # the error for sizes that do not broadcast
    if a.dtype.metadata or b.dtype.metadata:
        return alike
    close = np.equal(a, b)
    if a.dtype.kind in "fcV":
        if equal_nan:
            close = close | ((a != a) & (b != b))
        if rtol or atol:
            allowed = np.abs(b) * rtol + atol
            gap = np.abs(a - b)
            close = close | (np.isfinite(gap) & (gap <= allowed))
    elif rtol or atol:
        wide_a, wide_b = np.asarray(a).astype("f8"), np.asarray(b).astype("f8")
        close = close | (np.abs(wide_a - wide_b) <= np.abs(wide_b) * rtol + atol)
    return wrap(close)


@composite()
def allclose(input: Tensor, other: Tensor, rtol: float = 1e-05, atol: float = 1e-08, equal_nan: bool = False) -> bool:
    """Whether all elements are equal up to ``atol + rtol * abs(other)``."""
    need_tensor("allclose", "input", 1, input)
    need_tensor("allclose", "other", 2, other)
    rtol, atol = _limit("allclose", "rtol", 3, rtol), _limit("allclose", "atol", 4, atol)
    close = isclose(input, other, rtol, atol, equal_nan)._array
    need_item(close)
    return bool(np.all(close))


@composite()
def equal(input: Tensor, other: Tensor) -> bool:
    """Whether two tensors have the same sizes and elements."""
    need_data("equal", input._array, other._array)
    return input._array.shape == other._array.shape and bool((input._array == other._array).all())
