"""Copies that repeat, mirror, roll or blank elements; knows arrays only."""

from __future__ import annotations

import builtins
from functools import lru_cache
from typing import Any

import numpy as np

from ...core.row import op
from .index import fitted
from .shape import axes_of, axis_of, reshape, unsigned

ALL = builtins.slice(None)
BACKWARDS = builtins.slice(None, None, -1)


@op(public=False)
def repeat(self: Any, /, repeats: Any) -> Any:
    """The tensor beside itself, so many times along every dimension; new dimensions come in front."""
    if len(repeats) < self.ndim:
        raise RuntimeError("Number of dimensions of repeat dims can not be smaller than number of dimensions of tensor")
    if repeats and min(repeats) < 0:
        lead = len(repeats) - self.ndim
        sizes = [r * n for r, n in zip(repeats, (*(1,) * lead, *self.shape), strict=True)]
        bad = next(size for size in sizes if size < 0)
        raise RuntimeError(f"Trying to create tensor with negative dimension {bad}: {sizes}")
    tiled = np.tile(self, repeats)
    return tiled if tiled.flags.c_contiguous else tiled.copy()


repeat.derivative(
    self=lambda grad, self_sizes, repeats: reshape(
        fitted(reshape(grad, _paired(repeats, self_sizes, True)), _paired(repeats, self_sizes, False)), self_sizes
    )
)


def _paired(repeats: tuple[int, ...], sizes: tuple[int, ...], count: bool) -> tuple[int, ...]:
    """Every repeat (or 1) beside the size it repeats."""
    lead = len(repeats) - len(sizes)
    padded = (1,) * lead + tuple(sizes)
    return tuple(n for pair in zip(repeats, padded, strict=True) for n in (pair if count else (1, pair[1])))


@op(public=False, shows={"dims": ("dims", unsigned)})
def flip(self: Any, /, dims: Any) -> Any:
    """The tensor mirrored along ``dims``."""
    axes = axes_of(dims, self.ndim)
    if not self.ndim:
        return np.array(self)
    return self[tuple(BACKWARDS if axis in axes else ALL for axis in range(self.ndim))].copy(order="K")


flip.derivative(self=lambda grad, dims: flip(grad, dims))


@op(public=False, shows={"dims": ("dims", unsigned), "shifts": ("shifts", unsigned)})
def roll(self: Any, /, shifts: Any, dims: Any = ()) -> Any:
    """The tensor with elements moved on, those that fall off coming back at the other end."""
    if not shifts:
        raise RuntimeError("`shifts` required")
    if not dims and len(shifts) == 1:
        return _rolled(self.reshape(-1), shifts[0], 0).reshape(self.shape)
    if len(dims) != len(shifts):
        raise RuntimeError(f"shifts and dimensions must align. shifts: {len(shifts)}, dims:{len(dims)}")
    axes = [axis_of(dim, self.ndim) for dim in dims]
    if not self.ndim:
        return np.array(self)
    for shift, axis in zip(shifts, axes, strict=True):
        self = _rolled(self, shift, axis)
    return self


roll.derivative(self=lambda grad, shifts, dims: roll(grad, tuple(-shift for shift in shifts), dims))


def _rolled(array: Any, shift: int, axis: int) -> Any:
    size = array.shape[axis]
    if not size:
        return array.copy()
    cut = -shift % size
    lead = (ALL,) * axis
    out = np.empty(array.shape, array.dtype)
    out[(*lead, builtins.slice(size - cut, None))] = array[(*lead, builtins.slice(0, cut))]
    out[(*lead, builtins.slice(0, size - cut))] = array[(*lead, builtins.slice(cut, None))]
    return out


@op()
def rot90(self: Any, /, k: Any = 1, dims: Any = (0, 1)) -> Any:
    """The tensor turned ``k`` times by 90 degrees in the plane of two dimensions."""
    if len(dims) != 2:
        raise RuntimeError(f"expected total rotation dims == 2, but got dims = {len(dims)}")
    if self.ndim < 2:
        raise RuntimeError(f"expected total dims >= 2, but got total dims = {self.ndim}")
    first, second = axis_of(dims[0], self.ndim), axis_of(dims[1], self.ndim)
    if first == second:
        raise RuntimeError(f"expected rotation dims to be different, but got dim0 = {dims[0]} and dim1 = {dims[1]}")
    mirrored = flip.row.kernel
    if k % 4 == 1:
        return mirrored(self, (second,)).swapaxes(first, second)
    if k % 4 == 2:
        return mirrored(self, (first, second))
    if k % 4 == 3:
        return mirrored(self, (first,)).swapaxes(first, second)
    return np.array(self, order="C")


rot90.derivative(self=lambda grad, k, dims: rot90(grad, -k, dims))


@lru_cache(64)
def _below(rows: int, columns: int, diagonal: int) -> Any:
    """Whether an element of a matrix lies on or below a diagonal."""
    mask = np.tri(rows, columns, diagonal, dtype=bool)
    mask.flags.writeable = False
    return mask


def _side(name: str, self: Any, diagonal: int) -> Any:
    if self.ndim < 2:
        raise RuntimeError(f"{name}: input tensor must have at least 2 dimensions")
    rows, columns = self.shape[-2:]
    return _below(rows, columns, max(-rows, min(columns, diagonal)))


@op(inplace=True)
def tril(self: Any, /, diagonal: Any = 0) -> Any:
    """Matrices with zeros above a diagonal."""
    return np.ascontiguousarray(np.where(_side("tril", self, diagonal), self, np.zeros((), self.dtype)))


tril.derivative(self=lambda grad, diagonal: tril(grad, diagonal))


@op(inplace=True)
def triu(self: Any, /, diagonal: Any = 0) -> Any:
    """Matrices with zeros below a diagonal."""
    return np.ascontiguousarray(np.where(_side("triu", self, diagonal - 1), np.zeros((), self.dtype), self))


triu.derivative(self=lambda grad, diagonal: triu(grad, diagonal))
