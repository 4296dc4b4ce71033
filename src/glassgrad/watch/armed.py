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


class Watches(list[Watch]):
    """The watches over the engines of this process, each from when it is there; ``settings`` are those of Watch."""

    def __init__(self, **settings: Any) -> None:
        super().__init__()
        self.settings = settings
        self._alone: Callable[[], None] = lambda: None  # ends waiting for glassgrad's engine

    def start(self) -> Watches:
        """Watch from here on."""
        self._join()
        self._alone = when_here(self._join)
        return self

    def stop(self) -> None:
        """Watch no longer; what is known stays."""
        self._alone()
        for watch in self:
            watch.stop()

    def __enter__(self) -> Watches:
        return self.start()

    def __exit__(self, *error: Any) -> None:
        self.stop()

    def _join(self) -> None:
        watched = {id(watch.torch) for watch in self}
        self.extend(Watch(one, **self.settings).start() for one in engines() if id(one) not in watched)

    def cause_of(self, error: BaseException, traceback: TracebackType | None) -> Finding | None:
        """The cause of an error: the watch over the engine that was used is asked."""
        return explained(error, traceback, self.last_used())

    def last_used(self) -> Watch | None:
        """The watch over the engine that was used."""
        return max(self, key=lambda watch: watch.backwards, default=None)


class Armed:
    """The watches of this process, over each engine that it may use."""

    def __init__(self) -> None:
        self.watches = Watches()
        self.answered: BaseException | None = None  # the last error that was answered
        self._said: set[str] = set()
        self._hook: Any = None

    def arm(self) -> None:
        """Watch from here on; a second time changes nothing."""
        if not self.watches:
            self.watches.start()
            self._hook, sys.excepthook = sys.excepthook, self._error
            atexit.register(self._end)

    def renew(self) -> None:
        """Watch from here on as if nothing had been before."""
        self.arm()
        self.watches.stop()
        self.watches = Watches().start()

    def disarm(self) -> None:
        """Watch no longer."""
        self.watches.stop()
        if self.watches and sys.excepthook == self._error:
            sys.excepthook = self._hook
        self.watches = Watches()
        atexit.unregister(self._end)

    def _error(self, kind: type[BaseException], error: BaseException, traceback: TracebackType | None) -> None:
        self._hook(kind, error, traceback)
        self.answer(error)

    def answer(self, error: BaseException, step: Callable[[], Any] | None = None) -> None:
        """Say the cause of an error, once; ``step`` computes the loss of its step anew, else the loop is replayed."""
        if self.answered is error:
            return
        self.answered = error
        said = self.watches.cause_of(error, error.__traceback__)
        if said is not None and said.kind in ASKED_AGAIN:
            watch = self.watches.last_used()
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
