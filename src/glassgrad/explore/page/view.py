"""A saved graph made visible, floor 8: from JSON to a page, a still picture or a DOT source."""

from __future__ import annotations

from os import PathLike
from pathlib import Path

from ..dot import Dot
from ..interchange import from_json, to_json
from ..model import Graph
from ..picture import picture
from .write import Page

FORMS = ("html", "svg", "png", "dot", "json")


def view(source: str | PathLike[str], out: str | PathLike[str] | None = None) -> str:
    """Write the graph saved in the JSON file ``source`` to ``out`` (by default beside it, as HTML); gives its path.

    See :func:`write` for the forms; ValueError also for a file that holds no graph.
    """
    target = Path(source).with_suffix(".html") if out is None else Path(out)
    form_of(target)
    return write(from_json(Path(source).read_text(encoding="utf-8")), target, title=Path(source).stem)


def form_of(path: Path) -> str:
    """The form that a file's ending asks for; ValueError for an unknown one."""
    form = path.suffix.lower().removeprefix(".")
    if form not in FORMS:
        raise ValueError(f"unknown ending {path.suffix!r}: it must be .html, .svg, .png, .dot or .json")
    return form


def write(graph: Graph, out: str | PathLike[str], title: str = "") -> str:
    """Write a graph to ``out`` in the form that its ending tells; gives its path.

    ``.html`` is the interactive page, ``.svg`` a still picture, ``.png`` the same in pixels (with Pillow), ``.dot`` a
    source for Graphviz, ``.json`` the graph as data, which ``view`` reads. ValueError for another ending.
    """
    target = Path(out)
    form = form_of(target)
    if form == "html":
        return Page(graph, title).save(target)
    target.parent.mkdir(parents=True, exist_ok=True)
    if form == "png":
        target.write_bytes(Dot(picture(graph)).pipe("png"))
        return str(target)
    if form == "json":
        text = to_json(graph)
    else:
        drawing = Dot(picture(graph))
        text = drawing.source if form == "dot" else drawing.pipe("svg", encoding="utf-8")
    target.write_text(text, encoding="utf-8")
    return str(target)
