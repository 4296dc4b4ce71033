"""The ``torch.backends.nnpack`` flags: kept, and without effect."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

enabled = True


def is_available() -> bool:
    """False."""
    return False


def set_flags(_enabled: bool) -> tuple[bool]:
    """Set the flag; what it was before."""
    global enabled
    before, enabled = enabled, _enabled
    return (before,)


@contextmanager
def flags(enabled: bool = False) -> Iterator[None]:
    """A block with another flag."""
    (before,) = set_flags(enabled)
    try:
        yield
    finally:
        set_flags(before)
