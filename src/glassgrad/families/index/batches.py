"""What index tensors do to batches under ``vmap``: indexed dimensions first, a batch of indices beside them."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ...core.row import TABLE
from ...core.tensor import wrap
from ..shape.batches import aligned, alike, behind, flat, fold, unfold
from ..shape.rows import expand, permute
from .rows import (
    Indices,
    beside,
    index,
    index_backward,
    index_put,
    masked_fill_tensor,
    masked_scatter,
    masked_select,
    together,
    unfold_backward,
)
from .rows import unfold as unfold_row
from .slices import (
    index_add,
    index_copy,
    index_fill,
    index_fill_tensor,
    index_reduce,
    index_select,
    index_select_backward,
)


class _Turned(NamedTuple):
    """How examples are indexed: where they have indices of their own, with the indexed dimensions first.

    order    the dimensions of a batch of examples, as they are indexed
    key      indices for the first of them
    result   where each dimension of a batch of results lies in what that gives
    """

    order: tuple[int, ...]
    key: Indices
    result: tuple[int, ...]


def _turned(size: int, ndim: int, indices: Any) -> _Turned:
    """How a batch of examples of ``ndim`` dimensions is indexed, by pairs of an index and whether it is a batch."""
    parts: list[Any] = []
    for part in indices:
        if part is not None and part[0]._array.dtype == bool:
            if part[1] or not part[0]._array.ndim:
                raise RuntimeError(_DYNAMIC)
            parts += [(index, False) for index in part[0].nonzero().unbind(1)]
        else:
            parts.append(part)
    where = [at for at, part in enumerate(parts) if part is not None]
    rest = [at for at in range(ndim) if at not in where]
    lowered = [parts[at] for at in where]
    wide = max(part._array.ndim - is_batch for part, is_batch in lowered)
    remaining = range(wide + 1, wide + 1 + len(rest))
    adjacent = where == list(range(where[0], where[0] + len(where)))
    if not any(is_batch for _, is_batch in lowered):
        key = [None, *(None if part is None else part[0] for part in parts)]
        spans = range(1 + wide) if adjacent else (wide, *range(wide))
        return _Turned(tuple(range(ndim + 1)), Indices(key), (*spans, *remaining))
    key = [wrap(np.arange(size).reshape((size, *(1,) * wide)))]
    key += [aligned(part, wide) if is_batch else part for part, is_batch in lowered]
    before = where[0] if adjacent else 0
    order = (0, *(at + 1 for at in where), *(at + 1 for at in rest))
    return _Turned(order, Indices(key), (0, *remaining[:before], *range(1, wide + 1), *remaining[before:]))


def _inverse(order: tuple[int, ...]) -> tuple[int, ...]:
    inverse = [0] * len(order)
    for at, dim in enumerate(order):
        inverse[dim] = at
    return tuple(inverse)


_DYNAMIC = (
    "vmap: We do not support batching operators that can support dynamic shape. Attempting to batch over indexing with "
    "a boolean mask."
)


@index.row.batch
def _index(size: int, batched: Any, self: Any, indices: Any) -> Any:
    (self,) = alike(size, batched, self)
    turned = _turned(size, self._array.ndim - 1, indices)
    return permute(index(beside(permute(self, turned.order), turned.key), turned.key), turned.result)


@index_backward.row.batch
def _index_backward(size: int, batched: Any, grad_output: Any, sizes: Any, indices: Any) -> Any:
    (grad,) = alike(size, batched, grad_output)
    turned = _turned(size, len(sizes), indices)
    whole = (size, *sizes)
    back = index_backward(
        beside(permute(grad, _inverse(turned.result)), turned.key),
        tuple([whole[dim] for dim in turned.order]),
        turned.key,
    )
    return permute(back, _inverse(turned.order))


@index_put.row.batch
def _index_put(size: int, batched: Any, self: Any, values: Any, indices: Any, accumulate: Any) -> Any:
    self, values = alike(size, batched, self, values)
    ndim = self._array.ndim
    if len(indices) == 1 and values._array.ndim == 1 and not accumulate and indices[0][0]._array.dtype == bool:
        mask, is_batch = indices[0]  # one value for all elements where the mask holds
        missing = ndim - 1 + is_batch - mask._array.ndim
        mask = mask.reshape((*mask._array.shape, *(1,) * missing))
        return TABLE["where"].caller(mask, values.reshape((size, *(1,) * (ndim - 1))), self)
    turned = _turned(size, ndim - 1, indices)
    put = beside(permute(self, turned.order), turned.key)
    values = permute(aligned(values, len(turned.result) - 1), _inverse(turned.result))
    return permute(index_put(put, values, turned.key, accumulate), _inverse(turned.order))


@unfold_row.row.batch
def _unfold(size: int, batched: Any, self: Any, dimension: int, length: int, step: int) -> Any:
    return NotImplemented if self._array.ndim > 1 else unfold_row(self.unsqueeze(1), 1, length, step).squeeze(1)


@unfold_backward.row.batch
def _unfold_backward(size: int, batched: Any, grad_in: Any, sizes: Any, dim: int, length: int, step: int) -> Any:
    return NotImplemented if sizes else grad_in.reshape((size,))


# -- one index tensor along a dimension --------------------------------------------------------------------------------


def _below(size: int, index: Any, length: int) -> Any:
    """A batch of indices as indices into the examples' dimensions laid one behind the other."""
    starts = wrap((np.arange(size) * length).astype(index._array.dtype))
    index = flat(index)
    index = TABLE["where"].caller(index < 0, index + length, index)
    return (index + starts.reshape((size, 1))).reshape((-1,))


