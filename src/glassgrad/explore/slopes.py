"""Local derivatives as text, floor 8: of operations on single numbers, asked of the nodes as backward asks them."""

from __future__ import annotations

import sys
from collections.abc import Sequence

from .model import Node
from .rules import is_known
from .walk import SINK, Walk

MOST = 400  # operations up to which a graph's nodes are asked


def slopes(walked: Walk, nodes: Sequence[Node], engine: str) -> dict[tuple[int, int], str]:
    """The local derivative of each node by each of its inputs, where result and input are single numbers.

    Only operations of the table are asked: calling the node of a custom Function would run the user's code. A node
    whose saved values are freed, changed or packed by hooks is left alone.
    """
    torch = sys.modules.get(engine)
    if torch is None or len(walked.nodes) > MOST:
        return {}
    texts: dict[tuple[int, int], str] = {}
    with torch.no_grad():
        for i, node in enumerate(walked.nodes):
            known = nodes[i]
            if known.op == SINK or not is_known(known.op) or any(s.state != "ok" for s in known.saved):
                continue
            if len(known.outputs) != 1 or known.outputs[0].shape or not known.outputs[0].dtype.startswith("float"):
                continue
            seed = torch.ones((), dtype=getattr(torch, known.outputs[0].dtype))
            try:
                results = node(seed)
            except (RuntimeError, TypeError, NotImplementedError):  # it needs more than one gradient, or its values
                continue
            for slot, result in enumerate(results if isinstance(results, (tuple, list)) else (results,)):
                if result is not None and not tuple(result.shape):
                    texts[i, slot] = f"{result.item():.4g}"
    return texts
