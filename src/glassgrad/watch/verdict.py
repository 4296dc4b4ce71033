"""From the evidence of a run to what kept it from learning: each cause with the evidence it takes, and no more."""

from __future__ import annotations

import ast
import dataclasses
import gc
import linecache
import math
from collections import deque
from collections.abc import Iterator
from types import FrameType
from typing import Any

from ..explore.answer import listed, plural
from ..explore.model import SourceLoc
from ..explore.source import nodes_of, users_around
from ..explore.walk import family, op_name, sequence
from .finding import Asked, Finding, Weight
from .looks import Evidence, line_of_attribute, loose_layers, names_of, registered_list, trained_by
from .watch import Watch


def findings(watch: Watch, answers: dict[str, Asked] | None = None) -> list[Finding]:
    """What is wrong with a run that has come to its end, in the order of a step; empty where all is well.

    ``answers`` are those of the graph of a recorded step, which name lines.
    """
    return Verdict(watch, answers or {}).findings()


UNASKED = Asked("", "")  # what stands for the answer to a question that was not asked


class Verdict:
    """The findings of one watch."""

    def __init__(self, watch: Watch, answers: dict[str, Asked]) -> None:
        self.watch, self.looks, self.answers = watch, watch.looks, {**watch.known, **answers}
        if not answers and self.looks.nan is not None:
            self.answers["nan"] = self.looks.nan
        looks = self.looks
        self.names = names_of(looks.roots, looks.frame)
        self.optimizers = looks.optimizers_here()
        self.in_optimizer = {id(p): p for optimizer in self.optimizers for p in trained_by(optimizer)}
        self.in_models = {id(p): p for root in looks.roots for p in root.parameters()}

    def _has_reached(self, module: Any) -> bool:
        """Whether a graph that was looked at leads to a parameter of a module."""
        return any(id(p) in self.looks.parameters for p in module.parameters())

    def findings(self) -> list[Finding]:
        """All of them."""
        parts = (
            self._order(), self._losses(), self._rates(), self._reach(), self._optimizer(), self._units(),
            self._gradients(),
            self._updates(), self._behind(), self._graph(), self._modes(), self._warnings(),
        )  # fmt: skip
        return [finding for part in parts for finding in part]

    def _name(self, parameter: Any) -> str:
        return self.names.get(id(parameter), f"a parameter of shape {[int(n) for n in parameter.shape]}")

    def _named(self, parameters: list[Any]) -> str:
        return listed([self._name(parameter) for parameter in parameters], 4)

    # -- what was called, and in which order ------------------------------------------------------------------------

    def _order(self) -> Iterator[Finding]:
        watch, looks = self.watch, self.looks
        if not watch.backwards:
            if watch.steps:
                what = "optimizer.step() was called, and backward() never: there were no gradients."
                yield Finding("no backward", what, looks.step_line, fix="loss.backward() before optimizer.step()")
            return
        if looks.leaf_loss is not None:
            yield Finding(
                "leaf loss", "backward() was called on a tensor without history: it reaches nothing but itself.",
                looks.leaf_loss, ("torch.tensor(loss), .data and requires_grad_() on a result give such tensors",),
                "call backward() on the loss as it was computed",
            )  # fmt: skip
        known = looks.parameters
        is_trained = any(key in known and known[key].reached for key in self.in_optimizer)
        led = is_trained or not looks.number  # else it is said elsewhere why steps found no gradient
        wiped = looks.wiped >= 2 and not looks.stepped_first
        backward, step, order = looks.backward_line, looks.step_line, "optimizer.zero_grad(); loss.backward(); "
        for holds, kind, what, loc, fix in (
            (not watch.steps and self.optimizers and watch.backwards >= 2, "never stepped",
             "backward() was called, and optimizer.step() never: no parameter was changed.", backward,
             "optimizer.step() after loss.backward()"),
            (led and wiped, "order",
             "zero_grad() stands between backward() and step(): each step found no gradient.", step,
             f"{order}optimizer.step()"),
            (led and not wiped and looks.stepped_without and watch.steps >= 2, "order",
             "step() found no gradient: it came before backward().", step, f"{order}optimizer.step()"),
            (looks.unzeroed >= 2, "zero_grad",
             "gradients were not zeroed between steps: each step used the sum of all before.", backward,
             "optimizer.zero_grad() before loss.backward()"),
            (looks.clipped >= 2, "clipped late",
             "gradients were changed after the step that used them, and then zeroed.", step,
             "clip between loss.backward() and optimizer.step()"),
        ):  # fmt: skip
            if holds:
                yield Finding(kind, what, loc, fix=fix)

    # -- the loss ---------------------------------------------------------------------------------------------------

    def _losses(self) -> Iterator[Finding]:
        looks = self.looks
        bad = next((i for i, loss in enumerate(looks.losses) if loss is not None and not math.isfinite(loss)), None)
        if bad is not None and "labels ignored" not in looks.patterns:  # whose mean is NaN
            yield self._not_finite(self.watch.first_bad or bad + 1)
        for kind, pattern in looks.patterns.items():
            if pattern.times >= (min(3, looks.number) if kind == "one class" else min(2, looks.number)):
                loc = pattern.loc or self.answers.get(kind, UNASKED).loc or looks.backward_line
                weight: Weight = "note" if kind == "one class" else "finding"  # contrastive losses have it so
                yield Finding(kind, f"{pattern.what}.", loc, fix=pattern.fix, weight=weight)

    def _not_finite(self, step: int) -> Finding:
        """The loss was not finite: the first value that was not, be it a weight, an input or a result."""
        looks, answer = self.looks, self.answers.get("nan")
        what = f"the loss is not finite, from step {step:,} on."
        if looks.bad_weights and step > 1:
            gradient = self._spoiled()
            said = f"{self._named(looks.bad_weights)} had been made so by the step before it"
            if gradient is None:
                return Finding(
                    "nan", what, looks.step_line or looks.backward_line,
                    (said, "its gradients were finite, as far as was seen: the step was too large"),
                    "a smaller learning rate; torch.nn.utils.clip_grad_norm_ before the step",
                )  # fmt: skip
            lines = (said, gradient.verdict, *gradient.lines)
            return Finding("nan", what, gradient.loc or looks.backward_line, lines, gradient.advice)
        if answer is None:
            return Finding(
                "nan", what, looks.backward_line, (), "glassgrad.explore.trace_nan(loss) says where it began"
            )
        rise = self._rise()
        if rise is not None and not looks.bad_weights:
            first, last = rise
            return Finding(
                "nan", what, looks.step_line or looks.backward_line,
                (f"the loss had grown from {first:.3g} to {last:.3g}: the steps were too large", answer.verdict),
                "a smaller learning rate; clip_grad_norm_ before the step; a mean in place of a sum",
            )  # fmt: skip
        advice = answer.advice
        if looks.bad_weights:
            advice = "it was so before the first step: look at how it is initialized, or loaded"
        reasons = [line for line in answer.lines if not line.startswith("It stands ")]  # its place is told anyway
        reasons.sort(key=lambda line: not line.startswith("The reason"))
        return Finding("nan", what, answer.loc or looks.backward_line, (answer.verdict, *reasons[:2]), advice)

    def _rise(self) -> tuple[float, float] | None:
        """The first loss and the last that was finite, where it grew a thousandfold without a fall between."""
        losses = [abs(loss) for loss in self.looks.losses if loss is not None and math.isfinite(loss)]
        grew = len(losses) >= 2 and losses == sorted(losses) and losses[-1] > 1000 * losses[0] > 0
        return (losses[0], losses[-1]) if grew else None

    def _rates(self) -> Iterator[Finding]:
        looks = self.looks
        if len(looks.rates) >= 2 and not any(looks.rates):
            yield Finding(
                "lr", "the learning rate is 0 in every step that was looked at.", looks.step_line, self._where_made(),
                "look at lr= of the optimizer, and at what the scheduler makes of it",
            )  # fmt: skip

    # -- parameters -------------------------------------------------------------------------------------------------

    def _trained(self) -> list[Evidence]:
        return [e for e in self.looks.parameters.values() if id(e.parameter) in self.in_optimizer]

    def _reach(self) -> Iterator[Finding]:
        """Parameters that an optimizer has and no loss leads to."""
        looks = self.looks
        if looks.number < 2 and self.watch.backwards >= 2 or not looks.number:
            return
        reached = {key for key, evidence in looks.parameters.items() if evidence.reached}
        if not reached and self.in_optimizer:
            return  # the loss leads nowhere: said elsewhere
        missing = [
            p for key, p in self.in_optimizer.items() if p.requires_grad and key not in reached and p.grad is None
        ]
        replaced = self._replaced(missing)
        if replaced:
            old, new = replaced[0]
            yield Finding(
                "replaced", f"{self._name(new)} is trained by no optimizer: it took the place of a parameter that the "
                "optimizer was made with.", self._line_made(),
                ("the optimizer still has the old one, which nothing uses",),
                "make the optimizer after the model is complete",
            )  # fmt: skip
            gone = {id(old) for old, _ in replaced}
            missing = [p for p in missing if id(p) not in gone]
        if not missing:
            return
        answers = [self.answers[key] for key in (f"why {self._name(p)}" for p in missing) if key in self.answers]
        answer = answers[0] if answers else UNASKED
        cut = answer.loc is not None
        fix = answer.advice if cut else "use it in forward(), or leave it out of the optimizer"
        verb = "is" if len(missing) == 1 else "are"
        what = f"{self._named(missing)} {verb} never given a gradient: no loss leads back there."
        yield Finding("unreached", what, answer.loc, answer.lines, fix, "finding" if cut else "note")

    def _replaced(self, missing: list[Any]) -> list[tuple[Any, Any]]:
        """Parameters of the optimizer that no model has, with those of their model that no optimizer has."""
        fresh = [
            e.parameter for key, e in self.looks.parameters.items()
            if e.reached and key not in self.in_optimizer and key in self.in_models
        ]  # fmt: skip
        pairs = []
        for parameter in missing:
            if id(parameter) not in self.in_models:
                twin = next((p for p in fresh if len(p.shape) == len(parameter.shape)), None)
                if twin is not None:
                    pairs.append((parameter, twin))
        return pairs

    def _optimizer(self) -> Iterator[Finding]:
        """Parameters that get gradients and belong to no optimizer."""
        looks, covered = self.looks, set(self.in_optimizer)
        for root in looks.roots:
            for path, kind, layers in loose_layers(root):
                if not self._has_reached(root) and not any(map(self._has_reached, layers)):
                    continue  # left over from something else
                covered.update(id(p) for layer in layers for p in layer.parameters())
                yield Finding(
                    "list", f"{type(root).__name__}.{path} is a {kind} of {plural(len(layers), 'layer')}: the model "
                    "does not see inside, so the optimizer, .to() and state_dict() do not either.",
                    line_of_attribute(root, path), fix=registered_list(path, kind),
                )  # fmt: skip
        if not self.watch.steps:
            return
        for root in looks.roots:
            parameters = [p for p in root.parameters() if p.requires_grad]
            trained = [p for p in parameters if id(p) in self.in_optimizer]
            left = [p for p in parameters if id(p) not in covered and self._has_evidence(p)]
            if left and (not trained or all(id(p) in self.in_models for p in self.in_optimizer.values())):
                covered.update(map(id, left))
                yield self._untrained(left, "finding" if trained else "note")
        kind = self.watch.torch.nn.Parameter
        lone = [e.parameter for key, e in looks.parameters.items() if key not in covered and key not in self.in_models]
        lone = [p for p in lone if issubclass(type(p), kind) and self._has_evidence(p)]
        if lone:
            yield self._untrained(lone, "note")

    def _has_evidence(self, parameter: Any) -> bool:
        evidence = self.looks.parameters.get(id(parameter))
        return evidence is not None and evidence.reached > 0

    def _untrained(self, left: list[Any], weight: Weight) -> Finding:
        """Parameters that no optimizer has, be they of a model or alone."""
        what = f"{self._named(left)} {'gets' if len(left) == 1 else 'get'} gradients, and no optimizer has "
        what += "it." if len(left) == 1 else "them."
        lines: tuple[str, ...] = ()
        fix = "hand the optimizer model.parameters(); or set requires_grad = False where nothing is to be trained"
        if not any(id(p) in self.in_models for p in left):
            lines = ("no model has it either" if len(left) == 1 else "no model has them either",)
            fix = "hand it to the optimizer; a copy, as .to() and .float() make one, is no parameter: make it one last"
        return Finding("not in optimizer", what, self._line_made(), lines, fix, weight)

    # -- gradients --------------------------------------------------------------------------------------------------

    def _gradients(self) -> Iterator[Finding]:
        looks, trained = self.looks, self._trained()
        bad = [e.parameter for e in trained if e.bad]
        if bad and not (looks.bad_weights and self._spoiled()):  # else it was told why the loss became so
            answer = self._spoiled() or Asked(
                "", "a masked branch, sqrt or norm at 0, or a log of 0 gives such slopes"
            )
            yield Finding(
                "nan gradient", f"the loss is finite, and the gradient of {self._named(bad)} is not.",
                answer.loc or looks.backward_line, (answer.verdict, *answer.lines), answer.advice or
                "keep the input of that operation away from there before it: where() after it does not help",
            )  # fmt: skip
        graded = [e for e in trained if e.graded]
        zero = [e.parameter for e in graded if e.zero == e.graded >= min(3, looks.number) and looks.number >= 2]
        flow = looks.flow_of_first
        zero = [p for p in zero if flow is None or not flow.cancels(p)]
        explained = "labels ignored" in looks.patterns
        explained = explained or any(dead.how_many() == len(dead.runs) for dead in looks.units.dead.values())
        if zero and not bad and not explained:
            everything = len(zero) == len(graded)
            who = "every parameter" if everything else self._named(zero)
            zeroed = self.answers.get("zero gradients", UNASKED)
            yield Finding(
                "zero gradients", f"the gradient of {who} is zero in every step that was looked at.",
                zeroed.loc or looks.backward_line, (zeroed.verdict,) if zeroed.verdict else (),
                zeroed.advice or "glassgrad.explore.observe(loss) shows the gradient on its way",
                "finding" if everything or len(zero) >= 2 else "note",
            )  # fmt: skip
        if any(looks.rates):
            still = [e.parameter for e in trained if e.unchanged >= 2 and e.unchanged == e.stepped - 1]
            if still:
                yield Finding(
                    "unchanged", f"{self._named(still)} had gradients, and no step has changed "
                    + ("it." if len(still) == 1 else "them."), looks.step_line,
                    fix="look at the learning rate, and at what is written back into the parameters after the step",
                )  # fmt: skip

    def _spoiled(self) -> Asked | None:
        """The operation that gave the first gradient that was not finite; with its line where it was recorded."""
        flow, answer = self.looks.flow_of_first, self.answers.get("nan gradient")
        first = flow.answers([]).get("nan gradient") if flow is not None else None
        if answer is not None and (first is None or answer.verdict == first.verdict):
            return dataclasses.replace(answer, lines=first.lines, advice=first.advice) if first is not None else answer
        return first

    def _line_made(self) -> SourceLoc | None:
        """Where the optimizer was made, if there is one alone."""
        return self.looks.made.get(self.optimizers[0]) if len(self.optimizers) == 1 else None

    def _where_made(self) -> tuple[str, ...]:
        loc = self._line_made()
        return (f"the optimizer was made at {loc}",) if loc is not None else ()

    def _updates(self) -> Iterator[Finding]:
        """Steps that change weights by more than all they are, or by nothing that counts."""
        weights = [e for e in self._trained() if len(e.parameter.shape) >= 2 and len(e.updates) >= 3]
        finite = all(math.isfinite(loss or 0.0) for loss in self.looks.losses)
        if not weights or not finite or any(e.bad for e in weights):
            return
        huge = [e for e in weights if sum(u > 1 for u in e.updates) >= 3 or _jumped(e.updates)]
        if 2 * len(huge) >= len(weights):
            e = huge[0]
            yield Finding(
                "huge updates", f"a step changes {self._named([e.parameter for e in huge])} by more than all it is: by "
                f"{max(e.updates):.3g} times its norm.", self.looks.step_line, self._where_made(),
                "a smaller learning rate: a hundredth of a weight's norm in a step is usual at most",
            )  # fmt: skip
        largest = max(max(e.updates) for e in weights)
        if (
            largest < 1e-7
            and len(weights[0].updates) >= 4
            and any(e.zero < e.graded for e in weights)
            and any(self.looks.rates)
        ):
            yield Finding(
                "tiny updates", f"no step changes a weight by more than {largest:.1g} of its norm.",
                self.looks.step_line, self._where_made(),
                "a larger learning rate; gradients this small may also come from a mean over too much",
            )  # fmt: skip

    # -- layers -----------------------------------------------------------------------------------------------------

    def _units(self) -> Iterator[Finding]:
        units = self.looks.units
        for dead in units.dead.values():
            count, of = dead.how_many(), len(dead.runs)
            if count:
                yield Finding(
                    "dead units", f"{count} of {of} units of a ReLU are zero for every row, at three looks in a "
                    "row and more: they pass no gradient.", dead.loc or self.looks.backward_line, (),
                    "a smaller learning rate, another initialization, normalized inputs, or leaky_relu",
                )  # fmt: skip
        if len(units.single) >= 3 and len(units.single) == units.looks:
            loc = next((loc for loc in units.single if loc is not None), None)
            yield Finding(
                "batch of one", "batch norm is trained on one sample at a time: it takes out what is particular in it.",
                loc or self.looks.backward_line, (), "a larger batch, GroupNorm, or LayerNorm", "note",
            )  # fmt: skip

    def _behind(self) -> Iterator[Finding]:
        for write in self.looks.written[:1]:
            at = f" ({write.line})" if write.line is not None else ""
            saved = (
                f"{write.name}{at} had saved it, and backward() computes with what is there now: the gradient is wrong"
                if write.is_saved
                else f"{write.name}{at} made it, and its gradient is passed on as if nothing were written"
            )  # fmt: skip
            yield Finding(
                "data write", "a value of the graph was written through .data, of which autograd does not hear.",
                write.loc, (saved,), "write a new value: x = torch.where(mask, 0, x), x = x.clamp(0, 1)",
                "finding" if write.is_saved else "note",
            )  # fmt: skip

    # -- graph and modes --------------------------------------------------------------------------------------------

    def _graph(self) -> Iterator[Finding]:
        looks = self.looks
        sizes = looks.sizes
        if looks.reaching_back >= 2 and len(sizes) >= 3 and sizes[-1] > sizes[-2] > sizes[-3]:
            yield Finding(
                "graph kept", "the graph reaches back into earlier steps and grows: "
                f"from {sizes[0]:,} to {sizes[-1]:,} operations.", looks.backward_line,
                fix="detach() what is carried over from one step to the next",
            )  # fmt: skip
        kept = kept_losses(looks.kept, looks.frame)
        summed = summed_losses(looks.ages, looks.frame) if kept is None and not looks.reaching_back else None
        if kept is not None:
            name, loc = kept
            yield Finding(
                "losses kept", f"{name or 'something'} keeps each loss with its graph.", loc or looks.backward_line,
                ("each holds what its graph saved, or at least its nodes",), f"{name or 'losses'}.append(loss.item())",
                "note",
            )  # fmt: skip
        elif summed is not None:
            name, loc = summed
            yield Finding(
                "losses kept", f"{name} holds the graph of every loss that was added to it.",
                loc or looks.backward_line, ("memory grows with each step, and is freed when the sum is",),
                f"{name} += loss.item()", "note",
            )  # fmt: skip

    def _modes(self) -> Iterator[Finding]:
        for name in sorted(self.looks.not_training):
            yield Finding(
                "eval mode", f"{name} was trained in eval mode: dropout and batch norm do not do their part.",
                self.looks.backward_line, fix="model.train() before the training loop", weight="note",
            )  # fmt: skip

    def _warnings(self) -> Iterator[Finding]:
        seen = set()
        for message, loc in self.watch.warned:
            if "Using a target size" in message and "broadcast" not in seen and "broadcast" not in self.looks.patterns:
                seen.add("broadcast")
                yield Finding(
                    "broadcast", "prediction and target have different shapes, and are compared all with all.", loc,
                    (message.split(". ")[0],), "make the shapes alike: y.unsqueeze(1), or prediction.squeeze(1)",
                )  # fmt: skip
            if "lr_scheduler.step()` before `optimizer.step()" in message and "scheduler" not in seen:
                seen.add("scheduler")
                yield Finding(
                    "scheduler", "scheduler.step() came before optimizer.step(): the first rate is skipped.", loc,
                    fix="optimizer.step(), then scheduler.step()",
                )  # fmt: skip


