"""The neutral model as JSON and back, floor 8: strict about the version, tolerant of fields it does not know.

A record is written as an object of its fields that differ from their defaults. Numbers that JSON has no word for are
written as the strings ``"nan"``, ``"inf"`` and ``"-inf"``. What is read may come from anybody: each field must be what
the model says that it is, and each number of a node that of a node.
"""

from __future__ import annotations

import json
import math
import os
from collections.abc import Callable, Iterable, Mapping
from dataclasses import MISSING, fields, is_dataclass
from functools import cache
from types import MappingProxyType, NoneType, UnionType
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

from . import model
from .layers import layer_of
from .model import VERSION, Event, Graph, Held, Problem, SourceLoc
from .walk import SINK

__all__ = ["from_json", "to_json"]

_RECORDS = frozenset(kind for kind in vars(model).values() if isinstance(kind, type) and is_dataclass(kind))
_WORDS = {"nan": math.nan, "inf": math.inf, "-inf": -math.inf}
_LARGEST = 1 << 63  # beyond it no count or size lies
_Reader = Callable[[Any], Any]


def to_json(graph: Graph, indent: int | None = None) -> str:
    """The graph as JSON text; ``indent`` as in :func:`json.dumps`. A home directory is written as ``~``."""
    here = os.path.expanduser("~")
    document = _plain(graph, here.rstrip("/\\") if len(here) > 1 else "")
    document["version"] = graph.version
    return json.dumps(document, indent=indent, separators=None if indent else (",", ":"), allow_nan=False)


def from_json(text: str | bytes | Mapping[str, Any]) -> Graph:
    """The graph of a JSON text; ValueError where it is none, is damaged, or of another version of the model."""
    try:
        document = text if isinstance(text, Mapping) else json.loads(text)
    except RecursionError:
        raise ValueError("from_json(): this is not the JSON of a graph: it is nested too deeply") from None
    if not isinstance(document, Mapping) or "nodes" not in document:
        raise ValueError("from_json(): this is not the JSON of a graph: it has no nodes")
    version = document.get("version")
    if type(version) is not int or version != VERSION:
        raise ValueError(
            f"from_json(): the graph is of version {_shown(version)} of the model, but this is version {VERSION}"
        )
    graph: Graph = _reader(Graph)(document)
    _check(graph)
    return graph


def _plain(value: Any, home: str) -> dict[str, Any]:
    kind = type(value)
    mapping: dict[str, Any] = {}
    for name, default in _defaults(kind):  # type: ignore[arg-type]
        content = getattr(value, name)
        if default is not MISSING and content == default:
            continue
        what = type(content)
        if what is str or what is int:
            pass
        elif what in _RECORDS:
            content = _plain(content, home)
        elif what is tuple:
            content = [_plain(piece, home) if type(piece) in _RECORDS else piece for piece in content]
        elif isinstance(content, float) and not math.isfinite(content):
            content = "nan" if math.isnan(content) else "inf" if content > 0 else "-inf"
        elif isinstance(content, Mapping):
            content = dict(content)
        mapping[name] = content
    if kind is SourceLoc and home and value.file.startswith((home + "/", home + "\\")):
        mapping["file"] = "~" + value.file[len(home) :].replace("\\", "/")
    return mapping


@cache
def _defaults(kind: type) -> list[tuple[str, Any]]:
    """A class's fields, each with its default."""
    return [
        (one.name, one.default if one.default_factory is MISSING else one.default_factory()) for one in fields(kind)
    ]


# -- reading: each type of the model has a reader that demands what the type says --------------------------------------


def _shown(content: Any) -> str:
    """A short name of what stands in a file."""
    if isinstance(content, (str, int, float, NoneType)):
        text = ascii(content) if not isinstance(content, int) or abs(content) < _LARGEST else "a huge number"
        return text if len(text) <= 40 else f"{text[:40]}..."
    return "a list" if isinstance(content, list) else "an object"


def _demanding(holds: Callable[[Any], bool], what: str, make: _Reader | None = None) -> _Reader:
    """What makes a value of contents that hold; ValueError, saying what there must be, for others."""

    def read(content: Any) -> Any:
        if not holds(content):
            raise ValueError(f"must be {what}, but is {_shown(content)}")
        return content if make is None else make(content)

    return read


def _is_list(content: Any) -> bool:
    return isinstance(content, (list, tuple))


def _is_object(content: Any) -> bool:
    return isinstance(content, Mapping)


def _is_whole(content: Any) -> bool:
    return type(content) is int and -_LARGEST < content < _LARGEST


