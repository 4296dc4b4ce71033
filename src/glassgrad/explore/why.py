"""Why a gradient is missing, floor 8: the cut between a tensor and the loss, with file and line, in either engine."""

from __future__ import annotations

import sys
from collections.abc import Callable, Container, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any

from .answer import Answer, listed, once, plural, recording_of, where
from .labels import Names, caller_names, callers_variables
from .measure import stats_of
from .model import Cut
from .observe import on_the_side
from .read import as_losses, as_tensors, level_of, memory_of, slots_of, unpack
from .reasons import READS, REMEDIES, culprits, flat_reason
from .source import is_users, location
from .survey import _how, _survey, parameters_of
from .walk import (
    SINK,
    in_words,
    is_opaque,
    is_tensor,
    is_users_function,
    op_name,
    opaque_nodes,
    remedy,
    sequence,
    tensors_held,
    walk,
)

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
    call = record.producer(loss) if record is not None else None
    cuts = _cuts_behind(record, call) if call is not None else []
    if in_transform(loss):
        verdict = "This is a value inside of a function transform (torch.func): the transform differentiates it."
        lines = ("backward() cannot be called inside of it, and no gradient is missing there.",)
        return Why("transform", verdict, lines, "ask about what the transformed function gives back", good=True)
    if loss.requires_grad and loss.grad_fn is not None:
        leaves = sum(op_name(node) == SINK for node in walk([loss]).nodes)
        return Why("fine", f"This requires a gradient: its graph leads back to {plural(leaves, 'leaf', 'leaves')}.",
                   good=True)  # fmt: skip
    if loss.requires_grad:
        verdict = "This is a leaf: backward() from it reaches nothing but its own .grad."
        if cuts:
            return Why("leaf", verdict, _cut_lines(cuts), _remedy(cuts, record), False, tuple(cuts))
        lines = ("No operation made it: it is a parameter, or a new tensor that was filled with values.",)
        advice = "leave out what made it anew: torch.tensor(loss), Variable(loss.data), loss.detach().requires_grad_()"
        return Why("leaf", verdict, lines, advice if call is not None and call.name else f"{advice}; {ASK}")
    verdict = "This requires no gradient, so backward() has nothing to go through."
    if call is None:
        lines = (
            "No operation was recorded for it: everything it was made from required no gradient, or it was cut off by "
            "detach(), .data, no_grad(), item(), numpy(), a comparison or an integer type.",
        )
        return Why("unknown", verdict, lines, ASK)
    if cuts:
        return Why("cut", verdict, _cut_lines(cuts), _remedy(cuts, record), False, tuple(cuts))
    sources = [*record.before(call), call]
    back = next((c for c in sources if c.name in FROM_ARRAYS), None)
    gone = taken_out(record, back.index) if back is not None else []
    if back is not None and gone:
        lines = (f"It was made {where(back.loc)} of an array or a number, and these left the graph before:",)
        return Why("cut", verdict, (*lines, *_cut_lines(gone)), _remedy([*gone], record), False, tuple(gone))
    strange = [c.index for c in sources if not c.name and c.ref is not None]
    gone = [] if back is not None or not strange else taken_out(record, max(strange), ("numpy",))
    if gone:
        lines = ("Nothing on the way was seen to be cut, but this left the graph before, and perhaps came back:",)
        return Why("cut", verdict, (*lines, *_cut_lines(gone)), _remedy([*gone], record), False, tuple(gone))
    place = transformed(record)
    if place is not None:
        lines = (f"A function transform {where(place)} gives plain values, without a history outside of it.",)
        return Why("transform", verdict, lines, "put the whole loss inside of the function that is transformed, or use "
                   "autograd.grad(..., create_graph=True)")  # fmt: skip
    outside = [c for c in sources if not c.name and c.ref is not None]
    fresh = [c for c in sources if c.name and not c.inputs and not c.writes]
    number = len(outside) + len(fresh)
    details = [f"Nothing was cut: none of the {plural(number, 'tensor')} it was made from requires a gradient."]
    details.append(f"It was made {where(call.loc)}.")
    return Why("no leaf", verdict, tuple(details), "set requires_grad=True on the tensors you want gradients of")


#: Calls that make a tensor of what is no tensor.
FROM_ARRAYS = frozenset({"from_numpy", "tensor", "as_tensor", "asarray", "Tensor", "full", "construct"})


