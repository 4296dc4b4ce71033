"""Inverses, determinants and solutions of linear equations: knows LAPACK through NumPy."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from ...core import plan
from ...core.row import op
from ...kernels import silent
from ...ops.declare import COMPOSITES
from ...tensor.lifted import all_values
from ..compare.rows import where, zero_like
from ..index.rows import together
from ..pointwise.limit import conj, real
from ..reduce.rows import prod_dim
from ..shape.rows import on_arrays, sum_to, transpose, unsqueeze
from . import kernels as triangle


class LinAlgError(RuntimeError):
    """A matrix that cannot be inverted, or an equation that has no one solution."""


LinAlgError.__name__ = LinAlgError.__qualname__ = "_LinAlgError"


def which(info: Any, index: int) -> str:
    """How messages name one matrix of a batch; nothing where there is only one."""
    return f"(Batch element {index}): " if np.ndim(info) else ""


def check_info(function: str, what: str, info: Any) -> None:
    """Raise PyTorch's error for the first matrix whose ``info`` names a pivot that came out as zero."""
    if not np.any(info):
        return
    index = int(np.flatnonzero(info)[0])
    pivot = int(np.ravel(info)[index])
    if what == "solve":
        raise LinAlgError(
            f"torch.{function}: {which(info, index)}The solver failed because the input matrix is singular."
        )
    raise LinAlgError(
        f"{function}: {which(info, index)}The diagonal element {pivot} is zero, the {what} could not be completed "
        "because the input matrix is singular."
    )


def _times(a: Any, b: Any) -> Any:
    return a.dot(b) if a.ndim == 2 == b.ndim and a.size != 1 != b.size else np.matmul(a, b)


@on_arrays(_times)
def times(a: Any, b: Any) -> Any:
    """The product of matrices, or of batches of them, in a rule."""
    return COMPOSITES["matmul"].function(a, b)


@on_arrays(lambda a: a.swapaxes(-1, -2))
def turned(a: Any) -> Any:
    """The transposed matrices, in a rule."""
    return transpose(a, -1, -2)


@on_arrays(lambda a: a.swapaxes(-1, -2).conj() if a.dtype.kind == "c" else a.swapaxes(-1, -2))
def adjoint(a: Any) -> Any:
    """The conjugated transposed matrices, in a rule."""
    return conj(transpose(a, -1, -2)) if a._array.dtype.kind == "c" else transpose(a, -1, -2)


@on_arrays(lambda a: np.conj(a) if a.dtype.kind == "c" else a)
def conjugated(a: Any) -> Any:
    """The conjugated numbers, in a rule; real ones as they are."""
    return conj(a) if a._array.dtype.kind == "c" else a


@on_arrays(lambda a: a.real if a.dtype.kind == "c" else a)
def real_part(a: Any) -> Any:
    """The real parts, in a rule; real numbers as they are."""
    return real(a) if a._array.dtype.kind == "c" else a


def mathematics(function: Callable[..., Any]) -> Any:
    """A function of rows that several rules share: where they see arrays, it is bound to kernels as they are."""
    bound: list[Any] = []

    def kernel(*args: Any) -> Any:
        if not bound:
            bound.append(plan.on_arrays(function))
        return bound[0](*args)

    return on_arrays(kernel)(function)


@on_arrays(lambda grad, sizes: grad if grad.shape == sizes else sum_to.row.kernel(grad, sizes))
def narrowed(grad: Any, sizes: tuple[int, ...]) -> Any:
    """A gradient, summed where a batch was stretched."""
    return grad if grad._array.shape == sizes else sum_to(grad, sizes)


@on_arrays(lambda grad: np.asarray(grad)[..., None, None])
def each(grad: Any) -> Any:
    """One number for each matrix, ready to be multiplied with it."""
    return unsqueeze(unsqueeze(grad, -1), -1)


@op(
    node="LinalgInvExBackward0",
    public=False,
    hidden=("result",),
    shows={"inverse": ("result", lambda tensor: tensor)},
    batched="first",
)
def inverse_of(A: Any, /, lenient: bool = False) -> Any:  # noqa: N803  PyTorch's name
    """The inverses of square matrices, column by column in memory as LAPACK leaves them.

    Of a singular matrix: PyTorch's error, or, where ``lenient``, what substitution gives when it divides by zero.
    """
    turned = A.swapaxes(-1, -2)
    if triangle.laborious(A):
        factors, pivots, info = triangle.lu(turned)
        if not info.any():
            identity = np.broadcast_to(np.eye(A.shape[-1], dtype=A.dtype), A.shape)
            return lu_solved(factors, pivots, identity, True, False).swapaxes(-1, -2)
    try:
        return silent.inv(turned).swapaxes(-1, -2)
    except np.linalg.LinAlgError:
        factors, pivots, info = triangle.lu(A)
        if not lenient:
            check_info("linalg.inv", "inversion", info)
        return lu_solved(factors, pivots, np.broadcast_to(np.eye(A.shape[-1], dtype=A.dtype), A.shape), True, False)


