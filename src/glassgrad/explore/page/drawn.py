"""What the page draws of a graph, floor 8: its nodes as boxes and pills, in the order in which they were built.

A leaf and its AccumulateGrad are one pill; in all but small graphs a leaf stands beside each of its uses. Inputs and
constants are pills too: an operation that needs them to go back has saved them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from heapq import heapify, heappop, heappush

from ..model import Edge, Graph, Saved
from ..modules import TURNS
from ..walk import SINK

SMALL = 60  # a graph of so many nodes is drawn whole, each leaf once, every number shown


@dataclass(slots=True)
class Box:
    """One thing drawn: ``node`` is its index in the graph (None for a cut known by its record ``cut`` only, and for an
    input, which is ``kept`` by operations), ``sink`` the AccumulateGrad of a leaf, ``first`` the first of several boxes
    of one leaf or input."""

    kind: str
    node: int | None
    scope: int | None = None
    sink: int | None = None
    first: int | None = None
    cut: int | None = None
    kept: Saved | None = None


@dataclass(slots=True)
class Arrow:
    """A dependence between two boxes; ``edge`` is the graph's edge it stands for, if it is one."""

    src: int
    dst: int
    slot: int
    kind: str
    edge: Edge | None = None


@dataclass(slots=True)
class Drawn:
    """Boxes and arrows; ``order`` lists the boxes as they were built, each after all it was made from."""

    boxes: list[Box] = field(default_factory=list)
    arrows: list[Arrow] = field(default_factory=list)
    order: list[int] = field(default_factory=list)
    small: bool = False


def drawn(graph: Graph) -> Drawn:
    """The boxes and arrows of ``graph``."""
    sinks = {edge.src: edge.dst for edge in graph.edges if graph.nodes[edge.dst].op == SINK}
    leaf_of = {sink: leaf for leaf, sink in sinks.items()}
    picture = Drawn(small=len(graph.nodes) - len(sinks) + len(graph.cuts) <= SMALL)
    box_of: dict[int, int] = {}
    leaves: list[int] = []
    for node in graph.nodes:
        if node.index in leaf_of:
            continue
        if node.kind == "leaf":
            leaves.append(node.index)
        else:
            box_of[node.index] = len(picture.boxes)
            picture.boxes.append(Box(node.kind, node.index, node.scope))
    pills: dict[int, int] = {}

    def pill(leaf: int) -> int:
        """The box of a leaf for one more use of it."""
        known = pills.get(leaf)
        if known is None or not picture.small:
            sink = sinks.get(leaf)
            box = Box("leaf", leaf, None, sink, known)
            picture.boxes.append(box)
            pills.setdefault(leaf, len(picture.boxes) - 1)
            return len(picture.boxes) - 1
        return known

    def end(index: int) -> int:
        leaf = leaf_of.get(index, index)
        return box_of[leaf] if leaf in box_of else pill(leaf)

    for edge in graph.edges:
        if edge.dst in leaf_of and edge.src == leaf_of[edge.dst]:
            continue
        dst = box_of.get(edge.dst)
        if dst is None:
            dst = end(edge.dst)
        picture.arrows.append(Arrow(end(edge.src), dst, edge.dst_input, edge.kind, edge))
    for leaf in leaves:  # a leaf that nothing uses is drawn too
        if leaf not in pills:
            pill(leaf)
    _add_inputs(graph, picture, end)
    _add_cuts(graph, picture, end)
    picture.order = _build_order(graph, picture)
    return picture


def _add_inputs(graph: Graph, picture: Drawn, end: Callable[[int], int]) -> None:
    """Pills for the inputs and constants that operations saved; in a large graph for those that have a name."""
    known: dict[object, int] = {}
    for node in reversed(graph.nodes):
        for kept in node.saved:
            if not kept.outside or kept.tensor is None or not (picture.small or kept.name):
                continue
            key = kept.name or (kept.tensor.storage if kept.tensor.shape else None)
            first = None if key is None else known.get(key)
            if first is None or not picture.small:
                picture.boxes.append(Box("input", None, None, None, first, None, kept))
                here = len(picture.boxes) - 1
                if key is not None:
                    known.setdefault(key, here)
            else:
                here = first
            picture.arrows.append(Arrow(here, end(node.index), 0, "input"))


