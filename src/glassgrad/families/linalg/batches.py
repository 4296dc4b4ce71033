"""What the solution of equations does to batches under ``vmap``."""

from __future__ import annotations

from typing import Any

from ..shape.batches import aligned, alike, all_alike
from .rows import is_vector, solution
from .spectra import linalg_lstsq, unit_matrices
from .triangular import linalg_lu_solve, substitute


@solution.row.batch
def _solution(size: int, batched: Any, A: Any, B: Any, left: bool, lenient: bool) -> Any:  # noqa: N803
    A, B = alike(size, batched, A, B)  # noqa: N806
    if is_vector(A._array.shape[1:], B._array.shape[1:]):
        columns = B.unsqueeze(-1)
        ndim = max(A._array.ndim, columns._array.ndim) - 1
        return solution(aligned(A, ndim), aligned(columns, ndim), True, lenient).squeeze(-1)
    ndim = max(A._array.ndim, B._array.ndim) - 1
    if A._array.ndim == B._array.ndim + 1 and B._array.shape == A._array.shape[:-1]:
        return NotImplemented
    return solution(aligned(A, ndim), aligned(B, ndim), left, lenient)


@linalg_lstsq.row.batch
def _lstsq(size: int, batched: Any, self: Any, b: Any, rcond: float, driver: str, vector: bool) -> Any:
    self, b = alike(size, batched, self, b)
    ndim = max(self._array.ndim, b._array.ndim + vector) - 1
    outs = linalg_lstsq(aligned(self, ndim), aligned(b, ndim - vector), rcond, driver, vector)
    return tuple([all_alike(out, size) if out._array.shape == (0,) else out for out in outs])


@substitute.row.batch
def _substitute(
    size: int, batched: Any, self: Any, B: Any, upper: bool, left: bool, unitriangular: bool,  # noqa: N803
) -> Any:  # fmt: skip
    self, B = alike(size, batched, self, B)  # noqa: N806
    ndim = max(self._array.ndim, B._array.ndim) - 1
    return substitute(aligned(self, ndim), aligned(B, ndim), upper, left, unitriangular)


@unit_matrices.row.batch
def _unit_matrices(size: int, batched: Any, self: Any) -> Any:
    return all_alike(unit_matrices(self), size)


@linalg_lu_solve.row.batch
def _lu_solve(size: int, batched: Any, LU: Any, pivots: Any, B: Any, left: bool, adjoint: bool) -> Any:  # noqa: N803
    LU, pivots, B = alike(size, batched, LU, pivots, B)  # noqa: N806
    ndim = max(LU._array.ndim, B._array.ndim) - 1
    return linalg_lu_solve(aligned(LU, ndim), aligned(pivots, ndim - 1), aligned(B, ndim), left, adjoint)
