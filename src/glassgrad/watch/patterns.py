"""Mistakes that a graph shows: a loss handed the wrong thing, units that are dead, writes through ``.data``."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ..explore.measure import array_of, is_finite, stats_of
from ..explore.model import SourceLoc
from ..explore.observe import saved_stats
from ..explore.reasons import SLOPES, backward_reason, plain
from ..explore.walk import SINK, Walk, op_name, reach
from .finding import Asked


class Pattern(NamedTuple):
    """A mistake that a graph shows: in how many looks, at which line, what it is and what to write instead."""

    times: int
    loc: SourceLoc | None
    what: str
    fix: str


Patterns = dict[str, Pattern]  # by kind


class Seen(NamedTuple):
    """A graph in which patterns are looked for."""

    patterns: Patterns
    walked: Walk
    names: list[str]
    recording: Any
    engine: str

    def note(self, i: int, kind: str, what: str, fix: str) -> None:
        """A node shows a pattern."""
        before = self.patterns.get(kind)
        times, loc = (0, None) if before is None else (before.times, before.loc)
        self.patterns[kind] = Pattern(times + 1, loc or line_of(self.walked, i, self.recording, self.engine), what, fix)


def line_of(walked: Walk, i: int, recording: Any, engine: str) -> SourceLoc | None:
    """The line of the call that made a node; None where nobody recorded it."""
    call = recording.of_age(walked.seqs[i], engine) if recording is not None else None
    return call.loc if call is not None else None


THROUGH = ("View", "Reshape", "Unsqueeze", "Squeeze", "Transpose", "Permute", "T", "Expand", "Clone", "ToCopy", "Alias")
LOGARITHMS = ("LogSoftmax", "LogsigmoidForward", "Log", "Where")  # what nll_loss may be handed
TARGETS = ("NllLoss", "NllLossForward", "NllLoss2D", "BinaryCrossEntropy", "BinaryCrossEntropyWithLogits")
DIFFERENCES = ("Sub", "Abs", "MseLoss", "SmoothL1Loss", "HuberLoss")
WRONG = {
    ("LogSoftmax", "Softmax"): (
        "softmax twice", "the scores went through softmax before cross_entropy, which takes softmax itself",
        "hand cross_entropy the raw scores: leave the softmax out",
    ),
    ("LogSoftmax", "Sigmoid"): (
        "softmax twice", "the scores went through sigmoid before cross_entropy, which takes softmax itself",
        "hand cross_entropy the raw scores; for yes or no use binary_cross_entropy_with_logits",
    ),
    ("BinaryCrossEntropyWithLogits", "Sigmoid"): (
        "sigmoid twice", "binary_cross_entropy_with_logits was handed what went through sigmoid, which it takes itself",
        "hand it the raw scores, or use binary_cross_entropy",
    ),
}  # fmt: skip


def look_at_graph(patterns: Patterns, walked: Walk, recording: Any, engine: str) -> None:
    """Note the patterns near the loss that are nearly always a mistake."""
    names = [op_name(node).removesuffix("Backward0").removesuffix("Backward1") for node in walked.nodes]
    seen = Seen(patterns, walked, names, recording, engine)
    for i, name in enumerate(names[:200]):  # near the loss
        if name in TARGETS:
            _labels(seen, i)
        below = _operand(walked, names, i)
        if below is None:
            continue
        wrong = WRONG.get((name, names[below]))
        if wrong is not None:
            seen.note(below, *wrong)
        if name in ("NllLoss", "NllLossForward") and names[below] not in LOGARITHMS:
            what = "nll_loss was handed raw scores: it takes logarithms of probabilities"
            seen.note(i, "raw nll", what, "use cross_entropy, or log_softmax")
        if name in DIFFERENCES:
            _broadcast(seen, i)


def saved(node: Any, name: str) -> Any:
    """What a node saved under a name; None where it has nothing, or it was overwritten."""
    try:
        return getattr(node, f"_saved_{name}", None)
    except RuntimeError:
        return None


def _labels(seen: Seen, i: int) -> None:
    """Labels that cannot be meant: outside of 0 to 1, all ignored, all of one class."""
    node, binary = seen.walked.nodes[i], seen.names[i].startswith("Binary")
    target = saved(node, "target")
    labels = array_of(target) if target is not None else None
    if labels is None or not labels.size:
        return
    if binary:
        low, high = float(labels.min()), float(labels.max())
        if low < 0 or high > 1:
            what = f"the labels of a binary cross-entropy run from {low:g} to {high:g}: they must lie between 0 and 1"
            seen.note(i, "labels", what, "y = (y > 0).float(), or y / y.max(), before the loss")
        return
    ignored = saved(node, "ignore_index")
    kept = labels[labels != (ignored if ignored < 2**63 else ignored - 2**64)]
    if not kept.size:
        what = (
            f"every label of a batch is {int(labels.flat[0])}, which the loss ignores (ignore_index): nothing is left"
        )
        seen.note(i, "labels ignored", what, "look at what the labels are masked with, and at ignore_index=")
    elif labels.size >= 8 and (kept == kept.flat[0]).all() and _scored_by_layer(seen, i):
        what = f"all labels are {int(kept.flat[0])}: one class alone can be learned without looking at the data"
        seen.note(i, "one class", what, "DataLoader(..., shuffle=True), and look at how the labels are made")
    elif "one class" in seen.patterns:
        del seen.patterns["one class"]


def _scored_by_layer(seen: Seen, i: int) -> bool:
    """Whether scores come from a layer; those of a contrastive loss are similarities, and have one right column."""
    below = _operand(seen.walked, seen.names, i)
    if below is not None and seen.names[below] == "LogSoftmax":
        below = _operand(seen.walked, seen.names, below)
    return below is not None and seen.names[below] in ("Addmm", "Add", "Mm", "Convolution")


def _operand(walked: Walk, names: list[str], i: int) -> int | None:
    """The first operation behind a node, past views."""
    while True:
        edge = next((edge for edge in walked.inputs[i] if edge is not None), None)
        if edge is None:
            return None
        i = edge[0]
        if names[i] not in THROUGH:
            return i


def _broadcast(seen: Seen, i: int) -> None:
    """``[N, 1] - [N]``: a difference of all with all."""
    walked = seen.walked
    operand = saved(walked.nodes[i], "self")  # of a loss that sums up at once, and of abs
    shape = _shape(walked.nodes[i]) if operand is None else tuple(map(int, operand.shape))
    edges = [edge for edge in walked.inputs[i] if edge is not None]
    if len(edges) == 1 and (seen.names[i], seen.names[edges[0][0]]) == ("Abs", "Sub"):
        edges = [edge for edge in walked.inputs[edges[0][0]] if edge is not None]
    if len(edges) != 1 or seen.names[edges[0][0]] == "Unsqueeze":
        return  # two results of the graph, or an axis that was made for it: all with all is meant
    inner, below, name = None, walked.nodes[edges[0][0]], walked.ops[edges[0][0]]
    if name != SINK:
        expanded = saved(below, "self_sym_sizes") if name == "ExpandBackward0" else None
        inner = _shape(below) if expanded is None else tuple(map(int, expanded))
    fit = getattr(getattr(walked.nodes[i], "_record", None), "fit", None)
    if type(fit) is tuple and all(type(sizes) is tuple for sizes in fit):  # glassgrad notes the sizes of operands
        inner, shape = fit[0], np.broadcast_shapes(*fit)
    if shape is None or inner is None or len(shape) != 2 or shape[0] != shape[1] or shape[0] < 2:
        return
    if inner in ((shape[0], 1), (shape[0],)):
        what = (
            f"a difference of {list(inner)} and {[shape[0]] if len(inner) == 2 else [shape[0], 1]} has the shape "
            f"{list(shape)}: every prediction against every target"
        )
        seen.note(i, "broadcast", what, "predictions.squeeze(1), or targets.unsqueeze(1)")


def _shape(node: Any) -> tuple[int, ...] | None:
    metadata = getattr(node, "_input_metadata", None)
    try:
        return tuple(int(n) for n in metadata[0].shape) if metadata else None
    except (AttributeError, IndexError, TypeError):
        return None


# -- units that are dead, and batch norm that sees one sample ----------------------------------------------------------
# What layers show over several looks.

ROWS = 8  # fewer rows of a batch say nothing of a unit


NEARLY_ALL, HALF = 0.95, 0.5


class Dead(NamedTuple):
    """The units of one layer: at how many looks in a row each gave zero for every row, and whether it ever did not."""

    runs: Any
    alive: Any
    loc: SourceLoc | None

    def how_many(self) -> int:
        """How many are dead, where nearly all are, or half of them died; else 0: some are in every healthy network."""
        dead = self.runs >= 3
        died = int((dead & self.alive).sum())
        return int(dead.sum()) if dead.mean() >= NEARLY_ALL or died >= HALF * len(dead) else 0


class Units:
    """What was seen of the layers, by their order in the graph and their number of units."""

    def __init__(self) -> None:
        self.dead: dict[tuple[int, int], Dead] = {}
        self.single: list[SourceLoc | None] = []  # looks at which batch norm had one sample
        self.looks = 0

    def look(self, walked: Walk, recording: Any, engine: str) -> None:
        """One graph."""
        self.looks += 1
        single, number = False, 0
        for i, node in enumerate(walked.nodes):
            name = op_name(node)
            if name == "ReluBackward0":
                result = saved(node, "result")
                array = array_of(result) if result is not None else None
                if array is not None and array.ndim >= 2:
                    self._relu(number, array, line_of(walked, i, recording, engine))
                number += 1
            elif "BatchNorm" in name and not single and saved(node, "training"):
                taken = saved(node, "input")
                # instance norm is batch norm of one sample too, with as many weights as no sample has channels
                weight = saved(node, "weight")
                single = taken is not None and weight is not None and int(taken.shape[0]) == 1
                if single:
                    self.single.append(line_of(walked, i, recording, engine))

    def _relu(self, number: int, array: Any, loc: SourceLoc | None) -> None:
        units = np.moveaxis(array, 1 if array.ndim >= 4 else -1, 0).reshape(
            array.shape[1 if array.ndim >= 4 else -1], -1
        )
        if units.shape[1] < ROWS:
            return
        key, dead = (number, len(units)), ~units.any(1)
        before = self.dead.get(key)
        if before is None:
            self.dead[key] = Dead(dead.astype(int), ~dead, loc)
        else:
            self.dead[key] = Dead(np.where(dead, before.runs + 1, 0), before.alive | ~dead, before.loc or loc)


# -- writes through ``.data`` ------------------------------------------------------------------------------------------
# Autograd does not hear of them, and computes with what it saved before.


class Write(NamedTuple):
    """A write behind autograd's back, into what an operation of the graph had saved or given."""

    loc: SourceLoc | None
    name: str  # of the operation
    line: SourceLoc | None  # where it stands
    is_saved: bool


