"""Makes a program of a capture: what is needless is left out, the rest is written."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

import numpy as np

from ..core import engine
from ..core.record import OUTPUT, Kind, Record, freed
from ..core.tensor import LEAF, Tensor, View, edge_of, share
from ..ground.window import owner_of
from ..kernels import compiled
from ..tensor.node import unfolded
from .capture import Capture
from .emit import Text, write_steps
from .fuse import fused
from .memory_plan import Plan
from .operations import OWNERS, parameters
from .program import ATOMS, MISS, NotCapturable, Step, Value, tensors_in, version
from .simplify import memory_of, simplified

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
    """A tensor that the program gives: its value, and the ``node`` that PyTorch would show, where it carries gradients.

    Its graph was walked within the program, and is freed.
    """

    def __init__(self, value: Value, tensor: Tensor, edge: Any) -> None:
        self.value, self.tensor, self.node = value, tensor, ""
        if edge is not None:
            edge = unfolded(_copied(edge))
            self.node = (edge.edges[0] if edge.kind is OUTPUT else edge).kind.name


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
        self.names: dict[int, str] = {}  # how the text calls the tensors that it gives, by identity
        self.answers: list[Answer] = []
        for tensor in {id(tensor): tensor for tensor in tensors_in(result)}.values():
            self._answer(tensor)

    def program(self) -> Program:
        """The finished program; NotCapturable where it would not give what the calls give."""
        self._alone()
        steps, kept = simplified(self.capture.steps, [answer.value for answer in self.answers])
        for answer, value in zip(self.answers, kept, strict=True):
            answer.value = value
        last = len(steps)  # before the gradients that are taken away at the end
        while last and steps[last - 1].kind == "gradient" and steps[last - 1].name == "clear":
            last -= 1
        whole = self._tape(steps[:last], kept)
        if whole is None:
            steps = fused(steps, kept)
        native = self._write(steps, whole)
        names, source = self.text.compiled(self.title)
        return Program(names["run"], source + (f"\n\n{native}" if native else ""), self, steps, bool(native))

    def _tape(self, steps: Sequence[Step], kept: Sequence[Value]) -> Any:
        """The steps as a tape, where they are on small arrays and Numba is installed; else None."""
        if compiled.least == compiled.NEVER or not steps:
            return None
        from .tape import tape_of

        tape = tape_of(steps, kept)
        return None if tape is None or self._is_reached(tape.written) else tape

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
        if edge is LEAF or isinstance(edge, Tensor):
            raise NotCapturable("it gives back a leaf that it made")
        if edge is not None and not any(getattr(e, "run", None) is freed for e in engine.dependencies([edge])):
            raise NotCapturable("it gives back a tensor that has a way back")
        self.answers.append(Answer(value, tensor, edge))

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

    # -- the text -------------------------------------------------------------------------------------------------

    def _write(self, steps: list[Step], whole: Any) -> str | None:
        text = self.text
        inputs = {value.number: value for value in self.capture.inputs}
        text.looks_at = {view: inputs[root] for view, root in memory_of(steps).items() if root in inputs}
        text.names.update(MISS=MISS, new=object.__new__, engine=engine)
        text.add(f"def run({', '.join(f'a{place}' for place in range(len(self.capture.given)))}):")
        self._guards(self.capture.steps)
        if whole is not None:
            self._same_memory(steps)
            from .tape import write_call

            native = write_call(text, whole)
            for step in steps:  # where the result is a gradient
                if step.kind == "gradient" and step.results and step.results[0].holder in self.names.values():
                    text.add(f"    {step.results[0].holder} = {text.operand(step.operands[0], True)}._grad")
            for step in steps[len(whole.steps) :]:
                text.add(f"    {text.operand(step.operands[0], True)}._grad = None")
            self._results()
            return native
        text.names.update({v.name: v.held for step in steps for v in step.inputs if v.source == "constant"})
        needed = {v.number: v for v in (*(v for step in steps for v in step.inputs), *(a.value for a in self.answers))}
        for value in sorted(needed.values(), key=lambda value: value.number):
            if value.source in ("argument", "outside"):
                text.add(f"    {value.name} = {text.operand(value, True)}._array")
            elif value.source == "gradient":
                text.add(f"    {value.holder} = {text.name(value.held, 'outside')}._grad")
                text.add(f"    {value.name} = {value.holder}._array")
        self.plan = Plan(steps, [answer.value for answer in self.answers])
        text.add(f"    # {self.plan}")
        write_steps(text, self.plan)
        self._results()
        return None

    def _guards(self, steps: Sequence[Step]) -> None:
        """The test that leaves have gradients, or none, as when the function was traced; and no hooks."""
        name = self.text.name
        read = [value for step in steps for value in step.inputs if value.source == "gradient"]
        had = {name(value.held, "outside"): True for value in read}
        met: dict[str, None] = {}
        for step in steps:
            if step.kind == "gradient":
                owner = self.text.operand(step.operands[0], True)
                if step.name != "clear" and owner not in met:
                    had[owner] = step.name == "add"
                met[owner] = None
            elif step.kind == "optimizer":
                given = {id(self.capture.tensor(target)) for target, _ in step.operands}
                params = {name(p, "outside"): id(p) in given for p in parameters(step.function)}
                had.update({owner: has for owner, has in params.items() if owner not in met})
                met |= dict.fromkeys(params)
        tests = [f"{owner}._grad is {'' if has else 'not '}None" for owner, has in had.items()]
        if met:
            tests.append(f"engine.on_leaves and {name(hooked, 'hooked')}({', '.join(met)})")
        self.text.unless(tests)

    def _same_memory(self, steps: list[Step]) -> None:
        """The test that tensors from outside are in the very memory in which they were."""
        tests = []
        for tensor in {v.number: v.held for step in steps for v in step.inputs if v.source == "outside"}.values():
            share(tensor)  # which gives a single number memory of its own
            tests.append(f"{self.text.name(tensor, 'outside')}._array is not {self.text.name(tensor._array, 'array')}")
        self.text.unless(tests)

    def _results(self) -> None:
        text = self.text
        for answer in self.answers:
            name = self.names[id(answer.tensor)]
            text.add(f"    {name} = new(Tensor)")
            text.add(f"    {name}._array = {answer.value.name}")
            text.add(f"    {name}._counter = None")
            freed_record = text.name(record_of, "freed_record")
            text.add(f"    {name}._edge = {f'{freed_record}({answer.node!r})' if answer.node else 'None'}")
            if version(answer.tensor):
                text.add(f"    {text.name(share, 'share')}({name}).version = {version(answer.tensor)}")
        text.add(f"    return {text.tree(self.result, self._given)}")

    def _given(self, piece: Any) -> str:
        """How the text writes a part of the result."""
        if isinstance(piece, Tensor):
            return self.names[id(piece)]
        if type(piece) not in (float, complex, *ATOMS):
            raise NotCapturable(f"it gives a {type(piece).__name__}")
        return self.text.literal(piece)


def hooked(*leaves: Any) -> bool:
    """Whether a hook waits for the gradient of a leaf."""
    return any([leaf._hooks is not None or "_post_accumulate" in leaf.__dict__ for leaf in leaves])


@cache
def kind_of(name: str) -> Kind:
    """The kind of the records that stand for graphs which were walked within a program."""
    return Kind(name, freed, freed)


def record_of(name: str) -> Record:
    """The record of a result whose graph was walked within a program; it shows itself as a node of that name."""
    return Record.of(kind_of(name), ())
