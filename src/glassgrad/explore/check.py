"""Questions asked before ``backward()``, floor 8: whether it will work, what it does not reach, what is kept for it."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from .answer import Answer, extent, listed, once, plural, recording_of, size, where
from .labels import Names, caller_names, callers_variables
from .measure import is_finite
from .model import Graph, Node, Problem, ProblemKind
from .place import module_of
from .read import as_losses, as_tensors
from .reasons import REMEDIES
from .survey import parameters_of, survey
from .walk import SINK, op_name, opaque_nodes, remedy, tensors_held, walk
from .why import ASK, closed_lines, in_transform, why

__all__ = ["Check", "Keeps", "Row", "Unused", "check", "keeps", "unused"]


@dataclass(frozen=True, repr=False, kw_only=True)
class Check(Answer):
    """The answer of :func:`check`: ``problems`` one by one, ``graph`` what was read."""

    problems: tuple[Problem, ...] = ()
    graph: Graph


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
    graph, walked = survey(losses, None, model, record, "check")
    report = _Report()
    inside = [loss] if in_transform(loss) else []
    cut = inside + [one for one in losses if not one.requires_grad or one.grad_fn is None or in_transform(one)]
    for one in cut:
        answer = why(one, record=record)
        if answer.kind == "transform" and answer.good:
            return Check(answer.verdict, answer.lines, answer.advice, True, graph=graph)
        problems = [Problem("cut", None, None, f"{c.how}: {c.reason}", c.loc) for c in answer.cuts]
        report.problems += problems or [Problem("cut", None, None, answer.verdict)]
        if len(losses) == 1:
            verb = "run, but reach nothing" if one.requires_grad else "fail"
            verdict = f"backward() will {verb}. {answer.verdict}"
            return Check(verdict, answer.lines, answer.advice, problems=tuple(report.problems), graph=graph)
        report.add(f"{known.of(one, 'One of the losses')}: {answer.verdict}", answer.advice)
        report.lines += answer.lines
    _modified(report, graph, record, known)
    _freed(report, graph, record)
    for one in losses:
        name = (known.of(one) if len(losses) > 1 else "") or "The loss"
        if math.prod(map(int, one.shape)) != 1:
            words = f"{name} has shape {list(one.shape)}: backward() needs a gradient of that shape."
            report.add(words, "take loss.sum() or loss.mean(), or give backward() a gradient", "cut")
        elif "complex" in str(one.dtype):
            words = f"{name} is complex: backward() begins by itself from a real number only."
            report.add(words, "take the real part or abs() of it, or give backward() a gradient", "cut")
    if any(is_finite(one) is False for one in losses):
        words = "The loss is not finite, so the gradients will not be either."
        report.add(words, "ask glassgrad.explore.trace_nan where it began", "nan")
    if report.problems:
        only_nan = all(p.kind == "nan" for p in report.problems)
        verdict = "backward() will run, but give no finite gradients." if only_nan else "backward() will fail."
        return report.answer(verdict, graph)
    hooked = sum(s.state == "hooked" for node in graph.nodes for s in node.saved)
    if hooked:
        report.add(f"{plural(hooked, 'saved value is', 'saved values are')} packed by hooks and left alone.")
    hiding = opaque_nodes(walked.nodes)
    if hiding:
        report.lines += closed_lines(hiding, record)
        report.advice = remedy(hiding[0])
    for plain in graph.cuts:
        if plain.how == "grad" and plain.used_by:
            report.add(f"A part of it is a constant: {plain.how} {where(plain.loc)}: {plain.reason}.", REMEDIES["grad"])
    return report.answer(f"backward() will work: {extent(graph)}.", graph)


@dataclass
class _Report:
    """The findings so far: the first advice stays."""

    problems: list[Problem] = field(default_factory=list)
    lines: list[str] = field(default_factory=list)
    advice: str = ""

    def add(
        self, line: str, advice: str = "", kind: ProblemKind | None = None, node: Node | None = None, loc: Any = None
    ) -> None:
        """Note a finding; with a ``kind`` it is a problem, of a node or of the whole."""
        self.lines.append(line)
        self.advice = self.advice or advice
        if kind is not None:
            index, scope = (None, None) if node is None else (node.index, node.scope)
            self.problems.append(Problem(kind, index, scope, line, loc))

    def answer(self, verdict: str, graph: Graph) -> Check:
        """What was found, each thing once."""
        lines, problems = tuple(once(self.lines)), tuple(self.problems)
        return Check(verdict, lines, self.advice, not problems, problems=problems, graph=graph)


def _modified(report: _Report, graph: Graph, record: Any, known: Names) -> None:
    """Values that were saved and then changed in place."""
    for node, slot in [(node, s) for node in graph.nodes for s in node.saved if s.state == "modified"]:
        line = f"{node.op} saved `{slot.slot}`"
        line += f" {where(node.loc)}" if node.loc else ""
        culprit = _culprit(record, node)
        advice = "write the change out of place (x = x + 1 in place of x += 1), or change a clone"
        if culprit is not None:
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
        report.add(line, advice, "modified", node, node.loc if culprit is None else culprit.loc)


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
    report.add(line, advice, "freed", freed[0], earlier.loc if earlier is not None else None)
    names = once(sorted(n.op + (f" {where(n.loc)}" if n.loc else "") for n in freed))
    report.lines += [f"freed: {name}" for name in names[:6]]
    if alive:
        report.add(f"{plural(len(alive), 'operation is', 'operations are')} new: the two passes share the rest.")


def _culprit(record: Any, node: Node) -> Any:
    """The first write in place into what a node saved, after it did."""
    call = record.of_age(node.seq, "") if record is not None else None
    if call is None:
        return None
    buffers = {record.calls[at].buffer for at in call.inputs} | {call.buffer}
    return next((one for one in record.inplace if one.index > call.index and one.buffer in buffers), None)


def _backward_before(record: Any, freed: list[Node]) -> Any:
    """The backward call that went through the nodes which are freed now."""
    if record is None:
        return None
    makers = {call.index for call in record.of_ages([node.seq for node in freed], "") if call is not None}
    passes = (call for call in record.calls if call.name == "backward")
    return next((call for call in passes if makers & {before.index for before in record.before(call)}), None)


# -- which parameters a loss does not use ------------------------------------------------------------------------------
# By name, and where a recording tells it, why.

DOUBTFUL = "perhaps used where the graph cannot be seen"


@dataclass(frozen=True, repr=False, kw_only=True)
class Unused(Answer):
    """The answer of :func:`unused`: the ``names`` that get no gradient, ``reasons`` by name, and those ``frozen``.

    ``hidden`` are those that a part of the graph which cannot be seen uses, or may use.
    """

    names: tuple[str, ...] = ()
    reasons: Mapping[str, str] = field(default_factory=dict)
    frozen: tuple[str, ...]
    used: int = 0
    hidden: tuple[str, ...] = ()


def unused(loss: Any, model: Any, *, record: Any = None) -> Unused:
    """The parameters that ``loss`` does not use, of ``model``: a module, a dict of names and tensors, or a list.

    Parameters whose ``requires_grad`` is False are told apart. TypeError where ``loss`` is no tensor, or tuple of them.
    """
    losses = as_losses(loss, "unused")
    named = parameters_of(model)
    as_tensors(tuple(named.values()), "unused")
    makers = walk([t for t in losses if t.grad_fn is not None]).nodes
    reached = {id(node.variable) if op_name(node) == SINK else id(node) for node in makers} | set(map(id, losses))
    frozen = tuple(name for name, t in named.items() if not t.requires_grad)
    missing = {
        name: t for name, t in named.items()
        if t.requires_grad and id(t) not in reached and (t.is_leaf or id(t.grad_fn) not in reached)
    }  # fmt: skip
    record = recording_of(losses, record)
    if missing and any(map(in_transform, losses)):
        answer = why(losses[0], record=record)
        return Unused(answer.verdict, answer.lines, answer.advice, True, frozen=frozen, hidden=tuple(missing))
    hiding = opaque_nodes(makers)
    inside = {key for node in hiding for key in tensors_held(node)}
    hidden = [name for name, tensor in missing.items() if id(tensor) in inside]
    answers = {
        name: _reason(losses[0], tensor, record, named) for name, tensor in missing.items() if id(tensor) not in inside
    }
    reasons = {name: reason for name, (reason, _) in answers.items() if reason != DOUBTFUL}
    doubtful = [name for name in answers if name not in reasons]
    used = len(named) - len(reasons) - len(frozen) - len(hidden) - len(doubtful)
    lines = [f"{name}: {reason}" for name, reason in reasons.items()]
    if frozen:
        lines.append(f"{plural(len(frozen), 'parameter is', 'parameters are')} frozen (requires_grad is False).")
    lines += closed_lines(hiding, record)
    for names, words in ((hidden, "used in there"), (doubtful, "in no part that is seen: perhaps used in there")):
        if names:
            lines.append(f"{plural(len(names), 'parameter is', 'parameters are')} {words}: {listed(names)}.")
    unseen = (*hidden, *doubtful)
    if reasons:
        verdict = f"{plural(len(reasons), 'parameter gets', 'parameters get')} no gradient; {used} do."
        advice = next((answers[name][1] for name in reasons if answers[name][1]), "") or (
            "use them in forward(), freeze them with requires_grad_(False), or tell DistributedDataParallel to find "
            "them"
        )
    else:
        verdict = f"All {used} parameters that require gradients are in the graph."
        advice = remedy(hiding[0]) if hiding else ""
        if unseen:
            verdict = f"{plural(used, 'parameter is', 'parameters are')} in the graph; "
            verdict += f"{len(unseen)} cannot be seen, because a part of the graph is closed."
    return Unused(
        verdict, tuple(lines), advice, not reasons and not doubtful, names=tuple(reasons), reasons=reasons,
        frozen=frozen, used=used, hidden=unseen,
    )  # fmt: skip


def _reason(loss: Any, tensor: Any, record: Any, named: Mapping[str, Any]) -> tuple[str, str]:
    """Why a parameter gets no gradient, in few words, and what to do where that is told by the cause."""
    answer = why(loss, tensor, record=record, model=named)
    if answer.kind == "opaque":
        return DOUBTFUL, ""
    if answer.cuts:
        cut = answer.cuts[0]
        return f"cut off by {cut.how}" + (f" at {cut.loc}" if cut.loc else ""), answer.advice
    if answer.kind == "frozen":
        return "it required no gradient when the loss was computed", answer.advice
    if answer.kind == "unused" and answer.lines:
        return answer.lines[1 if "never called" in "".join(answer.lines[1:2]) else 0].rstrip("."), ""
    return "a result that the loss does not use" if answer.kind == "not a leaf" else "not in the graph of the loss", ""


# -- what a tensor's graph keeps in memory -----------------------------------------------------------------------------
# Bytes counted once, by module and by line.


@dataclass(frozen=True)
class Row:
    """One line of the account: what keeps it (a module, a line, or an operation), the bytes, and how many values."""

    what: str
    nbytes: int
    ops: int


@dataclass(frozen=True, repr=False, kw_only=True)
class Keeps(Answer):
    """The answer of :func:`keeps`: ``nbytes`` kept besides the leaves, ``by_module``, ``by_line`` and ``by_op``.

    ``freed`` counts the operations that a backward pass has been through: their nodes are still held.
    """

    nbytes: int
    leaf_bytes: int
    ops: int
    freed: int
    by_module: tuple[Row, ...]
    by_line: tuple[Row, ...]
    by_op: tuple[Row, ...]
    graph: Graph


def keeps(tensor: Any, *, model: Any = None, record: Any = None) -> Keeps:
    """What is kept alive because ``tensor`` (or a tuple of tensors) is: operations, and the values they saved.

    Memory that several saved values share is counted once, and goes to the operation that saved it first. Values of the
    leaves themselves are counted apart. TypeError for anything but tensors.
    """
    tensors = as_losses(tensor, "keeps")
    record = recording_of(tensors, record)
    graph, _ = survey(tensors, None, model, record, "keeps")
    leaves = {n.tensor.storage for n in graph.nodes if n.kind == "leaf" and n.tensor is not None}
    owned: dict[int, tuple[Node, int]] = {}  # by memory: the operation that saved it first, and the most saved of it
    for node in sorted((n for n in graph.nodes if n.forward is not None), key=lambda n: n.forward or 0):
        for info in (saved.tensor for saved in node.saved):
            if info is not None and info.storage is not None and info.storage not in leaves:
                owner, most = owned.get(info.storage, (node, 0))
                owned[info.storage] = owner, max(most, info.nbytes)
    accounts = [(_owners(graph, node), nbytes) for node, nbytes in owned.values()]
    by_module, by_line, by_op = (_rows([(names[i], nbytes) for names, nbytes in accounts]) for i in range(3))
    freed = sum(any(s.state == "freed" for s in n.saved) for n in graph.nodes)
    ops, total = graph.totals["ops"], graph.totals["kept_bytes"]
    leaf_bytes = graph.totals["unique_bytes"] - total
    verdict = f"This keeps {size(total)} of saved values alive, in {plural(ops, 'operation')}"
    verdict += f", besides {size(leaf_bytes)} of leaves." if leaf_bytes else "."
    best = by_line if any(n.loc for n in graph.nodes) else by_module if graph.scopes else by_op
    lines = [f"{size(kept.nbytes):>12}  {kept.what}" for kept in best[:10]]
    advice = ""
    if freed:
        lines.append(
            f"{plural(freed, 'operation has', 'operations have')} been through backward() and "
            f"{'is' if freed == 1 else 'are'} still held by this tensor."
        )
        advice = (
            "add up loss.item() or loss.detach() in place of loss: a sum of losses keeps every graph it was made of"
        )
    return Keeps(
        verdict, tuple(lines), advice, not freed, nbytes=total, leaf_bytes=leaf_bytes, ops=ops, freed=freed,
        by_module=by_module, by_line=by_line, by_op=by_op, graph=graph,
    )  # fmt: skip


def _rows(kept: list[tuple[str, int]]) -> tuple[Row, ...]:
    """What keeps how many bytes, each once, the largest first."""
    parts: dict[str, list[int]] = {}
    for what, nbytes in kept:
        parts.setdefault(what, []).append(nbytes)
    rows = [Row(what, sum(sizes), len(sizes)) for what, sizes in parts.items()]
    return tuple(sorted(rows, key=lambda row: -row.nbytes))


def _owners(graph: Graph, node: Node) -> tuple[str, str, str]:
    """The module, the line and the operation that a node's bytes are put down to."""
    at = node.scope
    while at is not None and graph.scopes[at].kind != "module":
        at = graph.scopes[at].parent
    scope = graph.scopes[at] if at is not None else None
    module = "(no module)" if scope is None else f"{scope.path or scope.cls} ({scope.cls})"
    line = f"{node.loc}  {node.loc.expression or node.loc.code or ''}" if node.loc else "(line not recorded)"
    return module, line, node.op if node.op != SINK else "leaf"
