"""PyTorch's signatures of limits and of functions of two variables that are no arithmetic."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...core.tensor import Tensor
from ...ground import dtypes
from ...ground.dtypes import Number
from ...kernels.columns import not_implemented
from ...ops.declare import composite
from ...tensor import writable
from ..arithmetic.functions import (
    PAIR,
    in_float,
    is_number,
    need_tensor,
    no_match,
    number_aside,
    of_two,
    plain,
    raised,
    written,
)
from ..arithmetic.rows import mul
from . import limit

# -- limits ----------------------------------------------------------------------------------------------------------

_PLAIN = frozenset((int, float, type(None)))
_CLAMPS = (
    "Tensor input, Tensor min = None, Tensor max = None, *, Tensor out = None",
    "Tensor input, Number min = None, Number max = None, *, Tensor out = None",
)


def _end(number: Any, tensor: Tensor) -> Any:
    """The end of a range in a tensor's dtype: unsigned ones wrap round; PyTorch's error where it does not fit."""
    if number is None:
        return None
    number, kind = plain(number), tensor._array.dtype
    dtypes.check_number(number, kind)
    return np.asarray(number).astype(kind).item() if kind.kind == "u" else number


def _clamp_row(name: str, input: Any, min: Any, max: Any) -> tuple[Any, Tensor, tuple[Any, ...], tuple[Any, ...]]:
    """The row that clamps by numbers or by tensors, with its inputs and settings."""
    ends = [end for end in (min, max) if end is not None]
    if not ends:
        raise RuntimeError("torch.clamp: At least one of 'min' or 'max' must not be None")
    if not (all(is_number(end) for end in ends) or all(isinstance(end, Tensor) for end in ends)):
        raise no_match(name, [x for x in (input, min, max) if x is not None], *_CLAMPS)
    if name.endswith("_"):
        writable.check_writable(input, False)
    has_complex = any(isinstance(end, complex) for end in ends)
    if has_complex and name.endswith("_") and input._array.dtype.kind in "biu":
        check_clamped(raised(input, 1j), input)
    if input._array.dtype.kind == "c" or (has_complex and input._array.dtype.kind in "biu"):
        raise NotImplementedError("clamp is not supported for complex types")
    for end in ends:
        if isinstance(end, complex):
            dtypes.check_number(end, np.dtype("f8"))
    if all(is_number(end) for end in ends):
        for end in ends:
            input = raised(input, plain(end))
        if input._array.dtype.kind == "b":
            kind = "scalar" if None not in (min, max) else "min_scalar" if max is None else "max_scalar"
            raise not_implemented(f"clamp_{kind}_cpu", input._array)
        return limit.clamp_numbers, input, (), (_end(min, input), _end(max, input))
    return limit.clamp_tensors, input, (min, max), ()


@composite("clip")
def clamp(input: Tensor, min: Any = None, max: Any = None, *, out: Any = None) -> Tensor:
    """The elements, limited to [min, max]; an end may be a number, a tensor or None."""
    if type(min) in _PLAIN and type(max) in _PLAIN and type(input) is Tensor and input._array.dtype.kind == "f":
        if min is not None or max is not None:
            return limit.clamp_numbers(input, min, max, out=out)
    row, raised_, tensors, settings = _clamp_row("clamp", input, min, max)
    if out is input:
        check_clamped(raised_, input)
    return row(raised_, *tensors, *settings, out=out)


@composite("clip_")
def clamp_(self: Tensor, min: Any = None, max: Any = None) -> Tensor:
    """In-place :func:`clamp`."""
    if type(min) in _PLAIN and type(max) in _PLAIN and type(self) is Tensor and self._array.dtype.kind == "f":
        if min is not None or max is not None:
            return written(limit.clamp_numbers, self, settings=(min, max))
    row, raised_, tensors, settings = _clamp_row("clamp_", self, min, max)
    check_clamped(raised_, self)
    return written(row, self, *tensors, settings=settings)


def check_clamped(result: Tensor, self: Tensor) -> None:
    """Raise PyTorch's error where a tensor does not hold what it was clamped to by a number."""
    kind, wanted = result.dtype, self.dtype
    if not dtypes.can_cast(kind, wanted):
        shown = dtypes.c_name(wanted)
        raise RuntimeError(f"result type {kind.scalar_name} can't be cast to the desired output type {shown}")


