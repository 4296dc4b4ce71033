"""What the page draws of a graph, floor 8: boxes and pills in the order in which they were built, in nested cards.

A leaf and its AccumulateGrad are one pill; in all but small graphs a leaf stands beside each of its uses. Inputs and
constants are pills too: an operation that needs them to go back has saved them.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from heapq import heapify, heappop, heappush
from itertools import groupby

from ..layers import layer_of, reduce_crossings
from ..model import Edge, Graph, Saved, Scope
from ..modules import TURNS
from ..walk import SINK, reach

SMALL = 60  # a graph of so many nodes is drawn whole, each leaf once, every number shown


@dataclass(slots=True)
class Box:
    """One thing drawn: ``node`` is its index in the graph (None for a cut known by its record ``cut`` only, and for an
    input, which is ``kept`` by operations), ``sink`` the AccumulateGrad of a leaf, ``first`` the first of several boxes
    of one leaf or input."""

    kind: str
    node: int | None
    scope: int | None = None
    sink: int | None = None
    first: int | None = None
    cut: int | None = None
    kept: Saved | None = None


@dataclass(slots=True)
class Arrow:
    """A dependence between two boxes; ``edge`` is the graph's edge it stands for, if it is one."""

    src: int
    dst: int
    slot: int
    kind: str
    edge: Edge | None = None


@dataclass(slots=True)
class Drawn:
    """Boxes and arrows; ``order`` lists the boxes as they were built, each after all it was made from."""

    boxes: list[Box] = field(default_factory=list)
    arrows: list[Arrow] = field(default_factory=list)
    order: list[int] = field(default_factory=list)
    small: bool = False


def drawn(graph: Graph) -> Drawn:
    """The boxes and arrows of ``graph``."""
    sinks = {edge.src: edge.dst for edge in graph.edges if graph.nodes[edge.dst].op == SINK}
    leaf_of = {sink: leaf for leaf, sink in sinks.items()}
    picture = Drawn(small=len(graph.nodes) - len(sinks) + len(graph.cuts) <= SMALL)
    box_of: dict[int, int] = {}
    leaves: list[int] = []
    for node in graph.nodes:
        if node.index in leaf_of:
            continue
        if node.kind == "leaf":
            leaves.append(node.index)
        else:
            box_of[node.index] = len(picture.boxes)
            picture.boxes.append(Box(node.kind, node.index, node.scope))
    pills: dict[int, int] = {}

    def pill(leaf: int) -> int:
        """The box of a leaf for one more use of it."""
        known = pills.get(leaf)
        if known is None or not picture.small:
            sink = sinks.get(leaf)
            box = Box("leaf", leaf, None, sink, known)
            picture.boxes.append(box)
            pills.setdefault(leaf, len(picture.boxes) - 1)
            return len(picture.boxes) - 1
        return known

    def end(index: int) -> int:
        leaf = leaf_of.get(index, index)
        return box_of[leaf] if leaf in box_of else pill(leaf)

    for edge in graph.edges:
        if edge.dst in leaf_of and edge.src == leaf_of[edge.dst]:
            continue
        dst = box_of.get(edge.dst)
        if dst is None:
            dst = end(edge.dst)
        picture.arrows.append(Arrow(end(edge.src), dst, edge.dst_input, edge.kind, edge))
    for leaf in leaves:  # a leaf that nothing uses is drawn too
        if leaf not in pills:
            pill(leaf)
    _add_inputs(graph, picture, end)
    _add_cuts(graph, picture, end)
    picture.order = _build_order(graph, picture)
    return picture


def _add_inputs(graph: Graph, picture: Drawn, end: Callable[[int], int]) -> None:
    """Pills for the inputs and constants that operations saved; in a large graph for those that have a name."""
    known: dict[object, int] = {}
    for node in reversed(graph.nodes):
        for kept in node.saved:
            if not kept.outside or kept.tensor is None or not (picture.small or kept.name):
                continue
            key = kept.name or (kept.tensor.storage if kept.tensor.shape else None)
            first = None if key is None else known.get(key)
            if first is None or not picture.small:
                picture.boxes.append(Box("input", None, None, None, first, None, kept))
                here = len(picture.boxes) - 1
                if key is not None:
                    known.setdefault(key, here)
            else:
                here = first
            picture.arrows.append(Arrow(here, end(node.index), 0, "input"))


