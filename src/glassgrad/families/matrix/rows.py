"""Products of vectors, matrices and batches of matrices: knows BLAS through NumPy, and how other dtypes reach it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ...core.record import Record, freed
from ...core.row import TABLE, op
from ...core.tensor import Tensor, wrap
from ...ground import dtypes, errors
from ...ground.dtypes import HALVES, Number
from ...ground.meta import in_single
from ...kernels import compiled
from ..reduce.rows import ones32, ones64
from ..shape.rows import expand, on_arrays, sum_to, t, unsqueeze, view

F32, F64 = np.dtype(np.float32), np.dtype(np.float64)


def scalar_name(array: Any) -> str:
    """The name that PyTorch's messages give an array's dtype: 'Float'."""
    return dtypes.of(array.dtype).scalar_name


def c_name(array: Any) -> str:
    """The name of the C++ type: 'float'."""
    return dtypes.c_name(dtypes.of(array.dtype))


# -- one product for every dtype --------------------------------------------------------------------------------------


def product(a: Any, b: Any) -> Any:
    """The product of matrices or vectors of one dtype, accumulated as PyTorch does."""
    kind = a.dtype
    if kind is F32 or kind is F64:
        size = a.size
        if size >= compiled.least and (result := compiled.matrix.served(a, b)) is not None:
            return result
        return a.dot(b) if size != 1 != b.size else np.matmul(a, b)  # where ``dot`` makes zeros of NaN times one zero
    return _rare(a, b, np.matmul if b.size == 1 or a.size == 1 else np.dot)


def products(a: Any, b: Any) -> Any:
    """The product of each pair of matrices in two batches of one dtype."""
    if a.shape[2] == 1:  # BLAS, asked for each pair, would take four times as long
        return _rare(a, b, _columns_by_rows)
    return _rare(_in_rows(a), _in_rows(b), np.matmul)


def _columns_by_rows(a: Any, b: Any) -> Any:
    """The products of columns with rows: sums of one product, in which a zero is positive."""
    out = np.empty((*a.shape[:2], b.shape[2]), a.dtype)
    if compiled.least <= out.size and (result := compiled.elementwise.columns_by_rows(out, a, b)) is not None:
        return result
    return np.einsum("bij,bjk->bik", a, b, out=out)


def _rare(a: Any, b: Any, multiply: Any) -> Any:
    kind = a.dtype
    if kind.char in HALVES:
        return multiply(in_single(a), in_single(b)).astype(kind)
    return _whole(a, b, multiply) if kind.kind in "iu" else multiply(a, b)


def _whole(a: Any, b: Any, multiply: Any) -> Any:
    """Integers go through float64, which BLAS is fast at, wherever every partial sum is exact there."""
    if a.size * b.shape[-1] < 4096 or not b.size:
        return multiply(a, b)
    largest = [max(abs(int(x.max())), abs(int(x.min()))) for x in (a, b)]
    if largest[0] * largest[1] * a.shape[-1] >= 2**53:
        return multiply(a, b)
    return multiply(a.astype(np.float64), b.astype(np.float64)).astype(np.int64).astype(a.dtype)


def _in_rows(a: Any) -> Any:
    """``a``, copied unless BLAS can read its matrices as they lie, row by row or column by column."""
    rows, columns = a.strides[-2:]
    size = a.itemsize
    if columns == size and rows >= size * a.shape[-1] or rows == size and columns >= size * a.shape[-2]:
        return a
    return np.ascontiguousarray(a)


def refuse_bools(array: Any, kernel: str) -> None:
    """Raise PyTorch's error for products of truth values."""
    if array.dtype.kind == "b":
        raise NotImplementedError(f"\"{kernel}\" not implemented for 'Bool'")


def whole_factors(array: Any, beta: Any, alpha: Any) -> tuple[Any, Any]:
    """``beta`` and ``alpha`` as factors in the dtype of ``array``: integers drop fractions, as C++ does."""
    if array.dtype.kind not in "iu":
        return beta, alpha
    for factor in (beta, alpha):
        dtypes.check_number(factor, array.dtype)
    return int(beta), int(alpha)


