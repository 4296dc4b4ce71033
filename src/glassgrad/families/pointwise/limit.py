"""Limits: clamping, replacing what is not finite; degrees; signs; functions of two variables that are no arithmetic."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from ...core.row import COMPLEX, FLOATS, REALS, op
from ...core.tensor import Tensor
from ...ground import errors, meta
from ...ground.dtypes import element, need_float
from ...kernels.choose import keep
from ...kernels.columns import not_implemented
from ..compare.rows import either, where, zero_like
from ..shape.rows import on_arrays
from .rows import exp, exp2, log1p, single, together

_LN2, _NAN = math.log(2), math.nan
_F4, _F8 = np.dtype("f4"), np.dtype("f8")

# -- limits ----------------------------------------------------------------------------------------------------------


@op(node="ClampBackward1", inplace=True, public=False, out=errors.OUT_FOUND, batched="point")
def clamp_numbers(self: Any, /, min: Any = None, max: Any = None) -> Any:
    """The elements, those outside [min, max] replaced by the nearer end."""
    kind = self.dtype
    if min is None:
        return np.minimum(self, element(max, kind))
    if max is None:
        return np.maximum(self, element(min, kind))
    if (kind is _F4 or kind is _F8) and type(self) is np.ndarray and -3e38 < min and max < 3e38:
        number = kind.type
        return self.clip(number(min), number(max))[()]
    return np.minimum(np.maximum(self, element(min, kind)), element(max, kind))


clamp_numbers.derivative(self=lambda grad, self, min, max: within(grad, self, min, max))


@op(public=False, batched="point")
def within(grad_output: Any, self: Any, /, min: Any, max: Any) -> Any:
    """``grad_output`` where ``self`` lies in [min, max], zero elsewhere."""
    kind = self.dtype.type
    if min is None:
        inside = self <= kind(max)
    elif max is None:
        inside = self >= kind(min)
    else:
        inside = np.logical_and(self >= kind(min), self <= kind(max))
    return keep(inside, grad_output)


within.derivative(grad_output=lambda grad, self, min, max: within(grad, self, min, max))


def _no_clamp(end: str) -> Callable[..., NotImplementedError]:
    """What clamping at one end refuses."""

    def refusal(self: Any, *inputs: Any, **settings: Any) -> NotImplementedError:
        if self.dtype.kind == "u":
            return not_implemented(f"clamp_{end}_scalar_cpu", self)
        return NotImplementedError("clamp is not supported for complex types")

    return refusal


@op(
    node="ClampMinBackward0", inplace=True, public=False, serves=(REALS + "?", _no_clamp("min")), out=errors.OUT_FOUND,
    batched="point",
)  # fmt: skip
def clamp_min_number(self: Any, /, min: Any) -> Any:
    """The elements, at least ``min``."""
    if self.dtype.kind == "b":
        raise not_implemented("clamp_min_scalar_cpu", self)
    return np.maximum(self, element(min, self.dtype))


clamp_min_number.derivative(self=lambda grad, self, min: within(grad, self, min, None))


@op(
    node="ClampMaxBackward0", inplace=True, public=False, serves=(REALS + "?", _no_clamp("max")), out=errors.OUT_FOUND,
    batched="point",
)  # fmt: skip
def clamp_max_number(self: Any, /, max: Any) -> Any:
    """The elements, at most ``max``."""
    if self.dtype.kind == "b":
        raise not_implemented("clamp_max_scalar_cpu", self)
    return np.minimum(self, element(max, self.dtype))


clamp_max_number.derivative(self=lambda grad, self, max: within(grad, self, None, max))


@op(node="ClampBackward0", inplace=True, typed="promote", public=False, batched="point")
def clamp_tensors(self: Any, min: Any = None, max: Any = None, /) -> Any:
    """The elements, those outside [min, max] replaced by the nearer end, which wins where the ends cross."""
    kernel = "clamp_cpu" if min is not None is not max else "maximum_cpu" if max is None else "minimum_cpu"
    if self.dtype.kind == "c" or (self.dtype.kind == "b" and kernel == "clamp_cpu"):
        raise not_implemented(kernel, self)
    out = self if min is None else np.maximum(self, min)
    return out if max is None else np.minimum(out, max)


@clamp_tensors.derivative("self", "min", "max")
def passed_on(grad: Any, self: Any, min: Any, max: Any) -> Any:
    """To each element's gradient its owner: the element itself or the end that replaced it."""
    if min is None:
        return where(self <= max, grad, 0), None, where(self > max, grad, 0)
    if max is None:
        return where(self >= min, grad, 0), where(self < min, grad, 0), None
    inner = where(self >= min, where(self <= max, grad, 0), 0)
    lower = where(self < min, where(min < max, grad, 0), 0)
    return inner, lower, where(self > max, grad, where(max < min, grad, 0))


