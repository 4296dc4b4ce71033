"""Singular values, eigenvalues, their vectors and what is made with them: knows LAPACK through NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...core.row import op
from ...core.tensor import wrap
from ...kernels import silent
from ...kernels.columns import not_implemented
from ...tensor.lifted import all_values
from ..index.rows import diag_embed, diagonal
from ..pointwise.limit import real
from ..shape.rows import on_arrays, unsqueeze
from .rows import (
    LinAlgError,
    adjoint,
    conjugated,
    mathematics,
    narrowed,
    real_part,
    solution,
    times,
    which,
)  # fmt: skip

_SVD_PHASE = (
    "svd_backward: The singular vectors in the complex case are specified up to multiplication by e^{i phi}. The "
    "specified loss function depends on this phase term, making it ill-defined."
)


@op(constant=True, public=False)
def unit_matrices(self: Any, /) -> Any:
    """Unit matrices of the size of ``self``'s last dimension."""
    return np.eye(self.shape[-1], dtype=self.dtype)


def decomposed(A: Any, full_matrices: bool) -> tuple[Any, Any, Any]:  # noqa: N803  PyTorch's name
    """NumPy's decomposition, of matrices without elements too, with PyTorch's error for NaN."""
    if A.dtype not in (np.float32, np.float64, np.complex64, np.complex128):
        raise not_implemented("linalg_svd_cpu", A)
    return _numpys_svd(A, full_matrices)  # type: ignore[no-any-return]


def _numpys_svd(A: Any, *how: bool) -> Any:  # noqa: N803
    """What NumPy gives; NaN of matrices that hold infinities, with which its LAPACK may never come to an end."""
    is_finite = np.isfinite(A).all((-2, -1))
    if not is_finite.all():
        if np.isnan(A).any():
            _diverged(np.where(np.isinf(A) & ~np.isnan(A), 0, A))
        parts = _numpys_svd(np.where(is_finite[..., None, None], A, 0), *how)
        if len(how) > 1:
            return np.where(is_finite[..., None], parts, np.nan).astype(parts.dtype)
        marks = is_finite[..., None, None], is_finite[..., None], is_finite[..., None, None]
        return tuple(np.where(mark, part, np.nan).astype(part.dtype) for mark, part in zip(marks, parts, strict=True))
    try:
        return silent.svd(A, *how)
    except np.linalg.LinAlgError:
        _diverged(A)
        raise


def _diverged(A: Any) -> None:  # noqa: N803
    """Raise PyTorch's error for the first matrix that could not be decomposed."""
    finite = np.isfinite(A).all((-2, -1))
    index = int(np.flatnonzero(np.ravel(~finite))[0]) if not finite.all() else 0
    reason = (
        "the input matrix contained non-finite values"
        if not finite.all()
        else "the input matrix is ill-conditioned or has too many repeated singular values"
    )
    raise LinAlgError(f"linalg.svd: {which(finite, index)}The algorithm failed to converge because {reason}.")


@op(
    outputs=("U", "S", "Vh"),
    holomorphic=False,
    public=False,
    hidden=("A_sizes",),
    shows={"S_sym_argsize_minus_1": ("S", lambda tensor: tensor._array.shape[-1])},
    serves=("fdFD", "linalg_svd_cpu"),
    layout="columns",
    batched="first",
)
def linalg_svd(A: Any, /, full_matrices: bool = False, compute_uv: bool = True) -> Any:  # noqa: N803
    """Orthonormal columns ``U``, falling values ``S`` and orthonormal rows ``Vh`` with ``U @ diag(S) @ Vh = A``."""
    if compute_uv:
        u, s, vh = decomposed(A, full_matrices)
        return u, s, np.ascontiguousarray(vh.swapaxes(-1, -2)).swapaxes(-1, -2)  # as LAPACK leaves it
    values = _numpys_svd(A, False, False)
    none = np.zeros((0,), A.dtype)
    return none, values, none.copy()


