"""Jacobians and Hessians: products by every direction of a basis, taken together by ``vmap``."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from ..core.row import TABLE
from ..core.tensor import wrap
from ..ops.pytree import tree_flatten, tree_map, tree_unflatten
from . import arguments
from .transforms import Argnums, pullback, pushforward
from .vmap import vmap


def jacrev(
    func: Callable[..., Any],
    argnums: Argnums = 0,
    *,
    has_aux: bool = False,
    chunk_size: int | None = None,
    _preallocate_and_copy: bool = False,
) -> Callable[..., Any]:
    """A function that gives the Jacobian of ``func``, by reverse mode: row by row, ``chunk_size`` rows at once.

    Source: https://docs.pytorch.org/docs/stable/generated/torch.func.jacrev.html
    """
    if not (chunk_size is None or chunk_size > 0):
        raise ValueError("jacrev: `chunk_size` should be greater than 0.")

    @arguments.like(func)
    def jacobian(*args: Any) -> Any:
        _refuse_complex("jacrev", args, "inputs")
        answer = pullback(func, args, argnums, has_aux)
        output, vjp_fn = answer[0], answer[1]
        _refuse_complex("jacrev", output, "outputs")
        outs, out_shape = tree_flatten(output)
        sizes = [math.prod(out._array.shape) for out in outs]
        parts, shape = tree_flatten(arguments.chosen(args, arguments.numbers(argnums, len(args))))
        rows = [[wrap(np.zeros((0, *part._array.shape), part._array.dtype)) for part in parts]]
        if sum(sizes):
            pulled = vmap(lambda *seeds: vjp_fn(tree_unflatten(list(seeds), out_shape)))
            rows = [tree_flatten(pulled(*seeds))[0] for seeds in basis(outs, sizes, chunk_size)]
        by_part = [column[0] if len(column) == 1 else TABLE["cat"].caller(list(column), 0)
                   for column in zip(*rows, strict=True)]  # fmt: skip
        jacobians = []
        start = 0
        for out, size in zip(outs, sizes, strict=True):
            block = [
                whole.narrow(0, start, size).reshape((*out._array.shape, *part._array.shape))
                for whole, part in zip(by_part, parts, strict=True)
            ]
            jacobians.append(tree_unflatten(block, shape))
            start += size
        result = tree_unflatten(jacobians, out_shape)
        return (result, answer[2]) if has_aux else result

    return jacobian


def jacfwd(
    func: Callable[..., Any], argnums: Argnums = 0, has_aux: bool = False, *, randomness: str = "error"
) -> Callable[..., Any]:
    """A function that gives the Jacobian of ``func``, by forward mode: all columns at once.

    Source: https://docs.pytorch.org/docs/stable/generated/torch.func.jacfwd.html
    """

    @arguments.like(func)
    def jacobian(*args: Any) -> Any:
        _refuse_complex("jacfwd", args, "inputs")
        primals = arguments.chosen(args, arguments.numbers(argnums, len(args)))
        parts, shape = tree_flatten(primals)
        sizes = [math.prod(part._array.shape) for part in parts]
        directions = next(basis(parts, sizes))
        kept: list[Any] = []

        def along(*moves: Any) -> Any:
            answer = pushforward(func, args, tree_unflatten(list(moves), shape), argnums, has_aux=has_aux)
            _refuse_complex("jacfwd", answer[0], "outputs")
            return (answer[1], answer[2]) if has_aux else answer[1]

        pushed = vmap(along, randomness=randomness)(*directions)
        if has_aux:
            pushed, aux = pushed
            kept.append(tree_map(lambda leaf: leaf.select(0, 0), aux))
        outs, out_shape = tree_flatten(pushed)
        jacobians = []
        for out in outs:
            block = []
            start = 0
            for part, size in zip(parts, sizes, strict=True):
                columns = out.narrow(0, start, size).movedim(0, -1)
                block.append(columns.reshape((*out._array.shape[1:], *part._array.shape)))
                start += size
            jacobians.append(tree_unflatten(block, shape))
        result = tree_unflatten(jacobians, out_shape)
        return (result, kept[0]) if has_aux else result

    return jacobian


def hessian(func: Callable[..., Any], argnums: Argnums = 0) -> Callable[..., Any]:
    """A function that gives the Hessian of ``func``: forward mode over reverse mode.

    Source: https://docs.pytorch.org/docs/stable/generated/torch.func.hessian.html
    """
    return jacfwd(jacrev(func, argnums), argnums)


def basis(tensors: Sequence[Any], sizes: list[int], chunk_size: int | None = None) -> Iterator[list[Any]]:
    """The unit vectors of the space that ``tensors`` span together, along a first dimension; in chunks."""
    total = sum(sizes)
    step = chunk_size or max(total, 1)
    for first in range(0, max(total, 1), step):
        length = min(step, total - first)
        vectors = []
        start = 0
        for tensor, size in zip(tensors, sizes, strict=True):
            block = np.eye(length, size, first - start, tensor._array.dtype)
            vectors.append(wrap(block.reshape((length, *tensor._array.shape))))
            start += size
        yield vectors


def _refuse_complex(name: str, tree: Any, what: str) -> None:
    for number, leaf in enumerate(tree_flatten(tree)[0]):
        if hasattr(leaf, "is_complex") and leaf.is_complex():
            raise RuntimeError(
                f"{name}: Expected all {what} to be real but received complex tensor at flattened input idx: {number}"
            )
