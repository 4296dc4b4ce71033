"""Pooling: PyTorch's signatures, with its checks of windows and sizes; ``return_indices`` asks for places too."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache
from math import inf
from typing import Any

from ...core.row import FLOATS
from ...core.tensor import Tensor
from ...ground import modes
from ...ground.dtypes import called, need_bool
from ...ground.later import cite
from ...ground.layout import format_strides, suggested
from ...ground.listening import audible
from ...ground.window import strides_of
from ...kernels.columns import not_implemented
from ...ops.autocast import single
from ...ops.declare import composite, functional, of_dims
from ...tensor.lifted import derives
from ..reduce.functions import mean
from ..shape.functions import ints, need_rank, one_int
from ..shape.rows import squeeze_dim, unsqueeze
from . import rows
from .kernels import output_size as pooled_size

_WORDS = {2: "two", 3: "three"}


# -- checks ------------------------------------------------------------------------------------------------------------


def repeated(value: Any, times: int) -> tuple[Any, ...]:
    """Several values as a tuple, or one value so many times."""
    return tuple(value) if isinstance(value, Iterable) else (value,) * times


def _several(function: str, name: str, values: tuple[int, ...], dims: int, sentence: str) -> tuple[int, ...]:
    """One number for each dimension, given as so many or as one."""
    if len(values) == 1:
        return values * dims
    if len(values) != dims and (values or name != "stride"):
        raise RuntimeError(f"{function}: {name} must {sentence}, or a tuple of {_WORDS[dims]} ints")
    return values


@lru_cache(512)
def _check_windows(
    function: str, sizes: tuple[int, ...], kernel: Any, stride: Any, padding: Any, dilation: Any, ceil_mode: bool,
    average: bool = False,
) -> None:  # fmt: skip
    """Raise PyTorch's error where windows do not fit."""
    dims = len(kernel)
    steps = stride or kernel
    last = sizes[len(sizes) - dims :]
    pooled = []
    for n, k, s, p, d in zip(last, kernel, steps, padding, dilation, strict=True):
        if s == 0:
            raise RuntimeError("stride should not be zero")
        if p < 0:
            raise RuntimeError(f"pad must be non-negative, but got pad: {p}")
        if p > int(((k - 1) * d + 1) / 2):
            raise RuntimeError(
                f"pad should be at most half of effective kernel size, but got pad={p}, kernel_size={k} and "
                f"dilation={d}"
            )
        pooled.append(pooled_size(n, k, s, p, d, ceil_mode))
    letters = "THW"[3 - dims :]
    for what, values, prefix in (
        ("kernel size", kernel, "k"), ("stride", steps, "d"), ("dilation", dilation, "dilation")
    ):  # fmt: skip
        if min(values) <= 0:
            shown = " ".join(f"{prefix}{letter}: {n}" for letter, n in zip(letters, values, strict=True))
            raise RuntimeError(f"{what} should be greater than zero, but got {shown}")
    _check_rank(function, sizes, dims)
    if average and dims == 3 and any(n < k for n, k in zip(last, kernel, strict=True)):
        image = " ".join(f"{letter}: {n}" for letter, n in zip(letters, last, strict=True))
        shown = " ".join(f"k{letter}: {k}" for letter, k in zip(letters, kernel, strict=True))
        raise RuntimeError(f"input image ({image}) smaller than kernel size ({shown})")
    if any(p > k // 2 for p, k in zip(padding, kernel, strict=True)):
        if dims == 2:
            shown = f"padW = {padding[1]}, padH = {padding[0]}, kW = {kernel[1]}, kH = {kernel[0]}"
        else:
            shown = " ".join(
                f"{prefix}{letter}: {values['THW'.index(letter)]}"
                for prefix, values in (("k", kernel), ("pad", padding))
                for letter in "TWH"
            )
        raise RuntimeError(f"pad should be smaller than or equal to half of kernel size, but got {shown}")
    if min(pooled) < 1:
        channels = sizes[len(sizes) - dims - 1]
        had, gives = ("x".join(map(str, (channels, *part))) for part in (last, pooled))
        raise RuntimeError(f"Given input size: ({had}). Calculated output size: ({gives}). Output size is too small")


def _check_rank(function: str, sizes: Sequence[int], dims: int) -> None:
    """Raise PyTorch's error where an input has not the right dimensions, or nothing in one."""
    if dims == 2:
        if len(sizes) not in (3, 4) or 0 in sizes[len(sizes) - 3 :]:
            raise RuntimeError(
                f"Expected 3D or 4D (batch mode) tensor with optional 0 dim batch size for input, but got:{list(sizes)}"
            )
        return
    if len(sizes) not in (4, 5):
        raise RuntimeError(f"{function}: Expected 4D or 5D tensor for input, but got: {list(sizes)}")
    if 0 in sizes[len(sizes) - 4 :]:
        raise RuntimeError(
            f"{function}: Expected input's non-batch dimensions to have positive length, but input has a shape of "
            f"{list(sizes)} and non-batch dimension 0 has length zero!"
        )


# -- the largest -------------------------------------------------------------------------------------------------------


def _max_pool(
    function: str, dims: int, input: Any, kernel_size: Any, stride: Any, padding: Any, dilation: Any, ceil_mode: Any,
    places: bool,
) -> Any:  # fmt: skip
    need_bool(function, "ceil_mode", 6, ceil_mode)
    numbers = [
        ints(function, name, 2 + offset, value, none=name == "stride")
        for offset, (name, value) in enumerate(
            zip(("kernel_size", "stride", "padding", "dilation"), (kernel_size, stride, padding, dilation), strict=True)
        )
    ]
    own = f"max_pool{dims}d"
    kernel = _several(own, "kernel_size", numbers[0], dims, "either be a single int")
    steps = _several(own, "stride", numbers[1], dims, "either be omitted, a single int")
    pads = _several(own, "padding", numbers[2], dims, "either be a single int")
    spread = _several(own, "dilation", numbers[3], dims, "be either a single int")
    sizes = input._array.shape
    if len(sizes) not in (dims + 1, dims + 2):
        raise RuntimeError(f"non-empty {dims + 1}D or {dims + 2}D (batch mode) tensor expected for input")
    _check_windows(
        f"max_pool{dims}d_with_indices_out_cpu_template()", sizes, kernel, steps, pads, spread, ceil_mode
    )
    if dims == 3 and suggested(sizes, strides_of(input._array)) == "channels_last":
        raise RuntimeError("Unsupported memory format. Supports only ChannelsLast3d, Contiguous")
    settings = (kernel, steps, pads, spread, ceil_mode)
    if not places and not modes.unusual and not derives(input):
        return rows.max_pool_values(input, *settings)
    result = (rows.max_pool2d_with_indices if dims == 2 else rows.max_pool3d_with_indices)(input, *settings)
    return result if places else result[0]


def _max_pools(dims: int) -> tuple[Any, Any]:
    """``max_pool2d`` or ``max_pool3d``, and what gives places too."""
    function = f"max_pool{dims}d"

    @audible
    @of_dims(f"{function}_with_indices", dims)
    def with_indices(
        input: Any, kernel_size: Any, stride: Any = None, padding: Any = 0, dilation: Any = 1,
        ceil_mode: bool = False, return_indices: bool = False,
    ) -> tuple[Tensor, Tensor]:  # fmt: skip
        """The largest element of each window of the last {dims}; its place too, with ``return_indices``.

        Without a ``stride`` windows lie side by side; ``padding`` counts as smaller than everything.
        """
        return _max_pool(  # type: ignore[no-any-return]
            f"{function}_with_indices", dims, input, kernel_size, stride, padding, dilation, ceil_mode, True
        )

    @composite(method=False)
    @of_dims(function, dims)
    def pool(
        input: Tensor, kernel_size: Any, stride: Any = None, padding: Any = 0, dilation: Any = 1,
        ceil_mode: bool = False,
    ) -> Tensor:  # fmt: skip
        """The largest element of each window of the last {dims}; windows lie side by side without a ``stride``."""
        return _max_pool(function, dims, input, kernel_size, stride, padding, dilation, ceil_mode, False)  # type: ignore[no-any-return]

    cite(pool, f"torch.nn.functional.{function}")
    cite(with_indices, f"torch.nn.functional.{function}")
    return pool, with_indices


max_pool2d, max_pool2d_with_indices = _max_pools(2)
max_pool3d, max_pool3d_with_indices = _max_pools(3)


@composite(method=False)
def max_pool1d_with_indices(
    input: Any, kernel_size: Any, stride: Any = None, padding: Any = 0, dilation: Any = 1, ceil_mode: bool = False
) -> tuple[Tensor, Tensor]:
    """The largest element of each window of the last dimension, and its place in its line."""
    function = "max_pool1d_with_indices"
    need_bool(function, "ceil_mode", 6, ceil_mode)
    kernel = ints(function, "kernel_size", 2, kernel_size)
    steps = ints(function, "stride", 3, stride, none=True)
    pads, spread = ints(function, "padding", 4, padding), ints(function, "dilation", 5, dilation)
    need_rank("max_pool1d", input, 2, 3)
    for name, numbers in (("kernel_size", kernel), ("stride", steps), ("padding", pads), ("dilation", spread)):
        one_int("max_pool1d", name, numbers, none=name == "stride")
    step = steps or kernel
    values, places = max_pool2d_with_indices(
        unsqueeze(input, -2), (1, *kernel), (1, *step), (0, *pads), (1, *spread), ceil_mode
    )
    return squeeze_dim(values, -2), squeeze_dim(places, -2)


@composite(method=False, page="torch.nn.functional")
def max_pool1d(
    input: Any, kernel_size: Any, stride: Any = None, padding: Any = 0, dilation: Any = 1, ceil_mode: bool = False
) -> Tensor:
    """The largest element of each window of the last dimension."""
    need_bool("max_pool1d", "ceil_mode", 6, ceil_mode)
    kernel = ints("max_pool1d", "kernel_size", 2, kernel_size)
    steps = ints("max_pool1d", "stride", 3, stride, none=True)
    pads, spread = ints("max_pool1d", "padding", 4, padding), ints("max_pool1d", "dilation", 5, dilation)
    sizes = input._array.shape
    if len(sizes) not in (2, 3) or 0 in sizes[len(sizes) - 2 :]:
        raise RuntimeError(
            "max_pool1d: Expected 2D or 3D (batch mode) tensor with optional 0 dim batch size for input, but got:"
            f"{list(sizes)}"
        )
    _check_line(sizes[-1], kernel, steps, pads, spread, ceil_mode)
    if derives(input):
        return max_pool1d_with_indices(input, kernel, steps, pads, spread, ceil_mode)[0]
    if input._array.dtype.char not in FLOATS:
        raise not_implemented("max_pool1d_impl", input._array)
    return rows.max_pool_values(input, kernel, steps or kernel, pads, spread, ceil_mode)  # type: ignore[no-any-return]


@functional
def functional_max_pool1d_with_indices(
    input: Any, kernel_size: Any, stride: Any = None, padding: Any = 0, dilation: Any = 1,
    ceil_mode: bool = False, return_indices: bool = False,
) -> tuple[Tensor, Tensor]:  # fmt: skip
    """The largest element of each window of the last dimension; its place too, with ``return_indices``.

    Without a ``stride`` windows lie side by side; ``padding`` counts as smaller than everything.
    Source: https://docs.pytorch.org/docs/stable/generated/torch.nn.functional.max_pool1d.html
    """
    return max_pool1d_with_indices(input, kernel_size, stride, padding, dilation, ceil_mode)  # type: ignore[no-any-return]


def _values_or_places(values: Callable[..., Any], with_indices: Callable[..., Any]) -> Any:
    """The front of both in ``torch.nn.functional``: it gives places too with ``return_indices``."""

    def pool(
        input: Any, kernel_size: Any, stride: Any = None, padding: Any = 0, dilation: Any = 1,
        ceil_mode: bool = False, return_indices: bool = False,
    ) -> Any:  # fmt: skip
        chosen = with_indices if return_indices else values
        return chosen(input, kernel_size, stride, padding, dilation, ceil_mode)

    pool.__name__, pool.__doc__ = values.__name__, with_indices.__doc__
    return functional(pool)


functional_max_pool1d = _values_or_places(max_pool1d, functional_max_pool1d_with_indices)
functional_max_pool2d = _values_or_places(max_pool2d, max_pool2d_with_indices)
functional_max_pool3d = _values_or_places(max_pool3d, max_pool3d_with_indices)


def _check_line(size: int, kernel: Any, stride: Any, padding: Any, dilation: Any, ceil_mode: bool) -> None:
    """Raise PyTorch's error where windows on a line make no sense."""
    for name, numbers, sentence in (
        ("kernel_size", kernel, "an int, list of ints or tuple of ints"),
        ("stride", stride, "None, an int, list of ints, or tuple of ints"),
        ("padding", padding, "an int, list of ints, or tuple of ints"),
        ("dilation", dilation, "an int, list of ints or tuple of ints"),
    ):
        if len(numbers) != 1 and (numbers or name != "stride"):
            raise RuntimeError(f"max_pool1d() {name} must be {sentence} of size 1 but got size {len(numbers)}")
    (k,), (s,), (p,), (d,) = kernel, stride or kernel, padding, dilation
    for wrong, sentence in (
        (k <= 0, f"kernel_size must be greater than zero, but got {k}"),
        (s <= 0, f"stride must be greater than zero, but got {s}"),
        (p < 0, f"padding must be non-negative, but got {p}"),
        (p > k // 2, f"padding should be at most half of kernel size, but got padding={p} and kernel_size={k}"),
        (d <= 0, f"dilation must be greater than zero, but got {d}"),
    ):
        if wrong:
            raise RuntimeError(f"max_pool1d() {sentence}")
    count = pooled_size(size, k, s, p, d, ceil_mode)
    if count <= 0:
        raise RuntimeError(f"max_pool1d() Invalid computed output size: {count}")


# -- averages ----------------------------------------------------------------------------------------------------------


def _avg_pool(
    dims: int, input: Any, kernel_size: Any, stride: Any, padding: Any, ceil_mode: Any, count_include_pad: Any,
    divisor_override: Any, out: Any,
) -> Tensor:  # fmt: skip
    function = f"avg_pool{dims}d"
    kernel = ints(function, "kernel_size", 2, kernel_size)
    steps, pads = ints(function, "stride", 3, stride, none=True), ints(function, "padding", 4, padding)
    need_bool(function, "ceil_mode", 5, ceil_mode)
    need_bool(function, "count_include_pad", 6, count_include_pad)
    if divisor_override is not None and (
        isinstance(divisor_override, (bool, float)) or not hasattr(divisor_override, "__index__")
    ):
        raise TypeError(f"{function}(): argument 'divisor_override' must be int, not {called(divisor_override)}")
    either = "either " if dims == 2 else ""
    kernel = _several(function, "kernel_size", kernel, dims, f"{either}be a single int")
    steps = _several(function, "stride", steps, dims, f"{either}be omitted, a single int")
    pads = _several(function, "padding", pads, dims, f"{either}be a single int")
    if divisor_override == 0:
        raise RuntimeError("divisor must be not zero")
    sizes = input._array.shape
    if dims == 3 and len(sizes) not in (4, 5):
        raise RuntimeError("non-empty 4D or 5D (batch mode) tensor expected for input")
    if len(sizes) < dims + 1:
        if not sizes:
            raise IndexError(f"Dimension specified as {-dims - 1} but tensor has no dimensions")
        raise IndexError(
            f"Dimension out of range (expected to be in range of [{-len(sizes)}, {len(sizes) - 1}], but got "
            f"{-dims - 1})"
        )
    _check_windows(f"{function}()", sizes, kernel, steps, pads, (1,) * dims, ceil_mode, average=True)
    row = rows.avg_pool2d if dims == 2 else rows.avg_pool3d
    return row(input, kernel, steps, pads, ceil_mode, count_include_pad, divisor_override, out=out)  # type: ignore[no-any-return]


def _avg_pool_of(dims: int) -> Any:
    @composite(method=False, function=False)
    @of_dims(f"avg_pool{dims}d", dims)
    def pool(
        input: Any, kernel_size: Any, stride: Any = None, padding: Any = 0, ceil_mode: bool = False,
        count_include_pad: bool = True, divisor_override: int | None = None, *, out: Any = None,
    ) -> Tensor:  # fmt: skip
        """The average of each window of the last {dims}; windows lie side by side without a ``stride``."""
        places = kernel_size, stride, padding, ceil_mode, count_include_pad
        return _avg_pool(dims, input, *places, divisor_override, out)

    return pool


avg_pool2d, avg_pool3d = _avg_pool_of(2), _avg_pool_of(3)


@composite(method=False, page="torch.nn.functional")
def avg_pool1d(
    input: Any, kernel_size: Any, stride: Any = None, padding: Any = 0, ceil_mode: bool = False,
    count_include_pad: bool = True,
) -> Tensor:  # fmt: skip
    """The average of each window of the last dimension."""
    kernel = ints("avg_pool1d", "kernel_size", 2, kernel_size)
    steps, pads = ints("avg_pool1d", "stride", 3, stride, none=True), ints("avg_pool1d", "padding", 4, padding)
    need_rank("avg_pool1d", input, 2, 3)
    for name, numbers in (("kernel_size", kernel), ("stride", steps), ("padding", pads)):
        one_int("avg_pool1d", name, numbers, none=name == "stride")
    step = steps or kernel
    wide = avg_pool2d(unsqueeze(input, -2), (1, *kernel), (1, *step), (0, *pads), ceil_mode, count_include_pad)
    return squeeze_dim(wide, -2)  # type: ignore[no-any-return]


# -- windows that cover everything -------------------------------------------------------------------------------------


def _sizes_or(output_size: Any, sizes: tuple[int, ...]) -> Any:
    """``output_size`` with the input's own sizes in place of None."""
    if type(output_size) is int:
        return output_size
    if len(sizes) <= len(output_size):
        raise ValueError(f"Input dimension should be at least {len(output_size) + 1}")
    own = rows.ends(sizes, output_size)
    return [n if wanted is None else wanted for wanted, n in zip(output_size, own, strict=True)]


def _check_adaptive(function: str, input: Any, dims: int, colon: str) -> None:
    sizes = input._array.shape
    if len(sizes) not in (dims + 1, dims + 2):
        raise RuntimeError(f"{function}(): Expected {dims + 1}D or {dims + 2}D tensor, but got{colon} {list(sizes)}")


def _adaptive_avg(dims: int, input: Any, output_size: Any) -> Tensor:
    function = f"adaptive_avg_pool{dims}d"
    wanted = ints(function, "output_size", 2, output_size)
    wanted = wanted * dims if len(wanted) == 1 and not isinstance(output_size, (tuple, list)) else wanted
    if len(wanted) != dims:
        raise RuntimeError(f"{function}: output_size must be {dims}")
    if min(wanted) < 0:
        shown = f"{{{wanted[0]}, {','.join(map(str, wanted[1:]))}}}"
        raise RuntimeError(
            f"{function}: elements of output_size must be greater than or equal to 0 but received {shown}"
        )
    if set(wanted) == {1}:
        (values,) = single(input) if dims == 3 else (input,)
        pooled = mean(values, tuple(range(-1, -dims - 1, -1)), True)
        layout = suggested(input._array.shape, strides_of(input._array))
        if layout != "contiguous_format" and type(pooled) is Tensor:
            sizes = pooled._array.shape
            pooled.as_strided_(sizes, format_strides(sizes, layout))  # type: ignore[attr-defined]
        return pooled  # type: ignore[no-any-return]
    _check_adaptive(function, input, dims, "")
    rows.check_filled(function, input._array.shape, input._array.ndim - 2 if dims == 2 else 1)
    return (rows.adaptive_avg_pool2d if dims == 2 else rows.adaptive_avg_pool3d)(input, wanted)  # type: ignore[no-any-return]


def _adaptive_avg_pool(dims: int) -> Any:
    @audible
    @of_dims(f"adaptive_avg_pool{dims}d", dims)
    def pool(input: Any, output_size: Any) -> Tensor:
        """The averages of windows that cover the last {dims} evenly; None keeps a dimension's size."""
        return _adaptive_avg(dims, input, _sizes_or(output_size, tuple(input.size())))

    return pool


adaptive_avg_pool2d, adaptive_avg_pool3d = _adaptive_avg_pool(2), _adaptive_avg_pool(3)


def _line_size(function: str, input: Any, output_size: Any) -> tuple[int, ...]:
    wanted = ints(function, "output_size", 2, output_size)
    need_rank(function, input, 2, 3)
    one_int(function, "output_size", wanted)
    return wanted


@composite(method=False, page="torch.nn.functional")
def adaptive_avg_pool1d(input: Any, output_size: Any) -> Tensor:
    """The averages of ``output_size`` windows that cover the last dimension evenly."""
    wanted = _line_size("adaptive_avg_pool1d", input, output_size)
    return squeeze_dim(adaptive_avg_pool2d(unsqueeze(input, -2), (1, *wanted)), -2)  # type: ignore[no-any-return]


def _adaptive_max(dims: int, input: Any, output_size: Any) -> tuple[Tensor, Tensor]:
    function = f"adaptive_max_pool{dims}d"
    wanted = ints(function, "output_size", 2, output_size)
    wanted = wanted * dims if len(wanted) == 1 and not isinstance(output_size, (tuple, list)) else wanted
    _check_adaptive(function, input, dims, ":")
    sizes = input._array.shape
    rows.check_filled(function, sizes)
    if len(wanted) != dims:
        raise RuntimeError(f"{function}(): internal error: output_size.size() must be {dims}")
    shape = (*sizes[: len(sizes) - dims], *wanted)
    if min(wanted) < 0:
        raise RuntimeError(f"Trying to create tensor with negative dimension {min(wanted)}: {list(shape)}")
    return (rows.adaptive_max_pool2d if dims == 2 else rows.adaptive_max_pool3d)(input, wanted)  # type: ignore[no-any-return]


def _adaptive_max_pool(dims: int) -> Any:
    @audible
    @of_dims(f"adaptive_max_pool{dims}d_with_indices", dims)
    def pool(input: Any, output_size: Any, return_indices: bool = False) -> tuple[Tensor, Tensor]:
        """The largest elements of windows that cover the last {dims} evenly, and their places."""
        return _adaptive_max(dims, input, _sizes_or(output_size, tuple(input.size())))

    cite(pool, f"torch.nn.functional.adaptive_max_pool{dims}d")
    return pool


adaptive_max_pool2d_with_indices, adaptive_max_pool3d_with_indices = _adaptive_max_pool(2), _adaptive_max_pool(3)


@composite(method=False, page="torch.nn.functional")
def adaptive_max_pool1d(input: Any, output_size: Any) -> tuple[Tensor, Tensor]:
    """The largest elements of ``output_size`` windows that cover the last dimension evenly, and their places."""
    wanted = _line_size("adaptive_max_pool1d", input, output_size)
    rows.check_filled("adaptive_max_pool1d", input._array.shape)
    values, places = _adaptive_max(2, unsqueeze(input, -2), (1, *wanted))
    return squeeze_dim(values, -2), squeeze_dim(places, -2)


@audible
def adaptive_max_pool1d_with_indices(
    input: Any, output_size: Any, return_indices: bool = False
) -> tuple[Tensor, Tensor]:
    """The largest elements of ``output_size`` windows that cover the last dimension evenly, and their places.

    Source: https://docs.pytorch.org/docs/stable/generated/torch.nn.functional.adaptive_max_pool1d.html
    """
    return adaptive_max_pool1d(input, output_size)  # type: ignore[no-any-return]


def values_or_both(position: int, with_indices: Callable[..., Any]) -> Any:
    """The front of a function that gives places too: values alone without its argument ``return_indices``."""

    @functools.wraps(with_indices)
    def pool(*args: Any, **kwargs: Any) -> Any:
        is_both = bool(kwargs.get("return_indices", args[position] if len(args) > position else False))
        both = with_indices(*args, **kwargs)
        return both if is_both else both[0]

    pool.__name__ = pool.__name__.removesuffix("_with_indices")
    return functional(pool)


functional_adaptive_max_pool1d = values_or_both(2, adaptive_max_pool1d_with_indices)
adaptive_max_pool2d = values_or_both(2, adaptive_max_pool2d_with_indices)
adaptive_max_pool3d = values_or_both(2, adaptive_max_pool3d_with_indices)


# -- power averages ----------------------------------------------------------------------------------------------------


def _lp_pool(
    dims: int, input: Any, norm_type: float, kernel_size: Any, stride: Any, ceil_mode: bool, area: Any
) -> Tensor:
    largest = (max_pool1d, max_pool2d, max_pool3d)[dims - 1]
    if isinstance(norm_type, (int, float)) and norm_type in (inf, -inf):
        size = input.abs()
        if norm_type > 0:
            return largest(size, kernel_size, stride, 0, 1, ceil_mode)  # type: ignore[no-any-return]
        return -largest(-size, kernel_size, stride, 0, 1, ceil_mode)  # type: ignore[no-any-return]
    average = (avg_pool1d, avg_pool2d, avg_pool3d)[dims - 1]
    out: Any = average(input.pow(norm_type), kernel_size, stride, 0, ceil_mode)
    return (out.sign() * out.abs().relu()).mul(area).pow(1.0 / norm_type)  # type: ignore[no-any-return]


@audible
def lp_pool1d(input: Any, norm_type: float, kernel_size: Any, stride: Any = None, ceil_mode: bool = False) -> Tensor:
    """The ``norm_type``-norm of each window of the last dimension."""
    return _lp_pool(1, input, norm_type, kernel_size, stride, ceil_mode, kernel_size)


@audible
def lp_pool2d(input: Any, norm_type: float, kernel_size: Any, stride: Any = None, ceil_mode: bool = False) -> Tensor:
    """The ``norm_type``-norm of each window of the last two dimensions."""
    width, height = repeated(kernel_size, 2)
    return _lp_pool(2, input, norm_type, kernel_size, stride, ceil_mode, width * height)


@audible
def lp_pool3d(input: Any, norm_type: float, kernel_size: Any, stride: Any = None, ceil_mode: bool = False) -> Tensor:
    """The ``norm_type``-norm of each window of the last three dimensions."""
    depth, width, height = repeated(kernel_size, 3)
    return _lp_pool(3, input, norm_type, kernel_size, stride, ceil_mode, depth * width * height)
