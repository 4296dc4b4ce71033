"""A watch over the program that asks for it: an error is answered where Python prints it, the rest at the end."""

from __future__ import annotations

import atexit
import importlib
import importlib.util
import sys
from collections.abc import Callable
from types import ModuleType, TracebackType
from typing import Any

from ..explore.record import Recording
from ..ground.arrival import is_here, when_here
from .again import replayed
from .command import ASKED_AGAIN, report
from .failures import explained
from .finding import Asked, Finding, answers_to
from .verdict import findings
from .watch import Watch


class Armed:
    """The watches of this process, over each engine that it may use."""

    def __init__(self) -> None:
        self.watches: list[Watch] = []
        self.answered: BaseException | None = None  # the last error that was answered
        self._said: set[str] = set()
        self._hook: Any = None
        self._alone: Callable[[], None] = lambda: None  # ends waiting for glassgrad's engine

    def arm(self) -> None:
        """Watch from here on; a second time changes nothing."""
        if self.watches:
            return
        watch_all(self.watches)
        self._alone = when_here(lambda: watch_all(self.watches))
        self._hook, sys.excepthook = sys.excepthook, self._error
        atexit.register(self._end)

    def renew(self) -> None:
        """Watch from here on as if nothing had been before."""
        self.arm()
        for watch in self.watches:
            watch.stop()
        self.watches.clear()
        watch_all(self.watches)

    def disarm(self) -> None:
        """Watch no longer."""
        self._alone()
        for watch in self.watches:
            watch.stop()
        if self.watches and sys.excepthook == self._error:
            sys.excepthook = self._hook
        self.watches = []
        atexit.unregister(self._end)

    def _error(self, kind: type[BaseException], error: BaseException, traceback: TracebackType | None) -> None:
        self._hook(kind, error, traceback)
        self.answer(error)

    def answer(self, error: BaseException, step: Callable[[], Any] | None = None) -> None:
        """Say the cause of an error, once; ``step`` computes the loss of its step anew, else the loop is replayed."""
        if self.answered is error:
            return
        self.answered = error
        said = answer_to(error, error.__traceback__, self.watches)
        if said is not None and said.kind in ASKED_AGAIN:
            watch = last_used(self.watches)
            if watch is not None and not watch.answers:
                watch.answers = answers_of(step) if step else replayed(error, error.__traceback__, watch)[0]
            said = explained(error, error.__traceback__, watch)
        if said is not None:
            print(report([said]), file=sys.stderr)

    def end(self) -> None:
        """Say what was wrong so far, each thing once."""
        said = [finding for watch in self.watches for finding in findings(watch)]
        said = [finding for finding in said if repr(finding) not in self._said]
        self._said.update(map(repr, said))
        if said:
            print(report(said), file=sys.stderr)

    def _end(self) -> None:
        if self.answered is None:
            self.end()


def engines() -> list[ModuleType]:
    """The engines that a program may use now: PyTorch where it is installed, and glassgrad, which may come later."""
    names = ["torch"] if "torch" in sys.modules or importlib.util.find_spec("torch") else []
    if is_here() or not names:
        names.append(__name__.partition(".")[0])
    modules = {id(module): module for module in map(importlib.import_module, names)}  # torch may be glassgrad
    return [*modules.values()]


def watch_all(watches: list[Watch], **settings: Any) -> None:
    """Watch the engines that are here and not among ``watches`` yet, as ``settings`` of :class:`Watch` say."""
    watched = {id(watch.torch) for watch in watches}
    watches += [Watch(engine, **settings).start() for engine in engines() if id(engine) not in watched]


def answer_to(error: BaseException, traceback: TracebackType | None, watches: list[Watch]) -> Finding | None:
    """The cause of an error: the watch over the engine that was used last is asked."""
    return explained(error, traceback, last_used(watches))


def last_used(watches: list[Watch]) -> Watch | None:
    """The watch over the engine that was used."""
    return max(watches, key=lambda watch: watch.backwards, default=None)


def answers_of(step: Callable[[], Any]) -> dict[str, Asked]:
    """What the recorded graph of a step says, which gives its loss; nothing where the step itself fails."""
    recording = Recording()
    try:
        with recording:
            loss = step()
        return answers_to(loss, recording, {})
    except Exception:  # the error that is asked about is another
        return {}


THIS = Armed()
