"""The layers of a layout, floor 8: which boxes stand in which row, what stands in for lines that cross rows, the order.

It knows numbered items and arrows between them, no sizes and no graph of an engine. Nothing here is recursive.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

Pair = tuple[int, int]


@dataclass(slots=True)
class Layers:
    """Items in layers, every link going from one layer to the next.

    Items below ``boxes`` are boxes; then come ``stand_ins`` (repeated small boxes, each telling which box it repeats);
    the rest are bends, points that a long line passes through. ``paths[i]`` are the items that arrow ``i`` visits: an
    arrow that shares the way of an earlier one starts at the last bend they share.
    """

    boxes: int
    rows: list[list[int]]
    stand_ins: list[int]
    paths: list[list[int]]

    def links(self) -> list[Pair]:
        """The pairs of items, each in neighbouring layers, that lines connect."""
        return [pair for path in self.paths for pair in zip(path, path[1:], strict=False)]


def layer_of(count: int, arrows: Sequence[Pair]) -> list[int]:
    """The layer of each box: below everything that points to it, and what has only that purpose near its consumer.

    First the longest path from a source; then leaves, and what is made from them alone, move down to their first
    consumer. ValueError if the arrows form a circle.
    """
    below: list[list[int]] = [[] for _ in range(count)]
    above: list[list[int]] = [[] for _ in range(count)]
    for src, dst in arrows:
        below[src].append(dst)
        above[dst].append(src)
    waiting = [len(sources) for sources in above]
    order = [i for i in range(count) if not waiting[i]]
    layer = [0] * count
    for i in order:  # grows while it is read
        for j in below[i]:
            layer[j] = max(layer[j], layer[i] + 1)
            waiting[j] -= 1
            if not waiting[j]:
                order.append(j)
    if len(order) < count:
        raise ValueError("the arrows form a circle")

    single = [len(set(targets)) == 1 for targets in below]
    loose = [False] * count  # what is above serves this box alone, or is one string that may be longer at no cost
    for i in order:
        makers = set(above[i])
        loose[i] = all(loose[j] and (single[j] or len(makers) == 1) for j in makers)
    for i in reversed(order):
        if below[i] and loose[i]:
            layer[i] = min(layer[j] for j in below[i]) - 1
    return layer


def arrange_in_layers(count: int, arrows: Sequence[Pair], styles: Sequence[str], budget: int | None = None) -> Layers:
    """The layers of ``count`` boxes, with bends where arrows cross layers.

    Arrows of one style from one box share their bends, so a value used at many steps is one trunk with branches.
    When all bends together exceed ``budget`` (by default four per box and some), the longest trunks are given up, and
    each of their far ends gets a stand-in: a repeated small box next to it.
    """
    levels = layer_of(count, arrows)
    groups: dict[tuple[int, str], list[int]] = {}
    for i, (src, _) in enumerate(arrows):
        groups.setdefault((src, styles[i]), []).append(i)
    long = []
    for key, members in groups.items():
        span = max(levels[arrows[i][1]] for i in members) - levels[key[0]] - 1
        if span > 0:
            long.append((span, key))
    long.sort(key=lambda item: item[0])
    left = 4 * count + 400 if budget is None else budget
    dropped = []
    for span, key in long:
        left -= span
        if left < 0:
            dropped.append(key)

    stand_ins: list[int] = []
    paths: list[list[int]] = [[] for _ in arrows]
    for key in dropped:
        for i in groups[key]:
            src, dst = arrows[i]
            if levels[dst] - levels[src] > 1:
                paths[i] = [len(levels), dst]
                stand_ins.append(src)
                levels.append(levels[dst] - 1)
    for (src, _style), members in groups.items():
        trunk: list[int] = []
        for i in sorted(members, key=lambda i: -levels[arrows[i][1]]):
            dst = arrows[i][1]
            if paths[i]:
                continue
            span = levels[dst] - levels[src] - 1
            if span and not trunk:
                trunk = list(range(len(levels), len(levels) + span))
                levels += range(levels[src] + 1, levels[dst])
                paths[i] = [src, *trunk, dst]
            else:
                paths[i] = [trunk[span - 1], dst] if span else [src, dst]
    rows: list[list[int]] = [[] for _ in range(max(levels, default=-1) + 1)]
    for item, level in enumerate(levels):
        rows[level].append(item)
    return Layers(count, rows, stand_ins, paths)


# -- the order within layers -------------------------------------------------------------------------------------------
# Fewer crossings by barycentre sweeps. It knows items in rows and links.


def neighbours(items: int, links: Sequence[Pair]) -> tuple[list[list[int]], list[list[int]]]:
    """For each item those it is linked to in the row above, and in the row below."""
    above: list[list[int]] = [[] for _ in range(items)]
    below: list[list[int]] = [[] for _ in range(items)]
    for upper, lower in links:
        above[lower].append(upper)
        below[upper].append(lower)
    return above, below


def start_order(rows: list[list[int]], above: list[list[int]], below: list[list[int]]) -> None:
    """Sort each row by when a walk from the first items meets them, so that what belongs together starts together."""
    met = [-1] * len(above)
    count = 0
    for row in reversed(rows):
        for first in row:
            stack = [first]
            while stack:
                item = stack.pop()
                if met[item] < 0:
                    met[item] = count
                    count += 1
                    stack += [i for i in reversed(below[item]) if met[i] < 0]
                    stack += [i for i in reversed(above[item]) if met[i] < 0]
    for row in rows:
        row.sort(key=met.__getitem__)


def count_crossings(rows: Sequence[Sequence[int]], below: Sequence[Sequence[int]]) -> int:
    """How many pairs of links cross, in n log n per row (a Fenwick tree over the lower row)."""
    total = 0
    for upper, lower in zip(rows, rows[1:], strict=False):
        if len(upper) < 2 or len(lower) < 2:
            continue
        position = {item: i for i, item in enumerate(lower)}
        tree = [0] * (len(lower) + 1)
        seen = 0
        for item in upper:
            ends = sorted(position[i] for i in below[item])
            for end in ends:  # those already seen that end further right
                at, left = end + 1, 0
                while at:
                    left += tree[at]
                    at &= at - 1
                total += seen - left
            for end in ends:
                at = end + 1
                while at < len(tree):
                    tree[at] += 1
                    at += at & -at
                seen += 1
    return total


def reduce_crossings(rows: list[list[int]], links: Sequence[Pair]) -> list[list[int]]:
    """``rows`` with each row's items in an order of few crossings: the best of a bounded number of sweeps."""
    items = sum(map(len, rows))
    above, below = neighbours(items, links)
    start_order(rows, above, below)
    best, fewest = [row[:] for row in rows], count_crossings(rows, below)
    sweeps = 24 if items < 2_000 else 8 if items < 20_000 else 4
    stale = 0
    for sweep in range(sweeps):
        if not fewest or stale == 6:
            break
        downwards = sweep % 2 == 0
        for r in range(1, len(rows)) if downwards else range(len(rows) - 2, -1, -1):
            _sort_by_barycentre(rows[r], rows[r - 1 if downwards else r + 1], above if downwards else below, sweep)
        if items < 2_000:
            _swap_neighbours(rows, above, below)
        crossings = count_crossings(rows, below)
        stale += 1
        if crossings < fewest:
            best, fewest, stale = [row[:] for row in rows], crossings, 0
    return best


