"""Vector norms and distances; slices scaled down to a norm."""

from __future__ import annotations

from math import inf
from typing import Any

import numpy as np

from ...core.row import COMPLEX, FLOATS, op
from ...ground import errors
from ...ground.dtypes import Number, need_int, of
from ...ground.meta import in_single
from ...kernels.columns import not_implemented
from ..arithmetic.rows import no_single_bool
from ..cast.rows import to_copy
from ..compare.rows import where
from ..index.rows import fitted
from ..matrix.rows import scalar_name
from ..pointwise.limit import conj, real, sgn
from ..reduce.rows import F16, F32, F64, along, kept_sizes, safe_divide, spread_dim, sum_dim, total
from ..shape.rows import on_arrays, unsqueeze

# -- vector norms ------------------------------------------------------------------------------------------------------


def refuse_nothing(p: float, dim: Any = None) -> None:
    """Raise PyTorch's error for a norm of no numbers, in all or along ``dim``, of an order that has no value for it."""
    if p < 0 or p == inf:
        name = p if isinstance(p, int) else f"{p:g}"
        place, why = "an empty tensor", "the"
        if dim is not None:
            place, why = f"the dimension {dim}", "this dimension is empty and the"
        raise RuntimeError(
            f"linalg.vector_norm cannot compute the {name} norm on {place}{' ' * (dim is None)}because {why} operation "
            f"does not have an identity"
        )


def _of_nothing(a: Any, p: float, dim: Any, keepdim: bool) -> Any:
    """The norms of an empty array: zeros, where the elements are none along the way."""
    empty = [axis for axis in range(a.ndim) if not a.shape[axis] and (dim is None or axis in dim)]
    if empty:
        refuse_nothing(p, None if dim is None else empty[0])
    return along(np.abs(a), dim, keepdim)


def norm_of(a: Any, p: float, dim: Any, keepdim: bool) -> Any:
    """The ``p``-norms along ``dim``, real; halves by way of float32."""
    kind = a.dtype
    if kind == F16 or kind.kind == "V":
        return norm_of(a.astype(F32), p, dim, keepdim).astype(kind)
    if p == 2 and kind.kind != "c":
        if dim is None and not keepdim:
            flat = a.ravel()
            return np.sqrt(flat.dot(flat) if kind is F32 or kind is F64 else total(flat * flat))
        return np.sqrt(along(a * a, dim, keepdim))
    if not a.size:
        return _of_nothing(a, p, dim, keepdim)
    size = np.abs(a)
    axis = None if a.ndim == 0 else dim
    keepdims = keepdim and a.ndim > 0
    if p == inf or p == -inf:
        ufunc = np.maximum if p > 0 else np.minimum
        return ufunc.reduce(size, axis=axis, keepdims=keepdims) if a.ndim else size
    if p == 0:
        return along((size != 0).astype(size.dtype), dim, keepdim)
    if p == 1:
        return along(size, dim, keepdim)
    if p == 2:
        return np.sqrt(along(size * size, dim, keepdim))
    return along(size**p, dim, keepdim) ** (1 / p)


@op(constant=True, public=False, batched="dims")
def peaks(self: Any, result: Any, /, dim: Any, keepdim: bool) -> Any:
    """One over the number of elements whose size is their line's ``result``, at each of them; else zero."""
    if not keepdim and self.ndim:
        result = np.reshape(result, kept_sizes(self.shape, dim))
    equal = (np.abs(self) == result) | (self != self)  # NaN is the largest and the smallest of its line
    number = np.add.reduce(equal, axis=dim, keepdims=True) if self.ndim else 1
    return (equal / number).astype(np.abs(self[..., :0]).dtype if self.ndim else np.abs(self).dtype)


@op(holomorphic=False, public=False, batched="point")
def power_of_size(self: Any, /, exponent: float) -> Any:
    """``abs(self) ** exponent``, zero where ``self`` is zero."""
    size = np.abs(self)
    zero = size == 0
    return np.where(zero, size.dtype.type(0), np.where(zero, size.dtype.type(1), size) ** exponent)[()]


power_of_size.derivative(
    self=lambda grad, self, exponent: grad * power_of_size(self, exponent - 1) * sgn(self) * exponent
)


def slope_of_norm(grad: Any, self: Any, result: Any, sizes: Any, p: Any, dim: Any, keepdim: Any) -> Any:
    """The gradient of the ``p``-norm ``result`` of ``self``."""
    if p == 0:
        return None
    if p == 1:
        return sgn(self) * spread_dim(grad, sizes, dim, keepdim)
    if p == 2:
        part = safe_divide(self, spread_dim(result, sizes, dim, keepdim))  # at most one, where grad / result overflows
        return part * spread_dim(grad, sizes, dim, keepdim)
    if p == inf or p == -inf:
        return sgn(self) * spread_dim(grad, sizes, dim, keepdim) * peaks(self, result, dim, keepdim)
    scale = safe_divide(grad, power_of_size(result, p - 1))
    return sgn(self) * power_of_size(self, p - 1) * spread_dim(scale, sizes, dim, keepdim)


