"""The ``torch.utils._foreach_utils`` namespace: lists of tensors by device and dtype, as optimizers take them."""

from __future__ import annotations

from typing import Any


def _group_tensors_by_device_and_dtype(
    tensorlistlist: list[list[Any]], with_indices: bool = False
) -> dict[tuple[Any, Any], tuple[list[list[Any]], list[int]]]:
    """Lists of the same length taken apart by the device and dtype of the first; and the places, if wanted."""
    groups: dict[tuple[Any, Any], tuple[list[list[Any]], list[int]]] = {}
    for index, tensors in enumerate(
        zip(*(tensors or [None] * len(tensorlistlist[0]) for tensors in tensorlistlist), strict=True)
    ):
        key = tensors[0].device, tensors[0].dtype
        lists, places = groups.setdefault(key, ([[] for _ in tensors], []))
        for one, tensor in zip(lists, tensors, strict=True):
            if tensor is not None:
                one.append(tensor)
        if with_indices:
            places.append(index)
    return groups


def _get_foreach_kernels_supported_devices() -> list[str]:
    """The devices whose optimizers take all parameters at once by default: GPUs, which are not here."""
    return ["cuda", "xpu", "mtia"]


def _get_fused_kernels_supported_devices() -> list[str]:
    """The devices that have fused optimizers."""
    return ["cpu", "mps", "cuda", "xpu", "hpu", "mtia"]


def _device_has_foreach_support(device: Any) -> bool:
    """Whether ``torch._foreach_add`` and its like take tensors on a device: they do everywhere."""
    return device.type in (*_get_foreach_kernels_supported_devices(), "cpu")


def _has_foreach_support(tensors: list[Any], device: Any) -> bool:
    """The same of a list of tensors."""
    return _device_has_foreach_support(device)
