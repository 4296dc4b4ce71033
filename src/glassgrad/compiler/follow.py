"""Comparison as printed code: an entry of the tape that was met again gets a function that knows what to expect.

It says what ``Run.hear`` says, for calls of plain tensors and Python values, in fewer steps; what differs goes there.
"""

from __future__ import annotations

from math import isfinite
from typing import Any

import numpy as np

from ..core.tensor import LEAF, Tensor
from ..ground import dtypes, exposed, listening, modes
from ..ground.size import Size
from ..tensor.parameter import Parameter
from .deferral import Role, within_bounds
from .emit import Text
from .lazy import Lazy
from .program import MISS
from .tape import Entry, Made

AGAIN = 4  # so often an entry gets another function, where memory moved


def printed(entry: Entry, role: Role, function: Any, args: Any, kwargs: Any, run: Any, base: int) -> Any:
    """The function for an entry that was just compared; ``base`` tensors were known before. None where it gets none."""
    kind = role.kind
    if entry.draws or entry.changes or kind not in ("step", "backward", "optimizer"):
        return None
    text = _Follow(entry, function, args, run, base)
    known = text.optimizer(args[0], base) if kind == "optimizer" else text.arguments(args, base)
    if not known or not text.named(kwargs) or kind == "backward" and not text.leaves():
        return None
    if role.checked:
        text.names["within_bounds"] = within_bounds
        text.tests.append(f"not within_bounds({role.name!r}, args, kwargs)")
    return text.made()


