"""Where NaN or infinity began, floor 8: the first operation on the way forward, or the first on the way back."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from .answer import Answer, recording_of, where
from .labels import Names, caller_names, callers_variables
from .measure import is_finite, stats_of
from .model import Graph, Node, SourceLoc
from .observe import first_bad, on_the_side, saved_stats
from .place import module_of
from .read import as_losses
from .reasons import backward_reason, certain, forward_reason
from .record import Recording
from .survey import _survey, parameters_of
from .walk import SINK, Walk, custom_class, engine_of, is_tensor, op_name

__all__ = ["TraceNan", "trace_nan"]


@dataclass(frozen=True, repr=False)
class TraceNan(Answer):
    """The answer of :func:`trace_nan`: ``phase`` is ``input``, ``forward``, ``backward`` or empty.

    ``op`` is the operation: that gave the first bad number or, where the ``phase`` is ``input``, that was given one in
    a tensor no operation made; ``name`` is what that tensor is called.
    """

    verdict: str
    phase: str
    op: str = ""
    loc: SourceLoc | None = None
    scope: str = ""
    graph: Graph | None = None
    lines: tuple[str, ...] = ()
    advice: str = ""
    good: bool = False
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
    graph, walked = _survey(loss, None, model, record, "trace_nan")
    forward = _forward(record, known, graph)
    finite = is_finite(loss)
    if finite is False:
        answers = (forward, None if forward is not None else _kept(graph, walked, known))
        return next((one for one in answers if one is not None), TraceNan(  # an answer with bad news is false
            "The loss is not finite, and no value that its graph kept is to blame.", "forward", graph=graph,
            advice="hand trace_nan a function that does the forward pass: it counts the numbers in every result",
        ))  # fmt: skip
    harmless = () if forward is None else (f"It did no harm that {forward.verdict[:1].lower()}{forward.verdict[1:]}",)
    if not loss.requires_grad:
        verdict = "The loss is finite, and requires no gradient."
        return TraceNan(verdict, "", graph=graph, lines=harmless, good=True)
    graph = on_the_side(loss, graph, walked, record)
    node = first_bad(graph)
    if node is None:
        verdict = "No NaN and no infinite number on the way back"
        verdict += ", and none on the way forward." if _has_values(record) and not harmless else "."
        return TraceNan(verdict, "", graph=graph, lines=harmless, good=True)
    if forward is None and any(not stats.finite for stats in saved_stats(walked.nodes[node.index]).values()):
        forward = _kept(graph, walked, known)
    if forward is not None:  # the loss is finite, and what became bad before spoils the gradients
        line = f"The loss is finite all the same; on the way back {node.op} made NaN or infinity of it."
        advice = _with_switch(forward.advice, node, engine_of(losses))
        return replace(forward, graph=graph, lines=(*forward.lines, line), advice=advice)
    return _backward(graph, node, walked, engine_of(losses))


def _with_switch(advice: str, node: Node, engine: str) -> str:
    """Advice on a node's bad gradient; where zeros arrived, with the switch that glassgrad has for masked branches."""
    bad = any(g is not None and g.stats is not None and g.stats.nan for g in node.grads_in)
    came = node.grad.stats if node.grad is not None else None
    if engine != "glassgrad" or not bad or came is None or not came.zero:
        return advice
    switch = "run backward under glassgrad.autograd.set_masked_gradients(True), which keeps zeros of masked branches"
    return f"{advice}; or {switch}" if advice else switch


