"""Other resolutions: interpolation in one to three dimensions, and elements moved between channels and places."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...core.row import FLOATS, op
from ...ground import dtypes
from ...kernels.columns import not_implemented
from ..index.rows import select
from ..pooling.rows import ends, planes
from ..shape.rows import unsqueeze
from . import kernels as lines
from . import kernels as points


def _axes(sizes: Any, method: str, output_size: Any, align: bool, scales: Any, dtype: Any) -> Any:
    last = ends(sizes, output_size)
    kind = np.dtype(np.float64 if dtype == np.float64 else np.float32)
    if method == "nearest" and len(last) == 2 and sum(output_size) <= 128:
        # PyTorch's kernel for small planes takes twice the size to mean a factor of two, whatever the factor
        scales = [2.0 if m == 2 * n else scale for n, m, scale in zip(last, output_size, scales, strict=True)]
    return tuple(
        [lines.taps(method, n, m, align, scale, kind) for n, m, scale in zip(last, output_size, scales, strict=True)]
    )


_SINGLE = ("linear", "cubic")


def _check(method: str, array: Any, dims: int) -> None:
    """Raise PyTorch's error for dtypes that its kernels do not know."""
    kind = array.dtype
    if kind.kind in "fV" and not (method.endswith(" aa") and kind.itemsize == 2):
        return
    if kind == np.uint8 and (method in ("nearest", "exact") or dims == 2):
        return
    if method in ("nearest", "exact"):
        where = "upsample_nearest2d_channels_last" if dims == 2 else "compute_indices_weights_nearest"
    elif method.endswith(" aa"):
        where = "compute_index_ranges_weights"
    elif method == "linear" and dims == 2:
        where = "upsample_bilinear2d_channels_last"
    else:
        where = f"compute_indices_weights_{method}"
    raise not_implemented(where, array)


@op(
    public=False,
    sizes=lambda self, method, output_size, *others: planes(self.shape, output_size),
    forward="linear",
    batched="first",
)
def resampled(self: Any, /, method: str, output_size: Any, align: bool, scales: Any) -> Any:
    """``self`` at other resolutions of its last dimensions, by a method of ``kernels.py``."""
    _check(method, self, len(output_size))
    return lines.resample(self, _axes(self.shape, method, output_size, align, scales, self.dtype))


resampled.derivative(
    self=lambda grad, self_sizes, method, output_size, align, scales: resampled_back(
        grad, method, self_sizes, output_size, align, scales
    )
)


@op(
    public=False,
    sizes=lambda self, method, sizes, output_size, *others: planes(self.shape, ends(sizes, output_size)),
    forward="linear",
    batched="first",
)
def resampled_back(self: Any, /, method: str, sizes: Any, output_size: Any, align: bool, scales: Any) -> Any:
    """The adjoint of ``resampled``: for each element of ``sizes`` the weighted results that it went into."""
    return lines.spread(self, _axes(sizes, method, output_size, align, scales, self.dtype))


resampled_back.derivative(
    self=lambda grad, method, output_size, align, scales: resampled(grad, method, output_size, align, scales)
)


#: The columns of all that follow.
_UPSAMPLED: Any = {
    "public": False,
    "sizes": lambda self, output_size, *settings: planes(self.shape, output_size),
    "batched": "first",
}


def _made(self: Any, method: str, output_size: Any, align: bool, *scales: Any) -> Any:
    _check(method, self, len(output_size))
    return lines.resample(self, _axes(self.shape, method, output_size, align, scales, self.dtype))


# -- the nearest element -----------------------------------------------------------------------------------------------


@op(node="UpsampleNearest1DBackward0", **_UPSAMPLED, forward="linear")
def upsample_nearest1d(self: Any, /, output_size: Any, scales: Any) -> Any:
    """Each result on a line the element to the left of it."""
    return _made(self, "nearest", output_size, False, scales)


upsample_nearest1d.derivative(
    self=lambda grad, self_sizes, output_size, scales: resampled_back(
        grad, "nearest", self_sizes, output_size, False, (scales,)
    )
)