inverse_of.derivative(A=lambda grad, result: -times(times(turned(result), grad), turned(result)))


def lu_solved(factors: Any, pivots: Any, right: Any, left: bool, adjoint: bool) -> Any:
    """The solutions of equations whose matrices are given as their triangles and swaps."""
    if not left:  # X A = B is A^H X^H = B^H
        turned = np.conj(right.swapaxes(-1, -2))
        return np.conj(lu_solved(factors, pivots, turned, True, not adjoint).swapaxes(-1, -2))
    order = triangle.permutations(pivots, factors.shape[-1])
    if factors.ndim == right.ndim == 2 and not adjoint:
        inner = triangle.substituted(factors, right[order], False, True)
        return triangle.substituted(factors, inner, True, False)
    batch = np.broadcast_shapes(factors.shape[:-2], right.shape[:-2])
    order = np.broadcast_to(order[..., None], (*batch, factors.shape[-1], right.shape[-1]))
    right = np.broadcast_to(right, (*batch, *right.shape[-2:]))
    if adjoint:
        turned = np.conj(factors.swapaxes(-1, -2))
        inner = triangle.substituted(turned, right, False, False)
        inner = triangle.substituted(turned, inner, True, True)
        solutions = np.empty_like(inner)
        np.put_along_axis(solutions, order, inner, -2)
        return solutions
    inner = triangle.substituted(factors, np.take_along_axis(right, order, -2), False, True)
    return triangle.substituted(factors, inner, True, False)


@op(node="LinalgDetBackward0", public=False, batched="first")
def determinant(A: Any, /) -> Any:  # noqa: N803
    """The determinants of square matrices."""
    return triangle.determinants(A)


determinant.derivative(A=lambda grad, A, result: cofactors(grad, A, result))  # noqa: N803


def _cofactors(grad: Any, A: Any, result: Any) -> Any:  # noqa: N803
    """On arrays a determinant of zero has the gradient zero, as in PyTorch's plain backward pass."""
    scale = np.asarray(grad * result)[..., None, None]
    zero = np.asarray(result) == 0
    if not zero.any():
        return scale * inverse_of.row.kernel(A, True).swapaxes(-1, -2)
    safe = np.where(zero[..., None, None], np.eye(A.shape[-1], dtype=A.dtype), A)
    return np.where(zero[..., None, None], 0 * A, scale * inverse_of.row.kernel(safe, True).swapaxes(-1, -2))


@on_arrays(_cofactors)
def cofactors(grad: Any, A: Any, result: Any) -> Any:  # noqa: N803
    """The gradient of the determinant: its inverse, turned, times itself; by singular values where that is zero."""
    if (np.asarray(all_values(result)) != 0).all():
        return each(grad * result) * turned(inverse_of(A))
    from .spectra import linalg_svd, unit_matrices  # stands on this module

    lost = each(result - result)  # NaN for matrices that are not finite, which have no singular values
    u, s, vh = linalg_svd(where(lost == 0, A, zero_like(A)))
    unit = unit_matrices(s)
    others = prod_dim(unsqueeze(s, -2) * (unit * -1 + 1) + unit, -1, False)
    inner = conjugated(times(u, unsqueeze(others, -1) * vh))
    return each(grad * determinant(u) * determinant(vh)) * inner + lost


@op(outputs=("sign", "logabsdet"), holomorphic=False, public=False, batched="first")
def linalg_slogdet(A: Any, /) -> Any:  # noqa: N803
    """The signs of the determinants (of complex ones, their directions) and the logarithms of their sizes."""
    sign, size = triangle.signs_and_logarithms(A)
    return sign.astype(A.dtype), size.astype(A.real.dtype)


@linalg_slogdet.derivative("A")
def _slope_of_slogdet(grads: Any, A: Any, sign: Any) -> Any:  # noqa: N803
    """The logarithm of the determinant moves by the trace of the inverse times the step."""
    turn, grow = grads
    back = conjugated(sign)
    if turn is not None and back is not sign:  # signs of real matrices do not move
        across = back * turn
        across = across - real_part(across)  # the direction moves only across itself
        grow = across if grow is None else across + grow
    return None if grow is None else each(grow) * adjoint(inverse_of(A, True))


