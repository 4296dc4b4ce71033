"""Compressed matrices for the user: by rows or columns, of numbers or blocks; products that reduce otherwise."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...core.tensor import Tensor, require_grad, wrap
from ...ground import dtypes
from ...ops.declare import composite
from ...tensor.sparse import CompressedTensor
from ..create import construct, shared
from . import rows
from .functions import LAYOUTS, in_layout, method

# -- making them ------------------------------------------------------------------------------------------------------


@composite(method=False, page="torch")
def sparse_compressed_tensor(
    compressed_indices: Any, plain_indices: Any, values: Any, size: Any = None, *, dtype: Any = None,
    layout: Any = None, device: Any = None, requires_grad: bool = False, check_invariants: bool | None = None,
    pin_memory: bool = False,
) -> Any:  # fmt: skip
    """The matrix whose line ``i`` has the values from ``compressed_indices[i]`` to the next, at ``plain_indices``.

    Lines are rows in the layouts ``sparse_csr`` and ``sparse_bsr``, columns in ``sparse_csc`` and ``sparse_bsc``.
    """
    if layout not in LAYOUTS:
        called = {dtypes.sparse_coo: "Sparse", dtypes.strided: "Strided"}.get(layout, "none")
        raise RuntimeError(f"sparse_compressed_tensor expected sparse compressed tensor layout but got {called}")
    kind = LAYOUTS[layout]
    starts, places = (shared.as_tensor(line) for line in (compressed_indices, plain_indices))
    data: Any = values if isinstance(values, Tensor) else construct.tensor(values)
    if dtype is not None:
        data = data.to(dtype)
    if requires_grad:
        data = data.detach()
    block = data._array.shape[1:]
    if starts._array.ndim != 1 or len(block) != (2 if kind[0] == "b" else 0) or (size is not None and len(size) != 2):
        raise NotImplementedError(f"sparse_{kind}_tensor: only matrices of numbers or blocks are supported, no batches")
    height, width = block or (1, 1)
    if size is None:
        counts = len(starts._array) - 1, int(places._array.max()) + 1 if places._array.size else 0
        down, across = counts if kind[2] == "r" else counts[::-1]
        size = down * height, across * width
    lines = size[0] // height if kind[2] == "r" else size[1] // width
    _check(kind, starts._array, places._array, data._array, lines)
    tensor = rows.compressed_from(starts, places, data, tuple(size), kind)
    if requires_grad:
        require_grad(tensor, True)
    return tensor


def _check(kind: str, starts: Any, places: Any, values: Any, lines: int) -> None:
    first, second, what = ("crow", "col", "rows") if kind[2] == "r" else ("ccol", "row", "columns")
    if len(starts) != lines + 1:
        raise RuntimeError(
            f"{first}_indices.shape[-1] must be equal to the number of {what} + 1 (={lines + 1}), but got {len(starts)}"
        )
    if places.shape != values.shape[:1]:
        raise RuntimeError(
            f"number of specified elements must be the same: {second}_indices has {len(places)}, values {len(values)}"
        )


@composite(method=False, page="torch")
def sparse_csr_tensor(crow_indices: Any, col_indices: Any, values: Any, size: Any = None, **settings: Any) -> Any:
    """The matrix whose row ``i`` has the values from ``crow_indices[i]`` to ``crow_indices[i + 1]``, in these columns.
    """
    return sparse_compressed_tensor(crow_indices, col_indices, values, size, layout=dtypes.sparse_csr, **settings)


@composite(method=False, page="torch")
def sparse_csc_tensor(ccol_indices: Any, row_indices: Any, values: Any, size: Any = None, **settings: Any) -> Any:
    """The same by columns: column ``i`` has the values from ``ccol_indices[i]`` on, in these rows."""
    return sparse_compressed_tensor(ccol_indices, row_indices, values, size, layout=dtypes.sparse_csc, **settings)


@composite(method=False, page="torch")
def sparse_bsr_tensor(crow_indices: Any, col_indices: Any, values: Any, size: Any = None, **settings: Any) -> Any:
    """The matrix of blocks (n, height, width) that stand in rows of blocks."""
    return sparse_compressed_tensor(crow_indices, col_indices, values, size, layout=dtypes.sparse_bsr, **settings)


@composite(method=False, page="torch")
def sparse_bsc_tensor(ccol_indices: Any, row_indices: Any, values: Any, size: Any = None, **settings: Any) -> Any:
    """The matrix of blocks (n, height, width) that stand in columns of blocks."""
    return sparse_compressed_tensor(ccol_indices, row_indices, values, size, layout=dtypes.sparse_bsc, **settings)


@composite(function=False)
def to_sparse_csr(self: Tensor, dense_dim: int | None = None) -> Any:
    """What of a matrix is not nought, by compressed rows."""
    return in_layout(self, dtypes.sparse_csr)


@composite(function=False)
def to_sparse_csc(self: Tensor, dense_dim: int | None = None) -> Any:
    """What of a matrix is not nought, by compressed columns."""
    return in_layout(self, dtypes.sparse_csc)


@composite(function=False)
def to_sparse_bsr(self: Tensor, blocksize: Any, dense_dim: int | None = None) -> Any:
    """What of a matrix is not nought, in blocks of a height and a width, by rows of them."""
    return in_layout(self, dtypes.sparse_bsr, blocksize)


@composite(function=False)
def to_sparse_bsc(self: Tensor, blocksize: Any, dense_dim: int | None = None) -> Any:
    """What of a matrix is not nought, in blocks of a height and a width, by columns of them."""
    return in_layout(self, dtypes.sparse_bsc, blocksize)


# -- what they are made of --------------------------------------------------------------------------------------------


def _lines(name: str, by: str, part: str, doc: str) -> None:
    def indices(self: Any) -> Any:
        kind = self._array.layout
        if kind[2] != by[0]:
            wanted = f"expected sparse {by} compressed tensor layout but got Sparse{kind.capitalize()}"
            raise RuntimeError(f"{name} {wanted}")
        return wrap(getattr(self._array, part))

    indices.__name__ = indices.__qualname__ = name
    indices.__doc__ = doc
    method(name, on=CompressedTensor)(indices)


_lines("crow_indices", "row", "starts", "Where rows begin, and where the last ends.")
_lines("col_indices", "row", "places", "The column of each value.")
_lines("ccol_indices", "column", "starts", "Where columns begin, and where the last ends.")
_lines("row_indices", "column", "places", "The row of each value.")


# -- products that reduce otherwise than by a sum ---------------------------------------------------------------------


def reduced_product(mat1: Any, mat2: Any, reduce: str) -> Any:
    """Each row of ``mat1``, by compressed rows, times ``mat2``: of its products the sum, mean, maximum or minimum."""
    if not isinstance(mat1, CompressedTensor):
        raise NotImplementedError(
            "Could not run 'aten::_sparse_mm_reduce_impl' with arguments from another backend than 'SparseCsrCPU': "
            "call mat1.to_sparse_csr() first"
        )
    kind = mat1._array.layout
    if kind != "csr":
        raise RuntimeError(f"sparse_mm_reduce: expect self to be SparseCsr, got Sparse{kind.capitalize()}")
    if reduce not in ("sum", "mean", "amax", "amin", "max", "min"):
        raise RuntimeError(f"sparse_mm_reduce: reduce type of {reduce} has not been enabled.")
    rows.check_product(mat1._array, mat2._array)
    if reduce == "sum":
        return rows.masked_product(None, mat1, mat2)
    counts = np.diff(mat1._array.starts)
    if reduce == "mean":
        shares = wrap(np.maximum(counts, 1).astype(mat1._array.dtype)[:, None])
        return rows.masked_product(None, mat1, mat2) / shares
    products = rows.values_of(mat1).unsqueeze(1) * mat2[wrap(mat1._array.places.astype(np.int64))]
    first = wrap(_firsts(products._array, mat1._array.starts, np.maximum if reduce in ("amax", "max") else np.minimum))
    chosen = products.gather(0, first) if len(products) else products.new_zeros(first.shape)
    return chosen.where(wrap((counts > 0)[:, None]), chosen.new_zeros(()))


def _firsts(products: Any, starts: Any, extreme: Any) -> Any:
    """For each row and column, the first product that is the extreme one of the row; 0 where a row has none."""
    out = np.zeros((len(starts) - 1, products.shape[1]), np.int64)
    full = np.flatnonzero(np.diff(starts))
    if len(full):
        begins = starts[full]
        best = np.repeat(extreme.reduceat(products, begins, axis=0), np.diff(starts)[full], axis=0)
        is_best = (products == best) | (products != products)  # which is extreme where there is one
        places = np.where(is_best, np.arange(len(products))[:, None], len(products) - 1)
        out[full] = np.minimum.reduceat(places, begins, axis=0)
    return out


# -- indices alone ----------------------------------------------------------------------------------------------------


@composite(method=False)
def _convert_indices_from_coo_to_csr(self: Tensor, size: int, *, out_int32: bool = False) -> Tensor:
    """Where each of ``size`` rows begins in a sorted list of rows, and where the last ends."""
    starts = np.searchsorted(self._array, np.arange(size + 1))
    return wrap(starts.astype(np.int32 if out_int32 else np.int64))


@composite(method=False)
def _convert_indices_from_csr_to_coo(
    crow_indices: Tensor, col_indices: Tensor, *, out_int32: bool = False, transpose: bool = False
) -> Tensor:
    """The row and the column of each value, columns first where it is transposed."""
    counts = np.diff(crow_indices._array)
    lines = np.repeat(np.arange(len(counts)), counts), col_indices._array
    return wrap(np.stack(lines[::-1] if transpose else lines).astype(np.int32 if out_int32 else np.int64))
