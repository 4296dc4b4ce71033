"""Regions of images made one size, as torchvision's compiled library does it, and the way back.

``rois`` are (k, 5): the number of an image, left, top, right, bottom. Results are (k, channels, height, width). The
``ps_`` pools are position-sensitive: each bin has channels of its own, (channels * height * width) in all.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from ..core.tensor import Tensor, wrap

# -- bins that are means of samples: a sample is linear in rows and in columns -----------------------------------------


def roi_align(
    input: Tensor, rois: Tensor, spatial_scale: float, pooled_height: int, pooled_width: int,  # noqa: A002
    sampling_ratio: int, aligned: bool,
) -> Tensor:  # fmt: skip
    """Each bin is the mean of bilinear samples."""
    images, regions = _arrays(input, rois)
    pooled = pooled_height, pooled_width
    out = np.zeros((len(regions), images.shape[1], *pooled), images.dtype)
    for number, window, down, across in _sampled(regions, images.shape, spatial_scale, pooled, sampling_ratio, aligned):
        out[number] = down @ images[window] @ across.T
    return wrap(out)


def roi_align_backward(
    grad: Tensor, rois: Tensor, spatial_scale: float, pooled_height: int, pooled_width: int,
    batch_size: int, channels: int, height: int, width: int, sampling_ratio: int, aligned: bool,
) -> Tensor:  # fmt: skip
    """The gradient of the images, (batch_size, channels, height, width)."""
    shape, pooled, grads = (batch_size, channels, height, width), (pooled_height, pooled_width), grad._array
    out = np.zeros(shape, grads.dtype)
    for number, window, down, across in _sampled(rois._array, shape, spatial_scale, pooled, sampling_ratio, aligned):
        out[window] += down.T @ grads[number] @ across
    return wrap(out)


def ps_roi_align(
    input: Tensor, rois: Tensor, spatial_scale: float, pooled_height: int, pooled_width: int,  # noqa: A002
    sampling_ratio: int,
) -> tuple[Tensor, Tensor]:  # fmt: skip
    """Each bin is the mean of bilinear samples of its own channel; and which channel that is."""
    images, regions = _arrays(input, rois)
    pooled = pooled_height, pooled_width
    channels = _channels_of(images, pooled)
    out = np.zeros((len(regions), *channels.shape), images.dtype)
    for number, window, down, across in _sampled(regions, images.shape, spatial_scale, pooled, sampling_ratio, True):
        out[number] = np.einsum("ih,cijhw,jw->cij", down, images[window][channels], across)
    return wrap(out), wrap(_mapping(channels, len(regions)))


def ps_roi_align_backward(
    grad: Tensor, rois: Tensor, channel_mapping: Tensor, spatial_scale: float, pooled_height: int, pooled_width: int,
    sampling_ratio: int, batch_size: int, channels: int, height: int, width: int,
) -> Tensor:  # fmt: skip
    """The gradient of the images, (batch_size, channels, height, width)."""
    shape, pooled, grads = (batch_size, channels, height, width), (pooled_height, pooled_width), grad._array
    out = np.zeros(shape, grads.dtype)
    for number, window, down, across in _sampled(rois._array, shape, spatial_scale, pooled, sampling_ratio, True):
        share = np.einsum("ih,cij,jw->cijhw", down, grads[number], across)
        out[window] += share.reshape(channels, *share.shape[3:])
    return wrap(out)


def _sampled(
    rois: Any, shape: Sequence[int], scale: float, pooled: tuple[int, int], sampling_ratio: int, aligned: bool
) -> Iterator[tuple[int, Any, Any, Any]]:
    """For each region its number, its window of the images, and the weights of the window's rows and columns."""
    kind = rois.dtype.type
    corners = rois[:, 1:] * kind(scale) - kind(0.5 if aligned else 0)
    for number, (left, top, right, bottom) in enumerate(corners):
        height, width = bottom - top, right - left
        if not aligned:
            height, width = max(height, kind(1)), max(width, kind(1))
        rows, down = _weights(top, height, pooled[0], sampling_ratio, shape[2])
        columns, across = _weights(left, width, pooled[1], sampling_ratio, shape[3])
        yield number, (int(rois[number, 0]), slice(None), rows, columns), down, across


