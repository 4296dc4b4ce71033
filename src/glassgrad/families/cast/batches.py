"""What copies and fillings do to batches under ``vmap``."""

from __future__ import annotations

from typing import Any

from ...core.row import TABLE
from ..shape.batches import aligned, alike, fold, unfold
from .rows import clone, copy, fill_tensor, fill_with_tensor, spread_over, to_copy, whole_sum


@copy.row.batch
def _copy(size: int, batched: Any, self: Any, src: Any) -> Any:
    self, src = alike(size, batched, self, src)
    return copy(self, aligned(src, self._array.ndim - 1))


for _fill in (fill_tensor, fill_with_tensor):

    @_fill.row.batch
    def _filled(size: int, batched: Any, self: Any, value: Any) -> Any:
        self, value = alike(size, batched, self, value)
        return copy(self, aligned(value, self._array.ndim - 1)).contiguous()


@whole_sum.row.composition
def _whole_sum(grad: Any) -> Any:
    return TABLE["sum"].caller(grad)


@spread_over.row.composition
def _spread_over(self: Any, sizes: Any) -> Any:
    return TABLE["spread"].caller(self, sizes)


@to_copy.row.batch
def _to_copy(size: int, batched: Any, self: Any, dtype: Any, source: Any, memory_format: Any) -> Any:
    if memory_format is None or "channels" not in str(memory_format):
        return NotImplemented
    return unfold(to_copy(fold(self), dtype, source, memory_format), size)


@clone.row.batch
def _clone(size: int, batched: Any, self: Any, memory_format: Any) -> Any:
    if memory_format is None or "channels" not in str(memory_format):
        return NotImplemented
    return unfold(clone(fold(self), memory_format), size)
