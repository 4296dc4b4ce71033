"""The same meaning, printed as specialised code: speed, and nothing else.

Nobody imports this folder but the place that switches it on; ``GLASSGRAD_FAST=0`` leaves it out, and no result changes.
"""

from __future__ import annotations

from ..core import engine, row
from ..core import write as writes
from . import generate, walk, write


def switch_on() -> None:
    """Let rows that are declared from now on have printed callers, and everyday walks and writes take the quick way."""
    row.make_caller, row.make_operator = generate.caller_of, generate.operator_of
    engine.quick_walk, writes.quick_write = walk.everyday, write.everyday
