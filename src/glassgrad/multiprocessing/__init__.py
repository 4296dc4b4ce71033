"""Floor 5: ``multiprocessing`` with tensors: the standard module's names, processes started together, shared memory."""

from __future__ import annotations

import multiprocessing
import sys
from multiprocessing import *  # noqa: F403

from .reductions import init_reductions
from .spawn import (  # noqa: F401
    ENV_VAR_PARALLEL_START,
    ProcessContext,
    ProcessExitedException,
    ProcessRaisedException,
    SpawnContext,
    spawn,
    start_processes,
)

_all_sharing_strategies = {"file_system"} if sys.platform in ("darwin", "win32") else {"file_descriptor", "file_system"}
_sharing_strategy = min(_all_sharing_strategies)


def set_sharing_strategy(new_strategy: str) -> None:
    """Kept, and without effect: shared memory is handed on as the system's handle for it."""
    global _sharing_strategy
    if new_strategy not in _all_sharing_strategies:
        raise AssertionError(f"invalid sharing strategy {new_strategy!r}, expected one of {_all_sharing_strategies}")
    _sharing_strategy = new_strategy


def get_sharing_strategy() -> str:
    """What was set."""
    return _sharing_strategy


def get_all_sharing_strategies() -> set[str]:
    """What can be set under this system."""
    return _all_sharing_strategies


init_reductions()

__all__ = ["set_sharing_strategy", "get_sharing_strategy", "get_all_sharing_strategies"]
__all__ += multiprocessing.__all__  # type: ignore[attr-defined]
