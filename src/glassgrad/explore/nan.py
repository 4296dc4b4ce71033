"""Where NaN or infinity began, floor 8: the first operation on the way forward, or the first on the way back."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from .answer import Answer, recording_of, where
from .labels import Names, caller_names, callers_variables
from .measure import is_finite, stats_of
from .model import Graph, Node, SourceLoc, Stats
from .observe import first_bad, on_the_side, saved_stats
from .place import module_of
from .read import as_losses
from .reasons import Reason, backward_reason, certain, forward_reason
from .record import Recording
from .survey import parameters_of, survey
from .walk import SINK, Walk, custom_class, engine_of, is_tensor, op_name

__all__ = ["TraceNan", "trace_nan"]


@dataclass(frozen=True, repr=False, kw_only=True)
class TraceNan(Answer):
    """The answer of :func:`trace_nan`: ``phase`` is ``input``, ``forward``, ``backward`` or empty.

    ``op`` is the operation: that gave the first bad number or, where the ``phase`` is ``input``, that was given one in
    a tensor no operation made; ``name`` is what that tensor is called.
    """

    phase: str = ""
    op: str = ""
    loc: SourceLoc | None = None
    scope: str = ""
    graph: Graph | None = None
    name: str = ""


def trace_nan(what: Any, *, record: Any = None, model: Any = None, names: Any = None, params: Any = None) -> TraceNan:
    """The first NaN or infinite number: in a tensor from outside, in an operation's result, or on the way back.

    ``what`` is a function without arguments that does the forward pass and gives the loss (it is run, recorded), or a
    loss that was made inside ``with record(values=True)``, or any loss: then what its graph kept is looked at. The
    backward pass is run on the side: ``.grad`` stays as it was and the graph is kept. TypeError for anything else.
    """
    if isinstance(what, Recording):
        raise TypeError("trace_nan(): give the loss, and the recording as record=")
    variables = callers_variables()
    if not is_tensor(what) and isinstance(what, Callable):  # type: ignore[arg-type]
        record = Recording(model, values=True)
        with record:
            loss = what()
    else:
        loss = what
    losses = as_losses(loss, "trace_nan")
    loss = next((one for one in losses if is_finite(one) is False), losses[0])
    record = recording_of((loss,), record)
    model = model if model is not None or record is None else record.model
    known = Names([*caller_names(names, params, "trace_nan"), *parameters_of(model).items(), *variables], record)
    graph, walked = survey(loss, None, model, record, "trace_nan")
    forward = _forward(record, known)
    if is_finite(loss) is False:
        answer = forward if forward is not None else _kept(graph, walked, known)
        return replace(answer, graph=graph) if answer is not None else TraceNan(
            "The loss is not finite, and no value that its graph kept is to blame.", phase="forward", graph=graph,
            advice="hand trace_nan a function that does the forward pass: it counts the numbers in every result",
        )  # fmt: skip
    harmless = () if forward is None else (f"It did no harm that {forward.verdict[:1].lower()}{forward.verdict[1:]}",)
    if not loss.requires_grad:
        return TraceNan("The loss is finite, and requires no gradient.", harmless, good=True, graph=graph)
    graph = on_the_side(loss, graph, walked, record)
    node = first_bad(graph)
    if node is None:
        verdict = "No NaN and no infinite number on the way back"
        verdict += ", and none on the way forward." if _has_values(record) and not harmless else "."
        return TraceNan(verdict, harmless, good=True, graph=graph)
    if forward is None and any(not stats.finite for stats in saved_stats(walked.nodes[node.index]).values()):
        forward = _kept(graph, walked, known)
    engine = engine_of(losses)
    if forward is not None:  # the loss is finite, and what became bad before spoils the gradients
        line = f"The loss is finite all the same; on the way back {node.op} made NaN or infinity of it."
        advice = _with_switch(forward.advice, node, engine)
        return replace(forward, graph=graph, lines=(*forward.lines, line), advice=advice)
    return _backward(graph, node, walked.nodes[node.index], engine)


def _with_switch(advice: str, node: Node, engine: str) -> str:
    """Advice on a node's bad gradient; where zeros arrived, with the switch that glassgrad has for masked branches."""
    bad = any(g is not None and g.stats is not None and g.stats.nan for g in node.grads_in)
    came = node.grad.stats if node.grad is not None else None
    if engine != "glassgrad" or not bad or came is None or not came.zero:
        return advice
    switch = "run backward under glassgrad.autograd.set_masked_gradients(True), which keeps zeros of masked branches"
    return f"{advice}; or {switch}" if advice else switch