def writes_behind(recording: Any, walked: Walk) -> list[Write]:
    """The writes through ``.data`` that came after an operation of this graph had used or made the tensor."""
    calls = recording.calls
    writes = [call for call in calls if call.writes and _through_data(calls, call)]
    if not writes:
        return []
    nodes = dict(zip(walked.seqs, walked.nodes, strict=True))
    late_writes = []
    for write in writes:
        users = []
        for call in calls[: write.index]:
            meets = call.buffer == write.buffer or any(calls[at].buffer == write.buffer for at in call.inputs)
            created = [nodes[age] for age in range(call.start, call.stop) if age in nodes]
            if meets and created:
                users.append((_saves(created, calls[write.inputs[0]].info), call, op_name(created[-1])))
        if users:
            is_saved, call, name = max(users, key=lambda user: user[0])
            late_writes.append(Write(write.loc, name, call.loc, is_saved))
    return late_writes


def _through_data(calls: list[Any], write: Any) -> bool:
    if write.name == "data=":
        return True
    behind = reach(write.inputs[0], lambda at: [i for i in calls[at].inputs if calls[i].buffer == write.buffer])
    return any(calls[at].name == "data" for at in behind if calls[at].buffer == write.buffer)


def _saves(nodes: list[Any], info: Any) -> bool:
    """Whether one of some nodes has saved a tensor of a shape."""
    for node in nodes:
        for name in dir(node):
            if name.startswith("_saved_"):
                shape = getattr(saved(node, name.removeprefix("_saved_")), "shape", None)
                if shape is not None and (info is None or sorted(shape) == sorted(info.shape)):
                    return True
    return False


