"""The page's data, floor 8: all that the viewer shows of a graph, as columns of plain values."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from functools import lru_cache
from pathlib import PurePath
from typing import Any

from ..answer import extent
from ..model import Graph, SourceLoc, Stats, TensorInfo
from ..walk import SINK
from .drawn import KINDS, Arrow, Box, Drawn, Group, Level, backward_order, drawn, grouped, inner_first, levels_of

CODES = {"op": 0, "leaf": 1, "output": 2, "base": 3, "cut": 4, "opaque": 5, "input": 6}


#: What is told of a box beside its columns, where there is something to tell.
DETAILS = "sentence", "rule", "loc", "attrs", "saved", "results", "stats", "gradient"
Row = tuple[Any, ...]


class Strings:
    """Texts by number: each is written once."""

    def __init__(self) -> None:
        self.numbers: dict[str, int] = {}
        self.sizes: dict[tuple[int, ...], int] = {}
        self.tensors: dict[int, Row] = {}  # by the identity of what is known of them, which the graph keeps

    def __call__(self, text: str | None) -> int:
        return 0 if not text else self.numbers.setdefault(text, len(self.numbers) + 1)

    def size(self, info: TensorInfo | None) -> int:
        """The number of the text of a tensor's shape."""
        if info is None:
            return 0
        known = self.sizes.get(info.shape)
        if known is None:
            known = self.sizes[info.shape] = self(info.size_text)
        return known


def contents(graph: Graph, title: str = "") -> dict[str, Any]:
    """The data of the page of ``graph``."""
    picture = drawn(graph)
    home = homes_of(graph, picture)
    groups = grouped(graph.scopes, home, picture.order, picture.small)
    levels = levels_of(groups, picture.arrows, len(picture.boxes))
    text = Strings()
    boxes = _boxes(graph, picture, text)
    box_of = _first_boxes(picture)
    flows = [_flow(graph, arrow) for arrow in picture.arrows]
    return {
        "title": title,
        "engine": graph.engine,
        "level": graph.level,
        "extent": extent(graph),
        "totals": {key: int(value) for key, value in graph.totals.items()},
        "small": picture.small,
        "boxes": boxes,
        "details": _details(graph, picture, text),
        "arrows": {
            **_columns(picture.arrows, "src dst slot"),
            "kind": [KINDS[arrow.kind] for arrow in picture.arrows],
            "local": [text(_local(graph, arrow)) for arrow in picture.arrows],
            "grad": [text(value_of(handed)) for handed in flows],
            "norm": [number(_norm(handed)) for handed in flows],
        },
        "groups": _groups(graph, picture, groups, levels, text),
        "levels": [
            {"units": one.units, "in": one.inward, "out": one.outward, "rows": one.rows, "lines": one.lines,
             "jumps": one.jumps} for one in levels
        ],  # fmt: skip
        "build": picture.order,
        "back": backward_order(graph, picture),
        "problems": _problems(graph, box_of),
        "events": [
            [event.phase, box_of.get(event.node, -1), event.step, event.text]
            for event in graph.events
            if event.phase not in ("forward", "backward")
        ],
        "parameters": [
            [p.path, box_of.get(p.node, -1), p.tensor.size_text, p.tensor.nbytes, int(p.requires_grad)]
            for p in graph.parameters
        ],
        "texts": ["", *text.numbers],
    }


def _columns(things: Sequence[Any], names: str) -> dict[str, list[Any]]:
    """Attributes of things as columns; what is not there is -1."""
    rows = [[getattr(thing, name) for thing in things] for name in names.split()]
    return {name: [-1 if v is None else v for v in row] for name, row in zip(names.split(), rows, strict=True)}


def number(value: float | None) -> float | int | str | None:
    """``value`` with six digits; what JSON has no number for, as text."""
    if value is None or isinstance(value, int):
        return value
    if not math.isfinite(value):
        return str(value)
    short = float(f"{value:.6g}")
    return int(short) if short.is_integer() and abs(short) < 1e15 else short


