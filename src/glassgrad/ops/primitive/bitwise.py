"""Operations on the bits of integers and on truth values; none carries gradients."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...core.row import op
from .compare import unsupported


def _whole(self: Any, name: str, kinds: str = "biu") -> None:
    if self.dtype.kind not in kinds:
        raise unsupported(name, self)


@op(operator="and", inplace=True, constant=True, typed="promote")
def bitwise_and(self: Any, other: Any, /) -> Any:
    """The bits that are set in both."""
    _whole(self, "bitwise_and_cpu")
    return self & other


@op(operator="or", inplace=True, constant=True, typed="promote")
def bitwise_or(self: Any, other: Any, /) -> Any:
    """The bits that are set in at least one."""
    _whole(self, "bitwise_or_cpu")
    return self | other


@op(operator="xor", inplace=True, constant=True, typed="promote")
def bitwise_xor(self: Any, other: Any, /) -> Any:
    """The bits that are set in just one."""
    _whole(self, "bitwise_xor_cpu")
    return self ^ other


@op(inplace=True, constant=True)
def bitwise_not(self: Any, /) -> Any:
    """The bits that are not set."""
    _whole(self, "bitwise_not_cpu")
    return ~self


@op(operator="lshift", inplace=True, constant=True, typed="promote")
def bitwise_left_shift(self: Any, other: Any, /) -> Any:
    """The bits moved up by ``other`` places; zero where that is negative or as wide as the dtype."""
    _whole(self, "lshift_cpu", "iu")
    bits = self.dtype.itemsize * 8
    odd = (other < 0) | (other >= bits)
    return np.where(odd, self.dtype.type(0), np.left_shift(self, np.where(odd, 0, other).astype(self.dtype)))[()]


@op(operator="rshift", inplace=True, constant=True, typed="promote")
def bitwise_right_shift(self: Any, other: Any, /) -> Any:
    """The bits moved down by ``other`` places; only the sign is left where that is negative or too wide."""
    _whole(self, "rshift_cpu", "iu")
    most = self.dtype.itemsize * 8 - 1
    odd = (other < 0) | (other > most)
    return np.right_shift(self, np.where(odd, most, other).astype(self.dtype))
