"""``x[key]`` and ``x[key] = value``: a key taken apart into views and index tensors, as PyTorch does."""

from __future__ import annotations

import builtins
import math
from collections.abc import Iterator
from typing import Any

import numpy as np

from ...core import write
from ...core.tensor import Tensor, share, wrap
from ...ground import dtypes, modes
from ...ground.hidden import Hidden
from ...ground.meta import need_data, need_item
from ...ground.runtime import warn
from ...ops.declare import composite
from ...tensor import writable
from ...tensor.parameter import Parameter
from ..create.construct import tensor
from ..join.rows import flip, unbind
from ..scatter.rows import inside
from ..shape.functions import movedim
from ..shape.rows import alias, expand, unsqueeze, view
from .rows import ALL, Indices, beside, index_put, select, slice
from .rows import index as index_row

ndarray = np.ndarray
_PLAIN = (Tensor, Parameter)
_HUGE = 2**63 - 1

_SCALAR = (
    "invalid index of a 0-dim tensor. Use `tensor.item()` in Python or `tensor.item<T>()` in C++ to convert a 0-dim "
    "tensor to a number"
)
_INVALID = "only integers, slices (`:`), ellipsis (`...`), None and long or byte Variables are valid indices (got {})"
_KINDS = "tensors used as indices must be long, int, byte or bool tensors"
_BYTE = (
    "indexing with dtype torch.uint8 is now deprecated, please use a dtype torch.bool instead. (Triggered internally "
    "at /__w/pytorch/pytorch/aten/src/ATen/native/IndexingUtils.h:37.)"
)
_SEQUENCE = (
    "Using a non-tuple sequence for multidimensional indexing is deprecated and will be changed in pytorch 2.9; use "
    "x[tuple(seq)] instead of x[seq]. In pytorch 2.9 this will be interpreted as tensor index, x[torch.tensor(seq)], "
    "which will result either in an error or a different result (Triggered internally at "
    "/__w/pytorch/pytorch/torch/csrc/autograd/python_variable_indexing.cpp:{}.)"
)
_TRUNCATED = (
    "Truncating the start/stop/step of slice. This is likely because of saved old models when the start/stop/step were "
    "larger."
)


@composite(name="__getitem__", function=False)
def getitem(self: Tensor, key: Any) -> Tensor:
    """The part of a tensor that ``key`` names: a view, or a copy where index tensors choose."""
    kind = type(key)
    if kind is int:
        try:
            return select(self, 0, key)
        except IndexError:
            raise _outside(self._array, 0, key) from None
    if kind is builtins.slice:
        return _sliced(self, 0, key)
    if kind is tuple:
        return _parts(self, key)
    if key is None:
        return unsqueeze(self, 0)
    if kind in _PLAIN and key._array.ndim:
        return _parts(self, (key,))
    return _general(self, _unpacked(key))


def _parts(self: Tensor, keys: tuple[Any, ...]) -> Tensor:
    """The short way for keys of every day; whatever is unusual, wrong keys too, takes the general one."""
    viewed = self
    dim = covered = 0
    indices: list[Any] = []
    try:
        for key in keys:
            kind = type(key)
            if kind is int:
                viewed = select(viewed, dim, key)
            elif kind is builtins.slice:
                if key.start is not None or key.stop is not None or key.step is not None:
                    if dim < viewed._array.ndim and _takes_all(key, viewed._array.shape[dim]):
                        dim += 1
                        continue
                    viewed = _sliced(viewed, dim, key)
                dim += 1
            elif key is None:
                viewed = unsqueeze(viewed, dim)
                dim += 1
            elif kind is Tensor and key._array.ndim and _may_index(key._array):
                data = key._array
                size = 1
                if data.dtype.kind == "b":
                    size = data.ndim
                    if data.shape != viewed._array.shape[dim : dim + size] or data.dtype.metadata is not None:
                        return _general(self, keys)
                elif data.itemsize == 1:
                    return _general(self, keys)
                indices += [None] * (dim - covered)
                indices.append(key)
                dim += size
                covered = dim
            elif key is ... and indices == []:
                dim += self._array.ndim - _dims(keys)
            else:
                return _general(self, keys)
        if dim > viewed._array.ndim:
            return _general(self, keys)
        if indices:
            return index_row(viewed, Indices(indices))
    except (IndexError, TypeError):
        return _general(self, keys)
    return alias(self) if viewed is self else viewed


def _may_index(array: Any) -> bool:
    """Whether an array holds truth values or whole numbers of a size that indices have."""
    return array.dtype.kind in "ib" and array.itemsize != 2


