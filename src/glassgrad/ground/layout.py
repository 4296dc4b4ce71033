"""How tensors lie in memory: PyTorch's memory formats, and the strides that its results have; arrays only.

Strides are in elements.  What is written here about sizes of 1 and 0 and about strides of 0 is PyTorch's, for each of
its questions another.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from .window import dense, strides_of

ndarray = np.ndarray
Numbers = tuple[int, ...]

#: The dimensions of formats that have channels last, from the innermost to the outermost.
CHANNELS_LAST = {"channels_last": (1, 3, 2, 0), "channels_last_3d": (1, 4, 3, 2, 0)}


def format_name(memory_format: Any, rank: int) -> str:
    """What a memory format is called; PyTorch's RuntimeError where tensors of this rank cannot have it."""
    name = repr(memory_format).removeprefix("torch.")
    wanted = len(CHANNELS_LAST.get(name, ()))
    if wanted and wanted != rank:
        raise RuntimeError(f"required rank {wanted} tensor to use {name} format")
    return name


def format_strides(sizes: Numbers, name: str) -> Numbers:
    """The strides of a new tensor in a memory format."""
    if name == "contiguous_format":
        return dense(sizes)
    strides, step = [0] * len(sizes), 1
    for axis in CHANNELS_LAST[name]:
        strides[axis] = step
        step *= sizes[axis]
    return tuple(strides)


def is_laid(array: Any, name: str) -> bool:
    """Whether an array lies in a memory format."""
    if name == "contiguous_format":
        return bool(array.flags.c_contiguous)
    axes, sizes, strides, step = CHANNELS_LAST[name], array.shape, strides_of(array), 1
    if len(axes) != len(sizes):
        return False
    for axis in axes:
        if sizes[axis] != 1:
            if strides[axis] != step:
                return False
            step *= sizes[axis]
    return True


def suggested(sizes: Numbers, strides: Numbers) -> str:
    """The memory format that strides look like, with gaps or without; plain where they could be several."""
    for name, axes in CHANNELS_LAST.items():
        if len(axes) == len(sizes) and _channels_are_inner(sizes, strides, axes):
            return name
    return "contiguous_format"


def _channels_are_inner(sizes: Numbers, strides: Numbers, axes: Numbers) -> bool:
    if strides[1] == 0 or 0 in sizes:
        return False
    least = 0
    for axis in axes:
        if strides[axis] < least or (axis == 0 and least == strides[1]):
            return False
        least = strides[axis] * max(sizes[axis], 1)
    return True


def is_dense(sizes: Numbers, strides: Numbers) -> bool:
    """Whether elements lie side by side, in whatever order of dimensions, each once."""
    if 0 in sizes:
        return True
    step = 1
    for stride, size in sorted((stride, size) for stride, size in zip(strides, sizes, strict=True) if size > 1):
        if stride != step:
            return False
        step *= size
    return True


def order_of(sizes: Numbers, operands: Sequence[Numbers]) -> list[int]:
    """The dimensions from the innermost to the outermost: the first operand that can tell two apart does."""
    order = list(range(len(sizes)))[::-1]
    for start in range(1, len(order)):
        at = start
        for before in range(start - 1, -1, -1):
            side = _compared(order[before], order[at], sizes, operands)
            if side < 0:
                break
            if side > 0:
                order[before], order[at] = order[at], order[before]
                at = before
    return order


def _compared(inner: int, outer: int, sizes: Numbers, operands: Sequence[Numbers]) -> int:
    """Less than 0 where two dimensions lie as they are said to, more where they lie the other way, 0 for either."""
    for strides in operands:
        a, b = strides[inner], strides[outer]
        if a and b and a != b:
            return a - b
        if a and b and sizes[inner] > sizes[outer]:
            return 1
    return 0


def closed(sizes: Numbers, strides: Numbers) -> Numbers:
    """The strides of a copy: the same where they are dense, else those of the same order without gaps."""
    if is_dense(sizes, strides):
        return strides
    return _side_by_side(sizes, order_of(sizes, [strides]))


def _side_by_side(sizes: Numbers, order: Sequence[int]) -> Numbers:
    strides, step = [0] * len(sizes), 1
    for axis in order:
        strides[axis] = step
        step *= max(sizes[axis], 1)
    return tuple(strides)


def unfilled(sizes: Numbers, strides: Numbers, dtype: Any) -> Any:
    """An uninitialised array of dense strides."""
    if strides == dense(sizes):
        return np.empty(sizes, dtype)
    memory = np.empty(math.prod(sizes), dtype)
    return ndarray(sizes, memory.dtype, memory, 0, [stride * memory.itemsize for stride in strides])  # type: ignore[arg-type]


def dense_like(array: Any, dtype: Any) -> Any:
    """An uninitialised array that lies as ``array`` does, without gaps or repetitions."""
    if not array.ndim:
        return np.empty((), dtype)
    if type(array) is ndarray and lies_as(like := np.empty_like(array, dtype), array):
        return like
    return unfilled(array.shape, closed(array.shape, strides_of(array)), dtype)


