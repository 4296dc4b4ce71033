"""The rows of sparse tensors: like those of the table, but never printed as everyday calls.

Their kernels take carriers and arrays alike, so that a rule can be given a sparse gradient or a dense one.  They stand
beside the table, whose laws are about dense tensors; ``functions.py`` says which stands for which.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ...core import call
from ...core.row import Row
from ...ground import dtypes
from ...tensor import sparse as _classes  # noqa: F401  the tensors that carry what these rows give
from ..shape.rows import expand, unsqueeze
from . import kernels as arrays
from .kernels import Carrier, Compressed, Coo

#: Every row of this file, by name.
ROWS: dict[str, Row] = {}


def carried(node: str | None = None, auxiliary: tuple[str, ...] = ()) -> Callable[[Callable[..., Any]], Any]:
    """Declare the kernel below as a row of sparse tensors: inputs before ``/``, settings after, all by position."""

    def declare(kernel: Callable[..., Any]) -> Any:
        row = Row(kernel, node=node, auxiliary=auxiliary)
        count = len(row.inputs)

        def caller(*args: Any) -> Any:
            arguments = [*args, *list(row.defaults.values())[len(args) - count - len(row.settings) :]]
            return call.call(row, tuple(arguments[:count]), tuple(arguments[count : count + len(row.settings)]))

        function: Any = caller
        function.__name__ = function.__qualname__ = row.name
        function.__doc__, function.row, function.derivative = kernel.__doc__, row, row.derivative
        row.caller = function
        ROWS[row.name] = row
        return function

    return declare


# -- between sparse and dense -----------------------------------------------------------------------------------------


@carried("SparseCooTensorWithDimsAndTensorsBackward0", auxiliary=("indices",))
def sparse_from(indices: Any, values: Any, /, sizes: Any, is_coalesced: bool = False) -> Any:
    """The sparse tensor of these places and values."""
    return Coo(np.asarray(indices).astype(np.int64), np.array(values), sizes, is_coalesced)


sparse_from.derivative(values=lambda grad, indices: picked(grad, indices))


@carried(auxiliary=("indices",))
def picked(self: Any, indices: Any, /) -> Any:
    """The values at some places of a sparse or dense tensor."""
    return arrays.values_at(self, indices)


picked.derivative(self=lambda grad, indices, self_sizes: sparse_from(indices, grad, self_sizes))


@carried("CoalesceBackward0")
def coalesced(self: Any, /) -> Any:
    """The same with each place once, in order."""
    return arrays.coalesced(self)


coalesced.derivative(self=lambda grad: grad)


@carried("ToDenseBackward0")
def to_dense(self: Any, /) -> Any:
    """The dense tensor of a sparse one."""
    return arrays.dense_of(self)


to_dense.derivative(self=lambda grad, self: masked(grad, self))


@carried("ToDenseBackward0")
def densified(self: Any, /) -> Any:
    """The dense tensor of a sparse or dense one; its gradient is as dense."""
    return arrays.dense_of(self)


densified.derivative(self=lambda grad: grad)


@carried("ToSparseBackward0")
def to_sparse(self: Any, /, sparse_dim: int) -> Any:
    """What of a dense tensor is not nought."""
    return arrays.sparse_of(self, sparse_dim)


to_sparse.derivative(self=lambda grad: densified(grad))


@carried("ToSparseBackward1")
def to_sparse_all(self: Any, /) -> Any:
    """What of a dense tensor is not nought, every dimension sparse."""
    return arrays.sparse_of(self, self.ndim)


to_sparse_all.derivative(self=lambda grad: densified(grad))


def _to_compressed(self: Any, /, layout: str, block: Any) -> Any:
    """A matrix by compressed lines."""
    if isinstance(self, Compressed):
        self = self.coo()
    return arrays.compressed(self if isinstance(self, Coo) else arrays.sparse_of(self, 2), layout, block)


def _to_layout(name: str) -> Any:
    _to_compressed.__name__ = f"to_{name.lower()}"
    function = carried(f"ToSparse{name}Backward0")(_to_compressed)
    function.derivative(self=lambda grad, self: as_sparse_as(grad, self))
    return function


#: By layout, the row that makes it of another tensor.
to_compressed = {name.lower(): _to_layout(name) for name in ("Csr", "Csc", "Bsr", "Bsc")}


@carried("ToSparseBackward1")
def compressed_to_coo(self: Any, /) -> Any:
    """The matrix by coordinates."""
    return self.coo().copy()


compressed_to_coo.derivative(self=lambda grad, self: masked(grad, self))


@carried("SparseCompressedTensorBackward0", auxiliary=("starts", "places"))
def compressed_from(starts: Any, places: Any, values: Any, /, sizes: Any, layout: str = "csr") -> Any:
    """The sparse matrix of these compressed lines."""
    return Compressed(np.array(starts), np.array(places), np.array(values), sizes, layout)


compressed_from.derivative(values=lambda grad, result: values_of(masked(grad, result)))


@carried("SparseMaskBackward0", auxiliary=("mask",))
def masked(self: Any, mask: Any, /) -> Any:
    """The values of a sparse or dense tensor where ``mask`` has some."""
    return arrays.masked(self, mask)


masked.derivative(self=lambda grad, mask: densified(masked(grad, mask)))


@carried("ValuesBackward0")
def values_of(self: Any, /) -> Any:
    """The values of a coalesced tensor."""
    return self.values.copy()


values_of.derivative(self=lambda grad, self: at_places_of(grad, self))


@carried("SparseCooTensorWithDimsAndTensorsBackward0", auxiliary=("pattern",))
def at_places_of(values: Any, pattern: Any, /) -> Any:
    """Other values at the places of a sparse tensor."""
    return pattern.of(np.array(values))


at_places_of.derivative(values=lambda grad, pattern: values_of(masked(grad, pattern)))


# -- elementwise ------------------------------------------------------------------------------------------------------


@carried("AddBackward0")
def added(self: Any, other: Any, /, alpha: Any = 1) -> Any:
    """``self + alpha * other``."""
    return self + (other if alpha == 1 else arrays.multiplied(other, alpha))


added.derivative(self=lambda grad: grad, other=lambda grad, alpha: scaled(grad, alpha))


@carried("SubBackward0")
def subtracted(self: Any, other: Any, /, alpha: Any = 1) -> Any:
    """``self - alpha * other``."""
    return self + arrays.multiplied(other, -alpha)


subtracted.derivative(self=lambda grad: grad, other=lambda grad, alpha: scaled(grad, -alpha))


@carried("MulBackward0")
def multiplied(self: Any, other: Any, /) -> Any:
    """The elementwise product."""
    return arrays.multiplied(self, other)


multiplied.derivative(self=lambda grad, other: multiplied(grad, other), other=lambda grad, self: multiplied(grad, self))


@carried("MulBackward0")
def scaled(self: Any, /, number: Any) -> Any:
    """The product with a number."""
    return arrays.multiplied(self, number)


scaled.derivative(self=lambda grad, number: scaled(grad, number))


@carried("DivBackward0")
def divided(self: Any, /, number: Any) -> Any:
    """The quotient by a number."""
    if self.dtype.kind in "biu":
        self = self.astype(dtypes.get_default_dtype().numpy)
    return self / number


divided.derivative(self=lambda grad, number: divided(grad, number))


@carried("NegBackward0")
def negated(self: Any, /) -> Any:
    """The negative."""
    return -self


negated.derivative(self=lambda grad: negated(grad))


@carried("CloneBackward0")
def copied(self: Any, /) -> Any:
    """A copy."""
    return self.copy()


copied.derivative(self=lambda grad: grad)


@carried("ToCopyBackward0")
def cast(self: Any, /, dtype: Any) -> Any:
    """The values as a NumPy ``dtype``."""
    return self.astype(dtype)


cast.derivative(self=lambda grad: grad)  # its dtype is fitted to the input's like that of every gradient


# -- order ------------------------------------------------------------------------------------------------------------


def _permuted(self: Any, /, dims: Any) -> Any:
    """The dimensions in another order."""
    return arrays.permuted(self, dims)


def _inverse(dims: Sequence[int]) -> tuple[int, ...]:
    return tuple(sorted(range(len(dims)), key=dims.__getitem__))


def _ordering(name: str, node: str) -> Any:
    _permuted.__name__ = name
    function = carried(node)(_permuted)
    function.derivative(self=lambda grad, dims: permuted(grad, _inverse(dims)))
    return function


permuted = _ordering("permuted", "PermuteBackward0")
turned = _ordering("turned", "TBackward0")
exchanged = _ordering("exchanged", "TransposeBackward0")


# -- sums -------------------------------------------------------------------------------------------------------------


@carried("SumBackward0")
def total(self: Any, /) -> Any:
    """The sum of all elements."""
    return arrays.along(self.values, tuple(range(self.values.ndim)))


total.derivative(self=lambda grad, self_sizes: expand(grad, self_sizes))


@carried("SumBackward1")
def plainly_summed(self: Any, /, dims: Any, keepdim: bool = False) -> Any:
    """The sums along dimensions, as ``Tensor.sum`` gives them."""
    return arrays.summed(self.coo() if isinstance(self, Compressed) else self, dims, keepdim)


plainly_summed.derivative(self=lambda grad, self, dims, keepdim: spread(grad, self, dims, keepdim))


@carried("SparseSumBackward0")
def summed(self: Any, /, dims: Any, keepdim: bool = False) -> Any:
    """The sums along dimensions."""
    return arrays.summed(self.coo() if isinstance(self, Compressed) else self, dims, keepdim)


summed.derivative(self=lambda grad, self, dims, keepdim: spread(grad, self, dims, keepdim))


@carried(auxiliary=("pattern",))
def spread(grad_output: Any, pattern: Any, /, dims: Any, keepdim: bool) -> Any:
    """The gradient of ``summed``: at each place, that of the sum it went to."""
    return arrays.spread(grad_output, pattern, dims, keepdim)


spread.derivative(grad_output=lambda grad, pattern, dims, keepdim: summed(masked(grad, pattern), dims, keepdim))


# -- products of matrices ---------------------------------------------------------------------------------------------


def check_product(mat1: Any, mat2: Any) -> None:
    """Raise PyTorch's error unless the matrices can be multiplied."""
    if mat1.dtype != mat2.dtype:
        first, second = (dtypes.of(array.dtype).scalar_name for array in (mat1, mat2))
        raise RuntimeError(f"expected scalar type {first} but found {second}")
    if mat1.shape[1] != mat2.shape[0]:
        if isinstance(mat1, Carrier) and not isinstance(mat2, Carrier) and mat2.ndim == 2:
            raise RuntimeError(f"addmm: Argument #3 (dense): Expected dim 0 size {mat1.shape[1]}, got {mat2.shape[0]}")
        if mat2.ndim == 1:
            raise RuntimeError("mv: expected self.size(-1) == vec.size(-1)")
        first, second = ("x".join(map(str, array.shape)) for array in (mat1, mat2))
        raise RuntimeError(f"mat1 and mat2 shapes cannot be multiplied ({first} and {second})")


