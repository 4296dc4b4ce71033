"""Interpolation, grid sampling and shuffling: PyTorch's signatures, with its checks and warnings."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod
from typing import Any

import numpy as np

from ...core.tensor import Tensor
from ...ground.dtypes import is_int, need_bool, need_int
from ...ground.listening import audible
from ...ground.runtime import warn
from ...ops.declare import composite
from ..arithmetic.functions import no_match
from ..pooling import functions as pooling
from ..shape.functions import ints
from . import rows

# -- interpolation -----------------------------------------------------------------------------------------------------

_ROWS: dict[tuple[str, int], tuple[Callable[..., Any], str]] = {
    ("nearest", 1): (rows.upsample_nearest1d, "upsample_nearest1d"),
    ("nearest", 2): (rows.upsample_nearest2d, "upsample_nearest2d"),
    ("nearest", 3): (rows.upsample_nearest3d, "upsample_nearest3d"),
    ("nearest-exact", 1): (rows.upsample_nearest_exact1d, "_upsample_nearest_exact1d"),
    ("nearest-exact", 2): (rows.upsample_nearest_exact2d, "_upsample_nearest_exact2d"),
    ("nearest-exact", 3): (rows.upsample_nearest_exact3d, "_upsample_nearest_exact3d"),
    ("linear", 1): (rows.upsample_linear1d, "upsample_linear1d"),
    ("bilinear", 2): (rows.upsample_bilinear2d, "upsample_bilinear2d"),
    ("trilinear", 3): (rows.upsample_trilinear3d, "upsample_trilinear3d"),
    ("bicubic", 2): (rows.upsample_bicubic2d, "upsample_bicubic2d"),
    ("bilinear aa", 2): (rows.upsample_bilinear2d_aa, "_upsample_bilinear2d_aa"),
    ("bicubic aa", 2): (rows.upsample_bicubic2d_aa, "_upsample_bicubic2d_aa"),
    ("lanczos aa", 2): (rows.upsample_lanczos2d_aa, "_upsample_lanczos2d_aa"),
}
_SCALES = {1: ("scales",), 2: ("scales_h", "scales_w"), 3: ("scales_d", "scales_h", "scales_w")}
_NEEDS = {"linear": 3, "bilinear": 4, "trilinear": 5}


def _count(value: Any) -> int:
    return int(value.item()) if isinstance(value, Tensor) else int(value.__index__())


def _resized(
    mode: str, input: Tensor, output_size: Any, scale_factors: Any, align_corners: bool | None = None
) -> Tensor:
    """``input`` (N, C, *sizes) at another size, given or as so many times the size that it has."""
    dims = input._array.ndim - 2
    row, function = _ROWS[mode, dims]
    wanted = (
        isinstance(output_size, (list, tuple)) and all([_is_count(n) for n in output_size])
        if scale_factors is None
        else all([isinstance(factor, (int, float, np.number)) for factor in scale_factors])
    )
    if not wanted:
        raise _mismatch(function, dims, input, output_size, align_corners, scale_factors)
    sizes = input._array.shape
    if scale_factors is None:
        target, scales = tuple([_count(n) for n in output_size]), (None,) * dims
    else:
        scales = tuple([float(factor) for factor in scale_factors])
        target = tuple([n * factor for n, factor in zip(sizes[2:], scales, strict=True)])
        if not all(abs(n) < 1 << 63 for n in target):
            raise RuntimeError("value cannot be converted to type int64_t without overflow")
        target = tuple(map(int, target))
    _check_sizes(sizes, target, dims)
    if align_corners is None:
        return row(input, target, *scales)  # type: ignore[no-any-return]
    return row(input, target, align_corners, *scales)  # type: ignore[no-any-return]


def _is_count(value: Any) -> bool:
    return is_int(value) or (isinstance(value, Tensor) and not value.is_floating_point())  # type: ignore[attr-defined]


def _mismatch(
    function: str, dims: int, input: Any, output_size: Any, align_corners: bool | None, scale_factors: Any
) -> TypeError:
    """PyTorch's error for sizes or factors that are no numbers."""

    def marked(value: Any, good: bool) -> str:
        shown = type(value).__name__
        if isinstance(value, (list, tuple)):
            shown += f" of [{', '.join(type(item).__name__ for item in value)}]"
        return shown if good else f"!{shown}!"

    corners = "" if align_corners is None else "bool align_corners, "
    arguments = [input, output_size, *([] if align_corners is None else [align_corners]), scale_factors]
    parts = ["Tensor", marked(output_size, False), *([] if align_corners is None else ["bool"])]
    own = ", ".join(f"float {name} = None" for name in _SCALES[dims])
    return no_match(
        function, arguments,
        f"Tensor input, tuple of ints output_size, {corners}tuple of floats scale_factors)\n      didn't match because "
        f"some of the arguments have invalid types: ({', '.join([*parts, marked(scale_factors, False)])}",
        f"Tensor input, tuple of ints output_size, {corners}{own}, *, Tensor out = None",
    )  # fmt: skip


