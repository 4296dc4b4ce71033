"""The layout, floor 8: places for boxes of given sizes and ways for the arrows between them.

Layers by longest path and few crossings by barycentres come from ``layers.py``; coordinates along the rows and the rest
are here. It knows numbers only. Linear for chains, and never recursive.
"""

from __future__ import annotations

from bisect import bisect, insort
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

from .layers import Layers, Pair, arrange_in_layers, neighbours, reduce_crossings

Point = tuple[float, float]
Direction = Literal["TB", "BT", "LR", "RL"]


@dataclass(frozen=True, slots=True)
class Place:
    """Where a box stands: its left upper corner and its size; ``repeats`` tells the box it is a small repetition of."""

    box: int
    x: float
    y: float
    width: float
    height: float
    repeats: bool = False


@dataclass(frozen=True, slots=True)
class Wire:
    """The way of an arrow (by index): points joined by straight lines where only one coordinate changes, else by
    curves that leave and arrive along the layers' direction."""

    arrow: int
    points: tuple[Point, ...]


@dataclass(frozen=True, slots=True)
class Layout:
    """Places and wires inside ``width`` x ``height``."""

    places: tuple[Place, ...]
    wires: tuple[Wire, ...]
    width: float
    height: float
    direction: Direction = "TB"


@dataclass(frozen=True, slots=True)
class Spacing:
    """Distances: between boxes, between bends, between layers (from .. to, more for slanted lines), around all."""

    boxes: float = 22
    bends: float = 14
    layer: float = 33
    steepest: float = 120
    slant: float = 0.09
    margin: float = 16
    port: float = 14


def lay_out(
    sizes: Sequence[Point], arrows: Sequence[tuple[int, int]], styles: Sequence[str] | None = None, *,
    stand_in_sizes: Sequence[Point] | None = None, direction: Direction = "TB", spacing: Spacing = Spacing(),
    budget: int | None = None,
) -> Layout:  # fmt: skip
    """The layout of boxes of ``sizes`` (width, height) and ``arrows`` (from, to) between them.

    ``styles`` keeps lines of different kinds from sharing a trunk. ``stand_in_sizes`` are the sizes of the boxes when
    they are repeated beside a far consumer; ``budget`` bounds the bends. ValueError if the arrows form a circle.
    """
    styles = styles if styles is not None else [""] * len(arrows)
    layers = arrange_in_layers(len(sizes), arrows, styles, budget)
    links = layers.links()
    layers.rows = reduce_crossings(layers.rows, links)
    sideways = direction in ("LR", "RL")
    turned = [(h, w) if sideways else (w, h) for w, h in sizes]
    repeated = stand_in_sizes if stand_in_sizes is not None else sizes
    turned += [repeated[i][::-1] if sideways else repeated[i] for i in layers.stand_ins]
    bends = sum(map(len, layers.rows)) - len(turned)
    turned += [(0.0, 0.0)] * bends
    real = len(turned) - bends
    across = spread(layers.rows, links, [width for width, _ in turned], real, spacing.boxes, spacing.bends)
    return _finish(layers, links, turned, real, across, direction, spacing)


