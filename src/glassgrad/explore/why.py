"""Why a gradient is missing, floor 8: the cut between a tensor and the loss, with file and line, in either engine."""

from __future__ import annotations

import sys
from collections.abc import Callable, Container, Iterable, Mapping
from dataclasses import dataclass, replace
from difflib import get_close_matches
from typing import Any

from .answer import Answer, listed, once, plural, recording_of, where
from .labels import Names, caller_names, callers_variables
from .measure import stats_of
from .model import Cut, Stats
from .observe import on_the_side
from .read import as_losses, as_tensors, level_of, memory_of, slots_of, unpack
from .reasons import READS, REMEDIES, culprits, flat_reason
from .source import is_users, location
from .survey import _how, parameters_of, survey
from .walk import (
    SINK,
    in_words,
    is_opaque,
    is_tensor,
    is_users_function,
    op_name,
    opaque_nodes,
    reach,
    remedy,
    sequence,
    tensors_held,
    walk,
)

__all__ = ["Why", "why"]

LOOK = "look at .grad after loss.backward() and before zero_grad()"
ASK = "run the forward pass inside `with glassgrad.explore.record() as r:` and ask again, to be told the lines"


@dataclass(frozen=True, repr=False, kw_only=True)
class Why(Answer):
    """The answer of :func:`why`: ``cuts`` are the places where values left the graph, ``kind`` what the case is."""

    kind: str
    cuts: tuple[Cut, ...] = ()
    names: tuple[str, ...] = ()


def why(
    loss: Any, param: Any = None, *, record: Any = None, model: Any = None, names: Any = None, params: Any = None
) -> Why:
    """Why ``loss`` requires no gradient, or why ``param`` gets none from it.

    ``loss`` is a tensor, several, or what a model or a training step gave, with a ``loss`` in it. ``param`` is a
    tensor, or the name of one of ``model``'s parameters; ``names`` (or ``params``) names tensors, and the caller's own
    variables are known. With a recording of the forward pass (given as ``record``, or one that is still around) every
    cut is told with its file, line and expression. TypeError for anything but tensors.
    """
    losses = as_losses(loss, "why")
    if in_transform(loss):
        return _of_loss(loss, None)
    variables = callers_variables()
    model = model if model is not None or record is None else record.model
    known = parameters_of(model)
    word = param if isinstance(param, str) else "this tensor"
    if isinstance(param, str):
        param = _by_name(param, model, {**known, **dict(caller_names(names, params, "why"))})
    if param is not None:
        (param,) = as_tensors((param,), "why")
    record = recording_of((*losses, param) if param is not None else losses, record)
    if not known and record is not None and record.model is not None:
        known = parameters_of(record.model)
    called = Names([*caller_names(names, params, "why"), *known.items(), *variables], record)
    if param is None:
        answers = [_of_loss(one, record) for one in losses]
        return next((answer for answer in answers if not answer.good), answers[0])
    name = called.of(param, word)
    answers = [_of_parameter(one, param, name, record, called) for one in losses]
    return next((answer for answer in answers if answer.good), answers[0])


def _by_name(name: str, model: Any, known: Mapping[str, Any]) -> Any:
    """The tensor called so: a parameter, or what the model computes under that name, as weight_norm's weight."""
    if name in known:
        return known[name]
    value = model
    for piece in name.split("."):
        value = getattr(value, piece, None)
    if value is None or not is_tensor(value):
        close = get_close_matches(name, list(known), 1)
        more = f"; is it {close[0]!r}?" if close else "; give it as model="
        raise ValueError(f"why(): the model has no parameter {name!r}{more}")
    return value


