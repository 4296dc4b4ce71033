"""Tensors in memory that other processes see: moves a tensor's memory there, with all that looks at it."""

from __future__ import annotations

import gc
import sys
from typing import Any

import numpy as np

from ...core.tensor import Tensor, share
from ...ground.shared import Shared, allocate
from ..declare import composite
from .storage import owner_of


@composite(function=False)
def share_memory_(self: Tensor) -> Tensor:
    """The tensor itself, its memory moved to where other processes see it: writes in one are seen in all.

    Views and other tensors on the same memory move with it; arrays of NumPy on it stay behind. Does nothing to a
    tensor that is shared already. RuntimeError for a tensor without data.
    Source: https://docs.pytorch.org/docs/stable/generated/torch.Tensor.share_memory_.html
    """
    if self._array.dtype.metadata is not None:
        raise RuntimeError("_share_fd_: only available on CPU")
    share(self)
    owner = owner_of(self._array)
    if type(owner) is not Shared:
        # what shares memory may send it to other processes, and it is multiprocessing that knows how
        from ...multiprocessing import reductions

        reductions.init_reductions()
        _move(self, owner)
    return self


@composite(function=False)
def is_shared(self: Tensor) -> bool:
    """Whether other processes can see the tensor's memory."""
    return type(self._array) is np.ndarray and type(owner_of(self._array)) is Shared


def _address(array: Any) -> int:
    return int(array.__array_interface__["data"][0])


def _on(memory: Any, offset: int, array: Any) -> Any:
    return np.ndarray(array.shape, array.dtype, memory, offset, array.strides)


def _references(tensor: Any) -> int:
    """How often the memory of a tensor is referred to."""
    owner = owner_of(tensor._array)
    return sys.getrefcount(owner)


def _alone() -> int:
    class _Holder:
        _array: Any = None

    holder = _Holder()
    holder._array = np.empty(3)
    return _references(holder)


_ALONE = _alone()


def _move(tensor: Tensor, owner: Any) -> None:
    """Give a tensor, and every tensor on the same memory, shared memory with the same content."""
    if min(owner.strides, default=0) < 0:
        owner = tensor._array
    if min(owner.strides, default=0) < 0:
        tensor._array = owner = owner.copy()
    size = owner.itemsize + sum((n - 1) * step for n, step in zip(owner.shape, owner.strides, strict=True))
    memory = allocate(size if owner.size else 0)
    _on(memory, 0, owner)[...] = owner
    start = _address(owner)
    del owner  # counted otherwise
    others: list[Any] = [tensor]
    if _references(tensor) > _ALONE:
        root = owner_of(tensor._array)
        others += [
            other
            for other in gc.get_objects()
            if issubclass(type(other), Tensor)
            and other is not tensor
            and type(other._array) is np.ndarray
            and owner_of(other._array) is root
        ]
    for other in others:
        other._array = _on(memory, _address(other._array) - start, other._array)
