"""The ``torch.cpu`` namespace: the one device there is, asked for as accelerators are."""

from __future__ import annotations

from typing import Any

from . import amp


def is_available() -> bool:
    """True."""
    return True


def is_initialized() -> bool:
    """True."""
    return True


def device_count() -> int:
    """1."""
    return 1


def current_device() -> str:
    """``"cpu"``."""
    return "cpu"


def set_device(device: Any) -> None:
    """Accepted without effect: there is one device."""


def synchronize(device: Any = None) -> None:
    """Accepted without effect: operations have ended when they return."""


class Stream:
    """A queue of work, which on the CPU is the program itself."""

    def __init__(self, priority: int = -1) -> None:
        self.priority = priority

    def wait_stream(self, stream: Any) -> None:
        """Accepted without effect."""


class StreamContext:
    """A block on another stream, which changes nothing."""

    def __init__(self, stream: Any) -> None:
        self.stream = stream

    def __enter__(self) -> None:
        return None

    def __exit__(self, *exception: object) -> None:
        return None


def stream(stream: Any) -> StreamContext:
    """A block on a stream, which changes nothing."""
    return StreamContext(stream)


def current_stream(device: Any = None) -> Stream:
    """The one stream there is."""
    return _ONLY


_ONLY = Stream()

__all__ = [
    "Stream", "StreamContext", "amp", "current_device", "current_stream", "device_count", "is_available",
    "is_initialized", "set_device", "stream", "synchronize",
]  # fmt: skip
