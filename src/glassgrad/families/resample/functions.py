"""PyTorch's signatures of interpolation, grid sampling and shuffling, with its checks."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ...core.tensor import Tensor
from ...ops.declare import composite
from ..arithmetic.functions import need_tensor, no_match
from ..shape.functions import ints, is_int, need_bool, on_meta, sized, whole_number
from . import rows
from . import rows as sampling

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


def has_method(mode: str, dims: int) -> bool:
    """Whether a way of interpolation exists in so many dimensions."""
    return (mode, dims) in _ROWS


def _count(value: Any) -> int:
    return int(value.item()) if isinstance(value, Tensor) else int(value.__index__())


def upsample(
    mode: str, input: Tensor, output_size: Any, scale_factors: Any, align_corners: bool | None = None
) -> Tensor:
    """``input`` (N, C, *sizes) at another size, given or as so many times the size that it has."""
    dims = input._array.ndim - 2
    row, function = _ROWS[mode, dims]
    wanted = (
        isinstance(output_size, (list, tuple)) and all([_is_count(n) for n in output_size])
        if scale_factors is None
        else all([isinstance(factor, (int, float)) for factor in scale_factors])
    )
    if not wanted:
        raise _mismatch(function, dims, input, output_size, align_corners, scale_factors)
    sizes = input._array.shape
    if scale_factors is None:
        target, scales = tuple([_count(n) for n in output_size]), (None,) * dims
    else:
        scales = tuple([float(factor) for factor in scale_factors])
        target = tuple([int(n * factor) for n, factor in zip(sizes[2:], scales, strict=True)])
    _check_sizes(sizes, target, dims)
    if on_meta(input):
        return sized(input, (*sizes[:2], *target))
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


# -- grids -------------------------------------------------------------------------------------------------------------


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
    need_tensor(function, "input", 1, input)
    need_tensor(function, "grid", 2, grid)
    mode = whole_number(function, "interpolation_mode", 3, interpolation_mode)
    padding = whole_number(function, "padding_mode", 4, padding_mode)
    need_bool(function, "align_corners", 5, align_corners)
    _check_grid(input, grid)
    wanted = (4 if input._array.ndim == 4 and grid._array.ndim == 4 else 5) if dims is None else dims
    _check_dims(input, grid, wanted)
    if wanted == 5 and mode == 2:
        raise RuntimeError("grid_sampler(): bicubic interpolation only supports 4D input")
    if on_meta(input):
        return sized(input, (*input._array.shape[:2], *grid._array.shape[1:-1]))
    row = sampling.grid_sampler_2d if wanted == 4 else sampling.grid_sampler_3d
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
    need_tensor("affine_grid_generator", "theta", 1, theta)
    if not isinstance(size, (tuple, list)):
        ints("affine_grid_generator", "size", 2, "" if is_int(size) is False else size)
        raise TypeError("affine_grid_generator(): argument 'size' (position 2) must be tuple of ints, not int")
    sizes = ints("affine_grid_generator", "size", 2, size)
    need_bool("affine_grid_generator", "align_corners", 3, align_corners)
    if len(sizes) not in (4, 5):
        raise RuntimeError("AffineGridGenerator needs 4d (spatial) or 5d (volumetric) inputs.")
    dims = len(sizes) - 2
    have = theta._array.shape
    if len(have) != 3 or have[0] != sizes[0] or have[2] != dims + 1:
        raise RuntimeError(
            f"Expected size for first two dimensions of batch2 tensor to be: [{sizes[0]}, {dims + 1}] but got: "
            f"[{have[0]}, {have[-1]}]."
        )
    if on_meta(theta):
        return sized(theta, (sizes[0], *sizes[2:], have[1]))
    return sampling.affine_grid_generator(theta, sizes, align_corners)  # type: ignore[no-any-return]


# -- shuffles ----------------------------------------------------------------------------------------------------------


def _pixels(function: str, input: Any, name: str, factor: Any) -> int:
    need_tensor(function, "input", 1, input)
    factor = whole_number(function, name, 2, factor)
    if input._array.ndim < 3:
        raise RuntimeError(
            f"{function} expects input to have at least 3 dimensions, but got input with {input._array.ndim} "
            f"dimension(s)"
        )
    if factor <= 0:
        raise RuntimeError(f"{function} expects a positive {name}, but got {factor}")
    return factor


@composite(method=False)
def pixel_shuffle(input: Any, upscale_factor: int) -> Tensor:
    """Channels laid out as squares of elements: (*, C r r, H, W) as (*, C, H r, W r).

    Source: https://docs.pytorch.org/docs/stable/generated/torch.nn.functional.pixel_shuffle.html
    """
    factor = _pixels("pixel_shuffle", input, "upscale_factor", upscale_factor)
    channels = input._array.shape[-3]
    if channels % (factor * factor):
        raise RuntimeError(
            "pixel_shuffle expects its input's 'channel' dimension to be divisible by the square of upscale_factor, "
            f"but input.size(-3)={channels} is not divisible by {factor * factor}"
        )
    if on_meta(input):
        *lead, _, height, width = input._array.shape
        return sized(input, (*lead, channels // (factor * factor), height * factor, width * factor))
    return rows.pixel_shuffle(input, factor)  # type: ignore[no-any-return]


@composite(method=False)
def pixel_unshuffle(input: Any, downscale_factor: int) -> Tensor:
    """Squares of elements gathered into channels: (*, C, H r, W r) as (*, C r r, H, W).

    Source: https://docs.pytorch.org/docs/stable/generated/torch.nn.functional.pixel_unshuffle.html
    """
    factor = _pixels("pixel_unshuffle", input, "downscale_factor", downscale_factor)
    for name, axis in (("height", -2), ("width", -1)):
        if input._array.shape[axis] % factor:
            raise RuntimeError(
                f"pixel_unshuffle expects {name} to be divisible by downscale_factor, but input.size({axis})="
                f"{input._array.shape[axis]} is not divisible by {factor}"
            )
    if on_meta(input):
        *lead, channels, height, width = input._array.shape
        return sized(input, (*lead, channels * factor * factor, height // factor, width // factor))
    return rows.pixel_unshuffle(input, factor)  # type: ignore[no-any-return]


def _groups(function: str, input: Any, groups: Any) -> int:
    need_tensor(function, "input", 1, input)
    groups = whole_number(function, "groups", 2, groups)
    if input._array.ndim <= 2:
        raise RuntimeError(
            f"channel_shuffle expects input with > 2 dims, but got input with sizes {list(input._array.shape)}"
        )
    if groups <= 0:
        raise RuntimeError(f"Number of groups to divide channels in must be positive. Value of groups:{groups}")
    if input._array.shape[1] % groups:
        raise RuntimeError(
            f"Number of channels must be divisible by groups. Got {input._array.shape[1]} channels and {groups} groups."
        )
    return groups


@composite(method=False)
def channel_shuffle(input: Any, groups: int) -> Tensor:
    """Channels dealt out: the first of each of ``groups`` groups, then the second of each.

    Source: https://docs.pytorch.org/docs/stable/generated/torch.nn.functional.channel_shuffle.html
    """
    return rows.channel_shuffle(input, _groups("channel_shuffle", input, groups))  # type: ignore[no-any-return]


@composite(method=False)
def native_channel_shuffle(input: Any, groups: int) -> Tensor:
    """``channel_shuffle`` without a derivative, as PyTorch's own kernel for it."""
    return rows.native_channel_shuffle(input, _groups("native_channel_shuffle", input, groups))  # type: ignore[no-any-return]
