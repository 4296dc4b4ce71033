"""Products of matrices in register tiles, shared out among threads, each block finished while the cache holds it.

BLAS has threads of its own, which have to be woken for each product, or go on looking for work and take the processor
from those of the loops in between. Where products are served here they sleep.

The result is cut into blocks; a number's sum runs over the depth from first to last, whatever block it is in. Whoever
has a block packs what it needs of the right matrix, and of a left one whose columns are its lines in memory, into room
of its own: nobody waits for anybody. A few vectors of columns stay in the nearest cache while the rows pass by.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import types

from ...ground import runtime
from ...kernels.native import tiles
from ...kernels.native.binding import INWARD, kernel, njit, shared_out
from ...kernels.native.memory import address
from ...kernels.native.tiles import HEIGHT, alone, copied, further, get, multiply, placed, put, strip, transposed

_part: Any = njit(nogil=True, _nrt=False, error_model="numpy", **INWARD)

DEPTH = 192  # steps in depth that are taken at once: three vectors of so many steps fit the nearest cache
_ABREAST = 3 if HEIGHT == 8 else 2  # vectors of columns in a tile
_BLOCK = 128  # rows that pass by before the next columns come
_BROAD = 9  # vectors of columns that a block of the result has at most
_TALL = 192  # rows that it has at most
_LOW = 32  # and to which it is cut for more blocks
_EACH = 2  # blocks for each thread at least
FEWEST = 1 << 20  # multiplications from which on eager products come here
_LEAST_ROWS, _LEAST_COLUMNS = 16, 64  # with fewer, packing weighs too much
_LINE = 64  # bytes to a multiple of which packed vectors are aligned

_system: Any = types.ExternalFunction
_allocated = _system("malloc", types.int64(types.int64))
_freed = _system("free", types.void(types.int64))


@_part
def _rows_packed(source: Any, step: int, target: Any, steps: int, vectors: int, wide: int, n: int, nought: Any) -> None:
    """Rows of ``wide`` numbers as vectors, step by step, the last filled up: (vectors, steps, n)."""
    alone()
    whole = wide // n
    for s in range(steps):
        here = further(source, s * step)
        for part in range(whole):
            copied(further(here, part * n), further(target, (part * steps + s) * n))
    if whole < vectors:
        last = further(target, whole * steps * n)
        for s in range(steps):
            here = further(source, s * step + whole * n)
            for j in range(wide - whole * n):
                put(last, s * n + j, get(here, j))
            for j in range(wide - whole * n, n):
                put(last, s * n + j, nought)


@_part
def _columns_packed(
    source: Any, column: int, target: Any, steps: int, vectors: int, wide: int, n: int, nought: Any
) -> None:
    """The same of a matrix whose columns are its lines in memory."""
    alone()
    for part in range(vectors):
        here, there = further(source, part * n * column), further(target, part * steps * n)
        some = min(n, wide - part * n)
        first = 0
        if some == n:
            while first + n <= steps:
                transposed(further(here, first), column, further(there, first * n))
                first += n
        for s in range(first, steps):
            for j in range(some):
                put(there, s * n + j, get(here, j * column + s))
            for j in range(some, n):
                put(there, s * n + j, nought)


@_part
def _left_packed(source: Any, step: int, target: Any, steps: int, count: int) -> None:
    """Rows of a matrix whose columns are its lines in memory, ``HEIGHT`` side by side: (count, steps, HEIGHT)."""
    alone()
    for s in range(steps):
        here = further(source, s * step)
        for part in range(count):
            there = further(target, (part * steps + s) * HEIGHT)
            for i in range(HEIGHT):
                put(there, i, get(here, part * HEIGHT + i))


_three, _two, _one = (strip(vectors, False) for vectors in (3, 2, 1))
_packed_three, _packed_two, _packed_one = (strip(vectors, True) for vectors in (3, 2, 1))


@_part
def _tiles(
    left: Any, row: int, count: int, right: Any, c: Any, wide: int, abreast: int, steps: int, added: bool, n: int
) -> None:
    """``count`` times ``HEIGHT`` rows."""
    alone()
    for tile in range(count):
        here, there = further(left, tile * HEIGHT * row), further(c, tile * HEIGHT * wide)
        if abreast == 3:
            _three(here, row, right, steps * n, there, wide, steps, added)
        elif abreast == 2:
            _two(here, row, right, steps * n, there, wide, steps, added)
        else:
            _one(here, row, right, steps * n, there, wide, steps, added)


@_part
def _packed_tiles(
    left: Any, count: int, right: Any, c: Any, wide: int, abreast: int, steps: int, added: bool, n: int
) -> None:
    """The same of rows that were packed."""
    alone()
    for tile in range(count):
        here, there = further(left, tile * steps * HEIGHT), further(c, tile * HEIGHT * wide)
        if abreast == 3:
            _packed_three(here, 1, right, steps * n, there, wide, steps, added)
        elif abreast == 2:
            _packed_two(here, 1, right, steps * n, there, wide, steps, added)
        else:
            _packed_one(here, 1, right, steps * n, there, wide, steps, added)


@_part
def _added(line: Any, c: Any, wide: int, rows: int, some: int) -> None:
    """A line added to each row."""
    alone()
    for i in range(rows):
        here = further(c, i * wide)
        for j in range(some):
            put(here, j, get(here, j) + get(line, j))


@kernel
def _multiply(
    first: int, last: int, like: Any, a: int, row: int, step: int, b: int, down: int, across: int, c: int, rows: int,
    columns: int, depth: int, n: int, size: int, nought: Any, tall: int, broad: int, bias: int,
) -> None:  # fmt: skip
    """Blocks of ``tall`` rows and ``broad`` vectors of columns, those of the same columns one after another."""
    vectors = -(-columns // n)
    wide, high = vectors * n, -(-rows // tall)
    memory = _allocated((broad * n + _BLOCK) * DEPTH * size + _LINE)
    if memory == 0:
        raise MemoryError
    room = memory + -memory % _LINE
    right, left = placed(room, like), placed(room + broad * n * DEPTH * size, like)
    block = first
    while block < last:
        line = block // high
        following = min(last, (line + 1) * high)
        start, stop = (block - line * high) * tall, min((following - line * high) * tall, rows)
        block = following
        at = line * broad * n
        some = min(broad, vectors - line * broad)
        for done in range(0, depth, DEPTH):
            steps = min(DEPTH, depth - done)
            source = further(placed(b, like), done * down + at * across)
            if across == 1:
                _rows_packed(source, down, right, steps, some, min(some * n, columns - at), n, nought)
            else:
                _columns_packed(source, across, right, steps, some, min(some * n, columns - at), n, nought)
            for top in range(start, stop, _BLOCK):
                bottom = min(top + _BLOCK, stop)
                here = further(placed(a, like), top * row + done * step)
                target = further(placed(c, like), top * wide + at)
                if step != 1:
                    _left_packed(here, step, left, steps, (bottom - top) // HEIGHT)
                whole = (bottom - top) // HEIGHT
                for part in range(0, some, _ABREAST):
                    panel, there = further(right, part * steps * n), further(target, part * n)
                    abreast = min(_ABREAST, some - part)
                    if step != 1:
                        _packed_tiles(left, whole, panel, there, wide, abreast, steps, done > 0, n)
                    else:
                        _tiles(here, row, whole, panel, there, wide, abreast, steps, done > 0, n)
                    if whole * HEIGHT < bottom - top:
                        multiply(
                            further(here, whole * HEIGHT * row), row, step, panel, n, steps * n,
                            further(there, whole * HEIGHT * wide), wide, bottom - top - whole * HEIGHT, abreast, steps,
                            done > 0, n,
                        )  # fmt: skip
                if bias and done + steps == depth:
                    _added(further(placed(bias, like), at), target, wide, bottom - top, min(some * n, columns - at))
    _freed(memory)


def _cut(rows: int, vectors: int, threads: int) -> tuple[int, int]:
    """How many rows and how many vectors of columns a block of the result has.

    Every thread has a few, so that nobody waits long for the others, but no more: each block packs what it needs.
    """
    across = -(-vectors // _BROAD)
    broad = -(-vectors // (across * _ABREAST)) * _ABREAST
    high = max(-(-rows // _TALL), -(-_EACH * threads // -(-vectors // broad)))
    return max(-(-rows // (high * HEIGHT)) * HEIGHT, _LOW), broad


def product(a: Any, b: Any, bias: Any = None, out: Any = None) -> Any:
    """``a @ b`` of two matrices of one floating dtype; None where their lines have gaps between numbers.

    bias   a vector of that dtype, without gaps, that is added to each row
    out    where it is put: rows of whole vectors, without gaps
    """
    kind = a.dtype
    size = kind.itemsize
    (rows, depth), columns = a.shape, b.shape[1]
    row, step = a.strides
    down, across = b.strides
    if (row != size and step != size) or (down != size and across != size):
        return None
    n = tiles.lanes(kind)
    vectors = -(-columns // n)
    tall, broad = _cut(rows, vectors, runtime.get_num_threads())
    padded = np.empty((rows, vectors * n), kind) if out is None else out
    shared_out(
        _multiply, -(-rows // tall) * -(-vectors // broad), rows * columns * depth // 64, padded, address(a),
        row // size, step // size, address(b), down // size, across // size, address(padded), rows, columns, depth, n,
        size, kind.type(0), tall, broad, 0 if bias is None else address(bias),
    )  # fmt: skip
    return padded if columns == vectors * n else np.ascontiguousarray(padded[:, :columns])


def dot(a: Any, b: Any, out: Any = None) -> Any:
    """``a @ b`` of two matrices, by whoever is faster; ``out`` is rows without gaps."""
    result = served(a, b, out=out)
    return np.dot(a, b, out=out) if result is None else result


def served(a: Any, b: Any, bias: Any = None, out: Any = None) -> Any:
    """``a @ b``, with a vector added to each row, where that is faster than BLAS: by sizes, dtypes and layout alone."""
    kind = a.dtype
    if HEIGHT != 8 or kind.char not in "fd" or b.dtype is not kind or a.ndim != 2 or b.ndim != 2:
        return None  # vectors of less than 512 bits, for which BLAS is faster, and what are no matrices
    (rows, depth), (steps, columns) = a.shape, b.shape
    if depth != steps or rows * depth * columns < FEWEST:
        return None
    if rows < _LEAST_ROWS or columns < _LEAST_COLUMNS or (out is not None and columns % tiles.lanes(kind)):
        return None
    if bias is not None and (bias.dtype is not kind or bias.shape != (columns,) or not bias.flags.carray):
        return None
    if not (a.flags.aligned and b.flags.aligned):
        return None
    return product(a, b, bias=bias, out=out)
