"""Floor 7: the ``torch.fx`` namespace: programs of tensors as graphs that can be looked at, changed and printed.

A room of its own, for the packages that trace models: nothing else in the house imports it.
"""

from __future__ import annotations

from ..ground.importing import load
from ..ground.paths import show_all
from . import passes
from ._symbolic_trace import PH, ProxyableClassMeta, Tracer, symbolic_trace, wrap
from .graph import Graph
from .graph_module import GraphModule
from .interpreter import Interpreter, Transformer
from .node import Node, has_side_effect, map_arg
from .proxy import Proxy
from .subgraph_rewriter import replace_pattern

__all__ = [
    "Graph", "GraphModule", "Interpreter", "Node", "PH", "Proxy", "ProxyableClassMeta", "Tracer", "Transformer",
    "has_side_effect", "immutable_collections", "map_arg", "passes", "replace_pattern", "symbolic_trace", "wrap",
]  # fmt: skip
show_all(__name__, {"node": {"immutable_collections": "immutable_dict immutable_list"}})
immutable_collections = load(f"{__name__}.immutable_collections")
