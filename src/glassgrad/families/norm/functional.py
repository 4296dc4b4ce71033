"""Normalisation with ``torch.nn.functional``'s signatures."""

from __future__ import annotations

from typing import Any

from ...core.tensor import Tensor
from ...ground.listening import audible
from ..pad.functions import pad
from ..pooling.functions import avg_pool2d, avg_pool3d
from . import functions as rows


@audible
def layer_norm(input: Any, normalized_shape: Any, weight: Any = None, bias: Any = None, eps: float = 1e-5) -> Tensor:
    """Each sample standardised over its last dimensions, scaled and shifted.

    Source: https://docs.pytorch.org/docs/stable/generated/torch.nn.functional.layer_norm.html
    """
    return rows.layer_norm(input, normalized_shape, weight, bias, eps)


@audible
def rms_norm(input: Any, normalized_shape: Any, weight: Any = None, eps: float | None = None) -> Tensor:
    """Each sample divided by the root mean square of its last dimensions, scaled by ``weight``."""
    return rows.rms_norm(input, normalized_shape, weight, eps)


@audible
def group_norm(input: Any, num_groups: int, weight: Any = None, bias: Any = None, eps: float = 1e-5) -> Tensor:
    """Each group of channels of each sample standardised, each channel scaled and shifted."""
    if input.dim() < 2:
        raise RuntimeError(f"Expected at least 2 dimensions for input tensor but received {input.dim()}")
    if num_groups <= 0:
        raise RuntimeError(f"Expected num groups to be greater than 0, got {num_groups}")
    sizes = tuple(input.shape)
    _several_values((sizes[0] * sizes[1] // num_groups, num_groups, *sizes[2:]))
    return rows.group_norm(input, num_groups, weight, bias, eps)


def _several_values(sizes: Any) -> None:
    """Raise PyTorch's error where a channel has one value only."""
    count = sizes[0]
    for n in sizes[2:]:
        count *= n
    if count == 1:
        shown = f"torch.Size({list(sizes)})"
        raise ValueError(f"Expected more than 1 value per channel when training, got input size {shown}")


@audible
def batch_norm(
    input: Any, running_mean: Any, running_var: Any, weight: Any = None,
    bias: Any = None, training: bool = False, momentum: float = 0.1, eps: float = 1e-5,
) -> Tensor:  # fmt: skip
    """Each channel standardised over the batch (``training``) or by running statistics, which training updates."""
    if training:
        _several_values(tuple(input.shape))
    if training and eps <= 0.0:
        raise ValueError(f"batch_norm eps must be positive during training, but got {eps}")
    if eps < 0.0:
        raise ValueError(f"batch_norm eps must be non-negative, but got {eps}")
    return rows.batch_norm(input, weight, bias, running_mean, running_var, training, momentum, eps)


@audible
def instance_norm(
    input: Any, running_mean: Any = None, running_var: Any = None,
    weight: Any = None, bias: Any = None, use_input_stats: bool = True, momentum: float = 0.1,
    eps: float = 1e-5,
) -> Tensor:  # fmt: skip
    """Each channel of each sample standardised by itself, or by running statistics."""
    if use_input_stats:
        count = 1
        for n in input.shape[2:]:
            count *= n
        if count == 1:
            raise ValueError(f"Expected more than 1 spatial element when training, got input size {input.shape!r}")
    return rows.instance_norm(input, weight, bias, running_mean, running_var, use_input_stats, momentum, eps)


@audible
def normalize(input: Any, p: float = 2.0, dim: Any = 1, eps: float = 1e-12, out: Any = None) -> Tensor:
    """The vectors along ``dim`` divided by their ``p``-norms, or by ``eps`` where that is larger."""
    length = rows.norm(input, p, dim, True)
    if out is None:
        return input / length.clamp_min(eps).expand_as(input)
    length.clamp_min_(eps)
    return input.div(length.expand_as(input), out=out)


# -- Normalisation by neighbouring channels, with ``torch.nn.functional``'s signature.


@audible
def local_response_norm(input: Any, size: int, alpha: float = 1e-4, beta: float = 0.75, k: float = 1.0) -> Tensor:
    """Each element divided by ``(k + alpha * mean of squares) ** beta``, over ``size`` neighbouring channels.

    Source: https://docs.pytorch.org/docs/stable/generated/torch.nn.functional.local_response_norm.html
    """
    dims = input.dim()
    if dims < 3:
        gap = " " * 26
        raise ValueError(f"Expected 3D or higher dimensionality{gap[1:]} input (got {dims} dimensions)")
    if input.numel() == 0:
        return input  # type: ignore[no-any-return]
    squares = input.mul(input)
    before, after = size // 2, (size - 1) // 2
    mean: Any
    if dims == 3:
        wide = pad(squares.unsqueeze(1), (0, 0, before, after))
        mean = avg_pool2d(wide, (size, 1), stride=1)
        mean = mean.squeeze(1)
    else:
        sizes = input.size()
        wide = pad(squares.view(sizes[0], 1, sizes[1], sizes[2], -1), (0, 0, 0, 0, before, after))
        mean = avg_pool3d(wide, (size, 1, 1), stride=1)
        mean = mean.squeeze(1).view(sizes)
    return input / mean.mul(alpha).add(k).pow(beta)  # type: ignore[no-any-return]