def taken_out(record: Any, before: int, names: Container[str] = READS, of: set[int] | None = None) -> list[Cut]:
    """The cuts whose results were taken out of tensors (of ``of``), as numbers or arrays, before call ``before``."""
    taken = [call for call in record.calls[:before] if call.name in names and (call.how or call.inputs)]
    if of is not None:
        taken = [call for call in taken if of & set(call.inputs)]
    calls = {cut.index: cut for call in taken for cut in _cutting(record, call)}
    return [_cut(i, calls[at]) for i, at in enumerate(sorted(calls))]


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
        if call is not None and call.name:
            cuts = _cuts_behind(record, call)
            if cuts:
                verdict = f"{_first(name)} gets no gradient: it is a result that was cut off before."
                return Why("cut", verdict, _cut_lines(cuts), _remedy(cuts, record), False, tuple(cuts))
        verdict = f"{_first(name)} gets no gradient: its requires_grad is False."
        return Why("frozen", verdict, (), f"call {_called(name)}.requires_grad_() before the forward pass")
    walked = walk([loss]) if loss.grad_fn is not None else None
    if not param.is_leaf:
        return _of_result(param, name, call, walked, known)
    if loss is param:
        return Why("leaf", f"{_first(name)} is the loss itself.", good=True)
    sink = None
    if walked is not None:
        sink = next((n for n in walked.nodes if op_name(n) == SINK and n.variable is param), None)
    if sink is not None:
        return _connected(loss, param, name, record, walked, sink)
    if not loss.requires_grad:
        answer = _of_loss(loss, record)
        verdict = f"{_first(name)} gets no gradient, because the loss requires none."
        return Why(answer.kind, verdict, answer.lines, answer.advice, False, answer.cuts)
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


def _connected(loss: Any, param: Any, name: str, record: Any, walked: Any, sink: Any) -> Why:
    """A leaf in the graph of the loss: whether something arrived there, and what made it zero or kept it away."""
    verdict = f"{_first(name)} is in the graph of the loss, so backward() does reach it."
    stats = stats_of(param.grad) if param.grad is not None else None
    if stats is not None and not stats.finite:
        return Why("nan", verdict, (f"Its .grad has {stats.nan} NaN and {stats.inf} infinite numbers.",),
                   "ask glassgrad.explore.trace_nan where they began", False)  # fmt: skip
    if stats is not None and not (stats.count and stats.zero == stats.count):
        return Why("connected", verdict, (f"Its .grad has the norm {stats.norm:.4g}.",), "", True)
    if param.grad is not None and stats is None:
        return Why("connected", verdict, ("Its .grad is there.",), "", True)
    freed = any(unpack(node, slot, f"_raw{slot}")[0] == "freed" for node in walked.nodes for slot in slots_of(node))
    own = _unavoidable(walked, sink, lambda node: is_users_function(node) and not is_opaque(node))
    flat = _unavoidable(walked, sink, lambda node: bool(flat_reason(op_name(node))[0]))
    if param.grad is None and not (own or flat):
        lines = ["Its .grad is None: backward() was not run yet, or zero_grad() has set it to None since."]
        advice = "look at .grad after loss.backward() and before zero_grad()"
        if freed:
            lines = ["Its .grad is None, though a backward pass went through the graph: zero_grad() has set it to None "
                     "since, or backward(inputs=...) left it out."]  # fmt: skip
        return Why("connected", verdict, tuple(lines), advice, True)
    head = "Its .grad is all zeros." if param.grad is not None else "Its .grad is None."
    seen = None if freed or opaque_nodes(walked.nodes) else _watched(loss, param, name, record, walked, sink)
    if seen is not None:
        return seen
    if flat:
        place = place_of(flat[0], record)
        words, advice = flat_reason(op_name(flat[0]))
        line = f"Every way to it leads through {op_name(flat[0])}{' ' + place if place else ''}: {words}."
        return Why("zero", f"{_first(name)} is in the graph of the loss, and gets zeros from it.", (head, line), advice)
    if own:
        place = place_of(own[0], record)
        line = f"Every way to it leads through {op_name(own[0])}{' ' + place if place else ''}, a Function of yours: "
        line += "where its backward gives None or zeros, nothing arrives."
        advice = "look at what its backward returns, and whether zero_grad() was called since"
        return Why("none" if param.grad is None else "zero", verdict, (head, line), advice, not freed)
    return Why("zero", verdict, (head, "Something on the way made it zero."),
               "glassgrad.explore.observe(loss) in place of loss.backward() tells which operation it was")  # fmt: skip


