"""Softmax and its logarithm over rows, and their ways back: each row is read once from memory, and written once."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...kernels.native.binding import inlined, kernel, lines, shared_out, wide_vectors
from ...kernels.native.mathematics import exp, like, log, sortable, unsorted

F4, F8 = np.dtype("f4"), np.dtype("f8")


def _rows(a: Any, dim: int) -> int:
    """The length of the rows, where ``a`` is to be served: floats, rows along the last dimension; else zero."""
    d = a.dtype
    if (d is F4 or d is F8) and a.ndim and a.size and dim % a.ndim == a.ndim - 1:
        return int(a.shape[-1])
    return 0


@inlined
def top(row: Any) -> Any:
    """The largest element of a row; a finite one if it is minus infinity, so that it can be subtracted."""
    most = sortable(row[0])
    for j in range(row.size):
        at = sortable(row[j])
        most = at if at > most else most
    largest = unsorted(most)
    return like(0, largest) if largest == like(-np.inf, largest) else largest


@kernel
def _forward(first: Any, last: Any, x: Any, out: Any) -> None:
    wide_vectors()
    for i in range(first, last):
        row, result = x[i], out[i]
        most = top(row)
        total = like(0, most)
        for j in range(row.size):
            e = exp(row[j] - most)
            result[j] = e
            total += e
        scale = like(1, most) / total
        for j in range(row.size):
            result[j] *= scale


@kernel
def _backward(first: Any, last: Any, grad: Any, output: Any, out: Any) -> None:
    for i in range(first, last):
        g, y, result = grad[i], output[i], out[i]
        total = like(0, g[0])
        for j in range(g.size):
            total += g[j] * y[j]
        for j in range(g.size):
            result[j] = (g[j] - total) * y[j]


@kernel
def _log_forward(first: Any, last: Any, x: Any, out: Any) -> None:
    wide_vectors()
    for i in range(first, last):
        row, result = x[i], out[i]
        most = top(row)
        total = like(0, most)
        for j in range(row.size):
            total += exp(row[j] - most)
        level = log(total)
        for j in range(row.size):
            result[j] = (row[j] - most) - level


@kernel
def _log_backward(first: Any, last: Any, grad: Any, output: Any, out: Any) -> None:
    wide_vectors()
    for i in range(first, last):
        g, y, result = grad[i], output[i], out[i]
        total = like(0, g[0])
        for j in range(g.size):
            total += g[j]
        for j in range(g.size):
            result[j] = g[j] - exp(y[j]) * total


def _over_rows(work: Any, width: int, *arrays: Any) -> Any:
    """What ``work`` writes for the rows of ``arrays``, in their shape."""
    out = np.empty(arrays[0].shape, arrays[0].dtype)
    matrix = out.reshape(-1, width)
    shared_out(work, len(matrix), out.size, *[lines(a, width) for a in arrays], matrix)
    return out


def _back(work: Any, grad_output: Any, output: Any, dim: int) -> Any:
    """What ``work`` makes of gradients and the outputs that they are of."""
    width = _rows(output, dim)
    if not width or grad_output.dtype != output.dtype or grad_output.shape != output.shape:
        return None
    return _over_rows(work, width, grad_output, output)


def forward(self: Any, dim: int) -> Any:
    """Exponentials of each row, scaled to sum to one."""
    width = _rows(self, dim)
    return _over_rows(_forward, width, self) if width else None


def backward(grad_output: Any, output: Any, dim: int) -> Any:
    """The gradient of ``forward`` at its ``output``."""
    return _back(_backward, grad_output, output, dim)


def log_forward(self: Any, dim: int) -> Any:
    """Each row less the logarithm of the sum of its exponentials."""
    width = _rows(self, dim)
    return _over_rows(_log_forward, width, self) if width else None


def log_backward(grad_output: Any, output: Any, dim: int) -> Any:
    """The gradient of ``log_forward`` at its ``output``."""
    return _back(_log_backward, grad_output, output, dim)
