"""Steps of optimizers, compiled: each element of a parameter, its gradient and its state is read and written once.

One call serves any number of parameters. It is given the arrays themselves, as their ``id``s, and reads where their
data lies from their heads, which NumPy's C interface lays down: to take a hundred arrays as arguments costs more than
to step them. Parameters are worked on in blocks of fixed length: the result is the same for any number of threads.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numba import carray

from .binding import inlined, kernel, shared_out
from .memory import COLUMNS, DATA, FIT, FLAGS, NDIM, ROWS, SIZES, WRITABLE, numbers_at, word_at

BLOCK = 1 << 14


@inlined
def _block(ids: Any, row: int, column: int, begin: int, size: int, like: Any) -> Any:
    """A block of the elements of one of the arrays."""
    return carray(numbers_at(word_at(ids[row, column] + DATA) + begin * like.itemsize, like), size)


@kernel
def _placed(ids: Any, parts: int, places: Any) -> int:
    """Write each parameter's first block and its size, then those of all; gives the number of blocks, -1 for none.

    Of no use are arrays with gaps, those of a parameter in different orders, and what may not be written to, except for
    the gradient, the second.
    """
    blocks = total = 0
    for row in range(ids.shape[0]):
        order = ROWS | COLUMNS
        size = 0
        for column in range(ids.shape[1]):
            head = ids[row, column]
            flags: int = word_at(head + FLAGS)
            order &= flags
            if order == 0 or flags & FIT == 0 or (column != 1 and flags & WRITABLE == 0):
                return -1
            count = parts
            sizes = word_at(head + SIZES)
            for axis in range(word_at(head + NDIM) & 0xFF):
                count *= word_at(sizes + 8 * axis)
            if column > 0 and count != size:
                return -1
            size = count
        places[row, 0] = blocks
        places[row, 1] = size
        total += size
        blocks += (size + BLOCK - 1) // BLOCK
    places[ids.shape[0], 0] = blocks
    places[ids.shape[0], 1] = total
    return blocks


def _understood() -> bool:
    """Whether arrays' heads are what they are taken for."""
    probe = np.empty((3, 5), np.float32)
    places = np.empty((2, 2), np.int64)
    ids = np.array([[id(probe)]], np.int64)
    return bool(
        np.dtype(np.intp).itemsize == 8
        and _address(id(probe)) == probe.ctypes.data
        and _placed(ids, 1, places) == 1
        and places[0, 1] == 15
    )


@kernel
def _address(head: int) -> int:
    return word_at(head + DATA)


_trusted: bool | None = None


