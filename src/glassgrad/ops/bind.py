"""Every function that the table brings, for those who listen to all of them."""

from __future__ import annotations

from collections.abc import Callable
from types import FunctionType
from typing import Any

from ..core.row import TABLE
from .declare import COMPOSITES, spelled_by_composite, spelled_by_row


def functions() -> dict[str, Callable[..., Any]]:
    """Every public function by name: rows first, composites over them."""
    by_name: dict[str, Callable[..., Any]] = {}
    for row in TABLE.values():
        by_name.update(spelled_by_row(row)[0])
    for composite in COMPOSITES.values():
        by_name.update(spelled_by_composite(composite)[0])
    return by_name


_tables: tuple[tuple[int, int], list[Any]] = (0, 0), []


def table_functions() -> list[Any]:
    """Every function that the table brings: callers of rows, their operators and writers, composites."""
    global _tables
    size = len(TABLE), len(COMPOSITES)  # which imports all families
    if _tables[0] != size:
        rows, composites = TABLE.values(), COMPOSITES.values()
        every = [row.caller for row in rows] + [row.operate for row in rows if row.operator is not None]
        every += [*functions().values(), *(composite.function for composite in composites)]
        distinct = {id(function): function for function in every if type(function) is FunctionType}
        _tables = (len(TABLE), len(COMPOSITES)), [*distinct.values()]
    return _tables[1]
