"""Vector norms and distances; normalisation of layers and groups, with fused backward rows."""

from __future__ import annotations

from math import inf
from typing import Any

import numpy as np

from ...kernels import compiled
from ..declare import op
from .cast import to_copy
from .extreme import not_implemented
from .index import fitted
from .matrix import scalar_name
from .reduce import (
    F16,
    F32,
    F64,
    SMALL,
    along,
    column,
    count,
    kept_sizes,
    safe_divide,
    spread_dim,
    sum_dim,
    total,
)
from .shape import on_arrays, unsqueeze
from .sign import conj, real, sgn

ndarray = np.ndarray

# -- vector norms ------------------------------------------------------------------------------------------------------


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
    size = np.abs(a)
    axis = None if a.ndim == 0 else dim
    kept = keepdim and a.ndim > 0
    if p == inf or p == -inf:
        ufunc = np.maximum if p > 0 else np.minimum
        return ufunc.reduce(size, axis=axis, keepdims=kept) if a.ndim else size
    if p == 0:
        return along((size != 0).astype(size.dtype), dim, keepdim)
    if p == 1:
        return along(size, dim, keepdim)
    if p == 2:
        return np.sqrt(along(size * size, dim, keepdim))
    return along(size**p, dim, keepdim) ** (1 / p)


@op(constant=True)
def peaks(self: Any, result: Any, /, dim: Any, keepdim: bool) -> Any:
    """One over the number of elements whose size is their line's ``result``, at each of them; else zero."""
    if not keepdim and self.ndim:
        result = np.reshape(result, kept_sizes(self.shape, dim))
    equal = np.abs(self) == result
    number = np.add.reduce(equal, axis=dim, keepdims=True) if self.ndim else 1
    return (equal / number).astype(np.abs(self[..., :0]).dtype if self.ndim else np.abs(self).dtype)


@op()
def power_of_size(self: Any, /, exponent: float) -> Any:
    """``abs(self) ** exponent``, zero where ``self`` is zero."""
    size = np.abs(self)
    zero = size == 0
    return np.where(zero, size.dtype.type(0), np.where(zero, size.dtype.type(1), size) ** exponent)[()]


power_of_size.derivative(
    self=lambda grad, self, exponent: grad * power_of_size(self, exponent - 1) * sgn(self) * exponent
)
power_of_size.complex_by_hand()
for _row in (peaks, power_of_size):
    _row.internal()


def slope_of_norm(grad: Any, self: Any, result: Any, sizes: Any, p: Any, dim: Any, keepdim: Any) -> Any:
    """The gradient of the ``p``-norm ``result`` of ``self``."""
    if p == 0:
        return None
    if p == 1:
        return sgn(self) * spread_dim(grad, sizes, dim, keepdim)
    if p == 2:
        return self * spread_dim(safe_divide(grad, result), sizes, dim, keepdim)
    if p == inf or p == -inf:
        return sgn(self) * spread_dim(grad, sizes, dim, keepdim) * peaks(self, result, dim, keepdim)
    scale = safe_divide(grad, power_of_size(result, p - 1))
    return sgn(self) * power_of_size(self, p - 1) * spread_dim(scale, sizes, dim, keepdim)


@op()
def linalg_vector_norm(self: Any, /, ord: Any = 2, dim: Any = None, keepdim: bool = False, dtype: Any = None) -> Any:
    """The norms of order ``ord`` along ``dim``, computed in ``dtype``."""
    return norm_of(self if dtype is None else self.astype(dtype), ord, dim, keepdim)


@op(node="NormBackward1")
def norm_dim(self: Any, /, p: Any, dim: Any, keepdim: bool = False) -> Any:
    """The ``p``-norms along ``dim``, as distances need them."""
    return norm_of(self, p, dim, keepdim)


