"""Programs that run as one native function: which ones do, and the lines that hand it the arrays."""

from __future__ import annotations

import sys
from array import array
from collections.abc import Callable, Sequence
from functools import cache
from math import prod
from typing import Any

import numpy as np

from ..core.tensor import share, wrap
from ..kernels import compiled
from .emit import Text
from .program import Step, Value


def whole_of(steps: Sequence[Step], kept: Sequence[Value]) -> Any:
    """The steps as a tape, where they are on small arrays and Numba is installed; else None."""
    if compiled.least == compiled.NEVER or not steps:
        return None
    from .tape import NotNative, Tape

    try:
        return Tape(steps, kept)
    except NotNative:
        return None


def write_call(text: Text, tape: Any) -> str:
    """The lines that run a tape on the arrays, and give its results to whom they belong; gives the tape's text."""
    from ..kernels.native.memory import address

    for _, optimizer in tape.rates:  # whose step is taken without it: its settings must be those that the tape knows
        _write_settings(text, optimizer)
    kind = text.name(tape.kind, tape.kind.name)
    slots: dict[int, list[tuple[int, int]]] = {}  # the entries of each slot, and how many bytes after its beginning
    for (base, offset), entry in tape.table.items():
        if base:
            slots.setdefault(base - 1, []).append((entry, offset * tape.kind.itemsize))
    owners = {place.base - 1: value for value, place in tape.gradients.values() if place.base}
    lasting = [(value.shape, slots.get(n, ()), owners.get(n)) for n, (what, value) in enumerate(tape.slots)
               if what == "gradient"]  # fmt: skip
    text.add("    try:")
    text.add("        context = contexts.pop()  # each call that runs has memory of its own")
    text.add("    except IndexError:")
    text.add("        context = another()")
    text.add("    entries, room, cells, grads, where, _ = context")
    cells = [place for _, place in (*tape.given, *tape.handed)]
    cells += [place for _, operand, result, _ in tape.calls for place in (operand, result)]
    if cells:
        text.add(f"    {', '.join(f'cell{n}' for n in range(len(cells)))}, = cells")
    for n, (shape, places, owner) in enumerate(lasting):
        if owner is None:
            continue  # it is taken away again
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
    for (place, _), rate in zip(tape.rates[1:], rates[1:], strict=True):
        text.add(f"    room[{place}] = {rate}")
    text.names.update(
        native=runner(tape.kind), another=_contexts(tape, fixed, cells, lasting), contexts=[],
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
        owner = text.operand(value, True)
        if not place.base:
            text.add("    g = new(Tensor)")
            text.add(f"    g._array = room[{place.offset}]")
            text.add("    g._edge = g._counter = None")
            text.add(f"    {owner}._grad = g")
    for value, place in tape.outs:
        text.add(f"    {value.name} = room[{place}]")
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
    group = text.name(optimizer.param_groups[0], "group")
    tests = [f"{group}[{key!r}]" for key in ("momentum", "weight_decay", "maximize", "differentiable")]
    name = text.name(optimizer, "optimizer")
    params = text.name(optimizer.param_groups[0]["params"], "params")
    tests += [f"type({group}['lr']) is not float", f"{group}['params'] is not {params}"]
    tests += [f"{name}._optimizer_step_pre_hooks", f"{name}._optimizer_step_post_hooks"]
    ones = optimizer.param_groups[0]["params"]
    tests.append(f"len({params}) != {len(ones)}")
    tests += [f"{params}[{n}] is not {text.name(p, 'outside')}" for n, p in enumerate(ones)]
    text.add(f"    if {' or '.join(tests)}:")
    text.add("        return MISS")


@cache
def runner(kind: Any) -> Callable[[int, int, float], None]:
    """What runs tapes on numbers of a dtype: of a head's address, where to begin, and the room's first number."""
    from ..kernels.native import interpreter

    return interpreter.run_for(kind)  # type: ignore[no-any-return]


def _contexts(
    tape: Any, fixed: dict[int, int], cells: Sequence[Any], lasting: Sequence[tuple[Any, Any, Any]]
) -> Callable[[], Any]:
    """A function that makes the memory for one run.

    That is the table of addresses, the room and views of it, gradients, and the address of the head.
    """
    from ..kernels.native.memory import address

    kind = tape.kind
    code = np.array(tape.code, np.int32)
    whole = np.zeros(max(tape.room, 1), kind)
    for number, place in tape.constants.items():
        whole[place.offset] = float.fromhex(number)

    def another() -> Any:
        room = whole.copy()
        views = [room[cell.offset : cell.offset + prod(cell.shape)].reshape(cell.shape) for cell in cells]
        grads = [(wrap(grad), grad) for grad in [np.empty(shape, kind) for shape, _, _ in lasting]]
        entries, start = array("q", [0] * len(tape.table)), address(room)
        for (base, offset), entry in tape.table.items():
            entries[entry] = fixed[entry] if entry in fixed else start + offset * kind.itemsize
        for (_, grad), (_, places, _) in zip(grads, lasting, strict=True):
            begin = address(grad)
            for entry, offset in places:
                entries[entry] = begin + offset
        head = array("q", [address(code), _address(entries)])
        return entries, room, views, grads, _address(head), (code, head)

    return another


def _address(words: Any) -> int:
    return words.buffer_info()[0]  # type: ignore[no-any-return]


def _listing(text: Text, tape: Any) -> str:
    """A tape as text: the steps in order."""
    lines = [f"# one native program of {tape.count:,} instructions on {tape.kind}"]
    for step in tape.steps:
        results = "".join(f"{value.name}, " for value in step.results)[:-2]
        operands = ", ".join(text.operand(piece) for piece in step.operands)
        lines.append(f"{results}{' = ' if results else ''}{step.name}({operands})")
    return "\n".join(lines) + "\n"