def _of_loss(loss: Any, record: Any) -> Why:
    lines: tuple[str, ...]
    if in_transform(loss):
        verdict = "This is a value inside of a function transform (torch.func): the transform differentiates it."
        lines = ("backward() cannot be called inside of it, and no gradient is missing there.",)
        return Why(verdict, lines, "ask about what the transformed function gives back", True, kind="transform")
    if loss.requires_grad and loss.grad_fn is not None:
        leaves = plural(len(walk([loss]).leaves()), "leaf", "leaves")
        return Why(f"This requires a gradient: its graph leads back to {leaves}.", good=True, kind="fine")
    call = record.producer(loss) if record is not None else None
    cuts = _cuts_of(_cutting(record, call)) if call is not None else []
    if loss.requires_grad:
        verdict = "This is a leaf: backward() from it reaches nothing but its own .grad."
        if cuts:
            return _cut_off(verdict, cuts, record, kind="leaf")
        lines = ("No operation made it: it is a parameter, or a new tensor that was filled with values.",)
        advice = "leave out what made it anew: torch.tensor(loss), Variable(loss.data), loss.detach().requires_grad_()"
        return Why(verdict, lines, advice if call is not None and call.name else f"{advice}; {ASK}", kind="leaf")
    verdict = "This requires no gradient, so backward() has nothing to go through."
    if call is None:
        lines = (
            "No operation was recorded for it: everything it was made from required no gradient, or it was cut off by "
            "detach(), .data, no_grad(), item(), numpy(), a comparison or an integer type.",
        )
        return Why(verdict, lines, ASK, kind="unknown")
    if cuts:
        return _cut_off(verdict, cuts, record)
    sources = [*record.before(call), call]
    outside = [c for c in sources if not c.name and c.ref is not None]
    back = next((c for c in sources if c.name in FROM_ARRAYS), None)
    if back is not None and (gone := taken_out(record, back.index)):
        line = f"It was made {where(back.loc)} of an array or a number, and these left the graph before:"
        return _cut_off(verdict, gone, record, [line])
    if back is None and outside and (gone := taken_out(record, max(c.index for c in outside), ("numpy",))):
        line = "Nothing on the way was seen to be cut, but this left the graph before, and perhaps came back:"
        return _cut_off(verdict, gone, record, [line])
    place = transformed(record)
    if place is not None:
        lines = (f"A function transform {where(place)} gives plain values, without a history outside of it.",)
        advice = "put the whole loss inside of the function that is transformed, or use autograd.grad(..., "
        return Why(verdict, lines, f"{advice}create_graph=True)", kind="transform")
    fresh = [c for c in sources if c.name and not c.inputs and not c.writes]
    number = plural(len(outside) + len(fresh), "tensor")
    lines = (
        f"Nothing was cut: none of the {number} it was made from requires a gradient.",
        f"It was made {where(call.loc)}.",
    )
    return Why(verdict, lines, "set requires_grad=True on the tensors you want gradients of", kind="no leaf")


#: Calls that make a tensor of what is no tensor.
FROM_ARRAYS = frozenset({"from_numpy", "tensor", "as_tensor", "asarray", "Tensor", "full", "construct"})


def taken_out(record: Any, before: int, names: Container[str] = READS, of: set[int] | None = None) -> list[Cut]:
    """The cuts whose results were taken out of tensors (of ``of``), as numbers or arrays, before call ``before``."""
    taken = [call for call in record.calls[:before] if call.name in names and (call.how or call.inputs)]
    if of is not None:
        taken = [call for call in taken if of & set(call.inputs)]
    calls = {cut.index: cut for call in taken for cut in _cutting(record, call)}
    return _cuts_of([calls[at] for at in sorted(calls)])


def in_transform(tensor: Any) -> bool:
    """Whether a tensor stands for another one inside of a transform of torch.func."""
    level = level_of(tensor)
    if level is not None:
        return bool(level.has_function)
    functorch = getattr(getattr(sys.modules.get("torch"), "_C", None), "_functorch", None)
    if functorch is None or not type(tensor).__module__.startswith("torch"):
        return False
    return bool(functorch.is_functorch_wrapped_tensor(tensor))


def transformed(record: Any, word: str = "eager_transforms") -> Any:
    """The place of the first recorded call that was done inside of a transform of torch.func; None without one."""
    for call in record.calls:
        seat = call.seat
        while seat is not None:
            file = seat[1].co_filename
            if "_functorch" in file and word in file or "functional_call" == word == seat[1].co_name:
                while seat is not None and not is_users(seat[1]):
                    at, seat = seat[3], seat[2]
                return location(seat[1], at) if seat is not None else call.loc
            seat = seat[2]
    return None


