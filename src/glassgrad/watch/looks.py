"""What a look at a training step keeps as evidence: leaves, gradients, parameters; and which models there are."""

from __future__ import annotations

import gc
import linecache
import math
import re
import weakref
from collections.abc import Iterator
from types import FrameType, ModuleType
from typing import TYPE_CHECKING, Any

import numpy as np

from ..explore.measure import array_of, is_finite, norm_of
from ..explore.model import SourceLoc
from ..explore.walk import SINK, is_tensor, op_name, walk
from .finding import Asked, answers_to
from .frames import own_place
from .patterns import Flow, Pattern, Units, Write, look_at_graph, writes_behind

if TYPE_CHECKING:
    from .watch import Watch


LARGEST = 100_000  # numbers of a parameter that are compared around a step


class Evidence:
    """What the looks have seen of one parameter."""

    __slots__ = ("parameter", "reached", "zero", "graded", "stepped", "unchanged", "first", "before", "bad", "updates")

    def __init__(self, parameter: Any) -> None:
        self.parameter = parameter
        self.first: Any = None  # its numbers before the first step that was looked at
        self.reached = self.zero = self.graded = self.stepped = self.unchanged = 0
        self.before: Any = None  # and before the one that runs
        self.updates: list[float] = []  # the norms of its updates, in units of its own
        self.bad = False  # whether an optimizer made a step with its gradient, which was NaN or infinite


