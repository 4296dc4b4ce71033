"""Products of many matrices, in the order that costs least."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...core.tensor import Tensor
from ...ground.dtypes import called
from ...ground.listening import audible
from ...ground.runtime import warn
from ...ops.declare import composite
from ...tensor.out import check_dtype
from ..shape.rows import unsqueeze, view
from .functions import into
from .rows import c_name, mm

_OUT = "multi_dot(): expected out tensor to have dtype {wanted} but got {found}"


@audible
def multi_dot(tensors: Any, *, out: Any = None) -> Tensor:
    """The product of two or more matrices, in the order that costs least; first and last may be vectors."""
    if not isinstance(tensors, (tuple, list)):
        raise TypeError(
            f"linalg_multi_dot(): argument 'tensors' (position 1) must be tuple of Tensors, not {called(tensors)}"
        )
    _check_multi(tensors)
    tensors = list(tensors)
    first, last = tensors[0]._array.ndim == 1, tensors[-1]._array.ndim == 1
    if first:
        tensors[0] = unsqueeze(tensors[0], 0)
    if last:
        tensors[-1] = unsqueeze(tensors[-1], 1)
    check_dtype("multi_dot", out, tensors[0].dtype, _OUT)
    sizes = (() if first else (tensors[0]._array.shape[0],)) + (() if last else (tensors[-1]._array.shape[1],))
    product = view(_multiplied(tensors), sizes)
    return product if out is None else into("multi_dot", tensors, out, product)


def _check_multi(tensors: Sequence[Any]) -> None:
    """Raise PyTorch's errors: the ends are looked at first, then one tensor after the other."""
    if len(tensors) < 2:
        raise RuntimeError(f"multi_dot(): expected at least 2 tensors but got {len(tensors)}")
    for end, tensor in (("first", tensors[0]), ("last", tensors[-1])):
        if tensor._array.ndim not in (1, 2):
            raise RuntimeError(f"multi_dot(): the {end} tensor must be 1D or 2D but got {tensor._array.ndim}D")
    for index, tensor in enumerate(tensors[1:-1], 1):
        if tensor._array.ndim != 2:
            raise RuntimeError(f"multi_dot(): tensor {index} must be 2D but got {tensor._array.ndim}D")
    for index, (before, tensor) in enumerate(zip(tensors, tensors[1:], strict=False), 1):
        if tensor.dtype is not tensors[0].dtype:
            raise RuntimeError(
                "multi_dot(): all tensors must have be the same dtype but tensor 0 is "
                f"{c_name(tensors[0]._array)} and tensor {index} {c_name(tensor._array)}"
            )
        if before._array.shape[-1] != tensor._array.shape[0]:
            raise RuntimeError(
                f"multi_dot(): tensors {index - 1} and {index} with shapes {[*before._array.shape]} and "
                f"{[*tensor._array.shape]} cannot be multiplied"
            )


def _multiplied(tensors: list[Tensor]) -> Tensor:
    """The product by the cheapest bracketing. Source: Cormen et al., Introduction to Algorithms, 15.2."""
    count = len(tensors)
    sizes = [*(tensor._array.shape[0] for tensor in tensors), tensors[-1]._array.shape[1]]
    cost = {(i, i): (0, i) for i in range(count)}
    for length in range(1, count):
        for i in range(count - length):
            j = i + length
            cost[i, j] = min(
                (cost[i, k][0] + cost[k + 1, j][0] + sizes[i] * sizes[k + 1] * sizes[j + 1], k) for k in range(i, j)
            )
    done: dict[tuple[int, int], Tensor] = {(i, i): tensor for i, tensor in enumerate(tensors)}
    stack = [(0, count - 1)]
    while stack:
        i, j = stack[-1]
        k = cost[i, j][1]
        missing = [part for part in ((i, k), (k + 1, j)) if part not in done]
        if missing:
            stack += missing
        else:
            stack.pop()
            if (i, j) not in done:
                done[i, j] = mm(done[i, k], done[k + 1, j])
    return done[0, count - 1]


@composite(method=False)
def chain_matmul(*matrices: Any, out: Any = None) -> Tensor:
    """The product of matrices in the order that costs least; the older name of ``linalg.multi_dot``."""
    warn(
        "torch.chain_matmul is deprecated and will be removed in a future PyTorch release. Use torch.linalg.multi_dot "
        "instead, which accepts a list of two or more tensors rather than multiple parameters."
    )
    if len(matrices) == 1 and isinstance(matrices[0], (list, tuple)):
        matrices = tuple(matrices[0])
    for tensor in matrices:
        if tensor._array.ndim != 2:
            raise RuntimeError(f"Tensor dimension is {tensor._array.ndim}, expected 2 instead.")
    return matrices[0].clone() if len(matrices) == 1 else multi_dot(matrices, out=out)
