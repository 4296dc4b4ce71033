"""What scans along no dimension do to batches under ``vmap``: they go along all elements of each example, laid flat."""

from __future__ import annotations

from typing import Any

from ..shape.batches import alike, flat
from .rows import before, others, recur, shifted


def _any_line(row: Any) -> None:
    @row.batch
    def rule(size: int, batched: Any, self: Any, *more: Any) -> Any:
        *inputs, dim, reverse = more
        if dim is not None:
            return NotImplemented
        lines = [flat(value) for value in alike(size, batched, self, *inputs)]
        return row.caller(*lines, 1, reverse).reshape((size, *self._array.shape[batched[0] :]))


for _row in (before.row, recur.row, shifted.row):
    _any_line(_row)


@others.row.batch
def _others(size: int, batched: Any, self: Any, result: Any, dim: Any, keepdim: Any) -> Any:
    if dim is not None:
        return NotImplemented
    self, result = alike(size, batched, self, result)
    return others(flat(self), result.reshape((size,)), 1, False).reshape(self._array.shape)
