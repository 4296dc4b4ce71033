"""The layer that deals out channels."""

from __future__ import annotations

from ...core.tensor import Tensor
from .. import functional as F
from .module import Module


class ChannelShuffle(Module):
    """The channels of (N, C, *): the first of each of ``groups`` groups, then the second of each.

    Source: https://docs.pytorch.org/docs/stable/generated/torch.nn.ChannelShuffle.html
    """

    __constants__ = ["groups"]
    groups: int

    def __init__(self, groups: int) -> None:
        super().__init__()
        self.groups = groups

    def forward(self, input: Tensor) -> Tensor:
        """The input with its channels dealt out."""
        return F.channel_shuffle(input, self.groups)

    def extra_repr(self) -> str:
        return f"groups={self.groups}"
