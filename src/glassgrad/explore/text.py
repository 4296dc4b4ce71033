"""A graph as lines of text, floor 8: written while it is walked, so that a million operations are no trouble."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from .measure import info_of
from .read import as_tensors, names_by_id
from .sheet import printable
from .walk import SINK, walk


def graph_lines(var: Any, params: Mapping[str, Any] | None = None) -> Iterator[str]:
    """The lines of ``graph_text``, one by one. The arguments are checked at the first line."""
    outputs = as_tensors(var, "graph_lines")
    names = names_by_id(params, "graph_lines")
    nodes, inputs, _, ops = walk(outputs)
    makers = {output.grad_fn: -1 for output in outputs}
    for i, node in enumerate(nodes):
        if node in makers:
            makers[node] = i
    for output in outputs:
        line = f"{printable(names.get(id(output), 'output'))} {info_of(output).size_text}"
        if output.grad_fn is not None:
            yield f"{line}  <- {_reference(makers[output.grad_fn], int(getattr(output, 'output_nr', 0)))}"
        else:
            yield f"{line}  {'a leaf' if output.requires_grad else 'needs no gradient'}"
    digits = len(str(len(nodes))) + 1
    for i, node in enumerate(nodes):
        op = ops[i]
        head = f"{f'#{i}':<{digits}}  {printable(op):<18}"
        if op == SINK:
            leaf = node.variable
            name = names.get(id(leaf))
            owner = printable(name) if name else "leaf"
            yield f"{head}  -> {owner}.grad {info_of(leaf).size_text}"
        elif inputs[i]:
            yield f"{head}  <- {', '.join('-' if e is None else _reference(*e) for e in inputs[i])}"
        else:
            yield head.rstrip()


def graph_text(var: Any, params: Mapping[str, Any] | None = None, limit: int | None = None) -> str:
    """The graph behind ``var`` as text: the outputs, then one operation per line in the order backward visits them.

    ``#2  MulBackward0  <- #4, #3`` says that operation 2 hands gradients to 4 and 3, its inputs in order; ``-`` is an
    input that needs none, ``#5[1]`` the second output of 5. ``-> x.grad`` is where a gradient ends. After ``limit``
    lines the rest is only counted.
    """
    lines: list[str] = []
    rest = 0
    for line in graph_lines(var, params):
        if limit is None or len(lines) < limit:
            lines.append(line)
        else:
            rest += 1
    if rest:
        lines.append(f"... and {rest:,} more")
    return "\n".join(lines)


def _reference(index: int, output: int) -> str:
    return f"#{index}[{output}]" if output else f"#{index}"
