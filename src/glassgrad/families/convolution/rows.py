"""Convolutions and their gradients: three bilinear rows that are each other's derivatives; and windows as columns."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ...core.row import COMPLEX, FLOATS, op
from ...kernels.columns import not_implemented
from ..matrix.rows import scalar_name
from ..reduce.rows import sum_dim
from . import kernels
from .kernels import both_sides

# -- convolution -------------------------------------------------------------------------------------------------------


def result_sizes(
    input: Any, weight: Any, stride: Any, padding: Any, dilation: Any, transposed: bool, output_padding: Any
) -> tuple[int, ...]:
    """The spatial sizes of a convolution's result."""
    sizes = input.shape[2:], weight.shape[2:], stride, padding, dilation
    return kernels.transposed_sizes(*sizes, output_padding) if transposed else kernels.output_sizes(*sizes)


def refuse_kinds(input: Any, transposed: bool, dilation: Any) -> None:
    """Raise PyTorch's error for element types that its convolutions do not know."""
    kind = input.dtype
    if kind.kind not in "bui":
        return
    flat = input.ndim < 5
    if transposed:
        if kind != np.int64:
            raise not_implemented(f"slow_conv_transpose{2 if flat else 3}d_out_cpu", input)
    elif max(dilation, default=1) > 1:
        if kind != np.int64:
            raise not_implemented("slow_conv_dilated<>", input)
    elif kind.kind == "b":
        raise not_implemented("slow_conv2d_cpu" if flat else "compute_columns3d", input)


@op(
    public=False,
    precision="low",
    sizes=lambda input, weight, bias, *settings: (
        input.shape[0],
        weight.shape[1] * settings[5] if settings[3] else weight.shape[0],
        *result_sizes(input, weight, *settings[:5]),
    ),
    hidden=("input_sizes", "weight_sizes", "bias_sizes"),
    shows={"bias_sym_sizes_opt": ("bias_sizes", lambda sizes: (0,) if sizes is None else tuple(sizes))},
    layout="channels",
)
def convolution(
    input: Any, weight: Any, bias: Any = None, /, stride: Any = (1,), padding: Any = (0,), dilation: Any = (1,),
    transposed: bool = False, output_padding: Any = (0,), groups: int = 1,
) -> Any:  # fmt: skip
    """The products of the windows of ``input`` with ``weight``, plus ``bias``; or, ``transposed``, the adjoint of that.

    input (n, c, *sizes), weight (o, c / groups, *kernel), or (c, o / groups, *kernel) for a transposed one; bias (o).
    """
    refuse_kinds(input, transposed, dilation)
    if not transposed:
        return kernels.convolve(input, weight, bias, stride, both_sides(padding), dilation, groups)
    sizes = result_sizes(input, weight, stride, padding, dilation, True, output_padding)
    return kernels.input_gradient(input, weight, sizes, stride, padding, dilation, groups, bias)


convolution.derivative(
    input=lambda grad, input_sizes, weight, stride, padding, dilation, transposed, output_padding, groups: (
        convolution_input(grad, weight, input_sizes, stride, padding, dilation, transposed, output_padding, groups)
    ),
    weight=lambda grad, input, weight_sizes, stride, padding, dilation, transposed, output_padding, groups: (
        convolution_weight(grad, input, weight_sizes, stride, padding, dilation, transposed, output_padding, groups)
    ),
    bias=lambda grad, bias_sizes, weight_sizes: sum_dim(grad, (0, *range(2, len(weight_sizes)))),
)


@convolution.row.samples("weight")
def _convolution_weights(
    grad: Any, input: Any, weight_sizes: Any, stride: Any, padding: Any, dilation: Any, transposed: Any, groups: Any,
    apart: Any,
) -> Any:  # fmt: skip
    # each sample's channels as groups of their own, of one image
    size = len(apart(input))
    if size != len(input):
        return None
    seen, outputs = (grad, input) if transposed else (input, grad)
    one = (seen.reshape(1, -1, *seen.shape[2:]), outputs.reshape(1, -1, *outputs.shape[2:]))
    answer = kernels.weight_gradient(*one, weight_sizes[2:], stride, padding, dilation, size * groups)
    return answer.reshape(size, *weight_sizes)


