"""The ``torch._higher_order_ops`` namespace: control flow as functions of functions, which run as written."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..core.tensor import Tensor
from ..ops.catalogue import FUNCTIONS
from ..ops.pytree import tree_flatten, tree_map, tree_unflatten


def cond(pred: Any, true_fn: Callable[..., Any], false_fn: Callable[..., Any], operands: Any = ()) -> Any:
    """What ``true_fn`` gives for the operands, or ``false_fn``, as a truth value or a tensor of one element says.

    Source: https://docs.pytorch.org/docs/stable/generated/torch.cond.html
    """
    if not isinstance(pred, (bool, Tensor)):
        raise RuntimeError(f"Expected pred to be bool or tensor, but got {pred}.")
    if isinstance(pred, Tensor) and pred.numel() != 1:  # type: ignore[attr-defined]
        raise RuntimeError(f"Expected pred to be bool or single-element tensor, but got {pred}.")
    return (true_fn if pred else false_fn)(*operands)


def while_loop(cond_fn: Callable[..., Any], body_fn: Callable[..., Any], carried_inputs: Any) -> tuple[Any, ...]:
    """What is carried after ``body_fn`` has run for as long as ``cond_fn`` of it was true."""
    carried = tuple(carried_inputs)
    while cond_fn(*carried):
        results = body_fn(*carried)
        if len(results) != len(carried):
            raise RuntimeError(
                f"Expected body_fn_output and carried_inputs to have same number of outputs but got {len(results)} "
                f"and {len(carried)}"
            )
        carried = tuple(results)
    return carried


def map(f: Callable[..., Any], xs: Any, *args: Any) -> Any:  # noqa: A001  PyTorch's name
    """The results of ``f(x, *args)`` for each ``x`` along the first dimension of trees of tensors, stacked."""
    return _stacked([f(x, *args) for x in _along(xs, 0)], 0)


def scan(combine_fn: Callable[..., Any], init: Any, xs: Any, *, dim: int = 0, reverse: bool = False) -> tuple[Any, Any]:
    """What is carried through ``combine_fn(carry, x) -> (carry, y)`` along a dimension, and every ``y``, stacked."""
    carry, results = init, []
    parts = _along(xs, dim)
    for x in reversed(parts) if reverse else parts:
        carry, result = combine_fn(carry, x)
        results.append(result)
    return carry, _stacked(results[::-1] if reverse else results, dim)


def associative_scan(
    combine_fn: Callable[..., Any], xs: Any, dim: int, reverse: bool = False, combine_mode: str = "pointwise"
) -> Any:
    """The results of ``combine_fn`` over all elements up to each along a dimension; from the last on if ``reverse``."""
    if combine_mode not in ("pointwise", "generic"):
        raise ValueError(f"Combine_mode must either 'pointwise' or 'generic', but got {combine_mode}")
    if combine_mode == "pointwise":
        raise ValueError("For combine_mode='pointwise', all input tensors need to be on CUDA or XPU")
    first, *parts = reversed(_along(xs, dim)) if reverse else _along(xs, dim)
    results = [first]
    for part in parts:
        results.append(combine_fn(results[-1], part))
    return _stacked(results[::-1] if reverse else results, dim)


def _along(trees: Any, dim: int) -> list[Any]:
    """A tree for each index along a dimension of the tensors of a tree."""
    leaves, shape = tree_flatten(trees)
    return [tree_unflatten(parts, shape) for parts in zip(*(leaf.unbind(dim) for leaf in leaves), strict=True)]


def _stacked(trees: list[Any], dim: int) -> Any:
    """One tree of trees of one shape, their tensors stacked."""
    return tree_map(lambda *leaves: FUNCTIONS["stack"](list(leaves), dim), trees[0], *trees[1:])


__all__ = ["associative_scan", "cond", "map", "scan", "while_loop"]
