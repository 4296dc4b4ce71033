"""What pooling does to batches under ``vmap``."""

from __future__ import annotations

from typing import Any

from ..shape.batches import alike
from .rows import fractional_max_pool2d, fractional_max_pool3d


def _of_one(row: Any, dims: int) -> None:
    """An example without samples is one, with the chances of one."""

    @row.batch
    def rule(size: int, batched: Any, self: Any, samples: Any, *settings: Any) -> Any:
        if self._array.ndim - batched[0] != dims + 1:
            return NotImplemented
        self, samples = alike(size, batched, self, samples)
        return row.caller(self, samples.squeeze(1), *settings)


_of_one(fractional_max_pool2d.row, 2)
_of_one(fractional_max_pool3d.row, 3)
