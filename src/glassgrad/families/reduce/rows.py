"""Reductions along dimensions: sums, means, products, variances, norms; knows arrays and rows, no signatures.

``dim`` is an integer, a tuple of integers, or None for all of them.  Sums of everyday float arrays are products with
ones: BLAS is several times faster than ``np.add.reduce`` on small arrays and on rows, and as accurate.
"""

from __future__ import annotations

from math import inf, prod
from typing import Any

import numpy as np

from ...core.row import COMPLEX, FLOATS, op
from ...ground.dtypes import HALVES, of
from ...ground.meta import in_single
from ...kernels import compiled
from ..compare.rows import where
from ..scan.rows import others

ndarray = np.ndarray
F16, F32, F64, I64 = np.dtype("f2"), np.dtype("f4"), np.dtype("f8"), np.dtype("i8")
_add: Any = np.add
_LONGEST = 65536  # ones kept; longer sums go block by block, which also keeps them accurate
_BLOCK = 4096
_IN_A_ROW = 512  # numbers that are added one after another
_LARGE = 1 << 16  # elements from which on compiled sums pay: below, BLAS and the cache are quick enough
SMALL = 2048  # elements up to which a call costs more than the arithmetic in it
_ROUNDING: dict[Any, float] = {kind: float(64 * np.finfo(kind).eps) ** 2 for kind in (F32, F64)}  # of long means
_BASE: dict[Any, Any] = {F32: np.ones(_LONGEST, F32), F64: np.ones(_LONGEST, F64)}
ones32: dict[int, Any] = {n: _BASE[F32][:n] for n in range(1025)}
ones64: dict[int, Any] = {n: _BASE[F64][:n] for n in range(1025)}


# -- sizes -------------------------------------------------------------------------------------------------------------


def kept_sizes(sizes: tuple[int, ...], dim: Any) -> tuple[int, ...]:
    """``sizes`` with every reduced dimension of size one."""
    if dim is None:
        return (1,) * len(sizes)
    axes = {d % len(sizes) for d in ((dim,) if type(dim) is int else dim)} if sizes else ()
    return tuple([1 if i in axes else n for i, n in enumerate(sizes)])


def count(sizes: tuple[int, ...], dim: Any = None) -> int:
    """How many elements each result of a reduction of ``sizes`` is made of."""
    if dim is None or not sizes:
        return prod(sizes)
    return sizes[dim] if type(dim) is int else prod([sizes[d] for d in dim])


def leading(sizes: tuple[int, ...], dim: Any) -> tuple[int, ...]:
    """The dimensions of ``sizes`` that are not reduced."""
    axes = {d % len(sizes) for d in ((dim,) if type(dim) is int else dim)}
    return tuple([i for i in range(len(sizes)) if i not in axes])


def axes_of(a: Any, dim: Any) -> Any:
    """``dim`` as NumPy's ``axis``; a 0-d array has none."""
    return None if a.ndim == 0 else dim


# -- sums of arrays ----------------------------------------------------------------------------------------------------


def total(a: Any) -> Any:
    """The sum of all elements; integers in int64, halves by way of float32."""
    if type(a) is not ndarray:
        return a if a.dtype.kind in "fcV" else np.int64(a)
    d = a.dtype
    ones = ones32.get(a.size) if d is F32 else ones64.get(a.size) if d is F64 else None
    return _total(a) if ones is None else a.ravel().dot(ones)


def _total(a: Any) -> Any:
    d = a.dtype
    if 0 in a.strides and a.size > 1:  # expanded: every distinct element once
        seen = a[tuple([slice(1) if s == 0 else slice(None) for s in a.strides])]
        if seen.size < a.size:
            times = a.size // seen.size
            if d.char in HALVES:  # many a count is none of theirs
                return d.type(np.add.reduce(seen, axis=None, dtype=F32) * times)
            return total(seen) * (d.type(times) if d.kind in "fc" else times)
    if d.kind in "bui":
        return np.add.reduce(a, axis=None, dtype=I64)
    if d == F32 or d == F64:
        flat = a.ravel("K")
        if flat.size >= _LARGE and flat.size >= compiled.least and (result := compiled.reduce.total(flat)) is not None:
            return result
        ones = _BASE[d]
        if flat.size <= _LONGEST:
            return flat.dot(ones[: flat.size])
        blocks = flat.size // _BLOCK
        heads = flat[: blocks * _BLOCK].reshape(blocks, _BLOCK).dot(ones[:_BLOCK])
        return total(heads) + total(flat[blocks * _BLOCK :])
    if d.kind == "c":
        return np.add.reduce(a, axis=None)
    return d.type(np.add.reduce(a.astype(F32), axis=None))