def same_kind(function: str, **pair: Any) -> None:
    """Raise PyTorch's error unless two tensors are of one dtype."""
    (a, first), (b, second) = pair.items()
    if first.dtype is not second.dtype:
        raise RuntimeError(
            f"{function}: Expected {a} and {b} to have the same dtype, but found {a} of type "
            f"{first.dtype.scalar_name} and {b} of type {second.dtype.scalar_name} instead"
        )


def is_vector(a: tuple[int, ...], b: tuple[int, ...]) -> bool:
    """Whether sizes ``b`` are those of a vector, or a batch of them, on the other side of matrices of sizes ``a``."""
    return len(b) == 1 or len(b) == len(a) - 1 and b == a[:-1]


@op(node="LinalgSolveExBackward0", public=False, hidden=("A_sizes", "B_sizes"))
def solution(A: Any, B: Any, /, left: bool = True, lenient: bool = False) -> Any:  # noqa: N803
    """What square matrices must be multiplied with to give ``B``, from the right (``left``) or from the left.

    Of singular matrices: PyTorch's error, or, where ``lenient``, what substitution gives when it divides by zero.
    """
    vector = is_vector(A.shape, B.shape)
    if vector:
        B = B[..., None]  # noqa: N806
    elif not left:
        A, B = A.swapaxes(-1, -2), B.swapaxes(-1, -2)  # noqa: N806
    try:
        solutions = silent.solve(A, B)
    except np.linalg.LinAlgError:
        factors, pivots, info = triangle.lu(A)
        if not lenient:
            check_info("linalg.solve", "solve", info)
        solutions = lu_solved(factors, pivots, B, True, False)
    except ValueError:
        together(B.shape[:-2], A.shape[:-2])
        raise
    if vector:
        return solutions[..., 0]
    if not left:
        return np.ascontiguousarray(solutions.swapaxes(-1, -2))
    return np.ascontiguousarray(solutions.swapaxes(-1, -2)).swapaxes(-1, -2)


@solution.derivative("A", "B")
def _unsolve(grad: Any, A: Any, A_sizes: Any, B_sizes: Any, result: Any, left: Any) -> Any:  # noqa: N803
    """The gradients of the equation's two sides: it is solved once more, with the matrices transposed."""
    toward = solution(turned(A), grad, left, True)  # of singular matrices ``solve_ex`` asks too
    if is_vector(A_sizes, B_sizes):
        pull = times(column(toward), turned(column(result)))
    elif left:
        pull = times(toward, turned(result))
    else:
        pull = times(turned(result), toward)
    return narrowed(-pull, A_sizes), narrowed(toward, B_sizes)


@on_arrays(lambda vector: vector[..., None])
def column(vector: Any) -> Any:
    """A vector as a matrix of one column, in a rule."""
    return unsqueeze(vector, -1)


# -- The exponential of matrices, and the blocks that its gradient is read from: knows products and LU of arrays.


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
    norms = np.add.reduce(np.abs(a), -2).max(-1, initial=0)
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
    exponentials = silent.solve(even - odd, even + odd)
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


@op(holomorphic=False, public=False, batched="first")
def linalg_matrix_exp(self: Any, /) -> Any:
    """The exponentials of square matrices."""
    if self.dtype.kind == "V" or self.dtype == np.float16:
        return exponential(self.astype(np.float32)).astype(self.dtype)
    return exponential(self)


@op(constant=True, public=False, batched="first")
def magnitude(self: Any, /) -> Any:
    """The power of two near the largest element of each matrix; one where there is none, or none that is finite."""
    largest = np.abs(self).max((-2, -1), keepdims=True, initial=0)
    usual = (largest > 0) & np.isfinite(largest)
    return np.exp2(np.floor(np.log2(np.where(usual, largest, 1)))).astype(self.real.dtype)


@linalg_matrix_exp.derivative("self")
def _slope_of_exp(grad: Any, self: Any) -> Any:
    """Linear in the gradient, which is made small: beside a large one the scaling would leave no digit of the rest."""
    size = magnitude(grad)
    return upper_right(linalg_matrix_exp(blocks(adjoint(self), grad / size))) * size


@op(holomorphic=False, public=False, batched="first")
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


@op(holomorphic=False, public=False, batched="first")
def upper_right(self: Any, /) -> Any:
    """The upper right quarter of matrices."""
    side = self.shape[-1] // 2
    return self[..., :side, side:].copy()


upper_right.derivative(self=lambda grad: around(grad))


@op(holomorphic=False, public=False, batched="first")
def around(self: Any, /) -> Any:
    """Matrices of twice the side, zero outside their upper right quarter."""
    return blocks.row.kernel(np.zeros_like(self), self)


around.derivative(self=lambda grad: upper_right(grad))
