"""Sampling an image at points between its elements, with derivatives of every order; knows NumPy only.

A sample is a sum over *taps*, the elements near its point, of weights that are products of one function for each
axis.  Where the point moves only the weights change, so that a derivative by the point is the same sum with other
functions: ``orders`` says how often each axis' function is differentiated.
"""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np

from .resample import cubic

BILINEAR, NEAREST, BICUBIC = 0, 1, 2
ZEROS, BORDER, REFLECTION = 0, 1, 2
_CUBIC = -0.75


def _bounded(at: Any, size: int, padding: int, align: bool) -> tuple[Any, Any]:
    """Coordinates brought back into an axis, and how fast they move: 1, -1, or 0 where they were cut off."""
    kind = at.dtype.type
    speed = np.ones_like(at)
    if padding == REFLECTION:
        low, high = (0, 2 * (size - 1)) if align else (-1, 2 * size - 1)
        if low == high:
            return np.zeros_like(at), np.zeros_like(at)
        least, span = kind(low / 2), kind((high - low) / 2)
        off = at - least
        speed = np.where(off < 0, kind(-1), kind(1))
        off = np.abs(off)
        extra, odd = np.fmod(off, span), np.floor(off / span) % 2 == 1
        at = np.where(odd, span - extra + least, extra + least)
        speed = np.where(odd, -speed, speed)
    inside = (at > 0) & (at < size - 1)
    return np.clip(at, kind(0), kind(size - 1)), np.where(inside, speed, kind(0))


class Axis:
    """Where the points lie along one axis: the taps' places, whether those are there, and their weights."""

    def __init__(self, coordinates: Any, size: int, mode: int, padding: int, align: bool) -> None:
        kind = coordinates.dtype.type
        scale = kind((size - 1) / 2) if align else kind(size / 2)
        at = (coordinates + kind(1)) * scale
        if not align:
            at -= kind(0.5)
        self.mode, self.speed = mode, np.full_like(at, scale)
        if mode != BICUBIC and padding != ZEROS:
            at, moving = _bounded(at, size, padding, align)
            self.speed = self.speed * moving
        first = np.rint(at) if mode == NEAREST else np.floor(at)
        self.part = at - first  # of a point that is no number, or infinitely far, no number
        offsets = {NEAREST: np.arange(1), BILINEAR: np.arange(2), BICUBIC: np.arange(-1, 3)}[mode]
        first = np.clip(np.nan_to_num(first, nan=-10.0), -10, size + 10)
        places = first.astype(np.int64) + offsets[:, None]
        if mode == BICUBIC and padding != ZEROS:
            places = _bounded(places.astype(kind), size, padding, align)[0].astype(np.int64)
        self.there = (places >= 0) & (places < size)
        self.places = np.clip(places, 0, max(size - 1, 0))

    def weights(self, order: int) -> Any:
        """The taps' weights, differentiated ``order`` times by the coordinate."""
        x, kind = self.part, self.part.dtype.type
        if self.mode == NEAREST:
            return np.ones_like(x)[None] if order == 0 else np.zeros_like(x)[None]
        if self.mode == BILINEAR:
            if order == 0:
                return np.stack([kind(1) - x, x])
            return np.stack([-self.speed, self.speed]) if order == 1 else np.zeros((2, *x.shape), x.dtype)
        if order == 0:
            return cubic(x, kind)
        return np.stack(self._cubic(order)) * self.speed**order

    def _cubic(self, order: int) -> list[Any]:
        x = self.part
        found = []
        for place, (distance, sign) in enumerate(((x + 1, 1), (x, 1), (1 - x, -1), (2 - x, -1))):
            terms = (_CUBIC + 2, -(_CUBIC + 3), 0, 1) if place in (1, 2) else (
                _CUBIC, -5 * _CUBIC, 8 * _CUBIC, -4 * _CUBIC
            )  # fmt: skip
            line = np.polyder(np.poly1d(terms), order)
            found.append((sign**order * line(distance)).astype(x.dtype))
        return found


