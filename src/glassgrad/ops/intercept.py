"""Listening to calls of public functions while somebody wants to: the profiler, ``torch.fx`` and function modes.

Nothing of this costs a call anything while nobody listens.  The first listener gives every function of the table
another code object, which asks the listeners and then runs the function's own code; the last one to leave puts the own
code back.  So it does not matter by which name, or out of which list, a function is called.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from types import FunctionType
from typing import Any

from . import generate
from .bind import functions
from .declare import COMPOSITES, TABLE

#: ``listener(function, proceed, args, kwargs)`` answers for a call; ``proceed(*args, **kwargs)`` is the call itself.
Listener = Callable[[Any, Callable[..., Any], tuple[Any, ...], dict[str, Any]], Any]

_lock = threading.RLock()
_listeners: list[tuple[Listener, frozenset[int] | None]] = []
_gates: dict[int, _Gate] = {}


def _entry(*args: Any, **kwargs: Any) -> Any:
    return "GATE".enter(args, kwargs)  # type: ignore[attr-defined]  # the constant is replaced by the gate itself


class _Gate:
    """One function: its own code, and the code that asks the listeners first."""

    def __init__(self, function: Any) -> None:
        self.function = function
        free = function.__code__.co_freevars
        code = _with_free_variables(free) if free else _entry.__code__
        consts = tuple(self if const == "GATE" else const for const in code.co_consts)
        self.code = code.replace(co_consts=consts, co_name=function.__name__, co_filename=function.__code__.co_filename)
        self.closed: Any = None  # the function's own code, while the gate stands in its place
        self.own: Any = None  # a function of that code

    def close(self) -> None:
        """Stand in the function's place."""
        function = self.function
        if function.__code__ is not self.code:
            self.closed = function.__code__
            self.own = FunctionType(
                self.closed, function.__globals__, function.__name__, function.__defaults__, function.__closure__
            )
            self.own.__kwdefaults__ = function.__kwdefaults__
            function.__code__ = self.code

    def open(self) -> None:
        """Put the function's own code back."""
        if self.function.__code__ is self.code:
            self.function.__code__ = self.closed
        self.closed = self.own = None

    def enter(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Ask the listeners, the last to come first; a short path that is not written yet is written before."""
        row = getattr(self.function, "row", None) or _operated.get(id(self.function))
        if row is not None and row.name not in generate._made:
            with _lock:
                generate.make_ready(row)
                if self.closed is not None:
                    for function in (row.caller, getattr(row, "operate", None)):
                        gate = _gates.get(id(function))
                        if gate is not None:
                            gate.close()
        return _ask(self, len(_listeners) - 1, args, kwargs)

    def call(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Run the function's own code."""
        own = self.own
        return (self.function if own is None else own)(*args, **kwargs)


def _with_free_variables(names: tuple[str, ...]) -> Any:
    """The code of ``_entry`` as that of a closure over ``names``: a function takes only code with as many."""
    cells = "\n".join(f"    {name} = None" for name in names)
    text = f"def outer():\n{cells}\n    def entry(*args, **kwargs):\n        ({', '.join(names)},)\n"
    text += '        return "GATE".enter(args, kwargs)\n    return entry\n'
    made: dict[str, Any] = {}
    exec(compile(text, "<glassgrad listening>", "exec"), made)
    return made["outer"]().__code__


_operated: dict[int, Any] = {}  # rows by their operators, which do not know them


def _ask(gate: _Gate, place: int, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    while place >= 0:
        listener, chosen = _listeners[place] if place < len(_listeners) else (None, None)
        if listener is not None and (chosen is None or id(gate.function) in chosen):
            following = place - 1
            return listener(gate.function, lambda *a, **k: _ask(gate, following, a, k), args, kwargs)
        place -= 1
    return gate.call(args, kwargs)


def table_functions() -> list[Any]:
    """Every function that the table brings: callers of rows, their operators and writers, composites."""
    found = [row.caller for row in TABLE.values()]
    for row in TABLE.values():
        operate = getattr(row, "operate", None)
        if operate is not None:
            found.append(operate)
            _operated[id(operate)] = row
    found += functions().values()
    found += [made.function for made in COMPOSITES.values()]
    return [function for function in found if type(function) is FunctionType]


@contextmanager
def listening(listener: Listener, more: Iterable[Any] = (), only: Iterable[Any] | None = None) -> Iterator[None]:
    """A block in which ``listener`` hears every call of the table's functions and of ``more``; or of ``only`` these."""
    start(listener, more, only)
    try:
        yield
    finally:
        stop(listener)


def start(listener: Listener, more: Iterable[Any] = (), only: Iterable[Any] | None = None) -> None:
    """Let ``listener`` hear calls, until :func:`stop`."""
    with _lock:
        chosen = list(only) if only is not None else [*table_functions(), *more]
        chosen = [function for function in chosen if type(function) is FunctionType]
        _listeners.append((listener, frozenset(map(id, chosen))))
        for function in chosen:
            gate = _gates.get(id(function))
            if gate is None:
                gate = _gates[id(function)] = _Gate(function)  # which keeps the function, so that its id stays its own
            gate.close()


def stop(listener: Listener) -> None:
    """Let ``listener`` hear no more."""
    with _lock:
        for place in reversed(range(len(_listeners))):
            if _listeners[place][0] == listener:
                del _listeners[place]
                break
        if not _listeners:
            for gate in _gates.values():
                gate.open()
