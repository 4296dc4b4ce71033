"""Elimination and substitution on batches of matrices, where NumPy's LAPACK has no function: arrays in, arrays out."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from glassgrad.kernels import compiled, silent

_PANEL = 8  # columns eliminated one by one; wider blocks are halved, so that most of the work is matrix products
_COMPILED_PANEL = 64
_LEAF = 64  # triangles up to this size are solved in one call
_LABORIOUS = 100  # columns from which an inverse is worth an elimination of our own
_TINY = 32  # columns up to which LAPACK's calls cost more than what they compute


def laborious(matrices: Any) -> bool:
    """Whether compiled elimination pays for inverses: of large float32 matrices, which NumPy computes in float64."""
    n = matrices.shape[-1]
    return matrices.dtype == np.float32 and n >= _LABORIOUS and bool(n**3 >= compiled.least)


# -- LU ---------------------------------------------------------------------------------------------------------------


def _weight(a: Any) -> Any:
    """What LAPACK compares when it looks for a pivot."""
    return np.abs(a.real) + np.abs(a.imag) if a.dtype.kind == "c" else np.abs(a)


def lu(matrices: Any) -> tuple[Any, Any, Any]:
    """Both triangles of each matrix in one, the rows it swapped (from one), and its first zero pivot (or zero).

    Source: Toledo (1997), Locality of reference in LU decomposition with partial pivoting.
    """
    batch, (rows, columns) = matrices.shape[:-2], matrices.shape[-2:]
    count, least = math.prod(batch), min(rows, columns)
    fast = matrices.size * least >= compiled.least and compiled.linalg.serves(matrices, matrices)
    width = _COMPILED_PANEL if fast else _PANEL
    a = np.array(matrices, order="C").reshape(count, rows, columns)
    pivots = np.empty((count, least), np.int32)
    every = np.arange(count)
    waiting: list[tuple[int, int, bool]] = [(0, least, False)]
    while waiting:
        low, high, halved = waiting.pop()
        middle = (low + high) // 2
        if high - low <= width:
            if fast:
                compiled.linalg.panel(a, pivots, low, high)
            elif count == 1:
                _lone_panel(a[0], pivots[0], low, high)
            else:
                _panel(a, pivots, every, low, high)
        elif not halved:
            waiting += [(low, high, True), (low, middle, False)]
        else:
            right = substituted(a[:, low:middle, low:middle], a[:, low:middle, middle:high], False, True)
            a[:, low:middle, middle:high] = right
            a[:, middle:, middle:high] -= np.matmul(a[:, middle:, low:middle], right)
            waiting.append((middle, high, False))
    if columns > least and least:
        a[:, :, least:] = substituted(a[:, :, :least], a[:, :, least:], False, True)
    return a.reshape(matrices.shape), pivots.reshape(*batch, least), zero_pivots(a).reshape(batch)


def determinants(matrices: Any) -> Any:
    """The determinants; NumPy's, which end at the first zero, are zero too where infinities and NaN come after it."""
    values = silent.det(matrices)
    if (matrices.ndim == 2 and 0 < abs(values) < math.inf) or np.isfinite(matrices).all():
        return values
    factors, is_odd = _factors(matrices)
    values = np.multiply.reduce(factors, -1)
    return np.where(is_odd, -values, values)


def signs_and_logarithms(matrices: Any) -> tuple[Any, Any]:
    """The signs of the determinants (of complex ones, their directions), and the logarithms of their sizes."""
    signs, sizes = silent.slogdet(matrices)
    if (matrices.ndim == 2 and math.isfinite(sizes)) or np.isfinite(matrices).all():
        return signs, sizes
    factors, is_odd = _factors(matrices)
    lengths = np.abs(factors)
    turns = factors / lengths if factors.dtype.kind == "c" else np.nan_to_num(np.sign(factors))
    signs = np.multiply.reduce(turns, -1)
    return np.where(is_odd, -signs, signs), np.add.reduce(np.log(lengths), -1)


def _factors(matrices: Any) -> tuple[Any, Any]:
    """What elimination leaves in the diagonal of each matrix, and whether the number of its swaps is odd."""
    packed, pivots, _ = lu(matrices)
    swaps = (pivots != np.arange(1, pivots.shape[-1] + 1)).sum(-1)
    return np.diagonal(packed, axis1=-2, axis2=-1), swaps % 2 == 1


def _panel(a: Any, pivots: Any, every: Any, low: int, high: int) -> None:
    for step in range(low, high):
        rows = _weight(a[:, step:, step]).argmax(1) + step
        pivots[:, step] = rows + 1
        if (rows != step).any():
            kept = a[every, rows]
            a[every, rows] = a[:, step]
            a[:, step] = kept
        pivot = a[:, step, step]
        scale = 1 / np.where(pivot == 0, 1, pivot)
        a[:, step + 1 :, step] *= scale[:, None]
        if step + 1 < high:
            a[:, step + 1 :, step + 1 : high] -= a[:, step + 1 :, step, None] * a[:, step, None, step + 1 : high]


