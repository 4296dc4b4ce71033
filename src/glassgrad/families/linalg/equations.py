"""``torch.linalg``: equations and their solutions, inverses, ranks and condition numbers, as users call them."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ...core.row import TABLE
from ...core.tensor import Tensor, wrap
from ...ground import dtypes, errors
from ...ground.dtypes import Number, need_float
from ...ground.listening import asking, audible
from ...ground.meta import blank
from ...kernels.columns import not_implemented
from ...ops.declare import COMPOSITES, composite
from ...tensor.lifted import all_values, no_gradient
from ...tensor.out import check_apart, check_dtype, check_outs
from ..matrix.functions import broadcast, demand, into
from ..norm.functions import matrix_norm
from ..reduce.functions import one_dim
from ..shape.rows import expand, permute, reshape, squeeze_dim, unsqueeze
from . import kernels as triangle
from .functions import answer, check_equation, eigvalsh, fractional, linalg_solve, matrices, square, stretched, svdvals
from .rows import check_info, inverse_of, is_vector, linalg_matrix_exp, linalg_slogdet, same_kind, solution
from .spectra import linalg_lstsq, linalg_pinv
from .triangular import LAPACK, linalg_lu_solve, substitute

# -- inverses and solutions -------------------------------------------------------------------------------------------


def _first_zeros(A: Tensor) -> Any:  # noqa: N803  PyTorch's name
    """For each matrix the first pivot that elimination finds to be zero (or zero)."""
    return np.asarray(triangle.lu(A._array)[2])


@audible
@asking
def inv_ex(A: Tensor, *, check_errors: bool = False, out: Any = None) -> Any:  # noqa: N803
    """The inverses, and of each singular matrix the pivot that came out as zero, instead of an error."""
    demand("linalg_inv_ex", A=A)
    square("linalg.inv", A)
    fractional("linalg.inv", A, low=False)
    return answer("linalg_inv_ex", (A,), out, _with_info(lambda: inverse_of(A, True), A, "inv_ex", check_errors))


def _with_info(make: Callable[[], Tensor], A: Tensor, name: str, check: bool) -> tuple[Tensor, Tensor]:  # noqa: N803
    """A result, and the zero pivots of the matrices; those are looked for only where it tells of some."""
    result = make()
    if A._array.dtype.metadata is not None:
        return result, wrap(blank(A._array.shape[:-2], np.dtype(np.int32)))
    info = np.zeros(A._array.shape[:-2], np.int32)
    if not np.isfinite(all_values(result)).all():
        info = _first_zeros(A)
    if check:
        check_info(f"linalg.{name}", "inversion" if name == "inv_ex" else "solve", info)
    return result, wrap(info[()])


@audible
@asking
def solve_ex(
    A: Tensor,
    B: Tensor,
    *,
    left: bool = True,
    check_errors: bool = False,
    out: Any = None,  # noqa: N803
) -> Any:
    """The solutions, and of each singular matrix the pivot that came out as zero, instead of an error."""
    check_equation(A, B, left)
    pair = _with_info(lambda: solution(A, B, left, True), A, "solve_ex", check_errors)
    return answer("linalg_solve_ex", (A, B), out, pair)


def fits(function: str, A: Tensor, B: Tensor, left: bool) -> None:  # noqa: N803
    """Raise PyTorch's error unless the sides of an equation with matrices on the right fit."""
    matrices(function, B, "B")
    n, m = A._array.shape, B._array.shape
    if m[-2 if left else -1] != n[-1]:
        raise RuntimeError(
            f"{function}: Incompatible shapes of A and B for the equation {'AX = B' if left else 'XA = B'} "
            f"({n[-2]}x{n[-1]} and {m[-2]}x{m[-1]})"
        )
    broadcast(n[:-2], m[:-2])


