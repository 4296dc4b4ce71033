"""Inputs that are not of one everyday dtype: their arrays, numbers among them, made to agree."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..ground import dtypes, meta
from . import call
from .call import Agreed
from .plan import F32
from .row import Row
from .tensor import Tensor

_FLOAT8 = frozenset(kind.numpy for kind in dtypes.FLOAT8)


def agree(row: Row, flat: Sequence[Any], written: bool = False) -> Agreed:
    """The arrays of any inputs, numbers among them, made to agree as the row's columns say."""
    arrays = arrays_of(row, flat, written)
    if row.refuses is not None:
        row.refuses(*flat)
    common = None if row.typed is None else common_dtype(row, flat)
    if not row.stores and any(array is not None and array.dtype in _FLOAT8 for array in arrays):
        raise call.refusals.eight_bits(row, arrays)
    if common is None:
        return arrays, None, None
    if row.single and common.itemsize == 2 and not any(a is not None and a.dtype.metadata for a in arrays):
        single = beside_half(arrays, common)
        if single is not None:
            return single, common, common
    agreed = [
        a if a is None or a.dtype is common or position in row.plan.auxiliary else meta.cast_to(a, common)
        for position, a in enumerate(arrays)
    ]
    return agreed, common, None


def arrays_of(row: Row, flat: Sequence[Any], written: bool = False) -> list[Any]:
    """The arrays of the inputs, numbers made arrays; TypeError, in PyTorch's words, for what is no tensor."""
    if not any(isinstance(operand, Tensor) for operand in flat) and (written or not row.numbers):
        raise call.refusals.wrong_type(row, flat, None, written)
    arrays: list[Any] = []
    takes_numbers = not row.listed and row.typed is not None and not row.strict
    for position, operand in enumerate(flat):
        if isinstance(operand, Tensor):
            arrays.append(operand._array)
        elif operand is None and (row.listed or position in row.plan.optional):
            arrays.append(None)
        elif takes_numbers and isinstance(operand, (bool, int, float, complex)):
            array = np.asarray(operand)
            if array.dtype.hasobject:
                raise OverflowError("int too big to convert")
            arrays.append(array)
        else:
            raise call.refusals.wrong_type(row, flat, position, written)
    return arrays


def beside_half(arrays: Sequence[Any], common: np.dtype[Any]) -> list[Any] | None:
    """The inputs in float32 where a number or 0-d tensor meets half precision, unless it comes first; else None."""
    first, *others = arrays
    if common.kind not in "fV" or not any(a.ndim == 0 and a.dtype is not common for a in others):
        return None
    met = [first.astype(common), *[a.astype(common) if a.ndim else a for a in others]]
    return [np.asarray(a).astype(F32)[()] for a in met]


def common_dtype(row: Row, flat: Sequence[Any]) -> np.dtype[Any]:
    """The NumPy dtype that the inputs of a typed row agree on."""
    dims: list[Any] = []
    zeros: list[Any] = []
    numbers: list[type] = []
    for position, operand in enumerate(flat):
        if operand is None or position in row.plan.auxiliary:
            continue
        if isinstance(operand, Tensor):
            (dims if operand._array.ndim else zeros).append(dtypes.of(operand._array.dtype))
        else:
            numbers.append(type(operand))
            if type(operand) is int and operand >= 2**63 and {*dims, *zeros} == {dtypes.bool}:
                dtypes.promote_types(dtypes.bool, dtypes.uint64)  # which it refuses
    dtype = dtypes.result_dtype(dims, zeros, numbers)
    if row.typed == "float" and not dtype.is_floating_point and not dtype.is_complex:
        dtype = dtypes.get_default_dtype()
    return dtype.numpy
