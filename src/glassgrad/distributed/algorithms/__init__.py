"""What training loops put around collectives."""

from __future__ import annotations

from ...nn.parallel.join import Join, Joinable, JoinHook

__all__ = ["Join", "JoinHook", "Joinable"]