def _dims(keys: tuple[Any, ...]) -> int:
    count = 0
    for key in keys:
        if not (type(key) is int or type(key) is builtins.slice):
            if key is None or key is ...:
                continue
            raise TypeError  # index tensors beside an Ellipsis: the general way counts them
        count += 1
    return count


def _of_scalar(index: Any) -> IndexError:
    """PyTorch's error for an index of a tensor without dimensions."""
    if type(index) is int and index:
        return IndexError(f"index {index} is out of bounds for dimension 0 with size 0")
    return IndexError(_SCALAR)


def _outside(array: Any, dim: int, index: int, shown: int = 0) -> Exception:
    if not array.ndim:
        return _of_scalar(index)
    if not -_HUGE - 1 <= index <= _HUGE:
        return ValueError("Overflow when unpacking long long")
    return IndexError(f"index {index} is out of bounds for dimension {shown} with size {array.shape[dim]}")


def _unpacked(key: Any) -> tuple[Any, ...]:
    """A single key as a tuple; sequences that hold more than numbers count as tuples, as old NumPy had it."""
    if isinstance(key, tuple):
        return tuple(key)
    if isinstance(key, (list, str)) and len(key) < 32:
        for part in key:
            is_index = isinstance(part, (Tensor, ndarray, list, tuple, str, range, builtins.slice))
            if is_index or part is None or part is ...:
                warn(_SEQUENCE.format(349 if is_index else 359))
                if isinstance(key, str):
                    raise TypeError("new(): invalid data type 'str'")
                return tuple(key)
    return (key,)


def _bound(value: Any) -> Any:
    """One end of a slice as an int, or None."""
    if value is None or type(value) is int:
        return value
    if isinstance(value, (float, str)) or not hasattr(value, "__index__"):
        raise TypeError("slice indices must be integers or None or have an __index__ method")
    return value.__index__()


def _takes_all(key: builtins.slice, size: int) -> bool:
    """Whether a slice is written so that PyTorch makes no view of it."""
    start, stop, step = key.start, key.stop, key.step
    return (
        (start is None or (type(start) is int and start == 0))
        and (stop is None or (type(stop) is int and stop >= size))
        and (step is None or (type(step) is int and step == 1))
    )


def _sliced(self: Tensor, dim: int, key: builtins.slice) -> Tensor:
    """The view of one slice, with its ends written as PyTorch keeps them."""
    start, stop, step = key.start, key.stop, key.step
    if type(step) is not int:
        step = 1 if step is None else _bound(step)
    if step < 1:
        raise ValueError("slice step cannot be zero" if step == 0 else "step must be greater than zero")
    shape = self._array.shape
    if not shape:
        raise IndexError("slice() cannot be applied to a 0-dim tensor.")
    if type(start) is not int:
        start = 0 if start is None else _bound(start)
    if type(stop) is not int:
        stop = _HUGE if stop is None else _bound(stop)
    if start < -_HUGE or stop < -_HUGE:
        warn(_TRUNCATED)
    return slice(self, dim, start, stop, step)


def _general(self: Tensor, keys: tuple[Any, ...]) -> Tensor:
    viewed, indices = _walked(self, keys)
    if indices:
        return index_row(beside(viewed, indices), prepared(viewed, indices))
    return alias(self) if viewed is self else viewed


def _consumed(key: Any) -> int:
    """How many dimensions a key takes."""
    if key is None or key is ... or key is True or key is False:
        return 0
    if isinstance(key, Tensor) and key._array.dtype.kind in "bu":
        return key._array.ndim if key._array.dtype.itemsize == 1 else 1
    return 1


