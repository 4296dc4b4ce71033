"""Roof: what ``torch._utils`` holds of use to programs, the functions that rebuild tensors."""

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

__all__ = [
    "_rebuild_device_tensor_from_cpu_tensor", "_rebuild_device_tensor_from_numpy", "_rebuild_meta_tensor_no_storage",
    "_rebuild_nested_tensor", "_rebuild_parameter", "_rebuild_parameter_with_state", "_rebuild_qtensor",
    "_rebuild_sparse_tensor", "_rebuild_tensor", "_rebuild_tensor_v2", "_rebuild_tensor_v3",
    "_rebuild_wrapper_subclass",
]  # fmt: skip
