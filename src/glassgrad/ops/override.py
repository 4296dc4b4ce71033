"""Calls that are not for the table alone: subclasses with ``__torch_function__``, meta tensors, wrong types."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NoReturn

import numpy as np

from ..ground import errors, modes
from ..tensor.parameter import Parameter
from ..tensor.tensor import Tensor
from .declare import Row

NOT_TAKEN = object()


def dispatch(row: Row, tensors: Sequence[Any], settings: Sequence[Any], out: Any) -> Any:
    """What the innermost function mode, or an argument's ``__torch_function__``, answers."""
    args = (*tensors, *settings)
    kwargs = {} if out is None else {"out": out}
    flat = tensors[0] if row.listed else tensors
    types = tuple(dict.fromkeys(type(t) for t in flat if _overrides(t)))
    stack = modes.local.function_modes
    if stack:
        mode = stack.pop()
        try:
            return mode.__torch_function__(row.caller, types, args, kwargs)
        finally:
            stack.append(mode)
    for t in sorted((t for t in flat if _overrides(t)), key=lambda t: -len(type(t).__mro__)):
        answer = type(t).__torch_function__(row.caller, types, args, kwargs)
        if answer is not NotImplemented:
            return answer
    return NOT_TAKEN


def _overrides(value: Any) -> bool:
    return type(value) not in (Tensor, Parameter) and hasattr(type(value), "__torch_function__")


def wrong_type(row: Row, flat: Sequence[Any], index: int | None = None, written: bool = False) -> str:
    """PyTorch's sentence for an argument that is no tensor."""
    if index is None:
        index = next((i for i, t in enumerate(flat) if not isinstance(t, Tensor)), 0)
    value = flat[index] if len(flat) else None
    if row.listed:
        return f"expected Tensor as element {index} in argument 0, but got {type(value).__name__}"
    name = row.inputs[index]
    name = "input" if name == "self" else name
    function, place = (f"{row.name}_", index) if written else (row.name, index + 1)  # a method does not count itself
    return f"{function}(): argument '{name}' (position {place}) must be Tensor, not {type(value).__name__}"


def shape_error(row: Row, arrays: Sequence[Any], error: ValueError) -> NoReturn:
    """Raise PyTorch's error for shapes that do not broadcast; any other error as it is."""
    if row.typed is not None:
        shape: tuple[int, ...] = ()
        for array in arrays:
            if array is None:
                continue
            for back in range(1, min(len(shape), array.ndim) + 1):
                a, b = shape[-back], array.shape[-back]
                if a != b and 1 not in (a, b):
                    dim = max(len(shape), array.ndim) - back
                    raise RuntimeError(errors.BROADCAST.format(a=a, b=b, dim=dim)) from None
            shape = np.broadcast_shapes(shape, array.shape)
    raise error


def shapes_only(row: Row, given: Sequence[Any], settings: Sequence[Any]) -> Any:
    """What a row gives for meta tensors: arrays that have a shape and a dtype but one shared element."""
    result = row.kernel(*given, *settings)
    if row.view:
        return result
    if isinstance(result, (tuple, list)):
        return type(result)(blank(piece.shape, piece.dtype) for piece in result)
    return blank(result.shape, result.dtype)


def blank(shape: tuple[int, ...], dtype: np.dtype[Any]) -> np.ndarray[Any, Any]:
    """The array of a meta tensor: one element seen from everywhere, its dtype marked."""
    marked = np.dtype(dtype.str if dtype.kind != "V" else dtype, metadata={"device": "meta"})
    return np.broadcast_to(np.zeros((), marked), shape)