@convolution.row.samples("bias")
def _convolution_biases(grad: Any, apart: Any) -> Any:
    parts = apart(grad)
    return parts.sum((1, *range(3, parts.ndim)))


@op(
    node="ConvolutionBackwardBackward0",
    public=False,
    sizes=lambda grad, other, sizes, *settings: tuple(sizes),
    forward="each",
)
def convolution_input(
    grad_output: Any, weight: Any, /, sizes: Any, stride: Any, padding: Any, dilation: Any, transposed: bool,
    output_padding: Any, groups: int,
) -> Any:  # fmt: skip
    """The gradient of ``convolution`` by an input of ``sizes``."""
    if transposed:
        gradient = kernels.convolve(grad_output, weight, None, stride, both_sides(padding), dilation, groups)
        if gradient.shape[2:] == sizes[2:]:
            return gradient
        return gradient[(..., *[slice(n) for n in sizes[2:]])].copy()  # output padding has made room for more windows
    return kernels.input_gradient(grad_output, weight, sizes[2:], stride, padding, dilation, groups)


convolution_input.derivative(
    grad_output=lambda grad, weight, stride, padding, dilation, transposed, output_padding, groups: convolution(
        grad, weight, None, stride, padding, dilation, transposed, output_padding, groups
    ),
    weight=lambda grad, grad_output, weight_sizes, stride, padding, dilation, transposed, output_padding, groups: (
        convolution_weight(
            grad_output, grad, weight_sizes, stride, padding, dilation, transposed, output_padding, groups
        )
    ),
)


@op(
    node="ConvolutionBackwardBackward0",
    public=False,
    sizes=lambda grad, other, sizes, *settings: tuple(sizes),
    forward="each",
)
def convolution_weight(
    grad_output: Any, input: Any, /, sizes: Any, stride: Any, padding: Any, dilation: Any, transposed: bool,
    output_padding: Any, groups: int,
) -> Any:  # fmt: skip
    """The gradient of ``convolution`` by a weight of ``sizes``."""
    seen, outputs = (grad_output, input) if transposed else (input, grad_output)
    return kernels.weight_gradient(seen, outputs, sizes[2:], stride, padding, dilation, groups)


convolution_weight.derivative(
    grad_output=lambda grad, input, stride, padding, dilation, transposed, output_padding, groups: convolution(
        input, grad, None, stride, padding, dilation, transposed, output_padding, groups
    ),
    input=lambda grad, grad_output, input_sizes, stride, padding, dilation, transposed, output_padding, groups: (
        convolution_input(grad_output, grad, input_sizes, stride, padding, dilation, transposed, output_padding, groups)
    ),
)


# -- convolution of (time, batch, channels) ----------------------------------------------------------------------------


def _channels_inside(array: Any) -> Any:
    return array.transpose(1, 2, 0)


@op(public=False, hidden=("self_sizes", "weight_sizes"))
def conv_tbc(self: Any, weight: Any, bias: Any, /, pad: int = 0) -> Any:
    """The convolution of ``self`` (time, batch, c) with ``weight`` (kernel, c, o) along the time, plus ``bias`` (o)."""
    if self.dtype != weight.dtype:
        kinds = f"{scalar_name(self)} and {scalar_name(weight)}"
        raise RuntimeError(f"self and mat2 must have the same dtype, but got {kinds}")
    if self.dtype.kind == "b":
        raise not_implemented("addmm_impl_cpu_", self)
    if bias.dtype != self.dtype:  # PyTorch begins with the bias, copied into the result
        bias = (bias.real if self.dtype.kind != "c" else bias).astype(self.dtype)
    convolved = kernels.convolve(_channels_inside(self), weight.transpose(2, 1, 0), bias, (1,), [(pad, pad)], (1,), 1)
    return convolved.transpose(2, 0, 1).copy()  # whose strides are those of rows, also where a size is one


conv_tbc.derivative(
    self=lambda grad, self_sizes, weight, bias, pad: conv_tbc_input(grad, weight, self_sizes, pad),
    weight=lambda grad, self, weight_sizes, bias, pad: conv_tbc_weight(grad, self, weight_sizes, pad),
    bias=lambda grad: sum_dim(grad, (0, 1)),
)


