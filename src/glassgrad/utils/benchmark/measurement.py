"""What a timer measured, and its statistics."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np


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
