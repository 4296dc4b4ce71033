"""Weights split into length and direction, with one row for both directions of the common case."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...core.row import op
from .distance import linalg_vector_norm, norm_of
from .reduce import F32, F64, sum_dim


def others(ndim: int, dim: int) -> tuple[int, ...]:
    """The dimensions other than ``dim``."""
    return tuple(axis for axis in range(ndim) if axis != dim)


@op(
    outputs=("result0", "result1"),
    differentiable=("result0",),
    public=False,
    hidden=("weight", "length", "weight_sizes"),
    shows={"v": ("weight", lambda tensor: tensor), "g": ("length", lambda tensor: tensor)},
)
def weight_norm_interface(weight: Any, length: Any, /, dim: int = 0) -> Any:
    """``weight`` with the norms ``length`` over all dimensions but ``dim``, the first or last; the norms it had."""
    kind = weight.dtype
    wide = weight if kind == F32 or kind == F64 else weight.astype(F32)
    norms = norm_of(wide, 2, others(weight.ndim, dim), True)
    return (wide * (length / norms)).astype(kind, copy=False), np.asarray(norms)


@weight_norm_interface.derivative("weight", "length")
def _weight_norm_rule(grad: Any, weight: Any, length: Any, result1: Any, weight_sizes: Any, dim: Any) -> Any:
    """The norms are made again, not read from ``result1``: as a function of ``weight`` they have a slope."""
    rest = others(len(weight_sizes), dim)
    norms = linalg_vector_norm(weight, 2, rest, True)
    along = sum_dim(grad * weight, rest, True) / norms
    return (grad - weight * (along / norms)) * (length / norms), along