@clamp_tensors.row.tangent
def _passed_tangent(self: Any, min: Any, max: Any, self_t: Any, min_t: Any, max_t: Any) -> Any:
    """Of equal elements that of a single end, where the gradient goes to the element: both as in PyTorch."""
    if min is None:
        return either(self < max, self_t, max_t)
    if max is None:
        return either(self > min, self_t, min_t)
    return either(min > max, max_t, either(self < min, min_t, either(self > max, max_t, self_t)))


@op(
    node="ClampMinBackward1", inplace=True, typed="promote", public=False, serves=(REALS + "?", "maximum_cpu"),
    batched="point",
)  # fmt: skip
def clamp_min_tensor(self: Any, min: Any, /) -> Any:
    """The elements, at least those of ``min``."""
    return np.maximum(self, min)


clamp_min_tensor.derivative(
    self=lambda grad, self, min: where(self >= min, grad, 0),
    min=lambda grad, self, min: where(self < min, grad, 0),
)
clamp_min_tensor.row.tangent(lambda self, min, self_t, min_t: either(self >= min, self_t, min_t))


@op(
    node="ClampMaxBackward1", inplace=True, typed="promote", public=False, serves=(REALS + "?", "minimum_cpu"),
    batched="point",
)  # fmt: skip
def clamp_max_tensor(self: Any, max: Any, /) -> Any:
    """The elements, at most those of ``max``."""
    return np.minimum(self, max)


clamp_max_tensor.derivative(
    self=lambda grad, self, max: where(self <= max, grad, 0),
    max=lambda grad, self, max: where(self > max, grad, 0),
)
clamp_max_tensor.row.tangent(lambda self, max, self_t, max_t: either(self <= max, self_t, max_t))


@op(
    inplace=True, out="nan_to_num: dtype of out: {Found} should be same as input: {Wanted}",
    layout="elementwise", batched="point",
)  # fmt: skip
def nan_to_num(self: Any, /, nan: Any = None, posinf: Any = None, neginf: Any = None) -> Any:
    """The elements, NaN and the infinities replaced by numbers: zero and the dtype's limits, unless given."""
    for position, (name, value) in enumerate((("nan", nan), ("posinf", posinf), ("neginf", neginf)), 2):
        if value is not None:
            need_float("nan_to_num", name, position, value)
    if self.dtype.kind in "biu":
        return self.copy("K")
    if self.dtype.itemsize == 2:
        limit = float(np.finfo(self.dtype).max) if self.dtype.kind == "f" else 3.3895313892515355e38
        posinf, neginf = limit if posinf is None else posinf, -limit if neginf is None else neginf
        return single(lambda x: np.nan_to_num(x, True, 0.0 if nan is None else nan, posinf, neginf), self)
    return np.nan_to_num(self, True, 0.0 if nan is None else nan, posinf, neginf)[()]


nan_to_num.derivative(self=lambda grad, self: where(finite_mask(self), grad, 0))


@op(constant=True, public=False, batched="point")
def finite_mask(self: Any, /) -> Any:
    """Whether elements are finite numbers, for rules."""
    return np.isfinite(self)


@op(inplace=True, node="Deg2RadBackward0", typed="float", halves="single", widens=True, batched="point")
def deg2rad(self: Any, /) -> Any:
    """Degrees as radians."""
    if self.dtype.kind == "c":
        raise RuntimeError("deg2rad is not supported for complex tensors.")
    return self * self.dtype.type(math.pi / 180)


deg2rad.derivative(self=lambda grad: grad * _RADIANS)


@op(inplace=True, node="Rad2DegBackward0", typed="float", halves="single", widens=True, batched="point")
def rad2deg(self: Any, /) -> Any:
    """Radians as degrees."""
    if self.dtype.kind == "c":
        raise RuntimeError("rad2deg is not supported for complex tensors.")
    return self * self.dtype.type(180 / math.pi)


rad2deg.derivative(self=lambda grad: grad * _DEGREES)


_RADIANS, _DEGREES = math.pi / 180, 180 / math.pi