def _check_sizes(sizes: Sequence[int], target: Sequence[int], dims: int) -> None:
    """Raise PyTorch's error for sizes without elements."""
    if min(*sizes[2:], *target) <= 0:
        had, gives = (
            ", ".join(f"{letter}: {n}" for letter, n in zip("DHW"[3 - dims :], part, strict=True))
            for part in (sizes[2:], target)
        )
        joint = " and output" if dims == 1 else " output"
        raise RuntimeError(f"Input and output sizes should be greater than 0, but got input ({had}){joint} ({gives})")
    if not sizes[1]:
        raise RuntimeError(f"Non-empty {dims + 2}D data tensor expected but got a tensor with sizes {list(sizes)}")


@audible
def interpolate(
    input: Any, size: Any = None, scale_factor: Any = None, mode: str = "nearest", align_corners: bool | None = None,
    recompute_scale_factor: bool | None = None, antialias: bool = False,
) -> Tensor:  # fmt: skip
    """``input`` (N, C, *sizes) at another ``size``, or ``scale_factor`` times as large.

    mode is "nearest", "nearest-exact", "linear" (3-D), "bilinear", "bicubic", "lanczos" (4-D), "trilinear" (5-D) or
    "area".  ``antialias`` widens the filter where the result is smaller.  ``recompute_scale_factor`` measures the
    factor anew from the size that it gave.
    """
    if mode in ("nearest", "area", "nearest-exact"):
        if align_corners is not None:
            raise ValueError(
                "align_corners option can only be set with the interpolating modes: linear | bilinear | bicubic | "
                "trilinear"
            )
    elif align_corners is None:
        align_corners = False
    dims = input.dim() - 2
    output_size, factors = _wanted(input, dims, size, scale_factor)
    if recompute_scale_factor and size is not None:
        raise ValueError("recompute_scale_factor is not meaningful with an explicit size.")
    if output_size is None and (mode == "area" or recompute_scale_factor):
        output_size, factors = [int(n * f) for n, f in zip(input.shape[2:], factors, strict=True)], None
    if antialias and not (mode in ("bilinear", "bicubic", "lanczos") and dims == 2):
        raise ValueError(
            "Anti-alias option is restricted to bilinear, bicubic, and lanczos modes and requires a 4-D tensor as input"
        )
    if mode == "area" and dims in (1, 2, 3):
        pool = (pooling.adaptive_avg_pool1d, pooling.adaptive_avg_pool2d, pooling.adaptive_avg_pool3d)[dims - 1]
        return pool(input, output_size)
    if mode == "lanczos" and dims == 2:
        if align_corners:
            raise ValueError("Lanczos mode does not support align_corners=True")
        if not antialias:
            raise ValueError("Lanczos mode requires antialias=True")
    method = f"{mode} aa" if antialias else mode
    if (method, dims) in _ROWS:
        return _resized(method, input, output_size, factors, align_corners)
    if dims in (1, 2, 3) and mode in _NEEDS:
        raise NotImplementedError(f"Got {dims + 2}D input, but {mode} mode needs {_NEEDS[mode]}D input")
    raise NotImplementedError(
        f"Input Error: Only 3D, 4D and 5D input Tensors supported (got {dims + 2}D) for the modes: nearest | linear | "
        f"bilinear | bicubic | trilinear | lanczos | area | nearest-exact (got {mode})"
    )


