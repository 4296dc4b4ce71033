"""Sparse arrays: the carriers of sparse tensors, and sums, products and pictures of them on NumPy arrays alone.

A carrier stands where an array stands elsewhere (a tensor's data, a gradient on its way).  Its parts are never written
to by the code here: what changes a sparse tensor gives it another carrier.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NoReturn

import numpy as np

from ...core.fit import fit
from ...core.row import TABLE

ndarray = np.ndarray


class Carrier:
    """What all sparse arrays have in common: a shape, values, and no way to be taken for an array by accident."""

    __slots__ = ("shape", "values")
    shape: tuple[int, ...]
    values: Any
    backend = "Sparse"
    strides = ()  # like those of no dense array of any dimensions

    @property
    def dtype(self) -> np.dtype[Any]:
        """The NumPy dtype of the values."""
        return self.values.dtype  # type: ignore[no-any-return]

    @property
    def ndim(self) -> int:
        """The number of dimensions, sparse and dense."""
        return len(self.shape)

    @property
    def size(self) -> int:
        """The number of elements, those that are not stored too."""
        return int(np.prod(self.shape, dtype=np.int64))

    @property
    def itemsize(self) -> int:
        """The size of one value in bytes."""
        return int(self.values.itemsize)

    def __len__(self) -> int:
        return self.shape[0]

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        self.refuse()

    def __getitem__(self, index: Any) -> Any:
        self.refuse()

    def __setitem__(self, index: Any, value: Any) -> None:
        self.refuse()

    def __array__(self, *args: Any, **kwargs: Any) -> Any:
        self.refuse()

    def refuse(self, name: str | None = None) -> NoReturn:
        """Raise: what was asked for is not defined on sparse tensors."""
        what = "this operation" if name is None else f"'aten::{name}'"
        raise NotImplementedError(
            f"Could not run {what} with arguments from the '{self.backend}CPU' backend. It is not defined for sparse "
            "tensors; call x.to_dense() first."
        )

    def of(self, values: Any) -> Any:
        """Other values at the same places."""
        raise NotImplementedError

    def summed_to(self, sizes: tuple[int, ...]) -> Any:
        """The sums over what broadcasting made of ``sizes``."""
        return fit(dense_of(self), sizes)

    def empty(self, dtype: Any) -> Any:
        """The same shape in some dtype, without values."""
        raise NotImplementedError

    def astype(self, dtype: Any, *args: Any, **kwargs: Any) -> Any:
        """The same in another dtype."""
        return self.of(self.values.astype(dtype))

    def copy(self) -> Any:
        """The same, in memory of its own."""
        return self.of(self.values.copy())

    def __array_function__(self, function: Any, types: Any, args: Any, kwargs: Any) -> Any:
        if function is np.copyto:
            self.refuse("where.self")
        return function._implementation(*args, **kwargs)

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, out: Any = None, **kwargs: Any) -> Any:
        function = _UFUNCS.get(ufunc)
        if function is None or method != "__call__" or kwargs:
            self.refuse(ufunc.__name__)
        if out is None:
            return function(*inputs)
        if out[0] is inputs[0] and ufunc in (np.add, np.subtract) and isinstance(inputs[1], Coo):
            added_into(out[0], inputs[1] if ufunc is np.add else -inputs[1])
        else:
            out[0][...] = function(*inputs)
        return out[0]

    def __add__(self, other: Any) -> Any:
        return added(self, other)

    __radd__ = __add__

    def __neg__(self) -> Any:
        return self.of(-self.values)

    def __mul__(self, other: Any) -> Any:
        return multiplied(self, other)

    __rmul__ = __mul__

    def __truediv__(self, other: Any) -> Any:
        if np.ndim(other):
            self.refuse("div.Tensor")
        return self.of(self.values / other)


class Coo(Carrier):
    """Coordinates and values: ``values[k]`` belongs at ``indices[:, k]``; where several do, their sum.

    indices    int64, (sparse dimensions, number of values)
    values     (number of values, *dense dimensions)
    coalesced  whether the coordinates are known to be sorted, each there once
    """

    __slots__ = ("indices", "coalesced")

    def __init__(self, indices: Any, values: Any, shape: Sequence[int], coalesced: bool = False) -> None:
        self.indices, self.values, self.shape, self.coalesced = indices, values, tuple(shape), coalesced

    def summed_to(self, sizes: tuple[int, ...]) -> Any:
        """The sums over what broadcasting made of ``sizes``: sparse where no sparse dimension is summed."""
        sparse = len(self.indices)
        if len(sizes) < self.ndim or sizes[:sparse] != self.shape[:sparse]:
            return fit(dense_of(self), sizes)
        values = fit(self.values, (len(self.values), *sizes[sparse:]))
        return Coo(self.indices, values, sizes, self.coalesced)

    def of(self, values: Any) -> Coo:
        return Coo(self.indices, values, self.shape, self.coalesced)

    def empty(self, dtype: Any) -> Coo:
        return Coo(self.indices[:, :0], self.values[:0].astype(dtype), self.shape, True)


class Compressed(Carrier):
    """A matrix by compressed lines: values of line ``i`` lie from ``starts[i]`` to ``starts[i + 1]``, at ``places``.

    values  (number of values), or (number of values, height, width): blocks
    layout  "csr" and "bsr", whose lines are rows (of blocks), "csc" and "bsc", whose lines are columns
    """

    __slots__ = ("starts", "places", "layout")
    backend = "SparseCsr"  # PyTorch has one for all of them

    def __init__(self, starts: Any, places: Any, values: Any, shape: Sequence[int], layout: str = "csr") -> None:
        self.starts, self.places, self.values = starts, places, values
        self.shape, self.layout = tuple(shape), layout

    def of(self, values: Any) -> Compressed:
        return Compressed(self.starts, self.places, values.reshape(self.values.shape), self.shape, self.layout)

    def empty(self, dtype: Any) -> Compressed:
        starts, values = np.zeros_like(self.starts), self.values[:0].astype(dtype)
        return Compressed(starts, self.places[:0], values, self.shape, self.layout)

    def coo(self) -> Coo:
        """The same by coordinates, each number of a block for itself."""
        lines = np.repeat(np.arange(len(self.starts) - 1), np.asarray(np.diff(self.starts), np.intp))
        at = lines, self.places.astype(np.int64)
        rows, columns = at if self.layout[2] == "r" else at[::-1]
        if self.values.ndim == 3:
            height, width = self.values.shape[1:]
            down = rows[:, None, None] * height + np.arange(height)[:, None]
            across = columns[:, None, None] * width + np.arange(width)
            rows, columns = np.broadcast_arrays(down, across)
        indices = np.stack([rows.reshape(-1), columns.reshape(-1)])
        return Coo(indices, self.values.reshape(-1), self.shape, self.layout == "csr")

    def like(self, array: Coo) -> Compressed:
        """Another matrix in the same layout."""
        return compressed(array, self.layout, self.values.shape[1:])

    def turned(self) -> Compressed:
        """The transpose: rows are columns of it."""
        layout = self.layout[:2] + ("c" if self.layout[2] == "r" else "r")
        values = self.values.swapaxes(1, 2) if self.values.ndim == 3 else self.values
        return Compressed(self.starts, self.places, values, self.shape[::-1], layout)


def compressed(array: Coo, layout: str = "csr", block: Sequence[int] = ()) -> Compressed:
    """A matrix by compressed lines, in blocks of a height and a width where the layout has blocks."""
    array = coalesced(array)
    (rows, columns), values, shape = array.indices, array.values, array.shape
    if block:
        (rows, inner_row), (columns, inner_column) = map(np.divmod, array.indices, block)
        shape = shape[0] // block[0], shape[1] // block[1]
    lines, places = (rows, columns) if layout[2] == "r" else (columns, rows)
    count, others = shape if layout[2] == "r" else shape[::-1]
    if block:
        filled, which = np.unique(lines * others + places, return_inverse=True)
        values = np.zeros((len(filled), *block), values.dtype)
        values[which, inner_row, inner_column] = array.values
        lines, places = np.divmod(filled, max(others, 1))
    elif layout == "csc":
        order = np.argsort(lines, kind="stable")
        lines, places, values = lines[order], places[order], values[order]
    counts = np.bincount(np.asarray(lines, np.intp), minlength=count)
    return Compressed(np.concatenate(([0], np.cumsum(counts))), places.copy(), values, array.shape, layout)


# -- places -----------------------------------------------------------------------------------------------------------


def keys_of(indices: Any, shape: Sequence[int]) -> Any:
    """One number for each place, in the order of the places."""
    keys = np.zeros(indices.shape[1], np.int64)
    for row, n in zip(indices, shape, strict=False):
        keys = keys * n + row
    return keys


def _starts(ordered: Any) -> Any:
    """Where runs of equal keys begin."""
    return np.flatnonzero(np.concatenate(([True], ordered[1:] != ordered[:-1])))


def summed_at(values: Any, at: Any, n: int, is_sorted: bool = False) -> Any:
    """Noughts of length ``n`` into which each of ``values`` is added at its place ``at``."""
    out = np.zeros((n, *values.shape[1:]), values.dtype)
    if len(at):
        if not is_sorted:
            order = np.argsort(at, kind="stable")
            at, values = at[order], values[order]
        starts = _starts(at)
        out[at[starts]] = np.add.reduceat(values, starts, axis=0)
    return out


def coalesced(array: Coo) -> Coo:
    """The same with each place once, in order."""
    if array.coalesced:
        return array
    indices, values = array.indices, array.values
    if indices.shape[1]:
        keys = keys_of(indices, array.shape)
        order = np.argsort(keys, kind="stable")
        starts = _starts(keys[order])
        indices, values = indices[:, order[starts]], np.add.reduceat(values[order], starts, axis=0)
    return Coo(indices, values, array.shape, True)


def dense_of(array: Any) -> Any:
    """The array with all its zeros, in memory of its own."""
    if isinstance(array, Compressed):
        array = array.coo()
    if not isinstance(array, Coo):
        return np.array(array)
    array = coalesced(array)
    if not len(array.indices):  # no dimension is sparse: all values lie at one place
        return along(array.values, (0,)).astype(array.dtype)
    out = np.zeros(array.shape, array.dtype)
    out[tuple(array.indices)] = array.values
    return out


def sparse_of(array: Any, sparse_dim: int) -> Coo:
    """The elements that are not nought; or whole slices, placed by the first ``sparse_dim`` dimensions."""
    array = np.asarray(array)
    full = array != 0
    full = full.reshape(*array.shape[:sparse_dim], -1).any(-1) if sparse_dim < array.ndim else full
    positions = np.nonzero(full) if array.ndim else ()
    indices = np.stack(positions) if positions else np.zeros((0, int(full)), np.int64)
    return Coo(indices, array[positions] if positions else array.reshape(1)[: int(full)], array.shape, True)


def values_at(array: Any, indices: Any) -> Any:
    """The values of a sparse or dense array at some places: nought where a sparse one has none."""
    if isinstance(array, Compressed):
        array = array.coo()
    if not isinstance(array, Coo):
        return np.asarray(array)[tuple(indices)]
    array = coalesced(array)
    wanted, stored = keys_of(indices, array.shape), keys_of(array.indices, array.shape)
    if len(wanted) == len(stored) and (wanted == stored).all():
        return array.values.copy()
    out = np.zeros((len(wanted), *array.values.shape[1:]), array.dtype)
    if len(stored):
        at = np.minimum(np.searchsorted(stored, wanted), len(stored) - 1)
        is_stored = stored[at] == wanted
        out[is_stored] = array.values[at[is_stored]]
    return out


def masked(array: Any, pattern: Any) -> Any:
    """The values of ``array`` at the places of ``pattern``."""
    if isinstance(pattern, Compressed):
        return pattern.of(values_at(array, pattern.coo().indices))
    pattern = coalesced(pattern)
    return pattern.of(values_at(array, pattern.indices))


def permuted(array: Any, dims: Sequence[int]) -> Any:
    """The dimensions in another order; sparse ones stay in front of dense ones."""
    if isinstance(array, Compressed):
        return array.turned() if tuple(dims) == (1, 0) else array
    if not isinstance(array, Coo):
        return np.array(array.transpose(dims))
    n = len(array.indices)
    if any(dim >= n for dim in dims[:n]):
        raise RuntimeError("transpose: dims must be both sparse or both dense: call x.to_dense() first")
    values = array.values.transpose(0, *(dim - n + 1 for dim in dims[n:]))
    is_same = list(dims[:n]) == list(range(n))
    return Coo(array.indices[list(dims[:n])], values, [array.shape[d] for d in dims], array.coalesced and is_same)


# -- arithmetic -------------------------------------------------------------------------------------------------------


def added(one: Any, two: Any) -> Any:
    """The sum of two arrays of which at least one is sparse: sparse if both are."""
    if isinstance(one, Compressed) and isinstance(two, Compressed):
        return one.like(added(one.coo(), two.coo()))
    one, two = (array.coo() if isinstance(array, Compressed) else array for array in (one, two))
    if not isinstance(one, Coo):
        one, two = two, one
    if not isinstance(two, Coo):
        one = coalesced(one)
        out = np.array(np.broadcast_to(two, one.shape), np.result_type(one.dtype, two))
        out[tuple(one.indices)] += one.values
        return out
    if one.shape != two.shape or len(one.indices) != len(two.indices):
        raise RuntimeError(
            f"add: expected sizes of 'self' and 'other' to match, but {list(one.shape)} != {list(two.shape)}"
        )
    here, there, n = _merged(keys_of(one.indices, one.shape), keys_of(two.indices, two.shape))
    indices = np.zeros((len(one.indices), n), np.int64)
    values = np.zeros((n, *one.values.shape[1:]), np.result_type(one.dtype, two.dtype))
    indices[:, here], indices[:, there] = one.indices, two.indices
    values[here] = one.values
    values[there] += two.values
    return Coo(indices, values, one.shape, one.coalesced and two.coalesced)


def added_into(dense: Any, array: Coo) -> None:
    """Add a sparse array into a dense one."""
    if array.shape != dense.shape:
        raise RuntimeError(f"add: expected {list(dense.shape)} but got {list(array.shape)}")
    array = coalesced(array)
    dense[tuple(array.indices)] += array.values


def _merged(one: Any, two: Any) -> tuple[Any, Any, int]:
    """Where the places of two lists go in the list that PyTorch merges of them, and how long that is."""
    if len(one) == len(two) and (one == two).all():
        return np.arange(len(one)), np.arange(len(one)), len(one)
    if (one[1:] > one[:-1]).all() and (two[1:] > two[:-1]).all():
        merged, back = np.unique(np.concatenate((one, two)), return_inverse=True)
        return back[: len(one)], back[len(one) :], len(merged)
    here, there, i, j, n = [], [], 0, 0, 0
    a, b = one.tolist(), two.tolist()
    while i < len(a) or j < len(b):  # as if both were sorted; what is not merged is added up later
        first = j == len(b) or (i < len(a) and a[i] <= b[j])
        second = i == len(a) or (j < len(b) and b[j] <= a[i])
        if first:
            here.append(n)
            i += 1
        if second:
            there.append(n)
            j += 1
        n += 1
    return np.array(here, np.int64), np.array(there, np.int64), n


def multiplied(one: Any, two: Any) -> Any:
    """The product of two arrays or numbers, of which any may be sparse: sparse if one is."""
    if not isinstance(one, Carrier):
        one, two = two, one
    if not isinstance(one, Carrier):
        return one * two
    if not np.ndim(two) and not isinstance(two, Carrier):
        return one.of(one.values * two)
    if isinstance(one, Compressed):
        return one.like(multiplied(one.coo(), two))
    if not isinstance(two, Carrier):
        values = np.broadcast_to(two, one.shape)[tuple(one.indices)]
        return one.of(one.values * values)
    if one.shape != two.shape:
        raise RuntimeError(f"mul operands have incompatible sizes: {list(one.shape)} vs {list(two.shape)}")
    two = two.coo() if isinstance(two, Compressed) else two
    known = one.coalesced and two.coalesced  # type: ignore[attr-defined]
    one, two = coalesced(one), coalesced(two)  # type: ignore[arg-type]
    both = np.isin(keys_of(one.indices, one.shape), keys_of(two.indices, two.shape))
    indices = one.indices[:, both]
    return Coo(indices, one.values[both] * values_at(two, indices), one.shape, known)


def matmul(one: Any, two: Any) -> Any:
    """The product of two matrices, or of a matrix and a vector: sparse if both are."""
    one, two = (array.coo() if isinstance(array, Compressed) else array for array in (one, two))
    if not isinstance(one, Coo) and not isinstance(two, Coo):
        return np.matmul(one, two)
    if not isinstance(one, Coo):
        return np.ascontiguousarray(matmul(permuted(two, (1, 0)), one.T).T)
    if not isinstance(two, Coo):
        picked = np.asarray(two)[one.indices[1]]
        values = one.values if picked.ndim == 1 else one.values[:, None]
        return summed_at(picked * values, one.indices[0], one.shape[0], one.coalesced)
    one, two = coalesced(one), coalesced(two)
    counts = np.bincount(np.asarray(two.indices[0], np.intp), minlength=two.shape[0])
    ends = np.cumsum(counts)
    reach = counts[one.indices[1]]  # how many values of the second each value of the first meets
    reach = np.asarray(reach, np.intp)
    from_one = np.repeat(np.arange(len(one.values)), reach)
    begins = np.repeat((ends - counts)[one.indices[1]] - np.cumsum(reach) + reach, reach)
    from_two = begins + np.arange(len(from_one))
    indices = np.stack([one.indices[0][from_one], two.indices[1][from_two]])
    return coalesced(Coo(indices, one.values[from_one] * two.values[from_two], (one.shape[0], two.shape[1])))


def along(values: Any, axes: tuple[int, ...], keepdim: bool = False) -> Any:
    """The sums of an array along axes, as those of dense tensors are made."""
    return TABLE["sum_dim"].kernel(values, axes, keepdim)


def summed(array: Coo, dims: Sequence[int], keepdim: bool) -> Any:
    """The sums along dimensions: dense where all sparse ones are summed."""
    n = len(array.indices)
    dense = tuple(dim - n + 1 for dim in dims if dim >= n)
    values = along(array.values, dense, keepdim) if dense else array.values
    left = [dim for dim in range(n) if dim not in dims]
    if not left:
        total = along(values, (0,))
        return total.reshape((1,) * n + total.shape) if keepdim else total
    shape = [1 if dim in dims else size for dim, size in enumerate(array.shape) if keepdim or dim not in dims]
    if keepdim:
        indices = array.indices.copy()
        indices[[dim for dim in range(n) if dim in dims]] = 0
    else:
        indices = array.indices[left]
    sums = Coo(indices, values, shape)
    return sums if keepdim else coalesced(sums)


def spread(array: Any, pattern: Coo, dims: Sequence[int], keepdim: bool) -> Coo:
    """The other way round: at each place of ``pattern``, what ``array`` has where that place was summed to."""
    pattern = coalesced(pattern)
    n = len(pattern.indices)
    array = dense_of(array)
    if not keepdim:
        array = np.expand_dims(array, tuple(dims))
    values = np.broadcast_to(array, pattern.shape)[tuple(pattern.indices)] if n else array
    return pattern.of(np.array(values))


_UFUNCS: dict[Any, Any] = {
    np.add: added, np.multiply: multiplied, np.subtract: lambda one, two: added(one, -two),
    np.conjugate: lambda array: array.of(np.conj(array.values)),
}  # fmt: skip
