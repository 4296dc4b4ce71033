"""The everyday walk: one root, no hooks on leaves, nobody watching; gradients gather in the records' own slots.

It needs no counting: if the youngest record always goes first, all consumers of a record have run when its turn comes.
The next record stays in a local variable, and the heap is touched only where the graph branches.
"""

from __future__ import annotations

from collections.abc import Iterable
from heapq import heappop, heappush
from typing import Any

from ..core import engine, leaf
from ..core.record import Record
from ..core.tensor import LEAF

_walking: dict[str, Any] = {}  # the walk that gathers gradients in the records' own slots, by its list of leaves


def everyday(root: Any, grad: Any, retain_graph: bool) -> bool:
    """Walk from one root, if that is a record and nobody else is walking; whether it was done."""
    if not isinstance(root, Record):
        return False
    reached: list[Any] = []
    try:
        if _walking.setdefault("slots", reached) is not reached:
            return False
        _walk(root, grad, retain_graph, reached)
    finally:  # no call, before which Ctrl-C could come
        if "slots" in _walking and _walking["slots"] is reached:
            del _walking["slots"]
    return True


def _walk(root: Record, grad: Any, retain_graph: bool, reached: list[Any]) -> None:
    """Gather gradients from ``root`` down; ``reached`` are the leaves, in the order their first gradient came."""
    heap: list[tuple[float, Record]] = []
    record: Record | None = root
    first: Any
    second: Any
    following: Any
    try:
        while record is not None:
            if grad is None:
                grad = record._gathered
                record._gathered = None
            grads = record.run(record, grad, retain_graph)
            edges = record.edges
            following = None
            if len(edges) == 2:  # two edges and one are spelled out: most of a long chain's time is spent here
                first, second = edges
                ga, gb = grads
                if (ga is None and first is not None) or (gb is None and second is not None):
                    if _is_skipped(edges, grads):
                        _hand_over(edges, grads, reached, heap, retain_graph)
                        return
                if ga is not None and first is not None:
                    before = first._gathered
                    if before is not None:
                        first._gathered = before + ga
                    else:
                        first._gathered = ga
                        if type(first) is Record or isinstance(first, Record):
                            following = first
                        else:
                            reached.append(first)
                if gb is not None and second is not None:
                    before = second._gathered
                    if before is not None:
                        second._gathered = before + gb
                    else:
                        second._gathered = gb
                        if not isinstance(second, Record):
                            reached.append(second)
                        elif following is None:
                            following = second
                        elif second.sequence > following.sequence:
                            heappush(heap, (-following.sequence, following))
                            following = second
                        else:
                            heappush(heap, (-second.sequence, second))
            elif len(edges) == 1:
                first = edges[0]
                ga = grads[0]
                if ga is None:
                    if isinstance(first, Record):
                        _hand_over(edges, grads, reached, heap, retain_graph)
                        return
                elif first is not None:
                    before = first._gathered
                    if before is not None:
                        first._gathered = before + ga
                    else:
                        first._gathered = ga
                        if type(first) is Record or isinstance(first, Record):
                            following = first
                        else:
                            reached.append(first)
            else:
                if _is_skipped(edges, grads):
                    _hand_over(edges, grads, reached, heap, retain_graph)
                    return
                for first, ga in zip(edges, grads, strict=True):
                    if first is not None and ga is not None:
                        before = first._gathered
                        if before is not None:
                            first._gathered = before + ga
                            continue
                        first._gathered = ga
                        if not isinstance(first, Record):
                            reached.append(first)
                        elif following is None:
                            following = first
                        elif first.sequence > following.sequence:
                            heappush(heap, (-following.sequence, following))
                            following = first
                        else:
                            heappush(heap, (-first.sequence, first))
            if heap and (following is None or -heap[0][0] > following.sequence):
                if following is not None:
                    heappush(heap, (-following.sequence, following))
                following = heappop(heap)[1]
            record = following
            # An array held by one of these would look shared to its leaf.
            ga = gb = grad = grads = before = first = second = None
        with leaf.adding:
            for variable in reached:
                grad = variable._gathered
                variable._gathered = None
                if variable._edge is LEAF or leaf.is_wanted(variable):  # else it stopped wanting gradients meanwhile
                    leaf.accumulate(variable, grad)
    except Exception:
        if record is not None:  # what the failing record cannot reach any more is complete
            waiting = engine.dependencies([record, *(left for _, left in heap)])
            for variable in reached:
                if variable not in waiting and variable._gathered is not None:
                    with leaf.adding:
                        leaf.accumulate(variable, variable._gathered)
        _wipe(root)
        raise
    except BaseException:
        _wipe(root)
        raise


def _is_skipped(edges: Iterable[Any], grads: Iterable[Any]) -> bool:
    """Whether a record gets no gradient: only the general walk runs such records."""
    for edge, grad in zip(edges, grads, strict=True):  # in half the time of any()
        if grad is None and isinstance(edge, Record):
            return True
    return False


def _hand_over(
    edges: Iterable[Any],
    grads: Iterable[Any],
    reached: Iterable[Any],
    heap: Iterable[tuple[float, Record]],
    retain_graph: bool,
) -> None:
    """Go on in the general walk, from everything that waits here."""
    roots = [pair for pair in zip(edges, grads, strict=True) if pair[0] is not None]
    for edge in (*reached, *(left for _, left in heap)):
        roots.append((edge, edge._gathered))
        edge._gathered = None
    engine.general(roots, retain_graph=retain_graph)


def _wipe(root: Record) -> None:
    """Empty the slots of everything under ``root``, after a walk that ended early."""
    for edge in engine.dependencies([root]):
        if edge._gathered is not None:
            edge._gathered = None