def _outside(index: Any, length: int) -> bool:
    return bool(((index < -length) | (index >= length)).any())


def _together(value: Any, at: int) -> Any:
    """The examples' dimension ``at`` laid one behind the other, first."""
    return fold(value.movedim(at, 1))


def _apart(value: Any, size: int, at: int) -> Any:
    return unfold(value, size).movedim(1, at).contiguous()


def _along(row: Any) -> None:
    """A row with an index of slices of a dimension."""
    names = row.inputs

    @row.batch
    def rule(size: int, batched: Any, self: Any, index: Any, *rest: Any) -> Any:
        others = list(rest)
        has_source = names[-1] == "source"
        at = row.settings.index("dim") + len(names) - 2
        sizes = others[0] if "sizes" in row.settings else None
        ndim = len(sizes) if sizes is not None else self._array.ndim - batched[0]
        if not ndim or names[-1] == "value":
            return NotImplemented
        others[at] = dim = behind(others[at], ndim)
        if sizes is not None:
            others[0] = (size, *sizes)
        (self,) = alike(size, batched[:1], self)
        if has_source:
            (others[0],) = alike(size, batched[2:], others[0])
            if others[0]._array.ndim != self._array.ndim:
                return NotImplemented
        if not batched[1]:
            return row.caller(self, index, *others)
        length = sizes[dim - 1] if sizes is not None else self._array.shape[dim]
        if _outside(index, length):
            return NotImplemented  # whose error tells
        self, index = _together(self, dim), _below(size, index, length)
        others[at] = 0
        if sizes is not None:
            kept = [n for number, n in enumerate(sizes, 1) if number != dim]
            others[0] = (size * length, *kept)
        if has_source:
            others[0] = _together(others[0], dim)
        return _apart(row.caller(self, index, *others), size, dim)


for _row in (index_select, index_select_backward, index_add, index_copy, index_fill, index_reduce):
    _along(_row.row)


@masked_scatter.row.composition
def _masked_scatter(self: Any, mask: Any, source: Any) -> Any:
    self, mask = TABLE["where"].caller(mask, self, self), mask.expand(together(tuple(self.shape), tuple(mask.shape)))
    if not source.numel():
        return NotImplemented
    positions = (mask.reshape(-1).long().cumsum(0) - 1).clamp(0, source.numel() - 1)
    return TABLE["where"].caller(mask, source.reshape(-1).index_select(0, positions).reshape(self.shape), self)


@index_fill_tensor.row.composition
def _index_fill_tensor(self: Any, index: Any, value: Any, dim: Any) -> Any:
    chosen = index_fill(TABLE["fill_number"].caller(self.detach(), 0), index, dim, 1) != 0
    return TABLE["where"].caller(chosen, value.to(self.dtype), self)


@masked_fill_tensor.row.composition
def _masked_fill(self: Any, mask: Any, value: Any) -> Any:
    return TABLE["where"].caller(mask, value.to(self.dtype), self)


@masked_select.row.batch
def _masked_select(size: int, batched: Any, self: Any, mask: Any) -> Any:
    if batched[1]:
        return NotImplemented  # the examples would differ in size
    sizes = together(mask._array.shape, self._array.shape[1:])
    elements = flat(expand(aligned(self, len(sizes)), (size, *sizes)))
    return elements.index_select(1, flat(mask.expand(sizes).unsqueeze(0)).squeeze(0).nonzero().squeeze(1))
