"""How samples become a batch: tensors are stacked, numbers become tensors, containers are taken apart and rebuilt."""

from __future__ import annotations

import copy
import re
from collections.abc import Callable, Mapping, MutableMapping, MutableSequence, Sequence
from typing import Any

import numpy as np

from ....core.tensor import LEAF, Tensor, View, wrap
from ....families.create.construct import tensor
from ....families.create.shared import as_tensor
from ....families.join.rows import stack
from ....ground import dtypes, modes
from ....tensor.parameter import Parameter

Collator = Callable[..., Any]

_TEXT = "SaUO"  # the kinds of arrays that no tensor can hold: strings and objects
np_str_obj_array_pattern = re.compile(f"[{_TEXT}]")
default_collate_err_msg_format = (
    "default_collate: batch must contain tensors, numpy arrays, numbers, dicts or lists; found {}"
)


def _rebuilt(like: Any, content: Callable[[], Any], make: Callable[[Any, Any], Any]) -> Any:
    """A container like ``like``; a plain list or dict where its class cannot be made that way."""
    try:
        return make(like, content)
    except TypeError:
        return content()


def _mapping(like: Any, content: Callable[[], dict[Any, Any]]) -> Any:
    """A mapping like ``like``: a copy keeps what else a mutable one holds."""
    if isinstance(like, MutableMapping):
        twin = copy.copy(like)
        twin.update(content())
        return twin
    return type(like)(content())


def _sequence(like: Any, content: Callable[[], list[Any]]) -> Any:
    if isinstance(like, MutableSequence):
        twin = copy.copy(like)
        for index, item in enumerate(content()):
            twin[index] = item
        return twin
    return type(like)(content())


def within(data: Any, convert: Callable[[Any], Any]) -> Any:
    """A container with its parts converted, a tuple as a list; what is none as it is."""
    if isinstance(data, Mapping):
        return _rebuilt(data, lambda: {key: convert(data[key]) for key in data}, _mapping)
    if isinstance(data, tuple):
        parts = [convert(part) for part in data]
        return type(data)(*parts) if hasattr(data, "_fields") else parts
    if isinstance(data, Sequence) and not isinstance(data, (str, bytes)):
        return _rebuilt(data, lambda: [convert(part) for part in data], _sequence)
    return data


def default_convert(data: Any) -> Any:
    """``data`` with every NumPy array in it made a tensor on the same memory; what else there is stays.

    Source: https://docs.pytorch.org/docs/stable/data.html#torch.utils.data.default_convert
    """
    kind = type(data)
    if isinstance(data, Tensor):
        return data
    if kind.__module__ == "numpy" and kind.__name__ not in ("str_", "string_"):
        if kind.__name__ == "ndarray" and data.dtype.kind in _TEXT:
            return data
        return as_tensor(data)
    return within(data, default_convert)


def collate(batch: Any, *, collate_fn_map: dict[Any, Collator] | None = None) -> Any:
    """The batch of a list of samples, taken apart down to elements whose type ``collate_fn_map`` knows.

    collate_fn_map  functions ``f(batch, collate_fn_map=...)`` by type or tuple of types; the first that fits is taken
    """
    first = batch[0]
    kind = type(first)
    if collate_fn_map is not None:
        collator = collate_fn_map.get(kind)
        if collator is not None:
            return collator(batch, collate_fn_map=collate_fn_map)
        for known, function in collate_fn_map.items():
            if isinstance(first, known):
                return function(batch, collate_fn_map=collate_fn_map)

    def together(samples: Any) -> Any:
        return collate(samples, collate_fn_map=collate_fn_map)

    if isinstance(first, Mapping):
        return _rebuilt(first, lambda: {key: together([sample[key] for sample in batch]) for key in first}, _mapping)
    if isinstance(first, tuple) and hasattr(first, "_fields"):
        return kind(*[together(column) for column in zip(*batch, strict=False)])
    if isinstance(first, Sequence):
        size = len(first)
        if any(len(sample) != size for sample in batch):
            raise RuntimeError("each element in list of batch should be of equal size")
        columns = list(zip(*batch, strict=False))
        if isinstance(first, tuple):
            return [together(column) for column in columns]
        return _rebuilt(first, lambda: [together(column) for column in columns], _sequence)
    raise TypeError(default_collate_err_msg_format.format(kind))


def collate_tensor_fn(batch: Any, *, collate_fn_map: dict[Any, Collator] | None = None) -> Any:
    """Tensors of one shape, stacked."""
    arrays = bare(batch)
    if arrays is not None:
        first = arrays[0]
        try:
            return wrap(np.concatenate(arrays).reshape(len(arrays), *first.shape) if first.ndim else np.array(arrays))
        except ValueError:  # of several shapes: the operation has the words for it
            pass
    return stack(batch, 0)


def bare(tensors: Any) -> list[Any] | None:
    """The arrays of tensors of one dtype and one shape that need no record; None where one is more than that."""
    if modes.unusual:
        return None
    arrays, kind, sizes = [], tensors[0]._array.dtype, tensors[0]._array.shape
    if kind.metadata is not None:
        return None
    for one in tensors:
        edge, data = one._edge, one._array
        if type(one) is not Tensor and type(one) is not Parameter or data.dtype != kind or data.shape != sizes:
            return None
        if edge is not None and (edge is LEAF or type(edge) is not View or one.requires_grad):
            return None
        arrays.append(data)
    return arrays


def collate_numpy_array_fn(batch: Any, *, collate_fn_map: dict[Any, Collator] | None = None) -> Any:
    """Arrays as a batch of tensors; TypeError for strings and objects."""
    if batch[0].dtype.kind in _TEXT:
        raise TypeError(default_collate_err_msg_format.format(batch[0].dtype))
    return collate([as_tensor(array) for array in batch], collate_fn_map=collate_fn_map)


def collate_numpy_scalar_fn(batch: Any, *, collate_fn_map: dict[Any, Collator] | None = None) -> Any:
    """NumPy's numbers as a tensor of their dtype."""
    return as_tensor(batch)


def collate_float_fn(batch: Any, *, collate_fn_map: dict[Any, Collator] | None = None) -> Any:
    """Python's floats as a tensor of float64."""
    return tensor(batch, dtype=dtypes.float64)


def collate_int_fn(batch: Any, *, collate_fn_map: dict[Any, Collator] | None = None) -> Any:
    """Python's integers as a tensor."""
    return tensor(batch)


def collate_str_fn(batch: Any, *, collate_fn_map: dict[Any, Collator] | None = None) -> Any:
    """Texts as they are."""
    return batch


default_collate_fn_map: dict[Any, Collator] = {
    Tensor: collate_tensor_fn,
    np.ndarray: collate_numpy_array_fn,
    (np.bool_, np.number, np.object_): collate_numpy_scalar_fn,
    float: collate_float_fn,
    int: collate_int_fn,
    str: collate_str_fn,
    bytes: collate_str_fn,
}


def default_collate(batch: Any) -> Any:
    """The batch of a list of samples: each tensor, array or number in it gets a new first dimension.

    Tensors are stacked, NumPy arrays and numbers become tensors (Python's floats float64), texts stay; mappings,
    named tuples and sequences keep their form, plain tuples become lists.
    TypeError for other types, RuntimeError for samples of several lengths or shapes.
    Source: https://docs.pytorch.org/docs/stable/data.html#torch.utils.data.default_collate
    """
    return collate(batch, collate_fn_map=default_collate_fn_map)
