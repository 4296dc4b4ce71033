"""Orthogonal polynomials of tensors of arguments and of degrees: their recurrences, and Chebyshev's as cosines.

Degrees are cut to integers; those below zero give zero.  Source: https://dlmf.nist.gov/18
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

_HERMITE_LIMIT = {4: 128, 8: 512}  # degrees from which PyTorch gives NaN, by the bytes of the dtype


def _recurrence(x: Any, n: Any, first: Any, step: Callable[[int, Any, Any], Any], where: Any = True) -> Any:
    """The polynomials of degrees ``n``, each from the two before: ``step(k, p_k, p_(k-1))`` is that of degree k + 1."""
    out = np.where(n == 0, np.ones_like(x), first)
    below, here = np.ones_like(x), first
    waiting = (n > 1) & where
    most = int(n[waiting].max()) if waiting.any() else 1
    for k in range(1, most):
        below, here = here, step(k, here, below)
        out = np.where(n == k + 1, here, out)
    return np.where(n < 0, np.zeros_like(x), out)


def _whole(x: Any, n: Any) -> tuple[Any, Any]:
    x, n = np.broadcast_arrays(x, n)
    with np.errstate(invalid="ignore"):
        return x, n.astype(np.int64)


def _chebyshev(kind: str, x: Any, n: Any, shifted: bool) -> Any:
    x, n = _whole(x, n)
    if shifted:
        x = x + x - 1
    one = x.dtype.type(1)
    odd = np.where(n % 2 == 0, one, -one)
    count, double = (n + 1).astype(x.dtype), (n + n + 1).astype(x.dtype)
    # at 1, at -1, the second polynomial, the degree above which the cosine serves within
    right, left, first, border = {
        "t": (one, odd, x, 6),
        "u": (count, odd * count, x + x, 8),
        "v": (one, odd * double, x + x - 1, 8),
        "w": (double, odd, x + x + 1, 4 if shifted else 8),
    }[kind]
    cosine = (n > border) & (np.abs(x) < 1)
    out = _recurrence(x, n, first, lambda k, p, q: (x + x) * p - q, ~cosine)
    if cosine.any():
        angle = np.arccos(np.clip(x, -1, 1))
        turned = {
            "t": lambda: np.cos(n * angle),
            "u": lambda: np.sin((n + 1) * angle) / np.sin(angle),
            "v": lambda: np.cos((n + 0.5) * angle) / np.cos(angle / 2),
            "w": lambda: np.sin((n + 0.5) * angle) / np.sin(angle / 2),
        }[kind]()
        out = np.where(cosine, turned, out)
    out = np.where((x == 1) & (n >= 0), right, np.where((x == -1) & (n >= 0), left, out))
    return out.astype(x.dtype)[()]


def chebyshev(kind: str, shifted: bool = False) -> Callable[[Any, Any], Any]:
    """The Chebyshev polynomials of a kind ("t", "u", "v" or "w"), of ``2 x - 1`` if shifted."""
    return lambda x, n: _chebyshev(kind, x, n, shifted)


def hermite_h(x: Any, n: Any) -> Any:
    """The physicist's Hermite polynomials."""
    limit = _HERMITE_LIMIT[x.dtype.itemsize]
    x, n = _whole(x, n)
    out = _recurrence(x, np.minimum(n, limit), x + x, lambda k, p, q: (x + x) * p - x.dtype.type(2 * k) * q)
    return np.where(n > limit, x.dtype.type(np.nan), out)[()]


def hermite_he(x: Any, n: Any) -> Any:
    """The probabilist's Hermite polynomials."""
    limit = _HERMITE_LIMIT[x.dtype.itemsize]
    x, n = _whole(x, n)
    out = _recurrence(x, np.minimum(n, limit), x, lambda k, p, q: x * p - x.dtype.type(k) * q)
    return np.where(n > limit, x.dtype.type(np.nan), out)[()]


def laguerre(x: Any, n: Any) -> Any:
    """Laguerre's polynomials."""
    x, n = _whole(x, n)
    number = x.dtype.type
    out = _recurrence(x, n, 1 - x, lambda k, p, q: ((number(2 * k + 1) - x) * p - number(k) * q) / number(k + 1))
    return np.where((x == 0) & (n >= 0), number(1), out)[()]


def legendre(x: Any, n: Any) -> Any:
    """Legendre's polynomials."""
    x, n = _whole(x, n)
    number = x.dtype.type
    out = _recurrence(x, n, x, lambda k, p, q: (number(2 * k + 1) * x * p - number(k) * q) / number(k + 1))
    return out[()]
