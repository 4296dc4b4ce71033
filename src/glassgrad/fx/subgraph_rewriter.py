"""Replaces every place in a graph that looks like a pattern by another graph."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

from ..nn.modules.module import Module
from ._symbolic_trace import symbolic_trace
from .graph import Graph
from .graph_module import GraphModule
from .node import Node
from .passes.utils.matcher_utils import SubgraphMatcher

__all__ = ["Match", "ReplacedPatterns", "replace_pattern", "replace_pattern_with_filters"]


class Match(NamedTuple):
    """A place that was replaced: the pattern's last node, and what stood for its nodes."""

    anchor: Node
    nodes_map: dict[Node, Node]


@dataclass
class ReplacedPatterns:
    """The same, with the nodes that came instead."""

    anchor: Node
    nodes_map: dict[Node, Node]
    replacements: list[Node]


def replace_pattern(gm: GraphModule, pattern: Any, replacement: Any) -> list[Match]:
    """Put ``replacement`` wherever ``pattern`` occurs in the graph of ``gm``; gives the places.

    Both are functions, graphs or modules with as many arguments; places do not overlap, and of what is within them
    only the results are used elsewhere.
    Source: https://docs.pytorch.org/docs/stable/fx.html#torch.fx.replace_pattern
    """
    return [Match(found.anchor, found.nodes_map) for found in _replaced(gm, pattern, replacement, [], False, None, "")]


def replace_pattern_with_filters(
    gm: GraphModule,
    pattern: Any,
    replacement: Any = None,
    match_filters: list[Callable[..., bool]] | None = None,
    ignore_literals: bool = False,
    replacement_callback: Callable[..., Graph] | None = None,
    node_name_match: str = "",
) -> list[ReplacedPatterns]:
    """The same at the places that all filters, called with (match, graph, pattern), allow.

    ``replacement_callback``, called likewise, gives the graph to put there.
    """
    return _replaced(
        gm, pattern, replacement, match_filters or [], ignore_literals, replacement_callback, node_name_match
    )


def _graph_of(given: Any) -> Graph:
    if isinstance(given, Graph):
        return given
    return given.graph if isinstance(given, GraphModule) else symbolic_trace(given).graph


def _replaced(
    gm: GraphModule, pattern: Any, replacement: Any, filters: list[Any], loose: bool, callback: Any, named: str
) -> list[ReplacedPatterns]:
    graph, wanted = gm.graph, _graph_of(pattern)
    matches = SubgraphMatcher(wanted, ignore_literals=loose).match(graph, named)
    matches = [match for match in matches if all(allows(match, graph, wanted) for allows in filters)]
    common = None if replacement is None else _graph_of(replacement)
    if common is None and callback is None:
        raise AssertionError("Must provide either a replacement GraphModule or a replacement callback")
    renewed: dict[Node, Node] = {}  # results that were replaced may be arguments of a later place
    found = []
    for match in matches:
        other: Any = common if callback is None else callback(match, graph, wanted)
        arguments = [node for node in other.nodes if node.op == "placeholder"]
        if len(match.placeholder_nodes) != len(arguments):
            raise AssertionError(
                f"Placeholder count mismatch: {len(match.placeholder_nodes)} vs {len(arguments)}"
            )
        match.placeholder_nodes = [renewed.get(n, n) if isinstance(n, Node) else n for n in match.placeholder_nodes]
        for node, value in list(match.nodes_map.items()):
            if node.op == "placeholder" and isinstance(value, Node):
                match.nodes_map[node] = renewed.get(value, value)
        values = dict(zip(arguments, match.placeholder_nodes, strict=True))
        with graph.inserting_before(_place_after(graph, match.returning_nodes)):
            results = graph.graph_copy(other, values)
        results = (results,) if isinstance(results, Node) else tuple(results)
        if len(match.returning_nodes) != len(results):
            raise AssertionError(f"Returning nodes count mismatch: {len(match.returning_nodes)} vs {len(results)}")
        for old, new in zip(match.returning_nodes, results, strict=True):
            old.replace_all_uses_with(new)
            renewed[old] = new
        for node in reversed(wanted.nodes):
            if node.op not in ("placeholder", "output"):
                graph.erase_node(match.nodes_map[node])
        made = [value for value in values.values() if value not in match.placeholder_nodes]
        found.append(ReplacedPatterns(match.anchors[0], match.nodes_map, made))
    gm.recompile()
    if isinstance(replacement, Module):
        _take_modules(gm, replacement)
    return found


def _place_after(graph: Graph, results: list[Node]) -> Node:
    """The first node that uses one of the results, or the one that follows the last of them."""
    users = {user for node in results for user in node.users}
    for node in graph.nodes:
        if node in users:
            return node  # type: ignore[no-any-return]
    following = None
    for node in reversed(graph.nodes):
        if node in results:
            break
        following = node
    if following is None:
        raise AssertionError("The insert point can't be None")
    return following


def _take_modules(gm: GraphModule, replacement: Module) -> None:
    """Give the module what the nodes of its replacement name."""
    gm.delete_all_unused_submodules()
    if isinstance(replacement, GraphModule):
        replacement.graph.lint()
    for node in gm.graph.nodes:
        if node.op not in ("call_module", "get_attr") or _found(gm, node.target) is not None:
            continue
        given = _found(replacement, node.target)
        if given is None:
            raise RuntimeError(
                f'Attempted to create a "{node.op}" node during subgraph rewriting with target {node.target}, but the '
                "referenced attribute does not exist in the replacement GraphModule"
            )
        if isinstance(given, Module):
            gm.add_submodule(node.target, given)
        else:
            from .graph_module import _assign_attr

            _assign_attr(given, gm, node.target)
    gm.graph.lint()


def _found(module: Any, path: str) -> Any:
    for piece in path.split("."):
        module = getattr(module, piece, None)
        if module is None:
            return None
    return module
