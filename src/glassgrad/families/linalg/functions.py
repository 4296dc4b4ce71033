"""``torch.linalg``: factors of matrices, eigenvalues and singular values, as users call them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ...core.tensor import Tensor, wrap
from ...ground import errors
from ...ground.layout import in_columns
from ...ground.listening import asking, audible
from ...kernels.columns import not_implemented
from ...ops import return_types as results
from ...tensor.lifted import all_values, derives
from ...tensor.out import Composed, check_apart, check_dtype
from ...tensor.out import into as put
from ..matrix.functions import demand, into
from ..shape.rows import expand
from . import kernels as triangle
from .orthogonal import linalg_householder_product, linalg_qr
from .rows import LinAlgError, is_vector, same_kind, solution, which
from .spectra import linalg_eig, linalg_eigh, linalg_svd
from .triangular import LAPACK, check_definite, linalg_cholesky_ex, linalg_lu, linalg_lu_factor_ex

_new = tuple.__new__


# -- what is asked of matrices ----------------------------------------------------------------------------------------


def matrices(function: str, A: Any, name: str = "A") -> None:  # noqa: N803  PyTorch's name
    """Raise PyTorch's error unless ``A`` is a tensor of at least two dimensions."""
    demand(function.replace(".", "_").removeprefix("torch_"), **{name: A})
    if A._array.ndim < 2:
        raise RuntimeError(f"{function}: The input tensor {name} must have at least 2 dimensions.")


def square(function: str, A: Any, name: str = "A") -> None:  # noqa: N803
    """Raise PyTorch's error unless the matrices are square."""
    matrices(function, A, name)
    sizes = A._array.shape
    if sizes[-1] != sizes[-2]:
        raise RuntimeError(
            f"{function}: {name} must be batches of square matrices, but they are {sizes[-2]} by {sizes[-1]} matrices"
        )


def fractional(function: str, A: Any, low: bool = True) -> None:  # noqa: N803
    """Raise PyTorch's error for integers, and unless ``low`` for halves."""
    if A._array.dtype.kind in "fc" and (low or A._array.dtype in LAPACK):
        return
    name = A.dtype.scalar_name
    if A.dtype.is_floating_point:
        if not low:
            raise RuntimeError(f"{function}: Low precision dtypes not supported. Got {name}")
        return
    raise RuntimeError(f"{function}: Expected a floating point or complex tensor as input. Got {name}")


def check_equation(A: Tensor, B: Tensor, left: bool) -> None:  # noqa: N803
    """Raise PyTorch's error unless the two sides of an equation fit."""
    demand("linalg_solve", A=A, B=B)
    fractional("linalg.solve", A)
    same_kind("linalg.solve", A=A, B=B)
    n, m = A._array.shape, B._array.shape
    if len(n) > 1 and n[-1] == n[-2] and not is_vector(n, m) and len(m) < 2:
        raise RuntimeError("linalg.solve: The input tensor B must have at least 2 dimensions.")
    square("linalg.solve", A)
    rows_, columns = (m[-1], 1) if is_vector(n, m) else m[-2:]
    if (rows_ if left else columns) != n[-1]:
        equation = "AX = B" if left else "XA = B"
        raise RuntimeError(
            f"linalg.solve: Incompatible shapes of A and B for the equation {equation} ({n[-2]}x{n[-1]} and "
            f"{rows_}x{columns})"
        )
    if A._array.dtype not in LAPACK:
        raise not_implemented("lu_cpu", A._array)


@audible
def linalg_solve(A: Tensor, B: Tensor, *, left: bool = True, out: Any = None) -> Tensor:  # noqa: N803
    """What ``A`` must be multiplied with to give ``B``; with ``left=False``, what is to be multiplied with ``A``."""
    check_equation(A, B, left)
    solved = solution(A, B, left)
    if not left or (B._array.ndim > 1 and is_vector(A._array.shape, B._array.shape)):
        check_apart(out, B)
    return solved if out is None else into("linalg_solve", (A, B), out, solved)


def answer(name: str, inputs: Any, out: Any, values: tuple[Any, ...]) -> Any:
    """Several results under their names, put into ``out=`` where that is given."""
    if out is not None:
        values = into(name, inputs, tuple(out), tuple(values))
    return _new(getattr(results, name), values)


# -- factors ----------------------------------------------------------------------------------------------------------


