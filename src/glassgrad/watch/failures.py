"""From an error to its cause: a table of PyTorch's messages, and what frames and graph know beside each."""

from __future__ import annotations

import ast
import math
import re
from collections.abc import Callable
from dataclasses import dataclass
from traceback import walk_tb
from types import FrameType, TracebackType
from typing import Any

from ..explore.model import SourceLoc
from ..explore.source import is_users, location
from ..explore.walk import is_tensor
from ..explore.why import why
from .finding import Asked, Finding
from .frames import module_path, names_in, place_of, shaped, tensors_on_line, users_frames, value_of
from .looks import loose_layers, modules_in, registered_list


class Case:
    """An error and what is known beside it."""

    def __init__(self, error: BaseException, traceback: TracebackType | None, watch: Any = None) -> None:
        self.error, self.traceback, self.watch = error, traceback, watch
        self.message = str(error)
        self.frames = users_frames(traceback)
        self.loc = place_of(self.frames)
        self.raised = location(self.frames[-1][0].f_code, self.frames[-1][1]) if self.frames else None
        self.match: re.Match[str] = re.match("", "")  # type: ignore[assignment]
        self.module_name, self.module = module_path(traceback)

    @property
    def frame(self) -> FrameType | None:
        """The innermost of the user's frames."""
        return self.frames[-1][0] if self.frames else None

    def on_line(self) -> dict[str, Any]:
        """The tensors on the user's line."""
        return tensors_on_line(self.frame, self.raised.line) if self.frame is not None and self.raised else {}

    def answer(self) -> Asked | None:
        """What was asked of the graph before the backward pass that failed."""
        return self.watch.answers.get("check") if self.watch is not None else None

    def earlier_backward(self) -> SourceLoc | None:
        """Where the backward pass before this one was asked for."""
        site = self.watch.sites[0] if self.watch is not None else None
        return location(*site) if site is not None and is_users(site[0]) else None

    def loss(self) -> Any:
        """What ``backward`` was called on: in the call that failed, else the last number in the user's frames."""
        values = [value for frame, _ in self.frames for value in frame.f_locals.values()]
        losses = [v for v in values if is_tensor(v) and v.grad_fn is not None and v.numel() == 1]
        for frame, _ in walk_tb(self.traceback):
            if frame.f_code.co_name == "backward":
                losses += [v for v in map(frame.f_locals.get, ("self", "tensors")) if is_tensor(v)]
        return losses[-1] if losses else None

    def input_of_module(self) -> Any:
        """The tensor that the module which ran was called with; None where there is none."""
        operand = None
        for frame, _ in walk_tb(self.traceback if self.module is not None else None):
            names = frame.f_locals  # those of its call have the arguments
            if names.get("self") is self.module:
                values = [*(value for name, value in names.items() if name != "self"), *names.get("args", ())]
                operand = next(filter(is_tensor, values), operand)
        return operand

    def named(self) -> tuple[str, ...]:
        """The tensors on the user's line, with shape and dtype."""
        return tuple(shaped(name, tensor) for name, tensor in self.on_line().items())

    def entered(self) -> tuple[str, ...]:
        """The module that ran, with the shape of its input."""
        if self.module is None:
            return ()
        kind, operand = repr(self.module), self.input_of_module()
        named = f"in {self.module_name}" + (f", {kind}" if "\n" not in kind else "")
        return (named if operand is None else f"{named}: {shaped('its input', operand)}",)


def explained(error: BaseException, traceback: TracebackType | None, watch: Any = None) -> Finding | None:
    """The cause of an error that autograd, a shape, a dtype or a missing gradient made; None for any other."""
    case = Case(error, traceback, watch)
    for pattern, explain in CASES:
        match = re.search(pattern, case.message)
        if match is not None:
            case.match = match
            finding = explain(case)
            if finding is not None:
                return finding
    return None


def _finding(case: Case, kind: str, what: str, fix: str, broke: tuple[str, ...] = (), loc: Any = None) -> Finding:
    if loc is None and case.raised is not None and case.raised != case.loc:  # a package was called
        broke = (f"raised at {case.raised}, `{case.raised.code}`", *broke)
    return Finding(kind, what, loc or case.loc, broke, fix, "failure")


@dataclass(frozen=True)
class Told:
    """A failure that is told in fixed words; ``{0}`` stands for what the pattern finds in the message.

    ``lines`` are what frames know beside it; of a failure of ``backward`` the graph was asked beforehand, whose answer
    names the lines.
    """

    kind: str
    what: str
    fix: str
    lines: Callable[[Case], tuple[str, ...]] = lambda case: ()
    by_graph: bool = False

    def __call__(self, case: Case) -> Finding:
        """The finding of an error."""
        what = self.what.format(*case.match.groups(), said=case.message.partition("\n")[0].rstrip("."))
        answer = case.answer() if self.by_graph else None
        if answer is not None:
            return _finding(case, self.kind, what, answer.advice or self.fix, answer.lines, answer.loc)
        return _finding(case, self.kind, what, self.fix, self.lines(case))


