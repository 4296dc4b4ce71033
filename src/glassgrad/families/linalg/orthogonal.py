"""The QR decomposition and products of reflections: knows LAPACK through NumPy."""

from __future__ import annotations

from typing import Any, NoReturn

import numpy as np

from ...core.row import op
from ...kernels import silent
from ..index.rows import diag_embed, diagonal
from ..join.rows import cat, tril, triu
from ..reduce.rows import sum_dim
from ..shape.rows import on_arrays, unsqueeze
from .rows import adjoint, conjugated, mathematics, narrowed, real_part, times
from .triangular import lower_rest, refuse, substitute, upper_rest

# -- QR ---------------------------------------------------------------------------------------------------------------


@op(outputs=("Q", "R"), holomorphic=False, public=False, hidden=("A_sizes",), layout="columns", batched="first")
def linalg_qr(A: Any, /, mode: str = "reduced") -> Any:  # noqa: N803  PyTorch's name
    """Orthonormal columns and an upper triangle, whose product is the matrix."""
    refuse("geqrf_cpu", A)
    if mode == "r":
        return np.zeros((0,), A.dtype), silent.qr(A, "r")
    q, r = silent.qr(A, mode)
    return q, r


@linalg_qr.derivative("A")
def _slope_of_qr(grads: Any, Q: Any, R: Any, A_sizes: Any, mode: Any) -> Any:  # noqa: N803
    """Walter, Lehmann (2010), Algorithmic differentiation of linear algebra functions; wide matrices column by column.

    The columns of a wide matrix beyond its square are ``Q`` times those of ``R``: what they say of ``Q`` is added.
    """
    rows, columns = A_sizes[-2:]
    refuse_mode(mode, rows, columns)
    gq, gr = grads
    rest = None
    if columns > rows:
        if gr is not None:
            beyond = gr[..., rows:]
            rest = times(Q, beyond)
            spill = times(times(Q, R[..., rows:]), adjoint(beyond))
            gq = spill if gq is None else gq + spill
            gr = gr[..., :rows]
        else:
            rest = (R * 0)[..., rows:]
        R = R[..., :rows]  # noqa: N806
    inner = None
    if gr is not None:
        inner = times(gr, adjoint(R))
    if gq is not None:
        part = times(adjoint(Q), gq)
        inner = -part if inner is None else inner - part
    back = times(Q, mirrored(inner))
    if gq is not None:
        back = back + gq
    back = substitute(adjoint(R), back, False, False, False)
    return back if rest is None else cat([back, rest], -1)


def _refused(mode: str, rows: int, columns: int) -> None:
    if mode == "r":
        raise RuntimeError(
            "The derivative of linalg.qr depends on Q, which is not computed when mode='r'. Please use "
            "linalg.qr(A, mode='reduced') if you are going to differentiate through linalg.qr."
        )
    if mode == "complete" and rows > columns:
        raise RuntimeError("The QR decomposition is not differentiable when mode='complete' and nrows > ncols.")


@on_arrays(_refused)
def refuse_mode(mode: str, rows: int, columns: int) -> None:
    """Raise PyTorch's error for the forms that cannot be differentiated."""
    _refused(mode, rows, columns)


@mathematics
def mirrored(square: Any) -> Any:
    """The upper triangle and, turned, the same below; real on the diagonal."""
    upper = triu(square)
    return upper + adjoint(upper) - diag_embed(real_part(diagonal(upper, 0, -2, -1)), 0, -2, -1)


# -- reflections ------------------------------------------------------------------------------------------------------


def raw(A: Any) -> tuple[Any, Any]:  # noqa: N803
    """LAPACK's form of the decomposition: the triangle above, the reflections below, and their factors."""
    refuse("geqrf_cpu", A)
    least = min(A.shape[-2:])
    if not A.size:
        return A.copy(), np.zeros((*A.shape[:-2], least), A.dtype)
    turned, tau = silent.qr(A, "raw")
    return turned.swapaxes(-1, -2), tau


@op(outputs=("a", "tau"), holomorphic=False, public=False, layout="columns", batched="first")
def geqrf(self: Any, /) -> Any:
    """The triangle and the reflections that QR is made of, in one matrix, and the reflections' factors."""
    return raw(self)


@geqrf.derivative("self")
def _no_slope_of_geqrf(grads: Any) -> Any:
    """PyTorch has none."""
    not_there("geqrf")


def _not_there(name: str) -> NoReturn:
    raise NotImplementedError(f"the derivative for '{name}' is not implemented.")


@on_arrays(_not_there)
def not_there(name: str) -> NoReturn:
    """Raise PyTorch's error for a function without a derivative."""
    _not_there(name)


def _parts(vectors: Any, tau: Any) -> tuple[Any, Any]:
    """V and T, with which the product of the reflections is ``I - V T V'``."""
    count = tau.shape[-1]
    v = np.tril(vectors[..., :count], -1)
    v[..., range(count), range(count)] = 1
    upper = np.triu(np.matmul(np.conj(v.swapaxes(-1, -2)), v), 1)
    scale = tau[..., None]
    inner = np.eye(count, dtype=vectors.dtype) + scale * upper
    return v, silent.solve(inner, scale * np.eye(count, dtype=vectors.dtype))


