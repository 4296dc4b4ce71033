"""make_dot, floor 8: the drawing of a graph as torchviz's users know it, in DOT, SVG or pixels, without Graphviz.

It joins the reader, the picture and the painters, and knows files; it places and paints nothing itself.
"""

from __future__ import annotations

import shutil
import subprocess
import webbrowser
from collections.abc import Iterable, Mapping
from os import PathLike, fspath
from pathlib import Path
from typing import Any, cast, get_args

from ..ground.output import utf8, write
from .paint import raster, svg
from .read import read
from .sheet import FILL, STROKE, Arrow, Box, Direction, Picture, picture, sheet

TEXT = ("dot", "gv")
RASTER = ("png", "jpg", "jpeg", "webp", "gif", "bmp", "tif", "tiff")
GRAPHVIZ = ("pdf", "ps", "eps", "svgz", "json", "plain")
NEEDS_GRAPHVIZ = (
    "format {format!r} needs Graphviz's program `dot`, which was not found; "
    "'svg', 'dot' and, with Pillow, 'png' need no program"
)
INLINE_LIMIT = 5_000  # boxes that a notebook is given as a picture


def make_dot(
    var: Any,
    params: Mapping[str, Any] | None = None,
    show_attrs: bool = False,
    show_saved: bool = False,
    max_attr_chars: int = 50,
) -> Dot:
    """The drawing of the backward graph behind ``var``, a tensor or a tuple of tensors, of glassgrad or of torch.

    Light blue boxes are leaves (named by ``params``, a dict of names and tensors), grey boxes operations, green boxes
    outputs, darker green ones the bases of outputs that are views. Arrows follow the forward pass; gradients flow
    against them. ``show_attrs`` lists what operations saved, each value cut to ``max_attr_chars``; ``show_saved`` adds
    the saved tensors in orange. TypeError for anything but tensors.
    """
    graph = read(var, params, show_attrs=show_attrs, show_saved=show_saved, caller="make_dot")
    return Dot(picture(graph, max_attr_chars))


