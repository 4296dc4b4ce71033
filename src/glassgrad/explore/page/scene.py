"""What is shown of a graph, floor 8: its timeline, and the text on each box, arrow and card at each of its steps.

It reads the page's data as the viewer reads it, and says what the viewer says: a test in a browser holds them together.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from typing import Any

from ..answer import plural
from ..model import Graph
from ..walk import family
from .contents import contents

OP, LEAF, OUTPUT, BASE, CUT, OPAQUE, INPUT = range(7)
ROOT = 0
NEVER = 1 << 30


class Scene:
    """A graph's boxes (by number), arrows and cards, and what stands on them at a step.

    ``timeline`` lists ("build" or "back", box); at step 0 nothing is built, at step n the first n are done. ``builds``
    of the steps build, ``resting`` is the step at which the page opens. A unit is a box, or a card as its number
    negated; ``opened`` are the cards that are open, the root among them.
    """

    def __init__(self, graph: Graph, title: str = "") -> None:
        self.data = data = contents(graph, title)
        self.boxes, self.arrows, self.cards = data["boxes"], data["arrows"], data["groups"]
        self.small: bool = data["small"]
        self.kind: list[int] = self.boxes["kind"]
        self.opened = {g for g, is_open in enumerate(self.cards["open"]) if is_open} | {ROOT}
        count = len(self.kind)
        self.home = [ROOT] * count
        for g, level in enumerate(data["levels"]):
            for unit in level["units"]:
                if unit >= 0:
                    self.home[unit] = g
        self.into: list[list[int]] = [[] for _ in range(count)]
        self.out: list[list[int]] = [[] for _ in range(count)]
        for arrow, (src, dst) in enumerate(zip(self.arrows["src"], self.arrows["dst"], strict=True)):
            self.out[src].append(arrow)
            self.into[dst].append(arrow)
        self.copies: dict[int, list[int]] = {}  # the boxes of each leaf
        for i, first in enumerate(self.boxes["first"]):
            self.copies.setdefault(i if first < 0 else first, []).append(i)
        self._set_times()

    def _set_times(self) -> None:
        count = len(self.kind)
        self.timeline: list[tuple[str, int]] = []
        self.built_at, self.back_at = [-1] * count, [-1] * count
        waiting: list[int] = []  # in a large graph leaves and outputs come with an operation
        for i in self.data["build"]:
            if not self.small and self.kind[i] not in (OP, CUT, OPAQUE):
                if self.kind[i] in (LEAF, INPUT):
                    waiting.append(i)
                else:
                    self.built_at[i] = len(self.timeline) - 1
                continue
            for j in (*waiting, i):
                self.built_at[j] = len(self.timeline)
            waiting = []
            self.timeline.append(("build", i))
        for j in waiting:
            self.built_at[j] = max(0, len(self.timeline) - 1)
        self.builds = len(self.timeline)
        for i in self.data["back"]:
            if self.small or self.kind[i] != LEAF:
                self.back_at[i] = len(self.timeline)
                self.timeline.append(("back", i))
        self.steps = len(self.timeline)
        self.resting = self.steps if self.data["level"] == 4 else self.builds
        if not self.small:
            for first, copies in self.copies.items():
                if self.kind[first] == LEAF:
                    last = max([self.back_at[self.arrows["dst"][a]] for a in self.uses(first)], default=-1)
                    for copy in copies:
                        self.back_at[copy] = last
        self.starts = [NEVER] * len(self.cards["kind"])
        for i in range(count):
            for g in self.around(i):
                self.starts[g] = min(self.starts[g], self.built_at[i])

    # what is where

    def text(self, number: int) -> str:
        """The text of a number in the data."""
        return self.data["texts"][number]

    def uses(self, box: int) -> list[int]:
        """The arrows that leave a leaf, whichever of its boxes they leave."""
        first = self.boxes["first"][box]
        return [arrow for copy in self.copies[box if first < 0 else first] for arrow in self.out[copy]]

    def parent(self, unit: int) -> int:
        """The card around a unit."""
        return self.cards["parent"][-unit] if unit < 0 else self.home[unit]

    def around(self, unit: int) -> Iterator[int]:
        """The cards around a unit, the innermost first; the root is none."""
        g = self.parent(unit)
        while g > ROOT:
            yield g
            g = self.cards["parent"][g]

    def shown_as(self, box: int) -> int:
        """The unit that shows a box: itself, or the outermost closed card around it."""
        closed = [-g for g in self.around(box) if g not in self.opened]
        return closed[-1] if closed else box

    def is_built(self, unit: int, step: int) -> bool:
        """Whether a box, or the first in a card, is there at a step."""
        return (self.starts[-unit] if unit < 0 else self.built_at[unit]) < step

    def has_passed(self, box: int, step: int) -> bool:
        """Whether the backward pass has been at a box."""
        return 0 <= self.back_at[box] < step

    # what is written

    def name(self, box: int) -> str:
        """What a box is called."""
        name, kind = self.text(self.boxes["name"][box]), self.kind[box]
        operation = family(op := self.text(self.boxes["op"][box])) or op
        if kind in (OP, OPAQUE):
            return operation or "opaque"
        if kind == CUT:
            return f"\u2702 {name or operation or 'cut'}"
        if kind == INPUT:
            return name or self.text(self.boxes["value"][box]) or "constant"
        return name or {LEAF: "leaf", OUTPUT: "output", BASE: "base"}.get(kind, "tensor")

    def variable(self, box: int) -> str:
        """The variable that has an operation's result, if it is known."""
        return self.text(self.boxes["name"][box]) if self.kind[box] == OP else ""

    def called(self, box: int) -> str:
        """What a sentence calls a box: an operation by the variable that has its result."""
        return self.variable(box) or self.name(box)

    def title(self, box: int) -> str:
        """The name of a box inside its card: a parameter without the module's path."""
        name = self.name(box)
        paths = (self.cards["path"][g] for g in self.around(box))
        return next((name[len(path) + 1 :] for path in paths if path and name.startswith(f"{path}.")), name)

    def value(self, box: int) -> str:
        """The line under the name: an operation's variable, and the value where it is short, else the shape."""
        variable, rest = self.variable(box), self._value(box)
        return variable if variable and rest == "scalar" else f"{variable} {rest}".strip()

    def _value(self, box: int) -> str:
        value, shape = self.text(self.boxes["value"][box]), self.text(self.boxes["shape"][box])
        if value and value == self.name(box):
            return ""
        if value and len(value) <= 24:
            return f"= {value}" if self.small or self.variable(box) else value
        if shape and shape != "()":
            return shape
        if self.kind[box] == CUT:
            return self.text(self.boxes["op"][box])
        return "scalar" if shape else ""

    def gradient(self, box: int, step: int) -> str:
        """What is known of a box's gradient at a step: at a leaf, the sum of what has arrived."""
        if not self.small:
            return ""
        if self.kind[box] == LEAF:
            return self.sum(box, step)
        return self.arrived(box) if self.has_passed(box, step) else ""

    def sink(self, box: int) -> str:
        """The name of the node that a leaf's gradient ends at, where it is shown."""
        shown = self.small and self.kind[box] == LEAF and self.boxes["sink"][box] >= 0
        return self.text(self.boxes["op"][box]) if shown else ""

    def arrived(self, box: int) -> str:
        """The gradient that arrives at a box in all, as short text."""
        return self._short(self.boxes["grad"][box], self.boxes["norm"][box], 18)

    def flow(self, arrow: int) -> str:
        """The gradient that goes back along an arrow, as short text."""
        return self._short(self.arrows["grad"][arrow], self.arrows["norm"][arrow], 14)

    def _short(self, text: int, norm: float | str | None, most: int) -> str:
        value = self.text(text)
        if value and len(value) <= most:
            return value
        return "" if norm is None else f"|{number(norm, 3)}|"

    def equation(self, arrow: int) -> str:
        """``1 × 3 = 3``: what arrived, times the local derivative, is what flows on."""
        local, up, flow = self.local(arrow), self.arrived(self.arrows["dst"][arrow]), self.flow(arrow)
        if self.small and local and up and len(local) < 12 and len(up) < 12:
            return f"{up} \u00d7 {local} = {flow}"
        return flow

    def local(self, arrow: int) -> str:
        """The local derivative along an arrow, where it is a number."""
        return self.text(self.arrows["local"][arrow])

    def sum(self, leaf: int, step: int) -> str:
        """What has arrived at a leaf, ``3 + 1 = 4``; what is still on its way is an ellipsis."""
        arrows = [arrow for arrow in self.uses(leaf) if self.arrows["kind"][arrow] == 0]
        if not arrows or len(arrows) > 6:
            return self.arrived(leaf) if self.has_passed(leaf, step) else ""
        arrows.sort(key=lambda arrow: (self.built_at[self.arrows["dst"][arrow]], self.arrows["slot"][arrow]))
        here = [self.has_passed(self.arrows["dst"][arrow], step) for arrow in arrows]
        terms = [self.flow(arrow) for arrow in arrows]
        if not any(here) or not any(terms):
            return ""
        if len(arrows) == 1:
            return terms[0]
        if any(not term or term[0] == "|" for term in terms):  # norms do not add up
            return self.arrived(leaf) if all(here) else f"{sum(here)} of {len(arrows)} arrived"
        if not all(here):
            return " + ".join(term if came else "\u2026" for term, came in zip(terms, here, strict=True))
        numbers = [finite(term) for term in terms]
        total = self.arrived(leaf)
        if not total and None not in numbers:
            total = number(sum(value for value in numbers if value is not None))
        return " + ".join(terms).replace("+ -", "\u2212 ") + (f" = {total}" if total else "")

    def card_title(self, card: int) -> str:
        """What a card is called."""
        kind, name, cls = (self.cards[column][card] for column in ("kind", "name", "cls"))
        path, call = self.cards["path"][card], self.cards["call"][card]
        if kind == "loop":
            return f"{cls or 'step'} {call}"
        if kind == "function":
            return f"{(name or cls or path).removesuffix('()')}()"
        return f"steps {name}" if kind == "span" else name or cls or path or "model"

    def card_class(self, card: int) -> str:
        """The class of a card's module, and which call it is."""
        kind, name, cls, call = (self.cards[column][card] for column in ("kind", "name", "cls", "call"))
        if kind not in ("module", "function"):
            return ""
        own = cls if name and cls and cls != name and cls != "function" else ""
        return own + (f" (call {call + 1})" if call > 0 else "")

    def card_note(self, card: int) -> str:
        """What goes into a card and comes out, and how many parameters it has; else how much is in it."""
        takes, gives = (self.text(self.cards[column][card]) for column in ("takes", "gives"))
        weights, nbytes = self.cards["weights"][card], self.cards["bytes"][card]
        shapes = f"{takes} \u2192 {gives}".strip() if takes or gives else plural(self.cards["count"][card], "node")
        size = plural(weights, "parameter") if weights else memory(nbytes) if nbytes else ""
        return " \u00b7 ".join(filter(None, (shapes, size)))

    def card_beside(self, card: int) -> str:
        """What stands beside the title of an open card."""
        note = self.card_note(card) if self.cards["kind"][card] == "module" else ""
        return "   ".join(filter(None, (self.card_class(card), note)))

    def unit_title(self, unit: int) -> str:
        """The name of a box or a card."""
        return self.card_title(-unit) if unit < 0 else self.name(unit)

    def story(self, step: int) -> str:
        """What happens at a step, in a sentence."""
        if not 0 < step <= self.steps:
            return "Nothing is built yet."
        what, i = self.timeline[step - 1]
        name, value, shape = self.called(i), self.text(self.boxes["value"][i]), self.text(self.boxes["shape"][i])
        notes = "".join(
            f" {text}"
            for phase, box, _, text in self.data["events"]
            if box == i and (phase in ("inplace", "problem") or what == "back")
        )
        if what == "build":
            shown = f" = {value}" if value else f" gives {shape}" if shape else ""
            if self.kind[i] == INPUT:
                content = value or shape
                shown = f" = {content}" if content and content != name else ""
                return f"The input {name}{shown}: no gradient goes to it.{notes}"
            if self.kind[i] == LEAF:
                shown = f" = {value}" if value else f" {shape}" if shape else ""
                return f"The leaf {name}{shown}.{notes}"
            operands = some([self.called(self.arrows["src"][arrow]) for arrow in self.into[i]])
            start = f"{name}, {self.name(i)}" if self.variable(i) not in ("", self.name(i)) else name
            start += f" of {operands or 'constants'}"
            if self.kind[i] == OUTPUT:
                start = f"The output {name}"
            elif self.kind[i] == CUT:
                start = f"{name}: the value leaves the graph"
            return f"{start}{shown}.{notes}"
        if self.kind[i] == LEAF:
            total = self.sum(i, step)
            return f"{name}.grad{': ' if total else ''}{total}{notes}"
        arrived = self.arrived(i)
        if self.kind[i] == OUTPUT:
            return f"Backward starts at {name}{f', with the gradient {arrived}' if arrived else ''}.{notes}"
        goes = some(
            [
                f"{self.called(self.arrows['src'][arrow])} gets {self.equation(arrow) or 'its share'}"
                for arrow in self.into[i]
                if self.arrows["kind"][arrow] == 0
            ]
        )
        handed = f" is handed {arrived}" if arrived else ""
        return f"{name}{handed}: {goes or 'nothing goes further'}.{notes}"