def along(a: Any, dim: Any, keepdim: bool = False) -> Any:
    """The sums along ``dim``; integers in int64, halves by way of float32."""
    if type(a) is ndarray and a.ndim == 2:
        if type(dim) is tuple and len(dim) == 1:
            dim = dim[0]
        d = a.dtype
        table = ones32 if d is F32 else ones64 if d is F64 else None
        if table is not None:
            if dim == 1 or dim == -1:
                ones = table.get(a.shape[1])
                if ones is not None:
                    sums = a.dot(ones)
                    return sums.reshape(-1, 1) if keepdim else sums
            elif dim == 0 or dim == -2:
                ones = table.get(a.shape[0])
                if ones is not None:
                    sums = ones.dot(a)
                    return sums.reshape(1, -1) if keepdim else sums
    return _along(a, dim, keepdim)


def _along(a: Any, dim: Any, keepdim: bool) -> Any:
    if dim is None or a.ndim == 0:
        sums = total(a)
        return np.reshape(sums, (1,) * a.ndim) if keepdim and a.ndim else sums
    axes: Any = (dim,) if type(dim) is int else tuple(dim)
    if len(axes) == a.ndim:
        sums = total(a)
        return np.reshape(sums, (1,) * a.ndim) if keepdim else sums
    d = a.dtype
    if d.kind in "bui":
        return _add.reduce(a, axis=axes, keepdims=keepdim, dtype=I64)
    if d.kind == "V" or d == F16:
        return _in_turns(a.astype(F32), axes, keepdim).astype(d)
    if a.ndim == 2 and axes and a.flags.f_contiguous and not a.flags.c_contiguous:  # columns that lie as lines
        sums = _along(a.T, (1 - axes[0] % 2,), False)
        return sums.reshape(kept_sizes(a.shape, axes)) if keepdim else sums
    if (d == F32 or d == F64) and a.flags.c_contiguous and a.size > 64:
        n, m = a.ndim, len(axes)
        dims = sorted(i % n for i in axes)
        size = count(a.shape, axes)
        large = a.size >= _LARGE and a.size >= compiled.least and size > _LONGEST  # shorter lines are quicker by BLAS
        if dims == list(range(n - m, n)) and (large or size <= _LONGEST):
            matrix = a.reshape(prod(a.shape[: n - m]), size)
            sums = compiled.reduce.rows(matrix) if large else None
            if sums is None:
                sums = matrix.dot(_BASE[d][:size]) if size <= _LONGEST else _add.reduce(matrix, axis=1)
            return sums.reshape(kept_sizes(a.shape, axes) if keepdim else a.shape[: n - m])[()]
        if dims == list(range(m)) and m < n:
            sums = _columns(a.reshape(size, prod(a.shape[m:])))
            return sums.reshape(kept_sizes(a.shape, axes) if keepdim else a.shape[m:])
        if a.size > 4 * SMALL and dims == [0, *range(n - m + 1, n)]:  # of each channel: first its lines
            sums = _along(_along(a, dims[1:], False), 0, False)
            return sums.reshape(kept_sizes(a.shape, axes)) if keepdim else sums
    return _in_turns(a, axes, keepdim)


def _in_turns(a: Any, axes: tuple[int, ...], keepdim: bool) -> Any:
    """Sums along any axes: of many numbers, NumPy would add each to all before it, and round as often."""
    if count(a.shape, axes) <= _IN_A_ROW:
        return _add.reduce(a, axis=axes, keepdims=keepdim)
    sums = a
    for axis in sorted([axis % a.ndim for axis in axes], key=lambda axis: -a.shape[axis]):
        sums = _along_one(sums, axis)
    return sums if keepdim else np.squeeze(sums, axes)