def _walked(self: Tensor, keys: tuple[Any, ...]) -> tuple[Tensor, list[Any]]:
    """Apply all keys that make views, from the left; gives the view and the index tensors left for each dimension."""
    viewed = self
    dim = 0
    indices: list[Any] = []
    numbers: list[Tensor] = []  # that differ among the examples of a batch: their dimensions are put last
    try:
        keys = tuple(_tensor(key) if not _simple(key) else key for key in keys)
    except (IndexError, TypeError):
        if sum([_consumed(key) for key in keys]) > self._array.ndim:  # which PyTorch tells first
            raise IndexError(f"too many indices for tensor of dimension {self._array.ndim}") from None
        raise
    taken = 0
    for key in keys:
        taken += _consumed(key)
    if taken > self._array.ndim:
        if len(keys) == 1 and not self._array.ndim:
            if type(keys[0]) is builtins.slice:
                raise IndexError("slice() cannot be applied to a 0-dim tensor.")
            if not isinstance(keys[0], Tensor):
                raise _of_scalar(keys[0])
        raise IndexError(f"too many indices for tensor of dimension {self._array.ndim}")
    for position, key in enumerate(keys):
        kind = type(key)
        if kind is int:
            try:
                viewed = select(viewed, dim, key)
            except IndexError:
                raise _outside(viewed._array, dim, key, position) from None
        elif kind is builtins.slice:
            if not _takes_all(key, viewed._array.shape[dim]):
                viewed = _sliced(viewed, dim, key)
            dim += 1
        elif key is ...:
            dim += self._array.ndim - taken
        elif key is None:
            viewed = unsqueeze(viewed, dim)
            dim += 1
        elif kind is bool:
            viewed = unsqueeze(viewed, dim)
            _record(indices, dim, wrap(np.zeros(int(key), np.int64)))
            dim += 1
        elif key._array.ndim == 0 and key._array.dtype.kind != "b" and key._array.dtype != np.uint8:
            if key._array.dtype.kind not in "iu":
                raise IndexError(_KINDS)
            if isinstance(key._array, Hidden):
                viewed = movedim(viewed, (dim,), (-1,))
                numbers.append(key)
                continue
            need_item(key._array)
            try:
                viewed = select(viewed, dim, int(key._array))
            except IndexError:
                raise _outside(viewed._array, dim, int(key._array), position) from None
        elif key._array.ndim == 0:
            need_item(key._array)
            viewed = unsqueeze(viewed, dim)
            _record(indices, dim, wrap(np.zeros(int(bool(key._array)), np.int64)))
            dim += 1
        else:
            _record(indices, dim, key)
            dim += _consumed(key)
    return _with_numbers(viewed, indices, numbers) if numbers else (viewed, indices)


def _with_numbers(viewed: Tensor, indices: list[Any], numbers: list[Tensor]) -> tuple[Tensor, list[Any]]:
    """Numbers of the last dimensions as indices next to the first of the others, as they would be without a batch."""
    ndim = viewed._array.ndim
    last = ndim - len(numbers)
    first = next((dim for dim, index in enumerate(indices) if index is not None), last)
    viewed = movedim(viewed, tuple(range(last, ndim)), tuple(range(first, first + len(numbers))))
    return viewed, [*(None,) * first, *numbers, *indices[first:]]


def _record(indices: list[Any], dim: int, key: Tensor) -> None:
    indices.extend([None] * (dim - sum(1 if i is None else max(_consumed(i), 1) for i in indices)))
    indices.append(key)


def _simple(key: Any) -> bool:
    kind = type(key)
    return kind is int or kind is builtins.slice or kind is bool or key is None or key is ... or isinstance(key, Tensor)


def _tensor(key: Any) -> Any:
    """A number, sequence or NumPy array among the keys as an int or an index tensor."""
    if isinstance(key, np.integer):
        return int(key)
    if isinstance(key, ndarray):
        if key.dtype.kind == "f":
            key = key.astype(np.int64)
        return wrap(np.array(key))
    if isinstance(key, (list, tuple, range, str)):
        index = tensor(list(key) if isinstance(key, range) else key, device="cpu")
        if index._array.dtype.kind == "c":
            raise TypeError("'complex' object cannot be interpreted as an integer")
        if index._array.dtype.kind not in "ib" or not index._array.size:
            index = wrap(np.asarray(index._array).astype(np.int64))
        return index
    if not isinstance(key, (float, complex, np.generic)) and hasattr(key, "__index__"):
        return key.__index__()
    raise IndexError(_INVALID.format(dtypes.called(key)))


def prepared(array: Any, indices: list[Any]) -> Indices:
    """Index tensors checked against the tensor they index."""
    sizes = array._array.shape
    checked: list[Any] = []
    dim = 0
    for index in indices:
        if index is None:
            dim += 1
            checked.append(None)
            continue
        data = index._array
        if data.dtype == np.uint8:
            warn(_BYTE)
            data = data.astype(bool)
            index = wrap(data)
        if data.dtype.kind == "b":
            need_data("nonzero", data)
            for at, size in enumerate(data.shape):
                if dim + at >= len(sizes):
                    raise IndexError(f"too many indices for tensor of dimension {len(sizes)}")
                if size != sizes[dim + at]:
                    raise IndexError(
                        f"The shape of the mask {list(data.shape)} at index {at} does not match the shape of the "
                        f"indexed tensor {list(sizes)} at index {dim + at}"
                    )
            dim += data.ndim
        elif data.dtype.kind == "i" and data.itemsize >= 4:
            dim += 1
        else:
            raise IndexError(_KINDS)
        checked.append(index)
    if dim > len(sizes):
        raise IndexError(f"too many indices for tensor of dimension {len(sizes)}")
    return Indices(checked)


