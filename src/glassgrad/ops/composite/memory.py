"""Tensors and their memory: the storage of a tensor, and tensors on a given storage or file."""

from __future__ import annotations

import math
import operator
from typing import Any

import numpy as np

from ...core.tensor import Tensor, share, wrap
from ...ground import dtypes, modes
from ...ground.dtypes import called
from ..declare import composite
from .storage import UntypedStorage, mapped, owner_of, storage_of
from .typed_storage import CLASSES, NAMES, TypedStorage, warn_of_removal


@composite(function=False)
def untyped_storage(self: Tensor) -> UntypedStorage:
    """The memory of the tensor, which its views share."""
    share(self)
    if self._array.dtype.metadata is not None:
        return UntypedStorage(self._array.size * self._array.itemsize, device="meta")
    return storage_of(owner_of(self._array))


@composite(function=False)
def _typed_storage(self: Tensor) -> TypedStorage:
    """The memory of the tensor as numbers."""
    return TypedStorage(wrap_storage=untyped_storage(self), dtype=self.dtype, _internal=True)


@composite(function=False)
def storage(self: Tensor) -> TypedStorage:
    """The memory of the tensor as numbers; deprecated for ``untyped_storage``."""
    warn_of_removal()
    return _typed_storage(self)


@composite(function=False)
def storage_type(self: Tensor) -> Any:
    """The old class of the tensor's storage, such as FloatStorage."""
    return CLASSES.get(NAMES.get(self.dtype, ""), TypedStorage)


@composite(method=False)
def is_storage(obj: Any, /) -> bool:
    """Whether ``obj`` is a storage."""
    return isinstance(obj, UntypedStorage | TypedStorage)


@composite(method=False)
def from_file(
    filename: str, shared: bool | None = False, size: int | None = 0, *, dtype: Any = None, **options: Any
) -> Tensor:
    """A tensor of ``size`` numbers that are the content of a file; ``shared`` writes go into the file."""
    kind = dtypes.get_default_dtype() if dtype is None else dtypes.demand(dtype, "from_file")
    out = wrap(mapped(filename, shared, size or 0, kind.numpy))
    share(out)
    return out


_SET = (
    "set_() received an invalid combination of arguments - got ({got}), but expected one of:\n * ()\n"
    " * (torch.Storage source)\n"
    " * (torch.Storage source, int storage_offset, tuple of ints size, tuple of ints stride = None)\n"
    " * (Tensor source)\n"
    " * (Tensor source, int storage_offset, tuple of ints size, tuple of ints stride = None)\n"
)


def demand_room(sizes: Any, strides: Any, offset: int, itemsize: int, nbytes: int) -> None:
    """Raise PyTorch's RuntimeErrors unless memory of ``nbytes`` bytes has room for such a tensor."""
    if len(sizes) != len(strides):
        raise RuntimeError(f"unequal size length ({len(sizes)}) and stride length ({len(strides)})")
    if offset < 0:
        raise RuntimeError(f"Tensor: invalid storage offset {offset}")
    if any(n < 0 for n in sizes) or math.prod(sizes) * itemsize >= 1 << 63:
        raise RuntimeError("numel: integer multiplication overflow")
    needed = 0 if 0 in sizes else offset + 1 + sum((n - 1) * step for n, step in zip(sizes, strides, strict=True))
    if any(step < 0 for step in strides) or needed * itemsize >= 1 << 63:
        raise RuntimeError(f"Storage size calculation overflowed with sizes={list(sizes)} and strides={list(strides)}")
    if needed * itemsize > nbytes:
        raise RuntimeError(
            f"setStorage: sizes {list(sizes)}, strides {list(strides)}, storage offset {offset}, and itemsize "
            f"{itemsize} requiring a storage size of {needed * itemsize} are out of bounds for storage of size {nbytes}"
        )


def looking_at(owner: Any, kind: Any, offset: int, sizes: Any, strides: Any) -> Any:
    """An array on the memory of ``owner``; offset and strides in elements."""
    demand_room(sizes, strides, offset, kind.itemsize, owner.nbytes)
    if 0 in sizes:
        try:
            return np.empty(sizes, kind)
        except ValueError as error:  # the other sizes are beyond NumPy
            raise RuntimeError("numel: integer multiplication overflow") from error
    steps = [step * kind.itemsize for step in strides]
    return np.ndarray(sizes, kind, owner, offset * kind.itemsize, steps)  # type: ignore[arg-type]


def rows(sizes: Any) -> list[int]:
    """The strides of a dense array of these sizes, row by row, in elements."""
    steps = [1]
    for n in sizes[:0:-1]:
        steps.append(steps[-1] * max(n, 1))
    return steps[::-1] if sizes else []


@composite(function=False)
def set_(self: Tensor, source: Any = None, storage_offset: Any = 0, size: Any = None, stride: Any = None) -> Tensor:
    """Make the tensor look at other memory: a storage's or another tensor's; sizes and strides in elements."""
    got = [argument for argument in (source, storage_offset or None, size, stride) if argument is not None]
    if not isinstance(source, (UntypedStorage, TypedStorage, Tensor, type(None))) or (
        storage_offset and size is None or size is not None and not isinstance(size, (tuple, list))
    ):
        raise TypeError(_SET.format(got=", ".join(_told(argument) for argument in got)))
    if self._edge is not None and modes.grad_enabled() and self.requires_grad and self.is_leaf:
        raise RuntimeError("a leaf Variable that requires grad is being used in an in-place operation.")
    kind = self._array.dtype
    if isinstance(source, Tensor):
        if source._array.dtype != kind:
            words = [argument.dtype.scalar_name.lower() for argument in (source, self)]
            raise RuntimeError(f"Could not set tensor of type {words[0]} to a tensor of type {words[1]}")
        share(source)
        array = source._array
        if size is not None:
            array = looking_at(owner_of(array), kind, storage_offset, size, rows(size) if stride is None else stride)
    elif source is None:
        array = np.empty(0, kind)
    else:
        if isinstance(source, TypedStorage) and source.dtype is not self.dtype:
            raise RuntimeError(
                f"Expected a Storage of type {self.dtype.scalar_name} or an UntypedStorage, but got type "
                f"{source.dtype.scalar_name} for argument 1 'storage'"
            )
        untyped = source.untyped()
        untyped._lent = True
        sizes = (untyped.nbytes() // kind.itemsize,) if size is None else tuple(map(operator.index, size))
        array = looking_at(untyped._owner, kind, storage_offset, sizes, rows(sizes) if stride is None else stride)
    self._array = array
    share(self).version += 1
    return self


def _told(argument: Any) -> str:
    if isinstance(argument, UntypedStorage | TypedStorage):
        return f"torch.storage.{type(argument).__name__}"
    return called(argument)
