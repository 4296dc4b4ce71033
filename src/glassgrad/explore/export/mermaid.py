"""What is shown as a Mermaid flowchart, floor 8: a text that GitHub and many editors draw inside of Markdown."""

from __future__ import annotations

import re

from ..letters import printable
from .scene import BASE, CUT, INPUT, LEAF, OUTPUT, ROOT, Scene, palette

MOST = 500  # arrows that Mermaid draws unless its host says otherwise
CLASSES = {"leaf": "leaf", "input": "input", "out": "out", "cut": "cut", "op": "op", "card": "closed"}


def mermaid(scene: Scene, step: int, direction: str = "TB", theme: str = "light") -> str:
    """The flowchart of a step: open cards are subgraphs, a label has the value and the gradient under the name.

    ValueError for a step that is not there, a direction but TB and LR, and an unknown theme.
    """
    if direction not in ("TB", "LR"):
        raise ValueError(f"unknown direction {direction!r}: it must be TB or LR")
    if not 0 <= step <= scene.steps:
        raise ValueError(f"there is no step {step}: they go from 0 to {scene.steps}")
    arrows = _arrows(scene, step)
    colours = palette(theme)
    shades: list[str] = []
    lines = [f"flowchart {direction}"]
    if len(arrows) > MOST:
        lines.append(f"    %% {len(arrows):,} arrows: Mermaid draws {MOST} unless its host raises maxEdges")
    waiting: list[tuple[int, int, bool]] = [(ROOT, 0, False)]  # a card, its depth, whether it ends here
    while waiting:
        g, depth, ends = waiting.pop()
        indent = "    " * (depth + 1)
        if ends:
            lines.append(f"{'    ' * depth}end")
            continue
        if g != ROOT:
            title = " ".join(filter(None, (scene.card_title(g), scene.card_class(g))))
            lines.append(f'{"    " * depth}subgraph c{g} ["{escaped(title)}"]')
            waiting.append((g, depth, True))
            shades.append(f"    style c{g} fill:{colours[f'card{(depth - 1) % 3}']},stroke:{colours['card-line']}")
        inner = []
        for unit in scene.data["levels"][g]["units"]:
            if unit < 0 and -unit in scene.opened:
                inner.append((-unit, depth + 1, False))
            else:
                lines.append(indent + _node(scene, unit, step))
        waiting += reversed(inner)
    lines += [f"    {arrow}" for arrow in arrows] + shades
    for name, colour in CLASSES.items():
        style = f"fill:{colours[colour]},stroke:{colours[f'{colour}-line']},color:{colours['ink']}"
        lines.append(f"    classDef {name} {style}")
    lines.append(
        f"    classDef ghost fill:none,stroke:{colours['ghost']},color:{colours['quiet']},stroke-dasharray:4 3"
    )
    return "\n".join(lines) + "\n"


def _id(unit: int) -> str:
    return f"c{-unit}" if unit < 0 else f"n{unit}"


def _node(scene: Scene, unit: int, step: int) -> str:
    built = scene.is_built(unit, step)
    if unit < 0:
        title = " ".join(filter(None, (scene.card_title(-unit), scene.card_class(-unit))))
        return f'{_id(unit)}[["{escaped(title)}<br/>{scene.card_note(-unit)}"]]:::{"card" if built else "ghost"}'
    kind = scene.kind[unit]
    gradient = scene.gradient(unit, step)
    texts = [scene.title(unit), scene.value(unit) if built or not scene.small else "", gradient and f"grad {gradient}"]
    label = "<br/>".join(escaped(text) for text in texts if text)
    left, right = ("([", "])") if kind in (LEAF, INPUT, OUTPUT, BASE) else ("[", "]")
    name = {LEAF: "leaf", INPUT: "input", OUTPUT: "out", BASE: "out", CUT: "cut"}.get(kind, "op")
    return f'{_id(unit)}{left}"{label}"{right}:::{name if built else "ghost"}'


def _arrows(scene: Scene, step: int) -> list[str]:
    """The arrows between what is shown; those between the same two are one where a closed card is one of them."""
    lines: dict[tuple[str, str, int], str] = {}
    for arrow, (src, dst, kind) in enumerate(
        zip(*(scene.arrows[column] for column in ("src", "dst", "kind")), strict=True)
    ):
        here, there = scene.shown_as(src), scene.shown_as(dst)
        if here == there:
            continue
        line = "-.->" if kind else "-->"
        flow = ""
        if scene.small and scene.has_passed(dst, step):
            flow = scene.flow(arrow) if scene.local(arrow) == "1" else scene.equation(arrow)
        label = f'|"{escaped(flow)}"|' if flow else ""
        own = arrow if here >= 0 and there >= 0 else -1
        lines.setdefault((_id(here), _id(there), own), f"{_id(here)} {line}{label} {_id(there)}")
    return list(lines.values())


def escaped(text: str) -> str:
    """The text as a quoted label holds it: what means something in Mermaid, HTML or Markdown by its number."""
    return re.sub(r'[&<>"#`*_\[\]{}|\\;~$]', lambda letter: f"#{ord(letter[0])};", printable(text))


def markdown(scene: Scene, step: int, direction: str = "TB", theme: str = "light") -> str:
    """The flowchart as a block of Markdown, which GitHub draws."""
    return f"```mermaid\n{mermaid(scene, step, direction, theme)}```\n"
