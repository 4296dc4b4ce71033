"""Layers that move elements between channels and places."""

from __future__ import annotations

from ...core.tensor import Tensor
from .. import functional as F
from .module import Module


class PixelShuffle(Module):
    """Channels laid out as squares of elements: from (*, C r r, H, W) to (*, C, H r, W r).

    Source: https://docs.pytorch.org/docs/stable/generated/torch.nn.PixelShuffle.html
    """

    __constants__ = ["upscale_factor"]
    upscale_factor: int

    def __init__(self, upscale_factor: int) -> None:
        super().__init__()
        self.upscale_factor = upscale_factor

    def forward(self, input: Tensor) -> Tensor:
        """The input, larger and with fewer channels."""
        return F.pixel_shuffle(input, self.upscale_factor)

    def extra_repr(self) -> str:
        return f"upscale_factor={self.upscale_factor}"


class PixelUnshuffle(Module):
    """Squares of elements gathered into channels: from (*, C, H r, W r) to (*, C r r, H, W).

    Source: https://docs.pytorch.org/docs/stable/generated/torch.nn.PixelUnshuffle.html
    """

    __constants__ = ["downscale_factor"]
    downscale_factor: int

    def __init__(self, downscale_factor: int) -> None:
        super().__init__()
        self.downscale_factor = downscale_factor

    def forward(self, input: Tensor) -> Tensor:
        """The input, smaller and with more channels."""
        return F.pixel_unshuffle(input, self.downscale_factor)

    def extra_repr(self) -> str:
        return f"downscale_factor={self.downscale_factor}"
