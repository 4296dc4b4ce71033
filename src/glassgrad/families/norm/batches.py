"""What the normalisation of layers and groups does to batches under ``vmap``: examples are samples."""

from __future__ import annotations

from typing import Any

from ..distance.rows import linalg_vector_norm
from ..reduce.rows import sum_dim
from ..shape.batches import aligned, alike, all_alike, fold, unfold
from .rows import (
    fused_rms_norm,
    native_group_norm,
    native_group_norm_backward,
    native_layer_norm,
    native_layer_norm_backward,
    others,
    standardized,
    weight_norm_interface,
)


def _scaled(out: Any, size: int, batched: Any, weight: Any, bias: Any, ndim: int) -> Any:
    """A batch of examples of ``ndim`` dimensions times each example's weight, plus its bias."""
    weight, bias = alike(size, batched, weight, bias)
    out = out if weight is None else out * aligned(weight, ndim)
    return out if bias is None else out + aligned(bias, ndim)


@native_layer_norm.row.batch
def _layer_norm(size: int, batched: Any, input: Any, weight: Any, bias: Any, normalized_shape: Any, eps: float) -> Any:
    (input,) = alike(size, batched[:1], input)
    if not (batched[1] or batched[2]):
        return native_layer_norm(input, weight, bias, normalized_shape, eps)
    out, mean, rstd = native_layer_norm(input, None, None, normalized_shape, eps)
    return _scaled(out, size, batched[1:], weight, bias, input._array.ndim - 1), mean, rstd


@native_layer_norm_backward.row.batch
def _layer_norm_backward(
    size: int, batched: Any, grad_output: Any, input: Any, mean: Any, rstd: Any, weight: Any, normalized_shape: Any,
    wanted: Any,
) -> Any:  # fmt: skip
    grad, input, mean, rstd = alike(size, batched[:4], grad_output, input, mean, rstd)
    ndim = input._array.ndim
    last = tuple(range(ndim - len(normalized_shape), ndim))
    first = tuple(range(1, ndim - len(normalized_shape)))
    scaled = grad
    if batched[4]:
        scaled, weight = grad * aligned(weight, ndim - 1), None
    back, of_weight, of_bias = native_layer_norm_backward(
        scaled, input, mean, rstd, weight, normalized_shape, (wanted[0], False, False)
    )
    results = [back if wanted[0] else all_alike(back, size), of_weight, of_bias]
    for number, want in ((1, wanted[1]), (2, wanted[2])):
        if want:
            part = grad * standardized(input, mean, rstd, last, False) if number == 1 else grad
            results[number] = sum_dim(part, first) if first else part
        else:
            results[number] = all_alike(results[number], size)
    return tuple(results)


@native_group_norm.row.batch
def _group_norm(
    size: int, batched: Any, input: Any, weight: Any, bias: Any, N: int, C: int, HxW: int, group: int, eps: float,  # noqa: N803
) -> Any:  # fmt: skip
    (input,) = alike(size, batched[:1], input)
    apart = batched[1] or batched[2]
    parameters: Any = (None, None) if apart else (weight, bias)
    out, mean, rstd = [
        unfold(part, size)
        for part in native_group_norm(fold(input), parameters[0], parameters[1], size * N, C, HxW, group, eps)
    ]
    if apart:
        weight, bias = (_by_channel(value, input._array.ndim) for value in (weight, bias))
        out = _scaled(out, size, batched[1:], weight, bias, input._array.ndim - 1)
    return out, mean, rstd


def _by_channel(value: Any, ndim: int) -> Any:
    """One number for each channel, broadcastable against examples in a batch of ``ndim`` dimensions."""
    return None if value is None else value.reshape((*value._array.shape, *(1,) * (ndim - 3)))


@native_group_norm_backward.row.batch
def _group_norm_backward(
    size: int, batched: Any, grad_output: Any, input: Any, mean: Any, rstd: Any, weight: Any, N: int, C: int,  # noqa: N803
    HxW: int, group: int, wanted: Any,  # noqa: N803
) -> Any:  # fmt: skip
    grad, input, mean, rstd = alike(size, batched[:4], grad_output, input, mean, rstd)
    ndim = input._array.ndim
    scaled = grad
    if batched[4]:
        scaled, weight = grad * aligned(_by_channel(weight, ndim), ndim - 1), None
    back, *rest = native_group_norm_backward(
        fold(scaled), fold(input), fold(mean), fold(rstd), weight, size * N, C, HxW, group, (wanted[0], False, False)
    )
    results = [unfold(back, size) if wanted[0] else all_alike(back, size), *[all_alike(part, size) for part in rest]]
    lines = grad.reshape((size, N, C, HxW))
    if wanted[1]:
        shape = (size * N, group, C // group * HxW)
        centre, spread = (fold(part).reshape((size * N, group, 1)) for part in (mean, rstd))
        x = standardized(fold(input).reshape(shape), centre, spread, (2,), False)
        results[1] = sum_dim(lines * x.reshape((size, N, C, HxW)), (1, 3))
    if wanted[2]:
        results[2] = sum_dim(lines, (1, 3))
    return tuple(results)


@fused_rms_norm.row.batch
def _rms_norm(size: int, batched: Any, tensors: Any, normalized_shape: Any, eps: float) -> Any:
    (input,) = alike(size, batched[:1], tensors[0])
    apart = len(tensors) > 1 and batched[1]
    out, rstd = fused_rms_norm([input, *(() if apart else tensors[1:])], normalized_shape, eps)
    if apart:
        out = out * aligned(tensors[1], input._array.ndim - 1)
    return out, rstd.reshape((size, -1))


@weight_norm_interface.row.composition
def _weight_norm(weight: Any, length: Any, dim: int) -> Any:
    norms = linalg_vector_norm(weight, 2, others(weight.dim(), dim), True, None)
    return weight * (length / norms), norms
