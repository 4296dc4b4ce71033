"""Triangular systems of equations and the triangles that elimination leaves: knows the kernels of both."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...core.row import op
from ...ground.layout import in_columns
from ...kernels.columns import not_implemented
from ..compare.rows import zero_like
from ..join.rows import cat, tril, triu
from . import kernels as triangle
from .rows import LinAlgError, adjoint, conjugated, lu_solved, mathematics, narrowed, times, turned, which

LAPACK_CHARS = "fdFD"
LAPACK = tuple(map(np.dtype, LAPACK_CHARS))


def refuse(kernel: str, a: Any) -> None:
    """Raise PyTorch's error for elements that LAPACK does not know."""
    if a.dtype not in LAPACK:
        raise not_implemented(kernel, a)


# -- substitution -----------------------------------------------------------------------------------------------------


def solved(A: Any, B: Any, upper: bool, left: bool, unitriangular: bool) -> Any:  # noqa: N803  PyTorch's names
    """The solutions of ``A @ X = B``, or of ``X @ A = B``."""
    refuse("triangular_solve_cpu", A)
    if left:
        return np.ascontiguousarray(triangle.substituted(A, B, upper, unitriangular))
    solutions = triangle.substituted(A.swapaxes(-1, -2), B.swapaxes(-1, -2), not upper, unitriangular)
    return np.ascontiguousarray(solutions.swapaxes(-1, -2))


@op(
    node="LinalgSolveTriangularBackward0",
    holomorphic=False,
    public=False,
    hidden=("self_sizes", "B_sizes"),
    layout="columns",
    batched="first",
)
def substitute(self: Any, B: Any, /, upper: bool, left: bool = True, unitriangular: bool = False) -> Any:  # noqa: N803
    """What triangular matrices must be multiplied with to give ``B``."""
    return solved(self, B, upper, left, unitriangular)


@substitute.derivative("self", "B")
def _slopes_of_substitute(
    grad: Any, self: Any, self_sizes: Any, B_sizes: Any, result: Any, upper: Any, left: Any, unitriangular: Any,  # noqa: N803
    needs: Any,
) -> Any:  # fmt: skip
    """The equations are solved once more, turned."""
    toward = substitute(adjoint(self), grad, not upper, left, unitriangular)
    pull = None
    if needs[0]:
        pull = times(toward, adjoint(result)) if left else times(adjoint(result), toward)
        pull = narrowed(part(-pull, upper, unitriangular), self_sizes)
    return pull, narrowed(toward, B_sizes) if needs[1] else None


@mathematics
def part(grad: Any, upper: Any, unitriangular: Any) -> Any:
    """Of a gradient, the triangle that was read."""
    if upper:
        return triu(grad, 1 if unitriangular else 0)
    return tril(grad, -1 if unitriangular else 0)


@op(
    outputs=("solution", "cloned_coefficient"),
    holomorphic=False,
    public=False,
    hidden=("self_sizes", "A_sizes"),
    layout="columns",
    batched="point",
)
def triangular_solve(self: Any, A: Any, /, upper: bool, transpose: bool, unitriangular: bool) -> Any:  # noqa: N803
    """The solutions of ``A @ X = self``, and a copy of ``A``."""
    matrix = A.swapaxes(-1, -2) if transpose else A
    solutions = solved(matrix, self, upper is not transpose, True, unitriangular)
    return solutions, np.array(np.broadcast_to(A, (*solutions.shape[:-2], *A.shape[-2:])))


@triangular_solve.derivative("self", "A")
def _slopes_of_triangular_solve(
    grads: Any,
    self_sizes: Any,
    A: Any,
    A_sizes: Any,
    solution: Any,
    upper: Any,
    transpose: Any,
    unitriangular: Any,  # noqa: N803
) -> Any:
    """As those of substitution; the copy passes on what reaches it."""
    grad, copied = grads
    if grad is None:
        return narrowed(zero_like(solution), self_sizes), narrowed(copied, A_sizes)
    matrix = conjugated(A) if transpose else adjoint(A)
    toward = substitute(matrix, grad, upper if transpose else not upper, True, unitriangular)
    pull = -times(toward, adjoint(solution))
    pull = part(turned(pull) if transpose else pull, upper, unitriangular)
    if copied is not None:
        pull = pull + copied
    return narrowed(toward, self_sizes), narrowed(pull, A_sizes)


