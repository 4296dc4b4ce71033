"""Compiled convolutions and their gradients: sums over moved inputs, in tiles of registers, without columns."""

from __future__ import annotations

import math
from functools import lru_cache
from typing import Any

import numpy as np

from ...kernels.native.binding import INWARD, kernel, njit, shared_out
from ...kernels.native.tiles import further, get, lanes, place, put
from . import lowering, outer
from .lowering import Group, Plan, Three
from .tiles import WIDTH, inner_tile, into_lanes, move, out_of_lanes, tile

Sizes = tuple[int, ...]

_DEPTH = 256  # taps whose weights stay in the innermost cache
_TILES = 8  # tiles of outputs that meet them in turn
_SPAN = 64  # vectors of an inner product, after which others take their turn
_PARTS = 4  # parts in which samples are summed: a fixed number, so that sums do not depend on threads
_UNITS = 16  # units from which on their channels stay together
_CROWDED = 0.8  # lanes in use below which samples become lanes
_LESS = 0.85  # of the work, for many taps
_HELD = 1 << 17  # elements of an operand in the workspace up to which it has several samples
_IN_LANES = 1 << 19  # the same, where they are lanes
_MANY = 8  # samples of a unit at most, if they lie one after the other

_once = njit(nogil=True, error_model="numpy", **INWARD)

# -- from memory to the workspace, and back ----------------------------------------------------------------------------


@_once
def _spaced(target: Any, wide: int, source: Any, step: int, count: int) -> None:
    """Copy elements ``step`` apart to places ``wide`` apart."""
    for at in range(count):
        put(target, at * wide, get(source, at * step))


