"""Rows of a table picked by index, and their gradients added up again."""

from __future__ import annotations

import math
from functools import lru_cache
from typing import Any

import numpy as np

from ...core.row import op
from ...ground.window import strides_of
from ...kernels import compiled
from ..create.functions import allocate
from ..reduce.rows import F16, F32
from ..scatter.rows import BEYOND_DATA, check_bounds
from ..sparse.rows import carried, densified, embedding_sparse_backward

_SMALL = 4096
_counted_to = lru_cache(64)(np.arange)


def rows_added(values: Any, index: Any, n: int) -> Any:
    """A table of ``n`` rows into which each row of ``values`` is added at its ``index``."""
    width = values.shape[-1]
    values, index = values.reshape(index.size, width), index.reshape(-1)
    if not len(index):
        return np.zeros((n, width), values.dtype)
    if n * len(index) <= _SMALL and values.dtype.kind == "f" and math.isfinite(np.vdot(values, values)):
        chosen = np.zeros((n, len(index)), values.dtype)  # of products, so that nothing may be infinite
        chosen[index, _counted_to(len(index))] = 1
        return chosen.dot(values)
    out = np.zeros((n, width), values.dtype)
    if values.size >= compiled.least and compiled.scatter.add_rows(out, index, values):
        return out
    order = np.argsort(index, kind="stable")
    ordered = index[order]
    starts = np.flatnonzero(np.concatenate(([True], ordered[1:] != ordered[:-1])))
    out[ordered[starts]] = np.add.reduceat(values[order], starts, axis=0)
    return out


def _counted(grad: Any, index: Any, padding_idx: int, by_frequency: bool) -> Any:
    """Rows of a gradient as they count: a share for each time that a row was picked, zero (of NaN too) for padding."""
    if by_frequency and index.size:
        times = np.bincount(np.asarray(index.reshape(-1), np.intp))[index].astype(grad.dtype)
        grad = grad * (1 / times)[..., None].astype(grad.dtype)
    if padding_idx >= 0:
        grad = np.where((index == padding_idx)[..., None], np.zeros((), grad.dtype), grad)
    return grad


def _height(sizes: tuple[int, ...]) -> int:
    return sizes[0]


@op(
    auxiliary=("indices",),
    public=False,
    hidden=("weight_sizes",),
    shows={"weight_sym_argsize_0": ("weight_sizes", _height)},
    forward="linear",
)
def embedding(
    weight: Any, indices: Any, /, padding_idx: int = -1, scale_grad_by_freq: bool = False, sparse: bool = False
) -> Any:
    """The rows of ``weight`` that ``indices`` names; the row ``padding_idx`` gets no gradient."""
    if indices.size and not weight.shape[0]:
        raise RuntimeError("index_select(): self indexing axis dim should be positive")
    if indices.size and (indices.item(indices.argmin()) < 0 or indices.item(indices.argmax()) >= weight.shape[0]):
        if not weight.size:  # by another kernel of PyTorch's
            check_bounds(indices, weight.shape[0], 0, BEYOND_DATA)
        raise IndexError("index out of range in self")
    return weight.take(indices, axis=0)


embedding.derivative(
    weight=lambda grad, indices, weight_sizes, padding_idx, scale_grad_by_freq, sparse: (
        embedding_sparse_backward(grad, indices, weight_sizes, padding_idx, scale_grad_by_freq)
        if sparse
        else embedding_dense_backward(grad, indices, _height(weight_sizes), padding_idx, scale_grad_by_freq)
    )
)


@embedding.row.samples("weight")
def _embedding_tables(
    grad: Any, indices: Any, weight_sizes: Any, padding_idx: Any, scale_grad_by_freq: Any, apart: Any
) -> Any:
    if scale_grad_by_freq:
        return None  # the frequency is counted over all samples
    grads, chosen = apart(_counted(grad, indices, padding_idx, False)), apart(indices)
    size, height = len(grads), _height(weight_sizes)
    tables = chosen + np.arange(size).reshape((-1, *(1,) * (chosen.ndim - 1))) * height
    return rows_added(grads, tables, size * height).reshape(size, *weight_sizes)


