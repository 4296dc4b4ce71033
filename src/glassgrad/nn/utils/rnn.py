"""Batches of sequences of several lengths: packing, padding, and back.

Source: https://docs.pytorch.org/docs/stable/nn.html#module-torch.nn.utils.rnn
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np

from ...core.tensor import Tensor, wrap
from ...families.create.shared import as_tensor
from ...families.recurrent import functions as rows
from ...ground import dtypes
from ...ground.later import cite_all

__all__ = [
    "PackedSequence", "invert_permutation", "pack_padded_sequence", "pad_packed_sequence", "pad_sequence",
    "unpad_sequence", "pack_sequence", "unpack_sequence",
]  # fmt: skip


class PackedSequence_(NamedTuple):  # noqa: N801  PyTorch's name
    """The four fields of a packed batch."""

    data: Any
    batch_sizes: Any
    sorted_indices: Any
    unsorted_indices: Any


def _as(dtype: dtypes.dtype) -> Any:
    def converted(self: PackedSequence) -> PackedSequence:
        return self.to(dtype=dtype)

    converted.__doc__ = f"The data as {dtype.name}."
    return converted


class PackedSequence(PackedSequence_):
    """A batch without padding: the elements of all samples at the first step, then those at the second, and so on.

    ``batch_sizes`` tells how many samples each step has; ``sorted_indices`` says where the samples, the longest first,
    stood before, ``unsorted_indices`` where to find each of them now.  ``pack_sequence`` and ``pack_padded_sequence``
    make it, recurrent layers take it.
    """

    def __new__(
        cls, data: Any, batch_sizes: Any = None, sorted_indices: Any = None, unsorted_indices: Any = None
    ) -> PackedSequence:
        if unsorted_indices is None:
            unsorted_indices = invert_permutation(sorted_indices)
        if batch_sizes is None:  # PackedSequence((data, batch_sizes))
            if not (isinstance(data, (list, tuple)) and len(data) == 2):
                raise AssertionError("Expected data to be a list or tuple of length 2")
            data, batch_sizes = data
        elif batch_sizes.device.type != "cpu":
            raise ValueError(
                "batch_sizes should always be on CPU. Instances of PackedSequence should never be created manually. "
                "They should be instantiated by functions like pack_sequence and pack_padded_sequences in "
                "nn.utils.rnn. https://pytorch.org/docs/stable/nn.html#torch.nn.utils.rnn.pack_sequence"
            )
        return super().__new__(cls, data, batch_sizes, sorted_indices, unsorted_indices)

    def _with(self, data: Any, move: Any) -> PackedSequence:
        moved = [None if index is None else move(index) for index in (self.sorted_indices, self.unsorted_indices)]
        return type(self)(data, self.batch_sizes, *moved)

    def pin_memory(self) -> PackedSequence:
        """The same in pinned memory."""
        return self._with(self.data.pin_memory(), lambda index: index.pin_memory())

    def is_pinned(self) -> bool:
        """Whether the data is in pinned memory."""
        return self.data.is_pinned()  # type: ignore[no-any-return]

    def to(self, *args: Any, **kwargs: Any) -> PackedSequence:
        """The same with the data converted as by ``Tensor.to``; itself, where nothing changes."""
        data = self.data.to(*args, **kwargs)
        return self if data is self.data else self._with(data, lambda index: index.to(data.device))

    def cuda(self, *args: Any, **kwargs: Any) -> PackedSequence:
        """Raise what asking for an absent device raises."""
        return self.to(*args, **{"device": "cuda", **kwargs})

    def cpu(self, *args: Any, **kwargs: Any) -> PackedSequence:
        """The same on the CPU."""
        return self.to(*args, **{"device": "cpu", **kwargs})

    double, float, half = _as(dtypes.float64), _as(dtypes.float32), _as(dtypes.float16)
    long, int, short = _as(dtypes.int64), _as(dtypes.int32), _as(dtypes.int16)
    char, byte = _as(dtypes.int8), _as(dtypes.uint8)

    @property
    def is_cuda(self) -> bool:
        """False: no tensor lives on a CUDA device."""
        return self.data.is_cuda  # type: ignore[no-any-return]


def invert_permutation(permutation: Tensor | None) -> Tensor | None:
    """The permutation that undoes ``permutation``; None for None."""
    if permutation is None:
        return None
    indices = permutation._array
    inverse = np.empty_like(indices)
    inverse[indices] = np.arange(indices.size, dtype=indices.dtype)
    return wrap(inverse)


def pack_padded_sequence(
    input: Any, lengths: Any, batch_first: bool = False, enforce_sorted: bool = True
) -> PackedSequence:
    """A padded batch (steps, batch, ...), or (batch, steps, ...) with ``batch_first``, without its padding.

    ``lengths`` are those of the samples, the longest first unless ``enforce_sorted`` is False.
    """
    lengths = _whole_numbers(lengths) if not isinstance(lengths, Tensor) else lengths.to(dtype=dtypes.int64)  # type: ignore[attr-defined]
    order = None
    if not enforce_sorted:
        lengths, order = lengths.sort(descending=True)
        input = input.index_select(0 if batch_first else 1, order)
    data, batch_sizes = rows._pack_padded_sequence(input, lengths, batch_first)
    return PackedSequence(data, batch_sizes, order, None)


def _whole_numbers(values: Any) -> Any:
    return as_tensor(values, dtype=dtypes.int64)


def pad_packed_sequence(
    sequence: PackedSequence, batch_first: bool = False, padding_value: float = 0.0, total_length: int | None = None
) -> tuple[Tensor, Tensor]:
    """A packed batch with its padding, and the lengths of the samples, in the order they had before packing.

    ``total_length`` pads to more steps than the longest sample has; ValueError where it is less.
    """
    longest = sequence.batch_sizes.size(0)
    if total_length is not None and total_length < longest:
        raise ValueError(
            "Expected total_length to be at least the length of the longest sequence in input, but got "
            f"total_length={total_length} and max sequence length being {longest}"
        )
    padded, lengths = rows._pad_packed_sequence(
        sequence.data, sequence.batch_sizes, batch_first, padding_value, total_length or longest
    )
    order: Any = sequence.unsorted_indices
    if order is None:
        return padded, lengths
    return padded.index_select(0 if batch_first else 1, order), lengths[order]  # type: ignore[attr-defined, index]


def pad_sequence(
    sequences: Any, batch_first: bool = False, padding_value: float = 0.0, padding_side: str = "right"
) -> Tensor:
    """Samples (length, ...) side by side, (steps, batch, ...) or (batch, steps, ...), filled up to the longest one."""
    if not isinstance(sequences, Iterable):
        raise RuntimeError(
            f"pad_sequence: Expected iterable for input sequences, but got arg of type: {type(sequences)}"
        )
    return rows.pad_sequence(tuple(sequences), batch_first, padding_value, padding_side)


def unpad_sequence(padded_sequences: Any, lengths: Any, batch_first: bool = False) -> list[Tensor]:
    """The samples of a padded batch; without ``batch_first`` the batch itself is transposed in place, as in PyTorch."""
    if not batch_first:
        padded_sequences.transpose_(0, 1)
    steps = wrap(np.arange(padded_sequences.shape[1]))
    pairs = zip(padded_sequences, lengths, strict=True)
    return [sequence[steps < length] for sequence, length in pairs]  # type: ignore[operator]


def pack_sequence(sequences: Any, enforce_sorted: bool = True) -> PackedSequence:
    """Samples (length, ...) as a packed batch, the longest first unless ``enforce_sorted`` is False."""
    lengths = _whole_numbers([sequence.size(0) for sequence in sequences])
    return pack_padded_sequence(pad_sequence(sequences), lengths, enforce_sorted=enforce_sorted)


def unpack_sequence(packed_sequences: PackedSequence) -> list[Tensor]:
    """The samples of a packed batch."""
    padded, lengths = pad_packed_sequence(packed_sequences, batch_first=True)
    return unpad_sequence(padded, lengths, batch_first=True)


cite_all(globals(), "torch.nn.utils.rnn", " ".join(name for name in __all__ if name != "invert_permutation"))