# -- elimination ------------------------------------------------------------------------------------------------------


@op(
    outputs=("LU", "pivots", "info"), differentiable=("LU",), holomorphic=False, public=False, layout="columns",
    batched="first",
)  # fmt: skip
def linalg_lu_factor_ex(A: Any, /, pivot: bool = True) -> Any:  # noqa: N803
    """Both triangles of each matrix in one, the rows that were swapped, and the first zero pivot (or zero)."""
    refuse("lu_cpu", A)
    return triangle.lu(A)


@linalg_lu_factor_ex.derivative("A")
def _slope_of_lu_factor(grad: Any, LU: Any, pivots: Any) -> Any:  # noqa: N803
    """As those of the triangles, each read from its part of the gradient."""
    lower, upper = triangles_of(LU)
    least = lower.shape[-1]
    P = permutation_of(pivots, LU)  # noqa: N806
    return slope_of_lu(tril(grad[..., :least], -1), triu(grad[..., :least, :]), P, lower, upper)


@op(outputs=("P", "L", "U"), differentiable=("L", "U"), holomorphic=False, public=False, batched="first")
def linalg_lu(A: Any, /, pivot: bool = True) -> Any:  # noqa: N803
    """A permutation, a lower triangle with ones on its diagonal, and an upper one, whose product gives the matrix."""
    refuse("lu_cpu", A)
    packed, pivots, _ = triangle.lu(A)
    return (triangle.permutation_matrices(pivots, A.shape[-2], A.dtype), *_unpacked(packed))


linalg_lu.derivative(A=lambda grads, P, L, U: slope_of_lu(grads[1], grads[2], P, L, U))  # noqa: N803


def _unpacked(packed: Any) -> tuple[Any, Any]:
    rows, columns = packed.shape[-2:]
    least = min(rows, columns)
    lower = np.tril(packed[..., :least], -1)
    lower[..., range(least), range(least)] = 1
    return lower, np.triu(packed[..., :least, :])


@op(
    node="LuUnpackBackward0",
    outputs=("L", "U"),
    holomorphic=False,
    public=False,
    hidden=("LU_data_sizes",),
    batched="first",
)
def triangles_of(LU_data: Any, /) -> Any:  # noqa: N803
    """The lower triangle, with ones on its diagonal, and the upper one, that were packed into one matrix."""
    return _unpacked(LU_data)


@triangles_of.derivative("LU_data")
def _slope_of_unpacking(grads: Any, LU_data_sizes: Any) -> Any:  # noqa: N803
    """Both gradients in one matrix, each where its triangle was."""
    lower, upper = grads
    rows, columns = LU_data_sizes[-2:]
    if lower is not None:
        lower = tril(lower, -1)
        if columns > rows:
            lower = cat([lower, upper_rest(lower, columns - rows)], -1)
    if upper is not None:
        upper = triu(upper)
        if rows > columns:
            upper = cat([upper, lower_rest(upper, rows - columns)], -2)
    return upper if lower is None else lower if upper is None else lower + upper


@op(constant=True, holomorphic=False, public=False, batched="first")
def permutation_of(LU_pivots: Any, like: Any, /) -> Any:  # noqa: N803
    """The matrices that put rows back where they were before they were swapped."""
    return triangle.permutation_matrices(LU_pivots, like.shape[-2], like.dtype)


@op(constant=True, holomorphic=False, public=False, batched="first")
def upper_rest(self: Any, /, count: int) -> Any:
    """``count`` columns of zeros beside each matrix."""
    return np.zeros((*self.shape[:-1], count), self.dtype)


@op(constant=True, holomorphic=False, public=False, batched="first")
def lower_rest(self: Any, /, count: int) -> Any:
    """``count`` rows of zeros below each matrix."""
    return np.zeros((*self.shape[:-2], count, self.shape[-1]), self.dtype)


