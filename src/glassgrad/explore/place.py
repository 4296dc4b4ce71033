"""Where calls belong, floor 8: module calls and turns of loops of a recording, arranged as a tree of scopes."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Hashable
from typing import Any

from .loops import Turns
from .model import Scope
from .source import location

_NAME = re.compile(r"^(?:self\.)?([A-Za-z_][\w.]*(?:\[\w+\])?)\s*\(")


class Place:
    """A scope while the tree is built: children know their parent, not the other way round."""

    __slots__ = ("parent", "path", "cls", "call", "kind", "key", "index")

    def __init__(self, parent: Place | None, path: str, cls: str, call: int, kind: Any, key: Hashable) -> None:
        self.parent, self.path, self.cls, self.call, self.kind, self.key = parent, path, cls, call, kind, key
        self.index = -1


def arrange(recording: Any) -> list[Place]:
    """The scopes of everything a recording heard, parents first; calls and module calls are told theirs.

    A loop is a scope only if it came round, and not if each turn is nothing but one module call: those speak for
    themselves.
    """
    names = _names(recording)
    turns: dict[Any, Turns] = {}
    made: dict[Hashable, Place] = {}
    found: list[Place] = []
    inside: dict[Hashable, list[Any]] = {}  # a turn: what lies right in it
    items = sorted([*recording.entered, *recording.calls], key=_order)
    placed: list[tuple[Any, Place | None]] = []
    for item in items:
        is_module = hasattr(item, "frame")
        around = item.parent if is_module else item.module
        parent = None if around is None else recording.entered[around].place
        if is_module or item.name:
            heard = turns.setdefault(around, Turns())
            for key, code, span, number in heard.of(item.trail):
                whole = (around, key, number)
                place = made.get(whole)
                if place is None:
                    line = location(code, span[0]).line
                    place = made[whole] = Place(parent, f"line {line}", "loop", number, "loop", (around, key))
                    found.append(place)
                    inside[whole] = []
                place.key = (around, key)
                parent = place
                inside[whole].append(item)
        if is_module:
            path, cls = names[item.index], item.cls
            item.place = Place(parent, path, cls, item.call, "module", None)
            found.append(item.place)
        placed.append((item, parent))
    rounds = Counter(place.key for place in found if place.kind == "loop")
    plain = _plain_loops(made, inside)
    gone = {id(place) for place in found if place.kind == "loop" and (rounds[place.key] < 2 or place.key in plain)}

    def standing(place: Place | None) -> Place | None:
        while place is not None and id(place) in gone:
            place = place.parent
        return place

    for item, parent in placed:
        if not hasattr(item, "frame"):
            item.place = standing(parent)
    left = [place for place in found if id(place) not in gone]
    for place in left:
        place.parent = standing(place.parent)
    for index, place in enumerate(left):
        place.index = index
    return left


def _order(item: Any) -> tuple[int, int]:
    return (item.first, 0) if hasattr(item, "frame") else (item.index, 1)


def _plain_loops(made: dict[Hashable, Place], inside: dict[Hashable, list[Any]]) -> set[Hashable]:
    """The loops each of whose turns is one module call and nothing else."""
    plain: set[Hashable] = set()
    mixed: set[Hashable] = set()
    for whole, items in inside.items():
        key = made[whole].key
        modules = [item for item in items if hasattr(item, "frame")]
        (plain if len(modules) == len(items) == 1 else mixed).add(key)
    return plain - mixed


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
    for entered in recording.entered:
        own = entered.module
        path = names.get(id(own)) if own is not None else None
        if path is None and own is not None and entered.parent is not None:
            outer = recording.entered[entered.parent].module
            for name, module in outer.named_modules() if outer is not None else ():
                if module is own and name:
                    path = f"{paths[entered.parent]}.{name}" if paths[entered.parent] else name
                    break
        if path is None and entered.code is not None:
            said = _NAME.match(location(entered.code, entered.at).expression or "")
            path = said.group(1) if said else None
        paths.append(path or "")
    return paths
