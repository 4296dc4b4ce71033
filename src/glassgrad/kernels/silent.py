"""Functions that NumPy has in Python, without its warnings: PyTorch is silent about overflow and division by zero.

What NumPy tells of our own lines is told in the name of our modules, and left out by it. What these would tell is told
in the name of NumPy's.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from types import ModuleType
from typing import Any

import numpy as np


def of(module: ModuleType, names: str) -> list[Callable[..., Any]]:
    """The functions of these names in a module of NumPy's, silent."""
    return [_silenced(getattr(module, name)) for name in names.split()]


def _silenced(function: Callable[..., Any]) -> Callable[..., Any]:
    if np.lib.NumpyVersion(np.__version__) >= "2.0.0":
        return np.errstate(all="ignore")(function)

    @wraps(function)
    def silent(*args: Any, **kwargs: Any) -> Any:
        with np.errstate(all="ignore"):  # a new one for each call: before NumPy 2 threads could not share one
            return function(*args, **kwargs)

    return silent


(einsum,) = of(np, "einsum")
cholesky, det, inv, qr, slogdet, solve, svd = of(np.linalg, "cholesky det inv qr slogdet solve svd")
eig, eigh, eigvals, eigvalsh = of(np.linalg, "eig eigh eigvals eigvalsh")
