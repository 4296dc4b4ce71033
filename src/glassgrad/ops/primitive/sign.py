"""Signs, sizes and directions of real and complex numbers; rounding."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ...core.row import op
from .compare import unsupported, where, zero_like
from .pointwise import single

_I = 1j

# -- signs and sizes -------------------------------------------------------------------------------------------------


size_of = abs  # the name is the row's below


@op("absolute", inplace=True, holomorphic=False, ufunc=np.absolute)
def abs(self: Any, /) -> Any:
    """The absolute value."""
    if self.dtype.kind == "b":
        raise unsupported("abs_cpu", self)
    return size_of(self)


abs.derivative(self=lambda grad, self: grad * sgn(self))


@op(inplace=True, holomorphic=False)
def sgn(self: Any, /) -> Any:
    """The sign; of a complex number, the unit number of the same direction."""
    return np.sign(self) if self.dtype.kind != "b" else self.copy()


@sgn.derivative("self")
def slope_of_sgn(grad: Any, self: Any, result: Any) -> Any:
    """The part of the gradient across the direction, over the size; for real numbers zero."""
    return where(self == 0, 0, (grad - result * along(result, grad)) / abs(self))


@op(inplace=True)
def sign(self: Any, /) -> Any:
    """The sign: -1, 0 or 1."""
    kind = self.dtype.kind
    if kind == "c":
        raise NotImplementedError(
            "Unlike NumPy, torch.sign is not intended to support complex numbers. Please use torch.sgn instead."
        )
    if kind == "f":
        return np.where(self != self, self.dtype.type(0), np.sign(self))[()]
    return np.sign(self) if kind != "b" else self.copy()


sign.derivative(self=lambda grad: zero_like(grad))


@op(view=True, holomorphic=False, public=False)
def real(self: Any, /) -> Any:
    """The real part, a view."""
    return self[...].real if self.dtype.kind == "c" else self[...]


real.derivative(self=lambda grad: complex_from(grad, zero_like(grad)))


@op(holomorphic=False, public=False)
def conj(self: Any, /) -> Any:
    """The complex conjugate."""
    return np.conj(self)


conj.derivative(self=lambda grad: conj(grad))


@op(inplace=True, holomorphic=False)
def conj_physical(self: Any, /) -> Any:
    """The complex conjugate."""
    return np.conj(self) if self.dtype.kind == "c" else self.copy()


conj_physical.derivative(self=lambda grad: conj_physical(grad))


@op(node="ComplexBackward0", typed="promote", holomorphic=False, public=False)
def complex_from(real: Any, imag: Any, /) -> Any:
    """The complex number of a real and an imaginary part."""
    out = np.empty(np.broadcast_shapes(real.shape, imag.shape), np.result_type(real.dtype, np.complex64))
    out.real, out.imag = real, imag
    return out[()]


complex_from.derivative(real=lambda grad: real(grad), imag=lambda grad: real(grad * -_I))


@op(typed="promote", holomorphic=False, public=False)
def polar(abs: Any, angle: Any, /) -> Any:
    """The complex number of a size and an angle."""
    return complex_from.row.kernel(abs * np.cos(angle), abs * np.sin(angle))


polar.derivative(
    abs=lambda grad, result: along(sgn(result), grad),
    angle=lambda grad, result: along(result * _I, grad),
)


@op(holomorphic=False, public=False)
def along(self: Any, other: Any, /) -> Any:
    """The real part of ``other`` times the conjugate of ``self``."""
    return (np.conj(self) * other).real


along.derivative(self=lambda grad, other: grad * other, other=lambda grad, self: grad * self)


@op(node="AngleBackward0", typed="float", holomorphic=False, public=False)
def angle_of_complex(self: Any, /) -> Any:
    """The angle in radians."""
    return np.arctan2(self.imag, self.real)


angle_of_complex.derivative(self=lambda grad, self: where(self == 0, 0, grad * (self * _I) / (abs(self) * abs(self))))


@op(typed="float", public=False)
def angle(self: Any, /) -> Any:
    """The angle of a real number: 0 or pi (NaN stays)."""
    return np.where(self < 0, self.dtype.type(math.pi), np.where(self != self, self, self.dtype.type(0)))[()]


angle.derivative(self=lambda grad: zero_like(grad))


# -- rounding --------------------------------------------------------------------------------------------------------


def _rounding(function: Any, name: str) -> Any:
    def serve(self: Any) -> Any:
        kind = self.dtype.kind
        if kind == "c" and name != "round_vml_cpu":
            raise NotImplementedError(f"{name[:-8]} is not supported for complex inputs")
        if kind in "bc":
            raise unsupported(name, self)
        return self.copy() if kind in "iu" else function(self)

    return serve


_floor, _ceil = _rounding(np.floor, "floor_vml_cpu"), _rounding(np.ceil, "ceil_vml_cpu")
_trunc, _rint = _rounding(np.trunc, "trunc_vml_cpu"), _rounding(np.rint, "round_vml_cpu")


@op(inplace=True)
def floor(self: Any, /) -> Any:
    """The greatest integer not above."""
    return _floor(self)


floor.derivative(self=lambda grad: zero_like(grad))


@op(inplace=True)
def ceil(self: Any, /) -> Any:
    """The least integer not below."""
    return _ceil(self)


ceil.derivative(self=lambda grad: zero_like(grad))


@op("fix", inplace=True)
def trunc(self: Any, /) -> Any:
    """The integer part."""
    return _trunc(self)


trunc.derivative(self=lambda grad: zero_like(grad))


@op(inplace=True)
def round(self: Any, /) -> Any:
    """The nearest integer; halves go to the even one."""
    return _rint(self)


round.derivative(self=lambda grad: zero_like(grad))


@op(node="RoundBackward1", inplace=True, public=False)
def round_decimals(self: Any, /, decimals: Any) -> Any:
    """Rounded to so many decimal places, or to tens, hundreds ... for negative ones."""
    if self.dtype.kind != "f" and self.dtype.kind != "V":
        raise unsupported("round_cpu", self)
    if self.dtype.itemsize == 2:
        return single(lambda x: round_decimals.row.kernel(x, decimals), self)
    power = self.dtype.type(10.0 ** (decimals if decimals > 0 else -decimals))
    return np.rint(self / power) * power if decimals < 0 else np.rint(self * power) / power


round_decimals.derivative(self=lambda grad: zero_like(grad))


@op(inplace=True)
def frac(self: Any, /) -> Any:
    """The part behind the point, with the sign of the number."""
    if self.dtype.kind in "biuc":
        raise unsupported("frac_cpu", self)
    return self - np.trunc(self)


frac.derivative(self=lambda grad: grad)
