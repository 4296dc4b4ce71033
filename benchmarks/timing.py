"""Pairs of timings; all engines of a row first compute the same thing, then run in turns."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from .engines import COMPILED, Absent
from .rows import Row
from .seats import Failed, Seat

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
        ratios = self.ratios(theirs, ours)
        return statistics.median(ratios) if ratios else None


def _compare(row: Row, name: str, outputs: list[np.ndarray], expected: list[np.ndarray]) -> None:
    """Raise ``Different`` where an engine's first results are not the base's."""
    if [one.size for one in outputs] != [one.size for one in expected]:
        raise Different(f"{row.title}: {name} gave other shapes than {BASE}")
    for one, other in zip(outputs, expected, strict=True):
        scale = max(1.0, float(np.abs(other).max(initial=0)))
        apart = np.abs(one.reshape(other.shape).astype(np.float64) - other)
        if not np.all(apart <= 1e-4 * np.abs(other) + 1e-5 * scale):
            raise Different(
                f"{row.title}: {name} and {BASE} computed different things (up to {np.nanmax(apart):.3g} apart)"
            )


def measure(row: Row, seats: Sequence[Seat]) -> Result:
    """Figures of a row for all engines that can express it; the first one is the base that the others must agree with.

    Raises ``Different`` where one of them computes something else.
    """
    result = Result(row)
    expected: list[np.ndarray] | None = None
    there: list[Seat] = []
    warm: dict[str, float] = {}
    for seat in seats:
        if seat.name in row.without:
            result.absent[seat.name] = row.without[seat.name]
            continue
        try:
            outputs, warm[seat.name] = seat.prepare(row)
        except Absent as reason:
            result.absent[seat.name] = str(reason)
            continue
        except Failed as error:
            if expected is None or seat.name == "torch":
                raise
            result.absent[seat.name] = str(error).split("\n")[0][:200]
            continue
        if expected is None:
            expected = outputs
        else:
            _compare(row, seat.name, outputs, expected)
        there.append(seat)
    counts = [_calls(row, seat) for seat in there]
    result.figures = {seat.name: [] for seat in there}
    for _ in range(row.rounds):
        for seat, count in zip(there, counts, strict=True):
            if count > 1:
                seat.seconds(1)  # wakes its threads
            result.figures[seat.name].append(seat.seconds(count))
    for name, figures in result.figures.items():
        usual = (row.checks + (row.warm if name in COMPILED else 0)) * statistics.median(figures)
        result.first[name] = max(warm[name] - usual, 0.0)
        if row.unit == "s/operation":
            figures[:] = [one / row.operations for one in figures]
    return result


def _calls(row: Row, seat: Seat) -> int:
    """How many calls fill the time of one round."""
    if not row.seconds:
        return 1
    share = row.seconds / row.rounds
    one = seat.seconds(1)
    if one < share / 3:  # a single short call tells little
        one = min(seat.seconds(max(min(int(share / 10 / max(one, 1e-7)), 100), 3)) for _ in range(2))
    return max(int(share / max(one, 1e-8)), 1)
