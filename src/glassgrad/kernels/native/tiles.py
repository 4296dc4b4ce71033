"""Products of matrices that are in the cache, for kernels to call: tiles of results held in vector registers.

A tile is a few rows by one or two vectors (or many vectors of few rows); for each step in depth it takes the vectors
of the right matrix, and multiplies them by a number of each row of the left one.  The left matrix may lie in any way;
the rows of the right one must be whole vectors: ``packed`` makes them so.  Every sum runs over the depth from first to
last, whatever tile it is in: rows can be shared out freely.

A compiler does not find this form by itself, so the tile is written in LLVM's own words: vectors of ``LANES`` numbers,
which LLVM makes of smaller ones where the processor has no such vectors.
Source: Goto and van de Geijn (2008), Anatomy of high-performance matrix multiplication.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from llvmlite import ir  # type: ignore[import-untyped]
from numba import extending, types

from .binding import INWARD, njit
from .vectors import BYTES, HEIGHT, WIDE, Words, lanes

intrinsic: Any = extending.intrinsic

_HALF = HEIGHT // 2
_LINE = 64  # bytes that the cache brings at once


@intrinsic
def place(typing: Any, array: Any, offset: Any) -> Any:
    """Where the element number ``offset`` of an array is, were it flat."""

    def code(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        data = context.make_array(signature.args[0])(context, builder, arguments[0]).data
        return builder.gep(data, [arguments[1]])

    return types.CPointer(array.dtype)(array, types.intp), code


@intrinsic
def placed(typing: Any, address: Any, like: Any) -> Any:
    """The place with an address, of numbers as ``like`` has them."""

    def code(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.inttoptr(arguments[0], context.get_value_type(signature.return_type))

    return types.CPointer(like.dtype)(types.intp, like), code


@intrinsic
def further(typing: Any, pointer: Any, offset: Any) -> Any:
    """A place so many elements further on."""

    def code(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.gep(arguments[0], [arguments[1]])

    return pointer(pointer, types.intp), code


@intrinsic
def get(typing: Any, pointer: Any, offset: Any) -> Any:
    """The number so many elements further on."""

    def code(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        number = builder.load(builder.gep(arguments[0], [arguments[1]]))
        number.align = pointer.dtype.bitwidth // 8
        return number

    return pointer.dtype(pointer, types.intp), code


@intrinsic
def put(typing: Any, pointer: Any, offset: Any, value: Any) -> Any:
    """Put a number so many elements further on."""

    def code(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        stored = builder.store(arguments[2], builder.gep(arguments[0], [arguments[1]]))
        stored.align = pointer.dtype.bitwidth // 8
        return context.get_dummy_value()

    return types.void(pointer, types.intp, pointer.dtype), code


@intrinsic
def alone(typing: Any) -> Any:
    """In a function's first line: it stays out of those that call it, and its places share no memory.

    So a loop over numbers is vectorised once for all callers, and without tests for what overlaps.
    """

    def code(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        builder.function.attributes.add("noinline")
        for argument in builder.function.args[2:]:  # the first two are where the result and an exception go
            if isinstance(argument.type, ir.PointerType):
                argument.add_attribute("noalias")
        return context.get_dummy_value()

    return types.void(), code


@intrinsic
def copied(typing: Any, source: Any, target: Any) -> Any:
    """A vector put in another place, which is aligned."""

    def code(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        words = Words(context, builder, source.dtype)
        words.store(words.load(arguments[0]), arguments[1], BYTES)
        return context.get_dummy_value()

    return types.void(source, target), code


@intrinsic
def transposed(typing: Any, source: Any, row: Any, target: Any) -> Any:
    """As many rows as a vector has numbers, a vector of each, put down as columns, side by side where it is aligned."""

    def code(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        data, row, there = arguments
        words = Words(context, builder, source.dtype)
        whole, n = words.whole, words.n
        lines = [words.load(builder.gep(data, [builder.mul(row, whole(i))])) for i in range(n)]
        mask_type, apart = ir.VectorType(ir.IntType(32), n), n // 2
        while apart:  # blocks beside the diagonal change places, smaller and smaller ones
            low = ir.Constant(mask_type, [n + e - apart if e & apart else e for e in range(n)])
            high = ir.Constant(mask_type, [n + e if e & apart else e + apart for e in range(n)])
            for i in range(n):
                if not i & apart:
                    one, other = lines[i], lines[i + apart]
                    lines[i] = builder.shuffle_vector(one, other, low)
                    lines[i + apart] = builder.shuffle_vector(one, other, high)
            apart //= 2
        for i, column in enumerate(lines):
            words.store(column, builder.gep(there, [whole(i * n)]), BYTES)
        return context.get_dummy_value()

    return types.void(source, types.intp, target), code


def _along(join: Any, doc: str) -> Any:
    """What ``join`` makes of all numbers of some vectors that lie side by side, at least one."""

    @intrinsic
    def walk(typing: Any, pointer: Any, vectors: Any) -> Any:
        def code(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            data, count = arguments
            words = Words(context, builder, pointer.dtype)
            index, n = words.whole, words.n

            def loaded(step: Any) -> Any:
                return words.load(builder.gep(data, [builder.mul(step, index(n))]))

            first = loaded(index(0))
            start = builder.block
            head, body, end = (builder.append_basic_block(name) for name in ("head", "body", "end"))
            builder.branch(head)
            builder.position_at_end(head)
            step, total = builder.phi(index), builder.phi(words.vector)
            step.add_incoming(index(1), start)
            total.add_incoming(first, start)
            builder.cbranch(builder.icmp_signed("<", step, count), body, end)
            builder.position_at_end(body)
            joined = join(builder, total, loaded(step))
            step.add_incoming(builder.add(step, index(1)), body)
            total.add_incoming(joined, body)
            builder.branch(head)
            builder.position_at_end(end)
            result: Any = total
            half = n // 2
            while half:
                order = [*range(half, 2 * half), *([0] * (n - half))]
                mask = ir.Constant(ir.VectorType(ir.IntType(32), n), order)
                result = join(builder, result, builder.shuffle_vector(result, words.unset, mask))
                half //= 2
            return builder.extract_element(result, ir.IntType(32)(0))

        return pointer.dtype(pointer, types.intp), code

    walk.__doc__ = doc
    return walk


def _larger(builder: Any, one: Any, other: Any) -> Any:
    return builder.select(builder.fcmp_ordered(">", one, other), one, other)


largest = _along(_larger, "The largest number of some vectors; NaN may be passed over.")
total = _along(lambda builder, one, other: builder.fadd(one, other), "The sum of the numbers of some vectors.")


def _tile(rows: int, vectors: int) -> Any:
    """The product of ``rows`` rows with ``vectors`` vectors, put in the place of ``c``, or ``added`` to what is there.

    ``left_row`` and ``left_step`` lead from row to row and from step to step in the left matrix, ``right_step`` and
    ``right_vector`` from step to step and from vector to vector in the right one, ``c_row`` from row to row of the
    result, whose vectors lie side by side.
    """

    @intrinsic
    def tile(
        typing: Any, a: Any, left_row: Any, left_step: Any, b: Any, right_step: Any, right_vector: Any, c: Any,
        c_row: Any, depth: Any, added: Any,
    ) -> Any:  # fmt: skip
        kind, whole = a.dtype, types.intp

        def code(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            a, left_row, left_step, b, right_step, right_vector, c, c_row, depth, added = arguments
            words = Words(context, builder, kind)
            index = words.whole
            targets = words.grid(c, c_row, rows, vectors)
            down = [builder.mul(left_row, index(row)) for row in range(rows)]
            across = [builder.mul(right_vector, index(part)) for part in range(vectors)]
            start = builder.block
            begun, walk, end = (builder.append_basic_block(name) for name in ("begun", "walk", "end"))
            builder.cbranch(added, begun, walk)
            builder.position_at_end(begun)
            there = [words.load(target) for target in targets]
            builder.branch(walk)
            builder.position_at_end(walk)
            step = builder.phi(index)
            sums = [builder.phi(words.vector) for _ in targets]
            for block, firsts in ((start, [words.nought] * len(targets)), (begun, there)):
                step.add_incoming(index(0), block)
                for total, value in zip(sums, firsts, strict=True):
                    total.add_incoming(value, block)
            here = builder.gep(b, [builder.mul(step, right_step)])
            right = [words.load(builder.gep(here, [offset])) for offset in across]
            left = builder.gep(a, [builder.mul(step, left_step)])
            updated = []
            for row in range(rows):
                number = words.spread(builder.gep(left, [down[row]]))
                for part in range(vectors):
                    updated.append(builder.call(words.fused, [number, right[part], sums[row * vectors + part]]))
            following = builder.add(step, index(1))
            step.add_incoming(following, walk)
            for total, value in zip(sums, updated, strict=True):
                total.add_incoming(value, walk)
            builder.cbranch(builder.icmp_signed("<", following, depth), walk, end)
            builder.position_at_end(end)
            for target, value in zip(targets, updated, strict=True):
                words.store(value, target)
            return context.get_dummy_value()

        pointer = types.CPointer(kind)
        return types.void(
            pointer, whole, whole, pointer, whole, whole, pointer, whole, whole, types.boolean
        ), code

    return tile


_high_two, _high_one = _tile(HEIGHT, 2), _tile(HEIGHT, 1)
_half_two, _half_one = _tile(_HALF, 4 if WIDE else 2), _tile(_HALF, 1)
_line_many, _line_one = _tile(1, 8 if WIDE else 4), _tile(1, 1)
_TWO, _MANY = (4, 8) if WIDE else (2, 4)


@njit(nogil=True, _nrt=False, error_model="numpy", **INWARD)
def multiply(
    a: Any, left_row: int, left_step: int, b: Any, right_step: int, right_vector: int, c: Any, c_row: int, rows: int,
    vectors: int, depth: int, added: bool, n: int,
) -> None:  # fmt: skip
    """The product of ``rows`` rows and ``vectors`` vectors of ``n`` numbers: see ``_tile``; ``depth`` is positive."""
    alone()
    row = 0
    while row + HEIGHT <= rows:
        left, target, part = further(a, row * left_row), further(c, row * c_row), 0
        while part + 2 <= vectors:
            _high_two(
                left, left_row, left_step, further(b, part * right_vector), right_step, right_vector,
                further(target, part * n), c_row, depth, added,
            )  # fmt: skip
            part += 2
        if part < vectors:
            _high_one(
                left, left_row, left_step, further(b, part * right_vector), right_step, right_vector,
                further(target, part * n), c_row, depth, added,
            )  # fmt: skip
        row += HEIGHT
    while row + _HALF <= rows:
        left, target, part = further(a, row * left_row), further(c, row * c_row), 0
        while part + _TWO <= vectors:
            _half_two(
                left, left_row, left_step, further(b, part * right_vector), right_step, right_vector,
                further(target, part * n), c_row, depth, added,
            )  # fmt: skip
            part += _TWO
        while part < vectors:
            _half_one(
                left, left_row, left_step, further(b, part * right_vector), right_step, right_vector,
                further(target, part * n), c_row, depth, added,
            )  # fmt: skip
            part += 1
        row += _HALF
    while row < rows:
        left, target, part = further(a, row * left_row), further(c, row * c_row), 0
        while part + _MANY <= vectors:
            _line_many(
                left, left_row, left_step, further(b, part * right_vector), right_step, right_vector,
                further(target, part * n), c_row, depth, added,
            )  # fmt: skip
            part += _MANY
        while part < vectors:
            _line_one(
                left, left_row, left_step, further(b, part * right_vector), right_step, right_vector,
                further(target, part * n), c_row, depth, added,
            )  # fmt: skip
            part += 1
        row += 1


def strip(vectors: int, packed: bool) -> Any:
    """The product of ``HEIGHT`` rows with so many packed vectors, put in the place of ``c``, or ``added`` to that.

    The left matrix lies in rows ``left_row`` apart, or is ``packed``, the numbers of a step side by side. Three vectors
    a tile leave the fewest loads for each multiplication; two steps at a time hide the counting. Where the left matrix
    is not packed, the rows that follow are brought near meanwhile: the processor does not see that so many rows, read
    a few numbers of each at a time, go on.
    """
    unroll, rows = 2, HEIGHT

    @intrinsic
    def tile(
        typing: Any, a: Any, left_row: Any, b: Any, right_vector: Any, c: Any, c_row: Any, depth: Any, added: Any
    ) -> Any:
        kind, whole = a.dtype, types.intp

        def code(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            a, left_row, b, right_vector, c, c_row, depth, added = arguments
            words = Words(context, builder, kind)
            index, n = words.whole, words.n

            def come(state: Any, values: Any, block: Any) -> None:
                for phi, value in zip(state, values, strict=True):
                    phi.add_incoming(value, block)

            def near(step: Any) -> None:
                line = _LINE // words.size  # numbers
                first = builder.udiv(builder.mul(step, index(rows)), index(line))
                for piece in range(max(unroll * rows // line, 1)):
                    chunk = builder.add(first, index(piece))
                    row = builder.add(builder.urem(chunk, index(rows)), index(rows))
                    along = builder.mul(builder.udiv(chunk, index(rows)), index(line))
                    words.fetch(builder.gep(a, [builder.add(builder.mul(row, left_row), along)]))

            def walked(state: Any, count: int) -> Any:
                step, left, right, *sums = state
                for s in range(count):
                    from_here = builder.gep(right, [index(s * n)])
                    across = [
                        words.load(builder.gep(from_here, [builder.mul(right_vector, index(part))]))
                        for part in range(vectors)
                    ]
                    for row in range(rows):
                        there = index(s * rows + row)
                        if not packed:
                            there = builder.add(builder.mul(left_row, index(row)), index(s))
                        number = words.spread(builder.gep(left, [there]))
                        for part in range(vectors):
                            slot = row * vectors + part
                            sums[slot] = builder.call(words.fused, [number, across[part], sums[slot]])
                left = builder.gep(left, [index(count * rows if packed else count)])
                return [builder.add(step, index(count)), left, builder.gep(right, [index(count * n)]), *sums]

            targets = words.grid(c, c_row, rows, vectors)
            start = builder.block
            begun, main, many, rest, one, end = (
                builder.append_basic_block(name) for name in ("begun", "main", "many", "rest", "one", "end")
            )
            builder.cbranch(added, begun, main)
            builder.position_at_end(begun)
            there = [words.load(target) for target in targets]
            builder.branch(main)
            builder.position_at_end(main)
            state = [builder.phi(kind) for kind in (index, a.type, b.type, *[words.vector] * len(targets))]
            come(state, [index(0), a, b, *[words.nought] * len(targets)], start)
            come(state, [index(0), a, b, *there], begun)
            builder.cbranch(builder.icmp_signed("<=", builder.add(state[0], index(unroll)), depth), many, rest)
            builder.position_at_end(many)
            if not packed:
                near(state[0])
            come(state, walked(state, unroll), many)
            builder.branch(main)
            builder.position_at_end(rest)
            last = [builder.phi(value.type) for value in state]
            come(last, state, main)
            builder.cbranch(builder.icmp_signed("<", last[0], depth), one, end)
            builder.position_at_end(one)
            come(last, walked(last, 1), one)
            builder.branch(rest)
            builder.position_at_end(end)
            for target, value in zip(targets, last[3:], strict=True):
                words.store(value, target)
            return context.get_dummy_value()

        pointer = types.CPointer(kind)
        return types.void(pointer, whole, pointer, whole, pointer, whole, whole, types.boolean), code

    return tile


def packed(matrix: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """A matrix as vectors, step by step: (vectors, steps, lanes), zeros in lanes that are too many.

    No vector lies in two lines of the cache, which each of its loads would pay for.
    """
    depth, width = matrix.shape
    n = lanes(matrix.dtype)
    whole, size = width // n, -(-width // n) * depth * n
    room = np.empty(size + n, matrix.dtype)
    skipped = -room.ctypes.data % (n * room.itemsize) // room.itemsize
    vectors = room[skipped : skipped + size].reshape(-1, depth, n)
    vectors[:whole] = matrix[:, : whole * n].reshape(depth, whole, n).swapaxes(0, 1)
    if len(vectors) > whole:
        vectors[whole, :, : width - whole * n] = matrix[:, whole * n :]
        vectors[whole, :, width - whole * n :] = 0
    return vectors