def _wanted(input: Tensor, dims: int, size: Any, scale_factor: Any) -> tuple[Any, Any]:
    """The size, or the factors, for each dimension; the other is None."""
    if size is not None and scale_factor is not None:
        raise ValueError("only one of size or scale_factor should be defined")
    if size is None and scale_factor is None:
        raise ValueError("either size or scale_factor should be defined")
    had = list(input.shape[2:])
    if size is None:
        if not isinstance(scale_factor, (list, tuple)):
            return None, [scale_factor] * dims
        if len(scale_factor) != dims:
            raise ValueError(
                "Input and scale_factor must have the same number of spatial dimensions, but got input with spatial "
                f"dimensions of {had} and scale_factor of shape {scale_factor}. Please provide input tensor in (N, C, "
                "d1, d2, ...,dK) format and scale_factor in (s1, s2, ...,sK) format."
            )
        return None, scale_factor
    if not isinstance(size, (list, tuple)):
        return [size] * dims, None
    if len(size) != dims:
        raise ValueError(
            "Input and output must have the same number of spatial dimensions, but got input with spatial dimensions "
            f"of {had} and output size of {size}. Please provide input tensor in (N, C, d1, d2, ...,dK) format and "
            "output size in (o1, o2, ...,oK) format."
        )
    if not all(_is_integer(n) for n in size):
        raise TypeError(
            "expected size to be one of int or Tuple[int] or Tuple[int, int] or Tuple[int, int, int], but got size "
            f"with types {[type(n) for n in size]}"
        )
    return size, None


def _is_integer(value: Any) -> bool:
    if isinstance(value, Tensor):
        return not value.is_floating_point()  # type: ignore[attr-defined, no-any-return]
    return isinstance(value, int) or hasattr(value, "__index__")


def _deprecated(name: str) -> None:
    warn(f"`nn.functional.{name}` is deprecated. Use `nn.functional.interpolate` instead.")


@audible
def upsample(
    input: Any, size: Any = None, scale_factor: Any = None, mode: str = "nearest", align_corners: bool | None = None
) -> Tensor:
    """``interpolate`` by its old name."""
    _deprecated("upsample")
    return interpolate(input, size, scale_factor, mode, align_corners)


@audible
def upsample_nearest(input: Any, size: Any = None, scale_factor: Any = None) -> Tensor:
    """``interpolate`` with mode "nearest", by its old name."""
    _deprecated("upsample_nearest")
    return interpolate(input, size, scale_factor, mode="nearest")


@audible
def upsample_bilinear(input: Any, size: Any = None, scale_factor: Any = None) -> Tensor:
    """``interpolate`` with mode "bilinear" and aligned corners, by its old name."""
    _deprecated("upsample_bilinear")
    return interpolate(input, size, scale_factor, mode="bilinear", align_corners=True)


# -- grids -------------------------------------------------------------------------------------------------------------

GRID_SAMPLE_INTERPOLATION_MODES = {"bilinear": 0, "nearest": 1, "bicubic": 2}
GRID_SAMPLE_PADDING_MODES = {"zeros": 0, "border": 1, "reflection": 2}
_CORNERS = (
    "Default grid_sample and affine_grid behavior has changed to align_corners=False since 1.3.0. Please specify "
    "align_corners=True if the old behavior is desired. See the documentation of grid_sample for details."
)


def _check_grid(input: Tensor, grid: Tensor) -> None:
    n, m = input._array.shape, grid._array.shape
    if n[0] != m[0]:
        raise RuntimeError(
            "grid_sampler(): expected grid and input to have same batch size, but got input with sizes "
            f"{list(n)} and grid with sizes {list(m)}"
        )
    if m[-1] != len(n) - 2:
        raise RuntimeError(
            f"grid_sampler(): expected grid to have size {len(n) - 2} in last dimension, but got grid with sizes "
            f"{list(m)}"
        )
    for axis in range(2, len(n)):
        if n[axis] <= 0:
            raise RuntimeError(
                f"grid_sampler(): expected input to have non-empty spatial dimensions, but input has sizes {list(n)} "
                f"with dimension {axis} being empty"
            )


def _check_dims(input: Tensor, grid: Tensor, dims: int) -> None:
    n, m = input._array.shape, grid._array.shape
    if len(n) != dims or len(m) != dims:
        raise RuntimeError(
            f"grid_sampler(): expected {dims}D input and grid with same number of dimensions, but got input with sizes "
            f"{list(n)} and grid with sizes {list(m)}"
        )


def _grid_sampler(
    function: str, dims: int | None, input: Any, grid: Any, interpolation_mode: Any, padding_mode: Any,
    align_corners: Any,
) -> Tensor:  # fmt: skip
    mode = need_int(function, "interpolation_mode", 3, interpolation_mode)
    padding = need_int(function, "padding_mode", 4, padding_mode)
    need_bool(function, "align_corners", 5, align_corners)
    _check_grid(input, grid)
    wanted = (4 if input._array.ndim == 4 else 5) if dims is None else dims
    _check_dims(input, grid, wanted)
    if wanted == 5 and mode == 2:
        raise RuntimeError("grid_sampler(): bicubic interpolation only supports 4D input")
    row = rows.grid_sampler_2d if wanted == 4 else rows.grid_sampler_3d
    return row(input, grid, mode, padding, align_corners)  # type: ignore[no-any-return]


