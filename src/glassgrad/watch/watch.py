"""The watch over a script that trains: patches so light that nobody feels them, and looks that grow rare.

It replaces ``backward``, ``zero_grad`` and the display of warnings, and asks to be told of optimizers' steps. At the
backward passes 1, 2, 3, 6, 12, 24 ... it looks: at the graph before, at gradients after, at parameters around the step.
"""

from __future__ import annotations

import sys
import warnings
import weakref
from collections.abc import Callable
from types import CodeType, ModuleType
from typing import Any

from ..explore.model import Graph, SourceLoc
from ..explore.read import is_tensor
from ..explore.record import Recording
from ..explore.source import location_of
from ..explore.survey import read
from .asked import Asked, answers_to
from .looks import Looks
from .models import names_of, trained_by


def looked_at(number: int) -> bool:
    """Whether the backward pass of this number is looked at: 1, 2, 3, 6, 12, 24 ..."""
    return number <= 3 or (number % 3 == 0 and (number // 3) & (number // 3 - 1) == 0)


class Watch:
    """The watch over one engine, from :meth:`start` to :meth:`stop`; ``findings`` is what the looks have shown.

    After backward pass ``record_from`` everything is recorded, and at ``ask_at`` the graph is asked: then ``answers``
    name lines, and ``arrived`` is told. ``ask_at=None``: at every pass.
    """

    def __init__(
        self,
        torch: ModuleType,
        record_from: int | None = None,
        ask_at: int | None = None,
        arrived: Callable[[dict[str, Asked], Graph], None] | None = None,
    ) -> None:
        self.torch, self.record_from, self.ask_at, self.arrived = torch, record_from, ask_at, arrived
        self.backwards = self.steps = 0
        self.sites: list[tuple[CodeType, int]] = []  # where the last two backward passes were asked for
        self.warned: list[tuple[str, SourceLoc]] = []
        self.answers: dict[str, Asked] = {}
        self.recording: Recording | None = None
        self.looks = Looks(self)
        self._loss: Any = None
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
            self.recording = Recording()
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
            self._inside = True
            try:
                return self._backward(original, tensors, args, kwargs)
            finally:
                self._inside = False

        return backward

    def _backward(self, original: Any, tensors: Any, args: Any, kwargs: Any) -> Any:
        self.backwards += 1
        self._loss = weakref.ref(tensors) if is_tensor(tensors) else None
        asking = self.recording is not None and self.ask_at in (None, self.backwards)
        looking = asking or looked_at(self.backwards)
        frame = sys._getframe(2)
        self.sites = [*self.sites[-1:], (frame.f_code, frame.f_lasti)]
        recording = self.end_recording() if asking else None
        self.looks.before_backward(tensors, looking, recording)
        if asking and is_tensor(tensors):
            self._ask(tensors, recording, frame)
        answer = original(tensors, *args, **kwargs)
        if looking:
            self.looks.after_backward(tensors)
        if asking:
            self.answers, self.recording = {}, None
        if self.record_from is not None and self.backwards >= self.record_from:
            self._record()
        return answer

    def _ask(self, loss: Any, recording: Any, frame: Any) -> None:
        """Ask the recorded graph before the backward pass frees it."""
        names = names_of(self.looks.roots, frame)
        trained = [p for optimizer in self.looks.optimizers.values() for p in trained_by(optimizer)]
        self.answers = answers_to(
            loss, recording, {names.get(id(p), f"parameter {i}"): p for i, p in enumerate(trained)}
        )
        for kind, pattern in self.looks.patterns.items():
            self.answers[kind] = Asked(kind, pattern.what, loc=pattern.loc)
        if self.arrived is not None:
            model = max(self.looks.roots, key=lambda root: sum(1 for _ in root.parameters()), default=None)
            self.arrived(self.answers, read(loss, model=model, record=recording))

    def _zero_grad_by(self, original: Any) -> Any:
        def zero_grad(owner: Any, *args: Any, **kwargs: Any) -> Any:
            self.looks.before_zero_grad()
            return original(owner, *args, **kwargs)

        return zero_grad

    def _warning_by(self, original: Any) -> Any:
        def showwarning(message: Any, category: Any, filename: str, lineno: int, *more: Any, **kwargs: Any) -> None:
            if len(self.warned) < 20:
                loc = location_of(sys._getframe(1))
                self.warned.append((str(message), loc or SourceLoc(filename, lineno)))
            original(message, category, filename, lineno, *more, **kwargs)

        return showwarning

    def _before_step(self, optimizer: Any, args: Any, kwargs: Any) -> None:
        self.steps += 1
        self.looks.before_step(optimizer, by_closure=bool(len(args) > 1 or kwargs))

    def _after_step(self, optimizer: Any, args: Any, kwargs: Any) -> None:
        self.looks.after_step(optimizer)

    # -- what is known --------------------------------------------------------------------------------------------

    def loss(self) -> Any:
        """The last tensor that ``backward`` was called on, if it still lives."""
        return self._loss() if self._loss is not None else None
