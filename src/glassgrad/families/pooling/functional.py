"""Pooling and unpooling with ``torch.nn.functional``'s signatures; ``return_indices`` asks for places too."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable
from math import inf
from typing import Any

from ...core.tensor import Tensor
from ...ground.listening import audible
from ..random.functions import rand
from ..shape.rows import squeeze_dim, unsqueeze
from . import functions as rows
from . import functions as unpooling

avg_pool1d, avg_pool2d, avg_pool3d = rows.avg_pool1d, rows.avg_pool2d, rows.avg_pool3d
adaptive_avg_pool1d = rows.adaptive_avg_pool1d


def repeated(value: Any, times: int) -> tuple[Any, ...]:
    """Several values as a tuple, or one value so many times."""
    return tuple(value) if isinstance(value, Iterable) else (value,) * times


def _by_indices(position: int, with_indices: Callable[..., Any], without: Callable[..., Any]) -> Any:
    """A function that gives places too if its argument ``return_indices`` is true."""

    @audible
    def pool(*args: Any, **kwargs: Any) -> Any:
        wanted = kwargs.get("return_indices", args[position] if len(args) > position else False)
        return (with_indices if wanted else without)(*args, **kwargs)

    functools.update_wrapper(pool, with_indices)
    pool.__name__ = pool.__qualname__ = with_indices.__name__.removesuffix("_with_indices")
    return pool


def _max_pool(dims: int) -> tuple[Callable[..., Any], Callable[..., Any]]:
    found = getattr(rows, f"max_pool{dims}d_with_indices")
    values = getattr(rows, f"max_pool{dims}d")

    @audible
    def with_indices(
        input: Any, kernel_size: Any, stride: Any = None, padding: Any = 0, dilation: Any = 1,
        ceil_mode: bool = False, return_indices: bool = False,
    ) -> tuple[Tensor, Tensor]:  # fmt: skip
        return found(input, kernel_size, stride, padding, dilation, ceil_mode)  # type: ignore[no-any-return]

    def without(
        input: Any, kernel_size: Any, stride: Any = None, padding: Any = 0, dilation: Any = 1,
        ceil_mode: bool = False, return_indices: bool = False,
    ) -> Tensor:  # fmt: skip
        return values(input, kernel_size, stride, padding, dilation, ceil_mode)  # type: ignore[no-any-return]

    with_indices.__name__ = with_indices.__qualname__ = f"max_pool{dims}d_with_indices"
    where = ("dimension", "two dimensions", "three dimensions")[dims - 1]
    with_indices.__doc__ = (
        f"The largest element of each window of the last {where}; its place too, with ``return_indices``.\n\n"
        "    Without a ``stride`` windows lie side by side; ``padding`` counts as smaller than everything.\n"
        f"    Source: https://docs.pytorch.org/docs/stable/generated/torch.nn.functional.max_pool{dims}d.html\n"
    )
    return with_indices, _by_indices(6, with_indices, without)


max_pool1d_with_indices, max_pool1d = _max_pool(1)
max_pool2d_with_indices, max_pool2d = _max_pool(2)
max_pool3d_with_indices, max_pool3d = _max_pool(3)


# -- windows that cover everything -------------------------------------------------------------------------------------


def _sizes_or(output_size: Any, sizes: tuple[int, ...]) -> Any:
    """``output_size`` with the input's own sizes in place of None."""
    if type(output_size) is int:
        return output_size
    if len(sizes) <= len(output_size):
        raise ValueError(f"Input dimension should be at least {len(output_size) + 1}")
    own = sizes[len(sizes) - len(output_size) :]
    return [n if wanted is None else wanted for wanted, n in zip(output_size, own, strict=True)]


@audible
def adaptive_avg_pool2d(input: Any, output_size: Any) -> Tensor:
    """The averages of windows that cover the last two dimensions evenly; None keeps a dimension's size.

    Source: https://docs.pytorch.org/docs/stable/generated/torch.nn.functional.adaptive_avg_pool2d.html
    """
    return rows.adaptive_avg_pool2d(input, _sizes_or(output_size, tuple(input.size())))


@audible
def adaptive_avg_pool3d(input: Any, output_size: Any) -> Tensor:
    """The averages of windows that cover the last three dimensions evenly; None keeps a dimension's size.

    Source: https://docs.pytorch.org/docs/stable/generated/torch.nn.functional.adaptive_avg_pool3d.html
    """
    return rows.adaptive_avg_pool3d(input, _sizes_or(output_size, tuple(input.size())))