#: The columns of functions of real numbers, which whole ones are made.
_REAL: Any = {"inplace": True, "typed": "float", "batched": "point"}


# -- functions of two variables --------------------------------------------------------------------------------------


@op("arctan2", **_REAL, strict=True, serves=(FLOATS, "atan2_cpu"))
def atan2(self: Any, other: Any, /) -> Any:
    """The angle of the point (other, self), in (-pi, pi]."""
    return np.arctan2(self, other)


@atan2.derivative("self", "other")
def slopes_of_angle(grad: Any, self: Any, other: Any) -> Any:
    """The gradient times the point turned by a right angle, over its square; zero at the origin."""
    square = self * self + other * other
    shared = where(square == 0, 0, 1 / square)
    return grad * other * shared, grad * -self * shared


@op(inplace=True, typed="promote", strict=True, serves=(FLOATS, "hypot_cpu"), batched="point")
def hypot(self: Any, other: Any, /) -> Any:
    """The length of the hypotenuse over two sides."""
    return np.hypot(self, other)


hypot.derivative(
    self=lambda grad, self, result: grad * (self / result),
    other=lambda grad, other, result: grad * (other / result),
)


@op(**_REAL, strict=True, serves=(FLOATS, "copysign_cpu"))
def copysign(self: Any, other: Any, /) -> Any:
    """The sizes of ``self`` with the signs of ``other``."""
    return np.copysign(self, other)


copysign.derivative(
    self=lambda grad, self, result: grad * where(self == 0, 0, result / self),
    other=lambda grad: zero_like(grad),
)


@op(node="CopysignBackward1", inplace=True, public=False, serves=(REALS + "?", "copysign_cpu"), batched="point")
def copysign_number(self: Any, /, other: Any) -> Any:
    """The sizes of ``self`` with the sign of a number."""
    return np.copysign(self, self.dtype.type(other))


copysign_number.derivative(self=lambda grad, self, result: grad * where(self == 0, 0, result / self))


def refuse_heaviside(grad: Any) -> Any:
    """Raise PyTorch's error for the gradient of the step."""
    raise RuntimeError("derivative for aten::heaviside is not implemented")


_UNLIKE = "heaviside is not yet implemented for tensors with different dtypes."


def check_heaviside(*tensors: Any) -> None:
    """Raise PyTorch's error for complex tensors, and for several dtypes."""
    kinds = {operand._array.dtype for operand in tensors if isinstance(operand, Tensor)}
    if any(kind.kind == "c" for kind in kinds):
        raise RuntimeError("heaviside is not yet implemented for complex tensors.")
    if len(kinds) > 1:
        raise RuntimeError(_UNLIKE)


@op(
    node="torch::autograd::NotImplemented",
    inplace=True,
    ruleless=True,
    typed="promote",
    strict=True,
    refuses=check_heaviside,
    out=_UNLIKE,
    aligned=True,
    batched="point",
)
def heaviside(self: Any, values: Any, /) -> Any:
    """The step: zero below zero, one above, ``values`` at zero; not differentiable."""
    kind = self.dtype.type
    return np.where(self == 0, values, np.where(self > 0, kind(1), kind(0)))[()]


heaviside.derivative(self=refuse_heaviside, values=refuse_heaviside)


def _xlogy(self: Any, other: Any) -> Any:
    zero = np.logical_and(self == 0, other == other)
    return np.where(zero, self.dtype.type(0), self * np.log(np.where(zero, other.dtype.type(1), other)))[()]


@op(**_REAL, strict=True, serves=(FLOATS, "xlogy_cpu"))
def xlogy(self: Any, other: Any, /) -> Any:
    """``self * log(other)``, zero where ``self`` is zero."""
    return _xlogy(self, other)


xlogy.derivative(
    self=lambda grad, self, other: where(self == 0, where(other <= 0, 0, xlogy(grad, other)), xlogy(grad, other)),
    other=lambda grad, self, other: grad * self / other,
)


@op(node="XlogyBackward2", inplace=True, public=False, serves=(REALS + "?", "xlogy_cpu"), batched="point")
def xlogy_number(self: Any, /, other: Any) -> Any:
    """``self`` times the logarithm of a number, zero where ``self`` is zero."""
    return _xlogy(self, self.dtype.type(other))


xlogy_number.derivative(
    self=lambda grad, self, other: (
        xlogy_number(grad, other) if other > 0 else where(self == 0, 0, xlogy_number(grad, other))
    )
)


