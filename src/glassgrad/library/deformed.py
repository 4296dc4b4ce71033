"""``deform_conv2d`` as torchvision's compiled library does it: a convolution whose pixels each lie at an offset."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from ..core.tensor import Tensor, wrap


class _Setting(NamedTuple):
    """How the window moves, as the operation's schema has it."""

    stride_h: int
    stride_w: int
    pad_h: int
    pad_w: int
    dilation_h: int
    dilation_w: int
    groups: int
    offset_groups: int
    use_mask: bool


class _Corner(NamedTuple):
    """One of the four pixels about each place: where it is, its share of the sample, and the share's slopes."""

    index: Any
    share: Any
    down: Any
    across: Any


def deform_conv2d(
    input: Tensor, weight: Tensor, offset: Tensor, mask: Tensor, bias: Tensor, *setting: Any,  # noqa: A002
) -> Tensor:  # fmt: skip
    """The convolution of images (n, c, h, w), the pixels under the kernel moved by ``offset`` (n, 2 g k, oh, ow)."""
    options = _Setting(*setting)
    images, kernel, moves, scales = input._array, weight._array, offset._array, mask._array
    size = _result_size(images, kernel, moves, scales, options)
    matrices = _matrices(kernel, options)
    out = np.empty((len(images), len(kernel), *size), images.dtype)
    for number, image in enumerate(images):
        pixels = _samples(image, list(_corners(moves[number], image.shape, kernel.shape, size, options)))
        if options.use_mask:
            pixels = pixels * _by_group(scales[number], options, 1)
        out[number] = (matrices @ pixels.reshape(options.groups, matrices.shape[2], -1)).reshape(out.shape[1:])
    out += bias._array[:, None, None]
    return wrap(out)


def deform_conv2d_backward(
    grad: Tensor, input: Tensor, weight: Tensor, offset: Tensor, mask: Tensor, bias: Tensor,  # noqa: A002
    *setting: Any,
) -> tuple[Tensor, ...]:  # fmt: skip
    """The gradients of images, weight, offset, mask and bias."""
    options = _Setting(*setting)
    images, kernel, moves, scales = input._array, weight._array, offset._array, mask._array
    size = _result_size(images, kernel, moves, scales, options)
    matrices = _matrices(kernel, options)
    of_images, of_moves, of_scales = np.zeros_like(images), np.zeros_like(moves), np.zeros_like(scales)
    of_matrices = np.zeros_like(matrices)
    for number, image in enumerate(images):
        corners = list(_corners(moves[number], image.shape, kernel.shape, size, options))
        pixels = _samples(image, corners)
        grads = grad._array[number].reshape(options.groups, -1, size[0] * size[1])
        back = (matrices.transpose(0, 2, 1) @ grads).reshape(pixels.shape)
        masked = pixels
        if options.use_mask:
            scale = _by_group(scales[number], options, 1)
            of_scales[number] = (back * pixels).sum(1).reshape(scales.shape[1:])
            masked, back = pixels * scale, back * scale
        of_matrices += grads @ masked.reshape(options.groups, matrices.shape[2], -1).transpose(0, 2, 1)
        of_moves[number] = _slopes(image, corners, back).reshape(moves.shape[1:])
        _spread(of_images[number], corners, back)
    results = of_images, of_matrices.reshape(kernel.shape), of_moves, of_scales, grad._array.sum((0, 2, 3))
    return tuple(map(wrap, results))


