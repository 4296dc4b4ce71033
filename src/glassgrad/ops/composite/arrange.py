"""PyTorch's signatures of repeating, mirroring, rolling and turning."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...core.tensor import Tensor, wrap
from ...ground import dtypes
from ...ground.dtypes import called
from ..declare import composite
from ..primitive import arrange as rows
from ..primitive.shape import axis_of, compact, expand, reshape, unsqueeze, view
from ..primitive.slices import index_select
from .shape import sizes_of


@composite(function=False)
def repeat(self: Tensor, *repeats: Any, **named: Any) -> Tensor:
    """The tensor beside itself, so many times along every dimension."""
    return rows.repeat(self, sizes_of("repeat", repeats, named, "repeats"))


@composite()
def tile(input: Tensor, *dims: Any, **named: Any) -> Tensor:
    """The tensor beside itself, so many times along the last dimensions."""
    times = sizes_of("tile", dims, named, "dims")
    return rows.repeat(input, (1,) * (input._array.ndim - len(times)) + times)


@composite()
def repeat_interleave(
    input: Tensor, repeats: Any = None, dim: int | None = None, *, output_size: int | None = None
) -> Tensor:
    """Each element, or slice of ``dim``, so often in a row; of one tensor alone, its indices as often as it says."""
    if repeats is None:
        return wrap(_spread(input, input._array, None))
    if isinstance(repeats, float) or not (isinstance(repeats, Tensor) or hasattr(repeats, "__index__")):
        raise TypeError(
            f"repeat_interleave() received an invalid combination of arguments - got ({called(repeats)}), but expected "
            "one "
            "of:\n * (Tensor repeats, int dim = None, *, int output_size = None)\n * (int repeats, int dim = None, *, "
            "int "
            "output_size = None)\n"
        )
    if dim is None:
        input, dim = reshape(input, (-1,)), 0
    axis = axis_of(dim, input._array.ndim)
    if not input._array.ndim:
        input = reshape(input, (1,))
    sizes = input._array.shape
    if not isinstance(repeats, Tensor):
        count = repeats.__index__()
        if count < 0:
            raise RuntimeError("Repeats must be non-negative")
        wide = expand(unsqueeze(input, axis + 1), (*sizes[: axis + 1], count, *sizes[axis + 1 :]))
        return view(compact(wide), (*sizes[:axis], sizes[axis] * count, *sizes[axis + 1 :]))
    times = repeats._array
    if times.ndim == 0 or (times.ndim == 1 and times.size == 1):
        times = np.broadcast_to(times, (sizes[axis],))
    elif times.ndim == 1 and times.size != sizes[axis]:
        raise RuntimeError(
            "repeats must have the same size as input along dim, but got repeats.size(0) = "
            f"{times.size} and input.size({axis}) = {sizes[axis]}"
        )
    return index_select(input, wrap(_spread(repeats, times, output_size)), axis)


def _spread(repeats: Tensor, times: Any, output_size: int | None) -> Any:
    """Each index as often as ``times`` says."""
    if times.ndim != 1:
        raise RuntimeError("repeat_interleave only accept 1D vector as repeat")
    if times.dtype.kind not in "iu" or times.dtype.itemsize < 4:
        name = dtypes.of(times.dtype).scalar_name
        raise NotImplementedError(f"\"repeat_interleave_cpu\" not implemented for '{name}'")
    if times.size and times.min() < 0:
        raise RuntimeError("repeats can not be negative")
    indices = np.repeat(np.arange(times.size), times)
    if output_size is not None and output_size != indices.size:
        raise RuntimeError("allocated size does not match required size")
    return indices


@composite()
def flip(input: Tensor, *dims: Any, **named: Any) -> Tensor:
    """The tensor mirrored along ``dims``."""
    return rows.flip(input, sizes_of("flip", dims, named, "dims"))


@composite()
def fliplr(input: Tensor) -> Tensor:
    """The matrix mirrored from left to right."""
    if input._array.ndim < 2:
        raise RuntimeError("Input must be >= 2-d.")
    return rows.flip(input, (1,))


@composite()
def flipud(input: Tensor) -> Tensor:
    """The tensor mirrored along its first dimension."""
    if input._array.ndim < 1:
        raise RuntimeError("Input must be >= 1-d.")
    return rows.flip(input, (0,))


def _several(value: Any) -> tuple[int, ...]:
    return (value,) if hasattr(value, "__index__") else tuple(value)


@composite()
def roll(input: Tensor, shifts: Any, dims: Any = ()) -> Tensor:
    """The tensor with elements moved on along ``dims``, those that fall off coming back at the other end."""
    return rows.roll(input, _several(shifts), _several(dims))


@composite()
def rot90(input: Tensor, k: int = 1, dims: Any = (0, 1)) -> Tensor:
    """The tensor turned ``k`` times by 90 degrees in the plane of two dimensions."""
    return rows.rot90(input, k, tuple(dims))
