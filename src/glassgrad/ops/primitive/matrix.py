"""Products of vectors, matrices and batches of matrices: knows BLAS through NumPy, and how other dtypes reach it."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np

from ...ground import dtypes
from .. import override
from ..declare import op
from .shape import expand, on_arrays, sum_to, t, transpose

F32, F64 = np.dtype(np.float32), np.dtype(np.float64)
_HALVES = (np.dtype(np.float16), np.dtype(ml_dtypes.bfloat16))
_C_NAMES = {
    "Half": "c10::Half", "BFloat16": "c10::BFloat16", "Float": "float", "Double": "double", "Byte": "unsigned char",
    "Char": "signed char", "Short": "short int", "Int": "int", "Long": "long int", "Bool": "bool",
    "ComplexFloat": "c10::complex<float>", "ComplexDouble": "c10::complex<double>",
}  # fmt: skip


def scalar_name(array: Any) -> str:
    """The name that PyTorch's messages give an array's dtype: 'Float'."""
    return dtypes.of(array.dtype).scalar_name


def c_name(array: Any) -> str:
    """The name of the C++ type: 'float'."""
    return _C_NAMES.get(scalar_name(array), scalar_name(array))


# -- one product for every dtype -------------------------------------------------------------------------------------


def product(a: Any, b: Any) -> Any:
    """The product of matrices or vectors of one dtype, accumulated as PyTorch does."""
    kind = a.dtype
    return a.dot(b) if kind is F32 or kind is F64 else _rare(a, b, np.dot)


def products(a: Any, b: Any) -> Any:
    """The product of each pair of matrices in two batches of one dtype."""
    return _rare(_in_rows(a), _in_rows(b), np.matmul)


def _rare(a: Any, b: Any, multiply: Any) -> Any:
    kind = a.dtype
    if kind.metadata:
        return override.blank((*a.shape[:-1], *b.shape[max(a.ndim - 1, 1) :][: b.ndim - 1]), kind)
    if kind in _HALVES:
        return multiply(a.astype(np.float32), b.astype(np.float32)).astype(kind)
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
    return a if a.dtype.metadata else np.ascontiguousarray(a)


def refuse_bools(array: Any, kernel: str) -> None:
    """Raise PyTorch's error for products of truth values."""
    if array.dtype.kind == "b":
        raise NotImplementedError(f"\"{kernel}\" not implemented for 'Bool'")


def whole_factors(array: Any, beta: Any, alpha: Any) -> tuple[Any, Any]:
    """``beta`` and ``alpha`` as factors in the dtype of ``array``: integers drop fractions, as C++ does."""
    if array.dtype.kind in "iu":
        return int(beta), int(alpha)
    return beta, alpha


def combined(self: Any, made: Any, beta: Any, alpha: Any) -> Any:
    """``beta * self + alpha * made`` in the shape and dtype of ``made``; a zero ``beta`` hides even NaN."""
    kind = made.dtype
    if kind.metadata:
        return made
    beta, alpha = whole_factors(made, beta, alpha)
    if kind in _HALVES:
        self, made = self.astype(np.float32), made.astype(np.float32)
    work = made.dtype.type
    if alpha != 1:
        made = made * work(alpha)
    if beta != 0:
        made = made + (self if beta == 1 else self * work(beta))
    return made.astype(kind, copy=False)


def check_expands(self: Any, sizes: tuple[int, ...]) -> None:
    """Raise PyTorch's error unless ``self`` broadcasts to just ``sizes``."""
    lead = len(sizes) - self.ndim
    if lead < 0 or any(n != 1 and n != m for n, m in zip(self.shape, sizes[lead:], strict=True)):
        expand.row.kernel(self, sizes)


# -- rules speak in transposes; on arrays these are one call of BLAS ---------------------------------------------------


@on_arrays(lambda grad, mat2: product(grad, mat2.T))
def by_transposed(grad: Any, mat2: Any) -> Any:
    """``grad @ mat2.T``."""
    return mm(grad, t(mat2))