_PLAIN: dict[Any, _Reader] = {
    int: _demanding(_is_whole, "an integer of 64 bits"),
    str: _demanding(lambda content: type(content) is str, "text"),
    bool: _demanding(lambda content: type(content) is bool, "true or false"),
    float: _demanding(
        lambda content: type(content) is float or _is_whole(content) or type(content) is str and content in _WORDS,
        "a number", lambda content: _WORDS.get(content, content),
    ),
}  # fmt: skip


@cache
def _reader(kind: Any) -> _Reader:
    """What makes a value of a type of the model out of JSON, or raises ValueError."""
    if kind in _RECORDS:
        return _record_reader(kind)
    if kind in _PLAIN:
        return _PLAIN[kind]
    origin, args = get_origin(kind), get_args(kind)
    if origin is Literal:
        return _demanding(lambda content: type(content) is str and content in args, f"one of {', '.join(args)}")
    inner = [_reader(one) for one in args if one not in (NoneType, Ellipsis)]
    if origin in (Union, UnionType):
        (some,) = inner
        return lambda content: None if content is None else some(content)
    if origin is Mapping:
        value = inner[1]
        return _demanding(
            _is_object, "an object", lambda whole: MappingProxyType({str(k): value(v) for k, v in whole.items()})
        )
    if args[-1] is Ellipsis:
        (piece,) = inner
        return _demanding(_is_list, "a list", lambda whole: tuple(map(piece, whole)))
    return _demanding(
        lambda content: _is_list(content) and len(content) == len(inner), f"a list of {len(inner)}",
        lambda whole: tuple(one(piece) for one, piece in zip(inner, whole, strict=True)),
    )  # fmt: skip


def _record_reader(kind: type) -> _Reader:
    hints = get_type_hints(kind)
    readers = {name: _reader(hints[name]) for name, _ in _defaults(kind)}
    needed = [name for name, default in _defaults(kind) if default is MISSING]

    def make(content: Mapping[str, Any]) -> Any:
        arguments: dict[str, Any] = {}
        name = ""
        try:
            for name, part in content.items():
                if name in readers:
                    arguments[name] = readers[name](part)
        except ValueError as error:
            if str(error).startswith("from_json()"):  # the innermost record tells
                raise
            raise ValueError(f"from_json(): {kind.__name__}.{name} {error}") from None
        for name in needed:
            if name not in arguments:
                raise ValueError(f"from_json(): {kind.__name__}.{name} is missing")
        return kind(**arguments)

    return _demanding(_is_object, "an object", make)


def _check(graph: Graph) -> None:
    """ValueError where a number says a node, a scope or a cut that is not there, or edges go round in a circle."""

    def demand(numbers: Iterable[int | None], count: int, what: str) -> None:
        for number in numbers:
            if number is not None and not 0 <= number < count:
                raise ValueError(f"from_json(): the graph names {what} {number}, but has {count} of them")

    nodes, scopes = len(graph.nodes), len(graph.scopes)
    for things, what in ((graph.nodes, "node"), (graph.scopes, "scope"), (graph.cuts, "cut")):
        if any(thing.index != i for i, thing in enumerate(things)):  # type: ignore[attr-defined]
            raise ValueError(f"from_json(): each {what} must have its own place in the list as its index")
    demand(graph.outputs, nodes, "node")
    for node in graph.nodes:
        demand([node.scope], scopes, "scope")
        demand([saved.leaf for saved in node.saved], nodes, "node")
        if any(saved.state == "ok" and saved.tensor is None for saved in node.saved):
            raise ValueError("from_json(): a saved value that is 'ok' needs its 'tensor'")
    for edge in graph.edges:
        demand([edge.src, edge.dst], nodes, "node")
        if edge.src_output < 0 or edge.dst_input < 0:
            raise ValueError("from_json(): an output and an input of an edge are counted from 0")
        if graph.nodes[edge.dst].op == SINK and graph.nodes[edge.src].kind != "leaf":
            raise ValueError(f"from_json(): nothing but a leaf leads to {SINK}")
    for scope in graph.scopes:
        if scope.parent is not None and not 0 <= scope.parent < scope.index:
            raise ValueError(f"from_json(): scope {scope.index} must come after the one it is in")
    for cut in graph.cuts:
        demand([*cut.sources, *cut.used_by], nodes, "node")
    told: tuple[Event | Held | Problem, ...] = (*graph.events, *graph.parameters, *graph.problems)
    demand([one.node for one in told], nodes, "node")
    demand([problem.scope for problem in graph.problems], scopes, "scope")
    try:
        layer_of(nodes, [(edge.src, edge.dst) for edge in graph.edges if edge.kind != "cut"])
    except ValueError:
        raise ValueError("from_json(): the edges of the graph go round in a circle") from None
