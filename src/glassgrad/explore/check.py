"""Questions asked before ``backward()``, floor 8: whether it will work, what it does not reach, what is kept for it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from .answer import Answer, extent, listed, once, plural, recording_of, size, where
from .labels import Names, caller_names, callers_variables
from .measure import is_finite
from .model import Graph, Problem
from .place import module_of
from .read import as_losses, as_tensors
from .reasons import REMEDIES
from .survey import _survey, parameters_of, survey
from .walk import SINK, op_name, opaque_nodes, remedy, tensors_held, walk
from .why import ASK, closed_lines, in_transform, why

__all__ = ["Check", "Keeps", "Row", "Unused", "check", "keeps", "unused"]


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


# -- which parameters a loss does not use ------------------------------------------------------------------------------
# By name, and where a recording tells it, why.


DOUBTFUL = "perhaps used where the graph cannot be seen"


@dataclass(frozen=True, repr=False)
class Unused(Answer):
    """The answer of :func:`unused`: the ``names`` that get no gradient, ``reasons`` by name, and those ``frozen``.

    ``hidden`` are those that a part of the graph which cannot be seen uses, or may use.
    """

    verdict: str
    names: tuple[str, ...]
    reasons: Mapping[str, str]
    frozen: tuple[str, ...]
    used: int
    lines: tuple[str, ...] = ()
    advice: str = ""
    good: bool = False
    hidden: tuple[str, ...] = ()


def unused(loss: Any, model: Any, *, record: Any = None) -> Unused:
    """The parameters that ``loss`` does not use, of ``model``: a module, a dict of names and tensors, or a list.

    Parameters whose ``requires_grad`` is False are told apart. TypeError where ``loss`` is no tensor, or tuple of them.
    """
    losses = as_losses(loss, "unused")
    named = parameters_of(model)
    as_tensors(tuple(named.values()), "unused")
    reached: set[int] = set()
    for node in walk([t for t in losses if t.grad_fn is not None]).nodes:
        reached.add(id(node.variable) if op_name(node) == SINK else id(node))
    for tensor in losses:
        reached.add(id(tensor))
    frozen = tuple(name for name, t in named.items() if not t.requires_grad)
    makers = walk([t for t in losses if t.grad_fn is not None]).nodes
    missing = {}
    for name, tensor in named.items():
        if not tensor.requires_grad or id(tensor) in reached:
            continue
        if not tensor.is_leaf and any(node is tensor.grad_fn for node in makers):
            continue
        missing[name] = tensor
    record = recording_of(losses, record)
    if missing and any(map(in_transform, losses)):
        answer = why(losses[0], record=record)
        return Unused(answer.verdict, (), {}, frozen, 0, answer.lines, answer.advice, True, tuple(missing))
    hiding = opaque_nodes(makers)
    inside = {key for node in hiding for key in tensors_held(node)}
    hidden = [name for name, tensor in missing.items() if id(tensor) in inside]
    missing = {name: tensor for name, tensor in missing.items() if id(tensor) not in inside}
    answers = {name: _reason(losses, tensor, record, named) for name, tensor in missing.items()}
    reasons = {name: reason for name, (reason, _) in answers.items()}
    doubtful = [name for name, reason in reasons.items() if reason == DOUBTFUL]
    for name in doubtful:
        del missing[name], reasons[name]
    used = len(named) - len(missing) - len(frozen) - len(hidden) - len(doubtful)
    lines = [f"{name}: {reasons[name]}" for name in missing]
    if frozen:
        lines.append(f"{plural(len(frozen), 'parameter is', 'parameters are')} frozen (requires_grad is False).")
    lines += closed_lines(hiding, record)
    for names, words in ((hidden, "used in there"), (doubtful, "in no part that is seen: perhaps used in there")):
        if names:
            lines.append(f"{plural(len(names), 'parameter is', 'parameters are')} {words}: {listed(names)}.")
    advice = remedy(hiding[0]) if hiding else ""
    unseen = (*hidden, *doubtful)
    if not missing:
        verdict = f"All {used} parameters that require gradients are in the graph."
        if unseen:
            verdict = f"{plural(used, 'parameter is', 'parameters are')} in the graph; "
            verdict += f"{len(unseen)} cannot be seen, because a part of the graph is closed."
        return Unused(verdict, (), {}, frozen, used, tuple(lines), advice, not doubtful, unseen)
    verdict = f"{plural(len(missing), 'parameter gets', 'parameters get')} no gradient; {used} do."
    advice = next((answers[name][1] for name in missing if answers[name][1]), "") or (
        "use them in forward(), freeze them with requires_grad_(False), or tell DistributedDataParallel to find them"
    )
    return Unused(verdict, tuple(missing), reasons, frozen, used, tuple(lines), advice, False, unseen)


def _reason(losses: Iterable[Any], tensor: Any, record: Any, named: Mapping[str, Any]) -> tuple[str, str]:
    """Why a parameter gets no gradient, in few words, and what to do where that is told by the cause."""
    loss = next(iter(losses))
    answer = why(loss, tensor, record=record, model=named)
    if answer.kind == "opaque":
        return DOUBTFUL, ""
    if answer.cuts:
        cut = answer.cuts[0]
        return f"cut off by {cut.how}" + (f" at {cut.loc}" if cut.loc else ""), answer.advice
    if answer.kind == "frozen":
        return "it required no gradient when the loss was computed", answer.advice
    if answer.kind == "unused" and answer.lines:
        return answer.lines[1 if "never called" in answer.lines[1:2].__str__() else 0].rstrip("."), ""
    if answer.kind == "not a leaf":
        return "a result that the loss does not use", ""
    return "not in the graph of the loss", ""


# -- what a tensor's graph keeps in memory -----------------------------------------------------------------------------
# Bytes counted once, by module and by line.


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
