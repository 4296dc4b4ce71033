"""Pooling: the largest element or the average of windows, their adjoints, and unpooling; knows arrays only.

A maximum keeps each window's place in its plane; its gradient goes there, and the gradient of that is picked there.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np

from ...core.row import FLOATS, REALS, op
from ...ground import errors
from ...kernels.columns import not_implemented
from ...ops.declare import of_dims
from . import kernels as windows

_WHOLE = "lq"  # int64, by each of its names


def ends(sizes: Any, like: Any) -> Any:
    """The last of ``sizes``, as many as ``like`` has."""
    return sizes[len(sizes) - len(like) :]


def regular(sizes: Any, kernel_size: Any, stride: Any, padding: Any, dilation: Any, ceil_mode: bool) -> Any:
    """The windows of one size along the last dimensions; without a ``stride`` they lie side by side."""
    last = tuple(ends(sizes, kernel_size))
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
    last = ends(sizes, output_size)
    return tuple([windows.adaptive(n, m) for n, m in zip(last, output_size, strict=True)])


def planes(shape: Any, last: Any) -> tuple[int, ...]:
    """A shape with other sizes of its last dimensions."""
    return (*shape[: len(shape) - len(last)], *last)


def _of_regular(self: Any, kernel_size: Any, stride: Any, padding: Any, dilation: Any, ceil_mode: bool) -> Any:
    axes = regular(self.shape, kernel_size, stride, padding, dilation, ceil_mode)
    return planes(self.shape, [axis.number for axis in axes])


def _of_adaptive(self: Any, output_size: Any) -> Any:
    return planes(self.shape, output_size)


def apart(kernel_size: Any, stride: Any, dilation: Any) -> bool:
    """Whether no two windows share an element."""
    return all([s > (k - 1) * d for k, s, d in zip(kernel_size, stride or kernel_size, dilation, strict=True)])


def divides(sizes: Any, output_size: Any) -> bool:
    """Whether adaptive windows share no element."""
    last = ends(sizes, output_size)
    return all([not m or n % m == 0 for n, m in zip(last, output_size, strict=True)])


# -- where the largest elements are ------------------------------------------------------------------------------------


@op(
    auxiliary=("indices",),
    public=False,
    sizes=lambda self, indices, sizes, apart: planes(self.shape, sizes),
    batched="first",
)
def pool_put(self: Any, indices: Any, /, sizes: Any, apart: bool) -> Any:
    """Planes of ``sizes`` of zeros that hold each element of ``self`` at its place, added up unless ``apart``."""
    return windows.put(self, indices, tuple(sizes), apart)


pool_put.derivative(self=lambda grad, indices, sizes: pool_pick(grad, indices, len(sizes)))


@op(auxiliary=("indices",), public=False, sizes=lambda self, indices, dims: indices.shape, batched="first")
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
        grad, result1, ends(tuple(self.shape), kernel_size), apart(kernel_size, stride, dilation)
    )


_PLACES_TOO: Any = {"outputs": ("result0", "result1"), "differentiable": ("result0",), "public": False}


def _precision(dims: int) -> Any:
    """What autocast does with pooling: in volumes it computes in single precision."""
    return "single" if dims == 3 else None


def _max_pool(dims: int) -> Any:
    @op(
        node=f"MaxPool{dims}DWithIndicesBackward0",
        **_PLACES_TOO,
        precision=_precision(dims),
        serves=(REALS, f"max_pool{dims}d"),
        sizes=_of_regular,
        layout="channels",
        batched="first",
    )
    @of_dims(f"max_pool{dims}d_with_indices", dims)
    def pool(self: Any, /, kernel_size: Any, stride: Any, padding: Any, dilation: Any, ceil_mode: bool) -> Any:
        """The largest element of each window of the last {dims}, and its place."""
        return windows.largest(self, regular(self.shape, kernel_size, stride, padding, dilation, ceil_mode))

    pool.derivative(self=_max_pool_rule)
    return pool


max_pool2d_with_indices, max_pool3d_with_indices = _max_pool(2), _max_pool(3)


@op(
    constant=True,
    public=False,
    serves=(REALS, lambda self, kernel_size, *others: not_implemented(f"max_pool{len(kernel_size)}d", self)),
    sizes=_of_regular,
    layout="channels",
    batched="first",
)
def max_pool_values(self: Any, /, kernel_size: Any, stride: Any, padding: Any, dilation: Any, ceil_mode: bool) -> Any:
    """The largest element of each window, where nobody asks for places or gradients."""
    return windows.largest_values(self, regular(self.shape, kernel_size, stride, padding, dilation, ceil_mode))


def check_filled(function: str, sizes: Any, first: int = 1, name: str = "input") -> None:
    """Raise PyTorch's error where a dimension from ``first`` on has no elements."""
    if 0 in sizes[first:]:
        axis = sizes.index(0, first)
        raise RuntimeError(
            f"{function}(): Expected {name} to have non-zero size for non-batch dimensions, but {name} has sizes "
            f"{list(sizes)} with dimension {axis} being empty"
        )


