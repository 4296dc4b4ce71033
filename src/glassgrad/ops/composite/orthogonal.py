"""Orthogonal matrices: the exponential of a skew one, the product of reflections; compositions, so differentiable."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ...core.tensor import wrap
from .algebra import linalg_solve
from .matrix import matmul

_COUNT = 13


def _pade() -> list[float]:
    """The coefficients of the numerator of the exponential's (13, 13) rational approximation."""
    coefficients = [1.0]
    for k in range(_COUNT):
        coefficients.append(coefficients[-1] * (_COUNT - k) / ((2 * _COUNT - k) * (k + 1)))
    return coefficients


_PADE = _pade()


def identity(rows: int, columns: int, like: Any) -> Any:
    """Ones on the diagonal, in the dtype of ``like``."""
    return wrap(np.eye(rows, columns, dtype=like._array.dtype))


def matrix_exponential(matrix: Any) -> Any:
    """The exponential of each square matrix, by scaling, a rational approximation, and squaring.

    Source: Higham (2005), The scaling and squaring method for the matrix exponential revisited.
    """
    array = matrix._array
    norm = float(np.abs(array).sum(-2).max(initial=0.0)) if array.size else 0.0
    halvings = max(0, math.ceil(math.log2(norm))) if norm > 1 and math.isfinite(norm) else 0
    a = matrix * 0.5**halvings
    b = _PADE
    unit = identity(array.shape[-1], array.shape[-1], matrix)
    a2 = matmul(a, a)
    a4 = matmul(a2, a2)
    a6 = matmul(a4, a2)
    odd = matmul(a6, a6 * b[13] + a4 * b[11] + a2 * b[9]) + a6 * b[7] + a4 * b[5] + a2 * b[3] + unit * b[1]
    even = matmul(a6, a6 * b[12] + a4 * b[10] + a2 * b[8]) + a6 * b[6] + a4 * b[4] + a2 * b[2] + unit * b[0]
    odd = matmul(a, odd)
    exponential = linalg_solve(even - odd, even + odd)
    for _ in range(halvings):
        exponential = matmul(exponential, exponential)
    return exponential


def reflected(vectors: Any) -> Any:
    """The first columns of the product of reflections at the columns of ``vectors``, which have ones on the diagonal.

    The product of all H = I - 2 v v' / v'v is I - V T V', with T the inverse of an upper triangle.
    Source: Joffrain et al. (2006), Accumulating Householder transformations, revisited.
    """
    rows, columns = vectors._array.shape[-2:]
    lower = vectors.tril(-1)
    v = lower + identity(rows, columns, vectors)
    inner = matmul(v.mT, v)
    triangle = inner.triu(1) + (inner * identity(columns, columns, vectors)) * 0.5
    return identity(rows, columns, vectors) - matmul(v, linalg_solve(triangle, v[..., :columns, :].mT))
