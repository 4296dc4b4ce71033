"""Derivatives as text, floor 8: built rules, by the node's name, which both engines share; slopes of single numbers."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from functools import cache
from importlib import import_module

from .model import Node
from .walk import SINK, Walk


@cache
def _rules() -> dict[str, str | None]:
    home = f"{__package__}.derivatives"
    try:
        built = import_module(home)
    except ModuleNotFoundError:  # a clone that was never built; what cannot build it does without
        try:
            import_module(f"{__package__.rpartition('.')[0]}.ops.built").build()
            built = import_module(home)
        except ImportError:
            return {}
    rules: dict[str, str | None] = built.RULES
    return rules


def rule_of(op: str) -> str | None:
    """The rule of the operation whose node is called ``op``: for each input, what becomes of the gradient."""
    return _rules().get(op)


def is_known(op: str) -> bool:
    """Whether the table has an operation whose node is called ``op``: one that is safe to ask for its derivative."""
    return op in _rules()


# -- local derivatives as text -----------------------------------------------------------------------------------------
# Of operations on single numbers, asked of the nodes as backward asks them.

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
