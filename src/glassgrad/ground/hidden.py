"""An array whose shape is known and whose values must not be looked at: what a batch looks like to one example."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, NoReturn

import numpy as np

from .errors import ValuesHidden


class Hidden:
    """What stands for an array where only its shape, dtype and strides may be known; ValuesHidden for all else."""

    __slots__ = ("shape", "dtype", "strides")
    base = None  # whose memory it is, it does not tell

    def __init__(self, shape: tuple[int, ...], dtype: np.dtype[Any], strides: tuple[int, ...]) -> None:
        self.shape, self.dtype, self.strides = shape, dtype, strides

    @property
    def ndim(self) -> int:
        return len(self.shape)

    @property
    def size(self) -> int:
        size = 1
        for n in self.shape:
            size *= n
        return size

    @property
    def itemsize(self) -> int:
        return self.dtype.itemsize

    @property
    def nbytes(self) -> int:
        return self.size * self.dtype.itemsize

    @property
    def real(self) -> Hidden:
        return Hidden(self.shape, self.dtype.type(0).real.dtype, self.strides)

    def swapaxes(self, dim0: int, dim1: int) -> Hidden:
        """The same with two dimensions exchanged."""
        sizes, strides = list(self.shape), list(self.strides)
        for values in (sizes, strides):
            values[dim0], values[dim1] = values[dim1], values[dim0]
        return Hidden(tuple(sizes), self.dtype, tuple(strides))

    @property
    def flags(self) -> Any:
        """Whether the elements lie row by row, as far as sizes and strides tell."""
        step, is_contiguous = self.dtype.itemsize, True
        for size, stride in zip(reversed(self.shape), reversed(self.strides), strict=True):
            is_contiguous = is_contiguous and (size == 1 or stride == step)
            step *= size
        return SimpleNamespace(c_contiguous=is_contiguous or not self.size, writeable=True)

    def __len__(self) -> int:
        if not self.shape:
            raise TypeError("len() of unsized object")
        return self.shape[0]

    def __getattr__(self, name: str) -> NoReturn:
        if name.startswith("__") and name != "__array__":  # copy, pickle and the like ask for what may be missing
            raise AttributeError(name)
        raise ValuesHidden(f"the values of a batch ({name})")


def _refused(name: str) -> Any:
    def refuse(self: Hidden, *args: Any, **kwargs: Any) -> NoReturn:
        raise ValuesHidden(f"the values of a batch ({name})")

    return refuse


_ASKED = "array array_ufunc array_function getitem setitem iter bool int float complex index contains"
_OPERATORS = "add sub mul truediv floordiv mod pow matmul and or xor lt le gt ge eq ne"
for _name in [
    *_ASKED.split(),
    *_OPERATORS.split(),
    *(f"r{name}" for name in _OPERATORS.split()[:11]),
    "neg",
    "invert",
    "abs",
]:
    setattr(Hidden, f"__{_name}__", _refused(_name))
Hidden.__hash__ = object.__hash__  # type: ignore[method-assign]  # which went with __eq__
