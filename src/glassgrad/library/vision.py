"""The operations that torchvision has in its compiled library: boxes here, and those of other files.

``torch.ops.load_library`` takes these for that file. Their derivatives torchvision registers itself, by the operations
``_..._backward``. What has no kernel here (quantized tensors) can be named and says so when it is called.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..core.tensor import Tensor, wrap
from . import deformed, regions
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


# -- boxes that lie askew: centre, width, height, and degrees ----------------------------------------------------------


def box_iou_rotated(boxes1: Tensor, boxes2: Tensor) -> Tensor:
    """What each box of (n, 5) shares with each of (m, 5): their common area over that of both."""
    first, second = boxes1._array.astype(np.float64)[:, None], boxes2._array.astype(np.float64)[None]
    areas = first[..., 2] * first[..., 3], second[..., 2] * second[..., 3]
    common = _common_area(*np.broadcast_arrays(_corners(first), _corners(second)))
    small = np.minimum(*areas) < 1e-14
    shared = np.where(small, 0, common / np.where(small, 1, areas[0] + areas[1] - common))
    return wrap(shared.astype(boxes1._array.dtype))


def _corners(boxes: Any) -> Any:
    """The corners of boxes (..., 5), in their order: (..., 4, 2)."""
    angle = np.deg2rad(boxes[..., 4])
    half_width = np.stack([np.cos(angle), -np.sin(angle)], -1) * boxes[..., 2:3] / 2
    half_height = np.stack([np.sin(angle), np.cos(angle)], -1) * boxes[..., 3:4] / 2
    sides = half_width + half_height, half_height - half_width, -half_width - half_height, half_width - half_height
    return boxes[..., None, :2] + np.stack(sides, -2)


def _common_area(first: Any, second: Any) -> Any:
    """The area that convex quadrangles (..., 4, 2) have in common: of the hull of corners inside and of crossings."""
    sides = [np.roll(corners, -1, -2) - corners for corners in (first, second)]
    one, other = sides[0][..., :, None, :], sides[1][..., None, :, :]
    turn, start = _cross(one, other), first[..., :, None, :]
    gap = second[..., None, :, :] - start
    turn_or_one = np.where(turn == 0, 1, turn)
    along, along_other = _cross(gap, other) / turn_or_one, _cross(gap, one) / turn_or_one
    crossing = (turn != 0) & (along >= 0) & (along <= 1) & (along_other >= 0) & (along_other <= 1)
    crossings = start + along[..., None] * one
    points = np.concatenate([first, second, crossings.reshape(*crossings.shape[:-3], 16, 2)], -2)
    inside = _is_inside(first, second, sides[1]), _is_inside(second, first, sides[0])
    count = np.concatenate([*inside, crossing.reshape(*points.shape[:-2], 16)], -1)
    total = count.sum(-1)[..., None, None]
    centre = np.where(count[..., None], points, 0).sum(-2, keepdims=True) / np.maximum(total, 1)
    around = np.where(count[..., None], points - centre, 0)  # what does not count lies in the middle
    order = np.where(count, np.arctan2(around[..., 1], around[..., 0]), 4).argsort(-1)
    hull = np.take_along_axis(around, order[..., None], -2)
    last = np.take_along_axis(hull, np.maximum(total - 1, 0), -2)
    before = np.concatenate([last, hull[..., :-1, :]], -2)
    return np.abs(_cross(before, hull).sum(-1)) / 2


def _is_inside(points: Any, corners: Any, sides: Any) -> Any:
    """Whether each of the points lies on one side of all sides of a box."""
    turns = _cross(sides[..., None, :, :], points[..., :, None, :] - corners[..., None, :, :])
    slack = 1e-12 * (1 + np.abs(turns).max((-1, -2), keepdims=True))
    return (turns >= -slack).all(-1) | (turns <= slack).all(-1)


def _cross(a: Any, b: Any) -> Any:
    return a[..., 0] * b[..., 1] - a[..., 1] * b[..., 0]


_KERNELS: dict[str, Callable[..., Any]] = {
    "_cuda_version": lambda: -1,  # none
    "nms": nms,
    "box_iou_rotated": box_iou_rotated,
    "roi_align": regions.roi_align,
    "_roi_align_backward": regions.roi_align_backward,
    "roi_pool": regions.roi_pool,
    "_roi_pool_backward": regions.roi_pool_backward,
    "ps_roi_align": regions.ps_roi_align,
    "_ps_roi_align_backward": regions.ps_roi_align_backward,
    "ps_roi_pool": regions.ps_roi_pool,
    "_ps_roi_pool_backward": regions.ps_roi_pool_backward,
    "deform_conv2d": deformed.deform_conv2d,
    "_deform_conv2d_backward": deformed.deform_conv2d_backward,
}


def define() -> Library:
    """Define the operations, in ``torch.ops.torchvision``."""
    library = Library("torchvision", "DEF")
    for schema in SCHEMAS:
        library.define(schema)
    for name, kernel in _KERNELS.items():
        library.impl(name, kernel, "CPU")
    return library