def _along_one(a: Any, axis: int) -> Any:
    """Sums along one axis, which keep it; block by block."""
    blocks, rest = divmod(a.shape[axis], _IN_A_ROW)
    if not blocks or blocks == 1 and not rest:
        return _add.reduce(a, axis=axis, keepdims=True)
    before = (slice(None),) * axis
    whole = a[(*before, slice(blocks * _IN_A_ROW))]
    heads = whole.reshape(*a.shape[:axis], blocks, _IN_A_ROW, *a.shape[axis + 1 :])
    sums = _along_one(_add.reduce(heads, axis=axis + 1), axis)
    return sums + _add.reduce(a[(*before, slice(blocks * _IN_A_ROW, None))], axis=axis, keepdims=True) if rest else sums


def _columns(a: Any) -> Any:
    """The column sums of a matrix; long columns block by block, for accuracy."""
    ones = _BASE[a.dtype]
    rows = a.shape[0]
    if rows <= 2048:
        return ones[:rows].dot(a)
    blocks = rows // 1024
    heads = np.matmul(ones[:1024], a[: blocks * 1024].reshape(blocks, 1024, a.shape[1]))
    return _columns(heads) + ones[: rows - blocks * 1024].dot(a[blocks * 1024 :])


def column(values: Any, shape: tuple[int, int]) -> Any:
    """One value for each row of a small matrix, repeated along it: quicker than to broadcast."""
    return values.repeat(shape[1]).reshape(shape)


# -- sums --------------------------------------------------------------------------------------------------------------


@op(node="SumBackward0", forward="linear")
def sum(self: Any, /, dtype: Any = None) -> Any:
    """The sum of all elements."""
    if dtype is None:
        if type(self) is ndarray and self.dtype is F32:
            ones = ones32.get(self.size)
            if ones is not None:
                return self.ravel().dot(ones)
        return total(self)
    return total(self if self.dtype.kind in "bui" and dtype.kind in "bui" else self.astype(dtype)).astype(dtype)


sum.derivative(self=lambda grad, self_sizes: spread(grad, self_sizes))


@op(node="SumBackward1", public=False, layout="plain", forward="linear", batched="dims")
def sum_dim(self: Any, /, dim: Any, keepdim: bool = False, dtype: Any = None) -> Any:
    """The sums along the dimensions ``dim``."""
    if dtype is None:
        if len(self.shape) == 2 and self.dtype is F32 and not keepdim:
            if dim == (1,):
                ones = ones32.get(self.shape[1])
                if ones is not None:
                    return self.dot(ones)
            elif dim == (0,):
                ones = ones32.get(self.shape[0])
                if ones is not None:
                    return ones.dot(self)
        return along(self, dim, keepdim)
    a = self if self.dtype.kind in "bui" and dtype.kind in "ui" else self.astype(dtype)
    return along(a, dim, keepdim).astype(dtype)


sum_dim.derivative(self=lambda grad, self_sizes, dim, keepdim: spread_dim(grad, self_sizes, dim, keepdim))


@op(node="ExpandBackward0", public=False, forward="linear")
def spread(self: Any, /, sizes: tuple[int, ...]) -> Any:
    """One element repeated to ``sizes``."""
    out = np.empty(sizes, self.dtype)
    out.fill(self if self.ndim == 0 else self.item())
    return out if sizes else out[()]


spread.derivative(self=lambda grad: sum(grad))


@op(node="ExpandBackward0", public=False, forward="linear", batched="dims")
def spread_dim(self: Any, /, sizes: tuple[int, ...], dim: Any, keepdim: bool) -> Any:
    """The results of a reduction, each repeated to where its elements were."""
    if not sizes:
        return self + 0
    if not keepdim and len(sizes) == 2:
        if dim == (1,):
            return self.repeat(sizes[1]).reshape(sizes)
        if dim == (0,):
            keepdim = True  # a row broadcasts as it is
    out = np.empty(sizes, self.dtype)
    out[...] = self if keepdim else self.reshape(kept_sizes(sizes, dim))
    return out


