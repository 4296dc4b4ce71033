"""Tensors from Python values and NumPy arrays: ``tensor``, ``as_tensor``, ``from_numpy``, ``Tensor(...)``."""

from __future__ import annotations

import numbers
import warnings
from typing import Any

import numpy as np

from ...ground import device as devices
from ...ground import dtypes, errors
from ...tensor import tensor as tensors
from ...tensor.tensor import LEAF, Tensor, alias, new, share, wrap
from ..declare import composite
from ..override import blank

_MAXIMUM = 2**63 - 1


def numpy_of(dtype: Any) -> np.dtype[Any] | None:
    """The NumPy dtype of a ``dtype=`` argument: a dtype, a Python type, or None."""
    if dtype is None:
        return None
    if isinstance(dtype, dtypes.dtype):
        return dtype.numpy
    known = {float: np.dtype("f8"), int: np.dtype("i8"), bool: np.dtype("?"), complex: np.dtype("c16")}
    try:
        return known[dtype]
    except (KeyError, TypeError):
        raise TypeError(f"dtype must be torch.dtype, not {type(dtype).__name__}") from None


def place(array: Any, device: Any = None, requires_grad: bool = False, function: str = "tensor") -> Tensor:
    """A tensor of ``array`` on ``device``; shapes only where that is ``meta``."""
    if (device is not None or devices.get_default_device().type != "cpu") and (
        devices.require(device, function) == "meta"
    ):
        array = blank(array.shape, array.dtype)
    out = wrap(array)
    if requires_grad:
        if array.dtype.kind not in "fc" and not dtypes.of(array.dtype).is_floating_point:
            raise RuntimeError("O" + errors.ONLY_FLOATS[1:])
        out._e = LEAF
    return out


@composite(method=False)
def tensor(
    data: Any, *, dtype: Any = None, device: Any = None, requires_grad: bool = False, pin_memory: bool = False
) -> Tensor:
    """A tensor that holds a copy of ``data``: numbers, nested sequences, NumPy arrays or a tensor.

    Source: https://docs.pytorch.org/docs/stable/generated/torch.tensor.html
    """
    if isinstance(data, Tensor):
        warnings.warn(
            "To copy construct from a tensor, it is recommended to use sourceTensor.detach().clone() or "
            "sourceTensor.detach().clone().requires_grad_(True), rather than torch.tensor(sourceTensor).",
            UserWarning,
            stacklevel=2,
        )
    array = array_of(data, numpy_of(dtype))
    return place(array, device, requires_grad)


def array_of(data: Any, kind: np.dtype[Any] | None) -> Any:
    """A new array of whatever ``tensor`` takes; a NumPy scalar for a single number."""
    found = type(data)
    if found is float or found is int or found is bool or found is complex:
        if kind is None:
            kind = dtypes.of_number(found).numpy
        return _number(data, kind)
    if isinstance(data, Tensor):
        return _cast(np.array(data._d), kind, True)
    if isinstance(data, np.ndarray) or isinstance(data, np.generic):
        dtypes.of(data.dtype)
        return _cast(np.array(data, order="C"), kind, True)
    if isinstance(data, str):
        raise TypeError("new(): invalid data type 'str'")
    if isinstance(data, (list, tuple, range)) or (hasattr(data, "__len__") and hasattr(data, "__getitem__")):
        if isinstance(data, dict):
            raise RuntimeError("Could not infer dtype of dict")
        return _sequence(data, kind)
    if hasattr(data, "__array__"):
        return array_of(np.asarray(data), kind)
    if hasattr(data, "__index__"):
        return array_of(data.__index__(), kind)
    if isinstance(data, numbers.Real):
        return array_of(float(data), kind)
    raise RuntimeError(f"Could not infer dtype of {found.__name__}")


def _number(value: Any, kind: np.dtype[Any]) -> Any:
    if type(value) is int and kind.kind in "iu":
        if not -_MAXIMUM - 1 <= value <= (_MAXIMUM if kind != np.uint64 else 2 * _MAXIMUM + 1):
            raise ValueError("Overflow when unpacking long long")
        info = np.iinfo(kind)
        if not info.min <= value <= info.max and not (kind == np.uint8 and -255 <= value < 0):
            raise RuntimeError(f"value cannot be converted to type {dtypes.of(kind).name} without overflow")
    elif kind.kind in "iu":
        if isinstance(value, complex):
            raise RuntimeError(f"value cannot be converted to type {_c_name(kind)} without overflow")
        if value != value or not np.iinfo(kind).min <= value <= np.iinfo(kind).max:
            raise RuntimeError(f"value cannot be converted to type {_c_name(kind)} without overflow")
    elif isinstance(value, complex) and kind.kind not in "c":
        raise RuntimeError(f"value cannot be converted to type {_c_name(kind)} without overflow")
    return np.asarray(value).astype(kind)[()]


