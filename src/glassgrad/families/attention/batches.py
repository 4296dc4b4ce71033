"""What attention does to batches under ``vmap``: examples are samples."""

from __future__ import annotations

from typing import Any

from ..shape.batches import alike, fold, unfold
from .rows import flash_attention, flash_attention_backward


def _of_samples(row: Any) -> None:
    count = len(row.inputs) - 1

    @row.batch
    def rule(size: int, batched: Any, *args: Any) -> Any:
        tensors, mask, settings = args[:count], args[count], args[count + 1 :]
        tensors = alike(size, batched[:count], *tensors)
        queries = tensors[0 if row is flash_attention.row else 1]._array.shape
        keys = tensors[1 if row is flash_attention.row else 2]._array.shape
        if batched[count]:
            sizes = mask._array.shape[1:]
            mask = mask.reshape((size, *(1,) * (4 - len(sizes)), *sizes))
            mask = fold(mask.expand((size, queries[1], queries[2], queries[3], keys[3])))
        elif mask is not None and mask._array.ndim == 4 and mask._array.shape[0] != 1:
            mask = mask.repeat((size, 1, 1, 1))
        return tuple([unfold(out, size) for out in row.caller(*map(fold, tensors), mask, *settings)])


_of_samples(flash_attention.row)
_of_samples(flash_attention_backward.row)