def homes_of(graph: Graph, picture: Drawn) -> list[int | None]:
    """The scope in which each box is drawn: a parameter's is that which all its uses share.

    The data that goes into a model stands outside of it, that of a step beside its module.
    """
    home = [box.scope for box in picture.boxes]
    parent = {scope.index: scope.parent for scope in graph.scopes}
    owned = {parameter.node for parameter in graph.parameters}
    again = {box.first for box in picture.boxes if box.kind == "input" and box.first is not None}

    def around(scope: int | None) -> list[int]:
        chain: list[int] = []
        while scope is not None and scope in parent and scope not in chain:
            chain.append(scope)
            scope = parent[scope]
        return chain

    shared: dict[int, int | None] = {}
    for arrow in picture.arrows:
        box = picture.boxes[arrow.src]
        if box.kind in ("leaf", "input"):
            scope = picture.boxes[arrow.dst].scope
            if owned and (box.node not in owned if box.kind == "leaf" else box.kept is not None and box.kept.name):
                repeated = arrow.src in again or box.first is not None  # step by step: beside the module that takes it
                scope = parent.get(scope) if repeated and scope is not None else None
            if arrow.src not in shared or shared[arrow.src] == scope:
                shared[arrow.src] = scope
            else:
                outer = set(around(scope))
                shared[arrow.src] = next((s for s in around(shared[arrow.src]) if s in outer), None)
    for i, scope in shared.items():
        home[i] = scope
    return home


def value_of(tensor: TensorInfo | None) -> str | None:
    """The short text of a value; of a single number also where only its statistics are known."""
    if tensor is None or tensor.value is not None or tensor.stats is None:
        return None if tensor is None else tensor.value
    return f"{tensor.stats.low:.4g}" if tensor.stats.count == 1 and tensor.stats.low is not None else None


def _norm(tensor: TensorInfo | None) -> float | None:
    if tensor is None or tensor.stats is None:
        return None
    stats = tensor.stats
    return math.nan if stats.nan else math.inf if stats.inf else stats.norm


def result_of(graph: Graph, box: Box) -> TensorInfo | None:
    """The tensor that a box is, or gives."""
    if box.kept is not None:
        return box.kept.tensor
    if box.node is None:
        return graph.cuts[box.cut].tensor if box.cut is not None and box.cut < len(graph.cuts) else None
    node = graph.nodes[box.node]
    return node.tensor if node.tensor is not None else node.outputs[0] if node.outputs else None


def gradient_of(graph: Graph, box: Box) -> TensorInfo | None:
    """The gradient that arrived: at a leaf, what its AccumulateGrad was handed."""
    grad = None if box.node is None else graph.nodes[box.node].grad
    return grad if grad is not None or box.sink is None else graph.nodes[box.sink].grad


def _flow(graph: Graph, arrow: Arrow) -> TensorInfo | None:
    """The gradient that went back along an arrow."""
    edge = arrow.edge
    if edge is None or edge.grad is not None or edge.kind != "gradient":
        return None if edge is None else edge.grad
    handed = graph.nodes[edge.dst].grads_in
    return handed[edge.dst_input] if edge.dst_input < len(handed) else None


def _local(graph: Graph, arrow: Arrow) -> str | None:
    """The local derivative as text: as it was read, or, between single numbers, what left divided by what arrived."""
    edge = arrow.edge
    if edge is None or edge.kind != "gradient" or graph.nodes[edge.dst].kind == "output":
        return None
    if edge.local is not None:
        return edge.local
    arrived, left = graph.nodes[edge.dst].grad, _flow(graph, arrow)
    if arrived is None or left is None or arrived.shape or left.shape or not arrived.value or not left.value:
        return None
    try:
        below, above = float(arrived.value), float(left.value)
    except ValueError:
        return None
    return f"{above / below:.4g}" if below and math.isfinite(above / below) else None


def _boxes(graph: Graph, picture: Drawn, text: Strings) -> dict[str, list[Any]]:
    boxes = picture.boxes
    results = [result_of(graph, box) for box in boxes]
    gradients = [gradient_of(graph, box) for box in boxes]
    nodes = [None if box.node is None else graph.nodes[box.node] for box in boxes]
    names = [
        node.name if node is not None else box.kept.name if box.kept else _cut_name(graph, box)
        for node, box in zip(nodes, boxes, strict=True)
    ]
    return {
        "kind": [CODES[box.kind] for box in boxes],
        **_columns(boxes, "node sink first"),
        "op": [
            text(SINK if box.sink is not None else None if node is None else node.op)
            for box, node in zip(boxes, nodes, strict=True)
        ],
        "name": [text(name) for name in names],
        "shape": [text.size(info) for info in results],
        "dtype": [text(info.dtype if info is not None else None) for info in results],
        "value": [text(value_of(info)) for info in results],
        "valueNorm": [number(_norm(info)) for info in results],
        "grad": [text(value_of(info)) for info in gradients],
        "norm": [number(_norm(info)) for info in gradients],
        "bytes": [sum(kept.tensor.nbytes for kept in node.saved if kept.tensor) if node else 0 for node in nodes],
        "ms": [number(node.ms if node is not None else None) for node in nodes],
    }


