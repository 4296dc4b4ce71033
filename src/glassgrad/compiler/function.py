"""A compiled function: its calls, the loops that they share, and what it tells of them."""

from __future__ import annotations

import functools
import threading
import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from ..ground import listening, modes
from ..kernels import compiled as kernels
from ..nn.modules.module import Module
from .advice import advice, place
from .deferral import Run
from .errors import FailOnRecompileLimitHit, Unsupported
from .lazy import Cell
from .loop import Loop, structure
from .verify import same, warn

stance = "default"  # "force_eager" runs everything as it is written; see ``set_stance``
LOOPS = 64  # so many loops a function may have; what else is deferred is computed one operation after another

#: Calls after which a function runs as it is written, if nothing that it does is deferred. Two are heard again
#: whenever their number has doubled.
TRIED = 4

_STANCES = ("default", "force_eager", "eager_on_recompile", "fail_on_recompile", "eager_then_compile")
_NOTHING = "runs as it is written: it has no runs of elementwise operations on large arrays"


class Call:
    """A call of a compiled function that runs Python. Its frame alone holds it: an interrupt ends it in any case."""


def _nothing() -> None:
    """A reference to nothing."""


class _Inside(threading.local):
    """The innermost call of a compiled function in this thread, and the run that hears it: weak references.

    ``meets``: whether an operation is under way whose tensors are noted.
    """

    meets = False
    call: Callable[[], Call | None] = staticmethod(_nothing)
    run: Callable[[], Run | None] = staticmethod(_nothing)


inside = _Inside()
_runs: list[Callable[[], Run | None]] = []  # of all threads: weak references, as their frames alone hold them
_all: weakref.WeakSet[Compiled] = weakref.WeakSet()


class Explanation:
    """What ``compile.explain`` gives: the loops or programs of a function, and what kept its calls from being one."""

    def __init__(self, name: str, programs: list[Any], reasons: list[str]) -> None:
        self.name, self.programs, self.reasons = name, programs, reasons

    def __repr__(self) -> str:
        count = len(self.programs)
        lines = [f"{self.name}: {count} program{'' if count == 1 else 's'}"]
        lines += [f"  {line}" for program in self.programs for line in program.described()]
        for reason in self.reasons:
            hint = advice(reason)
            lines += [f"  {reason}", f"    {hint}"] if hint else [f"  {reason}"]
        return "\n".join(lines)


