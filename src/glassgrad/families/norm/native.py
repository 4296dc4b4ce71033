"""Normalisation of rows and of groups of channels, and its ways back: a row stays in the cache from pass to pass."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np

from ...kernels.native.binding import apart, inlined, kernel, lines, shared_out
from ...kernels.native.mathematics import like

F4, F8 = np.dtype("f4"), np.dtype("f8")
_LINE = 4096  # elements added up in their own precision at most; the sums of lines are added up in float64
_PARTS, _LEAST_ROWS = 32, 8  # into how many parts the rows go, with sums of their own; fewer of fewer rows


@lru_cache(64)
def _constant(value: float, width: int, kind: Any) -> Any:
    return np.full(width, value, kind)


def _served(*arrays: Any) -> bool:
    """Whether all are floats of one kind."""
    d = arrays[0].dtype
    return (d is F4 or d is F8) and all(a is None or a.dtype is d for a in arrays)


@inlined
def _sum(line: Any) -> Any:
    total = like(0, line[0])
    for j in range(line.size):
        total += line[j]
    return total


@inlined
def _squares(line: Any, mean: Any) -> Any:
    """The sums of what is beyond the mean, which is what rounding took from it, and of the squares of that."""
    rest = squares = like(0, mean)
    for j in range(line.size):
        off = line[j] - mean
        rest += off
        squares += off * off
    return rest, squares


@inlined
def _moments(row: Any, inverse: Any) -> Any:
    """The mean of a row, in float64, and its variance: of each line, while the cache holds it, then put together.

    Source: Chan, Golub and LeVeque, "Algorithms for computing the sample variance" (1983).
    """
    mean = squares = 0.0
    for start in range(0, row.size, _LINE):
        line = row[start : start + _LINE]
        part = 1 / (start + line.size)
        near = like(_sum(line) * (1 / line.size), line[0])
        rest, line_squares = _squares(line, near)
        own = near + rest * (1 / line.size)
        off = own - mean
        squares += line_squares - (own - near) * rest + off * off * (start * line.size * part)
        mean += off * (line.size * part)
    return mean, squares * inverse


@inlined
def _slopes(g: Any, row: Any, weight: Any, mean: Any) -> Any:
    """The sums of ``g * weight``, and of that times what is beyond the mean."""
    a = b = like(0, mean)
    for j in range(g.size):
        steep = g[j] * weight[j]
        a += steep
        b += steep * (row[j] - mean)
    return a, b


# -- layers ------------------------------------------------------------------------------------------------------------


@kernel
def _layer_forward(
    first: Any, last: Any, x: Any, weight: Any, bias: Any, eps: Any, out: Any, means: Any, scales: Any
) -> None:
    apart()
    inverse = 1 / x.shape[1]
    for i in range(first, last):
        row, result = x[i], out[i]
        average, variance = _moments(row, inverse)
        mean, scale = like(average, row[0]), like(1 / np.sqrt(variance + eps), row[0])
        rest = like((mean - average) * scale, row[0])  # what the mean lost when it was rounded
        means[i], scales[i] = mean, scale
        for j in range(row.size):
            result[j] = ((row[j] - mean) * scale + rest) * weight[j] + bias[j]


@inlined
def _add_four(g: Any, x: Any, means: Any, scales: Any, times: Any, plain: Any) -> None:
    """Add up four rows of ``grad * x`` and of ``grad`` at once."""
    a, b, c, d = g[0], g[1], g[2], g[3]
    p, q, r, s = x[0], x[1], x[2], x[3]
    for j in range(times.size):
        times[j] += (
            a[j] * ((p[j] - means[0]) * scales[0])
            + b[j] * ((q[j] - means[1]) * scales[1])
            + (c[j] * ((r[j] - means[2]) * scales[2]) + d[j] * ((s[j] - means[3]) * scales[3]))
        )
        plain[j] += (a[j] + b[j]) + (c[j] + d[j])


@inlined
def _add_one(g: Any, row: Any, mean: Any, scale: Any, times: Any, plain: Any) -> None:
    for j in range(times.size):
        times[j] += g[j] * ((row[j] - mean) * scale)
        plain[j] += g[j]


@kernel
def _layer_backward(
    first: Any, last: Any, grad: Any, x: Any, means: Any, scales: Any, weight: Any, height: Any, back: Any,
    of_weight: Any, of_bias: Any,
) -> None:  # fmt: skip
    """Parts ``first`` to ``last`` of the rows, ``height`` rows each, with sums of their own for weight and bias."""
    apart()
    inverse = 1 / x.shape[1]
    for part in range(first, last):
        begin, end = part * height, min((part + 1) * height, len(x))
        for i in range(begin, end):
            g, row, result = grad[i], x[i], back[i]
            mean, scale = means[i], scales[i]
            level = slope = 0.0
            for start in range(0, row.size, _LINE):
                stop = start + _LINE
                a, b = _slopes(g[start:stop], row[start:stop], weight[start:stop], mean)
                level += a
                slope += b
            level, slope = like(level * inverse, mean), like(slope * inverse, mean) * scale * scale
            for j in range(row.size):
                result[j] = (g[j] * weight[j] - level - (row[j] - mean) * slope) * scale
            if len(of_weight):
                if (i - begin) % 4 == 3:
                    four = slice(i - 3, i + 1)
                    _add_four(grad[four], x[four], means[four], scales[four], of_weight[part], of_bias[part])
                elif i >= begin + (end - begin) // 4 * 4:
                    _add_one(g, row, mean, scale, of_weight[part], of_bias[part])


def layer_forward(a: Any, weight: Any, bias: Any, width: int, eps: float) -> Any:
    """The normalised rows of ``width``, the mean of each row, and its inverse deviation."""
    if not width or not a.size or not _served(a, weight, bias):
        return None
    d = a.dtype
    out = np.empty(a.shape, d)
    matrix = out.reshape(-1, width)
    rows = len(matrix)
    means, scales = np.empty(rows, d), np.empty(rows, d)
    shared_out(
        _layer_forward, rows, out.size, lines(a, width), vector(weight, 1, width, d), vector(bias, 0, width, d),
        eps, matrix, means, scales,
    )  # fmt: skip
    return out, means, scales


def vector(parameter: Any, otherwise: float, width: int, kind: Any) -> Any:
    """A weight or a bias as a vector; where there is none, one of a single number."""
    return _constant(otherwise, width, kind) if parameter is None else lines(parameter, width)[0]


def _shares(rows: int) -> tuple[int, int]:
    """How many rows have sums of their own, and how many sums there are."""
    height = max(-(-rows // _PARTS), _LEAST_ROWS)
    return height, -(-rows // height)


def layer_backward(grad: Any, a: Any, means: Any, scales: Any, weight: Any, width: int, affine: bool) -> Any:
    """The gradients of the input, of the weight and of the bias; the latter are ``None`` unless ``affine``."""
    if not width or not a.size or not _served(a, grad, means, scales, weight) or grad.shape != a.shape:
        return None
    d = a.dtype
    back = np.empty(a.shape, d)
    matrix = back.reshape(-1, width)
    rows = len(matrix)
    height, parts = _shares(rows)
    sums = np.zeros((2, parts if affine else 0, width), d)
    shared_out(
        _layer_backward, parts, back.size, lines(grad, width), lines(a, width), lines(means, rows)[0],
        lines(scales, rows)[0], vector(weight, 1, width, d), height, matrix, sums[0], sums[1],
    )  # fmt: skip
    if not affine:
        return back, None, None
    totals = np.add.reduce(sums, axis=1) if parts > 1 else sums[:, 0]
    return back, totals[0], totals[1]


@kernel
def _rms_forward(first: Any, last: Any, x: Any, weight: Any, eps: Any, out: Any, scales: Any) -> None:
    apart()
    inverse = 1 / x.shape[1]
    for i in range(first, last):
        row, result = x[i], out[i]
        squares = 0.0
        for start in range(0, row.size, _LINE):
            line = row[start : start + _LINE]
            subtotal = like(0, line[0])
            for j in range(line.size):
                subtotal += line[j] * line[j]
            squares += subtotal
        scale = like(1 / np.sqrt(squares * inverse + eps), row[0])
        scales[i] = scale
        for j in range(row.size):
            result[j] = row[j] * scale * weight[j]


@kernel
def _rms_backward(
    first: Any, last: Any, grad: Any, x: Any, scales: Any, weight: Any, height: Any, back: Any, of_weight: Any
) -> None:
    """Parts ``first`` to ``last`` of the rows, ``height`` rows each, with sums of their own for the weight."""
    apart()
    inverse = 1 / x.shape[1]
    for part in range(first, last):
        for i in range(part * height, min((part + 1) * height, len(x))):
            g, row, result, scale = grad[i], x[i], back[i], scales[i]
            dot = 0.0
            for start in range(0, row.size, _LINE):
                up, line, w = g[start : start + _LINE], row[start : start + _LINE], weight[start : start + _LINE]
                subtotal = like(0, line[0])
                for j in range(up.size):
                    subtotal += up[j] * w[j] * line[j]
                dot += subtotal
            slope = like(dot * inverse, scale) * scale * scale
            for j in range(row.size):
                result[j] = (g[j] * weight[j] - row[j] * slope) * scale
            if len(of_weight):
                sums = of_weight[part]
                for j in range(row.size):
                    sums[j] += g[j] * (row[j] * scale)


def rms_forward(a: Any, weight: Any, width: int, eps: float) -> Any:
    """The rows of ``width`` divided by the roots of their mean squares; the inverse roots."""
    if not width or not a.size or not _served(a, weight):
        return None
    out = np.empty(a.shape, a.dtype)
    matrix = out.reshape(-1, width)
    scales = np.empty(len(matrix), a.dtype)
    weight = vector(weight, 1, width, a.dtype)
    shared_out(_rms_forward, len(matrix), a.size, lines(a, width), weight, eps, matrix, scales)
    return out, scales


def rms_backward(grad: Any, a: Any, scales: Any, weight: Any, width: int, of_weight: bool) -> Any:
    """The gradients of the input and of the weight; the latter is ``None`` unless asked for."""
    if not width or not a.size or not _served(a, grad, scales, weight) or grad.shape != a.shape:
        return None
    d = a.dtype
    back = np.empty(a.shape, d)
    matrix = back.reshape(-1, width)
    height, parts = _shares(len(matrix))
    sums = np.zeros((parts if of_weight else 0, width), d)
    shared_out(
        _rms_backward, parts, back.size, lines(grad, width), lines(a, width), scales, vector(weight, 1, width, d),
        height, matrix, sums,
    )  # fmt: skip
    return back, np.add.reduce(sums, axis=0) if of_weight else None


# -- groups of channels ------------------------------------------------------------------------------------------------


@kernel
def _group_forward(
    first: Any, last: Any, x: Any, s: Any, weight: Any, bias: Any, eps: Any, out: Any, means: Any, scales: Any
) -> None:
    """Groups ``first`` to ``last`` of all samples; row after row of ``weight`` is of the groups of a sample."""
    apart()
    inverse, groups = 1 / x.shape[1], len(weight)
    for i in range(first, last):
        row, result, w, b = x[i], out[i], weight[i % groups], bias[i % groups]
        average, variance = _moments(row, inverse)
        mean, scale = like(average, row[0]), like(1 / np.sqrt(variance + eps), row[0])
        rest = like((mean - average) * scale, row[0])
        means[i], scales[i] = mean, scale
        for c in range(w.size):
            steep, level = scale * w[c], rest * w[c] + b[c]
            line, one = row[c * s : (c + 1) * s], result[c * s : (c + 1) * s]
            for j in range(line.size):
                one[j] = (line[j] - mean) * steep + level


@inlined
def slopes(g: Any, line: Any, mean: Any) -> Any:
    """The sums of ``g``, and of ``g`` times what is beyond the mean."""
    total = dot = 0.0
    for start in range(0, g.size, _LINE):
        piece, x = g[start : start + _LINE], line[start : start + _LINE]
        a = b = like(0, mean)
        for j in range(piece.size):
            a += piece[j]
            b += piece[j] * (x[j] - mean)
        total += a
        dot += b
    return total, dot


@kernel
def _group_backward(
    first: Any, last: Any, grad: Any, x: Any, s: Any, means: Any, scales: Any, weight: Any, back: Any, times: Any,
    plain: Any,
) -> None:  # fmt: skip
    """The gradients of groups ``first`` to ``last``; for each of their channels the sums of ``grad * x``, ``grad``."""
    apart()
    inverse, groups = 1 / x.shape[1], len(weight)
    for i in range(first, last):
        g, row, w = grad[i], x[i], weight[i % groups]
        mean, scale = means[i], scales[i]
        level = slope = 0.0
        for c in range(w.size):
            total, dot = slopes(g[c * s : (c + 1) * s], row[c * s : (c + 1) * s], mean)
            times[i, c], plain[i, c] = dot * scale, total
            level += total * w[c]
            slope += dot * w[c]
        flat, steep = like(level * inverse, mean), like(slope * inverse * scale * scale, mean)
        for c in range(w.size * (i < len(back))):
            up, line, one = g[c * s : (c + 1) * s], row[c * s : (c + 1) * s], back[i, c * s : (c + 1) * s]
            own = w[c]
            for j in range(up.size):
                one[j] = (up[j] * own - flat - (line[j] - mean) * steep) * scale


def group_forward(a: Any, weight: Any, bias: Any, samples: int, channels: int, groups: int, eps: float) -> Any:
    """The normalised groups, their means and their inverse deviations, a row for each sample."""
    if not a.size or not _served(a, weight, bias):
        return None
    d, rows, width = a.dtype, samples * groups, a.size // (samples * groups)
    out = np.empty(a.shape, d)
    means, scales = np.empty((samples, groups), d), np.empty((samples, groups), d)
    w, b = (vector(v, n, channels, d).reshape(groups, -1) for v, n in ((weight, 1), (bias, 0)))
    shared_out(
        _group_forward, rows, a.size, lines(a, width), width * groups // channels, w, b, eps, out.reshape(rows, width),
        means.reshape(rows), scales.reshape(rows),
    )  # fmt: skip
    return out, means, scales


def group_backward(
    grad: Any, a: Any, means: Any, scales: Any, weight: Any, samples: int, channels: int, groups: int, inward: bool
) -> Any:
    """The gradients of the input (``None`` unless ``inward``), of the weight and of the bias."""
    if not a.size or not _served(a, grad, means, scales, weight) or grad.size != a.size:
        return None
    d, rows, width = a.dtype, samples * groups, a.size // (samples * groups)
    back = np.empty(a.shape if inward else (0, width), d)
    sums = np.empty((2, rows, channels // groups))
    shared_out(
        _group_backward, rows, a.size, lines(grad, width), lines(a, width), width * groups // channels,
        lines(means, rows)[0], lines(scales, rows)[0], vector(weight, 1, channels, d).reshape(groups, -1),
        back.reshape(-1, width), sums[0], sums[1],
    )  # fmt: skip
    totals = np.add.reduce(sums.reshape(2, samples, channels), axis=1).astype(d)
    return back if inward else None, totals[0], totals[1]
