"""What ``torch.sparse`` holds: products, sums and softmaxes of sparse tensors."""

from __future__ import annotations

from typing import Any

import numpy as np

from .core.row import TABLE
from .core.tensor import Tensor, wrap
from .families.sparse import rows
from .families.sparse.arithmetic import sum_dim as _sum_dim
from .families.sparse.compressed import reduced_product as _reduced_product
from .families.sparse.functions import checking, in_layout, sparse_coo_tensor
from .families.sparse.kernels import keys_of
from .ground import dtypes
from .tensor.sparse import CooTensor, SparseTensor


def mm(mat1: Any, mat2: Any, reduce: str | None = None) -> Any:
    """The product of a sparse matrix and a dense or sparse one; the gradient of ``mat1`` is as sparse as it.

    With ``reduce``, of each row's products the "sum", "mean", "amax" or "amin"; ``mat1`` lies by compressed rows then.

    Source: https://docs.pytorch.org/docs/stable/generated/torch.sparse.mm.html
    """
    if reduce is not None:
        return _reduced_product(mat1, mat2, reduce)
    if isinstance(mat1, SparseTensor):
        if isinstance(mat2, SparseTensor):
            return rows.sparse_product(mat1, mat2)
        return rows.masked_product(None, mat1, mat2)
    return TABLE["mm"].caller(mat1, mat2)


def addmm(mat: Any, mat1: Any, mat2: Any, *, beta: float = 1.0, alpha: float = 1.0) -> Any:
    """``beta * mat + alpha * mat1 @ mat2``; the gradient of the sparse ``mat1`` is as sparse as it.

    Source: https://docs.pytorch.org/docs/stable/generated/torch.sparse.addmm.html
    """
    if not isinstance(mat1, SparseTensor):
        return TABLE["addmm"].caller(mat, mat1, mat2, beta, alpha)
    return rows.masked_product(mat, mat1, mat2, beta, alpha)


def sum(input: Tensor, dim: Any = None, dtype: Any = None) -> Any:
    """The sum of all elements, or along dimensions: sparse unless all sparse ones are summed.

    Source: https://docs.pytorch.org/docs/stable/generated/torch.sparse.sum.html
    """
    if not isinstance(input, SparseTensor):
        raise RuntimeError("sparse.sum: expected a sparse tensor: use torch.sum for dense ones")
    if dtype is not None:
        input = input.to(dtype)  # type: ignore[attr-defined]
    if dim is None:
        entries = rows.coalesced(input) if isinstance(input, CooTensor) else input
        return rows.values_of(entries).sum()
    return _sum_dim(input, dim, row=rows.summed)


def softmax(input: Tensor, dim: int, *, dtype: Any = None) -> Any:
    """The softmax along ``dim`` of the elements that are there: the others count as minus infinity.

    Source: https://docs.pytorch.org/docs/stable/generated/torch.sparse.softmax.html
    """
    return _softmax(input, dim, dtype, False)


def log_softmax(input: Tensor, dim: int, *, dtype: Any = None) -> Any:
    """The logarithm of :func:`softmax`.

    Source: https://docs.pytorch.org/docs/stable/generated/torch.sparse.log_softmax.html
    """
    return _softmax(input, dim, dtype, True)


def _softmax(input: Any, dim: int, dtype: Any, logarithm: bool) -> Any:
    if not isinstance(input, CooTensor):
        raise RuntimeError("sparse.softmax: expected a tensor of layout torch.sparse_coo: use torch.softmax")
    if dtype is not None:
        input = input.to(dtype)  # type: ignore[attr-defined]
    input = input.coalesce()  # type: ignore[attr-defined]
    coo, values, dim = input._array, rows.values_of(input), dim % input._array.ndim
    sparse = len(coo.indices)
    if dim >= sparse:
        function = values.log_softmax if logarithm else values.softmax
        return rows.at_places_of(function(dim - sparse + 1), input.detach())
    others = [d for d in range(sparse) if d != dim]
    keys = keys_of(coo.indices[others], [coo.shape[d] for d in others])
    lines, at = np.unique(keys, return_inverse=True)  # the values of a line are one distribution
    peaks = np.full((len(lines), *coo.values.shape[1:]), -np.inf, coo.dtype)
    np.maximum.at(peaks, at, coo.values)
    line_of = wrap(at)
    shifted = values - wrap(peaks[at])
    exps = shifted.exp()
    sums = wrap(np.zeros_like(peaks)).index_add(0, line_of, exps)  # type: ignore[attr-defined]
    if logarithm:
        result = shifted - sums.log().index_select(0, line_of)
    else:
        result = exps / sums.index_select(0, line_of)
    return rows.at_places_of(result, input.detach())


