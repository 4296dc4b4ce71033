"""Tensors from Python values and arrays, copied; knows how nested data is read."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NoReturn

import numpy as np

from ...core.tensor import LEAF, Tensor, wrap
from ...ground import dtypes, errors, modes
from ...ground.importing import load
from ...ops.declare import composite

#: ``require(device, function)``: which of 'cpu' and 'meta' a device is; of ``ground/device.py``, as few name one.
require: Callable[..., str] = NotImplemented
#: ``blank(shape, dtype)``: the array of a meta tensor; of ``ground/meta.py``.
blank: Callable[..., Any] = NotImplemented
#: ``need_item(array)``: PyTorch's error where a meta tensor is asked for its number; of ``ground/meta.py``.
need_item: Callable[..., None] = NotImplemented
_FLOAT, _INT, _INT64 = {float}, {int}, np.dtype(np.int64)
_LEAST, _MOST = -(2**63), 2**63 - 1
_NEGATIVE_STRIDE = (
    "At least one stride in the given numpy array is negative, and tensors with negative strides are not currently "
    "supported. (You can probably work around this by making a copy of your array  with array.copy().) "
)


def numpy_of(dtype: Any, function: str = "tensor") -> np.dtype[Any] | None:
    """The NumPy dtype of a ``dtype=`` argument: a dtype, a Python type, or None."""
    return None if dtype is None else dtypes.demand(dtype, function).numpy


def tensor_of(array: Any, device: Any = None, requires_grad: bool = False, function: str = "tensor") -> Tensor:
    """A tensor of ``array`` on ``device``; shapes only where that is ``meta``."""
    if device is not None or modes.local.device is not None:
        if require(device, function) == "meta":
            array = blank(array.shape, array.dtype)
        elif array.dtype.metadata is not None:
            raise NotImplementedError("Cannot copy out of meta tensor; no data!")
    out = fresh(array)
    if requires_grad:
        mark(out)
    return out


def fresh(array: Any) -> Tensor:
    """A tensor of a new array; in inference mode, an inference tensor."""
    out = wrap(array)
    if modes.watch and modes.local.inference:
        out._inference = True
    if modes.transforming:
        from ...tensor import lifted  # there is a transform that knows it

        return lifted.born(out)  # type: ignore[no-any-return]
    return out


def mark(leaf: Tensor) -> None:
    """Make a new tensor a leaf that requires gradients; PyTorch's error where its dtype cannot carry them."""
    if leaf._array.dtype.kind not in "fcV":
        raise RuntimeError("O" + errors.ONLY_FLOATS[1:])
    leaf._edge = LEAF


@composite(method=False)
def tensor(
    data: Any, *, dtype: Any = None, device: Any = None, requires_grad: bool = False, pin_memory: bool = False
) -> Tensor:
    """A tensor that holds a copy of ``data``: numbers, nested sequences, NumPy arrays or a tensor.

    Source: https://docs.pytorch.org/docs/stable/generated/torch.tensor.html
    """
    if isinstance(data, Tensor):
        warn_of_copy("torch.tensor")
    return tensor_of(array_of(data, numpy_of(dtype)), device, requires_grad)


def warn_of_copy(function: str) -> None:
    """PyTorch's advice where a tensor is copied by a constructor."""
    warn(
        "To copy construct from a tensor, it is recommended to use sourceTensor.detach().clone() or "
        f"sourceTensor.detach().clone().requires_grad_(True), rather than {function}(sourceTensor)."
    )


def warn(message: str) -> None:
    """Warn whoever called our package; few programs come here."""
    load("...ground.runtime", __package__).warn(message)


# -- reading values ---------------------------------------------------------------------------------------------------


def array_of(data: Any, kind: np.dtype[Any] | None) -> Any:
    """A new array of whatever ``tensor`` takes; a NumPy scalar for a single number."""
    cls = type(data)
    if cls is float or cls is int or cls is bool or cls is complex:
        if kind is None:
            kind = dtypes.of_number(cls).numpy
        return converted(data, kind)
    if cls is list and data:
        types = set(map(type, data))
        if types == _FLOAT and (kind is None or kind.kind == "f"):
            kind = kind or dtypes.get_default_dtype().numpy
            return dtypes.cast(np.array(data), kind) if kind.char == "e" else np.array(data, kind)
        if types == _INT and kind is None:
            return _of_integers(data, _INT64)
    if isinstance(data, Tensor):
        if data._array.dtype.metadata is not None:
            return blank(data._array.shape, kind or data._array.dtype)
        return _cast(np.array(data._array), kind)
    if isinstance(data, np.ndarray | np.generic):
        check_array(data)
        return _cast(np.array(data), kind)
    if isinstance(data, str | bytes):
        raise TypeError(f"new(): invalid data type '{cls.__name__}'")
    if _is_sequence(data):
        return _of_sequence(data, kind)
    if isinstance(data, int | float | complex):
        return converted(data, kind or dtypes.of_number(cls).numpy)
    _unknown(data)