@op(holomorphic=False, public=False, hidden=("self_sizes",), out=errors.OUT_DTYPE, layout="plain", batched="dims")
def linalg_vector_norm(self: Any, /, ord: Any = 2, dim: Any = None, keepdim: bool = False, dtype: Any = None) -> Any:
    """The norms of order ``ord`` along ``dim``, computed in ``dtype``."""
    return norm_of(self if dtype is None else self.astype(dtype), ord, dim, keepdim)


linalg_vector_norm.derivative(
    self=lambda grad, self, result, self_sizes, ord, dim, keepdim: slope_of_norm(
        grad, self, result, self_sizes, ord, dim, keepdim
    )
)


def _no_norm(self: Any, *rest: Any, **settings: Any) -> RuntimeError:
    return RuntimeError(
        f"norm(): input dtype should be either floating point or complex. Got {of(self.dtype).scalar_name} instead."
    )


_NORM: Any = {
    "holomorphic": False, "public": False, "hidden": ("self_sizes",), "serves": (FLOATS + COMPLEX, _no_norm),
    "layout": "plain",
}  # fmt: skip


@op(node="NormBackward0", **_NORM)
def norm_all(self: Any, /, p: Any) -> Any:
    """The ``p``-norm of all elements, as the weights of layers need it."""
    return norm_of(self, p, None, False)


norm_all.derivative(
    self=lambda grad, self, result, self_sizes, p: slope_of_norm(grad, self, result, self_sizes, p, None, False)
)


@op(node="NormBackward1", batched="dims", **_NORM)
def norm_dim(self: Any, /, p: Any, dim: Any, keepdim: bool = False) -> Any:
    """The ``p``-norms along ``dim``, as distances need them."""
    return norm_of(self, p, dim, keepdim)


norm_dim.derivative(
    self=lambda grad, self, result, self_sizes, p, dim, keepdim: slope_of_norm(
        grad, self, result, self_sizes, p, dim, keepdim
    )
)


def across(ndim: int, dim: int) -> tuple[int, ...]:
    """All dimensions but ``dim``."""
    if not -ndim <= dim < ndim:
        raise IndexError(f"Dimension out of range (expected to be in range of [{-ndim}, {ndim - 1}], but got {dim})")
    return tuple([i for i in range(ndim) if i != dim % ndim])


@on_arrays(in_single)
def wide(tensor: Any) -> Any:
    """Half precision as float32, the rest as it is."""
    dtype = tensor._array.dtype
    return to_copy(tensor, F32, dtype) if dtype.itemsize == 2 else tensor


@op(inplace=True, holomorphic=False, hidden=("self_sizes",), layout="plain", out=errors.OUT_DTYPE, aligned=True)
def renorm(self: Any, /, p: Number, dim: int, maxnorm: Number) -> Any:
    """Each slice along ``dim`` whose ``p``-norm is more than ``maxnorm``, scaled down to that."""
    for name, number in (("p", p), ("maxnorm", maxnorm)):
        if isinstance(number, complex):
            raise RuntimeError(f"renorm: {name} must be real-valued")
    dim = need_int("renorm", "dim", 3, dim)
    if not p > 0:
        raise RuntimeError("renorm: non-positive-norm not supported")
    if not maxnorm >= 0:
        raise RuntimeError(f"renorm: expected maxnorm to be >= 0 but got {maxnorm:g}")
    if self.ndim < 2:
        raise RuntimeError(f"renorm: input needs at least 2 dimensions, got {self.ndim} dimensions")
    dims = across(self.ndim, dim)
    if self.dtype.kind in "bui":
        name = scalar_name(self)
        raise RuntimeError(f"linalg.vector_norm: Expected a floating point or complex tensor as input. Got {name}")
    a = in_single(self)
    length = norm_of(a, p, dims, True)
    scale = np.where(length > maxnorm, maxnorm / (length + 1e-7), 1).astype(length.dtype)
    return (a * scale).astype(self.dtype, copy=False)


@renorm.derivative("self")
def _renorm_rule(grad: Any, self: Any, self_sizes: Any, p: Any, dim: Any, maxnorm: Any) -> Any:
    """The scale times the gradient, less what the growing norm takes from the scale."""
    dims = across(len(self_sizes), dim)
    grad, self = wide(grad), wide(self)
    length = linalg_vector_norm(self, p, dims, True)
    inverse = 1 / (length + 1e-7)
    along_self = sum_dim(real_part(grad * conj(self)), dims, True)
    shrinking = slope_of_norm(along_self, self, length, self_sizes, p, dims, True)
    scaled = (grad - shrinking * inverse) * (inverse * maxnorm)
    return where(length > maxnorm, scaled, grad)


