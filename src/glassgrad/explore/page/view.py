"""A saved graph made visible, floor 8: from JSON to a page, a picture, a film, formulas, or a source."""

from __future__ import annotations

from os import PathLike
from pathlib import Path
from typing import Any

from ..export.forms import form_of, ready, save
from ..interchange import from_json
from ..model import Graph

__all__ = ["form_of", "ready", "view", "write"]


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


def write(graph: Graph, out: str | PathLike[str], title: str = "") -> str:
    """Write a graph to ``out`` in the form that its ending tells; gives its path."""
    return str(save(graph, out, title))
