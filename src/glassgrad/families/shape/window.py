"""Windows on memory: strided views, and what takes, embeds and puts a window: each other's derivatives.

``core/views.py`` carries writes through views with them, through every order of derivatives.
"""

from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import Any

import numpy as np

from ...core.row import op
from ...ground.meta import in_single
from ...ground.window import Window, dense, indices, look, overlaps, owner_of, strides_of

ndarray = np.ndarray


@op(view=True)
def as_strided(self: Any, /, size: Any, stride: Any, storage_offset: Any = None, layout: Any = None) -> Any:
    """The view of the same memory with these sizes and strides, from an offset, all in elements.

    ``layout`` is how ``self`` lies in its memory, as ``layout_of`` tells: where gradients go.
    """
    check_window(size, stride)
    root, here = memory_of(self)
    offset = here if storage_offset is None else placed(storage_offset)
    size, stride = tuple(size), tuple(stride)
    needed = 0 if 0 in size else 1 + offset + sum((n - 1) * s for n, s in zip(size, stride, strict=True))
    if needed * self.itemsize > root.nbytes and self.dtype.metadata is None:
        raise RuntimeError(
            f"setStorage: sizes {list(size)}, strides {list(stride)}, storage offset {offset}, and itemsize "
            f"{self.itemsize} requiring a storage size of {needed * self.itemsize} are out of bounds for storage of "
            f"size {root.nbytes}"
        )
    return look(self, (size, stride, offset - here))


def check_window(size: Sequence[int], stride: Sequence[int]) -> None:
    """Raise PyTorch's error for sizes and strides that no window of any memory has."""
    if len(size) != len(stride):
        raise RuntimeError("mismatch in length of strides and shape")
    if any(step < 0 for step in stride):
        raise RuntimeError(f"as_strided: Negative strides are not supported at the moment, got strides: {list(stride)}")
    if any(n < 0 for n in size):
        raise RuntimeError(f"Storage size calculation overflowed with sizes={list(size)} and strides={list(stride)}")


def placed(storage_offset: Any) -> int:
    """An offset in memory, of any kind of whole number; PyTorch's error where it lies before the memory."""
    offset = operator.index(storage_offset)
    if offset < 0:
        raise RuntimeError(f"Tensor: invalid storage offset {offset}")
    return offset


@as_strided.derivative("self")
def _spread(grad: Any, self_sizes: Any, size: Any, stride: Any, storage_offset: Any, layout: Any) -> Any:
    """The gradient of every element that the view shows, added where it lies in memory."""
    strides, start = (dense(self_sizes), 0) if layout is None else layout
    offset = 0 if storage_offset is None else placed(storage_offset) - start
    return embed_window(grad, (tuple(size), tuple(stride), offset), self_sizes, strides)


@op(node="AsStridedBackward1", view=True, public=False, hidden=("self_sizes", "layout"))
def as_strided_inplace(self: Any, /, size: Any, stride: Any, storage_offset: Any = None, layout: Any = None) -> Any:
    """What ``as_strided_`` makes of a tensor."""
    return as_strided.row.kernel(self, size, stride, storage_offset, layout)


as_strided_inplace.derivative("self")(_spread)


def memory_of(array: Any) -> tuple[Any, int]:
    """The array that owns the memory which this one shows, and where in it this one begins, in elements."""
    root = owner_of(array)
    return root, (array.ctypes.data - root.ctypes.data) // array.itemsize


def layout_of(array: Any) -> tuple[tuple[int, ...], int] | None:
    """An array's strides and its place in memory; None if it is dense at the front."""
    start = memory_of(array)[1]
    strides = strides_of(array)
    return None if not array.size or (not start and strides == dense(array.shape)) else (strides, start)


def _both(sizes: Any, strides: Any, window: Window, dtype: Any) -> tuple[Any, Window, Window]:
    """Zeroed memory for what lies with these strides and for a window on it, which may reach farther; both in it."""
    first = min(0, window[2])
    base, shown = (tuple(sizes), tuple(strides), -first), (*window[:2], window[2] - first)
    ends = [at + sum((n - 1) * step for n, step in zip(ns, steps, strict=True)) for ns, steps, at in (base, shown)]
    return np.zeros(max(*ends, 0) + 1, dtype), base, shown


def _add(memory: Any, window: Window, values: Any) -> None:
    """Write values to a window of zeroed memory; what lies in one place adds up, first along steps of 0."""
    repeated = tuple(dim for dim, step in enumerate(window[1]) if step == 0 and window[0][dim] > 1)
    if repeated:
        values = in_single(values).sum(repeated, keepdims=True).astype(values.dtype)
        sizes = tuple(1 if dim in repeated else n for dim, n in enumerate(window[0]))
        window = sizes, *window[1:]
    if overlaps(window):
        np.add.at(memory, indices(window), values)
    else:
        look(memory, window)[...] = values


def _shared(memory: Any, window: Window) -> None:
    """Divide what each place of memory holds among the elements of a window that lie there."""
    if overlaps(window):
        memory /= np.bincount(indices(window).ravel(), minlength=memory.size).clip(1).astype(memory.dtype)


@op(public=False, forward="linear")
def take_window(self: Any, /, window: Any, strides: Any) -> Any:
    """The elements that ``window`` shows of memory laid out with ``strides``; of those in one place, their mean."""
    memory, base, shown = _both(self.shape, strides, window, self.dtype)
    _add(memory, base, self)
    _shared(memory, base)
    return look(memory, shown).copy()


take_window.derivative(
    self=lambda grad, self_sizes, window, strides: embed_window(grad, window, self_sizes, strides),
)


@op(public=False, forward="linear")
def embed_window(self: Any, /, window: Any, sizes: Any, strides: Any) -> Any:
    """Zeros of ``sizes`` whose window holds ``self``: what it shows twice adds up, what lies in one place shares."""
    memory, base, shown = _both(sizes, strides, window, self.dtype)
    _add(memory, shown, self)
    _shared(memory, base)
    return look(memory, base)


embed_window.derivative(self=lambda grad, window, strides: take_window(grad, window, strides))


@op(node="AsStridedScatterBackward0", public=False, forward="linear")
def put_window(self: Any, values: Any, /, window: Any, strides: Any) -> Any:
    """``self`` with its window replaced by ``values``."""
    memory, base, shown = _both(self.shape, strides, window, self.dtype)
    look(memory, base)[...] = self
    look(memory, shown)[...] = values
    return look(memory, base)


put_window.derivative(
    self=lambda grad, values_sizes, window, strides: put_window(
        grad, take_window(grad, window, strides) * 0, window, strides
    ),
    values=lambda grad, window, strides: take_window(grad, window, strides),
)
