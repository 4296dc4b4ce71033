"""What users hand to a SummaryWriter, as NumPy arrays: numbers, tensors, pictures, figures."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...core.tensor import Tensor

Array = np.ndarray[Any, Any]


def as_array(value: Any) -> Array:
    """A number, array or tensor as an array; NotImplementedError for anything else."""
    if isinstance(value, np.ndarray):
        return value
    if np.isscalar(value):
        return np.array([value])
    if isinstance(value, Tensor):
        array = np.asarray(value._array)
        return array.astype(np.float16) if array.dtype.kind == "V" or array.dtype.name == "bfloat16" else array
    raise NotImplementedError(f"Got {type(value)}, but numpy array or torch tensor are expected.")


def grid(pictures: Array, columns: int = 8) -> Array:
    """N pictures of one size, (N, 1 or 3, H, W), as one: row by row, at most ``columns`` in a row."""
    if pictures.shape[1] == 1:
        pictures = np.repeat(pictures, 3, 1)
    if pictures.ndim != 4 or pictures.shape[1] != 3:
        raise AssertionError("Input should be a 4D numpy array with 3 channels")
    count, _, height, width = pictures.shape
    columns = min(count, columns)
    rows = -(-count // columns)
    canvas = np.zeros((3, rows * height, columns * width), pictures.dtype)
    for number, picture in enumerate(pictures):
        top, left = number // columns * height, number % columns * width
        canvas[:, top : top + height, left : left + width] = picture
    return canvas


def rows_columns_channels(array: Array, order: str) -> Array:
    """A picture whose dimensions are named by ``order`` ("CHW", "NHWC", "HW" ...) as (H, W, C)."""
    if len(set(order)) != len(order):
        raise AssertionError(
            f"You can not use the same dimension shorthand twice.             input_format: {order}"
        )
    if array.ndim != len(order):
        raise AssertionError(
            "size of input tensor and input format are different.         "
            f"tensor shape: {array.shape}, input_format: {order}"
        )
    order = order.upper()
    if len(order) == 4:
        return grid(array.transpose([order.find(name) for name in "NCHW"])).transpose(1, 2, 0)
    if len(order) == 3:
        array = array.transpose([order.find(name) for name in "HWC"])
        return np.repeat(array, 3, 2) if array.shape[2] == 1 else array
    array = array.transpose([order.find(name) for name in "HW"])
    return np.stack([array] * 3, 2)


def as_bytes(array: Array) -> Array:
    """The values of a picture from 0 to 255: floating ones are taken to go from 0 to 1."""
    scale = 1 if array.dtype == np.uint8 else 255
    scaled: Array = (array.astype(np.float32) * scale).clip(0, 255).astype(np.uint8)
    return scaled


def figure_picture(figure: Any, close: bool = True) -> Array:
    """A figure of matplotlib as (3, H, W); a list of them as (N, 3, H, W)."""
    if isinstance(figure, list):
        return np.stack([figure_picture(one, close) for one in figure])
    from matplotlib import pyplot
    from matplotlib.backends.backend_agg import FigureCanvasAgg

    canvas = FigureCanvasAgg(figure)
    canvas.draw()  # type: ignore[no-untyped-call]
    width, height = figure.canvas.get_width_height()
    drawn = np.frombuffer(canvas.buffer_rgba(), np.uint8).reshape(height, width, 4)[:, :, :3]
    if close:
        pyplot.close(figure)
    return np.moveaxis(drawn, 2, 0)


def precision_recall(labels: Array, predictions: Array, thresholds: int, weights: Any = None) -> Array:
    """Six rows over thresholds from 0 to 1: true and false positives, true and false negatives, precision, recall."""
    weight = 1.0 if weights is None else weights
    places = np.int32(np.floor(predictions * (thresholds - 1)))
    truth = labels.astype(np.float64)

    def at_least(share: Any) -> Array:
        found, _ = np.histogram(places, thresholds, (0, thresholds - 1), weights=share * weight)
        return np.cumsum(found[::-1])[::-1]

    true, false = at_least(truth), at_least(1.0 - truth)
    missed, refused = true[0] - true, false[0] - false
    precision = true / np.maximum(1e-7, true + false)
    recall = true / np.maximum(1e-7, true + missed)
    return np.stack((true, false, refused, missed, precision, recall))


def histogram_of(values: Array, bins: Any, most: int | None) -> tuple[list[float], list[float]]:
    """The upper limits of the bins that hold anything, and how many values each holds; an empty bin comes first."""
    counts, limits = np.histogram(values, bins)
    if most is not None and len(counts) > most:
        every = len(counts) // most
        rest = len(counts) % every
        if rest:
            counts = np.pad(counts, (0, every - rest))
        counts = counts.reshape(-1, every).sum(-1)
        limits = np.append(limits[:-1:every], limits[-1])[: len(counts) + 1]
    filled = np.flatnonzero(counts)
    first, last = int(filled[0]), int(filled[-1]) + 1
    shown = counts[first - 1 : last] if first > 0 else np.concatenate([[0], counts[:last]])
    return limits[first : last + 1].tolist(), shown.tolist()