def _finish(
    layers: Layers, links: Sequence[tuple[int, int]], sizes: list[Point], real: int, across: list[float],
    direction: Direction, spacing: Spacing,
) -> Layout:  # fmt: skip
    """Rows get their places along the layers' direction, boxes their corners, arrows their points."""
    row_of = [0] * len(sizes)
    for r, row in enumerate(layers.rows):
        for item in row:
            row_of[item] = r
    reach = [0.0] * len(layers.rows)  # the widest step from a row to the next
    for upper, lower in links:
        reach[row_of[upper]] = max(reach[row_of[upper]], abs(across[upper] - across[lower]))
    tops, bottoms, at = [], [], spacing.margin
    for r, row in enumerate(layers.rows):
        tops.append(at)
        at += max(sizes[item][1] for item in row)
        bottoms.append(at)
        at += min(spacing.layer + spacing.slant * reach[r], spacing.steepest)
    length = (bottoms[-1] if bottoms else spacing.margin) + spacing.margin
    left = min((across[i] - sizes[i][0] / 2 for i in range(len(sizes))), default=0.0) - spacing.margin
    right = max((across[i] + sizes[i][0] / 2 for i in range(len(sizes))), default=0.0) + spacing.margin
    breadth = right - left

    def turn(x: float, y: float) -> Point:
        if direction in ("BT", "RL"):
            y = length - y
        return (y, x) if direction in ("LR", "RL") else (x, y)

    places, middle = [], []
    for i, (width, height) in enumerate(sizes):
        across[i] -= left
        middle.append((tops[row_of[i]] + bottoms[row_of[i]]) / 2)
        if i < real:
            a = turn(across[i] - width / 2, middle[i] - height / 2)
            b = turn(across[i] + width / 2, middle[i] + height / 2)
            box = layers.stand_ins[i - layers.boxes] if i >= layers.boxes else i
            corner = (min(a[0], b[0]), min(a[1], b[1]))
            places.append(Place(box, *corner, abs(a[0] - b[0]), abs(a[1] - b[1]), i >= layers.boxes))

    leave, arrive = _ports(layers.paths, across, sizes, real, spacing.port)
    wires = []
    for arrow, path in enumerate(layers.paths):
        points: list[Point] = []
        for step, item in enumerate(path):
            top, bottom = tops[row_of[item]], bottoms[row_of[item]]
            if step:
                x = across[item] + (arrive[arrow] if item < real else 0.0)
                points += [(x, top), (x, middle[item] - sizes[item][1] / 2) if item < real else (x, bottom)]
            elif item < real:
                x = across[item] + leave[arrow]
                points += [(x, middle[item] + sizes[item][1] / 2), (x, bottom)]
            else:
                points.append((across[item], bottom))
        wires.append(Wire(arrow, tuple(turn(x, y) for x, y in _straightened(points))))
    extent = (length, breadth) if direction in ("LR", "RL") else (breadth, length)
    return Layout(tuple(places), tuple(wires), *extent, direction)


def _ports(
    paths: Sequence[Sequence[int]], across: list[float], sizes: list[Point], real: int, distance: float
) -> tuple[list[float], list[float]]:
    """How far from its box's centre each arrow leaves and arrives: side by side, in the order they come."""
    leave, arrive = [0.0] * len(paths), [0.0] * len(paths)
    for ports, this, that in ((leave, 0, 1), (arrive, -1, -2)):
        by_box: dict[int, list[tuple[float, int]]] = {}
        for arrow, path in enumerate(paths):
            if path[this] < real:
                by_box.setdefault(path[this], []).append((across[path[that]], arrow))
        for box, ends in by_box.items():
            if len(ends) > 1:
                ends.sort()
                step = min(distance, max(sizes[box][0] - 16, 0) / (len(ends) - 1))
                for i, (_, arrow) in enumerate(ends):
                    ports[arrow] = (i - (len(ends) - 1) / 2) * step
    leaving = Counter(path[0] for path in paths)
    arriving = Counter(path[-1] for path in paths)
    for arrow, path in enumerate(paths):  # a lone end moves a little where that makes a straight line
        first, last = path[0], path[-1]
        if len(path) > 2 or first >= real:
            continue
        apart = across[last] + arrive[arrow] - across[first] - leave[arrow]
        from_first, to_last = leaving[first] == 1, arriving[last] == 1
        share = 0.5 if from_first and to_last else 1.0 if from_first else 0.0 if to_last else None
        if share is None or abs(apart) > distance:
            continue
        start, end = leave[arrow] + apart * share, arrive[arrow] - apart * (1 - share)
        if abs(start) <= sizes[first][0] / 2 - 4 and abs(end) <= sizes[last][0] / 2 - 4:
            leave[arrow], arrive[arrow] = start, end
    return leave, arrive


def _straightened(points: Sequence[Point]) -> list[Point]:
    """``points`` without repetitions and without those in the middle of a straight line along the layers' direction."""
    kept: list[Point] = []
    for point in points:
        if kept and abs(kept[-1][0] - point[0]) < 0.75:
            point = (kept[-1][0], point[1])
            if len(kept) > 1 and kept[-2][0] == point[0]:
                kept.pop()
            elif kept[-1] == point:
                continue
        kept.append(point)
    return kept


# -- the places along the rows -----------------------------------------------------------------------------------------
# How far right each item of an ordered layout stands. Each row takes, as nearly as its widths allow, the places that
# its neighbouring rows ask for; threads (the main way through the graph, and every long line) are then pulled straight.
# It knows items in rows, widths and links.

