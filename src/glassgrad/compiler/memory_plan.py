"""The memory that a program needs: how long each value lives, and how much there is at once.

The C library gives the memory of an array that is dropped to the next one of its size, at no cost. So the plan is to
drop each value as soon as it can be.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from .program import Step, Value
from .simplify import memory_of

SMALL = 1024  # elements: up to here a value is not worth a line that drops it


class Plan:
    """The lives of the values of some steps.

    kept  values that are given to the caller
    made  how many bytes all values take that the steps make, and
    most  how many there are at once
    """

    def __init__(self, steps: Sequence[Step], kept: Iterable[Value]) -> None:
        self.steps = steps
        self._kept = {v.number for v in kept}
        self._last = {v.number: n for n, step in enumerate(steps) for v in (*step.inputs, *step.results)}
        self.made, self.most = self._bytes()

    def __str__(self) -> str:
        most, made = (f"{n:,} bytes" if n < 10**5 else f"{n / 1e6:,.1f} MB" for n in (self.most, self.made))
        return f"memory: {most} at most, of {made} of values"

    def ends(self, place: int) -> list[Value]:
        """The values whose names are to be dropped after a step."""
        step = self.steps[place]
        dead = {v for v in (*step.inputs, *step.results) if self._last[v.number] == place}
        named = (v for v in dead if v.source == "made" and v.size > SMALL and v.number not in self._kept)
        return sorted(named, key=lambda value: value.name)

    def _bytes(self) -> tuple[int, int]:
        """How many bytes all values take, and how many there are at once; a view's are those of what it looks at."""
        roots, ends = memory_of(self.steps), dict[int, int]()
        stay = {v.number for step in self.steps if step.kind == "gradient" for v in step.results}
        stay |= self._kept
        for number, last in self._last.items():
            root = roots.get(number, number)
            ends[root] = max(ends.get(root, 0), len(self.steps) if number in stay else last)
        made = most = now = 0
        ending = dict[int, int]()  # the bytes that end with each step
        for place, step in enumerate(self.steps):
            for value in step.results:
                if value.number not in roots and value not in step.inputs:
                    size = value.size * value.dtype.itemsize
                    ending[ends[value.number]] = ending.get(ends[value.number], 0) + size
                    made, now = made + size, now + size
            most = max(most, now)
            now -= ending.get(place, 0)
        return made, most
