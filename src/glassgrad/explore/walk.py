"""The walk through a graph, floor 8: every operation behind some tensors, in backward order.

It knows the public interface that glassgrad's and torch's nodes share (`grad_fn`, `next_functions`, `name()`) and
imports neither.
"""

from __future__ import annotations

import gc
import re
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import lru_cache, partial
from heapq import heapify, heappop, heappush
from types import BuiltinFunctionType, CodeType, FunctionType, MethodType, ModuleType
from typing import Any, NamedTuple, TypeAlias

from ..ground.names import home_of
from .source import is_users

SINK = "AccumulateGrad"
DEEP = 10_000  # below this depth a graph may be freed recursively without harm
POST = 2_000  # distance between the nodes that keep a deep graph's nodes


Inputs: TypeAlias = tuple[tuple[int, int] | None, ...]


class Walk(NamedTuple):
    """The operations behind some tensors, each before everything it was made from.

    ``inputs[i]`` are ``nodes[i].next_functions`` with each node replaced by its position, None where an input needs no
    gradient; ``seqs`` are the nodes' ages, ``ops`` their names.
    """

    nodes: list[Any]
    inputs: list[Inputs]
    seqs: list[float]
    ops: list[str]

    def leaves(self) -> list[Any]:
        """The leaves that gradients end in, in the order of the walk."""
        return [node.variable for node, op in zip(self.nodes, self.ops, strict=True) if op == SINK]


def is_tensor(value: object) -> bool:
    """Whether ``value`` has a tensor's place in a graph."""
    kind = type(value)
    return hasattr(kind, "grad_fn") and hasattr(kind, "requires_grad")


def engine_of(tensors: Iterable[Any]) -> str:
    """The package whose Tensor the first of ``tensors`` is: ``torch`` or ``glassgrad``; empty where there is none."""
    for tensor in tensors:
        classes = [cls for cls in type(tensor).__mro__ if cls.__name__ == "Tensor"] or [type(tensor)]
        return home_of(classes[-1]).partition(".")[0]
    return ""


def op_name(node: Any) -> str:
    """The operation's name without the prefix of hand-written nodes: ``MulBackward0``, ``CopySlices``."""
    return _without_prefix(node.name())


@lru_cache(4096)
def _without_prefix(name: str) -> str:
    return str(name).removeprefix("torch::autograd::").removeprefix("torch::")


@lru_cache(4096)
def family(op: str) -> str:
    """``Mul`` of ``MulBackward0``; a name of another form as it is."""
    return re.sub(r"Backward\d*$", "", op)


def snake(family: str) -> str:
    """``log_softmax`` of ``LogSoftmax``."""
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", family).lower()


@contextmanager
def collector_at_rest() -> Iterator[None]:
    """A block, or a function, that makes very many objects and no circles: to look for some would take much time."""
    at_work = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if at_work:
            gc.enable()


@collector_at_rest()
def walk(tensors: Iterable[Any]) -> Walk:
    """The operations behind ``tensors`` in the order of the backward pass: after all consumers, youngest first."""
    tensors = tuple(tensors)
    index: dict[Any, int] = {}
    nodes: list[Any] = []
    inputs: list[Inputs] = []
    owed: list[int] = []  # how many consumers a node has
    stack: list[int] = []

    def enter(node: Any) -> int:
        number = index[node] = len(nodes)
        nodes.append(node)
        inputs.append(())
        owed.append(0)
        stack.append(number)
        return number

    for tensor in tensors:
        if tensor.grad_fn is not None and tensor.grad_fn not in index:
            enter(tensor.grad_fn)
    stack.reverse()
    while stack:
        i = stack.pop()
        row: list[tuple[int, int] | None] = []
        for child, output in nodes[i].next_functions:
            if child is None:
                row.append(None)
            else:
                j = index.get(child)
                if j is None:
                    j = enter(child)
                owed[j] += 1
                row.append((j, output))
        inputs[i] = tuple(row)
    index.clear()
    result = in_backward_order(nodes, inputs, owed)
    if engine_of(tensors) == "torch":
        hold(result)
    return result


def reach(start: int, further: Callable[[int], Iterable[int]]) -> Iterator[int]:
    """``start`` and everything that steps lead to, each once, nearest first; ``further`` is asked when one is taken."""
    seen, waiting = {start}, [start]
    for here in waiting:  # grows while it is read
        yield here
        for other in further(here):
            if other not in seen:
                seen.add(other)
                waiting.append(other)


def sequence(node: Any) -> float:
    """The age of ``node``: larger is younger, infinity for a leaf's sink."""
    number = getattr(node, "_sequence_nr", None)
    value = number() if number is not None else getattr(node, "sequence", 0)
    return float("inf") if value >= 2**63 else value


def in_backward_order(nodes: list[Any], inputs: list[Inputs], owed: list[int]) -> Walk:
    """The walk with its nodes moved to the order in which backward visits them; ``owed`` is used up."""
    seqs = [sequence(node) for node in nodes]
    ready = [(-seqs[i], i) for i, count in enumerate(owed) if not count]
    heapify(ready)
    order: list[int] = []
    position = [0] * len(nodes)
    while ready:
        _, i = heappop(ready)
        position[i] = len(order)
        order.append(i)
        for edge in inputs[i]:
            if edge is not None:
                j = edge[0]
                owed[j] -= 1
                if not owed[j]:
                    heappush(ready, (-seqs[j], j))
    moved = [tuple([edge and (position[edge[0]], edge[1]) for edge in inputs[i]]) for i in order]
    nodes = [nodes[i] for i in order]
    return Walk(nodes, moved, [seqs[i] for i in order], list(map(op_name, nodes)))


def hold(walked: Walk) -> None:
    """Make a deep torch graph safe to free now that Python has touched its nodes.

    A torch node once seen from Python keeps its Python twin, and twins free each other recursively: a touched chain of
    60,000 nodes overflows the C stack when it dies. So every ``POST`` levels a node keeps, in its ``metadata``, the
    path below it down to the next such node, leaves first: a dying list lets go from its end, so each node dies while
    the one below it is still held. A node keeps only what it kept alive anyway.
    """
    nodes, inputs, *_ = walked
    depth, deepest = [0] * len(nodes), [-1] * len(nodes)
    for i in range(len(nodes) - 1, -1, -1):
        for edge in inputs[i]:
            if edge is not None and depth[edge[0]] >= depth[i]:
                depth[i], deepest[i] = depth[edge[0]] + 1, edge[0]
    if max(depth, default=0) < DEEP:
        return
    for i, level in enumerate(depth):
        if level and not level % POST:
            path, at = [], deepest[i]
            for _ in range(POST):
                path.append(nodes[at])
                at = deepest[at]
            nodes[i].metadata["glassgrad: the path below, leaves first"] = path[::-1]


# -- nodes that cannot be seen through ---------------------------------------------------------------------------------
# Custom Functions whose backward runs a backward pass of its own. Reentrant checkpointing is one: parameters used
# inside are no leaves of the graph, and do get a gradient.


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


@lru_cache(512)
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
        elif isinstance(value, partial):
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
