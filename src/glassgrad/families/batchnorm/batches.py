"""What batch normalisation does to batches under ``vmap``: the channels of all examples side by side."""

from __future__ import annotations

from typing import Any

from ...core.tensor import Tensor
from ..shape.batches import alike, all_alike
from .rows import native_batch_norm, native_batch_norm_backward


def _in_channels(value: Any) -> Any:
    """(B, N, C, ...) as (N, B * C, ...), and (B, C) as (B * C)."""
    if not isinstance(value, Tensor):
        return value
    size, *sizes = value._array.shape
    if len(sizes) == 1:
        return value.reshape((size * sizes[0],))
    return value.movedim(0, 1).reshape((sizes[0], size * sizes[1], *sizes[2:]))


def _out_of_channels(value: Any, size: int, channels: int) -> Any:
    sizes = value._array.shape
    if len(sizes) > 1:
        return value.reshape((sizes[0], size, channels, *sizes[2:])).movedim(1, 0)
    return value.reshape((size, channels)) if sizes[0] == size * channels else all_alike(value, size)


_WRITTEN = (
    "Batch norm got a batched tensor as input while the running_mean or running_var, which will be updated in place, "
    "were not batched.\nIf you are using a module and do not need eval mode, please set `track_running_stats` to be "
    "False.If you are using a prebuilt module and do not need eval mode, please see the functorch website for "
    "resources on how to patch your module to work with vmap"
)


def _over_channels(row: Any, image: int) -> None:
    @row.batch
    def rule(size: int, batched: Any, *args: Any) -> Any:
        count = len(row.inputs)
        if row is native_batch_norm.row and args[count] and batched[0] and args[3] is not None:
            if not (batched[3] and batched[4]):
                raise RuntimeError(_WRITTEN)
        tensors = [_in_channels(value) for value in alike(size, batched, *args[:count])]
        channels = args[image]._array.shape[1 + batched[image]]
        return tuple([_out_of_channels(out, size, channels) for out in row.caller(*tensors, *args[count:])])


_over_channels(native_batch_norm.row, 0)
_over_channels(native_batch_norm_backward.row, 1)
