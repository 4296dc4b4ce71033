"""PyTorch's signatures of unpooling and of pooling by chance, with its checks."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...core.tensor import Tensor
from ...ground.dtypes import int64
from ..declare import composite
from ..primitive import pooling as rows
from .extent import ints, on_meta, sized
from .operand import need_tensor


def _max_unpool(dims: int, input: Any, indices: Any, output_size: Any, stride: Sequence[int] | None) -> Tensor:
    function = f"max_unpool{dims}d"
    need_tensor(function, "input", 1, input)
    need_tensor(function, "indices", 2, indices)
    wanted = ints(function, "output_size", 3, output_size)
    sizes = input._array.shape
    if indices.dtype is not int64:
        got = f" but got: {indices.dtype.scalar_name}" if dims == 2 else ""
        raise RuntimeError(f"elements in indices should be type int64{got}")
    if dims == 2 and len(wanted) != 2:
        raise RuntimeError(
            f"There should be exactly two elements (height, width) in output_size, but got {len(wanted)} elements."
        )
    if len(sizes) not in (dims + 1, dims + 2):
        raise RuntimeError(
            f"Input to max_unpooling{dims}d should be a {dims + 1}d or {dims + 2}d Tensor, but got a tensor with "
            f"{len(sizes)} dimensions."
        )
    if stride is not None and min(stride) <= 0:
        raise RuntimeError(f"strides should be greater than zero, but got stride: {list(stride)}")
    if sizes != indices._array.shape:
        raise RuntimeError(
            f"Expected shape of indices to be same as that of the input tensor ({list(sizes)}) but got indices tensor "
            f"with shape: {list(indices._array.shape)}"
        )
    _check_filled(f"max_unpooling{dims}d_forward_out_cpu", sizes, " ")
    if on_meta(input):
        return sized(input, (*sizes[: len(sizes) - dims], *wanted))
    return (rows.max_unpool2d if dims == 2 else rows.max_unpool3d)(input, indices, wanted)  # type: ignore[no-any-return]


def _check_filled(function: str, sizes: Sequence[int], gap: str = "") -> None:
    for axis, n in enumerate(sizes):
        if axis and not n:
            raise RuntimeError(
                f"{function}(): Expected input to have non-zero size for non-batch dimensions, but got{gap}"
                f"{list(sizes)} with dimension {axis} being empty."
            )


@composite(method=False, function=False)
def max_unpool2d(input: Any, indices: Any, output_size: Any) -> Tensor:
    """Planes of zeros of ``output_size`` that hold each element at the place that pooling found it at."""
    return _max_unpool(2, input, indices, output_size, None)


@composite(method=False, function=False)
def max_unpool3d(input: Any, indices: Any, output_size: Any, stride: Any, padding: Any) -> Tensor:
    """Volumes of zeros of ``output_size`` that hold each element at the place that pooling found it at."""
    return _max_unpool(3, input, indices, output_size, ints("max_unpool3d", "stride", 4, stride))


def _fractional(dims: int, input: Any, kernel_size: Any, output_size: Any, samples: Any) -> tuple[Tensor, Tensor]:
    function = f"fractional_max_pool{dims}d"
    need_tensor(function, "input", 1, input)
    kernel = ints(function, "kernel_size", 2, kernel_size)
    wanted = ints(function, "output_size", 3, output_size)
    need_tensor(function, "random_samples", 4, samples)
    ours = "Ints" if dims == 2 else "three Ints"
    kernel, wanted = (numbers * dims if len(numbers) == 1 else numbers for numbers in (kernel, wanted))
    for name, numbers in (("kernel_size", kernel), ("output_size", wanted)):
        if len(numbers) != dims:
            raise RuntimeError(f"{function}: {name} must either be a single Int or tuple of {ours}")
    sizes = input._array.shape
    if len(sizes) not in (dims + 1, dims + 2):
        raise RuntimeError(f"{function}(): Expected {dims + 1}D or {dims + 2}D tensor, but got: {list(sizes)}")
    where = function if dims == 2 else f"{function}_out"
    first = len(sizes) - dims - 1
    _check_filled(where, sizes if first else (1, *sizes))
    for name, n, m, k in zip(("time", "height", "width")[3 - dims :], sizes[first + 1 :], wanted, kernel, strict=True):
        if m + k - 1 > n - (dims == 3):  # one less in volumes, as PyTorch has it
            raise RuntimeError(f"{where}(): pool {name} {k} too large relative to input {name} {n}")
    _check_samples(input, samples, dims)
    shape = (*sizes[: first + 1], *wanted)
    if on_meta(input):
        values = sized(input, shape)
        return values, sized(values, shape, int64)
    return (rows.fractional_max_pool2d if dims == 2 else rows.fractional_max_pool3d)(input, samples, kernel, wanted)  # type: ignore[no-any-return]


def _check_samples(input: Tensor, samples: Tensor, dims: int) -> None:
    if samples.dtype is not input.dtype:
        raise RuntimeError("Expect _random_samples to have the same dtype as input")
    n = samples._array.shape
    if len(n) != 3:
        raise RuntimeError(f"Expect _random_samples to have 3 dimensions, got {len(n)}")
    batch = input._array.shape[0] if input._array.ndim == dims + 2 else 1
    if n[0] < batch:
        raise RuntimeError("Expect _random_samples.size(0) no less then input batch size.")
    if n[1] != input._array.shape[input._array.ndim - dims - 1]:
        raise RuntimeError("Expect _random_samples.size(1) equals to input channel size.")
    if n[2] != dims:
        raise RuntimeError(f"Expect _random_samples.size(2) equals to {dims}; got {n[2]}.")


@composite(method=False, function=False)
def fractional_max_pool2d(
    input: Any, kernel_size: Any, output_size: Any, random_samples: Any
) -> tuple[Tensor, Tensor]:
    """The largest elements of windows at distances drawn by ``random_samples`` (planes, 2), and their places."""
    return _fractional(2, input, kernel_size, output_size, random_samples)


@composite(method=False, function=False)
def fractional_max_pool3d(
    input: Any, kernel_size: Any, output_size: Any, random_samples: Any
) -> tuple[Tensor, Tensor]:
    """The largest elements of windows at distances drawn by ``random_samples`` (volumes, 3), and their places."""
    return _fractional(3, input, kernel_size, output_size, random_samples)
