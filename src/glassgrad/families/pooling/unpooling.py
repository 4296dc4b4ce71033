"""Back to where pooling took elements from, and pooling of windows by chance; with PyTorch's checks."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...core.tensor import Tensor
from ...ground.dtypes import int64
from ...ground.later import cite
from ...ground.listening import asking, audible
from ...ops.declare import of_dims
from ..arithmetic.functions import need_tensor
from ..random.functions import rand
from ..shape.functions import ints
from ..shape.rows import squeeze_dim, unsqueeze
from . import rows
from .functions import repeated, values_or_both


def _check_unpooled(function: str, sizes: Sequence[int], gap: str = "") -> None:
    for axis, n in enumerate(sizes):
        if axis and not n:
            raise RuntimeError(
                f"{function}(): Expected input to have non-zero size for non-batch dimensions, but got{gap}"
                f"{list(sizes)} with dimension {axis} being empty."
            )


# -- back to where elements came from ----------------------------------------------------------------------------------


def _unpooled(
    dims: int, input: Tensor, kernel_size: Any, stride: Any, padding: Any, output_size: Any
) -> tuple[Any, Any]:
    """The size before pooling, the smallest that fits or ``output_size`` if that fits; and the stride."""
    kernel, pads = repeated(kernel_size, dims), repeated(padding, dims)
    sizes: Any = input.size()
    steps = kernel if stride is None else repeated(stride, dims)
    dims = len(kernel)  # as given
    smallest = [(sizes[dim - dims] - 1) * steps[dim] + kernel[dim] - 2 * pads[dim] for dim in range(dims)]
    wanted = smallest
    if output_size is not None:
        wanted = output_size[2:] if len(output_size) == dims + 2 else output_size
        if len(wanted) != dims:
            raise ValueError(
                f"output_size should be a sequence containing {dims} or {dims + 2} elements, but it has a length of "
                f"'{len(wanted)}'"
            )
        for dim, (n, step) in enumerate(zip(smallest, steps, strict=True)):
            if not n - step < wanted[dim] < n + step:
                raise ValueError(
                    f'invalid output_size "{wanted}" (dim {dim} must be between {n - step} and {n + step})'
                )
    for dim, n in enumerate(wanted):
        if not n >= 0:
            raise ValueError(
                "max_unpooling: output_size must contain non-negative spatial dimensions, but got "
                f"output_size[{dim}]={n}"
            )
    return wanted, steps


def _max_unpool(dims: int, input: Any, indices: Any, output_size: Any, stride: Sequence[int] | None) -> Tensor:
    function = f"max_unpool{dims}d"
    need_tensor(function, "input", 1, input)
    need_tensor(function, "indices", 2, indices)
    wanted = ints(function, "output_size", 3, output_size)
    sizes = input._array.shape
    if indices.dtype is not int64:
        got = f" but got: {indices.dtype.scalar_name}" if dims == 2 else ""
        raise RuntimeError(f"elements in indices should be type int64{got}")
    if len(wanted) != dims:
        wanted_are = "two elements (height, width)" if dims == 2 else "three elements (depth, height, width)"
        raise RuntimeError(f"There should be exactly {wanted_are} in output_size, but got {len(wanted)} elements.")
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
    _check_unpooled(f"max_unpooling{dims}d_forward_out_cpu", sizes, " ")
    return (rows.max_unpool2d if dims == 2 else rows.max_unpool3d)(input, indices, wanted)  # type: ignore[no-any-return]


@audible
def max_unpool1d(
    input: Any, indices: Any, kernel_size: Any, stride: Any = None, padding: Any = 0, output_size: Any = None
) -> Tensor:
    """Lines of zeros that hold each element at the place that ``max_pool1d`` found it at."""
    wanted, _ = _unpooled(1, input, kernel_size, stride, padding, output_size)
    unpooled = _max_unpool(2, unsqueeze(input, -1), unsqueeze(indices, -1), [*wanted, 1], None)
    return squeeze_dim(unpooled, -1)  # type: ignore[no-any-return]


def _max_unpool_of(dims: int) -> Any:
    @audible
    @of_dims(f"max_unpool{dims}d", dims)
    def unpool(
        input: Any, indices: Any, kernel_size: Any, stride: Any = None, padding: Any = 0, output_size: Any = None
    ) -> Tensor:
        """Zeros in the last {dims} that hold each element at the place where pooling found it."""
        wanted, steps = _unpooled(dims, input, kernel_size, stride, padding, output_size)
        checked = ints("max_unpool3d", "stride", 4, steps) if dims == 3 else None
        return _max_unpool(dims, input, indices, wanted, checked)

    return unpool


max_unpool2d, max_unpool3d = _max_unpool_of(2), _max_unpool_of(3)


# -- windows by chance -------------------------------------------------------------------------------------------------


def _fractional_max_pool(dims: int) -> Any:
    @audible
    @asking
    @of_dims(f"fractional_max_pool{dims}d_with_indices", dims)
    def pool(
        input: Any, kernel_size: Any, output_size: Any = None, output_ratio: Any = None, return_indices: bool = False,
        _random_samples: Any = None,
    ) -> tuple[Tensor, Tensor]:  # fmt: skip
        """The largest elements of windows at random distances: ``output_size`` of them, or that part of the input."""
        settings = _at_random(dims, input, output_size, output_ratio, _random_samples)
        return _fractional(dims, input, kernel_size, *settings)

    cite(pool, f"torch.nn.functional.fractional_max_pool{dims}d")
    return pool


fractional_max_pool2d_with_indices, fractional_max_pool3d_with_indices = map(_fractional_max_pool, (2, 3))


def _at_random(dims: int, input: Tensor, output_size: Any, ratio: Any, samples: Tensor | None) -> tuple[Any, Tensor]:
    """How many windows there are, and a random number for each plane and dimension."""
    function = f"fractional_max_pool{dims}d"
    if output_size is None:
        if ratio is None:
            raise ValueError(f"{function} requires specifying either an output_size or an output_ratio")
        if dims == 2 and len(ratio) > 2:
            raise ValueError(f"{function} requires output_ratio to either be a single Int or tuple of Ints.")
        ratios = repeated(ratio, dims)
        output_size = [int(input.size(dim - dims) * ratios[dim]) for dim in range(dims)]
    if samples is None:
        batch = 1 if input.dim() == dims + 1 else input.size(0)
        samples = rand(batch, input.size(-dims - 1), dims, dtype=input.dtype, device=input.device)
    return output_size, samples


def _fractional(dims: int, input: Any, kernel_size: Any, output_size: Any, samples: Any) -> tuple[Tensor, Tensor]:
    function = f"fractional_max_pool{dims}d"
    kernel = ints(function, "kernel_size", 2, kernel_size)
    wanted = ints(function, "output_size", 3, output_size)
    ours = "Ints" if dims == 2 else "three Ints"
    if not isinstance(kernel_size, (tuple, list)):
        kernel *= dims
    if not isinstance(output_size, (tuple, list)):
        wanted *= dims
    for name, numbers in (("kernel_size", kernel), ("output_size", wanted)):
        if len(numbers) != dims:
            raise RuntimeError(f"{function}: {name} must either be a single Int or tuple of {ours}")
    sizes = input._array.shape
    if len(sizes) not in (dims + 1, dims + 2):
        raise RuntimeError(f"{function}(): Expected {dims + 1}D or {dims + 2}D tensor, but got: {list(sizes)}")
    where = function if dims == 2 else f"{function}_out"
    first = len(sizes) - dims - 1
    _check_unpooled(where, sizes)
    for name, n, m, k in zip(("time", "height", "width")[3 - dims :], sizes[first + 1 :], wanted, kernel, strict=True):
        if m + k - 1 > n - (dims == 3):  # one less in volumes, as PyTorch has it
            raise RuntimeError(f"{where}(): pool {name} {k} too large relative to input {name} {n}")
        if m < 0:
            raise RuntimeError(f"Trying to create tensor with negative dimension {m}: {[*sizes[: first + 1], *wanted]}")
        if k < 1:  # of which PyTorch says minus infinity, at a place beyond the end
            raise RuntimeError(f"{where}(): pool {name} must be positive, but got {k}")
    _check_samples(input, samples, dims)
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


fractional_max_pool2d = values_or_both(4, fractional_max_pool2d_with_indices)
fractional_max_pool3d = values_or_both(4, fractional_max_pool3d_with_indices)