def combined(function: str, self: Any, a: Any, b: Any, multiply: Any, beta: Any, alpha: Any) -> Any:
    """``beta * self + alpha * multiply(a, b)`` in the dtype of ``a``, rounded once; a zero ``beta`` hides even NaN."""
    if type(beta) is not int or type(alpha) is not int:
        dtypes.need_number(function, "beta", beta)
        dtypes.need_number(function, "alpha", alpha)
    kind = a.dtype
    self = in_single(self)
    result = multiply(in_single(a), in_single(b))
    beta, alpha = whole_factors(result, beta, alpha)
    work = result.dtype.type
    if alpha != 1:
        result = result * work(alpha)
    if beta != 0:
        result = result + (self if beta == 1 else self * work(beta))
    return result.astype(kind, copy=False)


def check_expands(self: Any, sizes: tuple[int, ...]) -> None:
    """Raise PyTorch's error unless ``self`` broadcasts to just ``sizes``."""
    lead = len(sizes) - self.ndim
    if lead < 0 or any(n != 1 and n != m for n, m in zip(self.shape, sizes[lead:], strict=True)):
        expand.row.kernel(self, sizes)


def on_tensors(check: Callable[..., None]) -> Callable[..., None]:
    """A check of arrays, applied to tensors; anything else is refused elsewhere."""

    def applied(*tensors: Any) -> None:
        if all(isinstance(tensor, Tensor) for tensor in tensors):
            check(*(tensor._array for tensor in tensors))

    return applied


# -- rules speak in transposes; on arrays these are one call of BLAS --------------------------------------------------


def _is_turned(strides: tuple[int, ...]) -> bool:
    """Whether a matrix lies column by column, as the transposed weight of a linear layer; its gradient does then."""
    return strides[0] < strides[1]


@on_arrays(lambda grad, mat2, strides: product(mat2, grad.T).T if _is_turned(strides) else product(grad, mat2.T))
def by_transposed(grad: Any, mat2: Any, strides: tuple[int, ...]) -> Any:
    """``grad @ mat2.T``, the gradient of a first factor: it lies as one of these ``strides``."""
    return t(mm(mat2, t(grad))) if _is_turned(strides) else mm(grad, t(mat2))


def _transposed_by(mat1: Any, grad: Any, strides: tuple[int, ...] | None = None) -> Any:
    if strides is None or not _is_turned(strides):
        return product(mat1.T, grad)
    if grad.size >= compiled.least and (turned := compiled.matrix.served(grad.T, mat1)) is not None:
        return turned.T
    return product(grad.T, mat1).T


@on_arrays(_transposed_by)
def transposed_by(mat1: Any, grad: Any, strides: tuple[int, ...] | None = None) -> Any:
    """``mat1.T @ grad``, the gradient of a second factor: it lies as one of these ``strides``, or row by row."""
    return mm(t(mat1), grad) if strides is None or not _is_turned(strides) else t(mm(t(grad), mat1))


@on_arrays(lambda grad, factor: grad if factor == 1 else grad * grad.dtype.type(factor))
def times(grad: Any, factor: Any) -> Any:
    """A gradient times a number, mostly 1."""
    return grad if factor == 1 else grad * factor


@on_arrays(np.multiply.outer)
def outer_of(vec1: Any, vec2: Any) -> Any:
    """The outer product of two vectors."""
    return view(vec1, (vec1._array.shape[0], 1)) * vec2


@on_arrays(np.conj)
def conjugate(grad: Any) -> Any:
    """The conjugate of a gradient."""
    return TABLE["conj_physical"].caller(grad) if grad._array.dtype.kind == "c" else grad


@on_arrays(lambda grad, sizes: grad if grad.shape == sizes else sum_to.row.kernel(grad, sizes))
def narrowed(grad: Any, sizes: tuple[int, ...]) -> Any:
    """A gradient, summed where an input of ``sizes`` was stretched."""
    return grad if grad._array.shape == sizes else sum_to(grad, sizes)