@linalg_svd.derivative("A")
def _svd_rule(grads: Any, U: Any, S: Any, Vh: Any, A_sizes: Any, full_matrices: Any) -> Any:  # noqa: N803
    """Townsend, "Differentiating the singular value decomposition" (2016); of the first columns and rows."""
    gu, gs, gvh = grads
    rows, columns = A_sizes[-2:]
    k = min(rows, columns)
    if full_matrices:
        U, Vh = U[..., :k], Vh[..., :k, :]  # noqa: N806
        gu = None if gu is None else gu[..., :k]
        gvh = None if gvh is None else gvh[..., :k, :]
    if gu is None and gvh is None:
        return times(U, unsqueeze(gs, -1) * Vh) if rows >= columns else times(U * unsqueeze(gs, -2), Vh)
    wide, tall = unsqueeze(S, -2), unsqueeze(S, -1)
    unit = unit_matrices(S)
    inner = None if gs is None else diag_embed(gs, 0, -2, -1)
    gaps = (wide - tall) * (wide + tall) + unit
    left = None if gu is None else times(adjoint(U), gu)
    right = None if gvh is None else times(Vh, adjoint(gvh))
    if U.dtype is not S.dtype:
        refuse_phases(left, right)
        if left is not None and right is not None:
            across = diagonal(left, 0, -2, -1)
            across = (across - real_part(across)) / S
            inner = diag_embed(across, 0, -2, -1) + (0 if inner is None else inner)
    rest = None
    if left is not None:
        part = (left - adjoint(left)) / gaps * (wide * (unit * -1 + 1))
        inner = part if inner is None else inner + part
        if rows > k:
            scaled = gu / wide
            rest = times(scaled - times(U, times(adjoint(U), scaled)), Vh)
    if right is not None:
        part = (right - adjoint(right)) / gaps * (tall * (unit * -1 + 1))
        inner = part if inner is None else inner + part
        if columns > k:
            scaled = gvh / tall
            part = times(U, scaled - times(times(scaled, adjoint(Vh)), Vh))
            rest = part if rest is None else rest + part
    back = times(times(U, inner), Vh)
    return back if rest is None else back + rest


def _refuse_phases(left: Any, right: Any) -> None:
    zero = 0 * (left if right is None else right)
    sides = [(zero if x is None else x).diagonal(0, -2, -1).imag for x in (left, right)]
    if not np.allclose(sides[0], -sides[1], 1e-2, 1e-2):
        raise RuntimeError(_SVD_PHASE)


@on_arrays(_refuse_phases)
def refuse_phases(left: Any, right: Any) -> None:
    """Raise PyTorch's error where a gradient would turn singular vectors, which have no direction of their own."""
    _refuse_phases(*(None if x is None else x._array for x in (left, right)))


# -- pseudoinverses ---------------------------------------------------------------------------------------------------


@op(auxiliary=("atol", "rtol"), holomorphic=False, public=False, batched="first")
def linalg_pinv(self: Any, atol: Any, rtol: Any, /, hermitian: bool = False) -> Any:
    """The pseudoinverses: singular values (or sizes of eigenvalues) up to the tolerances count as zero."""
    if hermitian:
        values, vectors = linalg_eigh.row.kernel(self, "L", True)
        size, left, right = np.abs(values), vectors, np.conj(vectors.swapaxes(-1, -2))
    else:
        left, values, right = decomposed(self, False)
        size = values
    largest = size.max(-1, initial=0)
    least = np.maximum(np.asarray(atol), np.asarray(rtol) * largest)[..., None].astype(values.dtype)
    scale = np.where(size > least, 1 / np.where(size > least, values, 1), 0).astype(values.dtype)
    if hermitian:
        return np.matmul(left * scale[..., None, :], right)
    turned = np.conj(right.swapaxes(-1, -2))
    return np.matmul(turned * scale[..., None, :], np.conj(left.swapaxes(-1, -2)))


linalg_pinv.derivative(self=lambda grad, result, self: slope_of_pinv(grad, result, self))


@mathematics
def slope_of_pinv(grad: Any, result: Any, self: Any) -> Any:
    """Golub, Pereyra (1973), The differentiation of pseudo-inverses, (4.12)."""
    turned, toward = adjoint(result), adjoint(grad)
    back = -times(times(turned, grad), turned)
    inner = times(times(turned, result), toward)
    back = back + (inner - times(times(inner, result), self))
    inner = times(toward, times(result, turned))  # one of the two is zero, unless the matrix lacks rank on both sides
    return back + (inner - times(self, times(result, inner)))


# -- least squares ----------------------------------------------------------------------------------------------------


