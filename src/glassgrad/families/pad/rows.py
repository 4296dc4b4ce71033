"""Borders: constant, mirrored, repeated and circular padding, each with its adjoint; knows arrays only."""

from __future__ import annotations

import builtins
from collections.abc import Sequence
from typing import Any

import numpy as np

from ...core.row import COMPLEX, REALS, op
from ...ground.dtypes import Number, check_number
from ...ops.declare import of_dims


def spans(pad: Any, ndim: int) -> list[tuple[int, int]]:
    """How much to put before and after each dimension; ``pad`` counts from the last one."""
    widths = [(0, 0)] * ndim
    for back in range(len(pad) // 2):
        widths[ndim - 1 - back] = (pad[2 * back], pad[2 * back + 1])
    return widths


def _full(sizes: Any, value: Any, dtype: Any) -> Any:
    return np.full(sizes, np.asarray(value).astype(dtype), dtype) if value else np.zeros(sizes, dtype)


@op(layout="channels", batched="first", out=None)
def constant_pad_nd(self: Any, /, pad: Sequence[int], value: Number = 0) -> Any:
    """The tensor within a border of one value; negative widths cut off.  ``pad`` counts from the last dimension."""
    if len(pad) % 2:
        raise RuntimeError(f"Length of pad must be even but instead it equals {len(pad)}")
    if len(pad) > 2 * self.ndim:
        raise RuntimeError(
            "Length of pad should be no more than twice the number of dimensions of the input. Pad length is "
            f"{len(pad)}while the input has {self.ndim}dimensions."  # PyTorch's words are as close
        )
    around = spans(pad, self.ndim)
    if isinstance(value, complex):
        check_number(value, self.dtype)
    if min(pad, default=0) >= 0:
        pairs = [*zip(self.shape, around, strict=True)]
        out = _full([n + before + after for n, (before, after) in pairs], value, self.dtype)
        out[tuple([builtins.slice(before, before + n) for n, (before, _) in pairs])] = self
        return out
    sizes = [n + before + after for n, (before, after) in zip(self.shape, around, strict=True)]
    for (before, after), size, n in zip(around, sizes, self.shape, strict=True):
        if size < 0 or n + min(before, 0) + min(after, 0) < 0:
            raise RuntimeError("narrow(): length must be non-negative.")
    out = _full(sizes, value, self.dtype)
    inner, source = [], []
    for (before, after), size, n in zip(around, sizes, self.shape, strict=True):
        inner.append(builtins.slice(max(before, 0), size - max(after, 0)))
        source.append(builtins.slice(max(-before, 0), n - max(-after, 0)))
    out[tuple(inner)] = self[tuple(source)]
    return out


constant_pad_nd.derivative(self=lambda grad, pad: constant_pad_nd(grad, _negated(pad), 0))


def _negated(pad: Any) -> tuple[int, ...]:
    return tuple(-width for width in pad)


def _sources(size: int, before: int, after: int, mode: str) -> Any:
    """For each index of a padded dimension, the index it takes its value from."""
    at = np.arange(-before, size + after)
    if mode == "replicate":
        return at.clip(0, size - 1)
    if mode == "circular":  # around what is left where a negative width cuts off
        first, length = max(-before, 0), size + min(before, 0) + min(after, 0)
        if length <= 0 < at.size:
            raise RuntimeError(f"Circular padding of {size} elements by {before} and {after} leaves none to go around.")
        return first + (at - first) % length
    period = 2 * (size - 1) or 1
    at = np.abs(at) % period
    return np.where(at >= size, period - at, at)


def _padded(array: Any, pad: Any, mode: str) -> Any:
    for axis, (before, after) in enumerate(spans(pad, array.ndim)):
        if before or after:
            array = array.take(_sources(array.shape[axis], before, after, mode), axis)
    return np.array(array, order="C")


@op(public=False, forward="linear", batched="first")
def pad_by(self: Any, /, padding: Any, mode: Any) -> Any:
    """The tensor within a border of its own elements: "reflect", "replicate" or "circular"."""
    return _padded(self, padding, mode)


pad_by.derivative(self=lambda grad, self_sizes, padding, mode: pad_backward(grad, self_sizes, padding, mode))


@op(public=False, forward="linear", batched="dims")
def pad_backward(grad_output: Any, /, sizes: Any, padding: Any, mode: Any) -> Any:
    """The sum, for each element of ``sizes``, of all places that padding gave its value to."""
    for axis, (before, after) in enumerate(spans(padding, len(sizes))):
        if not before and not after:
            continue
        shape = grad_output.shape
        out = np.zeros((*shape[:axis], sizes[axis], *shape[axis + 1 :]), grad_output.dtype)
        lead = (builtins.slice(None),) * axis
        start, end = max(before, 0), shape[axis] - max(after, 0)
        inner = builtins.slice(max(-before, 0), sizes[axis] - max(-after, 0))
        out[(*lead, inner)] = grad_output[(*lead, builtins.slice(start, end))]
        sources = _sources(sizes[axis], before, after, mode)
        for line in (*range(start), *range(end, shape[axis])):  # the border, one line after the other
            out[(*lead, sources[line])] += grad_output[(*lead, line)]
        grad_output = out
    return np.array(grad_output)


pad_backward.derivative(grad_output=lambda grad, padding, mode: pad_by(grad, padding, mode))


def _border(kind: str, mode: str, dims: int) -> Any:
    """The row of the border of that kind around so many dimensions, which PyTorch's graph shows by its own name."""

    @op(
        node=f"{kind.capitalize()}Pad{dims}DBackward0",
        public=False,
        hidden=("self_sizes",),
        serves=(REALS + COMPLEX, f"{kind}_pad{dims}d"),
        layout=None if dims == 1 else "channels",
        precision=None if kind == "reflection" and dims == 3 else "single",
        forward="linear",
        batched="first",
    )
    @of_dims(f"{kind}_pad{dims}d", dims)
    def border(self: Any, /, padding: Any) -> Any:
        """The last {dims} within a border of their mirror image, or of their outermost elements."""
        return _padded(self, padding, mode)

    border.derivative(self=lambda grad, self_sizes, padding: pad_backward(grad, self_sizes, padding, mode))
    return border


reflection_pad1d, reflection_pad2d, reflection_pad3d = [_border("reflection", "reflect", dims) for dims in (1, 2, 3)]
replication_pad1d, replication_pad2d, replication_pad3d = [
    _border("replication", "replicate", dims) for dims in (1, 2, 3)
]
