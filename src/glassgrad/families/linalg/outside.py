"""The linear algebra that PyTorch keeps outside ``torch.linalg``, without a newer name there."""

from __future__ import annotations

from typing import Any, NoReturn

import numpy as np

from ...core.tensor import Tensor, wrap
from ...ground import dtypes, errors
from ...ops.declare import COMPOSITES, composite
from ..matrix.functions import broadcast, demand, into, matmul
from ..shape.rows import transpose, unsqueeze
from . import functions as linalg
from . import orthogonal, triangular
from .functions import answer, square, stretched
from .rows import linalg_slogdet
from .singular import linalg_svd

# -- factors ----------------------------------------------------------------------------------------------------------


@composite()
def cholesky_inverse(input: Tensor, upper: bool = False, *, out: Any = None) -> Tensor:
    """The inverses of the matrices that these triangles are the roots of.

    Source: https://docs.pytorch.org/docs/stable/generated/torch.cholesky_inverse.html
    """
    square("cholesky_inverse", input)
    inverse = triangular.cholesky_inverse(input, upper)
    return inverse if out is None else into("cholesky_inverse", (input,), out, inverse, errors.OUT_SAFELY, True)


@composite()
def cholesky_solve(input: Tensor, input2: Tensor, upper: bool = False, *, out: Any = None) -> Tensor:
    """The solutions of ``A @ X = input``, where ``input2`` is the triangular root of ``A``.

    Source: https://docs.pytorch.org/docs/stable/generated/torch.cholesky_solve.html
    """
    demand("cholesky_solve", input=input, input2=input2)
    for name, tensor in (("b", input), ("u", input2)):
        if tensor._array.ndim < 2:
            raise RuntimeError(
                f"{name} should have at least 2 dimensions, but has {tensor._array.ndim} dimensions instead"
            )
    sides_fit("cholesky_solve", input, input2)
    solved = triangular.cholesky_solve(input, input2, upper)
    return solved if out is None else into("cholesky_solve", (input, input2), out, solved, errors.OUT_SAFELY, True)


def sides_fit(function: str, b: Tensor, A: Tensor) -> None:  # noqa: N803  PyTorch's name
    """Raise PyTorch's error unless right sides and square matrices fit."""
    if b.dtype is not A.dtype:
        names = b.dtype.scalar_name, A.dtype.scalar_name
        raise RuntimeError(
            "Expected b and A to have the same dtype, but found b of type {} and A of type {} instead.".format(*names)
        )
    n, m = A._array.shape, b._array.shape
    if n[-1] != n[-2]:
        raise RuntimeError(f"A must be batches of square matrices, but they are {n[-2]} by {n[-1]} matrices")
    if n[-1] != m[-2]:
        raise RuntimeError(
            f"Incompatible matrix sizes for {function}: each A matrix is {n[-1]} by {n[-1]} but each b matrix is "
            f"{m[-2]} by {m[-1]}"
        )
    broadcast(m[:-2], n[:-2])


@composite()
def geqrf(input: Tensor, *, out: Any = None) -> Any:
    """The triangle and the reflections that QR is made of, in one matrix, and the reflections' factors.

    It has no derivative.  Source: https://docs.pytorch.org/docs/stable/generated/torch.geqrf.html
    """
    demand("geqrf", input=input)
    if input._array.ndim < 2:
        raise RuntimeError("torch.geqrf: input must have at least 2 dimensions.")
    return answer("geqrf", (input,), out, orthogonal.geqrf(input))


