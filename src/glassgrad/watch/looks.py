"""What a look at a training step keeps as evidence: the graph's leaves, gradients, parameters around the step."""

from __future__ import annotations

import math
import sys
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ..explore.measure import array_of, is_finite
from ..explore.model import SourceLoc
from ..explore.read import is_tensor
from ..explore.source import location_of
from ..explore.walk import SINK, Walk, op_name, walk
from .models import living_models, trained_by

if TYPE_CHECKING:
    from .watch import Watch

LARGEST = 100_000  # numbers of a parameter that are compared around a step


class Evidence:
    """What the looks have seen of one parameter."""

    __slots__ = ("parameter", "reached", "zero", "graded", "stepped", "unchanged", "first", "bad")

    def __init__(self, parameter: Any) -> None:
        self.parameter = parameter
        self.first: Any = None  # its numbers before the first step that was looked at
        self.reached = self.zero = self.graded = self.stepped = self.unchanged = 0
        self.bad = False  # whether its gradient was NaN or infinite where the loss was finite


class Pattern(NamedTuple):
    """A mistake that a graph shows: in how many looks, at which line, what it is and what to write instead."""

    times: int
    loc: SourceLoc | None
    what: str
    fix: str


class Looks:
    """The evidence of one watch."""

    def __init__(self, watch: Watch) -> None:
        self.watch = watch
        self.number = 0  # of looks
        self.losses: list[float | None] = []
        self.first_bad: int | None = None  # the number of the first backward pass from a loss that is not finite
        self.parameters: dict[int, Evidence] = {}
        self.optimizers: dict[int, Any] = {}
        self.roots: list[Any] = []
        self.frame: Any = None
        self.patterns: dict[str, Pattern] = {}  # by kind
        self.leaf_loss: SourceLoc | None = None
        self.reaching_back = 0
        self.sizes: list[int] = []
        self.rates: list[float] = []
        self.unzeroed = self.clipped = self.wiped = self.stepped_without = 0
        self.not_training: set[str] = set()
        self.backward_line: SourceLoc | None = None
        self.step_line: SourceLoc | None = None
        self._looking = False
        self._zeroed = False  # whether gradients were zeroed since the last step
        self._went_back = False  # whether there was a backward pass since then
        self._zeroed_last = False  # whether zero_grad() came after it
        self._newest = -math.inf
        #: a parameter, its gradient, and the gradient's version after a step
        self._sample: tuple[Any, Any, int] | None = None
        self.stepped: dict[int, int] = {}  # optimizers, and the number of backward passes at their last step

    # -- backward -------------------------------------------------------------------------------------------------

    def before_backward(self, loss: Any, looking: bool, recording: Any) -> None:
        """A backward pass begins: at every pass whether gradients were zeroed, at a look all that the graph shows."""
        self._went_back, self._zeroed_last = True, False
        if not is_tensor(loss):
            return
        if self._sample is not None:
            parameter, grad, version = self._sample
            if parameter.grad is grad and grad._version == version and not self._zeroed:
                self.unzeroed += 1
            self._sample = None
        self._looking = looking
        if self.first_bad is None and loss.is_cpu and loss.numel() == 1 and not math.isfinite(loss.item()):
            self.first_bad = self.watch.backwards
        if not looking:
            return
        self.number += 1
        frame = sys._getframe(3)
        self.backward_line = location_of(frame) or self.backward_line
        self.frame = frame
        if loss.grad_fn is None:
            if loss.requires_grad and loss.is_leaf:
                self.leaf_loss = self.backward_line
            return
        finite = is_finite(loss)
        self.losses.append(None if finite is None else float(loss.detach().sum()))
        walked = walk([loss])
        if len(self.roots) == 0 or self.number == 2:
            self.roots, optimizers = living_models(self.watch.torch)
            self.optimizers.update((id(optimizer), optimizer) for optimizer in optimizers)
        for node in walked.nodes:
            if op_name(node) == SINK:
                self._evidence(node.variable).reached += 1
        seen = [number for number in walked.seqs if number != math.inf]
        if seen:
            if min(seen) < self._newest:
                self.reaching_back += 1
            self._newest = max(seen)
        self.sizes.append(len(walked.nodes))
        look_at_losses(self, walked, recording)
        for root in self.roots:
            if not root.training and any(id(p) in self.parameters for p in root.parameters()):
                if any(_depends_on_mode(module) for module in root.modules()):
                    self.not_training.add(type(root).__name__)

    def after_backward(self, loss: Any) -> None:
        """A backward pass that was looked at has ended: which gradients are zero, which are not finite."""
        if not is_tensor(loss) or is_finite(loss) is False:
            return
        for evidence in self.parameters.values():
            grad = evidence.parameter.grad
            array = array_of(grad) if grad is not None else None
            if array is None:
                continue
            evidence.graded += 1
            evidence.zero += bool(not array.any())
            evidence.bad = evidence.bad or is_finite(grad) is False

    def before_zero_grad(self) -> None:
        """Gradients are about to be zeroed: whether somebody changed them after the step."""
        self._zeroed = self._zeroed_last = True
        if self._sample is not None:
            parameter, grad, version = self._sample
            if parameter.grad is grad and grad._version != version:
                self.clipped += 1
            self._sample = None

    # -- step -----------------------------------------------------------------------------------------------------

    def before_step(self, optimizer: Any, by_closure: bool) -> None:
        """A step begins: whether there is anything to step with, and what the parameters are."""
        wiped, self._went_back = self._went_back and self._zeroed_last, False
        last = self.stepped.get(id(optimizer))
        self.stepped[id(optimizer)] = self.watch.backwards
        self.optimizers.setdefault(id(optimizer), optimizer)
        if by_closure or (last is not None and last == self.watch.backwards):
            return  # its gradients are still to come, or were looked at
        if all(p.grad is None for p in trained_by(optimizer)):
            self.stepped_without += 1
            self.wiped += wiped
            self.step_line = location_of(sys._getframe(3))
        if not self._looking:
            return
        self.step_line = location_of(sys._getframe(3)) or self.step_line
        self.rates.append(max((float(group.get("lr", 1.0)) for group in optimizer.param_groups), default=0.0))
        for group in optimizer.param_groups:
            for parameter in group["params"]:
                if parameter.requires_grad and parameter.grad is not None:
                    self._look_at_parameter(self._evidence(parameter), float(group.get("lr", 1.0)))

    def after_step(self, optimizer: Any) -> None:
        """A step has ended: a gradient of it is kept in mind, to see what becomes of it."""
        self._zeroed = False
        for group in optimizer.param_groups:
            parameter = next((p for p in group["params"] if p.grad is not None), None)
            if parameter is not None:
                self._sample = parameter, parameter.grad, parameter.grad._version
                break

    def _look_at_parameter(self, evidence: Evidence, rate: float) -> None:
        """Whether a parameter is as it was at the first look, though its gradients were large enough to change it."""
        numbers, grad = _some(evidence.parameter), _some(evidence.parameter.grad)
        if numbers is None or grad is None or not numbers.size:
            return
        evidence.stepped += 1
        if evidence.first is None:
            evidence.first = numbers.copy()
        elif (evidence.first == numbers).all():
            evidence.unchanged += bool(rate * np.abs(grad).max() > 1e-5 * np.abs(numbers).max() > 0)

    def _evidence(self, parameter: Any) -> Evidence:
        evidence = self.parameters.get(id(parameter))
        if evidence is None:
            evidence = self.parameters[id(parameter)] = Evidence(parameter)
        return evidence


