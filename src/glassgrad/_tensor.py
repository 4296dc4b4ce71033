"""Roof: the ``torch._tensor`` namespace: where PyTorch's class of tensors lives, and what pickles call."""

from .core.tensor import Tensor
from .serialization.rebuild import _rebuild_from_type_v2

__all__ = ["Tensor", "_rebuild_from_type_v2"]
