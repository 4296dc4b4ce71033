"""What joining, repeating and rolling do to batches under ``vmap``."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...core.tensor import wrap
from ..shape.batches import aligned, alike, behind, flat
from .rows import block_diag, cat, repeat, roll, stack


@cat.row.batch
def _cat(size: int, batched: Any, tensors: Any, dim: int) -> Any:
    tensors = alike(size, batched, *tensors)
    ndim = max([tensor._array.ndim for tensor in tensors]) - 1
    some = [tensor for tensor in tensors if tensor._array.ndim > 1 + (tensor._array.shape[1:] == (0,))]
    return cat(some, behind(dim, ndim)) if some else cat(list(tensors), 1)  # of empty vectors no dimension is asked


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


@block_diag.row.composition
def _block_diag(tensors: Any) -> Any:
    blocks = [tensor.reshape((1,) * (2 - tensor.dim()) + tuple(tensor.shape)) for tensor in tensors]
    width, left, rows = sum(block.shape[1] for block in blocks), 0, []
    for block in blocks:
        (height, own), kind = block.shape, block._array.dtype
        before, after = (wrap(np.zeros((height, n), kind)) for n in (left, width - left - own))
        rows.append(cat([before, block, after], 1))
        left += own
    return cat(rows, 0)