def _of_parameter(loss: Any, param: Any, name: str, record: Any, known: Names) -> Why:
    if in_transform(loss):
        return _of_loss(loss, record)
    call = record.producer(param) if record is not None else None
    if not param.requires_grad:
        cuts = _cuts_of(_cutting(record, call)) if call is not None and call.name else []
        if cuts:
            return _cut_off(f"{_first(name)} gets no gradient: it is a result that was cut off before.", cuts, record)
        verdict = f"{_first(name)} gets no gradient: its requires_grad is False."
        return Why(verdict, (), f"call {_called(name)}.requires_grad_() before the forward pass", kind="frozen")
    walked = walk([loss]) if loss.grad_fn is not None else None
    if not param.is_leaf:
        return _of_result(param, name, call, walked, known)
    if loss is param:
        return Why(f"{_first(name)} is the loss itself.", good=True, kind="leaf")
    sink = None
    if walked is not None:
        sink = next((n for n in walked.nodes if op_name(n) == SINK and n.variable is param), None)
    if sink is not None:
        return _connected(loss, param, name, record, walked, sink)
    if not loss.requires_grad:
        answer = _of_loss(loss, record)
        return replace(answer, verdict=f"{_first(name)} gets no gradient, because the loss requires none.", good=False)
    hiding = opaque_nodes(walked.nodes) if walked is not None else []
    if hiding and (record is None or _holding(hiding, param) is not None):
        return _inside(param, name, hiding, record)
    answer = _apart(loss, param, name, record, walked, known)
    return _inside(param, name, hiding, record) if hiding and answer.kind in ("unused", "apart") else answer


def _holding(hiding: list[Any], param: Any) -> Any:
    """The opaque node that holds ``param``; None where none is seen to."""
    return next((node for node in hiding if id(param) in tensors_held(node)), None)


def _inside(param: Any, name: str, hiding: list[Any], record: Any) -> Why:
    """A leaf that is not in the graph, where a part of the graph cannot be seen."""
    node = _holding(hiding, param)
    place = place_of(node or hiding[0], record)
    if node is not None:
        verdict = f"{_first(name)} is used inside {op_name(node)}, whose backward computes its gradient."
        return Why(verdict, (in_words(node, place),), remedy(node), True, kind="opaque")
    verdict = f"{_first(name)} is not in the graph that is seen, and whether it gets a gradient cannot be told."
    return Why(verdict, (in_words(hiding[0], place),), remedy(hiding[0]), kind="opaque")


def place_of(node: Any, record: Any) -> str:
    """Where a node was made, as sentences name it; empty where it was not recorded."""
    call = record.of_age(sequence(node), "") if record is not None else None
    return where(call.loc) if call is not None else ""


def closed_lines(hiding: list[Any], record: Any) -> list[str]:
    """What is said of opaque nodes: those of one name and place once, with their number."""
    return once(in_words(node, place_of(node, record)) for node in hiding)


def _connected(loss: Any, param: Any, name: str, record: Any, walked: Any, sink: Any) -> Why:
    """A leaf in the graph of the loss: whether something arrived there, and what made it zero or kept it away."""
    verdict = f"{_first(name)} is in the graph of the loss, so backward() does reach it."
    stats = stats_of(param.grad) if param.grad is not None else None
    if stats is not None and not stats.finite:
        line = f"Its .grad has {stats.nan} NaN and {stats.inf} infinite numbers."
        return Why(verdict, (line,), "ask glassgrad.explore.trace_nan where they began", kind="nan")
    if param.grad is not None and (stats is None or not stats.all_zero):
        return Why(verdict, (_norm(stats),), good=True, kind="connected")
    freed = any(unpack(node, slot, f"_raw{slot}")[0] == "freed" for node in walked.nodes for slot in slots_of(node))
    own = _unavoidable(walked, sink, lambda node: is_users_function(node) and not is_opaque(node))
    flat = _unavoidable(walked, sink, lambda node: bool(flat_reason(op_name(node))[0]))
    if param.grad is None and not (own or flat):
        line = "Its .grad is None: backward() was not run yet, or zero_grad() has set it to None since."
        if freed:
            line = "Its .grad is None, though a backward pass went through the graph: zero_grad() has set it to None "
            line += "since, or backward(inputs=...) left it out."
        return Why(verdict, (line,), LOOK, True, kind="connected")
    head = "Its .grad is all zeros." if param.grad is not None else "Its .grad is None."
    seen = None if freed or opaque_nodes(walked.nodes) else _watched(loss, param, name, record, walked, sink)
    if seen is not None:
        return seen
    if flat or own:
        node = (flat or own)[0]
        place = place_of(node, record)
        line = f"Every way to it leads through {op_name(node)}{' ' + place if place else ''}"
    if flat:
        words, advice = flat_reason(op_name(node))
        verdict = f"{_first(name)} is in the graph of the loss, and gets zeros from it."
        return Why(verdict, (head, f"{line}: {words}."), advice, kind="zero")
    if own:
        line += ", a Function of yours: where its backward gives None or zeros, nothing arrives."
        advice = "look at what its backward returns, and whether zero_grad() was called since"
        return Why(verdict, (head, line), advice, not freed, kind="none" if param.grad is None else "zero")
    advice = "glassgrad.explore.observe(loss) in place of loss.backward() tells which operation it was"
    return Why(verdict, (head, "Something on the way made it zero."), advice, kind="zero")


