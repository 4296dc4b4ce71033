"""Steps of optimizers, compiled: each element of a parameter, its gradient and its state is read and written once.

One call serves any number of parameters. It is given the addresses of all arrays in a table, which is kept from step to
step: to take a hundred arrays as arguments costs more than to step them. Parameters are worked on in blocks of fixed
length: the result is the same for any number of threads.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import chain
from operator import is_
from typing import Any

import numpy as np
from numba import carray

from .binding import inlined, kernel, shared_out
from .memory import address, beginning_of, numbers_at

BLOCK = 1 << 14


def _beginning(array: Any) -> Any:
    """Where the data of a C array begins; 0 for an array of another layout."""
    return beginning_of(array)


_beginning = kernel(_beginning, nogil=False)  # half the time that Python takes to ask a new array


@inlined
def _block(table: Any, row: int, column: int, begin: int, size: int, like: Any) -> Any:
    """A block of the elements of one of the arrays."""
    return carray(numbers_at(table[row, column] + begin * like.itemsize, like), size)


class Layout:
    """Where the arrays of some parameters lie: found out once, but for the gradients, which are new at each step.

    kept       the arrays that it is of, gradients left out: it holds only for these very objects
    sizes      elements of each parameter
    turned     which parameters have columns for lines, as all their arrays must
    table      the addresses of all arrays: a row for each parameter
    spans      each parameter's first block and its number count; then those of all
    """

    __slots__ = ("kept", "sizes", "turned", "table", "spans")

    def __init__(self, arrays: Sequence[Sequence[Any]], parts: int) -> None:
        self.kept, _ = _apart(arrays)
        self.sizes = [row[0].size for row in arrays]
        self.turned = [not row[0].flags.c_contiguous for row in arrays]
        self.table = np.array([[*map(address, row)] for row in arrays], np.int64)
        counts = np.array(self.sizes, np.int64) * parts
        self.spans = np.zeros((len(arrays) + 1, 2), np.int64)
        self.spans[1:, 0], self.spans[:-1, 1] = np.cumsum(-(-counts // BLOCK)), counts
        self.spans[-1, 1] = counts.sum()

    def find(self, grads: Sequence[Any]) -> bool:
        """Look where the gradients lie; False where one has gaps, or lies in another way than its parameter."""
        if [grad.size for grad in grads] != self.sizes:
            return False
        addresses = [0] if any(self.turned) else list(map(_beginning, grads))
        if 0 in addresses:
            if not all(map(_is_in_order, grads, self.turned)):
                return False
            addresses = list(map(address, grads))
        self.table[:, 1] = addresses
        return not np.bitwise_or.reduce(self.table[:, 1]) & 3


def _apart(arrays: Sequence[Sequence[Any]]) -> tuple[list[Any], list[Any]]:
    """The arrays that are kept from step to step, and the gradients."""
    flat = list(chain.from_iterable(arrays))
    columns = len(arrays[0])
    grads = flat[1::columns]
    del flat[1::columns]
    return flat, grads


def _is_in_order(array: Any, turned: bool) -> bool:
    flags = array.flags
    return flags.f_contiguous if turned else flags.c_contiguous  # type: ignore[no-any-return]


def _are_served(arrays: Sequence[Sequence[Any]]) -> bool:
    """Whether arrays have no gaps, those of a parameter lie alike, and all but gradients may be written to."""
    for row in arrays:
        turned = not row[0].flags.c_contiguous
        for n, array in enumerate(row):
            flags = array.flags
            if not _is_in_order(array, turned) or not flags.aligned or array.size != row[0].size:
                return False
            if n != 1 and not flags.writeable:
                return False
    return True


def step(
    rule: Callable[..., Any], arrays: Sequence[Sequence[Any]], kind: Any, layouts: dict[Any, Layout],
    numbers: Sequence[float], *settings: Any,
) -> bool:  # fmt: skip
    """Take one step of parameters by ``rule``; False, with nothing done, where arrays lie in a way that is not served.

    arrays   of each parameter: its data, its gradient, and its state, of one dtype; complex ones as pairs
    kind     the dtype of their real parts, float32 or float64
    layouts  where the caller keeps what is found out of its parameters, for the next step
    numbers  what the rule computes with
    """
    like = arrays[0][0].dtype
    layout = layouts.get(like)
    kept, grads = _apart(arrays)
    if layout is None or len(kept) != len(layout.kept) or not all(map(is_, kept, layout.kept)):
        layouts.pop(like, None)
        if not _are_served(arrays):
            return False
        layout = layouts[like] = Layout(arrays, like.itemsize // kind.itemsize)
    if not layout.find(grads):
        return False
    spans = layout.spans
    blocks, count = spans[-1].tolist()
    shared_out(rule, blocks, count, layout.table, spans, np.array(numbers, kind), *settings)
    return True


@inlined
def _following(spans: Any, row: int, block: int) -> tuple[int, int, int]:
    """The parameter that a block belongs to, from ``row`` on, and the block's first element and length."""
    while spans[row + 1, 0] <= block:
        row += 1
    begin = (block - spans[row, 0]) * BLOCK
    return row, begin, min(BLOCK, spans[row, 1] - begin)


