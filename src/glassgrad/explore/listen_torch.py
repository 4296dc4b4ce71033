"""Hearing torch's calls, floor 8: a function mode, hooks at every module, ages of nodes; torch as it is handed in."""

from __future__ import annotations

import sys
from typing import Any

_modes: dict[Any, type] = {}


class Listener:
    """Tells a recording what torch does in this thread, from :meth:`start` to :meth:`stop`."""

    name = "torch"

    def __init__(self, recording: Any, torch: Any) -> None:
        self.recording, self.torch = recording, torch
        self.tensor, self.arrays = torch.Tensor, False
        age = getattr(torch.autograd, "_get_sequence_nr", None)
        if age is None:
            age = getattr(getattr(torch._C, "_autograd", None), "_get_sequence_nr", None)
        self.age = age or self._by_trial
        self.handles: list[Any] = []

    def _by_trial(self) -> int:
        """The next node's age, found by making one: for versions of torch that do not tell."""
        torch = self.torch
        with torch.enable_grad():
            return int(torch.ones((), requires_grad=True).clone().grad_fn._sequence_nr()) + 1

    def is_on(self) -> bool:
        """Whether torch records now."""
        return bool(self.torch.is_grad_enabled())

    def inference(self) -> bool:
        """Whether torch is in inference mode now."""
        return bool(self.torch.is_inference_mode_enabled())

    def start(self) -> None:
        """Begin to listen."""
        torch, recording = self.torch, self.recording
        from torch.nn.modules import module as modules

        mode = _modes.get(torch)
        if mode is None:
            mode = _modes[torch] = _mode(torch)
        recording._skip = (*recording._skip, __file__)
        self.mode = mode(self)
        self.mode.__enter__()
        self.handles = [
            modules.register_module_forward_pre_hook(self._before),
            modules.register_module_forward_hook(self._after, always_call=True),
        ]
        self._function = torch.autograd.Function.__dict__["apply"]
        listener, inner = self, self._function.__func__

        def apply(cls: Any, *args: Any, **kwargs: Any) -> Any:
            return listener.recording.hear(listener, cls.__name__, lambda: inner(cls, *args, **kwargs), args, kwargs)

        torch.autograd.Function.apply = classmethod(apply)
        step = getattr(sys.modules.get("torch.optim.optimizer"), "register_optimizer_step_pre_hook", None)
        if step is not None:
            optimizer = sys.modules["torch.optim.optimizer"]
            self.handles.append(optimizer.register_optimizer_step_pre_hook(self._before_step))
            self.handles.append(optimizer.register_optimizer_step_post_hook(self._after_step))

    def stop(self) -> None:
        """Listen no more."""
        if self.handles:
            for handle in self.handles:
                handle.remove()
            self.handles = []
            self.torch.autograd.Function.apply = self._function
            self.mode.__exit__(None, None, None)

    def _before(self, module: Any, args: Any) -> None:
        self.recording.enter(module, sys._getframe(1))

    def _after(self, module: Any, args: Any, result: Any) -> None:
        self.recording.leave(module)

    def _before_step(self, optimizer: Any, args: Any, kwargs: Any) -> None:
        self.quiet, self.recording._inside = self.recording._inside, True

    def _after_step(self, optimizer: Any, args: Any, kwargs: Any) -> None:
        self.recording._inside = self.quiet
        tensors = [t for group in optimizer.param_groups for t in group["params"] if t.grad is not None]
        self.recording.stepped(f"{type(optimizer).__name__}.step", tensors, sys._getframe(1))


def _mode(torch: Any) -> type:
    """The function mode that hands calls to a listener."""
    from torch.overrides import TorchFunctionMode

    data = torch.Tensor.data

    class Hearing(TorchFunctionMode):  # type: ignore[misc]
        def __init__(self, listener: Any) -> None:
            super().__init__()
            self.listener = listener

        def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            name = getattr(func, "__name__", "")
            kwargs = kwargs or {}
            if name == "__get__" or name == "__set__":
                if getattr(func, "__self__", None) is not data:
                    return func(*args, **kwargs)
                name = "data" if name == "__get__" else "data="
            listener = self.listener
            return listener.recording.hear(listener, name, lambda: func(*args, **kwargs), args, kwargs)

    return Hearing
