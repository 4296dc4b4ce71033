"""The shape of a tensor as Python sees it: a tuple of integers that stays one; knows nothing of tensors."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from glassgrad.ground.dtypes import called


class Size(tuple[int, ...]):
    """A shape: a tuple of integers whose slices, sums and multiples are shapes again.

    Built from an iterable of integers, or of things with ``__index__``; TypeError for others.
    """

    __slots__ = ()

    def __new__(cls, *args: Iterable[Any], **kwargs: object) -> Size:
        if kwargs:
            raise TypeError("tuple() takes no keyword arguments")
        if len(args) > 1:
            raise TypeError(f"tuple expected at most 1 argument, got {len(args)}")
        items = tuple(*args)
        for item in items:
            if type(item) is not int:
                items = tuple([_integer(item, position) for position, item in enumerate(items)])
                break
        return unchecked(items)

    def __init_subclass__(cls, **kwargs: object) -> None:
        raise TypeError("type 'torch.Size' is not an acceptable base type")

    def __repr__(self) -> str:
        return f"torch.Size({list(map(int, self))})"

    def __reduce__(self) -> tuple[type[Size], tuple[tuple[int, ...]]]:
        return Size, (tuple(self),)

    def numel(self) -> int:
        """The number of elements of a tensor of this shape."""
        return math.prod(self)

    def __getitem__(self, key: Any) -> Any:
        item = tuple.__getitem__(self, key)
        return unchecked(item) if type(key) is slice else item

    def __add__(self, other: Any) -> Any:
        if isinstance(other, tuple):
            return Size(tuple(self) + tuple(other))
        if isinstance(other, np.ndarray):
            return NotImplemented  # an array adds element by element
        raise TypeError(f"can only concatenate tuple (not {called(other)}) to torch.Size")

    def __radd__(self, other: Any) -> Any:
        return Size(tuple(other) + tuple(self)) if isinstance(other, tuple) else NotImplemented

    def __mul__(self, times: Any) -> Any:
        if isinstance(times, np.ndarray):
            return NotImplemented  # likewise
        try:
            return unchecked(tuple(self) * operator.index(times))
        except TypeError:
            raise TypeError(f"can't multiply sequence by non-int of type '{called(times)}'") from None

    __rmul__ = __mul__


def unchecked(shape: tuple[int, ...]) -> Size:
    """The Size of a tuple known to hold integers only, such as an array's ``shape``; the fast way."""
    return _new(Size, shape)


_new: Callable[[type[Size], tuple[int, ...]], Size] = tuple.__new__


def _integer(item: Any, position: int) -> int:
    if isinstance(item, bool):
        return int(item)
    if isinstance(item, int | np.integer):
        return item  # type: ignore[return-value]  # kept as it came, as torch does
    try:
        return operator.index(item)
    except TypeError:
        raise TypeError(f"torch.Size() takes an iterable of 'int' (item {position} is '{called(item)}')") from None