def _norm(stats: Stats | None) -> str:
    """What is said of a gradient that is there."""
    return "Its .grad is there." if stats is None or stats.norm is None else f"Its .grad has the norm {stats.norm:.4g}."


def _watched(loss: Any, param: Any, name: str, record: Any, walked: Any, sink: Any) -> Why | None:
    """What a backward pass on the side shows to arrive at a leaf; None where it cannot be run or shows nothing."""
    graph, own = survey(loss, None, None, record, "why")
    try:
        graph = on_the_side(loss, graph, own, record)
    except (RuntimeError, TypeError, ValueError):  # of the backward pass: check() tells it
        return None
    index = next(i for i, one in enumerate(walked.nodes) if one is sink)
    leaf = next(e.src for e in graph.edges if e.dst == index and graph.nodes[e.src].kind == "leaf")
    causes = culprits(graph, leaf)
    start = f"{_first(name)} is in the graph of the loss, "
    if not causes:
        if param.grad is not None:
            return None
        said = ("Its .grad is None: backward() was not run yet.",)
        return Why(f"{start}so backward() does reach it.", said, LOOK, True, kind="connected")
    locs = [graph.nodes[cause.node].loc for cause in causes]
    lines = [f"{cause.text}{', ' + where(loc) if loc else ''}." for cause, loc in zip(causes, locs, strict=True)]
    kind, words = "zero", "but what arrives there is all zeros."
    if "gave None" in causes[0].text:
        kind, words = "none", "but no gradient arrives there."
    return Why(start + words, tuple(once(lines)), causes[0].advice, kind=kind)


def _unavoidable(walked: Any, sink: Any, test: Callable[[Any], bool]) -> list[Any]:
    """The nodes of a kind that stand on the ways to a sink, where no way avoids them; empty where one does."""
    goal = next(i for i, node in enumerate(walked.nodes) if node is sink)
    users: dict[int, list[int]] = {}
    for i, below in enumerate(walked.inputs):
        for edge in below:
            if edge is not None:
                users.setdefault(edge[0], []).append(i)
    barred, seen, waiting = [], {goal}, [goal]
    while waiting:
        here = waiting.pop()
        if here not in users and here != goal or here == 0 and here != goal:
            return []  # a root was reached without one
        for user in users.get(here, ()):
            if user in seen:
                continue
            seen.add(user)
            if test(walked.nodes[user]):
                barred.append(walked.nodes[user])
            else:
                waiting.append(user)
    return barred


