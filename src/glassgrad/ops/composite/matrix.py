"""Matrix products as users call them: ``matmul``, linear layers, ``addmm_``; chooses the row that serves the sizes."""

from __future__ import annotations

import math
from types import SimpleNamespace
from typing import Any

from ...core import write
from ...core.tensor import Tensor, wrap
from ...ground import dtypes, modes
from ...ground.listening import audible
from ..autocast import low
from ..declare import composite
from ..primitive.batch import baddbmm, bmm
from ..primitive.linear import linear_2d
from ..primitive.matrix import addmm, dot, mm, mv, squeezed_row
from ..primitive.shape import (
    compact,
    expand,
    reshape,
    squeeze_dim,
    t,
    transpose,
    unsafe_view,
    unsqueeze,
    view,
)


def demand(function: str, **tensors: Any) -> None:
    """Raise PyTorch's error for the first argument that is no tensor."""
    for position, (name, value) in enumerate(tensors.items(), 1):
        if not isinstance(value, Tensor):
            raise TypeError(
                f"{function}(): argument '{name}' (position {position}) must be Tensor, not {dtypes.called(value)}"
            )


def into(function: str, inputs: Any, out: Any, result: Any) -> Any:
    """The result of a function of several rows put into its ``out=``; gives ``out``."""
    return write.into(SimpleNamespace(name=function), inputs, out, result)  # type: ignore[arg-type]


# -- matmul -----------------------------------------------------------------------------------------------------------


@composite()
def matmul(input: Any, other: Any, *, out: Any = None) -> Any:
    """The matrix product: of vectors, matrices, or broadcast batches of matrices.

    Source: https://docs.pytorch.org/docs/stable/generated/torch.matmul.html
    """
    try:
        n, m = input._array.ndim, other._array.ndim
    except AttributeError:
        demand("matmul", input=input, other=other)
        raise
    if n == 2 and m == 2 and out is None:
        return mm(input, other)
    if modes.watch:
        input, other = low(input, other)
    product = _matmul(input, other, n, m, out is not None)
    return product if out is None else into("matmul", (input, other), out, product)


def _matmul(input: Tensor, other: Tensor, n: int, m: int, has_out: bool) -> Tensor:
    if not n or not m:
        raise RuntimeError(f"both arguments to matmul need to be at least 1D, but they are {n}D and {m}D")
    if n <= 2 and m <= 2:
        if m == 1:
            return dot(input, other) if n == 1 else mv(input, other)
        return squeezed_row(mm(unsqueeze(input, 0), other), 0) if n == 1 else mm(input, other)
    if _folds(input, other, n, m, has_out):
        return _folded(input, other, n, m)
    if n == m == 3 and len(input._array) != len(other._array):
        if len(input._array) == 1 and input.requires_grad:
            return _matmul(squeeze_dim(input, 0), other, 2, 3, has_out)
        if len(other._array) == 1 and other.requires_grad:
            return _matmul(input, squeeze_dim(other, 0), 3, 2, has_out)
    return _batched(input, other, n, m)


def _folds(input: Tensor, other: Tensor, n: int, m: int, has_out: bool) -> bool:
    """Whether the batch of the larger tensor can join its rows, so that one product of matrices serves."""
    large, small = (input, other) if n >= m else (other, input)
    if min(n, m) > 2:
        return False
    if small.requires_grad and not has_out:
        return True  # else its gradient would be a batch first, then a sum
    if n == 2:
        return False
    array = large._array if n >= m else large._array.swapaxes(-1, -2)
    return not array.size or all(
        array.strides[i] == array.strides[i + 1] * array.shape[i + 1] for i in range(array.ndim - 2)
    )


def _folded(input: Tensor, other: Tensor, n: int, m: int) -> Tensor:
    turned = m > n
    large, small = (transpose(other, -1, -2), input) if turned else (input, other)
    if turned and n == 2:
        small = t(small)
    sizes = large._array.shape
    flat = reshape(large, (math.prod(sizes[:-1]), sizes[-1]))
    if small._array.ndim == 1:
        return unsafe_view(mv(flat, small), sizes[:-1])
    product = unsafe_view(mm(flat, small), (*sizes[:-1], small._array.shape[1]))
    return compact(transpose(product, -1, -2)) if turned else product