@op(node="UpsampleNearest2DBackward0", **_UPSAMPLED, layout="channels", forward="linear")
def upsample_nearest2d(self: Any, /, output_size: Any, scales_h: Any, scales_w: Any) -> Any:
    """Each result in a plane the element above and to the left of it."""
    return _made(self, "nearest", output_size, False, scales_h, scales_w)


upsample_nearest2d.derivative(
    self=lambda grad, self_sizes, output_size, scales_h, scales_w: resampled_back(
        grad, "nearest", self_sizes, output_size, False, (scales_h, scales_w)
    )
)


@op(node="UpsampleNearest3DBackward0", **_UPSAMPLED, layout="channels", forward="linear")
def upsample_nearest3d(self: Any, /, output_size: Any, scales_d: Any, scales_h: Any, scales_w: Any) -> Any:
    """Each result in a volume the element before it in every direction."""
    return _made(self, "nearest", output_size, False, scales_d, scales_h, scales_w)


upsample_nearest3d.derivative(
    self=lambda grad, self_sizes, output_size, scales_d, scales_h, scales_w: resampled_back(
        grad, "nearest", self_sizes, output_size, False, (scales_d, scales_h, scales_w)
    )
)


@op(node="UpsampleNearestExact1DBackward0", **_UPSAMPLED)
def upsample_nearest_exact1d(self: Any, /, output_size: Any, scales: Any) -> Any:
    """Each result on a line the element with the nearest centre."""
    return _made(self, "exact", output_size, False, scales)


upsample_nearest_exact1d.derivative(
    self=lambda grad, self_sizes, output_size, scales: resampled_back(
        grad, "exact", self_sizes, output_size, False, (scales,)
    )
)


@op(node="UpsampleNearestExact2DBackward0", **_UPSAMPLED, layout="channels")
def upsample_nearest_exact2d(self: Any, /, output_size: Any, scales_h: Any, scales_w: Any) -> Any:
    """Each result in a plane the element with the nearest centre."""
    return _made(self, "exact", output_size, False, scales_h, scales_w)


upsample_nearest_exact2d.derivative(
    self=lambda grad, self_sizes, output_size, scales_h, scales_w: resampled_back(
        grad, "exact", self_sizes, output_size, False, (scales_h, scales_w)
    )
)


@op(node="UpsampleNearestExact3DBackward0", **_UPSAMPLED, layout="channels")
def upsample_nearest_exact3d(self: Any, /, output_size: Any, scales_d: Any, scales_h: Any, scales_w: Any) -> Any:
    """Each result in a volume the element with the nearest centre."""
    return _made(self, "exact", output_size, False, scales_d, scales_h, scales_w)


upsample_nearest_exact3d.derivative(
    self=lambda grad, self_sizes, output_size, scales_d, scales_h, scales_w: resampled_back(
        grad, "exact", self_sizes, output_size, False, (scales_d, scales_h, scales_w)
    )
)


# -- weighted elements -------------------------------------------------------------------------------------------------


@op(node="UpsampleLinear1DBackward0", **_UPSAMPLED, forward="linear")
def upsample_linear1d(self: Any, /, output_size: Any, align_corners: bool, scales: Any) -> Any:
    """Each result on a line between its two neighbours."""
    return _made(self, "linear", output_size, align_corners, scales)


upsample_linear1d.derivative(
    self=lambda grad, self_sizes, output_size, align_corners, scales: resampled_back(
        grad, "linear", self_sizes, output_size, align_corners, (scales,)
    )
)


@op(node="UpsampleTrilinear3DBackward0", **_UPSAMPLED, layout="channels", forward="linear")
def upsample_trilinear3d(
    self: Any, /, output_size: Any, align_corners: bool, scales_d: Any, scales_h: Any, scales_w: Any
) -> Any:
    """Each result in a volume between its eight neighbours."""
    return _made(self, "linear", output_size, align_corners, scales_d, scales_h, scales_w)


upsample_trilinear3d.derivative(
    self=lambda grad, self_sizes, output_size, align_corners, scales_d, scales_h, scales_w: resampled_back(
        grad, "linear", self_sizes, output_size, align_corners, (scales_d, scales_h, scales_w)
    )
)