def _cut_name(graph: Graph, box: Box) -> str | None:
    return graph.cuts[box.cut].how if box.cut is not None and box.cut < len(graph.cuts) else None


def _details(graph: Graph, picture: Drawn, text: Strings) -> dict[int, dict[str, Any]]:
    """What the right panel shows of a box beyond the columns, by the box's number; repeated leaves tell it once."""
    details: dict[int, dict[str, Any]] = {}
    places: dict[int, Row | None] = {}  # by the identity of the place, which many nodes share
    for i, box in enumerate(picture.boxes):
        if box.first is not None:
            continue
        detail: dict[str, Any] = {}
        if box.kept is not None:
            detail = {"results": (_tensor(box.kept.tensor, text),), "stats": _stats(box.kept.tensor)}
        elif box.node is None:
            assert box.cut is not None
            cut = graph.cuts[box.cut]
            detail["sentence"], loc = cut.reason, cut.loc
        else:
            node = graph.nodes[box.node]
            sink = None if box.sink is None else graph.nodes[box.sink]
            detail["sentence"], loc = node.sentence or (sink.sentence if sink else None), node.loc
            detail["rule"] = node.rule
        if loc is not None:
            if id(loc) not in places:
                places[id(loc)] = _loc(loc, text)
            detail["loc"] = places[id(loc)]
        if box.node is not None:
            if node.attrs:
                detail["attrs"] = node.attrs
            if node.saved:
                detail["saved"] = tuple([
                    (text(kept.slot), text(kept.state), text(kept.name), *_tensor(kept.tensor, text))
                    for kept in node.saved
                ])  # fmt: skip
            results = node.outputs or ((node.tensor,) if node.tensor else ())
            if results:
                detail["results"] = tuple([_tensor(info, text) for info in results])
                detail["stats"] = _stats(node.tensor or results[0])
            detail["gradient"] = _stats(gradient_of(graph, box))
        detail = {key: value for key, value in detail.items() if value is not None and value != ""}
        if detail:
            details[i] = detail
    return details


def _tensor(info: TensorInfo | None, text: Strings) -> Row:
    if info is None:
        return 0, 0, 0, 0
    known = text.tensors.get(id(info))
    if known is None:
        known = text.tensors[id(info)] = text.size(info), text(info.dtype), info.nbytes, text(info.value)
    return known


def _stats(info: TensorInfo | None) -> Row | None:
    if info is None or info.stats is None:
        return None
    s: Stats = info.stats
    return s.count, s.nan, s.inf, s.zero, number(s.low), number(s.high), number(s.mean), number(s.norm)


def _loc(loc: SourceLoc | None, text: Strings) -> Row | None:
    if loc is None:
        return None
    short = _file_name(loc.file)
    return text(short), loc.line, text(loc.function), text(loc.expression), text(loc.code), text(loc.file)


@lru_cache(256)
def _file_name(path: str) -> str:
    return PurePath(path).name


def _first_boxes(picture: Drawn) -> dict[int | None, int]:
    """The first box of each node of the graph."""
    first: dict[int | None, int] = {}
    for i, box in enumerate(picture.boxes):
        for node in (box.node, box.sink):
            if node is not None:
                first.setdefault(node, i)
    return first


def _problems(graph: Graph, box_of: dict[int | None, int]) -> list[list[Any]]:
    """Kind, text, box, scope and line of what is wrong; cuts that no problem tells of come last."""
    rows: list[list[Any]] = []
    for problem in graph.problems:
        scope = -1 if problem.scope is None else problem.scope
        rows.append([problem.kind, problem.text, box_of.get(problem.node, -1), scope, str(problem.loc or "")])
    if not any(problem.kind == "cut" for problem in graph.problems):
        for cut in graph.cuts:
            ends = [box_of[i] for i in (*cut.used_by, *cut.sources) if i in box_of]
            if ends:
                what = f"{cut.name or 'a value'} left the graph by {cut.how}"
                rows.append(["cut", f"{what}: {cut.reason}" if cut.reason else what, ends[0], -1, str(cut.loc or "")])
    return rows


