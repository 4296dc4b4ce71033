"""The forms of files, floor 8: a graph as what a file's ending asks for, drawn whole before anything is written."""

from __future__ import annotations

import re
from importlib.util import find_spec
from os import PathLike, fspath
from pathlib import Path
from typing import Any, Literal

from ...ground.output import utf8, write
from ..dot import Dot
from ..interchange import from_json, to_json
from ..model import Graph
from ..paint import MISSING as NO_PIXELS
from ..paint import raster, svg
from ..sheet import picture, printable
from .film import MISSING as NO_VIDEO
from .film import animated_svg, gif, mp4
from .scene import BASE, CUT, INPUT, LEAF, OUTPUT, ROOT, Scene, palette
from .still import Stage
from .tex import document, of_scene

__all__ = ["FORMS", "Step", "form_of", "ready", "save", "still_svg", "view", "write_graph"]


Step = int | Literal["each", "play"] | None
#: What each ending stands for.
FORMS = {
    "html": "the interactive page",
    "svg": "a picture, or with step='play' one that moves",
    "png": "a picture in pixels, with Pillow",
    "gif": "the timeline as a film, with Pillow",
    "mp4": "the same as H.264, with PyAV",
    "tex": "what was computed, and the derivatives as sums over paths",
    "mmd": "a Mermaid flowchart",
    "md": "the same as a block of Markdown",
    "dot": "a source for Graphviz",
    "json": "the graph as data",
}
STILL = ("svg", "png", "mmd", "md")
FILM = ("gif", "mp4")


def form_of(path: str | PathLike[str]) -> str:
    """The form that a file's ending asks for; ValueError for an unknown one, which lists those there are."""
    suffix = Path(path).suffix
    form = suffix.lower().removeprefix(".")
    if form not in FORMS:
        raise ValueError(f"unknown ending {suffix!r}: it must be {listed(FORMS)}")
    return form


def ready(path: str | PathLike[str]) -> str:
    """The same, before long work: ImportError where the library that the form needs is not installed."""
    form = form_of(path)
    if form == "mp4" and not (find_spec("av") and find_spec("PIL")):
        raise ImportError(NO_VIDEO)
    if form in ("png", "gif") and not find_spec("PIL"):
        raise ImportError(NO_PIXELS.format(format=form))
    return form


def listed(forms: object) -> str:
    """``.svg, .png or .md``."""
    *firsts, last = [f".{form}" for form in forms]  # type: ignore[attr-defined]
    return f"{', '.join(firsts)} or {last}" if firsts else last


def save(
    graph: Graph, path: str | PathLike[str], title: str = "", *, follow: bool = True, step: Step = None,
    direction: str = "TB", theme: str = "light",
) -> str | list[str]:  # fmt: skip
    """Write ``graph`` to ``path`` in the form that its ending asks for, making folders; gives the path.

    ``step`` is a step of the timeline (by default that at which the page opens); "each" writes a picture for each step,
    ``name-00.svg``, ``name-01.svg`` ..., and gives all paths; "play" is the timeline in motion, which ``.gif`` and
    ``.mp4`` always are. ``direction`` is "TB" or "LR", ``theme`` "light" or "dark". All is drawn before a file is
    touched. ValueError for an unknown ending, and what a form cannot do; ImportError where a library is missing.
    """
    target = Path(path)
    form = form_of(target)
    if form not in (*STILL, *FILM):
        if (step, direction, theme) != (None, "TB", "light"):
            raise ValueError(f"step, direction and theme are of pictures: {listed((*STILL, *FILM))}, not .{form}")
        return write(target, _whole(graph, form, title), follow)
    if form in FILM and step not in (None, "play"):
        raise ValueError(f".{form} is the whole timeline, step='play', but got step={step!r}")
    if isinstance(step, str) and step not in ("each", "play"):
        raise ValueError(f"step must be a number, 'each' or 'play', but got {step!r}")
    if step == "play" and form not in (*FILM, "svg"):
        raise ValueError(f".{form} does not move: step='play' is for .svg, .gif and .mp4")
    if step == "each":
        drawn = _drawn_steps(graph, form, title, direction, theme)
        digits = len(str(len(drawn) - 1))
        names = [target.with_name(f"{target.stem}-{n:0{max(digits, 2)}}{target.suffix}") for n in range(len(drawn))]
        return [write(fspath(name), content, follow) for name, content in zip(names, drawn, strict=True)]
    return write(fspath(target), _drawn(graph, form, title, step, direction, theme), follow)


