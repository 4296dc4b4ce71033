"""The engine: carries gradients from roots down the graph; knows records and arrays, and Tensors only by a carrier.

Two loops walk in one order, youngest record first.  ``lean`` serves the everyday call: gradients gather in the records'
own slots and the next record stays in a local.  ``general`` also serves hooks, ``inputs=``, ``create_graph``, anomaly
detection, re-entrant calls and several threads; all its state is local.  The loop is chosen before it starts.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from heapq import heappop, heappush
from itertools import count
from typing import Any

from ..ground import errors, modes
from . import hooks, leaf
from .record import OUTPUT, Bundle, Record

adding = leaf.adding
_slots = threading.Lock()  # whoever holds it may gather gradients in the records' own slots
_tasks = count(1)
#: While a profiler is on: ``listener(edge, run)`` gives what ``run()`` gives, at each record and leaf of a walk.
listener: Callable[[Any, Callable[[], Any]], Any] | None = None


class _Running(threading.local):
    """The backward calls under way in this thread, innermost last: number, and what each will reach."""

    def __init__(self) -> None:
        self.calls: list[tuple[int, Any, Any]] = []


_running = _Running()


def current_task() -> int:
    """The number of the backward call that runs now; -1 outside."""
    return _running.calls[-1][0] if _running.calls else -1


def captures_inputs() -> bool:
    """Whether the backward call that runs now wants the gradients of chosen inputs only."""
    return bool(_running.calls) and _running.calls[-1][2] is not None


def will_execute(edge: Any) -> bool:
    """Whether the backward call that runs now reaches ``edge``; RuntimeError outside of one."""
    if not _running.calls:
        raise RuntimeError(errors.NO_BACKWARD)
    _, owed, needed = _running.calls[-1]
    return edge in owed and (needed is None or edge in needed)


def run(roots: Sequence[tuple[Any, Any]], *, keep: bool) -> None:
    """Fill ``.grad`` of every leaf under ``roots`` (pairs of edge and array), by the loop that fits."""
    if len(roots) == 1 and not hooks.on_leaves and not modes.unusual and isinstance(roots[0][0], Record):
        if _slots.acquire(False):
            try:
                lean(roots[0][0], roots[0][1], keep)
            finally:
                _slots.release()
            return
    before = modes.set_grad(False)  # for the hooks
    try:
        general(roots, keep=keep)
    finally:
        modes.set_grad(before)


def lean(root: Record, grad: Any, keep: bool) -> None:
    """The everyday walk from one root: no leaf hooks, no captured inputs, nobody else using the records' slots."""
    reached: list[Any] = []  # leaves, in the order their first gradient came
    heap: list[tuple[float, Record]] = []
    record: Record | None = root
    try:
        while record is not None:
            if grad is None:
                grad = record._gathered
                record._gathered = None
            ga, gb = record.run(record, grad, keep)
            following = None
            edge = record.e0
            if type(edge) is Record:
                if ga is not None:
                    before = edge._gathered
                    if before is None:
                        edge._gathered = ga
                        following = edge
                    else:
                        edge._gathered = before + ga
            elif edge is not None:
                if type(edge) is tuple:
                    if any(g is None and isinstance(onward, Record) for onward, g in zip(edge, ga, strict=True)):
                        general(_hand_over(zip(edge, ga, strict=True), reached, heap), keep=keep)
                        return
                    for onward, g in zip(edge, ga):  # noqa: B905  as long as each other: one rule for each edge
                        if onward is not None and g is not None:
                            before = onward._gathered
                            if before is not None:
                                onward._gathered = before + g
                                continue
                            onward._gathered = g
                            if type(onward) is not Record and not isinstance(onward, Record):
                                reached.append(onward)
                            elif following is None:
                                following = onward
                            elif onward.sequence > following.sequence:
                                heappush(heap, (-following.sequence, following))
                                following = onward
                            else:
                                heappush(heap, (-onward.sequence, onward))
                elif ga is not None:
                    before = edge._gathered
                    if before is not None:
                        edge._gathered = before + ga
                    else:
                        edge._gathered = ga
                        if isinstance(edge, Record):
                            following = edge
                        else:
                            reached.append(edge)
            edge = record.e1
            if edge is not None and gb is not None:
                before = edge._gathered
                if before is not None:
                    edge._gathered = before + gb
                else:
                    edge._gathered = gb
                    if not isinstance(edge, Record):
                        reached.append(edge)
                    elif following is None:
                        following = edge
                    elif edge.sequence > following.sequence:
                        heappush(heap, (-following.sequence, following))
                        following = edge
                    else:
                        heappush(heap, (-edge.sequence, edge))
            if heap and (following is None or -heap[0][0] > following.sequence):
                if following is not None:
                    heappush(heap, (-following.sequence, following))
                following = heappop(heap)[1]
            record = following
            ga = gb = grad = edge = before = onward = g = None  # an array held here would look shared to its leaf
        with adding:
            for variable in reached:
                grad = variable._gathered
                variable._gathered = None
                if variable._edge is not None:  # else it stopped wanting gradients meanwhile
                    leaf.accumulate(variable, grad)
    except Exception:
        if record is not None:  # what the failing record cannot reach any more is complete
            waiting = _dependencies([record, *(left for _, left in heap)])
            for variable in reached:
                if variable not in waiting and variable._gathered is not None:
                    with adding:
                        leaf.accumulate(variable, variable._gathered)
        _wipe(root)
        raise
    except BaseException:
        _wipe(root)
        raise


