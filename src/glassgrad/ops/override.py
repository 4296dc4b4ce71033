"""Calls that are not for the table alone: subclasses with ``__torch_function__``, meta tensors, wrong types."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NoReturn

import numpy as np

from ..core.row import Row
from ..core.tensor import Tensor
from ..ground import dtypes, errors, modes
from ..tensor.parameter import Parameter

NOT_TAKEN = object()
_bfloat16 = dtypes.bfloat16.numpy


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


_SMALL = 8  # sizes up to here stand for themselves
_FEW = 4096  # elements up to which computing is simpler than standing in
_STAND_INS = ((11, 13, 17, 19, 23, 29, 31, 37, 41), (43, 47, 53, 59, 61, 67, 71, 73, 79))


def cast_to(array: Any, dtype: np.dtype[Any]) -> Any:
    """An array as another dtype; of a meta tensor, without touching elements."""
    return blank(array.shape, dtype) if array.dtype.metadata else array.astype(dtype)


def shapes_only(row: Row, given: Sequence[Any], settings: Sequence[Any]) -> Any:
    """What a row gives for meta tensors: arrays that have a shape and a dtype but one shared element.

    Large sizes are found by two runs of the kernel on small stand-ins: a size of the result that follows one of the
    inputs' sizes follows its stand-ins too.
    """
    if row.view:
        return row.kernel(*given, *settings)
    arrays = [a for a in (given[0] if row.listed else given) if a is not None]
    if row.name != "copy" and any(not a.dtype.metadata and a.ndim for a in arrays):
        raise RuntimeError("Tensor on device cpu is not on the expected device meta!")
    if row.sizes is not None:
        return blank(row.sizes(*given, *settings), arrays[0].dtype)
    shapes = [a.shape for a in arrays] + [_whole_numbers(value) for value in settings]
    sizes = sorted({n for shape in shapes for n in shape if n > _SMALL})
    if sum(math.prod(shape) for shape in shapes) <= _FEW or len(sizes) > len(_STAND_INS[0]):
        return _blank_all(_run(row, given, settings, {}))
    maps = [_following(shapes, len(arrays), dict(zip(sizes, table, strict=False))) for table in _STAND_INS]
    first, second = (_run(row, given, settings, replaced) for replaced in maps)
    back = {(maps[0][n], maps[1][n]): n for n in maps[0]}
    several = isinstance(first, (tuple, list))
    pairs = zip(first, second, strict=True) if several else ((first, second),)
    made = [blank(tuple(_size(n, m, back) for n, m in zip(a.shape, b.shape, strict=True)), a.dtype) for a, b in pairs]
    return tuple(made) if several else made[0]


def _whole_numbers(value: Any) -> tuple[int, ...]:
    """The integers of a setting that may be a shape; none of a number."""
    return tuple(n for n in value if type(n) is int) if isinstance(value, (list, tuple)) else ()


def _following(shapes: Sequence[tuple[int, ...]], n_arrays: int, replaced: dict[int, int]) -> dict[int, int]:
    """The stand-ins of sizes, and of what follows from them: products of neighbours, and sums along one dimension."""
    found = {}
    for shape in shapes:
        for start in range(len(shape)):
            whole = small = 1
            for n in shape[start:]:
                whole, small = whole * n, small * replaced.get(n, n)
                if whole > _SMALL:
                    found[whole] = small
    if len({len(shape) for shape in shapes[:n_arrays]}) == 1:
        for column in zip(*shapes[:n_arrays], strict=True):
            if sum(column) > _SMALL:
                found.setdefault(sum(column), sum(replaced.get(n, n) for n in column))
    return {**found, **replaced}


def _run(row: Row, given: Sequence[Any], settings: Sequence[Any], replaced: dict[int, int]) -> Any:
    def small(value: Any) -> Any:
        if isinstance(value, np.ndarray):
            kind = np.dtype(value.dtype.str) if value.dtype.kind != "V" else _bfloat16
            return np.ones([replaced.get(n, n) for n in value.shape], kind)
        if isinstance(value, (list, tuple)):
            return type(value)(small(piece) for piece in value)
        return replaced.get(value, value) if type(value) is int else value

    return row.kernel(*[small(piece) for piece in given], *[small(piece) for piece in settings])


def _size(n: int, m: int, back: dict[tuple[int, int], int]) -> int:
    if n == m:
        return n
    if (n, m) not in back:
        raise NotImplementedError("the shape of the result cannot be told from the shapes of the inputs")
    return back[n, m]


def _blank_all(result: Any) -> Any:
    if isinstance(result, (tuple, list)):
        return tuple(blank(piece.shape, piece.dtype) for piece in result)
    return blank(result.shape, result.dtype)


def blank(shape: tuple[int, ...], dtype: np.dtype[Any]) -> np.ndarray[Any, Any]:
    """The array of a meta tensor: one element seen from everywhere, its dtype marked."""
    marked = np.dtype(dtype.str if dtype.kind != "V" else dtype, metadata={"device": "meta"})
    return np.broadcast_to(np.zeros((), marked), shape)
