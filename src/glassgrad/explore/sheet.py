"""What is drawn of a graph, floor 8: boxes of text and arrows between them, and the place of every text and line.

The meaning and the colours are torchviz's: light blue leaves, grey operations, green outputs, orange saved tensors.
Here type sizes, paddings and colours are decided; the painters (SVG, pixels) only draw what a sheet lists.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, cast
from unicodedata import east_asian_width

from .layers import Layers, arrange_in_layers, reduce_crossings, spread
from .model import Graph, Node, Saved, TensorInfo

# Shares of the font size, a little above those of Helvetica, Arial and Aileron so that each of them fits.
_WIDTHS = {
    0.28: "ijlI|'!,.:; `",
    0.35: 'frt()[]{}-/\\"*',
    0.53: "ckszvxyJ?^",
    0.61: "abdeghnopqu0123456789_+<>=#$~",
    0.68: "ABEFKLPSTVXYZ",
    0.75: "CDGHNOQRU&",
    0.90: "mwM%",
    0.97: "W@",
}
_SPACES = str.maketrans("\t\n\r", "   ")
_UNPRINTABLE = re.compile("[\x00-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff]")
_WIDTH = {letter: share for share, letters in _WIDTHS.items() for letter in letters}


def text_width(text: str, size: float) -> float:
    """The width of ``text`` at font ``size``, in the unit of ``size``."""
    return size * sum(_WIDTH.get(c) or (1.0 if east_asian_width(c) in "WF" else 0.65) for c in text)


def printable(text: str) -> str:
    """``text`` with everything that XML, DOT or a line of text cannot hold replaced by a space or U+FFFD."""
    return _UNPRINTABLE.sub("\ufffd", text.translate(_SPACES))


# -- boxes and arrows, before anything has a place ---------------------------------------------------------------------


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


# -- the layout: places for boxes of given sizes, and ways for the arrows between them ---------------------------------
# Rows, their order and places along them come from ``layers.py``; the rest is here.

Point = tuple[float, float]
Direction = Literal["TB", "BT", "LR", "RL"]


@dataclass(frozen=True, slots=True)
class Place:
    """Where a box stands: its left upper corner and its size; ``repeats`` tells the box it is a small repetition of."""

    box: int
    x: float
    y: float
    width: float
    height: float
    repeats: bool = False


@dataclass(frozen=True, slots=True)
class Wire:
    """The way of an arrow (by index): points joined by straight lines where only one coordinate changes, else by
    curves that leave and arrive along the layers' direction."""

    arrow: int
    points: tuple[Point, ...]


@dataclass(frozen=True, slots=True)
class Layout:
    """Places and wires inside ``width`` x ``height``."""

    places: tuple[Place, ...]
    wires: tuple[Wire, ...]
    width: float
    height: float
    direction: Direction = "TB"


BOXES, BENDS, MARGIN, PORT = 22.0, 14.0, 16.0, 14.0  # distances: between boxes, between bends, around all, of ports
LAYER, STEEPEST, SLANT = 33.0, 120.0, 0.09  # between layers: from, to, and how much more for slanted lines


def lay_out(
    sizes: Sequence[Point], arrows: Sequence[tuple[int, int]], styles: Sequence[str] | None = None, *,
    stand_in_sizes: Sequence[Point] | None = None, direction: Direction = "TB", budget: int | None = None,
) -> Layout:  # fmt: skip
    """The layout of boxes of ``sizes`` (width, height) and ``arrows`` (from, to) between them.

    ``styles`` keeps lines of different kinds from sharing a trunk. ``stand_in_sizes`` are the sizes of the boxes when
    they are repeated beside a far consumer; ``budget`` bounds the bends. ValueError if the arrows form a circle.
    """
    styles = styles if styles is not None else [""] * len(arrows)
    layers = arrange_in_layers(len(sizes), arrows, styles, budget)
    links = layers.links()
    layers.rows = reduce_crossings(layers.rows, links)
    sideways = direction in ("LR", "RL")
    turned = [(h, w) if sideways else (w, h) for w, h in sizes]
    repeated = stand_in_sizes if stand_in_sizes is not None else sizes
    turned += [repeated[i][::-1] if sideways else repeated[i] for i in layers.stand_ins]
    bends = sum(map(len, layers.rows)) - len(turned)
    turned += [(0.0, 0.0)] * bends
    real = len(turned) - bends
    across = spread(layers.rows, links, [width for width, _ in turned], real, BOXES, BENDS)
    return _finish(layers, links, turned, real, across, direction)


