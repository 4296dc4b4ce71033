"""How long a collective may take where nobody says it."""

from __future__ import annotations

from .distributed_c10d import default_pg_timeout

__all__ = ["default_pg_timeout"]