STIFF = 8.0  # how much harder a thread pulls than another link
PUSHING = 2  # rounds in which long threads push
TOUCH = 1e-6  # boxes side by side may overlap by this much: sums of widths round
INFINITE = float("inf")


def spread(
    rows: Sequence[Sequence[int]], links: Sequence[Pair], widths: Sequence[float], boxes: int, gap: float,
    bend_gap: float, entries: Collection[int] = (),
) -> list[float]:  # fmt: skip
    """The centre of each item; what comes in at ``entries`` goes straight on as the main way.

    Items from ``boxes`` on are bends; boxes keep ``gap`` between them, bends ``bend_gap`` from anything.
    """
    above, below = neighbours(len(widths), links)
    next_of = threads(rows, above, below, boxes, entries)
    before = [-1] * len(widths)
    for upper, lower in enumerate(next_of):
        if lower >= 0:
            before[lower] = upper
    offsets = []
    centre = [0.0] * len(widths)
    for row in rows:
        at, offset = 0.0, []
        for i, item in enumerate(row):
            if i:
                at += _distance(row[i - 1], item, widths, boxes, gap, bend_gap)
            offset.append(at)
        offsets.append(offset)
        for item, position in zip(row, offset, strict=True):
            centre[item] = position - at / 2

    def settle(r: int, up: bool, down: bool) -> float:
        wishes, weights = [], []
        for item in rows[r]:
            total = weight = 0.0
            if up:
                for other in above[item]:
                    pull = STIFF if before[item] == other else 1.0
                    total += pull * centre[other]
                    weight += pull
            if down:
                for other in below[item]:
                    pull = STIFF if next_of[item] == other else 1.0
                    total += pull * centre[other]
                    weight += pull
            wishes.append(total / weight if weight else centre[item])
            weights.append(weight or 0.01)
        moved = 0.0
        for item, position in zip(rows[r], nearest_in_order(wishes, weights, offsets[r]), strict=True):
            moved = max(moved, abs(position - centre[item]))
            centre[item] = position
        return moved

    rounds = 24 if len(widths) < 5_000 else 8 if len(widths) < 50_000 else 3
    for number in range(rounds):
        both = number >= rounds // 2
        moved = max((settle(r, True, both) for r in range(len(rows))), default=0.0)
        moved = max([moved, *(settle(r, both, True) for r in range(len(rows) - 1, -1, -1))])
        if moved < 0.25:
            break
    outside = [[j for j in (*above[i], *below[i]) if j != next_of[i] and j != before[i]] for i in range(len(widths))]
    straighten(rows, next_of, before, outside, offsets, centre, rounds)
    return centre


def _distance(left: int, right: int, widths: Sequence[float], boxes: int, gap: float, bend_gap: float) -> float:
    """The least distance between the centres of two items side by side."""
    return (widths[left] + widths[right]) / 2 + (gap if left < boxes and right < boxes else bend_gap)


