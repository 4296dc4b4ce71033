"""Whole programs on small arrays as one native function: forward, backward and the optimizer's step as a tape."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..core.tensor import share, wrap
from ..kernels.native import interpreter as do
from ..kernels.native.assembler import FUNCTIONS, ROOM, Assembler, NotNative, Place
from ..kernels.native.memory import address
from ..optim.sgd import SGD
from .emit import Text
from .program import Step, Value, given_to, is_number, is_numeric

MOST_ELEMENTS = 4096  # of one array: beyond, loops that keep to the cache and threads are quicker
MOST_TIMES = 4096  # multiplications of matrix products for each step: beyond, BLAS gains more than calls cost
_SETTINGS = {"momentum": 0, "weight_decay": 0, "maximize": False, "differentiable": False}
_HOOKS = "_optimizer_step_pre_hooks", "_optimizer_step_post_hooks"


def tape_of(steps: Sequence[Step], kept: Sequence[Value]) -> Tape | None:
    """The steps as a tape; None where one of them is not known, or too large to gain."""
    try:
        return Tape(steps, kept)
    except NotNative:
        return None


class Tape(Assembler):
    """The tape of a program's steps.

    slots      what lies outside: the "array" or the "gradient" of a value
    given      arguments, which are copied into the room, and ``handed``, results, which are copied out of it
    outs       single numbers that are given back, and where in the room they are
    rates      where in the room an optimizer's learning rate is put before each run
    gradients  what leaves have in the end
    written    the values of parameters
    """

    def __init__(self, steps: Sequence[Step], kept: Sequence[Value]) -> None:
        values = [value for step in steps for value in (*step.inputs, *step.results)]
        kinds = {value.dtype for value in values if value.dtype.kind == "f"}
        if len(kinds) != 1 or next(iter(kinds)).str not in ("<f4", "<f8"):
            raise NotNative("not of one floating dtype")
        if max(value.size for value in values) > MOST_ELEMENTS:
            raise NotNative("large arrays")
        super().__init__(next(iter(kinds)))
        self.slots: list[tuple[str, Value]] = []
        self.given: list[tuple[Value, Place]] = []
        self.handed: list[tuple[Value, Place]] = []
        self.rates: list[tuple[int, Any]] = []
        self.gradients: dict[int, tuple[Value, Place]] = {}
        self.written: list[Value] = []
        self.places: dict[int, Place] = {}  # by the numbers of values
        self._kept = {value.number for value in kept}
        sets = [step for step in steps if step.kind == "gradient" and step.name == "set"]
        self._owned = {step.operands[1].number for step in sets if step.named.get("own")}
        for number, step in enumerate(steps):
            if step.kind == "gradient" and step.name == "clear":
                self._cleared(step, steps[number:])
            else:
                self._step(step)
        if self.times > MOST_TIMES * len(steps):
            raise NotNative("large products")
        self.outs: list[tuple[Value, int]] = []
        for value in kept:
            if is_number(value):
                self.outs.append((value, self._in_room(self._place(value))))
            elif not any(value is one for one, _ in self.handed):
                raise NotNative("it gives back an array that it did not make")
        self.end()
        self.steps = steps

    # -- where values are -----------------------------------------------------------------------------------------

    def _slot(self, what: str, value: Value, shape: tuple[int, ...]) -> Place:
        self.slots.append((what, value))
        return Place(len(self.slots), shape)

    def _in_room(self, place: Place) -> int:
        """Where in the room a single number is, which stays as it is now."""
        return (place if place.base == ROOM else self.copied(place, self.fresh(()))).offset

    def _place(self, value: Value) -> Place:
        """Where a value lies."""
        known = self.places.get(value.number)
        if known is None:
            if value.dtype != self.kind or not value.size:
                raise NotNative("another dtype, or nothing")
            if value.source == "constant" and is_number(value):
                known = self.constant(value.held.item())
            elif value.source not in ("argument", "outside", "constant"):
                raise NotNative("a value that was not made here")
            elif not value.dense:
                raise NotNative("an array with gaps")
            elif value.source == "argument":
                known = self.fresh(value.shape)
                self.given.append((value, known))
            else:
                known = self._slot("array", value, value.shape)
            self.places[value.number] = known
        return known

    def _new(self, value: Value) -> Place:
        """A place for a result: in a leaf's gradient, or in the room."""
        if value.dtype != self.kind or not value.size:
            raise NotNative("another dtype, or nothing")
        if not is_number(value) and value.number in self._owned:
            place = self._slot("gradient", value, value.shape)
        else:
            place = self.fresh(value.shape)
            if not is_number(value) and value.number in self._kept:
                self.handed.append((value, place))
        self.places[value.number] = place
        return place

    # -- steps ----------------------------------------------------------------------------------------------------

    def _step(self, step: Step) -> None:
        if step.kind == "view":
            self._view(step)
        elif step.kind == "kernel":
            write = ROWS.get(step.name)
            if write is not None:
                write(self, step, *step.operands)
            elif step.name in FUNCTIONS:
                self._map(step.results[0], f"{step.name}(self)", {"self": step.operands[0]})
            else:
                formula, bindings = given_to(step)
                if formula is None or len(step.results) != 1:
                    raise NotNative(f"no instruction for {step.name}")
                self._map(step.results[0], formula.text, bindings)
        elif step.kind == "tensors" and step.name == "detach" and len(step.inputs) == 1:
            self.places[step.results[0].number] = self._place(step.inputs[0])
        elif step.kind == "gradient" and step.name == "set":
            self._gradient(step)
        elif step.kind == "optimizer":
            self._optimizer(step)
        else:
            raise NotNative(f"a step of kind {step.kind}")

    def _map(self, result: Value, formula: str, bindings: dict[str, Any]) -> None:
        """Compute a formula for each element of a result."""
        places = {
            name: self._place(operand) if isinstance(operand, Value) else self.constant(operand)
            for name, operand in bindings.items()
            if is_numeric(operand)
        }
        out = self._new(result)
        place = self.formula(formula, places, out)
        if place is not out:
            self.copied(place, out)

    def _view(self, step: Step) -> None:
        source, *settings = step.operands
        if any(isinstance(piece, Value) for piece in settings) or not isinstance(source, Value):
            raise NotNative("a view that depends on a tensor")
        for result, place in zip(step.results, self._place(source).seen(step.function.kernel, settings), strict=True):
            self.places[result.number] = place

    def _cleared(self, step: Step, rest: Sequence[Step]) -> None:
        """Nothing is to be done where a leaf gets another gradient afterwards."""
        later = (s.operands[0] for s in rest if s.kind == "gradient" and s.name == "set")
        if step.operands[0] not in later:
            raise NotNative("a gradient that is taken away")

    def _gradient(self, step: Step) -> None:
        target, value = step.operands[:2]
        (grad,) = step.results
        if target.dtype != self.kind or not target.dense:
            raise NotNative("a gradient of another dtype or with gaps")
        place = self._place(value)
        if is_number(target):
            place = Place(ROOM, (), self._in_room(place))
        elif not step.named.get("own"):
            place = self.copied(place, self._slot("gradient", grad, target.shape))
        self.places[grad.number] = place
        self.gradients[target.number] = target, place

    def _optimizer(self, step: Step) -> None:
        optimizer = step.function
        if type(optimizer) is not SGD or len(optimizer.param_groups) != 1:
            raise NotNative("another optimizer")
        group = optimizer.param_groups[0]
        if any(group[name] != value for name, value in _SETTINGS.items()) or type(group["lr"]) is not float:
            raise NotNative("an optimizer with settings")
        if any(getattr(optimizer, hooks) for hooks in _HOOKS):
            raise NotNative("an optimizer with hooks")
        rate = self.fresh(()) if self.rates else Place(ROOM, ())
        self.rates.append((rate.offset, optimizer))
        for param, grad in step.operands:
            if param.source != "outside":
                raise NotNative("a parameter that is given")
            self.written.append(param)
            place = self._place(param)
            self.on_all(do.LESS, [place, self._place(grad), rate], place)  # place - grad * rate
        self.forget()

    # -- rows that are not elementwise ----------------------------------------------------------------------------

    def _matrices(self, result: Value, a: Place, b: Place, bias: Value | None = None) -> None:
        """``a @ b``, and a bias added."""
        if len(a.shape) != 2 or len(b.shape) != 2:
            raise NotNative("a product of other than matrices")
        out = self._new(result)
        unbiased = self.product(a, b, out if bias is None else self.fresh(result.shape))
        if bias is not None:
            self.on_all(do.ADD, [unbiased, self._place(bias)], out)

    def _mm(self, step: Step, a: Value, b: Value) -> None:
        self._matrices(step.results[0], self._place(a), self._place(b))

    def _linear_2d(self, step: Step, bias: Value, x: Value, weight: Value) -> None:
        w = self._place(weight)
        turned = Place(w.base, w.shape[::-1], w.offset, w.strides[::-1])
        self._matrices(step.results[0], self._place(x), turned, bias)

    def _reduced(self, step: Step, source: Value, *settings: Any) -> None:
        """A sum or a mean: over dimensions that are given, over the rows of a matrix, or over everything."""
        dim: Any = (0,) if step.name == "column_sums" else None
        if step.name.endswith("_dim"):
            dim, _, *settings = settings  # type: ignore[assignment]
        if any(piece is not None for piece in settings):
            raise NotNative("a sum in another dtype")
        place = self._place(source)
        self.sums(place, _axes(dim, len(place.shape)), self._new(step.results[0]), step.name.startswith("mean"))

    def _mse_loss(self, step: Step, x: Value, y: Value, reduction: int) -> None:
        if reduction == 0:
            self._map(step.results[0], "(x - y) * (x - y)", {"x": x, "y": y})
            return
        off = self.formula("x - y", {"x": self._place(x), "y": self._place(y)})
        squares = self.formula("x * x", {"x": off})
        self.sums(squares, _axes(None, len(squares.shape)), self._new(step.results[0]), reduction == 1)

    def _mse_loss_backward(self, step: Step, grad: Value, x: Value, y: Value, reduction: int) -> None:
        factor = 2 / step.results[0].size if reduction == 1 else 2.0
        self._map(step.results[0], f"(x - y) * (grad * number({factor!r}))", {"grad": grad, "x": x, "y": y})

    def _spread_dim(self, step: Step, source: Value, sizes: Any, dim: Any, keepdim: bool) -> None:
        place = self._place(source)
        if sizes and not keepdim:
            axes = _axes(dim, len(sizes))
            kept = iter(zip(place.shape, place.strides, strict=True))
            pairs = [(1, 0) if axis in axes else next(kept) for axis in range(len(sizes))]
            place = Place(place.base, tuple(n for n, _ in pairs), place.offset, tuple(step for _, step in pairs))
        self.copied(place, self._new(step.results[0]))

    def _copy(self, step: Step, source: Value, *settings: Any) -> None:
        self.copied(self._place(source), self._new(step.results[0]))