# -- matrices ---------------------------------------------------------------------------------------------------------


def _sizes(tensor: Any) -> tuple[int, ...]:
    return tuple(tensor.shape)


def _strides(tensor: Any) -> tuple[int, ...]:
    return tensor.stride()


def _check_fits(mat1: Any, mat2: Any) -> None:
    (n, k), (l, m) = mat1.shape, mat2.shape  # noqa: E741
    if k != l:
        raise RuntimeError(f"mat1 and mat2 shapes cannot be multiplied ({n}x{k} and {l}x{m})")


def check_mm(self: Any, mat2: Any) -> None:
    """Raise PyTorch's error unless two arrays can be multiplied as matrices."""
    if self.ndim != 2:
        raise RuntimeError("self must be a matrix")
    if mat2.ndim != 2:
        raise RuntimeError("mat2 must be a matrix")
    _check_fits(self, mat2)
    if self.dtype != mat2.dtype:
        raise RuntimeError(f"expected m1 and m2 to have the same dtype, but got: {c_name(self)} != {c_name(mat2)}")
    refuse_bools(self, "addmm_impl_cpu_")


@op(
    precision="low",
    refuses=on_tensors(check_mm),
    shows={
        "self_sym_sizes": ("self", _sizes),
        "self_sym_strides": ("self", _strides),
        "mat2_sym_sizes": ("mat2", _sizes),
        "mat2_sym_strides": ("mat2", _strides),
    },
    out=errors.OUT_DTYPE, forward="each",
)
def mm(self: Any, mat2: Any, /) -> Any:
    """The product of two matrices."""
    if self.ndim == 2 == mat2.ndim:
        try:
            return product(self, mat2)
        except ValueError:
            pass
    check_mm(self, mat2)
    return product(self, mat2)


mm.derivative(
    self=lambda grad, mat2, self_strides: by_transposed(grad, mat2, self_strides),
    mat2=lambda grad, self, mat2_strides: transposed_by(self, grad, mat2_strides),
)


def check_addmm(self: Any, mat1: Any, mat2: Any) -> None:
    """Raise PyTorch's error unless ``self + mat1 @ mat2`` is possible."""
    for name, array in (("self", self), ("mat1", mat1)):
        if array.dtype != mat2.dtype:
            raise RuntimeError(
                f"{name} and mat2 must have the same dtype, but got {scalar_name(array)} and {scalar_name(mat2)}"
            )
    for name, array in (("mat1", mat1), ("mat2", mat2)):
        if array.ndim != 2:
            raise RuntimeError(f"{name} must be a matrix, got {array.ndim}-D tensor")
    _check_fits(mat1, mat2)
    check_expands(self, (mat1.shape[0], mat2.shape[1]))
    refuse_bools(mat1, "addmm_impl_cpu_")


@op(
    inplace=True,
    precision="low",
    refuses=on_tensors(check_addmm),
    hidden=("self_sizes",),
    shows={
        "mat1_sym_sizes": ("mat1", _sizes),
        "mat1_sym_strides": ("mat1", _strides),
        "mat2_sym_strides": ("mat2", _strides),
    },
    out=errors.OUT_DTYPE,
    formerly=("beta", "alpha"),
    widens=True,
)
def addmm(self: Any, mat1: Any, mat2: Any, /, beta: Number = 1, alpha: Number = 1) -> Any:
    """``beta * self + alpha * (mat1 @ mat2)``; ``self`` broadcasts to the product."""
    kind = self.dtype
    if (kind is F32 or kind is F64) and beta == 1 == alpha and mat1.ndim == 2 == mat2.ndim:
        try:
            size = mat1.size
            if size >= compiled.least and (result := compiled.matrix.served(mat1, mat2, self)) is not None:
                return result
            result = mat1.dot(mat2) if size != 1 != mat2.size else np.matmul(mat1, mat2)
            result += self
            return result
        except ValueError:
            pass
    check_addmm(self, mat1, mat2)
    return combined("addmm", self, mat1, mat2, product, beta, alpha)


