"""How batches are put together and taken apart, and what rows of shapes do to them (``func/batching.py``)."""

from __future__ import annotations

from math import prod
from typing import Any

from ...core.row import TABLE
from ...core.tensor import Tensor
from .rows import (
    expand,
    permute,
    reshape_alias,
    squeeze,
    squeeze_dims,
    squeeze_inplace,
    sum_to,
    t,
    t_inplace,
    transpose,
    unsqueeze,
)
from .window import as_strided, as_strided_inplace

# -- batches: the examples lie along the first dimension ---------------------------------------------------------------


def behind(dim: int, ndim: int) -> int:
    """A dimension of an example as one of the batch: counted from the front, one further."""
    if not -ndim <= dim < ndim:
        raise IndexError(f"Dimension out of range (expected to be in range of [{-ndim}, {ndim - 1}], but got {dim})")
    return dim % ndim + 1


def all_alike(value: Any, size: int) -> Any:
    """A batch whose examples are all the same tensor."""
    return expand(unsqueeze(value, 0), (size, *value._array.shape))


def alike(size: int, batched: Any, *values: Any) -> tuple[Any, ...]:
    """Values all as batches: those that are none have the same for every example."""
    return tuple(
        [
            value if is_batch or not isinstance(value, Tensor) else all_alike(value, size)
            for value, is_batch in zip(values, batched, strict=True)
        ]
    )


def fold(value: Any) -> Any:
    """A batch with the examples' first dimensions one behind the other."""
    size, first, *rest = value._array.shape
    return value.reshape((size * first, *rest))


def unfold(value: Any, size: int) -> Any:
    """What was folded, as a batch again."""
    first, *rest = value._array.shape
    return value.reshape((size, first // size if size else first, *rest))


def flat(value: Any) -> Any:
    """A batch whose examples are vectors of all their elements."""
    shape = value._array.shape
    return value if len(shape) == 2 else value.reshape((shape[0], prod(shape[1:])))


def aligned(value: Any, ndim: int) -> Any:
    """A batch whose examples have ``ndim`` dimensions, those in front of size 1."""
    size, *rest = value._array.shape
    lead = ndim - len(rest)
    return value if lead <= 0 else value.reshape((size, *(1,) * lead, *rest))


# -- rows --------------------------------------------------------------------------------------------------------------


@expand.row.batch
def _expand(size: int, batched: Any, self: Any, sizes: Any) -> Any:
    shape = self._array.shape
    lead = len(sizes) - len(shape) + 1
    if lead > 0:
        self = reshape_alias(self, (shape[0], *(1,) * lead, *shape[1:]))
    return expand(self, (shape[0], *sizes))


@sum_to.row.batch
def _sum_to(size: int, batched: Any, self: Any, sizes: Any) -> Any:
    ndim = self._array.ndim - 1
    return sum_to(self, (size, *(1,) * (ndim - len(sizes)), *sizes)).reshape((size, *sizes))


@t.row.batch
def _t(size: int, batched: Any, self: Any) -> Any:
    ndim = self._array.ndim
    if ndim > 3:
        raise RuntimeError(f"t() expects a tensor with <= 2 dimensions, but self is {ndim - 1}D")
    return transpose(self, 1, 2) if ndim == 3 else TABLE["alias"].caller(self)


@t_inplace.row.batch
def _t_inplace(size: int, batched: Any, self: Any) -> Any:
    return _t(size, batched, self)


@squeeze_inplace.row.batch
def _squeeze_inplace(size: int, batched: Any, self: Any) -> Any:
    return _squeeze(size, batched, self)


@permute.row.batch
def _permute(size: int, batched: Any, self: Any, dims: Any) -> Any:
    return NotImplemented if dims else TABLE["alias"].caller(self)


@squeeze.row.batch
def _squeeze(size: int, batched: Any, self: Any) -> Any:
    return squeeze_dims(self, tuple(dim for dim, length in enumerate(self._array.shape) if dim and length == 1))


@as_strided_inplace.row.batch
@as_strided.row.batch
def _as_strided(size: int, batched: Any, self: Any, sizes: Any, stride: Any, storage_offset: Any, layout: Any) -> Any:
    offset = self.storage_offset() + (storage_offset or 0)
    return as_strided(self, (size, *sizes), (self.stride(0), *stride), offset)
