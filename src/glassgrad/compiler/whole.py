"""Programs that run as one native function: which ones do, and the lines that hand it the arrays."""

from __future__ import annotations

import sys
from array import array
from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

import numpy as np

from ..kernels import compiled
from ..tensor.tensor import share, wrap
from .emit import Text
from .program import Step, Value


def whole_of(steps: Sequence[Step], kept: Sequence[Value]) -> Any:
    """The steps as a tape, where they are on small arrays and Numba is installed; else None."""
    if compiled.least == compiled.NEVER or not steps:
        return None
    from .native.tape import Tape
    from .native.text import NotNative

    try:
        return Tape(steps, kept)
    except NotNative:
        return None


def write_call(text: Text, tape: Any) -> str:
    """The lines that run a tape on the arrays, and give its results to whom they belong; gives the tape's text."""
    for _, optimizer in tape.rates:  # whose step is taken without it: its settings must be those that the tape knows
        _write_settings(text, optimizer)
    kind = text.name(tape.kind, tape.kind.name)
    slots: dict[int, list[int]] = {}  # where the ids of each slot go
    given: list[int] = []
    for (base, offset), entry in tape.table.items():
        if base:
            slots.setdefault(base - 1, []).append(len(given))
            given += [0, entry, offset * tape.kind.itemsize, tape.slots[base - 1][0] == "number"]
    text.add("    try:")
    text.add("        context = contexts.pop()  # each call that runs has memory of its own")
    text.add("    except IndexError:")
    text.add("        context = another()")
    text.add("    ids, room, grads, where, _ = context")
    owners = {place.base - 1: value for value, place in tape.gradients.values() if place is not None and place.base}
    lasting: list[tuple[Any, Sequence[int]]] = []
    for n, (what, value) in enumerate(tape.slots):
        places = slots.get(n, ())
        put = "".join(f"ids[{place}] = " for place in places)
        if what == "output":
            text.add(f"    {value.name} = empty({value.shape}, {kind})")
            text.add(f"    {put}id({value.name})")
        elif what == "gradient":
            if n in owners:
                _write_gradient(text, len(lasting), text.operand(owners[n], True), f"empty({value.shape}, {kind})", put)
            lasting.append((value.shape, places))
        elif value.source == "argument":
            text.add(f"    {put}id(a{value.held}._d)")
        else:
            held = value.held._d if value.source == "outside" else value.held
            text.name(held, "array")  # which keeps it
            for place in places:
                given[place] = id(held)
    rates = [f"{text.name(optimizer.param_groups[0], 'group')}['lr']" for _, optimizer in tape.rates]
    for (place, _), rate in zip(tape.rates[1:], rates[1:], strict=True):
        text.add(f"    room[{place}] = {rate}")
    text.names.update(
        native=runner(tape.kind), another=_contexts(tape, given, lasting), contexts=[],
        getrefcount=sys.getrefcount, empty=np.empty,
    )  # fmt: skip
    text.add(f"    native(where, {rates[0] if rates else 0.0})")
    for value, place in tape.gradients.values():
        owner = text.operand(value, True)
        if place is None:
            text.add(f"    {owner}._grad = None")
        elif not place.base:
            text.add("    g = new(Tensor)")
            text.add(f"    g._d = room[{place.offset}]")
            text.add("    g._e = g._v = None")
            text.add(f"    {owner}._grad = g")
    for value, place in tape.outs:
        text.add(f"    {value.name} = room[{place}]")
    text.add("    contexts.append(context)")
    for value in tape.written:
        share(value.held)
        text.add(f"    {text.operand(value, True)}._v.version += 1")
    return _listing(text, tape)


def _write_gradient(text: Text, place: int, owner: str, made: str, put: str) -> None:
    """The lines that give a leaf the gradient tensor of last time, unless anybody else can tell that it is the same."""
    text.add(f"    g, d = grads[{place}]")
    text.add(f"    if g._d is not d or getrefcount(d) != 4 or getrefcount(g) - ({owner}._grad is g) != 3 \\")
    text.add("            or g._v is not None or g._e is not None or g.__dict__:")
    text.add(f"        d = {made}")
    text.add("        g = wrap(d)")
    text.add(f"        grads[{place}] = g, d")
    text.add(f"        {put}id(d)")
    text.add(f"    {owner}._grad = g")


def _write_settings(text: Text, optimizer: Any) -> None:
    """The test that an optimizer's settings are as they were."""
    group = text.name(optimizer.param_groups[0], "group")
    tests = [f"{group}[{key!r}]" for key in ("momentum", "weight_decay", "maximize", "differentiable")]
    held = text.name(optimizer, "optimizer")
    params = text.name(optimizer.param_groups[0]["params"], "params")
    held_ones = enumerate(optimizer.param_groups[0]["params"])
    moved = [f"{params}[{n}] is not {text.name(p, 'outside')}" for n, p in held_ones]
    tests += [f"type({group}['lr']) is not float", f"{held}._optimizer_step_pre_hooks"]
    tests += [f"{held}._optimizer_step_post_hooks", f"{group}['params'] is not {params}"]
    tests += [f"len({params}) != {len(moved)}", *moved]
    text.add(f"    if {' or '.join(tests)}:")
    text.add("        return MISS")


@cache
def runner(kind: Any) -> Callable[[int, float], None]:
    """What runs tapes on numbers of a dtype, given the address of a head, and the first number of the room."""
    from .native import interpreter

    return interpreter.run_for(kind)  # type: ignore[no-any-return]


def _contexts(tape: Any, given: Sequence[int], lasting: Sequence[tuple[Any, Sequence[int]]]) -> Callable[[], Any]:
    """A function that makes the memory for one run: ids of arrays, the room, gradients, and the address of the head."""
    kind = tape.kind
    code = np.array(tape.code, np.int32)
    whole = np.zeros(max(tape.room, 1), kind)
    for number, place in tape.constants.items():
        whole[place.offset] = float.fromhex(number)
    count = len(given) // 4

    def another() -> Any:
        ids, room = array("q", given), whole.copy()
        lent = [np.empty(shape, kind) for shape, _ in lasting]
        for grad, (_, places) in zip(lent, lasting, strict=True):
            for place in places:
                ids[place] = id(grad)
        start = room.ctypes.data
        table = array("q", [0] * len(tape.table))
        for (base, offset), entry in tape.table.items():
            table[entry] = offset if base is None else start + offset * kind.itemsize if not base else 0
        words = array("q", [0, 0, 0, 0, *[kind.itemsize] * 3])
        head = array("q", [code.ctypes.data, _address(table), _address(ids), count, _address(words)])
        return ids, room, [(wrap(grad), grad) for grad in lent], _address(head), (code, table, words, head)

    return another


def _address(words: Any) -> int:
    return words.buffer_info()[0]  # type: ignore[no-any-return]


def _listing(text: Text, tape: Any) -> str:
    """A tape as text: the steps in order."""
    lines = [f"# one native program of {tape.count:,} instructions on {tape.kind}"]
    for step in tape.steps:
        results = "".join(f"{value.name}, " for value in step.results)[:-2]
        given = ", ".join(text.operand(piece) for piece in step.operands)
        lines.append(f"{results}{' = ' if results else ''}{step.name}({given})")
    return "\n".join(lines) + "\n"
