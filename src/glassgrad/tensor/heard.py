"""Calls of rows while somebody may be listening: listeners are asked first, who see a call as it may be written."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ..core.row import Row
from ..ground import listening, modes


def heard(
    function: Any, meaning: Callable[..., Any], row: Row, tensors: Sequence[Any], settings: Sequence[Any], out: Any
) -> Any:
    """Call a row by one of its functions, which ``meaning`` is behind; who listens answers for it."""
    if listening.listeners:
        return listening.heard(function, function.unheard, *spelled(row, tensors, settings, out))
    modes.settle()  # an interrupted block may have left this thread among the watched
    return meaning(row, tensors, settings, out)


def spelled(row: Row, tensors: Sequence[Any], settings: Sequence[Any], out: Any) -> tuple[Any, dict[str, Any]]:
    """A call as it may be written: settings that have a default by name, and only those that are not at it."""
    args = tuple(tensors)
    while args and args[-1] is None and len(args) - 1 in row.plan.optional:
        args = args[:-1]
    named = {} if out is None else {"out": out}
    by_position = len(args) == len(tensors)
    for name, value in zip(row.settings, settings, strict=True):
        by_position = by_position and name not in row.defaults
        if by_position:
            args = (*args, value)
        elif name not in row.defaults or not _is_same(value, row.defaults[name]):
            named[name] = value
    return args, named


def _is_same(value: Any, default: Any) -> bool:
    return value is default or (
        type(value) is type(default) and isinstance(value, (bool, int, float, str, tuple)) and value == default
    )


listening.between.add(__name__)