def _watched(loss: Any, param: Any, name: str, record: Any, walked: Any, sink: Any) -> Why | None:
    """What a backward pass on the side shows to arrive at a leaf; None where it cannot be run or shows nothing."""
    graph, own = _survey(loss, None, None, record, "why")
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
        advice = "look at .grad after loss.backward() and before zero_grad()"
        return Why("connected", f"{start}so backward() does reach it.", said, advice, True)
    lines = []
    for cause in causes:
        loc = graph.nodes[cause.node].loc
        lines.append(f"{cause.text}{', ' + where(loc) if loc else ''}.")
    kind, words = "zero", "but what arrives there is all zeros."
    if "gave None" in causes[0].text:
        kind, words = "none", "but no gradient arrives there."
    return Why(kind, start + words, tuple(once(lines)), causes[0].advice)


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
    maker = op_name(param.grad_fn)
    leaves = [node.variable for node in walk([param]).nodes if op_name(node) == SINK]
    names = tuple(f"{known.of(leaf, 'a leaf')} of shape {list(leaf.shape)}" for leaf in leaves if len(leaves) < 4)
    lines = [
        f"{_first(name)} is no leaf: it was made by {maker}" + (f" {where(call.loc)}." if call and call.name else ".")
    ]
    lines.append("backward() passes its gradient on and keeps only those of leaves.")
    if names:
        lines.append(
            f"The gradient ends in the {'leaf' if len(leaves) == 1 else 'leaves'} behind it: {', '.join(names)}."
        )
    title = f"{_first(name)} has no .grad because it is no leaf."
    if getattr(param, "retains_grad", False):
        stats = None if param.grad is None else stats_of(param.grad)
        words = f"Its .grad has the norm {stats.norm:.4g}." if stats is not None and stats.norm is not None else ""
        words = words or ("Its .grad is there." if param.grad is not None else "backward() was not run yet.")
        return Why("retained", f"{_first(name)} is no leaf, and keeps its .grad because of retain_grad().", (words,),
                   "", True)  # fmt: skip
    nodes = walked.nodes if walked is not None else []
    inside = any(node is param.grad_fn for node in nodes)
    reached = {id(node.variable) for node in nodes if op_name(node) == SINK}
    behind = [known.of(leaf) for leaf in leaves if id(leaf) in reached]
    if not inside and behind and all(behind):  # computed anew whenever it is read, as weight_norm's weight is
        lines.append(f"This very tensor is not in the graph of the loss, but {' and '.join(behind)} "
                     f"{'is' if len(behind) == 1 else 'are'}.")  # fmt: skip
        return Why("not a leaf", title, tuple(lines), f"ask about {' or '.join(behind)}", names=names)
    if any("parametrizations." in one or one.rpartition(".")[2] in ("weight_g", "weight_v") for one in behind):
        return Why("not a leaf", title, tuple(lines), f"ask about {' or '.join(behind)}", names=names)
    advice = f"call {_called(name)}.retain_grad() before backward()"
    if len(leaves) == 1 and maker.startswith(("ToCopy", "Clone", "Mul", "Div", "View", "Reshape", "T", "Copy")):
        lines.append(
            "Perhaps the leaf itself was meant to be this tensor: .to(), .cuda() or arithmetic made a new one."
        )
        advice += ", or make the tensor in its final form and call .requires_grad_() on it last"
    if not inside:
        lines.append("Besides, it is not in the graph of the loss.")
        advice = "use it in the loss; its .grad is kept after retain_grad()"
    return Why("not a leaf", title, tuple(lines), advice, names=names)


