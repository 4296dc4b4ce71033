"""Makes a program of a capture: what is needless is left out, the rest is written, guarded, and given its way back."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..core import engine
from ..core.record import OUTPUT, Record, freed, output_of
from ..core.tensor import LEAF, Tensor, View, edge_of, share, wrap
from ..ground import dtypes, modes
from ..tensor.parameter import Parameter
from .capture import Capture
from .emit import Text, write_steps
from .fuse import fused
from .memory_plan import Plan
from .program import MISS, NotCapturable, Step, Value, mapped
from .replayed import any_hooked, freed_record, record_of, version_of, watch_version
from .simplify import memory_of, simplified
from .tape import ATOMS
from .whole import whole_of, write_call

ndarray = np.ndarray


class Program:
    """One compiled form of a function: ``run(*args, **kwargs)`` gives what it gives, or MISS."""

    def __init__(
        self, run: Callable[..., Any], source: str, native: str | None, steps: list[Step], plan: Plan | None
    ) -> None:
        self.run, self.source, self.native, self.steps, self.plan = run, source, native, steps, plan


class Builder:
    """What is put together for one program."""

    def __init__(
        self, title: str, capture: Capture, args: Sequence[Any], result: Any, recorded: bool | None, twice: bool = False
    ) -> None:
        """``recorded`` is the gradient mode that is to be tested for, with all else; None where that was compared."""
        self.title, self.capture, self.args, self.result, self.recorded = title, capture, args, result, recorded
        self.twice = twice
        self.text = Text()
        self.native: str | None = None  # the text of the native function, if there is one
        self.tree: Any = None
        self.outputs: list[Value] = []
        self._answers: dict[int, _Given] = {}
        self.graded: list[int] = []  # outputs that carry gradients, by place
        self.plan: Plan | None = None  # of its memory, where it is written step by step
        self.back: list[Step] = []
        self.edges: list[Value] = []
        self.back_grads: list[Value | None] = []
        self.incoming: list[Value] = []

    def program(self) -> Program:
        """The finished program; NotCapturable where it would not give what the function gives."""
        capture = self.capture
        tree = self.tree = self._tree()
        self._alone()
        forward = len(capture.steps)
        if self.graded:
            if self.twice:
                raise NotCapturable("it takes derivatives of derivatives")
            self._way_back()
        every = capture.steps
        kept = [*self.outputs]
        count = len(kept)
        kept += [value for value in self.back_grads if value is not None]
        steps, mark, kept = simplified(every, forward, kept)
        self.outputs, self.back_grads = kept[: len(self.outputs)], _refilled(self.back_grads, kept[count:])
        whole = None if self.graded else whole_of(steps[:mark], kept[:count])
        if whole is None:
            steps, mark = fused(steps, mark, kept)
        self._write(steps[:mark], steps[mark:], tree, whole)
        names, source = self.text.compiled(self.title)
        return Program(names["run"], source, self.native, steps, self.plan)

    # -- what is given back ---------------------------------------------------------------------------------------

    def _tree(self) -> Any:
        """The result, with values in the place of tensors."""
        def seen(piece: Any) -> Any:
            if isinstance(piece, Tensor):
                return self._output(piece)
            if type(piece) in ATOMS or type(piece) is float or any(piece is a for a in self.args):
                return piece
            raise NotCapturable(f"it gives back a {type(piece).__name__}")

        return mapped(self.result, seen)

    def _output(self, tensor: Tensor) -> Any:
        value = self.capture.find(tensor)
        if value is None:
            raise NotCapturable("it gives back a tensor whose making was not seen")
        if value.held is tensor:
            return value  # as it was given
        for argument in self.args:
            if argument is tensor:
                return value
        for step in self.capture.steps:
            if step.kind == "gradient" and step.function._grad is tensor:
                return _Gradient(step.operands[0])
        if type(tensor) is not Tensor:
            raise NotCapturable(f"it gives back a {type(tensor).__name__}")
        if value.source != "made":
            raise NotCapturable("it gives back another tensor on the memory of one from outside")
        if id(tensor) in self._answers:
            return self._answers[id(tensor)]  # the same tensor twice
        place = len(self.outputs)
        self.outputs.append(value)
        edge = tensor._edge
        if type(edge) is View:
            edge = edge_of(tensor)
        freed_one = False
        if edge is not None:
            if edge is LEAF or isinstance(edge, Tensor):
                raise NotCapturable("it gives back a leaf that it made")
            freed_one = _is_freed(edge, self._ends())
            if not freed_one:
                self.graded.append(place)
        given = self._answers[id(tensor)] = _Given(place, tensor, freed_one)
        return given

    def _alone(self) -> None:
        """Each tensor that is given back must have memory of its own: writes to it reach nobody else."""
        taken = [
            value.held._array if value.source == "outside" else self.args[value.held]._array
            for value in self.capture.inputs
            if value.source in ("outside", "argument")
        ]
        if len({value.number for value in self.outputs}) < len(self.outputs):
            raise NotCapturable("it gives back two tensors on the same memory")
        for given in self.given:
            array = given.tensor._array
            if type(array) is not ndarray or not array.size:
                continue
            if any(np.may_share_memory(array, other) for other in taken):
                raise NotCapturable("it gives back a view of memory that others hold")
            taken.append(array)

    # -- the way back ---------------------------------------------------------------------------------------------

    def _way_back(self) -> None:
        """Capture the backward pass of the outputs that carry gradients."""
        capture = self.capture
        if any(step.kind == "gradient" for step in capture.steps):
            raise NotCapturable("it runs backward and also gives back tensors whose graph is still there")
        tensors = [given.tensor for given in self.given if given.place in self.graded]
        if len(tensors) > 1 and self.recorded is None:  # the way back of one may end with that of another
            raise NotCapturable("it gives more than one tensor that has a way back")
        roots = [(edge_of(tensor), wrap(np.ones_like(tensor._array))) for tensor in tensors]
        self.incoming = [capture._value(seed, "incoming", place) for place, (_, seed) in enumerate(roots)]
        ends = self._ends()
        below = engine.dependencies([edge for edge, _ in roots], ends)
        wanted = {edge: value for edge, value in ends.items() if edge in below}
        for edge in below:
            if getattr(edge, "_hooks", None) is not None:
                raise NotCapturable("a hook in the graph")
            if not isinstance(edge, Record) and edge not in wanted:
                raise NotCapturable("a leaf whose making was not seen")
        edges = list(wanted)
        with capture.listening():
            found = capture._walk(roots, edges, True, ends=True)
        if capture.reason is not None:
            raise NotCapturable(capture.reason)
        self.edges = [wanted[edge] for edge in edges]
        self.back_grads = [None if grad is None else capture._operand(grad) for grad in found]

    def _ends(self) -> dict[Any, Value]:
        """Where the graph of what was captured ends: the places of tensors from outside, and their values."""
        ends: dict[Any, Value] = {}
        for value in self.capture.inputs:
            tensor = value.held if value.source == "outside" else self.args[value.held]
            edge = edge_of(tensor)
            if edge is not None:
                ends.setdefault(edge, value)
        return ends

    @property
    def given(self) -> list[_Given]:
        """The new tensors among the results."""
        return _Given.of(self.tree)

    # -- the text -------------------------------------------------------------------------------------------------

    def _write(self, forward: list[Step], back: list[Step], tree: Any, whole: Any) -> None:
        text = self.text
        text.names.update(
            Parameter=Parameter, MISS=MISS, modes=modes, dtypes=dtypes, new=object.__new__, engine=engine,
        )  # fmt: skip
        text.add(f"def run({', '.join(f'a{place}' for place in range(len(self.args)))}):")
        tests = self._outside_tests([*forward, *back], whole is not None)
        if self.recorded is not None:
            tests = [*self._mode_tests(forward), *tests]
        for start in range(0, len(tests), 8):
            text.add(f"    if {' or '.join(tests[start : start + 8])}:")
            text.add("        return MISS")
        if whole is not None:
            self.native = write_call(text, whole)
            self._results(forward, [], tree)
            return
        for step in (*forward, *back):
            text.names.update({value.name: value.held for value in step.inputs if value.source == "constant"})
        self._loads(forward, self._kept(forward, back))
        given = [*self.outputs]
        answers = [value for value in self.back_grads if value is not None]
        self.plan = Plan([*forward, *back], len(forward), given, answers)
        text.add(f"    # {self.plan}")
        write_steps(text, self.plan, range(len(forward)))
        self._results(forward, back, tree)

    def _kept(self, forward: list[Step], back: list[Step]) -> list[Value]:
        return [*self.outputs, *self._saved(forward, back)]

    def _saved(self, forward: list[Step], back: list[Step]) -> list[Value]:
        """What the way back reads of what was there before it."""
        made = {value.number for step in back for value in step.results}
        made |= {value.number for value in self.incoming}
        read = [value for step in back for value in step.inputs]
        read += [value for value in self.back_grads if value is not None]
        return list({v.number: v for v in read if v.number not in made and v.source != "constant"}.values())

    def _mode_tests(self, forward: list[Step]) -> list[str]:
        """What must hold of the modes, where no call is compared."""
        text = self.text
        kind = text.name(dtypes.get_default_dtype(), "default_dtype")
        tests = ["modes.watch", "modes.off and not modes.local.grad" if self.recorded else "modes.local.grad"]
        tests.append(f"dtypes._default is not {kind}")
        for tensor in self.capture.without_gradient():
            tests.append(f"{text.name(tensor, 'outside')}._grad is not None")
        if any(step.kind == "gradient" for step in forward):
            leaves = dict.fromkeys(text.operand(s.operands[0], True) for s in forward if s.kind == "gradient")
            hooked = text.name(any_hooked, "any_hooked")
            tests.append(f"engine.on_leaves and {hooked}({', '.join(leaves)})")
        return tests

    def _outside(self, steps: list[Step]) -> list[Value]:
        found = {
            value.number: value
            for value in [*(v for step in steps for v in step.inputs), *self.edges, *self.outputs]
            if value.source in ("outside", "gradient")
        }
        return list(found.values())

    def _outside_tests(self, steps: list[Step], fixed: bool) -> list[str]:
        """What must hold of tensors from outside; ``fixed`` ones must be in the very memory they were in."""
        tests = []
        for value in self._outside(steps):
            name = self.text.name(value.held, "outside")
            if value.source == "gradient":
                if self.recorded is not None:
                    tests.append(f"{name}._grad is None")
                continue
            if fixed:
                share(value.held)  # which gives a single number memory of its own
                tests.append(f"{name}._array is not {self.text.name(value.held._array, 'array')}")
            if self.recorded is None:
                continue
            array = value.held._array
            tests.append(f"{name}._array.shape != {array.shape}")
            tests.append(f"{name}._array.dtype is not {self.text.name(array.dtype, array.dtype.name)}")
            if value.held._edge is None or value.held._edge is LEAF:
                place = "None" if value.held._edge is None else self.text.name(LEAF, "leaf")
                tests.append(f"{name}._edge is not {place}")
            else:
                tests.append(f"{name}._edge is None")
            if value.held._edge is LEAF:
                tests.append(f"{name}._hooks is not None")
                if self.capture.graded.get(id(value.held)):
                    tests.append(f"{name}._grad is not None")
        return tests

    def _loads(self, steps: list[Step], kept: list[Value]) -> None:
        text = self.text
        needed = {value.number: value for step in steps for value in step.inputs} | {v.number: v for v in kept}
        for value in sorted(needed.values(), key=lambda value: value.number):
            if value.source == "argument":
                text.add(f"    {value.name} = a{value.held}._array")
            elif value.source == "outside":
                text.add(f"    {value.name} = {text.name(value.held, 'outside')}._array")
            elif value.source == "gradient":
                text.add(f"    {value.name} = {text.name(value.held, 'outside')}._grad._array")

    def _results(self, forward: list[Step], back: list[Step], tree: Any) -> None:
        text = self.text
        if self.graded:
            self._record(forward, back)
        roots = memory_of(forward)
        kept = {roots.get(value.number, value.number) for value in self._saved(forward, back)}
        for given in _Given.of(tree):
            value = self.outputs[given.place]
            name = f"o{given.place}"
            text.add(f"    {name} = new(Tensor)")
            text.add(f"    {name}._array = {value.name}")
            text.add(f"    {name}._counter = None")
            if given.place in self.graded:
                nth = self.graded.index(given.place)
                edge = "record"
                if len(self.graded) > 1:
                    edge = f"{text.name(output_of, 'output_of')}(record, {nth}, {len(self.graded)})"
            else:
                edge = f"{text.name(freed_record, 'freed_record')}({given.name!r})" if given.freed else "None"
            text.add(f"    {name}._edge = {edge}")
        for given in _Given.of(tree):
            if self.graded and roots.get(self.outputs[given.place].number, self.outputs[given.place].number) in kept:
                watch, counter = text.name(watch_version, "watch_version"), text.name(share, "share")
                text.add(f"    {watch}(record, {counter}(o{given.place}))")
        text.add(f"    return {self._result_text(tree)}")
        if self.graded:
            self._back_text(forward, back)

    def _result_text(self, tree: Any) -> str:
        text = self.text
        if isinstance(tree, _Given):
            return f"o{tree.place}"
        if isinstance(tree, Value):
            return text.operand(tree, True)
        if isinstance(tree, _Gradient):
            return f"{text.operand(tree.leaf, True)}._grad"
        if isinstance(tree, (tuple, list)) and type(tree) not in (tuple, list):
            inner = ", ".join(self._result_text(piece) for piece in tree)
            if hasattr(tree, "_make"):
                return f"{text.name(type(tree), type(tree).__name__)}._make([{inner}])"
            return f"{text.name(type(tree), type(tree).__name__)}([{inner}])"
        if isinstance(tree, list):
            return "[" + ", ".join(self._result_text(piece) for piece in tree) + "]"
        if isinstance(tree, tuple):
            return "(" + ", ".join(self._result_text(piece) for piece in tree) + ("," if len(tree) == 1 else "") + ")"
        if type(tree) is dict:
            return "{" + ", ".join(f"{key!r}: {self._result_text(piece)}" for key, piece in tree.items()) + "}"
        if isinstance(tree, dict):
            inner = ", ".join(f"({key!r}, {self._result_text(piece)})" for key, piece in tree.items())
            return f"{text.name(type(tree), type(tree).__name__)}([{inner}])"
        for place, argument in enumerate(self.args):
            if argument is tree and type(tree) not in ATOMS:
                return f"a{place}"
        return text.literal(tree)

    def _record(self, forward: list[Step], back: list[Step]) -> None:
        """The record that stands for the whole program in the caller's graph."""
        text = self.text
        saved = self._saved(forward, back)
        edges = ", ".join(f"{text.name(edge_of, 'edge_of')}({text.operand(value, True)})" for value in self.edges)
        kept = ", ".join(value.name for value in saved)
        watched = [value for value in saved if value.source in ("outside", "argument")]
        of = text.name(version_of, "version_of")
        versions = ", ".join(f"({text.operand(v, True)}, {of}({text.operand(v, True)}))" for v in watched)
        kinds = text.name(tuple((self.outputs[p].shape, self.outputs[p].dtype) for p in self.graded), "kinds")
        name = next(given.name for given in self.given if given.place in self.graded)
        name = name if len(self.graded) == 1 else "CompiledFunctionBackward"
        text.add(
            f"    record = {text.name(record_of, 'record_of')}({name!r}, ({edges},), ({kept}{',' if kept else ''}), "
            f"({versions}{',' if versions else ''}), back, {kinds})"
        )

    def _back_text(self, forward: list[Step], back: list[Step]) -> None:
        text = self.text
        saved = self._saved(forward, back)
        text.add("")
        text.add("")
        text.add("def back(saved, grads):")
        if saved:
            text.add(f"    {', '.join(value.name for value in saved)}, = saved")
            text.add("    saved.clear()  # so that the names are all that holds what was saved for them")
        for place, value in enumerate(self.incoming):
            text.add(f"    {value.name} = grads[{place}]")
        assert self.plan is not None
        write_steps(text, self.plan, range(len(forward), len(forward) + len(back)))
        answers = ", ".join("None" if value is None else value.name for value in self.back_grads)
        text.add(f"    return ({answers},)")


