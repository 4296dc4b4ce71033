"""The arrays of meta tensors: a shape and a dtype, and one element seen from everywhere."""

from __future__ import annotations

from typing import Any

import numpy as np

from .dtypes import HALVES, converted

_F32 = np.dtype("f4")


def blank(shape: tuple[int, ...], dtype: np.dtype[Any]) -> np.ndarray[Any, Any]:
    """The array of a meta tensor: its dtype is marked, and its elements share one place."""
    marked = np.dtype(dtype.str if dtype.kind != "V" else dtype, metadata={"device": "meta"})
    return np.broadcast_to(np.zeros((), marked), shape)


_NO_KERNEL = (
    "aten::{}: attempted to run this operator with Meta tensors, but there was no fake impl or Meta kernel registered. "
    "You may have run into this message while using an operator with PT2 compilation APIs (torch.compile/torch.export)"
    "; in order to use this operator with those APIs you'll need to add a fake impl. Please see the following for next "
    "steps:  https://pytorch.org/tutorials/advanced/custom_ops_landing_page.html"
)
_NONZERO = (
    "The register_meta function for torch.nonzero() raises unimplemented by default, as a correct data-independent "
    "implementation does not exist. This implementation returns a fake value, assuming all elements of the tensor are "
    "non-zero. To enable this registration, please set 'torch.fx.experimental._config.meta_nonzero_assume_all_nonzero' "
    "to True."
)


def need_data(operator: str, *arrays: Any) -> None:
    """Raise PyTorch's error where a result follows from elements that a meta tensor has not."""
    if any(array.dtype.metadata for array in arrays):
        raise NotImplementedError(_NONZERO if operator == "nonzero" else _NO_KERNEL.format(operator))


def need_item(array: Any) -> None:
    """Raise PyTorch's error for the truth of a meta tensor."""
    if array.dtype.metadata:
        raise RuntimeError("Tensor.item() cannot be called on meta tensors")


def cast_to(array: Any, dtype: np.dtype[Any]) -> Any:
    """An array as another dtype; of a meta tensor, without touching elements."""
    return blank(array.shape, dtype) if array.dtype.metadata else converted(array, dtype)


def in_single(value: Any) -> Any:
    """An array of half precision in float32, and each of a list of arrays; whatever else as it is."""
    if type(value) is list:
        return [*map(in_single, value)]
    dtype = getattr(value, "dtype", None)
    return value if dtype is None or dtype.char not in HALVES else cast_to(value, _F32)


def marked(part: Any, source: Any) -> Any:
    """An array with the mark of meta tensors if ``source`` has it, which NumPy's real parts lose."""
    return part.view(np.dtype(part.dtype, metadata={"device": "meta"})) if source.dtype.metadata else part