def _sort_by_barycentre(row: list[int], fixed: Sequence[int], linked: Sequence[Sequence[int]], sweep: int) -> None:
    if len(row) < 2:
        return
    position = {item: i for i, item in enumerate(fixed)}
    scale = len(fixed) / len(row)
    centre = {}
    for i, item in enumerate(row):
        positions = [position[other] for other in linked[item]]
        centre[item] = sum(positions) / len(positions) if positions else i * scale
    if sweep % 4 >= 2:  # every other round trip lets equals change places
        row.reverse()
    row.sort(key=centre.__getitem__)


def _swap_neighbours(rows: list[list[int]], above: Sequence[Sequence[int]], below: Sequence[Sequence[int]]) -> None:
    """Exchange two neighbours wherever that alone removes crossings."""
    for r, row in enumerate(rows):
        if len(row) < 2 or len(row) > 60:
            continue
        sides = []
        for other, linked in ((r - 1, above), (r + 1, below)):
            if 0 <= other < len(rows):
                position = {item: i for i, item in enumerate(rows[other])}
                sides.append({item: sorted(position[i] for i in linked[item]) for item in row})
        for i in range(len(row) - 1):
            a, b = row[i], row[i + 1]
            if sum(_crossed(side[a], side[b]) - _crossed(side[b], side[a]) for side in sides) > 0:
                row[i], row[i + 1] = b, a


def _crossed(left: Sequence[int], right: Sequence[int]) -> int:
    """Crossings between the links of two neighbours, the first standing on the left."""
    return sum(1 for a in left for b in right if a > b)
