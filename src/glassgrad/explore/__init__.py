"""The explorer, floor 8: graphs of glassgrad and of torch read, drawn and explained. It changes no graph.

Questions of a graph: ``why(loss, parameter)``, ``check(loss)``, ``unused(loss, model)``, ``keeps(tensor)``,
``paths(y, x)``, ``trace_nan(loss)``, ``flow(model)``, ``explain(y)``; ``record()`` is the block around a forward pass
that lets them name lines; ``read`` and ``observe`` give the graph as data, ``explore`` as a page.
"""

from __future__ import annotations

import sys
from types import ModuleType
from typing import TYPE_CHECKING, Any

from ..ground.importing import load
from .dot import Dot, make_dot
from .text import graph_lines, graph_text

if TYPE_CHECKING:
    from .check import check as check
    from .check import keeps as keeps
    from .check import unused as unused
    from .explain import explain as explain
    from .flow import flow as flow
    from .interchange import from_json as from_json
    from .interchange import to_json as to_json
    from .model import Graph as Graph
    from .nan import trace_nan as trace_nan
    from .observe import observe as observe
    from .page.write import explore as explore
    from .paths import paths as paths
    from .record import Recording as Recording
    from .record import record as record
    from .survey import read as read
    from .why import why as why

_PARTS = {
    "Graph": "model", "Recording": "record", "check": "check", "explain": "explain", "explore": "page.write",
    "flow": "flow", "from_json": "interchange", "keeps": "check", "observe": "observe", "paths": "paths",
    "read": "survey", "record": "record", "to_json": "interchange", "trace_nan": "nan", "unused": "check",
    "why": "why",
}  # fmt: skip

__all__ = ["Dot", "graph_lines", "graph_text", "make_dot", *_PARTS]


class _Explorer(ModuleType):
    """A package in which ``why`` is the question and not the file of that name; called, it makes a page."""

    def __getattr__(self, name: str) -> Any:
        if name in _PARTS:
            value = getattr(load(f"{__name__}.{_PARTS[name]}"), name)
            self.__dict__[name] = value
            return value
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")

    def __setattr__(self, name: str, value: Any) -> None:
        if name in _PARTS and isinstance(value, ModuleType):  # what importing a file of that name does
            return
        super().__setattr__(name, value)

    def __dir__(self) -> list[str]:
        return sorted({*super().__dir__(), *_PARTS})

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self.explore(*args, **kwargs)


sys.modules[__name__].__class__ = _Explorer
for _name in _PARTS:  # files that were imported above
    if isinstance(globals().get(_name), ModuleType):
        del globals()[_name]
