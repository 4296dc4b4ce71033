"""Elimination and substitution on batches of matrices, compiled: the parts that are no products of matrices."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...kernels.native.binding import kernel, shared_out

_KINDS = (np.dtype("f4"), np.dtype("f8"))
_BLOCK = 32  # rows solved one after the other; what they leave of the rest is a product
_NARROW = 8  # columns: with fewer, rows of the triangle are long enough to vectorise, those of the solutions are not


def serves(a: Any, b: Any) -> bool:
    """Whether two batches of matrices are of one dtype that is compiled for, and not empty."""
    return a.dtype in _KINDS and a.dtype == b.dtype and bool(a.size and b.size)


# -- substitution ------------------------------------------------------------------------------------------------------


@kernel
def _wide(first: int, last: int, t: Any, x: Any, low: int, high: int, upper: bool, unit: bool) -> None:
    """Rows ``low`` to ``high`` of ``x`` turned from right sides to solutions, four earlier rows taken off at a time."""
    columns = x.shape[2]
    for n in range(first, last):
        triangle, solution = t[n if len(t) > 1 else 0], x[n]
        for k in range(high - low):
            i = high - 1 - k if upper else low + k
            row, into = triangle[i], solution[i]
            j, end = (i + 1, high) if upper else (low, i)
            while j + 4 <= end:
                f0, f1, f2, f3 = row[j], row[j + 1], row[j + 2], row[j + 3]
                x0, x1, x2, x3 = solution[j], solution[j + 1], solution[j + 2], solution[j + 3]
                for c in range(columns):
                    into[c] -= f0 * x0[c] + f1 * x1[c] + f2 * x2[c] + f3 * x3[c]
                j += 4
            while j < end:
                f0, x0 = row[j], solution[j]
                for c in range(columns):
                    into[c] -= f0 * x0[c]
                j += 1
            if not unit:
                pivot = row[i]
                for c in range(columns):
                    into[c] /= pivot


@kernel
def _narrow(first: int, last: int, t: Any, x: Any, low: int, high: int, upper: bool, unit: bool) -> None:
    """The same, column by column, each a line of its own meanwhile."""
    columns = x.shape[2]
    line = np.empty(x.shape[1], x.dtype)
    for n in range(first, last):
        triangle, solution = t[n if len(t) > 1 else 0], x[n]
        for c in range(columns):
            for i in range(low, high):
                line[i] = solution[i, c]
            for k in range(high - low):
                i = high - 1 - k if upper else low + k
                start, end = (i + 1, high) if upper else (low, i)
                row, solved = triangle[i, start:end], line[start:end]
                total = x.dtype.type(0)
                for j in range(row.size):
                    total += row[j] * solved[j]
                value = line[i] - total
                line[i] = value if unit else value / triangle[i, i]
            for i in range(low, high):
                solution[i, c] = line[i]


def substituted(triangle: Any, right: Any, upper: bool, unit: bool) -> Any:
    """The solutions of ``triangle @ X = right`` in memory of their own; the other triangle is not read."""
    side, columns = right.shape[-2:]
    batch = np.broadcast_shapes(triangle.shape[:-2], right.shape[:-2])
    out = np.empty((*batch, side, columns), right.dtype)
    out[...] = right
    x = out.reshape(-1, side, columns)
    if triangle.ndim > 2 and triangle.size > side * side:
        triangle = np.broadcast_to(triangle, (*batch, side, side))
    t = np.ascontiguousarray(triangle).reshape(-1, side, side)
    work = _narrow if columns < _NARROW else _wide
    count = len(x)
    wide = work is _narrow or side <= 2 * _BLOCK
    step = side if wide else _BLOCK
    cost = count * side * side * columns // 16
    for start in range(0, side, step):
        low = max(side - start - step, 0) if upper else start
        high = side - start if upper else min(start + step, side)
        shared_out(work, count, cost, t, x, low, high, upper, unit)
        rest = slice(0, low) if upper else slice(high, side)
        if low and upper or high < side and not upper:
            x[:, rest] -= np.matmul(t[:, rest, low:high], x[:, low:high])
    return out


# -- elimination -------------------------------------------------------------------------------------------------------


@kernel
def _panel(first: int, last: int, a: Any, pivots: Any, low: int, high: int) -> None:
    """Columns ``low`` to ``high`` eliminated, each a line of its own meanwhile; whole rows are swapped."""
    rows, columns = a.shape[1:]
    panel = np.empty((high - low, rows), a.dtype)
    for n in range(first, last):
        matrix = a[n]
        for i in range(low, rows):
            row = matrix[i]
            for c in range(high - low):
                panel[c, i] = row[low + c]
        for c in range(high - low):
            step, column = low + c, panel[c]
            pivot, best = step, abs(column[step])
            for i in range(step + 1, rows):
                size = abs(column[i])
                if size > best or (size != size and best == best):  # noqa: PLR0124  NaN, the first of them
                    pivot, best = i, size
            pivots[n, step] = pivot + 1
            if pivot != step:
                line, other = matrix[step], matrix[pivot]
                for j in range(columns):
                    line[j], other[j] = other[j], line[j]
                for k in range(high - low):
                    panel[k, step], panel[k, pivot] = panel[k, pivot], panel[k, step]
            below = column[step + 1 :]
            if column[step] != 0:
                scale = 1 / column[step]
                for i in range(below.size):
                    below[i] *= scale
            for k in range(c + 1, high - low):
                factor, ahead = panel[k, step], panel[k, step + 1 :]
                for i in range(ahead.size):
                    ahead[i] -= factor * below[i]
        for i in range(low, rows):
            row = matrix[i]
            for c in range(high - low):
                row[low + c] = panel[c, i]


def panel(a: Any, pivots: Any, low: int, high: int) -> None:
    """Eliminate columns ``low`` to ``high`` of a batch of matrices in place, and note the swaps, counted from one."""
    count, rows, _ = a.shape
    shared_out(_panel, count, count * rows * (high - low) ** 2 // 8, a, pivots, low, high)


# -- symmetric matrices ------------------------------------------------------------------------------------------------


@kernel
def _root(first: int, last: int, a: Any, failed: Any) -> None:
    """The triangular roots of symmetric matrices, of which the lower triangles are read."""
    for n in range(first, last):
        matrix = a[n]
        for j in range(matrix.shape[0]):
            line = matrix[j, :j]
            square = matrix[j, j]
            for k in range(line.size):
                square -= line[k] * line[k]
            failed[n] |= not square > 0
            root = np.sqrt(square)
            matrix[j, j] = root
            for i in range(j + 1, matrix.shape[0]):
                other, value = matrix[i, :j], matrix[i, j]
                for k in range(line.size):
                    value -= other[k] * line[k]
                matrix[i, j] = value / root


def roots(matrices: Any) -> Any:
    """The lower triangular roots of small symmetric matrices; ``None`` where one of them is not positive-definite."""
    out = np.tril(matrices)
    side = out.shape[-1]
    a = out.reshape(-1, side, side)
    failed = np.zeros(len(a), np.bool_)
    shared_out(_root, len(a), len(a) * side**3 // 8, a, failed)
    return None if failed.any() else out
