"""Turns of loops told from where calls came, floor 8: a line done again inside a loop is the loop's next turn.

A *trail* is how a call was reached from the module call (or block) around it: from outermost to innermost frame, each
as its identity, its code and the instruction it is at.
"""

from __future__ import annotations

import dis
from collections.abc import Hashable, Iterator, Sequence
from types import CodeType

Step = tuple[int, CodeType, int]
Trail = Sequence[Step]
Span = tuple[int, int]


_known: dict[int, tuple[CodeType, tuple[Span, ...], dict[int, list[Span]]]] = {}  # by identity: codes hash slowly


def _loops(code: CodeType) -> tuple[Span, ...]:
    """The loops of a piece of code as spans of instructions, the widest first."""
    ends: dict[int, int] = {}
    for instruction in dis.get_instructions(code):
        if instruction.opcode in dis.hasjrel or instruction.opcode in dis.hasjabs:
            target = instruction.argval
            if isinstance(target, int) and target < instruction.offset and "NO_INTERRUPT" not in instruction.opname:
                ends[target] = max(ends.get(target, 0), instruction.offset)
    return tuple(sorted(ends.items(), key=lambda span: span[0] - span[1]))


def loops_around(code: CodeType, at: int) -> list[Span]:
    """The loops that instruction ``at`` is in, the widest first."""
    known = _known.get(id(code))
    if known is None:
        known = _known[id(code)] = code, _loops(code), {}
    spans = known[2].get(at)
    if spans is None:
        spans = known[2][at] = [span for span in known[1] if span[0] <= at <= span[1]]
    return spans


class Turns:
    """The turns of loops met so far below one module call: tell it every trail in order, it tells the turns it is in.

    A turn is named by (the turn around it, the loop's place, its number); the names are hashable and in order.
    """

    def __init__(self) -> None:
        self.last: dict[Hashable, tuple[Trail, int]] = {}  # loop: the trail from its frame on, and its turn

    def of(self, trail: Trail, depth: int, around: Hashable) -> Iterator[tuple[Hashable, CodeType, Span, int]]:
        """The turns that a call by ``trail`` is in with its frame ``depth``: their loop's key, code, span and number.

        ``around`` is the key and number of the turn around that frame.
        """
        frame, code, at = trail[depth]
        for span in loops_around(code, at):
            key = (around, frame, span)
            rest = trail[depth:]
            before = self.last.get(key)
            number = 0
            if before is not None:
                number = before[1] + (not _goes_on(before[0], rest, span))
            self.last[key] = (rest, number)
            yield key, code, span, number
            around = (key, number)


def _goes_on(before: Trail, now: Trail, span: Span) -> bool:
    """Whether ``now`` may follow ``before`` without the loop ``span`` of their first frame having come round."""
    at, then = now[0][2], before[0][2]
    if at > then:
        return True
    code = now[0][1]
    for inner in loops_around(code, at):
        if inner[1] - inner[0] < span[1] - span[0] and inner[0] <= then <= inner[1]:
            return True  # only an inner loop came round
    return at == then and _same_call(before[1:], now[1:])


def _same_call(before: Trail, now: Trail) -> bool:
    """Whether two trails lead through one and the same call: the inner frame is the same and has gone on."""
    if not before or not now or before[0][:2] != now[0][:2]:
        return False
    code, at, then = now[0][1], now[0][2], before[0][2]
    if at > then:
        return True
    if any(inner[0] <= then <= inner[1] for inner in loops_around(code, at)):
        return True
    return at == then and _same_call(before[1:], now[1:])
