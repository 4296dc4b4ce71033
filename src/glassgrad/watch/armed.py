"""A watch over the program that asks for it: an error is answered where Python prints it, the rest at the end."""

from __future__ import annotations

import atexit
import importlib
import importlib.util
import sys
from types import ModuleType, TracebackType
from typing import Any

from .command import report
from .failures import explained
from .finding import Finding
from .verdict import findings
from .watch import Watch


class Armed:
    """The watches of this process, over each engine that it may use."""

    def __init__(self) -> None:
        self.watches: list[Watch] = []
        self.failed = False
        self._hook: Any = None

    def arm(self) -> None:
        """Watch from here on; a second time changes nothing."""
        if self.watches:
            return
        self.watches = [Watch(engine).start() for engine in engines()]
        self._hook, sys.excepthook = sys.excepthook, self._error
        atexit.register(self._end)

    def disarm(self) -> None:
        """Watch no longer."""
        for watch in self.watches:
            watch.stop()
        if self.watches and sys.excepthook == self._error:
            sys.excepthook = self._hook
        self.watches = []
        atexit.unregister(self._end)

    def _error(self, kind: type[BaseException], error: BaseException, traceback: TracebackType | None) -> None:
        self.failed = True
        self._hook(kind, error, traceback)
        said = answer_to(error, traceback, self.watches)
        if said is not None:
            print(report([said]), file=sys.stderr)

    def _end(self) -> None:
        said = [] if self.failed else [finding for watch in self.watches for finding in findings(watch)]
        if said:
            print(report(said), file=sys.stderr)


def engines() -> list[ModuleType]:
    """The engines that a program may use: PyTorch where it is installed, and glassgrad."""
    names = [
        name for name in ("torch", __name__.partition(".")[0]) if name in sys.modules or importlib.util.find_spec(name)
    ]
    modules = {id(module): module for module in map(importlib.import_module, names)}  # torch may be glassgrad
    return [*modules.values()]


def answer_to(error: BaseException, traceback: TracebackType | None, watches: list[Watch]) -> Finding | None:
    """The cause of an error: the watch over the engine that was used last is asked."""
    return explained(error, traceback, max(watches, key=lambda watch: watch.backwards, default=None))


THIS = Armed()