addmm.derivative(
    self=lambda grad, self_sizes, mat2_sizes, beta: times(
        column_sums(grad) if self_sizes == mat2_sizes[1:] else narrowed(grad, self_sizes), beta
    ),
    mat1=lambda grad, mat2, mat1_strides, alpha: times(by_transposed(grad, mat2, mat1_strides), alpha),
    mat2=lambda grad, mat1, mat2_strides, alpha: times(transposed_by(mat1, grad, mat2_strides), alpha),
)


@addmm.row.tangent
def _addmm_tangent(
    self_t: Any, mat1: Any, mat1_t: Any, mat2: Any, mat2_t: Any, beta: Any, alpha: Any
) -> Any:
    moved = None if self_t is None else times(self_t, beta)
    for left, right in ((mat1_t, mat2), (mat1, mat2_t)):
        if left is not None and right is not None:
            moved = times(mm(left, right), alpha) if moved is None else addmm(moved, left, right, 1, alpha)
    return moved


@op(node="SumBackward1", public=False, forward="linear")
def column_sums(self: Any, /) -> Any:
    """The sums of a matrix's columns, by BLAS unless it is large."""
    kind = self.dtype
    if kind is F32 or kind is F64:
        if self.size >= 16 * compiled.least and (sums := compiled.reduce.columns(self)) is not None:
            return sums
        count = self.shape[0]
        ones = (ones32 if kind is F32 else ones64).get(count)
        return (np.ones(count, kind) if ones is None else ones).dot(self)
    return sum_to.row.kernel(self, self.shape[1:])


column_sums.derivative(self=lambda grad, self_sizes: expand(grad, self_sizes))


# -- vectors ----------------------------------------------------------------------------------------------------------


@op(
    refuses=on_tensors(lambda self, vec: check_mv(None, self, vec)),
    out="addmv input tensors must have the same dtype, but got {Found}, {Wanted}, and {Wanted}", forward="each",
)
def mv(self: Any, vec: Any, /) -> Any:
    """The product of a matrix and a vector."""
    if self.ndim == 2 and vec.ndim == 1:
        try:
            return product(self, vec)
        except ValueError:
            pass
    check_mv(None, self, vec)
    return product(self, vec)


mv.derivative(self=lambda grad, vec: outer_of(grad, vec), vec=lambda grad, self: mv(t(self), grad))


def check_mv(self: Any, mat: Any, vec: Any) -> None:
    """Raise PyTorch's error unless ``self + mat @ vec`` is possible; ``self`` is None where there is nothing to add."""
    ndim = 1 if self is None else self.ndim
    if self is None and not mat.ndim:
        raise IndexError("Dimension specified as 0 but tensor has no dimensions")
    if mat.ndim != 2 or vec.ndim != 1 or ndim > 1:
        raise RuntimeError(f"vector + matrix @ vector expected, got {ndim}, {mat.ndim}, {vec.ndim}")
    (n, m), added = mat.shape, mat.shape[0] if self is None or not self.ndim else self.shape[0]
    if m != vec.shape[0] or added not in (n, 1):
        if self is not None and not self.ndim:  # whose size PyTorch asks for, to tell it
            raise IndexError("Dimension specified as 0 but tensor has no dimensions")
        raise RuntimeError(f"size mismatch, got input ({added}), mat ({n}x{m}), vec ({vec.shape[0]})")
    names = [scalar_name(vec if array is None else array) for array in (self, mat, vec)]
    if len(set(names)) > 1:
        raise RuntimeError("addmv input tensors must have the same dtype, but got {}, {}, and {}".format(*names))
    refuse_bools(mat, "addmv_impl_cpu")


def check_dot(self: Any, other: Any) -> None:
    """Raise PyTorch's error unless two arrays are vectors of one size and dtype."""
    if self.ndim != 1 or other.ndim != 1:
        raise RuntimeError(f"1D tensors expected, but got {self.ndim}D and {other.ndim}D tensors")
    if self.dtype != other.dtype:
        raise RuntimeError(
            f"dot : expected both vectors to have same dtype, but found {scalar_name(self)} and {scalar_name(other)}"
        )
    if self.shape != other.shape:
        n, m = self.shape[0], other.shape[0]
        raise RuntimeError(
            f"inconsistent tensor size, expected tensor [{n}] and src [{m}] to have the same number of elements, but "
            f"got {n} and {m} elements respectively"
        )
    refuse_bools(self, "dot")


