"""How a process waits for others: until they come, or the time is over."""

from __future__ import annotations

import time
from collections.abc import Callable

_SPIN = 5e-5  # seconds of waiting without a pause: what comes soon is met at once
_LONGEST = 1e-3  # the longest pause: who waits long leaves the core to others


def poll(done: Callable[[], bool], timeout: float, look: Callable[[], None] | None = None) -> bool:
    """Wait until ``done()``; False where ``timeout`` seconds pass first. ``look`` is called now and then meanwhile."""
    began, looked = time.monotonic(), 0.0
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