@carried("MmBackward0")
def product(self: Any, mat2: Any, /) -> Any:
    """The product of two matrices: sparse if both are."""
    check_product(self, mat2)
    return arrays.matmul(self, mat2)


product.derivative(
    self=lambda grad, mat2: product(grad, turned(mat2, (1, 0))),
    mat2=lambda grad, self: product(turned(self, (1, 0)), grad),
)


@carried("SparseSparseMatmulBackward0")
def sparse_product(self: Any, other: Any, /) -> Any:
    """The product of two sparse matrices; their gradients are as sparse."""
    check_product(self, other)
    return arrays.matmul(self, other)


sparse_product.derivative(
    self=lambda grad, self, other: masked(product(grad, turned(other, (1, 0))), self),
    other=lambda grad, self, other: masked(product(turned(self, (1, 0)), grad), other),
)


@carried("MvBackward0")
def vector_product(self: Any, vec: Any, /) -> Any:
    """The product of a sparse matrix and a vector."""
    check_product(self, vec)
    return arrays.matmul(self, vec)


vector_product.derivative(
    self=lambda grad, vec: product(unsqueeze(grad, 1), unsqueeze(vec, 0)),
    vec=lambda grad, self: vector_product(turned(self, (1, 0)), grad),
)


def _sum_of(self: Any, mat1: Any, mat2: Any, beta: Any, alpha: Any) -> Any:
    check_product(mat1, mat2)
    result = arrays.matmul(mat1, mat2)
    if alpha != 1:
        result = arrays.multiplied(result, alpha)
    if self is None or beta == 0:
        return result
    return result + (self if beta == 1 else arrays.multiplied(self, beta))


