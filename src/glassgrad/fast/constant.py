"""Python numbers as constant tensors, made once for each number and dtype: ``x * 2.0`` is as quick as ``x * y``."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..core.plan import F32, F64, I64
from ..core.tensor import Tensor, new

_scalars: dict[Any, Tensor] = {}
_arrays: dict[Any, dict[Any, Tensor]] = {F32: {}, F64: {}, I64: {}}
_MOST = 4096


def number(value: Any, data: Any) -> Tensor | None:
    """A constant tensor of a Python number in the dtype of ``data``; None where promotion must decide."""
    if type(data) is np.float32:
        cache, kind = _scalars, F32
    else:
        kind = data.dtype
        constants = _arrays.get(kind)
        if constants is None or not (kind is F32 or kind is F64 or (kind is I64 and type(value) is int)):
            return None  # a dtype that equals these and is not one of them is that of a meta tensor
        cache = constants
    constant = cache.get(value)
    if constant is None or not value:  # 0.0 and -0.0 are equal but differ
        if type(value) is int and not -(2**63) <= value < 2**64:
            return None
        try:
            array = np.array(value, kind)
        except OverflowError:
            return None
        array.flags.writeable = False
        constant = new(Tensor)
        constant._array = array[()] if cache is _scalars else array
        constant._edge = constant._counter = None
        if len(cache) < _MOST and value == value:
            cache[value] = constant
    return constant
