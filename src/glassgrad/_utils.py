"""Roof: what ``torch._utils`` holds of use to programs: rebuilding tensors, flattening lists of them, devices."""

from __future__ import annotations

import importlib
import os
from collections.abc import Iterable, Iterator, Sequence
from types import ModuleType
from typing import Any

from .compiler.api import is_compiling
from .core.tensor import Tensor
from .ground.device import device as _device
from .ground.dtypes import dtype as _dtype
from .ground.importing import load as _load
from .serialization.rebuild import (
    _rebuild_device_tensor_from_cpu_tensor,
    _rebuild_device_tensor_from_numpy,
    _rebuild_meta_tensor_no_storage,
    _rebuild_nested_tensor,
    _rebuild_parameter,
    _rebuild_parameter_with_state,
    _rebuild_qtensor,
    _rebuild_sparse_tensor,
    _rebuild_tensor,
    _rebuild_tensor_v2,
    _rebuild_tensor_v3,
    _rebuild_wrapper_subclass,
)
from .utils.data._utils.worker import ExceptionWrapper, KeyErrorMessage

_HOME = __name__.partition(".")[0]


def _element_size(dtype: _dtype) -> int:
    """The size of an element of this dtype in bytes."""
    if not isinstance(dtype, _dtype):
        raise AssertionError(f"expected torch.dtype, but got {type(dtype)}")
    return dtype.itemsize


def _flatten_dense_tensors(tensors: Sequence[Tensor]) -> Tensor:
    """All elements of tensors of one dtype, one after the other."""
    return _load(_HOME).cat([tensor.reshape(-1) for tensor in tensors])  # type: ignore[attr-defined,no-any-return]


def _unflatten_dense_tensors(flat: Any, tensors: Sequence[Any]) -> tuple[Tensor, ...]:
    """Views of a flat tensor in the shapes of these tensors."""
    ends = [0]
    for tensor in tensors:
        ends.append(ends[-1] + tensor.numel())
    return tuple(flat[start:end].view(t.shape) for start, end, t in zip(ends, ends[1:], tensors, strict=False))


def _take_tensors(tensors: Iterable[Any], size_limit: int) -> Iterator[list[Any]]:
    """The tensors in groups of one type and of about ``size_limit`` bytes; their order within a type is kept."""
    groups: dict[str, tuple[list[Any], int]] = {}
    for tensor in tensors:
        group, size = groups.get(tensor.type(), ([], 0))
        if size + tensor.nbytes > size_limit and size:
            yield group
            group, size = [], 0
        groups[tensor.type()] = [*group, tensor], size + tensor.nbytes
    yield from (group for group, _ in groups.values() if group)


def _reorder_tensors_as(tensors: Iterable[Any], ordered_tensors: Iterable[Any]) -> tuple[Any, ...]:
    """The tensors in the order in which the others' types come."""
    waiting: dict[str, list[Any]] = {}
    for tensor in tensors:
        waiting.setdefault(tensor.type(), []).append(tensor)
    queues = {kind: iter(queue) for kind, queue in waiting.items()}
    return tuple(next(queues[tensor.type()]) for tensor in ordered_tensors)


def _get_device_index(device: Any, optional: bool = False, allow_cpu: bool = False) -> int | None:
    """The index of a device; of one without, -1 for the CPU, None where that is ``optional``, else an error."""
    if isinstance(device, int):
        return device
    kind = _device(device) if isinstance(device, str) else device
    if isinstance(kind, _device):
        if kind.type == "cpu" and not allow_cpu:
            raise ValueError(f"Expected a non cpu device, but got: {device}")
        index = -1 if kind.type == "cpu" else kind.index
        if index is not None:
            return index
    if optional:
        return None
    raise ValueError(f"Expected a torch.device with a specified index or an integer, but got:{device}")


def _get_all_device_indices() -> list[int] | None:
    """None: there is no accelerator."""
    return None


def _get_available_device_type() -> str | None:
    """None: there is no accelerator."""
    return None


def _get_device_module(device_type: str) -> ModuleType:
    """The module of a kind of device, as ``torch.cpu``."""
    return get_device_module(device_type)


def _import_dotted_name(name: str) -> Any:
    """What a dotted name leads to."""
    first, *parts = name.split(".")
    value: Any = importlib.import_module(first)
    for part in parts:
        value = getattr(value, part)
    return value


def cpu_count() -> int | None:
    """How many processors this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()


def get_device_module(device: Any = None) -> ModuleType:
    """The module of a kind of device, as ``torch.cpu``; of the CPU where none is named."""
    if device is not None and not isinstance(device, str | _device):
        raise RuntimeError(f"Invalid value of device '{device}', expect torch.device, str, or None")
    kind = "cpu" if device is None else _device(device).type
    try:
        return _load(f"{_HOME}.{kind}")
    except ModuleNotFoundError:
        raise RuntimeError(
            f"Device '{kind}' does not have a corresponding module registered as 'torch.{kind}'."
        ) from None


__all__ = [
    "_rebuild_device_tensor_from_cpu_tensor", "_rebuild_device_tensor_from_numpy", "_rebuild_meta_tensor_no_storage",
    "_rebuild_nested_tensor", "_rebuild_parameter", "_rebuild_parameter_with_state", "_rebuild_qtensor",
    "_rebuild_sparse_tensor", "_rebuild_tensor", "_rebuild_tensor_v2", "_rebuild_tensor_v3",
    "_rebuild_wrapper_subclass", "ExceptionWrapper", "KeyErrorMessage", "_element_size", "_flatten_dense_tensors",
    "_get_all_device_indices", "_get_available_device_type", "_get_device_index", "_get_device_module",
    "_import_dotted_name", "_reorder_tensors_as", "_take_tensors", "_unflatten_dense_tensors", "cpu_count",
    "get_device_module", "is_compiling",
]  # fmt: skip
