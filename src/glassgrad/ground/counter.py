"""What the aliases of one buffer share: how often it was written; knows no Tensor."""

from __future__ import annotations

from typing import Any


class VersionCounter:
    """How often one buffer was written in place, shared by every tensor that sees the buffer.

    ``writer`` tells who wrote last: a weak reference to the write's record, or None where it was not recorded.
    """

    __slots__ = ("version", "writer", "__weakref__")

    def __init__(self, version: int = 0) -> None:
        self.version = version
        self.writer: Any = None
