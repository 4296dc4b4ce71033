"""What reductions of all elements do to batches under ``vmap``: reductions along a dimension of examples laid flat."""

from __future__ import annotations

from typing import Any

from ...core.row import TABLE
from ..scan.rows import others
from ..shape.batches import alike, flat
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
    return median_dim(flat(self), 1, False)[0]


@nanmedian_all.row.batch
def _nanmedian(size: int, batched: Any, self: Any) -> Any:
    return nanmedian_dim(flat(self), 1, False)[0]


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


def _any_line(name: str) -> None:
    """Along no dimension: along all elements, laid flat."""
    row = TABLE[name]

    @row.batch
    def rule(size: int, batched: Any, self: Any, *others: Any) -> Any:
        position = row.settings.index("dim") + len(row.inputs) - 1
        if others[position] is not None or not all(batched):
            return NotImplemented
        lines = [flat(value) for value in (self, *others[: len(row.inputs) - 1])]
        settings = [1 if name == "dim" else value for name, value in zip(row.settings, others[len(lines) - 1 :])]
        return row.caller(*lines, *settings).reshape(self._array.shape)


for _name in ("before", "recur", "shifted"):
    _any_line(_name)


@others.row.batch
def _others(size: int, batched: Any, self: Any, result: Any, dim: Any, keepdim: Any) -> Any:
    if dim is not None:
        return NotImplemented
    self, result = alike(size, batched, self, result)
    return others(flat(self), result.reshape((size,)), 1, False).reshape(self._array.shape)
