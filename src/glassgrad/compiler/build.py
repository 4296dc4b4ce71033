"""Makes a program of a capture: what is needless is left out, the rest is written, and given its way back."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..core import engine
from ..core.record import OUTPUT, Record, freed
from ..core.tensor import LEAF, Tensor, View, edge_of, share, wrap
from ..ground.window import owner_of
from ..tensor.node import unfolded
from .capture import Capture
from .emit import Text, write_steps
from .fuse import fused
from .memory_plan import Plan
from .program import MISS, NotCapturable, Step, Value, version
from .replayed import freed_record, record_of, version_of, watch_version
from .simplify import memory_of, simplified
from .whole import whole_of, write_call

ndarray = np.ndarray


class Program:
    """What calls of a segment become: ``run(*tensors)`` gives the tensors that are wanted of them, or MISS."""

    def __init__(
        self, run: Callable[..., Any], source: str, native: str | None, steps: list[Step], plan: Plan | None,
        graded: bool,
    ) -> None:  # fmt: skip
        self.run, self.source, self.native, self.steps, self.plan = run, source, native, steps, plan
        self.graded = graded  # whether a result has a way back


class Answer:
    """A tensor that the program gives: its value, and its place in the graph.

    name   of the node that PyTorch would show
    way    whether it carries gradients: a "record"; whether its graph was "freed" within the program; or None
    """

    def __init__(self, value: Value, tensor: Tensor, way: str | None) -> None:
        self.value, self.tensor, self.way = value, tensor, way
        edge = edge_of(tensor)
        edge = unfolded(_copied(edge)) if isinstance(edge, Record) else edge
        edge = edge.edges[0] if isinstance(edge, Record) and edge.kind is OUTPUT else edge
        self.name = edge.kind.name if isinstance(edge, Record) else ""


def _copied(record: Record) -> Record:
    """A record that may be looked at, which unfolds it, while the record itself stays one."""
    edges = (_copied(record.edges[0]),) if record.kind is OUTPUT else record.edges
    copy = Record.of(record.kind, edges, record.constants)
    copy.run, copy.saved, copy.fit, copy.counter = record.run, record.saved, record.fit, record.counter
    return copy


class Builder:
    """What is put together for one program."""

    def __init__(self, title: str, capture: Capture, wanted: Sequence[Tensor], twice: bool) -> None:
        """``twice``: derivatives of derivatives are taken, for which the calls must be made as they are written."""
        self.title, self.capture = title, capture
        self.text = Text()
        self.plan: Plan | None = None  # of its memory, where it is written step by step
        self.edges: list[Value] = []  # what the way back leads to,
        self.grads: list[Value | None] = []  # the gradients for these,
        self.seed: Any = None  # and that with which it begins
        self.frees = False  # whether a walk that keeps nothing frees the graph
        self.leaves = {id(s.function._grad): s.operands[0] for s in capture.steps if s.kind == "gradient"}
        self.wanted = [self._answer(tensor) for tensor in wanted]
        self.answers = [answer for answer in self.wanted if isinstance(answer, Answer)]
        self.graded = [answer for answer in self.answers if answer.way == "record"]
        if len(self.graded) > 1:  # the way back of one may end with that of another
            raise NotCapturable("it gives more than one tensor that has a way back")
        if self.graded and twice:
            raise NotCapturable("it takes derivatives of derivatives")

    def program(self) -> Program:
        """The finished program; NotCapturable where it would not give what the calls give."""
        self._alone()
        mark = len(self.capture.steps)
        if self.graded:
            self._way_back(self.graded[0])
        kept = [*(answer.value for answer in self.answers), *(value for value in self.grads if value is not None)]
        steps, mark, kept = simplified(self.capture.steps, mark, kept)
        for answer, value in zip(self.answers, kept, strict=False):
            answer.value = value
        rest = iter(kept[len(self.answers) :])
        self.grads = [None if grad is None else next(rest) for grad in self.grads]
        whole = None if self.graded else whole_of(steps, kept)
        if whole is not None and self._is_reached(whole.written):
            whole = None
        if whole is None:
            steps, mark = fused(steps, mark, kept)
        native = self._write(steps[:mark], steps[mark:], whole)
        names, source = self.text.compiled(self.title)
        return Program(names["run"], source, native, steps, self.plan, bool(self.graded))

    # -- what is given back ---------------------------------------------------------------------------------------

    def _answer(self, tensor: Tensor) -> Answer | Value:
        """What the program gives for a tensor: a new one, or the gradient of the leaf whose value it is."""
        value = self.capture.find(tensor)
        if value is None or type(tensor) is not Tensor:
            raise NotCapturable("it gives back a tensor whose making was not seen")
        if id(tensor) in self.leaves:
            return self.leaves[id(tensor)]
        if value.source != "made":
            raise NotCapturable("it gives back another tensor on the memory of one from outside")
        edge = edge_of(tensor) if type(tensor._edge) is View else tensor._edge
        if edge is None:
            return Answer(value, tensor, None)
        if edge is LEAF or isinstance(edge, Tensor):
            raise NotCapturable("it gives back a leaf that it made")
        below = engine.dependencies([edge], self._ends())
        return Answer(value, tensor, "freed" if any(getattr(e, "run", None) is freed for e in below) else "record")

    def _alone(self) -> None:
        """Each tensor that is given back must have memory of its own: writes to it reach nobody else."""
        taken = [self._tensor(value)._array for value in self.capture.inputs]
        if len({answer.value.number for answer in self.answers}) < len(self.answers):
            raise NotCapturable("it gives back two tensors on the same memory")
        for answer in self.answers:
            array = answer.tensor._array
            if type(array) is ndarray and array.size:
                if any(np.may_share_memory(array, other) for other in taken):
                    raise NotCapturable("it gives back a view of memory that others hold")
                taken.append(array)

    def _is_reached(self, written: Sequence[Value]) -> bool:
        """Whether an argument, which a native program copies first, lies in memory that the program writes to."""
        owners = {id(owner_of(value.held._array)) for value in written}
        return any(id(owner_of(tensor._array)) in owners for tensor in self.capture.given)

    def _tensor(self, value: Value) -> Tensor:
        """The tensor that an input's value is that of."""
        return value.held if value.source == "outside" else self.capture.given[value.held]  # type: ignore[no-any-return]

    def _is_leaf(self, value: Value) -> bool:
        """Whether a value is that of a leaf from outside, of which the way back reads what it is by then."""
        return value.source in ("outside", "argument") and self._tensor(value).is_leaf

    # -- the way back ---------------------------------------------------------------------------------------------

    def _way_back(self, answer: Answer) -> None:
        """Capture the backward pass of the result that carries gradients."""
        capture = self.capture
        if any(step.kind == "gradient" for step in capture.steps):
            raise NotCapturable("it runs backward and also gives back tensors whose graph is still there")
        root = edge_of(answer.tensor), wrap(np.ones_like(answer.tensor._array))
        self.seed = capture.new(root[1], "incoming")
        ends = self._ends()
        below = engine.dependencies([root[0]], ends)
        for edge in below:
            if getattr(edge, "_hooks", None) is not None:
                raise NotCapturable("a hook in the graph")
            if not isinstance(edge, Record) and edge not in ends:
                raise NotCapturable("a leaf whose making was not seen")
            self.frees = self.frees or isinstance(edge, Record) and edge.kind.frees
        edges = [edge for edge in ends if edge in below]
        with capture.listening():
            grads = capture.walk([root], edges, True, ends=True)
        if capture.reason is not None:
            raise NotCapturable(capture.reason)
        self.edges = [ends[edge] for edge in edges]
        self.grads = [None if grad is None else capture.operand(grad) for grad in grads]

    def _ends(self) -> dict[Any, Value]:
        """Where the graph of what was captured ends: the places of tensors from outside, and their values."""
        ends: dict[Any, Value] = {}
        for value in self.capture.inputs:
            edge = edge_of(self._tensor(value))
            if edge is not None:
                ends.setdefault(edge, value)
        return ends

    # -- the text -------------------------------------------------------------------------------------------------

    def _write(self, forward: list[Step], back: list[Step], whole: Any) -> str | None:
        text, every = self.text, [*forward, *back]
        inputs = {value.number: value for value in self.capture.inputs}
        text.looks_at = {view: inputs[root] for view, root in memory_of(every).items() if root in inputs}
        text.names.update(MISS=MISS, new=object.__new__)
        text.add(f"def run({', '.join(f'a{place}' for place in range(len(self.capture.given)))}):")
        if whole is not None:
            self._same_memory(forward)
            native = write_call(text, whole)
            self._results(forward, [])
            return native
        text.names.update({v.name: v.held for step in every for v in step.inputs if v.source == "constant"})
        saved = self._saved(back)
        needed = {v.number: v for step in forward for v in step.inputs} | {v.number: v for v in saved}
        for value in sorted(needed.values(), key=lambda value: value.number):
            if value.source in ("argument", "outside"):
                text.add(f"    {value.name} = {text.operand(value, True)}._array")
            elif value.source == "gradient":
                text.add(f"    {value.name} = {text.name(value.held, 'outside')}._grad._array")
        self.plan = Plan(every, len(forward), [a.value for a in self.answers], [g for g in self.grads if g is not None])
        text.add(f"    # {self.plan}")
        write_steps(text, self.plan, range(len(forward)))
        self._results(forward, saved)
        if self.graded:
            self._write_back(saved, range(len(forward), len(every)))
        return None

    def _same_memory(self, steps: list[Step]) -> None:
        """The test that tensors from outside are in the very memory in which they were."""
        tests = []
        for tensor in {v.number: v.held for step in steps for v in step.inputs if v.source == "outside"}.values():
            share(tensor)  # which gives a single number memory of its own
            tests.append(f"{self.text.name(tensor, 'outside')}._array is not {self.text.name(tensor._array, 'array')}")
        for start in range(0, len(tests), 8):
            self.text.add(f"    if {' or '.join(tests[start : start + 8])}:")
            self.text.add("        return MISS")

    def _saved(self, back: list[Step]) -> list[Value]:
        """What the way back reads of what was there before it."""
        defined = {value.number for step in back for value in step.results}
        read = [value for step in back for value in step.inputs]
        read += [value for value in self.grads if value is not None]
        there = (v for v in read if v.number not in defined and v is not self.seed and v.source != "constant")
        return list({value.number: value for value in there}.values())

    def _results(self, forward: list[Step], saved: list[Value]) -> None:
        text = self.text
        if self.graded:
            self._record(saved)
        roots = memory_of(forward)
        kept = {roots.get(value.number, value.number) for value in saved}
        names = []
        for place, answer in enumerate(self.wanted):
            if not isinstance(answer, Answer):
                names.append(f"{text.operand(answer, True)}._grad")
                continue
            names.append(name := f"o{place}")
            freed_edge = f"{text.name(freed_record, 'freed_record')}({answer.name!r})"
            edge = {None: "None", "record": "record", "freed": freed_edge}[answer.way]
            text.add(f"    {name} = new(Tensor)")
            text.add(f"    {name}._array = {answer.value.name}")
            text.add(f"    {name}._counter = None")
            text.add(f"    {name}._edge = {edge}")
            if self.graded and roots.get(answer.value.number, answer.value.number) in kept:
                watch, counter = text.name(watch_version, "watch_version"), text.name(share, "share")
                text.add(f"    {watch}(record, {counter}({name}), {version(answer.tensor)})")
        text.add(f"    return {_tuple(names)}")

    def _record(self, saved: list[Value]) -> None:
        """The record that stands for the whole program in the caller's graph."""
        text, value = self.text, self.graded[0].value
        of = text.name(version_of, "version_of")
        watched = [text.operand(v, True) for v in saved if v.source in ("outside", "argument")]
        edges = _tuple([f"{text.name(edge_of, 'edge_of')}({text.operand(value, True)})" for value in self.edges])
        kind = text.name((value.shape, self.frees), "kind")
        kept = [text.operand(v, self._is_leaf(v)) for v in saved]
        values = f"{_tuple(kept)}, {_tuple([f'({name}, {of}({name}))' for name in watched])}"
        record = f"{text.name(record_of, 'record_of')}({self.graded[0].name!r}, {edges}, {values}, back, {kind})"
        text.add(f"    record = {record}")

    def _write_back(self, saved: list[Value], places: range) -> None:
        text = self.text
        text.is_back = True
        text.lines += ["", "", f"def back(saved, {self.seed.name}):"]
        if saved:
            text.add(f"    {', '.join(value.name for value in saved)}, = saved")
            text.add("    saved.clear()  # so that the names are all that holds what was saved for them")
            text.lines += [f"    {value.name} = {value.name}._array" for value in saved if self._is_leaf(value)]
        assert self.plan is not None
        write_steps(text, self.plan, places)
        text.add(f"    return {_tuple(['None' if value is None else value.name for value in self.grads])}")


def _tuple(names: list[str]) -> str:
    return f"({', '.join(names)}{',' if len(names) == 1 else ''})"