def _finish(
    layers: Layers, links: Sequence[tuple[int, int]], sizes: list[Point], real: int, across: list[float],
    direction: Direction,
) -> Layout:  # fmt: skip
    """Rows get their places along the layers' direction, boxes their corners, arrows their points."""
    row_of = [0] * len(sizes)
    for r, row in enumerate(layers.rows):
        for item in row:
            row_of[item] = r
    reach = [0.0] * len(layers.rows)  # the widest step from a row to the next
    for upper, lower in links:
        reach[row_of[upper]] = max(reach[row_of[upper]], abs(across[upper] - across[lower]))
    tops, bottoms, at = [], [], MARGIN
    for r, row in enumerate(layers.rows):
        tops.append(at)
        at += max(sizes[item][1] for item in row)
        bottoms.append(at)
        at += min(LAYER + SLANT * reach[r], STEEPEST)
    length = (bottoms[-1] if bottoms else MARGIN) + MARGIN
    left = min((across[i] - sizes[i][0] / 2 for i in range(len(sizes))), default=0.0) - MARGIN
    right = max((across[i] + sizes[i][0] / 2 for i in range(len(sizes))), default=0.0) + MARGIN
    breadth = right - left

    def turn(x: float, y: float) -> Point:
        if direction in ("BT", "RL"):
            y = length - y
        return (y, x) if direction in ("LR", "RL") else (x, y)

    places, middle = [], []
    for i, (width, height) in enumerate(sizes):
        across[i] -= left
        middle.append((tops[row_of[i]] + bottoms[row_of[i]]) / 2)
        if i < real:
            a = turn(across[i] - width / 2, middle[i] - height / 2)
            b = turn(across[i] + width / 2, middle[i] + height / 2)
            box = layers.stand_ins[i - layers.boxes] if i >= layers.boxes else i
            corner = (min(a[0], b[0]), min(a[1], b[1]))
            places.append(Place(box, *corner, abs(a[0] - b[0]), abs(a[1] - b[1]), i >= layers.boxes))

    leave, arrive = _ports(layers.paths, across, sizes, real, PORT)
    wires = []
    for arrow, path in enumerate(layers.paths):
        points: list[Point] = []
        for step, item in enumerate(path):
            top, bottom = tops[row_of[item]], bottoms[row_of[item]]
            if step:
                x = across[item] + (arrive[arrow] if item < real else 0.0)
                points += [(x, top), (x, middle[item] - sizes[item][1] / 2) if item < real else (x, bottom)]
            elif item < real:
                x = across[item] + leave[arrow]
                points += [(x, middle[item] + sizes[item][1] / 2), (x, bottom)]
            else:
                points.append((across[item], bottom))
        wires.append(Wire(arrow, tuple(turn(x, y) for x, y in _straightened(points))))
    extent = (length, breadth) if direction in ("LR", "RL") else (breadth, length)
    return Layout(tuple(places), tuple(wires), *extent, direction)


