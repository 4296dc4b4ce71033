"""Windows on memory: where a view lies in its base, and the views of memory that strides describe; arrays only.

A *window* is a view's place in its base: sizes, strides and offset, in elements.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.lib.array_utils import byte_bounds

ndarray = np.ndarray
Window = tuple[tuple[int, ...], tuple[int, ...], int]


def dense(sizes: tuple[int, ...]) -> tuple[int, ...]:
    """The strides of a row-by-row array of ``sizes``, in elements."""
    strides = []
    step = 1
    for size in reversed(sizes):
        strides.append(step)
        step *= max(size, 1)
    return tuple(reversed(strides))


def strides_of(array: Any) -> tuple[int, ...]:
    """How far apart neighbours lie along each dimension, in elements."""
    if array.dtype.metadata is None and (array.size or has_strides(array)):
        item = array.itemsize
        return tuple([step // item for step in array.strides])
    return dense(array.shape)


def window_of(array: Any, base: Any) -> Window:
    """Sizes, strides and offset of a view in its base, in elements; RuntimeError where its memory is not the base's."""
    item = array.itemsize
    strides = tuple(stride // item for stride in array.strides)
    window = array.shape, strides, (array.ctypes.data - base.ctypes.data) // item
    _check_inside(base, window)
    return window


def _check_inside(array: Any, window: Window) -> None:
    """Raise RuntimeError where a window on an array reaches beyond the memory that the array lies in."""
    sizes, strides, offset = window
    if 0 in sizes or array.dtype.metadata is not None:  # nothing to look at, or no memory
        return
    low, high = byte_bounds(owner_of(array))
    reach = [(size - 1) * stride for size, stride in zip(sizes, strides, strict=True)]
    start = array.ctypes.data + offset * array.itemsize
    first = start + sum([step for step in reach if step < 0]) * array.itemsize
    last = start + (sum([step for step in reach if step > 0]) + 1) * array.itemsize
    if not low <= first <= last <= high:
        raise RuntimeError(
            f"a view of sizes {list(sizes)} and strides {list(strides)}, {offset} elements after the start of a tensor "
            f"of sizes {list(array.shape)}, is not in the memory of that tensor, whose data was replaced since"
        )


def look(array: Any, window: Window) -> Any:
    """The view of ``array``'s memory at ``window``."""
    sizes, strides, offset = window
    item = array.itemsize
    _check_inside(array, window)
    return _from_memory(array, sizes, tuple(stride * item for stride in strides), offset * item)


def with_strides(array: Any) -> Any:
    """An empty array, with strides that its views can have theirs from where NumPy gave it none."""
    if has_strides(array):
        return array
    return _from_memory(array, array.shape, tuple(step * array.itemsize for step in dense(array.shape)), 0)


def has_strides(array: Any) -> bool:
    """Whether an array's strides tell how it lies: those of an empty array that NumPy made do not."""
    while not array.size and not any(array.strides):
        if not isinstance(array.base, ndarray):
            return array.base is not None
        array = array.base
    return True


def empty_slice(array: Any, axis: int, start: int, step: int = 1) -> Any:
    """No elements of an axis, from ``start`` on: NumPy's own empty slices all begin at 0."""
    sizes, strides = array.shape, array.strides
    return _from_memory(
        array,
        (*sizes[:axis], 0, *sizes[axis + 1 :]),
        (*strides[:axis], strides[axis] * step, *strides[axis + 1 :]),
        start * strides[axis],
    )


class _Memory:
    """What NumPy needs to look at memory that another array keeps alive."""

    __slots__ = ("__array_interface__", "keeper")

    def __init__(self, keeper: Any, interface: dict[str, Any]) -> None:
        self.keeper, self.__array_interface__ = keeper, interface


def _from_memory(array: Any, sizes: tuple[int, ...], strides: tuple[int, ...], offset: int) -> Any:
    if array.dtype.metadata is not None:
        from .meta import blank  # which few tensors are

        return blank(sizes, array.dtype)
    if 0 in sizes and array.flags.forc and 0 <= offset <= array.nbytes:
        return ndarray(sizes, array.dtype, array, offset, strides)  # type: ignore[arg-type]
    native = array.dtype.isbuiltin != 2  # what NumPy's interface has a word for
    kind = array.dtype if native else np.dtype(f"u{array.dtype.itemsize}")
    address, locked = array.ctypes.data + offset, not array.flags.writeable
    interface = {"shape": sizes, "strides": strides, "typestr": kind.str, "data": (address, locked), "version": 3}
    numbers = np.asarray(_Memory(array, interface))
    return numbers if native else numbers.view(array.dtype)


def laid_out(grad: Any, sizes: tuple[int, ...], strides: tuple[int, ...]) -> Any:
    """A copy of ``grad`` in a memory layout of ``strides`` (in elements) where that is dense, else row by row."""
    out = empty(sizes, strides, grad.dtype)
    np.copyto(out, grad)
    return out


def empty(sizes: tuple[int, ...], strides: tuple[int, ...], dtype: Any) -> Any:
    """Zeros in a memory layout of ``strides`` (in elements) where that is possible, else row by row."""
    span = 1 + sum((size - 1) * stride for size, stride in zip(sizes, strides, strict=True)) if 0 not in sizes else 0
    return look(np.zeros(span, dtype), (sizes, strides, 0))


def overlaps(window: Window) -> bool:
    """Whether a window may show one element several times."""
    span = 1
    for stride, size in sorted((s, n) for n, s in zip(window[0], window[1], strict=True) if n > 1):
        if stride < span:
            return True
        span = stride * (size - 1) + span
    return False


def owner_of(array: Any) -> Any:
    """The array that owns the memory which ``array`` looks at."""
    while (base := array.base) is not None:
        base = getattr(base, "keeper", base)
        if not isinstance(base, ndarray):
            base = getattr(base, "base", None)  # what ``as_strided`` puts between a view and its array
        if not isinstance(base, ndarray):
            break
        array = base
    return array


def as_bytes(owner: Any) -> Any:
    """The memory of an array that owns it, as a flat array of bytes."""
    if not owner.flags.forc:
        owner = owner.transpose(sorted(range(owner.ndim), key=lambda axis: -owner.strides[axis]))
    return owner.reshape(-1, order="A").view(np.uint8)


def indices(window: Window) -> Any:
    """For each element that a window shows, its place in memory."""
    sizes, strides, offset = window
    places = np.full(sizes, offset, np.intp)
    for axis, (size, stride) in enumerate(zip(sizes, strides, strict=True)):
        shape = [1] * len(sizes)
        shape[axis] = size
        places += np.arange(size).reshape(shape) * stride
    return places
