"""The inner loops of convolutions: tiles of sums in vector registers, over operands that a table of offsets leads to.

What a tap of a convolution's kernel sees is the input moved by a fixed distance.  So the matrix of a convolution's
columns need not exist: its rows are places in the input, and a table of distances leads to them.  A *tile* holds the
sums of a few output channels at ``WIDTH`` vectors of outputs; an *inner tile* the inner products of a few channels of
the outputs' gradient with what a few taps see.  The lanes of a vector are neighbouring outputs, or one output of
several samples: ``into_lanes`` and ``out_of_lanes`` turn samples into lanes and back.

Source: Dukhan (2019), The Indirect Convolution Algorithm; Goto and van de Geijn (2008), Anatomy of high-performance
matrix multiplication.
"""

from __future__ import annotations

from functools import partial
from typing import Any

from numba import extending, types
from numba.core import cgutils

from ...kernels.native.vectors import HEIGHT, Words

intrinsic: Any = extending.intrinsic

WIDE = HEIGHT == 8  # 32 registers
WIDTH = 3  # vectors of a tile
#: Rows of the tiles there are, and what a row of them costs beside one of the highest.
HEIGHTS = ((8, 1.0), (6, 1.03), (3, 1.3), (1, 2.5)) if WIDE else ((4, 1.0), (3, 1.1), (1, 2.5))
#: Rows and columns of the inner tiles, and what a product of them costs.
SHAPES = ((8, 3, 1.0), (6, 4, 1.0), (1, 10, 1.5)) if WIDE else ((4, 3, 1.0), (2, 5, 1.1), (1, 8, 1.6))


def _one_of(builder: Any, number: Any, choices: dict[int, Any]) -> None:
    """Go to the code that ``choices`` writes for a number known at run time, and on from all."""
    end, other = builder.append_basic_block("end"), builder.append_basic_block("other")
    choice = builder.switch(number, other)
    for case, write in choices.items():
        block = builder.append_basic_block("case")
        choice.add_case(number.type(case), block)
        builder.position_at_end(block)
        write()
        builder.branch(end)
    builder.position_at_end(other)
    builder.unreachable()
    builder.position_at_end(end)


