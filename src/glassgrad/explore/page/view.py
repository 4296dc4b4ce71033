"""A saved graph made visible, floor 8: from JSON to a page, a still picture or a DOT source."""

from __future__ import annotations

from os import PathLike
from pathlib import Path

from ...ground import output
from ..dot import Dot
from ..interchange import from_json, to_json
from ..model import Graph
from ..picture import picture
from .write import Page

FORMS = ("html", "svg", "png", "dot", "json")


def view(source: str | PathLike[str], out: str | PathLike[str] | None = None) -> str:
    """Write the graph saved in the JSON file ``source`` to ``out`` (by default beside it, as HTML); gives its path.

    See :func:`write` for the forms; ValueError also for a file that holds no graph. What is written beside the source
    takes the place of a symbolic link: whoever sent the folder may have put one there.
    """
    target = Path(source).with_suffix(".html") if out is None else Path(out)
    if out is None and target == Path(source):
        raise ValueError(f"{str(source)!r} is named as its page would be: say where to write it")
    form_of(target)
    return write(from_json(Path(source).read_bytes()), target, title=Path(source).stem, follow=out is not None)


def form_of(path: Path) -> str:
    """The form that a file's ending asks for; ValueError for an unknown one."""
    form = path.suffix.lower().removeprefix(".")
    if form not in FORMS:
        raise ValueError(f"unknown ending {path.suffix!r}: it must be .html, .svg, .png, .dot or .json")
    return form


def write(graph: Graph, out: str | PathLike[str], title: str = "", *, follow: bool = True) -> str:
    """Write a graph to ``out`` in the form that its ending tells; gives its path.

    ``.html`` is the interactive page, ``.svg`` a still picture, ``.png`` the same in pixels (with Pillow), ``.dot`` a
    source for Graphviz, ``.json`` the graph as data, which ``view`` reads. ValueError for another ending.
    """
    target = Path(out)
    form = form_of(target)
    if form == "html":
        return Page(graph, title).save(target, follow=follow)
    return output.write(str(target), to_json(graph) if form == "json" else Dot(picture(graph)).pipe(form), follow)