def still_svg(graph: Graph, title: str = "") -> str:
    """The page as a still picture."""
    return _drawn(graph, "svg", title, None, "TB", "light").decode()


def _whole(graph: Graph, form: str, title: str) -> str | bytes:
    if form == "json":
        return to_json(graph)
    if form == "dot":
        return utf8(Dot(picture(graph)).source)
    if form == "tex":
        return document(of_scene(Scene(graph)))
    from .write import page_html

    return page_html(graph, title)


def _drawn(graph: Graph, form: str, title: str, step: Step, direction: str, theme: str) -> bytes:
    scene = Scene(graph, title)
    if form in ("mmd", "md"):
        return _flowchart(scene, form, step, direction, theme)
    moving = step == "play" or form in FILM
    stage = Stage(scene, direction, theme, caption=moving)
    if moving:
        if form == "svg":
            return utf8(animated_svg(stage, title or "graph"))
        return gif(stage) if form == "gif" else mp4(stage)
    return _picture(stage, form, _number(scene, step), title, now=step is not None)


def _drawn_steps(graph: Graph, form: str, title: str, direction: str, theme: str) -> list[bytes]:
    scene = Scene(graph, title)
    steps = range(scene.steps + 1)
    if form in ("mmd", "md"):
        return [_flowchart(scene, form, step, direction, theme) for step in steps]
    stage = Stage(scene, direction, theme, caption=True)
    return [_picture(stage, form, step, title, now=True) for step in steps]


def _picture(stage: Stage, form: str, step: int, title: str, now: bool) -> bytes:
    drawn = stage.at(step, now)
    if form == "png":
        return raster(drawn, "png", background=stage.background)
    return utf8(svg(drawn, background=stage.background, label=title or "graph"))


def _flowchart(scene: Scene, form: str, step: Step, direction: str, theme: str) -> bytes:
    draw = mermaid if form == "mmd" else markdown
    return utf8(draw(scene, _number(scene, step), direction, theme))


def _number(scene: Scene, step: Step) -> int:
    """The number of a step, by default of that at which the page opens."""
    return step if isinstance(step, int) else scene.resting


# -- a saved graph made visible ----------------------------------------------------------------------------------------
# From JSON to a page, a picture, a film, formulas, or a source.


def view(source: str | PathLike[str], out: str | PathLike[str] | None = None, **settings: Any) -> str | list[str]:
    """Write the graph saved in the JSON file ``source`` to ``out`` (by default beside it, as HTML); gives its path.

    See :func:`save` for the forms and the settings; ValueError also for a file that holds no graph. What is
    written beside the source takes the place of a symbolic link: whoever sent the folder may have put one there.
    """
    target = Path(source).with_suffix(".html") if out is None else Path(out)
    if out is None and target == Path(source):
        raise ValueError(f"{str(source)!r} is named as its page would be: say where to write it")
    ready(target)
    graph = from_json(Path(source).read_bytes())
    return save(graph, target, Path(source).stem, follow=out is not None, **settings)


def write_graph(graph: Graph, out: str | PathLike[str], title: str = "") -> str:
    """Write a graph to ``out`` in the form that its ending tells; gives its path."""
    return str(save(graph, out, title))


# -- a Mermaid flowchart -----------------------------------------------------------------------------------------------
# A text that GitHub and many editors draw inside of Markdown.


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
