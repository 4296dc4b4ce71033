"""Layers that switch elements off at random in training."""

from __future__ import annotations

from ...tensor.tensor import Tensor
from .. import functional as F
from .module import Module


class Dropout(Module):
    """Noughts with probability ``p`` in training, the rest scaled by 1 / (1 - p); the input itself else.

    Source: https://docs.pytorch.org/docs/stable/generated/torch.nn.Dropout.html
    """

    p: float
    inplace: bool

    def __init__(self, p: float = 0.5, inplace: bool = False) -> None:
        super().__init__()
        if p < 0 or p > 1:
            raise ValueError(f"dropout probability has to be between 0 and 1, but got {p}")
        self.p, self.inplace = p, inplace

    def forward(self, input: Tensor) -> Tensor:
        """The input with some elements switched off."""
        return F.dropout(input, self.p, self.training, self.inplace)

    def extra_repr(self) -> str:
        return f"p={self.p}, inplace={self.inplace}"