FREED = Told(
    "freed", "backward() went through the same part of the graph a second time; the first had freed its saved values.",
    "compute the shared part anew in each step, or detach() what is carried over from the step before", by_graph=True,
)  # fmt: skip


def _second_backward(case: Case) -> Finding:
    finding, before = FREED(case), case.earlier_backward()
    if before is None or any("backward" in line for line in finding.broke):
        return finding
    line = f"the backward pass before this one: {before}, `{before.code}`"
    return _finding(case, finding.kind, finding.what, finding.fix, (*finding.broke[:2], line), finding.loc)


def _not_scalar(case: Case) -> Finding:
    loss = case.loss()
    shape = f" of shape {[int(n) for n in loss.shape]}" if loss is not None else ""
    what = f"backward() was called on a tensor{shape}; without an argument it needs one number."
    return _finding(case, "not scalar", what, "loss.mean().backward(), or loss.sum().backward()")


def _leaf_in_place(case: Case) -> Finding:
    name = next((name for name, t in case.on_line().items() if t.is_leaf and t.requires_grad), "w")
    what = f"{name} is a leaf that requires a gradient: a recorded operation must not change it."
    fix = f"with torch.no_grad(): around an update of {name}; or {name} = {name} + ... where the graph is to know of it"
    return _finding(case, "leaf in place", what, fix)


def _numpy(case: Case) -> Finding:
    name = next((name for name, t in case.on_line().items() if t.requires_grad), "x")
    fix = f"{name}.detach().numpy() for printing and plotting; for the loss, compute with tensors"
    return _finding(case, "numpy", f"{name} is part of a graph, and a NumPy array cannot be.", fix)


def _missing_grad(case: Case) -> Finding | None:
    """``p.grad.zero_()`` where ``p.grad`` is None."""
    if case.frame is None or case.loc is None or ".grad" not in (case.loc.code or ""):
        return None
    for expression in names_in(case.loc.code or ""):
        if getattr(expression, "attr", "") != "grad":
            continue
        tensor = value_of(expression.value, case.frame)  # type: ignore[attr-defined]
        if not is_tensor(tensor) or (tensor.is_leaf and tensor.grad is not None):
            continue
        name = ast.unparse(expression.value)  # type: ignore[attr-defined]
        loss = case.loss()
        if not tensor.is_leaf:
            reason = f"{name} is no leaf: an operation made it, and backward() keeps the gradients of leaves only."
            line = f"it was made by {tensor.grad_fn.name()}"
            fix = f"{name}.retain_grad() before backward(); or make it in its final form and call requires_grad_() last"
            return _finding(case, "no leaf", f"{name}.grad is None. {reason}", fix, (line,))
        if not tensor.requires_grad:
            return _finding(
                case, "frozen", f"{name}.grad is None: {name}.requires_grad is False.", f"{name}.requires_grad_()"
            )
        if case.watch is not None and not case.watch.backwards:
            return _finding(case, "no backward", f"{name}.grad is None: backward() has not run yet.", "loss.backward()")
        answer = why(loss, tensor) if loss is not None else None
        lines = answer.lines if answer is not None and answer.kind != "connected" else ()
        what = f"{name}.grad is None: the loss does not lead back to {name}, or zero_grad() has set it to None since."
        if answer is not None and answer.kind == "connected":
            what = f"{name}.grad is None: zero_grad() has set it to None since backward()."
        return _finding(case, "no gradient", what, "look at .grad between backward() and zero_grad()", lines)
    return None


def _matrix_shapes(case: Case) -> Finding:
    rows, columns, wanted, out = (int(number) for number in case.match.groups())
    fix = f"the columns of the first must be as many as the rows of the second: {columns} against {wanted}"
    features = getattr(case.module, "in_features", None)
    if features is not None:
        fix = f"nn.Linear({columns}, {getattr(case.module, 'out_features', out)}), or hand it {features} features"
        operand = case.input_of_module()
        if operand is not None and math.prod(operand.shape[1:]) == features:
            sizes = " x ".join(str(int(n)) for n in operand.shape[1:])
            fix = f"x = x.flatten(1) before it: {sizes} is {features}"
    return _finding(
        case, "shape", f"a matrix of {rows} x {columns} cannot be multiplied by one of {wanted} x {out}.", fix,
        case.entered() or case.named(),
    )  # fmt: skip


