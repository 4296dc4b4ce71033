"""What views give, in memory of its own: the ``*_copy`` functions; and writes into a strided window of a copy."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ...core import write
from ...core.tensor import Tensor, wrap
from ...ground.dtypes import called
from ...ground.runtime import warn
from ..declare import composite
from ..primitive import window
from ..primitive.index import slice as piece
from ..primitive.join import split_with_sizes
from ..primitive.shape import alias, compact
from .convert import view_as_complex, view_as_real
from .operand import need_tensor
from .shape import rearranged

# -- copies of views ---------------------------------------------------------------------------------------------------


def _copied(name: str, view: Callable[..., Any], doc: str) -> None:
    def copied(input: Any, *args: Any, out: Any = None, **kwargs: Any) -> Any:
        need_tensor(name, "input", 1, input)
        viewed = view(input, *args, **kwargs)
        if isinstance(viewed, tuple):
            copies = tuple(compact(part) for part in viewed)
            if out is None:
                return copies
            for target, part in zip(out, copies, strict=True):
                target.resize_(part._array.shape).copy_(part)
            return None
        copy = compact(viewed)
        return copy if out is None else write.into(compact.row, (input,), out, copy)

    copied.__name__ = copied.__qualname__ = name
    copied.__doc__ = f"{doc}, in memory of its own."
    composite(method=False, name=name)(copied)


def _method(name: str) -> Callable[..., Any]:
    return lambda input, *args, **kwargs: getattr(input, name)(*args, **kwargs)


def _sliced(input: Any, dim: int = 0, start: Any = None, end: Any = None, step: int = 1) -> Any:
    return piece(input, dim, 0 if start is None else start, end, step)


for _name, _doc in (
    ("as_strided", "The elements at these sizes and strides"),
    ("detach", "The tensor without its history"),
    ("diagonal", "The diagonal"),
    ("expand", "The tensor repeated along dimensions of size one"),
    ("permute", "The dimensions in another order"),
    ("select", "One index of a dimension"),
    ("split", "The pieces of a dimension"),
    ("split_with_sizes", "The pieces of a dimension of the sizes listed"),
    ("squeeze", "The tensor without dimensions of size one"),
    ("t", "The transposed matrix"),
    ("transpose", "The tensor with two dimensions exchanged"),
    ("unbind", "All indices of a dimension"),
    ("unfold", "All windows along a dimension"),
    ("unsqueeze", "The tensor with one more dimension"),
    ("view", "The same elements under other sizes, or as another dtype"),
):
    _copied(f"{_name}_copy", _method(_name), _doc)
_copied("alias_copy", alias, "The tensor")
_copied("slice_copy", _sliced, "Part of a dimension")


_copied("view_as_real_copy", view_as_real, "Complex numbers as pairs of real ones")
_copied("view_as_complex_copy", view_as_complex, "Pairs of real numbers as complex ones")


# -- windows -----------------------------------------------------------------------------------------------------------


@composite()
def as_strided_scatter(
    input: Any, src: Any, size: Any, stride: Any, storage_offset: int | None = None
) -> Tensor:  # fmt: skip
    """A copy of ``input`` with ``src`` in the window of these sizes, strides and offset, in elements.

    Source: https://docs.pytorch.org/docs/stable/generated/torch.as_strided_scatter.html
    """
    need_tensor("as_strided_scatter", "input", 1, input)
    need_tensor("as_strided_scatter", "src", 2, src)
    size, stride = tuple(size), tuple(stride)
    if src._array.shape != size:
        raise RuntimeError(
            f"expected src to have a size equal to the slice of self. src size = {list(src._array.shape)}, "
            f"slice size = "
            f"{list(size)}"
        )
    offset = 0 if storage_offset is None else storage_offset - input.storage_offset()
    needed = 0 if 0 in size else 1 + offset + sum((n - 1) * step for n, step in zip(size, stride, strict=True))
    if needed > input._array.size:
        raise RuntimeError(
            f"setStorage: sizes {list(size)}, strides {list(stride)}, storage offset {offset}, and itemsize "
            f"{input._array.itemsize} requiring a storage size of {needed * input._array.itemsize} are out of "
            f"bounds for "
            f"storage of size {input._array.size * input._array.itemsize}"
        )
    steps = tuple(step // input._array.itemsize for step in np.asarray(input._array).strides)
    return window.put_window(input, src.to(input.dtype), (size, stride, offset), steps)  # type: ignore[no-any-return]


@composite(method=False)
def slice_inverse(
    input: Any, src: Any, dim: int = 0, start: Any = None, end: Any = None, step: int = 1
) -> Tensor:  # fmt: skip
    """The view of ``input``'s memory that has the sizes and strides of ``src``."""
    return input.as_strided(src._array.shape, src.stride(), src.storage_offset())  # type: ignore[no-any-return]