@audible
def solve_triangular(
    input: Tensor,
    B: Tensor,
    *,
    upper: bool,
    left: bool = True,
    unitriangular: bool = False,
    out: Any = None,  # noqa: N803
) -> Tensor:
    """The solutions of triangular equations; the other triangle is not read, nor a ``unitriangular`` diagonal."""
    demand("linalg_solve_triangular", input=input, B=B)
    square("linalg.solve_triangular", input)
    fits("linalg.solve_triangular", input, B, left)
    check_apart(out, B)
    if B.dtype is not input.dtype:
        B = B.to(input.dtype)  # type: ignore[attr-defined]  # noqa: N806
    solved = substitute(input, B, upper, left, unitriangular)
    refusal = "expected scalar type {Wanted} but found {Found}"
    return solved if out is None else into("linalg_solve_triangular", (input, B), out, solved, refusal)


@audible
def lu_solve(
    LU: Tensor,
    pivots: Tensor,
    B: Tensor,
    *,
    left: bool = True,
    adjoint: bool = False,
    out: Any = None,  # noqa: N803
) -> Tensor:
    """The solutions of equations whose matrices ``lu_factor`` has factored; of the turned ones where ``adjoint``."""
    demand("linalg_lu_solve", LU=LU, pivots=pivots, B=B)
    fractional("torch.linalg.lu_solve", LU)
    same_kind("linalg.lu_solve", LU=LU, B=B)
    if pivots.dtype is not dtypes.int32:
        raise RuntimeError("linalg.lu_solve: pivots should be a Tensor of scalar type torch.int32")
    square("torch.linalg.lu_solve", LU)
    fits("linalg.lu_solve", LU, B, left)
    if LU._array.dtype not in LAPACK:
        raise not_implemented("linalg.lu_solve_cpu", LU._array)
    if pivots._array.shape[-1:] != LU._array.shape[-1:]:
        raise RuntimeError("linalg.lu_solve: Number of pivots per batch should be same as the dimension of the matrix")
    if pivots._array.shape[:-1] != LU._array.shape[:-2]:
        raise RuntimeError(
            f"linalg.lu_solve: Expected LU.shape[:-1] and pivots.shape to be the same, but got pivots with shape "
            f"{list(pivots._array.shape)} instead"
        )
    solved = linalg_lu_solve(LU, pivots, B, left, adjoint)
    if not left:
        check_apart(out, B)
    return solved if out is None else into("linalg_lu_solve", (LU, pivots, B), out, solved)


@audible
def lstsq(input: Tensor, b: Tensor, rcond: Any = None, *, driver: str | None = None, out: Any = None) -> Any:
    """The shortest ``X`` for which ``input @ X`` is nearest to ``b``; also residuals, ranks and singular values.

    rcond   singular values up to this fraction of the largest count as zero
    driver  "gelsy", "gels" (full rank), "gelsd" or "gelss" (these two also give the singular values)
    """
    demand("linalg_lstsq", input=input, b=b)
    n, m = input._array.shape, b._array.shape
    if len(n) < 2:
        raise RuntimeError("torch.linalg.lstsq: input must have at least 2 dimensions.")
    if not m:
        raise RuntimeError("torch.linalg.lstsq: other must have at least 1 dimension.")
    if input.dtype is not b.dtype:
        names = input.dtype.scalar_name, b.dtype.scalar_name
        raise RuntimeError(
            "torch.linalg.lstsq: Expected input and other to have the same dtype, but got input's dtype {} and "
            "other's dtype {}".format(*names)
        )
    if out is not None and not isinstance(out, (tuple, list)):
        check_outs("linalg_lstsq", out, 4, 0)
    vector = is_vector(n, m)
    if not 0 <= len(n) - len(m) <= 1:
        raise RuntimeError(
            "torch.linalg.lstsq: input.dim() must be greater or equal to other.dim() and (input.dim() - other.dim()) "
            "<= 1"
        )
    if vector and n[-2] != m[-1]:
        raise RuntimeError("torch.linalg.lstsq: input.size(-2) should match other.size(-1)")
    if not vector and n[-2] != m[-2]:
        raise RuntimeError("torch.linalg.lstsq: input.size(-2) should match other.size(-2)")
    driver = driver or "gelsy"
    if driver not in ("gels", "gelsy", "gelsd", "gelss"):
        raise RuntimeError("torch.linalg.lstsq: parameter `driver` should be one of (gels, gelsy, gelsd, gelss)")
    if input._array.dtype not in LAPACK:
        raise RuntimeError("This function doesn't handle types other than float and double")
    if not vector:
        batch = broadcast(n[:-2], m[: len(n) - 2])
        broadcast(batch, m[:-2])
        b = b if len(m) == len(n) else expand(b, (*batch, *m[-2:]))
    if rcond is None:
        rcond = float(np.finfo(input._array.dtype).eps) * max(n[-2:])
    answers = linalg_lstsq(input, b, float(rcond), driver, vector)
    return answer("linalg_lstsq", (input, b), out, answers)


