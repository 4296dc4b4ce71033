"""Looking rows up, and the bilinear form, with ``torch.nn.functional``'s signatures."""

from __future__ import annotations

from typing import Any

from ...core.tensor import Tensor
from ...ground import dtypes, modes
from ...ground.listening import audible
from ...ground.runtime import warn
from ..create.ranges import arange
from ..loss import functions as rows
from . import functions as bags


@audible
def bilinear(input1: Any, input2: Any, weight: Any, bias: Any = None) -> Tensor:
    """``input1 @ weight[k] @ input2 + bias[k]`` for each output ``k``."""
    from ...ops.catalogue import FUNCTIONS

    return FUNCTIONS["bilinear"](input1, input2, weight, bias)


@audible
def embedding(
    input: Any, weight: Any, padding_idx: int | None = None, max_norm: float | None = None,
    norm_type: float = 2.0, scale_grad_by_freq: bool = False, sparse: bool = False,
) -> Tensor:  # fmt: skip
    """The rows of ``weight`` that ``input`` names; ``max_norm`` scales longer ones down in place first.

    Source: https://docs.pytorch.org/docs/stable/generated/torch.nn.functional.embedding.html
    """
    if padding_idx is None:
        padding_idx = -1
    else:
        rows_there = weight.size(0)
        if padding_idx > 0:
            if padding_idx >= rows_there:
                raise AssertionError("Padding_idx must be within num_embeddings")
        elif padding_idx < 0:
            if padding_idx < -rows_there:
                raise AssertionError("Padding_idx must be within num_embeddings")
            padding_idx += rows_there
    if max_norm is not None:
        _shorten(weight, input, max_norm, norm_type)
    return rows.embedding(weight, input, padding_idx, scale_grad_by_freq, sparse)


def _shorten(weight: Any, input: Any, max_norm: float, norm_type: float) -> None:
    before = modes.set_grad(False)
    try:
        bags.embedding_renorm_(weight, input, max_norm, norm_type)
    finally:
        modes.set_grad(before)


_MODES = {"sum": 0, "mean": 1, "max": 2}


@audible
def embedding_bag(
    input: Any, weight: Any, offsets: Any = None, max_norm: float | None = None, norm_type: float = 2,
    scale_grad_by_freq: bool = False, mode: str = "mean", sparse: bool = False, per_sample_weights: Any = None,
    include_last_offset: bool = False, padding_idx: int | None = None,
) -> Tensor:  # fmt: skip
    """The sum, mean or maximum of each bag of rows of ``weight``: (bags, columns).

    input    (bags, n) indices, or (all,) with ``offsets``: where in it each bag begins
    include_last_offset  whether ``offsets`` ends with where the last bag ends
    per_sample_weights   what each row is multiplied by, for sums only
    padding_idx          the row that counts for nothing
    Source: https://docs.pytorch.org/docs/stable/generated/torch.nn.functional.embedding_bag.html
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
        offsets = arange(0, input.numel(), input.size(1), dtype=input.dtype)
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
    return bags.embedding_bag(  # type: ignore[no-any-return]
        weight, input, offsets, scale_grad_by_freq, _MODES[mode], sparse, per_sample_weights, include_last_offset,
        padding_idx,
    )[0]  # fmt: skip
