"""Batch normalisation and its way back: a channel, or a few narrow ones, stays in the cache from pass to pass.

Where a channel of a sample is a line long enough to work along, its lines are taken one after the other; else the batch
is a matrix of samples, and numbers that lie side by side are worked on together, a column each: blocks of rows have
sums of their own, which are put together, as are the columns of a channel, before all rows are read once more. Means
come first, then the squares of what is beyond them: no digit is lost where a mean is large. Sums run in the array's own
precision over no more than a line's piece, or four rows, and go on in float64.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ...kernels.native.binding import apart, inlined, kernel, lines, shared_out
from ...kernels.native.mathematics import like
from ..norm.native import slopes, vector

F4, F8 = np.dtype("f4"), np.dtype("f8")
_PIECE = 4096  # elements of a line added up in their own precision at most
_SHORT = 24  # lines shorter than this are worked on side by side
_TILE = 1024  # columns worked on together: their sums stay in the nearest cache
_BLOCKS, _LEAST_ROWS = 16, 16  # into how many blocks the rows go, with sums of their own; fewer of fewer rows
_ONE_BLOCK = 1 << 15  # elements up to which there is but one


# -- along lines -------------------------------------------------------------------------------------------------------


@inlined
def _sum(line: Any) -> Any:
    total = 0.0
    for start in range(0, line.size, _PIECE):
        piece = line[start : start + _PIECE]
        part = like(0, line[0])
        for j in range(piece.size):
            part += piece[j]
        total += part
    return total


@inlined
def _squares(line: Any, mean: Any) -> Any:
    """The sum of the squares of what is beyond the mean."""
    total = 0.0
    for start in range(0, line.size, _PIECE):
        piece = line[start : start + _PIECE]
        part = like(0, mean)
        for j in range(piece.size):
            off = piece[j] - mean
            part += off * off
        total += part
    return total


@kernel
def _along(
    first: Any, last: Any, x: Any, weight: Any, bias: Any, eps: Any, training: Any, out: Any, means: Any,
    variances: Any, scales: Any,
) -> None:  # fmt: skip
    """Channels ``first`` to ``last`` standardised by their own statistics, or by those given in ``means``."""
    apart()
    samples, inverse = len(x), 1 / (x.shape[0] * x.shape[2])
    for c in range(first, last):
        beyond = 0.0  # the mean less the number that is subtracted for it
        variance = float(variances[c])
        if training:
            total = squares = 0.0
            for i in range(samples):
                total += _sum(x[i, c])
            average = total * inverse
            means[c] = like(average, x[0, 0, 0])
            for i in range(samples):
                squares += _squares(x[i, c], means[c])
            beyond = average - means[c]
            variance = squares * inverse - beyond * beyond
            variances[c] = like(variance, x[0, 0, 0])
        mean, deviation = means[c], 1 / np.sqrt(variance + eps)
        scale, shift = like(deviation * weight[c], mean), like(bias[c] - beyond * deviation * weight[c], mean)
        scales[c] = like(deviation, mean)
        for i in range(samples):
            line, result = x[i, c], out[i, c]
            for j in range(line.size):
                result[j] = (line[j] - mean) * scale + shift


@kernel
def _back_along(
    first: Any, last: Any, grad: Any, x: Any, means: Any, scales: Any, weight: Any, training: Any, summed: Any,
    back: Any, of_weight: Any, of_bias: Any,
) -> None:  # fmt: skip
    """The gradients of channels ``first`` to ``last``: sums where ``summed``, and where ``back`` has room."""
    apart()
    samples, inverse = len(x), 1 / (x.shape[0] * x.shape[2])
    for c in range(first, last):
        mean, total, dot = means[c], 0.0, 0.0
        if summed:
            for i in range(samples):
                a, b = slopes(grad[i, c], x[i, c], mean)
                total += a
                dot += b
            of_weight[c], of_bias[c] = like(dot * scales[c], mean), like(total, mean)
        steep = like(scales[c] * weight[c], mean)
        level = slope = like(0, mean)
        if training:
            level, slope = like(total * inverse, mean), like(dot * inverse * scales[c] * scales[c], mean)
        for i in range(len(back)):
            g, line, result = grad[i, c], x[i, c], back[i, c]
            for j in range(g.size):
                result[j] = (g[j] - level - (line[j] - mean) * slope) * steep


# -- columns side by side ----------------------------------------------------------------------------------------------


@inlined
def _spread(value: Any, at: Any, c: Any, s: Any) -> None:
    """A channel's number for each of its columns."""
    for j in range(c * s, (c + 1) * s):
        at[j] = value