def _add_cuts(graph: Graph, picture: Drawn, end: Callable[[int], int]) -> None:
    """Boxes for the cuts that touch the graph and have no node of their own; and to each cut, from what it cut off."""
    limit = len(graph.nodes)
    by_user: dict[int, list[int]] = {}
    for edge in graph.edges:
        if graph.nodes[edge.src].kind == "cut":
            by_user.setdefault(edge.dst, []).append(edge.src)
    drawn_already = {(arrow.src, arrow.dst) for arrow in picture.arrows if arrow.kind == "cut"}
    for cut in graph.cuts:
        sources = [i for i in cut.sources if 0 <= i < limit and graph.nodes[i].kind != "cut"]
        users = [i for i in cut.used_by if 0 <= i < limit]
        own = sorted({node for user in users for node in by_user.get(user, ())})
        if own:
            matching = [node for node in own if cut.how in (graph.nodes[node].op, graph.nodes[node].name)]
            there = end((matching or own)[0])
            new = {(end(i), there) for i in sources} - drawn_already
            picture.arrows += [Arrow(src, dst, 0, "cut") for src, dst in sorted(new)]
            drawn_already |= new
            continue
        if not sources and not users:
            continue
        index = len(picture.boxes)
        scope = graph.nodes[(users or sources)[0]].scope
        picture.boxes.append(Box("cut", None, scope, cut=cut.index))
        picture.arrows += [Arrow(end(i), index, 0, "cut") for i in sources]
        picture.arrows += [Arrow(index, end(i), 0, "cut") for i in users]


def _build_order(graph: Graph, picture: Drawn) -> list[int]:
    """The boxes, oldest first, each after what it was made from; a leaf comes right before its first use."""
    count = len(picture.boxes)
    age = [0.0] * count
    pills = {i for i, box in enumerate(picture.boxes) if box.kind in ("leaf", "input")}
    turned = _turned(graph, picture, pills)
    for i, box in enumerate(picture.boxes):
        node = None if box.node is None else graph.nodes[box.node]
        if node is None or node.kind in ("leaf", "output", "base"):
            age[i] = -1.0
        elif node.forward is not None:
            age[i] = node.forward
        elif node.seq is not None:
            age[i] = node.seq
        else:
            age[i] = -node.index - 2.0
    users: list[list[int]] = [[] for _ in range(count)]
    owed = [0] * count
    for arrow in picture.arrows:
        users[arrow.src].append(arrow.dst)
        if arrow.src not in pills:
            owed[arrow.dst] += 1
    leaves_of: list[list[int]] = [[] for _ in range(count)]
    for arrow in picture.arrows:
        if arrow.src in pills:
            leaves_of[arrow.dst].append(arrow.src)
    for i, user in turned.items():  # ready at once, and done when its user is
        owed[user] -= 1
        leaves_of[user].append(i)
    ready = [(age[i], i) for i in range(count) if not owed[i] and i not in pills and i not in turned]
    heapify(ready)
    order: list[int] = []
    done = [False] * count
    while ready:
        _, i = heappop(ready)
        for leaf in [
            one for before in leaves_of[i] for one in (*(leaves_of[before] if before in turned else ()), before)
        ]:
            if not done[leaf]:
                done[leaf] = True
                order.append(leaf)
        done[i] = True
        order.append(i)
        for j in users[i]:
            owed[j] -= 1
            if not owed[j]:
                heappush(ready, (age[j], j))
    return order + [i for i in range(count) if not done[i]]  # unused leaves; a circle drawn by cuts


def _turned(graph: Graph, picture: Drawn, pills: set[int]) -> dict[int, int]:
    """The operations that only turn a leaf for the one that uses it, by their boxes, and that one's box."""
    makers: list[list[int]] = [[] for _ in picture.boxes]
    users: list[list[int]] = [[] for _ in picture.boxes]
    for arrow in picture.arrows:
        makers[arrow.dst].append(arrow.src)
        users[arrow.src].append(arrow.dst)
    turned = {}
    for i, box in enumerate(picture.boxes):
        if box.kind == "op" and box.node is not None and len(users[i]) == 1 and len(makers[i]) == 1:
            if makers[i][0] in pills and graph.nodes[box.node].op.rpartition("Backward")[0] in TURNS:
                turned[i] = users[i][0]
    return turned


def backward_order(graph: Graph, picture: Drawn) -> list[int]:
    """The boxes as the backward pass visits them: outputs, then operations and leaves' sinks by their step."""
    outputs = [i for i, box in enumerate(picture.boxes) if box.kind == "output"]
    timed: list[tuple[float, int]] = []
    for i, box in enumerate(picture.boxes):
        index = box.sink if box.kind == "leaf" else box.node
        if index is None or box.kind not in ("op", "leaf", "opaque") or box.first is not None:
            continue
        step = graph.nodes[index].backward
        timed.append((index if step is None else step, i))
    timed.sort()
    return outputs + [i for _, i in timed]
