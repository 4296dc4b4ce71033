"""Rows divided by their root mean squares, in one record for the everyday call on large arrays.

PyTorch's graph has a node for each of the operations that ``composite/norm.py`` writes down. Here one record
computes the same in one pass each way; looked at, it unfolds into those nodes, and their form differentiates the
way back.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ...core.row import op
from ...kernels import compiled
from ..unfold import differentiated, unfolding
from .norm import F32, count
from .reduce import along, sum_dim

# the tensors: the input, and a weight where there is one; both in one dtype, float32 or float64


@op(
    node="MulBackward0",
    outputs=("result0", "result1"),
    differentiable=("result0",),
    public=False,
    unfold=unfolding("rms_norm", ("normalized_shape", "eps")),
)
def fused_rms_norm(tensors: Any, /, normalized_shape: Any, eps: float) -> Any:
    """Each sample divided by the root mean square of its last dimensions, and scaled; the inverse roots."""
    a, weight = tensors[0], tensors[1] if len(tensors) > 1 else None
    n = count(normalized_shape)
    if a.size >= compiled.least and (results := compiled.norm.rms_forward(a, weight, n, eps)) is not None:
        return results
    lines = a.reshape(-1, n)
    rstd = 1 / np.sqrt(along(lines * lines, 1) / n + a.dtype.type(eps))
    out = lines * rstd[:, None]
    if weight is not None:
        out *= weight.reshape(-1)
    return out.reshape(a.shape), rstd


@fused_rms_norm.derivative("tensors")
def _rule(
    grad: Any, tensors: Any, tensors_sizes: Any, result1: Any, normalized_shape: Any, eps: Any, needs: Any
) -> Any:
    gradients = fused_rms_norm_backward([grad, *tensors, result1], normalized_shape, eps, tuple(needs))
    return [gradient if need else None for gradient, need in zip(gradients, needs, strict=False)]


@op(outputs=("input", "weight"), public=False)
def fused_rms_norm_backward(tensors: Any, /, normalized_shape: Any, eps: float, wanted: Any) -> Any:
    """The gradients of input and weight, from that of the output, both of them, and the inverse roots."""
    grad, a, *optional, rstd = tensors
    weight = optional[0] if optional else None
    n, of_weight = count(normalized_shape), len(wanted) > 1 and wanted[1]
    if a.size >= compiled.least:
        gradients = compiled.norm.rms_backward(grad, a, rstd, weight, n, of_weight)
        if gradients is not None:
            return gradients[0], gradients[1].reshape(normalized_shape) if of_weight else _NONE
    g, x = grad.reshape(-1, n), a.reshape(-1, n) * rstd[:, None]
    steep = g if weight is None else g * weight.reshape(-1)
    back = (steep - x * (along(steep * x, 1) / n)[:, None]) * rstd[:, None]
    return back.reshape(a.shape), sum_dim.row.kernel(g * x, (0,)).reshape(normalized_shape) if of_weight else _NONE


@fused_rms_norm_backward.derivative("tensors")
def _twice(grads: Any, tensors: Any, normalized_shape: Any, eps: Any, needs: Any) -> Any:
    return differentiated("rms_norm", grads, tensors, (True,), needs, (normalized_shape, eps))


_NONE = np.empty(0, F32)