def _one_sided(name: str, with_number: Any, with_tensor: Any) -> tuple[Any, Any]:
    end = name[6:]

    def function(input: Tensor, limit: Any, out: Any) -> Tensor:
        if is_number(limit):
            raised_ = raised(input, plain(limit), out)
            if out is input:
                check_clamped(raised_, input)
            return with_number(raised_, _end(limit, raised_), out=out)
        need_tensor(name, end, 2, limit)
        return with_tensor(input, limit, out=out)

    def in_place(self: Tensor, limit: Any) -> Tensor:
        if is_number(limit):
            writable.check_writable(self, False)
            if isinstance(limit, complex):
                raise NotImplementedError("clamp is not supported for complex types")
            check_clamped(raised(self, plain(limit)), self)
            return written(with_number, self, settings=(_end(limit, self),))
        return written(with_tensor, self, limit)

    return function, in_place


_clamp_min, _clamp_min_ = _one_sided("clamp_min", limit.clamp_min_number, limit.clamp_min_tensor)
_clamp_max, _clamp_max_ = _one_sided("clamp_max", limit.clamp_max_number, limit.clamp_max_tensor)


@composite()
def clamp_min(input: Tensor, min: Tensor | Number, *, out: Any = None) -> Tensor:
    """The elements, at least ``min``, a number or a tensor."""
    need_tensor("clamp_min", "input", 1, input)
    return _clamp_min(input, min, out)


@composite()
def clamp_max(input: Tensor, max: Tensor | Number, *, out: Any = None) -> Tensor:
    """The elements, at most ``max``, a number or a tensor."""
    need_tensor("clamp_max", "input", 1, input)
    return _clamp_max(input, max, out)


@composite()
def clamp_min_(self: Tensor, min: Tensor | Number) -> Tensor:
    """In-place :func:`clamp_min`."""
    return _clamp_min_(self, min)


@composite()
def clamp_max_(self: Tensor, max: Tensor | Number) -> Tensor:
    """In-place :func:`clamp_max`."""
    return _clamp_max_(self, max)


# -- two variables ---------------------------------------------------------------------------------------------------


@composite()
def copysign(input: Tensor, other: Any, *, out: Any = None) -> Tensor:
    """The sizes of ``input`` with the signs of ``other``, a tensor or a number."""
    if isinstance(input, Tensor) and is_number(other):
        return limit.copysign_number(raised(input, in_float(other), out), plain(other), out=out)
    if not (isinstance(input, Tensor) and isinstance(other, Tensor)):
        raise no_match("copysign", (input, other), *PAIR)
    return limit.copysign(input, other, out=out)


@composite()
def xlogy(input: Any, other: Any, *, out: Any = None) -> Tensor:
    """``input * log(other)``, zero where ``input`` is zero; one of them may be a number."""
    return of_two("xlogy", limit.xlogy, limit.xlogy_number, limit.xlogy_of_number, input, other, out)


@composite()
def ldexp(input: Any, other: Any, *, out: Any = None) -> Tensor:
    """``input`` times two to the power ``other``; a power of half precision is rounded to that first."""
    if isinstance(input, Tensor) and isinstance(other, Tensor) and input.dtype is not other.dtype:
        if input.dtype.is_floating_point and other.dtype.is_floating_point and other.dtype.itemsize == 2:
            return mul(input, limit.power_of_two(other), out=out)  # type: ignore[no-any-return]
    return limit.ldexp(input, other, out=out)


@composite()
def heaviside(input: Tensor, values: Tensor, *, out: Any = None) -> Tensor:
    """The step: zero below zero, one above, ``values`` at zero; not differentiable."""
    need_tensor("heaviside", "input", 1, input)
    need_tensor("heaviside", "values", 2, values)
    if isinstance(out, Tensor):
        limit.check_heaviside(input, values, out)
    return limit.heaviside(input, values, out=out)


copysign_ = number_aside(limit.copysign, limit.copysign_number, "copysign")
xlogy_ = number_aside(limit.xlogy, limit.xlogy_number, "xlogy", True)