@composite()
def ormqr(
    input: Tensor, input2: Tensor, input3: Tensor, left: bool = True, transpose: bool = False, *, out: Any = None
) -> Tensor:
    """The product of the reflections in ``input``, with factors ``input2``, times ``input3``; or what undoes it.

    Source: https://docs.pytorch.org/docs/stable/generated/torch.ormqr.html
    """
    demand("ormqr", input=input, input2=input2, input3=input3)
    for name, tensor in (("input", input), ("other", input3)):
        if tensor._array.ndim < 2:
            raise RuntimeError(f"torch.ormqr: {name} must have at least 2 dimensions.")
    side = -2 if left else -1
    other, vectors, tau = input3._array.shape, input._array.shape, input2._array.shape
    if other[side] < tau[-1]:
        raise RuntimeError(f"torch.ormqr: other.shape[{side}] must be greater than or equal to tau.shape[-1]")
    if other[side] != vectors[-2]:
        raise RuntimeError(f"torch.ormqr: other.shape[{side}] must be equal to input.shape[-2]")
    product = orthogonal.ormqr(input, input2, input3, left, transpose)
    refusal = (
        "torch.ormqr: Expected input and result to have the same dtype, but input has dtype{Wanted} and result has "
    )
    return product if out is None else into("ormqr", (input, input2, input3), out, product, refusal + "dtype {Found}")


@composite()
def svd(input: Tensor, some: bool = True, compute_uv: bool = True, *, out: Any = None) -> Any:
    """Orthonormal columns ``U``, falling values ``S``, orthonormal columns ``V``: ``U @ diag(S) @ V.mH = input``.

    Source: https://docs.pytorch.org/docs/stable/generated/torch.svd.html
    """
    if compute_uv:
        u, s, vh = linalg.svd(input, not some)
        v = transpose(vh, -1, -2)
        v = v.conj() if input.dtype.is_complex else v  # type: ignore[attr-defined]
    else:
        s = linalg.svdvals(input)
        zeros = COMPOSITES["zeros"].function
        rows, columns = input._array.shape[-2:]
        u, v = (zeros((*input._array.shape[:-2], n, n), dtype=input.dtype) for n in (rows, columns))
        v = transpose(v, -1, -2)
    return answer("svd", (input,), out, (u, s, v))


@composite(method=False)
def lu_unpack(
    LU_data: Tensor,
    LU_pivots: Tensor,
    unpack_data: bool = True,
    unpack_pivots: bool = True,
    *,
    out: Any = None,  # noqa: N803
) -> Any:
    """The permutation and the two triangles that ``linalg.lu_factor`` packed.

    Source: https://docs.pytorch.org/docs/stable/generated/torch.lu_unpack.html
    """
    demand("lu_unpack", LU_data=LU_data, LU_pivots=LU_pivots)
    if unpack_pivots and LU_pivots.dtype is not dtypes.int32:
        raise RuntimeError(
            "torch.lu_unpack: LU_pivots is expected to be a contiguous tensor of torch.int32 dtype.\nNote: this "
            "function is intended to be used with the output produced by torch.linalg.lu_factor"
        )
    none = [wrap(np.zeros((0,), LU_data._array.dtype)) for _ in range(3)]
    first = triangular.permutation_of(LU_pivots, LU_data) if unpack_pivots else none[0]
    rest = triangular.triangles_of(LU_data) if unpack_data else none[1:]
    return answer("lu_unpack", (LU_data,), out, (first, *rest))


# -- determinants, powers ---------------------------------------------------------------------------------------------


@composite()
def logdet(input: Tensor) -> Tensor:
    """The logarithms of the determinants; NaN where one is negative.

    Source: https://docs.pytorch.org/docs/stable/generated/torch.logdet.html
    """
    square("logdet", input)
    linalg.fractional("logdet", input, low=False)
    sign, size = linalg_slogdet(input)
    if input.dtype.is_complex:
        return sign.log() + size  # type: ignore[no-any-return]
    return COMPOSITES["where"].function(sign == -1, float("nan"), size)  # type: ignore[no-any-return]


