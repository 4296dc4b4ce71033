"""The ``torch.utils.hooks`` namespace: the handle that registering a hook gives."""

from ..graph.hooks import RemovableHandle

__all__ = ["RemovableHandle"]
