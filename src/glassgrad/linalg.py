"""The ``torch.linalg`` namespace: it re-exports, and holds no logic of its own."""

from __future__ import annotations

from .ops.catalogue import FUNCTIONS as _FUNCTIONS
from .ops.composite.algebra import linalg_cross as cross
from .ops.composite.algebra import linalg_det as det
from .ops.composite.algebra import linalg_inv as inv
from .ops.composite.algebra import linalg_solve as solve
from .ops.composite.algebra import multi_dot, vecdot
from .ops.composite.equations import (
    cond,
    inv_ex,
    lstsq,
    lu_solve,
    matrix_exp,
    matrix_rank,
    pinv,
    slogdet,
    solve_ex,
    solve_triangular,
    tensorinv,
    tensorsolve,
    vander,
)
from .ops.composite.linalg import (
    cholesky,
    cholesky_ex,
    eig,
    eigh,
    eigvals,
    eigvalsh,
    householder_product,
    ldl_factor,
    ldl_factor_ex,
    ldl_solve,
    lu,
    lu_factor,
    lu_factor_ex,
    qr,
    svd,
    svdvals,
)
from .ops.composite.norm import linalg_norm as norm
from .ops.composite.norm import matrix_norm, vector_norm
from .ops.primitive.decompose import LinAlgError

diagonal = _FUNCTIONS["diagonal"]
matmul = _FUNCTIONS["matmul"]
matrix_power = _FUNCTIONS["matrix_power"]

__all__ = [
    "LinAlgError", "cholesky", "cholesky_ex", "cond", "cross", "det", "diagonal", "eig", "eigh", "eigvals", "eigvalsh",
    "householder_product", "inv", "inv_ex", "ldl_factor", "ldl_factor_ex", "ldl_solve", "lstsq", "lu", "lu_factor",
    "lu_factor_ex", "lu_solve", "matmul", "matrix_exp", "matrix_norm", "matrix_power", "matrix_rank", "multi_dot",
    "norm", "pinv", "qr", "slogdet", "solve", "solve_ex", "solve_triangular", "svd", "svdvals", "tensorinv",
    "tensorsolve", "vander", "vecdot", "vector_norm",
]  # fmt: skip
