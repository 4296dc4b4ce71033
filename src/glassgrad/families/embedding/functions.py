"""Rows looked up in a table and bags of them, one-hot codes, and the shortening of rows in place."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...core.tensor import Tensor, share
from ...ground import dtypes, errors, modes
from ...ground.runtime import warn
from ...ops.declare import composite, functional, unit
from ...tensor.lifted import all_values
from ..create.ranges import arange
from ..distance.rows import norm_of
from ..reduce.functions import check_tensor
from . import rows


def _need_indices(indices: Any, function: str, position: int = 1) -> None:
    if indices._array.dtype != np.int64 and indices._array.dtype != np.int32:
        raise RuntimeError(
            f"Expected tensor for argument #{position} 'indices' to have one of the following scalar types: Long, Int; "
            f"but got {dtypes.type_name(indices.dtype)} instead (while checking arguments for {function})"
        )


# -- rows by their numbers ---------------------------------------------------------------------------------------------


@composite(method=False)
def embedding(
    weight: Any, indices: Any, padding_idx: int = -1, scale_grad_by_freq: bool = False, sparse: bool = False
) -> Any:
    """The rows of ``weight`` that ``indices`` names."""
    check_tensor(weight, "embedding")
    if weight._array.ndim != 2:
        if not weight._array.ndim and weight.requires_grad and modes.grad_enabled():  # its height is asked for first
            raise IndexError("Dimension specified as 0 but tensor has no dimensions")
        raise RuntimeError("'weight' must be 2-D")
    _need_indices(indices, "embedding")
    return rows.embedding(weight, indices, padding_idx, scale_grad_by_freq, sparse)


@functional
def functional_embedding(
    input: Any, weight: Any, padding_idx: int | None = None, max_norm: float | None = None,
    norm_type: float = 2.0, scale_grad_by_freq: bool = False, sparse: bool = False,
) -> Tensor:  # fmt: skip
    """The rows of ``weight`` that ``input`` names; ``max_norm`` scales longer ones down in place first."""
    if padding_idx is None:
        padding_idx = -1
    else:
        count = weight.size(0)
        if not -count <= padding_idx < count and padding_idx != 0:  # an empty table has no row 0, and none is missed
            raise AssertionError("Padding_idx must be within num_embeddings")
        if padding_idx < 0:
            padding_idx += count
    if max_norm is not None:
        _shorten(weight, input, max_norm, norm_type)
    return embedding(weight, input, padding_idx, scale_grad_by_freq, sparse)  # type: ignore[no-any-return]


def _shorten(weight: Any, input: Any, max_norm: float, norm_type: float) -> None:
    before = modes.local.grad
    try:
        modes.set_grad(False)
        embedding_renorm_(weight, input, max_norm, norm_type)
    finally:
        modes.local.grad = before
        modes.settle()


@composite(method=False)
def embedding_renorm_(self: Tensor, indices: Any, max_norm: float, norm_type: float) -> Tensor:
    """Scale down, in place, the rows that ``indices`` names and that are longer than ``max_norm``."""
    if self._edge is not None and modes.grad_enabled() and self.requires_grad and self.is_leaf:
        raise RuntimeError(errors.LEAF_INPLACE)
    _need_indices(indices, "embedding_renorm_", 2)
    numbers = np.unique(indices._array)
    height = self._array.shape[0]
    wrong = numbers[(numbers < -height) | (numbers >= height)]
    if wrong.size:
        sizes = list(self._array.shape)
        raise IndexError(f"select(): index {wrong[0]} out of range for tensor of size {sizes} at dimension 0")
    chosen = self._array[numbers]
    length = norm_of(chosen, norm_type, (1,), True)
    scale = np.where(length > max_norm, max_norm / (length + 1e-7), 1).astype(chosen.dtype)
    self._array[numbers] = chosen * scale
    share(self).version += 1
    return self


@unit
def one_hot(input: Any, num_classes: int = -1) -> Any:
    """Zeros, and a one in a new last dimension where each element points."""
    check_tensor(input, "one_hot")
    if input._array.dtype != np.int64:
        raise RuntimeError("one_hot is only applicable to index tensor of type LongTensor.")
    values = all_values(input)
    if not values.size:
        if num_classes <= 0:
            raise RuntimeError("Can not infer total number of classes from empty tensor.")
        return rows.one_hot_of(input, num_classes)
    if values.min() < 0:
        raise RuntimeError("Class values must be non-negative.")
    most = int(values.max())
    if num_classes == -1:
        num_classes = most + 1
    elif most >= num_classes:
        raise RuntimeError("Class values must be smaller than num_classes.")
    return rows.one_hot_of(input, num_classes)


# -- bags of rows ------------------------------------------------------------------------------------------------------


_MODES = {"sum": 0, "mean": 1, "max": 2}


@composite(method=False, page="torch.nn.functional")
def embedding_bag(
    weight: Any, indices: Any, offsets: Any, scale_grad_by_freq: bool = False, mode: int = 0, sparse: bool = False,
    per_sample_weights: Any = None, include_last_offset: bool = False, padding_idx: int | None = None,
) -> Any:  # fmt: skip
    """The sum (``mode`` 0), mean (1) or maximum (2) of each bag of rows, and what PyTorch remembers of the bags."""
    check_tensor(weight, "embedding_bag")
    if indices.dtype is not offsets.dtype:
        kind = dtypes.promote_types(indices.dtype, offsets.dtype)
        indices, offsets = indices.to(kind), offsets.to(kind)
    for tensor in (indices, offsets):
        _need_indices(tensor, "embedding_bag")
    if not weight.dtype.is_floating_point:
        raise RuntimeError(
            "Expected tensor for argument #1 'weight' to have one of the following scalar types: Half, BFloat16, "
            f"Float, Double; but got {dtypes.type_name(weight.dtype)} instead (while checking arguments for "
            "embedding_bag)"
        )
    if per_sample_weights is not None and per_sample_weights.dtype is not weight.dtype:
        names = weight.dtype.scalar_name, per_sample_weights.dtype.scalar_name
        raise RuntimeError(
            "Expected tensor for argument #1 'weight' to have the same type as tensor for argument #1 "
            "'per_sample_weights'; but type torch.{}Tensor does not equal torch.{}Tensor (while checking arguments "
            "for embedding_bag)".format(*names)
        )
    count, n = weight._array.shape[0], len(indices._array)
    if padding_idx is None:
        padding_idx = -1
    elif not -count <= padding_idx < count:
        raise RuntimeError(
            f"padding_idx must be within the number of embeddings, {-count} through {count - 1}, but got {padding_idx}"
        )
    elif padding_idx < 0:
        padding_idx += count
    if include_last_offset:
        starts = offsets._array
        if not len(starts):
            raise RuntimeError("include_last_offset: number of offset should be at least 1")
        rows.check_offsets(starts, n)
        end = int(starts[-1])
        offsets = offsets[:-1]
        if end < n:  # what follows the last bag belongs to none
            indices = indices[:end]
            per_sample_weights = None if per_sample_weights is None else per_sample_weights[:end]
    return rows.embedding_bag(
        weight, indices, offsets, per_sample_weights, scale_grad_by_freq, mode, sparse, padding_idx
    )


@functional
def functional_embedding_bag(
    input: Any, weight: Any, offsets: Any = None, max_norm: float | None = None, norm_type: float = 2,
    scale_grad_by_freq: bool = False, mode: str = "mean", sparse: bool = False, per_sample_weights: Any = None,
    include_last_offset: bool = False, padding_idx: int | None = None,
) -> Tensor:  # fmt: skip
    """The sum, mean or maximum of each bag of rows of ``weight``: (bags, columns).

    input    (bags, n) indices, or (all,) with ``offsets``: where in it each bag begins
    include_last_offset  whether ``offsets`` ends with where the last bag ends
    per_sample_weights   what each row is multiplied by, for sums only
    padding_idx          the row that counts for nothing
    """
    if weight.dtype is dtypes.int64 and input.is_floating_point():
        warn(
            "Argument order of nn.functional.embedding_bag was changed. Usage `embedding_bag(weight, input, ...)` is "
            "deprecated, and should now be `embedding_bag(input, weight, ...)`.",
        )
        weight, input = input, weight
    if per_sample_weights is not None and input.shape != per_sample_weights.shape:
        raise ValueError(
            f"embedding_bag: If per_sample_weights ({per_sample_weights.shape}) is not None, then it must have the "
            f"same shape as the input ({input.shape})"
        )
    if weight.dim() != 2:
        raise ValueError(f"weight has to be a 2D Tensor, but got Tensor of dimension {weight.dim()}")
    if input.dim() == 2:
        if offsets is not None:
            kind = repr(type(offsets)).replace("glassgrad.core.tensor.", "torch.")
            raise ValueError(
                "if input is 2D, then offsets has to be None, as input is treated is a mini-batch of fixed length "
                f"sequences. However, found offsets of type {kind}"
            )
        offsets = arange(0, input.numel(), input.size(1), dtype=input.dtype, device=input.device)
        include_last_offset = False
        input = input.reshape(-1)
        if per_sample_weights is not None:
            per_sample_weights = per_sample_weights.reshape(-1)
    elif input.dim() == 1:
        if offsets is None:
            raise ValueError("offsets has to be a 1D Tensor but got None")
        if offsets.dim() != 1:
            raise ValueError("offsets has to be a 1D Tensor")
    else:
        raise ValueError(f"input has to be 1D or 2D Tensor, but got Tensor of dimension {input.dim()}")
    if mode not in _MODES:
        raise ValueError("mode has to be one of sum, mean or max")
    if mode == "max" and scale_grad_by_freq:
        raise ValueError("max mode does not support scaling the gradient by the frequency")
    if mode == "max" and sparse:
        raise ValueError("max mode does not support sparse weights")
    if max_norm is not None:
        _shorten(weight, input, max_norm, norm_type)
    if per_sample_weights is not None and mode != "sum":
        raise NotImplementedError(
            "embedding_bag: per_sample_weights was not None. per_sample_weights is only supported for mode='sum' "
            f"(got mode='{mode}'). Please open a feature request on GitHub."
        )
    return embedding_bag(  # type: ignore[no-any-return]
        weight, input, offsets, scale_grad_by_freq, _MODES[mode], sparse, per_sample_weights, include_last_offset,
        padding_idx,
    )[0]  # fmt: skip