def _made(verdict: str, lines: list[str], reason: Reason, **more: Any) -> TraceNan:
    """The answer where an operation made the first bad number: what is said of it, the reason, and its ``scope``."""
    words, advice = reason
    lines += [f"The reason: {words}."] if words else []
    lines += [f"It was done in {more['scope']}."] if more.get("scope") else []
    return TraceNan(verdict, tuple(lines), advice, **more)


def _stands(loc: SourceLoc | None) -> list[str]:
    return [f"It stands {where(loc)}."] if loc else []


def _given(name: str, verb: str, tail: str, stats: Any, spoiled: bool, lines: list[str], **more: Any) -> TraceNan:
    """The answer where a tensor was bad that no operation made; ``spoiled`` is one that is trained."""
    start = f"{name[:1].upper()}{name[1:]}" if " " in name else name
    verdict = f"{start} {verb} {stats.flaw[1]} in it{tail}: {stats.nan or stats.inf:,} of its {stats.count:,} numbers."
    advice = SPOILED if spoiled else "look at the data: isnan().any() before it is used"
    return TraceNan(verdict, tuple(lines), advice, phase="input", name=name, **more)


def _backward(graph: Graph, node: Node, handle: Any, engine: str) -> TraceNan:
    """The answer where a node turned finite gradients into others."""
    stats = next(g.stats for g in node.grads_in if g is not None and g.stats is not None and not g.stats.finite)
    verdict = f"{node.op} was given finite gradients and gave {stats.flaw[1]}: the first on the way back."
    lines = [f"The operation stands {where(node.loc)}."] if node.loc else []
    lines += [node.sentence] if node.sentence else []
    kept = [(saved.slot, saved.tensor.value) for saved in node.saved if saved.tensor is not None]
    lines += [f"It saved {slot} = {value}." for slot, value in kept if value is not None]
    if custom_class(handle) is not None:
        reason = "", "look at its backward(): the function is one of your own"
    else:
        came = node.grad.stats if node.grad is not None else None
        words, advice = backward_reason(node.op, saved_stats(handle), came)
        reason = words, _with_switch(advice, node, engine)
    scope = "" if node.scope is None else graph.scopes[node.scope].path or graph.scopes[node.scope].cls
    return _made(verdict, lines, reason, phase="backward", op=node.op, loc=node.loc, scope=scope, graph=graph)


#: Operations that are asked for infinities, as masks are made of; what only hands those on is not to blame either.
MASKS = frozenset({"masked_fill", "masked_fill_", "full", "full_like", "fill_", "where", "setitem", "new_full"})


def _forward(record: Any, known: Names) -> TraceNan | None:
    """The first recorded call that gave a number which is not finite, unbidden; or was given one from outside."""
    if not _has_values(record):
        return None
    record.arrange()
    bidden: set[int] = set()
    calls = record.calls
    for index, call in enumerate(calls):
        if not _bad_before(call):
            continue
        stats = call.info.stats
        spoiled = [(at, info) for at, info in call.taken_in if info.stats is not None and not info.stats.finite]
        fresh = [(at, info) for at, info in spoiled if not _bad_before(calls[at]) and at not in bidden]
        if not stats.nan:
            if call.name in MASKS or not bidden.isdisjoint(call.inputs) or (fresh and all(_mask(i) for _, i in fresh)):
                bidden.add(index)  # a mask of infinities, from outside too
                continue
        bad = next(((at, info) for at, info in fresh if not _mask(info)), None)
        return _from_call(call, stats, known) if bad is None else _from_outside(record, call, *bad, known)
    return None


def _bad_before(call: Any) -> bool:
    """Whether the call is known to have given numbers that are not finite."""
    return bool(call.name) and call.info is not None and call.info.stats is not None and not call.info.stats.finite


def _mask(info: Any) -> bool:
    """Whether a tensor has no NaN and no other infinities than -inf, as masks that are added have."""
    return not info.stats.nan and bool(info.stats.inf) and (info.stats.high is None or info.stats.high <= 0)


