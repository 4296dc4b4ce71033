"""Rounding: to whole numbers, down, up, towards zero or to the nearest; and what lies behind the point."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...core.row import FLOATS, op
from ...ground import errors
from ...kernels.columns import not_implemented
from ..compare.rows import zero_like


def _rounding(function: Any, name: str) -> Any:
    def serve(self: Any) -> Any:
        kind = self.dtype.kind
        if kind == "c" and name != "round_vml_cpu":
            raise NotImplementedError(f"{name[:-8]} is not supported for complex inputs")
        if kind in "bc":
            raise not_implemented(name, self)
        return self.copy() if kind in "iu" else function(self)

    return serve


_floor, _ceil = _rounding(np.floor, "floor_vml_cpu"), _rounding(np.ceil, "ceil_vml_cpu")
_trunc, _rint = _rounding(np.trunc, "trunc_vml_cpu"), _rounding(np.rint, "round_vml_cpu")


@op(inplace=True, out=errors.OUT_FOUND, batched="point")
def floor(self: Any, /) -> Any:
    """The greatest integer not above."""
    return _floor(self)


floor.derivative(self=lambda grad: zero_like(grad))


@op(inplace=True, out=errors.OUT_FOUND, batched="point")
def ceil(self: Any, /) -> Any:
    """The least integer not below."""
    return _ceil(self)


ceil.derivative(self=lambda grad: zero_like(grad))


@op("fix", inplace=True, out=errors.OUT_FOUND, batched="point")
def trunc(self: Any, /) -> Any:
    """The integer part."""
    return _trunc(self)


trunc.derivative(self=lambda grad: zero_like(grad))


@op(inplace=True, out=errors.OUT_FOUND, batched="point")
def round(self: Any, /) -> Any:
    """The nearest integer; halves go to the even one."""
    return _rint(self)


round.derivative(self=lambda grad: zero_like(grad))


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
