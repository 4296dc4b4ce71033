"""The levels of the page, floor 8: each card's rows and lines, ordered once, without sizes.

A value that crosses the border of a card enters or leaves it through a port, so that lines go on inside a card that is
opened. A line over more than ``JUMP`` rows is drawn as two stubs.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from ..crossings import reduce_crossings
from ..layers import layer_of
from .drawn import Arrow
from .groups import ROOT, Group

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