@op(auxiliary=("indices",), public=False, forward="linear")
def embedding_dense_backward(
    grad_output: Any, indices: Any, /, num_weights: int, padding_idx: int, scale_grad_by_freq: bool
) -> Any:
    """The gradient of ``embedding`` by its table."""
    return rows_added(_counted(grad_output, indices, padding_idx, scale_grad_by_freq), indices, num_weights)


embedding_dense_backward.derivative(
    grad_output=lambda grad, indices, padding_idx, scale_grad_by_freq: embedding_twice(
        grad, indices, padding_idx, scale_grad_by_freq
    )
)


@op(node="EmbeddingDenseBackwardBackward0", auxiliary=("indices",), public=False)
def embedding_twice(self: Any, indices: Any, /, padding_idx: int, scale_grad_by_freq: bool) -> Any:
    """The adjoint of ``embedding_dense_backward``."""
    return _counted(self.take(indices, axis=0), indices, padding_idx, scale_grad_by_freq)


embedding_twice.derivative(
    self=lambda grad, indices, self_sizes, padding_idx, scale_grad_by_freq: embedding_dense_backward(
        grad, indices, _height(self_sizes), padding_idx, scale_grad_by_freq
    )
)


@op(constant=True, public=False, batched="first")
def one_hot_of(self: Any, /, num_classes: int) -> Any:
    """Zeros, and a one where each element of ``self`` points in a new last dimension."""
    out = allocate(np.zeros, (*self.shape, num_classes), np.dtype(np.int64), "one_hot")
    if self.size:
        out.reshape(-1, num_classes)[np.arange(self.size), self.reshape(-1)] = 1
    return out


# -- Sums, means and maxima of bags of table rows: knows arrays and rows, no signatures.
#
# ``offsets`` says where in ``indices`` each bag begins; a bag ends where the next begins, the last with the indices.
# Three rows that are each other's derivatives carry sums and means through every order: ``bag_sums`` (of table rows
# times factors), its adjoint ``bag_table``, and ``bag_dots``, the gradient of the factors.


def lengths_of(offsets: Any, n: int) -> Any:
    """How many of ``n`` indices each bag has."""
    return np.diff(offsets, append=n)


def bags_of(offsets: Any, n: int) -> Any:
    """For each of ``n`` indices, the number of its bag."""
    return np.arange(len(offsets)).repeat(np.asarray(lengths_of(offsets, n), np.intp))


def _gathered(ufunc: Any, rows: Any, offsets: Any, empty: float) -> Any:
    """What ``ufunc`` makes of the rows of each bag; ``empty`` where there are none."""
    lengths = lengths_of(offsets, len(rows))
    if len(rows) and (lengths == lengths[0]).all():
        return ufunc.reduce(rows.reshape(len(offsets), lengths[0], *rows.shape[1:]), axis=1)
    out = np.full((len(offsets), *rows.shape[1:]), empty, rows.dtype)
    full = lengths > 0
    if full.any():
        out[full] = ufunc.reduceat(rows, offsets[full], axis=0)
    return out


def _half(a: Any) -> bool:
    return a.dtype == F16 or a.dtype.kind == "V"


# -- sums with factors -------------------------------------------------------------------------------------------------


@op(auxiliary=("indices", "offsets"), public=False)
def bag_sums(table: Any, indices: Any, offsets: Any, factors: Any = None, /) -> Any:
    """For each bag the sum of the rows of ``table`` that its indices name, each times its factor."""
    if _half(table):
        wide = None if factors is None else factors.astype(F32)
        return bag_sums.row.kernel(table.astype(F32), indices, offsets, wide).astype(table.dtype)
    rows = table.take(indices, axis=0)
    if factors is not None:
        rows *= factors[:, None]
    return _gathered(np.add, rows, offsets, 0)


