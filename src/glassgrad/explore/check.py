"""Whether ``loss.backward()`` will work, floor 8: asked before, answered with lines; glassgrad's graphs or torch's."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from .answer import Answer, extent, once, plural, recording_of, where
from .labels import Names, caller_names, callers_variables
from .measure import is_finite
from .model import Graph, Problem
from .opaque import opaque_nodes, remedy
from .place import module_of
from .read import as_losses
from .survey import _survey, parameters_of
from .walk import SINK
from .why import ASK, closed_lines, in_transform, why
from .words import REMEDIES

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


def check(loss: Any, *, record: Any = None, model: Any = None, names: Any = None, params: Any = None) -> Check:
    """Whether ``loss.backward()`` will work, asked beforehand: nothing is computed and no error is raised.

    It finds a loss without a graph, values that were saved and then changed in place (by which line), nodes whose saved
    values an earlier ``backward()`` has freed (in which line), a loss of several elements, and one that is not finite.
    ``loss`` is a tensor, several, or what a model or a training step gave, with a ``loss`` in it; ``names`` (or
    ``params``) names tensors. TypeError for anything else.
    """
    losses = as_losses(loss, "check")
    record = recording_of(losses, record)
    model = model if model is not None or record is None else record.model
    variables = callers_variables()
    known = Names([*caller_names(names, params, "check"), *parameters_of(model).items(), *variables], record)
    graph, walked = _survey(losses, None, model, record, "check")
    report = _Report([], [], "")
    inside = [loss] if in_transform(loss) else []
    cut = inside + [one for one in losses if not one.requires_grad or one.grad_fn is None or in_transform(one)]
    for one in cut:
        answer = why(one, record=record)
        if answer.kind == "transform" and answer.good:
            return Check(answer.verdict, (), graph, answer.lines, answer.advice, True)
        problems = [Problem("cut", None, None, f"{c.how}: {c.reason}", c.loc) for c in answer.cuts]
        report.problems += problems or [Problem("cut", None, None, answer.verdict)]
        if len(losses) == 1:
            verb = "run, but reach nothing" if one.requires_grad else "fail"
            verdict = f"backward() will {verb}. {answer.verdict}"
            return Check(verdict, tuple(report.problems), graph, answer.lines, answer.advice)
        report.add(f"{known.of(one, 'One of the losses')}: {answer.verdict}", answer.advice)
        report.lines += answer.lines
    _modified(report, graph, record, known)
    _freed(report, graph, record)
    for one in losses:
        if _count(one) != 1:
            name = known.of(one) if len(losses) > 1 else ""
            words = f"{name or 'The loss'} has shape {list(one.shape)}: backward() needs a gradient of that shape."
            report.add(words, "take loss.sum() or loss.mean(), or give backward() a gradient")
            report.problems.append(Problem("cut", None, None, words))
        elif "complex" in str(one.dtype):
            name = known.of(one) if len(losses) > 1 else ""
            words = f"{name or 'The loss'} is complex: backward() begins by itself from a real number only."
            report.add(words, "take the real part or abs() of it, or give backward() a gradient")
            report.problems.append(Problem("cut", None, None, words))
    if any(is_finite(one) is False for one in losses):
        words = "The loss is not finite, so the gradients will not be either."
        report.add(words, "ask glassgrad.explore.trace_nan where it began")
        report.problems.append(Problem("nan", None, None, words))
    if report.problems:
        only_nan = all(p.kind == "nan" for p in report.problems)
        verdict = "backward() will run, but give no finite gradients." if only_nan else "backward() will fail."
        return Check(verdict, tuple(report.problems), graph, tuple(once(report.lines)), report.advice)
    verdict = f"backward() will work: {extent(graph)}."
    hooked = sum(s.state == "hooked" for node in graph.nodes for s in node.saved)
    if hooked:
        report.add(f"{plural(hooked, 'saved value is', 'saved values are')} packed by hooks and left alone.", "")
    hiding = opaque_nodes(walked.nodes)
    if hiding:
        report.lines += closed_lines(hiding, record)
        report.advice = remedy(hiding[0])
    for plain in graph.cuts:
        if plain.how == "grad" and plain.used_by:
            report.add(f"A part of it is a constant: {plain.how} {where(plain.loc)}: {plain.reason}.", REMEDIES["grad"])
    return Check(verdict, (), graph, tuple(once(report.lines)), report.advice, True)


@dataclass
class _Report:
    """The findings so far: the first advice stays."""

    problems: list[Problem]
    lines: list[str]
    advice: str

    def add(self, line: str, advice: str) -> None:
        self.lines.append(line)
        self.advice = self.advice or advice


def _modified(report: _Report, graph: Graph, record: Any, known: Names) -> None:
    """Values that were saved and then changed in place."""
    changed = [(node, s) for node in graph.nodes for s in node.saved if s.state == "modified"]
    for node, slot in changed:
        line = f"{node.op} saved `{slot.slot}`"
        line += f" {where(node.loc)}" if node.loc else ""
        culprits = _culprits(record, node)
        advice = "write the change out of place (x = x + 1 in place of x += 1), or change a clone"
        if culprits:
            culprit = culprits[0]
            name = known.of_call(culprit.inputs[0]) if culprit.inputs else ""
            line += f"; {name or 'it'} was changed in place by {culprit.name} {where(culprit.loc)}"
            module = module_of(culprit.place)
            line += f", in {module}." if module else "."
            if culprit.name.endswith("(inplace=True)"):
                advice = "leave inplace=True out there"
            elif culprit.name.endswith(".step"):
                advice = "call backward() before the optimizer's step(), or compute the loss anew after it"
        else:
            line += "; it was changed in place afterwards."
            if not node.loc:
                advice = f"{advice}; {ASK}"
        at = culprits[0].loc if culprits else node.loc
        report.problems.append(Problem("modified", node.index, node.scope, line, at))
        report.add(line, advice)


def _freed(report: _Report, graph: Graph, record: Any) -> None:
    """Operations whose saved values an earlier backward pass has freed."""
    freed = [node for node in graph.nodes if any(s.state == "freed" for s in node.saved)]
    if not freed:
        return
    alive = [n for n in graph.nodes if n.kind == "op" and n.op != SINK and any(s.state == "ok" for s in n.saved)]
    line = f"{plural(len(freed), 'operation has', 'operations have')} given up the saved values: "
    line += f"a backward pass went through {'it' if len(freed) == 1 else 'them'} already"
    earlier = _backward_before(record, freed)
    line += f", {where(earlier.loc)}." if earlier is not None else "."
    advice = (
        "compute the shared part anew for each backward(), detach() what is carried over from step to step, or say "
        "retain_graph=True in the first backward()"
    )
    if not alive:
        advice = "call backward() once, or say retain_graph=True in the first"
    report.add(line, advice)
    names = once(sorted(n.op + (f" {where(n.loc)}" if n.loc else "") for n in freed))
    report.lines += [f"freed: {name}" for name in names[:6]]
    if alive:
        words = f"{plural(len(alive), 'operation is', 'operations are')} new: the two passes share the rest."
        report.lines.append(words)
    at = earlier.loc if earlier is not None else None
    report.problems.append(Problem("freed", freed[0].index, freed[0].scope, line, at))


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
