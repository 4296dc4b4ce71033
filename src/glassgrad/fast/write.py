"""The everyday in-place write: plain memory, all of one everyday dtype, without history."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..core.plan import I64
from ..core.row import Row
from ..core.tensor import Tensor, share
from ..ground import modes
from ..kernels import compiled
from ..tensor.parameter import Parameter
from ..tensor.writable import memory
from .constant import number

LARGE = 1 << 12  # elements from which on a result is not computed aside: below, to copy it costs nothing


def everyday(row: Row, target: Any, others: Sequence[Any], settings: Sequence[Any]) -> bool:
    """Write over plain memory, all of one everyday dtype and without history; whether that was possible."""
    data = memory(target)
    if data is None:
        return False
    dtype, silent = data.dtype, modes.off and not modes.grad_enabled()
    if dtype is I64 and row.typed == "float":
        return False
    arrays = [data]
    for name, other in zip(row.inputs[1:], others, strict=False):
        kind = type(other)
        if name in row.auxiliary:
            if (kind is not Tensor and kind is not Parameter) or other._array.dtype.metadata is not None:
                return False
            if other is target or (other._counter is not None and other._counter is target._counter):
                return False
            arrays.append(other._array)
            continue
        if kind is not Tensor and kind is not Parameter:
            if row.typed is None or row.strict or (kind is not float and kind is not int):
                return False
            other = number(other, data)
            if other is None:
                return False
        elif other is target:
            if row.disjoint:
                return False
        elif other._counter is not None and other._counter is target._counter:
            return False  # they may overlap
        if other._array.dtype is not dtype or (other._edge is not None and not silent):
            return False
        arrays.append(other._array)
    try:
        if data.size < LARGE or row.ufunc is None or not _written_over(row, row.ufunc, data, arrays, settings):
            result = row.kernel(*arrays, *settings)
            if (result.dtype is not dtype and not row.truth) or result.shape != data.shape:
                return False
            data[...] = result
    except Exception:  # raised again, or mended, by who asks more questions
        return False
    share(target).version += 1
    return True


def _written_over(
    row: Row, ufunc: Callable[..., Any], data: Any, arrays: Sequence[Any], settings: Sequence[Any]
) -> bool:
    """Let a row's ufunc write over its first operand; ValueError, and nothing written, for other shapes."""
    if data.dtype is I64 or any(
        value is not row.defaults[name] for name, value in zip(row.settings, settings, strict=False)
    ):
        return False
    if compiled.least <= data.size >= compiled.CURVED and all(_is_like(data, array) for array in arrays):
        if compiled.elementwise.apply(ufunc, data, *arrays) is not None:
            return True
    with np.errstate(all="ignore"):  # an error after the write would leave it half told
        ufunc(*arrays, out=data)
    return True


def _is_like(data: Any, array: Any) -> bool:
    """Whether compiled loops may read an operand where they write ``data``: a number, or an array that lies apart."""
    if array is data:
        return data.flags.carray  # type: ignore[no-any-return]
    if type(array) is not np.ndarray or not array.ndim:
        return True
    return array.shape == data.shape and array.flags.c_contiguous and not np.may_share_memory(array, data)
