"""Listening to calls of public functions while somebody wants to: the profiler, ``torch.fx`` and function modes.

Nothing of this costs a call anything while nobody listens.  The first listener gives every function of the table
another code object, which asks the listeners and then runs the function's own code; the last one to leave puts the own
code back.  So it does not matter by which name, or out of which list, a function is called.

A listener that listens alone may write the code that stands in a function's place itself (``write``).
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from types import CodeType, FrameType, FunctionType
from typing import Any

from ..core.row import TABLE
from ..fast import generate
from .bind import functions
from .declare import COMPOSITES

#: ``listener(function, proceed, args, kwargs)`` answers for a call; ``proceed(*args, **kwargs)`` is the call itself.
Listener = Callable[[Any, Callable[..., Any], tuple[Any, ...], dict[str, Any]], Any]
#: ``write(function, own)`` gives the code that listens in the function's place and runs ``own``, or None.
Writer = Callable[[Any, Any], CodeType | None]

_lock = threading.RLock()
_gates: dict[int, _Gate] = {}


class _Ear:
    """One that listens: to which functions, and whether it still does."""

    __slots__ = ("listener", "chosen", "on", "write")

    def __init__(self, listener: Listener, chosen: frozenset[int], write: Writer | None) -> None:
        self.listener, self.chosen, self.write, self.on = listener, chosen, write, True


_listeners: list[_Ear] = []
_planned: set[_Gate] = set()  # gates that know their way through the listeners


def _entry(*args: Any, **kwargs: Any) -> Any:
    return "GATE".enter(args, kwargs)  # type: ignore[attr-defined]  # the constant is replaced by the gate itself


class _Gate:
    """One function: its own code, and the code that asks the listeners first."""

    __slots__ = ("function", "code", "short", "closed", "head", "_own")

    def __init__(self, function: Any) -> None:
        self.function = function
        free = function.__code__.co_freevars
        code = _with_free_variables(free) if free else _entry.__code__
        consts = tuple(self if const == "GATE" else const for const in code.co_consts)
        self.code = code.replace(co_consts=consts, co_name=function.__name__, co_filename=function.__code__.co_filename)
        self.short: CodeType | None = None  # code that the only listener wrote
        self.closed: Any = None  # the function's own code, while the gate stands in its place
        self.head: Any = None  # what a call goes to: the listeners one after the other, then the own code
        self._own: Any = None

    @property
    def own(self) -> Any:
        """A function of the own code, while the gate stands in its place."""
        if self._own is None and self.closed is not None:
            function = self.function
            own = FunctionType(
                self.closed, function.__globals__, function.__name__, function.__defaults__, function.__closure__
            )
            own.__kwdefaults__ = function.__kwdefaults__
            self._own = own
        return self._own

    def close(self) -> None:
        """Stand in the function's place."""
        function = self.function
        code = function.__code__
        if code is not self.code and (code is not self.short or code is None):
            self.closed = code
            self._own = self.head = None
            function.__code__ = self.code

    def open(self) -> None:
        """Put the function's own code back."""
        code = self.function.__code__
        if code is self.code or code is self.short:
            self.function.__code__ = self.closed
        self.closed = self._own = self.head = self.short = None

    def forget(self) -> None:
        """Find the way through the listeners anew at the next call."""
        if self.short is not None:
            if self.function.__code__ is self.short:
                self.function.__code__ = self.code
            self.short = None
        self.head = None

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
        head = self.head or self._plan()
        return head(*args, **kwargs)

    def _plan(self) -> Any:
        """The listeners that hear this function, the last to come first, and the function behind them."""
        with _lock:
            own = self.own
            if own is None:  # everybody has left meanwhile
                return self.function
            head = own
            heard = [ear for ear in _listeners if id(self.function) in ear.chosen]
            for ear in heard:
                head = _linked(ear, self.function, head)
            self.head = head
            _planned.add(self)
            if len(heard) == 1 and heard[0].write is not None and self.function.__code__ is self.code:
                self.short = heard[0].write(self.function, own)
                if self.short is not None:
                    self.function.__code__ = self.short
            return head


def _linked(ear: _Ear, function: Any, following: Any) -> Any:
    listener = ear.listener

    def ask(*args: Any, **kwargs: Any) -> Any:
        return listener(function, following, args, kwargs) if ear.on else following(*args, **kwargs)

    return ask


def caller_of(function: Any) -> FrameType | None:
    """The frame that called ``function``, whose listener asks."""
    code = _gates[id(function)].code
    frame: FrameType | None = sys._getframe(1)
    while frame is not None and frame.f_code is not code:
        frame = frame.f_back
    return None if frame is None else frame.f_back


def _with_free_variables(names: tuple[str, ...]) -> Any:
    """The code of ``_entry`` as that of a closure over ``names``: a function takes only code with as many."""
    return code_over(names, 'def entry(*args, **kwargs):\n    return "GATE".enter(args, kwargs)\n')


def code_over(names: tuple[str, ...], text: str) -> CodeType:
    """The code of the function ``entry`` that ``text`` defines, as that of a closure over ``names``."""
    made: dict[str, Any] = {}
    if not names:
        exec(compile(text, "<glassgrad listening>", "exec"), made)
        return made["entry"].__code__
    first, _, rest = text.partition("\n")
    lines = ["def outer():", *(f"    {name} = None" for name in names), f"    {first}"]
    lines += [f"        if 0: ({', '.join(names)},)", *("    " + line for line in rest.splitlines())]
    exec(compile("\n".join([*lines, "    return entry", ""]), "<glassgrad listening>", "exec"), made)
    return made["outer"]().__code__


_operated: dict[int, Any] = {}  # rows by their operators, which do not know them


_known: tuple[tuple[int, int], list[Any], frozenset[int]] = (0, 0), [], frozenset()


def table_functions() -> list[Any]:
    """Every function that the table brings: callers of rows, their operators and writers, composites."""
    return [*_table()[0]]


def _table() -> tuple[list[Any], frozenset[int]]:
    """The functions of the table and their identities, gathered again when there are more rows or composites."""
    global _known
    size = len(TABLE), len(COMPOSITES)
    if _known[0] != size:
        found = _gathered()
        _known = (len(TABLE), len(COMPOSITES)), found, frozenset(map(id, found))
    return _known[1:]


def _gathered() -> list[Any]:
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


def start(
    listener: Listener, more: Iterable[Any] = (), only: Iterable[Any] | None = None, write: Writer | None = None
) -> None:
    """Let ``listener`` hear calls, until :func:`stop`; ``write`` may write what stands in for a function."""
    with _lock:
        base, known = _table() if only is None else ([], frozenset())
        others = [function for function in (more if only is None else only) if type(function) is FunctionType]
        _listeners.append(_Ear(listener, known.union(map(id, others)), write))
        _forget()
        for function in [*base, *others]:
            gate = _gates.get(id(function))
            if gate is None:
                gate = _gates[id(function)] = _Gate(function)  # which keeps the function, so that its id stays its own
            if gate.closed is None or function.__code__ is not gate.code:
                gate.close()


def stop(listener: Listener) -> None:
    """Let ``listener`` hear no more."""
    with _lock:
        for place in reversed(range(len(_listeners))):
            if _listeners[place].listener == listener:
                _listeners.pop(place).on = False
                break
        _forget()
        if not _listeners:
            for gate in _gates.values():
                if gate.closed is not None:
                    gate.open()


def _forget() -> None:
    for gate in _planned:
        gate.forget()
    _planned.clear()
