"""What the registration of a hook gives back."""

from __future__ import annotations

from collections.abc import Callable
from itertools import count
from typing import Any

_ids = count().__next__


class RemovableHandle:
    """What a registration gives back: ``remove()`` takes the hook away; a context manager does so at its end."""

    def __init__(self, hooks: Any, undo: Callable[[], None] | None = None) -> None:
        self.hooks_dict_ref, self.id, self._undo = (lambda: hooks), _ids(), undo

    def remove(self) -> None:
        """Take the hook away; a second call does nothing."""
        if self.hooks_dict_ref().pop(self.id, None) is not None and self._undo is not None:
            self._undo()

    def __enter__(self) -> RemovableHandle:
        return self

    def __exit__(self, *exc: object) -> None:
        self.remove()


def register(
    hooks: dict[int, Any], hook: Callable[..., Any], undo: Callable[[], None] | None = None
) -> RemovableHandle:
    """Add ``hook`` to ``hooks``; the handle removes it."""
    handle = RemovableHandle(hooks, undo)
    hooks[handle.id] = hook
    return handle
