"""Roof: what ``torch.storage`` holds, the classes of storages."""

from .families.storage.functions import UntypedStorage
from .families.storage.typed import TypedStorage

__all__ = ["TypedStorage", "UntypedStorage"]