def _adaptive_max_pool_rule(grad: Any, self: Any, result1: Any, output_size: Any) -> Any:
    check_filled(f"adaptive_max_pool{len(output_size)}d_backward", grad.shape, name="grad_output")
    return pool_put(
        grad, result1, ends(tuple(self.shape), output_size), divides(self.shape, output_size)
    )


def _adaptive_max_pool(dims: int) -> Any:
    @op(
        node=f"AdaptiveMaxPool{dims}DBackward0",
        **_PLACES_TOO,
        precision=_precision(dims),
        hidden=("output_size",),
        serves=(FLOATS, "adaptive_max_pool2d" if dims == 2 else "adaptive_max_pool3d_cpu"),
        sizes=_of_adaptive,
        layout="channels" if dims == 2 else "plain",
        batched="first",
    )
    @of_dims(f"adaptive_max_pool{dims}d", dims)
    def pool(self: Any, /, output_size: Any) -> Any:
        """The largest elements of windows that cover the last {dims} evenly, and their places."""
        return windows.largest(self, _adaptive(self.shape, output_size))

    pool.derivative(self=_adaptive_max_pool_rule)
    return pool


adaptive_max_pool2d, adaptive_max_pool3d = _adaptive_max_pool(2), _adaptive_max_pool(3)


def _fractional_max_pool_rule(grad: Any, self: Any, result1: Any, kernel_size: Any, output_size: Any) -> Any:
    return pool_put(grad, result1, ends(tuple(self.shape), output_size), False)


def _fractional_max_pool(dims: int) -> Any:
    order = (1, 0) if dims == 2 else (0, 1, 2)  # of a plane's draws

    @op(
        node=f"FractionalMaxPool{dims}DBackward0",
        **_PLACES_TOO,
        auxiliary=("samples",),
        precision="single",
        serves=(FLOATS, f"fractional_max_pool{dims}d_out_frame"),
        sizes=lambda self, samples, kernel_size, output_size: planes(self.shape, output_size),
        batched="fold",
    )
    @of_dims(f"fractional_max_pool{dims}d", dims)
    def pool(self: Any, samples: Any, /, kernel_size: Any, output_size: Any) -> Any:
        """The largest elements of windows of the last {dims} at distances drawn by ``samples``, and their places."""
        last = self.shape[self.ndim - dims :]
        draws = samples[: self.shape[0]] if self.ndim == dims + 2 else samples[0]
        axes = [
            windows.fractional(draws[..., axis], n, m, k)
            for axis, n, m, k in zip(order, last, output_size, kernel_size, strict=True)
        ]
        return windows.largest(self, tuple(axes))

    pool.derivative(self=_fractional_max_pool_rule)
    return pool


fractional_max_pool2d, fractional_max_pool3d = _fractional_max_pool(2), _fractional_max_pool(3)


