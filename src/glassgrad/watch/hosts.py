"""Watches from within: over the program that asks for it, in notebooks, in pytest, in Lightning and in Trainer.

An error is answered where Python prints it, the rest at the end.
"""

from __future__ import annotations

import atexit
import contextlib
import functools
import importlib
import importlib.util
import io
import os
import re
import sys
from collections.abc import Callable, Iterator
from traceback import walk_tb
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


# -- notebooks ---------------------------------------------------------------------------------------------------------
# A cell's error is followed by its cause, in lines of the cell.

CELL = re.compile(r"ipykernel_\d+|<ipython-input-(\d+)")
PLACE = re.compile(r"(?:[^\s`(]*ipykernel_\d+[/\\]|<ipython-input-)([^\s`>]+?)(?:\.py|>):(\d+)")


class Notebook:
    """The watch over one shell."""

    def __init__(self, shell: Any) -> None:
        self.shell = shell
        self.watches = Watches(record_from=None).start()
        shell.set_custom_exc((Exception,), self.error)

    def stop(self) -> None:
        """Take all of it off."""
        self.watches.stop()
        self.shell.set_custom_exc((), None)

    def error(
        self, shell: Any, kind: type[BaseException], error: BaseException, traceback: TracebackType,
        tb_offset: Any = None,
    ) -> None:  # fmt: skip
        """Show a cell's error as ever, and the cause below it."""
        shell.showtraceback((kind, error, traceback), tb_offset=tb_offset)
        said = self.watches.cause_of(error, traceback)
        if said is not None:
            print(in_cells(report([self._recorded(error) or said]), shell))

    def _recorded(self, error: BaseException) -> Finding | None:
        """The cause as a recorded replay of the cell gives it, in a copy of the notebook's names."""
        source = self.shell.user_ns.get("In", [""])[-1]
        names = dict(self.shell.user_ns)
        try:
            with Watches(record_from=0, ask_at=None) as watches:
                with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
                    exec(compile(self.shell.transform_cell(source), self._file(error), "exec"), names)
        except Exception as again:
            return watches.cause_of(again, again.__traceback__) if str(again) == str(error) else None
        return None

    def _file(self, error: BaseException) -> str:
        files = (frame.f_code.co_filename for frame, _ in walk_tb(error.__traceback__))
        return next(filter(CELL.search, files), "<cell>")


def in_cells(text: str, shell: Any) -> str:
    """A report whose places in cells are told as ``In[6] line 4``."""
    known = getattr(getattr(shell, "compile", None), "_filename_map", {})  # of Jupyter's files to the cells' numbers
    cells = {os.path.basename(file).removesuffix(".py"): number for file, number in known.items()}

    def in_cell(match: re.Match[str]) -> str:
        name, line = match.groups()
        cell = cells.get(name) or (name.partition("-")[0] if "-" in name else shell.execution_count)
        return f"In[{cell}] line {line}"

    return PLACE.sub(in_cell, text)


_shells: dict[int, Notebook] = {}


def load_ipython_extension(shell: Any) -> None:
    """What ``%load_ext glassgrad`` calls."""
    _shells.setdefault(id(shell), Notebook(shell))


def unload_ipython_extension(shell: Any) -> None:
    """What ``%unload_ext glassgrad`` calls."""
    _shells.pop(id(shell)).stop()


# -- callbacks for Lightning and for Hugging Face's Trainer ------------------------------------------------------------
# Each fit is watched, and answered where it fails or ends.


@functools.cache
def callback(name: str) -> type:
    """The class of a name in :data:`CALLBACKS`; its package is imported only now, ImportError where there is none."""
    return CALLBACKS[name]()  # type: ignore[no-any-return]


