"""Chebyshev series of arrays, and how a function of float64 blocks serves every array of floats; knows NumPy only."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

BLOCK = 8192  # elements that stay in cache during all passes


def clenshaw(t: Any, coefficients: tuple[float, ...]) -> Any:
    """The Chebyshev series with these coefficients at ``t`` in [-1, 1].

    Source: C. W. Clenshaw, A note on the summation of Chebyshev series (1955).
    """
    twice = t + t
    last = np.zeros_like(t)
    here = np.full_like(t, coefficients[-1])
    for c in coefficients[-2:0:-1]:
        onward = twice * here
        onward -= last
        onward += c
        last, here = here, onward
    here = here * t
    here -= last
    here += coefficients[0]
    return here


def by_blocks(function: Callable[..., Any]) -> Callable[..., Any]:
    """``function`` of flat float64 arrays, made to serve arrays and scalars of one float dtype and shape."""

    def serve(*given: Any) -> Any:
        first = given[0]
        shape = first.shape if len(given) == 1 else np.broadcast_shapes(*(a.shape for a in given))
        flats = [np.broadcast_to(a, shape).reshape(-1) for a in given]
        out = np.empty(flats[0].size, first.dtype)
        for start in range(0, out.size, BLOCK):
            piece = slice(start, start + BLOCK)
            out[piece] = function(*(flat[piece].astype(np.float64) for flat in flats))
        return out.reshape(shape)[()]

    serve.__name__ = serve.__qualname__ = function.__name__
    serve.__doc__ = function.__doc__
    return serve