linalg_vector_norm.derivative(
    self=lambda grad, self, result, self_sizes, ord, dim, keepdim: slope_of_norm(
        grad, self, result, self_sizes, ord, dim, keepdim
    )
)
norm_dim.derivative(
    self=lambda grad, self, result, self_sizes, p, dim, keepdim: slope_of_norm(
        grad, self, result, self_sizes, p, dim, keepdim
    )
)
for _row in (linalg_vector_norm, norm_dim):
    _row.complex_by_hand()
    _row.internal()


@op(constant=True)
def longer(self: Any, /, maxnorm: Any) -> Any:
    """One where ``self`` is more than ``maxnorm``, else zero."""
    return (self > maxnorm).astype(self.dtype)


longer.internal()


def across(ndim: int, dim: int) -> tuple[int, ...]:
    """All dimensions but ``dim``."""
    if not -ndim <= dim < ndim:
        raise IndexError(
            f"Dimension out of range (expected to be in range of [{-ndim}, {ndim - 1}], but got {dim})"
        )
    return tuple([i for i in range(ndim) if i != dim % ndim])


@op(inplace=True)
def renorm(self: Any, /, p: Any, dim: Any, maxnorm: Any) -> Any:
    """Each slice along ``dim`` whose ``p``-norm is more than ``maxnorm``, scaled down to that."""
    if not p > 0:
        raise RuntimeError("renorm: non-positive-norm not supported")
    if maxnorm < 0:
        raise RuntimeError(f"renorm: expected maxnorm to be >= 0 but got {maxnorm:g}")
    if self.ndim < 2:
        raise RuntimeError(f"renorm: input needs at least 2 dimensions, got {self.ndim} dimensions")
    dims = across(self.ndim, dim)
    if self.dtype.kind in "bui":
        name = scalar_name(self)
        raise RuntimeError(f"linalg.vector_norm: Expected a floating point or complex tensor as input. Got {name}")
    a = self.astype(F32) if self.dtype == F16 or self.dtype.kind == "V" else self
    length = norm_of(a, p, dims, True)
    scale = np.where(length > maxnorm, maxnorm / (length + 1e-7), 1).astype(length.dtype)
    return (a * scale).astype(self.dtype, copy=False)


@on_arrays(lambda a: a.real.copy() if a.dtype.kind == "c" else a)
def real_part(a: Any) -> Any:
    """The real part of what may be real."""
    return real(a) if a._d.dtype.kind == "c" else a


@renorm.derivative("self")
def _renorm_rule(grad: Any, self: Any, self_sizes: Any, p: Any, dim: Any, maxnorm: Any) -> Any:
    """The scale times the gradient, less what the growing norm takes from the scale."""
    dims = across(len(self_sizes), dim)
    length = linalg_vector_norm(self, p, dims, True)
    inverse = 1 / (length + 1e-7)
    along_self = sum_dim(real_part(grad * conj(self)), dims, True)
    shrinking = slope_of_norm(along_self, self, length, self_sizes, p, dims, True)
    scaled = (grad - shrinking * inverse) * (inverse * maxnorm)
    return grad + (scaled - grad) * longer(length, maxnorm)


renorm.complex_by_hand()
renorm.shows(hidden=("self_sizes",))


def joined(first: tuple[int, ...], second: tuple[int, ...]) -> tuple[int, ...]:
    """The sizes that two tensors have together."""
    if len(first) < len(second):
        first, second = second, first
    lead = len(first) - len(second)
    return (*first[:lead], *[m if n == 1 else n for n, m in zip(first[lead:], second, strict=True)])


# -- distances ---------------------------------------------------------------------------------------------------------


@op()
def dist(self: Any, other: Any, /, p: Any = 2) -> Any:
    """The ``p``-norm of the difference of two tensors."""
    return norm_of(self - other, p, None, False)


dist.typed_as("promote")
dist.complex_by_hand()


