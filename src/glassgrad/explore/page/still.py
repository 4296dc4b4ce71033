"""One step of what is shown, floor 8: the sheet that the painters of SVG and pixels draw. It places nothing itself."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from ..paint import flat
from ..sheet import Line, Panel, Point, Sheet, Text, arriving, head_at, printable, text_width
from .plane import NUMBERS, SMALL, TITLE, Plane, Spot, Wire, bold, plane, route
from .scene import BASE, CUT, INPUT, LEAF, OUTPUT, Scene, palette

CAPTION = 13.0
HEAD = 8.0  # length of an arrow's head
BACKGROUND = {"light": "#ffffff", "dark": "#0e131d"}
MOST_LABELS = 200  # gradients on arrows


class Stage:
    """A scene with its places and colours; `at` gives the picture of a step.

    ``direction`` is "TB" or "LR", ``theme`` "light" or "dark"; with ``caption`` there is room for a sentence that says
    what happens at the step. ValueError for others.
    """

    def __init__(self, scene: Scene, direction: str = "TB", theme: str = "light", caption: bool = False) -> None:
        if direction not in ("TB", "LR"):
            raise ValueError(f"unknown direction {direction!r}: it must be TB or LR")
        self.colours = palette(theme)
        self.background = BACKGROUND[theme]
        self.scene = scene
        self._curves: dict[int, list[Point]] = {}
        self.plane: Plane = plane(scene, direction == "LR")
        self.wire_of = {wire.arrow: wire for wire in self.plane.wires if wire.arrow >= 0}
        self.spot_of = {spot.unit: spot for spot in self.plane.spots}
        self.width, self.height = self.plane.width, self.plane.height
        room = self._overhang()
        self.left = max(room, 0.0)
        self.width += 2 * self.left
        self.caption_lines: dict[int, list[str]] = {}
        if caption:
            self._make_room()

    def _overhang(self) -> float:
        """How far the widest label reaches over the edge."""
        far = 0.0
        for arrow in self._labelled():
            x, _ = self._label_at(arrow, text := self.scene.equation(arrow))
            half = bold(text, NUMBERS) / 2 + 12
            far = max(far, half - x, x + half - self.plane.width)
        for stub in self.plane.stubs:
            wide = text_width(stub.text, SMALL) + 14
            x = stub.end[0] if stub.leaves else stub.start[0]
            far = max(far, x + wide - self.plane.width if stub.leaves else wide - x)
        return far

    def _make_room(self) -> None:
        """Wrap the sentences of all steps, and make the picture high enough for the longest."""
        self.width = max(self.width, 440.0)
        self.left = (self.width - self.plane.width) / 2
        for step in range(self.scene.steps + 1):
            self.caption_lines[step] = wrapped(self.scene.story(step), self.width - 40, CAPTION)[:3]
        self.height += 26 + CAPTION * 1.4 * max(map(len, self.caption_lines.values()))

    def at(self, step: int, now: bool = False, told: int | None = None) -> Sheet:
        """The picture of a step; with ``now``, what happens at it stands out. ValueError where there is no such step.

        The caption is that of the step ``told``, where it is another one.
        """
        scene = self.scene
        if not 0 <= step <= scene.steps:
            raise ValueError(f"there is no step {step}: they go from 0 to {scene.steps}")
        current = scene.timeline[step - 1] if now and step else None
        grounds: list[Panel] = []
        rings: list[Panel] = []
        titles: list[Panel] = []
        panels: list[Panel] = []
        for spot in self.plane.spots:
            if spot.open:
                grounds.append(self._card(spot))
                titles += self._title(spot)
            else:
                panels += self._closed(spot, step) if spot.unit < 0 else [self._box(spot, step)]
                rings += self._ring(spot, current)
        lines = [self._wire(wire, step) for wire in self.plane.wires]
        panels = [*titles, *panels]
        along = (1.0, 0.0) if self.plane.sideways else (0.0, 1.0)
        for stub in self.plane.stubs:
            head = None if stub.leaves else head_at(stub.end, along, 5.5)
            lines.append(Line((stub.start, stub.end), self._line_colour(stub.net), None, head, 1.4))
            x, y = (stub.end[0] + 6, stub.end[1] + 4) if stub.leaves else (stub.start[0] - 6, stub.start[1] + 4)
            panels.append(self._note(x, y, stub.text, not stub.leaves))
        panels += [self._many(wire) for wire in self.plane.wires if wire.many]
        for arrow in self._labelled():
            dst = scene.arrows["dst"][arrow]
            if scene.has_passed(dst, step):
                panels.append(self.label(arrow, current == ("back", dst)))
        if self.caption_lines:
            panels += self._caption(step if told is None else told)
        drawn = Sheet(self.width, self.height, tuple(panels), tuple(lines), self.plane.sideways, (*grounds, *rings))
        return moved(drawn, self.left) if self.left else drawn

    def ways(self, step: int) -> list[tuple[Point, ...]]:
        """The ways on which gradients go back at a step, each from the operation to what gets it."""
        what, box = self.scene.timeline[step - 1]
        if what == "build":
            return []
        ways = []
        for arrow in self.scene.into[box]:
            if self.scene.arrows["kind"][arrow] == 0 and (wires := route(self.scene, self.plane, arrow)):
                points = [(x + self.left, y) for wire in wires for x, y in wire.points]
                ways.append(tuple(reversed(points)))
        return ways

    def _labelled(self) -> list[int]:
        """The arrows that show their gradient: in a small graph all."""
        if not self.scene.small:
            return []
        return [arrow for arrow in sorted(self.wire_of) if self.scene.flow(arrow)][:MOST_LABELS]

    def _card(self, spot: Spot) -> Panel:
        fill, border = self.colours[f"card{spot.depth % 3}"], self.colours["card-line"]
        return Panel(spot.x, spot.y, spot.width, spot.height, fill, border, (), radius=9)

    def _title(self, spot: Spot) -> list[Panel]:
        """The title of an open card and what is beside it, where no line comes in if there is room there.

        Where there is none they lie over the lines, on plates.
        """
        title, beside = self.scene.card_title(-spot.unit), self.scene.card_beside(-spot.unit)
        panels, x, y = [], spot.x + 11, spot.y + 17
        for text, size, heavy, colour in ((title, TITLE, True, "ink"), (beside, SMALL, False, "quiet")):
            wide = bold(text) if heavy else text_width(text, size)
            x = free(x, wide, spot.x + spot.width - 8, spot.crossed)
            written = (Text(x, y, printable(text), size, "start", heavy, self.colours[colour]),)
            fill = self.colours[f"card{spot.depth % 3}"]
            panels += [Panel(x - 3, y - 12, wide + 6, 16, fill, "none", written, radius=3, stroke=0)] * bool(text)
            x += wide + 12
        return panels

    def _closed(self, spot: Spot, step: int) -> list[Panel]:
        """A card that is closed; a fold is a stack of them."""
        scene, card = self.scene, -spot.unit
        built, call = scene.is_built(spot.unit, step), scene.cards["kind"][card] == "function"
        colour = "call" if call else "closed"
        fill, border = self.colours[colour], self.colours[f"{colour}-line"]
        title, cls = f"\u25b8 {scene.card_title(card)}", scene.card_class(card)
        wide = bold(title) + (text_width(f"  {cls}", SMALL) if cls else 0)
        x, ink = spot.x + (spot.width - wide) / 2, self.colours["ink" if built else "quiet"]
        texts = [Text(x, spot.y + 19, printable(title), TITLE, "start", True, ink)]
        if cls:
            right = spot.x + (spot.width + wide) / 2
            texts.append(Text(right, spot.y + 19, printable(cls), SMALL, "end", False, self.colours["quiet"]))
        middle = spot.x + spot.width / 2
        texts.append(Text(middle, spot.y + 35, scene.card_note(card), SMALL, "middle", False, self.colours["quiet"]))
        radius = 3.0 if call else 8.0
        face = self._face(spot, fill, border, built, radius, texts, scene.cards["path"][card])
        if scene.cards["kind"][card] != "fold" or not built:
            return [face]
        below = [Panel(spot.x + by, spot.y + by, spot.width, spot.height, fill, border, (), radius=8) for by in (6, 3)]
        return [*below, face]

    def _box(self, spot: Spot, step: int) -> Panel:
        scene, box, colours = self.scene, spot.unit, self.colours
        kind, built = scene.kind[box], scene.is_built(box, step)
        name = {LEAF: "leaf", OUTPUT: "out", BASE: "out", CUT: "cut", INPUT: "input"}.get(kind, "op")
        radius = min(spot.height / 2, 17.0) if kind in (LEAF, INPUT) else 12.0 if kind in (OUTPUT, BASE) else 5.0
        middle, second = spot.x + spot.width / 2, scene.value(box)
        ink = colours["ink" if built else "quiet"]
        texts = [Text(middle, spot.y + (17 if second else 16), printable(scene.title(box)), TITLE, "middle", True, ink)]
        if second and (built or not scene.small):
            texts.append(Text(middle, spot.y + 32, printable(second), SMALL, "middle", False, colours["quiet"]))
        y = spot.y + (48 if second else 32)
        if third := scene.gradient(box, step):
            texts.append(Text(middle, y, printable(f"grad {third}"), NUMBERS, "middle", True, colours["flow"]))
        elif built and (sink := scene.sink(box)):
            texts.append(Text(middle, y - 1, sink, SMALL, "middle", False, colours["quiet"]))
        operation = scene.text(scene.boxes["op"][box])
        tip = " ".join(filter(None, (operation or scene.name(box), scene.text(scene.boxes["shape"][box]))))
        return self._face(spot, colours[name], colours[f"{name}-line"], built, radius, texts, tip, kind == CUT)

    def _face(
        self, spot: Spot, fill: str, border: str, built: bool, radius: float, texts: list[Text], tip: str,
        dashed: bool = False,
    ) -> Panel:  # fmt: skip
        if not built:
            fill, border, dashed = self.background, self.colours["ghost"], True
        return Panel(
            spot.x, spot.y, spot.width, spot.height, fill, border, tuple(texts), dashed, None, tip, radius, 1.2
        )  # fmt: skip

    def _ring(self, spot: Spot, current: tuple[str, int] | None) -> list[Panel]:
        """What shows where the timeline is."""
        if current is None or self.scene.shown_as(current[1]) != spot.unit:
            return []
        colour = self.colours["flow" if current[0] == "back" else "accent"]
        x, y, width, height = spot.x - 4, spot.y - 4, spot.width + 8, spot.height + 8
        radius = 21.0 if spot.unit >= 0 and self.scene.kind[spot.unit] in (LEAF, INPUT) else 10.0
        return [Panel(x, y, width, height, self.background, colour, (), radius=radius, stroke=3)]

    def _wire(self, wire: Wire, step: int) -> Line:
        scene, src = self.scene, wire.net // 3
        if wire.arrow >= 0:
            there = scene.is_built(scene.arrows["dst"][wire.arrow], step)
        else:
            there = scene.is_built(wire.target if wire.target < 0 else src, step)
        built = there and scene.is_built(src, step)
        colour = self._line_colour(wire.net) if built else self.colours["ghost"]
        dash = {1: (2.0, 3.0), 2: (5.0, 4.0)}.get(wire.net % 3) or (None if built else (3.0, 4.0))
        points, head = tuple(wire.points), None
        if wire.head:
            points, head = arriving(points, (1.0, 0.0) if self.plane.sideways else (0.0, 1.0), HEAD)
        return Line(points, colour, dash, head, 3.0 if wire.many else 1.4)

    def _line_colour(self, net: int) -> str:
        return self.colours["cut-line" if net % 3 == 2 else "wire"]

    def _note(self, x: float, y: float, text: str, ends: bool = False) -> Panel:
        """A short text without a box, which begins at a point, or ends there."""
        label = Text(x, y, printable(text), SMALL, "end" if ends else "start", False, self.colours["quiet"])
        return Panel(x, y, 0, 0, "none", "none", (label,), stroke=0)

    def _many(self, wire: Wire) -> Panel:
        """How many lines a bundle stands for."""
        (x, y), (u, v) = wire.points[0], wire.points[-1]
        return self._note((x + u) / 2 + 8, (y + v) / 2 + 4, f"\u00d7{wire.many}")

    def label(self, arrow: int, whole: bool) -> Panel:
        """The gradient on an arrow; ``whole`` with the product that it is."""
        text = printable(self.scene.equation(arrow) if whole else self.scene.flow(arrow))
        x, y = self._label_at(arrow, text)
        wide = bold(text, NUMBERS) + 8
        texts = (Text(x, y + 4, text, NUMBERS, "middle", True, self.colours["flow"]),)
        return Panel(x - wide / 2, y - 8, wide, 16, self._under(x, y), "none", texts, radius=5, stroke=0)

    def _label_at(self, arrow: int, text: str) -> Point:
        """The middle of an arrow's label: near the arrow's end, where it covers least."""
        scene, wire, sideways = self.scene, self.wire_of[arrow], self.plane.sideways
        xs, ys = [x for x, _ in wire.points], [y for _, y in wire.points]
        run = max(xs) - min(xs) if sideways else max(ys) - min(ys)
        back = 40.0 if sideways else run * 0.55 if run < 48 else 19.0 if len(scene.kind) > 9 else 24.0
        x, y = before_end(wire.points, back, sideways)
        wide = bold(text, NUMBERS) + 8
        if wide < 32 and not sideways:
            return x, y
        beside = (-14.0, 14.0, 0.0) if sideways else (0.0, -wide / 2 - 5, wide / 2 + 5)
        best, least = (x, y), float("inf")
        for far in (back, run / 2, run * 0.7):
            u, v = before_end(wire.points, far, sideways)
            for n, shift in enumerate(beside):
                spot = (u, v + shift) if sideways else (u + shift, v)
                if (cost := self._crowding(arrow, *spot, wide) + n + (far != back)) < least:
                    best, least = spot, cost
        return best

    def _crowding(self, arrow: int, x: float, y: float, wide: float) -> float:
        """How much a label would cover: boxes, other arrows, and the label of an arrow beside."""
        left, right, high, low = x - wide / 2 - 3, x + wide / 2 + 3, y - 10, y + 10
        cost = 0.0
        for spot in self.plane.spots:
            inside = left < spot.x + spot.width and right > spot.x and high < spot.y + spot.height and low > spot.y
            cost += 50 * (inside and not spot.open)
        for wire in self.plane.wires:
            if wire is not self.wire_of[arrow] and any(
                left < u < right and high < v < low for u, v in self.curve(wire)
            ):
                cost += 10
        for other in self.scene.into[self.scene.arrows["dst"][arrow]]:
            if other != arrow and other in self.wire_of:
                u, v = before_end(self.wire_of[other].points, 24, self.plane.sideways)
                cost += 4 * (left < u + 12 and right > u - 12 and abs(v - y) < 18)
        return cost

    def curve(self, wire: Wire) -> list[Point]:
        """A wire as many short straight pieces."""
        key = id(wire)
        if key not in self._curves:
            self._curves[key] = dense(flat(wire.points, self.plane.sideways))
        return self._curves[key]

    def _under(self, x: float, y: float) -> str:
        """The colour of the ground at a point."""
        cards = [s for s in self.plane.spots if s.open and s.x <= x <= s.x + s.width and s.y <= y <= s.y + s.height]
        return self.colours[f"card{cards[-1].depth % 3}"] if cards else self.background

    def _caption(self, step: int) -> list[Panel]:
        lines, x = self.caption_lines[step], self.width / 2 - self.left
        y = self.plane.height + 22
        texts = [
            Text(x, y + i * CAPTION * 1.4, printable(line), CAPTION, "middle", False, self.colours["ink"])
            for i, line in enumerate(lines)
        ]
        length = self.width - 2 * 24
        share = length * step / max(1, self.scene.steps)
        left, low = 24 - self.left, self.height - 10
        colour = self.colours["flow" if step > self.scene.builds else "accent"]
        track = Panel(left, low, length, 3, self.colours["line"], "none", (), radius=1.5, stroke=0)
        done = Panel(left, low, max(share, 3), 3, colour, "none", (), radius=1.5, stroke=0)
        return [Panel(x, y, 0, 0, "none", "none", tuple(texts), stroke=0), track, done]


def free(start: float, wide: float, end: float, lines: Sequence[float]) -> float:
    """The first place from ``start`` on where a text crosses none of the upright lines; ``start`` if there is none."""
    for x in (start, *(line + 8 for line in sorted(lines) if line + 8 > start)):
        if x + wide <= end and not any(x - 4 < line < x + wide + 4 for line in lines):
            return x
    return start


def moved(drawn: Sheet, by: float) -> Sheet:
    """A sheet whose things stand further to the right."""

    def panel(p: Panel) -> Panel:
        return replace(p, x=p.x + by, texts=tuple(replace(text, x=text.x + by) for text in p.texts))

    def line(drawn: Line) -> Line:
        points = tuple((x + by, y) for x, y in drawn.points)
        head = None if drawn.head is None else tuple((x + by, y) for x, y in drawn.head)
        return replace(drawn, points=points, head=head)  # type: ignore[arg-type]

    panels, grounds = tuple(map(panel, drawn.panels)), tuple(map(panel, drawn.grounds))
    return replace(drawn, panels=panels, lines=tuple(map(line, drawn.lines)), grounds=grounds)


def before_end(points: list[Point], distance: float, sideways: bool) -> Point:
    """The point of a way that lies so far from its end in the direction of the rows."""
    along = 0 if sideways else 1
    curve = flat(points, sideways)[::-1]
    end = curve[0][along]
    for a, b in zip(curve, curve[1:], strict=False):
        if abs(b[along] - end) >= distance:
            share = (distance - abs(a[along] - end)) / (abs(b[along] - a[along]) or 1.0)
            return a[0] + (b[0] - a[0]) * share, a[1] + (b[1] - a[1]) * share
    return curve[len(curve) // 2]


def dense(points: list[Point]) -> list[Point]:
    """The points, and as many between them as leave no gap wider than a few units."""
    more = [points[0]]
    for (x, y), (u, v) in zip(points, points[1:], strict=False):
        pieces = max(1, int(max(abs(u - x), abs(v - y)) / 4))
        more += [(x + (u - x) * i / pieces, y + (v - y) * i / pieces) for i in range(1, pieces + 1)]
    return more


def wrapped(text: str, room: float, size: float) -> list[str]:
    """The text in lines that are at most so wide."""
    lines: list[str] = []
    for word in re.sub(r" ([=+\u00d7\u2212]) ", "\xa0\\1\xa0", text).split(" "):  # an equation is one word
        if lines and text_width(f"{lines[-1]} {word}", size) <= room:
            lines[-1] += f" {word}"
        else:
            lines.append(word)
    return [line.replace("\xa0", " ") for line in lines] or [""]
