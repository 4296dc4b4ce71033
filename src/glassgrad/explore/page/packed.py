"""The page's data as text, floor 8: what repeats is written once, and ``decode.js`` unfolds it.

The blocks of a large model are alike: so are the rules, settings and saved shapes of their operations, and the rows and
lines of their cards. A column of one value throughout is written as that value.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from .contents import DETAILS

FORM = 2  # of the text; the viewer knows one form


def packed(data: Mapping[str, Any]) -> str:
    """The JSON of the ``data`` that ``contents`` gives; equal data give equal text."""
    short = {"form": FORM, **data}
    for table in ("boxes", "arrows", "groups"):
        columns = data[table]
        short[table] = {"entries": len(next(iter(columns.values()))), **_columns(columns)}
    short["details"] = _details(data["details"], short["boxes"]["entries"])
    short["levels"] = _levels(data["levels"])
    return json.dumps(short, separators=(",", ":"), ensure_ascii=False, allow_nan=False)


def _columns(columns: Mapping[str, Sequence[Any]]) -> dict[str, Any]:
    return {key: _column(values) for key, values in columns.items()}


def _column(values: Sequence[Any]) -> Any:
    return values[0] if values and values.count(values[0]) == len(values) else values


def _details(details: Mapping[int, Mapping[str, Any]], count: int) -> dict[str, Any]:
    """Columns of numbers of what is told of the boxes, and the list of all that these numbers stand for."""
    numbers: dict[Any, int] = {None: 0}
    columns = {key: [0] * count for key in DETAILS}
    for i, detail in details.items():
        for key, value in detail.items():
            columns[key][i] = numbers.setdefault(value, len(numbers))
    return {"told": list(numbers), **_columns(columns)}


def _levels(levels: Iterable[Mapping[str, Any]]) -> dict[str, Any]:
    """The levels as their own numbers and the form they are of; those of one form have the very same rows."""
    forms: dict[int, int] = {}  # by the identity of the rows, which ``levels`` keeps
    drawn: list[Any] = []
    own = []
    for level in levels:
        lines, jumps = level["lines"], level["jumps"]
        form = forms.setdefault(id(level["rows"]), len(drawn))
        if form == len(drawn):
            drawn.append([level["rows"], [path for _, _, path in lines], [jump[2:] for jump in jumps]])
        ends = [number for line in (*lines, *jumps) for number in line[:2]]
        own.append([form, level["units"], level["in"], level["out"], ends])
    return {"forms": drawn, "own": own}