@mathematics
def slope_of_lu(lower_grad: Any, upper_grad: Any, P: Any, L: Any, U: Any) -> Any:  # noqa: N803
    """The gradient of the factored matrices; what lies outside their leading square is solved for first.

    Source: Giles (2008), Collected matrix derivative results; for oblong matrices by the same calculus.
    """
    rows, columns = L.shape[-2], U.shape[-1]
    least = min(rows, columns)
    head, corner, rest, side = L, U, None, None
    if rows > columns:
        head = L[..., :least, :]
        if lower_grad is not None:
            rest = substitute(adjoint(U), lower_grad[..., least:, :], False, False, False)
            spill = times(adjoint(L[..., least:, :]), rest)
            upper_grad = -spill if upper_grad is None else upper_grad - spill
            lower_grad = lower_grad[..., :least, :]
        else:
            rest = lower_rest(U, rows - columns)
        side = -2
    elif columns > rows:
        corner = U[..., :least]
        if upper_grad is not None:
            rest = substitute(adjoint(L), upper_grad[..., least:], True, True, True)
            spill = times(rest, adjoint(U[..., least:]))
            lower_grad = -spill if lower_grad is None else lower_grad - spill
            upper_grad = upper_grad[..., :least]
        else:
            rest = upper_rest(L, columns - rows)
        side = -1
    inner = None
    if lower_grad is not None:
        inner = tril(times(adjoint(head), lower_grad), -1)
    if upper_grad is not None:
        above = triu(times(upper_grad, adjoint(corner)))
        inner = above if inner is None else inner + above
    back = substitute(adjoint(head), inner, True, True, True)
    back = substitute(adjoint(corner), back, False, False, False)
    if side is not None:
        back = cat([back, rest], side)
    return times(P, back)


@op(auxiliary=("pivots",), holomorphic=False, public=False, hidden=("LU_sizes", "B_sizes"), layout="columns")
def linalg_lu_solve(LU: Any, pivots: Any, B: Any, /, left: bool = True, adjoint: bool = False) -> Any:  # noqa: N803
    """The solutions of equations whose matrices are given as their triangles and swaps."""
    return np.ascontiguousarray(lu_solved(LU, pivots, B, left, adjoint))


@linalg_lu_solve.derivative("LU", "B")
def _slopes_of_lu_solve(
    grad: Any, LU: Any, pivots: Any, result: Any, LU_sizes: Any, B_sizes: Any, left: Any, needs: Any,  # noqa: N803
    adjoint: Any,
) -> Any:  # fmt: skip
    """The equations are solved once more, turned; what the matrices would get is shared out to their triangles."""
    toward = linalg_lu_solve(LU, pivots, grad, left, not adjoint)
    pull = None
    if needs[0]:
        pull = shared_out(toward, result, LU, pivots, left, adjoint)
        pull = narrowed(pull, LU_sizes)
    return pull, narrowed(toward, B_sizes) if needs[1] else None


@mathematics
def shared_out(toward: Any, result: Any, LU: Any, pivots: Any, left: Any, turned_over: Any) -> Any:  # noqa: N803
    """The gradient of the packed triangles, of that of their product."""
    matrix = times(toward, adjoint(result)) if left else times(adjoint(result), toward)
    matrix = -(adjoint(matrix) if turned_over else matrix)
    lower, upper = triangles_of(LU)
    matrix = times(turned(permutation_of(pivots, LU)), matrix)
    return tril(times(matrix, adjoint(upper)), -1) + triu(times(adjoint(lower), matrix))


# -- Triangular roots of positive-definite matrices, and what is solved with them: knows LAPACK through NumPy.


def factors(A: Any, upper: bool) -> tuple[Any, Any]:  # noqa: N803  PyTorch's name
    """The triangular roots, and for each matrix the order of the minor that is not positive-definite (or zero)."""
    refuse("cholesky_cpu", A)
    if upper:
        A = A.swapaxes(-1, -2).conj()  # noqa: N806
    info = np.zeros(A.shape[:-2], np.int32)
    try:
        roots = triangle.roots(A)
        is_whole = not np.isnan(np.diagonal(roots, axis1=-2, axis2=-1)).any()
    except np.linalg.LinAlgError:
        is_whole = False
    if not is_whole:  # LAPACK ends at pivots that are not positive and at NaN, which NumPy lets pass
        roots = np.empty(A.shape, A.dtype)
        for index in np.ndindex(info.shape):
            roots[index], info[index] = triangle.partial_cholesky(A[index])
    return (roots.swapaxes(-1, -2).conj() if upper else roots), info


def check_definite(function: str, info: Any) -> None:
    """Raise PyTorch's error for the first matrix that is not positive-definite."""
    if not info.any():
        return
    index = int(np.flatnonzero(info)[0])
    raise LinAlgError(
        f"{function}: {which(info, index)}The factorization could not be completed because the input is not "
        f"positive-definite (the leading minor of order {int(np.ravel(info)[index])} is not positive-definite)."
    )


