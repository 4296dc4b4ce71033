"""PyTorch's signature of padding, with its checks of which mode pads how many dimensions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...core.tensor import Tensor
from ...ground import dtypes
from ...ground.dtypes import called, need_float
from ...ops.declare import composite
from . import rows

_MODES = {
    "reflect": (rows.reflection_pad1d, rows.reflection_pad2d, rows.reflection_pad3d),
    "replicate": (rows.replication_pad1d, rows.replication_pad2d, rows.replication_pad3d),
}


def _widths(pad: Any) -> tuple[int, ...]:
    if not isinstance(pad, (tuple, list)):
        raise TypeError(f"pad(): argument 'pad' (position 2) must be tuple of ints, not {called(pad)}")
    for position, width in enumerate(pad):
        if isinstance(width, float) or not hasattr(width, "__index__"):
            raise TypeError(
                f"pad(): argument 'pad' (position 2) must be tuple of ints, but found element of type {called(width)} "
                f"at pos {position}"
            )
    return tuple(width.__index__() for width in pad)


@composite(method=False, function=False)
def pad(input: Tensor, pad: Sequence[int], mode: str = "constant", value: float | None = None) -> Tensor:
    """The tensor within a border: "constant", "reflect", "replicate" or "circular"; widths from the last dimension on.
    """
    widths = _widths(pad)
    if value is not None:
        need_float("pad", "value", 4, value)
    ndim = input._array.ndim
    if len(widths) % 2:
        raise RuntimeError("Padding length must be divisible by 2")
    if len(widths) > 2 * ndim:
        raise RuntimeError(
            "Padding length should be less than or equal to two times the input dimension but got padding length "
            f"{len(widths)} and input of dimension {ndim}"
        )
    if mode == "constant":
        if value:  # a float, whatever the number is
            dtypes.check_number(float(value), input._array.dtype)
        return rows.constant_pad_nd(input, widths, 0 if value is None else value)
    if mode not in _MODES and mode != "circular":
        raise NotImplementedError(f"Unrecognised padding mode {mode}")
    if value is not None and value != 0:
        raise RuntimeError(f'Padding mode "{mode}" doesn\'t take in value argument')
    padded = len(widths) // 2
    if not (1 <= padded <= 3 and ndim in (padded + 1, padded + 2)):
        raise NotImplementedError(
            f"Padding size {len(widths)} is not supported for {ndim}D input tensor.\nSupported combinations for "
            "non-constant padding:\n  - 2D or 3D input: padding size = 2 (pads last dimension)\n  - 3D or 4D input: "
            "padding size = 4 (pads last 2 dimensions)\n  - 4D or 5D input: padding size = 6 (pads last 3 dimensions)"
        )
    if mode == "circular":
        return _circular(input, widths)
    _check(input._array, widths, mode, padded)
    return _MODES[mode][padded - 1](input, widths)  # type: ignore[no-any-return]


def _check(array: Any, widths: tuple[int, ...], mode: str, padded: int) -> None:
    """Raise PyTorch's error where the border needs elements that are not there."""
    sizes = array.shape
    inner = sizes[1:] if array.ndim == padded + 2 else sizes
    if 0 in inner:
        raise RuntimeError(
            f"Expected {padded + 1}D or {padded + 2}D (batch mode) tensor with possibly 0 batch size and other "
            f"non-zero dimensions for input, but got: {list(sizes)}"
        )
    for offset in range(padded):
        axis = array.ndim - 1 - offset
        before, after = widths[2 * offset : 2 * offset + 2]
        if mode == "reflect" and (before >= sizes[axis] or after >= sizes[axis]):
            raise RuntimeError(
                f"Argument #{4 + 2 * offset}: Padding size should be less than the corresponding input dimension, but "
                f"got: padding ({before}, {after}) at dimension {axis} of input {list(sizes)}"
            )
    padded_sizes = [*sizes]
    for offset in range(padded):
        padded_sizes[-1 - offset] += widths[2 * offset] + widths[2 * offset + 1]
    if max(padded_sizes[-padded:]) < 1:
        had, gives = (
            {letter: n for letter, n in zip("DHW"[3 - padded :], part[-padded:], strict=True)}
            for part in (sizes, padded_sizes)
        )
        shown = {1: "W: {W}", 2: "H: {H}, W: {W}", 3: "D: {D} H: {H}, W: {W}"}[padded].format(**had)
        gap = " " if padded == 2 and mode == "replicate" else ""
        out = " ".join(f"{letter}: {n}" for letter, n in gives.items())
        raise RuntimeError(f"input ({shown}{gap}) is too small. Calculated output {out}")
    if min(padded_sizes[-padded:]) < 0:
        raise RuntimeError(f"Trying to create tensor with negative dimension {min(padded_sizes)}: {padded_sizes}")


def _circular(input: Tensor, widths: tuple[int, ...]) -> Tensor:
    for offset in range(len(widths) // 2):
        size = input._array.shape[-1 - offset]
        before, after = widths[2 * offset : 2 * offset + 2]
        if before > size or after > size:
            raise RuntimeError("Padding value causes wrapping around more than once.")
        if before + after + size < 0:
            raise RuntimeError("Negative padding value is resulting in an empty dimension")
    return rows.pad_by(input, widths, "circular")