bag_sums.derivative(
    table=lambda grad, indices, offsets, factors, table_sizes: bag_table(
        grad, indices, offsets, factors, _height(table_sizes)
    ),
    factors=lambda grad, table, indices, offsets: bag_dots(grad, table, indices, offsets),
)


@op(node="EmbeddingBagBackwardBackward0", auxiliary=("indices", "offsets"), public=False)
def bag_table(
    grad_output: Any, indices: Any, offsets: Any, factors: Any = None, /, num_weights: int = 0, padding_idx: int = -1
) -> Any:
    """The gradient of ``bag_sums`` by its table of ``num_weights`` rows; zero, of NaN too, for ``padding_idx``."""
    if _half(grad_output):
        wide = None if factors is None else factors.astype(F32)
        sums = bag_table.row.kernel(grad_output.astype(F32), indices, offsets, wide, num_weights, padding_idx)
        return sums.astype(grad_output.dtype)
    rows = grad_output.take(bags_of(offsets, len(indices)), axis=0)
    if factors is not None:
        rows *= factors[:, None]
    if padding_idx >= 0:
        rows[indices == padding_idx] = 0
    return rows_added(rows, indices, num_weights)


bag_table.derivative(
    grad_output=lambda grad, indices, offsets, factors: bag_sums(grad, indices, offsets, factors),
    factors=lambda grad, grad_output, indices, offsets: bag_dots(grad_output, grad, indices, offsets),
)


@carried("SparseCooTensorWithDimsAndTensorsBackward0", auxiliary=("indices", "offsets"))
def bag_table_sparse(
    grad_output: Any, indices: Any, offsets: Any, factors: Any = None, /, sizes: Any = (), padding_idx: int = -1
) -> Any:
    """The same as a sparse tensor of ``sizes``: a row for each index, but for ``padding_idx``."""
    rows = grad_output.take(bags_of(offsets, len(indices)), axis=0)
    if factors is not None:
        rows *= factors[:, None].astype(rows.dtype)
    return embedding_sparse_backward.row.kernel(rows, indices, sizes, padding_idx)


bag_table_sparse.derivative(
    grad_output=lambda grad, indices, offsets, factors: bag_sums(densified(grad), indices, offsets, factors),
    factors=lambda grad, grad_output, indices, offsets: bag_dots(grad_output, densified(grad), indices, offsets),
)


@op(auxiliary=("indices", "offsets"), public=False)
def bag_dots(grad_output: Any, table: Any, indices: Any, offsets: Any, /, padding_idx: int = -1) -> Any:
    """For each index but ``padding_idx`` the product of its row of ``table`` with its bag's row of ``grad_output``."""
    if _half(table):
        dots = bag_dots.row.kernel(grad_output.astype(F32), table.astype(F32), indices, offsets, padding_idx)
        return dots.astype(table.dtype)
    rows = grad_output.take(bags_of(offsets, len(indices)), axis=0)
    dots = np.einsum("ij,ij->i", rows, table.take(indices, axis=0))
    if padding_idx >= 0:
        dots[indices == padding_idx] = 0
    return dots


bag_dots.derivative(
    grad_output=lambda grad, table, indices, offsets: bag_sums(table, indices, offsets, grad),
    table=lambda grad, grad_output, indices, offsets, table_sizes: bag_table(
        grad_output, indices, offsets, grad, _height(table_sizes)
    ),
)


def _frequencies(indices: Any) -> Any:
    """What ``scale_grad_by_freq`` divides by at each index.

    PyTorch's kernel for the CPU reads the count of the i-th index in order where it means that of the i-th distinct
    one; so does this, for the same gradients.
    """
    distinct, places = np.unique(indices, return_inverse=True)
    counts = np.bincount(np.asarray(indices, np.intp))
    return counts[np.sort(indices)[: len(distinct)]][places]


