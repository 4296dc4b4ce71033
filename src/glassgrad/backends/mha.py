"""The ``torch.backends.mha`` flag: whether attention layers may take their fast path; kept, and without effect."""

from __future__ import annotations

_fastpath = True


def get_fastpath_enabled() -> bool:
    """The flag."""
    return _fastpath


def set_fastpath_enabled(value: bool) -> None:
    """Set the flag."""
    global _fastpath
    _fastpath = value