def spdiags(diagonals: Any, offsets: Any, shape: Any, layout: Any = None) -> Any:
    """A sparse matrix with a row of ``diagonals`` on each diagonal of ``offsets``: in column j stands its element j.

    The layout is sparse_coo, sparse_csr or sparse_csc. RuntimeError where rows and offsets do not pair.

    Source: https://docs.pytorch.org/docs/stable/generated/torch.sparse.spdiags.html
    """
    if offsets.dtype is not dtypes.int64:
        raise RuntimeError(f"Offset Tensor must have dtype Long but got {offsets.dtype.scalar_name}")
    if offsets.ndim > 1 or diagonals.ndim not in (1, 2):
        what = "Offsets must be scalar or vector" if offsets.ndim > 1 else "Diagonals must be vector or matrix"
        raise RuntimeError(what)
    places, lines = offsets.reshape(-1).tolist(), diagonals.reshape(-1, diagonals.shape[-1])
    if len(lines) != len(places):
        raise RuntimeError(f"Number of diagonals ({len(lines)}) does not match the number of offsets ({len(places)})")
    if len({*places}) < len(places):
        raise RuntimeError("Offset tensor contains duplicate values")
    if len(shape) != 2:
        raise RuntimeError("Output shape must be 2d")
    last = min(shape[1], lines.shape[1])
    columns = [np.arange(max(0, offset), max(0, offset, min(last, shape[0] + offset))) for offset in places]
    of_each = np.repeat(np.arange(len(places)), [len(part) for part in columns])
    column = np.concatenate(columns)
    indices = np.stack([column - np.array(places, dtype=np.int64)[of_each], column])
    if layout not in (None, dtypes.sparse_coo, dtypes.sparse_csr, dtypes.sparse_csc):
        raise RuntimeError(f"Only output layouts (Sparse, SparseCsc, SparseCsr) are supported, got {layout}")
    matrix = sparse_coo_tensor(wrap(indices), lines[wrap(of_each), wrap(column)], shape)
    return matrix if layout in (None, dtypes.sparse_coo) else in_layout(matrix, layout)


class _OldType(type):
    """The type of ``FloatTensor`` and its like: calling it makes a tensor, and a tensor of its dtype is an instance."""

    dtype: dtypes.dtype
    layout, is_sparse, is_cuda = dtypes.sparse_coo, True, False

    def __call__(cls, *args: Any) -> Any:
        if len(args) > 1 and isinstance(args[0], Tensor):
            return sparse_coo_tensor(*args)
        sizes = args if args and isinstance(args[0], int) else args[0] if args else (0,)
        return sparse_coo_tensor(sizes, dtype=cls.dtype)

    def __instancecheck__(cls, instance: Any) -> bool:
        return isinstance(instance, CooTensor) and instance.dtype is cls.dtype  # type: ignore[attr-defined]

    def __repr__(cls) -> str:
        return f"<class 'torch.sparse.{cls.__name__}'>"


def _old_type(name: str, dtype: dtypes.dtype) -> _OldType:
    doc = f"The old name of sparse tensors of {dtype}: of indices and values, and their size; or of a size, empty."
    return _OldType(name, (), {"__module__": __name__, "__doc__": doc, "dtype": dtype})


FloatTensor = _old_type("FloatTensor", dtypes.float32)
DoubleTensor = _old_type("DoubleTensor", dtypes.float64)
HalfTensor = _old_type("HalfTensor", dtypes.float16)
BFloat16Tensor = _old_type("BFloat16Tensor", dtypes.bfloat16)
LongTensor = _old_type("LongTensor", dtypes.int64)
IntTensor = _old_type("IntTensor", dtypes.int32)
ShortTensor = _old_type("ShortTensor", dtypes.int16)
CharTensor = _old_type("CharTensor", dtypes.int8)
ByteTensor = _old_type("ByteTensor", dtypes.uint8)


class check_sparse_tensor_invariants:  # noqa: N801  PyTorch's name
    """A block, or a decorator, in which new sparse tensors are checked (or not); ``enable()`` and ``disable()`` too.

    Source: https://docs.pytorch.org/docs/stable/generated/torch.sparse.check_sparse_tensor_invariants.html
    """

    def __init__(self, enable: bool = True) -> None:
        self.state, self.before = enable, False

    @staticmethod
    def is_enabled() -> bool:
        """Whether new sparse tensors are checked."""
        return checking[0]

    @staticmethod
    def enable() -> None:
        """Check new sparse tensors."""
        checking[0] = True

    @staticmethod
    def disable() -> None:
        """Do not check new sparse tensors."""
        checking[0] = False

    def __enter__(self) -> None:
        self.before, checking[0] = checking[0], self.state

    def __exit__(self, *exc: object) -> None:
        checking[0] = self.before

    def __call__(self, function: Any) -> Any:
        import functools

        @functools.wraps(function)
        def checked(*args: Any, **kwargs: Any) -> Any:
            with type(self)(self.state):
                return function(*args, **kwargs)

        return checked


__all__ = ["addmm", "check_sparse_tensor_invariants", "log_softmax", "mm", "softmax", "spdiags", "sum"]