def _lone_panel(a: Any, pivots: Any, low: int, high: int) -> None:
    """The same for a single matrix, without the cost of a batch."""
    wide = a.dtype.kind == "c"
    for step in range(low, high):
        column = a[step:, step]
        row = step + int((_weight(column) if wide else np.abs(column)).argmax())
        pivots[step] = row + 1
        if row != step:
            kept = a[row].copy()
            a[row] = a[step]
            a[step] = kept
        pivot = column[0]
        if pivot != 0:
            column[1:] *= 1 / pivot
        if step + 1 < high:
            a[step + 1 :, step + 1 : high] -= column[1:, None] * a[step, step + 1 : high]


def zero_pivots(a: Any) -> Any:
    """The first zero on the diagonal of each matrix, counted from one; zero where there is none."""
    zero = np.diagonal(a, 0, -2, -1) == 0
    if not zero.shape[-1]:
        return np.zeros(zero.shape[:-1], np.int32)
    return np.where(zero.any(-1), zero.argmax(-1) + 1, 0).astype(np.int32)


def permutations(pivots: Any, rows: int) -> Any:
    """The order in which the swaps of ``pivots``, which count from one, leave the rows."""
    batch, steps = pivots.shape[:-1], pivots.shape[-1]
    if not batch:
        line = list(range(rows))
        for step, other in enumerate(pivots.tolist()):
            line[step], line[other - 1] = line[other - 1], line[step]
        return np.array(line, np.int64)
    flat = pivots.reshape(math.prod(batch), steps)
    order = np.tile(np.arange(rows), (len(flat), 1))
    every = np.arange(len(flat))
    for step in range(steps):
        other = flat[:, step] - 1
        kept = order[every, other]
        order[every, other] = order[:, step]
        order[:, step] = kept
    return order.reshape(*batch, rows)


def permutation_matrices(pivots: Any, rows: int, dtype: Any) -> Any:
    """The matrices that put the rows of ``L @ U`` where those of the factored matrix were."""
    order = permutations(pivots, rows)
    return np.ascontiguousarray((order[..., None, :] == np.arange(rows)[:, None]).astype(dtype))


# -- substitution -----------------------------------------------------------------------------------------------------


def substituted(triangle: Any, right: Any, upper: bool, unit: bool) -> Any:
    """The solutions of ``triangle @ X = right``; the other triangle is not read, nor is a ``unit`` diagonal."""
    if triangle.shape[-1] * right.size >= compiled.least and compiled.linalg.serves(triangle, right):
        return compiled.linalg.substituted(triangle, right, upper, unit)
    if not upper:  # read from the last row up, a lower triangle is an upper one
        turned = substituted(triangle[..., ::-1, ::-1], right[..., ::-1, :], True, unit)
        return turned[..., ::-1, :]
    side = triangle.shape[-1]
    if side <= _LEAF:
        return _leaf(triangle, right, unit)
    half = side // 2
    below = substituted(triangle[..., half:, half:], right[..., half:, :], True, unit)
    rest = right[..., :half, :] - np.matmul(triangle[..., :half, half:], below)
    above = substituted(triangle[..., :half, :half], rest, True, unit)
    return np.concatenate((above, below), -2)


def _leaf(triangle: Any, right: Any, unit: bool) -> Any:
    clean = np.triu(triangle, 1 if unit else 0)
    if unit:
        clean = clean + np.eye(triangle.shape[-1], dtype=triangle.dtype)
    try:
        return silent.solve(clean, right)  # elimination finds nothing to do: only substitution is left
    except np.linalg.LinAlgError:
        return _row_by_row(clean, right)


def _row_by_row(triangle: Any, right: Any) -> Any:
    """Substitution that divides by zero where the diagonal is zero."""
    batch = np.broadcast_shapes(triangle.shape[:-2], right.shape[:-2])
    solution = np.broadcast_to(right, (*batch, *right.shape[-2:])).copy()
    with np.errstate(divide="ignore", invalid="ignore"):
        for row in range(triangle.shape[-1] - 1, -1, -1):
            solution[..., row, :] /= triangle[..., row, row, None]
            solution[..., :row, :] -= triangle[..., :row, row, None] * solution[..., row, None, :]
    return solution


# -- symmetric matrices -----------------------------------------------------------------------------------------------


