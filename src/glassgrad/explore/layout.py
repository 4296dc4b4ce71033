"""The layout, floor 8: places for boxes of given sizes and ways for the arrows between them.

Layers by longest path (layers), few crossings by barycentres (crossings), coordinates along the rows (spread), then the
rest here. It knows numbers only. Linear for chains, and never recursive.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from .crossings import reduce_crossings
from .layers import Layers, arrange_in_layers
from .spread import spread

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
    sizes: Sequence[Point],
    arrows: Sequence[tuple[int, int]],
    styles: Sequence[str] | None = None,
    *,
    stand_in_sizes: Sequence[Point] | None = None,
    direction: Direction = "TB",
    spacing: Spacing = Spacing(),
    budget: int | None = None,
) -> Layout:
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
    layers: Layers,
    links: Sequence[tuple[int, int]],
    sizes: list[Point],
    real: int,
    across: list[float],
    direction: Direction,
    spacing: Spacing,
) -> Layout:
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