def _c_name(kind: np.dtype[Any]) -> str:
    """How PyTorch's conversion errors call a type."""
    return {"i8": "int64_t", "f4": "float", "f8": "double"}.get(kind.str[1:], dtypes.of(kind).name)


def _cast(array: Any, kind: np.dtype[Any] | None, fresh: bool) -> Any:
    if not array.dtype.isnative:
        array = array.astype(array.dtype.newbyteorder("="))
    out = array if kind is None or array.dtype == kind else array.astype(kind)
    return out[()] if out.ndim == 0 else out


def _shape(data: Any) -> tuple[int, ...]:
    """The shape that the first elements of nested sequences tell."""
    shape: list[int] = []
    while isinstance(data, (list, tuple, range)) or (
        not isinstance(data, (str, np.generic)) and getattr(data, "ndim", 1) != 0 and hasattr(data, "__len__")
    ):
        shape.append(len(data))
        if len(shape) > 128:
            raise ValueError(f"too many dimensions '{type(data).__name__}'")
        if not len(data):
            break
        data = data[0]
    if isinstance(data, str):
        raise ValueError("too many dimensions 'str'")
    return tuple(shape)


def _sequence(data: Any, kind: np.dtype[Any] | None) -> Any:
    shape = _shape(data)
    if all(type(piece) is np.ndarray for piece in data) and len(data) and not isinstance(data, range):
        try:
            return _cast(np.stack(data), kind, True)
        except ValueError:
            pass
    flat: list[Any] = [data]
    for depth, size in enumerate(shape):
        following: list[Any] = []
        for piece in flat:
            if isinstance(piece, Tensor) and piece._d.ndim == 0 or not hasattr(piece, "__len__"):
                raise TypeError(f"expected sequence of length {size} at dim {depth} (got {type(piece).__name__})") \
                    if not isinstance(piece, Tensor) else ValueError("only one element tensors can be converted to Python scalars")
            if len(piece) != size:
                raise ValueError(f"expected sequence of length {size} at dim {depth} (got {len(piece)})")
            following.extend(piece)
        flat = following
    types = set(map(type, flat))
    if types <= {float, int, bool, complex}:
        if kind is None:
            widest = next((one for one in (complex, float, int, bool) if one in types), float)
            kind = dtypes.of_number(widest).numpy
        if types <= {float} or kind.kind in "f" and types <= {float, int, bool}:
            if kind.kind not in "iu":
                return np.array(flat, kind).reshape(shape)
        if types == {int} and kind == np.int64:
            try:
                return np.array(flat, kind).reshape(shape)
            except OverflowError:
                raise ValueError("Overflow when unpacking long long") from None
        if types == {bool} and kind.kind == "b":
            return np.array(flat, kind).reshape(shape)
    else:
        for index, value in enumerate(flat):
            if isinstance(value, Tensor):
                if value._d.size != 1:
                    raise ValueError("only one element tensors can be converted to Python scalars")
                flat[index] = value._d.reshape(-1)[0] if value._d.ndim else value._d
        if kind is None:
            found = [
                dtypes.of(value.dtype) if isinstance(value, np.generic | np.ndarray) else _of_value(value)
                for value in flat
            ]
            joined = found[0]
            for one in found[1:]:
                joined = dtypes.promote_types(joined, one)
            kind = joined.numpy
        flat = [value.item() if isinstance(value, np.generic | np.ndarray) else value for value in flat]
    out = np.empty(len(flat), kind)
    for index, value in enumerate(flat):
        out[index] = _number(value, kind)
    return out.reshape(shape)


def _of_value(value: Any) -> dtypes.dtype:
    if isinstance(value, (bool, int, float, complex)):
        return dtypes.of_number(type(value))
    if isinstance(value, str):
        raise ValueError("too many dimensions 'str'")
    if hasattr(value, "__index__"):
        return dtypes.int64
    if hasattr(value, "__float__"):
        return dtypes.get_default_dtype()
    raise RuntimeError(f"Could not infer dtype of {type(value).__name__}")


@composite(method=False)
def as_tensor(data: Any, dtype: Any = None, device: Any = None) -> Tensor:
    """``data`` as a tensor, sharing its memory where that is possible."""
    if isinstance(data, Tensor):
        if dtype is None and device is None:
            return data
        return data.to(**{k: v for k, v in (("dtype", dtype), ("device", device)) if v is not None})  # type: ignore[attr-defined]
    if isinstance(data, np.ndarray) and data.dtype.isnative:
        kind = numpy_of(dtype)
        if kind is None or data.dtype == kind:
            return place(from_numpy(data)._d, device)
    return tensor(data, dtype=dtype, device=device)


