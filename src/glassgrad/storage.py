"""Roof: what ``torch.storage`` holds, the classes of storages."""

from .ops.composite.storage import UntypedStorage
from .ops.composite.typed_storage import TypedStorage

__all__ = ["TypedStorage", "UntypedStorage"]
