"""Special functions that SciPy computes, imported when one is first called; and what PyTorch gives where SciPy differs.

The extra ``special`` brings SciPy. What the rest of the package calls (erf, lgamma, digamma and their kin) needs none
of it: that is in ``special.py``. Each function keeps the dtype of its arrays, float32 or float64.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np


def _function(name: str) -> Callable[..., Any]:
    """``scipy.special``'s function of this name, looked up when it is called."""

    def function(*arguments: Any) -> Any:
        try:
            from scipy import special
        except ImportError as error:
            raise ImportError(f"{name} is computed by SciPy: pip install 'glassgrad[special]'") from error
        return getattr(special, name)(*arguments)

    function.__name__ = function.__qualname__ = name
    return function


i0e, i1, i1e = _function("i0e"), _function("i1"), _function("i1e")
j0, j1, y0, y1 = _function("j0"), _function("j1"), _function("y0"), _function("y1")
k0, k1, k0e, k1e = _function("k0"), _function("k1"), _function("k0e"), _function("k1e")
erfcx, log_ndtr, ndtri = _function("erfcx"), _function("log_ndtr"), _function("ndtri")
_airy, _gamma, _zeta = _function("airy"), _function("gamma"), _function("zeta")
_gammainc, _gammaincc = _function("gammainc"), _function("gammaincc")


def gammainc(a: Any, x: Any) -> Any:
    """The lower incomplete gamma function; at its ends what it has there, even where the other argument is NaN."""
    return _with_ends(_gammainc(a, x), a, x, 0)


def gammaincc(a: Any, x: Any) -> Any:
    """The upper incomplete gamma function; at its ends what it has there, even where the other argument is NaN."""
    return _with_ends(_gammaincc(a, x), a, x, 1)


def _with_ends(value: Any, a: Any, x: Any, least: int) -> Any:
    if not np.isnan(value).any():
        return value
    value = np.where(np.isnan(a) & (x == 0) | np.isnan(x) & (a == math.inf), value.dtype.type(least), value)
    return np.where(np.isnan(a) & (x == math.inf), value.dtype.type(1 - least), value)[()]


def airy_ai(x: Any) -> Any:
    """Airy's function Ai; NaN at infinity.

    SciPy gives NaN from some two millions on. There PyTorch gives zero to the right, and to the left the leading term,
    a wave; so do we.
    Source: https://dlmf.nist.gov/9.7
    """
    value = np.asarray(_airy(x)[0])
    far = (np.abs(x) > 1e6) & np.isfinite(x)
    if far.any():
        z = np.abs(x[far].astype(np.float64))
        wave = np.cos(2 * z * np.sqrt(z) / 3 - math.pi / 4) / np.sqrt(math.pi * np.sqrt(z))
        value[far] = np.where(x[far] > 0, 0.0, wave)
    return value[()]


def zeta(x: Any, q: Any) -> Any:
    """Hurwitz's zeta function; NaN where ``x`` or ``q`` is infinite, for which SciPy gives zero."""
    value = _zeta(x, q)
    return np.where((x > 1) & (q > 1) & np.isinf(x + q), x.dtype.type(math.nan), value)[()]


def polygamma(n: int, x: Any) -> Any:
    """The derivative of digamma of order ``n``, which is 2 or more."""
    factor = math.copysign(_gamma(n + 1.0), 1 if n % 2 else -1)
    return (factor * zeta(np.float64(n + 1), x.astype(np.float64))).astype(x.dtype)