def _ports(
    paths: Sequence[Sequence[int]], across: list[float], sizes: list[Point], real: int, distance: float
) -> tuple[list[float], list[float]]:
    """How far from its box's centre each arrow leaves and arrives: side by side, in the order they come."""
    leave, arrive = [0.0] * len(paths), [0.0] * len(paths)
    for ports, this, that in ((leave, 0, 1), (arrive, -1, -2)):
        by_box: dict[int, list[tuple[float, int]]] = {}
        for arrow, path in enumerate(paths):
            if path[this] < real:
                by_box.setdefault(path[this], []).append((across[path[that]], arrow))
        for box, ends in by_box.items():
            if len(ends) > 1:
                ends.sort()
                step = min(distance, max(sizes[box][0] - 16, 0) / (len(ends) - 1))
                for i, (_, arrow) in enumerate(ends):
                    ports[arrow] = (i - (len(ends) - 1) / 2) * step
    leaving = Counter(path[0] for path in paths)
    arriving = Counter(path[-1] for path in paths)
    for arrow, path in enumerate(paths):  # a lone end moves a little where that makes a straight line
        first, last = path[0], path[-1]
        if len(path) > 2 or first >= real:
            continue
        apart = across[last] + arrive[arrow] - across[first] - leave[arrow]
        from_first, to_last = leaving[first] == 1, arriving[last] == 1
        share = 0.5 if from_first and to_last else 1.0 if from_first else 0.0 if to_last else None
        if share is None or abs(apart) > distance:
            continue
        start, end = leave[arrow] + apart * share, arrive[arrow] - apart * (1 - share)
        if abs(start) <= sizes[first][0] / 2 - 4 and abs(end) <= sizes[last][0] / 2 - 4:
            leave[arrow], arrive[arrow] = start, end
    return leave, arrive


def _straightened(points: Sequence[Point]) -> list[Point]:
    """``points`` without repetitions and without those in the middle of a straight line along the layers' direction."""
    kept: list[Point] = []
    for point in points:
        if kept and abs(kept[-1][0] - point[0]) < 0.75:
            point = (kept[-1][0], point[1])
            if len(kept) > 1 and kept[-2][0] == point[0]:
                kept.pop()
            elif kept[-1] == point:
                continue
        kept.append(point)
    return kept


# -- the sheet: a picture laid out -------------------------------------------------------------------------------------


TITLE, SMALL = 12.5, 11.0  # type sizes
PAD_X, PAD_Y = 11.0, 6.0
LEADING = 1.3
HEAD = 7.0  # length of an arrow's head
INK, QUIET = "#1b1b1b", "#3d3d3d"
BORDER: dict[BoxKind, str] = {
    "op": "#8c8c8c",
    "leaf": "#5a9cb5",
    "output": "#7ba32b",
    "base": "#64862c",
    "saved": "#bd7400",
}
STROKE: dict[ArrowStyle, str] = {"flow": "#5b5b5b", "saved": "#c27400", "view": "#55752a"}


@dataclass(frozen=True, slots=True)
class Text:
    """One line of text by its baseline."""

    x: float
    y: float
    text: str
    size: float
    anchor: Literal["start", "middle", "end"] = "middle"
    bold: bool = False
    colour: str = INK


@dataclass(frozen=True, slots=True)
class Panel:
    """One box with its texts; a ``dashed`` one repeats a box far away, ``rule`` is where a line under the title is.

    ``radius`` rounds its corners, ``stroke`` is the width of its border: 0 for none. A panel
    without width is its texts alone.
    """

    x: float
    y: float
    width: float
    height: float
    fill: str
    border: str
    texts: tuple[Text, ...]
    dashed: bool = False
    rule: float | None = None
    tip: str = ""
    radius: float = 4.0
    stroke: float = 1.0


@dataclass(frozen=True, slots=True)
class Line:
    """One line: see :class:`Wire` for its points; ``head`` is the triangle at its end, ``dash`` what is drawn of it
    and what is left out, by turns."""

    points: tuple[Point, ...]
    colour: str
    dash: tuple[float, float] | None = None
    head: tuple[Point, Point, Point] | None = None
    width: float = 1.2


@dataclass(frozen=True, slots=True)
class Sheet:
    """Lines below, panels above, on ``width`` x ``height``; curves leave and arrive upright unless ``sideways``.

    ``grounds`` are panels below all else.
    """

    width: float
    height: float
    panels: tuple[Panel, ...]
    lines: tuple[Line, ...]
    sideways: bool = False
    grounds: tuple[Panel, ...] = ()


