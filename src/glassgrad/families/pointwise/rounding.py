"""Rounding: to whole numbers, down, up, towards zero or to the nearest; and what lies behind the point."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...core.row import FLOATS, op
from ...ground import errors
from ...kernels.columns import not_implemented
from ...ops.declare import named
from ..compare.rows import zero_like


def _rounding(name: str, ufunc: Any, says: str, *aliases: str) -> Any:
    @op(*aliases, inplace=True, out=errors.OUT_FOUND, batched="point")
    @named(name, says=says)
    def function(self: Any, /) -> Any:
        """{says}"""
        kind = self.dtype.kind
        if kind == "c" and name != "round":
            raise NotImplementedError(f"{name} is not supported for complex inputs")
        if kind in "bc":
            raise not_implemented(f"{name}_vml_cpu", self)
        return self.copy("K") if kind in "iu" else ufunc(self)

    function.derivative(self=lambda grad: zero_like(grad))
    return function


floor = _rounding("floor", np.floor, "The greatest integer not above.")
ceil = _rounding("ceil", np.ceil, "The least integer not below.")
trunc = _rounding("trunc", np.trunc, "The integer part.", "fix")
round = _rounding("round", np.rint, "The nearest integer; halves go to the even one.")


@op(
    node="RoundBackward1", inplace=True, public=False, out=errors.OUT_FOUND, halves="single", batched="point",
    serves=(FLOATS, lambda self, decimals: not_implemented("round_cpu" if decimals else "round_vml_cpu", self)),
)  # fmt: skip
def round_decimals(self: Any, /, decimals: Any) -> Any:
    """Rounded to so many decimal places, or to tens, hundreds ... for negative ones."""
    power = self.dtype.type(10.0 ** (decimals if decimals > 0 else -decimals))
    return np.rint(self / power) * power if decimals < 0 else np.rint(self * power) / power


round_decimals.derivative(self=lambda grad: zero_like(grad))


@op(inplace=True, out=errors.OUT_FOUND, serves=(FLOATS, "frac_cpu"), batched="point")
def frac(self: Any, /) -> Any:
    """The part behind the point, with the sign of the number."""
    return self - np.trunc(self)


frac.derivative(self=lambda grad: grad)