def _some(tensor: Any) -> Any:
    """Numbers of a tensor, a hundred thousand at most; None where they cannot be read."""
    array = array_of(tensor)
    return None if array is None else array.reshape(-1)[:: max(1, array.size // LARGEST)]


def _depends_on_mode(module: Any) -> bool:
    name = type(module).__name__
    return (name.startswith("Dropout") and getattr(module, "p", 0) > 0) or name.startswith("BatchNorm")


# -- losses that were handed the wrong thing --------------------------------------------------------------------------

THROUGH = ("View", "Reshape", "Unsqueeze", "Squeeze", "Transpose", "Permute", "T", "Expand", "Clone", "ToCopy", "Alias")
LOGARITHMS = ("LogSoftmax", "LogsigmoidForward", "Log", "Where")  # what nll_loss may be handed
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


def look_at_losses(looks: Looks, walked: Walk, recording: Any) -> None:
    """Note the patterns near the loss that are nearly always a mistake."""
    names = [op_name(node).removesuffix("Backward0").removesuffix("Backward1") for node in walked.nodes]
    for i, name in enumerate(names[:200]):  # near the loss
        below = _operand(walked, names, i)
        if below is None:
            continue
        wrong = WRONG.get((name, names[below]))
        if wrong is not None:
            _note(looks, walked, below, recording, *wrong)
        if name in ("NllLoss", "NllLossForward") and names[below] not in LOGARITHMS:
            what = "nll_loss was handed raw scores: it takes logarithms of probabilities"
            _note(looks, walked, i, recording, "raw nll", what, "use cross_entropy, or log_softmax")
        if name in ("Sub", "MseLoss"):
            _broadcast(looks, walked, i, recording)


def _operand(walked: Walk, names: list[str], i: int) -> int | None:
    """The first operation behind a node, past views."""
    while True:
        edge = next((edge for edge in walked.inputs[i] if edge is not None), None)
        if edge is None:
            return None
        i = edge[0]
        if names[i] not in THROUGH:
            return i


def _broadcast(looks: Looks, walked: Walk, i: int, recording: Any) -> None:
    """``[N, 1] - [N]``: a difference of all with all."""
    shape = _shape(walked.nodes[i])
    edge = next((edge for edge in walked.inputs[i] if edge is not None), None)
    inner = _shape(walked.nodes[edge[0]]) if edge is not None and op_name(walked.nodes[edge[0]]) != SINK else None
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
        _note(looks, walked, i, recording, "broadcast", what, "predictions.squeeze(1), or targets.unsqueeze(1)")


def _shape(node: Any) -> tuple[int, ...] | None:
    metadata = getattr(node, "_input_metadata", None)
    try:
        return tuple(int(n) for n in metadata[0].shape) if metadata else None
    except (AttributeError, IndexError, TypeError):
        return None


def _note(looks: Looks, walked: Walk, i: int, recording: Any, kind: str, what: str, fix: str) -> None:
    before = looks.patterns.get(kind)
    count, loc = (0, None) if before is None else (before.times, before.loc)
    if recording is not None and loc is None:
        call = recording.of_age(walked.seqs[i], looks.watch.torch.__name__)
        loc = call.loc if call is not None else None
    looks.patterns[kind] = Pattern(count + 1, loc, what, fix)