def _jumped(updates: list[float]) -> bool:
    """Whether the first step made something else of a weight, and those after it were no small ones either."""
    return updates[0] > 5 and min(updates[1:3]) > 0.3


# -- what outlives its step --------------------------------------------------------------------------------------------
# Losses in a list, sums that hold the graphs of all steps before.

HOLDERS = (list, tuple, dict, deque, set)
STEPS = 3  # earlier steps that something must hold


def kept_losses(losses: list[Any], frame: FrameType | None) -> tuple[str, SourceLoc | None] | None:
    """The variable in which all of several losses are still alive with their graphs, and its line; None: nowhere.

    ``losses`` are weak references; the name is empty where the variable is not found.
    """
    gc.collect()  # what lives in circles is no longer kept by anybody
    alive = [loss() for loss in losses]
    if len(alive) < STEPS or any(loss is None or loss.grad_fn is None for loss in alive):
        return None
    for name, value in _variables(frame):
        if isinstance(value, HOLDERS):
            inside = value.values() if isinstance(value, dict) else value
            if all(any(one is loss for one in inside) for loss in alive):
                return name, _line_that_fills(frame, name)
    return "", None


def summed_losses(ages: list[float], frame: FrameType | None) -> tuple[str, SourceLoc | None] | None:
    """A variable whose sums lead back through the graphs of several steps, of which ``ages`` are the last nodes."""
    for name, value in _variables(frame):
        node = getattr(value, "grad_fn", None)
        if node is None or getattr(value, "is_leaf", True) or value.numel() != 1:
            continue
        oldest = sequence(node)
        while node is not None and family(op_name(node)) == "Add":
            oldest = min(oldest, sequence(node))
            node = next((child for child, _ in node.next_functions if child and family(op_name(child)) == "Add"), None)
        if sum(oldest <= age < sequence(value.grad_fn) for age in ages if age != -math.inf) >= STEPS:
            return name, _line_that_fills(frame, name)
    return None