@op(refuses=on_tensors(check_dot), out=errors.OUT_MATCH, forward="each")
def dot(self: Any, tensor: Any, /) -> Any:
    """The sum of the products of two vectors' elements."""
    if self.ndim == 1 == tensor.ndim:
        try:
            return product(self, tensor)
        except ValueError:
            pass
    check_dot(self, tensor)
    return product(self, tensor)


dot.derivative(self=lambda grad, tensor: grad * tensor, tensor=lambda grad, self: grad * self)


@op(holomorphic=False, out=errors.OUT_MATCH)
def vdot(self: Any, other: Any, /) -> Any:
    """The sum of the products of two vectors' elements, the first conjugated."""
    check_dot(self, other)
    return product(np.conj(self) if self.dtype.kind == "c" else self, other)


vdot.derivative(self=lambda grad, other: conjugate(grad) * other, other=lambda grad, self: grad * self)


@op(inplace=True, hidden=("self_sizes",), out=errors.OUT_DTYPE, formerly=("beta", "alpha"), widens=True)
def addmv(self: Any, mat: Any, vec: Any, /, beta: Number = 1, alpha: Number = 1) -> Any:
    """``beta * self + alpha * (mat @ vec)``; ``self`` broadcasts to the product."""
    check_mv(self, mat, vec)
    return combined("addmv", self, mat, vec, product, beta, alpha)


addmv.derivative(
    self=lambda grad, self_sizes, beta: times(narrowed(grad, self_sizes), beta),
    mat=lambda grad, vec, alpha: times(outer_of(grad, vec), alpha),
    vec=lambda grad, mat, alpha: times(mv(t(mat), grad), alpha),
)


def _check_outer(self: Any, vec1: Any, vec2: Any) -> None:
    for name, array in (("vec1", vec1), ("vec2", vec2)):
        if array.ndim != 1:
            raise RuntimeError(f"addr: Expected 1-D argument {name}, but got {array.ndim}-D")
    check_expands(self, (*vec1.shape, *vec2.shape))


@op(
    inplace=True, typed="promote", formerly=("beta", "alpha"), strict=True, aligned=True, widens=True,
    refuses=on_tensors(_check_outer),
)  # fmt: skip
def addr(self: Any, vec1: Any, vec2: Any, /, beta: Number = 1, alpha: Number = 1) -> Any:
    """``beta * self + alpha * outer(vec1, vec2)``; ``self`` broadcasts to the outer product."""
    _check_outer(self, vec1, vec2)
    for name, value in (("beta", beta), ("alpha", alpha)):
        if isinstance(value, bool) and self.dtype.kind != "b":
            raise RuntimeError(f"Boolean {name} only supported for Boolean results.")
        if isinstance(value, (float, complex)) and self.dtype.kind in "biu":
            raise RuntimeError(f"For integral input tensors, argument {name} must not be a floating point number.")
        if value != 1:
            dtypes.check_number(value, self.dtype)
    if self.dtype.kind == "b":
        outer = np.logical_and.outer(vec1, vec2) if alpha else np.zeros((*vec1.shape, *vec2.shape), bool)
        return np.logical_or(outer, self) if beta else outer
    return combined("addr", self, vec1, vec2, np.multiply.outer, beta, alpha)


addr.derivative(
    self=lambda grad, beta: times(grad, beta),
    vec1=lambda grad, vec2, alpha: times(mv(grad, vec2), alpha),
    vec2=lambda grad, vec1, alpha: times(mv(t(grad), vec1), alpha),
)


@op(node="SqueezeBackward4", public=False, forward="linear")
def squeezed_row(self: Any, /, dim: Any) -> Any:
    """A matrix of one row (``dim`` 0) or column, which nobody else holds, as a vector that is no view."""
    return self.reshape(-1)