# -- pseudoinverses and ranks -----------------------------------------------------------------------------------------


def _check_tolerances(function: str, third: tuple[str, Any], atol: Any, rtol: Any) -> None:
    """Raise PyTorch's error unless each is None, a tensor or a number."""
    for position, (name, bound) in enumerate((third, ("atol", atol), ("rtol", rtol)), 2):
        if bound is not None and not isinstance(bound, Tensor):
            need_float(function, name, position, bound)


def _tolerances(A: Tensor, atol: Any, rtol: Any) -> tuple[Tensor, Tensor]:  # noqa: N803
    """Both as tensors; the relative one defaults to the rounding of the longer side, or to zero beside an absolute."""
    kind = A._array.real.dtype
    arrays = [x._array if isinstance(x, Tensor) else None if x is None else np.asarray(x) for x in (atol, rtol)]
    usual = np.asarray(np.finfo(kind).eps * max(A._array.shape[-2:], default=0), kind)
    absolute = np.zeros((), kind) if arrays[0] is None else arrays[0].astype(kind)
    relative = arrays[1]
    if relative is None:
        relative = usual if arrays[0] is None else np.where(absolute > 0, np.zeros((), kind), usual)
    return wrap(np.asarray(absolute)), wrap(np.asarray(relative).astype(kind))


@audible
def pinv(
    input: Tensor, rcond: Any = None, hermitian: bool = False, *, atol: Any = None, rtol: Any = None, out: Any = None
) -> Tensor:
    """The pseudoinverses; singular values up to ``atol``, or ``rtol`` times the largest, count as zero."""
    demand("linalg_pinv", input=input)
    _check_tolerances("linalg_pinv", ("rcond", rcond), atol, rtol)
    for name, bound in (("atol", atol), ("rtol", rcond if rtol is None else rtol)):
        if isinstance(bound, Tensor):
            no_gradient("linalg_pinv", name, bound)
    sizes = input._array.shape
    if atol is not None:  # for which PyTorch does not look
        input.size(-2)  # type: ignore[attr-defined]
        if rtol is None and input._array.dtype not in LAPACK and not isinstance(atol, Tensor):
            raise RuntimeError("This function doesn't handle types other than float and double")
    if len(sizes) < 2 or input._array.dtype not in LAPACK:
        raise RuntimeError(
            f"linalg.pinv({input.dtype.scalar_name}{{{list(sizes)}}}): expected a tensor with 2 or more dimensions of "
            "float, double, cfloat or cdouble types"
        )
    hermitian = hermitian and bool(input._array.size)  # where there is nothing, no symmetry is asked for
    if hermitian:
        square("linalg.eigh", input)
    inverse = linalg_pinv(input, *_tolerances(input, atol, rcond if rtol is None else rtol), hermitian)
    return inverse if out is None else into("linalg.pinv", (input,), out, inverse, errors.OUT_SAFELY, True)


@composite()
def pinverse(input: Tensor, rcond: float = 1e-15) -> Tensor:
    """The pseudoinverses; singular values up to ``rcond`` times the largest count as zero."""
    need_float("pinverse", "rcond", 2, rcond)
    return pinv(input, rcond)