@dist.derivative("self", "other")
def _dist_rule(
    grad: Any, self: Any, other: Any, result: Any, self_sizes: Any, other_sizes: Any, p: Any, needs: Any
) -> Any:
    sizes = joined(self_sizes, other_sizes)
    back = slope_of_norm(grad, self - other, result, sizes, p, None, False)
    if back is None:
        return None, None
    return fitted(back, self_sizes) if needs[0] else None, fitted(-back, other_sizes) if needs[1] else None


@op(node="CdistBackward0")
def cdist_forward(x1: Any, x2: Any, /, p: Any = 2.0) -> Any:
    """The ``p``-norm distances of every row of ``x1`` from every row of ``x2``."""
    if p == 2 and min(x1.shape[-2], x2.shape[-2]) > 25:
        mean = along(x2, (x2.ndim - 2,), True) / max(x2.shape[-2], 1)
        a, b = x1 - mean, x2 - mean  # near the origin less is lost
        squares = along(a * a, (a.ndim - 1,), True) + np.swapaxes(along(b * b, (b.ndim - 1,), True), -1, -2)
        return np.sqrt(np.maximum(squares - 2 * np.matmul(a, np.swapaxes(b, -1, -2)), 0))
    apart = x1[..., :, None, :] - x2[..., None, :, :]
    return norm_of(apart, p, (apart.ndim - 1,), False)


cdist_forward.typed_as("promote")
cdist_forward.internal()


@cdist_forward.derivative("x1", "x2")
def _cdist_rule(
    grad: Any, x1: Any, x2: Any, result: Any, x1_sizes: Any, x2_sizes: Any, p: Any, needs: Any
) -> Any:
    apart = unsqueeze(x1, len(x1_sizes) - 1) - unsqueeze(x2, len(x2_sizes) - 2)
    lead = max(len(x1_sizes), len(x2_sizes)) - 2
    sizes = _differences(x1_sizes, x2_sizes)
    back = slope_of_norm(grad, apart, result, sizes, p, (lead + 2,), False)
    if back is None:
        return x1 * 0, x2 * 0
    first = sum_dim(back, (lead + 1,), False) if needs[0] else None
    return first, -sum_dim(back, (lead,), False) if needs[1] else None


def _differences(first: tuple[int, ...], second: tuple[int, ...]) -> tuple[int, ...]:
    """The sizes of all differences of rows."""
    return (*joined(first[:-2], second[:-2]), first[-2], second[-2], first[-1])


# -- standardised: mean zero, variance one -----------------------------------------------------------------------------


def _kept(statistic: Any, sizes: tuple[int, ...], dims: tuple[int, ...]) -> Any:
    return statistic.reshape(kept_sizes(sizes, dims))


@op()
def standardized(self: Any, mean: Any, rstd: Any, /, dims: Any, fixed: bool) -> Any:
    """``(self - mean) * rstd``; the statistics are ``self``'s own along ``dims`` unless ``fixed``."""
    off = self - _kept(mean, self.shape, dims)
    return (off * _kept(rstd, self.shape, dims)).astype(self.dtype, copy=False)


def _beside(values: Any, shape: tuple[int, int]) -> Any:
    """One value for each row of a matrix, ready to meet it; small ones are repeated, which is quicker."""
    return column(values, shape) if shape[0] * shape[1] <= SMALL else values[:, None]


