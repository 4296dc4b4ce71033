"""Pooling: the largest element or the average of windows, their adjoints, and unpooling; knows arrays only.

A maximum keeps each window's place in its plane; its gradient goes there, and the gradient of that is picked there.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np

from ...core.row import FLOATS, REALS, op
from ...kernels.columns import not_implemented
from . import kernels as windows

_WHOLE = "lq"  # int64, by each of its names


def regular(sizes: Any, kernel_size: Any, stride: Any, padding: Any, dilation: Any, ceil_mode: bool) -> Any:
    """The windows of one size along the last dimensions; without a ``stride`` they lie side by side."""
    last = tuple(sizes[len(sizes) - len(kernel_size) :])
    return _regular(last, kernel_size, stride or kernel_size, padding, dilation, ceil_mode)


@lru_cache(512)
def _regular(last: Any, kernel_size: Any, stride: Any, padding: Any, dilation: Any, ceil_mode: bool) -> Any:
    return tuple(
        [
            windows.regular(n, k, s, p, d, ceil_mode)
            for n, k, s, p, d in zip(last, kernel_size, stride, padding, dilation, strict=True)
        ]
    )


def _adaptive(sizes: Any, output_size: Any) -> Any:
    last = sizes[len(sizes) - len(output_size) :]
    return tuple([windows.adaptive(n, m) for n, m in zip(last, output_size, strict=True)])


def apart(kernel_size: Any, stride: Any, dilation: Any) -> bool:
    """Whether no two windows share an element."""
    return all([s > (k - 1) * d for k, s, d in zip(kernel_size, stride or kernel_size, dilation, strict=True)])


def divides(sizes: Any, output_size: Any) -> bool:
    """Whether adaptive windows share no element."""
    last = sizes[len(sizes) - len(output_size) :]
    return all([not m or n % m == 0 for n, m in zip(last, output_size, strict=True)])


# -- where the largest elements are ------------------------------------------------------------------------------------


@op(auxiliary=("indices",), public=False, batched="first")
def pool_put(self: Any, indices: Any, /, sizes: Any, apart: bool) -> Any:
    """Planes of ``sizes`` of zeros that hold each element of ``self`` at its place, added up unless ``apart``."""
    return windows.put(self, indices, tuple(sizes), apart)


pool_put.derivative(self=lambda grad, indices, sizes: pool_pick(grad, indices, len(sizes)))


@op(auxiliary=("indices",), public=False, batched="first")
def pool_pick(self: Any, indices: Any, /, dims: int) -> Any:
    """The elements of ``self`` at their places in the planes of its last ``dims`` dimensions."""
    return windows.pick(self, indices, dims)


pool_pick.derivative(
    self=lambda grad, indices, self_sizes, dims: pool_put(grad, indices, self_sizes[len(self_sizes) - dims :], False)
)


def _max_pool_rule(
    grad: Any, self: Any, result1: Any, kernel_size: Any, stride: Any, padding: Any, dilation: Any, ceil_mode: Any
) -> Any:
    return pool_put(
        grad, result1, tuple(self.shape)[len(self.shape) - len(kernel_size) :], apart(kernel_size, stride, dilation)
    )


@op(
    node="MaxPool2DWithIndicesBackward0",
    outputs=("result0", "result1"),
    differentiable=("result0",),
    public=False,
    serves=(REALS, "max_pool2d"),
    layout="channels",
    batched="first",
)
def max_pool2d_with_indices(
    self: Any, /, kernel_size: Any, stride: Any, padding: Any, dilation: Any, ceil_mode: bool
) -> Any:
    """The largest element of each window of the last two dimensions, and its place."""
    return windows.largest(self, regular(self.shape, kernel_size, stride, padding, dilation, ceil_mode))


max_pool2d_with_indices.derivative(self=_max_pool_rule)


@op(
    node="MaxPool3DWithIndicesBackward0",
    outputs=("result0", "result1"),
    differentiable=("result0",),
    public=False,
    precision="single",
    serves=(REALS, "max_pool3d"),
    layout="channels",
    batched="first",
)
def max_pool3d_with_indices(
    self: Any, /, kernel_size: Any, stride: Any, padding: Any, dilation: Any, ceil_mode: bool
) -> Any:
    """The largest element of each window of the last three dimensions, and its place."""
    return windows.largest(self, regular(self.shape, kernel_size, stride, padding, dilation, ceil_mode))


max_pool3d_with_indices.derivative(self=_max_pool_rule)


@op(
    constant=True,
    public=False,
    serves=(REALS, lambda self, kernel_size, *others: not_implemented(f"max_pool{len(kernel_size)}d", self)),
    layout="channels",
    batched="first",
)
def max_pool_values(self: Any, /, kernel_size: Any, stride: Any, padding: Any, dilation: Any, ceil_mode: bool) -> Any:
    """The largest element of each window, where nobody asks for places or gradients."""
    return windows.largest_values(self, regular(self.shape, kernel_size, stride, padding, dilation, ceil_mode))


def _adaptive_max_pool_rule(grad: Any, self: Any, result1: Any, output_size: Any) -> Any:
    return pool_put(
        grad, result1, tuple(self.shape)[len(self.shape) - len(output_size) :], divides(self.shape, output_size)
    )


@op(
    node="AdaptiveMaxPool2DBackward0",
    outputs=("result0", "result1"),
    differentiable=("result0",),
    public=False,
    hidden=("output_size",),
    serves=(FLOATS, "adaptive_max_pool2d"),
    layout="channels",
    batched="first",
)
def adaptive_max_pool2d(self: Any, /, output_size: Any) -> Any:
    """The largest elements of windows that cover the last two dimensions evenly, and their places."""
    return windows.largest(self, _adaptive(self.shape, output_size))


adaptive_max_pool2d.derivative(self=_adaptive_max_pool_rule)


@op(
    node="AdaptiveMaxPool3DBackward0",
    outputs=("result0", "result1"),
    differentiable=("result0",),
    public=False,
    precision="single",
    hidden=("output_size",),
    serves=(FLOATS, "adaptive_max_pool3d_cpu"),
    layout="plain",
    batched="first",
)
def adaptive_max_pool3d(self: Any, /, output_size: Any) -> Any:
    """The largest elements of windows that cover the last three dimensions evenly, and their places."""
    return windows.largest(self, _adaptive(self.shape, output_size))


adaptive_max_pool3d.derivative(self=_adaptive_max_pool_rule)


def _fractional(self: Any, samples: Any, kernel_size: Any, output_size: Any, order: tuple[int, ...]) -> Any:
    last = self.shape[self.ndim - len(order) :]
    draws = samples[: self.shape[0]] if self.ndim == len(order) + 2 else samples[0]
    axes = [
        windows.fractional(draws[..., axis], n, m, k)
        for axis, n, m, k in zip(order, last, output_size, kernel_size, strict=True)
    ]
    return windows.largest(self, tuple(axes))


def _fractional_max_pool_rule(grad: Any, self: Any, result1: Any, kernel_size: Any, output_size: Any) -> Any:
    return pool_put(grad, result1, tuple(self.shape)[len(self.shape) - len(output_size) :], False)


@op(
    node="FractionalMaxPool2DBackward0",
    auxiliary=("samples",),
    outputs=("result0", "result1"),
    differentiable=("result0",),
    public=False,
    precision="single",
    serves=(FLOATS, "fractional_max_pool2d_out_frame"),
    batched="fold",
)
def fractional_max_pool2d(self: Any, samples: Any, /, kernel_size: Any, output_size: Any) -> Any:
    """The largest elements of windows at distances drawn by ``samples``, and their places."""
    return _fractional(self, samples, kernel_size, output_size, (1, 0))


fractional_max_pool2d.derivative(self=_fractional_max_pool_rule)


@op(
    node="FractionalMaxPool3DBackward0",
    auxiliary=("samples",),
    outputs=("result0", "result1"),
    differentiable=("result0",),
    public=False,
    precision="single",
    serves=(FLOATS, "fractional_max_pool3d_out_frame"),
    batched="fold",
)
def fractional_max_pool3d(self: Any, samples: Any, /, kernel_size: Any, output_size: Any) -> Any:
    """The largest elements of windows at distances drawn by ``samples``, and their places."""
    return _fractional(self, samples, kernel_size, output_size, (0, 1, 2))


fractional_max_pool3d.derivative(self=_fractional_max_pool_rule)


def _unpooled(self: Any, indices: Any, output_size: Any) -> Any:
    area = int(np.prod(output_size))
    outside = (indices < 0) | (indices >= area)
    if outside.any():
        volume = "x".join(map(str, output_size))
        raise RuntimeError(f"Found an invalid max index: {indices[outside][0]} (output volumes are of size {volume})")
    return windows.put(self, indices, tuple(output_size), True)


@op(
    node="MaxUnpool2DBackward0",
    auxiliary=("indices",),
    public=False,
    precision="single",
    serves=(FLOATS, "max_unpool2d"),
    layout="channels",
    batched="first",
)
def max_unpool2d(self: Any, indices: Any, /, output_size: Any) -> Any:
    """Planes of zeros that hold each element at its place; of several at one place the last stays."""
    return _unpooled(self, indices, output_size)


max_unpool2d.derivative(self=lambda grad, indices: pool_pick(grad, indices, 2))


@op(
    node="MaxUnpool3DBackward0",
    auxiliary=("indices",),
    public=False,
    precision="single",
    serves=(FLOATS, "max_unpool3d"),
    batched="first",
)
def max_unpool3d(self: Any, indices: Any, /, output_size: Any) -> Any:
    """Volumes of zeros that hold each element at its place; of several at one place the last stays."""
    return _unpooled(self, indices, output_size)


max_unpool3d.derivative(self=lambda grad, indices: pool_pick(grad, indices, 3))


# -- averages ----------------------------------------------------------------------------------------------------------


def _divided(total: Any, by: Any) -> Any:
    """Sums divided; whole numbers towards zero."""
    if total.dtype.kind == "f":
        return total / by
    return (np.sign(total) * np.sign(by)) * (np.abs(total) // np.abs(by))


def _averaged(self: Any, axes: Any, count_include_pad: bool, divisor_override: Any) -> Any:
    by = windows.divisors(axes, count_include_pad, self.dtype) if divisor_override is None else divisor_override
    total = windows.sums(self, axes)
    return np.array(_divided(total, self.dtype.type(by) if np.ndim(by) == 0 else by).astype(self.dtype, copy=False))


def _avg_pool_rule(
    grad: Any,
    self: Any,
    kernel_size: Any,
    stride: Any,
    padding: Any,
    ceil_mode: Any,
    count_include_pad: Any,
    divisor_override: Any,
) -> Any:
    return avg_pool_backward(
        grad, tuple(self.shape), kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override
    )


@op(
    node="AvgPool2DBackward0",
    public=False,
    serves=(FLOATS + _WHOLE, "avg_pool2d"),
    halves="single",
    layout="channels",
    forward="linear",
    batched="fold",
)
def avg_pool2d(
    self: Any, /, kernel_size: Any, stride: Any, padding: Any, ceil_mode: bool, count_include_pad: bool,
    divisor_override: Any,
) -> Any:  # fmt: skip
    """The average of each window of the last two dimensions."""
    axes = regular(self.shape, kernel_size, stride, padding, (1, 1), ceil_mode)
    return _averaged(self, axes, count_include_pad, divisor_override)


avg_pool2d.derivative(self=_avg_pool_rule)


@op(
    node="AvgPool3DBackward0",
    public=False,
    precision="single",
    serves=("fd" + _WHOLE, "avg_pool3d_out_frame"),
    layout="plain",
    forward="linear",
    batched="first",
)
def avg_pool3d(
    self: Any, /, kernel_size: Any, stride: Any, padding: Any, ceil_mode: bool, count_include_pad: bool,
    divisor_override: Any,
) -> Any:  # fmt: skip
    """The average of each window of the last three dimensions."""
    axes = regular(self.shape, kernel_size, stride, padding, (1, 1, 1), ceil_mode)
    return _averaged(self, axes, count_include_pad, divisor_override)


avg_pool3d.derivative(self=_avg_pool_rule)


@op(public=False, halves="single", forward="linear", batched="first")
def avg_pool_backward(
    grad_output: Any, /, sizes: Any, kernel_size: Any, stride: Any, padding: Any, ceil_mode: bool,
    count_include_pad: bool, divisor_override: Any,
) -> Any:  # fmt: skip
    """Each window's share of its gradient at all its elements, added up in planes of ``sizes``."""
    axes = regular(sizes, kernel_size, stride, padding, (1,) * len(kernel_size), ceil_mode)
    by = windows.divisors(axes, count_include_pad, grad_output.dtype) if divisor_override is None else divisor_override
    shares = grad_output / (grad_output.dtype.type(by) if np.ndim(by) == 0 else by)
    return np.array(windows.spread_sums(shares, axes))