def _axes(dim: Any, count: int) -> set[int]:
    """The axes that are meant by one dimension or several; all by None."""
    return set(range(count)) if dim is None else {d % count for d in (dim if isinstance(dim, tuple) else (dim,))}


#: Rows that have instructions of their own, and those that put them down.
ROWS: dict[str, Callable[..., None]] = {
    "mm": Tape._mm, "linear_2d": Tape._linear_2d, "mse_loss": Tape._mse_loss,
    "mse_loss_backward": Tape._mse_loss_backward, "spread": Tape._copy, "clone": Tape._copy,
    "spread_dim": Tape._spread_dim,
    **dict.fromkeys(("sum", "mean", "sum_dim", "mean_dim", "column_sums"), Tape._reduced),
}  # fmt: skip


# -- the text ----------------------------------------------------------------------------------------------------------


def write_call(text: Text, tape: Tape) -> str:
    """The lines that run a tape on the arrays, and give its results to whom they belong; gives the tape's listing."""
    for _, optimizer in tape.rates:  # whose step is taken without it: its settings must be those that the tape knows
        _write_settings(text, optimizer)
    kind = text.name(tape.kind, tape.kind.name)
    slots: dict[int, list[tuple[int, int]]] = {}  # the entries of each slot, and how many bytes after its beginning
    for (base, offset), entry in tape.table.items():
        slots.setdefault(base - 1, []).append((entry, offset * tape.kind.itemsize))
    owners = {place.base - 1: value for value, place in tape.gradients.values() if place.base}
    lasting = [(value.shape, slots.get(n, []), owners.get(n)) for n, (what, value) in enumerate(tape.slots)
               if what == "gradient"]  # fmt: skip
    text.add("    try:")
    text.add("        context = contexts.pop()  # each call that runs has memory of its own")
    text.add("    except IndexError:")
    text.add("        context = another()")
    text.add("    entries, room, cells, where, _, grads = context")
    cells = [place for _, place in (*tape.given, *tape.handed)]
    cells += [place for _, operand, result, _ in tape.calls for place in (operand, result)]
    if cells:
        text.add(f"    {', '.join(f'cell{n}' for n in range(len(cells)))}, = cells")
    for n, (shape, places, owner) in enumerate(lasting):
        if owner is not None:  # it is not taken away again
            text.lines += ["    " + line for line in _gradient(text, n, places, f"empty({shape}, {kind})", owner)]
    for n, (value, _) in enumerate(tape.given):
        text.add(f"    cell{n}[...] = a{value.held}._array")
    fixed: dict[int, int] = {}
    for n, (what, value) in enumerate(tape.slots):
        if what == "array":
            buffer = value.held._array if value.source == "outside" else value.held
            text.name(buffer, "array")  # which keeps it
            fixed.update((entry, address(buffer) + offset) for entry, offset in slots.get(n, ()))
    rates = [f"{text.name(optimizer.param_groups[0], 'group')}['lr']" for _, optimizer in tape.rates]
    for (spot, _), rate in zip(tape.rates[1:], rates[1:], strict=True):
        text.add(f"    room[{spot}] = {rate}")
    text.names.update(
        native=do.run_for(tape.kind), another=_contexts(tape, fixed, cells, lasting), contexts=[],
        address=address, getrefcount=sys.getrefcount, empty=np.empty,
    )  # fmt: skip
    rate = rates[0] if rates else "0.0"
    text.add(f"    native(where, 0, {rate})")
    for n, (function, _, _, at) in enumerate(tape.calls, -len(tape.calls)):
        operand, result = len(cells) + 2 * n, len(cells) + 2 * n + 1
        text.add(f"    {text.name(function, function.__name__)}(cell{operand}, cell{result})")
        text.add(f"    native(where, {at}, {rate})")
    for n, (value, _) in enumerate(tape.handed, len(tape.given)):
        text.add(f"    {value.name} = cell{n}.copy()")
    for value, place in tape.gradients.values():
        if not place.base:
            text.add("    g = new(Tensor)")
            text.add(f"    g._array = room[{place.offset}]")
            text.add("    g._edge = g._counter = None")
            text.add(f"    {text.operand(value, True)}._grad = g")
    for value, spot in tape.outs:
        text.add(f"    {value.name} = room[{spot}]")
    text.add("    contexts.append(context)")
    for value in tape.written:
        share(value.held)
        text.add(f"    {text.operand(value, True)}._counter.version += 1")
    return _listing(text, tape)