@op(node="XlogyBackward1", public=False, serves=(REALS + "?", "xlogy_cpu"), batched="point")
def xlogy_of_number(other: Any, /, self: Any) -> Any:
    """A number times the logarithms of ``other``, zero for the number zero."""
    return _xlogy(other.dtype.type(self), other)


xlogy_of_number.derivative(other=lambda grad, other, self: grad * self / other)


@op(typed="promote", strict=True, serves=(FLOATS + COMPLEX, "logaddexp_cpu"), batched="point")
def logaddexp(self: Any, other: Any, /) -> Any:
    """The logarithm of the sum of two exponentials."""
    return of_both(self, other) if self.dtype.kind == "c" else np.logaddexp(self, other)


def of_both(a: Any, b: Any) -> Any:
    """``log(exp(a) + exp(b))`` of complex numbers: as in PyTorch, how the larger real part is turned by the smaller."""
    is_less = a.real < b.real
    top, low = np.where(is_less, b, a), np.where(is_less, a, b)
    turned = top + log1p.row.kernel(np.exp(low - top))
    infinite = np.where(low.real < 0, low, np.log(np.exp(low) + np.exp(top)))
    return np.where(np.isinf(low.real) & (low.real == top.real), infinite, turned)[()]


logaddexp.derivative(
    self=lambda grad, self, other: grad / (exp(other - self) + 1),
    other=lambda grad, self, other: grad / (exp(self - other) + 1),
)


@op(typed="promote", strict=True, serves=(FLOATS, "logaddexp2_cpu"), batched="point")
def logaddexp2(self: Any, other: Any, /) -> Any:
    """The logarithm to base 2 of the sum of two powers of two."""
    return np.logaddexp2(self, other)


logaddexp2.derivative(
    self=lambda grad, self, other: grad / (exp2(other - self) + 1),
    other=lambda grad, self, other: grad / (exp2(self - other) + 1),
)


@op(inplace=True, typed="float", strict=True, halves="single", batched="point")
def ldexp(self: Any, other: Any, /) -> Any:
    """``self`` times two to the power ``other``."""
    return self * power_of_two.row.kernel(other)


ldexp.derivative(
    self=lambda grad, other: ldexp(grad, other),
    other=lambda grad, result: grad * (result * _LN2),
)


@op(public=False, batched="point")
def power_of_two(self: Any, /) -> Any:
    """Two to the power of each element, exact for whole numbers, as ``exp2`` is not."""
    return np.power(self.dtype.type(2), self)


power_of_two.derivative(self=lambda grad, result: grad * (result * _LN2))


# -- Signs, sizes and directions of real and complex numbers; rounding.

_I = 1j

# -- signs and sizes -------------------------------------------------------------------------------------------------


size_of = abs  # the name is the row's below


@op("absolute", inplace=True, holomorphic=False, ufunc=np.absolute, stores=True, out=errors.OUT_FOUND, batched="point")
def abs(self: Any, /) -> Any:
    """The absolute value."""
    if self.dtype.kind == "b":
        raise not_implemented("abs_cpu", self)
    return size_of(self)


abs.derivative(self=lambda grad, self: grad * sgn(self))


def _signs(a: Any) -> Any:
    """The signs of real numbers; NaN has none, so its is zero."""
    if a.dtype.kind not in "fV":
        return np.sign(a) if a.dtype.kind != "b" else a.copy("K")
    if a.size >= 16384:  # two comparisons are as fast as NumPy's sign, and NaN is neither above zero nor below
        above = np.greater(a, 0).view(np.int8)
        above -= np.less(a, 0).view(np.int8)
        return above.astype(a.dtype)
    signs = np.asarray(np.sign(a))
    signs[signs != signs] = 0
    return signs[()]


@op(inplace=True, holomorphic=False, out=errors.OUT_FOUND, batched="point")
def sgn(self: Any, /) -> Any:
    """The sign; of a complex number, the unit number of the same direction."""
    if self.dtype.kind == "c":
        size = np.abs(self)
        size = np.where(size == 0, size.dtype.type(1), size)
        return together(self.real / size, self.imag / size, self.dtype)
    return _signs(self)


@sgn.derivative("self")
def slope_of_sgn(grad: Any, self: Any, result: Any) -> Any:
    """The part of the gradient across the direction, over the size; for real numbers zero."""
    if not is_complex(self):
        return zero_like(grad)
    zero = self == 0
    return where(zero, 0, (grad - result * along(result, grad)) / abs(where(zero, 1, self)))