@audible
@asking
def matrix_rank(
    input: Tensor, tol: Any = None, hermitian: bool = False, *, atol: Any = None, rtol: Any = None, out: Any = None
) -> Tensor:
    """How many singular values (sizes of eigenvalues) are above ``atol``, and above ``rtol`` times the largest."""
    _check_tolerances("linalg_matrix_rank", ("tol", tol), atol, rtol)
    matrices("torch.linalg.matrix_rank", input, "input")
    if input._array.dtype not in LAPACK:
        raise RuntimeError("This function doesn't handle types other than float and double")
    if tol is not None:
        atol, rtol = tol, 0.0
    absolute, relative = _tolerances(input, atol, rtol)
    free = input.detach()  # type: ignore[attr-defined]
    values = eigvalsh(free).abs() if hermitian and free._array.size else svdvals(free)
    largest = values.amax(-1) if values.shape[-1] else values.sum(-1)
    least = TABLE["maximum"].caller(absolute, relative * largest).unsqueeze(-1)
    ranks = (values > least).sum(-1)
    words = errors.OUT_SAFELY.replace("{name}", "torch.linalg.matrix_rank")
    return ranks if out is None else into("linalg_matrix_rank", (free,), out, ranks, words, True)


@audible
def cond(input: Tensor, p: Number | str | None = None, *, out: Any = None) -> Tensor:
    """How much matrices may enlarge relative errors, measured by the norm of order ``p``."""
    demand("linalg_cond", input=input)
    if isinstance(p, complex):
        raise RuntimeError("value cannot be converted to type double without overflow")
    name = "linalg.cond" if p is None else f"linalg.cond(ord={p if isinstance(p, str) else f'{p:g}'})"
    if isinstance(p, str):
        matrices(name, input)
        square(name, input)
    if input._array.ndim < 2:
        raise RuntimeError("linalg.cond: The input tensor must have at least 2 dimensions.")
    if p not in (None, "fro", "nuc", 1, -1, 2, -2, math.inf, -math.inf):
        raise RuntimeError(f"linalg.cond got an invalid norm type: {p if isinstance(p, str) else f'{p:g}'}")
    if not input._array.size:
        how = {"dtype": dtypes.of(input._array.real.dtype), "device": input.device}
        ratio: Any = COMPOSITES["zeros"].function(input._array.shape[:-2], **how)
    elif p is None or abs_order(p) == 2:
        values = svdvals(input)
        ratio = values[..., -1:] / values[..., :1] if p == -2 else values[..., :1] / values[..., -1:]
        ratio = squeeze_dim(ratio, -1)
    else:
        square(name, input)
        if p == "nuc":
            values = svdvals(input)
            ratio = values.sum(-1) * values.reciprocal().sum(-1)  # type: ignore[attr-defined]
        else:
            inverse, info = inv_ex(input)
            inverse = inverse.masked_fill(info.unsqueeze(-1).unsqueeze(-1) != 0, math.inf)
            ratio = (matrix_norm(input, p) * matrix_norm(inverse, p)).nan_to_num(math.inf, math.inf, -math.inf)
    return ratio if out is None else into("linalg.cond", (input,), out, ratio, errors.OUT_SAFELY, True, True)


def abs_order(p: Any) -> Any:
    """The size of an order; of a name, itself."""
    return p if isinstance(p, str) else abs(p)


# -- equations of tensors ---------------------------------------------------------------------------------------------


