"""A compiled function: runs the program that fits a call, captures one where none does, and tells why it cannot."""

from __future__ import annotations

import functools
import threading
import weakref
from collections.abc import Callable
from typing import Any

from ..ground import modes
from ..ops import intercept
from ..optim.optimizer import Optimizer
from .build import MISS, Builder, Program
from .capture import UNHEARD, Capture
from .guards import Met, Surroundings
from .program import NotCapturable
from .purity import Watch

stance = "default"  # "force_eager" runs everything as it is written
PROGRAMS = 8  # so many programs a function may have; then it runs as it is written
AGAIN = 4  # so often a capture may wait for the next call, as new code ran
TRIES = 2  # the first run of a function may set up what later runs use

_capturing = threading.Lock()
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
        lines += [f"  runs as it is written: {reason}" for reason in self.reasons]
        return "\n".join(lines)


class Compiled:
    """What ``compile(function)`` calls: the state of one compiled function."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self.function = function
        self.programs: list[Program] = []
        self.reasons: list[str] = []
        self.runs: list[Callable[..., Any]] = []
        self.shown_by: Any = None  # the function whose ``source`` is the last program
        self.forget()
        _all.add(self)

    def forget(self) -> None:
        """Begin anew."""
        self.programs.clear()
        self.reasons.clear()
        self.runs.clear()
        self.tries = 0
        self.again = 0
        self.met = Met()
        self.open = True
        self.fresh = True  # the first call only sets up what later ones use

    def explanation(self) -> Explanation:
        """What is to be told of it."""
        return Explanation(self.name, list(self.programs), self.reasons)

    @property
    def name(self) -> str:
        """How messages call the function."""
        return getattr(self.function, "__qualname__", type(self.function).__name__)

    def slow(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """A call that no program fits: captured if that may still succeed, else run as it is written."""
        if self.fresh:
            self.fresh = False
            return self._first(args, kwargs)
        if not self.open or stance != "default" or modes.watch or intercept._listeners or not _capturing.acquire(False):
            return self.function(*args, **kwargs)
        try:
            return self._captured(args, kwargs)
        finally:
            _capturing.release()

    def _first(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """The first call, which tells what code runs, so that the next one knows where to look."""
        watch = Watch(collect=True)
        try:
            with watch:
                return self.function(*args, **kwargs)
        finally:
            self.met.add(watch.codes, watch.own)

    def _captured(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        grad_mode = modes.grad_enabled()
        around = Surroundings(self.function, args, kwargs, self.met)
        watch = Watch()
        code = getattr(getattr(self.function, "__func__", self.function), "__code__", None)
        code = code or getattr(getattr(type(self.function), "forward", None), "__code__", None)
        try:
            capture = Capture(code, [*args, *kwargs.values()], lambda tensor: id(tensor) in around.tensors)
        except NotCapturable as reason:
            self._refuse(str(reason))
            return self.function(*args, **kwargs)
        with capture.listening(), watch:
            result = self.function(*args, **kwargs)
        try:
            self._keep(capture, watch, around, args, kwargs, result, grad_mode)
        except NotCapturable as reason:
            self._refuse(str(reason))
        finally:
            capture.let_go()
        return result

    def _keep(
        self, capture: Capture, watch: Watch, around: Surroundings, args: Any, kwargs: Any, result: Any, grad_mode: bool
    ) -> None:
        if capture.reason is not None:
            raise NotCapturable(capture.reason)
        if watch.reasons:
            raise NotCapturable(watch.reasons[0])
        if self.met.add(watch.codes, watch.own):  # what that code reads was not looked at before the call
            self.again += 1
            if self.again <= AGAIN:
                return
            raise NotCapturable("it runs other code in each call")
        changed = around.changed()
        if changed is not None:
            raise NotCapturable(f"it changes {changed}")
        everything = [*args, *kwargs.values()]
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
        told = {"_version", "next_functions"} & self.met.users
        if told:
            raise NotCapturable(f"it reads .{min(told)} of something, which is not followed")
        if "state" in self.met.users and any(isinstance(thing, Optimizer) for thing in around.seen.values()):
            raise NotCapturable("it may read the state of an optimizer")
        closed = self.met.closed(around.functions)
        if closed is not None:
            raise NotCapturable(f"it calls {closed.co_name}(), whose surroundings cannot be looked at")
        places = around.relevant(self.met)
        grads = around.gradients(self.met)
        program = Builder(self.name, capture, args, kwargs, result, places, grad_mode, grads).program()
        self.programs.append(program)
        self.runs.insert(0, program.run)
        self.shown_by.source = program.source + (f"\n\n{program.native}" if program.native else "")
        self.tries = 0
        if len(self.programs) >= PROGRAMS:
            self.open = False
            self.reasons.append(f"it was called in more than {PROGRAMS} ways that differ in shapes or Python values")

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
        if self.tries >= TRIES:
            self.open = False


def compiled(function: Callable[..., Any]) -> Any:
    """A function that computes what ``function`` computes, by programs captured from its calls."""
    state = Compiled(function)
    runs = state.runs
    slow = state.slow

    @functools.wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        for run in runs if stance == "default" else ():
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