def _of_result(param: Any, name: str, call: Any, walked: Any, known: Names) -> Why:
    """A tensor that an operation made: its ``.grad`` is not kept."""
    if getattr(param, "retains_grad", False):
        verdict = f"{_first(name)} is no leaf, and keeps its .grad because of retain_grad()."
        words = "backward() was not run yet." if param.grad is None else _norm(stats_of(param.grad))
        return Why(verdict, (words,), good=True, kind="retained")
    maker, leaves = op_name(param.grad_fn), walk([param]).leaves()
    names = tuple(f"{known.of(leaf, 'a leaf')} of shape {list(leaf.shape)}" for leaf in leaves if len(leaves) < 4)
    place = f" {where(call.loc)}" if call and call.name else ""
    lines = [
        f"{_first(name)} is no leaf: it was made by {maker}{place}.",
        "backward() passes its gradient on and keeps only those of leaves.",
    ]
    if names:
        ends = "leaf" if len(leaves) == 1 else "leaves"
        lines.append(f"The gradient ends in the {ends} behind it: {', '.join(names)}.")
    nodes = walked.nodes if walked is not None else []
    inside = any(node is param.grad_fn for node in nodes)
    reached = {id(node.variable) for node in nodes if op_name(node) == SINK}
    behind = [known.of(leaf) for leaf in leaves if id(leaf) in reached]
    anew = not inside and bool(behind) and all(behind)  # computed whenever it is read, as weight_norm's weight is
    advice = f"call {_called(name)}.retain_grad() before backward()"
    if anew:
        verb = "is" if len(behind) == 1 else "are"
        lines.append(f"This very tensor is not in the graph of the loss, but {' and '.join(behind)} {verb}.")
    if anew or any("parametrizations." in n or n.rpartition(".")[2] in ("weight_g", "weight_v") for n in behind):
        advice = f"ask about {' or '.join(behind)}"
    else:
        if len(leaves) == 1 and maker.startswith(("ToCopy", "Clone", "Mul", "Div", "View", "Reshape", "T", "Copy")):
            line = "Perhaps the leaf itself was meant to be this tensor: .to(), .cuda() or arithmetic made a new one."
            lines.append(line)
            advice += ", or make the tensor in its final form and call .requires_grad_() on it last"
        if not inside:
            lines.append("Besides, it is not in the graph of the loss.")
            advice = "use it in the loss; its .grad is kept after retain_grad()"
    title = f"{_first(name)} has no .grad because it is no leaf."
    return Why(title, tuple(lines), advice, kind="not a leaf", names=names)


def _apart(loss: Any, param: Any, name: str, record: Any, walked: Any, known: Names) -> Why:
    """A leaf that requires a gradient and is not in the graph of the loss."""
    verdict = f"{_first(name)} gets no gradient: it is not in the graph of the loss."
    reached = walked.leaves() if walked is not None else []
    others = tuple(known.of(leaf, f"a leaf of shape {list(leaf.shape)}") for leaf in reached)
    tail = f"The loss leads back to {listed(others)}." if others else "The loss leads back to no leaf."
    if loss.grad_fn is None and loss.requires_grad:
        tail = "The loss is a leaf itself: torch.tensor(), .data and detach().requires_grad_() make such a tensor anew."
    start, end = (record.producer(param), record.producer(loss)) if record is not None else (None, None)
    if end is None:
        if (user := _constant_of(param, walked)) is not None:
            return _frozen_then(name, f"by {user}", others)
        unheard = () if record is None else ("The loss was not made inside the recording.",)
        return Why(verdict, (tail, *unheard), ASK, kind="apart", names=others)
    users = _depending(record, start.index) if start is not None else []
    if start is None or not users:
        return _never_used(verdict, name, record, end, tail, others)
    behind = {call.index for call in record.before(end)} | {end.index}
    reaching = [call for call in users if call.index in behind]
    between = [call for call in reaching if call.how is not None]
    if between:
        return _cut_off(verdict, _cuts_of(between), record, names=others)
    if reaching and not any(call.writes for call in reaching) and start.index in reaching[0].inputs:
        return _frozen_then(name, f"at that time ({where(reaching[0].loc).removeprefix('at ')})", others)
    line = f"{_first(name)} was used {where(users[0].loc)}, but nothing of that is seen to go into the loss."
    cuts = taken_out(record, end.index, of={start.index, *(call.index for call in users)})
    if cuts:
        gone = "What came of it was taken out of the graph, and perhaps came back as a number or an array:"
        return _cut_off(verdict, cuts, record, [line, gone], names=others)
    apart = [call for call in users if call.how is not None]
    if apart:
        return _cut_off(verdict, _cuts_of(apart), record, [line, "What came of it left the graph here:"], names=others)
    last = f"The last thing made of it, {where(users[-1].loc)}, was not seen to be used."
    advice = "use the result itself in the loss; a new nn.Parameter, or a write through .data, has no history"
    return Why(verdict, (line, last, tail), advice, kind="unused", names=others)