class _Gradient:
    """The gradient of a leaf among the results."""

    __slots__ = ("leaf",)

    def __init__(self, leaf: Value) -> None:
        self.leaf = leaf


class _Given:
    """A tensor of the result: which output it is, and whether its graph was freed within the function."""

    __slots__ = ("place", "tensor", "freed", "name")

    def __init__(self, place: int, tensor: Tensor, freed_one: bool) -> None:
        self.place, self.tensor, self.freed = place, tensor, freed_one
        edge = edge_of(tensor)
        self.name = getattr(getattr(edge, "kind", None), "name", "")  # of the node that PyTorch would show
        if self.name == OUTPUT.name:
            self.name = edge.edges[0].kind.name

    @staticmethod
    def of(tree: Any) -> list[_Given]:
        """All of them in a result, in order."""
        found: list[_Given] = []

        def note(piece: Any) -> Any:
            if isinstance(piece, _Given) and piece not in found:
                found.append(piece)
            return piece

        mapped(tree, note)
        return found


def _refilled(slots: list[Value | None], values: list[Value]) -> list[Value | None]:
    rest = iter(values)
    return [None if slot is None else next(rest) for slot in slots]


def _is_freed(edge: Any, ends: Any) -> bool:
    """Whether a backward pass from an edge would meet a record that is freed."""
    return any(getattr(below, "run", None) is freed for below in engine.dependencies([edge], ends))