def number(value: float | str, digits: int = 4) -> str:
    """A number as the page writes it."""
    value = float(value)
    if not math.isfinite(value):
        return str(value)
    if value and (abs(value) < 1e-3 or abs(value) >= 1e6):
        mantissa, exponent = f"{value:.2e}".split("e")
        return f"{mantissa.rstrip('0').rstrip('.')}e{int(exponent)}"
    return f"{float(f'{value:.{digits}g}') + 0.0:.15g}"


def finite(text: str) -> float | None:
    """The number that a text is; None for another text, NaN and infinity."""
    try:
        value = float(text)
    except ValueError:
        return None
    return value if math.isfinite(value) else None


def memory(nbytes: float) -> str:
    """Bytes as the page writes them."""
    for unit in ("B", "KB", "MB"):
        if nbytes < 1024:
            break
        nbytes /= 1024
    else:
        unit = "GB"
    return f"{nbytes:.1f} {unit}" if nbytes < 10 and unit != "B" else f"{math.floor(nbytes + 0.5)} {unit}"


def some(words: Sequence[str], most: int = 4) -> str:
    """The first few of a list."""
    return ", ".join(words[:most]) + (" \u2026" if len(words) > most else "")


def palette(theme: str) -> dict[str, str]:
    """The page's colours by name, ``light`` or ``dark``: read from its style. ValueError for another theme."""
    from .write import viewer

    blocks: list[Any] = re.findall(r":root(\[data-theme=\"dark\"\])?\{(.*?)\}", viewer()[1], re.DOTALL)
    colours: dict[str, str] = {}
    for dark, block in blocks:
        if not dark or theme == "dark":
            colours.update(re.findall(r"--([\w-]+):(#\w+);", block))
    if theme not in ("light", "dark"):
        raise ValueError(f"unknown theme {theme!r}: it must be light or dark")
    return colours
