"""Convolutions of arrays, of any number of dimensions, and their gradients by input and by weight, as products.

Large ones are computed by ``native/convolution.py`` where Numba is.  With NumPy, all three are products of matrices.
The windows that the kernel sees are copied side by side into one matrix (its *columns*), block by block, so that a
block stays in cache; one product of matrices does the rest.  A block is a few samples, or a few rows of the output of
one sample.  Two layouts of columns serve: *apart*, a matrix for each sample, whose product lies where the result wants
it; *joined*, one matrix for all samples of a block, where the output of one sample is too small for its own product.
"""

from __future__ import annotations

import math
import threading
from collections.abc import Iterator
from itertools import product
from typing import Any

import numpy as np
from numpy.lib.stride_tricks import as_strided

from ...ground.dtypes import HALVES
from ...kernels import compiled

Sizes = tuple[int, ...]
Pairs = list[tuple[int, int]]

F4 = np.dtype("f4")
_APART = 192  # outputs of one sample from which on it has a matrix of its own
_POINTS = 48  # the same, where the input is the matrix already
_BLOCK_APART = 1 << 18  # elements of the columns of a block
_BLOCK_JOINED = 1 << 19
_KEPT = 1 << 23  # bytes up to which a workspace is kept for the next call


class _Workspaces(threading.local):
    """Memory that calls reuse: to be given new pages costs as much as to fill them."""

    def __init__(self) -> None:
        self.held: dict[str, Any] = {}


_workspaces = _Workspaces()


def _workspace(name: str, shape: Sizes, kind: Any) -> Any:
    """An array of unspecified values, until the next call with the same ``name``."""
    wanted = math.prod(shape) * kind.itemsize
    buffer = _workspaces.held.get(name)
    if buffer is None or buffer.size < wanted:
        buffer = np.empty(wanted, np.uint8)
        if wanted <= _KEPT:
            _workspaces.held[name] = buffer
    return buffer[:wanted].view(kind).reshape(shape)


# -- sizes -----------------------------------------------------------------------------------------------------------


def output_sizes(sizes: Sizes, kernel: Sizes, stride: Sizes, padding: Sizes, dilation: Sizes) -> Sizes:
    """The spatial sizes of a convolution's output."""
    return tuple(
        [
            (n + 2 * p - d * (k - 1) - 1) // s + 1
            for n, k, s, p, d in zip(sizes, kernel, stride, padding, dilation, strict=True)
        ]
    )


def transposed_sizes(
    sizes: Sizes, kernel: Sizes, stride: Sizes, padding: Sizes, dilation: Sizes, extra: Sizes
) -> Sizes:
    """The spatial sizes of a transposed convolution's output; ``extra`` is added at the end."""
    return tuple(
        [
            (n - 1) * s - 2 * p + d * (k - 1) + e + 1
            for n, k, s, p, d, e in zip(sizes, kernel, stride, padding, dilation, extra, strict=True)
        ]
    )


def both_sides(padding: Sizes) -> Pairs:
    """The same padding before and after."""
    return [(p, p) for p in padding]


# -- the parts of a product --------------------------------------------------------------------------------------------


def _padded(x: Any, pads: Pairs) -> Any:
    """``x`` within zeros; ``x`` itself where there are none."""
    if not any(before or after for before, after in pads):
        return x
    sizes = [n + before + after for n, (before, after) in zip(x.shape[2:], pads, strict=True)]
    padded = _workspace("padded", (*x.shape[:2], *sizes), x.dtype)
    padded.fill(0)
    inner = [slice(before, before + n) for n, (before, _) in zip(x.shape[2:], pads, strict=True)]
    padded[(slice(None), slice(None), *inner)] = x
    return padded


def _windows(x: Any, kernel: Sizes, outs: Sizes, stride: Sizes, dilation: Sizes, top: int, joined: bool) -> Any:
    """A view of what each tap of the kernel sees: (n, c, *kernel, *outs), or (c, *kernel, n, *outs) if ``joined``."""
    first, second, *steps = x.strides
    rows = x[:, :, top * stride[0] :] if top else x
    taps = [step * d for step, d in zip(steps, dilation, strict=True)]
    moves = [step * s for step, s in zip(steps, stride, strict=True)]
    n, c = x.shape[:2]
    if joined:
        return as_strided(rows, (c, *kernel, n, *outs), (second, *taps, first, *moves), writeable=False)
    return as_strided(rows, (n, c, *kernel, *outs), (first, second, *taps, *moves), writeable=False)