spread_dim.derivative(self=lambda grad, dim, keepdim: sum_dim(grad, dim, keepdim))


@op(constant=True, public=False, batched="point")
def present(self: Any, /) -> Any:
    """One where an element is a number, zero where it is NaN."""
    return (self == self).astype(self.dtype)


@op(node="NansumBackward0", public=False, hidden=("self_sizes",), layout="plain", batched="dims")
def nansum_dim(self: Any, /, dim: Any = None, keepdim: bool = False, dtype: Any = None) -> Any:
    """The sums along ``dim`` of what is not NaN."""
    numbers = np.where(self == self, self, self.dtype.type(0))
    return along(numbers, dim, keepdim) if dtype is None else along(numbers.astype(dtype), dim, keepdim).astype(dtype)


nansum_dim.derivative(
    self=lambda grad, self, self_sizes, dim, keepdim: spread_dim(grad, self_sizes, dim, keepdim) * present(self)
)


@nansum_dim.row.tangent
def _nansum_tangent(self: Any, self_t: Any, dim: Any, keepdim: bool) -> Any:
    """The sums of the tangents of what is not NaN: that of what is may be NaN itself."""
    return sum_dim(where(self == self, self_t, 0), dim, keepdim)


# -- means -------------------------------------------------------------------------------------------------------------


def _no_mean(self: Any, *_: Any, **settings: Any) -> RuntimeError:
    return RuntimeError(
        "mean(): could not infer output dtype. Input dtype must be either a floating point or complex dtype. Got: "
        f"{of(self.dtype).scalar_name}"
    )


@op(
    node="MeanBackward0",
    widens=True,
    shows={"self_sym_numel": ("self_sizes", prod)},
    serves=(FLOATS + COMPLEX, _no_mean),
    forward="linear",
)
def mean(self: Any, /) -> Any:
    """The mean of all elements."""
    d = self.dtype
    if d is F32 and type(self) is ndarray:
        ones = ones32.get(self.size)
        if ones is not None:
            return self.ravel().dot(ones) / self.size
    if d == F16 or d.kind == "V":
        return (total(self.astype(F32)) / self.size).astype(d)
    return total(self) / self.size


mean.derivative(self=lambda grad, self_sizes: spread(grad / count(self_sizes), self_sizes))


@op(
    node="MeanBackward1",
    widens=True,
    public=False,
    shows={"self_sym_numel": ("self_sizes", prod)},
    serves=(FLOATS + COMPLEX, _no_mean),
    layout="plain",
    forward="linear",
    batched="dims",
)
def mean_dim(self: Any, /, dim: Any, keepdim: bool = False) -> Any:
    """The means along the dimensions ``dim``."""
    d = self.dtype
    if d == F16 or d.kind == "V":
        return (along(self.astype(F32), dim, keepdim) / count(self.shape, dim)).astype(d)
    return along(self, dim, keepdim) / count(self.shape, dim)


mean_dim.derivative(
    self=lambda grad, self_sizes, dim, keepdim: spread_dim(grad / count(self_sizes, dim), self_sizes, dim, keepdim)
)


# -- products ----------------------------------------------------------------------------------------------------------


def _compiled_product(a: Any, axis: Any, keepdim: bool) -> Any:
    """The product of everything, or along the last dimension."""
    if axis is None:
        products = compiled.reduce.product(a)
    elif axis % a.ndim == a.ndim - 1 and a.size:
        products = compiled.reduce.rows(a.reshape(-1, a.shape[-1]), True)
        products = None if products is None else products.reshape(a.shape[:-1])
    else:
        return None
    return products if products is None or not keepdim else np.reshape(products, kept_sizes(a.shape, axis))


def _product(self: Any, dim: Any, keepdim: bool, dtype: Any) -> Any:
    a = self if dtype is None else self.astype(dtype, copy=False)
    d = a.dtype
    axis = axes_of(a, dim)
    if d.kind in "bui":
        product = np.multiply.reduce(a, axis=axis, keepdims=keepdim and a.ndim > 0, dtype=I64)
        return product if dtype is None else product.astype(dtype)
    if a.size >= compiled.least and a.ndim and (products := _compiled_product(a, axis, keepdim)) is not None:
        return products
    if d == F16 or d.kind == "V":
        return np.multiply.reduce(a.astype(F32), axis=axis, keepdims=keepdim and a.ndim > 0).astype(d)
    return np.multiply.reduce(a, axis=axis, keepdims=keepdim and a.ndim > 0)


