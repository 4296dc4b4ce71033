"""A compiled function: runs the program that fits a call, captures one where none does, and tells why it cannot."""

from __future__ import annotations

import functools
import threading
import weakref
from collections.abc import Callable
from typing import Any

from ..ground import modes
from ..nn.modules.module import Module
from ..optim.optimizer import Optimizer
from .advice import advice, changing
from .build import MISS, Builder, Program
from .capture import Capture
from .caught import may_raise
from .errors import FailOnRecompileLimitHit, Unsupported
from .guards import SCHEDULE, Met, Surroundings
from .passes import UNHEARD
from .program import NotCapturable
from .purity import Watch
from .spread import spread

stance = "default"  # "force_eager" runs everything as it is written; see ``set_stance``
PROGRAMS = 8  # so many programs a function may have; then it runs as it is written
AGAIN = 4  # so often a capture may wait for the next call, as new code ran
TELLING = 10**5  # bytes of values from which on their memory is worth a line
TRIES = 2  # the first run of a function may set up what later runs use

_STANCES = ("default", "force_eager", "eager_on_recompile", "fail_on_recompile", "eager_then_compile")
_capturing = threading.Lock()


class _Inside(threading.local):
    """How many calls of compiled functions run Python in this thread, one in another."""

    depth = 0


inside = _Inside()
_all: weakref.WeakSet[Compiled] = weakref.WeakSet()


class Explanation:
    """What ``compile.explain`` gives: the programs of a function, and why it was run as it is written where it was."""

    def __init__(self, name: str, programs: list[Program], reasons: list[str]) -> None:
        self.name, self.programs, self.reasons = name, programs, list(dict.fromkeys(reasons))

    def __repr__(self) -> str:
        count = len(self.programs)
        lines = [f"{self.name}: {count} program{'' if count == 1 else 's'}"]
        for program in self.programs:
            native = ", as one native function" if program.native else ""
            lines.append(f"  {len(program.steps)} steps{native}")
            if program.plan is not None and program.plan.made >= TELLING:
                lines.append(f"  {program.plan}")
        for reason in self.reasons:
            lines.append(f"  runs as it is written: {reason}")
            hint = advice(reason)
            if hint:
                lines.append(f"    {hint}")
        return "\n".join(lines)