@op(outputs=("L", "info"), differentiable=("L",), holomorphic=False, public=False, batched="first")
def linalg_cholesky_ex(self: Any, /, upper: bool = False, check_errors: bool = False) -> Any:
    """Triangles that give the matrices when multiplied with themselves turned; how far they could be found."""
    roots, info = factors(self, upper)
    if check_errors:
        check_definite("linalg.cholesky_ex", info)
    return roots if upper else in_columns(roots), info


linalg_cholesky_ex.derivative(self=lambda grad, L, upper: slope(grad, L, upper))  # noqa: N803


@op(holomorphic=False, public=False, batched="first")
def cholesky(self: Any, /, upper: bool = False) -> Any:
    """The triangular root of positive-definite matrices."""
    if not self.size:
        return np.empty_like(self)
    roots, info = factors(self, upper)
    check_definite("cholesky", info)
    return roots if upper else in_columns(roots)


cholesky.derivative(self=lambda grad, result, upper: slope(grad, result, upper))


@mathematics
def slope(grad: Any, root: Any, upper: Any) -> Any:
    """Murray, "Differentiation of the Cholesky decomposition" (2016); half to each of the two triangles."""
    if len(root.shape) < 2:  # of what is empty, as are those below
        raise RuntimeError("tensor.mH is only supported on matrices or batches of matrices. Got 1-D tensor.")
    if upper:
        grad, root = adjoint(grad), adjoint(root)
    rows, columns = root.shape[-2:]
    if rows != columns:
        words = f"A must be batches of square matrices, but they are {columns} by {rows} matrices"
        raise RuntimeError(f"linalg.solve_triangular: {words}")
    inner = tril(times(adjoint(root), grad))
    inner = (inner + adjoint(tril(inner, -1))) * 0.5
    inner = substitute(adjoint(root), inner, True, True, False)
    return substitute(root, inner, False, False, False)


@op(holomorphic=False, public=False, serves=(LAPACK_CHARS, "cholesky_inverse_out_cpu"), layout="columns",
    batched="first")  # fmt: skip
def cholesky_inverse(self: Any, /, upper: bool = False) -> Any:
    """The inverses of the matrices that these triangles are the roots of."""
    root = np.conj(self.swapaxes(-1, -2)) if upper else self
    identity = np.broadcast_to(np.eye(self.shape[-1], dtype=self.dtype), self.shape)
    half = triangle.substituted(root, identity, False, False)
    return np.matmul(np.conj(half.swapaxes(-1, -2)), half)


@cholesky_inverse.derivative("self")
def _slope_of_inverse(grad: Any, self: Any, result: Any, upper: Any) -> Any:
    """The inverse of ``L @ L'`` moves by minus itself, times both sides' steps, times itself."""
    both = times(times(result, grad + adjoint(grad)), result)
    return -times(self, both) if upper else -times(both, self)


@op(
    holomorphic=False,
    public=False,
    serves=(LAPACK_CHARS, "cholesky_solve_cpu"),
    layout="columns",
    hidden=("input2_sizes", "self_sizes"),
    batched="point",
)
def cholesky_solve(self: Any, input2: Any, /, upper: bool = False) -> Any:
    """The solutions of ``A @ X = self``, where ``input2`` is the triangular root of ``A``."""
    root = np.conj(input2.swapaxes(-1, -2)) if upper else input2
    half = triangle.substituted(root, self, False, False)
    return np.ascontiguousarray(triangle.substituted(np.conj(root.swapaxes(-1, -2)), half, True, False))


@cholesky_solve.derivative("self", "input2")
def _slopes_of_solve(
    grad: Any, input2: Any, result: Any, self_sizes: Any, input2_sizes: Any, upper: Any, needs: Any
) -> Any:
    """One more solution gives the first; the second is minus what both sides' steps would do to it."""
    toward = cholesky_solve(grad, input2, upper)
    pull = None
    if needs[1]:
        pull = times(toward, adjoint(result))
        pull = pull + adjoint(pull)
        pull = -times(input2, pull) if upper else -times(pull, input2)
        pull = narrowed(pull, input2_sizes)
    return narrowed(toward, self_sizes), pull