def copied(array: Any) -> Any:
    """A copy of an array that lies as it does, without gaps or repetitions."""
    copy = dense_like(array, array.dtype)
    copy[...] = array
    return copy


def lies_as(copy: Any, array: Any) -> bool:
    """Whether what NumPy made like an array has the strides of that, as it has of most dense ones."""
    if copy.itemsize != array.itemsize:
        copy = np.empty_like(array)
    return bool(copy.strides == array.strides and array.size)


def laid(array: Any, strides: Numbers) -> Any:
    """A copy of an array with dense strides."""
    copy = unfilled(array.shape, strides, array.dtype)
    copy[...] = array
    return copy


def elementwise(arrays: Sequence[Any]) -> Numbers:
    """The strides of what an elementwise operation gives: those of its operands, the first that can tell."""
    first = arrays[0]
    sizes = np.broadcast_shapes(*(array.shape for array in arrays))
    if all(array.shape == sizes for array in arrays):
        if all(array.flags.c_contiguous for array in arrays):
            return dense(sizes)
        for name, axes in CHANNELS_LAST.items():
            if len(axes) == len(sizes) and all(is_laid(array, name) for array in arrays):
                return format_strides(sizes, name)
        strides = strides_of(first)
        if is_dense(sizes, strides) and all(strides_of(array) == strides for array in arrays):
            return strides
    order = order_of(sizes, [_stretched(array, sizes) for array in arrays])
    return dense(sizes) if order == list(range(len(sizes)))[::-1] else _side_by_side(sizes, order)


def _stretched(array: Any, sizes: Numbers) -> Numbers:
    lead = len(sizes) - array.ndim
    own = zip(array.shape, strides_of(array), sizes[lead:], strict=True)
    return (0,) * lead + tuple([0 if size == 1 != wide else stride for size, stride, wide in own])


# -- where results lie, by the name in a row's column ``layout`` -------------------------------------------------------


def _row_by_row(results: Sequence[Any], inputs: Sequence[Any]) -> list[Any]:
    return [result if _is_plain(result) else np.array(result, order="C") for result in results]


def _is_plain(array: Any) -> bool:
    if not array.flags.c_contiguous:
        return False
    return 1 not in array.shape or strides_of(array) == dense(array.shape)


def _as_operands(results: Sequence[Any], inputs: Sequence[Any]) -> list[Any]:
    operands = [array for array in inputs if array is not None]
    if len(operands) == 1:
        return [_as_operand(result, operands[0]) for result in results]
    strides = elementwise(operands)
    return [result if strides_of(result) == strides else laid(result, strides) for result in results]


def _as_operand(result: Any, operand: Any) -> Any:
    if result.strides == operand.strides and result.itemsize == operand.itemsize:
        return result
    copy = dense_like(operand, result.dtype)
    if copy.strides != result.strides:
        copy[...] = result
        return copy
    return result


def _channels_last(results: Sequence[Any], inputs: Sequence[Any]) -> Sequence[Any]:
    first = inputs[0]
    for array in inputs:
        if array is None or array.ndim < 4 or array.strides[1] > array.strides[-1] or array.dtype is not first.dtype:
            continue  # indices have no say
        name = suggested(array.shape, strides_of(array))
        if name != "contiguous_format":
            rank = array.ndim
            return [laid(r, format_strides(r.shape, name)) if r.ndim == rank else r for r in results]
    return results if first.flags.c_contiguous else _row_by_row(results, inputs)


def _only_channels_last(results: Sequence[Any], inputs: Sequence[Any]) -> Sequence[Any]:
    return (_row_by_row if inputs[0].flags.c_contiguous else _channels_last)(results, inputs)  # what is both is plain


def _column_by_column(results: Sequence[Any], inputs: Sequence[Any]) -> list[Any]:
    rank = inputs[0].ndim  # what has another holds vectors
    return [in_columns(result) if result.ndim == rank else result for result in results]


def in_columns(matrices: Any) -> Any:
    """Matrices that lie column by column: these, or a copy."""
    turned = matrices.swapaxes(-1, -2)
    return matrices if turned.flags.c_contiguous else np.array(turned, order="C").swapaxes(-1, -2)


_RULES = {
    "plain": _row_by_row, "elementwise": _as_operands, "channels": _channels_last,
    "only channels": _only_channels_last, "columns": _column_by_column,
}  # fmt: skip


def arranged(rule: str) -> Callable[..., Any]:
    """The function that lays what a kernel gave for its inputs, one array or several, as a rule says."""
    arrange = _RULES[rule]

    def lay(result: Any, *inputs: Any) -> Any:
        if type(result) is tuple:
            return tuple(arrange(result, inputs))
        return arrange((result,), inputs)[0]

    return lay