@audible
def cholesky(input: Tensor, *, upper: bool = False, out: Any = None) -> Tensor:
    """The triangular roots of positive-definite matrices: ``L @ L.mH``, or ``U.mH @ U`` where ``upper``."""
    demand("linalg_cholesky", input=input)
    square("linalg.cholesky", input)
    fractional("linalg.cholesky", input)
    root, info = linalg_cholesky_ex(input, upper, False)
    check_definite("linalg.cholesky", all_values(info))
    return root if out is None else into("linalg_cholesky", (input,), out, root)


@audible
def cholesky_ex(input: Tensor, *, upper: bool = False, check_errors: bool = False, out: Any = None) -> Any:
    """The triangular roots, and the order of the first minor that is not positive-definite (or zero)."""
    demand("linalg_cholesky_ex", input=input)
    square("linalg.cholesky", input)
    fractional("linalg.cholesky", input)
    return answer("linalg_cholesky_ex", (input,), out, linalg_cholesky_ex(input, upper, check_errors))


@audible
def qr(A: Tensor, mode: str = "reduced", *, out: Any = None) -> Any:  # noqa: N803
    """Orthonormal columns ``Q`` and an upper triangle ``R`` with ``Q @ R = A``.

    mode  "reduced", "complete" (a square ``Q``) or "r" (``R`` alone)
    """
    matrices("linalg.qr", A)
    fractional("linalg.qr", A)
    if mode not in ("reduced", "complete", "r"):
        raise RuntimeError(
            f"qr received unrecognized mode '{mode}' but expected one of 'reduced' (default), 'r', or 'complete'"
        )
    return answer("linalg_qr", (A,), out, linalg_qr(A, mode))


@audible
def lu(A: Tensor, *, pivot: bool = True, out: Any = None) -> Any:  # noqa: N803
    """A permutation, a lower triangle of ones on its diagonal and an upper one: ``P @ L @ U = A``."""
    demand("linalg_lu", A=A)
    if A._array.ndim < 2:
        raise RuntimeError(
            f"linalg.lu: Expected tensor with 2 or more dimensions. Got size: {list(A._array.shape)} instead"
        )
    _must_pivot(pivot)
    return answer("linalg_lu", (A,), out, linalg_lu(A, pivot))


def _must_pivot(pivot: bool) -> None:
    if not pivot:
        raise RuntimeError("linalg.lu_factor: LU without pivoting is not implemented on the CPU")


def factored(function: str, A: Tensor, pivot: bool, check: bool) -> Any:  # noqa: N803
    """Packed triangles, swaps and first zero pivots; where ``check``, PyTorch's error for a zero pivot."""
    demand(function.replace("torch.", "").replace(".", "_"), A=A)
    if A._array.ndim < 2:
        raise RuntimeError(
            f"torch.lu_factor: Expected tensor with 2 or more dimensions. Got size: {list(A._array.shape)} instead"
        )
    _must_pivot(pivot)
    factors = linalg_lu_factor_ex(A, pivot)
    info = all_values(factors[2])
    if check and np.any(info):
        index = int(np.flatnonzero(info)[0])
        row = int(np.ravel(info)[index])
        raise RuntimeError(
            f"{function}: {which(info, index)}U[{row},{row}] is zero and using it on lu_solve would result in a "
            "division by zero. If you still want to perform the factorization, consider calling linalg.lu(A, pivot) "
            "or linalg.lu_factor_ex(A, pivot)"
        )
    return factors


@audible
def lu_factor(A: Tensor, *, pivot: bool = True, out: Sequence[Tensor] | None = None) -> Any:  # noqa: N803
    """Both triangles of each matrix packed in one, and the rows that were swapped, counted from one."""
    return answer("linalg_lu_factor", (A,), out, factored("torch.linalg.lu_factor", A, pivot, True)[:2])


@audible
def lu_factor_ex(A: Tensor, *, pivot: bool = True, check_errors: bool = False, out: Any = None) -> Any:  # noqa: N803
    """As ``lu_factor``, and the first zero pivot of each matrix (or zero) instead of an error."""
    factors = factored("torch.linalg.lu_factor_ex", A, pivot, check_errors)
    return answer("linalg_lu_factor_ex", (A,), out, factors)


def _ldl(A: Tensor, hermitian: bool, function: str, check: bool) -> tuple[Any, Any, Any]:  # noqa: N803
    square(function, A)
    array = A._array
    if array.dtype not in LAPACK:
        raise not_implemented("ldl_factor_cpu", array)
    factors, pivots = np.empty_like(array), np.empty(array.shape[:-1], np.int32)
    info = np.zeros(array.shape[:-2], np.int32)
    for batch in np.ndindex(info.shape):
        factors[batch], pivots[batch], info[batch] = triangle.ldl(array[batch], hermitian)
    if check and info.any():
        index = int(np.flatnonzero(info)[0])
        raise LinAlgError(
            f"{function}: {which(info, index)}The factorization has been completed, but the block diagonal matrix D "
            "is singular."
        )
    return wrap(in_columns(factors)), wrap(pivots), wrap(info[()])


