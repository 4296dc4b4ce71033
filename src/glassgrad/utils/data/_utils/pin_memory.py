"""What a loader does with a batch where there is an accelerator: pin the memory of all that is in it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from .collate import within


def pin_memory(data: Any, device: Any = None) -> Any:
    """``data`` with all in it pinned that has a method of this name: batches of a user's own, and tensors."""
    if not isinstance(data, (Mapping, Sequence)) and hasattr(data, "pin_memory"):
        return data.pin_memory()
    if isinstance(data, tuple) and not hasattr(data, "_fields"):
        return type(data)(map(pin_memory, data))
    return within(data, pin_memory)
