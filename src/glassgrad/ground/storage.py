"""What the aliases of one buffer share; knows no Tensor."""

from __future__ import annotations

from typing import Any


class Storage:
    """The version of one buffer, shared by every tensor that sees the buffer: how often it was written in place.

    ``record`` tells who wrote last: a weak reference to the write's record, or None where it was not recorded.
    """

    __slots__ = ("version", "record", "__weakref__")

    def __init__(self, version: int = 0) -> None:
        self.version = version
        self.record: Any = None