def _gradient(text: Text, place: int, entries: Sequence[tuple[int, int]], allocation: str, owner: Value) -> list[str]:
    """The lines that give a leaf the gradient tensor of last time, unless anybody else can tell that it is the same."""
    leaf = text.operand(owner, True)
    return [
        f"g, d = grads[{place}]",
        f"if g._array is not d or getrefcount(d) != 4 or getrefcount(g) - ({leaf}._grad is g) != 3 \\",
        "        or g._counter is not None or g._edge is not None or g.__dict__:",
        f"    d = {allocation}",
        "    g = wrap(d)",
        f"    grads[{place}] = g, d",
        "    begin = address(d)",
        *[f"    entries[{entry}] = begin + {offset}" for entry, offset in entries],
        f"if {leaf}._grad is not g:",
        f"    {leaf}._grad = g",
    ]


def _write_settings(text: Text, optimizer: Any) -> None:
    """The test that an optimizer's settings are as they were."""
    group, name = text.name(optimizer.param_groups[0], "group"), text.name(optimizer, "optimizer")
    ones = optimizer.param_groups[0]["params"]
    params = text.name(ones, "params")
    tests = [f"{group}[{key!r}]" for key in _SETTINGS] + [f"{name}.{hooks}" for hooks in _HOOKS]
    tests += [f"type({group}['lr']) is not float", f"{group}['params'] is not {params}"]
    tests.append(f"len({params}) != {len(ones)}")
    tests += [f"{params}[{n}] is not {text.name(p, 'outside')}" for n, p in enumerate(ones)]
    text.unless(tests)


def _contexts(tape: Tape, fixed: dict[int, int], cells: Sequence[Place], lasting: Any) -> Callable[[], Any]:
    """A function that makes the memory for one run, and gradients in it."""
    memory = tape.memory(fixed, cells)

    def another() -> Any:
        entries, *others = memory()
        grads = []
        for shape, places, _ in lasting:
            grad = np.empty(shape, tape.kind)
            grads.append((wrap(grad), grad))
            for entry, offset in places:
                entries[entry] = address(grad) + offset
        return entries, *others, grads

    return another


def _listing(text: Text, tape: Tape) -> str:
    """A tape as text: the steps in order."""
    lines = [f"# one native program of {tape.count:,} instructions on {tape.kind}"]
    for step in tape.steps:
        results = "".join(f"{value.name}, " for value in step.results)[:-2]
        operands = ", ".join(text.operand(piece) for piece in step.operands)
        lines.append(f"{results}{' = ' if results else ''}{step.name}({operands})")
    return "\n".join(lines) + "\n"
