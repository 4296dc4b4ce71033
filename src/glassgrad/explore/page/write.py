"""The page, floor 8: one HTML file with the viewer and a graph in it, which needs no network; notebooks show it."""

from __future__ import annotations

import base64
import html
import json
import os
import re
import tempfile
import webbrowser
import zlib
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from functools import cache
from importlib.resources import files
from os import PathLike
from pathlib import Path
from typing import Any

from ...ground.output import utf8, write
from ..answer import extent
from ..model import Graph
from ..sheet import printable
from ..walk import collector_at_rest
from .contents import DETAILS, contents

__all__ = ["Page", "explore", "page_html"]

#: The beginning of a script's line, up to its first pattern, template, division or backslash: nothing but code, and
#: texts in closed quotes. In it these texts, which stay as they are, and the signs around which spaces mean nothing.
_PLAIN = re.compile(r"""^(?:[^"'`/\\\n]|"[^"`/\\\n]*"|'[^'`/\\\n]*')+""", re.MULTILINE)
_SPACES = re.compile(r"""("[^"]*"|'[^']*')| *(=>|[=!]==|&&|\|\||[<>+*-]=|[=?:,*{}]) *(?=\S)""")
SCRIPTS = ("decode", "layout", "view", "draw", "panels", "main")
STATIC_LIMIT = 1_500  # nodes that a notebook is given as a still picture too


def explore(
    loss: Any, model: Any = None, record: Any = None, path: str | PathLike[str] | None = None, *, params: Any = None,
    names: Any = None, backward: bool = False, title: str = "", open: bool = False,
) -> Page:  # fmt: skip
    """The graph behind ``loss`` as an interactive page: one HTML file that needs no network.

    ``loss`` is a tensor or a tuple of tensors, of glassgrad or of torch, or a ``Graph`` that was read or observed
    before. ``model`` adds the names of parameters and modules, ``record`` what was recorded during the forward pass,
    ``params`` (or ``names``, a dict of names and tensors; ``locals()`` will do) other names, and the caller's own
    variables are known. With ``backward`` the backward pass is run and watched, which adds gradients to ``.grad`` as
    ``loss.backward()`` does, and to the page. The file is written to ``path`` (see ``Page.save`` for what its ending
    may be), or, when the page's path is first asked for, to a temporary folder; ``open`` shows it in the browser.
    TypeError for anything else.
    """
    if isinstance(loss, Graph):
        graph = loss
    else:
        from ..observe import observe
        from ..survey import read

        if backward:
            graph = observe(loss, params=params, names=names, model=model, record=record)
        else:
            graph = read(loss, params=params, names=names, model=model, record=record)
    page = Page(graph, title)
    if path is not None:
        page.save(path)
    if open:
        page.open()
    return page


class Page:
    """A graph's page: shown by notebooks as it is, saved by `save`, shown in the browser by `open`.

    ``graph`` is the model behind it.
    """

    def __init__(self, graph: Graph, title: str = "") -> None:
        self.graph = graph
        self.title = title
        self._path: str | None = None
        self._html: str | None = None

    @property
    def path(self) -> str:
        """Where the file is; it is written to a temporary folder if it was not saved before."""
        if self._path is None:
            text = self.html  # before there is a folder
            folder = tempfile.mkdtemp(prefix="glassgrad-")
            try:
                self._path = write(os.path.join(folder, "graph.html"), text)
            except BaseException:
                with suppress(OSError):
                    os.rmdir(folder)
                raise
        assert self._path is not None
        return self._path

    @property
    def html(self) -> str:
        """The whole file as text."""
        if self._html is None:
            self._html = page_html(self.graph, self.title)
        return self._html

    def save(self, path: str | PathLike[str], *, step: Any = None, direction: str = "TB", theme: str = "light") -> Any:
        """Write what the page shows, in the form that the ending of ``path`` asks for, and return the path.

        ``.html`` is the page itself (so is a path without an ending); ``.svg``, ``.png``, ``.mmd`` and ``.md`` are
        pictures of a ``step`` of the timeline, one of each with ``step="each"``; ``.gif``, ``.mp4`` and, with
        ``step="play"``, ``.svg`` move; ``.tex`` are formulas, ``.dot`` and ``.json`` data. ``direction`` is "TB" or
        "LR", ``theme`` "light" or "dark". ValueError for another ending, ImportError where a library is missing.
        """
        from .forms import save

        if Path(path).suffix.lower() not in ("", ".html") or (step, direction, theme) != (None, "TB", "light"):
            return save(self.graph, path, self.title, step=step, direction=direction, theme=theme)
        self._path = write(str(Path(path)), self.html)
        return self._path

    def open(self) -> None:
        """Show the page in the system's browser."""
        webbrowser.open(Path(self.path).resolve().as_uri())

    def __repr__(self) -> str:
        where = "" if self._path is None else f", {self._path}"
        return f"<Page: {extent(self.graph)}{where}>"

    def _repr_html_(self) -> str:
        """The page in a frame of its own, for notebooks."""
        source = html.escape(self.html, quote=True)
        style = "width:100%;height:640px;border:1px solid #8886;border-radius:8px"
        return f'<iframe title="glassgrad explorer" style="{style}" srcdoc="{source}"></iframe>'

    def _repr_svg_(self) -> str | None:
        """A still picture; None for a graph too large for one."""
        from .forms import still_svg

        return still_svg(self.graph, self.title) if len(self.graph.nodes) <= STATIC_LIMIT else None

    def _repr_mimebundle_(
        self, include: Iterable[str] | None = None, exclude: Iterable[str] | None = None, **_: Any
    ) -> dict[str, str]:
        """The forms a notebook may show: the page, a still picture of it, and text."""
        wanted = {"text/html", "image/svg+xml", "text/plain"} if include is None else set(include)
        wanted -= set(exclude or ())
        forms = {"text/html": self._repr_html_, "image/svg+xml": self._repr_svg_, "text/plain": self.__repr__}
        bundle = {form: make() for form, make in forms.items() if form in wanted}
        return {form: text for form, text in bundle.items() if text is not None}


