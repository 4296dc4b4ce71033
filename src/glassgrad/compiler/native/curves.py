"""Curves that formulas name and that are longer than an expression: gelu, exact and by a hyperbolic tangent."""

from __future__ import annotations

import math
from typing import Any

from ...kernels.native.binding import inlined
from ...kernels.native.mathematics import exp, like, normal

_PER_ROOT_2PI = 1 / math.sqrt(2 * math.pi)
_TANH_SCALE, _CUBIC = math.sqrt(2 / math.pi), 0.044715


@inlined
def gelu(x: Any) -> Any:
    """x times the normal distribution function of x."""
    return x * normal(x)


@inlined
def gelu_slope(x: Any) -> Any:
    """The slope of ``gelu``."""
    return normal(x) + x * (exp(x * x * like(-0.5, x)) * like(_PER_ROOT_2PI, x))


@inlined
def _half(u: Any) -> Any:
    """Half of one and the tangent of u, without a difference of near numbers; and the exponential it is made of."""
    e = exp(like(-2, u) * abs(u))
    per = like(1, u) / (like(1, u) + e)
    return per if u > like(0, u) else e * per, e * per * per


@inlined
def gelu_tanh(x: Any) -> Any:
    """``gelu`` by way of a hyperbolic tangent."""
    above, _ = _half(like(_TANH_SCALE, x) * (x + like(_CUBIC, x) * x * x * x))
    return x * above


@inlined
def gelu_tanh_slope(x: Any) -> Any:
    """The slope of ``gelu_tanh``."""
    square = x * x
    above, rise = _half(like(_TANH_SCALE, x) * (x + like(_CUBIC, x) * square * x))
    inner = like(_TANH_SCALE, x) * (like(1, x) + like(3 * _CUBIC, x) * square)
    return above + like(2, x) * x * rise * inner


CURVES = {"gelu": gelu, "gelu_slope": gelu_slope, "gelu_tanh": gelu_tanh, "gelu_tanh_slope": gelu_tanh_slope}