class Dot:
    """A drawn graph, with the interface of ``graphviz.Digraph`` for showing and saving.

    ``format`` is what `render` and `pipe` give; ``graph_attr`` and ``node_attr`` are Graphviz attributes written into
    the source, of which our own pictures heed ``rankdir`` and ``bgcolor``; ``picture`` is the content.
    """

    def __init__(self, content: Picture, *, filename: str = "Digraph.gv", format: str = "svg") -> None:
        self.picture = content
        self.filename = filename
        self.directory = ""
        self.format = format
        side = f"{max(12.0, 0.15 * (len(content.boxes) + len(content.arrows))):g}"  # inches, as torchviz
        self.graph_attr: dict[str, str] = {"size": f"{side},{side}"}
        self.node_attr: dict[str, str] = {
            "style": "filled",
            "shape": "box",
            "fontsize": "10",
            "height": "0.2",
            "fontname": "monospace",
        }
        self.edge_attr: dict[str, str] = {}

    @property
    def source(self) -> str:
        """The drawing in Graphviz's DOT language."""
        lines = ["digraph {"]
        for kind, attributes in (("graph", self.graph_attr), ("node", self.node_attr), ("edge", self.edge_attr)):
            if attributes:
                lines.append(f"\t{kind}{_attributes(attributes)}")
        lines += [_node(i, box) for i, box in enumerate(self.picture.boxes)]
        lines += [_edge(arrow) for arrow in self.picture.arrows]
        lines.append("}\n")
        return "\n".join(lines)

    def __str__(self) -> str:
        return self.source

    def __repr__(self) -> str:
        return f"<Dot: {len(self.picture.boxes)} boxes, {len(self.picture.arrows)} arrows>"

    def pipe(self, format: str | None = None, *, encoding: str | None = None) -> Any:
        """The drawing in ``format`` (by default ``self.format``) as bytes, or as text in ``encoding`` if one is given.

        ValueError for an unknown format, ImportError when a pixel format is asked for and Pillow is missing.
        """
        data = self._drawn(self.format if format is None else format)
        return data if encoding is None else data.decode(encoding)

    def save(self, filename: str | PathLike[str] | None = None, directory: str | PathLike[str] | None = None) -> str:
        """Write the DOT source to a file, making its folders, and return its path."""
        return write(str(self._path(filename, directory)), self.source)

    def render(
        self, filename: str | PathLike[str] | None = None, directory: str | PathLike[str] | None = None,
        view: bool = False, cleanup: bool = False, format: str | None = None,
    ) -> str:  # fmt: skip
        """Write the DOT source to ``filename`` and the drawing to ``filename.format``, and return the latter's path.

        ``cleanup`` deletes the source again, ``view`` opens the drawing with the system's viewer.
        """
        format = self.format if format is None else format
        data = self._drawn(format)  # before anything is written
        source = self.save(filename, directory)
        target = f"{source}.{format}"
        write(target, data)
        if cleanup:
            Path(source).unlink()
        if view:
            webbrowser.open(Path(target).resolve().as_uri())
        return target

    def view(self, filename: str | PathLike[str] | None = None, directory: str | PathLike[str] | None = None) -> str:
        """`render`, and open the drawing with the system's viewer."""
        return self.render(filename, directory, view=True)

    def _path(self, filename: str | PathLike[str] | None, directory: str | PathLike[str] | None) -> Path:
        if filename is not None:
            self.filename = fspath(filename)
        if directory is not None:
            self.directory = fspath(directory)
        return Path(self.directory, self.filename)

    def _drawn(self, format: str) -> bytes:
        name = format.lower()
        if name in TEXT:
            return utf8(self.source)
        if name == "svg":
            return utf8(self._repr_svg_())
        if name in RASTER:
            return raster(sheet(self.picture, self._direction()), name, background=self._background())
        if name not in GRAPHVIZ:
            known = ", ".join(map(repr, ("svg", *TEXT, *RASTER, *GRAPHVIZ)))
            raise ValueError(f"unknown format: {format!r} (must be one of {known})")
        program = shutil.which("dot")
        if program is None:
            raise ValueError(NEEDS_GRAPHVIZ.format(format=format))
        done = subprocess.run([program, f"-T{name}"], input=utf8(self.source), capture_output=True, check=False)
        if done.returncode:
            raise RuntimeError(f"dot failed with status {done.returncode}: {done.stderr.decode(errors='replace')}")
        return done.stdout

    def _direction(self) -> Direction:
        direction = self.graph_attr.get("rankdir", "TB").upper()
        if direction not in get_args(Direction):
            raise ValueError(f"rankdir must be one of {', '.join(get_args(Direction))}, but got {direction!r}")
        return cast(Direction, direction)

    def _background(self) -> str:
        return self.graph_attr.get("bgcolor", "white")

    def _repr_svg_(self) -> str:
        """The drawing as SVG text, which notebooks show."""
        return svg(sheet(self.picture, self._direction()), background=self._background())

    def _repr_mimebundle_(
        self, include: Iterable[str] | None = None, exclude: Iterable[str] | None = None, **_: Any
    ) -> dict[str, str]:
        """The forms a notebook may show: the picture, and text; a very large graph is given as text alone."""
        wanted = {"image/svg+xml", "text/plain"} if include is None else set(include)
        wanted -= set(exclude or ())
        forms = {}
        if "image/svg+xml" in wanted and len(self.picture.boxes) <= INLINE_LIMIT:
            forms["image/svg+xml"] = self._repr_svg_()
        if "text/plain" in wanted:
            forms["text/plain"] = repr(self)
        return forms


def _quote(text: str) -> str:
    """``text`` as a DOT string that Graphviz reads back as it is."""
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def _attributes(attributes: Mapping[str, str]) -> str:
    return " [" + " ".join(f"{key}={_quote(str(value))}" for key, value in attributes.items()) + "]"


def _node(index: int, box: Box) -> str:
    lines = [_quote(line)[1:-1] for line in box.lines]
    label = "\\n".join(lines)
    if box.rows:
        names = max(len(name) for name, _ in box.rows)
        values = max(len(value) for _, value in box.rows)
        rows = [_quote(f"{name:<{names}}: {value:>{values}}")[1:-1] for name, value in box.rows]
        label += "\\n" + "-" * max(names + values + 2, *map(len, box.lines)) + "\\n" + "\\l".join(rows) + "\\l"
    fill = "" if box.kind == "op" else f" fillcolor={FILL[box.kind][0]}"
    return f'\tn{index} [label="{label}"{fill}]'


def _edge(arrow: Arrow) -> str:
    style = {"flow": "", "saved": f' [dir=none color="{STROKE["saved"]}"]', "view": " [style=dotted]"}[arrow.style]
    return f"\tn{arrow.src} -> n{arrow.dst}{style}"