def _max_unpool(dims: int) -> Any:
    @op(
        node=f"MaxUnpool{dims}DBackward0",
        auxiliary=("indices",),
        public=False,
        precision="single",
        serves=(FLOATS, f"max_unpool{dims}d"),
        sizes=lambda self, indices, output_size: planes(self.shape, output_size),
        layout="channels" if dims == 2 else None,
        forward="linear",
        batched="first",
    )
    @of_dims(f"max_unpool{dims}d", dims)
    def unpool(self: Any, indices: Any, /, output_size: Any) -> Any:
        """Zeros in the last {dims} that hold each element at its place; of several at one place the last stays."""
        area = int(np.prod(output_size))
        outside = (indices < 0) | (indices >= area)
        if outside.any():
            index, volume = indices[outside][-1], "x".join(map(str, output_size))
            raise RuntimeError(f"Found an invalid max index: {index} (output volumes are of size {volume})")
        return windows.put(self, indices, tuple(output_size), True)

    unpool.derivative(self=lambda grad, indices: pool_pick(grad, indices, dims))
    return unpool


max_unpool2d, max_unpool3d = _max_unpool(2), _max_unpool(3)


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
    grad: Any, self: Any, kernel_size: Any, stride: Any, padding: Any, ceil_mode: Any, count_include_pad: Any,
    divisor_override: Any,
) -> Any:  # fmt: skip
    return avg_pool_backward(
        grad, tuple(self.shape), kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override
    )


def _avg_pool(dims: int) -> Any:
    @op(
        node=f"AvgPool{dims}DBackward0",
        public=False,
        precision=_precision(dims),
        serves=(FLOATS + _WHOLE, "avg_pool2d") if dims == 2 else ("fd" + _WHOLE, "avg_pool3d_out_frame"),
        halves="single" if dims == 2 else None,
        sizes=lambda self, kernel_size, stride, padding, ceil_mode, *others: _of_regular(
            self, kernel_size, stride, padding, (1,) * dims, ceil_mode
        ),
        layout="channels" if dims == 2 else "plain",
        forward="linear",
        batched="fold" if dims == 2 else "first",
        out=errors.OUT_DTYPE,
    )
    @of_dims(f"avg_pool{dims}d", dims)
    def pool(
        self: Any, /, kernel_size: Any, stride: Any, padding: Any, ceil_mode: bool, count_include_pad: bool,
        divisor_override: Any,
    ) -> Any:  # fmt: skip
        """The average of each window of the last {dims}."""
        axes = regular(self.shape, kernel_size, stride, padding, (1,) * dims, ceil_mode)
        return _averaged(self, axes, count_include_pad, divisor_override)

    pool.derivative(self=_avg_pool_rule)
    return pool


avg_pool2d, avg_pool3d = _avg_pool(2), _avg_pool(3)


@op(
    public=False,
    halves="single",
    sizes=lambda grad, sizes, kernel_size, *others: planes(grad.shape, ends(sizes, kernel_size)),
    forward="linear",
    batched="first",
)
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
    check_filled(f"adaptive_avg_pool{len(output_size)}d_backward", grad.shape, name="grad_output")
    return adaptive_avg_pool_backward(grad, tuple(self.shape), output_size)


def _adaptive_avg_pool(dims: int) -> Any:
    @op(
        node=f"AdaptiveAvgPool{dims}DBackward0",
        public=False,
        precision=_precision(dims),
        hidden=("output_size",),
        serves=(FLOATS, "adaptive_avg_pool2d" if dims == 2 else "adaptive_avg_pool3d_cpu"),
        sizes=_of_adaptive,
        halves="single",
        layout="channels" if dims == 2 else "plain",
        forward="linear",
        batched="first",
    )
    @of_dims(f"adaptive_avg_pool{dims}d", dims)
    def pool(self: Any, /, output_size: Any) -> Any:
        """The averages of windows that cover the last {dims} evenly."""
        return _averaged(self, _adaptive(self.shape, output_size), True, None)

    pool.derivative(self=_adaptive_avg_pool_rule)
    return pool


adaptive_avg_pool2d, adaptive_avg_pool3d = _adaptive_avg_pool(2), _adaptive_avg_pool(3)


@op(
    public=False,
    halves="single",
    sizes=lambda grad, sizes, output_size: planes(grad.shape, ends(sizes, output_size)),
    forward="linear",
    batched="first",
)
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
