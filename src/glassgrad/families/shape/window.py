"""Windows on memory: strided views, and what takes, embeds and puts a window: each other's derivatives.

``core/views.py`` carries writes through views with them, through every order of derivatives.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ...core.row import op
from ...ground.window import dense, empty, flat, indices, laid_out, look, overlaps, owner_of

ndarray = np.ndarray


@op(view=True)
def as_strided(self: Any, /, size: Any, stride: Any, storage_offset: Any = None, layout: Any = None) -> Any:
    """The view of the same memory with these sizes and strides, from an offset, all in elements.

    ``layout`` is how ``self`` lies in its memory, as ``layout_of`` tells: where gradients go.
    """
    if len(size) != len(stride):
        raise RuntimeError("mismatch in length of strides and shape")
    if any(step < 0 for step in stride):
        raise RuntimeError(f"as_strided: Negative strides are not supported at the moment, got strides: {list(stride)}")
    root, here = memory_of(self)
    offset = here if storage_offset is None else storage_offset
    size, stride = tuple(size), tuple(stride)
    needed = 0 if 0 in size else 1 + offset + sum((n - 1) * s for n, s in zip(size, stride, strict=True))
    if needed * self.itemsize > root.nbytes:
        raise RuntimeError(
            f"setStorage: sizes {list(size)}, strides {list(stride)}, storage offset {offset}, and itemsize "
            f"{self.itemsize} requiring a storage size of {needed * self.itemsize} are out of bounds for storage of "
            f"size {root.nbytes}"
        )
    return look(self, (size, stride, offset - here))


@as_strided.derivative("self")
def _spread(grad: Any, self_sizes: Any, size: Any, stride: Any, storage_offset: Any, layout: Any) -> Any:
    """The gradient of every element that the view shows, added where it lies in memory."""
    if layout is None:
        return embed_window(grad, (tuple(size), tuple(stride), storage_offset or 0), self_sizes, dense(self_sizes))
    strides, start, length = layout
    offset = start if storage_offset is None else storage_offset
    memory = embed_window(grad, (tuple(size), tuple(stride), offset), (length,), (1,))
    return take_window(memory, (self_sizes, strides, start), (1,))


def memory_of(array: Any) -> tuple[Any, int]:
    """The array that owns the memory which this one shows, and where in it this one begins, in elements."""
    root = owner_of(array)
    return root, (array.ctypes.data - root.ctypes.data) // array.itemsize


def layout_of(array: Any) -> tuple[tuple[int, ...], int, int] | None:
    """An array's strides, its place in memory and the size of that; None if it is dense at the front, or repeats."""
    root, start = memory_of(array)
    strides = tuple([step // array.itemsize for step in array.strides])
    if not start and strides == dense(array.shape) or 0 in strides or not array.size:
        return None
    return strides, start, root.nbytes // array.itemsize


@op(public=False, forward="linear")
def take_window(self: Any, /, window: Any, strides: Any) -> Any:
    """The elements that ``window`` shows of memory laid out with ``strides``."""
    return look(laid_out(self, self.shape, strides), window).copy()


take_window.derivative(
    self=lambda grad, self_sizes, window, strides: embed_window(grad, window, self_sizes, strides),
)


@op(public=False, forward="linear")
def embed_window(self: Any, /, window: Any, sizes: Any, strides: Any) -> Any:
    """Zeros of ``sizes`` whose window holds ``self``; elements that the window shows several times add up."""
    out = empty(sizes, strides, self.dtype)
    shown = look(out, window)
    if any(stride == 0 and size > 1 for size, stride in zip(window[0], window[1], strict=True)) or overlaps(window):
        np.add.at(flat(out), indices(window), self)
    else:
        shown[...] = self
    return out


embed_window.derivative(self=lambda grad, window, strides: take_window(grad, window, strides))


@op(public=False, forward="linear")
def put_window(self: Any, values: Any, /, window: Any, strides: Any) -> Any:
    """``self`` with its window replaced by ``values``."""
    out = laid_out(self, self.shape, strides)
    look(out, window)[...] = values
    return out


put_window.derivative(
    self=lambda grad, values_sizes, window, strides: put_window(
        grad, take_window(grad, window, strides) * 0, window, strides
    ),
    values=lambda grad, window, strides: take_window(grad, window, strides),
)
