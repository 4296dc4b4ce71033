"""Other resolutions: interpolation in one to three dimensions, and elements moved between channels and places."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...core.row import op
from ...kernels import resample as lines
from .extreme import not_implemented


def _axes(sizes: Any, method: str, output_size: Any, align: bool, scales: Any, dtype: Any) -> Any:
    last = sizes[len(sizes) - len(output_size) :]
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
        where = f"upsample_nearest{dims}d" + ("_channels_last" if dims == 2 else "")
    elif method.endswith(" aa"):
        where = "compute_index_ranges_weights"
    elif method == "linear" and dims == 2:
        where = "upsample_bilinear2d_channels_last"
    else:
        where = f"compute_indices_weights_{method}"
    raise not_implemented(where, array)


@op(public=False)
def resampled(self: Any, /, method: str, output_size: Any, align: bool, scales: Any) -> Any:
    """``self`` at other resolutions of its last dimensions, by a method of ``kernels/resample.py``."""
    _check(method, self, len(output_size))
    return lines.resample(self, _axes(self.shape, method, output_size, align, scales, self.dtype))


resampled.derivative(
    self=lambda grad, self_sizes, method, output_size, align, scales: resampled_back(
        grad, method, self_sizes, output_size, align, scales
    )
)


@op(public=False)
def resampled_back(self: Any, /, method: str, sizes: Any, output_size: Any, align: bool, scales: Any) -> Any:
    """The adjoint of ``resampled``: for each element of ``sizes`` the weighted results that it went into."""
    return lines.spread(self, _axes(sizes, method, output_size, align, scales, self.dtype))


resampled_back.derivative(
    self=lambda grad, method, output_size, align, scales: resampled(grad, method, output_size, align, scales)
)


def _made(self: Any, method: str, output_size: Any, align: bool, *scales: Any) -> Any:
    _check(method, self, len(output_size))
    return lines.resample(self, _axes(self.shape, method, output_size, align, scales, self.dtype))


# -- the nearest element -----------------------------------------------------------------------------------------------


@op(node="UpsampleNearest1DBackward0", public=False)
def upsample_nearest1d(self: Any, /, output_size: Any, scales: Any) -> Any:
    """Each result on a line the element to the left of it."""
    return _made(self, "nearest", output_size, False, scales)


upsample_nearest1d.derivative(
    self=lambda grad, self_sizes, output_size, scales: resampled_back(
        grad, "nearest", self_sizes, output_size, False, (scales,)
    )
)


@op(node="UpsampleNearest2DBackward0", public=False)
def upsample_nearest2d(self: Any, /, output_size: Any, scales_h: Any, scales_w: Any) -> Any:
    """Each result in a plane the element above and to the left of it."""
    return _made(self, "nearest", output_size, False, scales_h, scales_w)


upsample_nearest2d.derivative(
    self=lambda grad, self_sizes, output_size, scales_h, scales_w: resampled_back(
        grad, "nearest", self_sizes, output_size, False, (scales_h, scales_w)
    )
)


@op(node="UpsampleNearest3DBackward0", public=False)
def upsample_nearest3d(self: Any, /, output_size: Any, scales_d: Any, scales_h: Any, scales_w: Any) -> Any:
    """Each result in a volume the element before it in every direction."""
    return _made(self, "nearest", output_size, False, scales_d, scales_h, scales_w)


upsample_nearest3d.derivative(
    self=lambda grad, self_sizes, output_size, scales_d, scales_h, scales_w: resampled_back(
        grad, "nearest", self_sizes, output_size, False, (scales_d, scales_h, scales_w)
    )
)


@op(node="UpsampleNearestExact1DBackward0", public=False)
def upsample_nearest_exact1d(self: Any, /, output_size: Any, scales: Any) -> Any:
    """Each result on a line the element with the nearest centre."""
    return _made(self, "exact", output_size, False, scales)


upsample_nearest_exact1d.derivative(
    self=lambda grad, self_sizes, output_size, scales: resampled_back(
        grad, "exact", self_sizes, output_size, False, (scales,)
    )
)


@op(node="UpsampleNearestExact2DBackward0", public=False)
def upsample_nearest_exact2d(self: Any, /, output_size: Any, scales_h: Any, scales_w: Any) -> Any:
    """Each result in a plane the element with the nearest centre."""
    return _made(self, "exact", output_size, False, scales_h, scales_w)


upsample_nearest_exact2d.derivative(
    self=lambda grad, self_sizes, output_size, scales_h, scales_w: resampled_back(
        grad, "exact", self_sizes, output_size, False, (scales_h, scales_w)
    )
)


@op(node="UpsampleNearestExact3DBackward0", public=False)
def upsample_nearest_exact3d(self: Any, /, output_size: Any, scales_d: Any, scales_h: Any, scales_w: Any) -> Any:
    """Each result in a volume the element with the nearest centre."""
    return _made(self, "exact", output_size, False, scales_d, scales_h, scales_w)


upsample_nearest_exact3d.derivative(
    self=lambda grad, self_sizes, output_size, scales_d, scales_h, scales_w: resampled_back(
        grad, "exact", self_sizes, output_size, False, (scales_d, scales_h, scales_w)
    )
)


# -- weighted elements -------------------------------------------------------------------------------------------------


@op(node="UpsampleLinear1DBackward0", public=False)
def upsample_linear1d(self: Any, /, output_size: Any, align_corners: bool, scales: Any) -> Any:
    """Each result on a line between its two neighbours."""
    return _made(self, "linear", output_size, align_corners, scales)


upsample_linear1d.derivative(
    self=lambda grad, self_sizes, output_size, align_corners, scales: resampled_back(
        grad, "linear", self_sizes, output_size, align_corners, (scales,)
    )
)


@op(node="UpsampleTrilinear3DBackward0", public=False)
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


@op(node="UpsampleBilinear2DBackward0", public=False)
def upsample_bilinear2d(self: Any, /, output_size: Any, align_corners: bool, scales_h: Any, scales_w: Any) -> Any:
    """Each result in a plane between its four neighbours."""
    return _made(self, "linear", output_size, align_corners, scales_h, scales_w)


upsample_bilinear2d.derivative(self=_planes("linear"))


@op(node="UpsampleBicubic2DBackward0", public=False)
def upsample_bicubic2d(self: Any, /, output_size: Any, align_corners: bool, scales_h: Any, scales_w: Any) -> Any:
    """Each result in a plane on cubics through its sixteen neighbours."""
    return _made(self, "cubic", output_size, align_corners, scales_h, scales_w)


upsample_bicubic2d.derivative(self=_planes("cubic"))


@op(node="UpsampleBilinear2DAaBackward0", public=False)
def upsample_bilinear2d_aa(self: Any, /, output_size: Any, align_corners: bool, scales_h: Any, scales_w: Any) -> Any:
    """Each result in a plane the average of what it covers, by a triangle as wide as its step."""
    return _made(self, "linear aa", output_size, align_corners, scales_h, scales_w)


upsample_bilinear2d_aa.derivative(self=_planes("linear aa"))


@op(node="UpsampleBicubic2DAaBackward0", public=False)
def upsample_bicubic2d_aa(self: Any, /, output_size: Any, align_corners: bool, scales_h: Any, scales_w: Any) -> Any:
    """Each result in a plane the average of what it covers, by a cubic as wide as its step."""
    return _made(self, "cubic aa", output_size, align_corners, scales_h, scales_w)


upsample_bicubic2d_aa.derivative(self=_planes("cubic aa"))


@op(node="UpsampleLanczos2DAaBackward0", public=False)
def upsample_lanczos2d_aa(self: Any, /, output_size: Any, align_corners: bool, scales_h: Any, scales_w: Any) -> Any:
    """Each result in a plane the average of what it covers, by Lanczos' window as wide as its step."""
    return _made(self, "lanczos aa", output_size, align_corners, scales_h, scales_w)