def _batched(input: Tensor, other: Tensor, n: int, m: int) -> Tensor:
    a, b = input._array.shape, other._array.shape
    rows_, inner = (a[-2] if n > 1 else 1), a[-1]
    length, columns = (b[-2], b[-1]) if m > 1 else (b[0], 1)
    batch = broadcast(a[:-2], b[:-2])
    count = math.prod(batch)
    silent = (input._edge is None and other._edge is None) or (modes.off and not modes.grad_enabled())
    if silent and not modes.unusual and n == m and a[:-2] == b[:-2]:
        left, right = (
            wrap(input._array.reshape(count, rows_, inner)),
            wrap(other._array.reshape(count, length, columns)),
        )
        product = bmm(left, right)
        product._array = product._array.reshape(*batch, rows_, columns)
        return product
    left = reshape(expand(input, (*batch, rows_, inner)), (count, rows_, inner))
    sizes = batch
    if n > 1:
        sizes = (*sizes, rows_)
    if m == 1:
        right = unsqueeze(reshape(expand(other, (*batch, length)), (count, length)), 2)
        return unsafe_view(squeeze_dim(bmm(left, right), -1), sizes)
    right = reshape(expand(other, (*batch, length, columns)), (count, length, columns))
    return unsafe_view(bmm(left, right), (*sizes, columns))


def broadcast(a: tuple[int, ...], b: tuple[int, ...]) -> tuple[int, ...]:
    """The sizes that two shapes broadcast to; PyTorch's error where they do not."""
    ndim = max(len(a), len(b))
    sizes = []
    for dim in range(ndim - 1, -1, -1):
        n, m = (shape[dim - ndim] if dim - ndim >= -len(shape) else 1 for shape in (a, b))
        if n != m and n != 1 and m != 1:
            raise RuntimeError(
                f"The size of tensor a ({n}) must match the size of tensor b ({m}) at non-singleton dimension {dim}"
            )
        sizes.append(m if n == 1 else n)
    return tuple(reversed(sizes))


@composite(function=False, name="__matmul__")
def _matmul_operator(self: Tensor, other: Any) -> Any:
    """``self @ other``; where that is no tensor, Python asks the other operand."""
    return matmul(self, other) if isinstance(other, Tensor) else NotImplemented


@composite(function=False, name="__rmatmul__")
def _reflected_matmul(self: Tensor, other: Any) -> Any:
    """``other @ self``: for tensors only."""
    return matmul(other, self) if isinstance(other, Tensor) else NotImplemented


# -- linear maps ------------------------------------------------------------------------------------------------------


@audible
def linear(input: Any, weight: Any, bias: Any = None) -> Any:
    """``input @ weight.T + bias``, over the last dimension of ``input``.

    Source: https://docs.pytorch.org/docs/stable/generated/torch.nn.functional.linear.html
    """
    if modes.watch:
        input, weight, bias = low(input, weight, bias)
    try:
        n, m = input._array.ndim, weight._array.ndim
        if n == 2 == m and bias is not None and bias._array.shape == weight._array.shape[:1]:
            return linear_2d(bias, input, weight)
    except AttributeError:
        demand("linear", input=input, weight=weight)
        raise
    turned = t(weight)
    if n == 2 and bias is not None:
        return addmm(bias, input, turned)
    if not n:
        raise RuntimeError(f"both arguments to linear need to be at least 1D, but they are 0D and {m}D")
    if bias is None:
        return matmul(input, turned)
    array = input._array
    if m == 2 and array.flags.c_contiguous and bias._array.flags.c_contiguous:
        product = addmm(bias, reshape(input, (math.prod(array.shape[:-1]), array.shape[-1])), turned)
        return view(product, (*array.shape[:-1], product._array.shape[1]))
    return matmul(input, turned) + bias


# -- in place ---------------------------------------------------------------------------------------------------------


def _in_place(row: Any, sizes_of: Any) -> None:
    """Publish ``name_`` for a row whose ``self`` must have the size of the result."""
    name = row.name

    def method(self: Tensor, first: Tensor, second: Tensor, *, beta: Any = 1, alpha: Any = 1) -> Tensor:
        wanted = sizes_of(first._array.shape, second._array.shape)
        if wanted is not None and self._array.shape != wanted and name in ("addmm", "baddbmm"):
            raise RuntimeError(
                f"Bad in-place call: input tensor size {list(self._array.shape)} and output tensor size {list(wanted)} "
                "should match"
            )
        return write.in_place(row, self, (first, second), (beta, alpha))

    method.__name__ = method.__qualname__ = f"{name}_"
    method.__doc__ = f"In-place :func:`{name}`."
    composite(function=False, name=f"{name}_")(method)


_in_place(addmm.row, lambda a, b: (a[0], b[1]) if len(a) == len(b) == 2 else None)
_in_place(baddbmm.row, lambda a, b: (*a[:2], b[2]) if len(a) == len(b) == 3 else None)
