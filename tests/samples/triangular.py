"""Samples of triangular equations and of elimination."""

from __future__ import annotations

from . import given, sample, t

LOWER = given([[2.0, 0.7, -0.1], [0.5, 1.5, 0.4], [-0.3, 0.2, 1.2]], "float")
SQUARE = given([[0.4, -1.0, 0.8], [2.0, 1.0, 0.3], [-0.6, 0.7, 0.5]], "float")
TALL = given([[0.4, -1.0], [2.0, 1.0], [-0.6, 0.7]], "float")
WIDE = given([[0.4, -1.0, 0.8], [2.0, 1.0, 0.3]], "float")
BATCH = given([[[0.4, -1.0], [2.0, 1.0]], [[1.5, 0.3], [-0.2, 0.9]]], "float")
COMPLEX = given([[2.0 + 1j, 0.5 - 1j], [0.5 + 1j, -1.0 + 0.3j]], "complex")
SWAPS = given([2, 3, 3])

SAMPLES = [
    sample("linalg.solve_triangular", LOWER, t(3, 2), upper=False),
    sample("linalg.solve_triangular", LOWER, t(2, 3), upper=True, left=False),
    sample("linalg.solve_triangular", LOWER, t(2, 3, 1), upper=True, unitriangular=True),
    sample("linalg.solve_triangular", COMPLEX, t(2, 2, kind="complex"), upper=True, only=("float64",)),
    sample("triangular_solve", t(3, 2), LOWER),
    sample("triangular_solve", t(3, 1), LOWER, False, True, True),
    sample("triangular_solve", t(2, 3, 1), LOWER, True, True),
    sample("linalg.lu_factor", SQUARE),
    sample("linalg.lu_factor", BATCH),
    sample("linalg.lu_factor_ex", TALL),
    sample("linalg.lu_factor_ex", WIDE),
    sample("linalg.lu", SQUARE),
    sample("linalg.lu", TALL),
    sample("linalg.lu", WIDE),
    sample("linalg.lu", COMPLEX, only=("float64",)),
    sample("lu", SQUARE),
    sample("lu", SQUARE, get_infos=True),
    sample("row.triangles_of", t(3, 3)),
    sample("row.triangles_of", t(2, 3)),
    sample("row.triangles_of", t(3, 2)),
    sample("row.linalg_lu_solve", LOWER, SWAPS, t(3, 2)),
    sample("row.linalg_lu_solve", LOWER, SWAPS, t(2, 2, 3), False, True),
    sample("row.linalg_lu_solve", LOWER, SWAPS, t(3, 1), True, True),
    sample("row.linalg_lu_solve", LOWER, SWAPS, t(2, 3), False, False),
]