@audible
def tensorinv(input: Tensor, ind: int = 2, *, out: Any = None) -> Tensor:
    """The inverse with respect to ``tensordot``: its first dimensions are the last of ``input``.

    ind  how many of the dimensions of ``input`` are its rows
    """
    demand("linalg_tensorinv", input=input)
    check_dtype("tensorinv", out, input.dtype, errors.OUT_SAFELY, True)
    if ind <= 0:
        raise RuntimeError(f"Expected a strictly positive integer for 'ind', but got {ind}")
    sizes = input._array.shape
    if ind > len(sizes):
        raise RuntimeError(f"ArrayRef: invalid slice, N = {ind}; size = {len(sizes)}")
    rows, columns = sizes[:ind], sizes[ind:]
    if math.prod(columns) != math.prod(rows):
        raise RuntimeError(
            "Expected self to satisfy the requirement prod(self.shape[ind:]) == prod(self.shape[:ind]), but got "
            f"{math.prod(columns)} != {math.prod(rows)}"
        )
    flat = reshape(input, (math.prod(rows), math.prod(columns)))
    inverse, info = inv_ex(flat)
    check_info("inv", "inversion", all_values(info))
    inverse = reshape(inverse, (*columns, *rows))
    return inverse if out is None else into("linalg_tensorinv", (input,), out, inverse, castable=True)


@audible
def tensorsolve(input: Tensor, other: Tensor, dims: Sequence[int] | None = None, *, out: Any = None) -> Tensor:
    """The solution of ``tensordot(input, X, X.ndim) = other``; ``dims`` of ``input`` are first moved to its end."""
    demand("linalg_tensorsolve", input=input, other=other)
    check_dtype("tensorsolve", out, input.dtype, errors.OUT_SAFELY, True)
    moved = input
    if dims is not None:
        ndim = input._array.ndim
        chosen = [one_dim(d, ndim) for d in dims]
        if len(set(chosen)) < len(chosen):
            raise RuntimeError(f"movedim: repeated dim in `source` ({list(dims)})")
        moved = permute(input, (*(d for d in range(ndim) if d not in chosen), *chosen))
    sizes = moved._array.shape
    columns = sizes[other._array.ndim :]
    if other._array.ndim > len(sizes):
        raise RuntimeError("cannot create std::vector larger than max_size()")
    if math.prod(columns) != other._array.size:
        raise RuntimeError(
            "Expected self to satisfy the requirement prod(self.shape[other.ndim:]) == prod(self.shape[:other.ndim]), "
            f"but got {math.prod(columns)} != {other._array.size}"
        )
    flat = reshape(moved, (other._array.size, math.prod(columns)))
    solved = reshape(linalg_solve(flat, reshape(other, (other._array.size,))), columns)
    return solved if out is None else into("tensorsolve", (input, other), out, solved, castable=True)


# -- functions of matrices --------------------------------------------------------------------------------------------


@audible
def slogdet(A: Tensor, *, out: Any = None) -> Any:  # noqa: N803
    """The signs of the determinants (of complex ones, their directions) and the logarithms of their sizes."""
    square("linalg.slogdet", A)
    fractional("linalg.slogdet", A, low=False)
    return answer("linalg_slogdet", (A,), out, linalg_slogdet(A))


@composite()
def matrix_exp(input: Tensor) -> Tensor:
    """The exponentials of square matrices."""
    demand("linalg_matrix_exp", input=input)
    square("linalg.matrix_exp", input)
    fractional("linalg.matrix_exp", input)
    return linalg_matrix_exp(input)  # type: ignore[no-any-return]


@audible
def vander(x: Tensor, *, N: int | None = None) -> Tensor:  # noqa: N803
    """The powers of the elements, from zero to ``N - 1``, along a new last dimension."""
    demand("linalg_vander", x=x)
    if x._array.dtype.kind == "b" or x._array.dtype.itemsize == 2 and x.dtype.is_floating_point:
        raise RuntimeError(
            f"linalg.vander supports floating point, complex, and integer tensors, but got {x.dtype.scalar_name}"
        )
    sizes = x._array.shape or (1,)
    count = N if N is not None else sizes[-1]
    if count <= 1:
        raise RuntimeError("N must be greater than 1.")
    kind = x.dtype if x._array.dtype.kind not in "bui" else dtypes.int64
    wide = stretched(unsqueeze(x, -1), (*sizes, count - 1)).cumprod(-1)  # type: ignore[attr-defined]
    ones = COMPOSITES["ones"].function((*sizes, 1), dtype=kind, device=x.device)
    return COMPOSITES["cat"].function((ones, wide), -1)  # type: ignore[no-any-return]
