"""Samples of eigenvalues; gradients of eigenvectors as such would depend on their direction, which is arbitrary."""

from __future__ import annotations

from . import given, sample, t

A = given([[4.0, 1.0, -0.5], [1.0, 3.0, 0.7], [-0.5, 0.7, 2.0]], "float")
HERMITIAN = given([[3.0 + 0j, 0.5 - 1j], [0.5 + 1j, 2.0 + 0j]], "complex", grad=True)
PLAIN = given([[2.0, 1.0, 0.3], [0.4, -1.0, 0.8], [-0.6, 0.9, 0.5]], "float")
TURNING = given([[0.5, 2.0], [-1.5, 0.3]], "float")

# slope=False: the gradient is that of symmetric matrices
SAMPLES = [
    sample("linalg.eigh", A, slope=False),
    sample("linalg.eigh", A, "U", slope=False),
    sample("linalg.eigh", t(2, 2, 2), slope=False),
    sample("linalg.eigvalsh", A, slope=False),
    sample("linalg.eigvalsh", HERMITIAN, slope=False, only=("float64",)),
    sample("linalg.eig", PLAIN, gradient=False),
    sample("linalg.eigvals", PLAIN),
    sample("linalg.eigvals", TURNING),
    sample("linalg.eigvals", t(2, 2, 2, kind="complex"), only=("float64",)),
]
