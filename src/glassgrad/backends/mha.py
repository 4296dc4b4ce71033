"""The ``torch.backends.mha`` flag: whether attention layers may take their fast path in inference."""

from __future__ import annotations

from ..ops.composite.attention import switches as _switches


def get_fastpath_enabled() -> bool:
    """The flag."""
    return _switches["mha_fastpath"]


def set_fastpath_enabled(value: bool) -> None:
    """Set the flag."""
    _switches["mha_fastpath"] = value