@op(
    outputs=("solution", "residuals", "rank", "singular_values"),
    differentiable=("solution", "residuals"),
    holomorphic=False,
    public=False,
    hidden=("self_sizes", "b_sizes"),
    layout="columns",
)
def linalg_lstsq(self: Any, b: Any, /, rcond: float, driver: str, vector: bool) -> Any:
    """The shortest X with the least ``self @ X - b``; what is left over, squared; ranks and singular values."""
    rows, columns = self.shape[-2:]
    if vector:
        b = b[..., None]
    batch = np.broadcast_shapes(self.shape[:-2], b.shape[:-2])
    u, s, vh = decomposed(self, False)
    mask = s > rcond * s.max(-1, initial=0)[..., None]
    scale = np.where(mask, 1 / np.where(mask, s, 1), 0).astype(s.dtype)
    inner = scale[..., None] * np.matmul(np.conj(u.swapaxes(-1, -2)), b)
    solution = np.matmul(np.conj(vh.swapaxes(-1, -2)), inner)
    ranks = np.asarray(mask.sum(-1), np.int64)
    left = none = np.zeros((0,), s.dtype)
    if driver != "gelsy" and rows > columns and (driver == "gels" or (ranks == columns).all()):
        off = np.matmul(self, solution) - b
        left = (off * np.conj(off)).real.sum(-2)
    return (
        np.array(np.broadcast_to(solution[..., 0], (*batch, columns))) if vector else solution,
        left,
        np.zeros((0,), np.int64) if driver == "gels" else ranks[()],
        s if driver in ("gelsd", "gelss") else none.copy(),
    )


@linalg_lstsq.derivative("self", "b")
def _slopes_of_lstsq(
    grads: Any, self: Any, b: Any, solution: Any, self_sizes: Any, b_sizes: Any, vector: Any, needs: Any
) -> Any:
    """By way of the pseudoinverse, whose product with ``b`` the solution is."""
    toward, left = grads[0], grads[1]
    if left is not None and left.shape[-1:] == (0,):
        left = None  # nothing was left over
    of_self = of_b = None
    if vector:
        b, solution = unsqueeze(b, -1), unsqueeze(solution, -1)
        toward = None if toward is None else unsqueeze(toward, -1)
    if toward is not None:
        inverse = inverse_for_rule(self)
        if needs[0]:
            of_self = slope_of_pinv(times(toward, adjoint(b)), inverse, self)
        if needs[1]:
            of_b = times(adjoint(inverse), toward)
    if left is not None:
        off = (times(self, solution) - b) * (unsqueeze(left, -2) * 2)
        if needs[0]:
            part = times(off, adjoint(solution))
            of_self = part if of_self is None else of_self + part
        if needs[1]:
            of_b = -off if of_b is None else of_b - off
    if vector and of_b is not None:
        of_b = of_b[..., 0]
    return None if of_self is None else narrowed(of_self, self_sizes), None if of_b is None else narrowed(of_b, b_sizes)


def _inverse_for_rule(self: Any) -> Any:
    kind = self.real.dtype
    return linalg_pinv.row.kernel(
        self, np.zeros((), kind), np.asarray(np.finfo(kind).eps * max(self.shape[-2:]), kind), False
    )


@on_arrays(_inverse_for_rule)
def inverse_for_rule(self: Any) -> Any:
    """The pseudoinverse with the tolerances that are taken where none are given."""
    atol, rtol = tolerances(self)
    return linalg_pinv(self, atol, rtol, False)


def tolerances(self: Any) -> tuple[Any, Any]:
    """Zero, and the rounding of one times the longer side, as tensors."""
    kind = self._array.real.dtype
    return wrap(np.zeros((), kind)), wrap(np.asarray(np.finfo(kind).eps * max(self._array.shape[-2:]), kind))


# -- eigenvectors ------------------------------------------------------------------------------------------------------

_PHASE = (
    "The eigenvectors in the complex case are specified up to multiplication by e^{i phi}. The specified loss function "
    "depends on this quantity, so it is ill-defined."
)


def _refuse_phase(inner: Any, function: str) -> None:
    if inner.dtype.kind == "c" and not np.allclose(inner.diagonal(0, -2, -1).imag, 0, 1e-2, 1e-2):
        raise RuntimeError(f"{function}: {_PHASE}")


@on_arrays(_refuse_phase)
def refuse_phase(inner: Any, function: str) -> None:
    """Raise PyTorch's error where a gradient would turn eigenvectors, which have no direction of their own."""
    _refuse_phase(all_values(inner), function)


# -- Hermitian matrices -----------------------------------------------------------------------------------------------