@op(node="ProdBackward0", public=False, precision="single")
def prod_all(self: Any, /, dtype: Any = None) -> Any:
    """The product of all elements."""
    return _product(self, None, False, dtype)


prod_all.derivative(self=lambda grad, self, result: grad * others(self, result, None, False))


@op(node="ProdBackward1", public=False, precision="single", hidden=("self_sizes",), layout="plain", batched="dims")
def prod_dim(self: Any, /, dim: int, keepdim: bool = False, dtype: Any = None) -> Any:
    """The products along ``dim``."""
    return _product(self, dim, keepdim, dtype)


prod_dim.derivative(
    self=lambda grad, self, result, self_sizes, dim, keepdim: (
        spread_dim(grad, self_sizes, dim, keepdim) * others(self, result, dim, keepdim)
    )
)


# -- variances ---------------------------------------------------------------------------------------------------------


def freedom(sizes: tuple[int, ...], dim: Any, correction: Any) -> Any:
    """By what the squared deviations are divided."""
    return count(sizes, dim) - (1 if correction is None else correction)


def _variance(self: Any, dim: Any, correction: Any, keepdim: bool) -> tuple[Any, Any]:
    """Variance and mean along ``dim``."""
    if self.dtype is F32 and not keepdim and type(self) is ndarray and self.size <= SMALL:
        if dim is None:
            flat = self.ravel()
            n = flat.size
            degrees = n - 1 if correction is None else n - correction
            means = flat.dot(ones32.get(n, _BASE[F32][:n])) / n
            off = flat - means
            return off.dot(off) / (degrees if degrees > 0 else 0), means
        if dim == (1,) and self.ndim == 2 and self.shape[1] in ones32:
            n = self.shape[1]
            degrees = n - 1 if correction is None else n - correction
            means = self.dot(ones32[n]) / F32.type(n)
            off = self - column(means, self.shape)
            squares = (off * off).dot(ones32[n])
            if not _hardly_off(squares, means, n):
                return squares / F32.type(degrees if degrees > 0 else 0), means
    if self.dtype.kind == "c":
        real, imag = (_variance(part, dim, correction, keepdim)[0] for part in (self.real, self.imag))
        return real + imag, along(self, dim, keepdim) / count(self.shape, dim)
    a = in_single(self)
    number, degrees = count(a.shape, dim), max(freedom(a.shape, dim, correction), 0)
    means = along(a, dim, True) / number
    if dim is None and a.size >= compiled.least and a.ndim:
        summed = compiled.reduce.deviations(a, means.reshape(()))
        if summed is not None:
            sizes = (1,) * a.ndim if keepdim else ()
            return np.reshape(summed / summed.dtype.type(degrees), sizes)[()], means.reshape(sizes)[()]
    off = a - means
    squares = along(off * off, dim, keepdim)
    if dim is not None and _hardly_off(squares, means.reshape(squares.shape), number):
        means = means + along(off, dim, True) / number
        off = a - means
        squares = along(off * off, dim, keepdim)
    return squares / squares.dtype.type(degrees), means if keepdim else means.reshape(squares.shape)[()]


def _hardly_off(squares: Any, means: Any, number: int) -> Any:
    """Whether some squared deviations are those of means that were rounded: of equal numbers, PyTorch has none."""
    return np.count_nonzero(means * means * (number * _ROUNDING[means.dtype]) >= squares)


def _as_self(self: Any, *arrays: Any) -> Any:
    kind = self.dtype
    if kind == F16 or kind.kind == "V":
        arrays = tuple(a.astype(kind) for a in arrays)
    return arrays[0] if len(arrays) == 1 else arrays


_MOMENTS: Any = {
    "holomorphic": False, "public": False, "hidden": ("self_sizes",), "layout": "plain", "batched": "dims",
    "widens": True,
}  # fmt: skip