@op(constant=True, auxiliary=("indices", "offsets"), public=False)
def bag_shares(like: Any, indices: Any, offsets: Any, /, mode: int, padding_idx: int, by_frequency: bool) -> Any:
    """What each index counts in the gradient, in the dtype of ``like``; for a mean, one over its bag's length."""
    kind = F32 if _half(like) else like.dtype
    share = (indices != padding_idx).astype(kind)
    bags = bags_of(offsets, len(indices))
    if mode == 1:
        share /= np.maximum(np.bincount(np.asarray(bags, np.intp), share, len(offsets)), 1).astype(kind)[bags]
    if by_frequency and indices.size:
        share /= _frequencies(indices).astype(kind)
    return share.astype(like.dtype)


# -- maxima ------------------------------------------------------------------------------------------------------------


@op(auxiliary=("places", "sizes"), public=False)
def bag_peaks(table: Any, places: Any, sizes: Any, /) -> Any:
    """The elements of ``table`` in the rows ``places``, column by column; zeros for bags of no size."""
    out = table[places, np.arange(table.shape[1])]
    out[sizes == 0] = 0
    return out


bag_peaks.derivative(
    table=lambda grad, places, sizes, table_sizes: bag_peaks_table(grad, places, sizes, _height(table_sizes))
)


@op(node="EmbeddingBagBackwardBackward0", auxiliary=("places", "sizes"), public=False)
def bag_peaks_table(grad_output: Any, places: Any, sizes: Any, /, num_weights: int) -> Any:
    """The gradient of ``bag_peaks`` by its table of ``num_weights`` rows."""
    width = grad_output.shape[1]
    full = sizes > 0
    flat = (places * width + np.arange(width))[full].reshape(-1).astype(np.intp, copy=False)
    sums = np.bincount(flat, grad_output[full].reshape(-1).astype(np.float64, copy=False), num_weights * width)
    return sums.reshape(num_weights, width).astype(grad_output.dtype)


bag_peaks_table.derivative(grad_output=lambda grad, places, sizes: bag_peaks(grad, places, sizes))


def _maxima(weight: Any, indices: Any, offsets: Any, mask: Any) -> tuple[Any, Any]:
    """For each bag and column the largest element and the row it is in; the first of equal ones."""
    if mask is not None:
        indices, offsets = indices[mask], np.concatenate(([0], np.cumsum(mask)))[offsets]
    wide = weight.astype(F32) if _half(weight) else weight
    rows = wide.take(indices, axis=0)
    peaks = _gathered(np.maximum, rows, offsets, 0)
    n = len(indices)
    first = np.arange(n)[:, None]
    is_peak = (rows == peaks.take(bags_of(offsets, n), axis=0)) | (rows != rows)
    places = _gathered(np.minimum, np.where(is_peak, first, n), offsets, 0)
    winners = indices[np.minimum(places, n - 1)] if n else np.zeros(peaks.shape, np.int64)
    winners[lengths_of(offsets, n) == 0] = 0
    return peaks.astype(weight.dtype, copy=False), winners


# -- the operation ----------------------------------------------------------------------------------------------------


def check_offsets(starts: Any, n: int) -> None:
    """Raise PyTorch's error where bags do not lie one after the other among ``n`` indices."""
    if not len(starts):
        return
    if starts[0] != 0:
        raise RuntimeError(
            "offsets[0] has to be 0, i.e., the first sequence in the mini-batch has to start from position 0. However, "
            f"got {starts[0]}"
        )
    if starts[-1] > n:
        raise RuntimeError(
            f"offsets[-1] can not be greater than input's length {n} but got offsets[-1] of {starts[-1]}"
        )
    if len(starts) > 1 and (starts[1:] < starts[:-1]).any():
        raise RuntimeError("offsets have to rise: a bag cannot begin before the one in front of it")


