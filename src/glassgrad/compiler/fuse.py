"""Gathers runs of elementwise steps on large arrays, each to be one loop over memory."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..kernels import compiled
from .formulas import given_to
from .program import Step, Value

FEWEST = 1 << 14  # elements: below, the loop's call costs what it saves
WORTH_IT = 1 << 16  # of a single step, which NumPy does as well, but on one thread
#: Steps that stay alone: a loop would call the C library for each number, as only pieces near zero have a polynomial.
ALONE = {"sin", "cos"}


class Run:
    """Elementwise steps of one shape and dtype, and what they make."""

    def __init__(self, first: Step) -> None:
        self.kind = _kind(first)
        self.steps: list[Step] = []
        self.made: set[int] = set()
        self.add(first)

    def takes(self, step: Step) -> bool:
        """Whether a step may be one of the run."""
        return fusible(step) and _kind(step) == self.kind

    def add(self, step: Step) -> None:
        """One more step."""
        self.steps.append(step)
        self.made.update(value.number for value in step.results)

    def reads(self, step: Step) -> bool:
        """Whether a step needs something that the run makes."""
        return any(value.number in self.made for value in step.inputs)

    def joined(self, steps: Sequence[Step], wanted: set[int]) -> list[Step]:
        """The run as one step, where that gains."""
        if len(self.steps) == 1 and self.steps[0].results[0].size < WORTH_IT:
            return self.steps
        from .native.loops import loop_of

        own = set(map(id, self.steps))
        read = wanted | {value.number for step in steps if id(step) not in own for value in step.inputs}
        inputs = {value.number: value for step in self.steps for value in step.inputs if value.number not in self.made}
        outputs = [value for step in self.steps for value in step.results if value.number in read]
        loop = loop_of(self.steps, list(inputs.values()), outputs, self.kind[1])
        return [Step("kernel", loop.__name__, loop, tuple(inputs.values()), tuple(outputs), several=len(outputs) > 1)]


def _kind(step: Step) -> tuple[tuple[int, ...], Any]:
    return step.results[0].shape, step.results[0].dtype


def fusible(step: Step) -> bool:
    """Whether a step is elementwise, on arrays without gaps and numbers of one floating dtype."""
    if step.kind != "kernel" or step.several or step.draws or step.name in ALONE or given_to(step)[0] is None:
        return False
    result = step.results[0]
    if result.size < FEWEST or result.dtype.str not in ("<f4", "<f8") or not result.dense:
        return False
    if not all(isinstance(piece, (Value, int, float, str, type(None))) for piece in step.operands):
        return False
    return all(v.dtype == result.dtype and v.shape in ((), result.shape) and v.dense for v in step.inputs)


def fused(steps: Sequence[Step], mark: int, kept: Sequence[Value]) -> tuple[list[Step], int]:
    """The steps with runs of elementwise ones made one; ``mark`` parts those before and after, which do not mix."""
    if compiled.least == compiled.NEVER:
        return list(steps), mark
    wanted = {value.number for value in kept}
    back = {value.number for step in steps[mark:] for value in step.inputs}
    first = _runs(steps[:mark], wanted | back)
    return [*first, *_runs(steps[mark:], wanted)], len(first)


def _runs(steps: Sequence[Step], wanted: set[int]) -> list[Step]:
    merged: list[Step] = []
    run: Run | None = None
    for step in steps:
        if run is not None and run.takes(step):
            run.add(step)
            continue
        begins = fusible(step)
        if run is not None and (begins or step.acts or run.reads(step)):
            merged += run.joined(steps, wanted)
            run = None
        if begins:
            run = Run(step)
        else:
            merged.append(step)  # before the run, of which it needs nothing
    return merged + ([] if run is None else run.joined(steps, wanted))
