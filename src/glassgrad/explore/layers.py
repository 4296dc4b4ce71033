"""The layers of a layout, floor 8: which boxes stand in which row, and what stands in for lines that cross rows.

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
