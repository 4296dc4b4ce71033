"""Compiled weight gradients of convolutions between many channels: sums of outer products, with channels as lanes.

The gradient of a tap is the sum, over all places, of the outer product of an output's gradient with what the tap sees.
With both operands turned so that channels are neighbours, the lanes of a vector are input channels, and nothing is
added up across them; a stride, or a small picture, leaves no lane empty.
"""

from __future__ import annotations

import math
from functools import lru_cache
from itertools import product
from typing import Any, NamedTuple

import numpy as np

from ...kernels.native.binding import INWARD, kernel, njit, shared_out
from ...kernels.native.tiles import HEIGHT, further, get, lanes, place, put
from .lowering import Three, odd, positions
from .tiles import WIDTH, into_lanes, outer_tile

Sizes = tuple[int, ...]

_DEPTH = 256  # places whose operands stay in the innermost cache
_MOST_SUMS = 1 << 18  # elements of sums that have partial sums: beyond, channels are shared out instead of samples
_MOST_PARTS = 4  # parts that are shared out: a fixed number, so that sums do not depend on threads

_once = njit(nogil=True, error_model="numpy", **INWARD)


class Tables(NamedTuple):
    """The tables of a weight gradient.

    targets  where each element of a channel goes
    pitch    elements of as many channels as a vector has lanes
    offsets  where the first tap sees what belongs to each output of a sample
    taps     distance of each tap
    """

    targets: Any
    pitch: int
    offsets: Any
    taps: Any


@lru_cache(256)
def _tables(n: int, sizes: Three, kernel: Three, outs: Three, stride: Three, before: Three, dilation: Three) -> Tables:
    each = list(zip(outs, kernel, stride, dilation, strict=True))
    extents: Any = tuple([(m - 1) * s + (k - 1) * d + 1 for m, k, s, d in each])
    targets = positions(sizes, extents, before, n)
    pitch = odd((math.prod(extents) + 1) * n, n)
    a, b, c = (np.arange(m) * s for m, _, s, _ in each)
    offsets = ((a[:, None, None] * extents[1] + b[:, None]) * extents[2] + c).reshape(-1) * n
    moves = [[t * d for t in range(k)] for _, k, _, d in each]
    taps = [((i * extents[1] + j) * extents[2] + k) * n for i, j, k in product(*moves)]
    return Tables(targets, pitch, offsets, np.array(taps, np.int64))


@_once
def _turned(x: Any, area: int, target: Any, targets: Any, n: int) -> None:
    """As many channels of ``area`` elements as there are lanes, turned into vectors that lie where ``targets`` says."""
    at = 0
    while True:
        into_lanes(further(x, at), area, target, place(targets, at))
        if at == area - n:
            break
        at = min(at + n, area - n)


