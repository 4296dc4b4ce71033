"""Comparisons, logic and choices between tensors: rows whose results are masks, and those that read masks."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...core.row import REALS, op
from ...core.tensor import Tensor
from ...ground.dtypes import called
from ...kernels.choose import choose, drop
from ...kernels.columns import not_implemented
from ...ops.declare import named

ndarray = np.ndarray


@op(constant=True, public=False, batched="point")
def zero_like(self: Any, /) -> Any:
    """Zeros of the shape and dtype of ``self``: the gradient of whatever is flat."""
    return np.zeros_like(self) if type(self) is ndarray else self.dtype.type(0)


def number_first(self: Any, other: Any) -> None:
    """Raise TypeError for a number in front, where PyTorch has only tensors."""
    if not isinstance(self, Tensor):
        raise TypeError(f"argument 'input' (position 1) must be Tensor, not {called(self)}")


# -- comparisons -----------------------------------------------------------------------------------------------------


@op(operator="eq", constant=True, typed="promote", refuses=number_first, stores=True, batched="point")
def eq(self: Any, other: Any, /) -> Any:
    """Whether elements are equal."""
    return self == other


@op("not_equal", operator="ne", constant=True, typed="promote", refuses=number_first, stores=True, batched="point")
def ne(self: Any, other: Any, /) -> Any:
    """Whether elements differ."""
    return self != other


#: The columns of what needs an order.
_ORDER: Any = {"refuses": number_first, "constant": True, "typed": "promote", "batched": "point"}


@op("less", operator="lt", **_ORDER, serves=(REALS + "?", "lt_cpu"))
def lt(self: Any, other: Any, /) -> Any:
    """Whether elements are less than those of ``other``."""
    return self < other


@op("less_equal", operator="le", **_ORDER, serves=(REALS + "?", "le_cpu"))
def le(self: Any, other: Any, /) -> Any:
    """Whether elements are at most those of ``other``."""
    return self <= other


@op("greater", operator="gt", **_ORDER, serves=(REALS + "?", "gt_cpu"))
def gt(self: Any, other: Any, /) -> Any:
    """Whether elements are greater than those of ``other``."""
    return self > other


@op("greater_equal", operator="ge", **_ORDER, serves=(REALS + "?", "ge_cpu"))
def ge(self: Any, other: Any, /) -> Any:
    """Whether elements are at least those of ``other``."""
    return self >= other


def _written(compared: Any, node: str, with_number: bool) -> Any:
    """The row behind ``eq_`` and its like: a comparison written over its first operand, whose gradient is zero."""
    if with_number:

        def kernel(self: Any, /, other: Any) -> Any:
            return compared.row.kernel(self, other)
    else:

        def kernel(self: Any, other: Any, /) -> Any:  # type: ignore[misc]
            return compared.row.kernel(self, other)

    kernel.__name__ = f"{compared.row.name}_{'number_' if with_number else ''}written"
    kernel.__doc__ = compared.row.kernel.__doc__
    row = op(node=node, public=False, typed=None if with_number else "promote", truth=True, batched="point")(kernel)
    row.derivative(self=lambda grad: zero_like(grad))
    if not with_number:
        row.derivative(other=lambda grad: zero_like(grad))
    return row


#: name of a comparison -> the rows that write it in place: over a number, over a tensor
WRITTEN = {
    name: (_written(row, f"{name.capitalize()}Backward0", True), _written(row, f"{name.capitalize()}Backward1", False))
    for name, row in (("eq", eq), ("ne", ne), ("lt", lt), ("le", le), ("gt", gt), ("ge", ge))
}

# -- logic -----------------------------------------------------------------------------------------------------------


def _logical(name: str, ufunc: Any, says: str) -> Any:
    @op(inplace=True, constant=True, truth=True, typed="promote", strict=True, batched="point")
    @named(name, says=says)
    def function(self: Any, other: Any, /) -> Any:
        """{says}"""
        return ufunc(self, other)

    return function


logical_and = _logical("logical_and", np.logical_and, "Whether both elements are nonzero.")
logical_or = _logical("logical_or", np.logical_or, "Whether at least one of the elements is nonzero.")
logical_xor = _logical("logical_xor", np.logical_xor, "Whether just one of the elements is nonzero.")


@op(inplace=True, constant=True, batched="point")
def logical_not(self: Any, /) -> Any:
    """Whether elements are zero."""
    return np.logical_not(self)


# -- kinds of numbers ------------------------------------------------------------------------------------------------


_ONLY_BOOLEAN = "{name} does not support non-boolean outputs."


def _never(self: Any) -> Any:
    return np.zeros_like(self, np.bool_) if type(self) is ndarray else np.False_


@op(constant=True, stores=True, out=None, batched="point")
def isnan(self: Any, /) -> Any:
    """Whether elements are not a number."""
    return self != self


@op(constant=True, out=None, batched="point")
def isinf(self: Any, /) -> Any:
    """Whether elements are infinite."""
    return np.isinf(self)


@op(constant=True, out=None, batched="point")
def isfinite(self: Any, /) -> Any:
    """Whether elements are finite numbers."""
    return np.isfinite(self)


@op(constant=True, out=_ONLY_BOOLEAN, batched="point")
def isposinf(self: Any, /) -> Any:
    """Whether elements are positive infinity."""
    if self.dtype.kind == "c":
        raise RuntimeError("isposinf does not support complex inputs.")
    return _never(self) if self.dtype.kind in "biu" else self == np.inf


@op(constant=True, out=_ONLY_BOOLEAN, batched="point")
def isneginf(self: Any, /) -> Any:
    """Whether elements are negative infinity."""
    if self.dtype.kind == "c":
        raise RuntimeError("isneginf does not support complex inputs.")
    return _never(self) if self.dtype.kind in "biu" else self == -np.inf


@op(constant=True, out=None, layout="elementwise", batched="point")
def isreal(self: Any, /) -> Any:
    """Whether elements have no imaginary part."""
    return self.imag == 0 if self.dtype.kind == "c" else np.logical_not(_never(self))


@op(constant=True, out=_ONLY_BOOLEAN, batched="point")
def signbit(self: Any, /) -> Any:
    """Whether the sign bit is set: negative numbers and -0.0."""
    kind = self.dtype.kind
    if kind == "c":
        raise NotImplementedError("signbit is not implemented for complex tensors.")
    return _never(self) if kind in "bu" else self < 0 if kind == "i" else np.signbit(self)


# -- choices ---------------------------------------------------------------------------------------------------------


@op(
    typed="promote",
    auxiliary=("condition",),
    stores=True,
    out="Expected out type to be {Wanted} but got {Found}",
    aligned=True,
    forward="linear",
    batched="point",
)
def where(condition: Any, self: Any, other: Any, /) -> Any:
    """``self`` where ``condition`` holds, ``other`` elsewhere, with broadcasting."""
    if condition.dtype.kind != "b":
        condition = condition != 0
    if type(other) is int:  # a rule's zero
        if not other and condition.shape == self.shape:
            return drop(np.logical_not(condition), self)
        other = self.dtype.type(other)
    elif type(other) is float:
        other = self.dtype.type(other)
    elif type(self) is int:
        if not self and condition.shape == other.shape:
            return drop(condition, other)
        self = other.dtype.type(self)
    elif type(self) is float:
        self = other.dtype.type(self)
    return choose(condition, self, other)


where.derivative(
    self=lambda grad, condition: where(condition, grad, 0),
    other=lambda grad, condition: where(condition, 0, grad),
)


def either(condition: Any, first: Any, second: Any) -> Any:
    """One tangent where ``condition`` holds, the other elsewhere; None stands for zero."""
    if first is None and second is None:
        return None
    return where(condition, 0 if first is None else first, 0 if second is None else second)


@op(typed="promote", public=False, batched="point")
def share(grad_output: Any, self: Any, other: Any, /) -> Any:
    """``grad_output`` where ``self`` exceeds ``other`` (or one is NaN), half of it where they are equal, else zero."""
    lost = drop(self < other, grad_output)
    tied = self == other
    if not np.count_nonzero(tied):
        return lost
    return choose(tied, lost * grad_output.dtype.type(0.5), lost)


share.derivative(grad_output=lambda grad, self, other: share(grad, self, other))


def _extreme(name: str, function: Any, says: str, **columns: Any) -> Any:
    def refusal(self: Any, other: Any) -> Exception:
        if self.dtype.kind == "u":
            return not_implemented(f"{name.replace('fm', 'm')[:3]}imum_cpu", self)
        return RuntimeError(f"{name} not implemented for complex tensors.")

    @op(typed="promote", strict=True, serves=(REALS + "?", refusal), batched="point", **columns)
    @named(name, says=says)
    def extreme(self: Any, other: Any, /) -> Any:
        """{says}"""
        return function(self, other)

    return extreme


def _extreme_tangent(is_chosen: Any, is_tied: Any, self_t: Any, other_t: Any) -> Any:
    """Of equal elements the mean; beside NaN that of ``other``, where the gradient goes to both: as in PyTorch."""
    mean = other_t * 0.5 if self_t is None else self_t * 0.5 if other_t is None else (self_t + other_t) * 0.5
    return either(is_tied, mean, either(is_chosen, self_t, other_t))


maximum = _extreme("maximum", np.maximum, "The greater of two elements; NaN if one is.", ufunc=np.maximum)
maximum.derivative(
    self=lambda grad, self, other: share(grad, self, other),
    other=lambda grad, self, other: share(grad, other, self),
)
maximum.row.tangent(lambda self, other, self_t, other_t: _extreme_tangent(self > other, self == other, self_t, other_t))


minimum = _extreme("minimum", np.minimum, "The lesser of two elements; NaN if one is.", ufunc=np.minimum)
minimum.derivative(
    self=lambda grad, self, other: share(grad, other, self),
    other=lambda grad, self, other: share(grad, self, other),
)
minimum.row.tangent(lambda self, other, self_t, other_t: _extreme_tangent(self < other, self == other, self_t, other_t))


@op(constant=True, typed="promote", strict=True, public=False, batched="point")
def fmax_mask(self: Any, other: Any, /) -> Any:
    """Whether ``fmax`` takes the element of ``self``."""
    return np.logical_or(self >= other, other != other)


@op(constant=True, typed="promote", strict=True, public=False, batched="point")
def fmin_mask(self: Any, other: Any, /) -> Any:
    """Whether ``fmin`` takes the element of ``self``."""
    return np.logical_or(self <= other, other != other)


fmax = _extreme("fmax", np.fmax, "The greater of two elements; the other one where one is NaN.")
fmax.derivative(
    self=lambda grad, self, other: where(fmax_mask(self, other), grad, 0),
    other=lambda grad, self, other: where(fmax_mask(self, other), 0, grad),
)


@fmax.row.tangent
def _fmax_tangent(self: Any, other: Any, self_t: Any, other_t: Any) -> Any:
    """Of equal elements that of ``other``, where the gradient goes to ``self``: both as in PyTorch."""
    return either(logical_or(self > other, other != other), self_t, other_t)


fmin = _extreme("fmin", np.fmin, "The lesser of two elements; the other one where one is NaN.")
fmin.derivative(
    self=lambda grad, self, other: where(fmin_mask(self, other), grad, 0),
    other=lambda grad, self, other: where(fmin_mask(self, other), 0, grad),
)