squeezed_row.derivative(self=lambda grad, dim, self_sizes: unsqueeze(grad, dim))


# -- The linear layer in one record, for the everyday call: a matrix of inputs, a matrix of weights, a vector of
# biases.
#
# PyTorch's graph has two nodes there, AddmmBackward0 and the TBackward0 of the weight. One record computes the same
# with half the work; when somebody looks at the graph, it unfolds into those two.


def unfold(record: Record) -> None:
    """Turn the record into the two that PyTorch has: of ``addmm``, and of the weight's transpose."""
    bias, mat1, weight = record.edges
    (sizes,) = record.constants
    is_freed = record.run is freed
    turned = None
    if weight is not None:
        turned = Record.of(t.row.plan.kind, (weight,))
        turned.sequence = record.sequence - 0.5
    rows, columns = (1, 0), (0, 1)  # strides of what lies row by row, and of its transpose
    settings = {
        "alpha": 1, "beta": 1, "self_sizes": sizes[:1], "mat2_sizes": sizes[::-1],
        "mat1_strides": rows, "mat2_strides": columns,
    }  # fmt: skip
    saves = addmm.row.plan.saves
    if not is_freed:
        mat1_at, weight_at = (2 * linear_2d.row.plan.saves[name][1] for name in ("mat1", "weight"))
        turned_weight = _transposed(record.saved[weight_at], record.saved[weight_at + 1], weight, turned)
        entries = {saves["mat1"][1]: record.saved[mat1_at : mat1_at + 2], saves["mat2"][1]: turned_weight}
        record.saved = tuple(entry for slot in sorted(entries) for entry in entries[slot])
    record.kind, record.edges = addmm.row.plan.kind, (bias, mat1, turned)
    record.run = freed if is_freed else record.kind.run
    record.constants = tuple(settings.get(name) for name, (how, _) in saves.items() if how == "constant")


def _transposed(weight: Any, version: int, edge: Any, turned: Record | None) -> tuple[Any, int]:
    """The saved weight as ``addmm`` saves it: its transpose, with the history of that view."""
    if weight is None:
        return None, 0
    if isinstance(weight, Tensor):
        counter, array = weight._counter, weight._array
    else:  # the bare array of an input whose history is an edge
        counter, array, version = edge.counter, weight, 0
    view = wrap(array.T)
    view._edge, view._counter = turned, counter
    return view, version


@op(
    node="AddmmBackward0", public=False, fallback=lambda bias, mat1, weight: addmm(bias, mat1, t(weight)), unfold=unfold
)
def linear_2d(self: Any, mat1: Any, weight: Any, /) -> Any:
    """``mat1 @ weight.T + self``, all of one everyday dtype."""
    try:
        turned = weight.T
        size = mat1.size
        if size >= compiled.least and (result := compiled.matrix.served(mat1, turned, self)) is not None:
            return result
        result = mat1.dot(turned) if size != 1 != turned.size else np.matmul(mat1, turned)
        result += self
    except (ValueError, AttributeError):
        return addmm.row.kernel(self, mat1, weight.T)  # it tells what is wrong
    return result


linear_2d.derivative(
    self=lambda grad, weight_sizes: column_sums(grad),
    mat1=lambda grad, weight: mm(grad, weight),
    weight=lambda grad, mat1: transposed_by(grad, mat1),
)


@linear_2d.row.samples("weight")
def _linear_weights(grad: Any, mat1: Any, apart: Any) -> Any:
    return apart(grad), apart(mat1)


@linear_2d.row.samples("self")
def _linear_biases(grad: Any, apart: Any) -> Any:
    return apart(grad).sum(1)


@addmm.row.samples("mat2")
def _addmm_weights(grad: Any, mat1: Any, alpha: Any, apart: Any) -> Any:
    return apart(mat1), apart(grad * grad.dtype.type(alpha))


@mm.row.samples("mat2")
def _mm_weights(grad: Any, self: Any, apart: Any) -> Any:
    return apart(self), apart(grad)
