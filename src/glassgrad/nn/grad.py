"""What ``torch.nn.grad`` holds: the gradients of convolutions by input and by weight, as functions.

Source: https://docs.pytorch.org/docs/stable/nn.functional.html#convolution-functions
"""

from __future__ import annotations

from typing import Any

from ..core.tensor import Tensor
from ..families.convolution.functions import check_numbers, check_sizes
from ..families.convolution.kernels import output_sizes
from ..families.convolution.rows import convolution_input, convolution_weight
from ..ops.declare import named
from .modules.utils import _ntuple


def _settings(
    ndim: int, input_size: Any, weight_size: Any, grad_output: Tensor, stride: Any, padding: Any, dilation: Any,
    groups: int,
) -> tuple[Any, Any, Any]:  # fmt: skip
    """Stride, padding and dilation, one for each dimension, once everything fits."""
    several = _ntuple(ndim)
    settings = [several(value) for value in (stride, padding, dilation)]
    steps, around, spread = [value * ndim if len(value) == 1 else value for value in settings]
    check_numbers(steps, around, spread, (0,))
    check_sizes(input_size, weight_size, None, around, spread, False, groups)
    outs = output_sizes(input_size[2:], weight_size[2:], steps, around, spread)
    wanted = (input_size[0], weight_size[0], *outs)
    sizes = grad_output._array.shape
    for dim, (n, m) in enumerate(zip(wanted, sizes, strict=False)):
        if n != m or len(sizes) != len(wanted):
            raise RuntimeError(
                f"Expected a tensor of dimension {len(wanted)} and tensor.size[{dim}] == {n} but got: dimension "
                f"{len(sizes)} and tensor.size[{dim}] = {m}"
            )
    return steps, around, spread


def _by_input(ndim: int, sizes: str) -> Any:
    @named(f"conv{ndim}d_input", function=f"conv{ndim}d", sizes=sizes)
    def gradient(
        input_size: Any, weight: Any, grad_output: Any, stride: Any = 1, padding: Any = 0, dilation: Any = 1,
        groups: int = 1,
    ) -> Tensor:  # fmt: skip
        """The gradient of ``{function}`` by an input of ``input_size`` {sizes}, from that by its output."""
        whole = tuple(input_size)
        settings = _settings(ndim, whole, weight._array.shape, grad_output, stride, padding, dilation, groups)
        of_input: Tensor = convolution_input(grad_output, weight, whole, *settings, False, (0,) * ndim, groups)
        return of_input

    return gradient


def _by_weight(ndim: int, sizes: str) -> Any:
    @named(f"conv{ndim}d_weight", function=f"conv{ndim}d", sizes=sizes)
    def gradient(
        input: Any, weight_size: Any, grad_output: Any, stride: Any = 1, padding: Any = 0, dilation: Any = 1,
        groups: int = 1,
    ) -> Tensor:  # fmt: skip
        """The gradient of ``{function}`` by a weight of ``weight_size`` {sizes}, from that by its output."""
        whole = tuple(weight_size)
        settings = _settings(ndim, input._array.shape, whole, grad_output, stride, padding, dilation, groups)
        of_weight: Tensor = convolution_weight(grad_output, input, whole, *settings, False, (0,) * ndim, groups)
        return of_weight

    return gradient


conv1d_input, conv1d_weight = _by_input(1, "(n, c, l)"), _by_weight(1, "(o, c / groups, k)")
conv2d_input, conv2d_weight = _by_input(2, "(n, c, h, w)"), _by_weight(2, "(o, c / groups, kh, kw)")
conv3d_input, conv3d_weight = _by_input(3, "(n, c, d, h, w)"), _by_weight(3, "(o, c / groups, *kernel)")