@inlined
def _folded(sums: Any, c: Any, s: Any) -> Any:
    total = 0.0
    for j in range(c * s, (c + 1) * s):
        total += sums[j]
    return total


@inlined
def _add_columns(x: Any, begin: Any, end: Any, sums: Any) -> None:
    """The sums of columns ``begin`` to ``end``, in float64: what they lack counts where columns' means are apart."""
    total = sums[begin:end]
    total[:] = 0
    for i in range(0, len(x) - 3, 4):
        a, b, c, d = x[i, begin:end], x[i + 1, begin:end], x[i + 2, begin:end], x[i + 3, begin:end]
        for j in range(total.size):
            total[j] += (np.float64(a[j]) + np.float64(b[j])) + (np.float64(c[j]) + np.float64(d[j]))
    for i in range(len(x) // 4 * 4, len(x)):
        a = x[i, begin:end]
        for j in range(total.size):
            total[j] += a[j]


@inlined
def _add_squares(x: Any, begin: Any, end: Any, mean: Any, sums: Any) -> None:
    """The sums of the squares of what is beyond the mean, for columns ``begin`` to ``end``."""
    total, mean = sums[begin:end], mean[begin:end]
    total[:] = 0
    for i in range(0, len(x) - 3, 4):
        a, b, c, d = x[i, begin:end], x[i + 1, begin:end], x[i + 2, begin:end], x[i + 3, begin:end]
        for j in range(total.size):
            m = mean[j]
            p, q, r, s = a[j] - m, b[j] - m, c[j] - m, d[j] - m
            total[j] += (p * p + q * q) + (r * r + s * s)
    for i in range(len(x) // 4 * 4, len(x)):
        a = x[i, begin:end]
        for j in range(total.size):
            off = a[j] - mean[j]
            total[j] += off * off


@inlined
def _addslopes(g: Any, x: Any, begin: Any, end: Any, mean: Any, sums: Any, dots: Any) -> None:
    """The sums of ``g``, and of ``g`` times what is beyond the mean, for columns ``begin`` to ``end``."""
    total, dot, mean = sums[begin:end], dots[begin:end], mean[begin:end]
    total[:] = 0
    dot[:] = 0
    for i in range(0, len(x) - 1, 2):
        a, b, p, q = g[i, begin:end], g[i + 1, begin:end], x[i, begin:end], x[i + 1, begin:end]
        for j in range(total.size):
            total[j] += a[j] + b[j]
            dot[j] += a[j] * (p[j] - mean[j]) + b[j] * (q[j] - mean[j])
    for i in range(len(x) // 2 * 2, len(x)):
        a, p = g[i, begin:end], x[i, begin:end]
        for j in range(total.size):
            total[j] += a[j]
            dot[j] += a[j] * (p[j] - mean[j])


@kernel
def _gather(first: Any, last: Any, x: Any, height: Any, centres: Any, sums: Any, squares: Any) -> None:
    """Of blocks of ``height`` rows: the sums of columns, centres near their means, the squares of what is beyond."""
    apart()
    columns = x.shape[1]
    for block in range(first, last):
        part = x[block * height : (block + 1) * height]
        inverse = 1 / len(part)
        for begin in range(0, columns, _TILE):
            end = min(begin + _TILE, columns)
            _add_columns(part, begin, end, sums[block])
            total, centre = sums[block, begin:end], centres[block, begin:end]
            for j in range(total.size):
                centre[j] = total[j] * inverse
            _add_squares(part, begin, end, centres[block], squares[block])


@inlined
def _put_together(sums: Any, total: Any) -> None:
    total[:] = 0
    for block in range(len(sums)):
        part = sums[block]
        for j in range(total.size):
            total[j] += part[j]


@kernel
def _settle(
    rows: Any, height: Any, s: Any, centres: Any, sums: Any, squares: Any, weight: Any, bias: Any, eps: Any, means: Any,
    variances: Any, scales: Any, at: Any,
) -> None:  # fmt: skip
    """The channels' statistics, those of blocks put together if there are any; for each column what it takes."""
    apart()
    inverse = 1 / (rows * s)
    centre, steep, level = at[0], at[1], at[2]
    total = np.empty(at.shape[1])
    if len(sums):
        _put_together(sums, total)
        for c in range(means.size):
            average = _folded(total, c, s) * inverse
            means[c] = average
            _spread(average, total, c, s)
        for block in range(len(sums)):
            count = min(height, rows - block * height)
            near, part, beyond = centres[block], sums[block], squares[block]
            for j in range(total.size):
                off = near[j] - total[j]
                beyond[j] += off * (2 * (part[j] - count * near[j]) + count * off)
        spread = squares[0]
        for block in range(1, len(sums)):
            beyond = squares[block]
            for j in range(spread.size):
                spread[j] += beyond[j]
    for c in range(means.size):
        variance, lost = float(variances[c]), 0.0
        if len(sums):
            variance = _folded(squares[0], c, s) * inverse
            variance = 0.0 if variance < 0 else variance
            variances[c] = variance
            lost = total[c * s] - means[c]  # what rounding took from the mean
        deviation = 1 / np.sqrt(variance + eps)
        scales[c] = deviation
        _spread(means[c], centre, c, s)
        _spread(deviation * weight[c], steep, c, s)
        _spread(bias[c] - lost * deviation * weight[c], level, c, s)


@kernel
def _standardise(first: Any, last: Any, x: Any, at: Any, out: Any) -> None:
    apart()
    m, t, u = at[0], at[1], at[2]
    for i in range(first, last):
        line, result = x[i], out[i]
        for j in range(line.size):
            result[j] = (line[j] - m[j]) * t[j] + u[j]


@kernel
def _gather_slopes(first: Any, last: Any, grad: Any, x: Any, height: Any, centre: Any, sums: Any, dots: Any) -> None:
    """Of blocks of ``height`` rows: the sums of ``grad``, and of ``grad`` times what is beyond the mean."""
    apart()
    columns = x.shape[1]
    for block in range(first, last):
        rows = slice(block * height, (block + 1) * height)
        for begin in range(0, columns, _TILE):
            end = min(begin + _TILE, columns)
            _addslopes(grad[rows], x[rows], begin, end, centre, sums[block], dots[block])


@kernel
def _settle_slopes(
    rows: Any, s: Any, sums: Any, dots: Any, scales: Any, weight: Any, training: Any, of_weight: Any, of_bias: Any,
    at: Any,
) -> None:  # fmt: skip
    """The gradients of weight and bias; for each column what the way back takes."""
    apart()
    inverse = 1 / (rows * s)
    steep, level, slope = at[1], at[2], at[3]
    totals = np.zeros((2, at.shape[1]))
    _put_together(sums, totals[0])
    _put_together(dots, totals[1])
    for c in range(scales.size):
        total, dot = _folded(totals[0], c, s), _folded(totals[1], c, s)
        of_weight[c], of_bias[c] = dot * scales[c], total
        if not training:
            total = dot = 0.0
        _spread(total * inverse, level, c, s)
        _spread(dot * inverse * scales[c] * scales[c], slope, c, s)
        _spread(scales[c] * weight[c], steep, c, s)


@kernel
def _back_beside(first: Any, last: Any, grad: Any, x: Any, at: Any, back: Any) -> None:
    apart()
    m, t, u, v = at[0], at[1], at[2], at[3]
    for i in range(first, last):
        g, line, result = grad[i], x[i], back[i]
        for j in range(g.size):
            result[j] = (g[j] - u[j] - (line[j] - m[j]) * v[j]) * t[j]


# -- what rows ask for -------------------------------------------------------------------------------------------------


def _served(a: Any, *others: Any) -> bool:
    """Whether all are floats of one kind."""
    d = a.dtype
    return bool((d is F4 or d is F8) and a.size and all([b is None or b.dtype is d for b in others]))


def _shares(rows: int, columns: int, summed: bool) -> tuple[int, int]:
    """How many rows have sums of their own, and how many sums there are."""
    height = rows if rows * columns <= _ONE_BLOCK else max(-(-rows // _BLOCKS), _LEAST_ROWS)
    return height, -(-rows // height) if summed else 0


def forward(a: Any, weight: Any, bias: Any, running_mean: Any, running_var: Any, training: bool, eps: float) -> Any:
    """The channels standardised, the means and inverse deviations used, and the variances."""
    if not _served(a, weight, bias, *(() if training else (running_mean, running_var))):
        return None
    d, n, c = a.dtype, a.shape[0], a.shape[1]
    s = a.size // (n * c)
    out, scales = np.empty(a.shape, d), np.empty(c, d)
    if training:
        means, variances = np.empty(c, d), np.zeros(c, d)
    else:
        means, variances = np.array(running_mean).reshape(c), np.array(running_var).reshape(c)
    operands = vector(weight, 1, c, d), vector(bias, 0, c, d), eps
    if s >= _SHORT:
        x = lines(a, s).reshape(n, c, s)
        shared_out(_along, c, a.size, x, *operands, training, out.reshape(n, c, s), means, variances, scales)
    else:
        x, at = lines(a, c * s), np.empty((3, c * s), d)
        height, blocks = _shares(n, c * s, training)
        centres, (sums, squares) = np.empty((blocks, c * s), d), np.empty((2, blocks, c * s))
        if training:
            shared_out(_gather, blocks, a.size, x, height, centres, sums, squares)
        _settle(n, height, s, centres, sums, squares, *operands, means, variances, scales, at)
        shared_out(_standardise, n, a.size, x, at, out.reshape(n, c * s))
    return out, means, scales, variances


def backward(
    grad: Any, a: Any, means: Any, scales: Any, weight: Any, training: bool, wanted: tuple[bool, bool, bool]
) -> Any:
    """The gradients of the input (``None`` if not ``wanted``), of the weight and of the bias."""
    if not _served(a, grad, means, scales, weight) or grad.shape != a.shape:
        return None
    d, n, c = a.dtype, a.shape[0], a.shape[1]
    s = a.size // (n * c)
    back = np.empty(a.shape if wanted[0] else 0, d)
    sums = np.empty((2, c), d)
    summed = bool(wanted[1] or wanted[2] or (wanted[0] and training))
    used = lines(means, c)[0], lines(scales, c)[0], vector(weight, 1, c, d), bool(training), summed
    if s >= _SHORT:
        shape = (n, c, s)
        view = back.reshape(shape if wanted[0] else (0, c, s))
        g, x = lines(grad, s).reshape(shape), lines(a, s).reshape(shape)
        shared_out(_back_along, c, a.size, g, x, *used, view, sums[0], sums[1])
    else:
        view = back.reshape((n, c * s) if wanted[0] else (0, c * s))
        g, x, at = lines(grad, c * s), lines(a, c * s), np.empty((4, c * s), d)
        at[0] = used[0].repeat(s) if s > 1 else used[0]
        height, blocks = _shares(n, c * s, summed)
        parts = np.empty((2, blocks, c * s))
        if summed:
            shared_out(_gather_slopes, blocks, a.size, g, x, height, at[0], parts[0], parts[1])
        _settle_slopes(n, s, parts[0], parts[1], used[1], used[2], used[3], sums[0], sums[1], at)
        if wanted[0]:
            shared_out(_back_beside, n, a.size, g, x, at, view)
    return back if wanted[0] else None, sums[0], sums[1]
