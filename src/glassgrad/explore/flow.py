"""How large the gradients are that reach each layer, floor 8: ranked, with those that vanish, explode or are dead."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from .answer import Answer, plural
from .measure import stats_of
from .model import Graph, Stats
from .survey import parameters_of

__all__ = ["Flow", "Layer", "flow"]

VANISHING, EXPLODING = 1e-4, 1e3  # of a layer's gradient per weight, against the middle one
BAR = 24


@dataclass(frozen=True)
class Layer:
    """One layer: its parameters' gradients together, as norm and as root mean square; ``state`` is what is wrong."""

    path: str
    norm: float | None
    rms: float | None
    count: int
    zero: int
    state: str
    parameters: tuple[str, ...]


@dataclass(frozen=True, repr=False)
class Flow(Answer):
    """The answer of :func:`flow`: the ``layers`` in the model's order; ``vanishing``, ``dead`` ... are their paths."""

    verdict: str
    layers: tuple[Layer, ...]
    lines: tuple[str, ...] = ()
    advice: str = ""
    good: bool = True

    def named(self, state: str) -> tuple[str, ...]:
        """The paths of the layers in a state: ``vanishing``, ``exploding``, ``dead``, ``nan`` or ``missing``."""
        return tuple(layer.path for layer in self.layers if layer.state == state)

    @property
    def ranked(self) -> tuple[Layer, ...]:
        """The layers from the smallest gradient to the largest."""
        return tuple(sorted(self.layers, key=lambda layer: -1.0 if layer.rms is None else layer.rms))


def flow(model: Any) -> Flow:
    """How large the gradients are that have reached each layer of ``model``, after ``backward()``.

    ``model`` is a module, a dict of names and tensors, or the graph that :func:`observe` gave. A layer's gradient is
    compared by its root mean square with the middle layer's: under 1/10,000 of it it is vanishing, over 1,000 times it
    exploding, all noughts dead; ``missing`` is one that got none.
    """
    groups: dict[str, list[tuple[str, Stats | None, int]]] = {}
    for name, stats, count in _gradients(model):
        groups.setdefault(name.rpartition(".")[0] or name, []).append((name, stats, count))
    raw = [_layer(path, pieces) for path, pieces in groups.items()]
    sizes = sorted(layer.rms for layer in raw if layer.rms)
    middle = sizes[len(sizes) // 2] if sizes else 0.0
    largest = sizes[-1] if sizes else 0.0
    layers = tuple(_judged(layer, middle, largest) for layer in raw)
    lines = [_line(layer, sizes) for layer in layers]
    bad = [layer for layer in layers if layer.state]
    if not layers:
        return Flow("There is no parameter that requires a gradient.", (), good=False)
    if not bad:
        ratio = sizes[-1] / sizes[0] if sizes else 1.0
        return Flow(f"Gradients reach all {plural(len(layers), 'layer')}, the largest {ratio:.3g} times the smallest.",
                    layers, tuple(lines))  # fmt: skip
    findings = []
    for state, words in (
        ("nan", "not finite"), ("missing", "missing"), ("dead", "all noughts"), ("vanishing", "vanishing"),
        ("exploding", "exploding"),
    ):  # fmt: skip
        some = [layer.path for layer in layers if layer.state == state]
        if some:
            more = f" and {len(some) - 4} more" if len(some) > 4 else ""
            findings.append(f"{words} in {', '.join(some[:4])}{more}")
    states = {layer.state for layer in bad}
    advice = ""
    if "vanishing" in states:
        advice = (
            "normalization layers, residual connections, ReLU in place of sigmoid or tanh, or another initialization"
        )
    elif "exploding" in states:
        advice = "clip the gradients (clip_grad_norm_), lower the learning rate, or add normalization"
    elif "dead" in states:
        advice = "a ReLU that is off for every input hands on noughts: try a smaller learning rate or leaky_relu"
    elif "missing" in states:
        advice = "ask glassgrad.explore.why(loss, parameter)"
    elif "nan" in states:
        advice = "ask glassgrad.explore.trace_nan"
    return Flow(f"Gradients are {'; '.join(findings)}.", layers, tuple(lines), advice, False)


def _gradients(model: Any) -> Iterable[tuple[str, Stats | None, int]]:
    if isinstance(model, Graph):
        paths = {h.node: h.path for h in model.parameters if h.node is not None}
        unused = [h for h in model.parameters if h.node is None and h.requires_grad and not h.hidden]
        named = paths or {n.index: n.name or f"leaf {n.index}" for n in model.nodes if n.kind == "leaf"}
        order = {h.path: i for i, h in enumerate(model.parameters)}
        pieces = []
        for index, path in named.items():
            node = model.nodes[index]
            count = math.prod(node.tensor.shape) if node.tensor is not None else 0
            pieces.append((path, node.grad.stats if node.grad is not None else None, count))
        pieces += [(h.path, None, math.prod(h.tensor.shape)) for h in unused]
        return sorted(pieces, key=lambda piece: order.get(piece[0], 0))
    pieces = []
    for name, tensor in parameters_of(model).items():
        if tensor.requires_grad:
            count = math.prod(tuple(int(n) for n in tensor.shape))
            pieces.append((name, None if tensor.grad is None else stats_of(tensor.grad), count))
    return pieces


def _layer(path: str, pieces: list[tuple[str, Stats | None, int]]) -> Layer:
    there = [stats for _, stats, _ in pieces if stats is not None]
    names = tuple(name for name, _, _ in pieces)
    count = sum(n for _, _, n in pieces)
    if not there:
        return Layer(path, None, None, count, 0, "missing", names)
    norm = math.sqrt(sum((stats.norm or 0.0) ** 2 for stats in there))
    size = sum(stats.count for stats in there)
    zero = sum(stats.zero for stats in there)
    state = "" if all(stats.finite for stats in there) else "nan"
    return Layer(path, norm, norm / math.sqrt(size) if size else 0.0, count, zero, state, names)


def _judged(layer: Layer, middle: float, largest: float) -> Layer:
    state = layer.state
    if not state and layer.rms is not None:
        if layer.rms == 0:
            state = "dead"
        elif layer.rms < VANISHING * max(middle, VANISHING * largest) or layer.rms < VANISHING * largest and middle:
            state = "vanishing"
        elif layer.rms > EXPLODING * middle:
            state = "exploding"
    return Layer(layer.path, layer.norm, layer.rms, layer.count, layer.zero, state, layer.parameters)


def _line(layer: Layer, sizes: list[float]) -> str:
    if layer.rms is None:
        return f"{layer.path:<28} no gradient"
    part = 0.0
    if layer.rms and sizes:
        low, high = math.log(sizes[0]), math.log(sizes[-1])
        part = 1.0 if high == low else (math.log(layer.rms) - low) / (high - low)
    bar = "#" * (1 + round(part * (BAR - 1)) if layer.rms else 0)
    zeros = f"  {layer.zero / layer.count:.0%} noughts" if layer.count and layer.zero / layer.count >= 0.5 else ""
    return f"{layer.path:<28} norm {layer.norm:<10.3g} {bar:<{BAR}} {layer.state}{zeros}".rstrip()
