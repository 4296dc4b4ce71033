"""Layers that bring their input to mean 0 and variance 1."""

from __future__ import annotations

import numbers
from typing import Any

from ...autograd.function import Function, once_differentiable
from ...core.tensor import Tensor
from ...nn import functional as F
from ...nn import init
from ...nn.modules.module import Module
from ...nn.parameter import Parameter
from ..create.functions import empty, zeros_like
from ..join.functions import stack


class _Affine(Module):
    """What they share: a weight of ones and a bias of zeros at first, or neither."""

    weight: Parameter | None
    bias: Parameter | None

    def _make(self, shape: tuple[int, ...], device: Any, dtype: Any, **wanted: bool) -> None:
        for name, is_wanted in wanted.items():
            parameter = Parameter(empty(shape, device=device, dtype=dtype)) if is_wanted else None
            self.register_parameter(name, parameter)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Set the weight to ones and the bias to zeros."""
        if self.weight is not None:
            init.ones_(self.weight)
        if self._parameters.get("bias") is not None:
            init.zeros_(self.bias)


def _as_shape(normalized_shape: Any) -> tuple[int, ...]:
    return (int(normalized_shape),) if isinstance(normalized_shape, numbers.Integral) else tuple(normalized_shape)


class LayerNorm(_Affine):
    """Mean 0 and variance 1 over the last dimensions, ``normalized_shape``; then a weight and a bias."""

    def __init__(
        self,
        normalized_shape: Any,
        eps: float = 1e-5,
        elementwise_affine: bool = True,
        bias: bool = True,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__()
        self.normalized_shape = _as_shape(normalized_shape)
        self.eps, self.elementwise_affine = eps, elementwise_affine
        self._make(self.normalized_shape, device, dtype, weight=elementwise_affine, bias=elementwise_affine and bias)

    def forward(self, input: Tensor) -> Tensor:
        """The input, normalised."""
        return F.layer_norm(input, self.normalized_shape, self.weight, self.bias, self.eps)

    def extra_repr(self) -> str:
        return (
            f"{self.normalized_shape}, eps={self.eps}, elementwise_affine={self.elementwise_affine}, "
            f"bias={self.bias is not None}"
        )


class GroupNorm(_Affine):
    """Mean 0 and variance 1 in each of ``num_groups`` groups of channels; then a weight and a bias for each channel."""

    def __init__(
        self,
        num_groups: int,
        num_channels: int,
        eps: float = 1e-5,
        affine: bool = True,
        device: Any = None,
        dtype: Any = None,
        *,
        bias: bool = True,
    ) -> None:
        super().__init__()
        if num_channels % num_groups:
            raise ValueError(f"num_channels ({num_channels}) must be divisible by num_groups ({num_groups})")
        self.num_groups, self.num_channels, self.eps, self.affine = num_groups, num_channels, eps, affine
        self._make((num_channels,), device, dtype, weight=affine, bias=affine and bias)

    def forward(self, input: Tensor) -> Tensor:
        """The input, normalised."""
        return F.group_norm(input, self.num_groups, self.weight, self.bias, self.eps)

    def extra_repr(self) -> str:
        return (
            f"{self.num_groups}, {self.num_channels}, eps={self.eps}, affine={self.affine}, "
            f"bias={self.bias is not None}"
        )


class RMSNorm(_Affine):
    """The input divided by its root mean square over the last dimensions; then a weight."""

    def __init__(
        self,
        normalized_shape: Any,
        eps: float | None = None,
        elementwise_affine: bool = True,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__()
        self.normalized_shape = _as_shape(normalized_shape)
        self.eps, self.elementwise_affine = eps, elementwise_affine
        self._make(self.normalized_shape, device, dtype, weight=elementwise_affine)

    def forward(self, x: Tensor) -> Tensor:
        """The input, normalised."""
        return F.rms_norm(x, self.normalized_shape, self.weight, self.eps)

    def extra_repr(self) -> str:
        return f"{self.normalized_shape}, eps={self.eps}, elementwise_affine={self.elementwise_affine}"


# -- Layers that divide by what neighbouring channels hold.


class LocalResponseNorm(Module):
    """Each element of (N, C, *) divided by ``(k + alpha * mean of squares) ** beta`` over ``size`` channels."""

    __constants__ = ["size", "alpha", "beta", "k"]
    size: int
    alpha: float
    beta: float
    k: float

    def __init__(self, size: int, alpha: float = 1e-4, beta: float = 0.75, k: float = 1.0) -> None:
        super().__init__()
        self.size, self.alpha, self.beta, self.k = size, alpha, beta, k

    def forward(self, input: Tensor) -> Tensor:
        """The input, normalised."""
        return F.local_response_norm(input, self.size, self.alpha, self.beta, self.k)

    def extra_repr(self) -> str:
        return f"{self.size}, alpha={self.alpha}, beta={self.beta}, k={self.k}"


def _sums(squares: Tensor, size: int) -> Tensor:
    """Sums over neighbouring channels, each made of the one before as PyTorch makes them.

    That of channel c drops channel ``c - reach`` only if c is larger than ``reach``, so the first one is never dropped.
    """
    channels = squares.shape[1]
    reach = int((size - 1) / 2 + 1)
    total: Any = zeros_like(squares.select(1, 0))  # type: ignore[attr-defined]
    for channel in range(min(reach, channels)):
        total = total + squares.select(1, channel)  # type: ignore[attr-defined]
    sums = [total]
    for channel in range(1, channels):
        if channel < channels - reach + 1:
            total = total + squares.select(1, channel + reach - 1)  # type: ignore[attr-defined]
        if channel > reach:
            total = total - squares.select(1, channel - reach)  # type: ignore[attr-defined]
        sums.append(total)
    return stack(sums, 1)  # type: ignore[no-any-return]


class _CrossMapLRN2d(Function):
    """The function of the layer: its gradient is that of windows, which its running sums are not quite."""

    @staticmethod
    def forward(ctx: Any, input: Any, size: int, alpha: float, beta: float, k: float) -> Any:
        """The input, normalised."""
        if input.dim() != 4:
            raise ValueError(f"CrossMapLRN2d: Expected input to be 4D, got {input.dim()}D instead.")
        ctx.size, ctx.alpha, ctx.beta = size, alpha, beta
        ctx.scale = _sums(input * input, size) * (alpha / size) + k
        output = ctx.scale.pow(-beta) * input
        ctx.save_for_backward(input, output)
        return output

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad_output: Any) -> Any:
        """The gradient, from sums over neighbouring channels."""
        input, output = ctx.saved_tensors
        size, channels = ctx.size, input.shape[1]
        ratio = grad_output * output / ctx.scale
        before = int(size - (size - 1) / 2)
        wide = F.pad(ratio, (0, 0, 0, 0, before, size - 1 - before))
        total = wide[:, : size - 1].sum(1)
        grad = ctx.scale.pow(-ctx.beta) * grad_output
        shares = []
        for channel in range(channels):
            total = total + wide[:, channel + size - 1]
            shares.append(total)
            total = total - wide[:, channel]
        return grad - input * stack(shares, 1) * (2 * ctx.alpha * ctx.beta / size), None, None, None, None


_CrossMapLRN2d.__name__ = _CrossMapLRN2d.__qualname__ = "CrossMapLRN2d"


class CrossMapLRN2d(Module):
    """Each element of (N, C, H, W) divided by ``(k + alpha * mean of squares) ** beta`` over ``size`` channels."""

    size: int
    alpha: float
    beta: float
    k: float

    def __init__(self, size: int, alpha: float = 1e-4, beta: float = 0.75, k: float = 1) -> None:
        super().__init__()
        self.size, self.alpha, self.beta, self.k = size, alpha, beta, k

    def forward(self, input: Tensor) -> Tensor:
        """The input, normalised."""
        return _CrossMapLRN2d.apply(input, self.size, self.alpha, self.beta, self.k)  # type: ignore[no-any-return]

    def extra_repr(self) -> str:
        return f"{self.size}, alpha={self.alpha}, beta={self.beta}, k={self.k}"
