"""What goes wrong in and between processes: what the launcher raises and ``record`` notes, networks, backends."""

from __future__ import annotations

import functools
import json
import os
import signal
import sys
import time
import traceback
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any, TypeVar

from ..ground.output import write
from ..ground.paths import house

__all__ = [
    "ChildFailedError", "DistBackendError", "DistError", "DistNetworkError", "DistStoreError", "ProcessFailure",
    "QueueEmptyError", "record",
]  # fmt: skip

_T = TypeVar("_T")


def signal_name(exitcode: int) -> str:
    """The name of the signal that an exit code below 0 tells of."""
    try:
        return signal.Signals(-exitcode).name
    except ValueError:
        return f"<Unknown signal {-exitcode}>"


@dataclass
class ProcessFailure:
    """How a process ended: its ranks, number and exit code."""

    local_rank: int
    rank: int
    pid: int
    exitcode: int
    timestamp: float = field(default_factory=time.time)

    def signal_name(self) -> str:
        """The name of the signal that ended it."""
        return signal_name(self.exitcode) if self.exitcode < 0 else "<N/A>"

    def words(self) -> str:
        """Which rank it was, and how it ended."""
        who = f"rank {self.rank} (pid {self.pid})" if self.rank >= 0 else "a rank"
        return f"{who} " + (f"ended with exit code {self.exitcode}" if self.exitcode >= 0 else
                            f"was killed by {self.signal_name()}")  # fmt: skip


class ChildFailedError(Exception):
    """A launched process failed: ``failures`` by rank."""

    def __init__(self, name: str, failures: dict[int, ProcessFailure]) -> None:
        self.name, self.failures = name, failures
        rank, first = min(failures.items(), key=lambda item: item[1].timestamp)
        bar, rule = "=" * 60, "-" * 60
        when = time.strftime("%Y-%m-%d_%H:%M:%S", time.localtime(first.timestamp))
        super().__init__(
            f"\n{bar}\n{name} FAILED\n{rule}\nRoot Cause (first observed failure):\n[0]:\n  time      : {when}\n"
            f"  rank      : {rank} (local_rank: {first.local_rank})\n"
            f"  exitcode  : {first.exitcode} (pid: {first.pid})\n  signal    : {first.signal_name()}\n{bar}"
        )


def record(fn: Callable[..., _T], error_handler: Any = None) -> Callable[..., _T]:
    """``fn``, whose exception is also written to the file TORCHELASTIC_ERROR_FILE names, where it does."""

    @functools.wraps(fn)
    def recorded(*args: Any, **kwargs: Any) -> _T:
        try:
            return fn(*args, **kwargs)
        except Exception as error:
            file = os.environ.get("TORCHELASTIC_ERROR_FILE")
            if file:
                details = {"callstack": traceback.format_exc(), "timestamp": str(int(time.time()))}
                message = {"message": f"{type(error).__name__}: {error}", "extraInfo": details}
                write(file, json.dumps({"message": message}))
            raise

    return recorded


house(sys.modules[__name__])


# -- what goes wrong between processes ---------------------------------------------------------------------------------
# The exceptions of networks and backends.


class DistError(RuntimeError):
    """Something went wrong between processes."""


class DistBackendError(DistError):
    """A collective failed: ranks disagree about what they do, or the group failed before."""


class DistNetworkError(DistError):
    """A process cannot be reached, went away, or is silent for longer than the timeout; ``missing``: which ranks."""

    def __init__(self, message: str = "", missing: Iterable[int] = ()) -> None:
        super().__init__(message)
        self.missing = list(missing)


class DistStoreError(DistError):
    """Raised by PyTorch's stores; here for scripts that catch it."""


class QueueEmptyError(DistStoreError):
    """Raised by PyTorch's stores; here for scripts that catch it."""


for _kind in (DistError, DistBackendError, DistNetworkError, DistStoreError, QueueEmptyError):
    _kind.__module__ = "torch.distributed"