def sizes_through(
    graph: Graph, picture: Drawn, groups: Sequence[Group], levels: Sequence[Level]
) -> list[tuple[str, str, int]]:
    """Of each card the shapes of what goes in and of what comes out, and how many numbers its parameters have."""
    owned = {parameter.node for parameter in graph.parameters}
    weights: Counter[str] = Counter()  # by the module's path
    for parameter in graph.parameters:
        stem, size = parameter.path, math.prod(parameter.tensor.shape)
        while stem:
            stem = stem.rpartition(".")[0]
            weights[stem] += size
    texts = []
    for group, level in zip(groups, levels, strict=True):
        sides = []
        for nets in (level.inward, level.outward):
            shapes: list[str] = []
            for net in nets:
                box = picture.boxes[net // 3]
                info = None if box.kind == "leaf" and box.node in owned else result_of(graph, box)
                if info is not None and net % 3 != KINDS["cut"] and info.size_text not in shapes:
                    shapes.append(info.size_text)
            sides.append(", ".join(shapes) if len(shapes) < 4 else f"{len(shapes)} shapes")
        texts.append((sides[0], sides[1], weights[group.path] if group.kind == "module" else 0))
    for g in range(len(groups) - 1, 0, -1):
        if groups[g].kind == "fold":  # turns of one module share their parameters
            inner = {groups[-u].path: texts[-u][2] for u in groups[g].units if u < 0}
            texts[g] = (*texts[g][:2], sum(inner.values()))
    return texts


def _groups(
    graph: Graph, picture: Drawn, groups: Sequence[Group], levels: Sequence[Level], text: Strings
) -> dict[str, list[Any]]:
    """The cards with what they sum up: bytes kept (shared memory counts once), the norm of gradients, and time.

    The norm is that of the gradients of all parameters that are used in the card alone; without any, the largest of an
    operation.
    """
    kept: list[dict[object, int]] = [{} for _ in groups]  # memory and its bytes
    ms: list[float] = [0.0] * len(groups)
    parts: list[dict[int, int]] = [{} for _ in groups]  # leaves, and how many of their boxes are inside
    copies = Counter(box.node for box in picture.boxes if box.kind == "leaf")
    loudest: list[float] = [-1.0] * len(groups)
    norms = [_norm(gradient_of(graph, box)) for box in picture.boxes]
    for g in inner_first(groups):
        for u in groups[g].units:
            if u < 0:
                kept[g].update(kept[-u])
                ms[g] += ms[-u]
                for leaf, times in parts[-u].items():
                    parts[g][leaf] = parts[g].get(leaf, 0) + times
                loudest[g] = max(loudest[g], loudest[-u])
                continue
            box = picture.boxes[u]
            if box.node is None:
                continue
            node = graph.nodes[box.node]
            ms[g] += node.ms or 0.0
            norm = norms[u]
            if box.kind == "leaf" and norm is not None:
                parts[g][box.node] = parts[g].get(box.node, 0) + 1
            elif norm is not None:
                loudest[g] = max(loudest[g], norm) if not math.isnan(norm) else math.nan
            for slot, saved in enumerate(node.saved):
                if saved.tensor is not None:
                    storage = saved.tensor.storage
                    kept[g][(u, slot) if storage is None else storage] = saved.tensor.nbytes
    sums: list[float | None] = []
    first = {box.node: norms[i] for i, box in enumerate(picture.boxes)}
    for inside, top in zip(parts, loudest, strict=True):  # a leaf that others use too says nothing of this card
        own = [first[leaf] or 0.0 for leaf, times in inside.items() if times == copies[leaf]]
        sums.append(math.sqrt(sum(norm * norm for norm in own)) if own else None if top == -1.0 else top)
    through = sizes_through(graph, picture, groups, levels)
    return {
        "takes": [text(takes) for takes, _, _ in through],
        "gives": [text(gives) for _, gives, _ in through],
        "weights": [weights for _, _, weights in through],
        **_columns(groups, "parent kind name cls path call scope count"),
        "open": [int(group.open) for group in groups],
        "bytes": [sum(memory.values()) for memory in kept],
        "norm": [number(norm) for norm in sums],
        "ms": [number(value) for value in ms],
    }
