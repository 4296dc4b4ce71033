"""Samples of the exponential of matrices."""

from __future__ import annotations

from . import given, sample, t

LARGE = given([[4.0, 1.0, -0.5], [1.0, -3.0, 0.7], [-0.5, 0.7, 2.0]], "float")

SAMPLES = [
    sample("matrix_exp", t(3, 3)),
    sample("matrix_exp", t(2, 2, 2)),
    sample("linalg.matrix_exp", t(1, 1), only=("float64",)),
    sample("matrix_exp", LARGE, rtol=1e-5, why="squared three times", label="large"),
    sample("matrix_exp", given([[0.01, 0.02], [-0.03, 0.04]], "float"), label="small"),
    sample("matrix_exp", t(2, 2, kind="complex"), only=("float64",)),
]
