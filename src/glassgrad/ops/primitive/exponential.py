"""The exponential of matrices, and the blocks that its gradient is read from: knows products and LU of arrays."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ...core.row import op
from .decompose import adjoint


def _pade(degree: int) -> list[float]:
    """The coefficients of the numerator of the exponential's rational approximation; the denominator's alternate."""
    coefficients = [1.0]
    for k in range(degree):
        coefficients.append(coefficients[-1] * (degree - k) / ((2 * degree - k) * (k + 1)))
    return coefficients


_TABLE = {degree: _pade(degree) for degree in (3, 5, 7, 13)}
_REACH = {  # the norms up to which each degree is exact to rounding: Higham (2005), table 2.3
    4: ((3, 4.258730016922831e-1), (5, 1.880152677804762), (7, 3.925724783138660)),
    8: ((3, 1.495585217958292e-2), (5, 2.539398330063230e-1), (7, 9.504178996162932e-1), (13, 5.371920351148152)),
}


def exponential(a: Any) -> Any:
    """The exponentials of a batch of matrices, each scaled by its own power of two.

    Source: Higham (2005), The scaling and squaring method for the matrix exponential revisited.
    """
    if a.shape[-1] == 1:
        return np.exp(a)
    size = a.real.dtype.itemsize
    norms = np.abs(a).sum(-2).max(-1, initial=0)
    top = float(norms.max(initial=0))
    if not math.isfinite(top):
        return np.where(np.isfinite(norms)[..., None, None], exponential(_finite(a, norms)), np.nan).astype(a.dtype)
    reach = _REACH[size]
    degree = next((degree for degree, limit in reach if top <= limit), reach[-1][0])
    limit = reach[-1][1]
    halvings = np.ceil(np.log2(np.maximum(norms / limit, 1))).astype(int)
    most = int(halvings.max(initial=0))
    if most:
        a = a * np.ldexp(np.ones((), a.real.dtype), -halvings)[..., None, None].astype(a.real.dtype)
    even, odd = _parts(a, _TABLE[degree])
    exponentials = np.linalg.solve(even - odd, even + odd)
    for step in range(most):
        again = halvings > step
        exponentials = np.where(again[..., None, None], np.matmul(exponentials, exponentials), exponentials)
    return exponentials


def _finite(a: Any, norms: Any) -> Any:
    return np.where(np.isfinite(norms)[..., None, None], a, 0).astype(a.dtype)


def _parts(a: Any, b: list[float]) -> tuple[Any, Any]:
    """The even and the odd powers of the numerator."""
    identity = np.eye(a.shape[-1], dtype=a.dtype)
    square = np.matmul(a, a)
    powers = [identity, square]
    while 2 * len(powers) < min(len(b), 8):
        powers.append(np.matmul(powers[-1], square))

    def low(first: int, count: int) -> Any:
        terms = powers[0] * b[first]
        for k in range(1, count):
            terms = terms + powers[k] * b[first + 2 * k]
        return terms

    if len(b) <= 8:
        return low(0, len(powers)), np.matmul(a, low(1, len(powers)))
    sixth = powers[3]
    even, odd = (
        low(first, 4) + np.matmul(sixth, sum(powers[k] * b[first + 6 + 2 * k] for k in (1, 2, 3))) for first in (0, 1)
    )
    return even, np.matmul(a, odd)


@op(holomorphic=False, public=False)
def linalg_matrix_exp(self: Any, /) -> Any:
    """The exponentials of square matrices."""
    if self.dtype.kind == "V" or self.dtype == np.float16:
        return exponential(self.astype(np.float32)).astype(self.dtype)
    return exponential(self)


linalg_matrix_exp.derivative(self=lambda grad, self: upper_right(linalg_matrix_exp(blocks(adjoint(self), grad))))


@op(holomorphic=False, public=False)
def blocks(self: Any, corner: Any, /) -> Any:
    """The matrices of twice the side that hold ``self`` twice on the diagonal, and ``corner`` above it."""
    side = self.shape[-1]
    matrices = np.zeros((*self.shape[:-2], 2 * side, 2 * side), self.dtype)
    matrices[..., :side, :side] = matrices[..., side:, side:] = self
    matrices[..., :side, side:] = corner
    return matrices


blocks.derivative(
    self=lambda grad, self_sizes: (
        grad[..., : self_sizes[-1], : self_sizes[-1]] + grad[..., self_sizes[-1] :, self_sizes[-1] :]
    ),
    corner=lambda grad: upper_right(grad),
)


@op(holomorphic=False, public=False)
def upper_right(self: Any, /) -> Any:
    """The upper right quarter of matrices."""
    side = self.shape[-1] // 2
    return self[..., :side, side:].copy()


upper_right.derivative(self=lambda grad: around(grad))


@op(holomorphic=False, public=False)
def around(self: Any, /) -> Any:
    """Matrices of twice the side, zero outside their upper right quarter."""
    return blocks.row.kernel(np.zeros_like(self), self)


around.derivative(self=lambda grad: upper_right(grad))
