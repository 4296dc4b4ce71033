"""Functions known at sample points: their slopes."""

from __future__ import annotations

from typing import Any

from ...core.tensor import Tensor
from ...ground.dtypes import get_default_dtype
from ..declare import composite
from ..primitive.index import slice as piece
from ..primitive.join import cat
from ..primitive.number import div_number, mul_number
from .operand import is_number, need_tensor, no_match, plain
from .reduce import one_dim

_SIGNATURES = (
    "Tensor input, *, tuple of ints dim, int edge_order = 1",
    "Tensor input, *, Number spacing, tuple of ints dim, int edge_order = 1",
    "Tensor input, *, Number spacing = None, int dim = None, int edge_order = 1",
    "Tensor input, *, tuple of Numbers spacing, tuple of ints dim, int edge_order = 1",
    "Tensor input, *, tuple of Numbers spacing, int dim = None, int edge_order = 1",
    "Tensor input, *, tuple of Tensors spacing, int dim = None, int edge_order = 1",
    "Tensor input, *, tuple of Tensors spacing, tuple of ints dim, int edge_order = 1",
)


def _even(values: Any, dim: int, step: float, order: int) -> Any:
    """The slopes along ``dim`` of values ``step`` apart."""
    inner = div_number(
        div_number(piece(values, dim, 2, None, 1) - piece(values, dim, 0, -2, 1), step), 2
    )  # fmt: skip
    first, last = piece(values, dim, 1, 2, 1) - piece(values, dim, 0, 1, 1), None
    if order == 1:
        last = piece(values, dim, -1, None, 1) - piece(values, dim, -2, -1, 1)
        first, last = div_number(first, step), div_number(last, step)
    else:
        first = mul_number(first, 2) - div_number(piece(values, dim, 2, 3, 1) - piece(values, dim, 0, 1, 1), 2)
        last = mul_number(piece(values, dim, -1, None, 1) - piece(values, dim, -2, -1, 1), 2)
        last = last - div_number(piece(values, dim, -1, None, 1) - piece(values, dim, -3, -2, 1), 2)
        first, last = div_number(first, step), div_number(last, step)
    return cat([first, inner, last], dim)


def _uneven(values: Any, dim: int, points: Any, order: int) -> Any:
    """The slopes along ``dim`` of values at ``points``, by the parabola through neighbours."""
    count = values._array.ndim
    gaps = points.diff()

    def at(start: int, end: int | None) -> Any:
        return piece(gaps, 0, start, end, 1).view([-1 if i == dim else 1 for i in range(count)])

    def of(start: int, end: int | None) -> Any:
        return piece(values, dim, start, end, 1)

    left, right = at(0, -1), at(1, None)
    inner = (
        of(0, -2) * (-right / (left * (left + right)))
        + of(1, -1) * ((right - left) / (left * right))
        + of(2, None) * (left / (right * (left + right)))
    )
    if order == 1:
        first = (of(1, 2) - of(0, 1)) / at(0, 1)
        last = (of(-1, None) - of(-2, -1)) / at(-1, None)
        return cat([first, inner, last], dim)
    left, right = at(0, 1), at(1, 2)
    first = (
        of(0, 1) * (-(left * 2 + right) / (left * (left + right)))
        + of(1, 2) * ((left + right) / (left * right))
        + of(2, 3) * (-left / (right * (left + right)))
    )
    left, right = at(-2, -1), at(-1, None)
    last = (
        of(-3, -2) * (right / (left * (left + right)))
        + of(-2, -1) * (-(left + right) / (left * right))
        + of(-1, None) * ((right * 2 + left) / (right * (left + right)))
    )
    return cat([first, inner, last], dim)


@composite(method=False)
def gradient(input: Any, *, spacing: Any = None, dim: Any = None, edge_order: int = 1) -> tuple[Tensor, ...]:
    """The slopes of sampled values along each of ``dim``: central differences, one-sided at the ends.

    ``spacing`` is the distance of samples, one for each dimension, or tensors of coordinates; ``edge_order`` (1 or 2)
    the accuracy at the ends.  Source: https://docs.pytorch.org/docs/stable/generated/torch.gradient.html
    """
    need_tensor("gradient", "input", 1, input)
    count = input._array.ndim
    if isinstance(spacing, Tensor) and not spacing._array.ndim:
        spacing = spacing.item()  # type: ignore[attr-defined]
    if not (spacing is None or is_number(spacing) or isinstance(spacing, (list, tuple))):
        raise no_match("gradient", (input, spacing), *_SIGNATURES)
    listed = isinstance(spacing, (list, tuple))
    if dim is None:
        dims = list(range(count))
        if listed and len(spacing) != count:
            raise RuntimeError(
                "torch.gradient expected spacing to be unspecified, a scalar, or a list of length equal to 'self.dim() "
                f"= {count}', since dim argument was not given, but got a list of length {len(spacing)}"
            )
    else:
        dim_list = list(dim) if isinstance(dim, (list, tuple)) else [dim]
        if listed and len(spacing) != len(dim_list):
            raise RuntimeError(
                "torch.gradient expected spacing to be unspecified, a scalar or it's spacing and dim arguments to have "
                f"the same length, but got a spacing argument of length {len(spacing)} and a dim argument of length "
                f"{len(dim_list)}."
            )
        dims = [one_dim(axis, count, "gradient") for axis in dim_list]
        for position, axis in enumerate(dims):
            if axis in dims[:position]:
                raise RuntimeError(f"dim {axis} appears multiple times in the list of dims")
    if input._array.dtype == "u1":
        raise RuntimeError("torch.gradient does not support uint8 input.")
    if edge_order not in (1, 2):
        raise RuntimeError("torch.gradient only supports edge_order=1 and edge_order=2.")
    for axis in dims:
        if input._array.shape[axis] < edge_order + 1:
            raise RuntimeError("torch.gradient expected each dimension size to be at least edge_order+1")
    if input._array.dtype.kind in "iu":
        input = input.to(get_default_dtype())
    steps = list(spacing) if listed else [1.0 if spacing is None else spacing] * len(dims)
    if any(isinstance(step, Tensor) for step in steps):
        for position, step in enumerate(steps):
            if not isinstance(step, Tensor):
                raise TypeError(
                    f"expected Tensor as element {position} in argument 1, but got {type(step).__name__}"
                )  # fmt: skip
        return tuple(_uneven(input, axis, points, edge_order) for axis, points in zip(dims, steps, strict=True))
    return tuple(_even(input, axis, plain(step), edge_order) for axis, step in zip(dims, steps, strict=True))