_EXPANDED = {
    "index_put_": ("tensor[indices] = tensor", 976),
    "index_fill_": ("tensor[mask] = scalar", 1913),
    "masked_fill_": ("tensor[mask] = scalar", 2450),
}


def expanded_warning(function: str) -> str:
    """PyTorch's warning where elements that share memory are written."""
    example, line = _EXPANDED[function]
    return (
        f"Use of {function} on expanded tensors is deprecated. Please clone() the tensor before performing this "
        f"operation. This also applies to advanced indexing e.g. {example} (Triggered internally at "
        f"/__w/pytorch/pytorch/aten/src/ATen/native/TensorAdvancedIndexing.cpp:{line}.)"
    )


def _is_spread(indices: Indices, values: Tensor, accumulate: bool) -> bool:
    """Whether one number is spread by a mask, which PyTorch leaves to ``masked_fill_``."""
    masks = [index for index in indices if index is not None]
    return not accumulate and values._array.size == len(masks) == 1 and masks[0]._array.dtype.kind == "b"


def fitting(target: Tensor, indices: Indices, values: Tensor, accumulate: bool) -> Tensor:
    """One number that a mask spreads, in the dtype of ``target``, which PyTorch fills with it; others as they are."""
    kind, own = target._array.dtype, values._array
    if kind.metadata is not None or not _is_spread(indices, values, accumulate):
        return values
    values = _shed(values)
    if own.dtype == kind:
        return write.separate(target, values)
    dtypes.check_number(values._array.item(), kind)
    return values.to(target.dtype)  # type: ignore[attr-defined,no-any-return]


def _check_apart(target: Tensor, others: Any) -> None:
    for other in others:
        if other is not None:
            writable.check_overlap_with(target, other, True)


def put_in_place(function: str, target: Tensor, given: list[Any], values: Tensor, accumulate: bool = False) -> None:
    """Put, or add, ``values`` where index tensors point; of elements that share memory the last one counts."""
    writable.check_writable(target, False)
    try:
        indices = prepared(target, given)
    except IndexError:
        _check_apart(target, (*given, values))
        raise
    values = fitting(target, indices, values, accumulate)
    _check_apart(target, (*indices, values))
    array = target._array
    if writable.is_doubled(array):
        warn(expanded_warning(function))
        if _is_spread(indices, values, accumulate):
            warn(expanded_warning("masked_fill_"))
        values = write.separate(target, values)
        target = writable.first_along(target, writable.shared_axes(array))
        once = target._array.shape
        numbered = np.broadcast_to(np.arange(math.prod(once)).reshape(once), array.shape)
        positions = index_row.row.kernel(numbered, indices)
        indices = Indices([wrap(index) for index in np.unravel_index(positions, once)])
    write.in_place(index_put.row, target, (beside(values, indices),), (indices, accumulate))


# -- writing -----------------------------------------------------------------------------------------------------------


@composite(name="__setitem__", function=False)
def setitem(self: Tensor, key: Any, value: Any) -> None:
    """Write ``value`` into the part of a tensor that ``key`` names."""
    number = not isinstance(value, Tensor)
    if number:
        _check_number(self, value)
    if key is False:
        return
    if key is True:
        key = (None,)
    if type(key) is not tuple:
        key = _unpacked(key)
    if (
        not (modes.unusual or modes.transforming)
        and self._edge is None
        and (number or value._edge is None)
        and _direct(self, key, value)
    ):
        return
    first = key[0] if len(key) == 1 else None
    indices: list[Any] = []
    if not key or first is ... or (type(first) is builtins.slice and first == ALL and self._array.ndim):
        part = self
    else:
        part, indices = _walked(self, key)
    if number:
        value = wrap(dtypes.cast(np.asarray(value), self._array.dtype)[()])
    sizes = part._array.shape
    if indices:
        put_in_place("index_put_", part, indices, _shed(value))
    elif value._array.shape == sizes:
        part.copy_(value)  # type: ignore[attr-defined]
    elif value._array.ndim == 0:
        part.fill_(value)  # type: ignore[attr-defined]
    else:
        value = _shed(value)
        part.copy_(value if value._array.shape == sizes else expand(value, sizes))  # type: ignore[attr-defined]