@op(node="ConvTbcBackwardBackward0", public=False)
def conv_tbc_input(grad_output: Any, weight: Any, /, sizes: Any, pad: int) -> Any:
    """The gradient of ``conv_tbc`` by its input."""
    back = kernels.input_gradient(
        _channels_inside(grad_output), weight.transpose(2, 1, 0), sizes[:1], (1,), (pad,), (1,), 1
    )
    return np.ascontiguousarray(back.transpose(2, 0, 1))


conv_tbc_input.derivative(
    grad_output=lambda grad, weight, pad: _without_bias(grad, weight, pad),
    weight=lambda grad, grad_output, weight_sizes, pad: conv_tbc_weight(grad_output, grad, weight_sizes, pad),
)


@op(node="ConvTbcBackwardBackward0", public=False)
def conv_tbc_weight(grad_output: Any, self: Any, /, sizes: Any, pad: int) -> Any:
    """The gradient of ``conv_tbc`` by its weight."""
    back = kernels.weight_gradient(
        _channels_inside(self), _channels_inside(grad_output), sizes[:1], (1,), (pad,), (1,), 1
    )
    return np.ascontiguousarray(back.transpose(2, 1, 0))


conv_tbc_weight.derivative(
    grad_output=lambda grad, self, pad: _without_bias(self, grad, pad),
    self=lambda grad, grad_output, self_sizes, pad: conv_tbc_input(grad_output, grad, self_sizes, pad),
)


def _without_bias(input: Any, weight: Any, pad: int) -> Any:
    return conv_tbc(input, weight, sum_dim(weight, (0, 1)) * 0, pad)


# -- windows as columns ------------------------------------------------------------------------------------------------


@op(
    node="Im2ColBackward0",
    public=False,
    sizes=lambda self, kernel_size, dilation, padding, stride: (
        *self.shape[:-3],
        self.shape[-3] * math.prod(kernel_size),
        math.prod(kernels.output_sizes(self.shape[-2:], kernel_size, stride, padding, dilation)),
    ),
    hidden=("self_sizes",),
    shows={
        "self_sym_argsize_minus_1": ("self_sizes", lambda sizes: sizes[-1]),
        "self_sym_argsize_minus_2": ("self_sizes", lambda sizes: sizes[-2]),
    },
    serves=(FLOATS + COMPLEX + "?", "im2col_out_cpu"),
    forward="linear",
    batched="fold",
)
def im2col(self: Any, /, kernel_size: Any, dilation: Any, padding: Any, stride: Any) -> Any:
    """The windows of images (n, c, h, w) as columns: (n, c * kernel, windows); without n, too."""
    columns = kernels.unfolded(self if self.ndim == 4 else self[None], kernel_size, stride, padding, dilation)
    return columns if self.ndim == 4 else columns[0]


im2col.derivative(
    self=lambda grad, self_sizes, kernel_size, dilation, padding, stride: col2im(
        grad, _last_two(self_sizes), kernel_size, dilation, padding, stride
    )
)


@op(
    node="Col2ImBackward0",
    public=False,
    sizes=lambda self, output_size, kernel_size, *settings: (
        *self.shape[:-2],
        self.shape[-2] // math.prod(kernel_size),
        *output_size,
    ),
    serves=(FLOATS + COMPLEX + "?", "col2im_out_cpu"),
    forward="linear",
    batched="fold",
)
def col2im(self: Any, /, output_size: Any, kernel_size: Any, dilation: Any, padding: Any, stride: Any) -> Any:
    """Images of ``output_size`` in which every element is the sum of its places in the columns (n, c * kernel, l)."""
    images = kernels.folded(self if self.ndim == 3 else self[None], output_size, kernel_size, stride, padding, dilation)
    return images if self.ndim == 3 else images[0]


col2im.derivative(
    self=lambda grad, kernel_size, dilation, padding, stride: im2col(grad, kernel_size, dilation, padding, stride)
)


def _last_two(sizes: tuple[int, ...]) -> tuple[int, ...]:
    return sizes[-2:]