@intrinsic
def tile(
    typing: Any, w: Any, x: Any, offsets: Any, first: Any, last: Any, one: Any, two: Any, three: Any, y: Any, row: Any,
    bias: Any, fresh: Any, rows: Any,
) -> Any:  # fmt: skip
    """Add to ``rows`` rows of ``y`` what taps from ``first`` to ``last`` see at three places, times the weights ``w``.

    If it is ``fresh``, to the rows' ``bias``; only then there may be no taps.  ``w`` has the weights of the tile's rows
    side by side, tap by tap; ``y`` points to the first row's three vectors, the next row lies ``row`` further.
    """

    def code(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        words = Words(context, builder, signature.args[0].dtype)
        w, *parts, number = arguments
        tiles = {rows: partial(_write_tile, words, rows, w, words.whole(rows), *parts) for rows, _ in HEIGHTS}
        _one_of(builder, number, tiles)
        return context.get_dummy_value()

    whole = types.intp
    return types.void(w, x, offsets, whole, whole, whole, whole, whole, y, whole, bias, types.boolean, whole), code


@intrinsic
def outer_tile(
    typing: Any, w: Any, step: Any, x: Any, offsets: Any, first: Any, last: Any, one: Any, two: Any, three: Any,
    y: Any, row: Any, fresh: Any,
) -> Any:  # fmt: skip
    """A ``tile`` of the highest kind, its weights ``step`` apart; put in the place of ``y`` if it is ``fresh``."""

    def code(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        words = Words(context, builder, signature.args[0].dtype)
        w, step, x, offsets, first, last, one, two, three, y, row, fresh = arguments
        _write_tile(words, HEIGHT, w, step, x, offsets, first, last, one, two, three, y, row, None, fresh)
        return context.get_dummy_value()

    whole = types.intp
    return types.void(w, whole, x, offsets, whole, whole, whole, whole, whole, y, whole, types.boolean), code


def _write_tile(
    words: Words, rows: int, w: Any, step: Any, x: Any, offsets: Any, first: Any, last: Any, one: Any, two: Any,
    three: Any, y: Any, row: Any, bias: Any, at_first: Any,
) -> None:  # fmt: skip
    builder, index = words.builder, words.whole
    targets = [
        builder.gep(y, [builder.add(builder.mul(row, index(r)), index(part * words.n))])
        for r in range(rows)
        for part in range(WIDTH)
    ]
    bases = [builder.gep(x, [place]) for place in (one, two, three)]
    fresh, begun, walk, end = (builder.append_basic_block(name) for name in ("fresh", "begun", "walk", "end"))
    builder.cbranch(at_first, fresh, begun)
    builder.position_at_end(fresh)
    starts = [
        words.nought if bias is None else words.spread(builder.gep(bias, [index(r)]))
        for r in range(rows)
        for _ in range(WIDTH)
    ]
    builder.cbranch(builder.icmp_signed("<", first, last), walk, end)
    builder.position_at_end(begun)
    there = [words.load(target) for target in targets]
    builder.branch(walk)
    builder.position_at_end(walk)
    tap = builder.phi(index)
    sums = [builder.phi(words.vector) for _ in targets]
    for block, values in ((fresh, starts), (begun, there)):
        tap.add_incoming(first, block)
        for total, value in zip(sums, values, strict=True):
            total.add_incoming(value, block)
    offset = builder.load(builder.gep(offsets, [tap]))
    seen = [words.load(builder.gep(base, [offset])) for base in bases]
    weights = builder.gep(w, [builder.mul(tap, step)])
    updated = []
    for r in range(rows):
        weight = words.spread(builder.gep(weights, [index(r)]))
        updated += [builder.call(words.fused, [weight, seen[part], sums[r * WIDTH + part]]) for part in range(WIDTH)]
    following = builder.add(tap, index(1))
    tap.add_incoming(following, walk)
    for total, value in zip(sums, updated, strict=True):
        total.add_incoming(value, walk)
    builder.cbranch(builder.icmp_signed("<", following, last), walk, end)
    builder.position_at_end(end)
    ends = [builder.phi(words.vector) for _ in targets]
    for total, start, value in zip(ends, starts, updated, strict=True):
        total.add_incoming(start, fresh)  # a phase may have no taps
        total.add_incoming(value, walk)
    for target, value in zip(targets, ends, strict=True):
        words.store(value, target)


@intrinsic
def inner_tile(
    typing: Any, g: Any, row: Any, x: Any, offsets: Any, places: Any, first: Any, last: Any, y: Any, rows: Any,
) -> Any:  # fmt: skip
    """Add to ``y`` the inner products of rows of ``g`` with what taps see, over the vectors from ``first`` to ``last``.

    The rows of ``g`` lie ``row`` apart, their vectors side by side; ``offsets`` points to the first tap's, ``places``
    to where each vector of outputs begins in ``x``.  The products lie in ``y`` row by row; ``rows`` says which of the
    ``SHAPES`` it is.
    """

    def code(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        words = Words(context, builder, signature.args[0].dtype)
        *parts, number = arguments
        shapes = {high: partial(_write_inner_tile, words, high, wide, *parts) for high, wide, _ in SHAPES}
        _one_of(builder, number, shapes)
        return context.get_dummy_value()

    whole = types.intp
    return types.void(g, whole, x, offsets, places, whole, whole, y, whole), code


def _write_inner_tile(
    words: Words, high: int, wide: int, g: Any, row: Any, x: Any, offsets: Any, places: Any, first: Any, last: Any,
    y: Any,
) -> None:  # fmt: skip
    builder, index, n = words.builder, words.whole, words.n
    lines = [builder.gep(g, [builder.mul(row, index(r))]) for r in range(high)]
    bases = [builder.gep(x, [builder.load(builder.gep(offsets, [index(column)]))]) for column in range(wide)]
    start, walk, end = builder.block, builder.append_basic_block("walk"), builder.append_basic_block("end")
    builder.branch(walk)
    builder.position_at_end(walk)
    step = builder.phi(index)
    step.add_incoming(first, start)
    sums = [builder.phi(words.vector) for _ in range(high * wide)]
    for total in sums:
        total.add_incoming(words.nought, start)
    place = builder.load(builder.gep(places, [step]))
    along = builder.mul(step, index(n))
    grads = [words.load(builder.gep(line, [along])) for line in lines]
    updated = list(sums)
    for column, base in enumerate(bases):
        seen = words.load(builder.gep(base, [place]))
        for r in range(high):
            updated[r * wide + column] = builder.call(words.fused, [grads[r], seen, sums[r * wide + column]])
    following = builder.add(step, index(1))
    step.add_incoming(following, walk)
    for total, value in zip(sums, updated, strict=True):
        total.add_incoming(value, walk)
    builder.cbranch(builder.icmp_signed("<", following, last), walk, end)
    builder.position_at_end(end)
    for part in range(0, len(updated), n):
        target = builder.gep(y, [index(part)])
        words.store(builder.fadd(words.load(target), words.totals(updated[part : part + n])), target)


@intrinsic
def into_lanes(typing: Any, x: Any, sample: Any, y: Any, targets: Any) -> Any:
    """As many neighbours of as many samples, which lie ``sample`` apart, as a vector has lanes: put as vectors.

    Each is a vector of one element of all samples, and lies where ``targets`` says.
    """

    def code(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        x, sample, y, targets = arguments
        words = Words(context, builder, signature.args[0].dtype)
        index = words.whole
        rows = [words.load(builder.gep(x, [builder.mul(sample, index(r))])) for r in range(words.n)]
        for lane, value in enumerate(words.turned(rows)):
            words.store(value, builder.gep(y, [builder.load(builder.gep(targets, [index(lane)]))]))
        return context.get_dummy_value()

    return types.void(x, types.intp, y, targets), code


@intrinsic
def out_of_lanes(typing: Any, y: Any, origins: Any, x: Any, sample: Any) -> Any:
    """The way back from ``into_lanes``: vectors from where ``origins`` says become neighbours in each sample."""

    def code(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        y, origins, x, sample = arguments
        words = Words(context, builder, signature.args[0].dtype)
        index = words.whole
        vectors = [
            words.load(builder.gep(y, [builder.load(builder.gep(origins, [index(place)]))])) for place in range(words.n)
        ]
        for r, value in enumerate(words.turned(vectors)):
            words.store(value, builder.gep(x, [builder.mul(sample, index(r))]))
        return context.get_dummy_value()

    return types.void(y, origins, x, types.intp), code


@intrinsic
def move(typing: Any, target: Any, source: Any, count: Any) -> Any:
    """Copy neighbours."""

    def code(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        cgutils.raw_memcpy(builder, arguments[0], arguments[1], arguments[2], target.dtype.bitwidth // 8)
        return context.get_dummy_value()

    return types.void(target, source, types.intp), code
