"""A saved graph made visible, floor 8: from JSON to a page, a still picture or a DOT source."""

from __future__ import annotations

from os import PathLike
from pathlib import Path

from ..dot import Dot
from ..interchange import from_json
from ..picture import picture
from .write import Page

FORMS = ("html", "svg", "dot")


def view(source: str | PathLike[str], out: str | PathLike[str] | None = None) -> str:
    """Write the graph saved in the JSON file ``source`` to ``out`` (by default beside it, as HTML); gives its path.

    The ending tells the form: ``.html`` is the interactive page, ``.svg`` a still picture, ``.dot`` a source for
    Graphviz. ValueError for another ending, and for a file that holds no graph.
    """
    target = Path(source).with_suffix(".html") if out is None else Path(out)
    form = target.suffix.lower().removeprefix(".")
    if form not in FORMS:
        raise ValueError(f"unknown ending {target.suffix!r}: it must be .html, .svg or .dot")
    graph = from_json(Path(source).read_text(encoding="utf-8"))
    if form == "html":
        return Page(graph, Path(source).stem).save(target)
    drawing = Dot(picture(graph))
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_text(drawing.source if form == "dot" else drawing.pipe("svg", encoding="utf-8"), encoding="utf-8")
    return str(target)