def _planes(method: str) -> Any:
    """The rule of interpolation in planes by ``method``."""
    return lambda grad, self_sizes, output_size, align_corners, scales_h, scales_w: resampled_back(
        grad, method, self_sizes, output_size, align_corners, (scales_h, scales_w)
    )


@op(node="UpsampleBilinear2DBackward0", **_UPSAMPLED, layout="channels", forward="linear")
def upsample_bilinear2d(self: Any, /, output_size: Any, align_corners: bool, scales_h: Any, scales_w: Any) -> Any:
    """Each result in a plane between its four neighbours."""
    return _made(self, "linear", output_size, align_corners, scales_h, scales_w)


upsample_bilinear2d.derivative(self=_planes("linear"))


@op(node="UpsampleBicubic2DBackward0", **_UPSAMPLED, layout="channels", forward="linear")
def upsample_bicubic2d(self: Any, /, output_size: Any, align_corners: bool, scales_h: Any, scales_w: Any) -> Any:
    """Each result in a plane on cubics through its sixteen neighbours."""
    return _made(self, "cubic", output_size, align_corners, scales_h, scales_w)


upsample_bicubic2d.derivative(self=_planes("cubic"))


@op(node="UpsampleBilinear2DAaBackward0", **_UPSAMPLED, layout="channels")
def upsample_bilinear2d_aa(self: Any, /, output_size: Any, align_corners: bool, scales_h: Any, scales_w: Any) -> Any:
    """Each result in a plane the average of what it covers, by a triangle as wide as its step."""
    return _made(self, "linear aa", output_size, align_corners, scales_h, scales_w)


upsample_bilinear2d_aa.derivative(self=_planes("linear aa"))


@op(node="UpsampleBicubic2DAaBackward0", **_UPSAMPLED, layout="channels")
def upsample_bicubic2d_aa(self: Any, /, output_size: Any, align_corners: bool, scales_h: Any, scales_w: Any) -> Any:
    """Each result in a plane the average of what it covers, by a cubic as wide as its step."""
    return _made(self, "cubic aa", output_size, align_corners, scales_h, scales_w)


upsample_bicubic2d_aa.derivative(self=_planes("cubic aa"))


@op(node="UpsampleLanczos2DAaBackward0", **_UPSAMPLED, layout="channels")
def upsample_lanczos2d_aa(self: Any, /, output_size: Any, align_corners: bool, scales_h: Any, scales_w: Any) -> Any:
    """Each result in a plane the average of what it covers, by Lanczos' window as wide as its step."""
    return _made(self, "lanczos aa", output_size, align_corners, scales_h, scales_w)


upsample_lanczos2d_aa.derivative(self=_planes("lanczos aa"))


# -- between channels and places ---------------------------------------------------------------------------------------


