"""The inner parts of data loading, under the names that PyTorch has for them: collation, fetching and so on."""

from __future__ import annotations

import sys

from . import collate, fetch, pin_memory, worker
from .worker import ExceptionWrapper

MP_STATUS_CHECK_INTERVAL = worker.INTERVAL
IS_WINDOWS = sys.platform == "win32"
HAS_NUMPY = True

__all__ = [
    "HAS_NUMPY", "IS_WINDOWS", "MP_STATUS_CHECK_INTERVAL", "ExceptionWrapper", "collate", "fetch", "pin_memory",
    "worker",
]  # fmt: skip