@carried(auxiliary=("like",))
def as_sparse_as(self: Any, like: Any, /) -> Any:
    """The gradient of what is ``like`` that: where it is sparse, only at its places."""
    return arrays.masked(self, like) if isinstance(like, Carrier) else arrays.dense_of(self)


as_sparse_as.derivative(self=lambda grad, like: densified(as_sparse_as(grad, like)))


@carried("AddmmBackward0")
def product_added(self: Any, mat1: Any, mat2: Any, /, beta: Any = 1, alpha: Any = 1) -> Any:
    """``beta * self + alpha * mat1 @ mat2``."""
    return _sum_of(self, mat1, mat2, beta, alpha)


product_added.derivative(self=lambda grad, beta: scaled(grad, beta))
product_added.derivative(
    mat1=lambda grad, mat1, mat2, alpha: scaled(as_sparse_as(product(grad, turned(mat2, (1, 0))), mat1), alpha),
    mat2=lambda grad, mat1, alpha: scaled(product(turned(mat1, (1, 0)), grad), alpha),
)


@carried("SparseAddmmBackward0")
def masked_product(self: Any = None, mat1: Any = None, mat2: Any = None, /, beta: Any = 1, alpha: Any = 1) -> Any:
    """``beta * self + alpha * mat1 @ mat2``, without ``self`` the product; the gradient of ``mat1`` is as sparse."""
    return _sum_of(self, mat1, mat2, beta, alpha)


