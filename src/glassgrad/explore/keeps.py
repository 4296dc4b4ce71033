"""What a tensor's graph keeps in memory, floor 8: bytes counted once, by module and by line; glassgrad's or torch's."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import Any

from .answer import Answer, plural, recording_of, size
from .model import Graph
from .read import as_losses
from .survey import survey
from .walk import SINK

__all__ = ["Keeps", "Row", "keeps"]


@dataclass(frozen=True)
class Row:
    """One line of the account: what keeps it (a module, a line, or an operation), the bytes, and how many values."""

    what: str
    nbytes: int
    ops: int


@dataclass(frozen=True, repr=False)
class Keeps(Answer):
    """The answer of :func:`keeps`: ``nbytes`` kept besides the leaves, ``by_module``, ``by_line`` and ``by_op``.

    ``freed`` counts the operations that a backward pass has been through: their nodes are still held.
    """

    verdict: str
    nbytes: int
    leaf_bytes: int
    ops: int
    freed: int
    by_module: tuple[Row, ...]
    by_line: tuple[Row, ...]
    by_op: tuple[Row, ...]
    graph: Graph
    lines: tuple[str, ...] = ()
    advice: str = ""
    good: bool = True


def keeps(tensor: Any, *, model: Any = None, record: Any = None) -> Keeps:
    """What is kept alive because ``tensor`` (or a tuple of tensors) is: operations, and the values they saved.

    Memory that several saved values share is counted once, and goes to the operation that saved it first. Values of the
    leaves themselves are counted apart. TypeError for anything but tensors.
    """
    tensors = as_losses(tensor, "keeps")
    record = recording_of(tensors, record)
    graph = survey(tensors, None, model=model, record=record, caller="keeps")
    leaves = {n.tensor.storage for n in graph.nodes if n.kind == "leaf" and n.tensor is not None}
    largest: dict[int, int] = defaultdict(int)
    owner: dict[int, int] = {}
    for node in sorted((n for n in graph.nodes if n.forward is not None), key=lambda n: n.forward or 0):
        for saved in node.saved:
            if saved.tensor is not None and saved.tensor.storage is not None:
                owner.setdefault(saved.tensor.storage, node.index)
                largest[saved.tensor.storage] = max(largest[saved.tensor.storage], saved.tensor.nbytes)
    total = graph.totals["kept_bytes"]
    leaf_bytes = graph.totals["unique_bytes"] - total
    scale = total + leaf_bytes
    counted = {number: nbytes for number, nbytes in largest.items() if number not in leaves}
    tables: tuple[dict[str, list[int]], ...] = ({}, {}, {})
    for number, nbytes in counted.items():
        node = graph.nodes[owner[number]]
        for table, what in zip(tables, _names(graph, node), strict=True):
            row = table.setdefault(what, [0, 0])
            row[0] += nbytes
            row[1] += 1
    by_module, by_line, by_op = (
        tuple(sorted((Row(what, a, b) for what, (a, b) in table.items()), key=lambda row: -row.nbytes))
        for table in tables
    )
    freed = sum(any(s.state == "freed" for s in n.saved) for n in graph.nodes)
    ops = graph.totals["ops"]
    verdict = f"This keeps {size(total)} of saved values alive, in {plural(ops, 'operation')}"
    verdict += f", besides {size(leaf_bytes)} of leaves." if scale and leaf_bytes else "."
    lines = []
    best = by_line if any(n.loc for n in graph.nodes) else by_module if graph.scopes else by_op
    for kept in best[:10]:
        lines.append(f"{size(kept.nbytes):>12}  {kept.what}")
    advice = ""
    if freed:
        lines.append(
            f"{plural(freed, 'operation has', 'operations have')} been through backward() and "
            f"{'is' if freed == 1 else 'are'} still held by this tensor."
        )
        advice = (
            "add up loss.item() or loss.detach() in place of loss: a sum of losses keeps every graph it was made of"
        )
    return Keeps(verdict, total, leaf_bytes, ops, freed, by_module, by_line, by_op, graph, tuple(lines), advice,
                 not freed)  # fmt: skip


def _names(graph: Graph, node: Any) -> tuple[str, str, str]:
    """The module, the line and the operation that a node's bytes are put down to."""
    at = node.scope
    while at is not None and graph.scopes[at].kind != "module":
        at = graph.scopes[at].parent
    scope = graph.scopes[at] if at is not None else None
    module = "(no module)" if scope is None else f"{scope.path or scope.cls} ({scope.cls})"
    line = f"{node.loc}" + (f"  {node.loc.expression or node.loc.code or ''}" if node.loc else "")
    return module, line if node.loc else "(line not recorded)", node.op if node.op != SINK else "leaf"
