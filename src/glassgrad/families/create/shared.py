"""Tensors on the memory of arrays and buffers; knows what may be shared."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...core.tensor import Tensor, share, wrap
from ...ground import dtypes
from ...ground.dtypes import called
from ...ground.exposed import expose
from ...ops.declare import composite
from .construct import array_of, check_array, mark, numpy_of, tensor_of, warn

_READ_ONLY = (
    "The given {0} is not writable, and PyTorch does not support non-writable tensors. This means {1}. You may want to "
    "copy the {2} to protect its data or make it writable before converting it to a tensor. This type of warning will "
    "be suppressed for the rest of this program."
)


@composite(method=False)
def as_tensor(data: Any, dtype: Any = None, device: Any = None) -> Tensor:
    """``data`` as a tensor, sharing its memory where that is possible."""
    kind = numpy_of(dtype, "as_tensor")
    if isinstance(data, Tensor):
        wanted = {name: value for name, value in (("dtype", dtype), ("device", device)) if value is not None}
        return data.to(**wanted) if wanted else data  # type: ignore[attr-defined, no-any-return]
    if isinstance(data, np.ndarray) and (kind is None or data.dtype == kind):
        return tensor_of(from_numpy(data)._array, device, function="as_tensor")
    return tensor_of(array_of(data, kind), device, function="as_tensor")


@composite(method=False)
def asarray(
    obj: Any, *, dtype: Any = None, device: Any = None, copy: bool | None = None, requires_grad: bool | None = None
) -> Tensor:
    """``obj`` as a tensor: shared, or copied where asked or needed; ``copy=False`` refuses to copy.

    Source: https://docs.pytorch.org/docs/stable/generated/torch.asarray.html
    """
    kind = numpy_of(dtype, "asarray")
    if isinstance(obj, Tensor):
        if requires_grad is None:
            requires_grad = _inherited(obj)
        out = obj
        if kind is not None and obj._array.dtype != kind or device is not None or copy:
            _check_alias(obj._array, kind, copy)
            out = obj.to(dtype=dtype or obj.dtype, device=device or obj.device, copy=bool(copy))  # type: ignore[attr-defined]
        if not requires_grad and out.requires_grad:
            return out.detach()  # type: ignore[attr-defined, no-any-return]
        return out if out.requires_grad or not requires_grad else out.requires_grad_()
    if isinstance(obj, np.ndarray):
        if copy or kind is not None and obj.dtype != kind or not obj.ndim:
            _check_alias(obj, kind, copy)
            out = tensor_of(array_of(obj, kind), device)
        else:
            out = tensor_of(from_numpy(obj)._array, device)
    elif isinstance(obj, bytes | bytearray | memoryview):
        out = frombuffer(obj, dtype=dtype or dtypes.get_default_dtype())
        if copy:
            out = tensor_of(np.array(out._array), device)
    else:
        if copy is False:
            raise ValueError("can't alias arbitrary sequence into a tensor.")
        out = tensor_of(array_of(obj, kind), device)
    if requires_grad:
        mark(out)
    return out


def _inherited(obj: Tensor) -> bool:
    if obj.requires_grad:
        warn(
            "torch.asarray: unspecified requires_grad now defaults to obj.requires_grad instead of False. Pass "
            "requires_grad=False explicitly to get the old behavior and silence this warning."
        )
    return obj.requires_grad


def _check_alias(array: Any, kind: np.dtype[Any] | None, copy: bool | None) -> None:
    if copy is False and kind is not None and array.dtype != kind:
        was, wanted = (dtypes.of(dtype).scalar_name for dtype in (array.dtype, kind))
        raise ValueError(f"can't alias tensor with dtype '{was}' into dtype '{wanted}'.")


@composite(method=False)
def from_numpy(ndarray: Any, /) -> Tensor:
    """A tensor on the memory of a NumPy array."""
    if not isinstance(ndarray, np.ndarray):
        raise TypeError(f"expected np.ndarray (got {called(ndarray)})")
    check_array(ndarray)
    if not ndarray.flags.writeable:
        warn(_READ_ONLY.format("NumPy array", "writing to this tensor will result in undefined behavior", "array"))
    kind = dtypes.of(ndarray.dtype).numpy
    if type(ndarray) is not np.ndarray or ndarray.dtype is not kind:  # equal dtypes may be several objects
        ndarray = ndarray.view(kind, np.ndarray)
    expose(ndarray)
    out = wrap(ndarray)
    share(out)
    return out


@composite(method=False)
def frombuffer(buffer: Any, *, dtype: Any, count: int = -1, offset: int = 0, requires_grad: bool = False) -> Tensor:
    """A 1-d tensor on the memory of an object with Python's buffer interface."""
    kind = dtypes.demand(dtype, "frombuffer").numpy
    try:
        memory = memoryview(buffer).cast("B")
    except TypeError:
        raise ValueError("object does not implement Python buffer protocol.") from None
    length, item = len(memory), kind.itemsize
    if not length or not count:
        raise ValueError(f"both buffer length ({length}) and count ({count}) must not be 0")
    if not 0 <= offset < length:
        raise ValueError(
            f"offset ({offset} bytes) must be non-negative and no greater than buffer length ({length} bytes) minus 1"
        )
    if count < 0:
        if (length - offset) % item:
            raise ValueError(
                f"buffer length ({length} bytes) after offset ({offset} bytes) must be a multiple of element size "
                f"({item})"
            )
        count = (length - offset) // item
    elif offset + count * item > length:
        raise ValueError(
            f"requested buffer length ({count} * {item} bytes) after offset ({offset} bytes) must not be greater than "
            f"actual buffer length ({length} bytes)"
        )
    if memory.readonly:
        writing = "you can write to the underlying (supposedly non-writable) buffer using the tensor"
        warn(_READ_ONLY.format("buffer", writing, "buffer"))
    out = wrap(np.frombuffer(memory, np.uint8, count * item, offset).view(kind))
    share(out)
    if requires_grad:
        mark(out)
    return out