def _backward(graph: Graph, node: Node, walked: Walk, engine: str) -> TraceNan:
    """The answer where a node turned finite gradients into others."""
    stats = next(g.stats for g in node.grads_in if g is not None and g.stats is not None and not g.stats.finite)
    verdict = f"{node.op} was given finite gradients and gave {_word(stats)}: the first on the way back."
    lines = [f"The operation stands {where(node.loc)}."] if node.loc else []
    if node.sentence:
        lines.append(node.sentence)
    for saved in node.saved:
        if saved.tensor is not None and saved.tensor.value is not None:
            lines.append(f"It saved {saved.slot} = {saved.tensor.value}.")
    came = node.grad.stats if node.grad is not None else None
    if custom_class(walked.nodes[node.index]) is not None:
        words, advice = "", "look at its backward(): the function is one of your own"
    else:
        words, advice = backward_reason(node.op, saved_stats(walked.nodes[node.index]), came)
        advice = _with_switch(advice, node, engine)
    if words:
        lines.append(f"The reason: {words}.")
    scope = ""
    if node.scope is not None:
        scope = f"{graph.scopes[node.scope].path or graph.scopes[node.scope].cls}"
        lines.append(f"It was done in {scope}.")
    return TraceNan(verdict, "backward", node.op, node.loc, scope, graph, tuple(lines), advice)


#: Operations that are asked for infinities, as masks are made of; what only hands those on is not to blame either.
MASKS = frozenset({"masked_fill", "masked_fill_", "full", "full_like", "fill_", "where", "setitem", "new_full"})


def _forward(record: Any, known: Names, graph: Graph) -> TraceNan | None:
    """The first recorded call that gave a number which is not finite, unbidden; or was given one from outside."""
    if not _has_values(record):
        return None
    record.arrange()
    bidden: set[int] = set()
    calls = record.calls
    for index, call in enumerate(calls):
        stats = call.info.stats if call.info is not None else None
        if not call.name or stats is None or stats.finite:
            continue
        spoiled = [(at, info) for at, info in call.taken_in if info.stats is not None and not info.stats.finite]
        fresh = [(at, info) for at, info in spoiled if not _bad_before(calls[at]) and at not in bidden]
        if not stats.nan:
            if call.name in MASKS or not bidden.isdisjoint(call.inputs) or (fresh and all(_mask(i) for _, i in fresh)):
                bidden.add(index)  # a mask of infinities, from outside too
                continue
        fresh = [(at, info) for at, info in fresh if not _mask(info)] if not stats.nan else fresh
        bad = [(at, info) for at, info in fresh if info.stats.nan or info.stats.inf and not _mask(info)]
        if bad:
            return _from_outside(record, call, *bad[0], known, graph)
        return _from_call(call, stats, known, graph)
    return None


def _bad_before(call: Any) -> bool:
    """Whether the call is known to have given numbers that are not finite."""
    return bool(call.name) and call.info is not None and call.info.stats is not None and not call.info.stats.finite


def _mask(info: Any) -> bool:
    """Whether a tensor has no NaN and no other infinities than -inf, as masks that are added have."""
    return not info.stats.nan and bool(info.stats.inf) and (info.stats.high is None or info.stats.high <= 0)


def _from_outside(record: Any, call: Any, at: int, info: Any, known: Names, graph: Graph) -> TraceNan:
    """The answer where a tensor that no recorded operation spoiled was bad when it was used."""
    name = known.of_call(at) or f"a tensor of shape {list(info.shape)}"
    stats, scope = info.stats, module_of(call.place)
    writer = record.calls[at]
    if writer.writes:  # what is written in place has no numbers of its own in the notes
        verdict = f"{writer.name} wrote {_word(stats)} into {name}: the first in the forward pass."
        lines = [f"It stands {where(writer.loc)}.", f"{call.name} {where(call.loc)} is the first to use it."]
        return TraceNan(verdict, "forward", writer.name, writer.loc, module_of(writer.place), graph, tuple(lines),
                        "look at the value that is written there", name=name)  # fmt: skip
    count = stats.nan or stats.inf
    verdict = f"{name[:1].upper()}{name[1:]}" if " " in name else name
    verdict += f" had {_word(stats)} in it before the forward pass used it: {count:,} of its {stats.count:,} numbers."
    lines = [f"It was used first by {call.name} {where(call.loc)}."]
    if writer.name:
        lines.append(f"It was made by {writer.name} {where(writer.loc)}, and changed since.")
    if scope:
        lines.append(f"That was done in {scope}.")
    tensor = record.calls[at].ref() if record.calls[at].ref is not None else None
    advice = "look at the data: isnan().any() before it is used"
    if tensor is not None and tensor.requires_grad:
        advice = SPOILED
    return TraceNan(verdict, "input", call.name, call.loc, scope, graph, tuple(lines), advice, name=name)