@op(lenient=True, node="VarBackward0", **_MOMENTS)
def var_dim(self: Any, /, dim: Any = None, correction: Any = None, keepdim: bool = False) -> Any:
    """The variances along ``dim``."""
    return _as_self(self, _variance(self, dim, correction, keepdim)[0])


@var_dim.derivative("self")
def _var_rule(grad: Any, self: Any, self_sizes: Any, dim: Any, correction: Any, keepdim: Any) -> Any:
    """In all, and of no degrees of freedom or fewer, PyTorch's slope is infinite, and no number at the mean."""
    degrees = freedom(self_sizes, dim, correction)
    off = self - mean_dim(self, dim, True)
    if degrees <= 0 and (dim is None or not self_sizes):
        degrees, off = 0, off * off
    return spread_dim(grad * (2 / degrees if degrees else inf), self_sizes, dim, keepdim) * off


def _deviation(self: Any, dim: Any, correction: Any, keepdim: bool) -> tuple[Any, Any]:
    """Standard deviation and mean along ``dim``; in float64 where squares are too large for float32."""
    variance, means = _variance(self, dim, correction, keepdim)
    if variance.dtype is F32 and np.isinf(variance).any():
        return np.sqrt(_variance(self.astype(F64), dim, correction, keepdim)[0]).astype(F32), means
    return np.sqrt(variance), means


@op(lenient=True, node="StdBackward0", **_MOMENTS)
def std_dim(self: Any, /, dim: Any = None, correction: Any = None, keepdim: bool = False) -> Any:
    """The standard deviations along ``dim``."""
    return _as_self(self, _deviation(self, dim, correction, keepdim)[0])


@std_dim.derivative("self")
def _std_rule(grad: Any, self: Any, self_sizes: Any, result: Any, dim: Any, correction: Any, keepdim: Any) -> Any:
    return _var_rule(safe_divide(grad, result) * 0.5, self, self_sizes, dim, correction, keepdim)


@op(node="VarMeanBackward0", outputs=("result0", "result1"), **_MOMENTS)
def var_mean_dim(self: Any, /, dim: Any = None, correction: Any = None, keepdim: bool = False) -> Any:
    """The variances and the means along ``dim``."""
    return _as_self(self, *_variance(self, dim, correction, keepdim))


@var_mean_dim.derivative("self")
def _var_mean_rule(grads: Any, self: Any, self_sizes: Any, dim: Any, correction: Any, keepdim: Any) -> Any:
    gv, gm = grads
    back = None
    if gv is not None:
        back = _var_rule(gv, self, self_sizes, dim, correction, keepdim)
    if gm is not None:
        part = spread_dim(gm / count(self_sizes, dim), self_sizes, dim, keepdim)
        back = part if back is None else back + part
    return back


@op(node="StdMeanBackward0", outputs=("result0", "result1"), **_MOMENTS)
def std_mean_dim(self: Any, /, dim: Any = None, correction: Any = None, keepdim: bool = False) -> Any:
    """The standard deviations and the means along ``dim``."""
    return _as_self(self, *_deviation(self, dim, correction, keepdim))


@std_mean_dim.derivative("self")
def _std_mean_rule(
    grads: Any, self: Any, self_sizes: Any, result0: Any, dim: Any, correction: Any, keepdim: Any
) -> Any:
    gs, gm = grads
    gv = None if gs is None else safe_divide(gs, result0) * 0.5
    return _var_mean_rule((gv, gm), self, self_sizes, dim, correction, keepdim)


@op(typed="promote", public=False, batched="point")
def safe_divide(self: Any, other: Any, /) -> Any:
    """The quotient, zero where ``other`` is zero."""
    zero = other == 0
    if type(zero) is ndarray:
        return np.where(zero, self.dtype.type(0), self / np.where(zero, other.dtype.type(1), other))[()]
    return np.zeros_like(self)[()] if zero else self / other


safe_divide.derivative(
    self=lambda grad, other: safe_divide(grad, other),
    other=lambda grad, other, result: -safe_divide(grad * result, other),
)