upsample_lanczos2d_aa.derivative(self=_planes("lanczos aa"))


# -- between channels and places ---------------------------------------------------------------------------------------


@op(public=False)
def pixel_shuffle(self: Any, /, upscale_factor: int) -> Any:
    """Channels laid out as squares of elements: (*, C r r, H, W) as (*, C, H r, W r)."""
    *lead, channels, height, width = self.shape
    r, n = upscale_factor, len(lead)
    parts = self.reshape(*lead, channels // (r * r), r, r, height, width)
    moved = parts.transpose(*range(n + 1), n + 3, n + 1, n + 4, n + 2)
    return np.array(moved, order="C").reshape(*lead, channels // (r * r), height * r, width * r)


pixel_shuffle.derivative(self=lambda grad, upscale_factor: pixel_unshuffle(grad, upscale_factor))


@op(public=False)
def pixel_unshuffle(self: Any, /, downscale_factor: int) -> Any:
    """Squares of elements gathered into channels: (*, C, H r, W r) as (*, C r r, H, W)."""
    *lead, channels, height, width = self.shape
    r, n = downscale_factor, len(lead)
    parts = self.reshape(*lead, channels, height // r, r, width // r, r)
    moved = parts.transpose(*range(n + 1), n + 2, n + 4, n + 1, n + 3)
    return np.array(moved, order="C").reshape(*lead, channels * r * r, height // r, width // r)


pixel_unshuffle.derivative(self=lambda grad, downscale_factor: pixel_shuffle(grad, downscale_factor))


def _shuffled(self: Any, groups: int) -> Any:
    batch, channels, *rest = self.shape
    parts = self.reshape(batch, groups, channels // groups, *rest)
    return np.array(parts.swapaxes(1, 2), order="C").reshape(self.shape)


@op(public=False)
def channel_shuffle(self: Any, /, groups: int) -> Any:
    """Channels dealt out: the first of each group, then the second of each."""
    return _shuffled(self, groups)


channel_shuffle.derivative(self=lambda grad, groups: channel_shuffle(grad, grad.shape[1] // groups))


def _no_derivative(grad: Any, groups: Any) -> Any:
    raise RuntimeError("derivative for aten::native_channel_shuffle is not implemented")


@op(node="torch::autograd::NotImplemented", public=False)
def native_channel_shuffle(self: Any, /, groups: int) -> Any:
    """Channels dealt out, by the kernel that has no derivative."""
    return _shuffled(self, groups)


native_channel_shuffle.derivative(self=_no_derivative)
