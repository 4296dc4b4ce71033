"""The places along the rows, floor 8: how far right each item of an ordered layout stands.

Each row takes, as nearly as its widths allow, the places that its neighbouring rows ask for; threads (the main way
through the graph, and every long line) are then pulled straight. It knows items in rows, widths and links.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from glassgrad.explore.crossings import Pair, neighbours

STIFF = 8.0  # how much harder a thread pulls than another link


def spread(
    rows: Sequence[Sequence[int]], links: Sequence[Pair], widths: Sequence[float], boxes: int, gap: float, bend_gap: float
) -> list[float]:
    """The centre of each item.

    Items from ``boxes`` on are bends; boxes keep ``gap`` between them, bends ``bend_gap`` from anything.
    """
    above, below = neighbours(len(widths), links)
    next_of = threads(rows, above, below, boxes)
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
        for item, place in zip(row, offset, strict=True):
            centre[item] = place - at / 2

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
        for item, place in zip(rows[r], nearest_in_order(wishes, weights, offsets[r]), strict=True):
            moved = max(moved, abs(place - centre[item]))
            centre[item] = place
        return moved

    rounds = 24 if len(widths) < 5_000 else 8 if len(widths) < 50_000 else 3
    for number in range(rounds):
        both = number >= rounds // 2
        moved = max((settle(r, True, both) for r in range(len(rows))), default=0.0)
        moved = max([moved, *(settle(r, both, True) for r in range(len(rows) - 1, -1, -1))])
        if moved < 0.25:
            break
    outside = [
        [j for j in (*above[i], *below[i]) if j != next_of[i] and j != before[i]] for i in range(len(widths))
    ]
    straighten(rows, next_of, outside, centre, lambda a, b: _distance(a, b, widths, boxes, gap, bend_gap), rounds)
    return centre


def _distance(left: int, right: int, widths: Sequence[float], boxes: int, gap: float, bend_gap: float) -> float:
    """The least distance between the centres of two items side by side."""
    return (widths[left] + widths[right]) / 2 + (gap if left < boxes and right < boxes else bend_gap)


def threads(
    rows: Sequence[Sequence[int]], above: Sequence[Sequence[int]], below: Sequence[Sequence[int]], boxes: int
) -> list[int]:
    """For each item the one below it that should stand straight under it, or -1.

    A box follows the maker with the most boxes behind it, and is followed by the consumer with the most before it; a
    long line follows itself.
    """
    items = len(above)
    behind, ahead = [0] * items, [0] * items
    for row in rows:
        for item in row:
            behind[item] = max((behind[i] for i in above[item]), default=0) + (item < boxes)
    for row in reversed(rows):
        for item in row:
            ahead[item] = max((ahead[i] for i in below[item]), default=0) + (item < boxes)
    chosen = [max(makers, key=behind.__getitem__, default=-1) for makers in above]
    next_of = []
    for item in range(items):
        followers = [i for i in below[item] if chosen[i] == item]
        next_of.append(max(followers, key=lambda i: (item >= boxes and i >= boxes, ahead[i], -i), default=-1))
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
    outside: Sequence[Sequence[int]],
    centre: list[float],
    distance: Callable[[int, int], float],
    rounds: int,
) -> None:
    """Pull each thread onto as few straight lines as its neighbours in the rows leave room for.

    Each line goes where the items of ``outside``, linked to it but not of its thread, ask it to.
    """
    left_of, right_of = [-1] * len(centre), [-1] * len(centre)
    for row in rows:
        for a, b in zip(row, row[1:], strict=False):
            left_of[b], right_of[a] = a, b
    strings = []
    before = [-1] * len(centre)
    for item, follower in enumerate(next_of):
        if follower >= 0:
            before[follower] = item
    for item, maker in enumerate(before):
        if maker < 0:
            string = []
            while item >= 0:
                string.append(item)
                item = next_of[item]
            strings.append(string)
    strings.sort(key=len, reverse=True)

    def place(run: list[int], low: float, high: float) -> float:
        wishes = [centre[other] for item in run for other in outside[item]]
        for other in (before[run[0]], next_of[run[-1]]):  # a broken thread stays as straight as it can
            if other >= 0:
                wishes += [centre[other]] * int(STIFF)
        wishes = wishes or [centre[item] for item in run]
        wish = min(max(sum(wishes) / len(wishes), low), high)
        moved = max(abs(centre[item] - wish) for item in run)
        for item in run:
            centre[item] = wish
        return moved

    for _ in range(rounds):
        moved = 0.0
        for string in strings:
            low, high, run = float("-inf"), float("inf"), []
            for item in string:
                left, right = left_of[item], right_of[item]
                least = centre[left] + distance(left, item) if left >= 0 else float("-inf")
                most = centre[right] - distance(item, right) if right >= 0 else float("inf")
                if run and max(low, least) > min(high, most):
                    moved = max(moved, place(run, low, high))
                    low, high, run = float("-inf"), float("inf"), []
                low, high = max(low, least), min(high, most)
                run.append(item)
            moved = max(moved, place(run, low, high))
        if moved < 0.25:
            break
