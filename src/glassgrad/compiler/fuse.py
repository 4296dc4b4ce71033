"""Gathers runs of elementwise steps on large arrays, each to be one loop over memory."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..kernels import compiled
from .formulas import given_to
from .heads import with_heads_joined
from .products import served, with_products
from .program import Step, Value
from .simplify import own_gradients

FEWEST = 1 << 14  # elements: below, the loop's call costs what it saves
WORTH_IT = 1 << 16  # of a single step, which NumPy does as well, but on one thread
#: Steps that stay alone: a loop would call the C library for each number, as only pieces near zero have a polynomial.
ALONE = {"sin", "cos"}


class Run:
    """Elementwise steps of one shape and dtype, and what they read and make."""

    def __init__(self, shape: tuple[int, ...], dtype: Any) -> None:
        self.shape, self.dtype = shape, dtype
        self.steps: list[Step] = []
        self.made: set[int] = set()

    def takes(self, step: Step) -> bool:
        """Whether a step may be one of the run."""
        return fusible(step) and step.results[0].shape == self.shape and step.results[0].dtype == self.dtype

    def add(self, step: Step) -> None:
        """One more step."""
        self.steps.append(step)
        self.made.update(value.number for value in step.results)

    def reads(self, step: Step) -> bool:
        """Whether a step needs something that the run makes."""
        return any(value.number in self.made for value in step.inputs)


def fusible(step: Step) -> bool:
    """Whether a step is elementwise, on arrays without gaps and numbers of one floating dtype."""
    if step.kind != "kernel" or step.several or step.draws or step.name in ALONE:
        return False
    result = step.results[0]
    if result.size < FEWEST or result.dtype.str not in ("<f4", "<f8") or not result.dense:
        return False
    if given_to(step)[0] is None:
        return False
    for value in step.operands:
        if isinstance(value, Value):
            if value.dtype != result.dtype or value.shape not in ((), result.shape) or not value.dense:
                return False
        elif not isinstance(value, (int, float, str, type(None))):
            return False
    return True


def fused(steps: Sequence[Step], mark: int, kept: Sequence[Value]) -> tuple[list[Step], int]:
    """The steps with runs of elementwise ones made one; ``mark`` parts those before and after, which do not mix."""
    if compiled.least == compiled.NEVER:
        return list(steps), mark
    wanted = {value.number for value in kept}
    back = {value.number for step in steps[mark:] for value in step.inputs}
    first = with_heads_joined(list(steps[:mark]), wanted | back)
    second = with_heads_joined(list(steps[mark:]), wanted)
    if served(steps):
        first, second = with_products(first, wanted | back), with_products(second, wanted)
        own_gradients([*first, *second], kept)
    first = _runs(first, wanted | back)
    return [*first, *_runs(second, wanted)], len(first)


def _runs(steps: Sequence[Step], wanted: set[int]) -> list[Step]:
    made: list[Step] = []
    run: Run | None = None
    last: dict[int, int] = {}
    for place, step in enumerate(steps):
        for value in step.inputs:
            last[value.number] = place

    def close() -> None:
        nonlocal run
        if run is not None:
            many = len(run.steps) > 1 or run.steps[0].results[0].size >= WORTH_IT
            made.extend([_as_one(run, steps, wanted)] if many else run.steps)
            run = None

    for step in steps:
        if run is not None and run.takes(step):
            run.add(step)
            continue
        if run is not None and (step.acts or run.reads(step) or fusible(step)):
            close()
        if fusible(step):
            run = Run(step.results[0].shape, step.results[0].dtype)
            run.add(step)
        else:
            made.append(step)  # before the run, of which it needs nothing
    close()
    return made


def _as_one(run: Run, steps: Sequence[Step], wanted: set[int]) -> Step:
    """A run as one step."""
    from .native.loops import loop_of

    own = set(map(id, run.steps))
    read_elsewhere = wanted | {value.number for step in steps if id(step) not in own for value in step.inputs}
    inputs = {value.number: value for step in run.steps for value in step.inputs if value.number not in run.made}
    outputs = [value for step in run.steps for value in step.results if value.number in read_elsewhere]
    loop = loop_of(run.steps, list(inputs.values()), outputs, run.dtype)
    return Step("kernel", loop.__name__, loop, tuple(inputs.values()), tuple(outputs), several=len(outputs) > 1)
