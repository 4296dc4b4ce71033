"""Samples of triangular roots."""

from __future__ import annotations

from . import given, sample, t

A = given([[4.0, 1.0, -0.5], [1.0, 3.0, 0.7], [-0.5, 0.7, 2.0]], "float")
BATCH = given([[[2.0, 0.3], [0.3, 1.5]], [[1.0, -0.4], [-0.4, 3.0]]], "float")
HERMITIAN = given([[3.0 + 0j, 0.5 - 1j], [0.5 + 1j, 2.0 + 0j]], "complex", grad=True)
ROOT = given([[2.0, 0.0, 0.0], [0.5, 1.5, 0.0], [-0.3, 0.2, 1.2]], "float")
UPPER = given([[2.0, 0.5, -0.3], [0.0, 1.5, 0.2], [0.0, 0.0, 1.2]], "float")

# slope=False: the gradient is that of symmetric matrices
SAMPLES = [
    sample("linalg.cholesky", A, slope=False),
    sample("linalg.cholesky", BATCH, upper=True, slope=False),
    sample("linalg.cholesky", HERMITIAN, slope=False, only=("float64",)),
    sample("linalg.cholesky_ex", A, slope=False),
    sample("linalg.cholesky_ex", given([[1.0, 2.0], [2.0, 1.0]], "float"), label="indefinite", gradient=False),
    sample("cholesky", A, slope=False),
    sample("cholesky", HERMITIAN, True, label="upper", slope=False, only=("float64",)),
    sample("cholesky_inverse", ROOT, slope=False),
    sample("cholesky_inverse", UPPER, True, slope=False),
    sample("cholesky_solve", t(3, 2), ROOT, slope=False),
    sample("cholesky_solve", t(2, 3, 1), UPPER, True, slope=False),
]