def threads(
    rows: Sequence[Sequence[int]], above: Sequence[Sequence[int]], below: Sequence[Sequence[int]], boxes: int,
    entries: Collection[int] = (),
) -> list[int]:  # fmt: skip
    """For each item the one below it that should stand straight under it, or -1.

    A box follows the maker with the most boxes behind it, if there is one such or a middle one of several, and is
    followed by the consumer with the most before it.
    """
    items = len(above)
    behind, ahead = [0] * items, [0] * items
    for row in rows:
        for item in row:
            weight = items if item in entries else int(item < boxes)
            behind[item] = max((behind[i] for i in above[item]), default=0) + weight
    for row in reversed(rows):
        for item in row:
            ahead[item] = max((ahead[i] for i in below[item]), default=0) + (item < boxes)
    column = [0] * items
    for row in rows:
        for c, item in enumerate(row):
            column[item] = c

    def middle(candidates: Iterable[int], worth: Callable[[int], tuple[int, int]], even: bool) -> int:
        """The worthiest; the middle one of several, and of an even number the first made, or none."""
        best = sorted(set(candidates), key=lambda i: (worth(i), -column[i]), reverse=True)
        best = [i for i in best if worth(i) == worth(best[0])]
        if len(best) % 2:
            return best[len(best) // 2]
        return min(best, default=-1) if even else -1

    chosen = [makers[0] if len(makers) == 1 else middle(makers, lambda i: (behind[i], 0), False) for makers in above]
    next_of = []
    for item in range(items):
        own = [i for i in below[item] if chosen[i] == item]
        through = item >= boxes and item not in entries  # a long line goes on as itself
        next_of.append(
            own[0] if len(own) == 1 else middle(own, lambda i: (int(through and i >= boxes), ahead[i]), True)  # noqa: B023
        )
    return next_of


def nearest_in_order(wishes: Sequence[float], weights: Sequence[float], offsets: Sequence[float]) -> list[float]:
    """The places nearest to ``wishes`` (weighted squares) that keep at least the distances of ``offsets``.

    Neighbours that would overlap are pooled and share the mean of their wishes: the pool-adjacent-violators
    algorithm for isotonic regression.
    """
    pools: list[tuple[float, float, int]] = []  # sum of weighted wishes, weight, members
    for wish, weight, offset in zip(wishes, weights, offsets, strict=True):
        pool = ((wish - offset) * weight, weight, 1)
        while pools and pools[-1][0] / pools[-1][1] > pool[0] / pool[1]:
            last = pools.pop()
            pool = (last[0] + pool[0], last[1] + pool[1], last[2] + pool[2])
        pools.append(pool)
    bases = [total / weight for total, weight, members in pools for _ in range(members)]
    return [base + offset for base, offset in zip(bases, offsets, strict=True)]


def straighten(
    rows: Sequence[Sequence[int]], next_of: Sequence[int], before: Sequence[int], outside: Sequence[Sequence[int]],
    offsets: Sequence[Sequence[float]], centre: list[float], rounds: int,
) -> None:  # fmt: skip
    """Pull each thread onto as few straight lines as there is room for.

    Each line goes where the items of ``outside``, linked to it but not of its thread, ask it to. In the first rounds a
    long thread may push aside what belongs to shorter ones (it only minds those already placed in its round); then
    every one keeps to the room between its neighbours.
    """
    row_of, column = [0] * len(centre), [0] * len(centre)
    for r, row in enumerate(rows):
        for c, item in enumerate(row):
            row_of[item], column[item] = r, c
    strings = _strings(next_of, before)
    for number in range(rounds):
        placed: list[list[int]] | None = [[] for _ in rows] if number < PUSHING else None
        moved = 0.0
        for string in strings:
            low, high = -INFINITE, INFINITE
            run: list[int] = []
            for item in string:
                r, c = row_of[item], column[item]
                row, offset = rows[r], offsets[r]
                left, right = c - 1, c + 1
                if placed is not None:
                    at = bisect(placed[r], c)
                    left = placed[r][at - 1] if at else -1
                    right = placed[r][at] if at < len(placed[r]) else len(row)
                least = centre[row[left]] + offset[c] - offset[left] if left >= 0 else -INFINITE
                most = centre[row[right]] + offset[c] - offset[right] if right < len(row) else INFINITE
                if run and max(low, least) > min(high, most) + TOUCH:
                    moved = max(moved, _align(run, low, high, next_of, before, outside, centre))
                    low, high, run = -INFINITE, INFINITE, []
                low, high = max(low, least), min(high, most)
                run.append(item)
            moved = max(moved, _align(run, low, high, next_of, before, outside, centre))
            if placed is not None:
                for item in string:
                    insort(placed[row_of[item]], column[item])
        if moved < 0.25 and placed is None:
            break


def _strings(next_of: Sequence[int], before: Sequence[int]) -> list[list[int]]:
    """The threads from top to bottom, longest first; what is in none is one of its own."""
    strings = []
    for first, maker in enumerate(before):
        if maker < 0:
            string, item = [], first
            while item >= 0:
                string.append(item)
                item = next_of[item]
            strings.append(string)
    strings.sort(key=len, reverse=True)
    return strings


def _align(
    run: Sequence[int], low: float, high: float, next_of: Sequence[int], before: Sequence[int],
    outside: Sequence[Sequence[int]], centre: list[float],
) -> float:  # fmt: skip
    """Put a straight part of a thread between ``low`` and ``high`` where its links ask; how far it moved."""
    wishes = [centre[other] for item in run for other in outside[item]]
    for other in (before[run[0]], next_of[run[-1]]):  # a broken thread stays as straight as it can
        if other >= 0:
            wishes += [centre[other]] * int(STIFF)
    wishes = wishes or [centre[item] for item in run]
    target = min(max(sum(wishes) / len(wishes), low), high)
    moved = max(abs(centre[item] - target) for item in run)
    for item in run:
        centre[item] = target
    return moved
