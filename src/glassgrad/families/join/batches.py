"""What joining, repeating and rolling do to batches under ``vmap``."""

from __future__ import annotations

from typing import Any

from ..shape.batches import aligned, alike, behind, flat
from .rows import cat, repeat, roll, stack


@cat.row.batch
def _cat(size: int, batched: Any, tensors: Any, dim: int) -> Any:
    tensors = alike(size, batched, *tensors)
    ndim = max([tensor._array.ndim for tensor in tensors]) - 1
    some = [tensor for tensor in tensors if tensor._array.ndim > 1 + (tensor._array.shape[1:] == (0,) and ndim > 1)]
    return cat(some or list(tensors), behind(dim, ndim))


@stack.row.batch
def _stack(size: int, batched: Any, tensors: Any, dim: int) -> Any:
    tensors = alike(size, batched, *tensors)
    return stack(list(tensors), behind(dim, tensors[0]._array.ndim))


@repeat.row.batch
def _repeat(size: int, batched: Any, self: Any, repeats: Any) -> Any:
    if len(repeats) < self._array.ndim - 1:
        return NotImplemented  # whose error tells
    return repeat(aligned(self, len(repeats)), (1, *repeats))


@roll.row.batch
def _roll(size: int, batched: Any, self: Any, shifts: Any, dims: Any) -> Any:
    return NotImplemented if dims else roll(flat(self), shifts, (1,)).reshape(self._array.shape)
