"""Looking rows up, and the bilinear form, with ``torch.nn.functional``'s signatures."""

from __future__ import annotations

from typing import Any

from ...ground import modes
from ...ops.composite import loss as rows
from ...tensor.tensor import Tensor


def bilinear(input1: Any, input2: Any, weight: Any, bias: Any = None) -> Tensor:
    """``input1 @ weight[k] @ input2 + bias[k]`` for each output ``k``."""
    from ...ops.catalogue import FUNCTIONS

    return FUNCTIONS["bilinear"](input1, input2, weight, bias)


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
        before = modes.set_grad(False)
        try:
            rows.embedding_renorm_(weight, input, max_norm, norm_type)
        finally:
            modes.set_grad(before)
    return rows.embedding(weight, input, padding_idx, scale_grad_by_freq, sparse)