@composite(method=False)
def grid_sampler(input: Any, grid: Any, interpolation_mode: int, padding_mode: int, align_corners: bool) -> Tensor:
    """Images or volumes at the points of a grid; modes as numbers: bilinear, nearest, bicubic."""
    return _grid_sampler("grid_sampler", None, input, grid, interpolation_mode, padding_mode, align_corners)


@composite(method=False)
def grid_sampler_2d(input: Any, grid: Any, interpolation_mode: int, padding_mode: int, align_corners: bool) -> Tensor:
    """Images at the points of a grid; modes as numbers."""
    return _grid_sampler("grid_sampler_2d", 4, input, grid, interpolation_mode, padding_mode, align_corners)


@composite(method=False)
def grid_sampler_3d(input: Any, grid: Any, interpolation_mode: int, padding_mode: int, align_corners: bool) -> Tensor:
    """Volumes at the points of a grid; modes as numbers."""
    return _grid_sampler("grid_sampler_3d", 5, input, grid, interpolation_mode, padding_mode, align_corners)


@composite(method=False)
def affine_grid_generator(theta: Any, size: Any, align_corners: bool) -> Tensor:
    """The points that affine maps (N, d, d + 1) give a regular grid of ``size`` (N, C, *sizes): (N, *sizes, d)."""
    if not isinstance(size, (tuple, list)):
        ints("affine_grid_generator", "size", 2, "" if is_int(size) is False else size)
        raise TypeError("affine_grid_generator(): argument 'size' (position 2) must be tuple of ints, not int")
    sizes = ints("affine_grid_generator", "size", 2, size)
    need_bool("affine_grid_generator", "align_corners", 3, align_corners)
    if len(sizes) not in (4, 5):
        raise RuntimeError("AffineGridGenerator needs 4d (spatial) or 5d (volumetric) inputs.")
    dims = len(sizes) - 2
    have = theta._array.shape
    for n in sizes[:1] + sizes[2:]:
        if n < 0:
            base = [sizes[0], *sizes[2:], dims + 1]
            raise RuntimeError(f"Trying to create tensor with negative dimension {n}: {base}")
    if len(have) < 3:
        theta.transpose(1, 2)  # which raises PyTorch's error
    if len(have) > 3:
        raise RuntimeError("batch2 must be a 3D tensor")
    if have[0] != sizes[0] or have[2] != dims + 1:
        raise RuntimeError(
            f"Expected size for first two dimensions of batch2 tensor to be: [{sizes[0]}, {dims + 1}] but got: "
            f"[{have[0]}, {have[-1]}]."
        )
    shape = [sizes[0], *sizes[2:], dims]
    if prod(shape) != prod(shape[:-1]) * have[1]:
        raise RuntimeError(f"shape '{shape}' is invalid for input of size {prod(shape[:-1]) * have[1]}")
    return rows.affine_grid_generator(theta, sizes, align_corners)  # type: ignore[no-any-return]


@audible
def grid_sample(
    input: Any, grid: Any, mode: str = "bilinear", padding_mode: str = "zeros", align_corners: bool | None = None
) -> Tensor:
    """Images (N, C, H, W) at the points (x, y) of ``grid`` (N, h, w, 2), from -1 to 1; volumes likewise.

    mode is "bilinear", "nearest" or "bicubic"; padding_mode, for points outside, "zeros", "border" or "reflection".
    """
    modes, paddings = GRID_SAMPLE_INTERPOLATION_MODES, GRID_SAMPLE_PADDING_MODES
    if mode not in modes:
        raise ValueError(
            f"nn.functional.grid_sample(): expected mode to be 'bilinear', 'nearest' or 'bicubic', but got: '{mode}'"
        )
    if padding_mode not in paddings:
        raise ValueError(
            "nn.functional.grid_sample(): expected padding_mode to be 'zeros', 'border', or 'reflection', but got: "
            f"'{padding_mode}'"
        )
    if align_corners is None:
        warn(_CORNERS)
        align_corners = False
    return grid_sampler(input, grid, modes[mode], paddings[padding_mode], align_corners)


