"""Normalisation of layers and groups, with fused backward rows."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...core.row import FLOATS, op
from ...ground.meta import in_single
from ...kernels import compiled
from ...ops.unfold import differentiated, unfolding
from ..distance.rows import linalg_vector_norm, norm_of, wide
from ..reduce.rows import F32, F64, SMALL, along, column, count, kept_sizes, sum_dim

# -- standardised: mean zero, variance one -----------------------------------------------------------------------------


def _kept(statistic: Any, sizes: tuple[int, ...], dims: tuple[int, ...]) -> Any:
    return statistic.reshape(kept_sizes(sizes, dims))


@op(auxiliary=("mean", "rstd"), public=False, batched="dims")
def standardized(self: Any, mean: Any, rstd: Any, /, dims: Any, fixed: bool) -> Any:
    """``(self - mean) * rstd``; the statistics are ``self``'s own along ``dims`` unless ``fixed``."""
    off = self - _kept(mean, self.shape, dims)
    return (off * _kept(rstd, self.shape, dims)).astype(self.dtype, copy=False)


standardized.derivative(
    self=lambda grad, self, mean, rstd, dims, fixed: standardize_backward(grad, self, mean, rstd, dims, fixed)
)


def _beside(values: Any, shape: tuple[int, int]) -> Any:
    """One value for each row of a matrix, ready to meet it; small ones are repeated, which is quicker."""
    return column(values, shape) if shape[0] * shape[1] <= SMALL else values[:, None]


@op(auxiliary=("mean", "rstd"), public=False, batched="dims")
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


standardize_backward.derivative(
    grad_output=lambda grad, self, mean, rstd, dims, fixed: standardize_backward(grad, self, mean, rstd, dims, fixed)
)


@standardize_backward.derivative("self")
def standardize_twice(
    grad: Any, grad_output: Any, self: Any, mean: Any, rstd: Any, self_sizes: Any, dims: Any, fixed: Any
) -> Any:
    """With x standardised and r its scale: through x, and through r, of ``r * (g - mean(g) - x * mean(g * x))``."""
    n = count(self_sizes, dims)
    if fixed or not n:
        return self * 0
    x = standardized(self, mean, rstd, dims, False)
    r = inverse_deviation(self, rstd, mean, dims)
    along_x = r * (grad * sum_dim(grad_output * x, dims, True) + grad_output * sum_dim(grad * x, dims, True)) * (-1 / n)
    back = standardize_backward(grad_output, self, mean, rstd, dims, False)
    through_r = x * r * sum_dim(grad * back, dims, True) * (-1 / n)
    return standardize_backward(along_x, self, mean, rstd, dims, False) + through_r


@op(auxiliary=("mean", "rstd"), public=False, batched="dims")
def inverse_deviation(self: Any, rstd: Any, mean: Any, /, dims: Any) -> Any:
    """``rstd``, seen as a function of ``self``."""
    return _kept(rstd, self.shape, dims) + 0


inverse_deviation.derivative(
    self=lambda grad, self, rstd, mean, self_sizes, dims: (
        standardized(self, mean, rstd, dims, False)
        * (grad * inverse_deviation(self, rstd, mean, dims) * inverse_deviation(self, rstd, mean, dims))
        * (-1 / max(count(self_sizes, dims), 1))
    )
)


