"""Mistakes that the graph of a loss shows near the loss: it was handed the wrong thing."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ..explore.measure import array_of
from ..explore.model import SourceLoc
from ..explore.walk import SINK, Walk, op_name


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
