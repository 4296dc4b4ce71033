"""A collective as one rank asks for it, and how a process waits for others: until they come, or the time is over."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable
from typing import NamedTuple

from ..ground.names import is_own_frame

__all__ = ["Call", "call_site", "poll"]


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


def call_site() -> str:
    """The file and line of the program that calls this package."""
    frame = sys._getframe(1)
    while frame.f_back is not None and is_own_frame(frame):
        frame = frame.f_back
    return f"{os.path.basename(frame.f_code.co_filename)}:{frame.f_lineno}"


_SPIN = 5e-5  # seconds of waiting without a pause: what comes soon is met at once
_LONGEST = 1e-3  # the longest pause: who waits long leaves the core to others


def poll(done: Callable[[], bool], timeout: float, look: Callable[[], None] | None = None) -> bool:
    """Wait until ``done()``; False where ``timeout`` seconds pass first. ``look`` is called now and then meanwhile."""
    if done():
        return True
    began = time.monotonic()
    looked = 0.0
    while not done():
        waited = time.monotonic() - began
        if waited > timeout:
            return done()
        if waited > _SPIN:
            time.sleep(min(waited / 8, _LONGEST))
        if look is not None and waited - looked > 0.02:
            looked = waited
            look()
    return True