class Looks:
    """The evidence of one watch."""

    def __init__(self, watch: Watch) -> None:
        self.watch = watch
        self.number = 0  # of looks
        self.losses: list[float | None] = []
        self.kept: list[weakref.ref[Any]] = []  # the losses themselves
        self.ages: list[float] = []  # of the youngest node of each graph
        self.nan: Asked | None = None  # what the graph of the first loss said that was not finite
        self.bad_weights: list[Any] = []  # and its leaves that were not either
        self.spoiled_at: int | None = None  # the backward pass whose gradients were the first that were not finite
        self.flow: Flow | None = None  # where gradients became zero or not finite: of the last pass that was asked
        self.flow_of_first: Flow | None = None
        self.written: list[Write] = []
        self.units = Units()
        self.made: weakref.WeakKeyDictionary[Any, SourceLoc | None] = weakref.WeakKeyDictionary()  # optimizers, where
        self.parameters: dict[int, Evidence] = {}
        self.optimizers: dict[int, Any] = {}
        self.roots: list[Any] = []
        self.frame: FrameType | None = None
        self.patterns: dict[str, Pattern] = {}  # by kind
        self.leaf_loss: SourceLoc | None = None
        self.reaching_back = 0
        self.sizes: list[int] = []
        self.rates: list[float] = []
        self.stepped_first = False  # whether a step came before any backward pass
        self.unzeroed = self.clipped = self.wiped = self.stepped_without = 0
        self.not_training: set[str] = set()
        self.backward_line: SourceLoc | None = None
        self.step_line: SourceLoc | None = None
        self.has_stepped = False  # since the last look
        self._looking = False
        self._zeroed = False  # whether gradients were zeroed since the last step
        self._went_back = False  # whether there was a backward pass since then
        self._zeroed_last = False  # whether zero_grad() came after it
        #: a parameter, its gradient, and the gradient's version after a step
        self._sample: tuple[Any, Any, int] | None = None
        self.stepped: dict[int, int] = {}  # optimizers, and the number of backward passes at their last step

    # -- backward -------------------------------------------------------------------------------------------------

    def passes(self, loss: Any) -> None:
        """A backward pass begins: whether gradients were zeroed since the step."""
        self._went_back, self._zeroed_last, self._looking = True, False, False
        if self._sample is not None and is_tensor(loss):
            parameter, grad, version = self._sample
            if parameter.grad is grad and grad._version == version and not self._zeroed:
                self.unzeroed += 1
            self._sample = None

    def before_backward(self, loss: Any, frame: FrameType, recording: Any) -> None:
        """A backward pass that is looked at begins: all that the graph shows."""
        self.has_stepped, self.flow = False, None
        if not is_tensor(loss):
            return
        self._looking = True
        self.number += 1
        self.backward_line = own_place(frame) or self.backward_line
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
        leaves = [node.variable for node in walked.nodes if op_name(node) == SINK]
        for leaf in leaves:
            self._evidence(leaf).reached += 1
        if finite is False and self.watch.first_bad == self.watch.backwards:
            self.nan = answers_to(loss, recording, {}).get("nan")
            self.bad_weights = [leaf for leaf in leaves if is_finite(leaf) is False]
        self.kept.append(weakref.ref(loss))
        seen = [number for number in walked.seqs if number != math.inf]
        if seen:
            self.reaching_back += bool(self.ages) and min(seen) < self.ages[-1]
            self.ages.append(max(seen))
        self.sizes.append(len(walked.nodes))
        look_at_graph(self.patterns, walked, recording, self.watch.torch.__name__)
        self.units.look(walked, recording, self.watch.torch.__name__)
        if recording is not None:
            self.written = writes_behind(recording, walked)
        if finite is not False and (recording is not None or self.number == 1):
            self.flow = Flow(walked, recording, self.watch.torch.__name__)
        for root in self.roots:
            if not root.training and any(id(p) in self.parameters for p in root.parameters()):
                if any(_depends_on_mode(module) for module in root.modules()):
                    self.not_training.add(type(root).__name__)

    def after_backward(self) -> None:
        """A backward pass that was looked at has ended: which gradients are zero."""
        if self.flow is not None:
            self.flow.stop()
            self.flow_of_first = self.flow_of_first or self.flow
        if not self._looking or not self.losses or not math.isfinite(self.losses[-1] or 0.0):
            return
        for evidence in self.parameters.values():
            grad = evidence.parameter.grad
            array = array_of(grad) if grad is not None else None
            if array is not None:
                evidence.graded += 1
                evidence.zero += bool(not array.any())

    def flow_answers(self) -> dict[str, Asked]:
        """What the hooks on the operations of the last pass saw, as answers."""
        flow = self.flow
        if flow is None:
            return {}
        zeroed = [e.parameter for e in self.parameters.values() if e.graded and e.zero == e.graded]
        return flow.answers(zeroed)

    def before_zero_grad(self) -> None:
        """Gradients are about to be zeroed: whether somebody changed them after the step."""
        self._zeroed = self._zeroed_last = True
        if self._sample is not None:
            parameter, grad, version = self._sample
            if parameter.grad is grad and grad._version != version:
                self.clipped += 1
            self._sample = None

    # -- step -----------------------------------------------------------------------------------------------------

    def before_step(self, optimizer: Any, by_closure: bool, frame: FrameType) -> None:
        """A step begins: whether there is anything to step with, and what the parameters are."""
        self.has_stepped = True
        wiped, self._went_back = self._went_back and self._zeroed_last, False
        last = self.stepped.get(id(optimizer))
        self.stepped[id(optimizer)] = self.watch.backwards
        self.optimizers.setdefault(id(optimizer), optimizer)
        if by_closure:  # its gradients are still to come
            self._look_at_rates(optimizer, frame)
            for parameter in trained_by(optimizer):
                numbers = _some(parameter)
                if id(parameter) in self.parameters and numbers is not None:
                    self.parameters[id(parameter)].before = numbers.copy()
            return
        if last is not None and last == self.watch.backwards:
            return  # they were looked at
        if all(p.grad is None for p in trained_by(optimizer)):
            self.stepped_without += 1
            self.stepped_first |= not self.watch.backwards
            self.wiped += wiped
            self.step_line = own_place(frame)
        if not self._looking:
            return
        self._look_at_rates(optimizer, frame)
        skipped = getattr(optimizer, "found_inf", None) is not None  # mixed precision decides within the step
        for group in optimizer.param_groups:
            for parameter in group["params"]:
                if parameter.requires_grad and parameter.grad is not None and not skipped:
                    self._look_at_parameter(self._evidence(parameter), float(group.get("lr", 1.0)))

    def optimizers_here(self) -> list[Any]:
        """The optimizers that made a step, or of whose parameters a graph led to one: others are another program's."""
        reached = {key for key, evidence in self.parameters.items() if evidence.reached}
        return [
            optimizer for key, optimizer in self.optimizers.items()
            if key in self.stepped or any(id(p) in reached for p in trained_by(optimizer))
        ]  # fmt: skip

    def _look_at_rates(self, optimizer: Any, frame: FrameType) -> None:
        self.step_line = own_place(frame) or self.step_line
        self.rates.append(max((float(group.get("lr", 1.0)) for group in optimizer.param_groups), default=0.0))

    def after_step(self, optimizer: Any) -> None:
        """A step has ended: a gradient of it is kept in mind, to see what becomes of it."""
        self._zeroed = False
        for parameter in trained_by(optimizer):
            evidence = self.parameters.get(id(parameter))
            if evidence is not None and evidence.before is not None:
                before, evidence.before = evidence.before, None
                norm = norm_of(before)
                if norm > 0:
                    evidence.updates.append(norm_of(_some(parameter) - before) / norm)
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
        if self.losses and math.isfinite(self.losses[-1] or 0.0) and is_finite(evidence.parameter.grad) is False:
            evidence.bad = True
            self.spoiled_at = self.spoiled_at or self.watch.backwards
        evidence.stepped += 1
        evidence.before = numbers.copy()
        if evidence.first is None:
            evidence.first = evidence.before
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


