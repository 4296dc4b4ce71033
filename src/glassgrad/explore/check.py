"""Whether ``loss.backward()`` will work, floor 8: asked before, answered with lines; glassgrad's graphs or torch's."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from .answer import Answer, plural, recording_of, where
from .measure import is_finite
from .model import Graph, Problem
from .opaque import opaque_nodes, remedy
from .read import as_tensors
from .survey import _survey
from .walk import SINK
from .why import ASK, closed_lines, why

__all__ = ["Check", "check"]


@dataclass(frozen=True, repr=False)
class Check(Answer):
    """The answer of :func:`check`: ``problems`` one by one, ``graph`` what was read."""

    verdict: str
    problems: tuple[Problem, ...]
    graph: Graph
    lines: tuple[str, ...] = ()
    advice: str = ""
    good: bool = False


def check(loss: Any, *, record: Any = None, model: Any = None) -> Check:
    """Whether ``loss.backward()`` will work, asked beforehand: nothing is computed and no error is raised.

    It finds a loss without a graph, values that were saved and then changed in place (by which line), nodes whose saved
    values an earlier ``backward()`` has freed (in which line), a loss of several elements, and one that is not finite.
    TypeError for anything but a tensor.
    """
    as_tensors((loss,), "check")
    record = recording_of((loss,), record)
    graph, walked = _survey(loss, None, model, record, "check")
    problems: list[Problem] = []
    lines: list[str] = []
    advice = ""
    if not loss.requires_grad:
        answer = why(loss, record=record)
        problems += [Problem("cut", None, None, f"{c.how}: {c.reason}", c.loc) for c in answer.cuts]
        problems = problems or [Problem("cut", None, None, answer.verdict)]
        return Check(f"backward() will fail. {answer.verdict}", tuple(problems), graph, answer.lines, answer.advice)
    changed = [(node, s) for node in graph.nodes for s in node.saved if s.state == "modified"]
    for node, slot in changed:
        line = f"{node.op} saved `{slot.slot}`"
        line += f" {where(node.loc)}" if node.loc else ""
        culprits = _culprits(record, node)
        if culprits:
            line += f"; it was changed in place by {culprits[0].name} {where(culprits[0].loc)}."
        else:
            line += "; it was changed in place afterwards."
        problems.append(Problem("modified", node.index, node.scope, line, culprits[0].loc if culprits else node.loc))
        lines.append(line)
        advice = "write the change out of place (x = x + 1 in place of x += 1), or change a clone"
    if changed and not any(node.loc for node, _ in changed):
        advice = f"{advice}; {ASK}"
    freed = [node for node in graph.nodes if any(s.state == "freed" for s in node.saved)]
    if freed:
        alive = [n for n in graph.nodes if n.kind == "op" and n.op != SINK and any(s.state == "ok" for s in n.saved)]
        line = f"{plural(len(freed), 'operation has', 'operations have')} given up the saved values: "
        line += f"a backward pass went through {'it' if len(freed) == 1 else 'them'} already"
        earlier = _backward_before(record, freed)
        line += f", {where(earlier.loc)}." if earlier is not None else "."
        lines.append(line)
        names = sorted({n.op + (f" {where(n.loc)}" if n.loc else "") for n in freed}, key=str)
        lines += [f"freed: {name}" for name in names[:6]]
        if alive:
            lines.append(f"{plural(len(alive), 'operation is', 'operations are')} new: the two passes share the rest.")
        problems.append(
            Problem("freed", freed[0].index, freed[0].scope, line, earlier.loc if earlier is not None else None)
        )
        advice = (
            "compute the shared part anew for each backward(), detach() what is carried over from step to step, or say "
            "retain_graph=True in the first backward()"
        )
    if _count(loss) != 1:
        lines.append(f"The loss has shape {list(loss.shape)}: backward() needs a gradient of that shape.")
        problems.append(Problem("cut", None, None, lines[-1]))
        advice = advice or "take loss.sum() or loss.mean(), or give backward() a gradient"
    finite = is_finite(loss)
    if finite is False:
        lines.append("The loss is not finite, so the gradients will not be either.")
        problems.append(Problem("nan", None, None, lines[-1]))
        advice = advice or "ask glassgrad.explore.trace_nan where it began"
    if not problems:
        ops = graph.totals["ops"]
        verdict = (
            f"backward() will work: {plural(ops, 'operation')}, {plural(graph.totals['leaves'], 'leaf', 'leaves')}."
        )
        hooked = sum(s.state == "hooked" for node in graph.nodes for s in node.saved)
        if hooked:
            lines.append(f"{plural(hooked, 'saved value is', 'saved values are')} packed by hooks and left alone.")
        hiding = opaque_nodes(walked.nodes)
        lines += closed_lines(hiding, record)
        return Check(verdict, (), graph, tuple(lines), remedy(hiding[0]) if hiding else "", True)
    only_nan = all(p.kind == "nan" for p in problems)
    verdict = "backward() will run, but give no finite gradients." if only_nan else "backward() will fail."
    return Check(verdict, tuple(problems), graph, tuple(lines), advice)


def _count(tensor: Any) -> int:
    total = 1
    for n in tensor.shape:
        total *= int(n)
    return total


def _culprits(record: Any, node: Any) -> list[Any]:
    """The writes in place into what a node saved, after it did."""
    call = record.of_age(node.seq, "") if record is not None else None
    if call is None:
        return []
    buffers = {record.calls[at].buffer for at in call.inputs} | {call.buffer}
    return [one for one in record.inplace if one.index > call.index and one.buffer in buffers]


def _backward_before(record: Any, freed: Any) -> Any:
    """The backward call that went through the nodes which are freed now."""
    if record is None:
        return None
    calls = [record.of_age(node.seq, "") for node in freed]
    makers = {call.index for call in calls if call is not None}
    for call in record.calls:
        if call.name == "backward" and makers & {before.index for before in record.before(call)}:
            return call
    return None