class Compiled:
    """What ``compile(function)`` calls: the state of one compiled function."""

    def __init__(
        self, function: Callable[..., Any], fullgraph: bool = False, limit: int | None = None, as_written: bool = False
    ) -> None:
        self.function = function
        self.fullgraph = fullgraph  # raise where it cannot be captured
        self.limit = PROGRAMS if limit is None else limit
        self.as_written = as_written  # programs are made to see whether they can be, and not run
        self.programs: list[Program] = []
        self.reasons: list[str] = []
        self.runs: list[Callable[..., Any]] = []
        self.spread: dict[Any, list[Callable[..., Any]]] = {}  # of calls with tensors in containers, by their layout
        self.numbers: list[tuple[Any, ...]] = []  # the numbers among the arguments that programs were made for
        self.shown_by: Any = None  # the function whose ``source`` is the last program
        self.forget()
        _all.add(self)

    def forget(self) -> None:
        """Begin anew."""
        self.programs.clear()
        self.reasons.clear()
        self.runs.clear()
        self.spread.clear()
        self.numbers.clear()
        self.tries = 0
        self.again = 0
        self.met = Met()
        self.open = True
        self.fresh = not self.fullgraph  # the first call only sets up what later ones use

    def explanation(self) -> Explanation:
        """What is to be told of it."""
        return Explanation(self.name, list(self.programs), self.reasons)

    @property
    def name(self) -> str:
        """How messages call the function."""
        owner = getattr(self.function, "__self__", None)
        if isinstance(owner, Module) and self.function.__name__ in ("__call__", "_call_impl"):
            return type(owner).__name__
        return getattr(self.function, "__qualname__", type(self.function).__name__)

    @property
    def code(self) -> Any:
        """The code that a call runs: a module's ``forward``, an object's ``__call__``."""
        function: Any = self.function
        owner = getattr(function, "__self__", None)
        if isinstance(owner, Module) and self.name == type(owner).__name__:
            function = owner.forward
        elif not hasattr(function, "__code__") and not hasattr(function, "__func__"):
            function = getattr(type(function), "__call__", None)
        return getattr(getattr(function, "__func__", function), "__code__", None)

    def slow(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """A call that no program fits: captured if that may still succeed, else run as it is written."""
        inside.depth += 1
        try:
            return self._slow(args, kwargs)
        finally:
            inside.depth -= 1

    def _slow(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        if stance not in _STANCES:
            raise RuntimeError(f"invalid torch.compile stance '{stance}'")
        if stance == "force_eager" or self.as_written and not self.fullgraph:
            inside.depth -= 1  # as if nothing were compiled
            try:
                return self.function(*args, **kwargs)
            finally:
                inside.depth += 1
        flat = spread(args, kwargs)
        if flat is not None:
            for run in self.spread.get(flat.layout, ()):
                answer = run(*flat.leaves)
                if answer is not MISS:
                    return answer
        if stance == "fail_on_recompile":
            code = self.code
            of = "" if code is None else f" filename: '{code.co_filename}', function name: '{code.co_name}',"
            line = "" if code is None else f" line number: {code.co_firstlineno}"
            raise RuntimeError(f"Detected recompile when torch.compile stance is 'fail_on_recompile'.{of}{line}")
        if self.fresh:
            self.fresh = False
            return self._first(args, kwargs)
        if not self.open and self.fullgraph and not self.as_written:
            self._fail()
        closed = not self.open or stance == "eager_on_recompile"
        if closed or modes.watch or not _capturing.acquire(False):
            return self.function(*args, **kwargs)
        try:
            return self._captured(args, kwargs, flat)
        finally:
            _capturing.release()

    def _fail(self) -> None:
        reason = self.reasons[-1] if self.reasons else "it cannot be captured"
        if self.programs:
            raise FailOnRecompileLimitHit(f"{self.name}: {reason}")
        hint = advice(reason)
        raise Unsupported(f"{self.name}: {reason}" + (f"\n  Hint: {hint}" if hint else ""))

    def _first(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """The first call, which tells what code runs, so that the next one knows where to look."""
        watch = Watch(collect=True)
        try:
            with watch:
                return self.function(*args, **kwargs)
        finally:
            self.met.add(watch.codes, watch.own)

    def _captured(self, args: tuple[Any, ...], kwargs: dict[str, Any], flat: Any) -> Any:
        grad_mode = modes.grad_enabled()
        around = Surroundings(self.function, args, kwargs, self.met)
        given = [*args, *kwargs.values()] if flat is None else flat.leaves
        watch = Watch()
        watch.excused = True
        try:
            capture = Capture(self.code, given, lambda tensor: id(tensor) in around.tensors)
        except NotCapturable as reason:
            self._refuse(str(reason))
            return self.function(*args, **kwargs)
        with capture.listening(), watch:
            result = self.function(*args, **kwargs)
        try:
            self._keep(capture, watch, around, args, kwargs, flat, result, grad_mode)
        except NotCapturable as reason:
            self._refuse(str(reason))
        except Exception as error:  # noqa: BLE001  a mistake of the compiler's must not end the program that runs
            self._refuse(f"{type(error).__name__} while its program was made: {error}")
        finally:
            capture.let_go()
        return result

    def _keep(
        self, capture: Capture, watch: Watch, around: Surroundings, args: Any, kwargs: Any, flat: Any, result: Any,
        grad_mode: bool,
    ) -> None:  # fmt: skip
        if capture.reason is not None:
            raise NotCapturable(capture.reason)
        if watch.reasons:
            raise NotCapturable(watch.reasons[0])
        for who, classes in watch.catching:
            for step in capture.steps:
                if any(issubclass(error, cls) for error in may_raise(step) for cls in classes):
                    raise NotCapturable(f"{who}() catches errors that {step.name}() may raise by what is in tensors")
        if self.met.add(watch.codes, watch.own):  # what that code reads was not looked at before the call
            self.again += 1
            if self.again <= AGAIN:
                return
            raise NotCapturable("it runs other code in each call")
        changed = around.changed("param_groups" not in self.met.users and capture.scheduled)
        if changed is not None:
            raise NotCapturable(f"it changes {changed}")
        everything = [*args, *kwargs.values()] if flat is None else flat.leaves
        known = {id(tensor) for step in capture.steps if step.acts for tensor in step.touched(everything)}
        for tensor in around.written():
            if id(tensor) not in known:
                raise NotCapturable(f"it writes to a tensor of shape {tuple(tensor.shape)} in a way that was not seen")  # type: ignore[attr-defined]
        if around.moved():
            raise NotCapturable("it gives a tensor other memory, as setting .data does")
        if capture.unheard():
            raise NotCapturable(UNHEARD)
        if modes.grad_enabled() is not grad_mode:
            raise NotCapturable("it leaves another gradient mode")
        self._look_at(result, around)
        asked = SCHEDULE & self.met.users
        if capture.scheduled and asked:
            raise NotCapturable(f"it makes a step of a schedule and may read its {min(asked)}")
        told = {"_version", "next_functions"} & self.met.users
        if told:
            raise NotCapturable(f"it reads .{min(told)} of something, which is not followed")
        if "state" in self.met.users and any(isinstance(thing, Optimizer) for thing in around.seen.values()):
            raise NotCapturable("it may read the state of an optimizer")
        closed = self.met.closed(around.functions)
        if closed is not None:
            raise NotCapturable(f"it calls {closed.co_name}(), whose surroundings cannot be looked at")
        places = around.relevant(self.met, frozenset() if flat is None else flat.holders)
        grads = around.gradients(self.met) + capture.without_gradient()
        if flat is not None:
            args, kwargs = tuple(flat.leaves), {}
        program = Builder(self.name, capture, args, kwargs, result, places, grad_mode, grads).program()
        self.programs.append(program)
        if not self.as_written:
            runs = self.runs if flat is None else self.spread.setdefault(flat.layout, [])
            runs.insert(0, program.run)
        self.shown_by.source = program.source + (f"\n\n{program.native}" if program.native else "")
        self.tries = 0
        self.numbers.append(tuple(piece if type(piece) in (int, float) else None for piece in everything))
        if len(self.programs) >= self.limit:
            self.open = False
            ways = f"it was called in more than {self.limit} ways that differ in shapes or Python values"
            self.reasons.append(ways + changing(self.numbers, args, kwargs, self.code))
        if self.as_written:
            self.open = False

    def _look_at(self, result: Any, around: Surroundings) -> None:
        """A container that is given back must be a new one."""
        waiting, met = [result], set()
        while waiting:
            piece = waiting.pop()
            if isinstance(piece, (list, dict)):
                if id(piece) in around.seen or id(piece) in met:
                    raise NotCapturable(f"it gives back a {type(piece).__name__} that others hold too")
                met.add(id(piece))
            if isinstance(piece, (list, tuple, dict)):
                waiting.extend(piece.values() if isinstance(piece, dict) else piece)

    def _refuse(self, reason: str) -> None:
        self.reasons.append(reason)
        self.tries += 1
        if self.tries >= TRIES or self.fullgraph:
            self.open = False
        if self.fullgraph:
            self._fail()


def compiled(function: Callable[..., Any], **settings: Any) -> Any:
    """A function that computes what ``function`` computes, by programs captured from its calls."""
    state = Compiled(function, **settings)
    runs = state.runs
    slow = state.slow
    updated = functools.WRAPPER_UPDATES if hasattr(function, "__code__") or hasattr(function, "__func__") else ()

    @functools.wraps(function, updated=updated)
    def call(*args: Any, **kwargs: Any) -> Any:
        for run in runs if stance != "force_eager" else ():
            answer = run(*args, **kwargs)
            if answer is not MISS:
                return answer
        return slow(args, kwargs)

    call._torchdynamo_orig_callable = function  # type: ignore[attr-defined]
    call.program_state = state  # type: ignore[attr-defined]
    call.source = "# not captured yet\n"  # type: ignore[attr-defined]
    state.shown_by = call
    return call


def reset() -> None:
    """Forget all programs."""
    for state in _all:
        state.forget()