@audible
@asking
def ldl_factor(input: Tensor, *, hermitian: bool = False, out: Any = None) -> Any:
    """A lower triangle and a diagonal of blocks, packed in one, of symmetric (``hermitian``: Hermitian) matrices.

    It carries no gradient.
    """
    demand("linalg_ldl_factor", input=input)
    parts = _ldl(input, hermitian, "torch.linalg.ldl_factor", True)
    return answer("linalg_ldl_factor", (input,), out, parts[:2])


@audible
@asking
def ldl_factor_ex(input: Tensor, *, hermitian: bool = False, check_errors: bool = False, out: Any = None) -> Any:
    """As ``ldl_factor``, and the first zero block of each matrix (or zero) instead of an error."""
    demand("linalg_ldl_factor_ex", input=input)
    parts = _ldl(input, hermitian, "torch.linalg.ldl_factor_ex", check_errors)
    return answer("linalg_ldl_factor_ex", (input,), out, parts)


@audible
def ldl_solve(LD: Tensor, pivots: Tensor, B: Tensor, *, hermitian: bool = False, out: Any = None) -> Tensor:  # noqa: N803
    """The solutions of equations whose matrices ``ldl_factor`` has factored; it carries no gradient."""
    square("torch.linalg.ldl_solve", LD)
    if B.dtype is not LD.dtype:
        raise RuntimeError(
            f"Expected b and A to have the same dtype, but found b of type {B.dtype.scalar_name} and A of type "
            f"{LD.dtype.scalar_name} instead."
        )
    factors, swaps, right = LD._array, pivots._array, B._array
    if right.ndim < 2:
        raise RuntimeError(
            "torch.linalg.ldl_solve: Expected B to have at least 2 dimensions, but it has "
            f"{right.ndim} dimensions instead"
        )
    if swaps.shape != factors.shape[:-1]:
        raise RuntimeError(
            "torch.linalg.ldl_solve: Expected LD.shape[:-1] and pivots.shape to be the same, but got pivots with shape "
            f"{list(swaps.shape)} instead"
        )
    if swaps.dtype.kind not in "iu":
        raise RuntimeError(f"torch.linalg.ldl_solve: Expected pivots to be integers. Got {pivots.dtype.scalar_name}")
    batch = np.broadcast_shapes(factors.shape[:-2], right.shape[:-2])
    factors = np.broadcast_to(factors, (*batch, *factors.shape[-2:]))
    swaps = np.broadcast_to(swaps, (*batch, swaps.shape[-1]))
    solved = np.array(np.broadcast_to(right, (*batch, *right.shape[-2:])))
    for index in np.ndindex(batch):
        solved[index] = triangle.ldl_solved(factors[index], swaps[index], solved[index], hermitian)
    solved = in_columns(solved)
    return wrap(solved) if out is None else into("linalg_ldl_solve", (LD, B), out, wrap(solved))


@audible
def householder_product(input: Tensor, tau: Tensor, *, out: Any = None) -> Tensor:
    """The first columns of the product of the reflections in the columns of ``input``, with factors ``tau``."""
    function = "torch.linalg.householder_product"
    demand("linalg_householder_product", input=input, tau=tau)
    sizes = input._array.shape
    if len(sizes) < 2:
        raise RuntimeError(f"{function}: input must have at least 2 dimensions.")
    if sizes[-2] < sizes[-1]:
        raise RuntimeError(f"{function}: input.shape[-2] must be greater than or equal to input.shape[-1]")
    if sizes[-1] < tau.size(-1):  # type: ignore[attr-defined]
        raise RuntimeError(f"{function}: input.shape[-1] must be greater than or equal to tau.shape[-1]")
    if len(sizes) != tau._array.ndim + 1:
        raise RuntimeError(
            f"{function}: Expected tau to have one dimension less than input, but got tau.ndim equal to "
            f"{tau._array.ndim} and input.ndim is equal to {len(sizes)}"
        )
    if tau.dtype is not input.dtype:
        raise RuntimeError(
            f"{function}: tau dtype {tau.dtype.scalar_name} does not match input dtype {input.dtype.scalar_name}"
        )
    if sizes[:-2] != tau._array.shape[:-1]:
        raise RuntimeError(
            f"{function}: Expected batch dimensions of tau to be equal to input.shape[:-2], but got "
            f"{list(tau._array.shape[:-1])}"
        )
    product = linalg_householder_product(input, tau)
    if out is None:
        return product
    return into("torch.linalg.householder_product", (input, tau), out, product, errors.OUT_SAFELY, True)


