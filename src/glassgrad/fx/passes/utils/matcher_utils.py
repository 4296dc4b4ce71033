"""Finds the places in a graph that look like a pattern."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from ...graph import Graph
from ...graph_module import _get_attr
from ...node import Node


@dataclass
class InternalMatch:
    """One place: which nodes of the graph stand for which of the pattern."""

    anchors: list[Node]
    nodes_map: dict[Node, Any] = field(default_factory=dict)
    placeholder_nodes: list[Any] = field(default_factory=list)
    returning_nodes: list[Node] = field(default_factory=list)
    name_node_map: dict[str, Node] = field(default_factory=dict)


class SubgraphMatcher:
    """Finds a pattern, from its results backwards; what its placeholders stand for may be anything."""

    def __init__(
        self,
        pattern: Graph,
        match_output: bool = False,
        match_placeholder: bool = False,
        remove_overlapping_matches: bool = True,
        ignore_literals: bool = False,
    ) -> None:
        self.pattern, self.match_output, self.match_placeholder = pattern, match_output, match_placeholder
        self.remove_overlapping_matches, self.ignore_literals = remove_overlapping_matches, ignore_literals
        if len(pattern.nodes) == 0:
            raise ValueError("SubgraphMatcher cannot be initialized with an empty pattern")
        for node in pattern.nodes:
            if node.op != "output" and not node.is_impure() and not node.users:
                raise AssertionError("SubgraphMatcher cannot be initialized with an pattern with dead code")
        self.pattern_placeholder_nodes = [node for node in pattern.nodes if node.op == "placeholder"]
        output = next(iter(reversed(pattern.nodes)))
        self.pattern_returning_nodes = output.all_input_nodes
        self.pattern_anchors = (
            [output] if match_output else [node for node in output.all_input_nodes if len(node.users) == 1]
        )

    def _alike(self, wanted: Node, found: Node, named: str = "") -> bool:
        """Whether two nodes do the same, their arguments aside."""
        if not self.match_placeholder and wanted.op == "placeholder":
            return True
        if named and named in found.name:
            return True
        if wanted.op != found.op:
            return False
        if wanted.op in ("placeholder", "output"):
            return True
        if wanted.op == "get_attr":
            ours = _get_attr(wanted.graph.owning_module, wanted.target)
            return type(ours) is type(_get_attr(found.graph.owning_module, found.target))
        return bool(wanted.target == found.target)

    def _match(self, wanted: Node, found: Node, known: dict[Node, Any], named: str = "") -> bool:
        """Note what stands for what, from two nodes backwards; False where they differ."""
        if wanted in known:
            return known[wanted] is found
        if any(value is found for value in known.values()) or not self._alike(wanted, found, named):
            return False
        known[wanted] = found
        if wanted.op == "placeholder":
            return True
        if len(wanted.args) != len(found.args) or list(wanted.kwargs) != list(found.kwargs):
            return False
        ours, theirs = (*wanted.args, *wanted.kwargs.values()), (*found.args, *found.kwargs.values())
        return self._match_all(ours, theirs, known)

    def _match_all(self, ours: Any, theirs: Any, known: dict[Node, Any]) -> bool:
        if len(ours) != len(theirs):
            return False
        for a, b in zip(ours, theirs, strict=True):
            if isinstance(a, Node) and isinstance(b, Node):
                same = self._match(a, b, known)
            elif isinstance(a, (list, tuple)) and isinstance(b, (list, tuple)):
                same = self._match_all(a, b, known)
            else:
                same = self._match_literal(a, b, known) or self.ignore_literals
            if not same:
                return False
        return True

    def _match_literal(self, a: Any, b: Any, known: dict[Node, Any]) -> bool:
        if isinstance(a, Node):
            if a.op != "placeholder":
                return False
            return bool(known.setdefault(a, b) == b)
        return not isinstance(b, Node) and type(a) is type(b) and bool(a == b)

    def _contained(self, known: dict[Node, Any]) -> bool:
        """Whether only the results of a place are used elsewhere."""
        inside = {found: wanted for wanted, found in known.items() if wanted.op != "placeholder"}
        return all(
            wanted in self.pattern_returning_nodes or all(user in inside for user in found.users)
            for found, wanted in inside.items()
        )

    def match(self, graph: Graph, node_name_match: str = "") -> list[InternalMatch]:
        """The places, in the order of their results; none shares a node with one before, unless told otherwise."""
        order = list(graph.nodes)
        choices = [
            (anchor, [node for node in order if self._alike(anchor, node, node_name_match)])
            for anchor in self.pattern_anchors
        ]
        choices = [(anchor, nodes) for anchor, nodes in choices if nodes]
        matches = []
        taken: set[Node] = set()
        for known in self._searched(choices, {}, node_name_match) if choices else ():
            if any(node not in known for node in (*self.pattern_placeholder_nodes, *self.pattern_returning_nodes)):
                continue
            if not self._contained(known):
                continue
            inside = {found for wanted, found in known.items() if wanted.op not in ("placeholder", "output")}
            if self.remove_overlapping_matches and inside & taken:
                continue
            taken |= inside
            match = InternalMatch(self.pattern_anchors, known)
            match.placeholder_nodes = [known[node] for node in self.pattern_placeholder_nodes]
            match.returning_nodes = [known[node] for node in self.pattern_returning_nodes]
            matches.append(match)
        return matches

    def _searched(self, choices: list[Any], known: dict[Node, Any], named: str) -> Iterator[dict[Node, Any]]:
        if not choices:
            yield known
            return
        anchor, nodes = choices[0]
        for node in nodes:
            tried = dict(known)
            if self._match(anchor, node, tried, named):
                yield from self._searched(choices[1:], tried, named)
