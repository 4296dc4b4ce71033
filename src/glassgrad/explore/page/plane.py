"""The places of what is shown, floor 8: boxes inside of open cards, and the lines between them.

Rows, their order and the ways of lines are in the page's data; here they get sizes and coordinates. Cards are laid out
inner first; a long list of rows is broken into lanes. It knows no step.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import Any

from ..layers import spread
from ..sheet import Point, text_width
from ..walk import reach
from .scene import INPUT, LEAF, NEVER, ROOT, Scene

TITLE, SMALL, NUMBERS = 12.5, 11.0, 11.5  # type sizes
BOLD = 1.06  # how much wider bold letters are
PAD, HEAD = 14.0, 24.0  # around the inside of a card; the room of its title
CROWD = 12  # more ports than this stand in one point
MARGIN = 16.0
LONGEST, LANE = 1_100.0, 1_500.0  # a longer list of rows than the first goes on in lanes, of about the second
GUTTER = 56.0  # between lanes
LANE_HEAD, LANE_FOOT = 26.0, 12.0  # the room of a line that goes on in the next lane
FAR = 150.0  # as far aside as what follows a card may stand
Links = dict[tuple[int, int], tuple[float, float]]  # from and to, and how far from their centres the lines end


@dataclass(slots=True)
class Spot:
    """A unit at its place; ``depth`` is the number of cards around it.

    ``crossed`` is where lines cross the title of an open card.
    """

    unit: int
    x: float
    y: float
    width: float
    height: float
    depth: int
    open: bool = False
    crossed: tuple[float, ...] = ()


@dataclass(slots=True)
class Wire:
    """A line inside one card, which stands for ``many`` where it is a bundle; with a ``head`` it ends at a box.

    ``arrow`` is the arrow that ends here, or -1, ``net`` the value on its way (its box times three, plus the kind of
    line), ``target`` the unit where the line ends, 0 for a port, ``ends`` the items of the card that it connects.
    """

    card: int
    net: int
    arrow: int
    points: list[Point]
    head: bool
    target: int
    ends: tuple[int, int]
    many: int = 0


@dataclass(slots=True)
class Stub:
    """The end of a line too long to draw: a short line, and what is at its other end."""

    start: Point
    end: Point
    text: str
    leaves: bool
    net: int


@dataclass(slots=True)
class Plane:
    """Everything at its place: ``spots`` (cards before what is in them), ``wires``, ``stubs``; with the margins."""

    width: float = 0.0
    height: float = 0.0
    spots: list[Spot] = field(default_factory=list)
    wires: list[Wire] = field(default_factory=list)
    stubs: list[Stub] = field(default_factory=list)
    sideways: bool = False


def plane(scene: Scene, sideways: bool = False) -> Plane:
    """The places of all that is shown of ``scene``, rows from top to bottom or from left to right."""
    levels = scene.data["levels"]
    cards = reach(ROOT, lambda g: [-unit for unit in levels[g]["units"] if unit < 0 and -unit in scene.opened])
    insides: dict[int, Inside] = {}
    for g in [*cards][::-1]:
        insides[g] = Inside(scene, g, sideways, insides)
    root = insides[ROOT]
    result = Plane(root.width + 2 * MARGIN, root.height + 2 * MARGIN, sideways=sideways)
    waiting = [(root, MARGIN, MARGIN, 0)]
    for inside, x, y, depth in waiting:  # grows while it is read
        waiting += inside.fill(result, x, y, depth)
    return result


def bold(text: str, size: float = TITLE) -> float:
    """The width of a text in bold letters."""
    return text_width(text, size) * BOLD


def box_size(scene: Scene, box: int, sideways: bool) -> Point:
    """The size of a box that holds its texts at every step."""
    second, third, sink = scene.value(box), scene.gradient(box, NEVER), scene.sink(box)
    widest = max(bold(scene.title(box)), text_width(second, SMALL), text_width(sink, SMALL))
    widest = max(widest, bold(f"grad {third}", NUMBERS) if third else 0)
    lines = len(scene.into[box])
    fan = min(lines, 8) * 46.0 if scene.small and not sideways and lines > 2 else 0.0
    width = max(widest + (28 if scene.kind[box] in (LEAF, INPUT) else 22), 52.0, fan)
    return width, 25.0 + (15 if second else 2) + (16 if third or sink else 0)


def card_size(scene: Scene, card: int) -> Point:
    """The size of a closed card."""
    title = bold(f"\u25b8 {scene.card_title(card)}") + text_width(f"  {scene.card_class(card)}", SMALL)
    return max(title + 30, text_width(scene.card_note(card), SMALL) + 30, 96.0), 46.0


class Inside:
    """The inside of an open card, in its own coordinates: items along (``at``) and across (``middle``) the rows.

    Items are numbered as in the page's levels: units, ports in, ports out, bends. ``open`` are the open cards among the
    units; ``enters`` and ``leaves`` say how far from the card's middle each value comes in and goes out.
    """

    def __init__(self, scene: Scene, g: int, sideways: bool, insides: dict[int, Inside]) -> None:
        level: dict[str, Any] = scene.data["levels"][g]
        self.scene, self.g, self.sideways, self.level = scene, g, sideways, level
        self.units, self.inward, self.outward, self.rows = level["units"], level["in"], level["out"], level["rows"]
        self.count = len(self.units)
        self.open = {k: insides[-u] for k, u in enumerate(self.units) if u < 0 and -u in scene.opened}
        self.along, self.across = self._sizes()
        links: Links = {}
        for net, _, path in level["lines"]:
            for a, b in zip(path, path[1:], strict=False):
                leave = self.open[a].leaves.get(net, 0.0) if a in self.open else 0.0
                links[a, b] = leave, self.open[b].enters.get(net, 0.0) if b in self.open else 0.0
        self.middle = self._middles(links)
        self.row_of = [0] * len(self.along)
        for r, row in enumerate(self.rows):
            for k in row:
                self.row_of[k] = r
        self.top, self.bottom = self._stacked(links)
        wish = (1.0 if g == ROOT or scene.cards["parent"][g] == ROOT else 2.0) * (1.8 if sideways else 1.0)
        self.lane_of, self.ends = lanes(
            wish, level, links, self.row_of, self.top, self.bottom, self.middle, self.across
        )
        self.at = [
            (self.top[r] + self.bottom[r] - tall) / 2 for r, tall in zip(self.row_of, self.along, strict=True)
        ]
        for k in {*range(self.count)} - {b for _, b in links}:  # a tensor is near what uses it, whatever is beside it
            self.at[k] = self.bottom[self.row_of[k]] - self.along[k]
        self._enclose()

    def _is_crowded(self, port: int) -> bool:
        """Whether a port is one of so many that they stand in one point."""
        return len(self.inward if port < self.count + len(self.inward) else self.outward) > CROWD

    def _sizes(self) -> tuple[list[float], list[float]]:
        """The sizes of the items along and across the rows."""
        total, ports = sum(map(len, self.rows)), len(self.inward) + len(self.outward)
        along, across = [0.0] * total, [4.0] * total
        for k in range(self.count, self.count + ports):
            across[k] = 0.0 if self._is_crowded(k) else 10.0
        for k, unit in enumerate(self.units):
            if k in self.open:
                width, height = self.open[k].width, self.open[k].height
            else:
                width, height = card_size(self.scene, -unit) if unit < 0 else box_size(self.scene, unit, self.sideways)
            along[k], across[k] = (width, height) if self.sideways else (height, width)
        return along, across

    def _middles(self, links: Links) -> list[float]:
        """The centre of each item: the main way goes straight, and what follows a card of lanes follows its last."""
        aside = [0.0] * len(self.across)  # how far from its centre the main way through an open card runs
        for k, inner in self.open.items():
            aside[k] = mean(inner.enters or inner.leaves)
        wide = [breadth + 2 * abs(by) for breadth, by in zip(self.across, aside, strict=True)]
        entries = range(self.count, self.count + len(self.inward))
        main = {*entries, *(k for k, unit in enumerate(self.units) if unit < 0)}
        middle = spread(self.rows, [*links], wide, self.count, 30.0 if self.scene.small else 20.0, 12.0, main)
        middle = [at - by for at, by in zip(middle, aside, strict=True)]
        for r, row in enumerate(self.rows):
            for place, k in enumerate(row):
                by = mean(self.open[k].leaves) - aside[k] if k in self.open and self.open[k].leaves else 0.0
                if by > FAR or (by < -FAR and len(row) == 1):
                    for after in (*row[place + 1 :], *chain.from_iterable(self.rows[r + 1 :])):
                        middle[after] += by
        if len(self.outward) > CROWD and self.rows[-2:-1] and self.rows[-2]:
            first = self.count + len(self.inward)
            middle[first : first + len(self.outward)] = [middle[self.rows[-2][0]]] * len(self.outward)
        return middle

    def _stacked(self, links: Links) -> tuple[list[float], list[float]]:
        """Where each row begins and ends; the farther a line goes aside, the more room there is below its row."""
        reach = [0.0] * len(self.rows)
        for (a, b), (leave, arrive) in links.items():
            r = self.row_of[a]
            reach[r] = max(reach[r], abs(self.middle[a] + leave - self.middle[b] - arrive))
        small, few = self.scene.small, len(self.scene.kind) <= 9
        gap = 30.0 if not small else (84.0 if self.sideways else 50.0) if few else 54.0 if self.sideways else 31.0
        top, bottom, length = [], [], 0.0
        for r, row in enumerate(self.rows):
            tall = max((self.along[k] for k in row), default=0.0)
            top.append(length)
            length += tall
            bottom.append(length)
            near = not tall or (r + 2 == len(self.rows) and self.outward)
            length += (14.0 if near else gap) + min(0.07 * reach[r], 60.0)
        return top, bottom

    def _enclose(self) -> None:
        """The card around the items: its size, where they are in it, and where values come in and go out."""
        turns = [
            end + 2 * LANE_FOOT
            for end, a, b in zip(self.bottom, self.lane_of, self.lane_of[1:], strict=False) if a != b
        ]  # fmt: skip
        length = max([*self.bottom, *turns], default=0.0)
        spans = [(at - breadth / 2, at + breadth / 2) for at, breadth in zip(self.middle, self.across, strict=True)]
        low, high = min((start for start, _ in spans), default=0.0), max((end for _, end in spans), default=0.0)
        before, after = 5.0 if self.inward else PAD, 5.0 if self.outward else PAD
        side, head, title = PAD, HEAD, 0.0
        if self.g == ROOT:
            before = after = side = head = 0.0
        else:
            title = bold(self.scene.card_title(self.g)) + text_width(self.scene.card_beside(self.g), SMALL) + 56
        if self.sideways:
            self.width = max(length + before + after, title)
            self.height = high - low + head + 2 * side
            self.shift = (before + (self.width - length - before - after) / 2, head + side - low)
        else:
            self.width = max(high - low + 2 * side, title)
            self.height = length + head + before + after
            self.shift = (head + before, (self.width - high + low) / 2 - low)
        half = (self.height if self.sideways else self.width) / 2
        ports = [self.shift[1] + at - half for at in self.middle[self.count :]]
        self.enters: dict[int, float] = dict(zip(self.inward, ports, strict=False))
        self.leaves: dict[int, float] = dict(zip(self.outward, ports[len(self.inward) :], strict=False))

    def fill(self, result: Plane, x0: float, y0: float, depth: int) -> list[tuple[Inside, float, float, int]]:
        """Put what is in the card onto the plane; the open cards in it, which are to be filled next."""

        def place(along: float, across: float) -> Point:
            m, c = along + self.shift[0], across + self.shift[1]
            return (x0 + m, y0 + c) if self.sideways else (x0 + c, y0 + m)

        if self.g != ROOT:
            entries = [] if self.sideways else [x0 + self.width / 2 + by for by in self.enters.values()]
            result.spots.append(Spot(-self.g, x0, y0, self.width, self.height, depth, True, tuple(entries)))
        following = []
        for k, unit in enumerate(self.units):
            x, y = place(self.at[k], self.middle[k] - self.across[k] / 2)
            if k in self.open:
                following.append((self.open[k], x, y, depth + 1))
            else:
                width, height = self.along[k], self.across[k]
                size = (width, height) if self.sideways else (height, width)
                result.spots.append(Spot(unit, x, y, *size, depth + 1))
        bundles = self._bundles()
        leave, arrive = self._ends(bundles)
        for i, (net, arrow, path) in enumerate(self.level["lines"]):
            if bundles.get(i, (i, 0))[0] != i:
                continue
            points: list[Point] = []
            c = 0.0
            for n, k in enumerate(path):
                r, top, bottom = self.row_of[k], self.top[self.row_of[k]], self.bottom[self.row_of[k]]
                aside = (leave if not n else arrive if n == len(path) - 1 else {}).get(i, 0.0)
                before, c = c, self.middle[k] + aside
                if n and self.lane_of[row := self.row_of[path[n - 1]]] != self.lane_of[r]:
                    down, up = self.bottom[row] + LANE_FOOT, top - LANE_HEAD
                    gutter = self.ends[self.lane_of[row]] + GUTTER / 2
                    points += [place(down, before), place(down, gutter), place(up, gutter), place(up, c)]
                first = top if n else self._end_of(k, True)
                last = self._end_of(k, False) if n and n == len(path) - 1 else bottom
                points += [place(first, c), place(last, c)]
            end = path[-1]
            head = end < self.count and end not in self.open
            target = self.units[end] if end < self.count else 0
            many = bundles[i][1] if i in bundles else 0
            ends = (path[0], end)
            result.wires.append(Wire(self.g, net, arrow, without_repeats(points), head, target, ends, many))
        result.stubs += self._stubs(place)
        return following

    def _end_of(self, k: int, leaving: bool) -> float:
        """Where along the rows a line leaves an item, or arrives at it: at a box, or at the border of the card."""
        if k < self.count:
            return self.at[k] + self.along[k] if leaving else self.at[k]
        return -self.shift[0] if leaving else (self.width if self.sideways else self.height) - self.shift[0]

    def _bundles(self) -> dict[int, tuple[int, int]]:
        """The lines that are drawn as one, as (the first of them, how many): many between a closed card and a unit."""
        between = defaultdict(list)
        for i, (_, _, path) in enumerate(self.level["lines"]):
            closed = any(k < self.count and self.units[k] < 0 and k not in self.open for k in path)
            if len(path) == 2 and closed and max(path) < self.count:
                between[tuple(path)].append(i)
        return {i: (lines[0], len(lines)) for lines in between.values() if len(lines) > 3 for i in lines}

    def _ends(self, bundles: dict[int, tuple[int, int]]) -> tuple[dict[int, float], dict[int, float]]:
        """How far from the centre of its first and its last item each line ends."""
        leave: dict[int, float] = {}
        arrive: dict[int, float] = {}
        arriving: dict[int, list[tuple[float, int, int]]] = defaultdict(list)
        leaving: dict[int, dict[int, float]] = defaultdict(dict)
        for i, (net, arrow, path) in enumerate(self.level["lines"]):
            a, b = path[0], path[-1]
            if bundles.get(i, (i, 0))[0] != i:
                continue
            if b in self.open:
                arrive[i] = self.open[b].enters.get(net, 0.0)
            elif b < self.count:
                direct = self.open[a].leaves.get(net, 0.0) if len(path) == 2 and a in self.open else 0.0
                slot = self.scene.arrows["slot"][arrow] if arrow >= 0 else 0
                arriving[b].append((self.middle[path[-2]] + direct, slot, i))
            if a in self.open:
                leave[i] = self.open[a].leaves.get(net, 0.0)
            elif a < self.count and self.units[a] < 0:
                leaving[a][net] = self.middle[path[1]]
        wanted = 14.0 if not self.scene.small else 26.0
        for b, lines in arriving.items():
            apart = 46.0 if self.scene.small and len(lines) > 2 and not self.sideways else wanted
            arrive.update(zip((i for _, _, i in sorted(lines)), fanned(len(lines), apart, self.across[b]), strict=True))
        for a, nets in leaving.items():  # a closed card with several values going out
            offset = dict(zip(sorted(nets, key=nets.__getitem__), fanned(len(nets), 14.0, self.across[a]), strict=True))
            for i, (net, _, path) in enumerate(self.level["lines"]):
                if path[0] == a:
                    leave[i] = offset.get(net, 0.0)
        return leave, arrive

    def _stubs(self, place: Callable[[float, float], Point]) -> list[Stub]:
        """Lines too long to draw: a short end at either side, telling what is at the other."""
        outs: dict[tuple[int, int], list[int]] = defaultdict(list)
        ins: dict[int, list[int]] = defaultdict(list)
        for net, _, a, b in self.level["jumps"]:
            crowded = b >= self.count and len(self.outward) > CROWD
            if not (a >= self.count and len(self.inward) > CROWD):
                outs[a, net] += [] if crowded else [b]
            if not crowded:
                ins[b].append(net)

        def beside(k: int) -> float:
            return 0.0 if k >= self.count else min(self.across[k] / 2 - 9, 12 if self.sideways else 26)

        stubs = []
        for (a, net), ends in outs.items():
            c, start = self.middle[a] + beside(a), self._end_of(a, True)
            to = [self.scene.unit_title(self.units[b]) if b < self.count else self._goal(net) for b in ends]
            text = to[0] if len(to) == 1 else f"{len(to)} uses" if to else self._goal(net)
            stubs.append(Stub(place(start, c), place(6.0 if a >= self.count else start + 11, c), text, True, net))
        for b, nets in ins.items():
            c, end = self.middle[b] - beside(b), self._end_of(b, False)
            text = self.scene.name(nets[0] // 3) if len(nets) == 1 else f"{len(nets)} values"
            stubs.append(Stub(place(end - 13, c), place(end, c), text, False, nets[0]))
        return stubs

    def _goal(self, net: int) -> str:
        """What uses a value outside of the card."""
        for arrow in self.scene.out[net // 3]:
            box = self.scene.arrows["dst"][arrow]
            if self.g not in (ROOT, *self.scene.around(box)):
                return self.scene.name(box)
        return self.scene.card_title(self.g)


def fanned(count: int, wanted: float, breadth: float) -> list[float]:
    """The places of lines side by side, around the middle of what they end at: ``wanted`` apart if there is room."""
    step = min(wanted, (breadth - 20) / max(1, count - 1))
    return [(n - (count - 1) / 2) * step for n in range(count)]


def lanes(
    wish: float, level: dict[str, Any], links: Links, row_of: Sequence[int], top: list[float], bottom: list[float],
    middle: list[float], across: Sequence[float],
) -> tuple[list[int], list[float]]:  # fmt: skip
    """The lane of each row, and where each lane ends: a long list of rows is broken where one line passes.

    ``wish`` times the usual length is allowed. Moves ``top``, ``bottom`` and ``middle``.
    """
    count = len(top)
    first, last = int(bool(level["in"])), count - 1 - bool(level["out"])
    length = bottom[last] - top[first] if last > first else 0.0
    tallest = max((end - start for start, end in zip(top, bottom, strict=True)), default=0.0)
    if length <= LONGEST * wish or level["jumps"] or tallest >= 0.6 * length:
        return [0] * count, [0.0]
    passing = [0] * count
    for a, _ in links:
        passing[row_of[a]] += 1
    wanted = length / max(2, round(length / (LANE * max(1.0, wish / 2))))
    ends: list[int] = []
    start = first
    for r in range(first, last):
        tall, rest = bottom[r] - top[start], bottom[last] - bottom[r]
        near = tall > 0.45 * wanted and abs(tall - wanted) <= abs(bottom[r + 1] - top[start] - wanted)
        if passing[r] == 1 and near and rest > 0.3 * wanted:
            ends.append(r)
            start = r + 1
    lane_of = [sum(end < r for end in ends) for r in range(count)]
    lows, highs = [float("inf")] * (len(ends) + 1), [-float("inf")] * (len(ends) + 1)
    for k, breadth in enumerate(across):
        lane = lane_of[row_of[k]]
        lows[lane], highs[lane] = min(lows[lane], middle[k] - breadth / 2), max(highs[lane], middle[k] + breadth / 2)
    shift, edges, at = [], [], 0.0
    for low, high in zip(lows, highs, strict=True):
        shift.append(at - low)
        at += high - low + GUTTER
        edges.append(at - GUTTER)
    for k in range(len(across)):
        middle[k] += shift[lane_of[row_of[k]]]
    heads = [top[first], *(top[end + 1] - LANE_HEAD for end in ends)]
    for r in range(count):
        up = heads[lane_of[r]] - heads[0]
        top[r], bottom[r] = top[r] - up, bottom[r] - up
    return lane_of, edges


def mean(ports: dict[int, float]) -> float:
    """The middle of ports; 0 of none."""
    return sum(ports.values()) / len(ports) if ports else 0.0


def without_repeats(points: Sequence[Point]) -> list[Point]:
    """The points, those left out that stand where the one before stands."""
    kept = [points[0]]
    for point in points[1:]:
        if abs(point[0] - kept[-1][0]) + abs(point[1] - kept[-1][1]) > 0.4:
            kept.append(point)
    return kept


def route(scene: Scene, laid: Plane, arrow: int) -> list[Wire]:
    """The wires that show one arrow, through the cards from its source to its end."""
    at_end = {(wire.card, wire.ends[1], wire.net, wire.arrow): wire for wire in laid.wires}
    levels = scene.data["levels"]
    net, g, number = 3 * scene.arrows["src"][arrow] + scene.arrows["kind"][arrow], 0, arrow
    g = scene.home[scene.arrows["dst"][arrow]]
    if g not in scene.opened:
        return []
    end = levels[g]["units"].index(scene.arrows["dst"][arrow])
    wires: list[Wire] = []
    while (wire := at_end.get((g, end, net, number))) is not None:
        wires.append(wire)
        start, units, number = wire.ends[0], levels[g]["units"], -1
        if start >= len(units):
            outer = scene.cards["parent"][g]
            end, g = levels[outer]["units"].index(-g), outer
        elif units[start] < 0 and -units[start] in scene.opened:
            g = -units[start]
            end = len(levels[g]["units"]) + len(levels[g]["in"]) + levels[g]["out"].index(net)
        else:
            break
    return wires[::-1]
