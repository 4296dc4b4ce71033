"""Sampling at points of a grid, and grids of affine maps; knows arrays only.

Three rows are each other's derivatives, by the images and by the grid, to every order: ``grid_sampled``,
``grid_scattered`` (its adjoint) and ``grid_slopes``.  ``orders`` says how often each dimension of the grid has been
differentiated already.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ...core.row import op
from ...kernels import sampling as points
from .extreme import not_implemented
from .index import select
from .shape import unsqueeze


def _floats(name: str, *arrays: Any) -> Any:
    """The arrays as floats to compute with: halves as float32."""
    if arrays[0].dtype.kind not in "fV":
        raise not_implemented(name, arrays[0])
    return [a.astype(np.float32) if a.dtype.itemsize == 2 else a for a in arrays]


@op(public=False)
def grid_sampled(self: Any, grid: Any, /, orders: Any, mode: int, padding: int, align: bool) -> Any:
    """Images at the points of a grid, differentiated by its dimensions."""
    images, at = _floats("grid_sampler", self, grid)
    return points.sample(images, at, orders, mode, padding, align).astype(self.dtype, copy=False)


grid_sampled.derivative(
    self=lambda grad, self, grid, orders, mode, padding, align: grid_scattered(
        grad, grid, tuple(self.shape)[2:], orders, mode, padding, align
    ),
    grid=lambda grad, self, grid, orders, mode, padding, align: grid_slopes(
        grad, self, grid, orders, mode, padding, align
    ),
)


@op(public=False)
def grid_scattered(self: Any, grid: Any, /, sizes: Any, orders: Any, mode: int, padding: int, align: bool) -> Any:
    """Images of ``sizes`` with each value where its point takes it from, weighted and added up."""
    values, at = _floats("grid_sampler", self, grid)
    return points.scatter(values, at, sizes, orders, mode, padding, align).astype(self.dtype, copy=False)


grid_scattered.derivative(
    self=lambda grad, grid, orders, mode, padding, align: grid_sampled(grad, grid, orders, mode, padding, align),
    grid=lambda grad, self, grid, orders, mode, padding, align: grid_slopes(
        self, grad, grid, orders, mode, padding, align
    ),
)


@op(public=False)
def grid_slopes(values: Any, images: Any, grid: Any, /, orders: Any, mode: int, padding: int, align: bool) -> Any:
    """The derivatives, by each dimension of the grid, of ``values`` times samples, summed over channels."""
    v, x, at = _floats("grid_sampler", values, images, grid)
    return points.slopes(v, x, at, orders, mode, padding, align).astype(grid.dtype, copy=False)


@grid_slopes.derivative("values", "images", "grid")
def _slopes_rule(
    grad: Any, values: Any, images: Any, grid: Any, orders: Any, mode: Any, padding: Any, align: Any, needs: Any
) -> Any:
    back: list[Any] = [None, None, None]
    sizes = tuple(images.shape)[2:]
    for dim in range(len(orders)):
        more = _once_more(orders, dim)
        share = select(grad, len(orders) + 1, dim)
        wide = unsqueeze(share, 1)
        parts = (
            wide * grid_sampled(images, grid, more, mode, padding, align) if needs[0] else None,
            grid_scattered(wide * values, grid, sizes, more, mode, padding, align) if needs[1] else None,
            unsqueeze(share, len(orders) + 1) * grid_slopes(values, images, grid, more, mode, padding, align)
            if needs[2]
            else None,
        )
        back = [part if had is None else had + part for had, part in zip(back, parts, strict=True)]
    return tuple(back)


def _once_more(orders: Any, dim: int) -> tuple[int, ...]:
    return tuple([order + (index == dim) for index, order in enumerate(orders)])


def _sampled(name: str, input: Any, grid: Any, mode: int, padding: int, align: bool, dims: int) -> Any:
    if grid.dtype != input.dtype:
        kinds = {"float64": "Double", "float32": "Float", "float16": "Half", "bfloat16": "BFloat16"}
        wanted, got = (kinds.get(a.dtype.name, a.dtype.name) for a in (input, grid))
        raise RuntimeError(f"expected scalar type {wanted} but found {got}")
    images, at = _floats(name, input, grid)
    return points.sample(images, at, (0,) * dims, mode, padding, align).astype(input.dtype, copy=False)


def _grid_sampler_input_rule(
    grad: Any, input: Any, grid: Any, interpolation_mode: Any, padding_mode: Any, align_corners: Any
) -> Any:
    return grid_scattered(
        grad,
        grid,
        tuple(input.shape)[2:],
        (0,) * (len(input.shape) - 2),
        interpolation_mode,
        padding_mode,
        align_corners,
    )


def _grid_sampler_grid_rule(
    grad: Any, input: Any, grid: Any, interpolation_mode: Any, padding_mode: Any, align_corners: Any
) -> Any:
    return grid_slopes(
        grad, input, grid, (0,) * (len(input.shape) - 2), interpolation_mode, padding_mode, align_corners
    )


@op(node="GridSampler2DBackward0", public=False, precision="single")
def grid_sampler_2d(input: Any, grid: Any, /, interpolation_mode: int, padding_mode: int, align_corners: bool) -> Any:
    """Images (N, C, H, W) at the points (x, y) of a grid (N, h, w, 2), from -1 to 1."""
    return _sampled("grid_sampler_2d_cpu_kernel_impl", input, grid, interpolation_mode, padding_mode, align_corners, 2)


grid_sampler_2d.derivative(input=_grid_sampler_input_rule, grid=_grid_sampler_grid_rule)


@op(node="GridSampler3DBackward0", public=False, precision="single")
def grid_sampler_3d(input: Any, grid: Any, /, interpolation_mode: int, padding_mode: int, align_corners: bool) -> Any:
    """Volumes (N, C, D, H, W) at the points (x, y, z) of a grid (N, d, h, w, 3), from -1 to 1."""
    return _sampled("grid_sampler3d_cpu", input, grid, interpolation_mode, padding_mode, align_corners, 3)


grid_sampler_3d.derivative(input=_grid_sampler_input_rule, grid=_grid_sampler_grid_rule)


# -- affine maps -------------------------------------------------------------------------------------------------------


@op(node="AffineGridGeneratorBackward0", public=False)
def affine_grid_generator(theta: Any, /, size: Any, align_corners: bool) -> Any:
    """The points that affine maps (N, d, d + 1) give a regular grid of ``size`` (N, C, *sizes): (N, *sizes, d)."""
    base = points.affine_base(tuple(size[2:]), align_corners, np.float32 if theta.dtype.itemsize == 2 else theta.dtype)
    maps = theta.astype(base.dtype, copy=False)
    grid = np.matmul(base, maps.swapaxes(1, 2)).reshape(theta.shape[0], *size[2:], theta.shape[1])
    return grid.astype(theta.dtype, copy=False)


affine_grid_generator.derivative(theta=lambda grad, size, align_corners: affine_grid_back(grad, size, align_corners))


@op(public=False)
def affine_grid_back(self: Any, /, size: Any, align_corners: bool) -> Any:
    """The adjoint of ``affine_grid_generator``: gradients of points (N, *sizes, d) as those of maps."""
    base = points.affine_base(tuple(size[2:]), align_corners, np.float32 if self.dtype.itemsize == 2 else self.dtype)
    flat = self.astype(base.dtype, copy=False).reshape(len(self), -1, self.shape[-1])
    return np.matmul(flat.swapaxes(1, 2), base).astype(self.dtype, copy=False)


affine_grid_back.derivative(self=lambda grad, size, align_corners: affine_grid_generator(grad, size, align_corners))
