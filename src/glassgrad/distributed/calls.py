"""A collective as one rank asks for it, and what is said where the others do not come, or want another one."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable
from typing import NamedTuple

from ..ground.names import is_own_frame
from ..multiprocessing.failures import DistBackendError, DistNetworkError


class Call(NamedTuple):
    """What must be the same on all ranks, ``name`` and ``operands``; who asks for it, and how long it may take."""

    name: str
    operands: str
    line: str
    timeout: float

    @property
    def what(self) -> str:
        """The operation and what it works on."""
        return f"{self.name} of {self.operands}" if self.operands else self.name

    def __str__(self) -> str:
        return f"{self.what} at {self.line}"

    def unlike(self, every: Iterable[str]) -> DistBackendError:
        """The error where the ranks are not in the same call: ``every`` rank's, in their order."""
        calls = "; ".join(f"rank {rank} is in {words}" for rank, words in enumerate(every))
        return DistBackendError(f"The ranks of the group do different things: {calls}")

    def ended(self, ranks: list[int], own: int) -> DistNetworkError:
        """The error where this rank, ``own``, waits for some that are gone."""
        gone = ", ".join(map(str, ranks))
        return DistNetworkError(f"Rank {gone} ended or left the group while rank {own} waits in {self}")

    def late(self, missing: list[int], why: str = "") -> DistNetworkError:
        """The error once the time is over: who did not come, or ``why`` it is."""
        why = f": rank {', '.join(map(str, missing))} did not come" if missing else why
        return DistNetworkError(f"Timed out waiting {self.timeout * 1000:.0f}ms in {self}{why}", missing)


def call_site() -> str:
    """The file and line of the program that calls this package."""
    frame = sys._getframe(1)
    while frame.f_back is not None and is_own_frame(frame):
        frame = frame.f_back
    return f"{os.path.basename(frame.f_code.co_filename)}:{frame.f_lineno}"