def page_html(graph: Graph, title: str = "") -> str:
    """The page of ``graph`` as text: the viewer, and the graph as compressed JSON. Equal graphs give equal text."""
    with collector_at_rest():
        data = packed(contents(graph, title))
    coded = base64.b64encode(zlib.compress(utf8(data), 6)).decode("ascii")
    frame, style, script = viewer()
    name = f"{printable(title)} \u2013 glassgrad" if title else "glassgrad explorer"
    filling = {"TITLE": html.escape(name), "STYLE": style, "DATA": coded, "SCRIPT": script}
    return "".join(filling.get(part, part) for part in re.split(r"<!--(TITLE|STYLE|DATA|SCRIPT)-->", frame))


@cache
def viewer() -> tuple[str, str, str]:
    """The viewer's frame, style and script: the files of the package without their indentation and comments.

    No text in them goes over a line's end, so this changes nothing but their size; nor does a style need its spaces.
    """
    home = files(__package__)

    def part(name: str) -> str:
        text = (home / name).read_text(encoding="utf-8")
        if name.endswith(".css"):
            text = re.sub(r"\s*([{}])\s*|([:;,])\s+", r"\1\2", text)
        if name.endswith(".js"):
            text = re.sub(r"^[ \t]*(?:/\*\*(?s:.*?)\*/|//.*)\n", "", text, flags=re.MULTILINE)
            text = re.sub(r"(?<=[;{},)]) +// [^\"'`\n]*$", "", text, flags=re.MULTILINE)
            text = _PLAIN.sub(lambda head: _SPACES.sub(lambda piece: piece[1] or piece[2], head[0]), text)
        return re.sub(r"^[ \t]+", "", text, flags=re.MULTILINE)

    script = "".join(part(f"{name}.js") for name in SCRIPTS)
    return part("viewer.html"), part("viewer.css"), f'"use strict";\n(() => {{\n{script}}})();'


# -- the page's data as text -------------------------------------------------------------------------------------------
# What repeats is written once, and ``decode.js`` unfolds it. The blocks of a large model are alike: so are the rules,
# settings and saved shapes of their operations, and the rows and lines of their cards. A column of one value throughout
# is written as that value.

FORM = 2  # of the text; the viewer knows one form


def packed(data: Mapping[str, Any]) -> str:
    """The JSON of the ``data`` that ``contents`` gives; equal data give equal text."""
    short = {"form": FORM, **data}
    for table in ("boxes", "arrows", "groups"):
        columns = data[table]
        short[table] = {"entries": len(next(iter(columns.values()))), **_columns(columns)}
    short["details"] = _details(data["details"], short["boxes"]["entries"])
    short["levels"] = _levels(data["levels"])
    return json.dumps(short, separators=(",", ":"), ensure_ascii=False, allow_nan=False)


def _columns(columns: Mapping[str, Sequence[Any]]) -> dict[str, Any]:
    return {key: _column(values) for key, values in columns.items()}


def _column(values: Sequence[Any]) -> Any:
    return values[0] if values and values.count(values[0]) == len(values) else values


def _details(details: Mapping[int, Mapping[str, Any]], count: int) -> dict[str, Any]:
    """Columns of numbers of what is told of the boxes, and the list of all that these numbers stand for."""
    numbers: dict[Any, int] = {None: 0}
    columns = {key: [0] * count for key in DETAILS}
    for i, detail in details.items():
        for key, value in detail.items():
            columns[key][i] = numbers.setdefault(value, len(numbers))
    return {"told": list(numbers), **_columns(columns)}


def _levels(levels: Iterable[Mapping[str, Any]]) -> dict[str, Any]:
    """The levels as their own numbers and the form they are of; those of one form have the very same rows."""
    forms: dict[int, int] = {}  # by the identity of the rows, which ``levels`` keeps
    drawn: list[Any] = []
    own = []
    for level in levels:
        lines, jumps = level["lines"], level["jumps"]
        form = forms.setdefault(id(level["rows"]), len(drawn))
        if form == len(drawn):
            drawn.append([level["rows"], [path for _, _, path in lines], [jump[2:] for jump in jumps]])
        ends = [number for line in (*lines, *jumps) for number in line[:2]]
        own.append([form, level["units"], level["in"], level["out"], ends])
    return {"forms": drawn, "own": own}