def _columns(
    x: Any, kernel: Sizes, outs: Sizes, stride: Sizes, dilation: Sizes, groups: int, top: int, joined: bool
) -> Any:
    """The windows copied side by side: (n, groups, c * taps, outputs), or (groups, c * taps, n * outputs)."""
    seen = _windows(x, kernel, outs, stride, dilation, top, joined)
    columns = _workspace("columns", seen.shape, x.dtype)
    np.copyto(columns, seen)
    n, c = x.shape[:2]
    rows, length = c // groups * math.prod(kernel), math.prod(outs)
    return columns.reshape((groups, rows, n * length) if joined else (n, groups, rows, length))


def _blocks(n: int, outs: Sizes, rows: int, limit: int) -> Iterator[tuple[int, int, int, int]]:
    """Which samples, and which rows of their output, make one block: first and last of both."""
    per_row = rows * math.prod(outs[1:])
    if per_row * outs[0] <= limit:
        step = max(1, limit // max(per_row * outs[0], 1))
        for first in range(0, n, step):
            yield first, min(n, first + step), 0, outs[0]
        return
    height = max(1, limit // max(per_row, 1))
    for first in range(n):
        for top in range(0, outs[0], height):
            yield first, first + 1, top, min(outs[0], top + height)


def _side_by_side(g: Any, groups: int) -> Any:
    """(n, o, *outs) as (groups, o / groups, n * outputs), in the workspace."""
    n, o = g.shape[:2]
    outputs = _workspace("outputs", (o, n, *g.shape[2:]), g.dtype)
    np.copyto(outputs, g.swapaxes(0, 1))
    return outputs.reshape(groups, o // groups, -1)


def _is_pointwise(kernel: Sizes, stride: Sizes, pads: Pairs) -> bool:
    return max(kernel) == 1 == max(stride) and not any(before or after for before, after in pads)


# -- the convolution ---------------------------------------------------------------------------------------------------


def convolve(x: Any, w: Any, bias: Any, stride: Sizes, pads: Pairs, dilation: Sizes, groups: int) -> Any:
    """Each window of ``x`` (n, c, *sizes) times each of the ``w`` (o, c / groups, *kernel), plus the ``bias`` (o).

    ``pads`` are the zeros before and after each spatial dimension.  Halves are computed in single precision.
    """
    kind = x.dtype
    if kind.char in HALVES:
        wide = None if bias is None else bias.astype(F4)
        return convolve(x.astype(F4), w.astype(F4), wide, stride, pads, dilation, groups).astype(kind)
    if x.size >= compiled.least:
        result = compiled.convolution.convolve(x, w, bias, stride, pads, dilation, groups)
        if result is not None:
            return result
    n, c = x.shape[:2]
    o, kernel = w.shape[0], w.shape[2:]
    outs = tuple(
        [
            (size + before + after - d * (k - 1) - 1) // s + 1
            for size, k, s, d, (before, after) in zip(x.shape[2:], kernel, stride, dilation, pads, strict=True)
        ]
    )
    output = np.empty((n, o, *outs), kind)
    if not output.size:
        return output
    rows, length = w[0].size, math.prod(outs)
    if not rows:
        output[...] = 0 if bias is None else bias.reshape(o, *[1] * len(outs))
        return output
    weights = np.ascontiguousarray(w).reshape(groups, o // groups, rows)
    flat = output.reshape(n, groups, o // groups, length)
    pointwise = _is_pointwise(kernel, stride, pads)
    if pointwise and length >= _POINTS:
        np.matmul(weights, np.ascontiguousarray(x).reshape(n, groups, rows, length), out=flat)
        if bias is not None:
            flat += bias.reshape(groups, o // groups, 1)
        return output
    joined = length < _APART
    beside = None if bias is None else bias.reshape(o, 1) if joined else bias.reshape(groups, o // groups, 1)
    start, wide = -1, x
    for first, last, top, bottom in _blocks(n, outs, c * w[0, 0].size, _BLOCK_JOINED if joined else _BLOCK_APART):
        if first != start:
            start, wide = first, _padded(x[first:last], pads)
        here = (bottom - top, *outs[1:])
        columns = _columns(wide, kernel, here, stride, dilation, groups, top, joined)
        line = length // outs[0]
        part = flat[first:last, ..., top * line : bottom * line]
        if not joined:
            np.matmul(weights, columns, out=part)
            if beside is not None:
                part += beside
            continue
        products = _workspace("outputs", (groups, o // groups, columns.shape[-1]), kind)
        turned = np.matmul(weights, columns, out=products).reshape(o, last - first, -1).swapaxes(0, 1)
        part = output.reshape(n, o, length)[first:last, :, top * line : bottom * line]
        if beside is None:
            np.copyto(part, turned)
        else:
            np.add(turned, beside, out=part)
    return output


def _taps(kernel: Sizes, outs: Sizes, stride: Sizes, dilation: Sizes) -> Iterator[tuple[Sizes, tuple[slice, ...]]]:
    """Each tap of the kernel, and which elements of the padded input it meets."""
    for tap in product(*[range(k) for k in kernel]):
        yield (
            tap,
            tuple(
                [
                    slice(at * d, at * d + (n - 1) * s + 1, s)
                    for at, n, s, d in zip(tap, outs, stride, dilation, strict=True)
                ]
            ),
        )


# -- its gradients -----------------------------------------------------------------------------------------------------


def input_gradient(
    g: Any, w: Any, sizes: Sizes, stride: Sizes, padding: Sizes, dilation: Sizes, groups: int, bias: Any = None
) -> Any:
    """What ``convolve`` to outputs ``g`` (n, o, *outs) gives back to an input of spatial ``sizes``.

    That is the transposed convolution, too, to which a ``bias`` may be added.
    """
    kind = g.dtype
    if kind.char in HALVES:
        plus = None if bias is None else bias.astype(F4)
        return input_gradient(g.astype(F4), w.astype(F4), sizes, stride, padding, dilation, groups, plus).astype(kind)
    if g.size >= compiled.least:
        result = compiled.convolution.input_gradient(g, w, sizes, stride, padding, dilation, groups, bias)
        if result is not None:
            return result
    n, o = g.shape[:2]
    kernel, outs, inner = w.shape[2:], g.shape[2:], w.shape[1]
    before = [d * (k - 1) - p for k, p, d in zip(kernel, padding, dilation, strict=True)]
    gathered, scattered = math.prod(sizes) * o, math.prod(outs) * groups * inner  # how much each way would move
    if max(stride) == 1 and min(before) >= 0 and gathered <= 2 * scattered:
        pads = [(b, size + p - m) for b, size, p, m in zip(before, sizes, padding, outs, strict=True)]
        if min([after for _, after in pads]) >= 0:
            turned = w.reshape(groups, o // groups, inner, *kernel).swapaxes(1, 2)
            turned = turned[(..., *[slice(None, None, -1)] * len(kernel))]
            turned = np.ascontiguousarray(turned).reshape(groups * inner, o // groups, *kernel)
            return convolve(g, turned, bias, stride, pads, dilation, groups)
    gradient = np.zeros((n, groups * inner, *sizes), kind)
    if gradient.size and g.size and w.size:
        _spread(g, w, gradient, stride, padding, dilation, groups)
    if bias is not None:
        gradient += bias.reshape(-1, *[1] * len(sizes))
    return gradient


def _spread(g: Any, w: Any, gradient: Any, stride: Sizes, padding: Sizes, dilation: Sizes, groups: int) -> None:
    """Add to ``gradient`` what each output gives back to the window it saw."""
    n, o = g.shape[:2]
    c, sizes = gradient.shape[1], gradient.shape[2:]
    kernel, outs, kind = w.shape[2:], g.shape[2:], g.dtype
    length, rows = math.prod(outs), w[0].size
    turned = np.ascontiguousarray(w.reshape(groups, o // groups, rows).swapaxes(1, 2))
    joined = length < _APART
    needed = [
        max(size + 2 * p, (m - 1) * s + d * (k - 1) + 1)
        for size, p, m, s, d, k in zip(sizes, padding, outs, stride, dilation, kernel, strict=True)
    ]
    exact = not any(padding) and needed == list(sizes)
    inner = tuple([slice(p, p + size) for p, size in zip(padding, sizes, strict=True)])
    start, target = -1, gradient
    for first, last, top, bottom in _blocks(n, outs, c * math.prod(kernel), _BLOCK_JOINED if joined else _BLOCK_APART):
        m = last - first
        if first != start:
            start = first
            if exact:
                target = gradient[first:last]
            else:
                target = _workspace("padded", (m, c, *needed), kind)
                target.fill(0)
        part = g[first:last, :, top:bottom]
        here = part.shape[2:]
        if joined:
            back = _workspace("columns", (groups, rows, m * math.prod(here)), kind)
            np.matmul(turned, _side_by_side(part, groups), out=back)
            back = back.reshape(c, *kernel, m, *here)
        else:
            back = _workspace("columns", (m, groups, rows, math.prod(here)), kind)
            np.matmul(turned, np.ascontiguousarray(part).reshape(m, groups, o // groups, -1), out=back)
            back = back.reshape(m, c, *kernel, *here)
        lower = target[:, :, top * stride[0] :]
        for tap, seen in _taps(kernel, here, stride, dilation):
            where = lower[(slice(None), slice(None), *seen)]
            where += back[(slice(None), *tap)].swapaxes(0, 1) if joined else back[(slice(None), slice(None), *tap)]
        if not exact and bottom == outs[0]:
            gradient[first:last] = target[(slice(None), slice(None), *inner)]


def weight_gradient(x: Any, g: Any, kernel: Sizes, stride: Sizes, padding: Sizes, dilation: Sizes, groups: int) -> Any:
    """The products of each output ``g`` (n, o, *outs) with the window of ``x`` it saw: (o, c / groups, *kernel)."""
    kind = x.dtype
    if kind.char in HALVES:
        wide = weight_gradient(x.astype(F4), g.astype(F4), kernel, stride, padding, dilation, groups)
        return wide.astype(kind)
    if x.size >= compiled.least:
        result = compiled.convolution.weight_gradient(x, g, kernel, stride, padding, dilation, groups)
        if result is not None:
            return result
    n, c = x.shape[:2]
    o, outs = g.shape[1], g.shape[2:]
    rows = c // groups * math.prod(kernel)
    gradient = np.zeros((groups, o // groups, rows), kind)
    if not (gradient.size and g.size and x.size):
        return gradient.reshape(o, c // groups, *kernel)
    start, wide = -1, x
    joined = math.prod(outs) < _APART
    for first, last, top, bottom in _blocks(n, outs, c * math.prod(kernel), _BLOCK_JOINED if joined else _BLOCK_APART):
        if first != start:
            start, wide = first, _padded(x[first:last], both_sides(padding))
        part = g[first:last, :, top:bottom]
        columns = _columns(wide, kernel, part.shape[2:], stride, dilation, groups, top, joined).swapaxes(-1, -2)
        if joined:
            gradient += np.matmul(_side_by_side(part, groups), columns)
        else:
            each = np.ascontiguousarray(part).reshape(last - first, groups, o // groups, -1)
            gradient += np.add.reduce(np.matmul(each, columns), 0)
    return gradient.reshape(o, c // groups, *kernel)


# -- windows side by side, and back ------------------------------------------------------------------------------------


def unfolded(x: Any, kernel: Sizes, stride: Sizes, padding: Sizes, dilation: Sizes) -> Any:
    """The windows of ``x`` (n, c, *sizes) as the columns of matrices: (n, c * taps, outputs)."""
    n, c = x.shape[:2]
    outs = output_sizes(x.shape[2:], kernel, stride, padding, dilation)
    windows = np.empty((n, c, *kernel, *outs), x.dtype)
    if windows.size:
        np.copyto(windows, _windows(_padded(x, both_sides(padding)), kernel, outs, stride, dilation, 0, False))
    return windows.reshape(n, c * math.prod(kernel), math.prod(outs))


def folded(columns: Any, sizes: Sizes, kernel: Sizes, stride: Sizes, padding: Sizes, dilation: Sizes) -> Any:
    """The adjoint of ``unfolded``: every element of (n, c, *sizes) is the sum of its places in ``columns``."""
    kind = columns.dtype
    if kind.char in HALVES:
        return folded(columns.astype(F4), sizes, kernel, stride, padding, dilation).astype(kind)
    n, rows = columns.shape[:2]
    c = rows // math.prod(kernel)
    outs = output_sizes(sizes, kernel, stride, padding, dilation)
    images = np.zeros((n, c, *[size + 2 * p for size, p in zip(sizes, padding, strict=True)]), kind)
    places = columns.reshape(n, c, *kernel, *outs)
    for tap, seen in _taps(kernel, outs, stride, dilation):
        where = images[(slice(None), slice(None), *seen)]
        where += places[(slice(None), slice(None), *tap)]
    if any(padding):
        inner = [slice(p, p + m) for p, m in zip(padding, sizes, strict=True)]
        images = images[(slice(None), slice(None), *inner)].copy()
    return images
