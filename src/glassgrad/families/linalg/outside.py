"""The linear algebra that PyTorch keeps outside ``torch.linalg``: what has no newer name there, and the older names.

Of older names PyTorch warns, or they raise because it removed them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NoReturn

import numpy as np

from ...core.tensor import Tensor, wrap
from ...ground import dtypes, errors
from ...ground.dtypes import need_bool
from ...ground.runtime import warn_once
from ...ops import return_types as results
from ...ops.autocast import single
from ...ops.declare import COMPOSITES, composite
from ...tensor.lifted import all_values
from ..matrix.functions import broadcast, demand, into, matmul
from ..shape.rows import transpose, unsqueeze
from . import equations, orthogonal, triangular
from . import functions as linalg
from .functions import answer, square, stretched
from .rows import linalg_slogdet
from .spectra import linalg_svd

# -- factors ----------------------------------------------------------------------------------------------------------


@composite(page="torch")
def cholesky_inverse(input: Tensor, upper: bool = False, *, out: Any = None) -> Tensor:
    """The inverses of the matrices that these triangles are the roots of."""
    square("cholesky_inverse", input)
    inverse = triangular.cholesky_inverse(input, upper)
    return inverse if out is None else into("cholesky_inverse", (input,), out, inverse, errors.OUT_SAFELY, True)


@composite(page="torch")
def cholesky_solve(input: Tensor, input2: Tensor, upper: bool = False, *, out: Any = None) -> Tensor:
    """The solutions of ``A @ X = input``, where ``input2`` is the triangular root of ``A``."""
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


@composite(page="torch")
def geqrf(input: Tensor, *, out: Any = None) -> Any:
    """The triangle and the reflections that QR is made of, in one matrix, and the reflections' factors.

    It has no derivative.
    """
    if input._array.ndim < 2:
        raise RuntimeError("torch.geqrf: input must have at least 2 dimensions.")
    return answer("geqrf", (input,), out, orthogonal.geqrf(input))


@composite(page="torch")
def ormqr(
    input: Tensor, input2: Tensor, input3: Tensor, left: bool = True, transpose: bool = False, *, out: Any = None
) -> Tensor:
    """The product of the reflections in ``input``, with factors ``input2``, times ``input3``; or what undoes it."""
    for name, tensor in (("input", input), ("other", input3)):
        if tensor._array.ndim < 2:
            raise RuntimeError(f"torch.ormqr: {name} must have at least 2 dimensions.")
    if not input2._array.ndim:
        raise IndexError("Dimension specified as -1 but tensor has no dimensions")
    side = -2 if left else -1
    other, vectors, tau = input3._array.shape, input._array.shape, input2._array.shape
    if other[side] != vectors[-2]:
        raise RuntimeError(f"torch.ormqr: other.shape[{side}] must be equal to input.shape[-2]")
    if tau[-1] != min(other[side], vectors[-1]):
        raise RuntimeError(f"torch.ormqr: tau.shape[-1] must be equal to min(other.shape[{side}], input.shape[-1])")
    ndim, batch = input._array.ndim, input._array.shape[:-2]
    if input2._array.ndim != ndim - 1:
        raise RuntimeError(
            "torch.ormqr: Expected tau to have one dimension less than input, but got tau.ndim equal to "
            f"{input2._array.ndim} and input.ndim is equal to {ndim}"
        )
    if input3._array.ndim != ndim:
        raise RuntimeError(
            "torch.ormqr: Expected other to have the same number of dimensions as input, but got other.ndim equal to "
            f"{input3._array.ndim} and input.ndim is equal to {ndim}"
        )
    for name, sizes in (("tau", input2._array.shape[:-1]), ("other", input3._array.shape[:-2])):
        if sizes != batch:
            expected = f"Expected batch dimensions of {name} to be equal to input.shape[:-2]"
            raise RuntimeError(f"torch.ormqr: {expected}, but got {list(sizes)}")
    for name, tensor in (("tau", input2), ("other", input3)):
        if tensor.dtype is not input.dtype:
            raise RuntimeError(
                f"torch.ormqr: Expected input and {name} to have the same dtype, but input has "
                f"dtype{input.dtype.scalar_name} and {name} has dtype {tensor.dtype.scalar_name}"
            )
    product = orthogonal.ormqr(input, input2, input3, left, transpose)
    refusal = (
        "torch.ormqr: Expected input and result to have the same dtype, but input has dtype{Wanted} and result has "
    )
    return product if out is None else into("ormqr", (input, input2, input3), out, product, refusal + "dtype {Found}")


@composite(page="torch")
def svd(input: Tensor, some: bool = True, compute_uv: bool = True, *, out: Any = None) -> Any:
    """Orthonormal columns ``U``, falling values ``S``, orthonormal columns ``V``: ``U @ diag(S) @ V.mH = input``."""
    if isinstance(input, Tensor) and (ndim := input._array.ndim) < 2:
        raise RuntimeError(
            f"linalg.svd: input should have at least 2 dimensions, but has {ndim} dimensions instead"
        )
    if compute_uv:
        u, s, vh = linalg.svd(input, not some)
        v = transpose(vh, -1, -2)
        v = v.conj() if input.dtype.is_complex else v  # type: ignore[attr-defined]
    else:
        s = linalg.svdvals(input)
        zeros = COMPOSITES["zeros"].function
        rows, columns = input._array.shape[-2:]
        how = {"dtype": input.dtype, "device": input.device}
        u, v = (zeros((*input._array.shape[:-2], n, n), **how) for n in (rows, columns))
        v = transpose(v, -1, -2)
    return answer("svd", (input,), out, (u, s, v))


@composite(method=False, page="torch")
def lu_unpack(
    LU_data: Tensor,
    LU_pivots: Tensor,
    unpack_data: bool = True,
    unpack_pivots: bool = True,
    *,
    out: Sequence[Tensor] | None = None,  # noqa: N803
) -> Any:
    """The permutation and the two triangles that ``linalg.lu_factor`` packed."""
    demand("lu_unpack", LU_data=LU_data, LU_pivots=LU_pivots)
    if LU_data._array.ndim < 2:
        sizes = list(LU_data._array.shape)
        raise RuntimeError(f"torch.lu_unpack: Expected tensor with 2 or more dimensions. Got size: {sizes} instead")
    if unpack_pivots and LU_pivots.dtype is not dtypes.int32:
        raise RuntimeError(
            "torch.lu_unpack: LU_pivots is expected to be a contiguous tensor of torch.int32 dtype.\nNote: this "
            "function is intended to be used with the output produced by torch.linalg.lu_factor"
        )
    pivots = all_values(LU_pivots)
    is_known = unpack_pivots and pivots.size and LU_pivots._array.dtype.metadata is None
    if is_known and (pivots.min() < 1 or pivots.max() > LU_data._array.shape[-2]):
        raise RuntimeError(
            "pivots passed to lu_unpack must be between 1 and LU.size(-2) inclusive.Did you properly pass the result "
            "of lu_factor?"
        )
    none = [wrap(np.zeros((0,), LU_data._array.dtype)) for _ in range(3)]
    first = triangular.permutation_of(LU_pivots, LU_data) if unpack_pivots else none[0]
    rest = triangular.triangles_of(LU_data) if unpack_data else none[1:]
    return answer("lu_unpack", (LU_data,), out, (first, *rest))


# -- determinants, powers ---------------------------------------------------------------------------------------------


@composite(page="torch")
def logdet(input: Tensor) -> Tensor:
    """The logarithms of the determinants; NaN where one is negative."""
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
    columns = COMPOSITES["ones"].function((x._array.shape[0], min(count, 1)), dtype=kind, device=x.device)
    if count > 1:
        powers = stretched(unsqueeze(x, 1), (x._array.shape[0], count - 1)).cumprod(1)  # type: ignore[attr-defined]
        columns = COMPOSITES["cat"].function((columns, powers), 1)
    return columns if increasing else columns.flip(1)  # type: ignore[no-any-return]


# -- low ranks --------------------------------------------------------------------------------------------------------


def _basis(A: Any, q: int, niter: int | None, M: Any) -> Any:  # noqa: N803
    """Orthonormal columns that nearly span those of ``A - M``. Source: Halko et al. (2009), algorithm 4.4."""
    niter = 2 if niter is None else niter
    kind = A.dtype if A.dtype.is_floating_point or A.dtype.is_complex else dtypes.get_default_dtype()
    start = COMPOSITES["randn"].function(A._array.shape[-1], q, dtype=kind, device=A.device)

    def times(matrix: Any, shift: Any, other: Any) -> Any:
        product = matmul(matrix, other)
        return product if shift is None else product - matmul(shift, other)

    basis = linalg.qr(times(A, M, start))[0]
    for _ in range(niter):
        basis = linalg.qr(times(A.mH, None if M is None else M.mH, basis))[0]
        basis = linalg.qr(times(A, M, basis))[0]
    return basis


@composite(method=False, page="torch")
def svd_lowrank(A: Any, q: int | None = 6, niter: int | None = 2, M: Any = None) -> Any:  # noqa: N803
    """The ``q`` largest singular values of ``A - M``, nearly, and their vectors: ``U``, ``S`` and ``V``."""
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


@composite(method=False, page="torch")
def pca_lowrank(A: Any, q: int | None = None, center: bool = True, niter: int = 2) -> Any:  # noqa: N803
    """The ``q`` first principal components of the rows of ``A``, nearly: ``U``, ``S`` and ``V``."""
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


#: The older names, each with the newer one as PyTorch's warning has it, and what it says of the change.
_DEPRECATED = {
    "cholesky": (
        "torch.linalg.cholesky ",
        "L = torch.cholesky(A)\nshould be replaced with\nL = torch.linalg.cholesky(A)\nand\nU = torch.cholesky(A, "
        "upper=True)\nshould be replaced with\nU = torch.linalg.cholesky(A).mH\nThis transform will produce "
        "equivalent results for all valid (symmetric positive definite) inputs.",
    ),
    "qr": (
        "torch.linalg.qr ",
        "The boolean parameter 'some' has been replaced with a string parameter 'mode'.\nQ, R = torch.qr(A, some)\n"
        "should be replaced with\nQ, R = torch.linalg.qr(A, 'reduced' if some else 'complete')",
    ),
    "lu": (
        "torch.linalg.lu_factor / torch.linalg.lu_factor_ex ",
        "LU, pivots = torch.lu(A, compute_pivots)\nshould be replaced with\nLU, pivots = torch.linalg.lu_factor(A, "
        "compute_pivots)\nand\nLU, pivots, info = torch.lu(A, compute_pivots, get_infos=True)\nshould be replaced "
        "with\nLU, pivots, info = torch.linalg.lu_factor_ex(A, compute_pivots)",
    ),
    "lu_solve": (
        "torch.linalg.lu_solve",
        "Note that torch.linalg.lu_solve has its arguments reversed.\nX = torch.lu_solve(B, LU, pivots)\nshould be "
        "replaced with\nX = torch.linalg.lu_solve(LU, pivots, B)",
    ),
    "triangular_solve": (
        "torch.linalg.solve_triangular",
        "torch.linalg.solve_triangular has its arguments reversed and does not return a copy of one of the inputs.\nX "
        "= torch.triangular_solve(B, A).solution\nshould be replaced with\nX = torch.linalg.solve_triangular(A, B).",
    ),
}  # fmt: skip

#: The names that PyTorch removed, each with what it says of the newer one.
_REMOVED = {
    "symeig": (
        "The default behavior has changed from using the upper triangular portion of the matrix by default to using "
        "the lower triangular portion.\n\nL, _ = torch.symeig(A, upper=upper) should be replaced with:\n"
        "L = torch.linalg.eigvalsh(A, UPLO='U' if upper else 'L')\n\nand\n\n"
        "L, V = torch.symeig(A, eigenvectors=True) should be replaced with:\n"
        "L, V = torch.linalg.eigh(A, UPLO='U' if upper else 'L')"
    ),
    "eig": (
        "`torch.linalg.eig` returns complex tensors of dtype `cfloat` or `cdouble` rather than real tensors mimicking "
        "complex tensors.\n\nL, _ = torch.eig(A) should be replaced with:\nL_complex = torch.linalg.eigvals(A)\n\n"
        "and\n\nL, V = torch.eig(A, eigenvectors=True) should be replaced with:\n"
        "L_complex, V_complex = torch.linalg.eig(A)"
    ),
    "lstsq": (
        "`torch.lstsq` is deprecated in favor of `torch.linalg.lstsq`.\n`torch.linalg.lstsq` has reversed arguments "
        "and does not return the QR decomposition in the returned tuple (although it returns other information about "
        "the problem).\n\nTo get the QR decomposition consider using `torch.linalg.qr`.\n\n"
        "The returned solution in `torch.lstsq` stored the residuals of the solution in the last m - n columns of the "
        "returned value whenever m > n. In torch.linalg.lstsq, the residuals are in the field 'residuals' of the "
        "returned named tuple.\n\nThe unpacking of the solution, as in\n"
        "X, _ = torch.lstsq(B, A).solution[:A.size(1)]\nshould be replaced with:\n"
        "X = torch.linalg.lstsq(A, B).solution"
    ),
    "solve": (
        "`torch.solve` is deprecated in favor of `torch.linalg.solve`. `torch.linalg.solve` has its arguments reversed "
        "and does not return the LU factorization.\n\nTo get the LU factorization see `torch.lu`, which can be used "
        "with `torch.lu_solve` or `torch.lu_unpack`.\nX = torch.solve(B, A).solution should be replaced with:\n"
        "X = torch.linalg.solve(A, B)"
    ),
    "matrix_rank": (
        "\nPlease use the `torch.linalg.matrix_rank` function instead. The parameter 'symmetric' was renamed in "
        "`torch.linalg.matrix_rank()` to 'hermitian'."
    ),
}  # fmt: skip


def _warn_of(name: str) -> None:
    newer, change = _DEPRECATED[name]
    warn_once(
        f"torch.{name} is deprecated in favor of {newer}and will be removed in a future PyTorch release.\n{change}"
    )


@composite()
def cholesky(input: Tensor, upper: bool = False, *, out: Any = None) -> Tensor:
    """The triangular roots of positive-definite matrices; the older name of ``linalg.cholesky``."""
    _warn_of("cholesky")
    if input._array.size:  # what is empty is given back, whatever its sizes
        square("cholesky", input)
    root = triangular.cholesky(input, upper)
    return root if out is None else into("cholesky", (input,), out, root, errors.OUT_SAFELY, True)


@composite()
def qr(input: Tensor, some: bool = True, *, out: Any = None) -> Any:
    """Orthonormal columns and an upper triangle; the older name of ``linalg.qr``."""
    _warn_of("qr")
    factors = linalg.qr(input, "reduced" if some else "complete")
    return answer("qr", (input,), out, tuple(factors))


@composite()
def orgqr(input: Tensor, input2: Tensor, *, out: Any = None) -> Tensor:
    """The first columns of a product of reflections; the older name of ``linalg.householder_product``."""
    return linalg.householder_product(input, input2, out=out)


@composite(method=False)
def lu(A: Tensor, pivot: bool = True, get_infos: bool = False, out: Any = None) -> Any:  # noqa: N803
    """Packed triangles and swapped rows; the older name of ``linalg.lu_factor``, which says nothing of zero pivots."""
    _warn_of("lu")
    (A,) = single(A)  # noqa: N806
    get_infos = bool(get_infos)
    if out is not None and (not isinstance(out, (tuple, list)) or len(out) != 2 + get_infos):
        count = len(out) if isinstance(out, (tuple, list)) else 1
        raise TypeError(f"expected tuple of {2 + get_infos} elements but got {count}")
    factors = tuple(linalg.factored("torch.linalg.lu_factor", A, pivot, False))[: 2 + get_infos]
    if out is not None:
        return into("lu", (A,), out, factors, "")
    return tuple.__new__(results._lu_with_info, factors) if get_infos else factors


@composite(function=False, name="lu")
def lu_method(self: Tensor, pivot: bool = True, get_infos: Any = False) -> tuple[Tensor, ...]:
    """Packed triangles and swapped rows, and with ``get_infos`` how each matrix went."""
    need_bool("_lu_with_info", "pivot", 2, pivot)
    return tuple(lu(self, pivot, get_infos))


@composite()
def lu_solve(input: Tensor, LU_data: Tensor, LU_pivots: Tensor, *, out: Any = None) -> Tensor:  # noqa: N803
    """The solutions of factored equations; the older name of ``linalg.lu_solve``, with ``B`` first."""
    _warn_of("lu_solve")
    input, LU_data = single(input, LU_data)  # noqa: N806
    return equations.lu_solve(LU_data, LU_pivots, input, out=out)


@composite()
def triangular_solve(
    input: Tensor, A: Tensor, upper: bool = True, transpose: bool = False, unitriangular: bool = False, *,  # noqa: N803
    out: Any = None,
) -> Any:  # fmt: skip
    """The solutions of triangular equations, and a copy of ``A``; an older form of ``linalg.solve_triangular``."""
    _warn_of("triangular_solve")
    for name, tensor in (("b", input), ("A", A)):
        if tensor._array.ndim < 2:
            raise RuntimeError(
                f"torch.triangular_solve: Expected {name} to have at least 2 dimensions, but it has "
                f"{tensor._array.ndim} dimensions instead"
            )
    sides_fit("triangular_solve", input, A)
    answers = triangular.triangular_solve(input, A, upper, transpose, unitriangular)
    return answer("triangular_solve", (input, A), out, answers)


@composite()
def slogdet(input: Tensor, *, out: Any = None) -> Any:
    """The signs of the determinants and the logarithms of their sizes."""
    return answer("slogdet", (input,), out, tuple(equations.slogdet(input)))


#: How PyTorch calls their arguments.
_FORMERLY: dict[str, Callable[..., None]] = {
    "symeig": lambda input, eigenvectors=False, upper=True, *, out=None: None,
    "eig": lambda self, eigenvectors=False, *, e=None, v=None: None,
    "lstsq": lambda input, A, *, out=None: None,
    "solve": lambda input, A, *, out=None: None,
    "matrix_rank": lambda input, tol=None, symmetric=False, *, out=None: None,
}


def _removed(name: str, instead: str) -> None:
    space = "" if instead.startswith("\n") else " "
    accept = _FORMERLY[name]
    accept.__qualname__ = name

    def refuse(*args: Any, **kwargs: Any) -> NoReturn:
        accept(*args, **kwargs)
        raise RuntimeError(f"This function was deprecated since version 1.9 and is now removed.{space}{instead}")

    refuse.__name__ = refuse.__qualname__ = name
    refuse.__doc__ = "Removed from PyTorch: it raises what PyTorch raises, which names what to use instead."
    composite(method=name != "matrix_rank")(refuse)


for _name, _instead in _REMOVED.items():
    _removed(_name, _instead)