# -- the models and optimizers of a running program, found without being handed in -------------------------------------

PLAIN = (list, tuple, dict)


def living_models(torch: ModuleType) -> tuple[list[Any], list[Any]]:
    """All modules that are part of no other, and all optimizers that are alive."""
    modules, optimizers = [], []
    module_class, optimizer_class = torch.nn.Module, torch.optim.Optimizer
    for thing in gc.get_objects():
        kind = type(thing)  # isinstance would ask proxies, whose answers may run code
        if issubclass(kind, module_class):
            modules.append(thing)
        elif issubclass(kind, optimizer_class):
            optimizers.append(thing)
    inner = {id(child) for module in modules for child in module._modules.values()}
    return [module for module in modules if id(module) not in inner], optimizers


def trained_by(optimizer: Any) -> Iterator[Any]:
    """The parameters of all groups of an optimizer."""
    for group in optimizer.param_groups:
        yield from group["params"]


def names_of(roots: list[Any], frame: FrameType | None) -> dict[int, str]:
    """The parameters of some models by identity: ``model.fc.weight``, after the variable that holds the model."""
    variables: dict[int, str] = {}
    for scope in (frame.f_globals, frame.f_locals) if frame is not None else ():
        variables.update((id(value), name) for name, value in scope.items() if not name.startswith("_"))
    several = len(roots) > 1
    names: dict[int, str] = {}
    prefixes: set[str] = set()
    for root in roots:
        prefix = variables.get(id(root), type(root).__name__)
        if prefix in prefixes:  # several of one class, and no variable holds them
            prefix += f" {len(prefixes) + 1}"
        prefixes.add(prefix)
        for name, parameter in root.named_parameters():
            names.setdefault(id(parameter), f"{prefix}.{name}" if several or id(root) in variables else name)
    for key, name in variables.items():
        names.setdefault(key, name)
    return names


def modules_in(frames: list[tuple[FrameType, int]]) -> Iterator[tuple[str, Any]]:
    """The modules that the variables of some frames hold, innermost frame first."""
    seen: set[int] = set()
    for frame, _ in reversed(frames):
        for name, value in {**frame.f_globals, **frame.f_locals}.items():
            if hasattr(type(value), "named_modules") and id(value) not in seen:
                seen.add(id(value))
                yield name, value


def loose_layers(root: Any) -> Iterator[tuple[str, str, list[Any]]]:
    """Plain lists, tuples and dicts of layers, which a model does not see into: path, kind and layers."""
    registered = {id(module) for module in root.modules()}
    for path, module in root.named_modules():
        for name, value in vars(module).items():
            if name.startswith("_") or type(value) not in PLAIN:
                continue
            layers = [one for one in (value.values() if type(value) is dict else value) if _is_layer(one)]
            if any(id(layer) not in registered for layer in layers):
                yield f"{path}.{name}" if path else name, type(value).__name__, layers


def line_of_attribute(root: Any, path: str) -> SourceLoc | None:
    """The line that gives the attribute at the end of a path its value; None where it cannot be read."""
    owner, _, name = path.rpartition(".")
    code = getattr(type(root.get_submodule(owner)).__init__, "__code__", None)
    if code is None:
        return None
    lines = linecache.getlines(code.co_filename)[code.co_firstlineno - 1 :]
    gives = re.compile(rf"\bself\.{name}\b[^=]*=(?!=)")
    at = next((i for i, line in enumerate(lines) if gives.search(line)), None)
    return None if at is None else SourceLoc(code.co_filename, code.co_firstlineno + at, code=lines[at].strip())


def registered_list(path: str, kind: str) -> str:
    """The line that makes a plain list or dict of layers, as ``loose_layers`` tells of it, a part of the model."""
    return f"self.{path.rpartition('.')[2]} = nn.{'ModuleDict' if kind == 'dict' else 'ModuleList'}(...)"


def _is_layer(value: Any) -> bool:
    return hasattr(type(value), "named_modules") and next(value.parameters(), None) is not None
