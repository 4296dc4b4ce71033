"""Normalisation by neighbouring channels, with ``torch.nn.functional``'s signature."""

from __future__ import annotations

from typing import Any

from ...core.tensor import Tensor
from ...ground.listening import audible
from ...ops.composite.pad import pad
from ...ops.composite.pooling import avg_pool2d, avg_pool3d


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
