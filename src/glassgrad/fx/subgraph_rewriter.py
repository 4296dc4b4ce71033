"""Replaces every place in a graph that looks like a pattern by another graph."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from ..nn.modules.module import Module
from ._symbolic_trace import symbolic_trace
from .graph import Graph, attribute
from .graph_module import GraphModule, _assign_attr
from .node import Node

__all__ = ["Match", "replace_pattern"]


class Match(NamedTuple):
    """A part of a graph that was replaced: the pattern's last node, and what stood for its nodes."""

    anchor: Node
    nodes_map: dict[Node, Node]


def replace_pattern(gm: GraphModule, pattern: Any, replacement: Any) -> list[Match]:
    """Put ``replacement`` wherever ``pattern`` occurs in the graph of ``gm``; tells where.

    Both are functions, graphs or modules with as many arguments; matches do not overlap, and of what is within them
    only the results are used elsewhere.
    Source: https://docs.pytorch.org/docs/stable/fx.html#torch.fx.replace_pattern
    """
    graph, matcher, other = gm.graph, _Matcher(_graph_of(pattern)), _graph_of(replacement)
    renewed: dict[Any, Node] = {}  # results that were replaced may be arguments of a later match
    matches = [
        Match(matcher.anchors[0], _replace(graph, matcher, nodes, other, renewed)) for nodes in matcher.matches(graph)
    ]
    gm.recompile()
    if isinstance(replacement, Module):
        _take_modules(gm, replacement)
    return matches


def _graph_of(program: Any) -> Graph:
    if isinstance(program, Graph):
        return program
    return program.graph if isinstance(program, GraphModule) else symbolic_trace(program).graph


def _replace(
    graph: Graph, matcher: _Matcher, nodes: dict[Node, Any], other: Graph, renewed: dict[Any, Node]
) -> dict[Node, Any]:
    """Put another graph in the place of one match; gives what stood for the pattern's nodes."""
    for node in matcher.placeholders:
        if isinstance(nodes[node], Node):
            nodes[node] = renewed.get(nodes[node], nodes[node])
    parameters = [node for node in other.nodes if node.op == "placeholder"]
    if len(matcher.placeholders) != len(parameters):
        raise AssertionError(f"Placeholder count mismatch: {len(matcher.placeholders)} vs {len(parameters)}")
    replaced = [nodes[node] for node in matcher.returning]
    with graph.inserting_before(_following(graph, replaced)):
        arguments = (nodes[node] for node in matcher.placeholders)
        results = graph.graph_copy(other, dict(zip(parameters, arguments, strict=True)))
    results = (results,) if isinstance(results, Node) else tuple(results)
    if len(replaced) != len(results):
        raise AssertionError(f"Returning nodes count mismatch: {len(replaced)} vs {len(results)}")
    for old, new in zip(replaced, results, strict=True):
        old.replace_all_uses_with(new)
        renewed[old] = new
    for node in reversed(matcher.pattern.nodes):
        if node.op not in ("placeholder", "output"):
            graph.erase_node(nodes[node])
    return nodes


def _following(graph: Graph, results: list[Node]) -> Node:
    """The first node that uses one of the results, or the one that follows the last of them."""
    users = {user for node in results for user in node.users}
    last: Any = None
    for node in graph.nodes:
        if node in users:
            return node  # type: ignore[no-any-return]
        if node in results:
            last = node
    if last is None or last.next is graph._root:
        raise AssertionError("The insert point can't be None")
    return last.next  # type: ignore[no-any-return]


def _take_modules(gm: GraphModule, replacement: Module) -> None:
    """Give the module what the nodes of its replacement name."""
    gm.delete_all_unused_submodules()
    if isinstance(replacement, GraphModule):
        replacement.graph.lint()
    for node in gm.graph.nodes:
        if node.op not in ("call_module", "get_attr") or attribute(gm, node.target, None) is not None:
            continue
        value = attribute(replacement, node.target, None)
        if value is None:
            raise RuntimeError(
                f'Attempted to create a "{node.op}" node during subgraph rewriting with target {node.target}, but the '
                "referenced attribute does not exist in the replacement GraphModule"
            )
        _assign_attr(value, gm, node.target)
    gm.graph.lint()


