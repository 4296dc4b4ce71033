"""The watch over a script that trains: patches so light that nobody feels them, and looks that grow rare.

It replaces ``backward``, ``zero_grad`` and the display of warnings, and asks to be told of optimizers' steps. At the
backward passes 1, 2, 3, 6, 13, 26 ... it looks: at the graph before, at gradients after, at parameters around the step
that follows. In between it counts, and sees whether the loss is a number.
"""

from __future__ import annotations

import math
import sys
import warnings
from collections.abc import Callable
from types import CodeType, ModuleType
from typing import Any

from ..explore import listen_torch
from ..explore.model import Graph, SourceLoc
from ..explore.record import Recording
from ..explore.survey import read
from ..explore.walk import is_tensor
from .finding import Asked, answers_to
from .frames import own_place
from .looks import Looks, names_of, trained_by


def after_look(number: int) -> int:
    """The next backward pass to look at: 1, 2, 3, 6, 13, 26, 53 ..., so that what takes turns is seen in every turn."""
    return number + 1 if number < 3 else 2 * number + (number % 2 == 0)


class Watch:
    """The watch over one engine, from :meth:`start` to :meth:`stop`; ``findings`` is what the looks have shown.

    After backward pass ``record_from`` everything is recorded until pass ``ask_at``, at which the graph is asked: then
    ``answers`` name lines, and ``arrived`` is told after it. ``ask_at=None``: at every pass. As a rule it is the second
    step that is recorded.
    """

    def __init__(
        self, torch: ModuleType, record_from: int | None = 1, ask_at: int | None = 2,
        arrived: Callable[[dict[str, Asked], Graph], None] | None = None, values: bool = False,
    ) -> None:  # fmt: skip
        self.torch, self.record_from, self.ask_at, self.arrived = torch, record_from, ask_at, arrived
        self.values = values  # whether a recording counts the numbers of results
        self.backwards = self.steps = 0
        self.first_bad: int | None = None  # the first backward pass from a loss that is not finite
        #: where the last two backward passes were asked for
        self.sites: tuple[tuple[CodeType, int] | None, tuple[CodeType, int] | None] = (None, None)
        self.warned: list[tuple[str, SourceLoc]] = []
        self.answers: dict[str, Asked] = {}  # of the pass that runs, or failed
        self.known: dict[str, Asked] = {}  # of the last pass that was asked
        self.lost: list[Exception] = []  # what went wrong in a look: the program is not ended by it
        self.recording: Recording | None = None
        self.looks = Looks(self)
        self._next: float = 1  # the pass to look at
        self._alert = True  # whether zero_grad and steps are looked at: from a look to the pass after the step
        self._is_bad = _bad_array if hasattr(torch.Tensor, "_array") else _bad_tensor
        self._inside = self._started = False
        self._originals: list[tuple[Any, str, Any]] = []
        self._handles: list[Any] = []

    # -- putting it on and taking it off --------------------------------------------------------------------------

    def start(self) -> Watch:
        """Put the patches on."""
        torch = self.torch
        self._replace(torch.Tensor, "backward", self._backward_by)
        self._replace(torch.autograd, "backward", self._backward_by)
        for kind in (torch.optim.Optimizer, torch.nn.Module):
            self._replace(kind, "zero_grad", self._zero_grad_by)
        self._replace(torch.optim.Optimizer, "__init__", self._optimizer_by)
        self._replace(warnings, "showwarning", self._warning_by)
        hooks = sys.modules[torch.optim.Optimizer.__module__]
        self._handles = [
            hooks.register_optimizer_step_pre_hook(self._before_step),
            hooks.register_optimizer_step_post_hook(self._after_step),
        ]
        self._started = True
        if self.record_from == 0:
            self._record()
        return self

    def stop(self) -> None:
        """Take the patches off; what is known stays."""
        if self._started:
            self._started = False
            self.end_recording()
            while self._originals:
                owner, name, original = self._originals.pop()
                setattr(owner, name, original)
            for handle in self._handles:
                handle.remove()

    def __enter__(self) -> Watch:
        return self.start()

    def __exit__(self, *error: Any) -> None:
        self.stop()

    def _replace(self, owner: Any, name: str, make: Any) -> None:
        original = getattr(owner, name)
        replacement = make(original)
        replacement.__name__, replacement.__doc__ = getattr(original, "__name__", name), original.__doc__
        self._originals.append((owner, name, original))
        setattr(owner, name, replacement)

    # -- recording ------------------------------------------------------------------------------------------------

    def _record(self) -> None:
        if self.recording is None:
            self.recording = Recording(values=self.values)
            self.recording.__enter__()

    def end_recording(self) -> Recording | None:
        """Stop recording; gives what was recorded."""
        recording = self.recording
        if recording is not None and recording._listeners:
            recording.__exit__(None, None, None)
        return recording

    # -- what is called -------------------------------------------------------------------------------------------

    def _backward_by(self, original: Any) -> Any:
        def backward(tensors: Any, *args: Any, **kwargs: Any) -> Any:
            if self._inside:
                return original(tensors, *args, **kwargs)
            frame = sys._getframe(1)
            self.backwards = number = self.backwards + 1
            self.sites = self.sites[1], (frame.f_code, frame.f_lasti)
            bad = self.first_bad is None and self._is_bad(tensors)
            self._inside = True
            try:
                if bad or self._alert or number >= self._next:
                    return self._attended(original, tensors, args, kwargs, bad)
                return original(tensors, *args, **kwargs)
            finally:
                self._inside = False

        return backward

    def _attended(self, original: Any, tensors: Any, args: Any, kwargs: Any, bad: bool) -> Any:
        """A backward pass that is looked at, or that follows the step of one."""
        number, frame = self.backwards, sys._getframe(2)
        if bad:
            self.first_bad = number
        recording = self.recording if self.ask_at in (None, number) else None
        looking = bad or number >= self._next or recording is not None
        self._safely(self.looks.passes, tensors)
        if looking:
            if recording is not None:
                self.end_recording()
            self._alert, self._next = True, self._look_after(number)
            self._safely(self.looks.before_backward, tensors, frame, recording)
        elif self.looks.has_stepped:
            self._alert = False
        graph = self._safely(self._ask, tensors, recording, frame) if recording is not None else None
        try:
            answer = original(tensors, *args, **kwargs)
        finally:
            if looking:
                self._safely(self.looks.after_backward)
            if graph is not None and self.arrived is not None:
                self.answers.update(self.looks.flow_answers())
                self.arrived(self.answers, graph)
        if recording is not None:
            self.known, self.answers, self.recording = {**self.answers, **self.looks.flow_answers()}, {}, None
        if self.record_from is not None and self.record_from <= number < (self.ask_at or math.inf):
            self._safely(self._record)
        return answer

    def _look_after(self, number: int) -> int:
        if self.ask_at is None:
            return number + 1
        return min(n for n in (after_look(number), self.record_from, self.ask_at) if n is not None and n > number)

    def _safely(self, part: Callable[..., Any], *args: Any) -> Any:
        """Look; where the look itself goes wrong, the program runs on without it."""
        try:
            return part(*args)
        except Exception as error:
            self.lost.append(error)
            self._alert, self._next, self.record_from = False, math.inf, None
            self.end_recording()
            self.recording = None
            return None

    def _ask(self, loss: Any, recording: Recording, frame: Any) -> Graph | None:
        """Ask the recorded graph before the backward pass frees it."""
        if not is_tensor(loss):
            return None
        names = names_of(self.looks.roots, frame)
        trained = [p for optimizer in self.looks.optimizers_here() for p in trained_by(optimizer)]
        self.answers = answers_to(
            loss, recording, {names.get(id(p), f"parameter {i}"): p for i, p in enumerate(trained)}
        )
        for kind, pattern in self.looks.patterns.items():
            self.answers[kind] = Asked(kind, pattern.what, loc=pattern.loc)
        if self.arrived is None:
            return None
        model = max(self.looks.roots, key=lambda root: sum(1 for _ in root.parameters()), default=None)
        return read(loss, model=model, record=recording)

    def _zero_grad_by(self, original: Any) -> Any:
        def zero_grad(owner: Any, *args: Any, **kwargs: Any) -> Any:
            if self._alert:
                self._safely(self.looks.before_zero_grad)
            return original(owner, *args, **kwargs)

        return zero_grad

    def _optimizer_by(self, original: Any) -> Any:
        def __init__(optimizer: Any, *args: Any, **kwargs: Any) -> None:
            self.looks.made[optimizer] = own_place(sys._getframe(1))
            original(optimizer, *args, **kwargs)

        return __init__

    def _warning_by(self, original: Any) -> Any:
        def showwarning(message: Any, category: Any, filename: str, lineno: int, *more: Any, **kwargs: Any) -> None:
            loc = own_place(sys._getframe(1))
            if filename == listen_torch.__file__:  # a recorded step's stands there, in place of the user's line
                if any(str(message) == known for known, _ in self.warned):
                    return
                filename, lineno = (loc.file, loc.line) if loc is not None else (filename, lineno)
            if len(self.warned) < 20:
                self.warned.append((str(message), loc or SourceLoc(filename, lineno)))
            original(message, category, filename, lineno, *more, **kwargs)

        return showwarning

    def _before_step(self, optimizer: Any, args: Any, kwargs: Any) -> None:
        self.steps += 1
        if self._alert:
            by_closure = bool(len(args) > 1 or kwargs)
            self._safely(self.looks.before_step, optimizer, by_closure, sys._getframe(1))

    def _after_step(self, optimizer: Any, args: Any, kwargs: Any) -> None:
        if self._alert:
            self._safely(self.looks.after_step, optimizer)


def _bad_tensor(loss: Any) -> bool:
    """Whether a loss of PyTorch's is one number that is not finite; one on another device is not waited for."""
    try:
        return loss.is_cpu and not math.isfinite(loss.item())
    except (AttributeError, TypeError, ValueError, RuntimeError):
        return False


def _bad_array(loss: Any) -> bool:
    """Whether a loss of glassgrad's is one number that is not finite."""
    try:
        array = loss._array
        return array.ndim == 0 and not math.isfinite(array)
    except (AttributeError, TypeError, ValueError):
        return False
