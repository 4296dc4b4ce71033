"""What taking from and putting into tensors laid flat does to batches under ``vmap``."""

from __future__ import annotations

from typing import Any

from ...core.row import TABLE
from .rows import put, scatter, scatter_add, take


def _positions(index: Any, count: int) -> Any:
    """Indices into a tensor laid flat, counted from the front."""
    index = index.reshape((-1,))
    return TABLE["where"].caller(index < 0, index + count, index)


@take.row.composition
def _take(self: Any, index: Any) -> Any:
    positions = _positions(index, self.numel())
    return self.reshape((-1,)).index_select(0, positions).reshape(index.shape)


@put.row.composition
def _put(self: Any, index: Any, source: Any, accumulate: bool) -> Any:
    positions = _positions(index, self.numel())
    row = scatter_add if accumulate else scatter
    return row(self.reshape((-1,)), positions, source.reshape((-1,)), 0).reshape(self.shape)
