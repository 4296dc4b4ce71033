"""The same meaning, printed as specialised code: speed, and nothing else.

Nobody imports this folder but the place that switches it on; ``GLASSGRAD_FAST=0`` leaves it out, and no result changes.
"""

from __future__ import annotations

from typing import Any

from ..core import engine, row
from ..core import write as writes
from ..ground.importing import load
from . import generate


def switch_on() -> None:
    """Let rows that are declared from now on have printed callers, and everyday walks and writes take the quick way."""
    row.make_caller, row.make_operator = generate.caller_of, generate.operator_of
    engine.quick_walk, writes.quick_write = _first_walk, _first_write


def _first_walk(*arguments: Any) -> bool:
    engine.quick_walk = load(f"{__name__}.walk").everyday
    return engine.quick_walk(*arguments)


def _first_write(*arguments: Any) -> bool:
    writes.quick_write = load(f"{__name__}.write").everyday
    return writes.quick_write(*arguments)
