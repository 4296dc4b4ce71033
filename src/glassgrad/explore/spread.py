"""The places along the rows, floor 8: how far right each item of an ordered layout stands.

Each row takes, as nearly as its widths allow, the places that its neighbouring rows ask for; threads (the main way
through the graph, and every long line) are then pulled straight. It knows items in rows, widths and links.
"""

from __future__ import annotations

from bisect import bisect, insort
from collections.abc import Callable, Collection, Iterable, Sequence

from .crossings import Pair, neighbours

STIFF = 8.0  # how much harder a thread pulls than another link
PUSHING = 2  # rounds in which long threads push
TOUCH = 1e-6  # boxes side by side may overlap by this much: sums of widths round
INFINITE = float("inf")


def spread(
    rows: Sequence[Sequence[int]],
    links: Sequence[Pair],
    widths: Sequence[float],
    boxes: int,
    gap: float,
    bend_gap: float,
    entries: Collection[int] = (),
) -> list[float]:
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
    rows: Sequence[Sequence[int]],
    next_of: Sequence[int],
    before: Sequence[int],
    outside: Sequence[Sequence[int]],
    offsets: Sequence[Sequence[float]],
    centre: list[float],
    rounds: int,
) -> None:
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
    run: Sequence[int],
    low: float,
    high: float,
    next_of: Sequence[int],
    before: Sequence[int],
    outside: Sequence[Sequence[int]],
    centre: list[float],
) -> float:
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