def _shuffled(self: Any, r: int) -> tuple[int, ...]:
    *lead, channels, height, width = self.shape
    return (*lead, channels // (r * r), height * r, width * r)


@op(public=False, sizes=_shuffled, layout="channels", forward="linear", batched="first")
def pixel_shuffle(self: Any, /, upscale_factor: int) -> Any:
    """Channels laid out as squares of elements: (*, C r r, H, W) as (*, C, H r, W r)."""
    *lead, channels, height, width = self.shape
    r, n = upscale_factor, len(lead)
    parts = self.reshape(*lead, channels // (r * r), r, r, height, width)
    moved = parts.transpose(*range(n + 1), n + 3, n + 1, n + 4, n + 2)
    return np.array(moved, order="C").reshape(_shuffled(self, r))


pixel_shuffle.derivative(self=lambda grad, upscale_factor: pixel_unshuffle(grad, upscale_factor))


def _unshuffled(self: Any, r: int) -> tuple[int, ...]:
    *lead, channels, height, width = self.shape
    return (*lead, channels * r * r, height // r, width // r)


@op(public=False, sizes=_unshuffled, layout="channels", forward="linear", batched="first")
def pixel_unshuffle(self: Any, /, downscale_factor: int) -> Any:
    """Squares of elements gathered into channels: (*, C, H r, W r) as (*, C r r, H, W)."""
    *lead, channels, height, width = self.shape
    r, n = downscale_factor, len(lead)
    parts = self.reshape(*lead, channels, height // r, r, width // r, r)
    moved = parts.transpose(*range(n + 1), n + 2, n + 4, n + 1, n + 3)
    return np.array(moved, order="C").reshape(_unshuffled(self, r))


pixel_unshuffle.derivative(self=lambda grad, downscale_factor: pixel_shuffle(grad, downscale_factor))


def _dealt(self: Any, groups: int) -> Any:
    batch, channels, *rest = self.shape
    if groups <= 0:
        raise RuntimeError(f"Number of groups to divide channels in must be positive. Value of groups:{groups}")
    if channels % groups:
        raise RuntimeError(
            f"Number of channels must be divisible by groups. Got {channels} channels and {groups} groups."
        )
    parts = self.reshape(batch, groups, channels // groups, *rest)
    return np.array(parts.swapaxes(1, 2), order="C").reshape(self.shape)


@op(public=False, layout="channels", forward="linear", batched="fold")
def channel_shuffle(self: Any, /, groups: int) -> Any:
    """Channels dealt out: the first of each group, then the second of each."""
    return _dealt(self, groups)


channel_shuffle.derivative(self=lambda grad, groups: channel_shuffle(grad, grad.shape[1] // groups))


def _no_derivative(grad: Any, groups: Any) -> Any:
    raise RuntimeError("derivative for aten::native_channel_shuffle is not implemented")


@op(node="torch::autograd::NotImplemented", public=False, layout="channels", forward="linear", batched="fold")
def native_channel_shuffle(self: Any, /, groups: int) -> Any:
    """Channels dealt out, by the kernel that has no derivative."""
    return _dealt(self, groups)


native_channel_shuffle.derivative(self=_no_derivative)


# -- Sampling at points of a grid, and grids of affine maps; knows arrays only.
#
# Three rows are each other's derivatives, by the images and by the grid, to every order: ``grid_sampled``,
# ``grid_scattered`` (its adjoint) and ``grid_slopes``.  ``orders`` says how often each dimension of the grid has been
# differentiated already.


#: The columns of the three.
_GRID: Any = {"public": False, "serves": (FLOATS, "grid_sampler"), "halves": "single", "batched": "fold"}


def _sizes_of_sampled(self: Any, grid: Any, *settings: Any) -> tuple[int, ...]:
    return (*self.shape[:2], *grid.shape[1:-1])


@op(**_GRID, sizes=_sizes_of_sampled)
def grid_sampled(self: Any, grid: Any, /, orders: Any, mode: int, padding: int, align: bool) -> Any:
    """Images at the points of a grid, differentiated by its dimensions."""
    return points.sample(self, grid, orders, mode, padding, align)


grid_sampled.derivative(
    self=lambda grad, self, grid, orders, mode, padding, align: grid_scattered(
        grad, grid, tuple(self.shape)[2:], orders, mode, padding, align
    ),
    grid=lambda grad, self, grid, orders, mode, padding, align: grid_slopes(
        grad, self, grid, orders, mode, padding, align
    ),
)


@op(**_GRID, sizes=lambda self, grid, sizes, *others: (*self.shape[:2], *sizes))
def grid_scattered(self: Any, grid: Any, /, sizes: Any, orders: Any, mode: int, padding: int, align: bool) -> Any:
    """Images of ``sizes`` with each value where its point takes it from, weighted and added up."""
    return points.scatter(self, grid, sizes, orders, mode, padding, align)


grid_scattered.derivative(
    self=lambda grad, grid, orders, mode, padding, align: grid_sampled(grad, grid, orders, mode, padding, align),
    grid=lambda grad, self, grid, orders, mode, padding, align: grid_slopes(
        self, grad, grid, orders, mode, padding, align
    ),
)


@op(**_GRID, sizes=lambda values, images, grid, *settings: grid.shape)
def grid_slopes(values: Any, images: Any, grid: Any, /, orders: Any, mode: int, padding: int, align: bool) -> Any:
    """The derivatives, by each dimension of the grid, of ``values`` times samples, summed over channels."""
    return points.slopes(values, images, grid, orders, mode, padding, align)


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
    if input.dtype.char not in FLOATS:
        raise not_implemented(name, input)
    if grid.dtype != input.dtype:
        wanted, got = (dtypes.of(a.dtype).scalar_name for a in (input, grid))
        raise RuntimeError(f"expected scalar type {wanted} but found {got}")
    return grid_sampled.row.kernel(input, grid, (0,) * dims, mode, padding, align)


def _grid_sampler_input_rule(
    grad: Any, input: Any, grid: Any, interpolation_mode: Any, padding_mode: Any, align_corners: Any
) -> Any:
    return grid_scattered(
        grad, grid, tuple(input.shape)[2:], (0,) * (len(input.shape) - 2), interpolation_mode, padding_mode,
        align_corners,
    )  # fmt: skip


def _grid_sampler_grid_rule(
    grad: Any, input: Any, grid: Any, interpolation_mode: Any, padding_mode: Any, align_corners: Any
) -> Any:
    return grid_slopes(
        grad, input, grid, (0,) * (len(input.shape) - 2), interpolation_mode, padding_mode, align_corners
    )


@op(node="GridSampler2DBackward0", public=False, sizes=_sizes_of_sampled, precision="single", batched="fold")
def grid_sampler_2d(input: Any, grid: Any, /, interpolation_mode: int, padding_mode: int, align_corners: bool) -> Any:
    """Images (N, C, H, W) at the points (x, y) of a grid (N, h, w, 2), from -1 to 1."""
    return _sampled("grid_sampler_2d_cpu_kernel_impl", input, grid, interpolation_mode, padding_mode, align_corners, 2)


grid_sampler_2d.derivative(input=_grid_sampler_input_rule, grid=_grid_sampler_grid_rule)


@op(node="GridSampler3DBackward0", public=False, sizes=_sizes_of_sampled, precision="single", batched="fold")
def grid_sampler_3d(input: Any, grid: Any, /, interpolation_mode: int, padding_mode: int, align_corners: bool) -> Any:
    """Volumes (N, C, D, H, W) at the points (x, y, z) of a grid (N, d, h, w, 3), from -1 to 1."""
    return _sampled("grid_sampler3d_cpu", input, grid, interpolation_mode, padding_mode, align_corners, 3)


grid_sampler_3d.derivative(input=_grid_sampler_input_rule, grid=_grid_sampler_grid_rule)


# -- affine maps -------------------------------------------------------------------------------------------------------


@op(
    node="AffineGridGeneratorBackward0",
    public=False,
    halves="single",
    sizes=lambda theta, size, align_corners: (len(theta), *size[2:], theta.shape[1]),
    batched="fold",
)
def affine_grid_generator(theta: Any, /, size: Any, align_corners: bool) -> Any:
    """The points that affine maps (N, d, d + 1) give a regular grid of ``size`` (N, C, *sizes): (N, *sizes, d)."""
    base = points.affine_base(tuple(size[2:]), align_corners, theta.dtype)
    return np.matmul(base, theta.swapaxes(1, 2)).reshape(theta.shape[0], *size[2:], theta.shape[1])


affine_grid_generator.derivative(theta=lambda grad, size, align_corners: affine_grid_back(grad, size, align_corners))


@op(
    public=False,
    halves="single",
    sizes=lambda self, size, align_corners: (len(self), self.shape[-1], self.shape[-1] + 1),
    batched="fold",
)
def affine_grid_back(self: Any, /, size: Any, align_corners: bool) -> Any:
    """The adjoint of ``affine_grid_generator``: gradients of points (N, *sizes, d) as those of maps."""
    base = points.affine_base(tuple(size[2:]), align_corners, self.dtype)
    return np.matmul(self.reshape(len(self), -1, self.shape[-1]).swapaxes(1, 2), base)


affine_grid_back.derivative(self=lambda grad, size, align_corners: affine_grid_generator(grad, size, align_corners))