@op()
def standardize_backward(grad_output: Any, self: Any, mean: Any, rstd: Any, /, dims: Any, fixed: bool) -> Any:
    """The gradient of ``standardized``."""
    if self.dtype != F32 and self.dtype != F64:  # halves: as exact as PyTorch's
        up = standardize_backward.row.kernel(grad_output.astype(F32), self.astype(F32), mean, rstd, dims, fixed)
        return up.astype(self.dtype)
    if fixed:
        return grad_output * _kept(rstd, self.shape, dims)
    n = count(self.shape, dims)
    if dims[0] == self.ndim - len(dims) and n:  # the last ones: lines of memory
        shape = (self.size // n, n)
        scale, g = _beside(rstd.reshape(-1), shape), grad_output.reshape(shape)
        x = (self.reshape(shape) - _beside(mean.reshape(-1), shape)) * scale
        back = (g - _beside(along(g, 1) / n, shape) - x * _beside(along(g * x, 1) / n, shape)) * scale
        return back.reshape(self.shape)
    rstd = _kept(rstd, self.shape, dims)
    x = (self - _kept(mean, self.shape, dims)) * rstd
    back = grad_output - along(grad_output, dims, True) / n
    x *= along(grad_output * x, dims, True) / n
    back -= x
    back *= rstd
    return back


@op()
def inverse_deviation(self: Any, rstd: Any, mean: Any, /, dims: Any) -> Any:
    """``rstd``, seen as a function of ``self``."""
    return _kept(rstd, self.shape, dims) + 0


for _row in (standardized, standardize_backward, inverse_deviation):
    _row.sets_apart("mean", "rstd")
    _row.internal()
standardized.derivative(
    self=lambda grad, self, mean, rstd, dims, fixed: standardize_backward(grad, self, mean, rstd, dims, fixed)
)
inverse_deviation.derivative(
    self=lambda grad, self, rstd, mean, self_sizes, dims: (
        standardized(self, mean, rstd, dims, False)
        * (grad * inverse_deviation(self, rstd, mean, dims) * inverse_deviation(self, rstd, mean, dims))
        * (-1 / count(self_sizes, dims))
    )
)
standardize_backward.derivative(
    grad_output=lambda grad, self, mean, rstd, dims, fixed: standardize_backward(grad, self, mean, rstd, dims, fixed)
)


@standardize_backward.derivative("self")
def standardize_twice(
    grad: Any, grad_output: Any, self: Any, mean: Any, rstd: Any, self_sizes: Any, dims: Any, fixed: Any
) -> Any:
    """With x standardised and r its scale: through x, and through r, of ``r * (g - mean(g) - x * mean(g * x))``."""
    if fixed:
        return self * 0
    n = count(self_sizes, dims)
    x = standardized(self, mean, rstd, dims, False)
    r = inverse_deviation(self, rstd, mean, dims)
    along_x = r * (grad * sum_dim(grad_output * x, dims, True) + grad_output * sum_dim(grad * x, dims, True)) * (-1 / n)
    back = standardize_backward(grad_output, self, mean, rstd, dims, False)
    through_r = x * r * sum_dim(grad * back, dims, True) * (-1 / n)
    return standardize_backward(along_x, self, mean, rstd, dims, False) + through_r


def statistics(a: Any, dims: tuple[int, ...], eps: float) -> tuple[Any, Any, Any]:
    """Mean, variance and inverse standard deviation along ``dims``, which are kept."""
    n = count(a.shape, dims)
    means = along(a, dims, True) / n
    off = a - means
    variance = along(off * off, dims, True) / n
    return means, variance, 1 / np.sqrt(variance + a.dtype.type(eps))


@op()
def shaped(self: Any, /, sizes: Any) -> Any:
    """The same elements in other sizes."""
    return np.reshape(self, sizes).copy()


shaped.derivative(self=lambda grad, self_sizes: shaped(grad, self_sizes))
shaped.internal()


# -- layers, groups --------------------------------------------------------------------------------------------------


def last_dims(sizes: tuple[int, ...], normalized_shape: tuple[int, ...]) -> tuple[int, ...]:
    """The dimensions that ``normalized_shape`` names."""
    return tuple(range(len(sizes) - len(normalized_shape), len(sizes)))


def first_dims(sizes: tuple[int, ...], normalized_shape: tuple[int, ...]) -> tuple[int, ...]:
    """The dimensions before those that ``normalized_shape`` names."""
    return tuple(range(len(sizes) - len(normalized_shape)))


def as_floating(a: Any, kernel: str) -> Any:
    if a.dtype.kind in "bui":
        raise not_implemented(kernel, a)
    return a if a.dtype == F32 or a.dtype == F64 else a.astype(F32)


@on_arrays(lambda a: a.astype(F32) if a.dtype.itemsize == 2 else a)
def wide(tensor: Any) -> Any:
    """Half precision as float32, the rest as it is."""
    return to_copy(tensor, F32) if tensor._d.dtype.itemsize == 2 else tensor


def statistics_kind(input: Any, weight: Any, bias: Any) -> Any:
    """The dtype in which PyTorch keeps means and deviations: the input's, but float32 beside float32 parameters."""
    if input.dtype.itemsize > 2:
        return input.dtype
    given = weight if weight is not None else bias
    return input.dtype if given is None else given.dtype


@op()
def native_layer_norm(
    input: Any, weight: Any = None, bias: Any = None, /, normalized_shape: Any = (), eps: float = 1e-5
) -> Any:
    """Each sample standardised over its last dimensions, scaled and shifted; its mean and inverse deviation."""
    a = as_floating(input, "LayerNormKernelImpl")
    n = count(normalized_shape)
    kept = (*a.shape[: a.ndim - len(normalized_shape)], *(1,) * len(normalized_shape))
    if a.size >= compiled.least and (made := compiled.norm.layer_forward(input, weight, bias, n, eps)) is not None:
        return made[0], made[1].reshape(kept), made[2].reshape(kept)
    shape = (a.size // n if n else 0, n)
    lines = a.reshape(shape)
    means = along(lines, 1) / n
    off = lines - _beside(means, shape)
    rstd = 1 / np.sqrt(along(off * off, 1) / n + eps)
    out = off
    out *= _beside(rstd, shape)
    if weight is not None:
        out *= weight.reshape(-1)
    if bias is not None:
        out += bias.reshape(-1)
    if input.dtype.itemsize == 2:
        kind = statistics_kind(input, weight, bias)
        means, rstd = means.astype(kind), rstd.astype(kind)
    return out.reshape(a.shape).astype(input.dtype, copy=False), means.reshape(kept), rstd.reshape(kept)


native_layer_norm.returns("result0", "result1", "result2", differentiable=("result0",))
native_layer_norm.internal()
@op()
def native_layer_norm_backward(
    grad_output: Any, input: Any, mean: Any, rstd: Any, weight: Any = None, /, normalized_shape: Any = (),
    wanted: Any = (),
) -> Any:  # fmt: skip
    """The gradients of input, weight and bias; those not ``wanted`` are empty."""
    affine = wanted[1] or wanted[2]
    if input.size >= compiled.least:
        made = compiled.norm.layer_backward(grad_output, input, mean, rstd, weight, count(normalized_shape), affine)
        if made is not None:
            back, of_weight, of_bias = made
            if affine and len(normalized_shape) != 1:
                of_weight, of_bias = of_weight.reshape(normalized_shape), of_bias.reshape(normalized_shape)
            return back, of_weight if wanted[1] else _NONE, of_bias if wanted[2] else _NONE
    first, last = first_dims(input.shape, normalized_shape), last_dims(input.shape, normalized_shape)
    grad = grad_output if grad_output.dtype.itemsize > 2 else grad_output.astype(F32)
    of_weight = of_bias = back = _NONE
    if wanted[0]:
        scaled = grad_output if weight is None else grad * (weight if weight.dtype.itemsize > 2 else weight.astype(F32))
        back = standardize_backward.row.kernel(scaled, input, mean, rstd, last, False)
    if wanted[1]:
        x = standardized.row.kernel(wide.row.kernel(input), mean, rstd, last, False)
        of_weight = sum_dim.row.kernel(grad * x, first).astype(mean.dtype, copy=False)
    if wanted[2]:
        of_bias = sum_dim.row.kernel(grad, first).astype(mean.dtype, copy=False)
    return back, of_weight, of_bias


_NONE = np.empty(0, F32)
native_layer_norm_backward.returns("result0", "result1", "result2")
native_layer_norm_backward.sets_apart("mean", "rstd")
native_layer_norm_backward.internal()


@native_layer_norm.derivative("input", "weight", "bias")
def _layer_norm_rule(
    grad: Any, input: Any, weight: Any, result1: Any, result2: Any, normalized_shape: Any, needs: Any
) -> Any:
    found = native_layer_norm_backward(grad, input, result1, result2, weight, normalized_shape, tuple(needs))
    return tuple([gradient if need else None for gradient, need in zip(found, needs, strict=True)])


@native_layer_norm_backward.derivative("grad_output", "input", "weight")
def _layer_norm_backward_rule(
    grads: Any, grad_output: Any, input: Any, weight: Any, mean: Any, rstd: Any, input_sizes: Any, normalized_shape: Any
) -> Any:
    """Through each of ``standardize_backward(grad * weight)``, ``sum(grad * x)`` and ``sum(grad)``."""
    of_input, of_weight, of_bias = grads
    dims, grad = last_dims(input_sizes, normalized_shape), wide(grad_output)
    to_grad = to_input = to_weight = None
    if of_input is not None:
        scale = None if weight is None else wide(weight)
        through = standardize_backward(of_input, input, mean, rstd, dims, False)
        to_grad = through if scale is None else through * scale
        to_input = standardize_twice(
            of_input, grad_output if scale is None else grad * scale, input, mean, rstd, input_sizes, dims, False
        )
        if scale is not None:
            to_weight = sum_dim(through * grad, first_dims(input_sizes, normalized_shape))
    if of_weight is not None:
        more = of_weight * standardized(wide(input), mean, rstd, dims, False)
        to_grad = more if to_grad is None else to_grad + more
        more = standardize_backward(grad * of_weight, input, mean, rstd, dims, False)
        to_input = more if to_input is None else to_input + more
    if of_bias is not None:
        more = grad * 0 + of_bias
        to_grad = more if to_grad is None else to_grad + more
    return to_grad, to_input, to_weight


@op()
def native_group_norm(
    input: Any, weight: Any = None, bias: Any = None, /, N: int = 0, C: int = 0, HxW: int = 0, group: int = 1,
    eps: float = 1e-5,
) -> Any:  # fmt: skip
    """Each group of channels of each sample standardised, each channel scaled and shifted."""
    a = as_floating(input, "GroupNormKernelImpl")
    if a.size >= compiled.least:
        made = compiled.norm.group_forward(input, weight, bias, N, C, group, eps)
        if made is not None:
            return made
    a = a.reshape(N, group, C // group * HxW)
    means, _, rstd = statistics(a, (2,), eps)
    out = ((a - means) * rstd).reshape(N, C, HxW)
    if weight is not None:
        out *= weight.reshape(C, 1)
    if bias is not None:
        out += bias.reshape(C, 1)
    if input.dtype.itemsize == 2:
        kind = statistics_kind(input, weight, bias)
        means, rstd = means.astype(kind), rstd.astype(kind)
    return out.reshape(input.shape).astype(input.dtype, copy=False), means.reshape(N, group), rstd.reshape(N, group)


native_group_norm.returns("result0", "result1", "result2", differentiable=("result0",))
native_group_norm.internal()


@op()
def native_group_norm_backward(
    grad_output: Any, input: Any, mean: Any, rstd: Any, weight: Any = None, /, N: int = 0, C: int = 0, HxW: int = 0,
    group: int = 1, wanted: Any = (),
) -> Any:  # fmt: skip
    """The gradients of input, weight and bias; those not ``wanted`` are empty."""
    if input.size >= compiled.least:
        made = compiled.norm.group_backward(grad_output, input, mean, rstd, weight, N, C, group, wanted[0])
        if made is not None:
            return tuple([part if want else _NONE for part, want in zip(made, wanted, strict=True)])
    grad, x = wide.row.kernel(grad_output).reshape(N, C, HxW), input.reshape(N, group, C // group * HxW)
    of_weight = of_bias = back = _NONE
    if wanted[0]:
        scaled = grad if weight is None else grad * wide.row.kernel(weight).reshape(C, 1)
        back = standardize_backward.row.kernel(scaled.reshape(x.shape), x, mean, rstd, (2,), False).reshape(input.shape)
    if wanted[1]:
        x = standardized.row.kernel(wide.row.kernel(x), mean, rstd, (2,), False)
        of_weight = sum_dim.row.kernel(grad * x.reshape(grad.shape), (0, 2)).astype(mean.dtype, copy=False)
    if wanted[2]:
        of_bias = sum_dim.row.kernel(grad, (0, 2)).astype(mean.dtype, copy=False)
    return back, of_weight, of_bias


native_group_norm_backward.returns("result0", "result1", "result2")
native_group_norm_backward.sets_apart("mean", "rstd")
native_group_norm_backward.internal()


@native_group_norm.derivative("input", "weight", "bias")
def _group_norm_rule(
    grad: Any, input: Any, weight: Any, result1: Any, result2: Any, N: Any, C: Any, HxW: Any, group: Any, needs: Any
) -> Any:
    found = native_group_norm_backward(grad, input, result1, result2, weight, N, C, HxW, group, tuple(needs))
    return tuple([gradient if need else None for gradient, need in zip(found, needs, strict=True)])


@native_group_norm_backward.derivative("grad_output", "input", "weight")
def _group_norm_backward_rule(
    grads: Any, grad_output: Any, input: Any, weight: Any, mean: Any, rstd: Any, input_sizes: Any, N: Any, C: Any,
    HxW: Any, group: Any,
) -> Any:  # fmt: skip
    """Through each of ``standardize_backward(grad * weight)``, ``sum(grad * x)`` and ``sum(grad)``."""
    of_input, of_weight, of_bias = grads
    channels, groups = (N, C, HxW), (N, group, C // group * HxW)
    grad, x = shaped(wide(grad_output), channels), shaped(input, groups)
    to_grad = to_input = to_weight = None
    if of_input is not None:
        scale = None if weight is None else shaped(wide(weight), (C, 1))
        scaled = shaped(grad if scale is None else grad * scale, groups)
        of_input = shaped(of_input, groups)
        through = shaped(standardize_backward(of_input, x, mean, rstd, (2,), False), channels)
        to_grad = through if scale is None else through * scale
        to_input = standardize_twice(of_input, scaled, x, mean, rstd, groups, (2,), False)
        if scale is not None:
            to_weight = sum_dim(through * grad, (0, 2))
    if of_weight is not None:
        spread = shaped(of_weight, (C, 1))
        more = shaped(standardized(wide(x), mean, rstd, (2,), False), channels) * spread
        to_grad = more if to_grad is None else to_grad + more
        more = standardize_backward(shaped(grad * spread, groups), x, mean, rstd, (2,), False)
        to_input = more if to_input is None else to_input + more
    if of_bias is not None:
        more = grad * 0 + shaped(of_bias, (C, 1))
        to_grad = more if to_grad is None else to_grad + more
    return (
        None if to_grad is None else shaped(to_grad, input_sizes),
        None if to_input is None else shaped(to_input, input_sizes),
        to_weight,
    )


# -- the saved names that PyTorch does not show ----------------------------------------------------------------------

cdist_forward.shows(hidden=("x1_sizes", "x2_sizes"))
dist.shows(hidden=("other_sizes", "self_sizes"))
for _row in (linalg_vector_norm, norm_dim):
    _row.shows(hidden=("self_sizes",))
for _row in (native_group_norm_backward, native_layer_norm_backward):
    _row.shows(hidden=("input_sizes",))
