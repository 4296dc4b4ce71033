"""Bessel's functions of orders 0 and 1 and Airy's, elementwise: those with slopes in PyTorch, and those without."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ...core.row import op
from ...kernels import scipy_special, special
from .compare import unsupported, where
from .pointwise import single
from .sign import abs, sgn


def _served(function: Any, name: str, half: bool = False) -> Callable[[Any], Any]:
    """``function`` for the real floats that PyTorch serves; half precision, where it does, by way of float32."""

    def serve(self: Any) -> Any:
        if self.dtype.kind == "c" or (self.dtype.itemsize == 2 and not half):
            raise unsupported(name, self)
        return function(self) if self.dtype.itemsize > 2 else single(function, self)

    return serve


_i0, _i0e = _served(special.i0, "i0_vml_cpu", True), _served(scipy_special.i0e, "i0e_cpu", True)
_i1, _i1e = _served(scipy_special.i1, "i1_cpu", True), _served(scipy_special.i1e, "i1e_cpu", True)


@op(inplace=True, typed="float")
def i0(self: Any, /) -> Any:
    """The modified Bessel function of the first kind, order 0.

    Source: https://docs.pytorch.org/docs/stable/special.html#torch.special.i0
    """
    return _i0(self)


i0.derivative(self=lambda grad, self: grad * special_i1(self))


@op(node="SpecialI0EBackward0", typed="float", public=False)
def special_i0e(self: Any, /) -> Any:
    """``exp(-|x|) I0(x)``.

    Source: https://docs.pytorch.org/docs/stable/special.html#torch.special.i0e
    """
    return _i0e(self)


special_i0e.derivative(self=lambda grad, self, result: grad * (special_i1e(self) - sgn(self) * result))


@op(typed="float", public=False)
def special_i1(self: Any, /) -> Any:
    """The modified Bessel function of the first kind, order 1.

    Source: https://docs.pytorch.org/docs/stable/special.html#torch.special.i1
    """
    return _i1(self)


@special_i1.derivative("self")
def slope_of_i1(grad: Any, self: Any, result: Any) -> Any:
    """The gradient times I0(x) - I1(x) / x; a half at zero."""
    tiny = tiny_aside(abs(self)) != abs(self)
    x = where(tiny, 1, self)
    return grad * where(tiny, 0.5, i0(x) - result / x)


@op(node="SpecialI1EBackward0", typed="float", public=False)
def special_i1e(self: Any, /) -> Any:
    """``exp(-|x|) I1(x)``.

    Source: https://docs.pytorch.org/docs/stable/special.html#torch.special.i1e
    """
    return _i1e(self)


@special_i1e.derivative("self")
def slope_of_scaled_i1(grad: Any, self: Any, result: Any) -> Any:
    """The gradient times the slope of ``exp(-|x|) I1(x)``; a half at zero."""
    tiny = tiny_aside(abs(self)) != abs(self)
    x = where(tiny, 1, self)
    return grad * where(tiny, 0.5, special_i0e(x) - result * (sgn(x) + 1 / x))


@op(constant=True, public=False)
def tiny_aside(self: Any, /) -> Any:
    """``self``, but the dtype's rounding unit where it is no larger than that."""
    unit = np.finfo(self.dtype).eps if self.dtype.kind == "f" else 2.0**-7  # bfloat16
    return np.where(np.abs(self) > unit, self, self.dtype.type(unit))[()]


def _flat(name: str, kernel: Any, doc: str, argument: str = "self") -> Any:
    """A row without a derivative, as PyTorch has it; ``argument`` is what PyTorch calls the input."""
    serve = _served(kernel, f"{name}_cpu")
    if argument == "self":

        def function(self: Any, /) -> Any:
            return serve(self)
    else:

        def function(x: Any, /) -> Any:
            return serve(x)

    function.__name__ = f"special_{name}"
    function.__doc__ = (
        f"{doc}; no derivative.\n\n"
        f"    Source: https://docs.pytorch.org/docs/stable/special.html#torch.special.{name}\n    "
    )
    return op(public=False, typed="float", constant=True)(function)


special_bessel_j0 = _flat("bessel_j0", scipy_special.j0, "The Bessel function of the first kind, order 0")
special_bessel_j1 = _flat("bessel_j1", scipy_special.j1, "The Bessel function of the first kind, order 1")
special_bessel_y0 = _flat("bessel_y0", scipy_special.y0, "The Bessel function of the second kind, order 0")
special_bessel_y1 = _flat("bessel_y1", scipy_special.y1, "The Bessel function of the second kind, order 1")
special_modified_bessel_i0 = _flat("modified_bessel_i0", special.i0, "The modified Bessel function I of order 0")
special_modified_bessel_i1 = _flat("modified_bessel_i1", scipy_special.i1, "The modified Bessel function I of order 1")
special_modified_bessel_k0 = _flat("modified_bessel_k0", scipy_special.k0, "The modified Bessel function K of order 0")
special_modified_bessel_k1 = _flat("modified_bessel_k1", scipy_special.k1, "The modified Bessel function K of order 1")
special_scaled_modified_bessel_k0 = _flat("scaled_modified_bessel_k0", scipy_special.k0e, "``exp(x) K0(x)``", "x")
special_scaled_modified_bessel_k1 = _flat("scaled_modified_bessel_k1", scipy_special.k1e, "``exp(x) K1(x)``", "x")
special_spherical_bessel_j0 = _flat("spherical_bessel_j0", special.spherical_j0, "``sin(x) / x``, one at zero", "x")
special_airy_ai = _flat("airy_ai", scipy_special.airy_ai, "Airy's function Ai", "x")