@audible
def adaptive_max_pool1d_with_indices(
    input: Any, output_size: Any, return_indices: bool = False
) -> tuple[Tensor, Tensor]:
    """The largest elements of ``output_size`` windows that cover the last dimension evenly, and their places.

    Source: https://docs.pytorch.org/docs/stable/generated/torch.nn.functional.adaptive_max_pool1d.html
    """
    return rows.adaptive_max_pool1d(input, output_size)


@audible
def adaptive_max_pool2d_with_indices(
    input: Any, output_size: Any, return_indices: bool = False
) -> tuple[Tensor, Tensor]:
    """The largest elements of windows that cover the last two dimensions evenly, and their places.

    Source: https://docs.pytorch.org/docs/stable/generated/torch.nn.functional.adaptive_max_pool2d.html
    """
    return rows.adaptive_max_pool2d(input, _sizes_or(output_size, tuple(input.size())))


@audible
def adaptive_max_pool3d_with_indices(
    input: Any, output_size: Any, return_indices: bool = False
) -> tuple[Tensor, Tensor]:
    """The largest elements of windows that cover the last three dimensions evenly, and their places.

    Source: https://docs.pytorch.org/docs/stable/generated/torch.nn.functional.adaptive_max_pool3d.html
    """
    return rows.adaptive_max_pool3d(input, _sizes_or(output_size, tuple(input.size())))


def _first(function: Callable[..., Any]) -> Callable[..., Tensor]:
    """What gives the values alone."""

    @functools.wraps(function)
    def values(*args: Any, **kwargs: Any) -> Tensor:
        return function(*args, **kwargs)[0]  # type: ignore[no-any-return]

    return values


adaptive_max_pool1d, adaptive_max_pool2d, adaptive_max_pool3d = (
    _by_indices(2, found, _first(found))
    for found in (
        adaptive_max_pool1d_with_indices, adaptive_max_pool2d_with_indices, adaptive_max_pool3d_with_indices,
    )
)  # fmt: skip


# -- windows by chance -------------------------------------------------------------------------------------------------


@audible
def fractional_max_pool2d_with_indices(
    input: Any, kernel_size: Any, output_size: Any = None, output_ratio: Any = None, return_indices: bool = False,
    _random_samples: Any = None,
) -> tuple[Tensor, Tensor]:  # fmt: skip
    """The largest elements of windows at random distances, ``output_size`` of them or a part of the input's size.

    Source: https://docs.pytorch.org/docs/stable/generated/torch.nn.functional.fractional_max_pool2d.html
    """
    settings = _at_random(2, input, output_size, output_ratio, _random_samples)
    return unpooling.fractional_max_pool2d(input, kernel_size, *settings)


@audible
def fractional_max_pool3d_with_indices(
    input: Any, kernel_size: Any, output_size: Any = None, output_ratio: Any = None, return_indices: bool = False,
    _random_samples: Any = None,
) -> tuple[Tensor, Tensor]:  # fmt: skip
    """The largest elements of windows at random distances, ``output_size`` of them or a part of the input's size.

    Source: https://docs.pytorch.org/docs/stable/generated/torch.nn.functional.fractional_max_pool3d.html
    """
    settings = _at_random(3, input, output_size, output_ratio, _random_samples)
    return unpooling.fractional_max_pool3d(input, kernel_size, *settings)


def _at_random(dims: int, input: Tensor, output_size: Any, ratio: Any, samples: Tensor | None) -> tuple[Any, Tensor]:
    """How many windows there are, and a random number for each plane and dimension."""
    function = f"fractional_max_pool{dims}d"
    if output_size is None:
        if ratio is None:
            raise ValueError(f"{function} requires specifying either an output_size or an output_ratio")
        if dims == 2 and len(ratio) > 2:
            raise ValueError(f"{function} requires output_ratio to either be a single Int or tuple of Ints.")
        ratios = repeated(ratio, dims)
        output_size = [int(input.size(place - dims) * ratios[place]) for place in range(dims)]
    if samples is None:
        batch = 1 if input.dim() == dims + 1 else input.size(0)
        samples = rand(batch, input.size(-dims - 1), dims, dtype=input.dtype, device=input.device)
    return output_size, samples


fractional_max_pool2d = _by_indices(4, fractional_max_pool2d_with_indices, _first(fractional_max_pool2d_with_indices))
fractional_max_pool3d = _by_indices(4, fractional_max_pool3d_with_indices, _first(fractional_max_pool3d_with_indices))