@composite(method=False)
def asarray(obj: Any, *, dtype: Any = None, device: Any = None, copy: bool | None = None, requires_grad: bool = False) -> Tensor:
    """``obj`` as a tensor: shared, or copied where asked or needed."""
    if copy:
        out = place(array_of(obj, numpy_of(dtype)), device)
    else:
        out = as_tensor(obj, dtype=dtype, device=device)
    if requires_grad:
        out.requires_grad_()
    return out


@composite(method=False)
def from_numpy(ndarray: Any, /) -> Tensor:
    """A tensor on the memory of a NumPy array."""
    if not isinstance(ndarray, np.ndarray):
        raise TypeError(f"expected np.ndarray (got {type(ndarray).__name__})")
    if not ndarray.dtype.isnative:
        raise ValueError(
            "given numpy array has byte order different from the native byte order. Conversion between byte orders is "
            "currently not supported."
        )
    dtypes.of(ndarray.dtype)
    if any(stride < 0 for stride in ndarray.strides):
        raise ValueError(
            "At least one stride in the given numpy array is negative, and tensors with negative strides are not "
            "currently supported. (You can probably work around this by making a copy of your array  with "
            "array.copy().) "
        )
    if any(stride % ndarray.itemsize for stride in ndarray.strides):
        raise ValueError(
            "given numpy array strides not a multiple of the element byte size. Copy the numpy array to reallocate the "
            "memory."
        )
    if not ndarray.flags.writeable:
        warnings.warn(
            "The given NumPy array is not writable, and PyTorch does not support non-writable tensors. This means "
            "writing to this tensor will result in undefined behavior. You may want to copy the array to protect its "
            "data or make it writable before converting it to a tensor. This type of warning will be suppressed for "
            "the rest of this program.",
            UserWarning,
            stacklevel=2,
        )
    out = wrap(ndarray if type(ndarray) is np.ndarray else ndarray.view(np.ndarray))
    share(out)
    return out


@composite(method=False)
def scalar_tensor(s: Any, *, dtype: Any = None, device: Any = None, requires_grad: bool = False) -> Tensor:
    """A 0-d tensor of a number, in the default dtype unless told."""
    kind = numpy_of(dtype) or dtypes.get_default_dtype().numpy
    return place(_number(s, kind), device, requires_grad)


def construct(cls: Any, *args: Any, **kwargs: Any) -> Tensor:
    """``Tensor(...)``: of sizes, uninitialised; of a sequence, its values; of a tensor, an alias."""
    return legacy(cls, dtypes.get_default_dtype().numpy, args, kwargs)


def legacy(cls: Any, kind: np.dtype[Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Tensor:
    """The old constructors: ``Tensor``, ``FloatTensor``, ``LongTensor`` ..."""
    device = kwargs.pop("device", None)
    if "size" in kwargs:
        args = (*args, *kwargs.pop("size"))
    if "data" in kwargs:
        args = (*args, kwargs.pop("data"))
    if kwargs:
        raise TypeError(f"new() received an invalid keyword argument: '{next(iter(kwargs))}'")
    if not args:
        array: Any = np.empty(0, kind)
    elif len(args) == 1 and not _is_int(args[0]):
        (data,) = args
        if isinstance(data, Tensor):
            if data._d.dtype != kind:
                raise TypeError(
                    f"expected {dtypes.of(kind)} (got {data.dtype})"
                )
            out = alias(data)
            if cls is not Tensor:
                out.__class__ = cls
            return out
        if isinstance(data, tuple) and type(data).__name__ == "Size":
            array = np.empty(data, kind)
        elif not hasattr(data, "__len__"):
            raise TypeError(f"new(): data must be a sequence (got {type(data).__name__})")
        else:
            array = np.asarray(array_of(data, None)).astype(kind)
    else:
        for index, size in enumerate(args):
            if not _is_int(size):
                raise TypeError(
                    f"new(): argument 'size' failed to unpack the object at pos {index + 1} with error "
                    f'"type must be tuple of ints,but got {type(size).__name__}"'
                )
        array = np.empty([int(size) for size in args], kind)
    made = place(array, device)
    if cls is Tensor:
        return made
    out = new(cls)
    out._d, out._e, out._v = made._d, None, None
    return out


def _is_int(value: Any) -> bool:
    return hasattr(value, "__index__") and not (isinstance(value, Tensor) and value._d.ndim) and not isinstance(value, bool | np.ndarray)


tensors.construct = construct
