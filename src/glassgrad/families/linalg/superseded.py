"""The older names of linear algebra: those that PyTorch warns of, and those that raise because it removed them."""

from __future__ import annotations

from typing import Any, NoReturn

from ...core.tensor import Tensor
from ...ground import errors
from ...ground.runtime import warn_once
from ...ops import return_types as results
from ...ops.declare import composite
from ..matrix.functions import demand, into
from . import equations, triangular
from . import functions as linalg
from .functions import answer, square
from .outside import sides_fit

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


@composite()
def lu(A: Tensor, pivot: bool = True, get_infos: bool = False, out: Any = None) -> Any:  # noqa: N803
    """Packed triangles and swapped rows; the older name of ``linalg.lu_factor``, which says nothing of zero pivots."""
    _warn_of("lu")
    if out is not None and (not isinstance(out, (tuple, list)) or len(out) != 2 + get_infos):
        count = len(out) if isinstance(out, (tuple, list)) else 1
        raise TypeError(f"expected tuple of {2 + get_infos} elements but got {count}")
    factors = tuple(linalg.factored("torch.linalg.lu_factor", A, pivot, False))[: 2 + get_infos]
    if out is not None:
        return into("lu", (A,), out, factors, "")
    return tuple.__new__(results._lu_with_info, factors) if get_infos else factors


@composite()
def lu_solve(input: Tensor, LU_data: Tensor, LU_pivots: Tensor, *, out: Any = None) -> Tensor:  # noqa: N803
    """The solutions of factored equations; the older name of ``linalg.lu_solve``, with ``B`` first."""
    _warn_of("lu_solve")
    return equations.lu_solve(LU_data, LU_pivots, input, out=out)


@composite()
def triangular_solve(
    input: Tensor, A: Tensor, upper: bool = True, transpose: bool = False, unitriangular: bool = False, *,  # noqa: N803
    out: Any = None,
) -> Any:  # fmt: skip
    """The solutions of triangular equations, and a copy of ``A``; an older form of ``linalg.solve_triangular``."""
    _warn_of("triangular_solve")
    demand("triangular_solve", input=input, A=A)
    for name, tensor in (("b", input), ("A", A)):
        if tensor._array.ndim < 2:
            raise RuntimeError(
                f"torch.triangular_solve: Expected {name} to have at least 2 dimensions, but it has "
                f"{tensor._array.ndim} "
                "dimensions instead"
            )
    sides_fit("triangular_solve", input, A)
    answers = triangular.triangular_solve(input, A, upper, transpose, unitriangular)
    return answer("triangular_solve", (input, A), out, answers)


@composite()
def slogdet(input: Tensor, *, out: Any = None) -> Any:
    """The signs of the determinants and the logarithms of their sizes."""
    return answer("slogdet", (input,), out, tuple(equations.slogdet(input)))


def _removed(name: str, instead: str) -> None:
    space = "" if instead.startswith("\n") else " "

    def refuse(*args: Any, **kwargs: Any) -> NoReturn:
        raise RuntimeError(f"This function was deprecated since version 1.9 and is now removed.{space}{instead}")

    refuse.__name__ = refuse.__qualname__ = name
    refuse.__doc__ = "Removed from PyTorch: it raises what PyTorch raises, which names what to use instead."
    composite(method=name != "matrix_rank")(refuse)


for _name, _instead in _REMOVED.items():
    _removed(_name, _instead)
