"""Measures how long a statement takes, as ``timeit`` does, with as many runs as it needs."""

from __future__ import annotations

import enum
import timeit
from collections.abc import Callable
from importlib import import_module
from statistics import median
from textwrap import dedent
from typing import Any, NoReturn

from .measurement import Measurement, TaskSpec

timer = timeit.default_timer


class Language(enum.Enum):
    """The language of statements: Python."""

    PYTHON = 0
    CPP = 1


class Timer:
    """Runs a statement and measures the time.

    stmt, setup   the statement, and what runs once before; ``globals`` are their names, and ``torch``
    label, sub_label, description   names in tables
    Source: https://docs.pytorch.org/docs/stable/benchmark_utils.html#torch.utils.benchmark.Timer
    """

    def __init__(
        self,
        stmt: str = "pass",
        setup: str = "pass",
        global_setup: str = "",
        timer: Callable[[], float] = timer,
        globals: dict[str, Any] | None = None,  # noqa: A002  PyTorch's name
        label: str | None = None,
        sub_label: str | None = None,
        description: str | None = None,
        env: str | None = None,
        num_threads: int = 1,
        language: Any = Language.PYTHON,
    ) -> None:
        if not isinstance(stmt, str):
            raise ValueError("Currently only a `str` stmt is supported.")
        if language in (Language.CPP, "cpp", "c++"):
            raise RuntimeError("statements in C++ cannot be measured here: PyTorch's C++ library is not there")
        if language not in (Language.PYTHON, "py", "python"):
            raise ValueError(f"Invalid language `{language}`.")
        if global_setup:
            raise ValueError(
                f"global_setup is C++ only, got `{global_setup}`. Most likely this code can simply be moved to `setup`."
            )
        names = dict(globals or {})
        names.setdefault("torch", import_module(__name__.partition(".")[0]))
        stmt, setup = _trimmed(stmt), _trimmed(setup)
        self._timer = timeit.Timer(stmt, setup, timer, names)
        self._task_spec = TaskSpec(stmt, setup, global_setup, label, sub_label, description, env, num_threads)

    def _timeit(self, number: int) -> float:
        return max(self._timer.timeit(number), 1e-9)

    def _measured(self, number: int, times: list[float]) -> Measurement:
        return Measurement(number, times, self._task_spec)

    def timeit(self, number: int = 1000000) -> Measurement:
        """One measurement of ``number`` runs, after a short one that warms up."""
        self._timeit(max(number // 100, 2))
        return self._measured(number, [self._timeit(number)])

    def _block(self, least: float) -> int:
        """As many runs as make the cost of measuring vanish."""
        overhead = median(self._timeit(0) for _ in range(5))
        number = 1
        while True:
            taken = self._timeit(number)
            if (overhead / taken <= 1e-4 and taken >= least / 1000) or taken > least or number * 10 > 2**31 - 1:
                return number
            number *= 10

    def blocked_autorange(
        self, callback: Callable[[int, float], Any] | None = None, min_run_time: float = 0.2
    ) -> Measurement:
        """Measurements of blocks of runs until they took ``min_run_time`` seconds together."""
        number = self._block(min_run_time)
        times: list[float] = []
        while sum(times) < min_run_time or not times:
            times.append(self._timeit(number))
            if callback is not None:
                callback(number, times[-1])
        return self._measured(number, times)

    def adaptive_autorange(
        self,
        threshold: float = 0.1,
        *,
        min_run_time: float = 0.01,
        max_run_time: float = 10.0,
        callback: Callable[[int, float], Any] | None = None,
    ) -> Measurement:
        """Measurements of blocks of runs until they spread less than ``threshold``, or ``max_run_time`` is over."""
        number = self._block(0.05)
        times: list[float] = []
        while sum(times) < max_run_time:
            times.append(self._timeit(number))
            if callback is not None:
                callback(number, times[-1])
            enough = sum(times) >= min_run_time and len(times) > 3
            if enough and self._measured(number, times).meets_confidence(threshold):
                break
        return self._measured(number, times)

    def repeat(self, repeat: int = -1, number: int = -1) -> NoReturn:
        """An error: use :meth:`timeit` or :meth:`blocked_autorange`."""
        raise NotImplementedError("See `Timer.blocked_autorange.`")

    autorange = repeat

    def collect_callgrind(self, *args: Any, **kwargs: Any) -> NoReturn:
        """An error: instructions are not counted."""
        raise RuntimeError("instructions are not counted here; use torch.profiler or cProfile")


def _trimmed(text: str) -> str:
    text = dedent(text)
    return (text[1:] if text.startswith("\n") else text).rstrip()
