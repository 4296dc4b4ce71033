"""The largest or smallest few of each row, compiled: one pass that keeps the best so far in order."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...kernels.native.binding import kernel, shared_out

_KINDS = (np.dtype("f4"), np.dtype("f8"), np.dtype("i8"))
_MOST = 64  # kept in order by insertion


@kernel
def _best(first: int, last: int, a: Any, values: Any, indices: Any, largest: bool) -> None:
    """NaN counts as the largest; of equal elements the earlier ones come first."""
    count, k = a.shape[1], values.shape[1]
    for n in range(first, last):
        row, chosen, where = a[n], values[n], indices[n]
        filled = 0
        for i in range(count):
            x = row[i]
            if filled == k:
                worst = chosen[k - 1]
                if largest:
                    better = x > worst or (x != x and worst == worst)  # noqa: PLR0124  NaN
                else:
                    better = x < worst or (worst != worst and x == x)  # noqa: PLR0124
                if not better:
                    continue
                j = k - 1
            else:
                j = filled
                filled += 1
            while j > 0:
                y = chosen[j - 1]
                if largest:
                    ahead = x > y or (x != x and y == y)  # noqa: PLR0124
                else:
                    ahead = x < y or (y != y and x == x)  # noqa: PLR0124
                if not ahead:
                    break
                chosen[j], where[j] = y, where[j - 1]
                j -= 1
            chosen[j], where[j] = x, i


def best(a: Any, k: int, largest: bool) -> Any:
    """The ``k`` largest or smallest along the last axis, in order, and where they are; ``None`` if not served."""
    if a.dtype not in _KINDS or not 0 < k <= _MOST or k > a.shape[-1] or not a.flags.c_contiguous:
        return None
    count = a.shape[-1]
    shape = (*a.shape[:-1], k)
    values, indices = np.empty(shape, a.dtype), np.empty(shape, np.int64)
    rows = a.size // count
    lines = a.reshape(rows, count), values.reshape(rows, k), indices.reshape(rows, k)
    shared_out(_best, rows, a.size, *lines, largest)
    return values, indices
