"""Where NaN or infinity began, floor 8: the first operation on the way forward, or the first on the way back."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from .answer import Answer, recording_of, where
from .model import Graph, SourceLoc
from .observe import first_bad, watched, with_gradients
from .opaque import opaque_nodes, tensors_held
from .read import as_tensors, is_tensor
from .record import Recording
from .survey import _survey, parameters_of
from .walk import SINK, op_name

__all__ = ["TraceNan", "trace_nan"]

#: What is usually behind it, by the word in the operation's name.
USUAL = {
    "Sqrt": "the slope of sqrt at 0 is infinite: add a small number under the root",
    "Norm": "the slope of a norm at 0 is not defined: add a small number before taking it",
    "Log": "log(0) is -inf and its slope infinite: clamp the input from below, or use log_softmax",
    "Div": "something is divided by nought: add a small number to the divisor",
    "Pow": "a power with an exponent below 1 has an infinite slope at 0",
    "Exp": "exp overflows above 88 in float32: subtract the largest value before",
    "Where": "where() computes both branches: nought times infinity in the one not taken is NaN; mask the input first",
    "Acos": "the slope of acos at 1 and -1 is infinite: clamp the input",
    "Asin": "the slope of asin at 1 and -1 is infinite: clamp the input",
    "Std": "the slope of std is not defined where all values are equal: add a small number to the variance",
    "Mul": "nought times infinity is NaN: look at what made the infinite factor",
}


@dataclass(frozen=True, repr=False)
class TraceNan(Answer):
    """The answer of :func:`trace_nan`: ``phase`` is ``forward``, ``backward`` or empty, ``op`` the operation."""

    verdict: str
    phase: str
    op: str = ""
    loc: SourceLoc | None = None
    scope: str = ""
    graph: Graph | None = None
    lines: tuple[str, ...] = ()
    advice: str = ""
    good: bool = False


def trace_nan(what: Any, *, record: Any = None, model: Any = None) -> TraceNan:
    """The operation at which the first NaN or infinite number appeared, on the way forward or back.

    ``what`` is a function without arguments that does the forward pass and gives the loss (it is run, recorded), or a
    loss that was made inside ``with record(values=True)``, or any loss: then only the way back can be told. The
    backward pass is run on the side: ``.grad`` stays as it was and the graph is kept. TypeError for anything else.
    """
    if isinstance(what, Recording):
        raise TypeError("trace_nan(): give the loss, and the recording as record=")
    if not is_tensor(what) and isinstance(what, Callable):  # type: ignore[arg-type]
        record = Recording(model, values=True)
        with record:
            loss = what()
    else:
        loss = what
    as_tensors((loss,), "trace_nan")
    record = recording_of((loss,), record)
    graph, walked = _survey(loss, None, model, record, "trace_nan")
    bad = _forward(record)
    if bad is not None:
        call, stats, sources = bad
        word = _word(stats)
        place = call.place
        verdict = f"{call.name} gave {word} in the forward pass: the first to do so."
        lines = [f"It stands {where(call.loc)}."]
        lines += [f"It was given {line}" for line in sources]
        scope = _module(place)
        if scope:
            lines.append(f"It was done in {scope}.")
        return TraceNan(verdict, "forward", call.name, call.loc, scope, graph, tuple(lines), _advice(call.name.title()))
    if not loss.requires_grad:
        return TraceNan(
            "The loss requires no gradient, and no NaN was seen in the forward pass.", "", graph=graph, good=True
        )
    graph = _on_the_side(loss, graph, walked, record)
    node = first_bad(graph)
    if node is None:
        verdict = "No NaN and no infinite number on the way back"
        verdict += ", and none on the way forward." if _has_values(record) else "."
        return TraceNan(verdict, "", graph=graph, good=True)
    stats = next(g.stats for g in node.grads_in if g is not None and g.stats is not None and not g.stats.finite)
    verdict = f"{node.op} was given finite gradients and gave {_word(stats)}: the first on the way back."
    lines = [f"The operation stands {where(node.loc)}."] if node.loc else []
    if node.sentence:
        lines.append(node.sentence)
    for saved in node.saved:
        if saved.tensor is not None and saved.tensor.value is not None:
            lines.append(f"It saved {saved.slot} = {saved.tensor.value}.")
    scope = ""
    at = node.scope
    if at is not None:
        scope = f"{graph.scopes[at].path or graph.scopes[at].cls}"
        lines.append(f"It was done in {scope}.")
    return TraceNan(verdict, "backward", node.op, node.loc, scope, graph, tuple(lines), _advice(node.op))


#: Operations that are asked for infinities, as masks are made of; what only hands those on is not to blame either.
MASKS = frozenset({"masked_fill", "masked_fill_", "full", "full_like", "fill_", "where"})


def _forward(record: Any) -> Any:
    """The first recorded call whose result is not finite, unbidden, and what it was given."""
    if not _has_values(record):
        return None
    record.arrange()
    bidden: set[int] = set()
    for index, call in enumerate(record.calls):
        stats = call.info.stats if call.info is not None else None
        if call.name and stats is not None and not stats.finite:
            if not stats.nan and (call.name in MASKS or not bidden.isdisjoint(call.inputs)):
                bidden.add(index)
                continue
            sources = []
            for at in call.inputs:
                info = record.calls[at].info
                if info is not None and info.stats is not None and info.stats.count:
                    low, high = info.stats.low, info.stats.high
                    if low is not None and high is not None:
                        sources.append(f"numbers from {low:.4g} to {high:.4g} of {record.calls[at].name}.")
            return call, stats, sources
    return None


def _has_values(record: Any) -> bool:
    return record is not None and record.values


def _on_the_side(loss: Any, graph: Graph, walked: Any, record: Any) -> Graph:
    """The graph with the gradients of a backward pass that leaves ``.grad`` as it was."""
    leaves = [node.variable for node in walked.nodes if op_name(node) == SINK]
    if hiding := opaque_nodes(walked.nodes):  # leaves inside are reached too
        inside = {id(t): t for node in hiding for t in tensors_held(node).values()}
        inside |= {id(t): t for t in parameters_of(record.model if record is not None else None).values()}
        leaves = list({**{id(leaf): leaf for leaf in leaves}, **inside}.values())
        leaves = [leaf for leaf in leaves if leaf.is_leaf]
    before = [leaf.grad for leaf in leaves]
    for leaf in leaves:
        leaf.grad = None
    try:
        with watched(walked, record) as seen:
            start = None if all(int(n) == 1 for n in loss.shape) else loss.detach() * 0 + 1
            loss.backward(start, retain_graph=True)
    finally:
        for leaf, grad in zip(leaves, before, strict=True):
            leaf.grad = grad
    return with_gradients(graph, seen)


def _word(stats: Any) -> str:
    return "NaN" if stats.nan else "infinity"


def _advice(op: str) -> str:
    return next((words for name, words in USUAL.items() if op.startswith((name, f"Linalg{name}")) or name in op), "")


def _module(place: Any) -> str:
    while place is not None and place.kind != "module":
        place = place.parent
    return "" if place is None else place.path or place.cls