def _check_entries(weight: Any, indices: Any, mode: int, padding_idx: int) -> None:
    height = len(weight)
    wrong = (indices < 0) | (indices >= height)
    if wrong.any():
        first = int(wrong.argmax())
        if mode == 2 or padding_idx >= 0 or weight.dtype.itemsize == 8 or strides_of(weight)[1] != 1:
            # where PyTorch does not take its quick kernel
            raise RuntimeError(
                f"embedding_bag: Expected idx >= 0 && idx < num_embeddings but found idx to be {indices[first]}"
            )
        raise RuntimeError(
            f"Index {first} of input takes value {indices[first]} which is not in the valid range [0, {height})"
        )


@op(
    auxiliary=("indices", "offsets"),
    outputs=("result0", "result1", "result2", "result3"),
    differentiable=("result0",),
    public=False,
    hidden=("weight_sizes",),
    shows={"weight_sym_argsize_0": ("weight_sizes", _height)},
)
def embedding_bag(
    weight: Any, indices: Any, offsets: Any, per_sample_weights: Any = None, /, scale_grad_by_freq: bool = False,
    mode: int = 0, sparse: bool = False, padding_idx: int = -1,
) -> Any:  # fmt: skip
    """Sums (``mode`` 0), means (1) or maxima (2) of bags of rows; the bags' numbers and sizes, the maxima's rows."""
    n = len(indices)
    check_offsets(offsets, n)
    _check_entries(weight, indices, mode, padding_idx)
    padded = padding_idx >= 0
    mask = indices != padding_idx if padded else None
    if padded or mode:
        bags = bags_of(offsets, n)
        within = np.asarray(bags if mask is None else bags[mask], np.intp)
        sizes = np.bincount(within, minlength=len(offsets)).astype(np.int64, copy=False)
    else:
        bags = np.empty(0, np.int64) if weight.dtype != np.float64 else bags_of(offsets, n)
        sizes = np.zeros(len(offsets), np.int64)
    if mode == 2:
        out, places = _maxima(weight, indices, offsets, mask)
        return out, bags.astype(indices.dtype, copy=False), sizes, places
    wide = weight.astype(F32) if _half(weight) else weight
    rows = wide.take(indices, axis=0)
    if per_sample_weights is not None:
        rows *= per_sample_weights.astype(wide.dtype, copy=False)[:, None]
    if mask is not None:
        rows[~mask] = 0
    out = _gathered(np.add, rows, offsets, 0)
    if mode == 1:
        out /= np.maximum(sizes, 1).astype(out.dtype)[:, None]
    return out.astype(weight.dtype, copy=False), bags.astype(indices.dtype, copy=False), sizes, sizes.copy()


@embedding_bag.derivative("weight", "per_sample_weights")
def _embedding_bag_rule(
    grad: Any, weight: Any, indices: Any, offsets: Any, per_sample_weights: Any, result2: Any, result3: Any,
    weight_sizes: Any, scale_grad_by_freq: Any, mode: Any, sparse: Any, padding_idx: Any, needs: Any,
) -> Any:  # fmt: skip
    if mode == 2:
        return bag_peaks_table(grad, result3, result2, _height(weight_sizes)), None
    to_weight = to_factors = None
    plain = mode == 0 and padding_idx < 0
    if needs[0]:
        if sparse and scale_grad_by_freq:
            raise RuntimeError("embedding_backward: scale_grad_by_freq not supported with sparse gradients")
        factors = per_sample_weights
        if not plain or scale_grad_by_freq:
            factors = bag_shares(grad, indices, offsets, mode, padding_idx, scale_grad_by_freq)
            if per_sample_weights is not None:
                factors = factors * per_sample_weights
        if sparse:
            to_weight = bag_table_sparse(grad, indices, offsets, factors, weight_sizes, padding_idx)
        else:
            to_weight = bag_table(grad, indices, offsets, factors, _height(weight_sizes), padding_idx)
    if needs[1]:
        to_factors = bag_dots(grad, weight, indices, offsets, padding_idx)
        if not plain:
            to_factors = to_factors * bag_shares(grad, indices, offsets, 0, padding_idx, False)
    return to_weight, to_factors
