"""The singular value decomposition: knows LAPACK through NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..declare import op
from .decompose import times, turned
from .extreme import not_implemented
from .shape import unsqueeze


@op(constant=True)
def unit_matrices(self: Any, /) -> Any:
    """Unit matrices of the size of ``self``'s last dimension."""
    return np.eye(self.shape[-1], dtype=self.dtype)


@op()
def linalg_svd(A: Any, /) -> Any:  # noqa: N803  PyTorch's name
    """Orthonormal columns ``U``, falling values ``S`` and orthonormal rows ``Vh`` with ``U @ diag(S) @ Vh = A``."""
    if A.dtype not in (np.float32, np.float64, np.complex64, np.complex128):
        raise not_implemented("linalg_svd_cpu", A)
    u, s, vh = np.linalg.svd(A, full_matrices=False)
    return u, s, vh


linalg_svd.returns("U", "S", "Vh")
for _row in (unit_matrices, linalg_svd):
    _row.internal()


def _least(sizes: tuple[int, ...]) -> tuple[int, int, int]:
    """Rows, columns, and the smaller of the two."""
    return sizes[-2], sizes[-1], min(sizes[-2:])


@linalg_svd.derivative("A")
def _svd_rule(grads: Any, U: Any, S: Any, Vh: Any, A_sizes: Any) -> Any:  # noqa: N803
    """Townsend, "Differentiating the singular value decomposition" (2016)."""
    gu, gs, gvh = grads
    rows, columns, k = _least(A_sizes)
    wide, tall = unsqueeze(S, -2), unsqueeze(S, -1)
    unit = unit_matrices(S)
    inner = None if gs is None else unsqueeze(gs, -1) * unit
    gaps = wide * wide - tall * tall + unit if gu is not None or gvh is not None else None
    rest = None
    if gu is not None:
        turn = times(turned(U), gu)
        part = (turn - turned(turn)) / gaps * wide
        inner = part if inner is None else inner + part
        if rows > k:
            scaled = gu / wide
            rest = times(scaled - times(U, times(turned(U), scaled)), Vh)
    if gvh is not None:
        turn = times(Vh, turned(gvh))
        part = (turn - turned(turn)) / gaps * tall
        inner = part if inner is None else inner + part
        if columns > k:
            scaled = gvh / tall
            part = times(U, scaled - times(times(scaled, turned(Vh)), Vh))
            rest = part if rest is None else rest + part
    back = times(times(U, inner), Vh)
    return back if rest is None else back + rest