# -- back to where elements came from ----------------------------------------------------------------------------------


def _unpooled(
    dims: int, input: Tensor, kernel_size: Any, stride: Any, padding: Any, output_size: Any
) -> tuple[Any, Any, Any]:
    """The size before pooling, the smallest that fits or ``output_size`` if that fits; stride and padding."""
    kernel, pads, sizes = repeated(kernel_size, dims), repeated(padding, dims), tuple(input.shape)
    steps = kernel if stride is None else repeated(stride, dims)
    dims = len(kernel)  # as given
    smallest = [(sizes[place - dims] - 1) * steps[place] + kernel[place] - 2 * pads[place] for place in range(dims)]
    wanted = smallest
    if output_size is not None:
        wanted = output_size[2:] if len(output_size) == dims + 2 else output_size
        if len(wanted) != dims:
            raise ValueError(
                f"output_size should be a sequence containing {dims} or {dims + 2} elements, but it has a length of "
                f"'{len(wanted)}'"
            )
        for place, (n, step) in enumerate(zip(smallest, steps, strict=True)):
            if not n - step < wanted[place] < n + step:
                raise ValueError(
                    f'invalid output_size "{wanted}" (dim {place} must be between {n - step} and {n + step})'
                )
    for place, n in enumerate(wanted):
        if n < 0:
            raise ValueError(
                "max_unpooling: output_size must contain non-negative spatial dimensions, but got "
                f"output_size[{place}]={n}"
            )
    return wanted, steps, pads


@audible
def max_unpool1d(
    input: Any, indices: Any, kernel_size: Any, stride: Any = None, padding: Any = 0, output_size: Any = None
) -> Tensor:
    """Lines of zeros that hold each element at the place that ``max_pool1d`` found it at.

    Source: https://docs.pytorch.org/docs/stable/generated/torch.nn.functional.max_unpool1d.html
    """
    wanted, _, _ = _unpooled(1, input, kernel_size, stride, padding, output_size)
    found = unpooling.max_unpool2d(unsqueeze(input, -1), unsqueeze(indices, -1), [*wanted, 1])
    return squeeze_dim(found, -1)  # type: ignore[no-any-return]


@audible
def max_unpool2d(
    input: Any, indices: Any, kernel_size: Any, stride: Any = None, padding: Any = 0, output_size: Any = None
) -> Tensor:
    """Planes of zeros that hold each element at the place that ``max_pool2d`` found it at.

    Source: https://docs.pytorch.org/docs/stable/generated/torch.nn.functional.max_unpool2d.html
    """
    wanted, _, _ = _unpooled(2, input, kernel_size, stride, padding, output_size)
    return unpooling.max_unpool2d(input, indices, wanted)


@audible
def max_unpool3d(
    input: Any, indices: Any, kernel_size: Any, stride: Any = None, padding: Any = 0, output_size: Any = None
) -> Tensor:
    """Volumes of zeros that hold each element at the place that ``max_pool3d`` found it at.

    Source: https://docs.pytorch.org/docs/stable/generated/torch.nn.functional.max_unpool3d.html
    """
    settings = _unpooled(3, input, kernel_size, stride, padding, output_size)
    return unpooling.max_unpool3d(input, indices, *settings)


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
    """The ``norm_type``-norm of each window of the last dimension.

    Source: https://docs.pytorch.org/docs/stable/generated/torch.nn.functional.lp_pool1d.html
    """
    return _lp_pool(1, input, norm_type, kernel_size, stride, ceil_mode, kernel_size)


@audible
def lp_pool2d(input: Any, norm_type: float, kernel_size: Any, stride: Any = None, ceil_mode: bool = False) -> Tensor:
    """The ``norm_type``-norm of each window of the last two dimensions.

    Source: https://docs.pytorch.org/docs/stable/generated/torch.nn.functional.lp_pool2d.html
    """
    width, height = repeated(kernel_size, 2)
    return _lp_pool(2, input, norm_type, kernel_size, stride, ceil_mode, width * height)


@audible
def lp_pool3d(input: Any, norm_type: float, kernel_size: Any, stride: Any = None, ceil_mode: bool = False) -> Tensor:
    """The ``norm_type``-norm of each window of the last three dimensions.

    Source: https://docs.pytorch.org/docs/stable/generated/torch.nn.functional.lp_pool3d.html
    """
    depth, width, height = repeated(kernel_size, 3)
    return _lp_pool(3, input, norm_type, kernel_size, stride, ceil_mode, depth * width * height)