class Points:
    """The points of a grid (samples, *points, dimensions) on images with ``sizes``; the grid's x is the last axis."""

    def __init__(self, grid: Any, sizes: tuple[int, ...], mode: int, padding: int, align: bool) -> None:
        self.samples, self.dims, self.sizes = len(grid), len(sizes), sizes
        flat = grid.reshape(-1, self.dims)
        self.axes = [
            Axis(np.ascontiguousarray(flat[:, self.dims - 1 - place]), n, mode, padding, align)
            for place, n in enumerate(sizes)
        ]
        self.area = int(np.prod(sizes))
        points = len(flat) // max(self.samples, 1)
        self.base = np.repeat(np.arange(self.samples) * self.area, points)

    def taps(self) -> Any:
        """For each tap its number along each axis and its row in the images, one below the last where nothing is."""
        for numbers in product(*[range(len(axis.places)) for axis in self.axes]):
            row: Any = 0
            there: Any = True
            for axis, number, n in zip(self.axes, numbers, self.sizes, strict=True):
                row = row * n + axis.places[number]
                there = there & axis.there[number]
            yield numbers, np.where(there, self.base + row, self.samples * self.area)

    def weights(self, orders: tuple[int, ...]) -> list[Any]:
        """The weights of each axis; ``orders`` follow the grid's dimensions."""
        return [axis.weights(order) for axis, order in zip(self.axes, reversed(orders), strict=True)]


def rows_of(images: Any, dims: int) -> Any:
    """Images as rows, one for each place, with all channels; a last row of zeros is what lies outside."""
    channels = images.shape[1]
    out = np.zeros((len(images) * int(np.prod(images.shape[2:])) + 1, channels), images.dtype)
    out[:-1].reshape(images.shape[0], *images.shape[2:], channels)[...] = np.moveaxis(images, 1, -1)
    return out


def _weight(weights: list[Any], numbers: tuple[int, ...]) -> Any:
    found = weights[0][numbers[0]]
    for line, number in zip(weights[1:], numbers[1:], strict=True):
        found = found * line[number]
    return found


def sample(images: Any, grid: Any, orders: tuple[int, ...], mode: int, padding: int, align: bool) -> Any:
    """The images (N, C, *sizes) at the points of the grid (N, *points, dims): (N, C, *points)."""
    points = Points(grid, images.shape[2:], mode, padding, align)
    rows, weights = rows_of(images, points.dims), points.weights(orders)
    out = np.zeros((len(points.base), images.shape[1]), images.dtype)
    for numbers, row in points.taps():
        out += rows.take(row, 0) * _weight(weights, numbers)[:, None]
    made = out.reshape(*grid.shape[:-1], images.shape[1])
    return np.ascontiguousarray(np.moveaxis(made, -1, 1))


def scatter(
    values: Any, grid: Any, sizes: tuple[int, ...], orders: tuple[int, ...], mode: int, padding: int, align: bool
) -> Any:
    """The adjoint of ``sample``: images (N, C, *sizes) where each value lies at its taps, weighted and added up."""
    points = Points(grid, sizes, mode, padding, align)
    channels = values.shape[1]
    lines, weights = np.moveaxis(values, 1, -1).reshape(-1, channels), points.weights(orders)
    total = np.zeros((points.samples * points.area + 1) * channels, values.dtype)
    number = np.arange(channels)
    for numbers, row in points.taps():
        share = lines * _weight(weights, numbers)[:, None]
        np.add.at(total, (row[:, None] * channels + number).ravel(), share.ravel())
    made = total[: len(total) - channels].reshape(points.samples, *sizes, channels)
    return np.ascontiguousarray(np.moveaxis(made, -1, 1))


def slopes(
    values: Any, images: Any, grid: Any, orders: tuple[int, ...], mode: int, padding: int, align: bool
) -> Any:
    """For each point and dimension of the grid the derivative of the sum of ``values`` times samples."""
    points = Points(grid, images.shape[2:], mode, padding, align)
    rows, lines = rows_of(images, points.dims), np.moveaxis(values, 1, -1).reshape(-1, images.shape[1])
    moved = [
        points.weights(tuple([order + (place == dim) for place, order in enumerate(orders)]))
        for dim in range(points.dims)
    ]
    out = np.zeros((points.dims, len(points.base)), grid.dtype)
    for numbers, row in points.taps():
        met = np.einsum("pc,pc->p", rows.take(row, 0), lines)
        for dim, weights in enumerate(moved):
            out[dim] += met * _weight(weights, numbers)
    return np.ascontiguousarray(out.T).reshape(grid.shape)


def affine_base(sizes: tuple[int, ...], align: bool, dtype: Any) -> Any:
    """The points (x, y, ..., 1) of a regular grid over [-1, 1], row by row."""
    lines = []
    for n in sizes:
        number = np.arange(n)
        step = 2 / (n - 1) if n > 1 else 0.0
        line = np.where(number < n / 2, -1 + step * number, 1 - step * (n - 1 - number)) if n > 1 else np.zeros(n)
        lines.append(line if align else line * (n - 1) / n)
    planes = np.meshgrid(*lines, indexing="ij")
    return np.stack([*[plane.ravel() for plane in reversed(planes)], np.ones(planes[0].size)], 1).astype(dtype)
