"""The engine: carries gradients from the roots to the leaves and adds them up, be they arrays or Tensors.

A record runs after all its consumers, and of those that are ready the youngest runs first, as in PyTorch.  ``general``
counts consumers, keeps what arrives in a dictionary, and serves hooks, ``inputs=``, ``create_graph``, anomaly
detection, re-entrant calls and several threads: all its state is local.  It is a loop, no recursion: a chain of a
million operations passes on any stack.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Container, Iterable, Sequence
from functools import partial
from heapq import heappop, heappush
from itertools import count
from typing import Any

from ..ground import modes
from . import plan
from .leaf import into_leaf
from .record import OUTPUT, Record, freed

_tasks = count(1)
on_leaves = 0  # alive hooks on leaves, and what asks which backward call runs: a quick walk serves neither
_WORTH_A_PART = 1024  # elements of a gradient
#: While a profiler is on: ``listener(edge, run)`` gives what ``run()`` gives, at each record and leaf of a walk.
listener: Callable[[Any, Callable[[], Any]], Any] | None = None
#: A quicker walk for the everyday call, if there is one: ``quick_walk(root, grad, retain_graph)`` says if it served.
quick_walk: Callable[[Any, Any, bool], bool] | None = None


class _Running(threading.local):
    """The backward calls under way in this thread, innermost last: number, and what each will reach."""

    def __init__(self) -> None:
        self.calls: list[tuple[int, Any, Any]] = []


running = _Running()


def backward(roots: Sequence[tuple[Any, Any]], *, retain_graph: bool) -> None:
    """Fill ``.grad`` of every leaf under ``roots`` (pairs of edge and array)."""
    if quick_walk is not None and len(roots) == 1 and not on_leaves and not modes.unusual:
        if quick_walk(*roots[0], retain_graph):
            return
    before = modes.local.grad
    try:
        modes.set_grad(False)  # for the hooks
        general(roots, retain_graph=retain_graph)
    finally:
        modes.local.grad = before
        modes.settle()


def general(
    roots: Sequence[tuple[Any, Any]],
    *,
    retain_graph: bool,
    lifted: bool = False,
    inputs: Sequence[Any] | None = None,
    accumulate: bool = True,
    ends: bool = False,
) -> list[Any]:
    """Carry gradients from ``roots`` down the graph: every record once, after all its consumers.

    roots         pairs (edge, gradient) to start from
    retain_graph  leave saved values in place, so that the graph can be walked again
    lifted        gradients are Tensors and rules are recorded; else they are arrays
    inputs        edges whose gradients are wanted back; without them every leaf is reached
    accumulate    add into ``.grad`` of the leaves reached
    ends          the graph ends at ``inputs``: what lies below them is not walked
    """
    collected = dict.fromkeys(inputs or ())
    owed = dependencies([edge for edge, _ in roots], collected if ends else {})
    needed = None if inputs is None else _leading_to(owed, collected)  # the records that run; None: all
    if needed is not None and ends:
        needed.difference_update(collected)
    if needed is not None and accumulate:
        needed |= _chosen_themselves(collected, owed)
    reached = None if needed is None else needed.union(collected)  # what gradients are delivered to; None: all
    only = roots[0][0] if len(roots) == 1 else None  # whose hooks see its gradient, be it reached or not
    inbox: dict[Any, Any] = {}
    ready: list[tuple[float, int, Any]] = []
    order = count()
    watched = modes.local.anomaly
    profile = listener

    def enqueue(edge: Any) -> None:  # once all its consumers ran: youngest first, leaves as early as possible
        if not owed[edge]:
            first = -edge.sequence if isinstance(edge, Record) else float("-inf")
            heappush(ready, (first, next(order), edge))

    def deliver(edge: Any, grad: Any) -> None:
        if grad is not None:
            before = inbox.get(edge)
            inbox[edge] = grad if before is None else before + grad

    def hand_on(edges: Sequence[Any], gradients: Sequence[Any]) -> None:
        for onward, gradient in zip(edges, gradients, strict=True):
            if onward is not None:
                if reached is None or onward in reached:
                    deliver(onward, gradient)
                owed[onward] -= 1
                enqueue(onward)

    for edge, grad in roots:
        deliver(edge, grad)
    for edge in dict.fromkeys(edge for edge, _ in roots):
        enqueue(edge)
    calls = running.calls
    depth = len(calls)
    try:
        calls.append((next(_tasks), owed, reached))
        while ready:
            edge = heappop(ready)[2]
            if reached is not None and edge not in reached and edge is not only:
                continue
            hooks = getattr(edge, "_hooks", None)
            if hooks is not None:
                inbox[edge] = hooks.arriving(edge, inbox.pop(edge, None), lifted)
            if edge in collected:
                collected[edge] = inbox.get(edge)
            if not isinstance(edge, Record):
                is_heard = hooks is not None or inbox.get(edge) is not None
                if accumulate and is_heard and (inputs is None or edge in collected):
                    if profile is None:  # then the leaf alone holds its gradient, and need not copy it
                        into_leaf(edge, inbox.pop(edge, None), lifted)
                    else:
                        profile(edge, partial(into_leaf, edge, inbox.pop(edge, None), lifted))
            elif needed is None or edge in needed:
                wanted = None if reached is None else _wanted(edge, hooks, reached)
                step = edge, hooks, inbox.pop(edge, None), retain_graph, lifted, watched, wanted
                hand_on(edge.edges, _step(*step) if profile is None else profile(edge, partial(_step, *step)))
    finally:
        del calls[depth:]
    return list(collected.values())


def _wanted(record: Record, hooks: Any, reached: set[Any]) -> list[bool] | None:
    """Which edges of a record want a gradient; None where all do, or where that saves no work."""
    wanted = [onward is None or onward in reached for onward in record.edges]
    if len(wanted) == 1 and record.kind.row is None and (hooks is None or not hooks.post_hooks):
        return None
    return None if all(wanted) else wanted


def _step(
    record: Record, hooks: Any, grad: Any, retain_graph: bool, lifted: bool, watched: Any, wanted: Any = None
) -> Any:
    """Run one record with its hooks, for the edges ``wanted``, where not all are; gives one gradient for each edge."""
    run = bare if hooks is None else hooks.around
    outgoing = run(record, grad, retain_graph, lifted, wanted)
    if watched:
        watched.check(record, outgoing)
    return outgoing


def bare(record: Record, grad: Any, retain_graph: bool, lifted: bool, wanted: Sequence[bool] | None = None) -> Any:
    """Run a record without its hooks; for the edges alone that are ``wanted``, where it can and that saves work."""
    run = record.run
    if run is freed:
        return freed(record, grad, retain_graph)
    hooks = getattr(record, "_hooks", None)
    is_idle = wanted is not None and not any(wanted) and record.kind.row is not None  # a Function runs all the same
    if is_idle or (grad is None and not getattr(record, "runs_on_none", False)):  # one of a custom Function does
        outgoing = (None,) * len(record.edges)
        if not retain_graph:
            record.release()
    elif wanted is not None and _is_worth_a_part(record, grad, lifted):
        outgoing = record.kind.part(record, grad, retain_graph, lifted, wanted)  # type: ignore[misc]
    elif lifted:
        outgoing = record.kind.lifted(record, grad, retain_graph)
    else:
        if hooks is not None and hooks.inner is not None:
            run = hooks.inner
        if modes.unusual and modes.local.masked is not None and run is record.kind.run and record.kind.row is not None:
            run = plan.gradients  # what is printed for speed knows nothing of masked gradients
        outgoing = run(record, grad, retain_graph)
    if hooks is not None and record.run is freed:
        hooks.inner = freed
    return outgoing


def _is_worth_a_part(record: Record, grad: Any, lifted: bool) -> bool:
    """Whether running a record for some edges alone takes less time: of small arrays, its printed rules take less."""
    if record.kind.part is None:
        return False
    return lifted or record.kind.row is None or getattr(grad, "size", _WORTH_A_PART) >= _WORTH_A_PART


def dependencies(roots: Iterable[Any], ends: Container[Any] = ()) -> dict[Any, int]:
    """How many edges of the graph under ``roots`` lead into each record and leaf; it is not followed below ``ends``."""
    stack = list(dict.fromkeys(roots))
    waiting = dict.fromkeys(stack, 0)
    while stack:
        edge = stack.pop()
        if isinstance(edge, Record) and edge not in ends:
            for onward in edge.edges:
                if onward is not None:
                    if onward in waiting:
                        waiting[onward] += 1
                    else:
                        waiting[onward] = 1
                        stack.append(onward)
    return waiting


def _leading_to(edges: Iterable[Any], collected: dict[Any, Any]) -> set[Any]:
    """The records that must run so that every collected edge receives its gradient."""
    needed: set[Any] = set()
    records = [edge for edge in edges if isinstance(edge, Record)]
    for record in sorted(records, key=lambda record: record.sequence):  # inputs first
        if any(onward in collected or onward in needed for onward in record.edges if onward is not None):
            needed.add(record)
    return needed


def _chosen_themselves(collected: dict[Any, Any], owed: dict[Any, int]) -> set[Any]:
    """The records among the collected, with those that their outputs are of: ``backward(inputs=...)`` runs them too."""
    chosen: set[Any] = set()
    for edge in collected:
        while isinstance(edge, Record) and edge in owed:
            chosen.add(edge)
            edge = edge.edges[0] if edge.kind is OUTPUT else None
    return chosen