def _weights(start: Any, length: Any, bins: int, sampling_ratio: int, size: int) -> tuple[slice, Any]:
    """Which of ``size`` pixels count along one dimension, and how much in each bin: a mean of samples."""
    kind = type(start)
    step = length / kind(bins)
    samples = sampling_ratio if sampling_ratio > 0 else int(np.ceil(step))
    if samples <= 0:  # a region without an extent
        return slice(0, 0), np.zeros((bins, 0), kind)
    inner = (np.arange(samples) + 0.5).astype(kind) * step / kind(samples)
    places = start + np.arange(bins)[:, None].astype(kind) * step + inner
    inside = (places >= -1) & (places <= size)
    places = np.clip(places, 0, size - 1)
    low = np.where(inside, places, 0).astype(np.int64)
    high = np.minimum(low + 1, size - 1)
    first, last = int(low.min()), int(high.max()) + 1
    weights = np.zeros((bins, last - first), kind)
    share = np.where(inside, places - low, 0)
    bin_of = np.broadcast_to(np.arange(bins)[:, None], places.shape)
    np.add.at(weights, (bin_of, low - first), np.where(inside, 1 - share, 0))
    np.add.at(weights, (bin_of, high - first), share)
    return slice(first, last), weights / kind(samples)


# -- bins of whole pixels ---------------------------------------------------------------------------------------------


def roi_pool(
    input: Tensor, rois: Tensor, spatial_scale: float, pooled_height: int, pooled_width: int,  # noqa: A002
) -> tuple[Tensor, Tensor]:  # fmt: skip
    """Each bin is its largest pixel, nought where it has none; and that pixel's place in its image, or -1."""
    images, regions = _arrays(input, rois)
    out = np.zeros((len(regions), images.shape[1], pooled_height, pooled_width), images.dtype)
    argmax = np.full(out.shape, -1, np.int32)
    lowest, width = np.finfo(images.dtype).min, images.shape[3]
    for number, image, i, j, rows, columns in _bins(regions, spatial_scale, out.shape[2:], images.shape[2:], 1, 0):
        pixels = np.fmax(images[image, :, rows, columns], lowest).reshape(len(images[image]), -1)
        at = pixels.argmax(1)
        best = out[number, :, i, j] = pixels[np.arange(len(at)), at]
        row, column = np.divmod(at, columns.stop - columns.start)
        argmax[number, :, i, j] = np.where(best > lowest, (row + rows.start) * width + column + columns.start, -1)
    return wrap(out), wrap(argmax)


def roi_pool_backward(
    grad: Tensor, rois: Tensor, argmax: Tensor, spatial_scale: float, pooled_height: int, pooled_width: int,
    batch_size: int, channels: int, height: int, width: int,
) -> Tensor:  # fmt: skip
    """The gradient of the images, (batch_size, channels, height, width)."""
    out = np.zeros((batch_size, channels, height * width), grad._array.dtype)
    image = rois._array[:, 0].astype(np.int64)[:, None, None, None]
    channel = np.arange(channels)[:, None, None]
    there = argmax._array >= 0
    places = tuple(np.broadcast_to(index, there.shape)[there] for index in (image, channel, argmax._array))
    np.add.at(out, places, grad._array[there])
    return wrap(out.reshape(batch_size, channels, height, width))


def ps_roi_pool(
    input: Tensor, rois: Tensor, spatial_scale: float, pooled_height: int, pooled_width: int,  # noqa: A002
) -> tuple[Tensor, Tensor]:  # fmt: skip
    """Each bin is the mean of the pixels of its own channel; and which channel that is."""
    images, regions = _arrays(input, rois)
    channels = _channels_of(images, (pooled_height, pooled_width))
    out = np.zeros((len(regions), *channels.shape), images.dtype)
    for number, image, i, j, rows, columns in _bins(regions, spatial_scale, out.shape[2:], images.shape[2:], 0, 1):
        out[number, :, i, j] = images[image, channels[:, i, j], rows, columns].mean((1, 2))
    return wrap(out), wrap(_mapping(channels, len(regions)))


