"""Python's cycle collector at rest, floor 8: while very many objects are made, and no circles."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def collector_at_rest() -> Iterator[None]:
    """A block, or a function, that makes very many objects and no circles: to look for some would take much time."""
    at_work = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if at_work:
            gc.enable()
