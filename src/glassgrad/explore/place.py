"""Where calls belong, floor 8: module calls and turns of loops of a recording, arranged as a tree of scopes."""

from __future__ import annotations

import dis
import re
from collections import Counter
from collections.abc import Hashable, Iterator, Sequence
from types import CodeType
from typing import Any

from .model import Scope
from .source import is_users, location, qualified_name

_NAME = re.compile(r"^(?:self\.)?([A-Za-z_][\w.]*(?:\[\w+\])?)\s*\(")


class Place:
    """A scope while the tree is built: children know their parent, not the other way round."""

    __slots__ = ("parent", "path", "cls", "call", "kind", "key", "index")

    def __init__(self, parent: Place | None, path: str, cls: str, call: int, kind: Any, key: Hashable) -> None:
        self.parent, self.path, self.cls, self.call, self.kind, self.key = parent, path, cls, call, kind, key
        self.index = -1


def arrange(recording: Any) -> list[Place]:
    """The scopes of everything a recording heard, parents first; calls and module calls are told theirs.

    A loop is a scope only if it came round, and not if each turn is nothing but one call of a module or function: those
    speak for themselves. A function is one only if it did several things, and not all there was to do.
    """
    names = _names(recording)
    turns: dict[Any, Turns] = {}
    known: dict[Hashable, Place] = {}
    places: list[Place] = []
    called: Counter[int] = Counter()  # functions, by the identity of their code
    calls, entered = recording.calls, recording.entered
    placed: list[tuple[Any, Place | None]] = []
    for item in _in_order(calls, entered):
        is_module = item.is_module
        around = item.parent if is_module else item.module
        parent = None if around is None else entered[around].place
        if is_module or item.name:
            heard = turns.get(around)
            if heard is None:
                heard = turns[around] = Turns()
            trail = item.trail
            first, turn = True, None
            for depth, (frame, code, _) in enumerate(trail):
                if not is_users(code):
                    continue
                if not first and not code.co_name.startswith("<"):
                    whole: Hashable = (around, frame)
                    place = known.get(whole)
                    if place is None:
                        path = qualified_name(code).rpartition("<locals>.")[2]
                        place = known[whole] = Place(parent, path, "", called[id(code)], "function", None)
                        called[id(code)] += 1
                        places.append(place)
                    parent = place
                first = False
                for key, _, span, number in heard.of(trail, depth, turn):
                    whole = (around, key, number)
                    place = known.get(whole)
                    if place is None:
                        line = location(code, span[0]).line
                        place = known[whole] = Place(parent, f"line {line}", "loop", number, "loop", (around, key))
                        places.append(place)
                    parent, turn = place, (key, number)
        if is_module:
            item.place = Place(parent, names[item.index], item.cls, item.call, "module", None)
            places.append(item.place)
        placed.append((item, parent))
    gone = _gone(places, placed)

    def standing(place: Place | None) -> Place | None:
        while place is not None and place in gone:
            place = place.parent
        return place

    for item, parent in placed:
        if not item.is_module:
            item.place = parent if parent not in gone else standing(parent)
    left = [place for place in places if place not in gone]
    for place in left:
        place.parent = standing(place.parent)
    numbers: Counter[str] = Counter()
    for index, place in enumerate(left):
        place.index = index
        if place.kind == "function":
            place.call = numbers[place.path]
            numbers[place.path] += 1
    return left


def _in_order(calls: list[Any], entered: list[Any]) -> Iterator[Any]:
    """Calls and calls of modules as they were heard, a module before what is done in it."""
    at = 0
    for one in entered:
        if one.first > at:
            yield from calls[at : one.first]
            at = one.first
        yield one
    yield from calls[at:]


def _gone(places: list[Place], placed: list[tuple[Any, Place | None]]) -> set[Place]:
    """The turns and functions that are no scopes."""
    within: dict[Place | None, list[Any]] = {None: []}  # what lies right in each: places and calls
    for place in places:
        within[place] = []
    for place in places:
        within[place.parent].append(place)
    for item, parent in placed:
        if not item.is_module and item.name:
            within[parent].append(item)
    gone: set[Place] = set()
    first_two: dict[Place, list[Any]] = {}  # of what lies right in each, that in places that are gone included
    for place in reversed(places):  # the innermost first
        inside: list[Any] = []
        for one in within[place]:
            inside += first_two[one] if one in gone else [one]
            if len(inside) > 1:
                break
        first_two[place] = inside[:2]
        if place.kind == "function" and len(inside) < 2:
            gone.add(place)
    rounds = Counter(place.key for place in places if place.kind == "loop")
    mixed = set()
    for place in places:
        if place.kind == "loop":
            inside = first_two[place]
            if not (len(inside) == 1 and isinstance(inside[0], Place) and inside[0].kind in ("module", "function")):
                mixed.add(place.key)
    gone |= {p for p in places if p.kind == "loop" and (rounds[p.key] < 2 or p.key not in mixed)}
    return gone


def module_of(place: Place | None) -> str:
    """The path of the module call around a place; empty where there is none."""
    while place is not None and place.kind != "module":
        place = place.parent
    return "" if place is None else place.path or place.cls


def scopes_of(places: list[Place]) -> tuple[Scope, ...]:
    """The tree of scopes as records of the model."""
    return tuple(
        Scope(place.index, place.parent.index if place.parent else None, place.path, place.cls, place.call, place.kind)
        for place in places
    )


def _names(recording: Any) -> list[str]:
    """The path of each module call: by the model, else by the modules around it, else as the program calls it."""
    names: dict[int, str] = {}
    if recording.model is not None and hasattr(recording.model, "named_modules"):
        names = {id(module): name for name, module in recording.model.named_modules()}
    paths: list[str] = []
    inside: dict[int, dict[int, str]] = {}  # the names of the modules in each, by identity
    for entered in recording.entered:
        own = entered.module
        path = names.get(id(own)) if own is not None else None
        if path is None and own is not None and entered.parent is not None:
            outer = recording.entered[entered.parent].module
            if outer is not None and id(outer) not in inside:
                inside[id(outer)] = {id(module): name for name, module in outer.named_modules()}
            name = inside[id(outer)].get(id(own)) if outer is not None else None
            if name:
                path = f"{paths[entered.parent]}.{name}" if paths[entered.parent] else name
        if path is None and entered.code is not None:
            loc = entered.loc
            said = _NAME.match(loc.expression or "") if loc is not None else None
            path = said.group(1) if said else None
        paths.append(path or "")
    return paths


# -- turns of loops told from where calls came -------------------------------------------------------------------------
# A line done again inside a loop is the loop's next turn. A *trail* is how a call was reached from the module call (or
# block) around it: from outermost to innermost frame, each as its identity, its code and the instruction it is at.

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