def affine_twice(
    grads: Any, grad: Any, scale: Any, over: Any, x: Any, broad: Any, mean: Any, rstd: Any, x_sizes: Any, dims: Any,
    fixed: bool = False, sizes: Any = None,
) -> Any:  # fmt: skip
    """Through each of ``standardize_backward(grad * scale)``, ``sum(grad * x)`` and ``sum(grad)``.

    grads  what arrives for the gradients of input, weight and bias; these two, and ``scale``, broadcast with ``grad``
    over   the dimensions of ``grad`` along which a weight stays the same
    broad  ``x`` in the precision in which its product with ``grad`` is summed
    sizes  those of ``grad``, where ``x`` is laid out in others
    """
    of_input, of_weight, of_bias = grads
    to_grad = to_input = to_weight = None
    if of_input is not None:
        scaled = grad if scale is None else grad * scale
        through = standardize_backward(of_input, x, mean, rstd, dims, fixed)
        if sizes is not None:
            scaled, through = shaped(scaled, x_sizes), shaped(through, sizes)
        to_grad = through if scale is None else through * scale
        to_input = standardize_twice(of_input, scaled, x, mean, rstd, x_sizes, dims, fixed)
        if scale is not None:
            to_weight = sum_dim(through * grad, over)
    if of_weight is not None:
        spread, normed = grad * of_weight, standardized(broad, mean, rstd, dims, fixed)
        if sizes is not None:
            spread, normed = shaped(spread, x_sizes), shaped(normed, sizes)
        more = of_weight * normed
        to_grad = more if to_grad is None else to_grad + more
        more = standardize_backward(spread, x, mean, rstd, dims, fixed)
        to_input = more if to_input is None else to_input + more
    if of_bias is not None:
        more = grad * 0 + of_bias
        to_grad = more if to_grad is None else to_grad + more
    return to_grad, to_input, to_weight


def statistics(a: Any, dims: tuple[int, ...], eps: float) -> tuple[Any, Any, Any]:
    """Mean, variance and inverse standard deviation along ``dims``, which are kept."""
    n = count(a.shape, dims)
    means = along(a, dims, True) / n
    off = a - means
    variance = along(off * off, dims, True) / n
    return means, variance, 1 / np.sqrt(variance + a.dtype.type(eps))


@op(public=False, forward="linear", batched="dims")
def shaped(self: Any, /, sizes: Any) -> Any:
    """The same elements in other sizes."""
    return np.reshape(self, sizes).copy()


shaped.derivative(self=lambda grad, self_sizes: shaped(grad, self_sizes))


# -- layers, groups --------------------------------------------------------------------------------------------------


def last_dims(sizes: tuple[int, ...], normalized_shape: tuple[int, ...]) -> tuple[int, ...]:
    """The dimensions that ``normalized_shape`` names."""
    return tuple(range(len(sizes) - len(normalized_shape), len(sizes)))


def first_dims(sizes: tuple[int, ...], normalized_shape: tuple[int, ...]) -> tuple[int, ...]:
    """The dimensions before those that ``normalized_shape`` names."""
    return tuple(range(len(sizes) - len(normalized_shape)))


def statistics_kind(input: Any, *parameters: Any) -> Any:
    """The dtype in which PyTorch keeps means and deviations: the input's, but float32 beside float32 parameters."""
    if input.dtype.itemsize > 2:
        return input.dtype
    return next((parameter.dtype for parameter in parameters if parameter is not None), input.dtype)


def _reduced(sizes: tuple[int, ...], normalized_shape: Any) -> tuple[int, ...]:
    """The sizes of one number for each sample."""
    return (*sizes[: len(sizes) - len(normalized_shape)], *(1,) * len(normalized_shape))


def _layer_norm_of_many(
    input: Any, weight: Any = None, bias: Any = None, normalized_shape: Any = (), eps: float = 1e-5
) -> Any:
    """``native_layer_norm`` by its compiled kernel."""
    results = compiled.norm.layer_forward(input, weight, bias, count(normalized_shape), eps)
    if results is None:
        return None
    reduced = _reduced(input.shape, normalized_shape)
    return results[0], results[1].reshape(reduced), results[2].reshape(reduced)


@op(
    outputs=("result0", "result1", "result2"),
    differentiable=("result0",),
    public=False,
    serves=(FLOATS, "LayerNormKernelImpl"),
    few=True,
    native=_layer_norm_of_many,
)
def native_layer_norm(
    input: Any, weight: Any = None, bias: Any = None, /, normalized_shape: Any = (), eps: float = 1e-5
) -> Any:
    """Each sample standardised over its last dimensions, scaled and shifted; its mean and inverse deviation."""
    a = in_single(input)
    n, reduced = count(normalized_shape), _reduced(a.shape, normalized_shape)
    shape = (count(reduced), n)
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
    return out.reshape(a.shape).astype(input.dtype, copy=False), means.reshape(reduced), rstd.reshape(reduced)