def step(
    rule: Callable[..., Any], arrays: Sequence[Sequence[Any]], kind: Any, numbers: Sequence[float], *settings: Any
) -> bool:
    """Take one step of parameters by ``rule``; False, with nothing done, where arrays lie in a way that is not served.

    arrays   of each parameter: its data, its gradient, and its state, of one dtype; complex ones as pairs
    kind     the dtype of their real parts, float32 or float64
    numbers  what the rule computes with
    """
    global _trusted
    if _trusted is None:
        _trusted = _understood()
    if not _trusted:
        return False
    count, columns = len(arrays), len(arrays[0])
    flat = [array for row in arrays for array in row]
    ids = np.fromiter(map(id, flat), np.int64, len(flat)).reshape(count, columns)
    places = np.empty((count + 1, 2), np.int64)
    blocks = _placed(ids, flat[0].itemsize // kind.itemsize, places)
    if blocks < 0:
        return False
    shared_out(rule, blocks, int(places[count, 1]), ids, places, np.array(numbers, kind), *settings)
    return True


@inlined
def _following(places: Any, row: int, block: int) -> tuple[int, int, int]:
    """The parameter that a block belongs to, from ``row`` on, and the block's first element and length."""
    while places[row + 1, 0] <= block:
        row += 1
    begin = (block - places[row, 0]) * BLOCK
    return row, begin, min(BLOCK, places[row, 1] - begin)


@kernel
def adam(first: int, last: int, ids: Any, places: Any, numbers: Any, decays: bool, amsgrad: bool) -> None:
    """Adam and AdamW; the numbers are the constants that ``Adam._compiled`` names."""
    sign, decay, shrink, fresh1, beta2, fresh2, eps, rate = (
        numbers[0], numbers[1], numbers[2], numbers[3], numbers[4], numbers[5], numbers[6], numbers[7],
    )  # fmt: skip
    row = 0
    for block in range(first, last):
        row, begin, size = _following(places, row, block)
        p = _block(ids, row, 0, begin, size, numbers)
        g = _block(ids, row, 1, begin, size, numbers)
        mean = _block(ids, row, 2, begin, size, numbers)
        square = _block(ids, row, 3, begin, size, numbers)
        most = _block(ids, row, 4 if amsgrad else 3, begin, size, numbers)
        for i in range(size):
            slope = sign * g[i]
            if decays:
                slope += decay * p[i]
            m = mean[i] + (slope - mean[i]) * fresh1
            s = square[i] * beta2 + slope * slope * fresh2
            mean[i] = m
            square[i] = s
            if amsgrad:
                s = most[i] if most[i] > s or most[i] != most[i] else s
                most[i] = s
            p[i] = p[i] * shrink - rate * m / (np.sqrt(s) + eps)


@kernel
def descend(first: int, last: int, ids: Any, places: Any, numbers: Any, decays: bool, nesterov: bool) -> None:
    """SGD, with a buffer of the running mean where there are three arrays."""
    sign, decay, momentum, fresh, ahead, rate = (
        numbers[0], numbers[1], numbers[2], numbers[3], numbers[4], numbers[5],
    )  # fmt: skip
    row = 0
    for block in range(first, last):
        row, begin, size = _following(places, row, block)
        p = _block(ids, row, 0, begin, size, numbers)
        g = _block(ids, row, 1, begin, size, numbers)
        moved = ids.shape[1] > 2
        mean = _block(ids, row, 2 if moved else 1, begin, size, numbers)
        for i in range(size):
            slope = sign * g[i]
            if decays:
                slope += decay * p[i]
            if moved:
                m = momentum * mean[i] + fresh * slope
                mean[i] = m
                slope = slope + ahead * m if nesterov else m
            p[i] -= rate * slope


@kernel
def rmsprop(
    first: int, last: int, ids: Any, places: Any, numbers: Any, decays: bool, moved: bool, centered: bool
) -> None:
    """RMSprop: with the squares' running mean, with a buffer where ``moved``, with the mean where ``centered``."""
    sign, decay, alpha, fresh, momentum, eps, rate = (
        numbers[0], numbers[1], numbers[2], numbers[3], numbers[4], numbers[5], numbers[6],
    )  # fmt: skip
    row = 0
    for block in range(first, last):
        row, begin, size = _following(places, row, block)
        p = _block(ids, row, 0, begin, size, numbers)
        g = _block(ids, row, 1, begin, size, numbers)
        square = _block(ids, row, 2, begin, size, numbers)
        if not (moved or centered):
            for i in range(size):
                slope = sign * g[i]
                if decays:
                    slope += decay * p[i]
                s = square[i] * alpha + slope * slope * fresh
                square[i] = s
                p[i] -= rate * slope / (np.sqrt(s) + eps)
            continue
        buffer = _block(ids, row, 3 if moved else 1, begin, size, numbers)
        mean = _block(ids, row, ids.shape[1] - 1 if centered else 1, begin, size, numbers)
        for i in range(size):
            slope = sign * g[i]
            if decays:
                slope += decay * p[i]
            s = square[i] * alpha + slope * slope * fresh
            square[i] = s
            if centered:
                m = mean[i] + (slope - mean[i]) * fresh
                mean[i] = m
                s -= m * m
            way = slope / (np.sqrt(s) + eps)
            if moved:
                way += momentum * buffer[i]
                buffer[i] = way
            p[i] -= rate * way


@kernel
def adagrad(first: int, last: int, ids: Any, places: Any, numbers: Any, decays: bool) -> None:
    """Adagrad, with the sum of the squares."""
    sign, decay, eps, rate = numbers[0], numbers[1], numbers[2], numbers[3]
    row = 0
    for block in range(first, last):
        row, begin, size = _following(places, row, block)
        p = _block(ids, row, 0, begin, size, numbers)
        g = _block(ids, row, 1, begin, size, numbers)
        total = _block(ids, row, 2, begin, size, numbers)
        for i in range(size):
            slope = sign * g[i]
            if decays:
                slope += decay * p[i]
            s = total[i] + slope * slope
            total[i] = s
            p[i] -= rate * slope / (np.sqrt(s) + eps)
