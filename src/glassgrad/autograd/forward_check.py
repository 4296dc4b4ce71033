"""The forward half of ``gradcheck``: Jacobians by forward mode beside central differences, alone and in batches."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..core.tensor import Tensor, carries_gradients, wrap
from ..func.tangents import zeros_of
from ..func.vmap import vmap
from .forward_ad import dual_level, make_dual, unpack_dual


def columns(
    func: Callable[..., Any], inputs: tuple[Any, ...], index: int, number: int, by_imaginary: bool = False
) -> Any:
    """The Jacobian of output ``number`` by input ``index``: a row for each element of the input."""
    tensor = inputs[index]
    rows = []
    for place in np.ndindex(tensor._array.shape):
        unit = np.zeros(tensor._array.shape, tensor._array.dtype)
        unit[place] = 1j if by_imaginary else 1
        rows.append(_along(func, inputs, index, wrap(unit), number).reshape(-1))
    return np.array(rows) if rows else np.zeros((0, 0))


def _dual(value: Any, direction: Any) -> Any:
    return make_dual(value.detach().requires_grad_(value.requires_grad), direction)


def _along(func: Callable[..., Any], inputs: tuple[Any, ...], index: int, direction: Tensor, number: int) -> Any:
    """The tangent of an output as an array; zeros where it has none."""
    with dual_level():
        duals = [_dual(value, direction) if n == index else value for n, value in enumerate(inputs)]
        outputs = func(*duals)
        out = unpack_dual(list(outputs)[number] if isinstance(outputs, (list, tuple)) else outputs)
        tangent = zeros_of(out.primal) if out.tangent is None else out.tangent
        return np.array(tangent.detach()._array)


def are_batches_alike(func: Callable[..., Any], inputs: tuple[Any, ...], watched: Sequence[Any]) -> bool:
    """Whether tangents along a batch of directions are those along each alone, for each input and output."""
    for index, tensor in watched:
        rng = np.random.default_rng(0)
        directions = wrap(rng.uniform(-1, 1, (2, *tensor._array.shape)).astype(tensor._array.dtype))

        def pushed(direction: Any, index: int = index) -> tuple[Any, ...]:
            with dual_level():
                duals = [_dual(v, direction) if n == index else v for n, v in enumerate(inputs)]
                answer = func(*duals)
                parts = [unpack_dual(out) for out in (answer if isinstance(answer, (list, tuple)) else [answer])]
                return tuple(zeros_of(p.primal) if p.tangent is None else p.tangent for p in parts
                             if isinstance(p.primal, Tensor) and carries_gradients(p.primal._array.dtype))  # fmt: skip

        together = vmap(pushed)(directions)
        for row in range(2):
            alone = pushed(wrap(directions._array[row]))
            for a, b in zip(together, alone, strict=True):
                if not np.allclose(a.detach()._array[row], b.detach()._array):
                    return False
    return True