@native_layer_norm.derivative("input", "weight", "bias")
def _layer_norm_rule(
    grad: Any, input: Any, weight: Any, result1: Any, result2: Any, normalized_shape: Any, needs: Any
) -> Any:
    gradients = native_layer_norm_backward(grad, input, result1, result2, weight, normalized_shape, tuple(needs))
    return tuple([gradient if need else None for gradient, need in zip(gradients, needs, strict=True)])


@native_layer_norm.row.samples("weight")
def _layer_norm_weights(
    grad: Any, input: Any, result1: Any, result2: Any, normalized_shape: Any, apart: Any
) -> Any:
    products = apart((input - result1) * result2 * grad)
    return products.sum(tuple(range(1, products.ndim - len(normalized_shape))))


@native_layer_norm.row.samples("bias")
def _layer_norm_biases(grad: Any, normalized_shape: Any, apart: Any) -> Any:
    parts = apart(grad)
    return parts.sum(tuple(range(1, parts.ndim - len(normalized_shape))))


def _layer_norm_backward_of_many(
    grad_output: Any, input: Any, mean: Any, rstd: Any, weight: Any = None, normalized_shape: Any = (),
    wanted: Any = (),
) -> Any:  # fmt: skip
    """``native_layer_norm_backward`` by its compiled kernel."""
    affine = wanted[1] or wanted[2]
    result = compiled.norm.layer_backward(grad_output, input, mean, rstd, weight, count(normalized_shape), affine)
    if result is None:
        return None
    back, of_weight, of_bias = result
    if affine and len(normalized_shape) != 1:
        of_weight, of_bias = of_weight.reshape(normalized_shape), of_bias.reshape(normalized_shape)
    return back, of_weight if wanted[1] else _NONE, of_bias if wanted[2] else _NONE


#: The columns of the ways back of normalisations.
_BACK: Any = {
    "auxiliary": ("mean", "rstd"), "outputs": ("result0", "result1", "result2"), "public": False,
    "hidden": ("input_sizes",), "few": True,
}  # fmt: skip


@op(**_BACK, native=_layer_norm_backward_of_many)
def native_layer_norm_backward(
    grad_output: Any, input: Any, mean: Any, rstd: Any, weight: Any = None, /, normalized_shape: Any = (),
    wanted: Any = (),
) -> Any:  # fmt: skip
    """The gradients of input, weight and bias; those not ``wanted`` are empty."""
    first, last = first_dims(input.shape, normalized_shape), last_dims(input.shape, normalized_shape)
    grad = in_single(grad_output)
    of_weight = of_bias = back = _NONE
    if wanted[0]:
        scaled = grad_output if weight is None else grad * in_single(weight)
        back = standardize_backward.row.kernel(scaled, input, mean, rstd, last, False)
    if wanted[1]:
        x = standardized.row.kernel(in_single(input), mean, rstd, last, False)
        of_weight = sum_dim.row.kernel(grad * x, first).astype(mean.dtype, copy=False)
    if wanted[2]:
        of_bias = sum_dim.row.kernel(grad, first).astype(mean.dtype, copy=False)
    return back, of_weight, of_bias


@native_layer_norm_backward.derivative("grad_output", "input", "weight")
def _layer_norm_backward_rule(
    grads: Any, grad_output: Any, input: Any, weight: Any, mean: Any, rstd: Any, input_sizes: Any, normalized_shape: Any
) -> Any:
    grad, scale = (grad_output, None) if weight is None else (wide(grad_output), wide(weight))
    first, last = first_dims(input_sizes, normalized_shape), last_dims(input_sizes, normalized_shape)
    return affine_twice(grads, grad, scale, first, input, wide(input), mean, rstd, input_sizes, last)


_NONE = np.empty(0, F32)