masked_product.derivative(self=lambda grad, beta: scaled(grad, beta))
masked_product.derivative(
    mat1=lambda grad, mat1, mat2, alpha: scaled(as_sparse_as(product(grad, turned(mat2, (1, 0))), mat1), alpha),
    mat2=lambda grad, mat1, alpha: scaled(product(turned(mat1, (1, 0)), grad), alpha),
)


# -- rows of a table --------------------------------------------------------------------------------------------------


@carried("SparseCooTensorWithDimsAndTensorsBackward0", auxiliary=("indices",))
def embedding_sparse_backward(
    grad_output: Any, indices: Any, /, sizes: Any, padding_idx: int = -1, scale_grad_by_freq: bool = False
) -> Any:
    """The gradient of ``embedding`` by its table: each row that was picked, at its place."""
    if scale_grad_by_freq:
        raise RuntimeError("embedding_backward: scale_grad_by_freq not supported with sparse gradients")
    at = np.asarray(indices).reshape(-1).astype(np.int64)
    rows = np.asarray(grad_output).reshape(-1, sizes[1])
    if padding_idx >= 0:
        mask = at != padding_idx
        at, rows = at[mask], rows[mask]
    return Coo(at[None], rows, sizes)


embedding_sparse_backward.derivative(
    grad_output=lambda grad, indices, padding_idx: embedding_rows(grad, indices, padding_idx)
)


@carried(auxiliary=("indices",))
def embedding_rows(self: Any, indices: Any, /, padding_idx: int = -1) -> Any:
    """The rows that ``indices`` names of a sparse or dense table, nought at ``padding_idx``: the adjoint of that."""
    picked_rows = np.asarray(arrays.dense_of(self)).take(indices, axis=0)
    if padding_idx >= 0:
        picked_rows[np.asarray(indices) == padding_idx] = 0
    return picked_rows


embedding_rows.derivative(
    self=lambda grad, indices, self_sizes, padding_idx: embedding_sparse_backward(
        grad, indices, self_sizes, padding_idx, False
    )
)
