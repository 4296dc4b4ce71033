"""What distributions of vectors and matrices ask of linear algebra: factors, triangular systems, determinants."""

from __future__ import annotations

import math
from typing import Any

from ..ground import dtypes
from .utils import functions as f


def _linalg() -> Any:
    from .. import linalg  # a namespace of the roof, wanted only once there is a matrix to factor

    return linalg


def cholesky(matrix: Any) -> Any:
    """The lower triangular factor of positive definite matrices."""
    return _linalg().cholesky(matrix)


def has_factor(matrix: Any) -> Any:
    """Whether each matrix has a Cholesky factor."""
    return _linalg().cholesky_ex(matrix).info.eq(0)


def smallest_eigenvalues(matrix: Any) -> Any:
    """The smallest eigenvalue of each symmetric matrix."""
    return _linalg().eigvalsh(matrix).min(-1)[0]


def solve_lower(factor: Any, b: Any) -> Any:
    """``x`` of ``factor @ x = b``, the factor being lower triangular."""
    return _linalg().solve_triangular(factor, b, upper=False)


def log_abs_det(matrix: Any) -> Any:
    """The logarithm of the absolute determinant."""
    return _linalg().slogdet(matrix)[1]


def log_diagonal(factor: Any) -> Any:
    """The logarithms of the diagonal, summed: half the log-determinant of what a triangular factor is of."""
    return factor.diagonal(dim1=-2, dim2=-1).log().sum(-1)


def solved_by_factor(b: Any, factor: Any) -> Any:
    """``x`` of ``factor @ factor.mT @ x = b``."""
    return f.cholesky_solve(b, factor)


def factor_of_inverse(precision: Any) -> Any:
    """The lower triangular factor of the inverse of positive definite matrices.

    With both axes reversed the factor of the precision is upper triangular, and its inverse transposed is the one.
    """
    reversed_ = cholesky(f.flip(precision, (-2, -1)))
    upper = f.flip(reversed_, (-2, -1)).transpose(-2, -1)
    return solve_lower(upper, f.eye(precision.shape[-1], dtype=precision.dtype, device=precision.device))


def only_one(error: type[Exception], **matrices: Any) -> tuple[str, Any]:
    """The one of several matrices that is given, with its name; ``error`` where it is not one."""
    named = [(name, matrix) for name, matrix in matrices.items() if matrix is not None]
    if len(named) != 1:
        raise error("Exactly one of covariance_matrix or precision_matrix or scale_tril may be specified.")
    return named[0]


def factor_of(name: str, matrix: Any) -> Any:
    """The lower triangular factor of the covariance, which is given itself, by its inverse or by the factor."""
    if name == "scale_tril":
        return matrix
    return cholesky(matrix) if name == "covariance_matrix" else factor_of_inverse(matrix)


def times(matrix: Any, vector: Any) -> Any:
    """Matrices times vectors, batch by batch."""
    return f.matmul(matrix, vector.unsqueeze(-1)).squeeze(-1)


def square_length(matrix: Any) -> Any:
    """The sum of the squares of each matrix: the trace of it times its transpose."""
    return matrix.reshape((*matrix.shape[:-2], -1)).pow(2).sum(-1)


def squared_distance(factor: Any, vector: Any) -> Any:
    """The squared length of each vector as ``factor`` measures it: that of ``x`` where ``factor @ x`` is the vector.

    The vectors' further batch dimensions become columns of one triangular system.
    """
    n, sizes = vector.size(-1), vector.shape[:-1]
    lead = len(sizes) - (factor.dim() - 2)
    own = sizes[lead:]
    columns = vector.reshape((math.prod(sizes[:lead]), *own, n)).movedim(0, -1)
    lengths = solve_lower(factor.expand((*own, n, n)), columns).pow(2).sum(-2)
    return lengths.movedim(-1, 0).reshape(sizes)


def log_multigamma(x: Any, p: int) -> Any:
    """The logarithm of the multivariate gamma function of dimension ``p``. Source: DLMF 35.3.4"""
    steps = f.arange(p, dtype=x.dtype, device=x.device) / 2
    return p * (p - 1) / 4 * math.log(math.pi) + (x.unsqueeze(-1) - steps).lgamma().sum(-1)


def digamma_sum(x: Any, p: int) -> Any:
    """The derivative of ``log_multigamma``; AssertionError outside its domain."""
    if not x.gt((p - 1) / 2).all():
        raise AssertionError("Wrong domain for multivariate digamma function.")
    return (x.unsqueeze(-1) - f.arange(p, dtype=x.dtype, device=x.device) / 2).digamma().sum(-1)


def clamp_above_eps(x: Any) -> Any:
    """At least the dtype's step at one."""
    return x.clamp(min=dtypes.finfo(x.dtype).eps)
