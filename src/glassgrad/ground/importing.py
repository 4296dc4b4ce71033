"""Modules that are imported when wanted come whole or not at all, whatever interrupts; knows no module by name.

:func:`load` imports one.  A module of the floors that operations stand on is run by :class:`_Loader`, which keeps aside
what the module declares until it has run to its end; so of a run that Ctrl-C ended nothing is left, and the next import
begins anew.  A signal handler that interrupts a run and wants the same module runs it anew, to its end; what it made is
what everybody gets, and the interrupted run's work is dropped when it ends.  No process is forked while another thread
loads: its child would wait for ever for the locks of a thread that it does not have.
"""

from __future__ import annotations

import os
import sys
import threading
import time
from collections.abc import Callable
from importlib import import_module
from importlib.machinery import ModuleSpec, PathFinder
from threading import get_ident
from types import ModuleType
from typing import Any


class Run:
    """A module that is being run, or was run to its end, and what it declared that nobody can see yet."""

    __slots__ = ("module", "declared")

    def __init__(self, module: Any) -> None:
        self.module = module
        self.declared: list[tuple[Any, str, Any]] = []  # register, name, what goes by it


publish: Callable[[Run], None] = NotImplemented  # lets everybody see what a file brings; handed in by ops/catalogue.py
_completions: dict[str, list[Callable[[ModuleType], None]]] = {}  # by name: what is done when a module has run
_running: dict[int, list[Run]] = {}  # by thread: what it runs, the innermost last; nothing yet where it only searches
_begun: dict[str, int] = {}  # by name: the thread that is about to run a module, or in the midst of it
_whole: dict[str, Run] = {}  # by name: the run that came to its end first
elsewhere = Run(None)  # what files declare that are none of ours
_gate = threading.RLock()  # held while this process is forked


def load(name: str, package: str | None = None) -> ModuleType:
    """The module of that name, imported whole; safe to be called by a signal handler that interrupts its import."""
    thread = get_ident()
    begins = thread not in _running
    # What this thread is in the midst of: only a signal handler gets here then, and is to see nothing half run.
    mine = [begun for begun, owner in [*_begun.items()] if owner == thread]
    halves = {begun: sys.modules[begun] for begun in mine if begun in sys.modules}
    before = {*sys.modules}
    try:
        if begins:
            with _gate:
                _running[thread] = []
        for half in halves:
            sys.modules.pop(half, None)
        try:
            module = import_module(name, package)
        except KeyError as error:
            if error.args != (thread,):
                raise
            # Python before 3.12 may drop its note of a lock twice where a signal handler imports as well.
            module = import_module(name, package)
        for run in (_whole.get(module.__name__), elsewhere):
            if run is not None and run.declared:  # interrupted when its run had ended, or declared by another file
                publish(run)
        return module
    except BaseException:
        # Parts of a package whose import was interrupted: it would not know them when it is imported anew.
        for part in {*sys.modules} - before:
            if part.partition(".")[0] not in sys.modules:
                sys.modules.pop(part, None)
        raise
    finally:
        for half in halves:
            sys.modules.setdefault(half, halves[half])  # the import that was interrupted goes on, and looks for it
        if begins:
            _running.pop(thread, None)


def declaring() -> Run:
    """The innermost module that this thread runs, which is the one that declares."""
    runs = _running.get(get_ident())
    return runs[-1] if runs else elsewhere


def is_superseded(run: Run) -> bool:
    """Whether a signal handler has run the same module to its end meanwhile: what this run declares is dropped."""
    return run is not elsewhere and run.module.__name__ in _whole


class _Loader:
    """Runs a module as its own loader does; a second run of what is whole gives way to the first."""

    def __init__(self, loader: Any) -> None:
        self.loader = loader

    def __getattr__(self, name: str) -> Any:
        return getattr(self.loader, name)

    def create_module(self, spec: ModuleSpec) -> ModuleType | None:
        _begun[spec.name] = get_ident()
        return self.loader.create_module(spec)  # type: ignore[no-any-return]

    def exec_module(self, module: ModuleType) -> None:
        name = module.__name__
        if name not in _whole:
            self._run(name, module)
        run = _whole[name]
        publish(run)
        sys.modules[name] = run.module
        _begun.pop(name, None)

    def _run(self, name: str, module: ModuleType) -> None:
        thread, run = get_ident(), Run(module)
        begins = thread not in _running
        runs = _running.get(thread, [])
        depth = len(runs)
        try:
            _running[thread] = runs
            runs.append(run)
            self.loader.exec_module(module)
            for complete in _completions.get(name, ()):
                complete(module)
            _whole.setdefault(name, run)
        finally:
            del runs[depth:]
            if begins:
                _running.pop(thread, None)


class _Finder:
    """Gives :class:`_Loader` the modules, packages apart, within some packages."""

    packages: tuple[str, ...] = ()

    def find_spec(self, name: str, path: Any = None, target: ModuleType | None = None) -> ModuleSpec | None:
        if not name.startswith(self.packages):
            return None
        spec = PathFinder.find_spec(name, path, target)
        if spec is None or spec.loader is None or spec.submodule_search_locations is not None:
            return None
        spec.loader = _Loader(spec.loader)  # type: ignore[assignment]
        return spec


_finder: Any = _Finder()


def keep_whole(*packages: str) -> None:
    """From now on the modules within these packages come whole or not at all."""
    _finder.packages = tuple(f"{package}." for package in packages)
    if _finder not in sys.meta_path:
        sys.meta_path.insert(0, _finder)


def when_run(name: str, complete: Callable[[Any], None]) -> None:
    """Call ``complete(module)`` when the module of that name has run, before anybody has it; at once if it is there."""
    _completions.setdefault(name, []).append(complete)
    if name in sys.modules:
        complete(sys.modules[name])


def _before_fork() -> None:
    """Wait until no other thread loads, and let none begin."""
    while True:
        _gate.acquire()
        # Within a load of this thread's own others may be waiting for it: it waits for nobody.
        if not _running or get_ident() in _running:
            return
        _gate.release()
        time.sleep(0.001)


def _in_child() -> None:
    """Forget the threads that this process does not have."""
    _gate.release()
    thread = get_ident()
    for other in {*_running} - {thread}:
        del _running[other]
    for name in [begun for begun, owner in _begun.items() if owner != thread]:
        del _begun[name]


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_before_fork, after_in_parent=_gate.release, after_in_child=_in_child)