def sheet(drawn: Picture, direction: Direction = "TB") -> Sheet:
    """``drawn`` laid out from top to bottom, or in another direction."""
    sizes = [size_of(box) for box in drawn.boxes]
    small = [(text_width(box.short, SMALL) + 12, SMALL * LEADING + 6) for box in drawn.boxes]
    arrows = [(arrow.src, arrow.dst) for arrow in drawn.arrows]
    styles = [arrow.style for arrow in drawn.arrows]
    layout = lay_out(sizes, arrows, styles, stand_in_sizes=small, direction=direction)
    panels = tuple(_panel(drawn.boxes[place.box], place) for place in layout.places)
    return Sheet(layout.width, layout.height, panels, _lines(drawn, layout), direction in ("LR", "RL"))


def size_of(box: Box) -> Point:
    """The width and height that ``box``'s texts need."""
    widest = max(text_width(line, _type(i)) * (1.06 if _bold(box, i) else 1) for i, line in enumerate(box.lines))
    height = sum(_type(i) * LEADING for i in range(len(box.lines)))
    if box.rows:
        names = max(text_width(name, SMALL) for name, _ in box.rows)
        values = max(text_width(value, SMALL) for _, value in box.rows)
        widest = max(widest, names + 14 + values)
        height += 7 + len(box.rows) * SMALL * LEADING
    return max(widest + 2 * PAD_X, 34.0), height + 2 * PAD_Y


def _type(line: int) -> float:
    return SMALL if line else TITLE


def _bold(box: Box, line: int) -> bool:
    return not line and len(box.lines) > 1 and box.kind != "saved"


def _panel(box: Box, place: Place) -> Panel:
    fill, border = FILL[box.kind][1], BORDER[box.kind]
    middle = place.x + place.width / 2
    if place.repeats:
        texts: list[Text] = [Text(middle, place.y + 3 + SMALL * 1.0, box.short, SMALL)]
        tip = "the same as the box of this name further back"
        return Panel(place.x, place.y, place.width, place.height, fill, border, tuple(texts), True, None, tip)
    texts, y, rule = [], place.y + PAD_Y, None
    for i, line in enumerate(box.lines):
        size = _type(i)
        texts.append(Text(middle, y + size, line, size, "middle", _bold(box, i), QUIET if i else INK))
        y += size * LEADING
    if box.rows:
        rule = y + 3
        y += 7
        for name, value in box.rows:
            texts.append(Text(place.x + PAD_X, y + SMALL, name, SMALL, "start", False, QUIET))
            texts.append(Text(place.x + place.width - PAD_X, y + SMALL, value, SMALL, "end"))
            y += SMALL * LEADING
    return Panel(place.x, place.y, place.width, place.height, fill, border, tuple(texts), False, rule, box.tip)


def _lines(drawn: Picture, layout: Layout) -> tuple[Line, ...]:
    dx, dy = {"TB": (0, 1), "BT": (0, -1), "LR": (1, 0), "RL": (-1, 0)}[layout.direction]
    lines = []
    for wire in layout.wires:
        style = drawn.arrows[wire.arrow].style
        points, head = wire.points, None
        if style != "saved":
            points, head = arriving(points, (dx, dy))
        lines.append(Line(points, STROKE[style], (2, 3) if style == "view" else None, head))
    return tuple(lines)


def arriving(
    points: Sequence[Point], along: Point, size: float = HEAD
) -> tuple[tuple[Point, ...], tuple[Point, Point, Point]]:
    """A way that ends in an arrow's head, and the head: the last bit is straight, whatever curve leads there."""
    (x, y), (dx, dy) = points[-1], along
    while len(points) > 2 and abs(points[-2][0] - x) * abs(dy) + abs(points[-2][1] - y) * abs(dx) < 0.01:
        if abs(points[-2][0] - x) + abs(points[-2][1] - y) > size + 3:
            break
        points = (*points[:-2], points[-1])
    stem = ((x - dx * back, y - dy * back) for back in (size + 3, size - 1))
    return (*points[:-1], *stem), head_at((x, y), along, size)


def head_at(tip: Point, along: Point, size: float = HEAD) -> tuple[Point, Point, Point]:
    """The triangle of an arrow that arrives at ``tip`` in a direction: right, left, down or up."""
    (x, y), (dx, dy), wing = tip, along, size * 0.45
    back = (x - dx * size, y - dy * size)
    return tip, (back[0] - dy * wing, back[1] + dx * wing), (back[0] + dy * wing, back[1] - dx * wing)
