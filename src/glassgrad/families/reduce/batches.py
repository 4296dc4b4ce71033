"""What reductions of all elements do to batches under ``vmap``: reductions along a dimension of examples laid flat."""

from __future__ import annotations

from typing import Any

from ..shape.batches import flat
from .extreme import (
    amax_dim,
    amin_dim,
    argmax,
    argmin,
    max_all,
    median_all,
    median_dim,
    min_all,
    nanmedian_all,
    nanmedian_dim,
)
from .rows import mean, mean_dim, prod_all, prod_dim, spread, spread_dim, sum, sum_dim


@sum.row.batch
def _sum(size: int, batched: Any, self: Any, dtype: Any) -> Any:
    return sum_dim(flat(self), (1,), False, dtype)


@mean.row.batch
def _mean(size: int, batched: Any, self: Any) -> Any:
    return mean_dim(flat(self), (1,))


@prod_all.row.batch
def _prod(size: int, batched: Any, self: Any, dtype: Any) -> Any:
    return prod_dim(flat(self), 1, False, dtype)


@max_all.row.batch
def _max(size: int, batched: Any, self: Any) -> Any:
    return amax_dim(flat(self), (1,))


@min_all.row.batch
def _min(size: int, batched: Any, self: Any) -> Any:
    return amin_dim(flat(self), (1,))


@median_all.row.batch
def _median(size: int, batched: Any, self: Any) -> Any:
    return median_dim(flat(self), 1, False)[0] if self._array.size else NotImplemented


@nanmedian_all.row.batch
def _nanmedian(size: int, batched: Any, self: Any) -> Any:
    return nanmedian_dim(flat(self), 1, False)[0] if self._array.size else NotImplemented


@spread.row.batch
def _spread(size: int, batched: Any, self: Any, sizes: Any) -> Any:
    return spread_dim(self.reshape((size,)), (size, *sizes), tuple(range(1, len(sizes) + 1)), False)


def _of_all(row: Any) -> None:
    """Where dimensions are none, those of an example laid flat; one result, or with ``keepdim`` in all dimensions."""

    @row.batch
    def rule(size: int, batched: Any, self: Any, dim: Any, keepdim: Any) -> Any:
        if dim is not None:
            return NotImplemented
        result = row.caller(flat(self), 1, False)
        return result.reshape((size, *(1,) * (self._array.ndim - 1))) if keepdim else result


_of_all(argmax.row)
_of_all(argmin.row)
