"""The everyday in-place write: plain memory, all of one everyday dtype, without history."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..core.row import Row
from ..core.tensor import Tensor, share
from ..core.write import memory
from ..ground import modes
from ..tensor.parameter import Parameter
from .constant import number


def everyday(row: Row, target: Any, others: Sequence[Any], settings: Sequence[Any]) -> bool:
    """Write over plain memory, all of one everyday dtype and without history; whether that was possible."""
    data = memory(target)
    if data is None:
        return False
    dtype, silent = data.dtype, modes.off and not modes.grad_enabled()
    arrays = [data]
    for name, other in zip(row.inputs[1:], others, strict=False):
        kind = type(other)
        if name in row.apart:
            if (kind is not Tensor and kind is not Parameter) or other._array.dtype.metadata is not None:
                return False
            if other._counter is not None and other._counter is target._counter:
                return False
            arrays.append(other._array)
            continue
        if kind is not Tensor and kind is not Parameter:
            if row.typed is None or row.strict or (kind is not float and kind is not int):
                return False
            other = number(other, data)
            if other is None:
                return False
        elif other is not target and other._counter is not None and other._counter is target._counter:
            return False  # they may overlap
        if other._array.dtype is not dtype or (other._edge is not None and not silent):
            return False
        arrays.append(other._array)
    try:
        result = row.kernel(*arrays, *settings)
    except ValueError:
        return False
    if result.dtype is not dtype or result.shape != data.shape:
        return False
    data[...] = result
    version = target._counter
    if version is None:
        version = share(target)
    version.version += 1
    return True