def _never_used(verdict: str, name: str, record: Any, end: Any, tail: str, others: tuple[str, ...]) -> Why:
    """A leaf that no recorded operation used."""
    module = name.rpartition(".")[0]
    lines = [f"No operation used {name} during the recorded forward pass."]
    if module and record.model is not None:
        own = dict(record.model.named_modules()).get(module)
        if own is None or not any(entered.module is own for entered in record.entered):
            lines.append(f"The module {module} was never called.")
    place = transformed(record, "functional_call")
    if place is not None:
        lines.append(f"functional_call {where(place)} puts the tensors it is given in the place of the parameters.")
        advice = "ask about the tensors that functional_call was given"
        return Why(verdict, (*lines, tail), advice, kind="unused", names=others)
    hiding = [call for call in (*record.before(end), end) if call.how == "checkpoint"]
    if hiding:  # what is used in there is not heard
        return _cut_off(verdict, _cuts_of(hiding), None, after=[tail], names=others)
    advice = "use it in forward(), or do not give it to the optimizer"
    return Why(verdict, (*lines, tail), advice, kind="unused", names=others)


def _frozen_then(name: str, when: str, others: tuple[str, ...]) -> Why:
    """A leaf that the loss was computed from while it required no gradient."""
    verdict = f"{_first(name)} gets no gradient: it required none when the loss was computed."
    lines = (f"It was used {when} as a constant; its requires_grad is True only since then.",)
    advice = "run the forward pass again: requires_grad counts at that moment"
    return Why(verdict, lines, advice, kind="frozen", names=others)


def _constant_of(param: Any, walked: Any) -> str | None:
    """The operation that saved ``param`` without passing a gradient on to it; None where none did."""
    memory = memory_of(param)
    for node in walked.nodes if walked is not None else ():
        for name in slots_of(node):
            state, value = unpack(node, name, f"_raw{name}")
            if state == "ok" and is_tensor(value) and memory_of(value) is memory and tuple(value.shape):
                return op_name(node)
    return None


def _depending(record: Any, at: int) -> list[Any]:
    """Every call that used what call ``at`` gave, directly or through others, in order."""
    users, marked = [], {at}
    for call in record.calls[at + 1 :]:
        if not marked.isdisjoint(call.inputs):
            marked.add(call.index)
            users += [call] if call.name else []
    return users


def _cutting(record: Any, call: Any) -> list[Any]:
    """The cuts among everything a call's result was computed from: the last on each way."""
    calls = record.calls
    behind = reach(call.index, lambda at: calls[at].inputs if calls[at].how is None else ())
    return [calls[at] for at in sorted(behind) if calls[at].how is not None]


def _cuts_of(calls: Iterable[Any]) -> list[Cut]:
    """Recorded cuts as the records of an answer."""
    told = [(call, *_how(call)) for call in calls]
    return [Cut(i, how, call.loc, reason, tensor=call.info) for i, (call, how, reason) in enumerate(told)]


def _cut_off(
    verdict: str, cuts: list[Cut], record: Any, before: Iterable[str] = (), after: Iterable[str] = (),
    kind: str = "cut", names: tuple[str, ...] = (),
) -> Why:  # fmt: skip
    """The answer that some cuts are, each told with its line."""
    lines = once(f"{cut.how} {where(cut.loc)}: {cut.reason}." for cut in cuts)
    return Why(verdict, (*before, *lines, *after), _remedy(cuts, record), kind=kind, cuts=tuple(cuts), names=names)


def _remedy(cuts: list[Cut], record: Any) -> str:
    """What to do about the first cut; one that was made for an array's sake cannot simply be left out."""
    how = cuts[0].how
    if how in ("detach", "data") and record is not None:
        at = {call.index for call in record.calls if call.how is not None and call.loc == cuts[0].loc}
        if any(call.name == "numpy" and at & set(call.inputs) for call in record.calls):
            how = "numpy"
    return REMEDIES.get(how, "")


def _first(words: str) -> str:
    return words[:1].upper() + words[1:] if words == "this tensor" else words


def _called(name: str) -> str:
    return "the tensor" if name == "this tensor" else name