@on_arrays(lambda a: a.real.copy() if a.dtype.kind == "c" else a)
def real_part(a: Any) -> Any:
    """The real part of what may be real."""
    return real(a) if a._array.dtype.kind == "c" else a


def joined(first: tuple[int, ...], second: tuple[int, ...]) -> tuple[int, ...]:
    """The sizes that two tensors have together."""
    if len(first) < len(second):
        first, second = second, first
    lead = len(first) - len(second)
    return (*first[:lead], *[m if n == 1 else n for n, m in zip(first[lead:], second, strict=True)])


# -- distances ---------------------------------------------------------------------------------------------------------


@op(
    typed="promote",
    strict=True,
    holomorphic=False,
    hidden=("other_sizes", "self_sizes"),
    serves=(FLOATS + COMPLEX, _no_norm),
    refuses=no_single_bool,
    out=None,
)
def dist(self: Any, other: Any, /, p: Number = 2) -> Any:
    """The ``p``-norm of the difference of two tensors."""
    if isinstance(p, complex):
        raise RuntimeError("linalg.vector_norm: Expected a non-complex scalar as the order of norm.")
    return norm_of(self - other, p.item() if isinstance(p, np.generic) else p, None, False)


@dist.derivative("self", "other")
def _dist_rule(
    grad: Any, self: Any, other: Any, result: Any, self_sizes: Any, other_sizes: Any, p: Any, needs: Any
) -> Any:
    sizes = joined(self_sizes, other_sizes)
    back = slope_of_norm(grad, self - other, result, sizes, p, None, False)
    if back is None:
        return None, None
    return fitted(back, self_sizes) if needs[0] else None, fitted(-back, other_sizes) if needs[1] else None


def _of_halves(x1: Any, x2: Any, p: Any) -> Any:
    """The error of halves; where there is nothing to subtract PyTorch asks no kernel, and gives zeros."""
    if x1.size and x2.size:
        return not_implemented("cdist", x1)
    return np.zeros((*np.broadcast_shapes(x1.shape[:-2], x2.shape[:-2]), x1.shape[-2], x2.shape[-2]), x1.dtype)


@op(
    node="CdistBackward0",
    typed="promote",
    public=False,
    hidden=("x1_sizes", "x2_sizes"),
    serves=("fd", _of_halves),
    layout="plain",
    batched="point",
)
def cdist_forward(x1: Any, x2: Any, /, p: Any = 2.0) -> Any:
    """The ``p``-norm distances of every row of ``x1`` from every row of ``x2``."""
    if p == 2 and min(x1.shape[-2], x2.shape[-2]) > 25:
        mean = along(x2, (x2.ndim - 2,), True) / max(x2.shape[-2], 1)
        a, b = x1 - mean, x2 - mean  # near the origin less is lost
        squares = along(a * a, (a.ndim - 1,), True) + np.swapaxes(along(b * b, (b.ndim - 1,), True), -1, -2)
        return np.sqrt(np.maximum(squares - 2 * np.matmul(a, np.swapaxes(b, -1, -2)), 0))
    apart = x1[..., :, None, :] - x2[..., None, :, :]
    if p == inf:  # the largest of what is a number, as PyTorch compares
        return np.fmax.reduce(np.abs(apart), axis=-1, initial=0)
    if p == 0:  # how many differ; none of NaN
        return along(np.minimum(np.ceil(np.abs(apart)), 1), (apart.ndim - 1,), False)
    return norm_of(apart, p, (apart.ndim - 1,), False)


@cdist_forward.derivative("x1", "x2")
def _cdist_rule(grad: Any, x1: Any, x2: Any, result: Any, x1_sizes: Any, x2_sizes: Any, p: Any, needs: Any) -> Any:
    apart = unsqueeze(x1, len(x1_sizes) - 1) - unsqueeze(x2, len(x2_sizes) - 2)
    lead = max(len(x1_sizes), len(x2_sizes)) - 2
    sizes = _differences(x1_sizes, x2_sizes)
    if p == inf:  # as in PyTorch, each of several largest differences gets the whole
        whole = sgn(apart) * spread_dim(grad, sizes, (lead + 2,), False)
        back = whole * sgn(peaks(apart, result, (lead + 2,), False))
    else:
        back = slope_of_norm(grad, apart, result, sizes, p, (lead + 2,), False)
    if p in (1, inf):
        back = where(apart == apart, back, apart)  # NaN stays, which has no sign
    if back is None:
        return sgn(x1) * 0, sgn(x2) * 0  # zero at NaN too
    first = sum_dim(back, (lead + 1,), False) if needs[0] else None
    return first, -sum_dim(back, (lead,), False) if needs[1] else None


def _differences(first: tuple[int, ...], second: tuple[int, ...]) -> tuple[int, ...]:
    """The sizes of all differences of rows."""
    return (*joined(first[:-2], second[:-2]), first[-2], second[-2], first[-1])
