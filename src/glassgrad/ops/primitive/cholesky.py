"""Triangular roots of positive-definite matrices, and what is solved with them: knows LAPACK through NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...core.row import op
from ...kernels import triangle
from .arrange import tril
from .decompose import LinAlgError, adjoint, mathematics, narrowed, times, which
from .extreme import not_implemented
from .triangular import substitute


def factors(A: Any, upper: bool) -> tuple[Any, Any]:  # noqa: N803  PyTorch's name
    """The triangular roots, and for each matrix the order of the minor that is not positive-definite (or zero)."""
    if A.dtype not in (np.float32, np.float64, np.complex64, np.complex128):
        raise not_implemented("cholesky_cpu", A)
    if upper:
        A = A.swapaxes(-1, -2).conj()  # noqa: N806
    info = np.zeros(A.shape[:-2], np.int32)
    try:
        roots = triangle.roots(A)
    except np.linalg.LinAlgError:
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


@op(outputs=("L", "info"), differentiable=("L",), holomorphic=False, public=False)
def linalg_cholesky_ex(self: Any, /, upper: bool = False, check_errors: bool = False) -> Any:
    """Triangles that give the matrices when multiplied with themselves turned; how far they could be found."""
    roots, info = factors(self, upper)
    if check_errors:
        check_definite("linalg.cholesky_ex", info)
    return roots, info


linalg_cholesky_ex.derivative(self=lambda grad, L, upper: slope(grad, L, upper))  # noqa: N803


@op(holomorphic=False, public=False)
def cholesky(self: Any, /, upper: bool = False) -> Any:
    """The triangular root of positive-definite matrices."""
    roots, info = factors(self, upper)
    check_definite("cholesky", info)
    return roots


cholesky.derivative(self=lambda grad, result, upper: slope(grad, result, upper))


@mathematics
def slope(grad: Any, root: Any, upper: Any) -> Any:
    """Murray, "Differentiation of the Cholesky decomposition" (2016); half to each of the two triangles."""
    if upper:
        grad, root = adjoint(grad), adjoint(root)
    inner = tril(times(adjoint(root), grad))
    inner = (inner + adjoint(tril(inner, -1))) * 0.5
    inner = substitute(adjoint(root), inner, True, True, False)
    return substitute(root, inner, False, False, False)


@op(holomorphic=False, public=False)
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


@op(holomorphic=False, public=False, hidden=("input2_sizes", "self_sizes"))
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
