"""What convolutions do to batches under ``vmap``: examples are samples of one weight, else groups."""

from __future__ import annotations

from typing import Any

from ...core.row import TABLE
from ..shape.batches import alike, all_alike, fold, unfold
from .rows import conv_tbc, convolution, convolution_input, convolution_weight


def _in_channels(value: Any) -> Any:
    """A batch (B, N, C, ...) with the examples' channels side by side: (N, B * C, ...)."""
    size, n, channels, *rest = value._array.shape
    return value.movedim(0, 1).reshape((n, size * channels, *rest))


def _out_of_channels(value: Any, size: int) -> Any:
    n, channels, *rest = value._array.shape
    return value.reshape((n, size, channels // size if size else 0, *rest)).movedim(1, 0)


@convolution.row.batch
def _convolution(
    size: int, batched: Any, input: Any, weight: Any, bias: Any, stride: Any, padding: Any, dilation: Any,
    transposed: bool, output_padding: Any, groups: int,
) -> Any:  # fmt: skip
    settings = stride, padding, dilation, transposed, output_padding
    if not batched[1]:
        apart = batched[2]
        result = unfold(convolution(fold(input) if batched[0] else input, weight, None if apart else bias, *settings,
                                    groups), size if batched[0] else 1)  # fmt: skip
        if not apart:
            return result
        result = result if batched[0] else result.squeeze(0)
        return (result if batched[0] else all_alike(result, size)) + _by_channel(bias, weight._array.ndim)
    if not batched[0] and groups == 1 and not transposed:  # the outputs of all weights, of one input
        outputs = None if bias is None else alike(size, batched[2:], bias)[0].reshape((-1,))
        return _out_of_channels(convolution(input, fold(weight), outputs, *settings, 1), size)
    input, weight, bias = alike(size, batched, input, weight, bias)
    outputs = None if bias is None else bias.reshape((-1,))
    return _out_of_channels(convolution(_in_channels(input), fold(weight), outputs, *settings, groups * size), size)


def _by_channel(bias: Any, ndim: int) -> Any:
    size, channels = bias._array.shape
    return bias.reshape((size, 1, channels, *(1,) * (ndim - 2)))


@convolution_input.row.batch
def _convolution_input(
    size: int, batched: Any, grad_output: Any, weight: Any, sizes: Any, stride: Any, padding: Any, dilation: Any,
    transposed: bool, output_padding: Any, groups: int,
) -> Any:  # fmt: skip
    settings = stride, padding, dilation, transposed, output_padding
    if not batched[1]:
        whole = (size * sizes[0], *sizes[1:])
        return unfold(convolution_input(fold(grad_output), weight, whole, *settings, groups), size)
    grad_output, weight = alike(size, batched, grad_output, weight)
    whole = (sizes[0], size * sizes[1], *sizes[2:])
    back = convolution_input(_in_channels(grad_output), fold(weight), whole, *settings, groups * size)
    return _out_of_channels(back, size)


@convolution_weight.row.batch
def _convolution_weight(
    size: int, batched: Any, grad_output: Any, input: Any, sizes: Any, stride: Any, padding: Any, dilation: Any,
    transposed: bool, output_padding: Any, groups: int,
) -> Any:  # fmt: skip
    settings = stride, padding, dilation, transposed, output_padding
    if groups == 1 and not all(batched):  # the gradients by all weights, of what they share
        shared = batched.index(False)
        if (shared == 1) != transposed:  # outputs of the batch side by side
            whole = (size * sizes[0], *sizes[1:])
            grads = [_in_channels(x) if is_batch else x for x, is_batch in zip((grad_output, input), batched)]
            return unfold(convolution_weight(grads[0], grads[1], whole, *settings, 1), size)
    grad_output, input = alike(size, batched, grad_output, input)
    whole = (size * sizes[0], *sizes[1:])
    back = convolution_weight(_in_channels(grad_output), _in_channels(input), whole, *settings, groups * size)
    return unfold(back, size)


@conv_tbc.row.composition
def _conv_tbc(self: Any, weight: Any, bias: Any, pad: int) -> Any:
    convolved = convolution(self.permute(1, 2, 0), weight.permute(2, 1, 0), bias, (1,), (pad,), (1,), False, (0,), 1)
    return convolved.permute(2, 0, 1).contiguous()


for _name in ("im2col", "col2im"):
    _row = TABLE[_name]

    @_row.batch
    def _of_one(size: int, batched: Any, self: Any, *settings: Any, _row: Any = _row) -> Any:
        """An example without samples is one."""
        ndim = 4 if _row.name == "im2col" else 3
        return _row.caller(self, *settings) if self._array.ndim == ndim else NotImplemented