@on_arrays(lambda mat1, grad: product(mat1.T, grad))
def transposed_by(mat1: Any, grad: Any) -> Any:
    """``mat1.T @ grad``."""
    return mm(t(mat1), grad)


@on_arrays(lambda grad, factor: grad if factor == 1 else grad * grad.dtype.type(factor))
def times(grad: Any, factor: Any) -> Any:
    """A gradient times a number, mostly 1."""
    return grad if factor == 1 else grad * factor


# -- matrices --------------------------------------------------------------------------------------------------------


@op()
def mm(self: Any, mat2: Any, /) -> Any:
    """The product of two matrices."""
    kind = self.dtype
    if kind is mat2.dtype and (kind is F32 or kind is F64) and self.ndim == 2 == mat2.ndim:
        try:
            return self.dot(mat2)
        except ValueError:
            pass
    _check_mm(self, mat2)
    refuse_bools(self, "addmm_impl_cpu_")
    return product(self, mat2)


def _check_mm(self: Any, mat2: Any) -> None:
    if self.ndim != 2:
        raise RuntimeError("self must be a matrix")
    if mat2.ndim != 2:
        raise RuntimeError("mat2 must be a matrix")
    _check_fits(self, mat2)
    if self.dtype != mat2.dtype:
        raise RuntimeError(f"expected m1 and m2 to have the same dtype, but got: {c_name(self)} != {c_name(mat2)}")


def _check_fits(mat1: Any, mat2: Any) -> None:
    (n, k), (l, m) = mat1.shape, mat2.shape  # noqa: E741
    if k != l:
        raise RuntimeError(f"mat1 and mat2 shapes cannot be multiplied ({n}x{k} and {l}x{m})")


mm.derivative(
    self=lambda grad, mat2: by_transposed(grad, mat2),
    mat2=lambda grad, self: transposed_by(self, grad),
)


@op(inplace=True)
def addmm(self: Any, mat1: Any, mat2: Any, /, beta: Any = 1, alpha: Any = 1) -> Any:
    """``beta * self + alpha * (mat1 @ mat2)``; ``self`` broadcasts to the product."""
    kind = mat1.dtype
    if (
        (kind is F32 or kind is F64)
        and kind is mat2.dtype
        and kind is self.dtype
        and mat1.ndim == 2 == mat2.ndim
        and beta == 1 == alpha
    ):
        try:
            made = mat1.dot(mat2)
            made += self
            return made
        except ValueError:
            pass
    _check_addmm(self, mat1, mat2)
    return combined(self, product(mat1, mat2), beta, alpha)


def _check_addmm(self: Any, mat1: Any, mat2: Any) -> None:
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


@op(node="SumBackward1")
def column_sums(self: Any, /) -> Any:
    """The sums of a matrix's columns, by BLAS."""
    kind = self.dtype
    if kind is F32 or kind is F64:
        return np.ones(self.shape[0], kind).dot(self)
    return sum_to.row.kernel(self, self.shape[1:])


column_sums.internal()
column_sums.derivative(self=lambda grad, self_sizes: expand(grad, self_sizes))


@addmm.derivative("self")
def _to_addend(grad: Any, self_sizes: Any, mat1_sizes: Any, mat2_sizes: Any, beta: Any) -> Any:
    """The gradient summed where ``self`` was stretched."""
    if self_sizes == mat2_sizes[1:]:
        return times(column_sums(grad), beta)
    if self_sizes != (mat1_sizes[0], mat2_sizes[1]):
        grad = sum_to(grad, self_sizes)
    return times(grad, beta)


addmm.derivative(
    mat1=lambda grad, mat2, alpha: times(by_transposed(grad, mat2), alpha),
    mat2=lambda grad, mat1, alpha: times(transposed_by(mat1, grad), alpha),
)


# -- vectors -----------------------------------------------------------------------------------------------------------


