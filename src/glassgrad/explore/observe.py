"""An observed backward pass, floor 8: the order of the nodes, the gradients that came and went, the time each took."""

from __future__ import annotations

import weakref
from collections.abc import Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from itertools import count
from time import perf_counter
from types import TracebackType
from typing import Any

from .labels import caller_names
from .measure import info_of, stats_of
from .model import Edge, Event, Graph, Node, Problem, Stats, TensorInfo
from .read import as_loss, slots_of, unpack
from .reasons import Culprit, culprits
from .record import Recording
from .survey import parameters_of, read, survey
from .walk import SINK, Walk, is_tensor, op_name, opaque_nodes, tensors_held

__all__ = ["LastBackward", "observe", "watched"]


@dataclass(slots=True)
class Seen:
    """What hooks saw at one node: its step, the gradients that arrived and those it handed on, and its time."""

    step: int | None = None
    arrived: tuple[TensorInfo | None, ...] = ()
    handed: tuple[TensorInfo | None, ...] = ()
    began: float = 0.0
    ms: float | None = None


def _infos(grads: Any) -> tuple[TensorInfo | None, ...]:
    grads = grads if isinstance(grads, (tuple, list)) else (grads,)
    return tuple(None if g is None else info_of(g, stats=True, value=True) for g in grads)


@contextmanager
def watched(walked: Walk, record: Any = None) -> Any:
    """A block in which every node of a walk is watched; gives a list of what was seen, one for each node."""
    seen = [Seen() for _ in walked.nodes]
    handles: list[Any] = []
    steps = count()

    def infos(grads: Any) -> tuple[TensorInfo | None, ...]:
        return _infos(grads) if record is None else record.quietly(lambda: _infos(grads))

    def arrives(one: Seen, grads: Any) -> None:
        one.step, one.arrived = next(steps), infos(grads)
        one.began = perf_counter()

    def leaves(one: Seen, handed: Any, arrived: Any) -> None:
        one.ms = (perf_counter() - one.began) * 1e3
        one.handed = infos(handed) if handed else ()

    try:
        for node, one in zip(walked.nodes, seen, strict=True):
            handles.append(node.register_prehook(partial(arrives, one)))
            handles.append(node.register_hook(partial(leaves, one)))
        yield seen
    finally:
        for handle in handles:
            handle.remove()


def observe(
    loss: Any, gradient: Any = None, *, params: Mapping[str, Any] | None = None, model: Any = None, record: Any = None,
    retain_graph: bool = False, names: Any = None,
) -> Graph:  # fmt: skip
    """``loss.backward(gradient)``, watched: gradients go to ``.grad`` as ever, and the graph comes back with them.

    Every node has its step, the gradient that arrived (counted, with its norm), what it handed on, and its time; what
    is NaN, infinite, zero, vanishing or exploding is among ``problems``. Errors of the backward pass are raised.
    """
    loss = as_loss(loss, "observe")
    named = dict(caller_names(names, params, "observe"))
    graph, walked = survey(loss, named or None, model, record, "observe")
    with watched(walked, record) as seen:
        loss.backward(gradient, retain_graph=retain_graph)
    return with_gradients(graph, seen)


def with_gradients(graph: Graph, seen: list[Seen]) -> Graph:
    """The graph with what was seen of a backward pass."""
    nodes: list[Node] = []
    first = 1 + max((event.step for event in graph.events), default=-1)
    for i, node in enumerate(graph.nodes):
        if i < len(seen) and seen[i].step is not None:
            one = seen[i]
            grad = next((g for g in one.arrived if g is not None), None)
            node = replace(node, backward=one.step, grad=grad, grads_in=one.handed, ms=one.ms)
            if not node.outputs and node.op != SINK and one.arrived and all(one.arrived):  # a gradient has its shape
                node = replace(node, outputs=tuple(TensorInfo(g.shape, g.dtype, g.nbytes) for g in one.arrived if g))
        nodes.append(node)
    ends: dict[int, list[int]] = {node.index: [] for node in nodes if node.kind in ("leaf", "output")}
    for e in graph.edges:
        if e.kind == "gradient":
            for end, other in ((e.src, e.dst), (e.dst, e.src)):
                if end in ends:
                    ends[end].append(other)
    for i, touching in ends.items():  # a leaf, and an output, have the gradient of the node they hang on
        grad = next((nodes[j].grad for j in touching if nodes[j].grad is not None), None)
        if grad is not None:
            nodes[i] = replace(nodes[i], grad=grad)
    edges = [_with_gradient(edge, nodes) for edge in graph.edges]
    order = sorted((n for n in nodes if n.backward is not None), key=lambda n: n.backward or 0)
    back = tuple(
        Event(first + (n.backward or 0), "backward", n.index, n.loc, n.op) for n in order if n.backward is not None
    )
    result = replace(graph, nodes=tuple(nodes), edges=tuple(edges), events=(*graph.events, *back), level=4)
    return replace(result, problems=(*graph.problems, *gradient_problems(result)))


def _with_gradient(edge: Edge, nodes: list[Node]) -> Edge:
    if edge.kind != "gradient":
        return edge
    user = nodes[edge.dst]
    if user.kind == "op" and nodes[edge.src].kind == "op":
        grad = user.grads_in[edge.dst_input] if edge.dst_input < len(user.grads_in) else None
    else:
        grad = user.grad if user.grad is not None else nodes[edge.src].grad
    return edge if grad is None else replace(edge, grad=grad)


def first_bad(graph: Graph) -> Node | None:
    """The first operation on the way back to which only finite gradients came and which gave another."""
    for node in sorted((n for n in graph.nodes if n.backward is not None), key=lambda n: n.backward or 0):
        came = node.grad is None or node.grad.stats is None or node.grad.stats.finite
        gave = [g for g in node.grads_in if g is not None and g.stats is not None and not g.stats.finite]
        if came and gave:
            return node
    return None