def _lightning() -> type:
    home = next((name for name in ("lightning.pytorch", "pytorch_lightning") if name in sys.modules), None)
    base: Any = importlib.import_module(home or "lightning.pytorch").Callback

    class LightningCallback(base):  # type: ignore[misc]
        """``Trainer(callbacks=[LightningCallback()])``: what is wrong with a fit, at its error or at its end."""

        def on_fit_start(self, trainer: Any, pl_module: Any) -> None:
            """A fit begins: what came before is another program's."""
            THIS.renew()

        def on_fit_end(self, trainer: Any, pl_module: Any) -> None:
            """A fit has ended well."""
            THIS.end()

        def on_exception(self, trainer: Any, pl_module: Any, exception: BaseException) -> None:
            """A fit has failed."""
            loop = frame_with(exception, "_step_fn")
            step = loop["self"]._step_fn if loop is not None else None
            THIS.answer(exception, step and (lambda: step().closure_loss))

    return LightningCallback


def _transformers() -> type:
    transformers: Any = importlib.import_module("transformers")

    class TrainerCallback(transformers.TrainerCallback):  # type: ignore[misc]
        """``Trainer(callbacks=[TrainerCallback()])``: what is wrong with a training, at its error or at its end."""

        def __init__(self) -> None:
            if not hasattr(transformers.Trainer.train, "answers"):
                transformers.Trainer.train = _answering(transformers.Trainer.train)

        def on_train_begin(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
            """A training begins: what came before is another program's."""
            THIS.renew()

        def on_train_end(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
            """A training has ended well."""
            THIS.end()

    def _answering(train: Any) -> Any:
        @functools.wraps(train)
        def answered(trainer: Any, *args: Any, **kwargs: Any) -> Any:
            try:
                return train(trainer, *args, **kwargs)
            except Exception as error:
                if any(isinstance(one, TrainerCallback) for one in trainer.callback_handler.callbacks):
                    loop = frame_with(error, "compute_loss", "inputs", "model")
                    THIS.answer(error, None if loop is None else functools.partial(step_of, **loop))
                raise

        answered.answers = True  # type: ignore[attr-defined]
        return answered

    return TrainerCallback


def frame_with(error: BaseException, method: str, *names: str) -> dict[str, Any] | None:
    """The innermost frame of an error whose ``self`` has a method, as its ``self`` and some of its names; else None."""
    frames = [frame.f_locals for frame, _ in walk_tb(error.__traceback__)]
    fitting = [known for known in frames if hasattr(known.get("self"), method) and set(names) <= set(known)]
    return {name: fitting[-1][name] for name in ("self", *names)} if fitting else None


def step_of(self: Any, model: Any, inputs: Any) -> Any:
    """The loss of a step of Hugging Face's Trainer, computed anew."""
    return self.compute_loss(model, self._prepare_inputs(inputs))


CALLBACKS = {"LightningCallback": _lightning, "TrainerCallback": _transformers}


# -- the plugin for pytest ---------------------------------------------------------------------------------------------
# Every test is recorded, and one that fails is given the cause beside its traceback.


if "pytest" not in sys.modules:  # then nobody loads the plugin
    __all__: list[str] = []
else:
    import pytest

    __all__ = ["pytest_configure", "pytest_runtest_call", "pytest_runtest_makereport"]
    _watches = pytest.StashKey[Watches]()

    def pytest_configure(config: Any) -> None:
        """Let the program's own watch go: each test has one of its own."""
        THIS.disarm()

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_call(item: Any) -> Iterator[None]:
        """Watch and record one test."""
        item.stash[_watches] = Watches(record_from=0, ask_at=None)
        with item.stash[_watches]:
            return (yield)

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(item: Any, call: Any) -> Iterator[None]:
        """Add the cause to the report of a test that failed."""
        outcome: Any = yield
        if call.when == "call" and call.excinfo is not None:
            said = item.stash.get(_watches, Watches()).cause_of(call.excinfo.value, call.excinfo.tb)
            if said is not None:
                outcome.sections.append(("glassgrad why", report([said])))
        return outcome
