"""What tables do to batches under ``vmap``: the tables of all examples are one, one below the other."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...core.row import TABLE
from ...core.tensor import wrap
from ..shape.batches import aligned, alike, fold
from .rows import embedding, embedding_dense_backward, embedding_twice


def _below(size: int, indices: Any, height: int) -> Any:
    """A batch of indices as indices into one table."""
    starts = wrap((np.arange(size) * height).astype(indices._array.dtype))
    return (
        indices + aligned(starts.reshape((size, 1)), indices._array.ndim - 1)
        if indices._array.ndim > 1
        else (indices + starts)
    )


@embedding.row.batch
def _embedding(
    size: int, batched: Any, weight: Any, indices: Any, padding_idx: int, scale_grad_by_freq: bool, sparse: bool
) -> Any:
    if not batched[0]:
        return embedding(weight, indices, padding_idx, scale_grad_by_freq, sparse)
    height = weight._array.shape[1]
    (indices,) = alike(size, batched[1:], indices)
    outside = bool(((indices < 0) | (indices >= height)).any())
    if scale_grad_by_freq or sparse or outside:
        return NotImplemented
    picked = embedding(fold(weight), _below(size, indices, height), -1, False, False)
    if padding_idx < 0:
        return picked
    return TABLE["where"].caller((indices == padding_idx).unsqueeze(-1), picked.detach(), picked)


def _without_padding(grad: Any, indices: Any, padding_idx: int) -> Any:
    if padding_idx < 0:
        return grad
    return TABLE["masked_fill"].caller(grad, (indices == padding_idx).unsqueeze(-1), 0)


@embedding_dense_backward.row.batch
def _embedding_backward(
    size: int, batched: Any, grad_output: Any, indices: Any, num_weights: int, padding_idx: int,
    scale_grad_by_freq: bool,
) -> Any:  # fmt: skip
    grad, indices = alike(size, batched, grad_output, indices)
    grad = _without_padding(grad, indices, padding_idx)
    below = _below(size, indices, num_weights)
    table = embedding_dense_backward(grad, below, size * num_weights, -1, scale_grad_by_freq)
    return table.reshape((size, num_weights, grad._array.shape[-1]))


@embedding_twice.row.batch
def _embedding_twice(
    size: int, batched: Any, self: Any, indices: Any, padding_idx: int, scale_grad_by_freq: bool
) -> Any:
    table, indices = alike(size, batched, self, indices)
    picked = embedding_twice(fold(table), _below(size, indices, table._array.shape[1]), -1, scale_grad_by_freq)
    return _without_padding(picked, indices, padding_idx)