@kernel
def _outer_products(
    first: int, last: int, parts: int, batch: int, many: int, x: Any, g: Any, targets: Any, straight: Any,
    offsets: Any, tap_offsets: Any, sums: Any, groups: int, turns: int, in_blocks: int, pitch: int, out_blocks: int,
    n: int, high: int,
) -> None:  # fmt: skip
    """The sums of items from ``first`` to ``last``: a part of the samples, a group, a turn of its input channels.

    A turn has ``in_blocks`` times as many channels as there are lanes, a group ``out_blocks`` times as many outputs.
    """
    area, outs = len(targets), len(straight)
    seen = np.zeros(many * in_blocks * pitch, x.dtype)
    back = np.empty(many * outs * out_blocks * n, x.dtype)
    size = high * WIDTH * n
    steps, each = n // high, out_blocks * (n // high)
    for item in range(first, last):
        part, group, turn = item // (groups * turns), item // turns % groups, item % turns
        begin, end = part * batch // parts, (part + 1) * batch // parts
        own = item * (len(tap_offsets) // WIDTH) * each * size
        for sample in range(begin, end, many):
            count = min(many, end - sample)
            for number in range(count):
                channel = (((sample + number) * groups + group) * turns + turn) * in_blocks * n
                for some in range(in_blocks):
                    _turned(
                        place(x, (channel + some * n) * area), area, place(seen, (number * in_blocks + some) * pitch),
                        targets, n,
                    )  # fmt: skip
                channel = ((sample + number) * groups + group) * out_blocks * n
                for some in range(out_blocks):
                    _turned(
                        place(g, (channel + some * n) * outs), outs, place(back, (some * many + number) * outs * n),
                        straight, n,
                    )  # fmt: skip
            depth = count * outs
            span = -(-depth // -(-depth // _DEPTH))
            for start in range(0, depth, span):
                stop = min(start + span, depth)
                fresh = sample == begin and start == 0
                for v in range(0, len(tap_offsets), WIDTH):
                    one, two, three = tap_offsets[v], tap_offsets[v + 1], tap_offsets[v + 2]
                    to = own + (v // WIDTH) * each * size
                    for block in range(each):
                        outer_tile(
                            place(back, (block // steps) * many * outs * n + block % steps * high), n, place(seen, 0),
                            place(offsets, 0), start, stop, one, two, three, place(sums, to + block * size), WIDTH * n,
                            fresh,
                        )  # fmt: skip


@kernel
def _added(
    first: int, last: int, sums: Any, out: Any, parts: int, groups: int, turns: int, in_blocks: int, taps: int,
    vectors: int, outputs: int, n: int, high: int,
) -> None:  # fmt: skip
    """The sums of the parts, for output channels from ``first`` to ``last``, as the weight lies."""
    size, each = high * WIDTH * n, outputs // high
    whole = vectors // WIDTH * each * size  # of an item
    for o in range(first, last):
        group, row = o // outputs, o % outputs
        begin = row // high * size + row % high * WIDTH * n
        for turn in range(turns):
            for some in range(in_blocks):
                target = place(out, ((o * turns + turn) * in_blocks + some) * n * taps)
                for tap in range(taps):
                    v = some * taps + tap
                    source = place(
                        sums, (group * turns + turn) * whole + v // WIDTH * each * size + begin + v % WIDTH * n
                    )
                    for lane in range(n):
                        total = get(source, lane)
                        for part in range(1, parts):
                            total += get(source, part * groups * turns * whole + lane)
                        put(target, lane * taps + tap, total)


def weight_gradient(
    x: Any, g: Any, batch: int, channels: int, o: int, groups: int, sizes: Three, kernel: Three, outs: Three,
    stride: Three, padding: Three, dilation: Three,
) -> Any:  # fmt: skip
    """The gradient (o, c / groups, taps), of operands as they lie in memory; ``None`` where lanes would be empty."""
    n, inner, outputs = lanes(x.dtype), channels // groups, o // groups
    area, length = math.prod(sizes), math.prod(outs)
    if inner % n or outputs % n or min(area, length) < n:
        return None
    taps = math.prod(kernel)
    tables = _tables(n, sizes, kernel, outs, stride, padding, dilation)
    in_blocks = turns = inner // n
    if o * inner * taps <= _MOST_SUMS:
        parts, turns = min(batch, _MOST_PARTS), 1
    else:
        parts = 1
        turns = max([t for t in range(1, _MOST_PARTS + 1) if in_blocks % t == 0])
    in_blocks //= turns
    many = min(-(-_DEPTH // length), -(-batch // parts))
    offsets = np.add.outer(np.arange(many) * (in_blocks * tables.pitch), tables.offsets).reshape(-1)
    tap_offsets = np.add.outer(np.arange(in_blocks) * tables.pitch, tables.taps).reshape(-1)
    tap_offsets = np.concatenate([tap_offsets, np.zeros(-len(tap_offsets) % WIDTH, np.int64)])
    items = parts * groups * turns
    sums = np.empty(items * len(tap_offsets) * n * outputs, x.dtype)
    shared_out(
        _outer_products, items, batch * length * inner * taps * o // 16, parts, batch, many, x, g,
        tables.targets, np.arange(length) * n, offsets, tap_offsets, sums, groups, turns, in_blocks, tables.pitch,
        outputs // n, n, HEIGHT,
    )  # fmt: skip
    out = np.empty((o, inner, taps), x.dtype)
    shared_out(
        _added, o, out.size * parts, sums, out.reshape(-1), parts, groups, turns, in_blocks, taps,
        len(tap_offsets), outputs, n, HEIGHT,
    )  # fmt: skip
    return out