def _from_call(call: Any, stats: Any, known: Names, graph: Graph) -> TraceNan:
    """The answer where an operation made the first bad number of good ones."""
    verdict = f"{call.name} gave {_word(stats)} in the forward pass: the first to do so."
    lines = [f"It stands {where(call.loc)}."]
    for at, info in call.taken_in:
        name = known.of_call(at) or "a tensor"
        if info.value is not None:
            lines.append(f"It was given {name} = {info.value}.")
        elif info.stats is not None and info.stats.low is not None and info.stats.high is not None:
            lines.append(f"It was given {name}: numbers from {info.stats.low:.4g} to {info.stats.high:.4g}.")
    words, advice = forward_reason(call.name, [i.stats for _, i in call.taken_in if i.stats is not None], stats)
    if words:
        lines.append(f"The reason: {words}.")
    scope = module_of(call.place)
    if scope:
        lines.append(f"It was done in {scope}.")
    return TraceNan(verdict, "forward", call.name, call.loc, scope, graph, tuple(lines), advice)


def _has_values(record: Any) -> bool:
    return record is not None and record.values


def _word(stats: Any) -> str:
    return "NaN" if stats.nan else "infinity"


#: What to do about a leaf that is not finite.
SPOILED = "it was initialized so, or a step made it so: ask trace_nan in the step before, or clip the gradients"
#: Saved values that an operation made itself; the others it was given.
OWN = ("result", "output", "logsumexp", "mask")


def _kept(graph: Graph, walked: Walk, known: Names) -> TraceNan | None:
    """The oldest operation that was given or gave a bad number, as far as the graph kept its values."""
    position = {node: i for i, node in enumerate(walked.nodes)}
    order = sorted((n for n in graph.nodes if n.forward is not None and n.index < len(walked.nodes)),
                   key=lambda n: n.forward or 0)  # fmt: skip
    for node in order:
        handle = walked.nodes[node.index]
        for edge in walked.inputs[node.index]:
            leaf = walked.nodes[edge[0]] if edge is not None else None
            if leaf is not None and op_name(leaf) == SINK and is_finite(leaf.variable) is False:
                return _from_kept(graph, node, known.of(leaf.variable, "a leaf"), stats_of(leaf.variable), True)
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
                return _from_kept(graph, node, name, stats, False)
            verdict = f"{maker.op} gave {_word(stats)} in the forward pass: the first that the graph has kept."
            lines = [f"It stands {where(maker.loc)}."] if maker.loc else []
            inputs = [s for name, s in saved_stats(walked.nodes[maker.index]).items() if not name.startswith(OWN)]
            words, advice = forward_reason(maker.op, inputs, stats)
            lines += [f"The reason: {words}."] if words else []
            return TraceNan(verdict, "forward", maker.op, maker.loc, "", graph, tuple(lines), advice)
        words, advice = certain(node.op, saved, getattr(handle, "_saved_exponent", None))
        if words:
            lines = [f"It stands {where(node.loc)}."] if node.loc else []
            verdict = f"{node.op} gave NaN or infinity in the forward pass: {words}."
            return TraceNan(verdict, "forward", node.op, node.loc, "", graph, tuple(lines), advice)
    return None


def _from_kept(graph: Graph, node: Node, name: str, stats: Any, leaf: bool) -> TraceNan:
    """The answer where a value that no operation of the graph made is bad."""
    count = stats.nan or stats.inf
    verdict = f"{name[:1].upper()}{name[1:]}" if " " in name else name
    verdict += f" has {_word(stats)} in it: {count:,} of its {stats.count:,} numbers."
    lines = [f"{node.op} is the first to use it" + (f", {where(node.loc)}." if node.loc else ".")]
    advice = "look at the data: isnan().any() before it is used"
    if leaf:
        advice = SPOILED
    return TraceNan(verdict, "input", node.op, node.loc, "", graph, tuple(lines), advice, name=name)
