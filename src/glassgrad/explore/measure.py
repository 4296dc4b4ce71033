"""What the numbers of a tensor are like, floor 8: counted for tensors of either engine, without keeping them."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np

from .model import Stats, TensorInfo

FEW = 6  # elements up to which a value is shown


def array_of(tensor: Any) -> Any:
    """The tensor's elements as an array (of a dtype that NumPy counts with); None where it has none to show."""
    data = getattr(tensor, "_array", None)
    if isinstance(data, (np.ndarray, np.generic)) and data.dtype.kind != "c" and not data.dtype.metadata:
        return np.asarray(data, np.float32 if data.dtype.kind == "V" else None)  # glassgrad's: looked at, not shared
    tensor = tensor.detach()
    layout = str(getattr(tensor, "layout", "strided"))
    if layout == "torch.sparse_coo":  # what it does not list is zero, and no gradient
        tensor = tensor.coalesce().values()
    elif str(getattr(tensor, "device", "cpu")) == "meta" or "strided" not in layout:
        return None
    if "bfloat16" in str(tensor.dtype) or "float8" in str(tensor.dtype):
        tensor = tensor.float()
    try:
        return np.asarray(tensor.cpu().resolve_conj().numpy() if hasattr(tensor, "resolve_conj") else tensor.numpy())
    except (RuntimeError, TypeError, NotImplementedError):
        return None


def stats_of(tensor: Any) -> Stats | None:
    """The numbers in ``tensor`` counted; None where it holds none."""
    array = array_of(tensor)
    return None if array is None else count(array)


def count(array: Any) -> Stats:
    """The numbers in an array counted: those that are NaN, infinite or zero; range, mean and norm of the finite."""
    size = int(array.size)
    if not size:
        return Stats(0)
    zero = size - int(np.count_nonzero(array))
    if array.dtype.kind not in "fc":
        flat = array.astype(np.float64)
        return Stats(size, 0, 0, zero, float(flat.min()), float(flat.max()), float(flat.mean()), norm_of(flat))
    if array.dtype == np.float16:
        array = array.astype(np.float32)
    nan = inf = 0
    finite = array
    whole = np.isfinite(array)
    if not whole.all():
        nan = int(np.count_nonzero(np.isnan(array)))
        inf = size - int(np.count_nonzero(whole)) - nan
        finite = array[whole]
    if not finite.size:
        return Stats(size, nan, inf, zero)
    if array.dtype.kind == "c":
        return Stats(size, nan, inf, zero, None, None, None, norm_of(finite))
    return Stats(
        size, nan, inf, zero, float(finite.min()), float(finite.max()), float(finite.mean(dtype=np.float64)),
        norm_of(finite),
    )  # fmt: skip


def norm_of(array: Any) -> float:
    """The Euclidean norm of an array: large and small numbers do not overflow on the way."""
    flat = np.abs(array.reshape(-1))
    with np.errstate(over="ignore"):
        norm = float(np.linalg.norm(flat))
    if np.isfinite(norm) and norm > 1e-15:
        return norm
    largest = float(flat.max(initial=0))
    return largest * float(np.linalg.norm(flat.astype(np.float64) / largest)) if largest else 0.0


def is_finite(tensor: Any) -> bool | None:
    """Whether all numbers are finite; None where that cannot be told."""
    array = array_of(tensor)
    if array is None or array.dtype.kind not in "fc":
        return None if array is None else True
    return bool(np.isfinite(array).all())


def text_of(tensor: Any) -> str | None:
    """A small tensor's value as short text: ``3``, ``[1, 2]``; None for larger ones."""
    if int(np.prod(shape_of(tensor), dtype=np.int64)) > FEW or "sparse" in str(getattr(tensor, "layout", "")):
        return None
    array = array_of(tensor)
    return None if array is None else _short(array.tolist())


def _short(value: Any) -> str:
    if isinstance(value, list):
        return "[" + ", ".join(map(_short, value)) + "]"
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def shape_of(tensor: Any) -> tuple[int, ...]:
    """The sizes of ``tensor``; -1 for one that differs from row to row, as a nested tensor's."""
    try:
        return tuple(map(int, tensor.shape))
    except (RuntimeError, TypeError):
        return tuple(_size_along(tensor, dim) for dim in range(tensor.dim()))


def _size_along(tensor: Any, dim: int) -> int:
    try:
        return int(tensor.size(dim))
    except (RuntimeError, TypeError):
        return -1


def bytes_of(tensor: Any) -> int:
    """The bytes of the elements that ``tensor`` keeps: of a sparse one its indices and values."""
    try:
        return int(getattr(tensor, "nbytes", 0))
    except RuntimeError:
        if str(tensor.layout) == "torch.sparse_coo":
            return int(tensor._indices().nbytes + tensor._values().nbytes)
        return 0


@lru_cache(256)
def dtype_name(dtype: Any) -> str:
    """The bare name of a dtype of either engine: ``float32``."""
    return str(dtype).rpartition(".")[2]


def info_of(tensor: Any, *, stats: bool = False, value: bool = False, storage: int | None = None) -> TensorInfo:
    """The neutral record of ``tensor``, with its numbers counted and its value as text where asked."""
    return TensorInfo(
        shape_of(tensor),
        dtype_name(tensor.dtype),
        bytes_of(tensor),
        text_of(tensor) if value else None,
        stats_of(tensor) if stats else None,
        storage,
    )
