"""The memory that a program needs: how long each value lives, views of it too, and what may be written over.

The C library gives the memory of an array that is dropped to the next one of its size, at no cost. So the plan is to
drop each value as soon as it can be, and to write a result over an operand that ends with the step, where the step
goes through both element by element: then it passes through the cache once and not twice.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from .formulas import given_to
from .program import Step, Value

SMALL = 1024  # elements: up to here a value is not worth a line that drops it
WORTH_IT = 1 << 16  # elements from which NumPy's own functions are told where to write
_FUNCTIONS = {"mul": np.multiply, "div": np.true_divide, "neg": np.negative, "add": np.add, "sub": np.subtract}


class Plan:
    """The lives of the values of some steps.

    steps    in order; those from ``mark`` on are the way back, which may run later, again, or never
    kept     values that are given to the caller after the steps before ``mark``
    answers  values that the way back gives

    ``over`` tells for a step's place which operand each of its results is written over; ``made`` is how many bytes all
    values take that the steps make, ``most`` how many there are at once.
    """

    def __init__(self, steps: Sequence[Step], mark: int, kept: Iterable[Value], answers: Iterable[Value]) -> None:
        self.steps, self.mark = steps, mark
        self._kept, self._answers = {v.number for v in kept}, {v.number for v in answers}
        self._last = {v.number: n for n, step in enumerate(steps) for v in (*step.inputs, *step.results)}
        self._memory = _memory(steps)
        self._shown = {  # memory that others than kernels are shown: whether they go on holding it is not known
            self._memory.get(v.number, v.number)
            for step in steps
            if step.kind not in ("kernel", "view")
            for v in (*step.inputs, *step.results)
        }
        leaving = self._kept | self._answers | {
            v.number for step in steps if step.kind == "gradient" for v in step.results
        }  # fmt: skip
        self._ends: dict[int, int] = {}  # where the last view of a memory ends
        for number, last in self._last.items():
            root = self._memory.get(number, number)
            self._ends[root] = max(self._ends.get(root, -1), len(steps) if number in leaving else last)
        self.over: dict[int, dict[int, Value]] = {}
        self.made = self.most = 0
        self._walk()

    def __str__(self) -> str:
        return f"memory: {_bytes(self.most)} at most, of {_bytes(self.made)} of values"

    def ends(self, place: int) -> list[Value]:
        """The values whose names are to be dropped after a step."""
        step = self.steps[place]
        stay = self._answers if place >= self.mark else self._answers | self._kept
        dead = {v for v in (*step.inputs, *step.results) if self._last[v.number] == place and v.number not in stay}
        return sorted((v for v in dead if v.source == "made" and v.size > SMALL), key=lambda value: value.name)

    def _walk(self) -> None:
        """Choose what is written over, and count the bytes on the way."""
        here: set[int] = set()  # what has memory of its own, and was made on this side of the mark
        alive: dict[int, int] = {}
        now = 0  # bytes of all that is alive
        due: dict[int, list[int]] = {}
        for number in self._last:
            due.setdefault(self._ends[self._memory.get(number, number)], []).append(number)
        for place, step in enumerate(self.steps):
            if place == self.mark:
                here.clear()
            over = self._overwritten(step, place, here)
            if over:
                self.over[place] = over
            for n, value in enumerate(step.results):
                view = self._memory.get(value.number, value.number) != value.number
                if view and (step.kind != "tensors" or value in step.inputs):
                    continue
                if not view and value.number not in self._shown:
                    here.add(value.number)
                size = value.size * value.dtype.itemsize
                self.made += size
                if n in over:
                    alive[value.number] = alive.pop(over[n].number)
                else:
                    now += size - alive.get(value.number, 0)
                    alive[value.number] = size
            self.most = max(self.most, now)
            for number in due.get(place, ()):
                now -= alive.pop(number, 0)

    def _overwritten(self, step: Step, place: int, here: set[int]) -> dict[int, Value]:
        """Which operand each result of a step may be written over."""
        if not can_write_over(step):
            return {}
        operands = [piece for piece in step.operands if isinstance(piece, Value) and piece.is_array]
        free = [v for v in dict.fromkeys(operands) if v.number in here and self._ends[v.number] == place]
        over: dict[int, Value] = {}
        for n, result in enumerate(step.results):
            for value in free:
                if value.shape == result.shape and value.dtype == result.dtype and value.dense and result.dense:
                    over[n] = value
                    free.remove(value)
                    break
        return over


def _bytes(count: int) -> str:
    return f"{count:,} bytes" if count < 10**5 else f"{count / 1e6:,.1f} MB"


def can_write_over(step: Step) -> bool:
    """Whether a step goes through its operands element by element, and can be told where to write."""
    if step.kind != "kernel":
        return False
    return hasattr(step.function, "over") or function_of(step) is not None


def function_of(step: Step) -> Any:
    """NumPy's function that a large step is; None for others."""
    if step.kind != "kernel" or step.several or not step.results or step.results[0].size < WORTH_IT:
        return None
    return None if given_to(step)[0] is None else _FUNCTIONS.get(step.name)


def _memory(steps: Sequence[Step]) -> dict[int, int]:
    """The value whose memory each other value may look at; all that a function of tensors touches counts as one."""
    above: dict[int, int] = {}  # a forest: values that look at one memory have one root

    def root(number: int) -> int:
        while (parent := above.get(number, number)) != number:
            above[number] = number = above.get(parent, parent)
        return number

    for step in steps:
        together: Sequence[Value] = ()
        if step.kind == "view" or step.name == "unsafe_view":
            together = [*step.inputs[:1], *step.results]
        elif step.kind == "gradient" and step.name == "set" and step.named:
            together = [step.operands[1], *step.results]
        elif step.kind == "tensors" and step.inputs:
            together = [*step.inputs, *step.results]
        for value in together[1:]:
            above[root(value.number)] = root(together[0].number)
    return {number: root(number) for number in [*above]}