def _variables(frame: FrameType | None) -> list[tuple[str, Any]]:
    """The variables of a frame and of the user's frames around it, with the attributes of its ``self``."""
    variables: dict[str, Any] = {}
    for one in users_around(frame):
        for name, value in {**one.f_globals, **one.f_locals}.items():
            if not name.startswith("__"):
                variables.setdefault(name, value)
    owner = vars(variables["self"]) if hasattr(variables.get("self"), "__dict__") else {}
    return [*variables.items(), *((f"self.{name}", value) for name, value in owner.items())]


def _line_that_fills(frame: FrameType | None, name: str) -> SourceLoc | None:
    """The first line of a frame's file that adds to a variable: ``name +=``, ``name = name +``, ``name.append()``."""
    file = frame.f_code.co_filename if frame is not None else ""
    node = next((node for node in nodes_of(file) if _fills(node, name)), None)
    if node is None:
        return None
    line = node.lineno  # type: ignore[attr-defined]
    return SourceLoc(file, line, code=linecache.getline(file, line).strip())


def _fills(node: ast.AST, name: str) -> bool:
    if isinstance(node, ast.AugAssign):
        return ast.unparse(node.target) == name
    if isinstance(node, ast.Assign):
        target = ast.unparse(node.targets[0])
        parts = [ast.unparse(part) for part in ast.walk(node.value) if isinstance(part, (ast.Name, ast.Attribute))]
        return target == name and name in parts or target.startswith(f"{name}[")
    adds = isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)
    return adds and ast.unparse(node.func) in (f"{name}.append", f"{name}.add", f"{name}.appendleft")  # type: ignore[attr-defined]
