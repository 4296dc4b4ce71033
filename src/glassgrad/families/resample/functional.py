"""Interpolation and grid sampling with ``torch.nn.functional``'s signatures, checks and warnings."""

from __future__ import annotations

from typing import Any

from ...core.tensor import Tensor
from ...ground.listening import audible
from ...ground.runtime import warn
from ..pooling import functions as pooling
from . import functions as resample

_EXACT = ("nearest", "area", "nearest-exact")
_NEEDS = {"linear": 3, "bilinear": 4, "trilinear": 5}
GRID_SAMPLE_INTERPOLATION_MODES = {"bilinear": 0, "nearest": 1, "bicubic": 2}
GRID_SAMPLE_PADDING_MODES = {"zeros": 0, "border": 1, "reflection": 2}
_CORNERS = (
    "Default grid_sample and affine_grid behavior has changed to align_corners=False since 1.3.0. Please specify "
    "align_corners=True if the old behavior is desired. See the documentation of grid_sample for details."
)


@audible
def interpolate(
    input: Any, size: Any = None, scale_factor: Any = None, mode: str = "nearest", align_corners: bool | None = None,
    recompute_scale_factor: bool | None = None, antialias: bool = False,
) -> Tensor:  # fmt: skip
    """``input`` (N, C, *sizes) at another ``size``, or ``scale_factor`` times as large.

    mode is "nearest", "nearest-exact", "linear" (3-D), "bilinear", "bicubic", "lanczos" (4-D), "trilinear" (5-D) or
    "area".  ``antialias`` widens the filter where the result is smaller.  ``recompute_scale_factor`` measures the
    factor anew from the size that it gave.
    Source: https://docs.pytorch.org/docs/stable/generated/torch.nn.functional.interpolate.html
    """
    if mode in _EXACT:
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
    if resample.has_method(method, dims):
        return resample.upsample(method, input, output_size, factors, align_corners)
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


@audible
def grid_sample(
    input: Any, grid: Any, mode: str = "bilinear", padding_mode: str = "zeros", align_corners: bool | None = None
) -> Tensor:
    """Images (N, C, H, W) at the points (x, y) of ``grid`` (N, h, w, 2), from -1 to 1; volumes likewise.

    mode is "bilinear", "nearest" or "bicubic"; padding_mode, for points outside, "zeros", "border" or "reflection".
    Source: https://docs.pytorch.org/docs/stable/generated/torch.nn.functional.grid_sample.html
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
    return resample.grid_sampler(input, grid, modes[mode], paddings[padding_mode], align_corners)


@audible
def affine_grid(theta: Any, size: Any, align_corners: bool | None = None) -> Tensor:
    """The points that affine maps (N, 2, 3) give a regular grid of ``size`` (N, C, H, W): (N, H, W, 2); 3-D likewise.

    Source: https://docs.pytorch.org/docs/stable/generated/torch.nn.functional.affine_grid.html
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
    return resample.affine_grid_generator(theta, size, align_corners)