avg_pool_backward.derivative(
    grad_output=lambda grad, kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override: (
        avg_pool2d if len(kernel_size) == 2 else avg_pool3d
    )(grad, kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override)
)


def _adaptive_avg_pool_rule(grad: Any, self: Any, output_size: Any) -> Any:
    return adaptive_avg_pool_backward(grad, tuple(self.shape), output_size)


@op(
    node="AdaptiveAvgPool2DBackward0",
    public=False,
    hidden=("output_size",),
    serves=(FLOATS, "adaptive_avg_pool2d"),
    halves="single",
    layout="channels",
    forward="linear",
    batched="first",
)
def adaptive_avg_pool2d(self: Any, /, output_size: Any) -> Any:
    """The averages of windows that cover the last two dimensions evenly."""
    return _averaged(self, _adaptive(self.shape, output_size), True, None)


adaptive_avg_pool2d.derivative(self=_adaptive_avg_pool_rule)


@op(
    node="AdaptiveAvgPool3DBackward0",
    public=False,
    precision="single",
    hidden=("output_size",),
    serves=(FLOATS, "adaptive_avg_pool3d_cpu"),
    halves="single",
    layout="plain",
    forward="linear",
    batched="first",
)
def adaptive_avg_pool3d(self: Any, /, output_size: Any) -> Any:
    """The averages of windows that cover the last three dimensions evenly."""
    return _averaged(self, _adaptive(self.shape, output_size), True, None)


adaptive_avg_pool3d.derivative(self=_adaptive_avg_pool_rule)


@op(public=False, halves="single", forward="linear", batched="first")
def adaptive_avg_pool_backward(grad_output: Any, /, sizes: Any, output_size: Any) -> Any:
    """Each adaptive window's share of its gradient at all its elements, added up in planes of ``sizes``."""
    axes = _adaptive(sizes, output_size)
    shares = grad_output / windows.divisors(axes, True, grad_output.dtype)
    return np.array(windows.spread_sums(shares, axes))


adaptive_avg_pool_backward.derivative(
    grad_output=lambda grad, output_size: (adaptive_avg_pool2d if len(output_size) == 2 else adaptive_avg_pool3d)(
        grad, output_size
    )
)
