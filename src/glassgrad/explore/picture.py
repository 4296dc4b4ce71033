"""What is drawn of a graph, floor 8: boxes of text and the arrows between them, before anything has a place.

The meaning and the colours are torchviz's: light blue leaves, grey operations, green outputs, orange saved tensors.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, cast

from .letters import printable
from .model import Graph, Node, Saved, TensorInfo

BoxKind = Literal["op", "leaf", "output", "base", "saved"]
ArrowStyle = Literal["flow", "saved", "view"]

FILL: dict[BoxKind, tuple[str, str]] = {  # the name in DOT, the same in RGB
    "op": ("lightgrey", "#d3d3d3"),
    "leaf": ("lightblue", "#add8e6"),
    "output": ("darkolivegreen1", "#caff70"),
    "base": ("darkolivegreen3", "#a2cd5a"),
    "saved": ("orange", "#ffa500"),
}


@dataclass(frozen=True, slots=True)
class Box:
    """One box: lines of text, below them rows of (name, value), and a sentence for the pointer.

    ``short`` is the text of a repetition of the box beside a far consumer.
    """

    kind: BoxKind
    lines: tuple[str, ...]
    rows: tuple[tuple[str, str], ...] = ()
    tip: str = ""
    short: str = ""


@dataclass(frozen=True, slots=True)
class Arrow:
    """A line from one box to another, by index: ``flow`` and ``view`` (dotted) carry a head, ``saved`` does not."""

    src: int
    dst: int
    style: ArrowStyle = "flow"


@dataclass(frozen=True, slots=True)
class Picture:
    """Boxes and arrows; the arrows form no circle."""

    boxes: tuple[Box, ...]
    arrows: tuple[Arrow, ...]


def picture(graph: Graph, max_attr_chars: int = 50) -> Picture:
    """The picture of ``graph``: a box per node and per saved tensor; settings longer than the limit are cut."""
    fills = {edge.dst: graph.nodes[edge.src] for edge in graph.edges if graph.nodes[edge.src].kind == "leaf"}
    boxes = [_box(node, max_attr_chars, fills.get(node.index)) for node in graph.nodes]
    arrows = [Arrow(edge.src, edge.dst, "view" if edge.kind == "view" else "flow") for edge in graph.edges]
    for node in graph.nodes:
        for kept in node.saved:
            if kept.leaf is not None and graph.nodes[kept.leaf].kind == "leaf":
                arrows.append(Arrow(kept.leaf, node.index, "saved"))  # leaves come first: no circle
            else:
                arrows.append(Arrow(node.index, len(boxes), "saved"))
                boxes.append(_saved_box(kept, node))
    return Picture(tuple(boxes), tuple(arrows))


def _box(node: Node, limit: int, leaf: Node | None) -> Box:
    if node.kind == "op":
        rows = tuple((printable(name), printable(_cut(text, limit))) for name, text in node.attrs)
        op = printable(node.op)
        if leaf is None or leaf.tensor is None:
            return Box("op", (op,), rows, "", op)
        owner = printable(leaf.name) if leaf.name else leaf.tensor.size_text
        return Box("op", (op,), rows, f"adds what arrives into the .grad of the leaf {owner}", f"{op} of {owner}")
    if node.kind in ("cut", "opaque") or node.tensor is None:
        words = printable(node.name or node.op or node.kind)
        return Box("saved", (words,), (), f"left the graph: {node.sentence or node.kind}")
    size = node.tensor.size_text
    lines = (printable(node.name), size) if node.name else (size,)
    return Box(cast(BoxKind, node.kind), lines, (), f"{_TIPS[node.kind]}{_details(node.tensor)}", lines[0])


def _saved_box(kept: Saved, node: Node) -> Box:
    slot = printable(kept.slot) + (f" = {printable(kept.name)}" if kept.name else "")
    if kept.tensor is None:
        return Box("saved", (slot, f"[{kept.state}]"), (), f"{_STATES[kept.state]} ({printable(node.op)})")
    tip = f"kept for backward by {printable(node.op)}{_details(kept.tensor)}"
    return Box("saved", (slot, kept.tensor.size_text), (), tip)


_TIPS = {"leaf": "leaf tensor", "output": "output", "base": "base of the output, which is a view of it"}
_STATES = {
    "freed": "was kept for backward and is freed",
    "modified": "kept for backward, but changed in place since",
    "hooked": "kept for backward, packed by a saved-tensor hook",
}


def _details(tensor: TensorInfo) -> str:
    return f": {tensor.dtype}, {tensor.size_text}" + (f", {tensor.nbytes:,} bytes" if tensor.nbytes else "")


def _cut(text: str, limit: int) -> str:
    return text if len(text) <= limit else text[: max(limit - 3, 0)] + "..."
