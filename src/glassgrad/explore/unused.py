"""Which parameters a loss does not use, floor 8: by name, and where a recording tells it, why."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from .answer import Answer, listed, plural, recording_of
from .opaque import opaque_nodes, remedy, tensors_held
from .read import as_losses, as_tensors
from .survey import parameters_of
from .walk import SINK, op_name, walk
from .why import closed_lines, in_transform, why

__all__ = ["Unused", "unused"]

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
