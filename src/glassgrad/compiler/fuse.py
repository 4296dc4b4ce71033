"""Makes elementwise steps on large arrays one loop over memory."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..kernels import compiled
from ..kernels.native.formulas import ALONE, FEWEST
from .program import Step, Value, given_to, is_numeric

WORTH_IT = 1 << 16  # elements of a single step, which NumPy does as well, but on one thread


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
        own = set(map(id, self.steps))
        read = wanted | {value.number for step in steps if id(step) not in own for value in step.inputs}
        read_here = [value for step in self.steps for value in step.inputs]
        inputs = {value: value.shape == () for value in read_here if value.number not in self.made}
        outputs = [value for step in self.steps for value in step.results if value.number in read]
        title = " ".join(step.name for step in self.steps)
        from ..kernels.native.loops import loop_of

        loop = loop_of([_operation(step) for step in self.steps], inputs, outputs, self.kind[1], title)
        return [Step("kernel", loop.__name__, loop, tuple(inputs), tuple(outputs), several=len(outputs) > 1)]


def _operation(step: Step) -> tuple[str, dict[str, Any], Value]:
    formula, bindings = given_to(step)
    assert formula is not None
    numeric = {name: piece for name, piece in bindings.items() if is_numeric(piece)}
    return formula.text, numeric, step.results[0]


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


def fused(steps: Sequence[Step], kept: Sequence[Value]) -> list[Step]:
    """The steps with runs of elementwise ones made one."""
    if compiled.least == compiled.NEVER:
        return list(steps)
    wanted = {value.number for value in kept}
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