def _apart(loss: Any, param: Any, name: str, record: Any, walked: Any, known: Names) -> Why:
    """A leaf that requires a gradient and is not in the graph of the loss."""
    verdict = f"{_first(name)} gets no gradient: it is not in the graph of the loss."
    reached = [node.variable for node in walked.nodes if op_name(node) == SINK] if walked is not None else []
    others = [known.of(leaf, f"a leaf of shape {list(leaf.shape)}") for leaf in reached]
    tail = f"The loss leads back to {listed(others)}." if others else "The loss leads back to no leaf."
    if loss.grad_fn is None and loss.requires_grad:
        tail = "The loss is a leaf itself: torch.tensor(), .data and detach().requires_grad_() make such a tensor anew."
    start, end = (record.producer(param), record.producer(loss)) if record is not None else (None, None)
    if end is None and (user := _constant_of(param, walked)) is not None:
        return _frozen_then(name, f"by {user}", others)
    if record is None:
        return Why("apart", verdict, (tail,), ASK, names=tuple(others))
    if end is None:
        return Why("apart", verdict, (tail, "The loss was not made inside the recording."), ASK, names=tuple(others))
    users = _depending(record, start.index) if start is not None else {}
    if start is None or not users:
        module = name.rpartition(".")[0]
        lines = [f"No operation used {name} during the recorded forward pass."]
        if (
            module
            and record.model is not None
            and not any(_is(record, entered.module, module) for entered in record.entered)
        ):
            lines.append(f"The module {module} was never called.")
        place = transformed(record, "functional_call")
        if place is not None:
            line = f"functional_call {where(place)} puts the tensors it is given in the place of the parameters."
            return Why("unused", verdict, (*lines, line, tail), "ask about the tensors that functional_call was given",
                       names=tuple(others))  # fmt: skip
        hiding = [call for call in (*record.before(end), end) if call.how == "checkpoint"]
        if hiding:  # what is used in there is not heard
            cuts = [_cut(i, call) for i, call in enumerate(hiding)]
            return Why("cut", verdict, (*_cut_lines(cuts), tail), _remedy(cuts), False, tuple(cuts), tuple(others))
        return Why("unused", verdict, (*lines, tail), "use it in forward(), or do not give it to the optimizer",
                   names=tuple(others))  # fmt: skip
    behind = {call.index for call in record.before(end)} | {end.index}
    between = [record.calls[at] for at in users if at in behind and record.calls[at].how is not None]
    if between:
        cuts = [_cut(i, call) for i, call in enumerate(between)]
        return Why("cut", verdict, _cut_lines(cuts), _remedy(cuts, record), False, tuple(cuts), tuple(others))
    reaching = [at for at in users if at in behind]
    written = any(record.calls[at].writes for at in reaching)
    if reaching and not written and start.index in record.calls[reaching[0]].inputs:
        return _frozen_then(name, f"at that time ({where(record.calls[reaching[0]].loc).removeprefix('at ')})", others)
    first = record.calls[min(users)]
    lines = [f"{_first(name)} was used {where(first.loc)}, but nothing of that is seen to go into the loss."]
    cuts = taken_out(record, end.index, of={start.index, *users})
    if cuts:
        lines.append("What came of it was taken out of the graph, and perhaps came back as a number or an array:")
        advice = _remedy([*cuts], record)
        return Why("cut", verdict, (*lines, *_cut_lines(cuts)), advice, False, tuple(cuts), tuple(others))
    apart = [record.calls[at] for at in users if record.calls[at].how is not None]
    if apart:
        cuts = [_cut(i, call) for i, call in enumerate(apart)]
        lines.append("What came of it left the graph here:")
        advice = _remedy(cuts, record)
        return Why("cut", verdict, (*lines, *_cut_lines(cuts)), advice, False, tuple(cuts), tuple(others))
    last = record.calls[max(users)]
    lines.append(f"The last thing made of it, {where(last.loc)}, was not seen to be used.")
    advice = "use the result itself in the loss; a new nn.Parameter, or a write through .data, has no history"
    return Why("unused", verdict, (*lines, tail), advice, names=tuple(others))


def _frozen_then(name: str, when: str, others: list[str]) -> Why:
    """A leaf that the loss was computed from while it required no gradient."""
    verdict = f"{_first(name)} gets no gradient: it required none when the loss was computed."
    lines = (f"It was used {when} as a constant; its requires_grad is True only since then.",)
    return Why("frozen", verdict, lines, "run the forward pass again: requires_grad counts at that moment", False, (),
               tuple(others))  # fmt: skip


def _constant_of(param: Any, walked: Any) -> str | None:
    """The operation that saved ``param`` without passing a gradient on to it; None where none did."""
    memory = memory_of(param)
    for node in walked.nodes if walked is not None else ():
        for name in slots_of(node):
            state, value = unpack(node, name, f"_raw{name}")
            if state == "ok" and is_tensor(value) and memory_of(value) is memory and tuple(value.shape):
                return op_name(node)
    return None


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


def _cutting(record: Any, call: Any) -> list[Any]:
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
    return sorted(cutting, key=lambda one: one.index)


def _cuts_behind(record: Any, call: Any) -> list[Cut]:
    """See :func:`_cutting`, as the records of an answer."""
    return [_cut(i, one) for i, one in enumerate(_cutting(record, call))]


def _cut(index: int, call: Any) -> Cut:
    how, reason = _how(call)
    return Cut(index, how, call.loc, reason, (), (), call.info)


def _cut_lines(cuts: Any) -> tuple[str, ...]:
    return tuple(once(f"{cut.how} {where(cut.loc)}: {cut.reason}." for cut in cuts))


def _remedy(cuts: Any, record: Any = None) -> str:
    """What to do about the first cut; one that was made for an array's sake cannot simply be left out."""
    if not cuts:
        return ""
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
