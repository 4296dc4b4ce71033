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


@on_arrays(lambda grad: np.asarray(grad)[..., None, None])
def each(grad: Any) -> Any:
    """One number for each matrix, ready to be multiplied with it."""
    return unsqueeze(unsqueeze(grad, -1), -1)


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


def is_vector(a: tuple[int, ...], b: tuple[int, ...]) -> bool:
    """Whether sizes ``b`` are those of a vector, or a batch of them, on the other side of matrices of sizes ``a``."""
    return len(b) == 1 or len(b) == len(a) - 1 and b == a[:-1]


@op(node="LinalgSolveExBackward0")
def solution(A: Any, B: Any, /, left: bool = True) -> Any:  # noqa: N803
    """What square matrices must be multiplied with to give ``B``, from the right (``left``) or from the left."""
    vector = is_vector(A.shape, B.shape)
    if vector:
        B = B[..., None]  # noqa: N806
    elif not left:
        A, B = A.swapaxes(-1, -2), B.swapaxes(-1, -2)  # noqa: N806
    try:
        found = np.linalg.solve(A, B)
    except np.linalg.LinAlgError:
        _singular("linalg.solve", "", A)
    if vector:
        return found[..., 0]
    if not left:
        return np.ascontiguousarray(found.swapaxes(-1, -2))
    return np.ascontiguousarray(found.swapaxes(-1, -2)).swapaxes(-1, -2)


@on_arrays(lambda vector: vector[..., None])
def column(vector: Any) -> Any:
    """A vector as a matrix of one column, in a rule."""
    return unsqueeze(vector, -1)


@solution.derivative("A", "B")
def _unsolve(grad: Any, A: Any, A_sizes: Any, B_sizes: Any, result: Any, left: Any) -> Any:  # noqa: N803
    """The gradients of the equation's two sides: it is solved once more, with the matrices transposed."""
    toward = solution(turned(A), grad, left)
    if is_vector(A_sizes, B_sizes):
        pull = times(column(toward), turned(column(result)))
    elif left:
        pull = times(toward, turned(result))
    else:
        pull = times(turned(result), toward)
    return narrowed(-pull, A_sizes), narrowed(toward, B_sizes)


for _row in (inverse_of, determinant, solution):
    _row.internal()
inverse_of.derivative(A=lambda grad, result: -times(times(turned(result), grad), turned(result)))
determinant.derivative(A=lambda grad, A, result: each(grad * result) * turned(inverse_of(A)))  # noqa: N803


# -- the saved names that PyTorch does not show -----------------------------------------------------------------------

inverse_of.shows(hidden=("result",))
solution.shows(hidden=("A_sizes", "B_sizes"))
