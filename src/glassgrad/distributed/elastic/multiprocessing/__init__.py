"""What scripts take from ``torch.distributed.elastic.multiprocessing``: errors of launched processes."""

from __future__ import annotations

from . import errors
from .errors import ChildFailedError, record

__all__ = ["ChildFailedError", "errors", "record"]
