"""What the halves of spectra do to batches under ``vmap``."""

from __future__ import annotations

from typing import Any

from ..shape.batches import all_alike
from .rows import middle


@middle.row.batch
def _middle(size: int, batched: Any, self: Any, dim: int, length: int, factor: float) -> Any:
    factors = middle(self, dim % (self._array.ndim - 1) + 1, length, factor)  # one for each element of a dimension
    ndim = self._array.ndim - 1 - dim % (self._array.ndim - 1)
    return all_alike(factors.reshape((-1, *(1,) * (ndim - 1))), size)
