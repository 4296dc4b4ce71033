"""Floor 7: the ``torch.fx`` namespace: programs of tensors as graphs that can be looked at, changed and printed."""

from __future__ import annotations

from typing import Any

from ..ground.importing import load as _load
from . import immutable_collections
from ._symbolic_trace import PH, ProxyableClassMeta, Tracer, symbolic_trace, wrap
from .code import CodeGen
from .graph import Graph
from .graph_module import GraphModule
from .interpreter import Interpreter, Transformer
from .node import Node, has_side_effect, map_arg
from .proxy import Proxy
from .subgraph_rewriter import replace_pattern

__all__ = [
    "CodeGen", "Graph", "GraphModule", "Interpreter", "Node", "PH", "Proxy", "ProxyableClassMeta", "Tracer",
    "Transformer", "has_side_effect", "immutable_collections", "map_arg", "replace_pattern", "symbolic_trace", "wrap",
]  # fmt: skip


def __getattr__(name: str) -> Any:
    if name in ("passes", "experimental"):
        return _load(f"{__name__}.{name}")
    raise AttributeError(f"module 'torch.fx' has no attribute '{name}'")
