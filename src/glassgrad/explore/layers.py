"""Items in rows, floor 8: which row each stands in, in which order, and how far right.

It knows numbered items, arrows between them and widths, and no graph of an engine. Nothing here is recursive; all is
linear for chains.
"""

from __future__ import annotations

from bisect import bisect, insort
from collections.abc import Callable, Collection, Iterable, Sequence
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
