"""A machine that others use too: another process keeps each core busy."""

from __future__ import annotations

import multiprocessing
import time
from collections.abc import Iterator
from contextlib import contextmanager

__all__ = ["busy"]


def _burn() -> None:
    while True:
        sum(range(100_000))


@contextmanager
def busy(cores: int) -> Iterator[None]:
    """A block in which other processes keep so many cores busy."""
    processes = [multiprocessing.get_context("spawn").Process(target=_burn, daemon=True) for _ in range(cores)]
    for process in processes:
        process.start()
    time.sleep(1.0 if processes else 0.0)  # until they have started
    try:
        yield
    finally:
        for process in processes:
            process.kill()
            process.join()
