"""Convolutions as layers, plain and transposed; and lazy ones, which learn their channels from their first input."""

from __future__ import annotations

import math
from typing import Any

from ...autograd.grad_mode import no_grad
from ...core.tensor import Tensor
from ...nn import functional as F
from ...nn import init
from ...nn.modules.dimensions import Dimensional
from ...nn.modules.lazy import LazyModuleMixin
from ...nn.modules.module import Module
from ...nn.modules.utils import _ntuple, _reverse_repeat_tuple, _single
from ...nn.parameter import Parameter, UninitializedParameter
from ..create.functions import empty

_MODES = ("zeros", "reflect", "replicate", "circular")


class _ConvNd(Dimensional):
    """What all of them share: the settings, a weight and a bias drawn uniformly from +-1/sqrt(inputs of an output)."""

    __constants__ = [
        "stride", "padding", "dilation", "groups", "padding_mode", "output_padding", "in_channels", "out_channels",
        "kernel_size",
    ]  # fmt: skip
    weight: Parameter
    bias: Parameter | None
    kernel_size: tuple[int, ...]
    stride: tuple[int, ...]
    padding: str | tuple[int, ...]
    dilation: tuple[int, ...]
    output_padding: tuple[int, ...]

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: tuple[int, ...],
        stride: tuple[int, ...],
        padding: str | tuple[int, ...],
        dilation: tuple[int, ...],
        transposed: bool,
        output_padding: tuple[int, ...],
        groups: int,
        bias: bool,
        padding_mode: str,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__()
        if groups <= 0:
            raise ValueError("groups must be a positive integer")
        if in_channels % groups:
            raise ValueError("in_channels must be divisible by groups")
        if out_channels % groups:
            raise ValueError("out_channels must be divisible by groups")
        if isinstance(padding, str):
            if padding not in ("same", "valid"):
                raise ValueError(f"Invalid padding string {padding!r}, should be one of { ({'same', 'valid'}) }")
            if padding == "same" and any(step != 1 for step in stride):
                raise ValueError("padding='same' is not supported for strided convolutions")
        if padding_mode not in _MODES:
            raise ValueError(f"padding_mode must be one of {set(_MODES)}, but got padding_mode='{padding_mode}'")
        self.in_channels, self.out_channels = in_channels, out_channels
        self.kernel_size, self.stride, self.padding, self.dilation = kernel_size, stride, padding, dilation
        self.transposed, self.output_padding = transposed, output_padding
        self.groups, self.padding_mode = groups, padding_mode
        self._reversed_padding_repeated_twice = self._border()
        first, second = (in_channels, out_channels) if transposed else (out_channels, in_channels)
        self.weight = Parameter(empty((first, second // groups, *kernel_size), device=device, dtype=dtype))
        if bias:
            self.bias = Parameter(empty(out_channels, device=device, dtype=dtype))
        else:
            self.register_parameter("bias", None)
        self.reset_parameters()

    def _border(self) -> Any:
        """The padding as ``F.pad`` takes it: last dimension first, before and after."""
        if not isinstance(self.padding, str):
            return _reverse_repeat_tuple(self.padding, 2)
        if self.padding == "valid":
            return [0, 0] * len(self.kernel_size)
        totals = [d * (k - 1) for d, k in zip(self.dilation, self.kernel_size, strict=False)]
        return [width for total in reversed(totals) for width in (total // 2, total - total // 2)]

    def reset_parameters(self) -> None:
        """Draw weight and bias anew."""
        with no_grad():
            weight: Any = self.weight
            if weight.is_contiguous():
                init.kaiming_uniform_(weight, a=math.sqrt(5))
            else:  # the same numbers in whatever order of memory
                drawn = empty(tuple(weight.shape), device=weight.device, dtype=weight.dtype)
                init.kaiming_uniform_(drawn, a=math.sqrt(5))  # a program may have put its own there, which gives None
                weight.copy_(drawn)
            if self.bias is not None:
                fan_in, _ = init._calculate_fan_in_and_fan_out(weight)
                if fan_in:
                    bound = 1 / math.sqrt(fan_in)
                    init.uniform_(self.bias, -bound, bound)

    def extra_repr(self) -> str:
        n = len(self.kernel_size)
        parts = [f"{self.in_channels}, {self.out_channels}, kernel_size={self.kernel_size}, stride={self.stride}"]
        if self.padding != (0,) * len(self.padding):
            parts.append(f"padding={self.padding}")
        if self.dilation != (1,) * n:
            parts.append(f"dilation={self.dilation}")
        if self.output_padding != (0,) * n:
            parts.append(f"output_padding={self.output_padding}")
        if self.groups != 1:
            parts.append(f"groups={self.groups}")
        if self.bias is None:
            parts.append("bias=False")
        if self.padding_mode != "zeros":
            parts.append(f"padding_mode={self.padding_mode}")
        return ", ".join(parts)

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)
        self.__dict__.setdefault("padding_mode", "zeros")


class _Conv(_ConvNd):
    """A convolution of as many dimensions as the subclass says."""

    _functions = (F.conv1d, F.conv2d, F.conv3d)

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: Any,
        stride: Any = 1,
        padding: Any = 0,
        dilation: Any = 1,
        groups: int = 1,
        bias: bool = True,
        padding_mode: str = "zeros",
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        several = _ntuple(self._dims)
        super().__init__(
            in_channels,
            out_channels,
            several(kernel_size),
            several(stride),
            padding if isinstance(padding, str) else several(padding),
            several(dilation),
            False,
            several(0),
            groups,
            bias,
            padding_mode,
            device=device,
            dtype=dtype,
        )

    def _conv_forward(self, input: Tensor, weight: Tensor, bias: Tensor | None) -> Tensor:
        padding: Any = self.padding
        if self.padding_mode != "zeros":
            input = F.pad(input, self._reversed_padding_repeated_twice, mode=self.padding_mode)
            padding = (0,) * self._dims
        output: Tensor = self._function(input, weight, bias, self.stride, padding, self.dilation, self.groups)
        return output

    def forward(self, input: Tensor) -> Tensor:
        """The products of the input's windows with the weight, plus the bias."""
        return self._conv_forward(input, self.weight, self.bias)


class Conv1d(_Conv, dims=1):
    """From (n, in_channels, l) to (n, out_channels, l'); without n, too.

    ``padding`` is a number, 'valid' or 'same'; ``padding_mode`` what the border is made of: 'zeros', 'reflect',
    'replicate', 'circular'.  ``groups`` splits the channels into that many convolutions side by side.
    """


class Conv2d(_Conv, dims=2):
    """From (n, in_channels, h, w) to (n, out_channels, h', w'); without n, too.  Settings are one number or two.

    ``padding`` may be 'valid' or 'same'; ``padding_mode`` is what the border is made of: 'zeros', 'reflect',
    'replicate', 'circular'.  ``groups`` splits the channels into that many convolutions side by side.
    """


class Conv3d(_Conv, dims=3):
    """From (n, in_channels, d, h, w) to (n, out_channels, d', h', w'); without n, too.  Settings: one number or three.
    """


class _ConvTransposeNd(_ConvNd):
    """A transposed convolution of as many dimensions as the subclass says."""

    _functions = (F.conv_transpose1d, F.conv_transpose2d, F.conv_transpose3d)

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: Any,
        stride: Any = 1,
        padding: Any = 0,
        output_padding: Any = 0,
        groups: int = 1,
        bias: bool = True,
        dilation: Any = 1,
        padding_mode: str = "zeros",
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        if padding_mode != "zeros":
            raise ValueError(f'Only "zeros" padding mode is supported for {type(self).__name__}')
        several = _ntuple(self._dims)
        super().__init__(
            in_channels,
            out_channels,
            several(kernel_size),
            several(stride),
            several(padding),
            several(dilation),
            True,
            several(output_padding),
            groups,
            bias,
            padding_mode,
            device=device,
            dtype=dtype,
        )

    def _output_padding(
        self,
        input: Tensor,
        output_size: Any,
        stride: Any,
        padding: Any,
        kernel_size: Any,
        num_spatial_dims: int,
        dilation: Any = None,
    ) -> Any:
        """What must be added at the end so that the output has ``output_size``; ValueError where nothing does."""
        if output_size is None:
            return _single(self.output_padding)
        sizes = tuple(input.shape)
        lead = 2 if len(sizes) == num_spatial_dims + 2 else 1
        if len(output_size) == lead + num_spatial_dims:
            output_size = output_size[lead:]
        if len(output_size) != num_spatial_dims:
            raise ValueError(
                f"ConvTranspose{num_spatial_dims}D: for {len(sizes)}D input, output_size must have {num_spatial_dims} "
                f"or {lead + num_spatial_dims} elements (got {len(output_size)})"
            )
        spread = (1,) * num_spatial_dims if dilation is None else dilation
        least = [
            (n - 1) * s - 2 * p + d * (k - 1) + 1
            for n, s, p, d, k in zip(sizes[lead:], stride, padding, spread, kernel_size, strict=False)
        ]
        most = [n + s - 1 for n, s in zip(least, stride, strict=False)]
        if any(not low <= n <= high for low, n, high in zip(least, output_size, most, strict=True)):
            raise ValueError(
                f"requested an output size of {output_size}, but valid sizes range from {least} to {most} (for an "
                f"input of {input.shape[2:]!r})"
            )
        return [n - low for n, low in zip(output_size, least, strict=True)]

    def forward(self, input: Tensor, output_size: Any = None) -> Tensor:
        """The weight spread over the output by each element of the input, plus the bias.

        ``output_size`` chooses among the sizes that a stride makes possible.
        """
        if self.padding_mode != "zeros":
            raise ValueError(f"Only `zeros` padding mode is supported for ConvTranspose{self._dims}d")
        if not isinstance(self.padding, tuple):
            raise AssertionError("self.padding must be a tuple")
        extra = self._output_padding(
            input, output_size, self.stride, self.padding, self.kernel_size, self._dims, self.dilation
        )
        output: Tensor = self._function(
            input, self.weight, self.bias, self.stride, self.padding, extra, self.groups, self.dilation
        )
        return output


class ConvTranspose1d(_ConvTransposeNd, dims=1):
    """The adjoint of a ``Conv1d`` of the same settings: from (n, in_channels, l) to (n, out_channels, l')."""


class ConvTranspose2d(_ConvTransposeNd, dims=2):
    """The adjoint of a ``Conv2d`` of the same settings: from (n, in_channels, h, w) to (n, out_channels, h', w')."""


class ConvTranspose3d(_ConvTransposeNd, dims=3):
    """The adjoint of a ``Conv3d`` of the same settings."""


# -- lazy layers -------------------------------------------------------------------------------------------------------


class _LazyConvXdMixin(LazyModuleMixin):
    """What lazy convolutions share: weight and bias are made when the channels of the first input are known."""

    def _wait(self: Any, out_channels: int, bias: bool, device: Any, dtype: Any) -> None:
        self.weight = UninitializedParameter(device=device, dtype=dtype)
        self.out_channels = out_channels
        if bias:
            self.bias = UninitializedParameter(device=device, dtype=dtype)

    def reset_parameters(self: Any) -> None:
        """Draw weight and bias anew, where there are any yet."""
        if not self.has_uninitialized_params() and self.in_channels != 0:
            super().reset_parameters()  # type: ignore[misc]

    def initialize_parameters(self: Any, input: Tensor, *args: Any, **kwargs: Any) -> None:
        """Make weight and bias for the channels of ``input``."""
        if not self.has_uninitialized_params():
            return
        self.in_channels = self._get_in_channels(input)
        if self.in_channels % self.groups:
            raise ValueError("in_channels must be divisible by groups")
        first, second = self.out_channels, self.in_channels
        if self.transposed:
            first, second = second, first
        if not isinstance(self.weight, UninitializedParameter):
            raise AssertionError("self.weight must be an UninitializedParameter")
        self.weight.materialize((first, second // self.groups, *self.kernel_size))
        if self.bias is not None:
            if not isinstance(self.bias, UninitializedParameter):
                raise AssertionError("self.bias must be an UninitializedParameter")
            self.bias.materialize((self.out_channels,))
        self.reset_parameters()

    def _get_in_channels(self, input: Any) -> int:
        dims = self._get_num_spatial_dims()
        if input.dim() not in (dims + 1, dims + 2):
            raise RuntimeError(
                f"Expected {dims + 1}D (unbatched) or {dims + 2}D (batched) input to {type(self).__name__}, but got "
                f"input of size: {input.shape}"
            )
        return int(input.shape[1] if input.dim() == dims + 2 else input.shape[0])

    def _get_num_spatial_dims(self: Any) -> int:
        return int(self._dims)


class _LazyConv(_LazyConvXdMixin):
    """A lazy {eager}: it learns ``in_channels`` from its first input."""

    def __init__(
        self,
        out_channels: int,
        kernel_size: Any,
        stride: Any = 1,
        padding: Any = 0,
        dilation: Any = 1,
        groups: int = 1,
        bias: bool = True,
        padding_mode: str = "zeros",
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__(0, 0, kernel_size, stride, padding, dilation, groups, False, padding_mode, device, dtype)
        self._wait(out_channels, bias, device, dtype)


class _LazyConvTranspose(_LazyConvXdMixin):
    """A lazy {eager}: it learns ``in_channels`` from its first input."""

    def __init__(
        self,
        out_channels: int,
        kernel_size: Any,
        stride: Any = 1,
        padding: Any = 0,
        output_padding: Any = 0,
        groups: int = 1,
        bias: bool = True,
        dilation: Any = 1,
        padding_mode: str = "zeros",
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__(
            0, 0, kernel_size, stride, padding, output_padding, groups, False, dilation, padding_mode, device, dtype
        )
        self._wait(out_channels, bias, device, dtype)


class LazyConv1d(_LazyConv, Conv1d, dims=1):  # type: ignore[misc]
    cls_to_become = Conv1d


class LazyConv2d(_LazyConv, Conv2d, dims=2):  # type: ignore[misc]
    cls_to_become = Conv2d


class LazyConv3d(_LazyConv, Conv3d, dims=3):  # type: ignore[misc]
    cls_to_become = Conv3d


class LazyConvTranspose1d(_LazyConvTranspose, ConvTranspose1d, dims=1):  # type: ignore[misc]
    cls_to_become = ConvTranspose1d


class LazyConvTranspose2d(_LazyConvTranspose, ConvTranspose2d, dims=2):  # type: ignore[misc]
    cls_to_become = ConvTranspose2d


class LazyConvTranspose3d(_LazyConvTranspose, ConvTranspose3d, dims=3):  # type: ignore[misc]
    cls_to_become = ConvTranspose3d


# -- Images as columns of windows, and back: Unfold, Fold.


class Fold(Module):
    """Images of ``output_size``, each element the sum of its places in columns of windows (n, c * kernel, windows)."""

    __constants__ = ["output_size", "kernel_size", "dilation", "padding", "stride"]

    def __init__(
        self, output_size: Any, kernel_size: Any, dilation: Any = 1, padding: Any = 0, stride: Any = 1
    ) -> None:
        super().__init__()
        self.output_size, self.kernel_size, self.dilation = output_size, kernel_size, dilation
        self.padding, self.stride = padding, stride

    def forward(self, input: Tensor) -> Tensor:
        """The images."""
        return F.fold(input, self.output_size, self.kernel_size, self.dilation, self.padding, self.stride)

    def extra_repr(self) -> str:
        return (
            f"output_size={self.output_size}, kernel_size={self.kernel_size}, dilation={self.dilation}, "
            f"padding={self.padding}, stride={self.stride}"
        )


class Unfold(Module):
    """The windows of images (n, c, h, w) as columns: (n, c * kernel, windows)."""

    __constants__ = ["kernel_size", "dilation", "padding", "stride"]

    def __init__(self, kernel_size: Any, dilation: Any = 1, padding: Any = 0, stride: Any = 1) -> None:
        super().__init__()
        self.kernel_size, self.dilation, self.padding, self.stride = kernel_size, dilation, padding, stride

    def forward(self, input: Tensor) -> Tensor:
        """The columns."""
        return F.unfold(input, self.kernel_size, self.dilation, self.padding, self.stride)

    def extra_repr(self) -> str:
        return f"kernel_size={self.kernel_size}, dilation={self.dilation}, padding={self.padding}, stride={self.stride}"
