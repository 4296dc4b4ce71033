"""The same meaning, printed as specialised code: speed, and nothing else.

A row's first call is interpreted, as it is without this folder: to print it would take longer.  Its second call prints
it (``generate.py``), so a program pays for the rows that it calls again.

Nobody imports this folder but the place that switches it on; ``GLASSGRAD_FAST=0`` leaves it out, and no result changes.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from types import FunctionType
from typing import Any

from ..core import call
from ..core import row as rows
from ..core.row import TABLE, Row
from ..ground import listening, modes
from ..ground.importing import load, when_run

#: The globals of all that is printed; text.py and generate.py add what the text may name.
NAMES: dict[str, Any] = {"__name__": f"{__name__}.generated"}
_called: set[str] = set()  # the rows that were called before


def switch_on() -> None:
    """Let rows that are declared from now on have printed callers, and everyday walks and writes take the quick way."""
    rows.make_caller, rows.make_operator = caller_of, operator_of
    when_run(f"{call.__package__}.engine", partial(_bring, "quick_walk", "walk"))
    when_run(f"{call.__package__}.write", partial(_bring, "quick_write", "write"))


def _bring(door: str, file: str, holder: Any) -> None:
    """Let a file of the core call what a file of this folder has; the first call imports it."""

    def first(*arguments: Any) -> Any:
        setattr(holder, door, load(f"{__name__}.{file}").everyday)
        return getattr(holder, door)(*arguments)

    setattr(holder, door, first)


# -- the function that everybody holds, until its own code is put into it ---------------------------------------------


def caller_of(row: Row) -> Any:
    """The function that calls ``row``: a stub until its second call."""
    return _stub_of(row, _stub, row.name, call.call)


def operator_of(row: Row) -> Any:
    """What stands behind the row's operator: its caller, but strangers are left to the other operand."""
    return _stub_of(row, _operator_stub, f"__{row.operator}__", call.call_operator)


def _stub(*args: Any, **kwargs: Any) -> Any:
    return _early_call("NAME", args, kwargs)  # type: ignore[name-defined] # noqa: F821


def _operator_stub(*args: Any, **kwargs: Any) -> Any:
    return _early_operation("NAME", args)  # type: ignore[name-defined] # noqa: F821


def _stub_of(row: Row, stub: Any, name: str, meaning: Callable[..., Any]) -> FunctionType:
    consts = tuple(row.name if const == "NAME" else const for const in stub.__code__.co_consts)
    function = FunctionType(stub.__code__.replace(co_consts=consts, co_name=name, co_qualname=name), NAMES, name)
    function.unheard = call.unheard_of(row, meaning)  # type: ignore[attr-defined]
    return function


def _early_call(name: str, args: Any, kwargs: Any) -> Any:
    row = TABLE[name]
    return _interpreted(row.caller, call.call, row, args, kwargs) if _is_first(row) else row.caller(*args, **kwargs)


def _early_operation(name: str, args: Any) -> Any:
    row = TABLE[name]
    return _interpreted(row.operate, call.call_operator, row, args, {}) if _is_first(row) else row.operate(*args)


def _is_first(row: Row) -> bool:
    """Whether a row is called for the first time; if not, its code is printed now."""
    if row.name not in _called:
        _called.add(row.name)
        return True
    load(f"{__name__}.generate").make_ready(row)
    return False


def _interpreted(function: Any, meaning: Callable[..., Any], row: Row, args: Any, kwargs: Any) -> Any:
    arguments = call.arguments(row, args, kwargs)
    return call.heard(function, meaning, row, *arguments) if modes.watch else meaning(row, *arguments)


NAMES.update(_early_call=_early_call, _early_operation=_early_operation)
listening.between.update((__name__, NAMES["__name__"]))