def _result_size(images: Any, kernel: Any, moves: Any, scales: Any, options: _Setting) -> tuple[int, int]:
    """The height and width of results; RuntimeError for operands that do not fit."""
    spans = [
        size + 2 * pad - (dilation * (extent - 1) + 1)
        for size, pad, dilation, extent in zip(
            images.shape[2:], options[2:4], options[4:6], kernel.shape[2:], strict=True
        )
    ]
    height, width = (span // stride + 1 for span, stride in zip(spans, options[:2], strict=True))
    taps = kernel.shape[2] * kernel.shape[3]
    if images.shape[1] != kernel.shape[1] * options.groups:
        raise RuntimeError(
            f"expected input to have {kernel.shape[1] * options.groups} channels, got {images.shape[1]}: weight has "
            f"shape {list(kernel.shape)}, in {options.groups} groups"
        )
    wanted = [("offset", moves, 2)] + [("mask", scales, 1)] * bool(options.use_mask)
    for name, array, each in wanted:
        shape = len(images), each * options.offset_groups * taps, height, width
        if array.shape != shape:
            raise RuntimeError(f"expected {name} of shape {list(shape)}, got {list(array.shape)}")
    return height, width


def _matrices(kernel: Any, options: _Setting) -> Any:
    """The kernel as a matrix for each group."""
    return kernel.reshape(options.groups, len(kernel) // options.groups, -1)


def _by_group(lines: Any, options: _Setting, each: int) -> Any:
    """What is told for each group of offsets, tap and place: (groups, each, taps, places)."""
    split = lines.reshape(options.offset_groups, -1, each, lines.shape[1] * lines.shape[2])
    return split.transpose(0, 2, 1, 3)


def _corners(
    moves: Any, image: tuple[int, ...], kernel: tuple[int, ...], size: tuple[int, int], options: _Setting
) -> Iterator[_Corner]:
    """The pixels about each place at which the kernel reads, as (groups, taps, places)."""
    height, width = image[1:]
    firsts = [np.arange(n) * stride - pad for n, stride, pad in zip(size, options[:2], options[2:4], strict=True)]
    taps = [np.arange(n) * dilation for n, dilation in zip(kernel[2:], options[4:6], strict=True)]
    read = len(taps[0]), len(taps[1]), *size
    rows = np.broadcast_to(taps[0][:, None, None, None] + firsts[0][:, None], read)
    columns = np.broadcast_to(taps[1][:, None, None] + firsts[1], read)
    down, across = _by_group(moves, options, 2).swapaxes(0, 1)  # each (groups, taps, places)
    y = (down + rows.reshape(down.shape[1:])).astype(moves.dtype)
    x = (across + columns.reshape(down.shape[1:])).astype(moves.dtype)
    for row, of_row, row_slope in _neighbours(y, height):
        for column, of_column, column_slope in _neighbours(x, width):
            yield _Corner(row * width + column, of_row * of_column, row_slope * of_column, of_row * column_slope)


def _neighbours(places: Any, size: int) -> Iterator[tuple[Any, Any, Any]]:
    """The pixels before and behind each place along one dimension, with their shares and slopes: nought outside."""
    low = np.floor(places)
    for pixel, share, slope in ((low, 1 - (places - low), -1), (low + 1, places - low, 1)):
        there = (pixel >= 0) & (pixel < size)
        index = np.where(there, pixel, 0).astype(np.int64)
        yield index, np.where(there, share, 0), there * places.dtype.type(slope)


def _samples(image: Any, corners: list[_Corner]) -> Any:
    """What the kernel reads: (groups, channels of each, taps, places)."""
    return _weighted(image, corners, [corner.share for corner in corners])


def _slopes(image: Any, corners: list[_Corner], back: Any) -> Any:
    """The gradient of offsets, (groups, taps, 2, places)."""
    slopes = [
        (_weighted(image, corners, weights) * back).sum(1)
        for weights in ([corner.down for corner in corners], [corner.across for corner in corners])
    ]
    return np.stack(slopes, 2)


def _weighted(image: Any, corners: list[_Corner], weights: list[Any]) -> Any:
    pixels = image.reshape(len(corners[0].index), -1, image.shape[1] * image.shape[2])
    groups: Any = [0] * len(pixels)
    for corner, weight in zip(corners, weights, strict=True):
        for group, channels in enumerate(pixels):
            groups[group] = groups[group] + channels[:, corner.index[group]] * weight[group]
    return np.stack(groups)


def _spread(into: Any, corners: list[_Corner], back: Any) -> None:
    """Add to an image's gradient what comes back for each sample."""
    pixels = into.reshape(len(back), -1, into.shape[1] * into.shape[2])
    for corner in corners:
        for group, channels in enumerate(pixels):
            share = back[group] * corner.share[group]
            places: Any = slice(None), corner.index[group].ravel()
            np.add.at(channels, places, share.reshape(len(channels), -1))
