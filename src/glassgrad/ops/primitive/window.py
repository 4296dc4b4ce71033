"""Windows on memory: strided views, and how a write through a view becomes part of its base's history.

A write through a view is, for the base, ``CopySlices``: take the view's window of the gradient, run the written
operation's rules on it, put what they give for the old value back.  The view reads its history again from the base as
``AsStridedBackward0``.  A *window* is a view's place in its base: sizes, strides and offset, in elements.
"""

from __future__ import annotations

import weakref
from typing import Any

import numpy as np

from ...core import tensor as tensors
from ...core import write
from ...core.node import Node
from ...core.record import Kind, Record, about, freed
from ...core.row import op
from ...core.tensor import Tensor, View, edge_of

ndarray = np.ndarray


def dense(sizes: tuple[int, ...]) -> tuple[int, ...]:
    """The strides of a row-by-row array of ``sizes``, in elements."""
    strides = []
    step = 1
    for size in reversed(sizes):
        strides.append(step)
        step *= max(size, 1)
    return tuple(reversed(strides))


def window_of(array: Any, base: Any) -> tuple[tuple[int, ...], tuple[int, ...], int]:
    """Sizes, strides and offset of a view in its base, in elements."""
    item = array.itemsize
    strides = tuple(stride // item for stride in array.strides)
    return array.shape, strides, (array.ctypes.data - base.ctypes.data) // item


def look(array: Any, window: tuple[tuple[int, ...], tuple[int, ...], int]) -> Any:
    """The view of ``array``'s memory at ``window``."""
    sizes, strides, offset = window
    item = array.itemsize
    if not array.size or 0 in sizes:
        return np.empty(sizes, array.dtype)
    return _from_memory(array, sizes, tuple(stride * item for stride in strides), offset * item)


class _Memory:
    """What NumPy needs to look at memory that another array keeps alive."""

    __slots__ = ("__array_interface__", "keeper")

    def __init__(self, keeper: Any, interface: dict[str, Any]) -> None:
        self.keeper, self.__array_interface__ = keeper, interface


def _from_memory(array: Any, sizes: tuple[int, ...], strides: tuple[int, ...], offset: int) -> Any:
    native = array.dtype.kind != "V"
    kind = array.dtype if native else np.dtype(np.uint16)
    address, locked = array.ctypes.data + offset, not array.flags.writeable
    interface = {"shape": sizes, "strides": strides, "typestr": kind.str, "data": (address, locked), "version": 3}
    found = np.asarray(_Memory(array, interface))
    return found if native else found.view(array.dtype)


def laid_out(grad: Any, sizes: tuple[int, ...], strides: tuple[int, ...]) -> Any:
    """A copy of ``grad`` in a memory layout of ``strides`` (in elements) where that is dense, else row by row."""
    out = _empty(sizes, strides, grad.dtype)
    np.copyto(out, grad)
    return out


def _empty(sizes: tuple[int, ...], strides: tuple[int, ...], dtype: Any) -> Any:
    span = 1 + sum((size - 1) * stride for size, stride in zip(sizes, strides, strict=True)) if 0 not in sizes else 0
    buffer = np.zeros(span, dtype)
    return look(buffer, (sizes, strides, 0)) if buffer.size else np.empty(sizes, dtype)


@op(view=True)
def as_strided(self: Any, /, size: Any, stride: Any, storage_offset: Any = None) -> Any:
    """The view of the same memory with these sizes and strides, from an offset, all in elements."""
    if len(size) != len(stride):
        raise RuntimeError("mismatch in length of strides and shape")
    if any(step < 0 for step in stride):
        raise RuntimeError(f"as_strided: Negative strides are not supported at the moment, got strides: {list(stride)}")
    root = self
    while isinstance(root.base, ndarray) and root.base.dtype == self.dtype:
        root = root.base
    here = (self.ctypes.data - root.ctypes.data) // self.itemsize
    offset = here if storage_offset is None else storage_offset
    size, stride = tuple(size), tuple(stride)
    needed = 0 if 0 in size else 1 + offset + sum((n - 1) * s for n, s in zip(size, stride, strict=True))
    if needed > root.size:
        raise RuntimeError(
            f"setStorage: sizes {list(size)}, strides {list(stride)}, storage offset {offset}, and itemsize "
            f"{self.itemsize} requiring a storage size of {needed * self.itemsize} are out of bounds for storage of "
            f"size {root.nbytes}"
        )
    return look(
        root if root.flags.c_contiguous else self, (size, stride, offset if root.flags.c_contiguous else offset - here)
    )


@as_strided.derivative("self")
def _spread(grad: Any, self_sizes: Any, size: Any, stride: Any, storage_offset: Any) -> Any:
    """The gradient of every element that the view shows, added where it lies in memory."""
    return embed_window(grad, (tuple(size), tuple(stride), storage_offset or 0), self_sizes, dense(self_sizes))


@op(public=False)
def take_window(self: Any, /, window: Any, strides: Any) -> Any:
    """The elements that ``window`` shows of memory laid out with ``strides``."""
    return look(laid_out(self, self.shape, strides), window).copy()


take_window.derivative(
    self=lambda grad, self_sizes, window, strides: embed_window(grad, window, self_sizes, strides),
)


@op(public=False)
def embed_window(self: Any, /, window: Any, sizes: Any, strides: Any) -> Any:
    """Zeros of ``sizes`` whose window holds ``self``; elements that the window shows several times add up."""
    out = _empty(sizes, strides, self.dtype)
    place = look(out, window)
    if any(stride == 0 and size > 1 for size, stride in zip(window[0], window[1], strict=True)) or _overlaps(window):
        np.add.at(_flat(out), _indices(window), self)
    else:
        place[...] = self
    return out


embed_window.derivative(self=lambda grad, window, strides: take_window(grad, window, strides))


@op(public=False)
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


def _overlaps(window: tuple[tuple[int, ...], tuple[int, ...], int]) -> bool:
    """Whether a window may show one element several times."""
    span = 1
    for stride, size in sorted((s, n) for n, s in zip(window[0], window[1], strict=True) if n > 1):
        if stride < span:
            return True
        span = stride * (size - 1) + span
    return False


def _flat(array: Any) -> Any:
    root = array
    while isinstance(root.base, ndarray):
        root = root.base
    if isinstance(root.base, _Memory):
        return root.base.keeper
    return root.reshape(-1)


def _indices(window: tuple[tuple[int, ...], tuple[int, ...], int]) -> Any:
    sizes, strides, offset = window
    found = np.full(sizes, offset, np.intp)
    for axis, (size, stride) in enumerate(zip(sizes, strides, strict=True)):
        shape = [1] * len(sizes)
        shape[axis] = size
        found += np.arange(size).reshape(shape) * stride
    return found


# -- the history of writes through views -----------------------------------------------------------------------------


def _copy_slices(record: Record, grad: Any, keep: bool) -> Any:
    inner, window, strides = record.k
    if record.run is freed:
        freed(record, grad, keep)
    part = look(laid_out(grad, grad.shape, strides), window).copy()
    ga, gb = inner.run(inner, part, keep)
    grads = ga if inner.kind.arity == 0 else (ga, gb)[: inner.kind.arity]
    out = laid_out(grad, grad.shape, strides)
    look(out, window)[...] = 0 if grads[0] is None else grads[0]
    if not keep:
        record.release()
    return (out, *grads[1:]), None


def _copy_slices_lifted(record: Record, grad: Any, keep: bool) -> Any:
    inner, window, strides = record.k
    part = take_window(grad, window, strides)
    ga, gb = inner.kind.lifted(inner, part, keep)
    grads = ga if inner.kind.arity == 0 else (ga, gb)[: inner.kind.arity]
    first = part * 0 if grads[0] is None else grads[0]
    if not keep:
        record.release()
    return (put_window(grad, first, window, strides), *grads[1:]), None


class CopySlices(Node):
    """A write through a view, as its base sees it; written by hand in PyTorch, which shows in its name."""

    def name(self) -> str:
        return "torch::autograd::CopySlices"


COPY_SLICES = Kind("CopySlices", _copy_slices, _copy_slices_lifted, arity=0, frees=True)
COPY_SLICES.face = CopySlices


def _as_strided(record: Record, grad: Any, keep: bool) -> Any:
    window, sizes, strides = record.k
    return embed_window.row.kernel(grad, window, sizes, strides), None


def _as_strided_lifted(record: Record, grad: Any, keep: bool) -> Any:
    window, sizes, strides = record.k
    return embed_window(grad, window, sizes, strides), None


AS_STRIDED = Kind("AsStridedBackward0", _as_strided, _as_strided_lifted)


def reread(view: Tensor, place: View) -> Record:
    """The history of a view whose base was written in place: its window of the base's history."""
    base = place.base
    record = Record(AS_STRIDED, (edge_of(base),))
    record.k = (window_of(view._array, base._array), base._array.shape, window_of(base._array, base._array)[1])
    return record


def rebase_view(view: Tensor, inner: Record) -> None:
    """After a write through ``view``, described by ``inner``: give the base its new history."""
    base = view._edge.base
    old = edge_of(base)
    record = Record(COPY_SLICES, (old, *inner.edges[1:]))
    record.k = (inner, window_of(view._array, base._array), window_of(base._array, base._array)[1])
    record.p0 = inner  # type: ignore[assignment]  # freed with the record
    record.s = base._array.shape
    base._edge = record
    if base._counter is not None:
        record.counter = base._counter
    about(inner).home = _Home(record)


class _Home:
    """Where the saved result of a write through a view has its history: at the view, reread from the base."""

    __slots__ = ("_record",)

    def __init__(self, record: Record) -> None:
        self._record = weakref.ref(record)  # the record holds the one that saved: no cycle

    def __call__(self) -> Record | None:
        record = self._record()
        if record is None:
            return None
        _, window, strides = record.k
        home = Record(AS_STRIDED, (record,))
        home.k = (window, record.s, strides)
        return home


tensors.reread = reread
write.rebase_view = rebase_view
