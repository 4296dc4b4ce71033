"""The nested cards of the page, floor 8: module calls, turns of loops, folds of repeated siblings, spans of lists.

It knows the order in which things were built, and no coordinates.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import groupby

from ..model import Scope

FOLD = 4  # so many repeated siblings become one card
LONG = 600  # a list of more units than this is divided into spans
SPAN = 200
SHOWN = 44  # so many boxes and cards are shown at first
STACK = 5  # a fold of no more siblings starts as what is in it
ROOT = 0


@dataclass(slots=True)
class Group:
    """One card. ``units`` are what it holds, oldest first: a box by its number, a group g as ``-g``."""

    parent: int
    kind: str
    name: str = ""
    cls: str = ""
    path: str = ""
    call: int = 0
    scope: int | None = None
    units: list[int] = field(default_factory=list)
    count: int = 0
    open: bool = False


def grouped(scopes: Sequence[Scope], home: Sequence[int | None], order: Sequence[int], whole: bool) -> list[Group]:
    """The cards, the root first: ``home`` is the scope of each box, ``order`` the boxes as they were built.

    With ``whole`` every card starts open, else those that hold most of the graph, and the outer ones as long as that
    leaves little enough to look at; cards of one depth open together.
    """
    groups = [Group(-1, "root")]
    of_scope: dict[int, int] = {}
    by_index = {scope.index: scope for scope in scopes}

    def group_of(index: int | None) -> int:
        """The card of a scope, made with those around it when first met."""
        waiting: list[Scope] = []
        while index is not None and index not in of_scope and index in by_index:
            if by_index[index] in waiting:
                break
            waiting.append(by_index[index])
            index = by_index[index].parent
        at = of_scope.get(index, ROOT) if index is not None else ROOT
        for scope in reversed(waiting):
            head, _, name = scope.path.rpartition(".")
            if name.isdigit() and head:
                name = f"{head.rpartition('.')[2]}.{name}"
            groups.append(Group(at, scope.kind, name, scope.cls, scope.path, scope.call, scope.index))
            at = of_scope[scope.index] = len(groups) - 1
            groups[groups[at].parent].units.append(-at)
        return at

    for i in order:
        groups[group_of(home[i])].units.append(i)
    for g in range(len(groups)):
        _fold(groups, g)
    for g in range(len(groups)):
        _divide(groups, g)
    for i in range(len(groups) - 1, -1, -1):
        groups[i].count = 0
    for g in _inner_first(groups):
        groups[g].count = sum(groups[-u].count if u < 0 else 1 for u in groups[g].units)
    groups[ROOT].open = True
    _open(groups, whole)
    return groups


def _open(groups: list[Group], whole: bool) -> None:
    """Say which cards start open; a fold that would start open is none."""
    total, shown, layer = groups[ROOT].count, len(groups[ROOT].units), [ROOT]
    while layer:
        for g in layer:
            for fold in [-u for u in groups[g].units if u < 0 and groups[-u].kind == "fold" and not whole]:
                more = len(groups[fold].units) - 1
                if sum(u < 0 for u in groups[fold].units) <= STACK and shown + more <= SHOWN:
                    _dissolve(groups, fold)
                    shown += more
        inner = [-u for g in layer for u in groups[g].units if u < 0]
        apart = {g for g in inner if groups[g].kind not in ("fold", "span") and any(u < 0 for u in groups[g].units)}
        together = shown + sum(len(groups[g].units) - 1 for g in apart) <= SHOWN
        for g in inner:
            most = groups[g].kind in ("module", "function") and groups[g].count > 0.6 * total
            groups[g].open = whole or most or (together and g in apart)
            shown += (len(groups[g].units) - 1) * groups[g].open
        layer = [g for g in inner if groups[g].open]


def _dissolve(groups: list[Group], g: int) -> None:
    """Put what is in card ``g`` in its place."""
    around = groups[g].parent
    at = groups[around].units.index(-g)
    groups[around].units[at : at + 1] = groups[g].units
    for u in groups[g].units:
        if u < 0:
            groups[-u].parent = around
    groups[g].units, groups[g].count, groups[g].open = [], 0, False


def _inner_first(groups: Sequence[Group]) -> list[int]:
    """The groups, each after those within it."""
    order = [ROOT]
    for g in order:  # grows while it is read
        order.extend(-u for u in groups[g].units if u < 0)
    return order[::-1]


def _alike(group: Group) -> tuple[str, str, str]:
    """What repeated siblings have in common: kind, class, and the name but for its number."""
    return group.kind, group.cls, re.sub(r"\d+", "#", group.name)


def _fold(groups: list[Group], g: int) -> None:
    """Put runs of siblings that are alike, with the operations between them, into one card."""
    units = groups[g].units
    inner = [i for i, u in enumerate(units) if u < 0]
    if len(inner) < FOLD or groups[g].kind == "fold":
        return
    runs = [list(run) for _, run in groupby(inner, key=lambda i: _alike(groups[-units[i]]))]
    if len(runs) == 1 and inner[0] == 0 and inner[-1] == len(units) - 1:
        return  # the card would hold one card
    kept: list[int] = []
    at = 0
    for run in runs:
        if len(run) < FOLD:
            continue
        members = units[run[0] : run[-1] + 1]
        first = groups[-members[0]]
        label = first.cls or re.sub(r"\W*\d+\W*$", "", first.name) or "step"
        if first.kind == "function":
            label = f"{first.name}()"
        elif first.path and all(groups[-u].path == first.path for u in members if u < 0) and first.kind == "module":
            label = first.name  # one module, called again and again
        stem = re.sub(r"\d+$", "", first.path).rstrip(".")
        groups.append(Group(g, "fold", f"{label} \u00d7{len(run)}", first.cls, stem, 0, None, members))
        fold = len(groups) - 1
        for u in members:
            if u < 0:
                groups[-u].parent = fold
        kept += [*units[at : run[0]], -fold]
        at = run[-1] + 1
    groups[g].units = kept + units[at:]


def _divide(groups: list[Group], g: int) -> None:
    """Divide a long list of units into spans, and those into spans again where they are still many."""
    size = SPAN
    while len(groups[g].units) > LONG:
        units, spans = groups[g].units, []
        for start in range(0, len(units), size):
            members = units[start : start + size]
            kind = groups[-members[0]].kind if members[0] < 0 else ""
            name = f"{start + 1:,} \u2013 {start + len(members):,}"
            if kind == "span":
                first, last = groups[-members[0]].name, groups[-members[-1]].name
                name = f"{first.split(' ')[0]} \u2013 {last.split(' ')[-1]}"
            groups.append(Group(g, "span", name, "", groups[g].path, 0, None, members))
            spans.append(-(len(groups) - 1))
            for u in members:
                if u < 0:
                    groups[-u].parent = len(groups) - 1
        groups[g].units = spans
