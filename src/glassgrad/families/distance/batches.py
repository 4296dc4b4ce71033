"""What distances and norms do to batches under ``vmap``."""

from __future__ import annotations

from typing import Any

from ..shape.batches import flat, fold, unfold
from .rows import dist, linalg_vector_norm, norm_all, norm_dim, renorm


@dist.row.composition
def _dist(self: Any, other: Any, p: Any) -> Any:
    off = (self - other).reshape((-1,))
    return linalg_vector_norm(off, p, (0,), False, None)


@norm_all.row.batch
def _norm(size: int, batched: Any, self: Any, p: Any) -> Any:
    return norm_dim(flat(self), p, (1,), False)


@renorm.row.batch
def _renorm(size: int, batched: Any, self: Any, p: Any, dim: int, maxnorm: Any) -> Any:
    moved = self.movedim(dim % (self._array.ndim - 1) + 1, 1)
    return unfold(renorm(fold(moved), p, 0, maxnorm), size).movedim(1, dim % (self._array.ndim - 1) + 1).contiguous()
