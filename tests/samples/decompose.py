"""Samples of inverses, determinants, and solutions of equations."""

from __future__ import annotations

from . import given, sample, t

SQUARE = given([[0.4, -1.0, 0.8], [2.0, 1.0, 0.3], [-0.6, 0.9, 0.5]], "float")
BATCH = given([[[0.4, -1.0], [2.0, 1.0]], [[1.5, 0.3], [-0.2, 0.9]]], "float")
COMPLEX = given([[2.0 + 1j, 0.5 - 1j], [0.5 + 1j, -1.0 + 0.3j]], "complex")
DEFINITE = given([[4.0, 1.0, -0.5], [1.0, 3.0, 0.7], [-0.5, 0.7, 2.0]], "float")

SAMPLES = [
    sample("linalg.inv_ex", SQUARE),
    sample("linalg.solve_ex", SQUARE, t(3, 2)),
    sample("linalg.solve_ex", BATCH, t(2, 2)),
    sample("linalg.slogdet", SQUARE),
    sample("linalg.slogdet", BATCH),
    sample("linalg.slogdet", COMPLEX, only=("float64",)),
    sample("slogdet", SQUARE),
    sample("logdet", DEFINITE),
    sample("linalg.cond", SQUARE),
    sample("linalg.cond", t(2, 4, 3), -2),
    sample("linalg.cond", SQUARE, "fro", gradient=False),
    sample("linalg.cond", SQUARE, 1, gradient=False),
    sample("linalg.cond", SQUARE, "nuc"),
    sample("linalg.tensorinv", t(2, 3, 6), 2, rtol=2e-5, why="the inverse of a matrix of 6 rows"),
    sample("linalg.tensorsolve", t(2, 3, 6), t(2, 3), rtol=2e-5, why="the solution of 6 equations"),
    sample("linalg.tensorsolve", t(2, 6, 3), t(2, 3), (1,), rtol=2e-5, why="the solution of 6 equations"),
    sample("linalg.vander", t(3)),
    sample("linalg.vander", t(2, 3), N=4),
    sample("vander", t(3), gradient=False),
    sample("vander", t(3), 2, True, gradient=False),
]