@_once
def _take(x: Any, unit: int, layout: Any, buffer: Any, between: int) -> None:
    """Lay out a unit's samples, ``between`` from one to the next; zeros around them are there already."""
    a, b, c = layout.sizes
    area = a * b * c
    sample = layout.channels * area
    if layout.lanes:
        n = layout.samples
        for channel in range(layout.channels):
            source, target = place(x, unit * n * sample + channel * area), place(buffer, channel * layout.pitch)
            at = 0
            while True:
                into_lanes(further(source, at), sample, target, place(layout.targets, at))
                if at == area - n:
                    break
                at = min(at + n, area - n)
        return
    e0, e1, e2 = layout.extents
    s0, s1, s2 = layout.steps
    b0, b1, b2 = layout.before
    first, second, third = layout.residues
    for number in range(layout.samples):
        source = place(x, (unit * layout.samples + number) * sample)
        if layout.extents == layout.sizes and layout.steps == (1, 1, 1) and layout.before == (0, 0, 0):
            for channel in range(layout.channels):
                move(place(buffer, number * between + channel * layout.pitch), further(source, channel * area), area)
            continue
        for channel in range(layout.channels):
            target = place(buffer, number * between + channel * layout.pitch)
            for r0 in first:
                for r1 in second:
                    for r2 in third:
                        low = max(-((r2 - b2) // s2), 0)
                        count = min((c - 1 + b2 - r2) // s2 + 1, e2) - low
                        for q0 in range(max(-((r0 - b0) // s0), 0), min((a - 1 + b0 - r0) // s0 + 1, e0)):
                            for q1 in range(max(-((r1 - b1) // s1), 0), min((b - 1 + b1 - r1) // s1 + 1, e1)):
                                line = ((q0 * s0 + r0 - b0) * b + q1 * s1 + r1 - b1) * c + low * s2 + r2 - b2
                                to = further(target, (q0 * e1 + q1) * e2 + low)
                                if s2 > 1:
                                    _spaced(to, 1, further(source, line), s2, count)
                                elif count > 0:
                                    move(to, further(source, line), count)
                        target = further(target, e0 * e1 * e2)
            source = further(source, area)


@_once
def _give(
    y: Any, row: int, out: Any, unit: int, first: int, last: int, channels: int, sizes: Any, plan: Any, n: int
) -> None:
    """Put a unit's outputs of channels from ``first`` to ``last`` where they belong."""
    a, b, c = sizes
    area = a * b * c
    samples = plan.layout.samples
    start = unit * samples * channels * area
    if plan.layout.lanes:
        for channel in range(first, last):
            source, target = further(y, (channel - first) * row), place(out, start + channel * area)
            at = 0
            while True:
                out_of_lanes(source, place(plan.origins, at), further(target, at), channels * area)
                if at == area - n:
                    break
                at = min(at + n, area - n)
        return
    s0, s1, s2 = plan.steps
    for number in range(samples):
        for phase in plan.phases:
            plane, line = phase[5], phase[6]
            whole = plane == b * c and line == c and len(plan.phases) == 1  # the outputs lie as they shall
            for channel in range(first, last):
                source = further(y, (channel - first) * row + (phase[2] + number * phase[4]) * n)
                target = place(out, start + (number * channels + channel) * area)
                if whole:
                    move(target, source, area)
                    continue
                target = further(target, (phase[7] * b + phase[8]) * c + phase[9])
                for p0 in range(phase[10]):
                    for p1 in range(phase[11]):
                        to = further(target, (p0 * s0 * b + p1 * s1) * c)
                        where = further(source, p0 * plane + p1 * line)
                        if s2 > 1:
                            _spaced(to, s2, where, 1, phase[12])
                        else:
                            move(to, where, phase[12])


# -- sums over taps ----------------------------------------------------------------------------------------------------


@kernel
def _correlate(
    first: int, last: int, pieces: int, x: Any, plan: Any, w: Any, starts: Any, bias: Any, out: Any, groups: int,
    per_group: int, sizes: Any, n: int, rows: int,
) -> None:  # fmt: skip
    """The outputs of items from ``first`` to ``last``: a unit, a piece of its channels, ``per_group`` in each group."""
    blocks = -(-per_group // rows)
    row = (len(plan.places) | 1) * n
    layout = plan.layout
    sample = layout.channels * layout.pitch
    channels = layout.channels // groups
    spare = (WIDTH + 1) * n + layout.extents[2]  # outputs that nobody wants may see what lies behind
    seen = np.zeros(sample * (1 if layout.lanes else layout.samples) + spare, x.dtype)
    y = np.empty(blocks * rows * row, x.dtype)
    for item in range(first, last):
        unit, piece = item // pieces, item % pieces
        if piece == 0 or item == first:
            _take(x, unit, layout, seen, sample)
        begins, ends = piece * groups * blocks // pieces, (piece + 1) * groups * blocks // pieces
        for group in range(begins // blocks, -(-ends // blocks)):
            low, high = max(begins - group * blocks, 0), min(ends - group * blocks, blocks)
            start = place(seen, group * channels * layout.pitch)
            for number in range(len(plan.phases)):
                phase = plan.phases[number]
                depth, begin, vectors = phase[1], phase[2], phase[3]
                taps = depth // channels
                together = plan.order if plan.order > 1 else max(_DEPTH // max(taps, 1), 1)
                offsets, places = place(plan.offsets, phase[0]), place(plan.places, begin)
                weights = starts[number] + group * blocks * rows * depth
                for some in range(0, vectors, WIDTH * _TILES):
                    until = min(some + WIDTH * _TILES, vectors)
                    for channel in range(0, channels, together):
                        width = min(together, channels - channel)
                        for block in range(low, high):
                            beside = place(bias, (group * blocks + block) * rows)
                            block_weights = place(w, weights + block * rows * depth)
                            for v in range(some, until, WIDTH):
                                run = (begin + v) // WIDTH
                                for step in range(plan.runs[run, 1]):
                                    span = plan.runs[run, 0] + step
                                    tile(
                                        block_weights, start, offsets, channel * taps + plan.spans[span, 0] * width,
                                        channel * taps + plan.spans[span, 1] * width, get(places, v),
                                        get(places, v + 1), get(places, v + 2),
                                        place(y, block * rows * row + (begin + v) * n), row, beside,
                                        channel == 0 and step == 0, rows,
                                    )  # fmt: skip
            first_channel = group * per_group + low * rows
            last_channel = min(group * per_group + high * rows, (group + 1) * per_group)
            _give(
                place(y, low * rows * row), row, out, unit, first_channel, last_channel, groups * per_group, sizes,
                plan, n,
            )  # fmt: skip


@kernel
def _inner_products(
    first: int, last: int, units: int, parts: int, x: Any, plan: Any, g: Any, beside: Any, sums: Any, groups: int,
    per_group: int, n: int, high: int, wide: int,
) -> None:  # fmt: skip
    """The sums of the parts from ``first`` to ``last`` of the units, each to its place in ``sums``.

    ``beside`` is the layout of the outputs' gradient ``g``, which has ``per_group`` channels for each group.
    """
    layout = plan.layout
    vectors = plan.phases[0, 4] * (1 if layout.lanes else layout.samples)
    span = -(-vectors // -(-vectors // _SPAN))
    blocks, turns = -(-per_group // high), len(plan.offsets) // wide
    row, size = beside.pitch, -(-high * wide // n) * n
    sample = layout.channels * layout.pitch
    spare = (WIDTH + 1) * n + layout.extents[2]
    seen = np.zeros(sample * (1 if layout.lanes else layout.samples) + spare, x.dtype)
    back = np.zeros((groups * per_group + high) * row, x.dtype)
    for part in range(first, last):
        for unit in range(part * units // parts, (part + 1) * units // parts):
            _take(x, unit, layout, seen, sample)
            _take(g, unit, beside, back, plan.phases[0, 4] * n)
            for group in range(groups):
                start = place(seen, group * (layout.channels // groups) * layout.pitch)
                for v in range(0, vectors, span):
                    stop = min(v + span, vectors)
                    for block in range(blocks):
                        line = place(back, (group * per_group + block * high) * row)
                        to = (((part * groups + group) * blocks + block) * turns) * size
                        for turn in range(turns):
                            inner_tile(
                                line, row, start, place(plan.offsets, turn * wide), place(plan.places, 0), v, stop,
                                place(sums, to + turn * size), high,
                            )  # fmt: skip


# -- what the rows ask for ---------------------------------------------------------------------------------------------


def _served(*arrays: Any) -> bool:
    kind = arrays[0].dtype
    return kind in (np.float32, np.float64) and all([a.dtype == kind and a.size for a in arrays])


def _flat(array: Any) -> Any:
    return (array if array.flags.carray else np.array(array, order="C")).reshape(-1)


def _three(sizes: Sizes, fill: int) -> Three:
    triple: Any = (fill,) * (3 - len(sizes)) + tuple(sizes)
    return triple


def _group(
    make: Any, n: int, batch: int, channels: int, out_channels: int, geometry: Any, size: Three, outs: Three
) -> Group:
    """Which samples make a unit; ``size`` and ``outs`` are the sizes of operands of so many channels."""
    return _chosen(make, n, batch, channels, out_channels, geometry, math.prod(size), math.prod(outs))


@lru_cache(512)
def _chosen(
    make: Any, n: int, batch: int, channels: int, out_channels: int, geometry: Any, area: int, outputs: int
) -> Group:
    alone = Group(n, 1, False)
    plan = make(alone, *geometry)
    elements = channels * plan.layout.pitch
    if batch >= n and min(area, outputs) >= n and max(channels * area, out_channels * outputs) * n <= _IN_LANES:
        together = Group(n, n, True)
        if lowering.filled(plan) < _CROWDED * n:
            return together
        own = int(plan.phases[:, 4] @ plan.phases[:, 1]) / WIDTH
        less = lowering.work(make(together, *geometry), geometry[0] // geometry[1])
        if plan.phases[:, 1].min() >= _DEPTH and less < _LESS * own:
            return together
    vectors = int(plan.phases[:, 4].min())
    best, least = 1, 1e9
    for many in range(1, min(_MANY, (batch + 1) // 2) + 1):
        if many > 1 and max(elements, out_channels * outputs) * many > _HELD:
            break
        waste = -(-vectors * many // WIDTH) * WIDTH / (vectors * many) + 8 / (vectors * many)
        if waste < least * 0.98:
            best, least = many, waste
    return Group(n, best, False)


@kernel
def _pack(
    first: int, last: int, w: Any, outputs: int, channels: int, area: int, from_group: int, from_output: int,
    from_channel: int, phases: Any, taps: Any, starts: Any, packed: Any, rows: int, order: int,
) -> None:  # fmt: skip
    """The weights of tiles from ``first`` to ``last`` as they are wanted: those of all rows together, tap by tap."""
    blocks = -(-outputs // rows)
    for block in range(first, last):
        row = block % blocks * rows
        source = place(w, block // blocks * from_group + row * from_output)
        there = min(rows, outputs - row)
        for number in range(len(phases)):
            begin, count = phases[number, 0] // channels, phases[number, 1] // channels
            target = place(packed, starts[number] + block * rows * channels * count)
            for some in range(0, channels, order):
                for tap in range(count):
                    for channel in range(some, min(some + order, channels)):
                        own = further(source, channel * from_channel + (tap if count == area else taps[begin + tap]))
                        for r in range(there):
                            put(target, r, get(own, r * from_output))
                        for r in range(there, rows):
                            put(target, r, w.dtype.type(0))
                        target = further(target, rows)


def _packed(w: Any, plan: Plan, groups: int, rows: int, turned: bool) -> tuple[Any, Any]:
    """The weights tile by tile, phase by phase, and where each phase's begin; ``turned``: outputs are summed over."""
    per_group, summed = len(w) // groups, w.shape[1]
    area = math.prod(w.shape[2:])
    steps = per_group * summed * area, summed * area, area
    outputs, channels = per_group, summed
    if turned:
        outputs, channels, steps = summed, per_group, (steps[0], steps[2], steps[1])
    tiles = groups * -(-outputs // rows)
    sizes = tiles * rows * plan.phases[:, 1]
    starts = np.cumsum(sizes) - sizes
    packed = np.empty(int(sizes.sum()), w.dtype)
    shared_out(
        _pack, tiles, packed.size, _flat(w), outputs, channels, area, *steps, plan.phases, plan.taps, starts, packed,
        rows, plan.order,
    )  # fmt: skip
    return packed, starts


def _run(
    plan: Plan, x: Any, units: int, packed: Any, starts: Any, bias: Any, out: Any, groups: int, per_group: int,
    taps: int, sizes: Three,
) -> None:  # fmt: skip
    """Fill ``out``, which has ``per_group`` channels in each group, of so many ``taps``."""
    rows = lowering.height(per_group)
    pieces = min(groups * -(-per_group // rows), 1 if units >= _UNITS else 2 if units > 1 else _PARTS)
    beside = np.zeros((groups, -(-per_group // rows) * rows), x.dtype)
    if bias is not None:
        beside[:, :per_group] = bias.reshape(groups, per_group)
    shared_out(
        _correlate, units * pieces, taps * out.size // 32, pieces, _flat(x), plan, packed, starts, beside.reshape(-1),
        out, groups, per_group, sizes, lanes(x.dtype), rows,
    )  # fmt: skip


def convolve(
    x: Any, w: Any, bias: Any, stride: Sizes, pads: list[tuple[int, int]], dilation: Sizes, groups: int
) -> Any:
    """See ``kernels.py``; ``None`` for what is not served."""
    if not _served(x, w) or w.ndim > 5:
        return None
    n, (batch, channels), o = lanes(x.dtype), x.shape[:2], w.shape[0]
    size, kernel = _three(x.shape[2:], 1), _three(w.shape[2:], 1)
    steps, spread = _three(stride, 1), _three(dilation, 1)
    edges = [(0, 0)] * (5 - w.ndim) + list(pads)
    before: Any = tuple([b for b, _ in edges])
    outs: Any = tuple(
        [
            (m + b + a - d * (k - 1) - 1) // s + 1
            for m, (b, a), d, k, s in zip(size, edges, spread, kernel, steps, strict=True)
        ]
    )
    out = np.empty((batch, o, *outs[5 - w.ndim :]), x.dtype)
    if not out.size:
        return out
    geometry = channels, groups, size, kernel, outs, steps, before, spread
    done = order = 0
    while done < batch:
        group = _group(lowering.forward, n, batch - done, channels, o, geometry, size, outs)
        units = (batch - done) // group.samples
        many = done + units * group.samples
        plan = lowering.forward(group, *geometry)
        if plan.order != order:
            order = plan.order
            packed, starts = _packed(w, plan, groups, lowering.height(o // groups), False)
        _run(
            plan, x[done:many], units, packed, starts, bias, out[done:many].reshape(-1), groups, o // groups,
            w[0].size, outs,
        )  # fmt: skip
        done = many
    return out


def input_gradient(
    g: Any, w: Any, sizes: Sizes, stride: Sizes, padding: Sizes, dilation: Sizes, groups: int, bias: Any = None
) -> Any:
    """See ``kernels.py``; ``None`` for what is not served."""
    if not _served(g, w) or w.ndim > 5:
        return None
    n, (batch, o), inner = lanes(g.dtype), g.shape[:2], w.shape[1]
    out = np.empty((batch, groups * inner, *sizes), g.dtype)
    if not out.size:
        return out
    size, kernel, outs = _three(sizes, 1), _three(w.shape[2:], 1), _three(g.shape[2:], 1)
    geometry = o, groups, size, kernel, outs, _three(stride, 1), _three(padding, 0), _three(dilation, 1)
    done = order = 0
    while done < batch:
        group = _group(lowering.backward, n, batch - done, o, groups * inner, geometry, outs, size)
        units = (batch - done) // group.samples
        many = done + units * group.samples
        plan = lowering.backward(group, *geometry)
        if plan.order != order:
            order = plan.order
            packed, starts = _packed(w, plan, groups, lowering.height(inner), True)
        _run(
            plan, g[done:many], units, packed, starts, bias, out[done:many].reshape(-1), groups, inner,
            w[0, 0].size * (o // groups), size,
        )  # fmt: skip
        done = many
    return out


def weight_gradient(x: Any, g: Any, kernel: Sizes, stride: Sizes, padding: Sizes, dilation: Sizes, groups: int) -> Any:
    """See ``kernels.py``; ``None`` for what is not served."""
    if not _served(x, g) or g.ndim > 5:
        return None
    n, (batch, channels), o = lanes(x.dtype), x.shape[:2], g.shape[1]
    size, taps, outs = _three(x.shape[2:], 1), _three(kernel, 1), _three(g.shape[2:], 1)
    rest = _three(stride, 1), _three(padding, 0), _three(dilation, 1)
    seen, back = _flat(x), _flat(g)
    gradient = outer.weight_gradient(seen, back, batch, channels, o, groups, size, taps, outs, *rest)
    if gradient is not None:
        return gradient.reshape(o, channels // groups, *kernel)
    geometry = channels, groups, size, taps, outs, *rest
    x, g = seen.reshape(x.shape), back.reshape(g.shape)
    per_group, depth = o // groups, channels // groups * math.prod(kernel)
    high, wide = lowering.shape(per_group, depth)
    blocks, turns, length = -(-per_group // high), -(-depth // wide), -(-high * wide // n) * n
    total: Any = None
    done = 0
    while done < batch:
        group = _group(lowering.forward, n, batch - done, channels, o, geometry, size, outs)
        units = (batch - done) // group.samples
        many = done + units * group.samples
        plan = lowering.inner(wide, group, *geometry)
        vectors, _, plane, line = plan.phases[0, 3:7].tolist()
        parts = min(units, _PARTS)
        sums = np.zeros((parts, groups, blocks, turns, length), x.dtype)
        shared_out(
            _inner_products, parts, sums[0].size * units * vectors, units, parts, _flat(x[done:many]), plan,
            _flat(g[done:many]), lowering.beside(group, o, outs, lowering.odd(vectors * n, n), plane, line),
            sums.reshape(-1), groups, per_group, n, high, wide,
        )  # fmt: skip
        for part in sums:
            total = part if total is None else np.add(total, part, out=total)
        done = many
    total = total[..., : high * wide].reshape(groups, blocks, turns, high, wide).transpose(0, 1, 3, 2, 4)
    total = total.reshape(groups, blocks * high, turns * wide)[:, :per_group, :depth]
    return np.ascontiguousarray(total).reshape(o, channels // groups, *kernel)
