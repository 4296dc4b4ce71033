"""Products of matrices in register tiles, shared out among threads, each block finished while the cache holds it.

BLAS has threads of its own, which go on looking for work for milliseconds after each product and take the processor
from those of the loops in between. A program whose products are all served here leaves them asleep.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from llvmlite import ir  # type: ignore[import-untyped]
from numba import types

from ...kernels.native import tiles
from ...kernels.native.binding import INWARD, intrinsic, kernel, njit, shared_out
from ...kernels.native.tiles import alone, further, get, multiply, placed, put

_part: Any = njit(nogil=True, _nrt=False, error_model="numpy", **INWARD)

DEPTH = 256  # steps in depth that are taken at once: what they need of the right matrix stays in the cache
_BLOCK = 32  # rows that are finished before the next are begun
_spare: list[Any] = []  # room for a packed matrix, unless somebody has it
_LINE = 64  # bytes to a multiple of which packed vectors are aligned


@intrinsic
def _call(typing: Any, address: Any, first: Any, last: Any, where: Any) -> Any:
    """Call the function at an address."""

    def code(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        word = ir.IntType(64)
        kind = ir.FunctionType(ir.VoidType(), [word] * 3)
        builder.call(builder.inttoptr(arguments[0], kind.as_pointer()), arguments[1:])
        return context.get_dummy_value()

    return types.void(*[types.int64] * 4), code


@_part
def _four(source: Any, target: Any) -> None:
    one, two, three, four = get(source, 0), get(source, 1), get(source, 2), get(source, 3)
    put(target, 0, one)
    put(target, 1, two)
    put(target, 2, three)
    put(target, 3, four)


@_part
def _rows_packed(source: Any, step: int, target: Any, steps: int, wide: int, n: int, nought: Any) -> None:
    """``wide`` numbers of each row, filled up to ``n``, one row after another."""
    alone()
    if wide == n == 16:
        for s in range(steps):
            here, there = further(source, s * step), further(target, s * 16)
            for j in range(0, 16, 4):
                _four(further(here, j), further(there, j))
    elif wide == n == 8:
        for s in range(steps):
            here, there = further(source, s * step), further(target, s * 8)
            for j in range(0, 8, 4):
                _four(further(here, j), further(there, j))
    else:
        for s in range(steps):
            here, there = further(source, s * step), further(target, s * n)
            for j in range(wide):
                put(there, j, get(here, j))
            for j in range(wide, n):
                put(there, j, nought)


@_part
def _columns_packed(source: Any, column: int, target: Any, steps: int, wide: int, n: int, nought: Any) -> None:
    """The same of a matrix whose columns are its lines in memory."""
    alone()
    for first in range(0, steps, n):
        last = min(first + n, steps)
        for j in range(wide):
            here = further(source, j * column)
            for s in range(first, last):
                put(target, s * n + j, get(here, s))
        for j in range(wide, n):
            for s in range(first, last):
                put(target, s * n + j, nought)


@kernel
def _pack(
    first: int, last: int, like: Any, b: int, step: int, column: int, right: int, depth: int, columns: int, n: int,
    nought: Any,
) -> None:  # fmt: skip
    """Columns as vectors, step by step: (vectors, depth, n)."""
    for part in range(first, last):
        wide = min(n, columns - part * n)
        target = further(placed(right, like), part * depth * n)
        if column == 1:
            _rows_packed(further(placed(b, like), part * n), step, target, depth, wide, n, nought)
        else:
            _columns_packed(further(placed(b, like), part * n * column), column, target, depth, wide, n, nought)


@kernel
def _multiply(
    first: int, last: int, like: Any, a: int, row: int, step: int, right: int, c: int, rows: int, vectors: int,
    depth: int, n: int, height: int, tail: int, where: int,
) -> None:  # fmt: skip
    """Blocks of ``height`` rows."""
    wide = vectors * n
    for start in range(first * height, min(last * height, rows), _BLOCK):
        stop = min(start + _BLOCK, last * height, rows)
        target = further(placed(c, like), start * wide)
        for done in range(0, depth, DEPTH):
            multiply(
                further(placed(a, like), start * row + done * step), row, step, further(placed(right, like), done * n),
                n, depth * n, target, wide, stop - start, vectors, min(DEPTH, depth - done), done > 0, n,
            )  # fmt: skip
        if tail:
            _call(tail, start, stop, where)


def address(array: Any) -> int:
    """Where an array's data begins."""
    found: int = array.__array_interface__["data"][0]
    return found


def product(a: Any, b: Any, tail: int = 0, where: int = 0, out: Any = None) -> Any:
    """``a @ b`` of two matrices of one floating dtype; None where their lines have gaps between numbers.

    out    where it is put: rows of whole vectors, without gaps
    tail   the address of a function that is called with the first and the last row of each block that is done, and
           with ``where``; for results of whole vectors
    """
    kind = a.dtype
    size = kind.itemsize
    (rows, depth), columns = a.shape, b.shape[1]
    row, step = a.strides
    down, across = b.strides
    if (row != size and step != size) or (down != size and across != size):
        return None
    n, height = tiles.lanes(kind), tiles.HEIGHT
    vectors = -(-columns // n)
    needed = vectors * n * depth + _LINE // size
    try:
        room = _spare.pop()
    except IndexError:  # at first, and where another thread multiplies at the same time
        room = None
    if room is None or room.size < needed or room.dtype != kind:
        room = np.empty(needed, kind)
    right = address(room)
    right += -right % _LINE
    shared_out(
        _pack, vectors, vectors * n * depth // 4, room, address(b), down // size, across // size, right, depth, columns,
        n, kind.type(0),
    )  # fmt: skip
    made = np.empty((rows, vectors * n), kind) if out is None else out
    shared_out(
        _multiply, -(-rows // height), rows * columns * depth // 32, room, address(a), row // size, step // size, right,
        address(made), rows, vectors, depth, n, height, tail, where,
    )  # fmt: skip
    _spare[:] = [room]  # for the next product, whoever asks for it
    return made if columns == vectors * n else np.ascontiguousarray(made[:, :columns])
