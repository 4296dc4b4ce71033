"""Rows of a table picked by index, and their gradients added up again."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...core.row import op
from ...kernels import compiled
from .sparse import embedding_sparse_backward

_SMALL = 4096


def rows_added(values: Any, index: Any, n: int) -> Any:
    """A table of ``n`` rows into which each row of ``values`` is added at its ``index``."""
    width = values.shape[-1]
    values, index = values.reshape(-1, width), index.reshape(-1)
    if not len(index):
        return np.zeros((n, width), values.dtype)
    if n * len(index) <= _SMALL and values.dtype.kind == "f":
        chosen = np.zeros((n, len(index)), values.dtype)
        chosen[index, np.arange(len(index))] = 1
        return chosen.dot(values)
    out = np.zeros((n, width), values.dtype)
    if values.size >= compiled.least and compiled.scatter.add_rows(out, index, values):
        return out
    order = np.argsort(index, kind="stable")
    ordered = index[order]
    starts = np.flatnonzero(np.concatenate(([True], ordered[1:] != ordered[:-1])))
    out[ordered[starts]] = np.add.reduceat(values[order], starts, axis=0)
    return out


def _shares(index: Any, padding_idx: int, by_frequency: bool, kind: Any) -> Any:
    """What each picked row counts in the gradient; None where all count fully."""
    if padding_idx < 0 and not by_frequency:
        return None
    share = (index != padding_idx).astype(kind)
    if by_frequency and index.size:
        share = share / np.bincount(index.reshape(-1))[index].astype(kind)
    return share[..., None]


def _height(sizes: tuple[int, ...]) -> int:
    return sizes[0]


@op(
    apart=("indices",),
    public=False,
    hidden=("weight_sizes",),
    shows={"weight_sym_argsize_0": ("weight_sizes", _height)},
)
def embedding(
    weight: Any, indices: Any, /, padding_idx: int = -1, scale_grad_by_freq: bool = False, sparse: bool = False
) -> Any:
    """The rows of ``weight`` that ``indices`` names; the row ``padding_idx`` gets no gradient."""
    if weight.ndim != 2:
        raise RuntimeError("'weight' must be 2-D")
    if indices.size and (indices.item(indices.argmin()) < 0 or indices.item(indices.argmax()) >= weight.shape[0]):
        raise IndexError("index out of range in self")
    return weight.take(indices, axis=0)


embedding.derivative(
    weight=lambda grad, indices, weight_sizes, padding_idx, scale_grad_by_freq, sparse: (
        embedding_sparse_backward(grad, indices, weight_sizes, padding_idx, scale_grad_by_freq)
        if sparse
        else embedding_dense_backward(grad, indices, _height(weight_sizes), padding_idx, scale_grad_by_freq)
    )
)


@op(apart=("indices",), public=False)
def embedding_dense_backward(
    grad_output: Any, indices: Any, /, num_weights: int, padding_idx: int, scale_grad_by_freq: bool
) -> Any:
    """The gradient of ``embedding`` by its table."""
    share = _shares(indices, padding_idx, scale_grad_by_freq, grad_output.dtype)
    return rows_added(grad_output if share is None else grad_output * share, indices, num_weights)


embedding_dense_backward.derivative(
    grad_output=lambda grad, indices, padding_idx, scale_grad_by_freq: embedding_twice(
        grad, indices, padding_idx, scale_grad_by_freq
    )
)


@op(node="EmbeddingDenseBackwardBackward0", apart=("indices",), public=False)
def embedding_twice(self: Any, indices: Any, /, padding_idx: int, scale_grad_by_freq: bool) -> Any:
    """The adjoint of ``embedding_dense_backward``."""
    share = _shares(indices, padding_idx, scale_grad_by_freq, self.dtype)
    picked = self.take(indices, axis=0)
    return picked if share is None else picked * share


embedding_twice.derivative(
    self=lambda grad, indices, self_sizes, padding_idx, scale_grad_by_freq: embedding_dense_backward(
        grad, indices, _height(self_sizes), padding_idx, scale_grad_by_freq
    )
)


@op(constant=True, public=False)
def one_hot_of(self: Any, /, num_classes: int) -> Any:
    """Zeros, and a one where each element of ``self`` points in a new last dimension."""
    out = np.zeros((*self.shape, num_classes), np.int64)
    if self.size:
        out.reshape(-1, num_classes)[np.arange(self.size), self.reshape(-1)] = 1
    return out
