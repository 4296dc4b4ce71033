"""Compiled parts of pooling: values put back to their places in planes of zeros, in one pass over them."""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np

from .binding import kernel, shared_out
from .tiles import get, place, put

_KINDS = (np.dtype("f4"), np.dtype("f8"))
_INDEX = np.dtype("i8")


@kernel
def _put(first: int, last: int, values: Any, indices: Any, out: Any, added: bool) -> None:
    """Planes from ``first`` to ``last``; of several values at one place the last stays, unless they are ``added``."""
    count, area = values.shape[1], out.shape[1]
    for plane in range(first, last):
        given, at, made = place(values, plane * count), place(indices, plane * count), place(out, plane * area)
        for i in range(area):
            put(made, i, values.dtype.type(0))
        if added:
            for i in range(count):
                put(made, get(at, i), get(made, get(at, i)) + get(given, i))
        else:
            for i in range(count):
                put(made, get(at, i), get(given, i))


@kernel
def _all_inside(indices: Any, area: int) -> bool:
    outside = 0
    for index in indices:
        outside |= index | (area - 1 - index)  # negative where one of them is
    return outside >= 0


def put_back(values: Any, indices: Any, sizes: tuple[int, ...], apart: bool) -> Any:
    """See ``put`` in ``kernels/pooling.py``; ``None`` for what is not served."""
    if values.dtype not in _KINDS or indices.dtype != _INDEX or not values.size or values.shape != indices.shape:
        return None
    shape, area = (*values.shape[: values.ndim - len(sizes)], *sizes), prod(sizes)
    planes = prod(shape[: len(shape) - len(sizes)])
    places = np.ascontiguousarray(indices).reshape(planes, -1)
    if not _all_inside(places.reshape(-1), area):
        return None  # NumPy says what is wrong
    out = np.empty((planes, area), values.dtype)
    given = np.ascontiguousarray(values).reshape(planes, -1)
    shared_out(_put, planes, out.size + given.size, given, places, out, not apart)
    return out.reshape(shape)
