"""The page beside an answer: the graph of the step, or as far as it came, with the culprit selected."""

from __future__ import annotations

from types import TracebackType
from typing import Any

from ..explore.model import Graph
from ..explore.page.view import write
from ..explore.read import is_tensor
from ..explore.source import is_users
from ..explore.survey import read
from .finding import Finding

MOST = 64  # tensors of a frame that a graph is read from


def graph_so_far(traceback: TracebackType | None) -> Graph | None:
    """The graph behind the tensors in the frames of an error: what was built before it stopped.

    The frames are the user's and those of layers, which hold what a line hands on without a name. The last output is
    the tensor that got furthest.
    """
    tensors: dict[int, Any] = {}
    while traceback is not None:
        frame = traceback.tb_frame
        if is_users(frame.f_code) or frame.f_code.co_name == "forward":
            for value in list(frame.f_locals.values()):
                if is_tensor(value) and value.grad_fn is not None:
                    tensors.pop(id(value), None)
                    tensors[id(value)] = value
        traceback = traceback.tb_next
    return read(tuple(tensors.values())[-MOST:]) if tensors else None


def written(graph: Graph, said: list[Finding], path: str) -> str:
    """Write the page; gives its address, with the node that the first finding is about."""
    at = _culprit(graph, said[0])
    return write(graph, path, title=said[0].what) + (f"#node={at}" if at is not None else "")


def _culprit(graph: Graph, finding: Finding) -> int | None:
    """The node at the line of a finding; else the first of which something is wrong, else where a failure stopped."""
    loc = finding.loc
    for node in graph.nodes:
        if loc is not None and node.loc is not None and (node.loc.file, node.loc.line) == (loc.file, loc.line):
            return node.index
    furthest = graph.outputs[-1] if graph.outputs and finding.weight == "failure" else None
    return next((problem.node for problem in graph.problems if problem.node is not None), furthest)
