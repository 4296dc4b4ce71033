"""How large the gradients are that reach each layer, floor 8: ranked, with those that vanish, explode or are dead."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

from .answer import Answer, listed, plural
from .labels import caller_names
from .measure import stats_of
from .model import Graph, Stats
from .reasons import culprits
from .survey import parameters_of
from .walk import SINK, is_tensor

__all__ = ["Flow", "Layer", "flow"]

HUGE = 1e6  # of a layer's gradient, whatever the others have
VANISHING, EXPLODING = 1e-4, 1e3  # of a layer's gradient per weight, against the largest, and the middle one behind
BAR = 24
Piece: TypeAlias = "tuple[str, Stats | None, int, int | None]"  # name, gradient, elements, and the leaf in a graph


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
    leaves: tuple[int, ...] = ()  # their nodes, where a graph was asked


@dataclass(frozen=True, repr=False, kw_only=True)
class Flow(Answer):
    """The answer of :func:`flow`: the ``layers`` in the model's order; ``vanishing``, ``dead`` ... are their paths."""

    layers: tuple[Layer, ...] = ()

    def named(self, state: str) -> tuple[str, ...]:
        """The paths of the layers in a state: ``vanishing``, ``exploding``, ``dead``, ``nan`` or ``missing``."""
        return tuple(layer.path for layer in self.layers if layer.state == state)

    @property
    def ranked(self) -> tuple[Layer, ...]:
        """The layers from the smallest gradient to the largest."""
        return tuple(sorted(self.layers, key=lambda layer: -1.0 if layer.rms is None else layer.rms))


def flow(model: Any, *, names: Any = None, params: Any = None) -> Flow:
    """How large the gradients are that have reached each layer of ``model``, after ``backward()``.

    ``model`` is a module, a dict of names and tensors, or the graph that :func:`observe` gave. A layer's gradient is
    its parameters' together, as root mean square. It is vanishing under 1/10,000 of the largest, where those
    nearer to the input are too, exploding over 1,000 times those of the layers behind it (or with a norm over a
    million), all zeros dead; ``missing`` is one that got none. Layers that get zeros because a later weight starts at
    zero, as is often done on purpose, are waiting: that is no finding.
    """
    if model is None or is_tensor(model):
        model = dict(caller_names(names, params, "flow"))
    groups: dict[str, list[Piece]] = {}
    gradients = list(_gradients(model))
    for layer, piece in zip(_layers(model, gradients), gradients, strict=True):
        groups.setdefault(layer, []).append(piece)
    raw = [_layer(path, pieces) for path, pieces in groups.items()]
    beyond = _beyond(raw)
    sizes = sorted(layer.rms for layer in raw if layer.rms)
    largest = sizes[-1] if sizes else 0.0
    waiting = _starts_at_zero(model)
    layers = tuple(_judged(layer, raw[i + 1 :], beyond[i], largest, waiting) for i, layer in enumerate(raw))
    lines = [_line(layer, sizes) for layer in layers]
    bad = [layer for layer in layers if layer.state and layer.state != "waiting"]
    if not layers:
        return Flow("There is no parameter that requires a gradient.")
    if not bad:
        ratio = sizes[-1] / sizes[0] if sizes else 1.0
        verdict = f"Gradients reach all {plural(len(layers), 'layer')}, the largest {ratio:.3g} times the smallest."
        idle = [layer.path for layer in layers if layer.state == "waiting"]
        if idle:
            verdict = f"Gradients reach {len(layers) - len(idle)} of {plural(len(layers), 'layer')}; "
            verdict += f"{len(idle)} wait for a weight that starts at zero."
        return Flow(verdict, tuple(lines), good=True, layers=layers)
    findings = []
    for state, words in (
        ("nan", "not finite"), ("missing", "missing"), ("dead", "all zeros"), ("vanishing", "vanishing"),
        ("exploding", "exploding"),
    ):  # fmt: skip
        some = [layer.path for layer in layers if layer.state == state]
        if some:
            findings.append(f"{words} in {listed(some, 4)}")
    return Flow(f"Gradients are {'; '.join(findings)}.", tuple(lines), _advice(model, bad), layers=layers)


def _advice(model: Any, bad: list[Layer]) -> str:
    states = {layer.state for layer in bad}
    if "nan" in states:
        return "ask glassgrad.explore.trace_nan"
    if "vanishing" in states:
        return "normalization layers, residual connections, ReLU in place of sigmoid or tanh, or another initialization"
    if "exploding" in states:
        return "clip the gradients (clip_grad_norm_), lower the learning rate, or add normalization"
    if isinstance(model, Graph):
        leaves = [layer.leaves[0] for layer in bad if layer.leaves]
        causes = {cause.node: cause for leaf in leaves for cause in culprits(model, leaf)}
        if causes:
            cause = next(iter(causes.values()))
            return f"{cause.text}{': ' + cause.advice if cause.advice else ''}"
    if "dead" in states:
        return "glassgrad.explore.observe(loss) in place of loss.backward() tells which operation made them zero"
    return "ask glassgrad.explore.why(loss, parameter)"


#: Operations that use the parameters of one layer together.
TOGETHER = ("Addmm", "Addmv", "Baddbmm", "Convolution", "NativeLayerNorm", "NativeGroupNorm", "Rnn", "BatchNorm")
VIEWS = ("TBackward", "Transpose", "Permute", "View", "Unsqueeze", "Expand")


