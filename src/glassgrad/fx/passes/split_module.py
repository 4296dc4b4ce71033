"""Splits a module's graph into parts, each a module of its own."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

from ..graph import Graph
from ..graph_module import GraphModule
from ..node import Node, map_arg


def split_module(
    m: GraphModule, root_m: Any, split_callback: Callable[[Node], Any], *settings: Any, **more: Any
) -> GraphModule:
    """A module with a child ``submod_<name>`` for each part that ``split_callback`` puts nodes into.

    Parts must follow each other: none may need what a later one gives.
    """
    part_of = {
        node: split_callback(node) for node in m.graph.nodes if node.op not in ("placeholder", "output", "get_attr")
    }
    parts = list(dict.fromkeys(part_of.values()))
    base, children = Graph(), {}
    values: dict[Node, Any] = {}
    for node in m.graph.nodes:
        if node.op in ("placeholder", "get_attr"):
            values[node] = base.node_copy(node, lambda used: values[used])
    for part in parts:
        inside = [node for node in m.graph.nodes if node in part_of and part_of[node] == part]
        needed = list(dict.fromkeys(used for node in inside for used in node.all_input_nodes if used not in inside))
        given = [node for node in inside if any(user not in inside for user in node.users)]
        graph, copies = Graph(), {}
        for used in needed:
            copies[used] = graph.placeholder(used.name)
        for node in inside:
            copies[node] = graph.node_copy(node, lambda used, copies=copies: copies[used])  # type: ignore[misc]
        results = [copies[node] for node in given]
        graph.output(results[0] if len(results) == 1 else tuple(results))
        children[f"submod_{part}"] = GraphModule(m, graph)
        missing = [used for used in needed if used not in values]
        if missing:
            raise RuntimeError(f"part {part} needs {missing}, which a later part gives")
        made = base.call_module(f"submod_{part}", tuple(values[used] for used in needed))
        for place, node in enumerate(given):
            values[node] = made if len(given) == 1 else base.call_function(operator.getitem, (made, place))
    output = m.graph.output_node()
    base.output(map_arg(output.args[0], lambda used: values[used]))
    attributes = {node.target: _found(m, node.target) for node in m.graph.nodes if node.op == "get_attr"}
    return GraphModule({**children, **attributes}, base)






def _found(module: Any, path: str) -> Any:
    for piece in path.split("."):
        module = getattr(module, piece)
    return module
