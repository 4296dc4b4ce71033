"""A compiled function: what it has of its calls' tapes and programs, and what it tells of them."""

from __future__ import annotations

import functools
import os
import sys
import threading
import weakref
from collections.abc import Callable
from typing import Any

from ..core.tensor import Tensor
from ..ground import listening, modes
from ..ground.generator import asked
from ..nn.modules.module import Module
from ..tensor.parameter import Parameter
from . import lazy
from .advice import advice
from .build import Program
from .deferral import WORTH
from .errors import FailOnRecompileLimitHit, Unsupported
from .program import tensors_in
from .run import Run
from .tape import Node
from .verify import tell

stance = "default"  # "force_eager" runs everything as it is written; see ``set_stance``
BRANCHES = 8  # in so many ways calls may go; others run as they are written
TELLING = 10**5  # bytes of values from which on their memory is worth a line
LOOSE = 3  # from so many branches on, only parameters are taken for tensors that stay

#: Calls after which a function runs as it is written, if nothing that it does is worth comparing. Two are compared
#: again whenever their number has doubled.
TRIED = 4

_STANCES = ("default", "force_eager", "eager_on_recompile", "fail_on_recompile", "eager_then_compile")
_HERE = os.path.dirname(os.path.dirname(__file__))


_SMALL = (
    f"mostly runs as it is written: its results do not have {WORTH:,} elements on an average, so comparing costs more "
    "than a program gains; pure=True replays it"
)


class _Inside(threading.local):
    """How many calls of compiled functions run Python in this thread, one in another; and the run that hears them."""

    depth = 0
    run: Any = None


inside = _Inside()
_all: weakref.WeakSet[Compiled] = weakref.WeakSet()


class Explanation:
    """What ``compile.explain`` gives: the programs of a function, and what kept its calls from being one program."""

    def __init__(self, name: str, programs: list[Program], reasons: list[str]) -> None:
        self.name, self.programs, self.reasons = name, programs, reasons

    def __repr__(self) -> str:
        count = len(self.programs)
        lines = [f"{self.name}: {count} program{'' if count == 1 else 's'}"]
        for program in self.programs:
            native = ", as one native function" if program.native else ""
            lines.append(f"  {len(program.steps)} steps{native}")
            if program.plan is not None and program.plan.made >= TELLING:
                lines.append(f"  {program.plan}")
        for reason in self.reasons:
            lines.append(f"  {reason}")
            hint = advice(reason)
            if hint:
                lines.append(f"    {hint}")
        return "\n".join(lines)