@composite(method=False)
def vander(x: Tensor, N: int | None = None, increasing: bool = False) -> Tensor:  # noqa: N803
    """The powers of the elements of a vector, falling from ``N - 1`` to zero, or rising, as columns."""
    demand("vander", x=x)
    if x._array.ndim != 1:
        raise RuntimeError("x must be a one-dimensional tensor.")
    count = x._array.shape[0] if N is None else N
    if count < 0:
        raise RuntimeError("N must be non-negative.")
    kind = x.dtype if x._array.dtype.kind not in "bui" else dtypes.int64
    columns = COMPOSITES["ones"].function((x._array.shape[0], min(count, 1)), dtype=kind)
    if count > 1:
        powers = stretched(unsqueeze(x, 1), (x._array.shape[0], count - 1)).cumprod(1)  # type: ignore[attr-defined]
        columns = COMPOSITES["cat"].function((columns, powers), 1)
    return columns if increasing else columns.flip(1)  # type: ignore[no-any-return]


# -- low ranks --------------------------------------------------------------------------------------------------------


def _basis(A: Any, q: int, niter: int | None, M: Any) -> Any:  # noqa: N803
    """Orthonormal columns that nearly span those of ``A - M``. Source: Halko et al. (2009), algorithm 4.4."""
    niter = 2 if niter is None else niter
    kind = A.dtype if A.dtype.is_floating_point or A.dtype.is_complex else dtypes.get_default_dtype()
    start = COMPOSITES["randn"].function(A._array.shape[-1], q, dtype=kind)

    def times(matrix: Any, shift: Any, other: Any) -> Any:
        product = matmul(matrix, other)
        return product if shift is None else product - matmul(shift, other)

    basis = linalg.qr(times(A, M, start))[0]
    for _ in range(niter):
        basis = linalg.qr(times(A.mH, None if M is None else M.mH, basis))[0]
        basis = linalg.qr(times(A, M, basis))[0]
    return basis


@composite(method=False)
def svd_lowrank(A: Any, q: int | None = 6, niter: int | None = 2, M: Any = None) -> Any:  # noqa: N803
    """The ``q`` largest singular values of ``A - M``, nearly, and their vectors: ``U``, ``S`` and ``V``.

    Source: https://docs.pytorch.org/docs/stable/generated/torch.svd_lowrank.html
    """
    demand("svd_lowrank", A=A)
    q = 6 if q is None else q
    rows, columns = A._array.shape[-2:]
    if M is not None:
        M = M.broadcast_to(A._array.shape)  # noqa: N806
    if rows < columns:
        A, M = A.mH, None if M is None else M.mH  # noqa: N806
    basis = _basis(A, q, niter, M)
    small = matmul(basis.mH, A)
    if M is not None:
        small = small - matmul(basis.mH, M)
    u, s, vh = linalg_svd(small, False, True)
    v, u = vh.mH, matmul(basis, u)
    return (v, s, u) if rows < columns else (u, s, v)


@composite(method=False)
def pca_lowrank(A: Any, q: int | None = None, center: bool = True, niter: int = 2) -> Any:  # noqa: N803
    """The ``q`` first principal components of the rows of ``A``, nearly: ``U``, ``S`` and ``V``.

    Source: https://docs.pytorch.org/docs/stable/generated/torch.pca_lowrank.html
    """
    demand("pca_lowrank", A=A)
    rows, columns = A._array.shape[-2:]
    if q is None:
        q = min(6, rows, columns)
    elif not 0 <= q <= min(rows, columns):
        raise ValueError(f"q(={q}) must be non-negative integer and not greater than min(m, n)={min(rows, columns)}")
    if niter < 0:
        raise ValueError(f"niter(={niter}) must be non-negative integer")
    if center:
        A = A - A.mean(dim=(-2,), keepdim=True)  # noqa: N806
    return svd_lowrank(A, q, niter, None)


@composite(method=False)
def lobpcg(A: Any, *args: Any, **kwargs: Any) -> NoReturn:  # noqa: N803
    """Some eigenvalues of a large sparse matrix: not here, where matrices are dense."""
    raise NotImplementedError(
        "torch.lobpcg is for large sparse matrices, which glassgrad does not have: torch.linalg.eigh gives all "
        "eigenvalues and eigenvectors of a dense one"
    )
