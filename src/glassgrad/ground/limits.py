"""The limits of element types, as ``finfo`` and ``iinfo`` tell them; knows the element types."""

from __future__ import annotations

from typing import Any, NoReturn

from . import dtypes
from .dtypes import bfloat16, demand, float16, float32, float64

_MISSING: Any = object()
_FLOATS = {  # significand bits, largest exponent, decimal digits
    float16: (10, 15, 3),
    bfloat16: (7, 127, 2),
    float32: (23, 127, 6),
    float64: (52, 1023, 15),
}


#: Where no formula of digits and exponents holds: eps, max, min, tiny.
_LIMITS = {
    dtypes.float8_e4m3fn: (0.125, 448.0, -448.0, 2.0**-6),
    dtypes.float8_e5m2: (0.25, 57344.0, -57344.0, 2.0**-14),
    dtypes.float8_e4m3fnuz: (0.125, 240.0, -240.0, 2.0**-7),
    dtypes.float8_e5m2fnuz: (0.125, 57344.0, -57344.0, 2.0**-15),
    dtypes.float8_e8m0fnu: (1.0, 2.0**127, 2.0**-127, 2.0**-127),
}


class _Limits:
    """What finfo and iinfo share: numbers about one dtype, read-only, compared by dtype."""

    __slots__ = ("_kind", "bits", "dtype", "max", "min")
    _kind: dtypes.dtype
    bits: int
    dtype: str

    def _hold(self, **values: object) -> None:
        for name, value in values.items():
            object.__setattr__(self, name, value)

    def __setattr__(self, name: str, value: object) -> NoReturn:
        kind = f"torch.{type(self).__name__}"
        if name in dir(self):
            raise AttributeError(f"attribute '{name}' of '{kind}' objects is not writable")
        raise AttributeError(f"'{kind}' object has no attribute '{name}'")

    def __eq__(self, other: object) -> bool:
        if type(other) is not type(self):
            return NotImplemented
        return self._kind is other._kind

    __hash__ = None  # type: ignore[assignment]

    def __reduce__(self) -> NoReturn:
        raise TypeError(f"cannot pickle 'torch.{type(self).__name__}' object")


class finfo(_Limits):
    """The limits of a floating point type, of a complex type's parts, or of the default dtype.

    ``bits``, ``eps``, ``max``, ``min``, ``tiny`` = ``smallest_normal``, ``resolution`` and ``dtype`` (a string).
    """

    __slots__ = ("eps", "resolution", "smallest_normal", "tiny")
    eps: float
    resolution: float
    smallest_normal: float
    tiny: float
    max: float
    min: float

    def __init__(self, type: dtypes.dtype = _MISSING) -> None:
        if type is _MISSING:
            type = dtypes.get_default_dtype()
        real = demand(type, "finfo", "type", 1).to_real()
        if real in _LIMITS:
            decimals = 0
            eps, most, least, tiny = _LIMITS[real]
        elif real in _FLOATS:
            digits, exponent, decimals = _FLOATS[real]
            eps = 2.0**-digits
            most = (2.0 - eps) * 2.0**exponent
            least, tiny = -most, 2.0 ** (1 - exponent)
        else:
            raise TypeError(
                "torch.finfo() requires a floating point input type. Use torch.iinfo to handle 'torch.finfo'"
            )
        self._hold(_kind=real, bits=8 * real.itemsize, eps=eps, max=most, min=least, tiny=tiny)
        self._hold(smallest_normal=tiny, resolution=float(f"1e-{decimals}"), dtype=real.name)

    def __repr__(self) -> str:
        return (
            f"finfo(resolution={self.resolution:g}, min={self.min:g}, max={self.max:g}, eps={self.eps:g}, "
            f"smallest_normal={self.smallest_normal:g}, tiny={self.tiny:g}, dtype={self.dtype})"
        )


class iinfo(_Limits):
    """The limits of an integer type: ``bits``, ``max``, ``min`` and ``dtype`` (a string)."""

    __slots__ = ()
    max: int
    min: int

    def __init__(self, type: dtypes.dtype = _MISSING) -> None:
        if type is _MISSING:
            raise TypeError('iinfo() missing 1 required positional arguments: "type"')
        type = demand(type, "iinfo", "type", 1)
        if type is dtypes.bool:
            raise TypeError("torch.bool is not supported by torch.iinfo")
        if type.is_floating_point or type.is_complex:
            raise TypeError("torch.iinfo() requires an integer input type. Use torch.finfo to handle 'torch.iinfo'")
        bits = 8 * type.itemsize
        low = -(2 ** (bits - 1)) if type.is_signed else 0
        self._hold(_kind=type, bits=bits, min=low, max=low + 2**bits - 1, dtype=type.name)

    def __repr__(self) -> str:
        return f"iinfo(min={self.min:g}, max={self.max:g}, dtype={self.dtype})"
