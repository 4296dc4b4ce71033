"""The ``torch.linalg`` namespace: it re-exports, and holds no logic of its own."""

from __future__ import annotations

from .ops.catalogue import FUNCTIONS as _FUNCTIONS
from .ops.composite.algebra import linalg_cross as cross
from .ops.composite.algebra import linalg_det as det
from .ops.composite.algebra import linalg_inv as inv
from .ops.composite.algebra import linalg_solve as solve
from .ops.composite.algebra import multi_dot, vecdot
from .ops.composite.norm import linalg_norm as norm
from .ops.composite.norm import matrix_norm, vector_norm
from .ops.primitive.decompose import LinAlgError

diagonal = _FUNCTIONS["diagonal"]
matmul = _FUNCTIONS["matmul"]
matrix_power = _FUNCTIONS["matrix_power"]

__all__ = [
    "LinAlgError", "cross", "det", "diagonal", "inv", "matmul", "matrix_norm", "matrix_power", "multi_dot", "norm",
    "solve", "vecdot", "vector_norm",
]  # fmt: skip
