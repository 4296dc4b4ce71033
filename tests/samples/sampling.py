"""Samples of sampling at the points of a grid."""

from __future__ import annotations

from . import sample, t

F = "nn.functional."
GRID = F + "grid_sample"


def grid(*shape):
    """Points of a grid, some of them outside."""
    return t(*shape, low=-1.3, high=1.3)


SAMPLES = [
    sample(GRID, t(2, 3, 5, 4), grid(2, 3, 4, 2), align_corners=False),
    sample(GRID, t(2, 3, 5, 4), grid(2, 3, 4, 2), align_corners=True),
    sample(GRID, t(2, 3, 5, 4), grid(2, 3, 4, 2), "bilinear", "border", False),
    sample(GRID, t(2, 3, 5, 4), grid(2, 3, 4, 2), "bilinear", "reflection", False),
    sample(GRID, t(2, 3, 5, 4), grid(2, 3, 4, 2), "bilinear", "reflection", True),
    sample(GRID, t(2, 3, 5, 4), grid(2, 3, 4, 2), "nearest", "zeros", False),
    sample(GRID, t(2, 3, 5, 4), grid(2, 3, 4, 2), "nearest", "border", True),
    sample(GRID, t(2, 3, 5, 4), grid(2, 3, 4, 2), "bicubic", "zeros", False),
    sample(GRID, t(2, 3, 5, 4), grid(2, 3, 4, 2), "bicubic", "border", True),
    sample(GRID, t(2, 3, 5, 4), grid(2, 3, 4, 2), "bicubic", "reflection", False),
    sample(GRID, t(2, 2, 3, 4, 5), grid(2, 2, 3, 2, 3), align_corners=False),
    sample(GRID, t(2, 2, 3, 4, 5), grid(2, 2, 3, 2, 3), "bilinear", "border", True),
    sample(GRID, t(2, 2, 3, 4, 5), grid(2, 2, 3, 2, 3), "nearest", "reflection", False),
    sample("grid_sampler", t(1, 2, 4, 4), grid(1, 3, 3, 2), 0, 1, True),
    sample("grid_sampler_2d", t(1, 2, 4, 4), grid(1, 3, 3, 2), 0, 0, False),
    sample("grid_sampler_3d", t(1, 2, 3, 3, 3), grid(1, 2, 2, 2, 3), 0, 0, False),
    sample("row.grid_sampled", t(1, 2, 4, 4), grid(1, 3, 3, 2), (1, 0), 2, 0, False),
    sample("row.grid_scattered", t(1, 2, 3, 3), grid(1, 3, 3, 2), (4, 4), (0, 1), 2, 0, False),
    sample("row.grid_slopes", t(1, 2, 3, 3), t(1, 2, 4, 4), grid(1, 3, 3, 2), (0, 0), 2, 0, False),
    sample("affine_grid_generator", t(2, 2, 3), (2, 1, 3, 4), True),
    sample(F + "affine_grid", t(2, 2, 3), (2, 1, 3, 4), align_corners=False),
    sample(F + "affine_grid", t(1, 3, 4), [1, 1, 2, 3, 4], align_corners=True),
]
