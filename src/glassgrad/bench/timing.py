"""Roof: pairs of timings; all engines of a row first compute the same thing, then run in turns."""

from __future__ import annotations

import gc
import statistics
import time
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from .engines import COMPILED, Absent, Engine, Step
from .rivals import make
from .rivals.numbers import arrays
from .rows import Row

__all__ = ["Different", "Result", "measure"]

BASE = "glassgrad"


class Different(Exception):
    """Two engines computed different things; the text says which, and by how much."""


@dataclass
class Result:
    """What a row gave: figures of each column in the rounds' order, and reasons for absent columns.

    ``first`` are the seconds that the first calls took beyond the usual: compiling, and what is done only once.
    """

    row: Row
    figures: dict[str, list[float]] = field(default_factory=dict)
    first: dict[str, float] = field(default_factory=dict)
    absent: dict[str, str] = field(default_factory=dict)

    def median(self, column: str) -> float | None:
        """The column's median figure."""
        return statistics.median(self.figures[column]) if column in self.figures else None

    def ratios(self, theirs: str, ours: str) -> list[float] | None:
        """Theirs over ours, round by round: above 1, ours is faster, or smaller."""
        if theirs not in self.figures or ours not in self.figures:
            return None
        return [a / b for a, b in zip(self.figures[theirs], self.figures[ours], strict=True)]

    def ratio(self, theirs: str, ours: str) -> float | None:
        """The median of the rounds' ratios."""
        found = self.ratios(theirs, ours)
        return statistics.median(found) if found else None


def seconds_of(step: Step, times: int) -> float:
    """Seconds for one of ``times`` calls in a row."""
    start = time.perf_counter()
    for _ in range(times):
        step()
    return (time.perf_counter() - start) / times


def _warmed(row: Row, engine: Engine) -> tuple[Step, list[np.ndarray], float]:
    """A step, what its first calls gave, and the seconds they took."""
    start = time.perf_counter()
    step = make(engine, row.workload, **row.sizes)
    found = [one for _ in range(row.checks) for one in arrays(step())]
    for _ in range(row.warm if engine.name in COMPILED else 0):
        step()
    taken = time.perf_counter() - start
    if engine.name == "glassgrad.compile" and not step.source:  # type: ignore[attr-defined]
        raise Absent("not captured: it ran as it is written")
    return step, found, taken


def _compare(row: Row, engine: Engine, found: list[np.ndarray], expected: list[np.ndarray]) -> None:
    """Raise ``Different`` where an engine's first results are not the base's."""
    if [one.size for one in found] != [one.size for one in expected]:
        raise Different(f"{row.title}: {engine.name} gave other shapes than {BASE}")
    for one, other in zip(found, expected, strict=True):
        scale = max(1.0, float(np.abs(other).max(initial=0)))
        apart = np.abs(one.reshape(other.shape).astype(np.float64) - other)
        if not np.all(apart <= 1e-4 * np.abs(other) + 1e-5 * scale):
            raise Different(
                f"{row.title}: {engine.name} and {BASE} computed different things (up to {np.nanmax(apart):.3g} apart)"
            )


def measure(row: Row, engines: Sequence[Engine]) -> Result:
    """Figures of a row for all engines that can express it; the first one is the base that the others must agree with.

    Raises ``Different`` where one of them computes something else.
    """
    result = Result(row)
    expected: list[np.ndarray] | None = None
    steps: dict[str, Step] = {}
    warm: dict[str, float] = {}
    gc.collect()
    gc.freeze()  # what the rivals' modules hold must not make everybody's garbage collection dearer
    for engine in engines:
        if engine.name in row.without:
            result.absent[engine.name] = row.without[engine.name]
            continue
        try:
            step, found, warm[engine.name] = _warmed(row, engine)
        except Absent as reason:
            result.absent[engine.name] = str(reason)
            continue
        except Exception as error:
            if expected is None or engine.name == "torch":
                raise
            result.absent[engine.name] = f"{type(error).__name__}: {error}".split("\n")[0][:200]
            continue
        if expected is None:
            expected = found
        else:
            _compare(row, engine, found, expected)
        steps[engine.name] = step
    counts = {name: _calls(row, step) for name, step in steps.items()}
    result.figures = {name: [] for name in steps}
    for _ in range(row.rounds):
        for name, step in steps.items():
            result.figures[name].append(seconds_of(step, counts[name]))
    for name, figures in result.figures.items():
        usual = (row.checks + (row.warm if name in COMPILED else 0)) * statistics.median(figures)
        result.first[name] = max(warm[name] - usual, 0.0)
        if row.unit == "s/operation":
            figures[:] = [one / row.operations for one in figures]
    return result


def _calls(row: Row, step: Step) -> int:
    """How many calls fill the time of one round."""
    if not row.seconds:
        return 1
    share = row.seconds / row.rounds
    one = seconds_of(step, 1)
    if one < share / 3:  # a single short call tells little
        one = min(seconds_of(step, max(min(int(share / 10 / max(one, 1e-7)), 100), 3)) for _ in range(2))
    return max(int(share / max(one, 1e-8)), 1)
