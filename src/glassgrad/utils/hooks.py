"""The ``torch.utils.hooks`` namespace: the handle that registering a hook gives."""

from ..core.hooks import RemovableHandle

__all__ = ["RemovableHandle"]
