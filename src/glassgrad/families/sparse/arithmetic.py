"""What stands for rows of the table where a tensor is sparse: arithmetic, products, sums, and taking things apart."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ...core.row import TABLE
from ...core.tensor import Tensor, wrap
from ...ground import dtypes
from ...ops.declare import composite
from ...tensor import sparse as tensors
from ...tensor.sparse import CooTensor, SparseTensor
from . import compressed as _compressed  # noqa: F401  the methods of compressed matrices
from . import rows
from .functions import dispatch, method, of_values, stands_for
from .kernels import coalesced


def _number(value: Any) -> Any:
    """The number of a plain number or of a tensor of no dimensions; None of other tensors."""
    if isinstance(value, Tensor):
        return value.item() if not value._array.ndim and not isinstance(value, SparseTensor) else None  # type: ignore[attr-defined]
    return value


def _agreed(self: Any, other: Any) -> tuple[Any, Any]:
    kind = dtypes.promote_types(self.dtype, other.dtype)
    return tuple(tensor if tensor.dtype is kind else tensor.to(kind) for tensor in (self, other))  # type: ignore[return-value]


@stands_for("add")
def _add(self: Any, other: Any, alpha: Any = 1, row: Any = rows.added) -> Any:
    if not isinstance(other, SparseTensor):
        raise RuntimeError("add(sparse, dense) is not supported. Use add(dense, sparse) instead.")
    if self.shape != other.shape and not isinstance(self, SparseTensor):
        raise RuntimeError(
            f"add: expected 'self' and 'other' to have same size, but self has size {list(self.shape)} while other has "
            f"size {list(other.shape)} (FYI: dense-sparse addition does not currently support broadcasting)"
        )
    return row(*_agreed(self, other), alpha)


@stands_for("sub")
def _sub(self: Any, other: Any, alpha: Any = 1) -> Any:
    return _add(self, other, alpha, rows.subtracted)


@stands_for("mul")
def _mul(self: Any, other: Any) -> Any:
    if not isinstance(self, SparseTensor):
        self, other = other, self
    number = _number(other)
    if number is None or (isinstance(other, Tensor) and other.requires_grad):
        return rows.multiplied(*_agreed(self, other))
    wider = self.dtype if isinstance(other, Tensor) else _result_type(self, number)
    return rows.scaled(self if wider is self.dtype else self.to(wider), number)


def _result_type(self: Any, number: Any) -> Any:
    return dtypes.result_dtype([self.dtype], [], [type(number)])


@stands_for("div")
def _div(self: Any, other: Any) -> Any:
    number = _number(other)
    if number is None or not isinstance(self, SparseTensor):
        raise RuntimeError(
            "Sparse division requires a scalar or zero-dim dense tensor divisor (got shape "
            f"{list(other.shape) if isinstance(other, Tensor) else []} for divisor)"
        )
    return rows.divided(self, number)


@stands_for("neg")
def _neg(self: Any) -> Any:
    return rows.negated(self)


@stands_for("clone")
def _clone(self: Any, *memory_format: Any) -> Any:
    return rows.copied(self)


@stands_for("to_copy")
def _to_copy(self: Any, dtype: Any, *rest: Any) -> Any:
    return rows.cast(self, dtype)


@stands_for("pow", "pow_number")
def _pow(self: Any, exponent: Any) -> Any:
    number = _number(exponent)
    if number is None or not isinstance(self, SparseTensor):
        raise RuntimeError("pow() of sparse tensors takes a number as exponent: call x.to_dense() first")
    return of_values(TABLE["pow"].caller, self, number)


@stands_for("t")
def _t(self: Any) -> Any:
    return rows.turned(self, tuple(range(self._array.ndim))[::-1])


@stands_for("transpose")
def _transpose(self: Any, dim0: int, dim1: int) -> Any:
    dims = list(range(self._array.ndim))
    dims[dim0], dims[dim1] = dims[dim1], dims[dim0]
    return rows.exchanged(self, tuple(dims))


@stands_for("permute")
def _permute(self: Any, dims: Sequence[int]) -> Any:
    return rows.permuted(self, tuple(dim % self._array.ndim for dim in dims))


@stands_for("sum")
def _sum_all(self: Any, dtype: Any = None) -> Any:
    total = rows.total(self)
    if dtype is not None:
        return total.to(dtypes.of(dtype) if isinstance(dtype, np.dtype) else dtype)
    return total


@stands_for("sum_dim")
def sum_dim(self: Any, dim: Any, keepdim: bool = False, dtype: Any = None, row: Any = rows.plainly_summed) -> Any:
    """The sums of a sparse tensor along dimensions."""
    dims = tuple(d % self._array.ndim for d in ((dim,) if isinstance(dim, int) else dim or ()))
    sums = row(self, dims or tuple(range(self._array.ndim)), keepdim)
    return sums if dtype is None else sums.to(dtypes.of(dtype) if isinstance(dtype, np.dtype) else dtype)


@stands_for("mm")
def _mm(self: Any, mat2: Any) -> Any:
    return rows.product(self, mat2)


@stands_for("mv")
def _mv(self: Any, vec: Any) -> Any:
    return rows.vector_product(self, vec)


@stands_for("addmm")
def _addmm(self: Any, mat1: Any, mat2: Any, beta: Any = 1, alpha: Any = 1) -> Any:
    return rows.product_added(self, mat1, mat2, beta, alpha)


@stands_for("index_select")
def _index_select(self: Any, index: Any, dim: int) -> Any:
    self = rows.coalesced(self)
    coo, dim = self._array, dim % self._array.ndim
    if dim >= len(coo.indices):
        coo.refuse("index_select along a dense dimension")
    n = coo.shape[dim]
    order = np.argsort(coo.indices[dim], kind="stable")
    counts = np.bincount(np.asarray(coo.indices[dim], np.intp), minlength=n)
    wanted = np.where(index._array < 0, index._array + n, index._array).reshape(-1)
    ends, lengths = np.cumsum(counts), counts[wanted]
    lengths = np.asarray(lengths, np.intp)
    at = np.repeat((ends - counts)[wanted] - np.cumsum(lengths) + lengths, lengths) + np.arange(lengths.sum())
    entries = order[at]
    indices = coo.indices[:, entries]
    indices[dim] = np.repeat(np.arange(len(wanted)), lengths)
    shape = tuple(len(wanted) if d == dim else size for d, size in enumerate(coo.shape))
    return rows.sparse_from(wrap(indices), rows.values_of(self)[wrap(entries)], shape, False)


@stands_for("select")
def _select(self: Any, dim: int, index: int) -> Any:
    selected = _index_select(self, wrap(np.array([index])), dim)
    return sum_dim(selected, (dim,))


@stands_for("unbind")
def _unbind(self: Any, dim: int = 0) -> Any:
    return tuple(_select(self, dim, index) for index in range(self._array.shape[dim]))


@stands_for("unsqueeze")
def _unsqueeze(self: Any, dim: int) -> Any:
    coo = self._array if not self.requires_grad else coalesced(self._array)
    dim = dim % (coo.ndim + 1)
    if dim > len(coo.indices):
        coo.refuse("unsqueeze of a dense dimension")
    values = rows.values_of(rows.coalesced(self)) if self.requires_grad else wrap(coo.values)
    indices = np.insert(coo.indices, dim, 0, axis=0)
    return rows.sparse_from(wrap(indices), values, (*coo.shape[:dim], 1, *coo.shape[dim:]), coo.coalesced)


@stands_for("cat")
def _cat(tensors: Sequence[Any], dim: int) -> Any:
    if not all(isinstance(tensor, CooTensor) for tensor in tensors):
        raise RuntimeError("cat: expected all tensors to be sparse: call to_dense() or to_sparse() first")
    first = tensors[0]._array
    dim = dim % first.ndim
    if dim >= len(first.indices):
        first.refuse("cat along a dense dimension")
    recorded = any(tensor.requires_grad for tensor in tensors)
    parts = [rows.coalesced(tensor) if recorded else tensor for tensor in tensors]
    indices, start = [], 0
    for part in parts:
        at = part._array.indices.copy()
        at[dim] += start
        start += part._array.shape[dim]
        indices.append(at)
    values = TABLE["cat"].caller([rows.values_of(part) for part in parts], 0)
    shape = (*first.shape[:dim], start, *first.shape[dim + 1 :])
    return rows.sparse_from(wrap(np.concatenate(indices, 1)), values, shape, False)


@stands_for("stack")
def _stack(tensors: Sequence[Any], dim: int) -> Any:
    return _cat([_unsqueeze(tensor, dim) for tensor in tensors], dim)


@method("norm")
def _norm(self: Any, p: Any = "fro", dim: Any = None, keepdim: bool = False, dtype: Any = None) -> Any:
    """The norm of all elements."""
    if dim is not None or keepdim:
        self._array.refuse("norm along a dimension")
    source = rows.coalesced(self) if isinstance(self, CooTensor) else self
    return rows.values_of(source).norm(p, dtype=dtype)


@method("reshape")
def _reshape(self: Any, *shape: Any) -> Any:
    """RuntimeError: places cannot be taken for others."""
    raise RuntimeError("reshape is not implemented for sparse tensors")


@composite("spmm", "dsmm", method=False)
def spmm(input: Any, mat2: Any) -> Any:
    """The product of a sparse matrix and a matrix."""
    return TABLE["mm"].caller(input, mat2)


tensors.dispatch = dispatch  # not before all is declared that stands for rows
