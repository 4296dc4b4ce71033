"""How tensors come back from what checkpoints hold: the functions that pickles call, under PyTorch's names.

They trust nothing: whatever sizes, strides and offsets say, a tensor lies inside its storage or is refused.
"""

from __future__ import annotations

import copyreg
import math
from collections.abc import Callable
from inspect import getattr_static
from pickle import UnpicklingError
from types import BuiltinFunctionType, FunctionType
from typing import Any, NoReturn

import numpy as np

from ..core import tensor as tensors
from ..core.tensor import Tensor, share, wrap
from ..families.create.functions import empty_strided
from ..families.sparse.kernels import Compressed, Coo
from ..families.storage.functions import UntypedStorage
from ..families.storage.interchange import OWN
from ..families.storage.typed import TypedStorage, looking_at
from ..ground import device as devices
from ..ground import dtypes
from ..tensor import sparse as _classes  # noqa: F401  the tensors that carry these
from ..tensor.parameter import Parameter
from .options import ITEM, here, spend

_MOST_DIMENSIONS = 64  # NumPy's limit
_OUTSIDE = "the places of a sparse tensor lie outside of it"
_SPARSE = {dtypes.sparse_coo: 2, dtypes.sparse_csr: 3, dtypes.sparse_csc: 3, dtypes.sparse_bsr: 3,
           dtypes.sparse_bsc: 3}  # of how many tensors these are made  # fmt: skip


def shown(thing: Any) -> str:
    """A short name for a thing out of a file in a message: its parts may be endless, so only plain things are shown."""
    if isinstance(thing, (type, FunctionType, BuiltinFunctionType, dtypes.dtype)):
        return repr(thing)
    if type(thing) is int and thing.bit_length() < 64:
        return repr(thing)
    return repr(thing[:80]) if type(thing) is str else f"an object of type {type(thing).__name__}"


def _whole(values: Any, what: str) -> tuple[int, ...]:
    """A tuple of plain integers, or UnpicklingError."""
    if isinstance(values, (tuple, list)) and len(values) > _MOST_DIMENSIONS:
        raise UnpicklingError(f"{len(values)} dimensions are beyond the {_MOST_DIMENSIONS} that NumPy allows")
    if not isinstance(values, (tuple, list)) or any(type(value) is not int for value in values):
        raise UnpicklingError(f"the {what} of a tensor must be integers, but got {shown(values)}")
    if any(value.bit_length() > 63 for value in values):
        raise UnpicklingError(f"the {what} of a tensor must be integers of 64 bits")
    return tuple(values)


def _placed(storage: Any, kind: Any, offset: Any, size: Any, stride: Any, requires_grad: Any, metadata: Any) -> Tensor:
    """The tensor of this dtype at a place in a storage."""
    if not isinstance(kind, dtypes.dtype):
        raise UnpicklingError(f"the dtype of a tensor must be a torch.dtype, but got {type(kind).__name__}")
    if type(offset) is not int:
        raise UnpicklingError(f"the offset of a tensor must be an integer, but got {type(offset).__name__}")
    sizes, strides = _whole(size, "sizes"), _whole(stride, "strides")
    untyped = storage.untyped()
    if untyped._meta:
        out: Tensor = empty_strided(sizes, strides, dtype=kind, device="meta")
    else:
        untyped._lent = True
        marks = tuple(isinstance(metadata, dict) and metadata.get(mark) is True for mark in ("conj", "neg"))
        owner = _resolved(untyped, kind, marks) if any(marks) else untyped._owner
        out = wrap(looking_at(owner, kind.numpy, offset, sizes, strides))
        share(out)
        if marks[0]:
            out.__dict__["_conjugate"] = True
    if requires_grad is True:
        tensors.require_grad(out, True)
    return out


