"""Orthogonal polynomials of arguments and degrees, elementwise; PyTorch has no derivatives of them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ...core.row import op
from ...kernels import polynomial
from .compare import unsupported

_NAMED: dict[str, tuple[Callable[[Any, Any], Any], str]] = {
    f"{prefix}chebyshev_polynomial_{kind}": (
        polynomial.chebyshev(kind, bool(prefix)),
        f"The Chebyshev polynomial of the {ordinal} kind" + (" of ``2 x - 1``" if prefix else ""),
    )
    for prefix in ("", "shifted_")
    for kind, ordinal in (("t", "first"), ("u", "second"), ("v", "third"), ("w", "fourth"))
} | {
    "hermite_polynomial_h": (polynomial.hermite_h, "The physicist's Hermite polynomial"),
    "hermite_polynomial_he": (polynomial.hermite_he, "The probabilist's Hermite polynomial"),
    "laguerre_polynomial_l": (polynomial.laguerre, "Laguerre's polynomial"),
    "legendre_polynomial_p": (polynomial.legendre, "Legendre's polynomial"),
}


def _row_of(name: str, kernel: Callable[[Any, Any], Any], doc: str) -> Any:
    def function(x: Any, n: Any, /) -> Any:
        if x.dtype.kind == "c" or x.dtype.itemsize == 2:
            raise unsupported(f"{name}_cpu", x)
        return kernel(x, n)

    function.__name__ = f"special_{name}"
    function.__doc__ = (
        f"{doc} of degree ``n``; no derivative.\n\n"
        f"    Source: https://docs.pytorch.org/docs/stable/special.html#torch.special.{name}\n    "
    )
    return op(public=False, typed="float", constant=True)(function)


#: name in torch.special -> row
POLYNOMIALS = {name: _row_of(name, kernel, doc) for name, (kernel, doc) in _NAMED.items()}