def ps_roi_pool_backward(
    grad: Tensor, rois: Tensor, channel_mapping: Tensor, spatial_scale: float, pooled_height: int, pooled_width: int,
    batch_size: int, channels: int, height: int, width: int,
) -> Tensor:  # fmt: skip
    """The gradient of the images, (batch_size, channels, height, width)."""
    out = np.zeros((batch_size, channels, height, width), grad._array.dtype)
    own = _channels_of(out, (pooled_height, pooled_width))
    for number, image, i, j, rows, columns in _bins(rois._array, spatial_scale, own.shape[1:], out.shape[2:], 0, 1):
        pixels = (rows.stop - rows.start) * (columns.stop - columns.start)
        out[image, own[:, i, j], rows, columns] += grad._array[number, :, i, j, None, None] / pixels
    return wrap(out)


def _bins(
    rois: Any, scale: float, pooled: Sequence[int], size: Sequence[int], closed: int, short: int
) -> Iterator[tuple[int, int, int, int, slice, slice]]:
    """For each bin that has pixels: its region's number, its image, row and column, and the pixels' rows and columns.

    Corners lie on pixels, the last one belongs to the region if it is ``closed``; images count as ``short`` of so many
    rows and columns.
    """
    kind = rois.dtype.type
    scaled = rois[:, 1:] * kind(scale)
    corners = np.where(scaled < 0, np.ceil(scaled - kind(0.5)), np.floor(scaled + kind(0.5))).astype(np.int64)
    for number, (left, top, right, bottom) in enumerate(corners):
        all_rows = _cut(top, bottom - top + closed, pooled[0], size[0] - short, kind)
        all_columns = _cut(left, right - left + closed, pooled[1], size[1] - short, kind)
        for i, rows in enumerate(all_rows):
            for j, columns in enumerate(all_columns):
                if rows.start < rows.stop and columns.start < columns.stop:
                    yield number, int(rois[number, 0]), i, j, rows, columns


def _cut(start: Any, length: Any, bins: int, size: int, kind: Callable[[Any], Any]) -> list[slice]:
    """The pixels of each bin along one dimension; neighbours share those that both touch."""
    step = kind(max(length, 1)) / kind(bins)
    edges = np.arange(bins + 1).astype(step.dtype) * step
    firsts = np.clip(np.floor(edges[:-1]).astype(np.int64) + start, 0, size)
    lasts = np.clip(np.ceil(edges[1:]).astype(np.int64) + start, 0, size)
    return [slice(int(first), int(last)) for first, last in zip(firsts, lasts, strict=True)]


# -- what they share --------------------------------------------------------------------------------------------------


def _arrays(images: Tensor, rois: Tensor) -> tuple[Any, Any]:
    """The arrays of images and regions; RuntimeError for other shapes, or two dtypes."""
    if rois._array.ndim != 2 or rois._array.shape[1] != 5:
        raise RuntimeError(f"Tensor rois should have shape as Tensor[K, 5], got {list(rois._array.shape)}")
    if images._array.dtype != rois._array.dtype:
        raise RuntimeError("Expected tensor for input to have the same type as tensor for rois")
    return images._array, rois._array


def _channels_of(images: Any, pooled: tuple[int, int]) -> Any:
    """The channel of each bin, (channels, height, width)."""
    if images.shape[1] % (pooled[0] * pooled[1]):
        raise RuntimeError("input channels must be a multiple of pooling height * pooling width")
    return np.arange(images.shape[1]).reshape(-1, *pooled)


def _mapping(channels: Any, regions: int) -> Any:
    return np.broadcast_to(channels, (regions, *channels.shape)).astype(np.int32)