def _reflected(vectors: Any, tau: Any, other: Any, transpose: bool) -> Any:
    v, t = _parts(vectors, tau)
    turned = np.conj(v.swapaxes(-1, -2))
    if transpose:
        t = np.conj(t.swapaxes(-1, -2))
    return other - np.matmul(v, np.matmul(t, np.matmul(turned, other)))


@op(outputs=("V", "T"), holomorphic=False, public=False, batched="first")
def reflections(self: Any, tau: Any, /) -> Any:
    """V, whose columns are the reflections, and T, with which their product is ``I - V T V'``.

    Source: Schreiber, Van Loan (1989), A storage-efficient WY representation for products of Householder matrices.
    """
    return _parts(self, tau)


@reflections.derivative("self", "tau")
def _slopes_of_reflections(grads: Any, self: Any, tau: Any, V: Any, T: Any) -> Any:  # noqa: N803
    return pulled_through(grads[0], grads[1], V, T, self, tau)


@mathematics
def pulled_through(gv: Any, gt: Any, V: Any, T: Any, vectors: Any, tau: Any) -> Any:  # noqa: N803
    """What V and T get, handed on: ``N T = D``, with ``D`` the diagonal of factors and ``N = I + D triu(V' V, 1)``."""
    scale = tau * 0
    if gt is not None:
        upper = triu(times(adjoint(V), V), 1)
        unit = diag_embed(scale + 1, 0, -2, -1)
        toward = substitute(adjoint(unit + unsqueeze(tau, -1) * upper), gt, False, True, False)
        pull = -times(toward, adjoint(T))
        scale = diagonal(toward, 0, -2, -1) + sum_dim(pull * conjugated(upper), (-1,), False)
        inner = triu(conjugated(unsqueeze(tau, -1)) * pull, 1)
        part = times(V, inner + adjoint(inner))
        gv = part if gv is None else gv + part
    back = tril(gv, -1)
    beyond = vectors.shape[-1] - back.shape[-1]
    if beyond:
        back = cat([back, upper_rest(back, beyond)], -1)
    return back, scale


@op(holomorphic=False, public=False, layout="columns", batched="first")
def linalg_householder_product(input: Any, tau: Any, /) -> Any:
    """The first columns of the product of the reflections."""
    refuse("orgqr_cpu", input)
    rows, columns = input.shape[-2:]
    first = np.broadcast_to(np.eye(rows, columns, dtype=input.dtype), input.shape)
    return _reflected(input, tau, first, False)


@linalg_householder_product.derivative("input", "tau")
def _slopes_of_product(grad: Any, input: Any, tau: Any) -> Any:
    """By way of V and T, of which the product's first columns are ``I - V T V'``."""
    v, t = reflections(input, tau)
    columns = grad.shape[-1]
    head = adjoint(v[..., :columns, :])
    toward_v = -times(times(grad, adjoint(head)), adjoint(t))
    toward_head = -times(adjoint(times(v, t)), grad)
    toward_t = -times(times(adjoint(v), grad), adjoint(head))
    return spread_to(toward_v, toward_t, toward_head, v, t, input, tau)


@op(holomorphic=False, public=False, hidden=("input3_sizes",), layout="columns", batched="first")
def ormqr(self: Any, input2: Any, input3: Any, /, left: bool = True, transpose: bool = False) -> Any:
    """The product of the reflections, or what undoes them, times ``input3``."""
    refuse("ormqr_cpu", self)
    if left:
        return _reflected(self, input2, input3, transpose)
    turned = np.conj(input3.swapaxes(-1, -2))
    return np.ascontiguousarray(np.conj(_reflected(self, input2, turned, not transpose).swapaxes(-1, -2)))


@ormqr.derivative("self", "input2", "input3")
def _slopes_of_ormqr(
    grad: Any, self: Any, input2: Any, input3: Any, left: Any, transpose: Any, input3_sizes: Any, needs: Any
) -> Any:
    """The reflections undone give the last; by way of V and T the others."""
    last = ormqr(self, input2, grad, left, not transpose)
    if not (needs[0] or needs[1]):
        return None, None, narrowed(last, input3_sizes)
    if not left:  # turn both sides, so that the reflections stand on the left
        grad, input3, transpose = adjoint(grad), adjoint(input3), not transpose
    v, t = reflections(self, input2)
    factor = adjoint(t) if transpose else t
    toward_v = -times(grad, adjoint(times(factor, times(adjoint(v), input3))))
    toward_head = -times(adjoint(times(v, factor)), grad)
    toward_t = -times(times(adjoint(v), grad), adjoint(times(adjoint(v), input3)))
    toward_v = toward_v + times(input3, adjoint(toward_head))
    first, second = pulled_through(toward_v, adjoint(toward_t) if transpose else toward_t, v, t, self, input2)
    return first, second, narrowed(last, input3_sizes)


@mathematics
def spread_to(toward_v: Any, toward_t: Any, toward_head: Any, v: Any, t: Any, vectors: Any, tau: Any) -> Any:
    """Add what the first rows of V say, and go through V and T."""
    side = toward_head.shape[-1]
    part = adjoint(toward_head)
    if v.shape[-2] > side:
        part = cat([part, lower_rest(part, v.shape[-2] - side)], -2)
    return pulled_through(toward_v + part, toward_t, v, t, vectors, tau)