def _shed(value: Tensor) -> Tensor:
    """A value without the dimensions of size 1 in front."""
    sizes = value._array.shape
    lead = 0
    while lead < len(sizes) and sizes[lead] == 1:
        lead += 1
    return view(value, sizes[lead:]) if lead else value


def _check_number(self: Tensor, value: Any) -> None:
    """Raise PyTorch's error unless ``value`` is a number that the tensor can hold."""
    kind = type(value)
    if kind is bool or ((kind is float or kind is int) and -128 < value < 128):
        if kind is float and value < 0 and self._array.dtype.kind == "u":
            dtypes.check_number(value, self._array.dtype)
        return
    if kind is float or kind is complex:
        dtypes.check_one(value, self._array.dtype)
    elif kind is int:
        if not -_HUGE - 1 <= value <= _HUGE:
            raise ValueError("Overflow when unpacking long long")
        dtypes.check_one(value, self._array.dtype)
    elif isinstance(value, (float, int, complex)):  # of a class of its own, as NumPy's float64
        plain: Any = next(base for base in (float, int, complex) if isinstance(value, base))
        _check_number(self, plain(value))
    else:
        name = kind.__name__ if kind.__module__ in ("builtins", "__main__") else f"{kind.__module__}.{kind.__name__}"
        raise TypeError(f"can't assign a {name} to a torch.{self.dtype.scalar_name}Tensor")


def _direct(self: Tensor, key: tuple[Any, ...], value: Any) -> bool:
    """Write at once where nothing is recorded and the key is of the everyday kind; gives whether it did."""
    share(self)
    data = self._array
    if not data.flags.writeable or 0 in data.strides or data.dtype.metadata or self._inference:
        return False
    if data.dtype.kind == "c" and writable.is_conjugate(self):
        return False
    if len(key) > data.ndim:
        return False
    plain = []
    tensors = 0
    for part in key:
        kind = type(part)
        if kind is int:
            plain.append(part)
        elif kind is builtins.slice:
            if type(part.step) is int and part.step < 1:
                return False
            plain.append(part)
        elif kind is Tensor and len(key) == 1 and part._array.ndim and _may_index(part._array):
            if part._counter is self._counter or (part._array.dtype.kind == "i" and part._array.itemsize < 4):
                return False
            if part._array.dtype.kind == "b" and part._array.shape != data.shape[: part._array.ndim]:
                return False
            if data.ndim == 1 and part._array.dtype.kind == "i" and not _within(part._array, data.shape[0]):
                return False  # of a vector, NumPy would write what comes before the wrong index
            plain.append(part._array)
            tensors += 1
        else:
            return False
    if not isinstance(value, Tensor):
        if type(value) is complex:
            return False
        source: Any = value
        if data.dtype.kind not in "fc" and (type(value) is float or data.dtype.itemsize < 8):
            return False
    else:
        source = value._array
        if source.dtype is not data.dtype and (tensors or source.dtype != data.dtype):
            return False
        if tensors and (source is data or not source.size):  # of nothing, NumPy does not ask whether it fits
            return False
        if type(source) is ndarray and source.base is not None and np.may_share_memory(source, data):
            source = source.copy()
    try:
        data[(*plain, ...) if not tensors else plain[0]] = source
    except (IndexError, ValueError, TypeError, OverflowError):
        return False  # the long way finds the words
    self._counter.version += 1  # type: ignore[union-attr]
    return True


def _within(index: Any, size: int) -> bool:
    return inside(index + size, 2 * size)


# -- walking over the first dimension ----------------------------------------------------------------------------------


@composite(name="__iter__", function=False)
def iterate(self: Tensor) -> Iterator[Tensor]:
    """The views at every index of the first dimension, in turn."""
    if not self._array.ndim:
        raise TypeError("iteration over a 0-d tensor")
    return iter(unbind(self, 0))


@composite(name="__reversed__", function=False)
def backwards(self: Tensor) -> Tensor:
    """The tensor mirrored along its first dimension."""
    return flip(self, (0,)) if self._array.ndim else self


@composite(name="__contains__", function=False)
def contains(self: Tensor, element: Any) -> bool:
    """Whether some element equals ``element``."""
    if isinstance(element, (Tensor, int, float, complex)):
        equal: Any = element == self
        return bool(equal.any())
    raise RuntimeError(f"Tensor.__contains__ only supports Tensor or scalar, but you passed in a {type(element)}.")


@composite(function=False, name="__delitem__")
def delitem(self: Tensor, key: Any) -> None:
    """Refused: a tensor keeps its size."""
    raise TypeError("Tensor does not support deleting items")
