"""PyTorch's signature of embedding_bag, and the shortening of table rows in place."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...core.tensor import Tensor, share, wrap
from ...ground import errors, modes
from ...ops.declare import composite
from ..distance.rows import norm_of
from ..reduce.functions import check_tensor
from . import rows as bags

_KINDS = (
    "Expected tensor for argument #1 'indices' to have one of the following scalar types: Long, Int; but got "
    "torch.{kind}Tensor instead (while checking arguments for embedding_bag)"
)


def embedding_bag(
    weight: Any, indices: Any, offsets: Any, scale_grad_by_freq: bool = False, mode: int = 0, sparse: bool = False,
    per_sample_weights: Any = None, include_last_offset: bool = False, padding_idx: int | None = None,
) -> Any:  # fmt: skip
    """The sum (``mode`` 0), mean (1) or maximum (2) of each bag of rows, and what PyTorch remembers of the bags.

    Source: https://docs.pytorch.org/docs/stable/generated/torch.nn.functional.embedding_bag.html
    """
    check_tensor(weight, "embedding_bag")
    for tensor in (indices, offsets):
        if tensor._array.dtype != np.int64 and tensor._array.dtype != np.int32:
            raise RuntimeError(_KINDS.format(kind=tensor.dtype.scalar_name))
    if per_sample_weights is not None and per_sample_weights.dtype is not weight.dtype:
        names = weight.dtype.scalar_name, per_sample_weights.dtype.scalar_name
        raise RuntimeError(
            "Expected tensor for argument #1 'weight' to have the same type as tensor for argument #1 "
            "'per_sample_weights'; but type torch.{}Tensor does not equal torch.{}Tensor (while checking arguments "
            "for embedding_bag)".format(*names)
        )
    rows, n = weight._array.shape[0], len(indices._array)
    if padding_idx is None:
        padding_idx = -1
    elif not -rows <= padding_idx < rows:
        raise RuntimeError(
            f"padding_idx must be within the number of embeddings, {-rows} through {rows - 1}, but got {padding_idx}"
        )
    elif padding_idx < 0:
        padding_idx += rows
    starts = offsets._array
    if include_last_offset:
        if not len(starts):
            raise RuntimeError("include_last_offset: number of offset should be at least 1")
        end = int(starts[-1])
        starts = starts[:-1]
        if end < n:  # what follows the last bag belongs to none
            indices = indices[:end]
            per_sample_weights = None if per_sample_weights is None else per_sample_weights[:end]
            n = end
    _check_offsets(starts, n)
    entries = indices._array
    wrong = (entries < 0) | (entries >= rows)
    if wrong.any():
        first = int(wrong.argmax())
        raise RuntimeError(
            f"Index {first} of input takes value {entries[first]} which is not in the valid range [0, {rows})"
        )
    return bags.embedding_bag(
        weight, indices, wrap(starts), per_sample_weights, scale_grad_by_freq, mode, sparse, padding_idx
    )


def _check_offsets(starts: Any, n: int) -> None:
    if not len(starts):
        return
    if starts[0] != 0:
        raise RuntimeError(
            "offsets[0] has to be 0, i.e., the first sequence in the mini-batch has to start from position 0. However, "
            f"got {starts[0]}"
        )
    if starts[-1] > n:
        raise RuntimeError(
            f"offsets[-1] can not be greater than input's length {n} but got offsets[-1] of {starts[-1]}"
        )
    if len(starts) > 1 and (starts[1:] < starts[:-1]).any():
        raise RuntimeError("offsets have to rise: a bag cannot begin before the one in front of it")


composite(method=False)(embedding_bag)


@composite(method=False)
def embedding_renorm_(self: Tensor, indices: Any, max_norm: float, norm_type: float) -> Tensor:
    """Scale down, in place, the rows that ``indices`` names and that are longer than ``max_norm``."""
    if self._edge is not None and modes.grad_enabled() and self.requires_grad and self.is_leaf:
        raise RuntimeError(errors.LEAF_INPLACE)
    rows = np.unique(indices._array)
    height = self._array.shape[0]
    wrong = rows[(rows < -height) | (rows >= height)]
    if wrong.size:
        sizes = list(self._array.shape)
        raise IndexError(f"select(): index {wrong[0]} out of range for tensor of size {sizes} at dimension 0")
    chosen = self._array[rows]
    length = norm_of(chosen, norm_type, (1,), True)
    scale = np.where(length > max_norm, max_norm / (length + 1e-7), 1).astype(chosen.dtype)
    self._array[rows] = chosen * scale
    share(self).version += 1
    return self