def _unknown(value: Any) -> NoReturn:
    if isinstance(value, str | bytes):
        raise TypeError(f"new(): invalid data type '{type(value).__name__}'")
    raise RuntimeError(f"Could not infer dtype of {type(value).__name__}")


def _cast(array: Any, kind: np.dtype[Any] | None) -> Any:
    if kind is None or array.dtype == kind:
        kind = dtypes.of(array.dtype).numpy
        out = array if array.dtype is kind else array.view(kind)  # equal dtypes may be several objects
    else:
        out = dtypes.cast(array, kind)
    return out[()] if out.ndim == 0 else out


def check_array(array: Any) -> None:
    """Raise PyTorch's error for an array that no tensor can look at."""
    if not array.dtype.isnative:
        raise ValueError(
            "given numpy array has byte order different from the native byte order. Conversion between byte orders is "
            "currently not supported."
        )
    dtypes.of(array.dtype)
    if any(stride < 0 for stride in array.strides):
        raise ValueError(_NEGATIVE_STRIDE)
    if any(stride % array.itemsize for stride in array.strides):
        raise ValueError(
            "given numpy array strides not a multiple of the element byte size. Copy the numpy array to reallocate the "
            "memory."
        )


def _is_sequence(data: Any) -> bool:
    cls = type(data)
    if cls is list or cls is tuple:
        return True
    if isinstance(data, str | bytes | dict | Tensor | np.generic):
        return False
    return hasattr(cls, "__len__") and hasattr(cls, "__getitem__")


def _sizes(data: Any) -> list[int]:
    """The sizes that the first elements of nested sequences tell."""
    sizes: list[int] = []
    while _is_sequence(data):
        sizes.append(len(data))
        if len(sizes) > 128:
            raise ValueError(f"too many dimensions '{type(data).__name__}'")
        if not sizes[-1]:
            return sizes
        data = data[0]
    if isinstance(data, str):
        raise ValueError("too many dimensions 'str'")
    return sizes


def _of_sequence(data: Any, kind: np.dtype[Any] | None) -> Any:
    sizes = _sizes(data)
    if sizes[0] and all(type(item) is np.ndarray for item in data) and isinstance(data, list):
        warn(
            "Creating a tensor from a list of numpy.ndarrays is extremely slow. Please consider converting the list to "
            "a single numpy.ndarray with numpy.array() before converting to a tensor."
        )
        if len({item.shape for item in data}) == 1:
            return _cast(np.stack(data), kind)
    try:
        flat = _flattened(data, sizes)
    except (TypeError, ValueError):
        if kind is None:
            _inferred(data)  # what cannot be read at all is said first
        raise
    return _of_elements(flat, kind, data).reshape(sizes)


def _flattened(data: Any, sizes: list[int]) -> list[Any]:
    """The elements of regular nested sequences; PyTorch's errors for ragged ones."""
    flat: list[Any] = [data]
    for depth, size in enumerate(sizes):
        following: list[Any] = []
        for item in flat:
            if not _is_sequence(item):
                raise TypeError("not a sequence")
            if len(item) != size:
                raise ValueError(f"expected sequence of length {size} at dim {depth} (got {len(item)})")
            following.extend(item)
        flat = following
    return flat


def _of_elements(flat: list[Any], kind: np.dtype[Any] | None, data: Any) -> Any:
    """The elements as a flat array; numbers of one Python type take a short way."""
    types = set(map(type, flat))
    if types <= {float, int, bool, complex}:
        if kind is None:
            widest = next((cls for cls in (complex, float, int, bool) if cls in types), float)
            kind = dtypes.of_number(widest).numpy
        if kind.kind in "fV" and complex not in types or types == {bool}:
            return np.array([*map(float, flat)] if kind.kind == "V" else flat, kind)  # large integers too
        if types == {int} and kind.kind == "i":
            return _of_integers(flat, kind)
    elif kind is None:
        kind = _inferred(data).numpy
    out = np.empty(len(flat), kind)
    for index, value in enumerate(flat):
        out[index] = converted(value, kind)
    return out


