"""Packed batches: samples of several lengths, the longest first, without their padding, step after step.

``batch_sizes`` tells how many samples are still there at each step.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ...core.row import op
from ...ground import dtypes
from .shape import axis_of

_UNSORTED = (
    "`lengths` array must be sorted in decreasing order when `enforce_sorted` is True. You can pass "
    "`enforce_sorted=False` to pack_padded_sequence and/or pack_sequence to sidestep this requirement if you do not "
    "need ONNX exportability."
)
_TOO_SHORT = "Length of all samples has to be greater than 0, but found an element in 'lengths' that is <= 0"


def check_lengths(lengths: Any) -> None:
    """Raise PyTorch's error unless lengths, or batch sizes, are a vector of int64."""
    if lengths.ndim != 1 or lengths.dtype != np.int64:
        name = dtypes.of(lengths.dtype).scalar_name
        raise RuntimeError(
            f"'lengths' argument should be a 1D CPU int64 tensor, but got {lengths.ndim}D cpu {name} tensor"
        )


def _there(batch_sizes: Any, steps: int, batch: int) -> Any:
    """Where (steps, batch) a sample is still there."""
    mask = np.zeros((steps, batch), bool)
    mask[: len(batch_sizes)] = np.arange(batch) < batch_sizes[:steps, None]
    return mask


def _pick(padded: Any, batch_sizes: Any, batch_first: bool) -> Any:
    by_step = np.swapaxes(padded, 0, 1) if batch_first else padded
    return by_step[_there(batch_sizes, *by_step.shape[:2])]


@op(
    node="PackPaddedSequenceBackward0",
    apart=("lengths",),
    outputs=("result0", "result1"),
    differentiable=("result0",),
    public=False,
)
def pack_padded(input: Any, lengths: Any, /, batch_first: bool) -> Any:
    """The elements of a padded batch that are none of the padding, step by step; how many each step has."""
    check_lengths(lengths)
    if not input.size:
        raise RuntimeError("Cannot pack empty tensors.")
    batch = input.shape[0 if batch_first else axis_of(1, input.ndim)]
    if len(lengths) != batch:
        raise RuntimeError(
            f"Expected `len(lengths)` to be equal to batch_size, but got {len(lengths)} (batch_size={batch})"
        )
    if lengths[-1] <= 0:
        raise RuntimeError(_TOO_SHORT)
    if (lengths[1:] > lengths[:-1]).any():
        raise RuntimeError(_UNSORTED)
    sizes = np.add.reduce(lengths > np.arange(lengths[0])[:, None], axis=1, dtype=np.int64)
    return _pick(input, sizes, batch_first), sizes


pack_padded.derivative(
    input=lambda grad, result1, input_sizes, batch_first: pack_padded_backward(grad, result1, input_sizes, batch_first)
)


@op(apart=("batch_sizes",), public=False)
def pack_padded_backward(grad_output: Any, batch_sizes: Any, /, sizes: Any, batch_first: bool) -> Any:
    """The packed gradient in its place within noughts of ``sizes``."""
    out = np.zeros(sizes, grad_output.dtype)
    by_step = np.swapaxes(out, 0, 1) if batch_first else out
    by_step[_there(batch_sizes, *by_step.shape[:2])] = grad_output
    return out


pack_padded_backward.derivative(
    grad_output=lambda grad, batch_sizes, batch_first: pack_again(grad, batch_sizes, batch_first)
)


@op(apart=("batch_sizes",), public=False)
def pack_again(self: Any, batch_sizes: Any, /, batch_first: bool) -> Any:
    """The elements of a padded batch that have a place in the packed one."""
    return _pick(self, batch_sizes, batch_first)


pack_again.derivative(
    self=lambda grad, batch_sizes, self_sizes, batch_first: pack_padded_backward(
        grad, batch_sizes, self_sizes, batch_first
    )
)


@op(node="PadPackedSequenceBackward0", apart=("batch_sizes",), public=False)
def pad_packed(data: Any, batch_sizes: Any, /, padding_value: Any, total_length: int) -> Any:
    """The padded batch (steps, batch, ...) of a packed one."""
    check_lengths(batch_sizes)
    batch = int(batch_sizes[0])
    _check_runs(data.shape, batch_sizes.tolist(), batch)
    out = np.full((total_length, batch, *data.shape[1:]), np.asarray(padding_value).astype(data.dtype), data.dtype)
    out[_there(batch_sizes, total_length, batch)] = data[: int(batch_sizes.sum())]
    return out


pad_packed.derivative(data=lambda grad, batch_sizes: pack_again(grad, batch_sizes, False))


def _check_runs(shape: tuple[int, ...], sizes: list[int], batch: int) -> None:
    """Raise what PyTorch raises, which copies the steps of equally many samples at once, where sizes do not fit."""
    start = at = 0
    rest = ", ".join(map(str, shape[1:]))
    rest = f", {rest}" if rest else ""
    while at < len(sizes):
        end = at
        while end < len(sizes) and sizes[end] == sizes[at]:
            end += 1
        steps, size = end - at, sizes[at]
        there = max(min(shape[0] - start, steps * size), 0)
        if there != steps * size:
            count = there
            for n in shape[1:]:
                count *= n
            raise RuntimeError(f"shape '[{steps}, {size}{rest}]' is invalid for input of size {count}")
        if size > batch:
            raise RuntimeError(
                f"output with shape [{steps}, {batch}{rest}] doesn't match the broadcast shape [{steps}, {size}{rest}]"
            )
        start, at = start + steps * size, end
