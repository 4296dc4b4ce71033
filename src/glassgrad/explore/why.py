"""Why a gradient is missing, floor 8: the cut between a tensor and the loss, with file and line, in either engine."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from .answer import Answer, listed, once, recording_of, where
from .model import Cut
from .opaque import in_words, opaque_nodes, remedy, tensors_held
from .read import as_tensors
from .survey import _how, parameters_of
from .walk import SINK, op_name, sequence, walk
from .words import REMEDIES

__all__ = ["Why", "why"]

ASK = "run the forward pass inside `with glassgrad.explore.record() as r:` and ask again, to be told the lines"


@dataclass(frozen=True, repr=False)
class Why(Answer):
    """The answer of :func:`why`: ``cuts`` are the places where values left the graph, ``kind`` what the case is."""

    kind: str
    verdict: str
    lines: tuple[str, ...] = ()
    advice: str = ""
    good: bool = False
    cuts: tuple[Cut, ...] = ()
    names: tuple[str, ...] = ()


def why(loss: Any, param: Any = None, *, record: Any = None, model: Any = None) -> Why:
    """Why ``loss`` requires no gradient, or why ``param`` gets none from it.

    ``param`` is a tensor, or the name of one of ``model``'s parameters. With a recording of the forward pass (given as
    ``record``, or one that is still around) every cut is told with its file, line and expression.
    TypeError for anything but tensors.
    """
    as_tensors((loss,), "why")
    model = model if model is not None or record is None else record.model
    names = parameters_of(model)
    if isinstance(param, str):
        if param not in names:
            raise ValueError(f"why(): the model has no parameter {param!r}; give it as model=")
        param = names[param]
    record = recording_of((loss, param) if param is not None else (loss,), record)
    if not names and record is not None and record.model is not None:
        names = parameters_of(record.model)
    name = next((n for n, t in names.items() if t is param), "this tensor")
    if param is None:
        return _of_loss(loss, record)
    as_tensors((param,), "why")
    return _of_parameter(loss, param, name, record, names)


def _of_loss(loss: Any, record: Any) -> Why:
    if loss.requires_grad:
        if loss.grad_fn is None:
            return Why(
                "leaf", "This is a leaf that requires a gradient: backward() from it reaches it alone.", good=True
            )
        walked = walk([loss])
        leaves = sum(op_name(node) == SINK for node in walked.nodes)
        return Why("fine", f"This requires a gradient: its graph leads back to {leaves} leaves.", good=True)
    verdict = "This requires no gradient, so backward() has nothing to go through."
    call = record.producer(loss) if record is not None else None
    if call is None:
        lines = (
            "No operation was recorded for it: everything it was made from required no gradient, or it was cut off by "
            "detach(), .data, no_grad(), item(), numpy(), a comparison or an integer type.",
        )
        return Why("unknown", verdict, lines, ASK)
    cuts = _cuts_behind(record, call)
    if not cuts:
        sources = [c for c in record.before(call) if not c.name and c.ref is not None]
        details = (
            f"Nothing was cut: none of the {len(sources)} tensors it was made from requires a gradient.",
            f"It was made {where(call.loc)}.",
        )
        return Why("no leaf", verdict, details, "set requires_grad=True on the tensors you want gradients of")
    return Why("cut", verdict, _cut_lines(cuts), _remedy(cuts), False, tuple(cuts))


def _of_parameter(loss: Any, param: Any, name: str, record: Any, names: Mapping[str, Any]) -> Why:
    call = record.producer(param) if record is not None else None
    if not param.requires_grad:
        if call is not None and call.name:
            cuts = _cuts_behind(record, call)
            if cuts:
                verdict = f"{_first(name)} gets no gradient: it is a result that was cut off before."
                return Why("cut", verdict, _cut_lines(cuts), _remedy(cuts), False, tuple(cuts))
        verdict = f"{_first(name)} gets no gradient: its requires_grad is False."
        return Why("frozen", verdict, (), f"call {_called(name)}.requires_grad_() before the forward pass")
    walked = walk([loss]) if loss.grad_fn is not None else None
    if not param.is_leaf:
        return _of_result(param, name, call, walked, names)
    if loss is param:
        return Why("leaf", f"{_first(name)} is the loss itself.", good=True)
    sink = None
    if walked is not None:
        sink = next((n for n in walked.nodes if op_name(n) == SINK and n.variable is param), None)
    if sink is not None:
        return _connected(param, name)
    if not loss.requires_grad:
        answer = _of_loss(loss, record)
        verdict = f"{_first(name)} gets no gradient, because the loss requires none."
        return Why(answer.kind, verdict, answer.lines, answer.advice, False, answer.cuts)
    hiding = opaque_nodes(walked.nodes) if walked is not None else []
    answer = _apart(loss, param, name, record, walked, names) if not hiding or record is not None else None
    if hiding and (answer is None or answer.kind in ("unused", "apart") or _holding(hiding, param)):
        return _inside(param, name, hiding, record)
    return answer  # type: ignore[return-value]  # asked wherever nothing hides it


def _holding(hiding: list[Any], param: Any) -> Any:
    """The opaque node that holds ``param``; None where none is seen to."""
    return next((node for node in hiding if id(param) in tensors_held(node)), None)


def _inside(param: Any, name: str, hiding: list[Any], record: Any) -> Why:
    """A leaf that is not in the graph, where a part of the graph cannot be seen."""
    node = _holding(hiding, param)
    place = place_of(node or hiding[0], record)
    if node is not None:
        verdict = f"{_first(name)} is used inside {op_name(node)}, whose backward computes its gradient."
        return Why("opaque", verdict, (in_words(node, place),), remedy(node), True)
    verdict = f"{_first(name)} is not in the graph that is seen, and whether it gets a gradient cannot be told."
    return Why("opaque", verdict, (in_words(hiding[0], place),), remedy(hiding[0]))


def place_of(node: Any, record: Any) -> str:
    """Where a node was made, as sentences name it; empty where it was not recorded."""
    call = record.of_age(sequence(node), "") if record is not None else None
    return where(call.loc) if call is not None else ""


def closed_lines(hiding: list[Any], record: Any) -> list[str]:
    """What is said of opaque nodes: those of one name and place once, with their number."""
    return once(in_words(node, place_of(node, record)) for node in hiding)


def _connected(param: Any, name: str) -> Why:
    verdict = f"{_first(name)} is in the graph of the loss, so backward() does reach it."
    if param.grad is None:
        said = ("Its .grad is None: backward() was not run yet, or zero_grad() has set it to None since.",)
        return Why("connected", verdict, said, "look at .grad after loss.backward() and before zero_grad()", True)
    from .measure import stats_of

    stats = stats_of(param.grad)
    if stats is not None and stats.count and stats.zero == stats.count:
        return Why(
            "zero", verdict, ("Its .grad is all noughts: something on the way multiplies by nought.",),
            "glassgrad.explore.observe(loss) tells which operation handed on noughts: a ReLU that is off, a mask",
            False,
        )  # fmt: skip
    if stats is not None and not stats.finite:
        return Why("nan", verdict, (f"Its .grad has {stats.nan} NaN and {stats.inf} infinite numbers.",),
                   "ask glassgrad.explore.trace_nan where they began", False)  # fmt: skip
    norm = None if stats is None else stats.norm
    size = "Its .grad is there." if norm is None else f"Its .grad has the norm {norm:.4g}."
    return Why("connected", verdict, (size,), "", True)


def _of_result(param: Any, name: str, call: Any, walked: Any, names: Mapping[str, Any]) -> Why:
    """A tensor that an operation made: its ``.grad`` is not kept."""
    maker = op_name(param.grad_fn)
    behind = walk([param])
    leaves = [node.variable for node in behind.nodes if op_name(node) == SINK]
    by_id = {id(t): n for n, t in names.items()}
    lines = [
        f"{_first(name)} is no leaf: it was made by {maker}" + (f" {where(call.loc)}." if call and call.name else ".")
    ]
    lines.append("backward() passes its gradient on and keeps only those of leaves.")
    advice = f"call {_called(name)}.retain_grad() before backward()"
    leaf_names = []
    if len(leaves) <= 3:
        for leaf in leaves:
            leaf_names.append(f"{by_id.get(id(leaf), 'a leaf')} of shape {list(leaf.shape)}")
        lines.append(
            f"The gradient ends in the {'leaf' if len(leaves) == 1 else 'leaves'} behind it: {', '.join(leaf_names)}."
        )
    if len(leaves) == 1 and maker.startswith(("ToCopy", "Clone", "Mul", "Div", "View", "Reshape", "T", "Copy")):
        lines.append(
            "Perhaps the leaf itself was meant to be this tensor: .to(), .cuda() or arithmetic made a new one."
        )
        advice += ", or make the tensor in its final form and call .requires_grad_() on it last"
    if walked is not None and not any(node is param.grad_fn for node in walked.nodes):
        lines.append("Besides, it is not in the graph of the loss.")
    return Why("not a leaf", f"{_first(name)} has no .grad because it is no leaf.", tuple(lines), advice,
               names=tuple(leaf_names))  # fmt: skip


def _apart(loss: Any, param: Any, name: str, record: Any, walked: Any, names: Mapping[str, Any]) -> Why:
    """A leaf that requires a gradient and is not in the graph of the loss."""
    verdict = f"{_first(name)} gets no gradient: it is not in the graph of the loss."
    reached = [node.variable for node in walked.nodes if op_name(node) == SINK] if walked is not None else []
    by_id = {id(t): n for n, t in names.items()}
    others = [by_id.get(id(leaf), f"a leaf of shape {list(leaf.shape)}") for leaf in reached]
    tail = f"The loss leads back to {listed(others)}." if others else "The loss leads back to no leaf."
    if record is None:
        return Why("apart", verdict, (tail,), ASK, names=tuple(others))
    start, end = record.producer(param), record.producer(loss)
    if end is None:
        return Why("apart", verdict, (tail, "The loss was not made inside the recording."), ASK, names=tuple(others))
    users = _depending(record, start.index) if start is not None else {}
    if not users:
        module = name.rpartition(".")[0]
        lines = [f"No operation used {name} during the recorded forward pass."]
        if (
            module
            and record.model is not None
            and not any(_is(record, entered.module, module) for entered in record.entered)
        ):
            lines.append(f"The module {module} was never called.")
        return Why("unused", verdict, (*lines, tail), "use it in forward(), or do not give it to the optimizer",
                   names=tuple(others))  # fmt: skip
    behind = {call.index for call in record.before(end)} | {end.index}
    between = [record.calls[at] for at in users if at in behind and record.calls[at].how is not None]
    if between:
        cuts = [_cut(i, call) for i, call in enumerate(between)]
        return Why("cut", verdict, _cut_lines(cuts), _remedy(cuts), False, tuple(cuts), tuple(others))
    taken = [record.calls[at] for at in users if record.calls[at].how is not None]
    first = record.calls[min(users)]
    lines = [f"{_first(name)} was used {where(first.loc)}, but nothing of that went into the loss."]
    if taken:
        cuts = [_cut(i, call) for i, call in enumerate(taken)]
        lines.append("What came of it left the graph here, and perhaps came back as a number or an array:")
        return Why("cut", verdict, (*lines, *_cut_lines(cuts)), _remedy(cuts), False, tuple(cuts), tuple(others))
    last = record.calls[max(users)]
    lines.append(f"The last thing made of it, {where(last.loc)}, was not used.")
    return Why("unused", verdict, (*lines, tail), "use the result in the loss", names=tuple(others))


def _is(record: Any, module: Any, path: str) -> bool:
    if module is None or record.model is None:
        return False
    return dict(record.model.named_modules()).get(path) is module


def _depending(record: Any, at: int) -> dict[int, None]:
    """Every call that used what call ``at`` gave, directly or through others, in order."""
    users: dict[int, None] = {}
    marked = {at}
    for call in record.calls[at + 1 :]:
        if any(i in marked for i in call.inputs):
            marked.add(call.index)
            if call.name:
                users[call.index] = None
    return users


def _cuts_behind(record: Any, call: Any) -> list[Cut]:
    """The cuts among everything a call's result was computed from: the last on each way."""
    cutting, seen, waiting = [], {call.index}, [call.index]
    for at in waiting:
        here = record.calls[at]
        if here.how is not None:
            cutting.append(here)
            continue
        for other in here.inputs:
            if other not in seen:
                seen.add(other)
                waiting.append(other)
    return [_cut(i, one) for i, one in enumerate(sorted(cutting, key=lambda one: one.index))]


def _cut(index: int, call: Any) -> Cut:
    how, reason = _how(call)
    return Cut(index, how, call.loc, reason, (), (), call.info)


def _cut_lines(cuts: Any) -> tuple[str, ...]:
    return tuple(once(f"{cut.how} {where(cut.loc)}: {cut.reason}." for cut in cuts))


def _remedy(cuts: Any) -> str:
    return REMEDIES.get(cuts[0].how, "") if cuts else ""


def _first(words: str) -> str:
    return words[:1].upper() + words[1:] if words == "this tensor" else words


def _called(name: str) -> str:
    return "the tensor" if name == "this tensor" else name