def _lookup(case: Case) -> Finding:
    rows = getattr(case.module, "num_embeddings", None)
    size = f" of {rows} rows" if rows is not None else ""
    last = "rows" if rows is None else rows
    fix = f"indices go from 0 to {last} - 1: look at the vocabulary's size and its padding"
    return _finding(case, "index", f"an index is outside of the table{size}.", fix, (*case.named(), *case.entered()))


def _no_parameters(case: Case) -> Finding:
    lines, fix = [], "call super().__init__() first, and register layers: self.layers = nn.ModuleList([...])"
    for name, module in modules_in(case.frames):
        for path, kind, layers in loose_layers(module):
            lines.append(f"{name}.{path} is a {kind} of {len(layers)} layers: a model does not see inside of it")
            fix = registered_list(path, kind)
    return _finding(case, "no parameters", "the optimizer was given no parameter at all.", fix, tuple(lines))


def _around(case: Case) -> tuple[str, ...]:
    return *case.named(), *case.entered()


def _on_devices(case: Case) -> tuple[str, ...]:
    return *(f"{name} is on {tensor.device}" for name, tensor in case.on_line().items()), *case.entered()


CASES: list[tuple[str, Callable[[Case], Finding | None]]] = [
    (r"modified by an inplace operation", Told(
        "in-place", "a value that backward() needs was changed in place after an operation had saved it.",
        "write it out of place: x = x + 1 where it says x += 1", by_graph=True)),
    (r"backward through the graph a second time|saved .* have already been freed", _second_backward),
    (r"does not require grad and does not have a grad_fn", Told(
        "no graph", "the loss requires no gradient: no operation that was recorded leads from a parameter to it.",
        "look for detach(), .data, no_grad(), item() or numpy() before it", by_graph=True)),
    (r"grad can be implicitly created only for scalar outputs", _not_scalar),
    (r"leaf Variable that requires grad (is being used in an in-place|has been moved)", _leaf_in_place),
    (r"appears to not have been used in the graph", Told(
        "unused", "autograd.grad() was asked for the gradient of a tensor that the result does not depend on.",
        "pass the very tensor that the result was computed from (no copy, view or .to() of it), or allow_unused=True",
        Case.named)),
    (r"Can't call numpy\(\) on Tensor that requires grad", _numpy),
    (r"'NoneType' object (has no attribute|is not)|NoneType", _missing_grad),
    (r"mat1 and mat2 shapes cannot be multiplied \((\d+)x(\d+) and (\d+)x(\d+)\)", _matrix_shapes),
    (r"tensor a \((\d+)\) must match the size of tensor b \((\d+)\) at non-singleton dimension (\d+)", Told(
        "shape", "the shapes do not fit: {0} against {1} in dimension {2}.",
        "make them alike, or one of them 1 there: look at view, unsqueeze, transpose before this line", _around)),
    (r"must have the same dtype|expected scalar type|to have the same dtype|should be the same|Expected floating point "
     r"type|not implemented for '|Found dtype", Told(
        "dtype", "two dtypes do not go together: {said}.",
        "x.float() for numbers, y.long() for the classes of cross_entropy; NumPy's arrays are float64 as a rule",
        _around)),
    (r"Target (-?\d+) is out of bounds", Told(
        "labels", "label {0} is outside of the classes that the scores have.",
        "labels go from 0 to classes - 1: subtract what they begin with, or give the last layer more outputs",
        _around)),
    (r"Expected input batch_size \((\d+)\) to match target batch_size \((\d+)\)", Told(
        "shape", "{0} rows of scores and {1} labels.",
        "scores must be [batch, classes] and labels [batch]: look at the reshape before this line", _around)),
    (r"index out of range in self", _lookup),
    (r"to have \d+ channels, but got \d+ channels", Told(
        "shape", "{said}.", "the second dimension of the input holds the channels: [batch, channels, height, width]",
        lambda case: case.entered() or case.named())),
    (r"Expected more than 1 value per channel when training", Told(
        "batch of one", "batch norm cannot train on one value for each channel: its variance is zero.",
        "DataLoader(..., drop_last=True), a larger batch, or model.eval() where nothing is trained", Case.entered)),
    (r"Expected all tensors to be on the same device", Told(
        "device", "tensors of two devices meet.",
        "move the batch to where the model is: x = x.to(next(model.parameters()).device)", _on_devices)),
    (r"optimizer got an empty parameter list", _no_parameters),
    (r"can't optimize a non-leaf Tensor", Told(
        "no leaf", "the optimizer was given a tensor that an operation made; only leaves can be trained.",
        "make it in its final form first: w = torch.randn(3, device=...) * 0.1; w.requires_grad_()", Case.named)),
]  # fmt: skip