@composite()
def as_strided_(self: Any, size: Any, stride: Any, storage_offset: int | None = None) -> Tensor:
    """Make the tensor itself the view of its memory with these sizes and strides, from an offset, in elements."""
    return rearranged(self, window.as_strided, tuple(size), tuple(stride), storage_offset)


@composite()
def unsafe_split_with_sizes(input: Any, split_sizes: Any, dim: int = 0) -> Any:
    """What ``split_with_sizes`` gives, for whoever promises not to write into the pieces: not tracked as views."""
    need_tensor("unsafe_split_with_sizes", "input", 1, input)
    parts = split_with_sizes(input, tuple(split_sizes), dim)
    for part in parts:
        part._edge, part._counter = part._edge.edge, None
    return parts


# -- other sizes -------------------------------------------------------------------------------------------------------


@composite(method=False)
def resize_as_(input: Any, the_template: Any, *, memory_format: Any = None) -> Tensor:
    """Give the tensor the sizes of another."""
    need_tensor("resize_as_", "input", 1, input)
    return input.resize_as_(the_template)  # type: ignore[no-any-return]


@composite(function=False)
def resize(self: Any, *sizes: Any) -> Tensor:
    """The same number of elements under other sizes; deprecated for ``view`` and ``reshape``."""
    warn("non-inplace resize is deprecated")
    wanted = tuple(sizes[0]) if len(sizes) == 1 and isinstance(sizes[0], (tuple, list)) else sizes
    if int(np.prod(wanted)) != self._array.size:
        raise RuntimeError(
            f"requested resize to {'x'.join(map(str, wanted))} ({int(np.prod(wanted))} elements in total), but the "
            f"given tensor has a size of {'x'.join(map(str, self._array.shape))} ({self._array.size} elements). "
            f"autograd's "
            "resize can only change the shape of a given tensor, while preserving the number of elements. "
        )
    return self.contiguous().view(wanted)  # type: ignore[no-any-return]


@composite(function=False)
def resize_as(self: Any, tensor: Any) -> Tensor:
    """The same number of elements under the sizes of another tensor; deprecated for ``view_as``."""
    return resize(self, tuple(tensor._array.shape))


@composite(function=False)
def const_data_ptr(self: Any) -> int:
    """The address of the first element, for reading."""
    return self.data_ptr()  # type: ignore[no-any-return]


# -- indices -----------------------------------------------------------------------------------------------------------


@composite()
def nonzero_static(input: Any, *, size: int, fill_value: int = -1, out: Any = None) -> Tensor:
    """The indices of elements that are not zero, one in a row: the first ``size``, or filled up with ``fill_value``.

    Source: https://docs.pytorch.org/docs/stable/generated/torch.nonzero_static.html
    """
    need_tensor("nonzero_static", "input", 1, input)
    if not hasattr(size, "__index__") or isinstance(size, bool):
        raise TypeError(f"nonzero_static(): argument 'size' must be int, not {called(size)}")
    if size < 0:
        raise RuntimeError("nonzero_static: 'size' must be an non-negative integer")
    places = np.argwhere(np.asarray(input._array))[:size]
    indices = np.full((size, input._array.ndim), fill_value, np.int64)
    indices[: len(places)] = places
    result = wrap(indices)
    return result if out is None else write.into(compact.row, (input,), out, result)