@on_arrays(lambda a: a.dtype.kind == "c")
def is_complex(a: Any) -> bool:
    """Whether the elements are complex."""
    return a._array.dtype.kind == "c"  # type: ignore[no-any-return]


@op(inplace=True, out=errors.OUT_FOUND, batched="point")
def sign(self: Any, /) -> Any:
    """The sign: -1, 0 or 1."""
    if self.dtype.kind == "c":
        raise NotImplementedError(
            "Unlike NumPy, torch.sign is not intended to support complex numbers. Please use torch.sgn instead."
        )
    return _signs(self)


sign.derivative(self=lambda grad: zero_like(grad))


@op(view=True, holomorphic=False, public=False, batched="first")
def real(self: Any, /) -> Any:
    """The real part, a view."""
    return meta.marked(self[...].real, self) if self.dtype.kind == "c" else self[...]


real.derivative(self=lambda grad: complex_from(grad, zero_like(grad)))


@op(holomorphic=False, public=False, batched="point")
def conj(self: Any, /) -> Any:
    """The complex conjugate."""
    return np.conj(self)


conj.derivative(self=lambda grad: conj(grad))


@op(holomorphic=False, out=errors.OUT_FOUND, batched="point")
def conj_physical(self: Any, /) -> Any:
    """The complex conjugate."""
    return np.conj(self) if self.dtype.kind == "c" else self.copy("K")


conj_physical.derivative(self=lambda grad: conj_physical(grad))


@op(node="ConjPhysicalBackward1", holomorphic=False, public=False, batched="point")
def conj_physical_inplace(self: Any, /) -> Any:
    """What ``conj_physical_`` makes of a tensor."""
    return np.conj(self)


conj_physical_inplace.derivative(self=lambda grad: conj_physical(grad))


#: The columns of what makes complex numbers of two real ones.
_OF_PARTS: Any = {
    "typed": "promote", "public": False, "holomorphic": False,
    "out": "Expected object of scalar type {Wanted} but got scalar type {Found} for argument 'out'", "aligned": True,
    "layout": "elementwise", "batched": "point",
}  # fmt: skip


@op(node="ComplexBackward0", **_OF_PARTS)
def complex_from(real: Any, imag: Any, /) -> Any:
    """The complex number of a real and an imaginary part."""
    out = np.empty(np.broadcast_shapes(real.shape, imag.shape), np.result_type(real.dtype, np.complex64))
    out.real, out.imag = real, imag
    return out[()]


complex_from.derivative(real=lambda grad: real(grad), imag=lambda grad: real(grad * -_I))


@op(**_OF_PARTS, serves=("fd", "polar_cpu"))
def polar(abs: Any, angle: Any, /) -> Any:
    """The complex number of a size and an angle."""
    return complex_from.row.kernel(abs * np.cos(angle), abs * np.sin(angle))


polar.derivative(
    abs=lambda grad, result: along(sgn(result), grad),
    angle=lambda grad, result: along(result * _I, grad),
)


@polar.row.tangent
def _polar_tangent(angle: Any, abs_t: Any, angle_t: Any, result: Any) -> Any:
    """Along the size that of the direction, which there is at zero too, and where the size's tangent is negative."""
    turned = None if angle_t is None else result * _I * angle_t
    grown = None if abs_t is None else exp(angle * _I) * abs_t
    return turned if grown is None else grown if turned is None else grown + turned


@op(holomorphic=False, public=False, batched="point")
def along(self: Any, other: Any, /) -> Any:
    """The real part of ``other`` times the conjugate of ``self``."""
    return (np.conj(self) * other).real


along.derivative(self=lambda grad, other: grad * other, other=lambda grad, self: grad * self)


@op(node="AngleBackward0", typed="float", holomorphic=False, public=False, layout="plain", batched="point")
def angle_of_complex(self: Any, /) -> Any:
    """The angle in radians."""
    return np.arctan2(self.imag, self.real)


angle_of_complex.derivative(self=lambda grad, self: where(self == 0, 0, grad * (self * _I) / (abs(self) * abs(self))))


@op(typed="float", public=False, batched="point")
def angle(self: Any, /) -> Any:
    """The angle of a real number: 0 or pi (NaN stays)."""
    return np.where(self < 0, self.dtype.type(math.pi), np.where(self != self, self, self.dtype.type(0)))[()]


angle.derivative(self=lambda grad: zero_like(grad))
