"""The forms of files, floor 8: a graph as what a file's ending asks for, drawn whole before anything is written."""

from __future__ import annotations

from importlib.util import find_spec
from os import PathLike, fspath
from pathlib import Path
from typing import Any, Literal

from ...ground.output import utf8, write
from ..dot import Dot
from ..interchange import from_json, to_json
from ..model import Graph
from ..picture import picture
from ..png import MISSING as NO_PIXELS
from ..png import raster
from ..svg import svg
from .film import MISSING as NO_VIDEO
from .film import animated_svg, gif, mp4
from .mermaid import markdown, mermaid
from .scene import Scene
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
    from ..page.write import page_html

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

    See ``export.forms.save`` for the forms and the settings; ValueError also for a file that holds no graph. What is
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
