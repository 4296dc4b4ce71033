"""The ``torch.linalg`` namespace: it re-exports, and holds no logic of its own."""

from __future__ import annotations

from .ops.catalogue import FUNCTIONS as _FUNCTIONS
from .ops.composite.matrix import linalg_cross as cross
from .ops.composite.matrix import multi_dot

matmul = _FUNCTIONS["matmul"]
matrix_power = _FUNCTIONS["matrix_power"]

__all__ = ["cross", "matmul", "matrix_power", "multi_dot"]