# -- where a backward pass loses its gradient --------------------------------------------------------------------------
# The first operation that made it zero, or not finite.


class Flow:
    """Hooks on the operations of one backward pass, until :meth:`stop`; they keep no gradient."""

    def __init__(self, walked: Walk, recording: Any, engine: str) -> None:
        self.inputs, self.names = walked.inputs, [op_name(node) for node in walked.nodes]
        self.leaves = {id(node.variable): i for i, node in enumerate(walked.nodes) if self.names[i] == SINK}
        self.lines = [line_of(walked, i, recording, engine) for i in range(len(walked.nodes))]
        self.saved = {i: saved_stats(walked.nodes[i]) for i, name in enumerate(self.names) if plain(name) in SLOPES}
        self.zeroed: list[tuple[int, int]] = []  # an operation, and the input whose gradient it made zero
        self.given: set[int] = set()  # sinks to which something came that was not zero
        self.spoiled: tuple[int, str, str] | None = None  # an operation, why it was, and what to do
        self._handles = [
            node.register_hook(self._hook(i)) for i, node in enumerate(walked.nodes) if self.names[i] != SINK
        ]

    def stop(self) -> None:
        """Take the hooks off."""
        for handle in self._handles:
            handle.remove()
        self._handles = []

    def _hook(self, i: int) -> Any:
        def hook(grad_inputs: Any, grad_outputs: Any) -> None:
            if any(grad is not None and is_finite(grad) is False for grad in grad_outputs):
                return
            came = any(map(_is_some, grad_outputs))
            for j, grad in enumerate(grad_inputs):
                if grad is None:
                    continue
                if self.spoiled is None and is_finite(grad) is False:
                    self.spoiled = i, *self._reason(i, grad_outputs[0])
                if not _is_some(grad):
                    self.zeroed += [(i, j)] if came else []
                elif j < len(self.inputs[i]) and (edge := self.inputs[i][j]) is not None:
                    self.given.add(edge[0])

        return hook

    def _reason(self, i: int, came: Any) -> tuple[str, str]:
        return backward_reason(self.names[i], self.saved.get(i, {}), None if came is None else stats_of(came))

    def cancels(self, parameter: Any) -> bool:
        """Whether what came to a leaf was not zero, part by part: a sum of zero is then no mistake."""
        return self.leaves.get(id(parameter)) in self.given

    def answers(self, parameters: list[Any]) -> dict[str, Asked]:
        """The operation that spoiled gradients, and the first that made those of ``parameters`` zero."""
        answers = {}
        if self.spoiled is not None:
            i, reason, remedy = self.spoiled
            what = f"{self.names[i]} was the first to give a gradient that is not finite."
            answers["nan gradient"] = Asked("nan gradient", what, (reason,) if reason else (), remedy, self.lines[i])
        leaves = {self.leaves[id(p)] for p in parameters if id(p) in self.leaves}
        for i, j in self.zeroed if leaves else ():
            edge = self.inputs[i][j] if j < len(self.inputs[i]) else None
            behind = () if edge is None else reach(edge[0], lambda at: [e[0] for e in self.inputs[at] if e is not None])
            if not leaves.isdisjoint(behind):
                what = f"{self.names[i]} was given a gradient, and passed on zeros."
                answers["zero gradients"] = Asked(
                    "zero gradients", what, (), FIXES.get(self.names[i], ""), self.lines[i]
                )
                break
        return answers


#: What to do about an operation whose gradient is zero.
FIXES = {
    "MulBackward0": "look at the factor: it is zero for all",
    "ReluBackward0": "every unit is dead: a smaller learning rate, another initialization, or leaky_relu",
    "SigmoidBackward0": "it is saturated: keep its input small",
    "TanhBackward0": "it is saturated: keep its input small",
    "ClampBackward1": "everything was clamped: keep the input within its limits",
} | dict.fromkeys(
    ("SignBackward0", "RoundBackward0", "RoundBackward1", "FloorBackward0", "CeilBackward0", "TruncBackward0",
     "HeavisideBackward0"),
    "it is flat everywhere: leave it out of the loss, or x + (f(x) - x).detach(), which passes gradients on",
)  # fmt: skip


def _is_some(grad: Any) -> bool:
    array = array_of(grad) if grad is not None else None
    return array is not None and bool(array.any())
