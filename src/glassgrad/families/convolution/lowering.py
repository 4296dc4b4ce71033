"""How a convolution becomes sums over moved inputs: the layouts of operands, and tables that lead to their elements.

Two layouts put the lanes of vectors to use.  *Neighbours*: lanes are outputs side by side, row by row, or all along the
padded input with what lies between rows thrown away, whichever needs fewer vectors.  *Samples*: lanes are one output
of as many samples, which suits small images in large batches.  In both, a tap of the kernel is a fixed distance.

A stride would part neighbours: so the input is laid out in *phases*, one for each remainder of a place by the stride,
in which neighbouring outputs see neighbouring elements.  The gradient by the input of a strided convolution has
phases in its outputs instead, each with taps of its own.
"""

from __future__ import annotations

import math
from functools import lru_cache
from itertools import product
from typing import Any, NamedTuple

import numpy as np

from .tiles import HEIGHTS, SHAPES, WIDTH

Three = tuple[int, int, int]


class Layout(NamedTuple):
    """How one operand lies in the workspace, for each unit of work: some samples one after the other, or in lanes.

    samples   how many make a unit
    lanes     whether they are the lanes of vectors
    channels  of a sample
    sizes     the operand's spatial sizes
    extents   those of a phase of a channel in the workspace
    residues  for each dimension the phases there are
    steps, before   element ``e`` of phase ``r`` is the operand's ``e * step + r - before``
    pitch     elements of a channel in the workspace
    targets   where each element of a channel goes, if lanes are samples
    """

    samples: int
    lanes: bool
    channels: int
    sizes: Three
    extents: Three
    residues: tuple[Any, Any, Any]
    steps: Three
    before: Three
    pitch: int
    targets: Any


class Plan(NamedTuple):
    """The tables of a convolution, or of its gradient by the input.

    layout   of the operand that the taps see
    offsets  distance of each channel's taps, phase by phase
    taps     numbers in the kernel of the taps that each phase has
    phases   for each phase of the output: its first offset, their number; its first vector, the number of vectors,
             and of those of one sample; the pitches of its planes and rows among the outputs; the first element of the
             result, and how many, for each dimension
    places   where each vector of outputs begins
    steps    between elements of a phase in the result
    origins  where each element of the result lies among the outputs, if lanes are samples
    order    channels that go together: of so many, what the first tap sees, what the second sees ...
    runs     for each tile of places, phase by phase: its first span, and their number
    spans    first and last of taps that may see more than zeros
    """

    layout: Layout
    offsets: Any
    taps: Any
    phases: Any
    places: Any
    steps: Three
    origins: Any
    order: int
    runs: Any
    spans: Any


class Group(NamedTuple):
    """Which samples make a unit: the lanes of a vector; how many samples; and whether they are its lanes."""

    n: int
    samples: int
    lanes: bool


_NO_TABLE = np.zeros(0, np.int64)
_TOGETHER = 32  # channels that go together where tiles pass over taps that see nothing but zeros
_BREAK = 4  # steps of a tile that beginning it anew costs


def _numbers(values: Any) -> Any:
    return np.array(values, np.int64)