def _add_cuts(graph: Graph, picture: Drawn, end: Callable[[int], int]) -> None:
    """Boxes for the cuts that touch the graph and have no node of their own; and to each cut, from what it cut off."""
    limit = len(graph.nodes)
    by_user: dict[int, list[int]] = {}
    for edge in graph.edges:
        if graph.nodes[edge.src].kind == "cut":
            by_user.setdefault(edge.dst, []).append(edge.src)
    drawn_already = {(arrow.src, arrow.dst) for arrow in picture.arrows if arrow.kind == "cut"}
    for cut in graph.cuts:
        sources = [i for i in cut.sources if 0 <= i < limit and graph.nodes[i].kind != "cut"]
        users = [i for i in cut.used_by if 0 <= i < limit]
        own = sorted({node for user in users for node in by_user.get(user, ())})
        if own:
            matching = [node for node in own if cut.how in (graph.nodes[node].op, graph.nodes[node].name)]
            there = end((matching or own)[0])
            new = {(end(i), there) for i in sources} - drawn_already
            picture.arrows += [Arrow(src, dst, 0, "cut") for src, dst in sorted(new)]
            drawn_already |= new
            continue
        if not sources and not users:
            continue
        index = len(picture.boxes)
        scope = graph.nodes[(users or sources)[0]].scope
        picture.boxes.append(Box("cut", None, scope, cut=cut.index))
        picture.arrows += [Arrow(end(i), index, 0, "cut") for i in sources]
        picture.arrows += [Arrow(index, end(i), 0, "cut") for i in users]


def _build_order(graph: Graph, picture: Drawn) -> list[int]:
    """The boxes, oldest first, each after what it was made from; a leaf comes right before its first use."""
    count = len(picture.boxes)
    age = [0.0] * count
    pills = {i for i, box in enumerate(picture.boxes) if box.kind in ("leaf", "input")}
    turned = _turned(graph, picture, pills)
    for i, box in enumerate(picture.boxes):
        node = None if box.node is None else graph.nodes[box.node]
        if node is None or node.kind in ("leaf", "output", "base"):
            age[i] = -1.0
        elif node.forward is not None:
            age[i] = node.forward
        elif node.seq is not None:
            age[i] = node.seq
        else:
            age[i] = -node.index - 2.0
    users: list[list[int]] = [[] for _ in range(count)]
    owed = [0] * count
    leaves_of: list[list[int]] = [[] for _ in range(count)]
    for arrow in picture.arrows:
        users[arrow.src].append(arrow.dst)
        if arrow.src in pills:
            leaves_of[arrow.dst].append(arrow.src)
        else:
            owed[arrow.dst] += 1
    for i, user in turned.items():  # ready at once, and done when its user is
        owed[user] -= 1
        leaves_of[user].append(i)
    ready = [(age[i], i) for i in range(count) if not owed[i] and i not in pills and i not in turned]
    heapify(ready)
    order: list[int] = []
    done = [False] * count
    while ready:
        _, i = heappop(ready)
        for leaf in [
            one for before in leaves_of[i] for one in (*(leaves_of[before] if before in turned else ()), before)
        ]:
            if not done[leaf]:
                done[leaf] = True
                order.append(leaf)
        done[i] = True
        order.append(i)
        for j in users[i]:
            owed[j] -= 1
            if not owed[j]:
                heappush(ready, (age[j], j))
    return order + [i for i in range(count) if not done[i]]  # unused leaves; a circle drawn by cuts


def _turned(graph: Graph, picture: Drawn, pills: set[int]) -> dict[int, int]:
    """The operations that only turn a leaf for the one that uses it, by their boxes, and that one's box."""
    makers: list[list[int]] = [[] for _ in picture.boxes]
    users: list[list[int]] = [[] for _ in picture.boxes]
    for arrow in picture.arrows:
        makers[arrow.dst].append(arrow.src)
        users[arrow.src].append(arrow.dst)
    turned = {}
    for i, box in enumerate(picture.boxes):
        if box.kind == "op" and box.node is not None and len(users[i]) == 1 and len(makers[i]) == 1:
            if makers[i][0] in pills and graph.nodes[box.node].op.rpartition("Backward")[0] in TURNS:
                turned[i] = users[i][0]
    return turned


def backward_order(graph: Graph, picture: Drawn) -> list[int]:
    """The boxes as the backward pass visits them: outputs, then operations and leaves' sinks by their step."""
    outputs = [i for i, box in enumerate(picture.boxes) if box.kind == "output"]
    timed: list[tuple[float, int]] = []
    for i, box in enumerate(picture.boxes):
        index = box.sink if box.kind == "leaf" else box.node
        if index is None or box.kind not in ("op", "leaf", "opaque") or box.first is not None:
            continue
        step = graph.nodes[index].backward
        timed.append((index if step is None else step, i))
    timed.sort()
    return outputs + [i for _, i in timed]


# -- the levels of the page --------------------------------------------------------------------------------------------
# Each card's rows and lines, ordered once, without sizes. A value that crosses the border of a card enters or leaves it
# through a port, so that lines go on inside a card that is opened. A line over more than ``JUMP`` rows is drawn as two
# stubs.


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
    for g in inner_first(groups):
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


def inner_first(groups: Sequence[Group]) -> list[int]:
    """The groups, each after those within it."""
    return [*reach(ROOT, lambda g: [-u for u in groups[g].units if u < 0])][::-1]


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
