"""PyTorch's signature of reductions of segments."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...core.tensor import Tensor
from ..declare import composite
from ..primitive.compare import unsupported
from ..primitive.segment import segmented
from .operand import need_tensor

_NAMES = {"sum": "sum", "mean": "mean", "prod": "prod", "max": "max", "min": "min", "amax": "max", "amin": "min"}


def _check_lengths(lengths: Any, data: Any, unsafe: bool) -> None:
    if lengths._array.dtype.kind not in "iu":
        raise unsupported("_segment_reduce_lengths_cpu_kernel1", lengths._array)
    if unsafe:
        return
    if lengths._array.size and lengths._array.min() < 0:
        raise RuntimeError("lengths contains negative value!")
    if (np.add.reduce(lengths._array, axis=-1) != data._array.shape[lengths._array.ndim - 1]).any():
        raise RuntimeError(
            "segment_reduce(): Expected all rows of lengths along axis to sum to data.size(lengths.dim()-1) when "
            "!unsafe."
        )


@composite(method=False)
def segment_reduce(
    data: Any, reduce: str, *, lengths: Any = None, indices: Any = None, offsets: Any = None, axis: int = 0,
    unsafe: bool = False, initial: Any = None,
) -> Tensor:  # fmt: skip
    """The sum, mean, product, maximum or minimum of each segment of ``axis``, told by lengths or by offsets.

    Leading dimensions of ``lengths`` are those of ``data``.  An empty segment gives ``initial`` or what leaves others
    as they are.  Source: https://docs.pytorch.org/docs/stable/generated/torch.segment_reduce.html
    """
    need_tensor("segment_reduce", "data", 1, data)
    if indices is not None:
        raise RuntimeError("segment_reduce(): indices based reduction is not supported yet.")
    if reduce not in _NAMES:
        raise RuntimeError(f"reduce argument must be either sum, prod, mean, amax or amin, got {reduce}")
    if lengths is None and offsets is None:
        raise RuntimeError("segment_reduce(): Either lengths or offsets must be defined.")
    bounds, word = (lengths, "lengths") if offsets is None else (offsets, "offsets")
    if axis != bounds._array.ndim - 1:
        raise RuntimeError(f"segment_reduce(): Expected axis to be the last dimension of {word} but got {axis}.")
    if offsets is None:
        _check_lengths(lengths, data, unsafe)
    else:
        lengths = None
    return segmented(data, lengths, offsets, _NAMES[reduce], axis, initial)  # type: ignore[no-any-return]