def _hand_over(
    pairs: Iterable[tuple[Any, Any]], reached: Iterable[Any], heap: Iterable[tuple[float, Record]]
) -> list[tuple[Any, Any]]:
    """Everything that waits in the lean walk, as roots: the general one runs records that receive no gradient too."""
    roots = [pair for pair in pairs if pair[0] is not None]
    for edge in (*reached, *(left for _, left in heap)):
        roots.append((edge, edge._gathered))
        edge._gathered = None
    return roots


def _wipe(root: Record) -> None:
    """Empty the slots of everything under ``root``, after a walk that ended early."""
    for edge in _dependencies([root]):
        if edge._gathered is not None:
            edge._gathered = None


def general(
    roots: Sequence[tuple[Any, Any]],
    *,
    keep: bool,
    lifted: bool = False,
    inputs: Sequence[Any] | None = None,
    accumulate: bool = True,
) -> list[Any]:
    """Carry gradients from ``roots`` down the graph: every record once, after all its consumers.

    roots       pairs (edge, gradient) to start from
    keep        leave saved values in place, so that the graph can be walked again
    lifted      gradients are Tensors and rules are recorded; else they are arrays
    inputs      edges whose gradients are wanted back; without them every leaf is reached
    accumulate  add into ``.grad`` of the leaves reached
    """
    owed = _dependencies([edge for edge, _ in roots])
    targets = dict.fromkeys(inputs) if inputs is not None else {}
    needed = None if inputs is None else _leading_to(owed, targets)
    if needed is not None and accumulate:  # ``backward(inputs=...)`` runs the chosen records themselves too
        for edge in targets:
            while isinstance(edge, Record) and edge in owed:
                needed.add(edge)
                edge = edge.e0 if edge.kind is OUTPUT else None
    inbox: dict[Any, Any] = {}
    ready: list[tuple[float, int, Any]] = []
    order = count()
    watched = modes.local.anomaly
    heard = listener

    def settle(edge: Any) -> None:  # youngest first; leaves as early as possible
        if not owed[edge]:
            first = -edge.sequence if isinstance(edge, Record) else float("-inf")
            heappush(ready, (first, next(order), edge))

    def deliver(edge: Any, grad: Any) -> None:
        if grad is not None:
            before = inbox.get(edge)
            inbox[edge] = grad if before is None else before + grad

    for edge, grad in roots:
        deliver(edge, grad)
    for edge in dict.fromkeys(edge for edge, _ in roots):
        settle(edge)
    calls = _running.calls
    depth = len(calls)
    try:
        calls.append((next(_tasks), owed, None if needed is None else needed | set(targets)))
        while ready:
            edge = heappop(ready)[2]
            grad = inbox.pop(edge, None)
            if needed is not None and edge not in needed and edge not in targets:
                continue
            about = getattr(edge, "_about", None)
            if about is not None:
                if type(grad) is Bundle:
                    hooks.at_outputs(about, grad, lifted)
                elif grad is not None or not isinstance(edge, Record) or edge.kind is not OUTPUT:
                    grad = hooks.before(edge, about, grad, lifted)
            if edge in targets:
                targets[edge] = grad
            if not isinstance(edge, Record):
                if accumulate and grad is not None and (inputs is None or edge in targets):
                    if heard is None:
                        hooks.into_leaf(edge, grad, lifted)
                    else:
                        heard(edge, partial(hooks.into_leaf, edge, grad, lifted))
                continue
            if needed is not None and edge not in needed:
                continue
            wanted = None
            if needed is not None and about is not None and about.post_hooks:
                wanted = [onward in needed or onward in targets for onward in edge.edges]
            if heard is None:
                outgoing = _step(edge, about, grad, keep, lifted, watched, wanted)
            else:
                outgoing = heard(edge, partial(_step, edge, about, grad, keep, lifted, watched, wanted))
            for onward, g in zip(edge.edges, outgoing, strict=False):
                if onward is not None:
                    if needed is None or onward in needed or onward in targets:
                        deliver(onward, g)
                    owed[onward] -= 1
                    settle(onward)
    finally:
        del calls[depth:]
    return list(targets.values())


def _step(record: Record, about: Any, grad: Any, keep: bool, lifted: bool, watched: bool, wanted: Any) -> Sequence[Any]:
    """Run one record, with its hooks, which see the gradients ``wanted``; gives one gradient for each edge."""
    if grad is None and not getattr(record, "runs_on_none", False):
        return hooks.around_nothing(record, about)
    if about is not None and (about.pre_hooks or about.post_hooks):
        outgoing = hooks.around(record, about, grad, keep, lifted, wanted)
    else:
        outgoing = hooks.bare(record, about, grad, keep, lifted)
    if record.kind.arity == 0:
        outgoing = outgoing[0]
    if watched:
        from . import anomaly

        anomaly.check(record, outgoing)
    return outgoing


def _dependencies(roots: Iterable[Any]) -> dict[Any, int]:
    """How many edges of the graph under ``roots`` lead into each record and leaf."""
    stack = list(dict.fromkeys(roots))
    waiting = dict.fromkeys(stack, 0)
    while stack:
        edge = stack.pop()
        if isinstance(edge, Record):
            for onward in edge.edges:
                if onward is not None:
                    if onward in waiting:
                        waiting[onward] += 1
                    else:
                        waiting[onward] = 1
                        stack.append(onward)
    return waiting


def _leading_to(edges: Iterable[Any], targets: dict[Any, Any]) -> set[Any]:
    """The records that must run so that every target receives its gradient."""
    needed: set[Any] = set()
    records = [edge for edge in edges if isinstance(edge, Record)]
    for record in sorted(records, key=lambda record: record.sequence):  # inputs first
        if any(onward in targets or onward in needed for onward in record.edges if onward is not None):
            needed.add(record)
    return needed
