"""The ``torch.linalg`` namespace: it re-exports, and holds no logic of its own."""

from __future__ import annotations

from .families.index.functions import linalg_diagonal as diagonal
from .families.linalg.equations import (
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
from .families.linalg.functions import (
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
from .families.linalg.functions import linalg_solve as solve
from .families.linalg.rows import LinAlgError
from .families.matrix.chain import multi_dot
from .families.matrix.functions import linalg_cross as cross
from .families.matrix.functions import linalg_det as det
from .families.matrix.functions import linalg_inv as inv
from .families.matrix.functions import vecdot
from .families.norm.functions import linalg_norm as norm
from .families.norm.functions import matrix_norm, vector_norm
from .ground.later import cite as _cite
from .ops.catalogue import FUNCTIONS as _FUNCTIONS

matmul = _FUNCTIONS["matmul"]
matrix_power = _FUNCTIONS["matrix_power"]

__all__ = [
    "LinAlgError", "cholesky", "cholesky_ex", "cond", "cross", "det", "diagonal", "eig", "eigh", "eigvals", "eigvalsh",
    "householder_product", "inv", "inv_ex", "ldl_factor", "ldl_factor_ex", "ldl_solve", "lstsq", "lu", "lu_factor",
    "lu_factor_ex", "lu_solve", "matmul", "matrix_exp", "matrix_norm", "matrix_power", "matrix_rank", "multi_dot",
    "norm", "pinv", "qr", "slogdet", "solve", "solve_ex", "solve_triangular", "svd", "svdvals", "tensorinv",
    "tensorsolve", "vander", "vecdot", "vector_norm",
]  # fmt: skip

for _name in __all__:
    _cite(globals()[_name], f"torch.linalg.{_name}")
