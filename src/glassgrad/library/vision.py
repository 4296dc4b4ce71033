"""The operations that torchvision has in its compiled library: boxes that overlap, and regions of images made one size.

``torch.ops.load_library`` takes these for that file.  Their derivatives torchvision registers itself, by the operations
``_..._backward``.  What has no kernel here can be named and says so when it is called.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from ..core.tensor import Tensor, wrap
from .define import Library

_POOLED = "float spatial_scale, int pooled_height, int pooled_width"
_SIZES = "int batch_size, int channels, int height, int width"
_DEFORMED = (
    "Tensor input, Tensor weight, Tensor offset, Tensor mask, Tensor bias, int stride_h, int stride_w, int pad_h, "
    "int pad_w, int dilation_h, int dilation_w, int groups, int offset_groups, bool use_mask"
)
SCHEMAS = (
    "_cuda_version() -> int",
    "nms(Tensor dets, Tensor scores, float iou_threshold) -> Tensor",
    "qnms(Tensor dets, Tensor scores, float iou_threshold) -> Tensor",
    "box_iou_rotated(Tensor boxes1, Tensor boxes2) -> Tensor",
    f"roi_align(Tensor input, Tensor rois, {_POOLED}, int sampling_ratio, bool aligned) -> Tensor",
    f"_roi_align_backward(Tensor grad, Tensor rois, {_POOLED}, {_SIZES}, int sampling_ratio, bool aligned) -> Tensor",
    "qroi_align(Tensor input, Tensor rois, float input_scale, int input_zero_point, float rois_scale, "
    f"int rois_zero_point, {_POOLED}, int sampling_ratio, bool aligned) -> Tensor",
    f"roi_pool(Tensor input, Tensor rois, {_POOLED}) -> (Tensor, Tensor)",
    f"_roi_pool_backward(Tensor grad, Tensor rois, Tensor argmax, {_POOLED}, {_SIZES}) -> Tensor",
    f"ps_roi_align(Tensor input, Tensor rois, {_POOLED}, int sampling_ratio) -> (Tensor, Tensor)",
    f"_ps_roi_align_backward(Tensor grad, Tensor rois, Tensor channel_mapping, {_POOLED}, int sampling_ratio, "
    f"{_SIZES}) -> Tensor",
    f"ps_roi_pool(Tensor input, Tensor rois, {_POOLED}) -> (Tensor, Tensor)",
    f"_ps_roi_pool_backward(Tensor grad, Tensor rois, Tensor channel_mapping, {_POOLED}, {_SIZES}) -> Tensor",
    f"deform_conv2d({_DEFORMED}) -> Tensor",
    f"_deform_conv2d_backward(Tensor grad, {_DEFORMED}) -> (Tensor, Tensor, Tensor, Tensor, Tensor)",
)


def nms(dets: Tensor, scores: Tensor, iou_threshold: float) -> Tensor:
    """The indices of boxes (n, 4) that no better one overlaps by more than a threshold, the best first.

    RuntimeError for boxes and scores of other shapes or of two dtypes.
    """
    boxes, ranks = dets._array, scores._array
    _check_boxes(boxes, ranks)
    left, top, right, bottom = boxes.T
    areas = (right - left) * (bottom - top)
    rest = np.argsort(-ranks, kind="stable")
    kept = []
    while rest.size:
        best, rest = rest[0], rest[1:]
        kept.append(best)
        width = np.minimum(right[best], right[rest]) - np.maximum(left[best], left[rest])
        height = np.minimum(bottom[best], bottom[rest]) - np.maximum(top[best], top[rest])
        shared = np.maximum(width, 0) * np.maximum(height, 0)
        with np.errstate(invalid="ignore", divide="ignore"):  # boxes without an area overlap nothing
            rest = rest[~(shared / (areas[best] + areas[rest] - shared) > iou_threshold)]
    return wrap(np.array(kept, np.int64))


def _check_boxes(boxes: Any, scores: Any) -> None:
    if boxes.ndim != 2:
        raise RuntimeError(f"boxes should be a 2d tensor, got {boxes.ndim}D")
    if boxes.shape[1] != 4:
        raise RuntimeError(f"boxes should have 4 elements in dimension 1, got {boxes.shape[1]}")
    if scores.ndim != 1:
        raise RuntimeError(f"scores should be a 1d tensor, got {scores.ndim}D")
    if len(boxes) != len(scores):
        raise RuntimeError(
            "boxes and scores should have same number of elements in dimension 0, got "
            f"{len(boxes)} and {len(scores)}"
        )  # fmt: skip
    if boxes.dtype != scores.dtype:
        raise RuntimeError("dets should have the same type as scores")


# -- regions of interest: each bin is the mean of samples, and a sample is linear in rows and in columns --------------


def roi_align(
    input: Tensor, rois: Tensor, spatial_scale: float, pooled_height: int, pooled_width: int,  # noqa: A002
    sampling_ratio: int, aligned: bool,
) -> Tensor:  # fmt: skip
    """Regions ``rois`` (k, 5: image, left, top, right, bottom) of images (n, c, h, w), as (k, c, height, width)."""
    images, regions = input._array, rois._array
    if images.dtype != regions.dtype:
        raise RuntimeError("Expected tensor for input to have the same type as tensor for rois")
    out = np.zeros((len(regions), images.shape[1], pooled_height, pooled_width), images.dtype)
    pooled = pooled_height, pooled_width
    for number, window, down, across in _regions(regions, images.shape, spatial_scale, pooled, sampling_ratio, aligned):
        out[number] = down @ images[window] @ across.T
    return wrap(out)


def roi_align_backward(
    grad: Tensor, rois: Tensor, spatial_scale: float, pooled_height: int, pooled_width: int,
    batch_size: int, channels: int, height: int, width: int, sampling_ratio: int, aligned: bool,
) -> Tensor:  # fmt: skip
    """The gradient of the images, (batch_size, channels, height, width)."""
    shape, pooled, grads = (batch_size, channels, height, width), (pooled_height, pooled_width), grad._array
    out = np.zeros(shape, grads.dtype)
    for number, window, down, across in _regions(rois._array, shape, spatial_scale, pooled, sampling_ratio, aligned):
        out[window] += down.T @ grads[number] @ across
    return wrap(out)


def _regions(
    rois: Any, shape: tuple[int, ...], scale: float, pooled: tuple[int, int], sampling_ratio: int, aligned: bool
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


_KERNELS: dict[str, Callable[..., Any]] = {
    "_cuda_version": lambda: -1,  # none
    "nms": nms,
    "roi_align": roi_align,
    "_roi_align_backward": roi_align_backward,
}


def define() -> Library:
    """Define the operations, in ``torch.ops.torchvision``."""
    library = Library("torchvision", "DEF")
    for schema in SCHEMAS:
        library.define(schema)
    for name, kernel in _KERNELS.items():
        library.impl(name, kernel, "CPU")
    return library
