"""What ``torch.profiler.itt`` holds: marks for Intel's VTune, which is not attached: they are accepted."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any


def is_available() -> bool:
    """False: no such tool hears the marks."""
    return False


def range_push(msg: str) -> None:
    """Accepted without effect: a named range begins."""


def range_pop() -> None:
    """Accepted without effect: the innermost range ends."""


def mark(msg: str) -> None:
    """Accepted without effect: something happened now."""


@contextmanager
def range(msg: str, *args: Any, **kwargs: Any) -> Iterator[None]:
    """A named range, whose name ``str.format`` completes."""
    range_push(msg.format(*args, **kwargs))
    try:
        yield
    finally:
        range_pop()


__all__ = ["is_available", "mark", "range", "range_pop", "range_push"]
