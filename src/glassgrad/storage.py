"""Roof: what ``torch.storage`` holds, the classes of storages."""

from .families.storage.functions import UntypedStorage
from .families.storage.typed import TypedStorage
from .serialization.rebuild import _load_from_bytes  # noqa: F401  where pickles name it

__all__ = ["TypedStorage", "UntypedStorage"]