def _of_integers(flat: list[int], kind: np.dtype[Any]) -> Any:
    try:
        integers = np.array(flat, np.int64)
    except OverflowError:
        raise ValueError("Overflow when unpacking long long") from None
    if kind.itemsize < 8 and len(flat):
        info = np.iinfo(kind)
        if integers.min() < info.min or integers.max() > info.max:
            raise RuntimeError(f"value cannot be converted to type {dtypes.of(kind).name} without overflow")
    return integers.astype(kind, copy=False)


def _elements(data: Any) -> Iterator[Any]:
    """Every element of nested sequences, ragged or not; an empty one counts as a float."""
    stack = [data]
    while stack:
        item = stack.pop()
        if not _is_sequence(item):
            yield item
        elif isinstance(item, np.ndarray):
            yield item
        elif len(item):
            stack += reversed([item[index] for index in range(len(item))])
        else:
            yield 0.0


def _inferred(data: Any) -> dtypes.dtype:
    """The dtype that all elements agree on."""
    joined: dtypes.dtype | None = None
    for value in _elements(data):
        if isinstance(value, np.ndarray | np.generic | Tensor):
            dtype = dtypes.of(value._array.dtype if isinstance(value, Tensor) else value.dtype)
        elif isinstance(value, bool | int | float | complex):
            dtype = dtypes.of_number(type(value))
        else:
            _unknown(value)
        joined = dtype if joined is None or joined is dtype else dtypes.promote_types(joined, dtype)
    assert joined is not None
    return joined


def converted(value: Any, kind: np.dtype[Any]) -> Any:
    """One element in the dtype ``kind``; PyTorch's errors where it does not fit or is no number."""
    whole = kind.kind in "iu"
    if isinstance(value, Tensor):
        if value._array.size != 1:
            raise ValueError("only one element tensors can be converted to Python scalars")
        if whole and value._array.dtype.kind not in "iub":
            raise TypeError("only integer tensors of a single element can be converted to an index")
        if value.requires_grad and modes.local.grad:
            warn(
                "Converting a tensor with requires_grad=True to a scalar may lead to unexpected behavior.\nConsider "
                "using tensor.detach() first."
            )
        need_item(value._array)
        value = value._array.item()
    elif isinstance(value, np.generic):
        value = value.item()
    if kind.kind == "b":
        return np.bool_(bool(value))
    if whole:
        _check_integer(value, kind)
    elif not isinstance(value, complex if kind.kind == "c" else bool | int | float) and not isinstance(
        value, int | float
    ):
        raise TypeError(f"must be real number, not {type(value).__name__}")
    else:
        value = complex(value) if kind.kind == "c" else float(value)  # type: ignore[arg-type]
    return dtypes.cast(np.asarray(value), kind)[()]


def _check_integer(value: Any, kind: np.dtype[Any]) -> None:
    if not isinstance(value, int | float):
        raise TypeError(f"'{type(value).__name__}' object cannot be interpreted as an integer")
    info = np.iinfo(kind)
    if isinstance(value, int):
        if kind.kind == "u" and kind.itemsize == 8:
            if value < 0:
                raise OverflowError("can't convert negative int to unsigned")
            if value > info.max:
                raise OverflowError("int too big to convert")
        elif not _LEAST <= value <= _MOST:
            raise ValueError("Overflow when unpacking long long")
        least = -info.max if kind.kind == "u" else info.min
        fits = least <= value <= info.max
    else:
        fits = float(info.min) <= value <= float(info.max)
    if not fits:
        raise RuntimeError(f"value cannot be converted to type {dtypes.of(kind).name} without overflow")


@composite(method=False)
def scalar_tensor(
    s: Any, *, dtype: Any = None, layout: Any = None, device: Any = None, pin_memory: bool = False,
    requires_grad: bool = False,
) -> Tensor:  # fmt: skip
    """A 0-d tensor of a number, in the default dtype unless told."""
    kind = numpy_of(dtype, "scalar_tensor") or dtypes.get_default_dtype().numpy
    dtypes.check_one(s, kind)
    return tensor_of(converted(s, kind), device, requires_grad)
