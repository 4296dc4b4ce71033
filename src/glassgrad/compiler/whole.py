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
from .words import Words, layout


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


def words_of(tape: Any) -> Words | None:
    """The words that a tape's program may look at; None where they are not known on this Python."""
    known = layout()
    if known is None:
        return None
    changing = [optimizer.param_groups[0] for _, optimizer in tape.rates]  # by schedules
    for value, place in tape.gradients.values():
        if value.source == "outside" and place is not None and not place.base:  # it is given a new gradient each time
            changing.append(value.held.__dict__)
    return Words(known, changing)


def write_call(text: Text, tape: Any, words: Words | None, told: list[str]) -> str:
    """The lines that run a tape on the arrays, and give its results to whom they belong; gives the tape's text.

    ``told`` are the tests that need not be made as long as the words are what they were.
    """
    from ..kernels.native.memory import address

    for _, optimizer in tape.rates:  # whose step is taken without it: its settings must be those that the tape knows
        _write_settings(text, optimizer, words, told)
    kind = text.name(tape.kind, tape.kind.name)
    slots: dict[int, list[tuple[int, int]]] = {}  # the entries of each slot, and how many bytes after its beginning
    for (base, offset), entry in tape.table.items():
        if base:
            slots.setdefault(base - 1, []).append((entry, offset * tape.kind.itemsize))
    owners = {place.base - 1: value for value, place in tape.gradients.values() if place is not None and place.base}
    lasting = [(value.shape, slots.get(n, ()), owners.get(n)) for n, (what, value) in enumerate(tape.slots)
               if what == "gradient"]  # fmt: skip
    watched = [n for n, (_, _, owner) in enumerate(lasting) if _is_watched(owner, words)]
    text.add("    try:")
    text.add("        context = contexts.pop()  # each call that runs has memory of its own")
    text.add("    except IndexError:")
    text.add("        context = another()")
    text.add("    entries, room, cells, grads, where, table, watch, _ = context")
    cells = [place for _, place in (*tape.given, *tape.handed)]
    cells += [place for _, operand, result, _ in tape.calls for place in (operand, result)]
    if cells:
        text.add(f"    {', '.join(f'cell{n}' for n in range(len(cells)))}, = cells")
    if words is not None:
        _write_altered(text, told)
    for n, (shape, places, owner) in enumerate(lasting):
        if owner is None:
            continue  # it is taken away again
        lines = _gradient(text, n, places, f"empty({shape}, {kind})", owner)
        if n in watched:
            lines.insert(-2, f"    note_gradient(table, {watched.index(n)}, g, d)")
        indent = "        " if n in watched else "    "
        text.lines += [indent + line for line in lines]
    if words is not None:
        text.add("        table[0] = 1  # what was noted holds")
    for n, (value, _) in enumerate(tape.given):
        text.add(f"    cell{n}[...] = a{value.held}._array")
    fixed: dict[int, int] = {}
    for n, (what, value) in enumerate(tape.slots):
        if what == "array":
            held = value.held._array if value.source == "outside" else value.held
            text.name(held, "array")  # which keeps it
            fixed.update((entry, address(held) + offset) for entry, offset in slots.get(n, ()))
    rates = [f"{text.name(optimizer.param_groups[0], 'group')}['lr']" for _, optimizer in tape.rates]
    for (place, _), rate in zip(tape.rates[1:], rates[1:], strict=True):
        text.add(f"    room[{place}] = {rate}")
    altered, renew = comparers() if words is not None else (None, None)
    text.names.update(
        native=runner(tape.kind), another=_contexts(tape, fixed, cells, lasting, watched, words), contexts=[],
        address=address, getrefcount=sys.getrefcount, empty=np.empty, altered=altered, renew=renew,
        note_gradient=words.note_gradient if words is not None else None,
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
        if place is None:
            text.add(f"    if {owner}._grad is not None:")
            text.add(f"        {owner}._grad = None")
        elif not place.base:
            text.add("    g = new(Tensor)")
            text.add(f"    g._array = room[{place.offset}]")
            text.add("    g._edge = g._counter = None")
            text.add(f"    {owner}._grad = g")
    for value, place in tape.outs:
        text.add(f"    {value.name} = room[{place}]")
    text.add("    contexts.append(context)")
    for value in tape.written:
        version = share(value.held)
        if words is not None and words.slot(value.held, "_counter"):
            text.add(f"    {text.name(version, 'storage')}.version += 1")
        else:
            text.add(f"    {text.operand(value, True)}._counter.version += 1")
    return _listing(text, tape)


def _is_watched(owner: Value | None, words: Words | None) -> bool:
    """Whether words tell that a leaf's gradient may be used again."""
    return words is not None and owner is not None and owner.source == "outside" and words.attributes(owner.held)


def _write_altered(text: Text, told: list[str]) -> None:
    """The lines that make the tests which the words stand for, where a word is another; more of that block follows."""
    text.add("    if altered(watch):")
    text.add("        renew(watch)")
    text.add("        try:")
    tests = [*dict.fromkeys(told)] or ["False"]
    for start in range(0, len(tests), 8):
        text.add(f"            if {' or '.join(tests[start : start + 8])}:")
        text.add("                contexts.append(context)")
        text.add("                return MISS")
    text.add("        except (LookupError, AttributeError, TypeError, ValueError):")
    text.add("            contexts.append(context)")
    text.add("            return MISS")


def _gradient(text: Text, place: int, entries: Sequence[tuple[int, int]], made: str, owner: Value) -> list[str]:
    """The lines that give a leaf the gradient tensor of last time, unless anybody else can tell that it is the same."""
    leaf = text.operand(owner, True)
    return [
        f"g, d = grads[{place}]",
        f"if g._array is not d or getrefcount(d) != 4 or getrefcount(g) - ({leaf}._grad is g) != 3 \\",
        "        or g._counter is not None or g._edge is not None or g.__dict__:",
        f"    d = {made}",
        "    g = wrap(d)",
        f"    grads[{place}] = g, d",
        "    begin = address(d)",
        *[f"    entries[{entry}] = begin + {offset}" for entry, offset in entries],
        f"if {leaf}._grad is not g:",
        f"    {leaf}._grad = g",
    ]


def _write_settings(text: Text, optimizer: Any, words: Words | None, told: list[str]) -> None:
    """The test that an optimizer's settings are as they were."""
    group = text.name(optimizer.param_groups[0], "group")
    tests = [f"{group}[{key!r}]" for key in ("momentum", "weight_decay", "maximize", "differentiable")]
    held = text.name(optimizer, "optimizer")
    params = text.name(optimizer.param_groups[0]["params"], "params")
    tests += [f"type({group}['lr']) is not float", f"{group}['params'] is not {params}"]
    hooks = optimizer._optimizer_step_pre_hooks, optimizer._optimizer_step_post_hooks
    hooked = [f"{held}._optimizer_step_pre_hooks", f"{held}._optimizer_step_post_hooks"]
    if words is not None and words.dictionary(optimizer.__dict__) and all(map(words.length, hooks)):
        told += hooked
    else:
        tests += hooked
    ones = optimizer.param_groups[0]["params"]
    moved = [f"len({params}) != {len(ones)}"]
    moved += [f"{params}[{n}] is not {text.name(p, 'outside')}" for n, p in enumerate(ones)]
    if words is not None and words.items(ones):
        told += moved
    else:
        tests += moved
    text.add(f"    if {' or '.join(tests)}:")
    text.add("        return MISS")


@cache
def runner(kind: Any) -> Callable[[int, int, float], None]:
    """What runs tapes on numbers of a dtype: of a head's address, where to begin, and the room's first number."""
    from .native import interpreter

    return interpreter.run_for(kind)  # type: ignore[no-any-return]


@cache
def comparers() -> tuple[Callable[[int], int], Callable[[int], int]]:
    """What looks whether a table's words are what they were, and what notes them anew, given its address."""
    from .native import watch

    return watch.comparers()  # type: ignore[no-any-return]


def _contexts(
    tape: Any, fixed: dict[int, int], cells: Sequence[Any], lasting: Sequence[tuple[Any, Any, Any]],
    watched: Sequence[int], words: Words | None,
) -> Callable[[], Any]:  # fmt: skip
    """A function that makes the memory for one run.

    That is the table of addresses, the room and views of it, gradients, and the addresses of head and words.
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
        watch = array("q") if words is None else words.table(len(watched))
        if words is not None:
            for place, n in enumerate(watched):
                words.note_gradient(watch, place, *grads[n])
        return entries, room, views, grads, _address(head), watch, _address(watch), (code, head)

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
