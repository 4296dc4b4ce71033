"""Nodes that cannot be seen through, floor 8: custom Functions whose backward runs a backward pass of its own.

Reentrant checkpointing is one: parameters used inside are no leaves of the graph, and do get a gradient.
"""

from __future__ import annotations

import functools
from collections.abc import Iterable
from types import BuiltinFunctionType, CodeType, FunctionType, MethodType, ModuleType
from typing import Any

from .read import is_tensor
from .source import is_users
from .walk import op_name

MOST = 2_000  # values looked through for the tensors that a node's context holds


def custom_class(node: Any) -> Any:
    """The custom Function whose node this is; None for the engine's own operations."""
    return getattr(type(node), "_forward_cls", None)


def is_users_function(node: Any) -> bool:
    """Whether the node is of a custom Function of the user's, not of one that the engine itself is made of."""
    kind = custom_class(node)
    return kind is not None and str(kind.__module__).partition(".")[0] not in ("torch", "glassgrad")


def opaque_nodes(nodes: Iterable[Any]) -> list[Any]:
    """The nodes whose backward runs a backward pass of its own."""
    return [node for node in nodes if is_opaque(node)]


def is_opaque(node: Any) -> bool:
    """Whether the node is of a custom Function whose backward runs a backward pass of its own."""
    kind = custom_class(node)
    return kind is not None and _starts_backward(getattr(kind, "backward", None))


@functools.lru_cache(512)
def _starts_backward(function: Any) -> bool:
    """Whether a function's code, or that of a function it calls, starts a backward pass: told by the names it uses."""
    seen: set[CodeType] = set()
    waiting = [(getattr(function, "__func__", function), 0)]
    while waiting:
        here, depth = waiting.pop()
        code = getattr(here, "__code__", None)
        if code is None or code in seen:
            continue
        seen.add(code)
        names = _names(code)
        if "backward" in names or "run_backward" in names or "enable_grad" in names or {"autograd", "grad"} <= names:
            return True
        if depth < 2:
            known = getattr(here, "__globals__", {})
            waiting += [(known[name], depth + 1) for name in names if isinstance(known.get(name), FunctionType)]
    return False


def _names(code: CodeType) -> set[str]:
    names: set[str] = set()
    waiting = [code]
    while waiting:
        one = waiting.pop()
        names.update(one.co_names)
        waiting += [const for const in one.co_consts if isinstance(const, CodeType)]
    return names


def tensors_held(node: Any) -> dict[int, Any]:
    """The tensors that what runs inside an opaque node holds (its modules' parameters too), by identity."""
    tensors: dict[int, Any] = {}
    seen: set[int] = set()
    waiting = list(getattr(node, "__dict__", {}).values())
    while waiting and len(seen) < MOST:
        value = waiting.pop()
        if id(value) in seen or isinstance(value, (str, bytes, int, float, type, ModuleType)):
            continue
        seen.add(id(value))
        if is_tensor(value):
            tensors[id(value)] = value
        elif hasattr(value, "named_parameters"):
            tensors.update((id(t), t) for _, t in value.named_parameters())
        elif isinstance(value, (MethodType, BuiltinFunctionType)):
            waiting += [value.__self__, getattr(value, "__func__", None)]
        elif isinstance(value, functools.partial):
            waiting += [value.func, *value.args, *value.keywords.values()]
        elif isinstance(value, FunctionType):
            waiting += [*(value.__defaults__ or ()), getattr(value, "__wrapped__", None)]
            for cell in value.__closure__ or ():
                try:
                    waiting.append(cell.cell_contents)
                except ValueError:  # not filled yet
                    continue
            if is_users(value.__code__):
                waiting += [value.__globals__.get(name) for name in _names(value.__code__)]
        elif isinstance(value, dict):
            waiting += value.values()
        elif isinstance(value, (list, tuple, set)):
            waiting += value
        elif type(value).__module__ != "builtins" and hasattr(value, "__dict__"):
            waiting += vars(value).values()
    return tensors


def in_words(node: Any, place: str = "") -> str:
    """What is said of an opaque node, in a sentence."""
    return (
        f"{op_name(node)}{' ' + place if place else ''} runs a backward pass of its own: what is done inside is no "
        "part of this graph, and parameters used there get their gradients all the same."
    )


def remedy(node: Any) -> str:
    """What makes the inside of an opaque node visible."""
    if "Checkpoint" in op_name(node):
        return "use_reentrant=False in checkpoint() makes the inside visible"
    return "ask about the graph that the function builds in its backward, or look at .grad after backward()"
