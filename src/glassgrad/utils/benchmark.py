"""How long statements take: timed, described, compared."""

from __future__ import annotations

import enum
import math
import timeit
from collections import defaultdict
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from importlib import import_module
from statistics import median
from textwrap import dedent
from typing import Any, NoReturn

import numpy as np

__all__ = ["Compare", "Language", "Measurement", "TaskSpec", "Timer", "select_unit", "timer", "unit_to_english"]


def select_unit(t: float) -> tuple[str, float]:
    """The unit that suits a time in seconds: its name, and how many seconds it is."""
    step = int(math.log10(t) // 3)
    return {-1: ("ms", 1e-3), -2: ("us", 1e-6), -3: ("ns", 1e-9)}.get(step, ("s", 1.0))


def unit_to_english(u: str) -> str:
    """The word for a unit."""
    return {"ns": "nanosecond", "us": "microsecond", "ms": "millisecond", "s": "second"}[u]


@dataclass(frozen=True)
class TaskSpec:
    """What was measured: the statement, what prepares it, and its names in tables."""

    stmt: str
    setup: str
    global_setup: str = ""
    label: str | None = None
    sub_label: str | None = None
    description: str | None = None
    env: str | None = None
    num_threads: int = 1

    @property
    def title(self) -> str:
        """The label, or the statement."""
        if self.label is not None:
            return self.label + (f": {self.sub_label}" if self.sub_label else "")
        if "\n" not in self.stmt:
            return self.stmt + (f": {self.sub_label}" if self.sub_label else "")
        return f"stmt:{f' ({self.sub_label})' if self.sub_label else ''}\n{_indented(self.stmt)}"

    def setup_str(self) -> str:
        """What prepares the statement, as it is shown."""
        if self.setup == "pass" or not self.setup:
            return ""
        return f"setup:\n{_indented(self.setup)}" if "\n" in self.setup else f"setup: {self.setup}"

    def summarize(self) -> str:
        """The lines that name the task."""
        lines = [line for line in (self.title, self.description or "", self.setup_str()) if line]
        return "\n".join(line + "\n" if "\n" in line else line for line in lines)


def _indented(text: str) -> str:
    return "\n".join("  " + line for line in text.splitlines())


class Measurement:
    """The times of runs of one statement.

    number_per_run   how often the statement ran in each
    raw_times        seconds that each took
    Source: https://docs.pytorch.org/docs/stable/benchmark_utils.html#torch.utils.benchmark.Measurement
    """

    def __init__(self, number_per_run: int, raw_times: list[float], task_spec: TaskSpec, metadata: Any = None) -> None:
        self.number_per_run, self.raw_times = number_per_run, raw_times
        self.task_spec, self.metadata = task_spec, metadata

    def __getattr__(self, name: str) -> Any:
        if name != "task_spec" and name in TaskSpec.__dataclass_fields__:
            return getattr(self.task_spec, name)
        raise AttributeError(f"'Measurement' object has no attribute '{name}'")

    @property
    def times(self) -> list[float]:
        """Seconds that one run of the statement took, of each measurement."""
        return [time / self.number_per_run for time in self.raw_times]

    def _quantile(self, share: float) -> float:
        return float(np.quantile(self.times, share)) if self.raw_times else -1.0

    @property
    def median(self) -> float:
        """The median time."""
        return self._quantile(0.5)

    @property
    def mean(self) -> float:
        """The mean time."""
        return float(np.mean(self.times)) if self.raw_times else -1.0

    @property
    def iqr(self) -> float:
        """How far the middle half of the times spreads."""
        return self._quantile(0.75) - self._quantile(0.25)

    @property
    def significant_figures(self) -> int:
        """How many digits of the median mean anything."""
        ordered = sorted(self.times)
        middle = ordered[len(ordered) // 4 : math.ceil(3 * len(ordered) / 4)]
        spread = max(1.645 * float(np.std(middle)) / math.sqrt(len(middle)), 25e-9)
        return min(max(math.floor(math.log10(self.median / spread)), 1), 4)

    def meets_confidence(self, threshold: float = 0.1) -> bool:
        """Whether the middle half spreads less than this share of the median."""
        return self.iqr / self.median < threshold

    @property
    def has_warnings(self) -> bool:
        """Whether the times spread much."""
        return bool(self._warnings())

    def _warnings(self) -> list[str]:
        if self.meets_confidence(0.1):
            return []
        gross = not self.meets_confidence(0.25)
        cause = "This suggests significant environmental influence."
        cause = cause if gross else "This could indicate system fluctuation."
        return [
            f"  WARNING: Interquartile range is {self.iqr / self.median * 100:.1f}% of the median measurement.",
            f"           {cause}",
        ]

    @property
    def title(self) -> str:
        """The label, or the statement."""
        return self.task_spec.title

    @property
    def as_row_name(self) -> str:
        """The name of its row in a table."""
        return self.task_spec.sub_label or self.task_spec.stmt or "[Unknown]"

    def __repr__(self) -> str:
        count = len(self.raw_times)
        unit, scale = select_unit(self.median)
        lines = [object.__repr__(self), self.task_spec.summarize()]
        lines.append(f"  {'Median: ' if count > 1 else ''}{self.median / scale:.2f} {unit}")
        if count >= 4:
            low, high = self._quantile(0.25) / scale, self._quantile(0.75) / scale
            lines.append(f"  IQR:    {self.iqr / scale:.2f} {unit} ({low:.2f} to {high:.2f})")
        several, threads = count > 1, self.task_spec.num_threads
        lines.append(
            f"  {count} measurement{'s' if several else ''}, {self.number_per_run} runs "
            f"{'per measurement,' if several else ','} {threads} thread{'s' if threads > 1 else ''}"
        )
        return "\n".join([*lines, *self._warnings()])

    @staticmethod
    def merge(measurements: Iterable[Measurement]) -> list[Measurement]:
        """Measurements of the same task as one."""
        tasks: defaultdict[TaskSpec, list[float]] = defaultdict(list)
        for measurement in measurements:
            tasks[measurement.task_spec] += measurement.times
        return [Measurement(1, times, task) for task, times in tasks.items()]


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
        self, threshold: float = 0.1, *, min_run_time: float = 0.01, max_run_time: float = 10.0,
        callback: Callable[[int, float], Any] | None = None,
    ) -> Measurement:  # fmt: skip
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


class Compare:
    """A table of measurements, one for each label.

    Source: https://docs.pytorch.org/docs/stable/benchmark_utils.html#torch.utils.benchmark.Compare
    """

    def __init__(self, results: Iterable[Measurement]) -> None:
        self._results: list[Measurement] = []
        self._trim = False
        self.extend_results(results)

    def extend_results(self, results: Iterable[Measurement]) -> None:
        """Add measurements."""
        for result in results:
            if not isinstance(result, Measurement):
                raise ValueError(f"Expected an instance of `Measurement`, but got {type(result)} instead.")
            self._results.append(result)

    def trim_significant_figures(self) -> None:
        """Show only digits that mean something."""
        self._trim = True

    def colorize(self, rowwise: bool = False) -> None:
        """Accepted without effect."""

    def highlight_warnings(self) -> None:
        """Accepted without effect."""

    def print(self) -> None:
        """Print the tables."""
        print(str(self))

    def __str__(self) -> str:
        tables: dict[str | None, list[Measurement]] = {}
        for result in Measurement.merge(self._results):
            tables.setdefault(result.task_spec.label, []).append(result)
        return "\n".join(self._table(label, results) for label, results in tables.items())

    def _table(self, label: str | None, results: list[Measurement]) -> str:
        unit, scale = select_unit(min(result.median for result in results))
        columns = list(dict.fromkeys(result.task_spec.description or "" for result in results))
        threads = list(dict.fromkeys(result.task_spec.num_threads for result in results))
        names = list(dict.fromkeys(result.as_row_name for result in results))
        by_cell = {
            (result.task_spec.num_threads, result.as_row_name, result.task_spec.description or ""): result
            for result in results
        }
        grid: list[list[str] | str] = [["", *columns]]
        for number in threads:
            grid.append(f"{number} threads: ")
            for name in names:
                cells = [self._cell(by_cell.get((number, name, column)), scale) for column in columns]
                if any(cells):
                    grid.append(["      " + name, *cells])
        widths = [
            max(len(line[column]) for line in grid if not isinstance(line, str)) for column in range(len(columns) + 1)
        ]
        lines = []
        for line in grid:
            if isinstance(line, str):
                lines.append(line)
                continue
            first = line[0].ljust(widths[0])
            rest = (cell.center(width) if line is grid[0] else cell.rjust(width)
                    for cell, width in zip(line[1:], widths[1:], strict=True))  # fmt: skip
            lines.append("  |  ".join([first, *rest]))
        length = max(map(len, lines))
        lines = [line + "-" * (length - len(line)) if line.endswith("threads: ") else line for line in lines]
        title = f" {label} " if label else ""
        head = "[" + title.center(length - 2, "-") + "]"
        return "\n".join([head, *lines, "", f"Times are in {unit_to_english(unit)}s ({unit}).", ""])

    def _cell(self, result: Measurement | None, scale: float) -> str:
        if result is None:
            return ""
        value = result.median / scale
        if self._trim:
            value = float(f"{value:.{result.significant_figures}g}")
        return f"{value:.1f}"
