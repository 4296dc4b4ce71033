"""Inverses, determinants and solutions of linear equations: knows LAPACK through NumPy."""

from __future__ import annotations

from typing import Any, NoReturn

import numpy as np

from ..declare import COMPOSITES, op
from .shape import on_arrays, sum_to, transpose, unsqueeze


class LinAlgError(RuntimeError):
    """A matrix that cannot be inverted, or an equation that has no one solution."""


LinAlgError.__name__ = LinAlgError.__qualname__ = "_LinAlgError"


def _singular(function: str, what: str, matrices: Any) -> NoReturn:
    """Raise PyTorch's error for the first singular matrix: it names the pivot that came out as zero."""
    flat = matrices.reshape(-1, *matrices.shape[-2:])
    for index, matrix in enumerate(flat):
        pivot = _zero_pivot(matrix)
        if pivot is not None:
            which = f"(Batch element {index}): " if matrices.ndim > 2 else ""
            if function == "linalg.solve":
                raise LinAlgError(f"torch.linalg.solve: {which}The solver failed because the input matrix is singular.")
            raise LinAlgError(
                f"{function}: {which}The diagonal element {pivot} is zero, the {what} could not be completed because "
                "the input matrix is singular."
            )
    raise LinAlgError(f"{function}: the input matrix is singular.")


def _zero_pivot(matrix: Any) -> int | None:
    """The first column, counted from one, where elimination finds no pivot."""
    rest = matrix.astype(np.complex128 if matrix.dtype.kind == "c" else np.float64)
    for step in range(len(rest)):
        row = step + int(np.argmax(np.abs(rest[step:, step])))
        if rest[row, step] == 0:
            return step + 1
        rest[[step, row]] = rest[[row, step]]
        rest[step + 1 :] -= np.outer(rest[step + 1 :, step] / rest[step, step], rest[step])
    return None


def _times(a: Any, b: Any) -> Any:
    return a.dot(b) if a.ndim == 2 == b.ndim else np.matmul(a, b)


@on_arrays(_times)
def times(a: Any, b: Any) -> Any:
    """The product of matrices, or of batches of them, in a rule."""
    return COMPOSITES["matmul"].function(a, b)


@on_arrays(lambda a: a.swapaxes(-1, -2))
def turned(a: Any) -> Any:
    """The transposed matrices, in a rule."""
    return transpose(a, -1, -2)


@on_arrays(lambda grad, sizes: grad if grad.shape == sizes else sum_to.row.kernel(grad, sizes))
def narrowed(grad: Any, sizes: tuple[int, ...]) -> Any:
    """A gradient, summed where a batch was stretched."""
    return grad if grad._d.shape == sizes else sum_to(grad, sizes)


@op(node="LinalgInvExBackward0")
def inverse_of(A: Any, /) -> Any:  # noqa: N803  PyTorch's name
    """The inverses of square matrices, column by column in memory as LAPACK leaves them."""
    try:
        return np.linalg.inv(A.swapaxes(-1, -2)).swapaxes(-1, -2)
    except np.linalg.LinAlgError:
        _singular("linalg.inv", "inversion", A)


@op(node="LinalgDetBackward0")
def determinant(A: Any, /) -> Any:  # noqa: N803
    """The determinants of square matrices."""
    return np.linalg.det(A)


@op(node="LinalgSolveExBackward0")
def solution(A: Any, B: Any, /) -> Any:  # noqa: N803
    """What square matrices must be multiplied with to give the matrices ``B``."""
    try:
        found = np.linalg.solve(A, B)
    except np.linalg.LinAlgError:
        _singular("linalg.solve", "", A)
    return np.ascontiguousarray(found.swapaxes(-1, -2)).swapaxes(-1, -2)


for _row in (inverse_of, determinant, solution):
    _row.internal()
inverse_of.derivative(A=lambda grad, result: -times(times(turned(result), grad), turned(result)))
determinant.derivative(A=lambda grad, A, result: each(grad * result) * turned(inverse_of(A)))  # noqa: N803
solution.derivative(
    A=lambda grad, A, A_sizes, result: narrowed(-times(solution(turned(A), grad), turned(result)), A_sizes),  # noqa: N803
    B=lambda grad, A, B_sizes: narrowed(solution(turned(A), grad), B_sizes),  # noqa: N803
)


@on_arrays(lambda grad: np.asarray(grad)[..., None, None])
def each(grad: Any) -> Any:
    """One number for each matrix, ready to be multiplied with it."""
    return unsqueeze(unsqueeze(grad, -1), -1)