class Compiled:
    """What ``compile(function)`` calls: the state of one compiled function."""

    def __init__(
        self, function: Callable[..., Any], fullgraph: bool = False, limit: int | None = None, verify: int = 0,
        as_written: bool = False,
    ) -> None:
        self.function = function
        self.as_written = as_written
        self.verify = verify  # every so manieth call is compared with the function as it is written
        self.fullgraph = fullgraph  # raise where it hands numbers to Python
        self.limit = LOOPS if limit is None else limit
        self.reasons: dict[str, None] = {}
        self.programs: list[Any] = []
        self.shown_by: Any = None  # the function whose ``source`` is the last program
        self.forget()
        _all.add(self)

    def forget(self) -> None:
        """Begin anew."""
        self.programs.clear()
        self.reasons.clear()
        self._loops: dict[Any, Loop | None] = {}  # by the structure of what they compute; None: it came once
        self.eager = self.as_written  # nothing is deferred: so it was asked for, or a loop gave another result
        self.calls = self.deferred = 0
        self.rests = 0  # up to so many calls it runs as it is written, as nothing that it does is deferred

    def explanation(self) -> Explanation:
        """What is to be told of it."""
        return Explanation(self.name, list(self.programs), list(self.reasons))

    @property
    def name(self) -> str:
        """How messages call the function."""
        owner = getattr(self.function, "__self__", None)
        if isinstance(owner, Module) and self.function.__name__ in ("__call__", "_call_impl"):
            return type(owner).__name__
        return getattr(self.function, "__qualname__", type(self.function).__name__)

    # -- what runs ask --------------------------------------------------------------------------------------------

    def loop_for(self, cells: list[Cell], wanted: list[Cell]) -> Loop | None:
        """The loop that computes these cells; None where they are to be computed one after another."""
        key, places = structure(cells, wanted)
        if key not in self._loops:
            self._loops[key] = None
            return None
        loop = self._loops[key]
        if loop is None and kernels.least != kernels.NEVER and self.may_compile("a loop", len(self.programs)):
            loop = self._loops[key] = Loop(key, places)
            self.made(loop)
        return loop

    def may_compile(self, what: str, count: int) -> bool:
        """Whether there may be one more loop or program, where there are so many."""
        _check_stance()
        if stance == "fail_on_recompile" and self.programs:
            raise RuntimeError(
                "Detected recompile when torch.compile stance is 'fail_on_recompile'." + self._described()
            )
        if stance == "eager_on_recompile" and self.programs:
            return False
        if count < self.limit:
            return True
        why = f"its calls differ in more than {self.limit} ways, each with {what} of its own"
        if self.fullgraph:
            raise FailOnRecompileLimitHit(f"{self.name}: {why}")
        self.tell(f"runs as it is written: {why}")
        return False

    def _described(self) -> str:
        code = getattr(self.function, "__code__", None)
        if code is None:
            return ""
        return f" filename: '{code.co_filename}', function name: '{code.co_name}', line number: {code.co_firstlineno}"

    def compare(self, loop: Loop, wanted: list[Cell], arrays: list[Any]) -> None:
        """Compare what a loop gave with what was computed as it is written; a difference ends all deferring."""
        wrong = [cell.row.name for cell, array in zip(wanted, arrays, strict=True) if not same(array, cell.array)]
        if wrong:
            self.distrust(f"a loop gave another result than its operations do one by one, from {wrong[0]}()")

    def distrust(self, why: str) -> None:
        """A program is wrong: use none any more."""
        self.eager = True
        self.programs.clear()
        self._loops.clear()
        self.reasons[f"runs as it is written: {why}"] = None
        warn(why)

    def refuse_whole(self, why: str) -> None:
        """Raise where a function that was to be one program hands numbers to Python."""
        hint = advice(why)
        raise Unsupported(f"{self.name}: {why}{place()}" + (f"\n  Hint: {hint}" if hint else ""))

    def note(self, why: str, count: int) -> None:
        """Note that so many operations that were pending had to be computed."""
        if count > 1 and self.calls < 20:
            self.tell(f"a loop of {count} operations ends{place()}: {why}")

    def tell(self, reason: str) -> None:
        """Note a reason for ``explain``."""
        if len(self.reasons) < 20:
            self.reasons[reason] = None

    def made(self, program: Any) -> None:
        """Note a loop or program."""
        self.programs.append(program)
        self.shown_by.source = program.source

    # -- calls ----------------------------------------------------------------------------------------------------

    def call(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """A call of the function."""
        _check_stance()
        if self.eager or stance == "force_eager":
            return self.function(*args, **kwargs)
        self.calls += 1
        strangers = modes.watch and (modes.unusual or any([ear.listener is not _hear for ear in listening.listeners]))
        listens = can_loop() or self.fullgraph
        if self.calls <= self.rests or not listens or strangers or inside.run() is not None:
            return self.counted(self.function, args, kwargs)  # nothing is deferred, or it is a part of another function
        return self._heard(args, kwargs)

    def counted(self, function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """A call of a function, during which ``is_compiling()``."""
        outer, call = inside.call, Call()
        try:
            inside.call = weakref.ref(call)
            return function(*args, **kwargs)
        finally:
            inside.call = outer

    def _heard(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Run the function, and defer what can be."""
        try:
            with self.deferring():
                return self.counted(self.function, args, kwargs)
        finally:
            pair = self.calls & ~1
            if self.calls > TRIED and self.calls != pair and not (self.deferred or self.fullgraph):
                self.rests = 2 * pair - 1
                self.tell(_NOTHING)

    @contextmanager
    def deferring(self) -> Iterator[None]:
        """A block in which is deferred what can be."""
        run, ear = Run(self), listening.Ear(_hear)
        reference = weakref.ref(run)
        try:
            _runs.append(reference)
            inside.run = reference
            listening.begin(ear)
            run.ears = listening.listeners
            yield
        finally:
            try:
                run.end()
            finally:
                listening.end(ear)
                inside.run = _nothing
                _runs.remove(reference)


def _check_stance() -> None:
    if stance not in _STANCES:
        raise RuntimeError(f"invalid torch.compile stance '{stance}'")


def _hear(function: Any, proceed: Callable[..., Any], args: Any, kwargs: Any) -> Any:
    run = inside.run()
    if run is None or len(_runs) > 1:
        _others(run)
    return proceed(*args, **kwargs) if run is None else run.hear(function, proceed, args, kwargs)


def _others(mine: Run | None) -> None:
    """Have what is pending in other threads computed before a call that may write to it; and tidy after interrupts."""
    for reference in [*_runs]:
        run = reference()
        if run is None:
            _runs.remove(reference)
        elif run is not mine:
            run.flush(None)
    for ear in () if _runs else listening.listeners:
        if ear.listener is _hear:
            listening.end(ear)


def can_loop() -> bool:
    """Whether loops can be compiled, so that deferring gains."""
    return kernels.least != kernels.NEVER


def compiled(function: Callable[..., Any], pure: bool = False, **settings: Any) -> Any:
    """A function that computes what ``function`` computes, in fewer steps."""
    if pure:
        from .pure import Pure

        state: Compiled = Pure(function, **settings)
    else:
        state = Compiled(function, **settings)
    updated = functools.WRAPPER_UPDATES if hasattr(function, "__code__") or hasattr(function, "__func__") else ()

    @functools.wraps(function, updated=updated)
    def call(*args: Any, **kwargs: Any) -> Any:
        return state.call(args, kwargs)

    call._torchdynamo_orig_callable = function  # type: ignore[attr-defined]
    call.program_state = state  # type: ignore[attr-defined]
    call.source = "# not captured yet\n"  # type: ignore[attr-defined]
    state.shown_by = call
    return call


def reset() -> None:
    """Forget all programs."""
    for state in _all:
        state.forget()
