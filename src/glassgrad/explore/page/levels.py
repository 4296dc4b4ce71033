"""The levels of the page, floor 8: each card's rows and lines, ordered once, without sizes.

A value that crosses the border of a card enters or leaves it through a port, so that lines go on inside a card that is
opened. A line over more than ``JUMP`` rows is drawn as two stubs.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import groupby

from ..layers import layer_of, reduce_crossings
from ..model import Scope
from .drawn import Arrow

JUMP = 8
CROWD = 12  # more ports than this are drawn as one, and what leads far to them as stubs
KINDS = {"gradient": 0, "view": 1, "cut": 2, "input": 1}
Pair = tuple[int, int]


@dataclass(slots=True)
class Level:
    """The inside of one card. Items are numbered: first its units, then ports in, ports out, then bends of lines.

    A net is one value on its way: the box it comes from times three, plus its kind of line. ``lines`` are (net, arrow
    or -1, items passed), ``jumps`` (net, arrow or -1, from, to).
    """

    units: list[int]
    inward: list[int] = field(default_factory=list)
    outward: list[int] = field(default_factory=list)
    rows: list[list[int]] = field(default_factory=list)
    lines: list[tuple[int, int, list[int]]] = field(default_factory=list)
    jumps: list[tuple[int, int, int, int]] = field(default_factory=list)


Link = tuple[int, int, tuple[str, int], tuple[str, int]]  # net, arrow or -1, from, to
Layers = tuple[list[list[int]], list[list[int]]]


def levels_of(groups: Sequence[Group], arrows: Sequence[Arrow], boxes: int) -> list[Level]:
    """The level of each card."""
    home = [ROOT] * boxes
    depth = [0] * len(groups)
    waiting = [ROOT]
    for g in waiting:  # grows while it is read
        for u in groups[g].units:
            if u >= 0:
                home[u] = g
            else:
                depth[-u] = depth[g] + 1
                waiting.append(-u)
    levels = [Level(group.units) for group in groups]
    links = _links(groups, arrows, home, depth, levels)
    known: dict[tuple[object, ...], Layers] = {}
    for level, own_links in zip(levels, links, strict=True):
        _arrange(level, own_links, known)
    return levels


def _links(
    groups: Sequence[Group], arrows: Sequence[Arrow], home: list[int], depth: list[int], levels: list[Level]
) -> list[list[Link]]:
    """What is connected in each level; the ports of the levels are filled in."""
    links: list[list[Link]] = [[] for _ in levels]
    inward: set[Pair] = set()
    outward: set[Pair] = set()
    for number, arrow in enumerate(arrows):
        net = 3 * arrow.src + KINDS[arrow.kind]
        there, target, carried = home[arrow.dst], ("u", arrow.dst), number
        here = home[arrow.src]
        common = here
        other = there
        while common != other:
            if depth[common] >= depth[other]:
                common = groups[common].parent
            else:
                other = groups[other].parent
        entered = False
        while there != common:
            links[there].append((net, carried, ("i", net), target))
            if (there, net) in inward:
                entered = True  # from here outwards an earlier arrow has made the way
                break
            inward.add((there, net))
            levels[there].inward.append(net)
            carried, target, there = -1, ("u", -there), groups[there].parent
        if entered:
            continue
        source = ("u", arrow.src)
        while here != common:
            if (here, net) not in outward:
                outward.add((here, net))
                levels[here].outward.append(net)
                links[here].append((net, -1, source, ("o", net)))
            source, here = ("u", -here), groups[here].parent
        links[common].append((net, carried, source, target))
    return links


def _arrange(level: Level, links: Sequence[Link], known: dict[tuple[object, ...], Layers]) -> None:
    """Fill in rows, lines and jumps; levels of one form, such as repeated blocks, are ordered once."""
    units = {("u", u): i for i, u in enumerate(level.units)}
    count = len(units)
    positions = dict(units)
    for net in level.inward:
        positions["i", net] = len(positions)
    for net in level.outward:
        positions["o", net] = len(positions)
    ends = [(positions[source], positions[target]) for _, _, source, target in links]
    own = [net // 3 for net, *_ in links]
    numbers: dict[int, int] = {}
    nets = [numbers.setdefault(net, len(numbers)) for net in own]
    form = (count, len(level.inward), len(level.outward), tuple(ends), tuple(nets))
    layers = known.get(form)
    if layers is None:
        layers = known[form] = _ordered(count, len(level.inward), len(level.outward), ends, nets)
    level.rows, paths = layers
    for (net, arrow, *_), path, (src, dst) in zip(links, paths, ends, strict=True):
        if path:
            level.lines.append((net, arrow, path))
        else:
            level.jumps.append((net, arrow, src, dst))


def _ordered(count: int, inward: int, outward: int, ends: Sequence[Pair], nets: Sequence[int]) -> Layers:
    """The rows of items, and the items that each line passes; no items for a line that is too long to draw."""
    first_out = count + inward
    between = [(a, b) for a, b in ends if a < count and b < count and a != b]
    try:
        ranks = layer_of(count, between)
    except ValueError:  # cards that wait for each other: units are oldest first, so this way there is no circle
        ranks = layer_of(count, [(min(a, b), max(a, b)) for a, b in between])
    rank = [layer + bool(inward) for layer in ranks]
    last = max(rank, default=0)
    rank += [0] * inward + [last + 1] * outward
    paths: list[list[int]] = [[] for _ in ends]
    trunks: dict[tuple[int, int], list[int]] = {}
    bends: list[int] = []
    for i in sorted(range(len(ends)), key=lambda i: -rank[ends[i][1]]):
        src, dst = ends[i]
        span = rank[dst] - rank[src]
        if span > JUMP or span < 1 or (span > 1 and outward > CROWD and first_out <= dst < first_out + outward):
            continue
        trunk = trunks.setdefault((src, nets[i]), [])
        if span > 1 and not trunk:
            for r in range(rank[src] + 1, rank[dst]):
                trunk.append(first_out + outward + len(bends))
                bends.append(r)
        paths[i] = [src, *trunk[: span - 1], dst]
    rank += bends
    rows: list[list[int]] = [[] for _ in range(max(rank, default=-1) + 1)]
    for item, r in enumerate(rank):
        rows[r].append(item)
    links = list(dict.fromkeys(pair for path in paths for pair in zip(path, path[1:], strict=False)))
    return reduce_crossings(rows, links), paths


# -- the nested cards of the page --------------------------------------------------------------------------------------
# Module calls, turns of loops, folds of repeated siblings, spans of lists. It knows the order in which things were
# built, and no coordinates.

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