@op()
def mv(self: Any, vec: Any, /) -> Any:
    """The product of a matrix and a vector."""
    kind = self.dtype
    if kind is vec.dtype and (kind is F32 or kind is F64) and self.ndim == 2 and vec.ndim == 1:
        try:
            return self.dot(vec)
        except ValueError:
            pass
    check_mv(None, self, vec)
    return product(self, vec)


def check_mv(self: Any, mat: Any, vec: Any) -> None:
    """Raise PyTorch's error unless ``self + mat @ vec`` is possible; ``self`` is None where there is nothing to add."""
    ndim = 1 if self is None else self.ndim
    if mat.ndim != 2 or vec.ndim != 1 or ndim > 1:
        raise RuntimeError(f"vector + matrix @ vector expected, got {ndim}, {mat.ndim}, {vec.ndim}")
    (n, m), added = mat.shape, mat.shape[0] if self is None or not self.ndim else self.shape[0]
    if m != vec.shape[0] or added not in (n, 1):
        raise RuntimeError(f"size mismatch, got input ({added}), mat ({n}x{m}), vec ({vec.shape[0]})")
    names = [scalar_name(vec if array is None else array) for array in (self, mat, vec)]
    if len(set(names)) > 1:
        raise RuntimeError("addmv input tensors must have the same dtype, but got {}, {}, and {}".format(*names))
    refuse_bools(mat, "addmv_impl_cpu")


@op()
def dot(self: Any, tensor: Any, /) -> Any:
    """The sum of the products of two vectors' elements."""
    kind = self.dtype
    if kind is tensor.dtype and (kind is F32 or kind is F64) and self.ndim == 1 == tensor.ndim:
        try:
            return self.dot(tensor)
        except ValueError:
            pass
    _check_dot(self, tensor)
    return product(self, tensor)


@op()
def vdot(self: Any, other: Any, /) -> Any:
    """The sum of the products of two vectors' elements, the first conjugated."""
    _check_dot(self, other, "vdot" if self.dtype.kind == "c" else "dot")
    return product(np.conj(self) if self.dtype.kind == "c" else self, other)


def _check_dot(self: Any, other: Any, kernel: str = "dot") -> None:
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
    refuse_bools(self, kernel)


@op(inplace=True)
def addmv(self: Any, mat: Any, vec: Any, /, beta: Any = 1, alpha: Any = 1) -> Any:
    """``beta * self + alpha * (mat @ vec)``; ``self`` broadcasts to the product."""
    check_mv(self, mat, vec)
    return combined(self, product(mat, vec), beta, alpha)


@op(inplace=True)
def addr(self: Any, vec1: Any, vec2: Any, /, beta: Any = 1, alpha: Any = 1) -> Any:
    """``beta * self + alpha * outer(vec1, vec2)``; ``self`` broadcasts to the outer product."""
    for name, array in (("vec1", vec1), ("vec2", vec2)):
        if array.ndim != 1:
            raise RuntimeError(f"addr: Expected 1-D argument {name}, but got {array.ndim}-D")
    check_expands(self, (*vec1.shape, *vec2.shape))
    if self.dtype.kind == "b":
        made = np.logical_and.outer(vec1, vec2) if alpha else np.zeros((*vec1.shape, *vec2.shape), bool)
        return np.logical_or(made, self) if beta else made
    if self.dtype.kind in "iu":
        for name, value in (("beta", beta), ("alpha", alpha)):
            if isinstance(value, float):
                raise RuntimeError(
                    f"For integral input tensors, argument {name} must not be a floating point number."
                )
    return combined(self, np.multiply.outer(vec1, vec2), beta, alpha)


addr.typed_as("promote")


@on_arrays(lambda vec1, vec2: np.multiply.outer(vec1, vec2))
def ger(vec1: Any, vec2: Any) -> Any:
    """The outer product in a rule."""
    return by_transposed(transpose(expand(vec1, (1, *vec1._d.shape)), 0, 1), expand(vec2, (1, *vec2._d.shape)))


mv.derivative(self=lambda grad, vec: outer(grad, vec), vec=lambda grad, self: mv(t(self), grad))
