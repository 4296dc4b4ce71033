"""The order within layers, floor 8: fewer crossings by barycentre sweeps. It knows items in rows and links."""

from __future__ import annotations

from collections.abc import Sequence

Pair = tuple[int, int]


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