class Compiled:
    """What ``compile(function)`` calls: the state of one compiled function."""

    is_pure = False

    def __init__(
        self, function: Callable[..., Any], fullgraph: bool = False, limit: int | None = None, verify: int = 0,
        as_written: bool = False,
    ) -> None:
        self.function = function
        self.as_written = as_written
        self.verify = verify  # every so manieth call is compared with the function as it is written
        self.fullgraph = fullgraph  # raise where it is not one program
        self.limit = BRANCHES if limit is None else limit
        self.programs: list[Program] = []
        self.reasons: dict[str, None] = {}
        self.shown_by: Any = None  # the function whose ``source`` is the last program
        self.forget()
        _all.add(self)

    def forget(self) -> None:
        """Begin anew."""
        self.programs.clear()
        self.reasons.clear()
        self.root = Node()
        self.seen: dict[int, tuple[Any, int]] = {}  # what comes from outside, and in which call it was met first
        self.eager = self.as_written  # nothing is deferred: so it was asked for, or a program gave another result
        self.twice = False  # whether derivatives of derivatives are taken
        self.gains = False  # whether a program saves more than comparing its calls costs
        self.kept: dict[int, Any] = {}
        self.calls = self.branches = self.entries = self.replays = 0
        self.rests = 0  # up to so many calls it runs as it is written, as nothing that it does is worth comparing

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

    def lasts(self, thing: Any) -> bool:
        """Whether a tensor from outside, a module or an optimizer is taken for one that is the same in each call."""
        is_parameter = type(thing) is Parameter
        known = self.seen.get(id(thing))
        if known is None or known[0]() is not thing:
            self.seen[id(thing)] = weakref.ref(thing), self.calls
            return is_parameter
        return is_parameter or known[1] < self.calls and self.branches <= LOOSE

    def keep(self, optimizer: Any) -> None:
        """Hold an optimizer, so that its identity stays its own."""
        self.kept[id(optimizer)] = optimizer

    def may_go_on(self, run: Run) -> bool:
        """Whether a call may be noted that the tape does not know; else the run defers nothing any more."""
        if self.programs and stance == "fail_on_recompile":
            run.abandon()
            message = "Detected recompile when torch.compile stance is 'fail_on_recompile'."
            raise RuntimeError(message + self._described())
        parts = bool(run.node.after)  # it knows others there
        if stance != "eager_on_recompile" and self.branches + parts < self.limit:
            self.branches += parts
            return True
        run.abandon()
        if stance != "eager_on_recompile":
            why = f"its calls differ in more than {self.limit} ways"
            if self.fullgraph:
                raise FailOnRecompileLimitHit(f"{self.name}: {why}")
            self.reasons[f"runs as it is written: {why}"] = None
        return False

    def _described(self) -> str:
        code = getattr(self.function, "__code__", None)
        if code is None:
            return ""
        return (
            f" filename: '{code.co_filename}', function name: '{code.co_name}', line number: {code.co_firstlineno}"
        )

    def note(self, why: str, run: Run) -> None:
        """Note that what was pending had to be run."""
        if self.fullgraph:
            run.abandon()
            hint = advice(why)
            raise Unsupported(f"{self.name}: {why}{_place()}" + (f"\n  Hint: {hint}" if hint else ""))
        if self.calls < 20:
            self._tell(f"a program ends{_place()}: {why}")

    def distrust(self, why: str) -> None:
        """A program is wrong: replay nothing any more."""
        self.eager = True
        self.programs.clear()
        self.reasons[f"runs as it is written: {why}"] = None
        tell(why)

    def refuse(self, why: str) -> None:
        """Note that what was pending makes no program."""
        self._tell(f"runs as it is written: {why}")

    def _tell(self, reason: str) -> None:
        if len(self.reasons) < 20:
            self.reasons[reason] = None

    def made(self, program: Program) -> None:
        """Note a program."""
        self.programs.append(program)
        self.shown_by.source = program.source + (f"\n\n{program.native}" if program.native else "")

    # -- calls ----------------------------------------------------------------------------------------------------

    def call(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """A call of the function."""
        if self.calls < self.rests:
            self.calls += 1
            return self._as_written(args, kwargs)
        if self.eager:
            return self.function(*args, **kwargs)
        if stance != "default":
            if stance not in _STANCES:
                raise RuntimeError(f"invalid torch.compile stance '{stance}'")
            if stance == "force_eager":
                return self.function(*args, **kwargs)
        strangers = modes.watch and (modes.unusual or not only_runs(listening.listeners))
        if strangers or inside.run is not None:  # somebody else listens; or it is a part of another's program
            return self._as_written(args, kwargs)
        return self.compared(args, kwargs)

    def compared(self, args: tuple[Any, ...], kwargs: dict[str, Any], journal: Any = None) -> Any:
        """Run the function, its operations compared with those of former calls."""
        self.calls += 1
        arguments = {id(piece) for piece in args if isinstance(piece, Tensor)}
        if kwargs or len(arguments) < len(args):
            arguments.update(map(id, tensors_in((args, kwargs))))
        ear = listening.Ear(_hear)
        listening.begin(ear)
        run = inside.run = Run(self, self.root, arguments, only_runs, journal)
        inside.depth += 1
        lazy.runs.append(run)
        try:
            result = self.function(*args, **kwargs)
            run.finish()
            return result
        except BaseException:
            run.finish()
            raise
        finally:
            self._rest()
            lazy.runs.remove(run)
            inside.depth -= 1
            inside.run = None
            listening.end(ear)

    def _rest(self) -> None:
        """Leave the next calls uncompared, if none was worth it: half of all, but for two in a row."""
        pair = self.calls & ~1  # the second call is the first that makes a program
        if self.calls > TRIED and self.calls != pair and self.may_rest():
            self.rests = 2 * pair - 1
            self._tell(_SMALL)

    def may_rest(self) -> bool:
        """Whether nobody asks for comparisons that gain nothing."""
        return not (self.gains or self.fullgraph or self.verify)

    def _as_written(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        inside.depth += 1
        try:
            return self.function(*args, **kwargs)
        finally:
            inside.depth -= 1


def _hear(function: Any, proceed: Callable[..., Any], args: Any, kwargs: Any) -> Any:
    run = inside.run
    if len(lazy.runs) > (run is not None):
        for other in [*lazy.runs]:
            if other is not run:
                other.make_way(function, args, kwargs)
    return proceed(*args, **kwargs) if run is None else run.hear(function, proceed, args, kwargs)


def _asked() -> None:
    for run in [*lazy.runs]:
        if run is inside.run:
            run.finish()
        else:
            run.make_way()


asked.append(_asked)


def only_runs(listeners: Any) -> bool:
    """Whether nobody listens but runs of compiled functions."""
    return all([ear.listener is _hear for ear in listeners])


def _place() -> str:
    """The line of the program that runs, outside of the package."""
    frame: Any = sys._getframe(1)
    while frame is not None and frame.f_code.co_filename.startswith(_HERE):
        frame = frame.f_back
    return "" if frame is None else f" at {os.path.basename(frame.f_code.co_filename)}:{frame.f_lineno}"


def compiled(function: Callable[..., Any], pure: bool = False, **settings: Any) -> Any:
    """A function that computes what ``function`` computes, by programs of what its calls deferred."""
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
