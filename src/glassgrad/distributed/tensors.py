"""Between tensors and arrays: what collectives refuse, contiguous arrays to send, results written back."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..core.tensor import Tensor, share

_EXPECTED = "Invalid function argument. Expected parameter `{name}` of type {wanted}\n             but got {got}"


def check(**operands: Any) -> None:
    """TypeError unless each is a tensor, or where its name says so a list of them; ValueError for unlike dtypes."""
    every: list[Any] = []
    for name, value in operands.items():
        many = name.endswith(("list", "tensors"))
        if not isinstance(value, list if many else Tensor):
            wanted = "List[torch.Tensor]" if many else "torch.Tensor"
            raise TypeError(_EXPECTED.format(name=name, wanted=wanted, got=f"{_kind(value)} instead."))
        if many and not all(isinstance(each, Tensor) for each in value):
            got = f"{type(value)} with elements of type [{', '.join(map(_kind, value))}]."
            raise TypeError(_EXPECTED.format(name=name, wanted="List[torch.Tensor]", got=got))
        every += value if many else [value]
    for tensor in every:
        if tensor._array.dtype.metadata is not None:
            raise RuntimeError(f"No backend type associated with device type {tensor.device.type}")
        if tensor is not every[0] and tensor.dtype is not every[0].dtype:
            kinds = f"{every[0].dtype} and  {tensor.dtype}"
            raise ValueError(f"Invalid usage of tensors with different dtypesFound {kinds}")


def _kind(value: Any) -> str:
    return "<class 'torch.Tensor'>" if type(value) is Tensor else str(type(value))


def check_sizes(tensors: list[Any], wanted: Any, name: str) -> None:
    """RuntimeError unless each of a list of tensors has the shape of ``wanted``."""
    for index, each in enumerate(tensors):
        if each._array.shape != wanted._array.shape:
            expected, got = (", ".join(map(str, one._array.shape)) for one in (wanted, each))
            raise RuntimeError(
                f"ProcessGroupGloo::{name}: invalid tensor size at index {index} (expected ({expected}), got ({got}))"
            )


def told(tensor: Any) -> str:
    """What all ranks must agree about: a tensor's dtype and shape."""
    return f"{str(tensor.dtype).removeprefix('torch.')} {tensor._array.shape}"


def raw(array: np.ndarray) -> np.ndarray:
    """The bytes of a contiguous array, on its memory."""
    return array.reshape(-1).view(np.uint8)


def room(tensor: Any) -> np.ndarray:
    """A contiguous array to receive a tensor's new values in: its own memory where that can be."""
    share(tensor)
    data: np.ndarray = np.asarray(tensor._array)
    return data if data.flags.c_contiguous and data.flags.writeable else np.ascontiguousarray(data)


def store(tensor: Any, array: np.ndarray) -> None:
    """Write what was received into the tensor, where :func:`room` was not its own memory."""
    if array is not tensor._array:
        np.copyto(tensor._array, array.reshape(tensor._array.shape))
