"""Batches of samples of several lengths: padded, packed, and from one to the other."""

from __future__ import annotations

import builtins
from collections.abc import Sequence
from typing import Any

import numpy as np

from ...core.tensor import Tensor, wrap
from ...ground import dtypes, modes
from ..declare import composite
from ..primitive import packed as rows
from ..primitive.index import select, slice
from ..primitive.shape import transpose
from .operand import need_tensor


@composite(method=False)
def _pack_padded_sequence(input: Any, lengths: Any, batch_first: bool) -> tuple[Tensor, Tensor]:
    """A padded batch without its padding, and the number of samples at each step."""
    need_tensor("_pack_padded_sequence", "input", 1, input)
    need_tensor("_pack_padded_sequence", "lengths", 2, lengths)
    return rows.pack_padded(input, lengths, batch_first)  # type: ignore[no-any-return]


@composite(method=False)
def _pad_packed_sequence(
    data: Any, batch_sizes: Any, batch_first: bool, padding_value: Any, total_length: int
) -> tuple[Tensor, Tensor]:
    """A packed batch with padding up to ``total_length`` steps, and the lengths of the samples."""
    padded = rows.pad_packed(data, batch_sizes, padding_value, total_length)
    sizes = batch_sizes._array
    lengths = np.add.reduce(sizes[:, None] > np.arange(sizes[0]), axis=0, dtype=np.int64)
    return (transpose(padded, 0, 1) if batch_first else padded), wrap(lengths)


def pad_sequence(
    sequences: Sequence[Any], batch_first: bool = False, padding_value: float = 0.0, padding_side: str = "right"
) -> Tensor:
    """Samples (length, ...) side by side, filled up with ``padding_value`` to the longest one's length."""
    if not sequences:
        raise RuntimeError("received an empty list of sequences")
    if padding_side not in ("left", "right"):
        raise RuntimeError(f"Expected padding_side to be one of left or right, but got {padding_side}.")
    for index, sequence in enumerate(sequences):
        if not isinstance(sequence, Tensor):
            raise TypeError(f"expected Tensor as element {index} in argument 0, but got {dtypes.called(sequence)}")
    first = sequences[0]._array
    if not first.ndim:
        raise RuntimeError("ArrayRef: invalid slice, N = 1; size = 0")
    lengths = [sequence._array.shape[0] if sequence._array.ndim else 1 for sequence in sequences]
    longest, count = max(lengths), len(sequences)
    sizes = (count, longest) if batch_first else (longest, count)
    kind = first.dtype
    out = np.full((*sizes, *first.shape[1:]), np.asarray(padding_value).astype(kind), kind)
    starts = [longest - length if padding_side == "left" else 0 for length in lengths]
    recorded = modes.unusual or (modes.grad_enabled() and any(sequence.requires_grad for sequence in sequences))
    if not recorded and all(
        sequence._array.shape[1:] == first.shape[1:] and sequence._array.dtype == kind for sequence in sequences
    ):
        for index, (sequence, start, length) in enumerate(zip(sequences, starts, lengths, strict=True)):
            steps = builtins.slice(start, start + length)
            out[(index, steps) if batch_first else (steps, index)] = sequence._array
        return wrap(out)
    padded = wrap(out)
    for index, (sequence, start, length) in enumerate(zip(sequences, starts, lengths, strict=True)):
        if batch_first:
            part = slice(select(padded, 0, index), 0, start, start + length, 1)
        else:
            part = select(slice(padded, 0, start, start + length, 1), 1, index)
        part.copy_(sequence)
    return padded