@op(
    outputs=("eigenvalues", "eigenvectors"), holomorphic=False, public=False, serves=("fdFD", "linalg_eigh_cpu"),
    layout="columns", batched="first",
)  # fmt: skip
def linalg_eigh(A: Any, /, UPLO: str = "L", compute_v: bool = True) -> Any:  # noqa: N803  PyTorch's names
    """Rising eigenvalues and orthonormal eigenvectors of Hermitian matrices, of which one triangle is read."""
    side: Any = UPLO
    try:
        if not compute_v:
            return silent.eigvalsh(A, side), np.zeros((0,), A.dtype)
        values, vectors = silent.eigh(A, side)
    except np.linalg.LinAlgError as error:
        matrix = which(A[..., 0, 0], _diverging(A, side))
        raise LinAlgError(
            f"linalg.eigh: {matrix}The algorithm failed to converge because the input matrix is ill-conditioned or has "
            "too many repeated eigenvalues."
        ) from error
    return values, vectors


def _diverging(A: Any, side: Any) -> int:  # noqa: N803
    """The first matrix of a batch whose eigenvalues are not found."""
    for index, matrix in enumerate(A.reshape(-1, *A.shape[-2:])):
        try:
            silent.eigvalsh(matrix, side)
        except np.linalg.LinAlgError:
            return index
    return 0


@linalg_eigh.derivative("A")
def _slope_of_eigh(grads: Any, eigenvalues: Any, eigenvectors: Any) -> Any:
    """Giles (2008), Collected matrix derivative results, 3.1; for Hermitian matrices."""
    values, vectors = grads
    inner = None
    if vectors is not None:
        inner = times(adjoint(eigenvectors), vectors)
        refuse_phase(inner, "linalg_eigh_backward")
        unit = unit_matrices(eigenvalues)
        gaps = unsqueeze(eigenvalues, -2) - unsqueeze(eigenvalues, -1) + unit
        inner = (inner - adjoint(inner)) * (unit * -0.5 + 0.5) / gaps
    if values is not None:
        middle = diag_embed(values, 0, -2, -1)
        inner = middle if inner is None else inner + middle
        if vectors is None:
            return times(eigenvectors * unsqueeze(values, -2), adjoint(eigenvectors))
    return times(times(eigenvectors, inner), adjoint(eigenvectors))


# -- general matrices -------------------------------------------------------------------------------------------------


@op(
    outputs=("eigenvalues", "eigenvectors"), holomorphic=False, public=False, hidden=("from_real",), layout="columns",
    batched="first",
)  # fmt: skip
def linalg_eig(A: Any, /, compute_v: bool = True, from_real: bool = False) -> Any:  # noqa: N803
    """Complex eigenvalues and eigenvectors of length one of square matrices."""
    if not np.isfinite(A).all():
        raise RuntimeError("torch.linalg.eig: input tensor should not contain infs or NaNs.")
    kind = np.result_type(A.dtype, np.complex64)
    try:
        if not compute_v:
            return silent.eigvals(A).astype(kind), np.zeros((0,), kind)
        values, vectors = silent.eig(A)
    except np.linalg.LinAlgError as error:
        raise LinAlgError(
            "linalg.eig: The algorithm failed to converge because the input matrix is ill-conditioned or has too many "
            "repeated eigenvalues."
        ) from error
    return values.astype(kind), vectors.astype(kind)


@linalg_eig.derivative("A")
def _slope_of_eig(grads: Any, eigenvalues: Any, eigenvectors: Any, from_real: Any) -> Any:
    """Giles (2008), Collected matrix derivative results, 3.1; the vectors keep their length."""
    back = pulled_back(grads[0], grads[1], eigenvalues, eigenvectors)
    return real(back) if from_real else back


@mathematics
def pulled_back(values: Any, vectors: Any, eigenvalues: Any, eigenvectors: Any) -> Any:
    """What eigenvalues and eigenvectors get, handed on to complex matrices."""
    turned = adjoint(eigenvectors)
    if vectors is None:
        return solution(turned, unsqueeze(values, -1) * turned, True)
    inner = times(turned, vectors)
    refuse_phase(inner, "linalg_eig_backward")
    length = real(diagonal(inner, 0, -2, -1))
    inner = inner - times(turned, eigenvectors * unsqueeze(length, -2))
    unit = unit_matrices(eigenvalues)
    gaps = conjugated(unsqueeze(eigenvalues, -2) - unsqueeze(eigenvalues, -1)) + unit
    inner = inner * (unit * -1 + 1) / gaps
    if values is not None:
        inner = inner + diag_embed(values, 0, -2, -1)
    return solution(turned, times(inner, turned), True)