def roots(matrices: Any) -> Any:
    """The lower triangular roots of symmetric matrices; LinAlgError where one of them is not positive-definite."""
    n = matrices.shape[-1]
    if n <= _TINY and matrices.size * n >= compiled.least and compiled.linalg.serves(matrices, matrices):
        factors = compiled.linalg.roots(matrices)
        if factors is not None:
            return factors
    return silent.cholesky(matrices)


def partial_cholesky(matrix: Any) -> tuple[Any, int]:
    """The lower factor of one matrix as far as it goes, and the order of the minor that is not positive-definite."""
    a = np.tril(matrix)
    for step in range(len(a)):
        pivot = a[step, step].real
        if not pivot > 0:
            return a, step + 1
        a[step, step] = np.sqrt(pivot)
        a[step + 1 :, step] /= a[step, step]
        below = a[step + 1 :, step]
        a[step + 1 :, step + 1 :] -= np.tril(below[:, None] * below.conj())
    return a, 0


def ldl(matrix: Any, hermitian: bool) -> tuple[Any, Any, int]:
    """The factors of one symmetric matrix, of which the lower triangle is read, and its pivots.

    Blocks of the diagonal are 1 by 1 (a positive pivot names the row swapped) or 2 by 2 (a negative one, twice).
    Source: Bunch, Kaufman (1977), Some stable methods for calculating inertia and solving symmetric linear systems.
    """
    a = np.tril(matrix)
    side = len(a)
    pivots = np.zeros(side, np.int32)
    info = step = 0
    ratio = (1 + math.sqrt(17)) / 8
    turned = np.conj if hermitian else np.asarray
    while step < side:
        if hermitian:
            a[step, step] = a[step, step].real
        width, other = 1, step
        here = float(_weight(a[step, step]))
        below = _weight(a[step + 1 :, step])
        largest = float(below.max(initial=0))
        if max(here, largest) == 0:
            info = info or step + 1
        elif here < ratio * largest:
            far = step + 1 + int(below.argmax())
            line = np.concatenate((_weight(a[far, step:far]), _weight(a[far + 1 :, far])))
            highest = float(line.max())
            if here >= ratio * largest * (largest / highest):
                other = step
            elif float(_weight(a[far, far])) >= ratio * highest:
                other = far
            else:
                other, width = far, 2
        last = step + width - 1
        if other != last:
            _swap(a, last, other, turned)
            if width == 2:
                a[last, step], a[other, step] = a[other, step], a[last, step]
        rest = a[last + 1 :, step : last + 1]
        if max(here, largest) != 0:
            block = a[step : last + 1, step : last + 1]
            if width == 2:
                block = block.copy()
                block[0, 1] = turned(block[1, 0])
            scaled = silent.solve(block.T, rest.T).T if rest.size else rest
            a[last + 1 :, last + 1 :] -= np.tril(scaled @ turned(rest).T)
            a[last + 1 :, step : last + 1] = scaled
        pivots[step : last + 1] = other + 1 if width == 1 else -(other + 1)
        step += width
    return a, pivots, info


def _swap(a: Any, one: int, other: int, turned: Any) -> None:
    """Swap two rows and columns of the lower triangle from column ``one`` on; ``one`` is the smaller."""
    a[one, one], a[other, other] = a[other, other], a[one, one]
    below = a[other + 1 :, one].copy()
    a[other + 1 :, one] = a[other + 1 :, other]
    a[other + 1 :, other] = below
    between = a[one + 1 : other, one].copy()
    a[one + 1 : other, one] = turned(a[other, one + 1 : other])
    a[other, one + 1 : other] = turned(between)
    a[other, one] = turned(a[other, one])


def ldl_solved(factors: Any, pivots: Any, right: Any, hermitian: bool) -> Any:
    """The solutions of the equations of one matrix that ``ldl`` has factored."""
    side = len(pivots)
    solution = right.copy()
    starts = []
    step = 0
    while step < side:
        width = 1 if pivots[step] > 0 else 2
        starts.append((step, width))
        last, other = step + width - 1, abs(int(pivots[step])) - 1
        if other != last:
            solution[[last, other]] = solution[[other, last]]
        solution[last + 1 :] -= factors[last + 1 :, step : last + 1] @ solution[step : last + 1]
        step += width
    turned = np.conj if hermitian else np.asarray
    for step, width in starts:
        block = factors[step : step + width, step : step + width].copy()
        if width == 2:
            block[0, 1] = turned(block[1, 0])
        solution[step : step + width] = silent.solve(block, solution[step : step + width])
    for step, width in reversed(starts):
        last, other = step + width - 1, abs(int(pivots[step])) - 1
        solution[step : last + 1] -= turned(factors[last + 1 :, step : last + 1]).T @ solution[last + 1 :]
        if other != last:
            solution[[last, other]] = solution[[other, last]]
    return solution
