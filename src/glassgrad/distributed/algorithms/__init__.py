"""What training loops put around collectives."""

from __future__ import annotations

from . import join
from .join import Join, Joinable, JoinHook

__all__ = ["Join", "JoinHook", "Joinable", "join"]
