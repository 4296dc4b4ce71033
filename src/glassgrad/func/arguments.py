"""Which arguments a function is differentiated by, as ``argnums`` says; trees of tensors, checked as in PyTorch."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

from ..core.tensor import Tensor
from ..ops.pytree import tree_flatten


def numbers(argnums: Any, count: int) -> int | tuple[int, ...]:
    """``argnums`` counted from the front; RuntimeError where they name no argument."""
    if isinstance(argnums, tuple):
        chosen = tuple(_number(number, count) for number in argnums)
        if not chosen:
            raise RuntimeError("argnums must be non-empty")
        if len(set(chosen)) != len(chosen):
            raise RuntimeError(f"argnums elements must be unique, got {chosen}")
        return chosen
    if not isinstance(argnums, int):
        raise RuntimeError(f"argnums must be int or Tuple[int, ...], got: {type(argnums)}")
    return _number(argnums, count)


def _number(number: Any, count: int) -> int:
    if not isinstance(number, int):
        raise RuntimeError(f"argnum must be int, got: {type(number)}")
    if not -count <= number < count:
        raise RuntimeError(f"Got argnum={number}, but only {count} positional inputs")
    return number % count


def chosen(args: Sequence[Any], argnums: int | tuple[int, ...]) -> Any:
    """The arguments that ``argnums`` names: one, or a tuple of them."""
    return args[argnums] if isinstance(argnums, int) else tuple(args[number] for number in argnums)


def replaced(args: Sequence[Any], argnums: int | tuple[int, ...], new: Any) -> tuple[Any, ...]:
    """Arguments with others in place of those that ``argnums`` names."""
    by_number = {argnums: new} if isinstance(argnums, int) else dict(zip(argnums, new, strict=True))
    return tuple(by_number.get(number, arg) for number, arg in enumerate(args))


def with_aux(answer: Any, has_aux: bool, name: str) -> tuple[Any, Any]:
    """The output of a function, and what it gives beside it where it ``has_aux``."""
    if not has_aux:
        return answer, None
    if not (isinstance(answer, tuple) and len(answer) == 2):
        raise RuntimeError(f"{name}: output of function f should be a tuple: (output, aux) if has_aux is True")
    return answer


def tensors_of(tree: Any, name: str) -> tuple[list[Tensor], Any]:
    """The tensors of an output and its shape as a tree; RuntimeError where something else is in it, or nothing."""
    leaves, shape = tree_flatten(tree)
    if not leaves or (len(leaves) == 1 and leaves[0] is None):
        raise RuntimeError(f"{name}: Expected f to be a function that has non-empty output (got output = {leaves})")
    for leaf in leaves:
        if not isinstance(leaf, Tensor):
            raise RuntimeError(
                f"{name}: expected f(*primals) to return only tensors, got unsupported type {type(leaf)}"
            )
    return leaves, shape


def check_tensors(leaves: Sequence[Any], name: str, what: str) -> None:
    """RuntimeError unless there are leaves, and all are tensors."""
    if not leaves:
        raise RuntimeError(f"{name}: Expected {what} to contain at least one Tensor.")
    for leaf in leaves:
        if not isinstance(leaf, Tensor):
            raise RuntimeError(f"{name}: Expected {what} to only contain Tensors, got {type(leaf)}")


def name_of(function: Callable[..., Any]) -> str:
    """How messages call a function."""
    if hasattr(function, "__name__"):
        return function.__name__
    return (
        f"functools.partial({name_of(function.func)}, ...)"
        if isinstance(function, functools.partial)
        else repr(function)
    )


def like(function: Callable[..., Any]) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """A decorator: a function with the name and the documentation of ``function``."""
    return functools.wraps(function, updated=())