@op(
    outputs=("result0", "result1", "result2"),
    differentiable=("result0",),
    public=False,
    serves=(FLOATS, "GroupNormKernelImpl"),
    layout="channels",
    few=True,
    native=lambda input, weight=None, bias=None, N=0, C=0, HxW=0, group=1, eps=1e-5: compiled.norm.group_forward(
        input, weight, bias, N, C, group, eps
    ),
)
def native_group_norm(
    input: Any, weight: Any = None, bias: Any = None, /, N: int = 0, C: int = 0, HxW: int = 0, group: int = 1,
    eps: float = 1e-5,
) -> Any:  # fmt: skip
    """Each group of channels of each sample standardised, each channel scaled and shifted."""
    a = in_single(input).reshape(N, group, C // group * HxW)
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


@native_group_norm.derivative("input", "weight", "bias")
def _group_norm_rule(
    grad: Any, input: Any, weight: Any, result1: Any, result2: Any, N: Any, C: Any, HxW: Any, group: Any, needs: Any
) -> Any:
    gradients = native_group_norm_backward(grad, input, result1, result2, weight, N, C, HxW, group, tuple(needs))
    return tuple([gradient if need else None for gradient, need in zip(gradients, needs, strict=True)])


def _group_norm_backward_of_many(
    grad_output: Any, input: Any, mean: Any, rstd: Any, weight: Any = None, N: int = 0, C: int = 0, HxW: int = 0,
    group: int = 1, wanted: Any = (),
) -> Any:  # fmt: skip
    """``native_group_norm_backward`` by its compiled kernel."""
    result = compiled.norm.group_backward(grad_output, input, mean, rstd, weight, N, C, group, wanted[0])
    if result is None:
        return None
    return tuple([part if want else _NONE for part, want in zip(result, wanted, strict=True)])


@op(**_BACK, native=_group_norm_backward_of_many)
def native_group_norm_backward(
    grad_output: Any, input: Any, mean: Any, rstd: Any, weight: Any = None, /, N: int = 0, C: int = 0, HxW: int = 0,
    group: int = 1, wanted: Any = (),
) -> Any:  # fmt: skip
    """The gradients of input, weight and bias; those not ``wanted`` are empty."""
    grad, x = in_single(grad_output).reshape(N, C, HxW), input.reshape(N, group, C // group * HxW)
    of_weight = of_bias = back = _NONE
    if wanted[0]:
        scaled = grad if weight is None else grad * in_single(weight).reshape(C, 1)
        back = standardize_backward.row.kernel(scaled.reshape(x.shape), x, mean, rstd, (2,), False).reshape(input.shape)
    if wanted[1]:
        x = standardized.row.kernel(in_single(x), mean, rstd, (2,), False)
        of_weight = sum_dim.row.kernel(grad * x.reshape(grad.shape), (0, 2)).astype(mean.dtype, copy=False)
    if wanted[2]:
        of_bias = sum_dim.row.kernel(grad, (0, 2)).astype(mean.dtype, copy=False)
    return back, of_weight, of_bias


@native_group_norm_backward.derivative("grad_output", "input", "weight")
def _group_norm_backward_rule(
    grads: Any, grad_output: Any, input: Any, weight: Any, mean: Any, rstd: Any, input_sizes: Any, N: Any, C: Any,
    HxW: Any, group: Any,
) -> Any:  # fmt: skip
    channels, groups, rows = (N, C, HxW), (N, group, C // group * HxW), (C, 1)
    grad, x = shaped(wide(grad_output), channels), shaped(input, groups)
    scale = None if weight is None else shaped(wide(weight), rows)
    came = [None if part is None else shaped(part, to) for part, to in zip(grads, (groups, rows, rows), strict=True)]
    to_grad, to_input, to_weight = affine_twice(
        came, grad, scale, (0, 2), x, wide(x), mean, rstd, groups, (2,), sizes=channels
    )
    return (
        None if to_grad is None else shaped(to_grad, input_sizes),
        None if to_input is None else shaped(to_input, input_sizes),
        to_weight,
    )


# -- Rows divided by their root mean squares, in one record for the everyday call on large arrays.
#
# PyTorch's graph has a node for each of the operations that ``functions.py`` writes down. Here one record
# computes the same in one pass each way; looked at, it unfolds into those nodes, and their form differentiates the
# way back.

# the tensors: the input, and a weight where there is one; both in one dtype, float32 or float64


@op(
    node="MulBackward0",
    outputs=("result0", "result1"),
    differentiable=("result0",),
    public=False,
    unfold=unfolding("rms_norm", ("normalized_shape", "eps")),
)
def fused_rms_norm(tensors: Any, /, normalized_shape: Any, eps: float) -> Any:
    """Each sample divided by the root mean square of its last dimensions, and scaled; the inverse roots."""
    a, weight = tensors[0], tensors[1] if len(tensors) > 1 else None
    n = count(normalized_shape)
    if a.size >= compiled.least and (results := compiled.norm.rms_forward(a, weight, n, eps)) is not None:
        return results
    lines = a.reshape(-1, n)
    rstd = 1 / np.sqrt(along(lines * lines, 1) / n + a.dtype.type(eps))
    out = lines * rstd[:, None]
    if weight is not None:
        out *= weight.reshape(-1)
    return out.reshape(a.shape), rstd


@fused_rms_norm.derivative("tensors")
def _rule(
    grad: Any, tensors: Any, tensors_sizes: Any, result1: Any, normalized_shape: Any, eps: Any, needs: Any
) -> Any:
    gradients = fused_rms_norm_backward([grad, *tensors, result1], normalized_shape, eps, tuple(needs))
    return [gradient if need else None for gradient, need in zip(gradients, needs, strict=False)]


@op(outputs=("input", "weight"), public=False)
def fused_rms_norm_backward(tensors: Any, /, normalized_shape: Any, eps: float, wanted: Any) -> Any:
    """The gradients of input and weight, from that of the output, both of them, and the inverse roots."""
    grad, a, *optional, rstd = tensors
    weight = optional[0] if optional else None
    n, of_weight = count(normalized_shape), len(wanted) > 1 and wanted[1]
    if a.size >= compiled.least:
        gradients = compiled.norm.rms_backward(grad, a, rstd, weight, n, of_weight)
        if gradients is not None:
            return gradients[0], gradients[1].reshape(normalized_shape) if of_weight else _NONE
    g, x = grad.reshape(-1, n), a.reshape(-1, n) * rstd[:, None]
    steep = g if weight is None else g * weight.reshape(-1)
    back = (steep - x * (along(steep * x, 1) / n)[:, None]) * rstd[:, None]
    return back.reshape(a.shape), sum_dim.row.kernel(g * x, (0,)).reshape(normalized_shape) if of_weight else _NONE


@fused_rms_norm_backward.derivative("tensors")
def _twice(grads: Any, tensors: Any, normalized_shape: Any, eps: Any, needs: Any) -> Any:
    return differentiated("rms_norm", grads, tensors, (True,), needs, (normalized_shape, eps))


# -- Weights split into length and direction, with one row for both directions of the common case.


def others(ndim: int, dim: int) -> tuple[int, ...]:
    """The dimensions other than ``dim``."""
    return tuple(axis for axis in range(ndim) if axis != dim)


@op(
    outputs=("result0", "result1"),
    differentiable=("result0",),
    public=False,
    serves=(FLOATS, "weight_norm_kernel"),
    widens=True,
    hidden=("weight", "length", "weight_sizes"),
    shows={"v": ("weight", lambda tensor: tensor), "g": ("length", lambda tensor: tensor)},
)
def weight_norm_interface(weight: Any, length: Any, /, dim: int = 0) -> Any:
    """``weight`` with the norms ``length`` over all dimensions but ``dim``, the first or last; the norms it had."""
    kind = weight.dtype
    wide = weight if kind == F32 or kind == F64 else weight.astype(F32)
    norms = norm_of(wide, 2, others(weight.ndim, dim), True)
    return (wide * (length / norms)).astype(kind, copy=False), np.asarray(norms)


@weight_norm_interface.derivative("weight", "length")
def _weight_norm_rule(grad: Any, weight: Any, length: Any, result1: Any, weight_sizes: Any, dim: Any) -> Any:
    """The norms are made again, not read from ``result1``: as a function of ``weight`` they have a slope."""
    rest = others(len(weight_sizes), dim)
    norms = linalg_vector_norm(weight, 2, rest, True)
    along = sum_dim(grad * weight, rest, True) / norms
    return (grad - weight * (along / norms)) * (length / norms), along
