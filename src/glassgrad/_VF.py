"""The ``torch._VF`` namespace: torch's functions by their own names, as PyTorch's layers call them."""

from __future__ import annotations

from typing import Any

from .ops.catalogue import FUNCTIONS


def __getattr__(name: str) -> Any:
    if name not in FUNCTIONS:
        raise AttributeError(f"module 'torch._VF' has no attribute '{name}'")
    return FUNCTIONS[name]
