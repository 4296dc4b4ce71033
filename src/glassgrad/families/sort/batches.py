"""What searching does to batches under ``vmap``."""

from __future__ import annotations

from typing import Any

from ..shape.batches import alike, flat
from .rows import searchsorted


@searchsorted.row.batch
def _searchsorted(size: int, batched: Any, sorted_sequence: Any, self: Any, right: bool, out_int32: bool) -> Any:
    if not batched[0] and sorted_sequence._array.ndim == 1:
        return searchsorted(sorted_sequence, self, right, out_int32)
    edges, values = alike(size, batched, sorted_sequence, self)
    if edges._array.ndim > 2:
        return searchsorted(edges, values, right, out_int32)
    return searchsorted(edges, flat(values), right, out_int32).reshape(values._array.shape)