def _resolved(untyped: Any, kind: Any, marks: tuple[bool, ...]) -> Any:
    """The storage's numbers conjugated or negated, as PyTorch's lazy views of it show them; once for all such views."""
    known = untyped.__dict__.setdefault("_resolved", {})
    if (kind, marks) not in known:
        content = untyped._bytes()
        flat = content[: len(content) // kind.itemsize * kind.itemsize].view(kind.numpy)
        spend(flat.nbytes)
        resolved = known[kind, marks] = np.empty_like(flat)

        def fill() -> None:
            np.conjugate(flat, resolved) if marks[0] else np.copyto(resolved, flat)
            if marks[1]:
                np.negative(resolved, resolved)

        _when_filled(fill)
    return known[kind, marks]


def _when_filled(fill: Callable[[], None]) -> None:
    """Do now what needs the contents of storages, or once they are read where they come after the pickle."""
    if here.unfilled is None:
        fill()
    else:
        here.unfilled.append(fill)


def _typed(storage: Any) -> Any:
    if type(storage) is not TypedStorage:
        raise UnpicklingError(f"a tensor must lie in a storage, but got {type(storage).__name__}")
    return storage


def _rebuild_tensor(storage: Any, storage_offset: Any, size: Any, stride: Any) -> Tensor:
    return _placed(_typed(storage), storage.dtype, storage_offset, size, stride, False, None)


def _rebuild_tensor_v2(
    storage: Any, storage_offset: Any, size: Any, stride: Any, requires_grad: Any, backward_hooks: Any,
    metadata: Any = None,
) -> Tensor:  # fmt: skip
    return _placed(_typed(storage), storage.dtype, storage_offset, size, stride, requires_grad, metadata)


def _rebuild_tensor_v3(
    storage: Any, storage_offset: Any, size: Any, stride: Any, requires_grad: Any, backward_hooks: Any, dtype: Any,
    metadata: Any = None,
) -> Tensor:  # fmt: skip
    if type(storage) not in (TypedStorage, UntypedStorage):
        _typed(storage)
    return _placed(storage, dtype, storage_offset, size, stride, requires_grad, metadata)


def _rebuild_parameter(data: Any, requires_grad: Any, backward_hooks: Any) -> Parameter:
    if not isinstance(data, Tensor):
        raise UnpicklingError(f"a parameter must be made of a tensor, but got {type(data).__name__}")
    return Parameter(data, requires_grad is True)  # type: ignore[no-any-return]


def _rebuild_parameter_with_state(data: Any, requires_grad: Any, backward_hooks: Any, state: Any) -> Parameter:
    out = _rebuild_parameter(data, requires_grad, backward_hooks)
    adopt(out, state)
    return out


def _rebuild_from_type_v2(func: Any, new_type: Any, args: Any, state: Any) -> Any:
    if not any(func is known for known in REBUILDERS):
        raise UnpicklingError(f"a tensor is rebuilt by a function of torch._utils, but got {shown(func)}")
    if not (isinstance(new_type, type) and issubclass(new_type, Tensor)):
        raise UnpicklingError(f"a tensor's class must inherit from Tensor, but got {shown(new_type)}")
    out = func(*args)
    if new_type is not Tensor and type(out) is not new_type:  # a sparse one has a class of its own
        out = out.as_subclass(new_type)
    if new_type.__setstate__ is not Tensor.__setstate__:
        out.__setstate__(state)
    else:
        adopt(out, state)
    return out


def adopt(out: Tensor, state: Any) -> None:
    """Give a tensor the attributes it was saved with, but none of those that it is made of."""
    parts = state if isinstance(state, tuple) else (state,)
    if len(parts) > 2 or any(part is not None and not isinstance(part, dict) for part in parts):
        raise RuntimeError(f"Invalid serialized state: {shown(state)}")
    reserved = {*OWN, *copyreg._slotnames(Tensor), "_backward_hooks"}  # type: ignore[attr-defined]
    for part in parts:
        spend(ITEM * len(part or ()))
        for name, value in (part or {}).items():
            is_free = type(name) is str and name not in reserved and not name.startswith("__")
            if not is_free or hasattr(getattr_static(Tensor, name, None), "__set__"):  # a property: shape, data, grad
                raise UnpicklingError(f"a checkpoint may not set the attribute {shown(name)} of a tensor")
            setattr(out, name, value)


def _rebuild_meta_tensor_no_storage(dtype: Any, size: Any, stride: Any, requires_grad: Any) -> Tensor:
    sizes, strides = _whole(size, "sizes"), _whole(stride, "strides")
    if not isinstance(dtype, dtypes.dtype):
        raise UnpicklingError(f"the dtype of a tensor must be a torch.dtype, but got {type(dtype).__name__}")
    out: Tensor = empty_strided(sizes, strides, dtype=dtype, device="meta", requires_grad=requires_grad is True)
    return out


def _rebuild_device_tensor_from_cpu_tensor(data: Any, dtype: Any, device: Any, requires_grad: Any) -> Tensor:
    if type(data) is not Tensor or not data.is_contiguous():  # type: ignore[attr-defined]
        raise UnpicklingError("a tensor of another device is saved as a contiguous tensor")
    if data.dtype is not dtype:
        raise UnpicklingError(f"a tensor of another device is saved in its own dtype, {shown(dtype)}")
    return _moved(data, dtype, device, requires_grad)


def _rebuild_device_tensor_from_numpy(data: Any, dtype: Any, device: Any, requires_grad: Any) -> Tensor:
    if type(data) is not np.ndarray or not data.flags.c_contiguous:
        raise UnpicklingError("a tensor of another device is saved as a contiguous array")
    return _moved(wrap(data), dtype, device, requires_grad)


def _moved(data: Any, dtype: Any, device: Any, requires_grad: Any) -> Tensor:
    where: Any = here.map_location
    if where is None:
        where = device
    elif isinstance(where, dict):
        where = where.get(device, device)
    elif not isinstance(where, (str, devices.device)):
        raise RuntimeError(
            "Callable map_location not supported with _rebuild_wrapper_subclass or _rebuild_device_tensor_from_numpy"
        )
    out: Tensor = data.to(dtype=dtype, device=where)
    if requires_grad is True:
        tensors.require_grad(out, True)
    return out


def _unknown(what: str, instead: str) -> NoReturn:
    raise UnpicklingError(f"the checkpoint holds {what}, which glassgrad does not have: {instead}")


def _rebuild_sparse_tensor(layout: Any, data: Any) -> Any:
    if layout not in _SPARSE or not isinstance(data, tuple):
        _unknown(f"a tensor of layout {shown(layout)}", "save x.to_dense() instead")
    n = _SPARSE[layout]
    if len(data) < n + 1 or not all(type(part) is Tensor for part in data[:n]):
        raise UnpicklingError("a sparse tensor must be made of tensors and a size")
    sizes = _whole(data[n], "sizes")
    *indices, values = [part._array for part in data[:n]]
    if any(part.dtype.metadata is not None for part in (*indices, values)):
        _unknown("a sparse tensor without data", "load it without map_location='meta'")
    if any(index.dtype.kind != "i" for index in indices):
        raise UnpicklingError("the places of a sparse tensor must be integers")
    if any(size < 0 for size in sizes) or math.prod(sizes) >= 1 << 63:
        raise RuntimeError("numel: integer multiplication overflow")
    if layout is not dtypes.sparse_coo:
        lines = Compressed(indices[0], indices[1], values, sizes, str(layout)[-3:])
        _when_filled(lambda: _check_compressed(lines))
        return wrap(lines)
    places = Coo(indices[0], values, sizes, len(data) > 3 and data[3] is True)
    _when_filled(lambda: _check_coo(places))
    return wrap(places)


def _check_compressed(array: Compressed) -> None:
    """UnpicklingError where places lie outside, before anything is walked that the file does not hold."""
    starts, places, (_, *block) = array.starts, array.places, array.values.shape or (0,)
    fits = len(array.shape) == 2 and places.shape == array.values.shape[:1]
    fits = fits and len(block) == (2 if array.layout[0] == "b" else 0) and 0 not in block
    spend(starts.nbytes + places.nbytes)
    if not fits or any(size % n for size, n in zip(array.shape, block, strict=False)):
        raise UnpicklingError(_OUTSIDE)
    sizes = [size // n for size, n in zip(array.shape, block or (1, 1), strict=True)]
    count, others = sizes if array.layout[2] == "r" else sizes[::-1]
    is_list = starts.shape == (count + 1,) and starts[0] == 0 and starts[-1] == len(places)
    if not is_list or (np.diff(starts) < 0).any() or not _within(places, others):
        raise UnpicklingError(_OUTSIDE)


def _check_coo(array: Coo) -> None:
    """The same; the places get memory of their own."""
    indices, sizes = array.indices, array.shape
    fits = indices.ndim == 2 and array.values.shape == (indices.shape[1], *sizes[len(indices) :])
    spend(8 * indices.size)
    if not fits or len(indices) > len(sizes) or not all(map(_within, indices, sizes)):
        raise UnpicklingError(_OUTSIDE)
    array.indices = indices.astype(np.int64)


def _within(indices: Any, size: int) -> bool:
    return not len(indices) or (indices.min() >= 0 and indices.max() < size)


def _rebuild_qtensor(*args: Any) -> NoReturn:
    _unknown("a quantized tensor", "save x.dequantize() instead")


def _rebuild_nested_tensor(*args: Any) -> NoReturn:
    _unknown("a nested tensor", "save its parts, x.unbind(), instead")


def _rebuild_wrapper_subclass(*args: Any) -> NoReturn:
    _unknown("a wrapper subclass of Tensor", "save the tensors it wraps instead")


def _get_layout(name: Any) -> Any:
    """The memory layout that a string names."""
    for known in (dtypes.strided, *_SPARSE):
        if type(name) is str and name == repr(known):
            return known
    _unknown(f"the layout {shown(name)}", "save strided tensors instead")


def _load_from_bytes(content: bytes) -> Any:
    from io import BytesIO

    from .reading import load  # it knows this file

    return load(BytesIO(content), weights_only=False)


REBUILDERS = (
    _rebuild_parameter, _rebuild_parameter_with_state, _rebuild_qtensor, _rebuild_tensor, _rebuild_tensor_v2,
    _rebuild_tensor_v3, _rebuild_sparse_tensor, _rebuild_meta_tensor_no_storage, _rebuild_nested_tensor,
    _rebuild_wrapper_subclass, _rebuild_device_tensor_from_numpy, _rebuild_device_tensor_from_cpu_tensor,
)  # fmt: skip
