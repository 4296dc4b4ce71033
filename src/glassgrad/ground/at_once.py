"""Changes that Ctrl-C cannot divide: knows the interpreter only."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from itertools import chain
from typing import Any


def at_once(*changes: Iterable[Any]) -> None:
    """Make all of these changes or none: iterators of C over functions of C, such as ``map(setattr, ...)``.

    Signals are served between the steps of functions in Python, and here is none.
    """
    deque(chain.from_iterable(changes), 0)