def gradient_problems(graph: Graph) -> list[Problem]:
    """What is wrong with the gradients of an observed backward pass: layer by layer, each with the cause."""
    from .flow import flow

    problems: list[Problem] = []
    bad = first_bad(graph)
    if bad is not None:
        gave = next(g.stats for g in bad.grads_in if g is not None and g.stats is not None and not g.stats.finite)
        kind, word = gave.flaw
        words = f"{bad.op} was given finite gradients and gave {word}: the first on the way back"
        problems.append(Problem(kind, bad.index, bad.scope, words, bad.loc))
    answer = flow(graph)
    blamed: dict[int, Culprit] = {}
    for layer in answer.layers:
        if not layer.state or not layer.leaves or layer.state in ("nan", "waiting"):
            continue
        name, leaf = layer.path, layer.leaves[0]
        if layer.state in ("dead", "missing"):
            causes = culprits(graph, leaf)
            blamed.update((cause.node, cause) for cause in causes)
            words = f"the gradient of {name} is {'all zeros' if layer.state == 'dead' else 'missing'}"
            problems.append(Problem("zero", leaf, None, words, None))
        else:
            grew = "small" if layer.state == "vanishing" else "large"
            words = f"the gradient of {name} is {grew} against the other layers': {layer.rms:.2g} per weight"
            problems.append(Problem(layer.state, leaf, None, words, None))  # type: ignore[arg-type]
    for cause in blamed.values():
        node = graph.nodes[cause.node]
        problems.append(Problem("dead", cause.node, node.scope, cause.text, node.loc))
    return problems


def on_the_side(loss: Any, graph: Graph, walked: Any, record: Any) -> Graph:
    """The graph with the gradients of a backward pass that leaves ``.grad`` as it was."""
    leaves = [node.variable for node in walked.nodes if op_name(node) == SINK]
    if hiding := opaque_nodes(walked.nodes):  # leaves inside are reached too
        inside = {id(t): t for node in hiding for t in tensors_held(node).values()}
        inside |= {id(t): t for t in parameters_of(record.model if record is not None else None).values()}
        leaves = list({**{id(leaf): leaf for leaf in leaves}, **inside}.values())
        leaves = [leaf for leaf in leaves if leaf.is_leaf]
    before = [leaf.grad for leaf in leaves]
    for leaf in leaves:
        leaf.grad = None
    try:
        with watched(walked, record) as seen:
            start = None if all(int(n) == 1 for n in loss.shape) else loss.detach() * 0 + 1
            loss.backward(start, retain_graph=True)
    finally:
        for leaf, grad in zip(leaves, before, strict=True):
            leaf.grad = grad
    return with_gradients(graph, seen)


def saved_stats(node: Any) -> dict[str, Stats]:
    """What the numbers that a node saved are like, by slot."""
    slots = {}
    for name in slots_of(node):
        state, value = unpack(node, name, f"_raw{name}")
        if state == "ok" and is_tensor(value):
            stats = stats_of(value)
            if stats is not None:
                slots[name.removeprefix("_saved_")] = stats
    return slots


# -- the last backward pass of a script --------------------------------------------------------------------------------
# Every step is recorded and watched, and the last one is kept.


class LastBackward:
    """A block in which ``loss.backward()`` is watched; ``graph`` is the last graph that was walked, or None.

    ``tensor`` is the class of tensors, of glassgrad or of torch. What lies between two backward passes is recorded,
    so the graph has lines, modules and cuts. A pass with ``create_graph`` or ``inputs`` is read, and not watched.
    """

    def __init__(self, tensor: type) -> None:
        self.tensor = tensor
        self.graph: Graph | None = None
        self.steps = 0
        self._recording: Recording | None = None
        self._original: Any = None
        self._inside = False

    def __enter__(self) -> LastBackward:
        self._original = self.tensor.backward  # type: ignore[attr-defined]

        def backward(tensor: Any, *args: Any, **kwargs: Any) -> Any:
            return self._backward(tensor, args, kwargs)

        backward.__doc__ = self._original.__doc__
        self.tensor.backward = backward  # type: ignore[attr-defined]
        self._start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.tensor.backward = self._original  # type: ignore[attr-defined]
        self._stop()

    def _start(self) -> None:
        self._recording = Recording()
        self._recording.__enter__()

    def _stop(self) -> Recording | None:
        recording, self._recording = self._recording, None
        if recording is not None:
            recording.__exit__(None, None, None)
        return recording

    def _backward(self, tensor: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        if self._inside:
            return self._original(tensor, *args, **kwargs)
        arguments = dict(zip(("gradient", "retain_graph", "create_graph", "inputs"), args, strict=False), **kwargs)
        recording = self._stop()
        self._inside = True
        try:
            model = _largest(recording)
            if recording is not None and model is not None:
                recording._model = weakref.ref(model)
            if tensor.grad_fn is None or arguments.get("create_graph") or arguments.get("inputs") is not None:
                if tensor.grad_fn is not None:
                    self.graph = read(tensor, model=model, record=recording)
                return self._original(tensor, *args, **kwargs)
            assert recording is not None
            keep = bool(arguments.get("retain_graph"))
            self.graph = recording.backward(tensor, arguments.get("gradient"), retain_graph=keep)
            return None
        finally:
            self.steps += 1
            self._inside = False
            self._start()


def _largest(recording: Recording | None) -> Any:
    """The module with the most parameters among those that the script itself called; None where it called none."""
    if recording is None:
        return None
    called = {id(e.module): e.module for e in recording.entered if e.parent is None and e.module is not None}
    return max(called.values(), key=lambda module: len(list(module.parameters())), default=None)
