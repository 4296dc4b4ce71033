"""Between tensors and arrays: what collectives refuse, contiguous arrays to send, results written back."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from ..core.tensor import Tensor, share
from .distributed_c10d import GroupMember, get_rank


def _kind(value: Any) -> str:
    return "<class 'torch.Tensor'>" if type(value) is Tensor else str(type(value))


def check_tensor(value: Any, name: str) -> None:
    """TypeError unless ``value`` is a tensor; RuntimeError for one without data."""
    if not isinstance(value, Tensor):
        raise TypeError(
            f"Invalid function argument. Expected parameter `{name}` of type torch.Tensor\n"
            f"             but got {_kind(value)} instead."
        )
    if value._array.dtype.metadata is not None:
        raise RuntimeError(f"No backend type associated with device type {value.device.type}")


def check_list(value: Any, name: str) -> None:
    """TypeError unless ``value`` is a list of tensors."""
    if not isinstance(value, list):
        raise TypeError(
            f"Invalid function argument. Expected parameter `{name}` of type List[torch.Tensor]\n"
            f"             but got {_kind(value)} instead."
        )
    if not all(isinstance(each, Tensor) for each in value):
        raise TypeError(
            f"Invalid function argument. Expected parameter `{name}` of type List[torch.Tensor]\n"
            f"             but got {type(value)} with elements of type [{', '.join(_kind(each) for each in value)}]."
        )


def check_kind(*given: Any) -> None:
    """ValueError unless all tensors, alone or in lists, have one dtype."""
    found = [one for each in given for one in (each if isinstance(each, list) else [each])]
    for other in found[1:]:
        if other.dtype is not found[0].dtype:
            raise ValueError(
                f"Invalid usage of tensors with different dtypesFound {found[0].dtype} and  {other.dtype}"
            )


def check_sizes(found: list[Any], wanted: Any, name: str) -> None:
    """RuntimeError unless each of a list of tensors has the shape of ``wanted``."""
    for index, each in enumerate(found):
        if each._array.shape != wanted._array.shape:
            expected, got = (", ".join(map(str, one._array.shape)) for one in (wanted, each))
            raise RuntimeError(
                f"ProcessGroupGloo::{name}: invalid tensor size at index {index} (expected ({expected}), got ({got}))"
            )


def outside(group: Any, name: str) -> bool:
    """Whether this process is no member of ``group``: a warning then, and nothing is done."""
    if group != GroupMember.NON_GROUP_MEMBER:
        return False
    warnings.warn(
        f"Running {name} on global rank {get_rank()} which does not belong to the given group.", stacklevel=3
    )
    return True


def dense(tensor: Any) -> np.ndarray:
    """The values of a tensor as a contiguous array, a copy only where they are not."""
    return np.ascontiguousarray(tensor._array)


def room(tensor: Any) -> np.ndarray:
    """A contiguous array to receive a tensor's new values in: its own memory where that can be."""
    share(tensor)
    data: np.ndarray = np.asarray(tensor._array)
    return data if data.flags.c_contiguous and data.flags.writeable else np.ascontiguousarray(data)


def store(tensor: Any, array: np.ndarray) -> None:
    """Write what was received into the tensor, where :func:`room` was not its own memory."""
    if array is not tensor._array:
        np.copyto(tensor._array, array.reshape(tensor._array.shape))
