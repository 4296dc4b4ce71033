"""The neutral model as JSON and back, floor 8: strict about the version, tolerant of fields it does not know.

A record is written as an object of its fields that differ from their defaults. Numbers that JSON has no word for are
written as the strings ``"nan"``, ``"inf"`` and ``"-inf"``.
"""

from __future__ import annotations

import json
import math
import os
from collections.abc import Mapping
from dataclasses import MISSING, fields
from types import MappingProxyType
from typing import Any

from .model import (
    VERSION,
    Cut,
    Edge,
    Event,
    Graph,
    Held,
    Node,
    Problem,
    Saved,
    Scope,
    SourceLoc,
    Stats,
    TensorInfo,
)  # fmt: skip

__all__ = ["from_json", "to_json"]

#: Fields that hold records, by class: the record's class; a tuple of them where the name is plural.
_INNER: dict[type, dict[str, type]] = {
    TensorInfo: {"stats": Stats},
    Saved: {"tensor": TensorInfo},
    Node: {
        "tensor": TensorInfo, "saved": Saved, "loc": SourceLoc, "outputs": TensorInfo, "grad": TensorInfo,
        "grads_in": TensorInfo,
    },
    Edge: {"grad": TensorInfo},
    Cut: {"loc": SourceLoc, "tensor": TensorInfo},
    Event: {"loc": SourceLoc},
    Problem: {"loc": SourceLoc},
    Held: {"tensor": TensorInfo},
    Graph: {
        "nodes": Node, "edges": Edge, "scopes": Scope, "cuts": Cut, "events": Event, "problems": Problem,
        "parameters": Held,
    },
}  # fmt: skip
_NUMBERS = {Stats: ("low", "high", "mean", "norm"), Node: ("ms",)}
_WORDS = {"nan": math.nan, "inf": math.inf, "-inf": -math.inf}
_known: dict[type, list[tuple[str, Any]]] = {}


def to_json(graph: Graph, indent: int | None = None) -> str:
    """The graph as JSON text; ``indent`` as in :func:`json.dumps`. A home directory is written as ``~``."""
    here = os.path.expanduser("~")
    document = _plain(graph, here.rstrip("/\\") if len(here) > 1 else "")
    document["version"] = graph.version
    return json.dumps(document, indent=indent, separators=None if indent else (",", ":"), allow_nan=False)


def from_json(text: str | bytes | Mapping[str, Any]) -> Graph:
    """The graph of a JSON text; ValueError where it is none, or of another version of the model."""
    document = text if isinstance(text, Mapping) else json.loads(text)
    if not isinstance(document, Mapping) or "nodes" not in document:
        raise ValueError("from_json(): this is not the JSON of a graph: it has no nodes")
    version = document.get("version")
    if version != VERSION:
        raise ValueError(
            f"from_json(): the graph is of version {version!r} of the model, but this is version {VERSION}"
        )
    return _record(Graph, document)


def _fields(kind: type) -> list[tuple[str, Any]]:
    """A class's fields, each with its default."""
    pairs = _known.get(kind)
    if pairs is None:
        pairs = []
        for one in fields(kind):
            default = one.default
            if default is MISSING and one.default_factory is not MISSING:
                default = one.default_factory()
            pairs.append((one.name, default))
        _known[kind] = pairs
    return pairs


def _plain(value: Any, home: str) -> dict[str, Any]:
    kind = type(value)
    inner = _INNER.get(kind, {})
    mapping: dict[str, Any] = {}
    for name, default in _fields(kind):
        content = getattr(value, name)
        if default is not MISSING and content == default:
            continue
        if name in inner:
            if isinstance(content, tuple):
                content = [None if piece is None else _plain(piece, home) for piece in content]
            elif content is not None:
                content = _plain(content, home)
        elif isinstance(content, float) and not math.isfinite(content):
            content = "nan" if math.isnan(content) else "inf" if content > 0 else "-inf"
        elif isinstance(content, Mapping):
            content = dict(content)
        elif kind is SourceLoc and name == "file" and home and content.startswith((home + "/", home + "\\")):
            content = "~" + content[len(home) :].replace("\\", "/")
        mapping[name] = content
    return mapping


def _record(kind: type, mapping: Mapping[str, Any]) -> Any:
    inner = _INNER.get(kind, {})
    numbers = _NUMBERS.get(kind, ())
    arguments: dict[str, Any] = {}
    for name, default in _fields(kind):
        if name not in mapping:
            if default is MISSING:
                raise ValueError(f"from_json(): a {kind.__name__} has no {name!r}")
            continue
        content = mapping[name]
        if name in inner:
            if isinstance(content, list):
                content = tuple(None if piece is None else _record(inner[name], piece) for piece in content)
            elif content is not None:
                content = _record(inner[name], content)
        elif name in numbers and isinstance(content, str):
            content = _WORDS[content]
        elif isinstance(content, list):
            content = tuple(tuple(piece) if isinstance(piece, list) else piece for piece in content)
        elif isinstance(content, dict):
            content = MappingProxyType(content)
        arguments[name] = content
    return kind(**arguments)