def _layers(model: Any, pieces: list[Piece]) -> list[str]:
    """The layer of each parameter: by its path or, where leaves have no names, by what uses them together."""
    if not isinstance(model, Graph) or any(one.node is not None for one in model.parameters):
        return [name.rpartition(".")[0] or name for name, _, _, _ in pieces]
    users: dict[int, list[int]] = {}
    for edge in model.edges:
        users.setdefault(edge.src, []).append(edge.dst)
    first: dict[int, str] = {}  # the first parameter that an operation uses names the layer
    names = []
    for name, _, _, leaf in pieces:
        waiting = list(users.get(leaf, ())) if leaf is not None else []
        shared = []
        for node in waiting:
            op = model.nodes[node].op
            if op == SINK or op.startswith(VIEWS):
                waiting += users.get(node, ())
            elif any(word in op for word in TOGETHER):
                shared.append(node)
        layer = next((first[node] for node in shared if node in first), name)
        first.update((node, layer) for node in shared if node not in first)
        names.append(layer)
    return names


def _starts_at_zero(model: Any) -> bool:
    """Whether some parameter is all zeros and gets a gradient: those before it wait for its first step."""
    if isinstance(model, Graph):
        leaves = [n for n in model.nodes if n.kind == "leaf" and n.tensor is not None and n.grad is not None]
        known = ((n.grad.stats, n.tensor.stats) for n in leaves)  # type: ignore[union-attr]
    else:
        trained = (t for t in parameters_of(model).values() if t.requires_grad and t.grad is not None)
        known = ((stats_of(t.grad), stats_of(t)) for t in trained)
    return any(slope and value and value.all_zero and not slope.all_zero for slope, value in known)


def _gradients(model: Any) -> Iterable[Piece]:
    pieces: list[Piece] = []
    if isinstance(model, Graph):
        paths = {h.node: h.path for h in model.parameters if h.node is not None}
        unused = [h for h in model.parameters if h.node is None and h.requires_grad and not h.hidden]
        named = paths or {n.index: n.name or f"leaf {n.index}" for n in model.nodes if n.kind == "leaf"}
        order = {h.path: i for i, h in enumerate(model.parameters)}
        for index, path in named.items():
            node = model.nodes[index]
            count = math.prod(node.tensor.shape) if node.tensor is not None else 0
            pieces.append((path, node.grad.stats if node.grad is not None else None, count, index))
        pieces += [(h.path, None, math.prod(h.tensor.shape), None) for h in unused]
        return sorted(pieces, key=lambda piece: order.get(piece[0], 0))
    for name, tensor in parameters_of(model).items():
        if tensor.requires_grad:
            count = math.prod(tuple(int(n) for n in tensor.shape))
            pieces.append((name, None if tensor.grad is None else stats_of(tensor.grad), count, None))
    return pieces


def _layer(path: str, pieces: list[Piece]) -> Layer:
    there = [stats for _, stats, _, _ in pieces if stats is not None]
    names = tuple(name for name, _, _, _ in pieces)
    leaves = tuple(leaf for _, _, _, leaf in pieces if leaf is not None)
    count = sum(n for _, _, n, _ in pieces)
    if not there:
        return Layer(path, None, None, count, 0, "missing", names, leaves)
    norm = math.sqrt(sum((stats.norm or 0.0) ** 2 for stats in there))
    size = sum(stats.count for stats in there)
    zero = sum(stats.zero for stats in there)
    state = "" if all(stats.finite for stats in there) else "nan"
    return Layer(path, norm, norm / math.sqrt(size) if size else 0.0, count, zero, state, names, leaves)


def _beyond(layers: list[Layer]) -> list[float]:
    """For each layer the largest gradient of those that the backward pass reaches after it.

    Leaves of a graph are numbered in that order; without a graph the model's own order, from the input on, tells.
    """
    order = sorted(range(len(layers)), key=lambda i: min(layers[i].leaves, default=-i), reverse=True)
    beyond, largest = [0.0] * len(layers), 0.0
    for i in order:
        beyond[i] = largest
        largest = max(largest, layers[i].rms or 0.0)
    return beyond


def _judged(layer: Layer, behind: list[Layer], beyond: float, largest: float, waiting: bool) -> Layer:
    """The layer with what is wrong: against the largest gradient, and against those of the layers ``behind`` it.

    A gradient that is small here and larger ``beyond``, nearer to the input, went past it, as it goes past the queries
    and keys of attention: it has not vanished.
    """
    state = layer.state
    if not state and layer.rms is not None:
        later, norm = sorted(one.rms for one in behind if one.rms), layer.norm or 0.0
        if layer.rms == 0:
            state = "waiting" if waiting else "dead"
        elif max(layer.rms, beyond) < VANISHING * largest:
            state = "vanishing"
        elif norm > HUGE or norm > 1 and later and layer.rms > EXPLODING * later[len(later) // 2]:
            state = "exploding"
    return replace(layer, state=state)


def _line(layer: Layer, sizes: list[float]) -> str:
    if layer.rms is None:
        return f"{layer.path:<28} no gradient"
    part = 0.0
    if layer.rms and sizes:
        low, high = math.log(sizes[0]), math.log(sizes[-1])
        part = 1.0 if high == low else (math.log(layer.rms) - low) / (high - low)
    bar = "#" * (1 + round(part * (BAR - 1)) if layer.rms else 0)
    zeros = f"  {layer.zero / layer.count:.0%} zeros" if layer.count and layer.zero / layer.count >= 0.5 else ""
    return f"{layer.path:<28} norm {layer.norm:<10.3g} {bar:<{BAR}} {layer.state}{zeros}".rstrip()
