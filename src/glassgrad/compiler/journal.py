"""What a call of a pure function did, as the text of a function that does it again without the Python between."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from operator import is_not
from types import GeneratorType
from typing import Any

import numpy as np

from ..autograd.grad_mode import set_grad_enabled
from ..core import engine
from ..core.tensor import LEAF, Tensor, View, share
from ..ground import dtypes, modes
from ..optim.optimizer import Optimizer
from .deferral import OWNERS, parameters, sized_by_values, without_gradients
from .emit import Text
from .program import MISS, is_leaf, tensors_in, version
from .run import again
from .tape import ATOMS


class Resized(RuntimeError):
    """A call of a pure function gave a tensor of another shape than the one that was written down."""

    def __init__(self, name: str) -> None:
        super().__init__(
            f"compile(pure=True): {name}() gave another shape than when the function was written down; where values "
            "say how large tensors are, leave pure=True out"
        )


class Journal:
    """The programs of a call's segments and the calls that were made as they are written, in order.

    ``reason`` says why they cannot stand for the function. Tensors are the arguments, what was made on the way, and
    what was ``met`` in former calls; what else turns up was made in a way that is not heard.
    """

    def __init__(self, arguments: Sequence[Tensor], met: dict[int, Any]) -> None:
        self.reason: str | None = None
        self.text, self._met = Text(), met
        self._had_none = {key for key, thing in met.items() if getattr(thing, "_grad", None) is None}
        self._free: set[int] = set()  # leaves whose gradients were taken away before anybody looked at gradients
        self._looked = False
        self._native = True  # whether all of it is native programs, which make nothing on a device
        self.owners: dict[int, Any] = {}  # optimizers, and what else is given to calls and holds tensors
        self.reached: dict[int, Any] = {}  # tensors from outside, by identity
        self.fresh = False  # whether a call was made that the tape did not know
        self._names: dict[int, str] = {id(tensor): f"a{place}" for place, tensor in enumerate(arguments)}
        self._seen: list[tuple[Any, ...]] = []  # the tensors that have names, and what they were when last looked at
        self._cleared: dict[int, Any] = {}  # leaves whose gradients are taken away, which is not written down yet
        self._busy = False
        self.grad, self.default = modes.local.grad, dtypes._default
        self.text.names.update(MISS=MISS, engine=engine, share=share, set_grad_enabled=set_grad_enabled)
        self.text.add(f"def replay({', '.join(self._names.values())}):")
        self._seen = [(tensor, None, None, 0, None) for tensor in arguments]
        self._look()

    def refuse(self, reason: str) -> None:
        """It cannot stand for the function; the first reason counts."""
        self.reason = self.reason or reason

    # -- what happens ---------------------------------------------------------------------------------------------

    def call(self, function: Any, proceed: Callable[..., Any], args: Any, kwargs: Any) -> Any:
        """Make a call as it is written, and note it; calls within it are a part of it."""
        if self._busy or self.reason is not None:
            return proceed(*args, **kwargs)
        args = tuple([list(piece) if isinstance(piece, GeneratorType) else piece for piece in args])
        self._check()
        arguments = [self._operand(piece) for piece in args]
        arguments += [f"{name}={self._operand(piece)}" for name, piece in kwargs.items()]
        leaves = without_gradients(function, args, kwargs)
        if modes.unusual or dtypes._default is not self.default or modes.local.device is not None:
            self.refuse("a call that is made as it is written is in another mode than the function")
        self._busy = True
        try:
            result = proceed(*args, **kwargs)
        finally:
            self._busy = False
        self._looked = self._looked or leaves is None
        if leaves is not None:
            self._cleared.update({id(leaf): leaf for leaf in leaves})
            self._free.update(() if self._looked else map(id, leaves))
            self.reached.update({id(leaf): leaf for leaf in leaves if id(leaf) not in self._names})
            return result
        self._clear()
        if sized_by_values(function, args, kwargs):
            self.refuse(f"values say how many elements {function.__name__}() gives")
        names = self._results(result, f"{function.__name__}()")
        call = f"    {names}{self.text.name(proceed, function.__name__)}({', '.join(arguments)})"
        if modes.local.grad is self.grad:
            self.text.add(call)
        else:
            self.text.lines += [f"    with set_grad_enabled({modes.local.grad}):", f"    {call}"]
        for piece in tensors_in(result) if names else ():
            resized = f"raise {self.text.name(Resized, 'Resized')}({function.__name__!r})"
            self.text.add(f"    if {self._tensor(piece)}._array.shape != {piece._array.shape}: {resized}")
        self._look()
        self._native = False
        return result

    def segment(self, run: Any, pending: Any, program: Any, alive: Sequence[int]) -> None:
        """Note a segment that was carried out, by a program if there is one."""
        if self.reason is not None:
            return
        text, things = self.text, run.things
        self._check({id(tensor): (array, edge, count) for tensor, array, edge, _, count in run.outside})
        if any(default is not self.default for *_, default in pending):
            self.refuse("it sets the default dtype")
        for _, _, _, args, *_ in pending:
            if args and isinstance(args[0], Optimizer):
                self.owners[id(args[0])] = args[0]
        given_ones = set(map(id, run.given))
        for tensor in [tensor for tensor, *_ in run.outside if id(tensor) not in given_ones]:
            self._tensor(tensor)
        arguments = ", ".join([self._tensor(tensor) for tensor in run.given[: run.count]])
        leaves = {id(leaf): leaf for leaf, _ in run.graded}
        native = program is not None and program.native
        self._native = self._native and bool(native)
        set_anyway = {key: leaf for key, leaf in leaves.items() if native and key in self._cleared}
        tests = [] if program is None else self._tests(program, leaves)
        self._clear(but=set_anyway)
        carried_out = text.name(again(pending, run.numbers, run.outside, run.given, alive), "carried_out")
        carried_out = f"{carried_out}({arguments})"
        if program is None:
            text.add(f"    answer = {carried_out}")
        else:
            test = f"MISS if {' or '.join(tests)} else " if tests else ""
            text.add(f"    answer = {test}{text.name(program.run, 'program')}({arguments})")
            text.add("    if answer is MISS:")
            text.lines += [f"        {self._tensor(leaf)}._grad = None" for leaf in set_anyway.values()]
            text.add(f"        answer = {carried_out}")
            written = [(leaf, run.metas[number].version) for leaf, number in run.graded if run.metas[number].version]
            text.lines += ["    else:"] * bool(written)
            text.lines += [f"        share({self._tensor(leaf)}._grad).version = {count}" for leaf, count in written]
        names = [self._new(things[number]) for number in alive]
        if names:
            text.add(f"    {', '.join(names)}, = answer")
        for name, number in zip(names, alive, strict=True):
            if run.metas[number].version:
                text.add(f"    share({name}).version = {run.metas[number].version}")
        self._look()

    def _tests(self, program: Any, leaves: dict[int, Any]) -> list[str]:
        """What keeps a program from serving: hooks on leaves, and gradients where there were none, or the reverse."""
        tests = ["engine.on_leaves"] if leaves else []
        tests += [f"{self._tensor(leaf)}._grad is not None" for key, leaf in leaves.items() if key not in self._cleared]
        for step in program.steps:
            if step.kind == "gradient" and step.name == "add" and step.operands[2].source == "gradient":
                tests += ["engine.on_leaves", f"{self._tensor(step.function)}._grad is None"]
            elif step.kind == "optimizer" and program.native:
                without = [p for p in parameters(step.function) if p._grad is None and id(p) not in leaves]
                tests += [f"{self.text.name(p, 'outside')}._grad is not None" for p in without]
        return list(dict.fromkeys(tests))

    def function(self, title: str, result: Any) -> tuple[Any, str]:
        """The function that does it again, and gives the result; and its text."""
        self._check()
        self._clear()
        self.text.add(f"    return {self._operand(result)}")
        tests = [] if self._native else [f"{self.text.name(modes.local, 'local')}.device is not None"]
        for key, leaf in self.reached.items() if self._looked else ():
            if is_leaf(leaf._edge) and key not in self._free:
                tests.append(f"{self._tensor(leaf)}._grad is {'not ' if key in self._had_none else ''}None")
        for leaf in [*self.reached.values(), *(p for owner in self.owners.values() for p in parameters(owner))]:
            if id(leaf._grad) in self.reached:  # a gradient that stays, which programs read as such
                tests.append(f"{self._tensor(leaf)}._grad is not {self._tensor(leaf._grad)}")
        if tests:
            self.text.lines[1:1] = [f"    if {' or '.join(tests)}:", "        return MISS"]
        names, source = self.text.compiled(title)
        return names["replay"], source

    def _stays(self, thing: Any) -> bool:
        return self._met.get(id(thing)) is thing

    # -- names ----------------------------------------------------------------------------------------------------

    def _tensor(self, tensor: Any) -> str:
        """How the text calls a tensor."""
        known = self._names.get(id(tensor))
        if known is not None:
            return known
        if id(tensor) in self.reached or self._stays(tensor):
            self.reached[id(tensor)] = tensor
            return self.text.name(tensor, "outside")
        for leaf in [*self.reached.values(), *(p for owner in self.owners.values() for p in parameters(owner))]:
            if leaf._grad is tensor:
                self._looked = True
                return f"{self._tensor(leaf)}._grad"
        self.refuse("a tensor whose making was not seen")
        return "None"

    def _new(self, tensor: Any) -> str:
        name = self._names[id(tensor)] = f"t{len(self._names)}"
        self._seen.append((tensor, None, None, 0, None))
        return name

    def _operand(self, thing: Any) -> str:
        """How the text writes an argument of a call, or what the function gives."""

        def leaf(piece: Any) -> str:
            if isinstance(piece, Tensor):
                return self._tensor(piece)
            if isinstance(piece, OWNERS):
                self.owners[id(piece)] = piece
            plain = type(piece) is float or type(piece) in ATOMS or type(piece) is slice and not tensors_in(piece)
            if not plain and not (isinstance(piece, OWNERS) and self._stays(piece)):
                self.refuse(f"it is given or gives a {type(piece).__name__}")
            return self.text.literal(piece)

        return self.text.tree(thing, leaf)

    def _results(self, result: Any, what: str) -> str:
        """The names of what a call gives, as the beginning of a line."""
        if result is None or isinstance(result, Tensor) and id(result) in self._names:
            return ""
        many = type(result) is not Tensor
        if many and not (isinstance(result, (tuple, list)) and result and all(type(t) is Tensor for t in result)):
            self.refuse(f"{what} hands a tensor's values to Python, where they may decide what runs next")
            return ""
        names = [self._names.get(id(piece)) or self._new(piece) for piece in (result if many else [result])]
        return f"{', '.join(names)}{',' if many else ''} = "

    # -- what is not heard ----------------------------------------------------------------------------------------

    def _look(self) -> None:
        """Note what the tensors that have names are now."""
        self._seen = [(t, t._array, t._edge, version(t), _place(t)) for t, *_ in self._seen]

    def _check(self, now: Any = None) -> None:
        """Refuse where one of them is another than when it was looked at last; ``now`` tells what they are."""
        if now is None:
            now = {id(tensor): (tensor._array, tensor._edge, version(tensor)) for tensor, *_ in self._seen}
        for tensor, array, edge, count, place in self._seen:
            is_array, is_edge, is_count = now.get(id(tensor), (array, edge, count))
            same_memory = is_array is array or type(array) is not np.ndarray  # numbers are given memory when shared
            if not same_memory or is_edge is not edge or is_count != count or any(map(is_not, _place(tensor), place)):
                self.refuse("a tensor was changed in a way that is not heard")

    def _clear(self, but: Any = ()) -> None:
        """Write down that gradients are taken away."""
        for key in [key for key in self._cleared if key not in but]:
            self.text.add(f"    {self._tensor(self._cleared.pop(key))}._grad = None")
        self._cleared.clear()


def _place(tensor: Tensor) -> tuple[Any, Any]:
    """What may change about a tensor's place in the graph: where a view is, and the hooks there."""
    edge = tensor._edge.edge if type(tensor._edge) is View else tensor._edge
    return edge, getattr(tensor if edge is LEAF else edge, "_hooks", None)
