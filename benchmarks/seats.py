"""Where engines run; each family in a process of its own, because their threads would disturb each other."""

from __future__ import annotations

import gc
import os
import pickle
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import IO, Any, NamedTuple, Protocol

import numpy as np

from .conditions import limit
from .engines import COMPILED, ENVIRONMENT, Absent, Engine, Step, engines
from .rivals import make
from .rivals.numbers import arrays
from .rows import Row

__all__ = ["Failed", "Here", "Prepared", "Process", "Seat"]

#: Seconds after which the threads of the engine that ran last have gone to sleep: OpenBLAS's wait for work some 30 ms.
SETTLED = 0.04


class Failed(RuntimeError):
    """What an engine raised; the text begins with the error's name."""


class Prepared(NamedTuple):
    """What a step's first calls gave, and the seconds they took."""

    outputs: list[np.ndarray]
    seconds: float


class Seat(Protocol):
    """One column where it runs."""

    @property
    def name(self) -> str:
        """The column's name."""

    def prepare(self, row: Row) -> Prepared:
        """Make the row's step and call it; raises ``Absent`` or ``Failed``."""

    def seconds(self, times: int) -> float:
        """Seconds for one of ``times`` calls in a row."""


class Here:
    """An engine in this process."""

    def __init__(self, engine: Engine) -> None:
        self.engine = engine
        self.name = engine.name
        self._step: Step | None = None

    def prepare(self, row: Row) -> Prepared:
        """Make the row's step and call it."""
        self._step = None
        gc.collect()
        gc.freeze()  # what an engine's modules hold must not make its steps' garbage collection dearer
        try:
            self._step, prepared = _warmed(row, self.engine)
        except Absent:
            raise
        except Exception as error:
            raise Failed(f"{type(error).__name__}: {error}") from error
        return prepared

    def seconds(self, times: int) -> float:
        """Seconds for one of ``times`` calls in a row."""
        assert self._step is not None
        step = self._step
        start = time.perf_counter()
        for _ in range(times):
            step()
        return (time.perf_counter() - start) / times


def _warmed(row: Row, engine: Engine) -> tuple[Step, Prepared]:
    start = time.perf_counter()
    step = make(engine, row.workload, **row.sizes)
    outputs = [one for _ in range(row.checks) for one in arrays(step())]
    for _ in range(row.warm if engine.name in COMPILED else 0):
        step()
    taken = time.perf_counter() - start
    if engine.name == "glassgrad.compile" and not getattr(step, "source", True):  # a step around it has no source
        raise Absent("not captured: it ran as it is written")
    return step, Prepared(outputs, taken)


# -- processes ---------------------------------------------------------------------------------------------------------


def _serve(columns: Sequence[str], threads: int) -> None:
    """What the process of a family does: answer what comes in until there is nobody to ask."""
    questions, answers = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what engines print is no answer
    limit(threads)
    there, absent = engines(columns)
    limit(threads)  # once more: torch is there now
    seats = {engine.name: Here(engine) for engine in there}
    _send(answers, (list(seats), absent))
    while True:
        try:
            name, method, argument = pickle.load(questions)
        except (EOFError, KeyboardInterrupt):
            return
        try:
            answer: Any = getattr(seats[name], method)(argument)
        except (Absent, Failed) as error:
            answer = error
        except KeyboardInterrupt:
            return
        _send(answers, answer)


def _send(pipe: IO[bytes], message: Any) -> None:
    pickle.dump(message, pipe)
    pipe.flush()


class Process:
    """A process for the columns of a family; ``seats`` are those that can run, ``absent`` the others' reasons."""

    _last: Process | None = None  # that ran most lately

    def __init__(self, columns: Sequence[str], threads: int) -> None:
        code = f"from {__name__} import _serve; _serve({list(columns)}, {threads})"
        variables = {**os.environ, **ENVIRONMENT.get(columns[0], {})}
        self._process = subprocess.Popen(
            [sys.executable, "-c", code], env=variables, stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )
        assert self._process.stdin and self._process.stdout
        self._questions, self._answers = self._process.stdin, self._process.stdout
        names, self.absent = self._received()
        self.seats = [_There(name, self) for name in names]

    def ask(self, name: str, method: str, argument: Any) -> Any:
        """What a column answers, after the threads of another process have come to rest."""
        if Process._last is not self:
            time.sleep(SETTLED)
            Process._last = self
        try:
            _send(self._questions, (name, method, argument))
        except OSError:  # it is not there any more, which reading tells with its exit code
            pass
        answer = self._received()
        if isinstance(answer, Exception):
            raise answer
        return answer

    def _received(self) -> Any:
        try:
            return pickle.load(self._answers)
        except (EOFError, OSError, pickle.UnpicklingError):  # the last: it ended amid an answer
            raise Failed(f"a process of the benchmark ended with code {self._process.wait()}") from None

    def close(self) -> None:
        """Let the process end."""
        self._process.communicate()


@dataclass(frozen=True)
class _There:
    """An engine in another process."""

    name: str
    process: Process

    def prepare(self, row: Row) -> Prepared:
        """Make the row's step and call it."""
        prepared: Prepared = self.process.ask(self.name, "prepare", row)
        return prepared

    def seconds(self, times: int) -> float:
        """Seconds for one of ``times`` calls in a row."""
        taken: float = self.process.ask(self.name, "seconds", times)
        return taken