@kernel
def adam(first: int, last: int, table: Any, spans: Any, numbers: Any, decays: bool, amsgrad: bool) -> None:
    """Adam and AdamW; the numbers are the constants that ``Adam._compiled`` names."""
    sign, decay, shrink, fresh1, beta2, fresh2, eps, rate = (
        numbers[0], numbers[1], numbers[2], numbers[3], numbers[4], numbers[5], numbers[6], numbers[7],
    )  # fmt: skip
    row = 0
    for block in range(first, last):
        row, begin, size = _following(spans, row, block)
        p = _block(table, row, 0, begin, size, numbers)
        g = _block(table, row, 1, begin, size, numbers)
        mean = _block(table, row, 2, begin, size, numbers)
        square = _block(table, row, 3, begin, size, numbers)
        most = _block(table, row, 4 if amsgrad else 3, begin, size, numbers)
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
def descend(first: int, last: int, table: Any, spans: Any, numbers: Any, decays: bool, nesterov: bool) -> None:
    """SGD, with a buffer of the running mean where there are three arrays."""
    sign, decay, momentum, fresh, ahead, rate = (
        numbers[0], numbers[1], numbers[2], numbers[3], numbers[4], numbers[5],
    )  # fmt: skip
    row = 0
    for block in range(first, last):
        row, begin, size = _following(spans, row, block)
        p = _block(table, row, 0, begin, size, numbers)
        g = _block(table, row, 1, begin, size, numbers)
        moved = table.shape[1] > 2
        mean = _block(table, row, 2 if moved else 1, begin, size, numbers)
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
    first: int, last: int, table: Any, spans: Any, numbers: Any, decays: bool, moved: bool, centered: bool
) -> None:
    """RMSprop: with the squares' running mean, with a buffer where ``moved``, with the mean where ``centered``."""
    sign, decay, alpha, fresh, momentum, eps, rate = (
        numbers[0], numbers[1], numbers[2], numbers[3], numbers[4], numbers[5], numbers[6],
    )  # fmt: skip
    row = 0
    for block in range(first, last):
        row, begin, size = _following(spans, row, block)
        p = _block(table, row, 0, begin, size, numbers)
        g = _block(table, row, 1, begin, size, numbers)
        square = _block(table, row, 2, begin, size, numbers)
        if not (moved or centered):
            for i in range(size):
                slope = sign * g[i]
                if decays:
                    slope += decay * p[i]
                s = square[i] * alpha + slope * slope * fresh
                square[i] = s
                p[i] -= rate * slope / (np.sqrt(s) + eps)
            continue
        buffer = _block(table, row, 3 if moved else 1, begin, size, numbers)
        mean = _block(table, row, table.shape[1] - 1 if centered else 1, begin, size, numbers)
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
def adagrad(first: int, last: int, table: Any, spans: Any, numbers: Any, decays: bool) -> None:
    """Adagrad, with the sum of the squares."""
    sign, decay, eps, rate = numbers[0], numbers[1], numbers[2], numbers[3]
    row = 0
    for block in range(first, last):
        row, begin, size = _following(spans, row, block)
        p = _block(table, row, 0, begin, size, numbers)
        g = _block(table, row, 1, begin, size, numbers)
        total = _block(table, row, 2, begin, size, numbers)
        for i in range(size):
            slope = sign * g[i]
            if decays:
                slope += decay * p[i]
            s = total[i] + slope * slope
            total[i] = s
            p[i] -= rate * slope / (np.sqrt(s) + eps)
