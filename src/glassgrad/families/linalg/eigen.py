"""Eigenvalues and eigenvectors of general and of Hermitian matrices: knows LAPACK through NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...core.row import op
from ...kernels.columns import not_implemented
from ..index.rows import diag_embed, diagonal
from ..pointwise.limit import real
from ..shape.rows import on_arrays, unsqueeze
from .rows import LinAlgError, adjoint, conjugated, mathematics, solution, times
from .singular import unit_matrices

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
    _refuse_phase(inner._array, function)


# -- Hermitian matrices -----------------------------------------------------------------------------------------------


@op(outputs=("eigenvalues", "eigenvectors"), holomorphic=False, public=False, batched="first")
def linalg_eigh(A: Any, /, UPLO: str = "L", compute_v: bool = True) -> Any:  # noqa: N803  PyTorch's names
    """Rising eigenvalues and orthonormal eigenvectors of Hermitian matrices, of which one triangle is read."""
    if A.dtype not in (np.float32, np.float64, np.complex64, np.complex128):
        raise not_implemented("linalg_eigh_cpu", A)
    side: Any = UPLO
    try:
        if not compute_v:
            return np.linalg.eigvalsh(A, side), np.zeros((0,), A.dtype)
        values, vectors = np.linalg.eigh(A, side)
    except np.linalg.LinAlgError as error:
        raise LinAlgError(
            "linalg.eigh: The algorithm failed to converge because the input matrix is ill-conditioned or has too "
            "many repeated eigenvalues."
        ) from error
    return values, vectors


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


@op(outputs=("eigenvalues", "eigenvectors"), holomorphic=False, public=False, hidden=("from_real",), batched="first")
def linalg_eig(A: Any, /, compute_v: bool = True, from_real: bool = False) -> Any:  # noqa: N803
    """Complex eigenvalues and eigenvectors of length one of square matrices."""
    if not np.isfinite(A).all():
        raise RuntimeError("torch.linalg.eig: input tensor should not contain infs or NaNs.")
    kind = np.result_type(A.dtype, np.complex64)
    try:
        if not compute_v:
            return np.linalg.eigvals(A).astype(kind), np.zeros((0,), kind)
        values, vectors = np.linalg.eig(A)
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
