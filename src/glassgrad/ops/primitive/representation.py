"""What integers and floats are made of, elementwise: common divisors; mantissas, exponents and neighbours."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...core.row import op
from .compare import unsupported, where, zero_like
from .pointwise import single


def _whole(name: str, self: Any) -> None:
    if self.dtype.kind not in "iu":
        raise unsupported(name, self)


@op(inplace=True, constant=True, typed="promote", strict=True)
def gcd(self: Any, other: Any, /) -> Any:
    """The greatest common divisor; zero of two zeros.

    Source: https://docs.pytorch.org/docs/stable/generated/torch.gcd.html
    """
    _whole("gcd_cpu", self)
    return np.gcd(self, other)


@op(inplace=True, constant=True, typed="promote", strict=True)
def lcm(self: Any, other: Any, /) -> Any:
    """The least common multiple; zero beside a zero.

    Source: https://docs.pytorch.org/docs/stable/generated/torch.lcm.html
    """
    _whole("lcm_cpu", self)
    return np.lcm(self, other)


@op(node="FrexpBackward0", outputs=("mantissa", "exponent"), differentiable=("mantissa",), public=False)
def frexp_parts(self: Any, /) -> Any:
    """A mantissa from a half to one, and the power of two that it is to be multiplied with."""
    if self.dtype.kind not in "fV":
        raise RuntimeError("torch.frexp() only supports floating-point dtypes")
    mantissa, exponent = np.frexp(self if self.dtype.kind == "f" else self.astype("f4"))
    exponent = np.where(np.isfinite(mantissa), exponent, 0).astype(np.int32)[()]
    return mantissa.astype(self.dtype, copy=False), exponent


frexp_parts.derivative(self=lambda grad, exponent: halved(grad, exponent))


@op(apart=("exponent",), public=False)
def halved(self: Any, exponent: Any, /) -> Any:
    """``self`` over two to the power ``exponent``, in its own dtype."""
    if self.dtype.kind == "V":
        return single(lambda x: np.ldexp(x, -exponent), self)
    return np.ldexp(self, -exponent)


halved.derivative(self=lambda grad, exponent: halved(grad, exponent))


@op(inplace=True, typed="promote", strict=True)
def nextafter(self: Any, other: Any, /) -> Any:
    """The float next to each element in the direction of ``other``.

    Source: https://docs.pytorch.org/docs/stable/generated/torch.nextafter.html
    """
    kind = self.dtype.kind
    if kind not in "fV":
        raise unsupported("nextafter_cpu", self)
    return np.nextafter(self, other)


# towards itself a float stays, and so PyTorch takes the slope there as zero where they are equal
nextafter.derivative(self=lambda grad, self, other: where(self == other, 0, grad), other=lambda grad: zero_like(grad))