class _Matcher:
    """Finds a pattern, from its results backwards; what its placeholders stand for may be anything."""

    def __init__(self, pattern: Graph) -> None:
        self.pattern = pattern
        if len(pattern.nodes) == 0:
            raise ValueError("SubgraphMatcher cannot be initialized with an empty pattern")
        for node in pattern.nodes:
            if not node.is_impure() and not node.users:
                raise AssertionError("SubgraphMatcher cannot be initialized with an pattern with dead code")
        self.placeholders = [node for node in pattern.nodes if node.op == "placeholder"]
        self.returning = next(iter(reversed(pattern.nodes))).all_input_nodes
        self.anchors = [node for node in self.returning if len(node.users) == 1]

    def matches(self, graph: Graph) -> list[dict[Node, Any]]:
        """What stands for the pattern's nodes, wherever it occurs; no two share a node."""
        order = list(graph.nodes)
        choices = [(anchor, [node for node in order if self._alike(anchor, node)]) for anchor in self.anchors]
        choices = [(anchor, nodes) for anchor, nodes in choices if nodes]
        matches = []
        taken: set[Node] = set()
        for known in self._search(choices, {}) if choices else ():
            inside = {value for wanted, value in known.items() if wanted.op != "placeholder"}
            whole = all(node in known for node in (*self.placeholders, *self.returning))
            if whole and self._contained(known) and not inside & taken:
                taken |= inside
                matches.append(known)
        return matches

    def _search(self, choices: list[Any], known: dict[Node, Any]) -> Iterator[dict[Node, Any]]:
        """What stands for what, for every choice of nodes for the anchors."""
        if not choices:
            yield known
            return
        anchor, nodes = choices[0]
        for node in nodes:
            tried = dict(known)
            if self._match(anchor, node, tried):
                yield from self._search(choices[1:], tried)

    def _alike(self, wanted: Node, node: Node) -> bool:
        """Whether two nodes do the same, their arguments aside."""
        if wanted.op == "placeholder":
            return True
        if wanted.op == node.op == "get_attr":
            ours = attribute(wanted.graph.owning_module, wanted.target)
            return type(ours) is type(attribute(node.graph.owning_module, node.target))
        return bool(wanted.op == node.op and wanted.target == node.target)

    def _match(self, wanted: Node, node: Node, known: dict[Node, Any]) -> bool:
        """Note what stands for what, from two nodes backwards; False where they differ."""
        if wanted in known:
            return known[wanted] is node
        if any(value is node for value in known.values()) or not self._alike(wanted, node):
            return False
        known[wanted] = node
        if wanted.op == "placeholder":
            return True
        return list(wanted.kwargs) == list(node.kwargs) and self._match_all(
            (wanted.args, *wanted.kwargs.values()), (node.args, *node.kwargs.values()), known
        )

    def _match_all(self, ours: Any, theirs: Any, known: dict[Node, Any]) -> bool:
        if len(ours) != len(theirs):
            return False
        for a, b in zip(ours, theirs, strict=True):
            if isinstance(a, Node) and isinstance(b, Node):
                same = self._match(a, b, known)
            elif isinstance(a, (list, tuple)) and isinstance(b, (list, tuple)):
                same = self._match_all(a, b, known)
            elif isinstance(a, Node):
                same = a.op == "placeholder" and bool(known.setdefault(a, b) == b)
            else:
                same = not isinstance(b, Node) and type(a) is type(b) and bool(a == b)
            if not same:
                return False
        return True

    def _contained(self, known: dict[Node, Any]) -> bool:
        """Whether only the results are used elsewhere."""
        inside = {node: wanted for wanted, node in known.items() if wanted.op != "placeholder"}
        return all(
            wanted in self.returning or all(user in inside for user in node.users) for node, wanted in inside.items()
        )
