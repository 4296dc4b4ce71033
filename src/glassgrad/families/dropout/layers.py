"""Layers that switch elements off at random in training."""

from __future__ import annotations

from ...core.tensor import Tensor
from ...nn import functional as F
from ...nn.modules.module import Module


class _DropoutNd(Module):
    """What they share: a probability."""

    p: float
    inplace: bool

    def __init__(self, p: float = 0.5, inplace: bool = False) -> None:
        super().__init__()
        if p < 0 or p > 1:
            raise ValueError(f"dropout probability has to be between 0 and 1, but got {p}")
        self.p, self.inplace = p, inplace

    def extra_repr(self) -> str:
        return f"p={self.p}, inplace={self.inplace}"


class Dropout(_DropoutNd):
    """Noughts with probability ``p`` in training, the rest scaled by 1 / (1 - p); the input itself else."""

    def forward(self, input: Tensor) -> Tensor:
        """The input with some elements switched off."""
        return F.dropout(input, self.p, self.training, self.inplace)


class Dropout1d(_DropoutNd):
    """Dropout of whole channels of (N, C, L) or (C, L)."""

    def forward(self, input: Tensor) -> Tensor:
        """The input with some channels switched off."""
        return F.dropout1d(input, self.p, self.training, self.inplace)


class Dropout2d(_DropoutNd):
    """Dropout of whole channels of (N, C, H, W)."""

    def forward(self, input: Tensor) -> Tensor:
        """The input with some channels switched off."""
        return F.dropout2d(input, self.p, self.training, self.inplace)


class Dropout3d(_DropoutNd):
    """Dropout of whole channels of (N, C, D, H, W)."""

    def forward(self, input: Tensor) -> Tensor:
        """The input with some channels switched off."""
        return F.dropout3d(input, self.p, self.training, self.inplace)


class AlphaDropout(_DropoutNd):
    """Dropout that keeps mean and variance behind SELU."""

    def forward(self, input: Tensor) -> Tensor:
        """The input with some elements at the function's lower limit."""
        return F.alpha_dropout(input, self.p, self.training)


class FeatureAlphaDropout(_DropoutNd):
    """Alpha dropout of whole channels."""

    def forward(self, input: Tensor) -> Tensor:
        """The input with some channels at the function's lower limit."""
        return F.feature_alpha_dropout(input, self.p, self.training)
