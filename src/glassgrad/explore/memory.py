"""The memory that tensors lie in, floor 8: numbered, so that bytes that several tensors share are counted once."""

from __future__ import annotations

from typing import Any

from .read import behind


def memory_of(tensor: Any) -> Any:
    """The object that stands for the memory ``tensor`` lies in, the same for all that share it; None without one."""
    data = getattr(behind(tensor), "_array", None)
    if data is not None:  # glassgrad's array
        base = getattr(data, "base", None)
        while base is not None and hasattr(base, "nbytes") and hasattr(base, "dtype"):
            data, base = base, getattr(base, "base", None)
        return data
    try:
        return tensor.untyped_storage()
    except (RuntimeError, NotImplementedError, AttributeError):
        return None


class Memories:
    """Numbers for the memories of tensors, in the order they are met; valid while this object lives."""

    def __init__(self) -> None:
        self.number: dict[Any, int] = {}
        self.nbytes: list[int] = []
        self._kept_alive: list[Any] = []  # so that no identity is used again

    def of(self, tensor: Any) -> int | None:
        """The number of the memory ``tensor`` lies in; None where it has none of its own."""
        memory, own = memory_of(tensor), hasattr(tensor, "_array")
        try:
            key = id(memory) if own else (memory.data_ptr() or id(tensor), tensor.device)
            number = self.number.get(key)
            if number is None:
                size = int(getattr(memory, "nbytes", 0)) if own else int(memory.nbytes())
                number = self.number[key] = len(self.nbytes)
                self.nbytes.append(size)
                if own:
                    self._kept_alive.append(memory)
        except (RuntimeError, NotImplementedError, AttributeError):
            return None
        return number