# -- singular values --------------------------------------------------------------------------------------------------


def _decomposable(A: Any, driver: Any) -> None:  # noqa: N803
    matrices("linalg.svd", A)
    fractional("linalg.svd", A)
    if driver is not None:
        raise RuntimeError(
            "torch.linalg.svd: keyword argument `driver=` is only supported on CUDA inputs with cuSOLVER backend."
        )


@audible
def svd(A: Tensor, full_matrices: bool = True, *, driver: str | None = None, out: Any = None) -> Any:  # noqa: N803
    """Orthonormal columns ``U``, falling values ``S``, orthonormal rows ``Vh``: ``U @ diag(S) @ Vh = A``."""
    _decomposable(A, driver)
    return answer("linalg_svd", (A,), out, linalg_svd(A, full_matrices, True))


@audible
def svdvals(A: Tensor, *, driver: str | None = None, out: Any = None) -> Tensor:  # noqa: N803
    """The singular values, falling."""
    demand("linalg_svdvals", A=A)
    _decomposable(A, driver)
    values = linalg_svd(A, False, derives(A))[1]
    return values if out is None else into("linalg_svdvals", (A,), out, values)


# -- eigenvalues ------------------------------------------------------------------------------------------------------


def _general(A: Any) -> Any:  # noqa: N803
    square("linalg.eig", A)
    if A._array.dtype not in LAPACK:
        if A.dtype.is_floating_point:
            raise not_implemented("linalg_eig_out_cpu", A._array)
        raise RuntimeError(f"Unknown Complex ScalarType for {A.dtype.scalar_name}")


@audible
def eig(input: Tensor, *, out: Any = None) -> Any:
    """Complex eigenvalues, in no order, and eigenvectors of length one, as columns."""
    demand("linalg_eig", input=input)
    _general(input)
    values = linalg_eig(input, True, not input.dtype.is_complex)
    if out is not None:
        refusal = errors.OUT_SAFELY.replace("{name}", "torch.linalg.eig")
        form = Composed("linalg_eig", refusal, True, outputs=("eigenvalues", "eigenvectors"), differentiable=(0, 1))
        values = put(form, (input,), tuple(out), tuple(values))
    return answer("linalg_eig", (), None, values)


@audible
def eigvals(input: Tensor, *, out: Any = None) -> Tensor:
    """Complex eigenvalues, in no order."""
    demand("linalg_eigvals", input=input)
    _general(input)
    values = linalg_eig(input, derives(input), not input.dtype.is_complex)[0]
    check_dtype("torch.linalg.eigvals", out, values.dtype, errors.OUT_SAFELY, True, "eigenvalues")
    return values if out is None else into("torch.linalg.eigvals", (input,), out, values, castable=True)


def _symmetric(A: Any, UPLO: Any) -> None:  # noqa: N803
    square("linalg.eigh", A)
    if str(UPLO).upper() not in ("L", "U"):
        raise RuntimeError(f"Expected UPLO argument to be 'L' or 'U', but got {UPLO}")


@audible
def eigh(input: Tensor, UPLO: str = "L", *, out: Any = None) -> Any:  # noqa: N803
    """Rising eigenvalues and orthonormal eigenvectors of Hermitian matrices, of which the triangle ``UPLO`` is read."""
    demand("linalg_eigh", input=input)
    _symmetric(input, UPLO)
    return answer("linalg_eigh", (input,), out, linalg_eigh(input, UPLO, True))


@audible
def eigvalsh(input: Tensor, UPLO: str = "L", *, out: Any = None) -> Tensor:  # noqa: N803
    """Rising eigenvalues of Hermitian matrices, of which the triangle ``UPLO`` is read."""
    demand("linalg_eigvalsh", input=input)
    _symmetric(input, UPLO)
    values = linalg_eigh(input, UPLO, derives(input))[0]
    return values if out is None else into("linalg_eigvalsh", (input,), out, values)


def stretched(A: Tensor, sizes: tuple[int, ...]) -> Tensor:  # noqa: N803
    """The tensor expanded to ``sizes``, or itself."""
    return A if A._array.shape == sizes else expand(A, sizes)
