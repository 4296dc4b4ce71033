"""Samples of singular values, pseudoinverses and least squares."""

from __future__ import annotations

from . import given, sample, t

TALL = given([[2.0, 1.0], [0.4, -1.0], [-0.6, 0.9]], "float")
WIDE = given([[2.0, 1.0, 0.3], [0.4, -1.0, 0.8]], "float")
SQUARE = given([[2.0, 1.0, 0.3], [0.4, -1.0, 0.8], [-0.6, 0.9, 0.5]], "float")
SYMMETRIC = given([[4.0, 1.0, -0.5], [1.0, -3.0, 0.7], [-0.5, 0.7, 2.0]], "float")
COMPLEX = given([[2.0 + 1j, 0.5 - 1j], [0.5 + 1j, -1.0 + 0.3j], [0.1 - 0.2j, 0.7j]], "complex")

SAMPLES = [
    sample("linalg.svd", TALL, False),
    sample("linalg.svd", SQUARE),
    sample("linalg.svd", TALL, gradient=False),
    sample("linalg.svd", COMPLEX, False, gradient=False, only=("float64",)),
    sample("linalg.svdvals", TALL),
    sample("linalg.svdvals", COMPLEX, only=("float64",)),
    sample("svd", TALL),
    sample("svd", SQUARE, False),
    sample("svd", WIDE, True, False),
    sample("linalg.matrix_norm", COMPLEX, "nuc", only=("float64",)),
    sample("linalg.matrix_norm", COMPLEX, 2, only=("float64",)),
    sample("linalg.pinv", TALL),
    sample("linalg.pinv", WIDE),
    sample("linalg.pinv", SQUARE, atol=0.1),
    sample("linalg.pinv", COMPLEX, only=("float64",)),
    sample("linalg.pinv", SYMMETRIC, hermitian=True, slope=False),
    sample("pinverse", TALL),
    sample("linalg.lstsq", TALL, t(3, 2)),
    sample("linalg.lstsq", WIDE, t(2, 1)),
    sample("linalg.lstsq", TALL, t(3, 2), driver="gelsd"),
    sample("linalg.lstsq", TALL, t(3, 1), driver="gels"),
    sample("linalg.lstsq", t(2, 3, 2), t(2, 3)),
    sample("linalg.matrix_rank", TALL, gradient=False),
    sample("linalg.matrix_rank", SYMMETRIC, hermitian=True, gradient=False),
]
