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
from .operations import OWNERS, parameters
from .program import ATOMS, MISS, NotCapturable, Step, Value, tensors_in, version
from .replayed import freed_record, record_of, version_of, watch_version
from .simplify import memory_of, simplified
from .whole import whole_of, write_call

ndarray = np.ndarray
TELLING = 10**5  # bytes of values from which on their memory is worth a line


class Program:
    """What a call of a function becomes: ``run(*tensors)`` gives what the function gives, or MISS.

    reached  the tensors from outside that it reads or writes, and ``owners``, optimizers and the like that it calls
    """

    def __init__(self, run: Callable[..., Any], source: str, builder: Builder, steps: list[Step], native: bool) -> None:
        self.run, self.source, self.native, self.steps, self.plan = run, source, native, steps, builder.plan
        capture = builder.capture
        self.reached = [value.held for value in capture.inputs if value.source == "outside"]
        pieces = [piece for step in capture.steps for piece in (step.function, *step.operands)]
        self.owners = list({id(piece): piece for piece in pieces if isinstance(piece, OWNERS)}.values())

    def described(self) -> list[str]:
        """The lines that tell of it."""
        lines = [f"{len(self.steps)} steps{', as one native function' if self.native else ''}"]
        return lines + ([str(self.plan)] if self.plan is not None and self.plan.made >= TELLING else [])


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

    def __init__(self, title: str, capture: Capture, result: Any) -> None:
        self.title, self.capture, self.result = title, capture, result
        self.text = Text()
        self.plan: Plan | None = None  # of its memory, where it is written step by step
        self.edges: list[Value] = []  # what the way back leads to,
        self.grads: list[Value | None] = []  # the gradients for these,
        self.seed: Any = None  # and that with which it begins
        self.frees = False  # whether a walk that keeps nothing frees the graph
        self.names: dict[int, str] = {}  # how the text calls the tensors that it gives, by identity
        self.answers: list[Answer] = []
        for tensor in {id(tensor): tensor for tensor in tensors_in(result)}.values():
            self._answer(tensor)
        self.graded = [answer for answer in self.answers if answer.way == "record"]
        if len(self.graded) > 1:  # the way back of one may end with that of another
            raise NotCapturable("it gives more than one tensor that has a way back")

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
        return Program(names["run"], source + (f"\n\n{native}" if native else ""), self, steps, bool(native))

    # -- what is given back ---------------------------------------------------------------------------------------

    def _answer(self, tensor: Tensor) -> None:
        """Note what the program gives for a tensor: one from outside, a leaf's gradient, or a new one."""
        value = self.capture.operand(tensor)
        if value.source in ("argument", "outside") and self.capture.tensor(value) is tensor:
            self.names[id(tensor)] = self.text.operand(value, True)
            return
        set_here = [step.function._grad for step in self.capture.steps if step.kind == "gradient"]
        if value.holder and any(tensor is grad for grad in (*set_here, *self.capture.gradients)):
            self.names[id(tensor)] = value.holder
            return
        if value.holder or type(tensor) is not Tensor or value.source != "made":
            raise NotCapturable("it gives back another tensor on the memory of one from outside")
        self.names[id(tensor)] = f"o{len(self.answers)}"
        edge = edge_of(tensor) if type(tensor._edge) is View else tensor._edge
        way = None
        if edge is LEAF or isinstance(edge, Tensor):
            raise NotCapturable("it gives back a leaf that it made")
        if edge is not None:
            below = engine.dependencies([edge], self._ends())
            way = "freed" if any(getattr(e, "run", None) is freed for e in below) else "record"
        self.answers.append(Answer(value, tensor, way))

    def _alone(self) -> None:
        """Each tensor that is given back must have memory of its own: writes to it reach nobody else."""
        taken = [tensor._array for tensor in (*map(self.capture.tensor, self.capture.inputs), *self.capture.gradients)]
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

    def _is_leaf(self, value: Value) -> bool:
        """Whether a value is that of a leaf from outside, of which the way back reads what it is by then."""
        return value.source in ("outside", "argument") and bool(self.capture.tensor(value).is_leaf)

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
            grads = capture.walk([root], edges, ends=True)
        if capture.reason is not None:
            raise NotCapturable(capture.reason)
        self.edges = [ends[edge] for edge in edges]
        self.grads = [None if grad is None else capture.operand(grad) for grad in grads]

    def _ends(self) -> dict[Any, Value]:
        """Where the graph of what was captured ends: the places of tensors from outside, and their values."""
        ends: dict[Any, Value] = {}
        for value in self.capture.inputs:
            edge = edge_of(self.capture.tensor(value))
            if edge is not None:
                ends.setdefault(edge, value)
        return ends

    # -- the text -------------------------------------------------------------------------------------------------

    def _write(self, forward: list[Step], back: list[Step], whole: Any) -> str | None:
        text, every = self.text, [*forward, *back]
        inputs = {value.number: value for value in self.capture.inputs}
        text.looks_at = {view: inputs[root] for view, root in memory_of(every).items() if root in inputs}
        text.names.update(MISS=MISS, new=object.__new__, engine=engine)
        text.add(f"def run({', '.join(f'a{place}' for place in range(len(self.capture.given)))}):")
        self._guards(self.capture.steps)
        if whole is not None:
            self._same_memory(forward)
            native = write_call(text, whole)
            for step in forward:  # where the result is a gradient
                if step.kind == "gradient" and step.results and step.results[0].holder in self.names.values():
                    text.add(f"    {step.results[0].holder} = {text.operand(step.operands[0], True)}._grad")
            self._results(forward, [])
            return native
        text.names.update({v.name: v.held for step in every for v in step.inputs if v.source == "constant"})
        saved = self._saved(back)
        needed = {v.number: v for step in forward for v in step.inputs} | {v.number: v for v in saved}
        for value in sorted(needed.values(), key=lambda value: value.number):
            if value.source in ("argument", "outside"):
                text.add(f"    {value.name} = {text.operand(value, True)}._array")
            elif value.source == "gradient":
                text.add(f"    {value.holder} = {text.name(value.held, 'outside')}._grad")
                text.add(f"    {value.name} = {value.holder}._array")
        self.plan = Plan(every, len(forward), [a.value for a in self.answers], [g for g in self.grads if g is not None])
        text.add(f"    # {self.plan}")
        write_steps(text, self.plan, range(len(forward)))
        self._results(forward, saved)
        if self.graded:
            self._write_back(saved, range(len(forward), len(every)))
        return None

    def _guards(self, steps: Sequence[Step]) -> None:
        """The test that leaves have gradients, or none, as when the function was traced; and no hooks."""
        had = {id(value.held): (value.held, True) for step in steps for value in step.inputs if value.source == "gradient"}
        met: set[int] = set()
        for step in steps:
            if step.kind == "gradient" and step.name != "clear":
                if id(step.function) not in met:
                    had[id(step.function)] = step.function, step.name == "add"
            elif step.kind == "optimizer":
                given = {id(self.capture.tensor(target)) for target, _ in step.operands}
                params = [p for p in parameters(step.function) if id(p) not in met]
                had.update({id(p): (p, id(p) in given) for p in params})
                met.update(map(id, params))
            if step.kind == "gradient":
                met.add(id(step.function))
        tests = [f"{self.text.name(leaf, 'outside')}._grad is {'' if has else 'not '}None" for leaf, has in had.values()]
        tests += ["engine.on_leaves"] if met else []
        for start in range(0, len(tests), 8):
            self.text.add(f"    if {' or '.join(tests[start : start + 8])}:")
            self.text.add("        return MISS")

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
        for answer in self.answers:
            name = self.names[id(answer.tensor)]
            freed_edge = f"{text.name(freed_record, 'freed_record')}({answer.name!r})"
            edge = {None: "None", "record": "record", "freed": freed_edge}[answer.way]
            text.add(f"    {name} = new(Tensor)")
            text.add(f"    {name}._array = {answer.value.name}")
            text.add(f"    {name}._counter = None")
            text.add(f"    {name}._edge = {edge}")
            if version(answer.tensor):
                text.add(f"    {text.name(share, 'share')}({name}).version = {version(answer.tensor)}")
            if self.graded and roots.get(answer.value.number, answer.value.number) in kept:
                watch, counter = text.name(watch_version, "watch_version"), text.name(share, "share")
                text.add(f"    {watch}(record, {counter}({name}), {version(answer.tensor)})")
        text.add(f"    return {text.tree(self.result, self._given)}")

    def _given(self, piece: Any) -> str:
        """How the text writes a part of the result."""
        if isinstance(piece, Tensor):
            return self.names[id(piece)]
        if type(piece) not in (float, complex, *ATOMS):
            raise NotCapturable(f"it gives a {type(piece).__name__}")
        return self.text.literal(piece)

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