def _from_outside(record: Any, call: Any, at: int, info: Any, known: Names) -> TraceNan:
    """The answer where a tensor that no recorded operation spoiled was bad when it was used."""
    name = known.of_call(at) or f"a tensor of shape {list(info.shape)}"
    stats, scope, writer = info.stats, module_of(call.place), record.calls[at]
    if writer.writes:  # what is written in place has no numbers of its own in the notes
        verdict = f"{writer.name} wrote {stats.flaw[1]} into {name}: the first in the forward pass."
        said = (f"It stands {where(writer.loc)}.", f"{call.name} {where(call.loc)} is the first to use it.")
        return TraceNan(
            verdict, said, "look at the value that is written there", phase="forward", op=writer.name, loc=writer.loc,
            scope=module_of(writer.place), name=name,
        )  # fmt: skip
    lines = [f"It was used first by {call.name} {where(call.loc)}."]
    if writer.name:
        lines.append(f"It was made by {writer.name} {where(writer.loc)}, and changed since.")
    if scope:
        lines.append(f"That was done in {scope}.")
    tensor = writer.ref() if writer.ref is not None else None
    trained = tensor is not None and tensor.requires_grad
    tail = " before the forward pass used it"
    return _given(name, "had", tail, stats, trained, lines, op=call.name, loc=call.loc, scope=scope)


def _from_call(call: Any, stats: Stats, known: Names) -> TraceNan:
    """The answer where an operation made the first bad number of good ones."""
    verdict = f"{call.name} gave {stats.flaw[1]} in the forward pass: the first to do so."
    lines = [f"It stands {where(call.loc)}."]
    for at, info in call.taken_in:
        name = known.of_call(at) or "a tensor"
        if info.value is not None:
            lines.append(f"It was given {name} = {info.value}.")
        elif info.stats is not None and info.stats.low is not None and info.stats.high is not None:
            lines.append(f"It was given {name}: numbers from {info.stats.low:.4g} to {info.stats.high:.4g}.")
    reason = forward_reason(call.name, [i.stats for _, i in call.taken_in if i.stats is not None], stats)
    return _made(verdict, lines, reason, phase="forward", op=call.name, loc=call.loc, scope=module_of(call.place))


def _has_values(record: Any) -> bool:
    return record is not None and record.values


#: What to do about a leaf that is not finite.
SPOILED = "it was initialized so, or a step made it so: ask trace_nan in the step before, or clip the gradients"
#: Saved values that an operation made itself; the others it was given.
OWN = ("result", "output", "logsumexp", "mask")


def _kept(graph: Graph, walked: Walk, known: Names) -> TraceNan | None:
    """The oldest operation that was given or gave a bad number, as far as the graph kept its values."""
    position = {node: i for i, node in enumerate(walked.nodes)}
    nodes = (n for n in graph.nodes if n.forward is not None and n.index < len(walked.nodes))
    for node in sorted(nodes, key=lambda n: n.forward or 0):
        handle = walked.nodes[node.index]
        used = f"{node.op} is the first to use it" + (f", {where(node.loc)}." if node.loc else ".")
        for edge in walked.inputs[node.index]:
            leaf = walked.nodes[edge[0]] if edge is not None else None
            if leaf is not None and op_name(leaf) == SINK and is_finite(leaf.variable) is False:
                name, stats = known.of(leaf.variable, "a leaf"), stats_of(leaf.variable)
                return _given(name, "has", "", stats, True, [used], op=node.op, loc=node.loc)
        saved = saved_stats(handle)
        for slot, stats in saved.items():
            if stats.finite or not stats.nan and (stats.high is None or stats.high <= 0):
                continue
            value = getattr(handle, f"_saved_{slot}")
            maker = node if slot.startswith(OWN) else None
            if maker is None and value.grad_fn is not None and value.grad_fn in position:
                maker = graph.nodes[position[value.grad_fn]]
            if maker is None:
                name = known.of(value, f"the {slot} of shape {list(value.shape)} that {node.op} was given")
                return _given(name, "has", "", stats, False, [used], op=node.op, loc=node.loc)
            verdict = f"{maker.op} gave {stats.flaw[1]} in the forward pass: the first that the graph has kept."
            inputs = [s for name, s in saved_stats(walked.nodes[maker.index]).items() if not name.startswith(OWN)]
            reason = forward_reason(maker.op, inputs, stats)
            return _made(verdict, _stands(maker.loc), reason, phase="forward", op=maker.op, loc=maker.loc)
        words, advice = certain(node.op, saved, getattr(handle, "_saved_exponent", None))
        if words:
            verdict = f"{node.op} gave NaN or infinity in the forward pass: {words}."
            return _made(verdict, _stands(node.loc), ("", advice), phase="forward", op=node.op, loc=node.loc)
    return None