@audible
def affine_grid(theta: Any, size: Any, align_corners: bool | None = None) -> Tensor:
    """The points that affine maps (N, 2, 3) give a regular grid of ``size`` (N, C, H, W): (N, H, W, 2); 3-D likewise.
    """
    if align_corners is None:
        warn(_CORNERS)
        align_corners = False
    if not theta.is_floating_point():
        raise ValueError(f"Expected theta to have floating point type, but got {theta.dtype}")
    if len(size) not in (4, 5):
        raise NotImplementedError(
            "affine_grid only supports 4D and 5D sizes, for 2D and 3D affine transforms, respectively. Got size "
            f"{size}."
        )
    dims = len(size) - 2
    if theta.dim() != 3 or tuple(theta.shape[1:]) != (dims, dims + 1):
        raise ValueError(
            f"Expected a batch of {dims}D affine matrices of shape Nx{dims}x{dims + 1} for size {size}. Got "
            f"{theta.shape}."
        )
    if align_corners and min(size[2:]) == 1:
        warn(
            "Since version 1.3.0, affine_grid behavior has changed for unit-size grids when align_corners=True. This "
            "is not an intended use case of affine_grid. See the documentation of affine_grid for details.",
        )
    elif min(size) <= 0:
        raise ValueError(f"Expected non-zero, positive output size. Got {size}")
    return affine_grid_generator(theta, size, align_corners)


# -- shuffles ----------------------------------------------------------------------------------------------------------


def _pixels(function: str, input: Any, name: str, factor: Any) -> int:
    factor = need_int(function, name, 2, factor)
    if input._array.ndim < 3:
        raise RuntimeError(
            f"{function} expects input to have at least 3 dimensions, but got input with {input._array.ndim} "
            f"dimension(s)"
        )
    if factor <= 0:
        raise RuntimeError(f"{function} expects a positive {name}, but got {factor}")
    return factor


@composite(method=False, page="torch.nn.functional")
def pixel_shuffle(input: Any, upscale_factor: int) -> Tensor:
    """Channels laid out as squares of elements: (*, C r r, H, W) as (*, C, H r, W r)."""
    factor = _pixels("pixel_shuffle", input, "upscale_factor", upscale_factor)
    channels = input._array.shape[-3]
    if channels % (factor * factor):
        raise RuntimeError(
            "pixel_shuffle expects its input's 'channel' dimension to be divisible by the square of upscale_factor, "
            f"but input.size(-3)={channels} is not divisible by {factor * factor}"
        )
    return rows.pixel_shuffle(input, factor)  # type: ignore[no-any-return]


@composite(method=False, page="torch.nn.functional")
def pixel_unshuffle(input: Any, downscale_factor: int) -> Tensor:
    """Squares of elements gathered into channels: (*, C, H r, W r) as (*, C r r, H, W)."""
    factor = _pixels("pixel_unshuffle", input, "downscale_factor", downscale_factor)
    for name, axis in (("height", -2), ("width", -1)):
        if input._array.shape[axis] % factor:
            raise RuntimeError(
                f"pixel_unshuffle expects {name} to be divisible by downscale_factor, but input.size({axis})="
                f"{input._array.shape[axis]} is not divisible by {factor}"
            )
    if not input._array.size:
        return input.clone()  # type: ignore[attr-defined, no-any-return]  # in its own sizes, as PyTorch has it
    return rows.pixel_unshuffle(input, factor)  # type: ignore[no-any-return]


def _groups(function: str, input: Any, groups: Any) -> int:
    groups = need_int(function, "groups", 2, groups)
    if input._array.ndim <= 2:
        raise RuntimeError(
            f"channel_shuffle expects input with > 2 dims, but got input with sizes {list(input._array.shape)}"
        )
    return groups


@composite(method=False, page="torch.nn.functional")
def channel_shuffle(input: Any, groups: int) -> Tensor:
    """Channels dealt out: the first of each of ``groups`` groups, then the second of each."""
    return rows.channel_shuffle(input, _groups("channel_shuffle", input, groups))  # type: ignore[no-any-return]


@composite(method=False)
def native_channel_shuffle(input: Any, groups: int) -> Tensor:
    """``channel_shuffle`` without a derivative, as PyTorch's own kernel for it."""
    return rows.native_channel_shuffle(input, _groups("native_channel_shuffle", input, groups))  # type: ignore[no-any-return]
