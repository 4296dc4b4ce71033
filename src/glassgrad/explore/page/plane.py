"""The places of what is shown, floor 8: boxes inside of open cards, and the lines between them.

Rows, their order and the ways of lines are in the page's data; here they get sizes and coordinates. Cards are laid out
inner first; a long list of rows is broken into lanes. It knows no step.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import Any

from ..layout import Point, spread
from ..sheet import text_width
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
class Inside:
    """The inside of an open card, in its own coordinates: items along (``at``) and across (``middle``) the rows."""

    width: float
    height: float
    shift: Point
    at: list[float]
    middle: list[float]
    along: list[float]
    across: list[float]
    row_of: list[int]
    top: list[float]
    bottom: list[float]
    lane_of: list[int]  # by row
    ends: list[float]  # of each lane, across the rows
    enters: dict[int, float]
    leaves: dict[int, float]
    open: dict[int, Inside]


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
    return _Layout(scene, sideways).placed()


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


class _Layout:
    def __init__(self, scene: Scene, sideways: bool) -> None:
        self.scene, self.sideways = scene, sideways
        self.levels: list[dict[str, Any]] = scene.data["levels"]

    def placed(self) -> Plane:
        order = [ROOT]
        for g in order:  # grows while it is read
            order += [-unit for unit in self.levels[g]["units"] if unit < 0 and -unit in self.scene.opened]
        insides: dict[int, Inside] = {}
        for g in reversed(order):
            insides[g] = self._inside(g, insides)
        root = insides[ROOT]
        result = Plane(root.width + 2 * MARGIN, root.height + 2 * MARGIN, sideways=self.sideways)
        waiting = [(ROOT, MARGIN, MARGIN, 0)]
        for g, x, y, depth in waiting:  # grows while it is read
            waiting += self._fill(result, g, insides[g], x, y, depth)
        return result

    def _row_gap(self) -> float:
        if not self.scene.small:
            return 30.0
        if len(self.scene.kind) > 9:
            return 54.0 if self.sideways else 31.0
        return 84.0 if self.sideways else 50.0

    def _inside(self, g: int, insides: dict[int, Inside]) -> Inside:
        level, scene = self.levels[g], self.scene
        units, inward, outward, rows = level["units"], level["in"], level["out"], level["rows"]
        count, ports = len(units), len(inward) + len(outward)
        total = sum(map(len, rows))
        opened = {k: insides[-unit] for k, unit in enumerate(units) if unit < 0 and -unit in scene.opened}
        along, across = [0.0] * total, [4.0] * total
        for k in range(count, count + ports):
            crowded = (len(inward) if k < count + len(inward) else len(outward)) > CROWD
            across[k] = 0.0 if crowded else 10.0
        for k, unit in enumerate(units):
            if k in opened:
                width, height = opened[k].width, opened[k].height
            else:
                width, height = card_size(scene, -unit) if unit < 0 else box_size(scene, unit, self.sideways)
            along[k], across[k] = (width, height) if self.sideways else (height, width)
        links: Links = {}
        for net, _, path in level["lines"]:
            for a, b in zip(path, path[1:], strict=False):
                leave = opened[a].leaves.get(net, 0.0) if a in opened else 0.0
                links[a, b] = leave, opened[b].enters.get(net, 0.0) if b in opened else 0.0
        middle = self._middles(level, links, across, opened)
        if len(outward) > CROWD and rows[-2:-1] and rows[-2]:
            for k in range(count + len(inward), count + ports):
                middle[k] = middle[rows[-2][0]]
        row_of = [0] * total
        for r, row in enumerate(rows):
            for k in row:
                row_of[k] = r
        reach = [0.0] * len(rows)
        for (a, b), (leave, arrive) in links.items():
            reach[row_of[a]] = max(reach[row_of[a]], abs(middle[a] + leave - middle[b] - arrive))
        top, bottom, length = [], [], 0.0
        for r, row in enumerate(rows):
            tall = max((along[k] for k in row), default=0.0)
            top.append(length)
            length += tall
            bottom.append(length)
            if r < len(rows) - 1:
                near = not tall or (r + 2 == len(rows) and outward)
                length += (14.0 if near else self._row_gap()) + min(0.07 * reach[r], 60.0)
        wish = (1.0 if g == ROOT or scene.cards["parent"][g] == ROOT else 2.0) * (1.8 if self.sideways else 1.0)
        lane_of, ends = lanes(wish, level, links, row_of, top, bottom, middle, across)
        turns = [end + 2 * LANE_FOOT for end, a, b in zip(bottom, lane_of, lane_of[1:], strict=False) if a != b]
        length = max([*bottom, *turns], default=0.0)
        at = [(top[row_of[k]] + bottom[row_of[k]] - along[k]) / 2 for k in range(total)]
        for k in {*range(count)} - {b for _, b in links}:  # a tensor is near what uses it, whatever is beside it
            at[k] = bottom[row_of[k]] - along[k]
        low = min((middle[k] - across[k] / 2 for k in range(total)), default=0.0)
        high = max((middle[k] + across[k] / 2 for k in range(total)), default=0.0)
        before, after = 5.0 if inward else PAD, 5.0 if outward else PAD
        side, head, title = PAD, HEAD, 0.0
        if g == ROOT:
            before = after = side = head = 0.0
        else:
            title = bold(scene.card_title(g)) + text_width(scene.card_beside(g), SMALL) + 56
        if self.sideways:
            width = max(length + before + after, title)
            height = high - low + head + 2 * side
            shift = (before + (width - length - before - after) / 2, head + side - low)
        else:
            width = max(high - low + 2 * side, title)
            height = length + head + before + after
            shift = (head + before, (width - high + low) / 2 - low)
        half = (height if self.sideways else width) / 2
        enters = {net: shift[1] + middle[count + i] - half for i, net in enumerate(inward)}
        leaves = {net: shift[1] + middle[count + len(inward) + i] - half for i, net in enumerate(outward)}
        return Inside(
            width, height, shift, at, middle, along, across, row_of, top, bottom, lane_of,
            ends, enters, leaves, opened,
        )  # fmt: skip

    def _middles(
        self, level: dict[str, Any], links: Links, across: Sequence[float], opened: dict[int, Inside]
    ) -> list[float]:
        """The centre of each item: the main way goes straight, and what follows a card of lanes follows its last."""
        units, rows = level["units"], level["rows"]
        aside = [0.0] * len(across)  # how far from its centre the main way through an open card runs
        for k, inner in opened.items():
            aside[k] = mean(inner.enters or inner.leaves)
        wide = [breadth + 2 * abs(by) for breadth, by in zip(across, aside, strict=True)]
        entries = range(len(units), len(units) + len(level["in"]))
        main = {*entries, *(k for k, unit in enumerate(units) if unit < 0)}
        middle = spread(rows, [*links], wide, len(units), 30.0 if self.scene.small else 20.0, 12.0, main)
        middle = [at - by for at, by in zip(middle, aside, strict=True)]
        for r, row in enumerate(rows):
            for place, k in enumerate(row):
                by = mean(opened[k].leaves) - aside[k] if k in opened and opened[k].leaves else 0.0
                if by > FAR or (by < -FAR and len(row) == 1):
                    for after in (*row[place + 1 :], *chain.from_iterable(rows[r + 1 :])):
                        middle[after] += by
        return middle

    def _fill(
        self, result: Plane, g: int, inside: Inside, x0: float, y0: float, depth: int
    ) -> list[tuple[int, float, float, int]]:
        """Put what is in a card onto the plane; the open cards in it, which are to be filled next."""
        level = self.levels[g]
        units = level["units"]

        def place(along: float, across: float) -> Point:
            m, c = along + inside.shift[0], across + inside.shift[1]
            return (x0 + m, y0 + c) if self.sideways else (x0 + c, y0 + m)

        if g != ROOT:
            entries = [] if self.sideways else [x0 + inside.width / 2 + by for by in inside.enters.values()]
            result.spots.append(Spot(-g, x0, y0, inside.width, inside.height, depth, True, tuple(entries)))
        following = []
        for k, unit in enumerate(units):
            x, y = place(inside.at[k], inside.middle[k] - inside.across[k] / 2)
            if k in inside.open:
                following.append((-unit, x, y, depth + 1))
            else:
                width, height = inside.along[k], inside.across[k]
                size = (width, height) if self.sideways else (height, width)
                result.spots.append(Spot(unit, x, y, *size, depth + 1))
        bundles = self._bundles(level, inside)
        leave, arrive = self._ends(level, inside, bundles)
        reach = inside.width if self.sideways else inside.height
        for i, (net, arrow, path) in enumerate(level["lines"]):
            if bundles.get(i, (i, 0))[0] != i:
                continue
            points: list[Point] = []
            c = 0.0
            for n, k in enumerate(path):
                r, port = inside.row_of[k], k >= len(units)
                aside = (leave if not n else arrive if n == len(path) - 1 else {}).get(i, 0.0)
                before, c = c, inside.middle[k] + aside
                if n and inside.lane_of[row := inside.row_of[path[n - 1]]] != inside.lane_of[r]:
                    down, up = inside.bottom[row] + LANE_FOOT, inside.top[r] - LANE_HEAD
                    gutter = inside.ends[inside.lane_of[row]] + GUTTER / 2
                    points += [place(down, before), place(down, gutter), place(up, gutter), place(up, c)]
                if not n:
                    start = -inside.shift[0] if port else inside.at[k] + inside.along[k]
                    points += [place(start, c), place(inside.bottom[r], c)]
                elif n < len(path) - 1:
                    points += [place(inside.top[r], c), place(inside.bottom[r], c)]
                else:
                    points += [place(inside.top[r], c)]
                    points += [place(reach - inside.shift[0] if port else inside.at[k], c)]
            end = path[-1]
            head = end < len(units) and end not in inside.open
            target = units[end] if end < len(units) else 0
            ends = (path[0], end)
            many = bundles[i][1] if i in bundles else 0
            result.wires.append(Wire(g, net, arrow, without_repeats(points), head, target, ends, many))
        result.stubs += self._stubs(g, level, inside, place)
        return following

    def _bundles(self, level: dict[str, Any], inside: Inside) -> dict[int, tuple[int, int]]:
        """The lines that are drawn as one, as (the first of them, how many): many between a closed card and a unit."""
        units, between = level["units"], defaultdict(list)
        for i, (_, _, path) in enumerate(level["lines"]):
            closed = any(k < len(units) and units[k] < 0 and k not in inside.open for k in path)
            if len(path) == 2 and closed and max(path) < len(units):
                between[tuple(path)].append(i)
        return {i: (lines[0], len(lines)) for lines in between.values() if len(lines) > 3 for i in lines}

    def _ends(
        self, level: dict[str, Any], inside: Inside, bundles: dict[int, tuple[int, int]]
    ) -> tuple[dict[int, float], dict[int, float]]:
        """How far from the centre of its first and its last item each line ends."""
        units = level["units"]
        leave: dict[int, float] = {}
        arrive: dict[int, float] = {}
        arriving: dict[int, list[tuple[float, int, int]]] = defaultdict(list)
        leaving: dict[int, dict[int, float]] = defaultdict(dict)
        for i, (net, arrow, path) in enumerate(level["lines"]):
            a, b = path[0], path[-1]
            if bundles.get(i, (i, 0))[0] != i:
                continue
            if b in inside.open:
                arrive[i] = inside.open[b].enters.get(net, 0.0)
            elif b < len(units):
                direct = inside.open[a].leaves.get(net, 0.0) if len(path) == 2 and a in inside.open else 0.0
                slot = self.scene.arrows["slot"][arrow] if arrow >= 0 else 0
                arriving[b].append((inside.middle[path[-2]] + direct, slot, i))
            if a in inside.open:
                leave[i] = inside.open[a].leaves.get(net, 0.0)
            elif a < len(units) and units[a] < 0:
                leaving[a][net] = inside.middle[path[1]]
        for b, lines in arriving.items():
            lines.sort()
            wanted = 14.0 if not self.scene.small else 46.0 if len(lines) > 2 and not self.sideways else 26.0
            step = min(wanted, (inside.across[b] - 20) / max(1, len(lines) - 1))
            for n, (_, _, i) in enumerate(lines):
                arrive[i] = (n - (len(lines) - 1) / 2) * step
        for a, nets in leaving.items():  # a closed card with several values going out
            step = min(14.0, (inside.across[a] - 20) / max(1, len(nets) - 1))
            offset = {net: (n - (len(nets) - 1) / 2) * step for n, net in enumerate(sorted(nets, key=nets.__getitem__))}
            for i, (net, _, path) in enumerate(level["lines"]):
                if path[0] == a:
                    leave[i] = offset.get(net, 0.0)
        return leave, arrive

    def _stubs(self, g: int, level: dict[str, Any], inside: Inside, place: Any) -> list[Stub]:
        """Lines too long to draw: a short end at either side, telling what is at the other."""
        scene, units = self.scene, level["units"]
        count, inward = len(units), len(level["in"])
        outs: dict[tuple[int, int], list[int]] = defaultdict(list)
        ins: dict[int, list[int]] = defaultdict(list)
        for net, _, a, b in level["jumps"]:
            crowded = b >= count and len(level["out"]) > CROWD
            if not (a >= count and inward > CROWD):
                outs[a, net] += [] if crowded else [b]
            if not crowded:
                ins[b].append(net)
        stubs = []
        for (a, net), ends in outs.items():
            port = a >= count
            c = inside.middle[a] + (0 if port else min(inside.across[a] / 2 - 9, 12 if self.sideways else 26))
            start = -inside.shift[0] if port else inside.at[a] + inside.along[a]
            to = [scene.unit_title(units[b]) if b < count else self._goal(g, net) for b in ends]
            text = to[0] if len(to) == 1 else f"{len(to)} uses" if to else self._goal(g, net)
            stubs.append(Stub(place(start, c), place(6.0 if port else start + 11, c), text, True, net))
        for b, nets in ins.items():
            port = b >= count
            c = inside.middle[b] - (0 if port else min(inside.across[b] / 2 - 9, 12 if self.sideways else 26))
            end = (inside.width if self.sideways else inside.height) - inside.shift[0] if port else inside.at[b]
            text = scene.name(nets[0] // 3) if len(nets) == 1 else f"{len(nets)} values"
            stubs.append(Stub(place(end - 13, c), place(end, c), text, False, nets[0]))
        return stubs

    def _goal(self, g: int, net: int) -> str:
        """What uses a value outside of a card."""
        for arrow in self.scene.out[net // 3]:
            box = self.scene.arrows["dst"][arrow]
            around = self.scene.home[box]
            while around >= 0 and around != g:
                around = self.scene.cards["parent"][around]
            if around != g:
                return self.scene.name(box)
        return self.scene.card_title(g)


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