class _Follow(Text):
    """The text of such a function."""

    def __init__(self, entry: Entry, function: Any, args: Any, run: Any, base: int) -> None:
        super().__init__()
        self.entry, self.run = entry, run
        self.names = {
            "__name__": __name__, "entry": entry, "function": function, "after": entry.after, "modes": modes,
            "local": modes.local,
            "dtypes": dtypes, "listening": listening, "exposed": exposed, "MISS": MISS, "LEAF": LEAF,
            "new": object.__new__,
            "Lazy": Lazy, "Tensor": Tensor, "ndarray": np.ndarray, "nothing": {}, "default": dtypes._default,
        }  # fmt: skip
        self.grad = modes.local.grad
        self.tests = [
            f"len(args) != {len(args)} or local.grad is not {self.grad} or dtypes._default is not default",
            f"len(run.things) != {base} or modes.unusual or modes.transforming",
            "listening.listeners is not run.listeners",
        ]
        self.first: list[str] = []  # what is read before the tests that follow
        self.notes: list[str] = []  # what is noted once all agrees

    def named(self, kwargs: Any) -> bool:
        """Compare named arguments; False where they are not simple."""
        self.tests.insert(0, f"len(kwargs) != {len(kwargs)}" if kwargs else "kwargs")
        for key, value in kwargs.items():
            test = self._atom("k", value)
            if test is None:
                return False
            self.tests.append(f"(k := kwargs.get({key!r}, MISS)) is MISS or {test}")
        return True

    def _atom(self, name: str, value: Any) -> str | None:
        """The test that a Python value is not the one that was met; None for values that are not simple."""
        kind = type(value)
        if kind is float and isfinite(value) or kind is int or kind is str:
            sign = "" if value or kind is not float else f" or repr({name}) != '{value!r}'"  # which tells zeros apart
            return f"type({name}) is not {kind.__name__} or {name} != {value!r}{sign}"
        if kind is dtypes.dtype or kind is Size or kind is tuple and all(type(piece) is int for piece in value):
            known = self.name(value, "known")
            if kind is dtypes.dtype:
                return f"{name} is not {known}"
            whole = "" if kind is Size else f" or {{*map(type, {name})}} - {{int}}"  # True is no 1
            kind_of = self.name(kind, kind.__name__.lower() + "_type")
            return f"{name} is not {known} and (type({name}) is not {kind_of} or {name} != {known}{whole})"
        return f"{name} is not {value!r}" if value is None or value is True or value is False else None

    def arguments(self, args: Any, base: int) -> bool:
        """Compare arguments; False where they are not simple."""
        names = [f"a{n}" for n in range(len(args))]
        self.first.append(f"{', '.join(names)}, = args")
        new = base
        met: dict[int, str] = {}  # the names of tensors that are met here
        for name, value in zip(names, args, strict=True):
            kind = type(value)
            if kind in (Tensor, Parameter, Lazy):
                number = self.run.numbers[id(value)]
                if number < new:
                    self.tests.append(f"{name} is not {met.get(number, f'things[{number}]')}")
                elif not self._outside(name, value, number, met):
                    return False
                else:
                    new += 1
                    met[number] = name
            else:
                test = self._atom(name, value)
                if test is None:
                    return False
                self.tests.append(test)
        return True

    def _outside(self, name: str, tensor: Any, number: int, met: dict[int, str]) -> bool:
        """Compare a tensor from outside, met for the first time."""
        array, edge = tensor._array, tensor._edge
        if type(array) is not np.ndarray or not (edge is None or edge is LEAF) or not array.flags.c_contiguous:
            return False
        place = "LEAF" if edge is LEAF else "None"
        given = any(tensor is other for other in self.run.given)
        if given:
            if id(tensor) not in self.run.arguments or type(tensor) is not Tensor:
                return False
            before = [self.run.numbers[id(other)] for other in self.run.given if other is not tensor]
            known = [met.get(n, f"things[{n}]") for n in before if n < number]
            self.tests += [
                " or ".join([f"type({name}) is not Tensor or id({name}) not in run.arguments",
                             *(f"{name} is {other}" for other in known)]),
                f"type(b{number} := {name}._array) is not ndarray or b{number}.shape != {array.shape!r} "
                f"or b{number}.dtype is not {self.name(array.dtype, 'kind')} or not b{number}.flags.c_contiguous "
                f"or {name}._edge is not {place} or exposed.is_exposed(b{number}) or {name}._inference",
            ]
            self.notes.append(f"run.given.append({name})")
        else:
            memory = self.name(array, "memory")
            self.tests.append(
                f"{name} is not {self.name(tensor, 'held')} or (b{number} := {name}._array) is not {memory} "
                f"or {name}._edge is not {place} or exposed.count != {exposed.count}"
            )
        self.notes += [
            f"c = {name}._counter",
            f"run.outside.append(({name}, b{number}, {place}, c, 0 if c is None else c.version))",
            f"things.append({name})",
            "metas.append(None)",
        ]
        return True

    def leaves(self) -> bool:
        """Compare what a backward pass finds at the leaves: no gradient yet, and nobody who waits for one."""
        for tensor, _, edge, _, _ in self.run.outside:
            if edge is LEAF:
                leaf = f"things[{self.run.numbers[id(tensor)]}]"
                self.tests.append(f"{leaf}._grad is not None or {leaf}._hooks is not None")
                self.tests.append(f"'_post_accumulate' in {leaf}.__dict__")
            elif edge is not None:
                return False
        return not self.entry.acts

    def optimizer(self, optimizer: Any, base: int) -> bool:
        """Compare an optimizer, its parameters and their gradients."""
        from ..optim.optimizer import _after_all, _before_all

        self.names.update(before_all=_before_all, after_all=_after_all)
        self.first.append("a0, = args")
        self.tests.append(f"a0 is not {self.name(optimizer, 'optimizer')} or before_all or after_all")
        self.tests.append("a0._optimizer_step_pre_hooks or a0._optimizer_step_post_hooks")
        self.tests.append(f"len(a0.param_groups) != {len(optimizer.param_groups)}")
        numbers = self.run.numbers
        for n, group in enumerate(optimizer.param_groups):
            self.tests.append(f"len(p := a0.param_groups[{n}]['params']) != {len(group['params'])}")
            for m, parameter in enumerate(group["params"]):
                grad = parameter._grad
                if numbers.get(id(parameter), base) >= base or grad is None or numbers.get(id(grad), base) >= base:
                    return False
                self.tests.append(
                    f"p[{m}] is not things[{numbers[id(parameter)]}] or p[{m}]._grad is not things[{numbers[id(grad)]}]"
                )
        return True

    def made(self) -> Any:
        """The function."""
        entry = self.entry
        self.add("def follow(run, proceed, args, kwargs):")
        self.add(f"    if {' or '.join(self.tests[:4])}:")
        self.add("        return MISS")
        self.add("    things, metas = run.things, run.metas")
        self.lines += [f"    {line}" for line in self.first]
        for start in range(4, len(self.tests), 6):
            self.add(f"    if {' or '.join(self.tests[start : start + 6])}:")
            self.add("        return MISS")
        self.lines += [f"    {line}" for line in self.notes]
        if type(entry.results) is not Made and not entry.graded:
            self.add("    return run.defer(entry, function, proceed, args, kwargs)")
        else:
            self.add("    run.count = len(run.given)")
            pending = f"entry, function, proceed, args, kwargs, {self.grad}, len(things), default"
            self.add(f"    run.pending.append(({pending}))")
            for n, meta in enumerate(entry.metas):
                self.add("    t = new(Lazy)")
                if entry.graded:
                    self.add(f"    leaf = things[{entry.graded[n]}]")
                    self.add("    leaf._grad = t")
                    self.add("    run.graded.append((leaf, len(things)))")
                self.add("    things.append(t)")
                self.add(f"    metas.append({self.name(meta, 'meta')})")
            self.add("    run.node = after")
            self.add("    return None" if entry.graded else "    return t")
        return self.compiled("comparison")[0]["follow"]
