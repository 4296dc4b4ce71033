"""What made a gradient zero or kept it away, floor 8: the operation, by what an observed backward pass handed on."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass

from .blame import plain
from .model import Graph, Node, Stats
from .walk import SINK

__all__ = ["FLAT", "Culprit", "culprits", "flat_reason"]

#: Operations whose slope is 0 everywhere.
FLAT = frozenset({"sign", "round", "floor", "ceil", "trunc", "heaviside", "floor_divide"})
DRAWS = frozenset({"normal", "bernoulli", "poisson", "binomial", "multinomial"})
OFF = ("relu", "threshold", "prelu", "leaky_relu")
RANGES = ("clamp", "clip", "hardtanh", "relu6", "hardsigmoid", "hardswish")
PRODUCTS = ("mul", "mm", "bmm", "mv", "addmm", "linear", "convolution", "dot", "addmv", "baddbmm", "div")
TAKES = ("index", "slice", "select", "gather", "where", "masked", "narrow", "take", "split", "unbind", "max", "min")


@dataclass(frozen=True)
class Culprit:
    """The operation (by its node) after which a gradient was zero or missing: what is said of it, and what to do."""

    node: int
    text: str
    advice: str


def flat_reason(op: str) -> tuple[str, str]:
    """Why an operation hands on zeros whatever it is given; empty words where it does not."""
    op = plain(op)
    if op in FLAT:
        return "its slope is 0 everywhere", (
            "use something smooth in its place (tanh for sign), or pass the gradient by: x + (x.round() - x).detach()"
        )
    if op in DRAWS:
        return "a random draw has the slope 0", "draw with rsample(), or use log_prob() of the sample in the loss"
    return "", ""


def culprits(graph: Graph, leaf: int) -> list[Culprit]:
    """The operations that made the gradient of a leaf of an observed graph zero, or kept it away; empty if unseen."""
    users: dict[int, list[tuple[int, int]]] = defaultdict(list)
    sinks = []
    for edge in graph.edges:
        if edge.kind == "gradient":
            if edge.src == leaf:
                sinks.append(edge.dst)
            users[edge.src].append((edge.dst, edge.dst_input))
    arrived = [graph.nodes[sink].grad for sink in sinks]
    if any(grad is not None and grad.stats is not None and not _zero(grad.stats) for grad in arrived):
        return []
    answers: dict[int, Culprit] = {}
    seen, waiting = set(sinks), list(sinks)
    while waiting:
        i = waiting.pop()
        handed = []
        for user, slot in users[i]:
            node = graph.nodes[user]
            if node.kind != "op" or node.op == SINK:
                continue
            gave = node.grads_in[slot] if slot < len(node.grads_in) else None
            came = node.grad.stats if node.grad is not None else None
            stats = gave.stats if gave is not None else None
            if came is None or _zero(came):  # nothing reached it: look further up
                if user not in seen:
                    seen.add(user)
                    waiting.append(user)
            elif gave is None or stats is not None and _zero(stats):
                answers.setdefault(user, _culprit(node, gave is None))
            else:
                handed.append(node)
        if handed and i not in answers:
            words, advice = "the gradients that came from it cancel each other out", "look at the signs of the terms"
            if len(handed) == 1:
                words = "a hook after it replaced the gradient by zeros"
                advice = "look at what register_hook() was given there"
            answers[handed[0].index] = Culprit(handed[0].index, f"{handed[0].op} gave a gradient, but {words}", advice)
    return list(answers.values())


def _culprit(node: Node, missing: bool) -> Culprit:
    if missing:
        words = f"{node.op} was given a gradient and handed on none (its backward gave None)"
        return Culprit(node.index, words, "return a gradient from the backward of that Function")
    words, advice = _reason(node.op)
    text = f"{node.op} was given a gradient and handed on nothing but zeros"
    return Culprit(node.index, f"{text}: {words}" if words else text, advice)


def _reason(op: str) -> tuple[str, str]:
    op = plain(op)
    words, advice = flat_reason(op)
    if words:
        return words, advice
    if op.startswith(RANGES):
        words = "every value that got a gradient lies outside of its range"
        return words, "let the values stay inside, or use something without flat parts"
    if op.startswith(OFF) or op == "native_dropout":
        if op == "native_dropout":
            return "everything was dropped", "lower p"
        return "it is off wherever a gradient came", "a smaller learning rate, another initialization, or leaky_relu"
    if op.startswith(PRODUCTS):
        advice = "where a weight starts at zero this passes with the first step; else look at the factor that is zero"
        return "it multiplies by zeros", advice
    if op in ("sigmoid", "tanh"):
        return "it is saturated", "scale the input down, or normalize it"
    if op in ("softmax", "log_softmax"):
        words = "it is saturated, or the gradient that came is the same everywhere, which no shift of its input changes"
        return words, "use the scores before it, or single entries of it, in the loss"
    if op in ("cat", "stack") or op.startswith("constant_pad"):
        return "what this input became is not used further on", "look at what is taken out of the result"
    if op.startswith(TAKES):
        return "nothing of this input was taken", "look at the index or the mask"
    return "", ""


def _zero(stats: Stats) -> bool:
    return bool(stats.count) and stats.zero == stats.count
