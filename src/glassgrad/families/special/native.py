"""The error and gamma functions' kin, compiled: without a branch, so that LLVM works on eight numbers at once.

The gamma functions and ``erfc`` are computed in float64 for float32 too, where float32 would lose digits. Negative
numbers are reflected: ``r``, how far they are from the nearest whole number, is exact where ``sin(pi x)`` would not be.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from glassgrad.families.special import kernels as c

from ...kernels.native.binding import inlined, intrinsic
from ...kernels.native.each import F4, each
from ...kernels.native.mathematics import either, erf64, exp64, like, log, log64, pick

f4, f8 = np.float32, np.float64
_INF, _NAN = f8(np.inf), f8(np.nan)
_NOUGHT4, _ONE4, _INF4, _NAN4 = f4(0), f4(1), f4(np.inf), f4(np.nan)
_WHOLE = f8(2.0**52)  # from here on there are no fractions; added to what is below, it rounds


def _series(coefficients: tuple[Any, ...]) -> Any:
    """A polynomial with these coefficients, the constant first, as Horner's scheme of its even and its odd half."""

    def value(typing: Any, x: Any) -> Any:
        def code(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            (operand,) = arguments
            free = ("contract",)

            def horner(at: Any, powers: tuple[Any, ...]) -> Any:
                total = operand.type(float(powers[-1]))
                for power in powers[-2::-1]:
                    product = builder.fmul(total, at, flags=free)
                    total = builder.fadd(product, operand.type(float(power)), flags=free)
                return total

            if len(coefficients) < 8:
                return horner(operand, coefficients)
            square = builder.fmul(operand, operand)
            odd = builder.fmul(horner(square, coefficients[1::2]), operand, flags=free)
            return builder.fadd(odd, horner(square, coefficients[::2]), flags=free)

        return x(x), code

    return intrinsic(value)


def _rest(typing: Any, x: Any, square: Any) -> Any:
    """What rounding took from the square of x."""

    def code(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        x, square = arguments
        return builder.fma(x, x, builder.fneg(square))

    return x(x, x), code


_rest_of_square: Any = intrinsic(_rest)


def _part(function: Any) -> Any:
    return inlined(function, strict=True)


# -- the error function ------------------------------------------------------------------------------------------------

_scaled_tail, _inverse_ratio = _series(c.SCALED_TAIL), _series(c.INVERSE_RATIO)
_top, _bottom = _series(c.ERF_TOP), _series(c.ERF_BOTTOM)
_SLOPE = f8(2 / np.sqrt(np.pi))


@_part
def erf32(x: Any) -> Any:
    """The error function of a float32: a quotient in its square."""
    z = pick(x > f4(4), f4(4), x)  # where the quotient is above one
    z = pick(z < f4(-4), f4(-4), z)
    s = z * z
    value = z * _top(s) / _bottom(s)
    value = pick(value > _ONE4, _ONE4, value)
    return pick(value < -_ONE4, -_ONE4, value)


@_part
def erfc64(x: Any) -> Any:
    """One minus the error function."""
    t = abs(x)
    t = pick(t > 28.0, 28.0, t)
    square = t * t
    bell = exp64(-square) * (1.0 - _rest_of_square(t, square))
    above, linear = t + c.MIDDLE_OF_TAIL, 1.0 + 2.0 * t
    inverse = 1.0 / (above * linear)  # one division for two
    tail = _scaled_tail((t - c.MIDDLE_OF_TAIL) * (linear * inverse)) * (bell * (above * inverse))
    return pick(x < 0.0, 2.0 - tail, tail)


@_part
def _erfinv_estimate(x: Any) -> Any:
    """The inverse of the error function to eight digits."""
    one = like(1, x)
    root = np.sqrt(like(4, x) - log((one - x) * (one + x)))
    return x * _inverse_ratio((root - like(4.25, x)) * like(1 / 2.25, x))


@_part
def erfinv32(x: Any) -> Any:
    """The inverse of the error function of a float32."""
    size = abs(x)
    inverse = _erfinv_estimate(pick(size < _ONE4, x, _NOUGHT4))
    inverse = pick(size == _ONE4, f4(np.copysign(_INF4, x)), inverse)
    return pick(size <= _ONE4, inverse, _NAN4)


@_part
def erfinv64(x: Any) -> Any:
    """The inverse of the error function of a float64: one step of Halley's, on the side where nothing cancels."""
    size = abs(x)
    v = pick(size < 1.0, size, 0.0)
    z = _erfinv_estimate(v)
    miss = pick(v < 0.5, erf64(z) - v, (1.0 - v) - erfc64(z))
    step = miss / (_SLOPE * exp64(-(z * z)))
    inverse = np.copysign(z - step / (1.0 + z * step), x)
    inverse = pick(size == 1.0, np.copysign(_INF, x), inverse)
    return pick(size <= 1.0, inverse, _NAN)


erfinv_of = either(erfinv32, erfinv64)


# -- the gamma function ------------------------------------------------------------------------------------------------

_log_gamma, _log_gamma_series = _series(c.LOG_GAMMA), _series(c.LOG_GAMMA_SERIES)
_digamma, _digamma_series = _series(c.DIGAMMA), _series(c.DIGAMMA_SERIES)
_trigamma, _trigamma_series = _series(c.TRIGAMMA), _series(c.TRIGAMMA_SERIES)
_sine, _cosine = _series(c.SINE), _series(c.COSINE)


@_part
def _fraction(size: Any) -> Any:
    """How far a positive number is from the nearest whole one; exact."""
    small = pick(size < _WHOLE, size, 0.0)
    return small - ((small + _WHOLE) - _WHOLE)


@_part
def lgamma64(x: Any) -> Any:
    """The logarithm of the absolute value of the gamma function."""
    size = abs(x)
    below = x < 1.0
    z = pick(below, 1.0 + size, x)
    less = pick(below, size, x - 1.0)
    ratio = (z - c.MIDDLE_OF_LOG_GAMMA) / (z + c.MIDDLE_OF_LOG_GAMMA)
    near = less * (less - 1.0) * _log_gamma(ratio)
    far = pick(z < 8.0, 8.0, z)
    inverse = 1.0 / far
    far = (far - 0.5) * (log64(far) - 1.0) + (c.STIRLING + inverse * _log_gamma_series(inverse * inverse))
    value = pick(z < 8.0, near, far)
    r = _fraction(size)
    taken = log64(pick(x < 0.0, abs(r * _sine(r * r)), pick(below, size, 1.0)))
    value = pick(x < 0.0, -value, value) - taken
    return pick(size == _INF, _INF, value)


@_part
def digamma64(x: Any) -> Any:
    """The derivative of lgamma."""
    size = abs(x)
    below = x < 1.0
    z = pick(below, 1.0 + size, x)
    ratio = (z - c.MIDDLE_OF_DIGAMMA) / (z + c.MIDDLE_OF_DIGAMMA)
    near = ((z - c.ROOT) - c.ROOT_REST) * _digamma(ratio)
    far = pick(z < 10.0, 10.0, z)
    inverse = 1.0 / far
    square = inverse * inverse
    far = log64(far) - 0.5 * inverse - square * _digamma_series(square)
    r = _fraction(size)
    square = r * r
    mirrored = pick(r == 0.0, _NAN, _cosine(square) / (r * _sine(square)))
    added = pick(x < 0.0, mirrored, -1.0 / x)
    return pick(z < 10.0, near, far) + pick(below, added, 0.0)


@_part
def trigamma64(x: Any) -> Any:
    """The derivative of digamma."""
    size = abs(x)
    below = x < 1.0
    z = pick(below, 1.0 + size, x)
    near = _trigamma((z - c.MIDDLE_OF_DIGAMMA) / (z + c.MIDDLE_OF_DIGAMMA)) / z
    inverse = 1.0 / pick(z < 10.0, 10.0, z)
    square = inverse * inverse
    far = inverse * (1.0 + 0.5 * inverse + square * _trigamma_series(square))
    value = pick(z < 10.0, near, far)
    r = _fraction(size)
    part = pick(x < 0.0, r * _sine(r * r), x)
    value = pick(x < 0.0, -value, value) + pick(below, 1.0 / (part * part), 0.0)
    return pick(x == -_INF, _NAN, value)


# -- over arrays -------------------------------------------------------------------------------------------------------


@each()
def _erf32(x: Any) -> Any:
    return erf32(x)


@each(cost=4)
def _erf64(x: Any) -> Any:
    return erf64(x)


def erf(x: Any) -> Any:
    """The error function."""
    return _erf32(x) if x.dtype == F4 else _erf64(x)


@each(cost=4)
def erfc(x: Any) -> Any:
    """One minus the error function."""
    return erfc64(f8(x))


@each(cost=4)
def erfinv(x: Any) -> Any:
    """The inverse of the error function."""
    return erfinv_of(x)


@each(cost=4)
def lgamma(x: Any) -> Any:
    """The logarithm of the absolute value of the gamma function."""
    return lgamma64(f8(x))


@each(cost=4)
def digamma(x: Any) -> Any:
    """The derivative of lgamma."""
    return digamma64(f8(x))


@each(cost=4)
def trigamma(x: Any) -> Any:
    """The derivative of digamma."""
    return trigamma64(f8(x))