def _vectors(outs: Three, extents: Three, step: Three, n: int, samples: bool) -> tuple[Any, int, int]:
    """Where vectors of outputs begin in an operand of ``extents``; the pitches of planes and rows among the outputs."""
    a, b, c = outs
    if samples:
        lines = np.arange(a)[:, None, None] * step[0] * extents[1] + np.arange(b)[:, None] * step[1]
        places = (lines * extents[2] + np.arange(c) * step[2]) * n
        return places.reshape(-1), b * c * n, c * n
    along = ((a - 1) * extents[1] + b - 1) * extents[2] + c
    across = -(-c // n)
    if a * b * across <= -(-along // n):
        places = (np.arange(a)[:, None, None] * extents[1] + np.arange(b)[:, None]) * extents[2] + np.arange(across) * n
        return places.reshape(-1), b * across * n, across * n
    return np.arange(-(-along // n)) * n, extents[1] * extents[2], extents[2]


def _whole_tiles(places: Any) -> Any:
    return np.concatenate([places, np.zeros(-len(places) % WIDTH, np.int64)])


def positions(sizes: Three, extents: Three, before: Three, n: int) -> Any:
    """Where each element of a channel goes: behind all others, what no tap sees."""
    at = [np.arange(size) + b for size, b in zip(sizes, before, strict=True)]
    a, b, c = np.meshgrid(*at, indexing="ij")
    inside = np.ones(a.shape, bool)
    for coordinate, extent in zip((a, b, c), extents, strict=True):
        inside &= (coordinate >= 0) & (coordinate < extent)
    return np.where(inside, (a * extents[1] + b) * extents[2] + c, math.prod(extents)).reshape(-1) * n


def odd(elements: int, n: int) -> int:
    """At least so many, as an odd number of vectors: channels must not meet in one place of the cache."""
    return (-(-elements // n) | 1) * n


def _laid(
    group: Group, channels: int, sizes: Three, extents: Three, residues: tuple[Any, ...], steps: Three, before: Three
) -> Layout:
    n = group.n if group.lanes else 1
    elements = math.prod(extents) * math.prod([len(r) for r in residues])
    targets = positions(sizes, extents, before, n) if group.lanes else _NO_TABLE
    if len(targets) and targets.max() == elements * n:
        elements += 1
    pitch = odd(elements * n, group.n)
    first, second, third = (_numbers(r) for r in residues)
    return Layout(
        group.samples, group.lanes, channels, sizes, extents, (first, second, third), steps, before, pitch, targets
    )


def _for_all(places: Any, group: Group, layout: Layout) -> Any:
    """The places of one sample's vectors as those of all samples of a unit, made up to whole tiles."""
    if group.lanes or group.samples == 1:
        return _whole_tiles(places)
    samples = np.arange(group.samples)[:, None] * (layout.channels * layout.pitch)
    return _whole_tiles((samples + places).reshape(-1))


def _area(ranges: Any) -> int:
    return math.prod([max(high - low, 0) for low, high in ranges])


def _both(some: Any, others: Any) -> Any:
    """The least box of taps that holds two of them."""
    if not _area(some) or not _area(others):
        return others if _area(others) else some
    return tuple([(min(a[0], b[0]), max(a[1], b[1])) for a, b in zip(some, others, strict=True)])


def _kinds(seen: list[list[tuple[int, int]]]) -> list[tuple[Any, list[int]]]:
    """Tiles of places, whose lanes are samples, and the box of taps that each needs.

    ``seen`` has, for each index along each dimension, the first and the last tap that see more than zeros there.
    """
    own: dict[Any, list[int]] = {}
    for number, ranges in enumerate(product(*seen)):
        own.setdefault(ranges, []).append(number)
    tiles: list[tuple[Any, list[int]]] = []
    left: list[tuple[Any, int]] = []
    for ranges, numbers in own.items():
        whole = len(numbers) // WIDTH * WIDTH
        tiles += [(ranges, numbers[at : at + WIDTH]) for at in range(0, whole, WIDTH)]
        left += [(ranges, number) for number in numbers[whole:]]
    left.sort(key=lambda one: -_area(one[0]))  # stable
    while left:
        ranges, number = left.pop(0)
        members = [number]
        while left and len(members) < WIDTH:
            grown = [_area(_both(ranges, other)) for other, _ in left]
            other, number = left.pop(grown.index(min(grown)))
            ranges = _both(ranges, other)
            members.append(number)
        tiles.append((ranges, members))
    return sorted(tiles, key=lambda one: one[1][0])


def _passed_over(
    seen: list[list[tuple[int, int]]], kernel: Any, channels: int, known: list[Any]
) -> tuple[Any, Any, Any]:
    """Which place each slot of the tiles holds (-1: none), where each place went, and each tile's run of spans.

    Spans are added to those that are ``known``.
    """
    gap = _BREAK // min(channels, _TOGETHER)  # taps that are passed over at no gain
    slots: list[int] = []
    runs = []
    for ranges, members in _kinds(seen):
        slots += members + [-1] * (WIDTH - len(members))
        spans: list[list[int]] = []
        for a, b in product(*[range(*part) for part in ranges[:2]]):
            first, last = [(a * kernel[1] + b) * kernel[2] + at for at in ranges[2]]
            if first >= last:
                continue
            if spans and first - spans[-1][1] <= gap:
                spans[-1][1] = last
            else:
                spans.append([first, last])
        runs.append([len(known), max(len(spans), 1)])
        known += spans or [[0, 0]]
    occupants = _numbers(slots)
    went = np.empty(math.prod([len(line) for line in seen]), np.int64)
    went[occupants[occupants >= 0]] = np.flatnonzero(occupants >= 0)
    return occupants, went, runs


def _ordered(channels: int, pitch: int, distances: Any, order: int) -> Any:
    """The distances of all channels' taps, ``order`` channels after ``order`` channels."""
    taps = _numbers(distances)
    parts = [
        np.add.outer(taps, np.arange(first, min(first + order, channels)) * pitch).reshape(-1)
        for first in range(0, channels, order)
    ]
    return np.concatenate(parts) if len(parts) > 1 else parts[0]


@lru_cache(256)
def forward(
    group: Group, channels: int, groups: int, sizes: Three, kernel: Three, outs: Three, stride: Three, before: Three,
    dilation: Three, alike: bool = False,
) -> Plan:  # fmt: skip
    """The plan of a convolution of ``channels`` in ``groups``; all places have all taps if they are ``alike``."""
    each = list(zip(outs, kernel, stride, dilation, strict=True))
    n, lanes = group.n, group.lanes
    extents: Any
    if lanes:
        extents = tuple([(m - 1) * s + (k - 1) * d + 1 for m, k, s, d in each])
        residues: Any = ((0,), (0,), (0,))
        steps: Three = (1, 1, 1)
        moves = [[t * d for t in range(k)] for _, k, _, d in each]
    else:
        extents = tuple([m + (k - 1) * d // s for m, k, s, d in each])
        residues = tuple([tuple(sorted({t * d % s for t in range(k)})) for _, k, s, d in each])
        steps = stride
        moves = [[t * d // s for t in range(k)] for _, k, s, d in each]
    places, plane, line = _vectors(outs, extents, stride if lanes else (1, 1, 1), n, lanes)
    layout = _laid(group, channels, sizes, extents, residues, steps, before)
    scale = n if lanes else 1
    distances = []
    for tap in product(*[range(k) for k in kernel]):
        phase = 0
        for t, d, s, rs in zip(tap, dilation, stride, residues, strict=True):
            phase = phase * len(rs) + (0 if lanes else rs.index(t * d % s))
        a, b, c = (move[t] for move, t in zip(moves, tap, strict=True))
        distances.append((((phase * extents[0] + a) * extents[1] + b) * extents[2] + c) * scale)
    skips = lanes and not alike
    order = _TOGETHER if skips else 1
    offsets = _ordered(channels // groups, layout.pitch, distances, order)
    origins = np.arange(math.prod(outs)) * n if lanes else _NO_TABLE
    if skips:
        seen = [
            [(max(-((i * s - b) // d), 0), min((size - 1 - i * s + b) // d + 1, k)) for i in range(m)]
            for (m, k, s, d), b, size in zip(each, before, sizes, strict=True)
        ]
        spans: list[Any] = []
        occupants, went, runs = _passed_over(seen, kernel, channels // groups, spans)
        whole, origins = places[np.maximum(occupants, 0)], went * n
    else:
        whole = _for_all(places, group, layout)
        spans, runs = [[0, len(distances)]], [[0, 1]] * (len(whole) // WIDTH)
    phases = _numbers([[0, len(offsets), 0, len(whole), len(places), plane, line, 0, 0, 0, *outs]])
    return Plan(
        layout, offsets, np.arange(len(distances)), phases, whole, (1, 1, 1), origins, order, _numbers(runs),
        _numbers(spans),
    )  # fmt: skip


def _seen(first: int, count: int, moves: list[int], size: int) -> list[tuple[int, int]]:
    """For each of ``count`` places, from ``first`` on, the taps that see one of ``size`` outputs; ``moves`` grow."""
    ranges = []
    for position in range(first, first + count):
        inside = [number for number, moved in enumerate(moves) if 0 <= position - moved < size]
        ranges.append((inside[0], inside[-1] + 1) if inside else (0, 0))
    return ranges


@lru_cache(256)
def backward(
    group: Group, channels: int, groups: int, sizes: Three, kernel: Three, outs: Three, stride: Three, padding: Three,
    dilation: Three,
) -> Plan:  # fmt: skip
    """The plan of the gradient by an input of ``sizes``, from outputs of ``outs`` and ``channels`` in ``groups``."""
    n, lanes = group.n, group.lanes
    ones: Three = (1, 1, 1)
    spans: list[list[tuple[int, int, list[int]]]] = []  # for each remainder: first and number of elements, its taps
    edges = []
    for size, k, s, p, d in zip(sizes, kernel, stride, padding, dilation, strict=True):
        line = []
        low, high = 0, 0
        for r in range(s):
            first, last = -(-(p - r) // s), (size - 1 + p - r) // s
            own = [t for t in range(k) if t * d % s == r]
            line.append((first, max(last - first + 1, 0), own))
            if own and last >= first:
                moved = [t * d // s for t in own]
                low, high = min(low, first - max(moved)), max(high, last - min(moved))
        spans.append(line)
        edges.append((low, high - low + 1))
    before: Any = tuple([-low for low, _ in edges])
    extents: Any = tuple([extent for _, extent in edges])
    layout = _laid(group, channels, outs, extents, ((0,), (0,), (0,)), ones, before)
    scale = n if lanes else 1
    offsets: list[Any] = []
    phases: list[list[int]] = []
    places: list[Any] = []
    chosen: list[int] = []
    origins = np.zeros(sizes if lanes else (0, 0, 0), np.int64)
    order = _TOGETHER if lanes else 1
    spans_of: list[Any] = []
    runs: list[Any] = []
    remainders: Any
    for remainders in product(*[range(s) for s in stride]):
        parts = [spans[axis][r] for axis, r in enumerate(remainders)]
        counts: Any = tuple([count for _, count, _ in parts])
        if not all(counts):
            continue
        taps: Any = list(product(*[part[2] for part in parts]))
        distances = []
        for tap in taps:
            at = [
                first - t * d // s + b
                for (first, _, _), t, d, s, b in zip(parts, tap, dilation, stride, before, strict=True)
            ]
            distances.append(((at[0] * extents[1] + at[1]) * extents[2] + at[2]) * scale)
        ours = _ordered(channels // groups, layout.pitch, distances, order)
        one, plane, pitch = _vectors(counts, extents, ones, n, lanes)
        if lanes:
            seen = [
                _seen(first, count, [t * d // s for t in own], size)
                for (first, count, own), d, s, size in zip(parts, dilation, stride, outs, strict=True)
            ]
            counted = [len(part[2]) for part in parts]
            occupants, went, own_runs = _passed_over(seen, counted, channels // groups, spans_of)
            here = one[np.maximum(occupants, 0)]
        else:
            here = _for_all(one, group, layout)
            own_runs = [[len(spans_of), 1]] * (len(here) // WIDTH)
            spans_of.append([0, len(distances)])
        runs += own_runs
        starts = [first * s + r - p for (first, _, _), r, s, p in zip(parts, remainders, stride, padding, strict=True)]
        begin = sum(map(len, places))
        phases.append(
            [sum(map(len, offsets)), len(ours), begin, len(here), len(one), plane, pitch, *starts, *counts]
        )
        if lanes:
            where = tuple([slice(start, None, s) for start, s in zip(starts, stride, strict=True)])
            origins[where] = (begin + went.reshape(counts)) * n
        offsets.append(ours)
        places.append(here)
        chosen += [(t[0] * kernel[1] + t[1]) * kernel[2] + t[2] for t in taps]
    return Plan(
        layout, np.concatenate(offsets), _numbers(chosen), _numbers(phases), np.concatenate(places), stride,
        origins.reshape(-1), order, _numbers(runs), _numbers(spans_of),
    )  # fmt: skip


@lru_cache(64)
def height(channels: int) -> int:
    """How high tiles are best for so many output channels."""
    cost = {rows: -(-channels // rows) * rows * each for rows, each in HEIGHTS}
    return min(cost, key=cost.__getitem__)


@lru_cache(64)
def shape(channels: int, taps: int) -> tuple[int, int]:
    """The rows and columns that are best for inner products of so many channels and taps."""
    cost = {
        (rows, columns): -(-channels // rows) * rows * -(-taps // columns) * columns * each
        for rows, columns, each in SHAPES
    }
    return min(cost, key=cost.__getitem__)


def filled(plan: Plan) -> float:
    """The part of the lanes of all vectors that hold an output that is wanted, if a sample is a unit."""
    wanted = sum([math.prod(phase[-3:].tolist()) for phase in plan.phases])
    return wanted / int(plan.phases[:, 4].sum())


def work(plan: Plan, channels: int) -> float:
    """The steps of tiles that one sample takes for so many channels in each group, if samples are lanes."""
    taps = np.add.reduceat(plan.spans[:, 1] - plan.spans[:, 0], plan.runs[:, 0])  # of each tile: runs leave none out
    return int(taps.sum()) * channels / plan.layout.samples


@lru_cache(64)
def beside(group: Group, channels: int, outs: Three, row: int, plane: int, line: int) -> Layout:
    """The layout of the outputs' gradient, each element where its output would lie, in rows of ``row``."""
    extents = outs if group.lanes else (outs[0], plane // line, line)
    layout = _laid(group, channels, outs, extents, ((0,), (0,), (0,)), (1, 1, 1), (0, 0, 0))
    return layout._replace(pitch=row)


@lru_cache(256)
def inner(columns: int, *geometry: Any) -> Plan:
    """The plan ``forward``, its taps made up to whole inner tiles of so many columns, which see what the first does."""
    plan = forward(*geometry, True)
    extra = -len(plan.offsets) % columns
    return plan._replace(offsets=np.concatenate([plan.offsets, np.zeros(extra, np.int64)])) if extra else plan
