"""Hearing glassgrad's own calls, floor 8: through the gates of ``ops/intercept.py`` and hooks at every module."""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import FunctionType
from typing import Any

from ..autograd import Function
from ..autograd import api as autograd_api
from ..graph.record import tick
from ..ground import modes
from ..nn import functional
from ..nn.modules import module as modules
from ..ops import intercept
from ..optim import optimizer as optimizers
from ..tensor.tensor import Tensor


class Listener:
    """Tells a recording what glassgrad does, from :meth:`start` to :meth:`stop`."""

    name = "glassgrad"

    def __init__(self, recording: Any) -> None:
        self.told, self.tensor, self.arrays = recording, Tensor, False
        self.age = tick
        self.handles: list[Any] = []
        self.names: dict[int, str] = {}

    def is_on(self) -> bool:
        """Whether glassgrad records now."""
        return modes.grad_enabled()

    def inference(self) -> bool:
        """Whether glassgrad is in inference mode now."""
        return modes.local.inference

    def start(self) -> None:
        """Begin to listen."""
        more = [function for function in vars(functional).values() if type(function) is FunctionType]
        data = Tensor.__dict__["data"]
        named = {data.fget: "data", data.fset: "data=", Function.__dict__["apply"].__func__: "apply"}
        for name in ("backward",):
            for home in (autograd_api, Tensor):
                function = getattr(home, name, None)
                if type(function) is FunctionType:
                    named[function] = name
        self.names = {id(function): name for function, name in named.items()}
        self.told._skip = (*self.told._skip, __file__, intercept.__file__)
        intercept.start(self._call, more=[*more, *named])
        self.handles = [
            modules.register_module_forward_pre_hook(self._before),
            modules.register_module_forward_hook(self._after, always_call=True),
            optimizers.register_optimizer_step_pre_hook(self._before_step),
            optimizers.register_optimizer_step_post_hook(self._after_step),
        ]

    def stop(self) -> None:
        """Listen no more."""
        for handle in self.handles:
            handle.remove()
        if self.handles:
            intercept.stop(self._call)
        self.handles = []

    def _call(self, function: Any, proceed: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        recording = self.told
        if recording._inside:
            return proceed(*args, **kwargs)
        name = self.names.get(id(function)) or function.__name__
        if name == "apply" and args:
            name, tensors = args[0].__name__, args[1:]
            return recording.hear(self, name, lambda: proceed(*args, **kwargs), tensors, kwargs)
        return recording.hear(self, name, lambda: proceed(*args, **kwargs), args, kwargs)

    def _before(self, module: Any, args: Any) -> None:
        self.told.enter(module, sys._getframe(2))

    def _after(self, module: Any, args: Any, result: Any) -> None:
        self.told.leave(module)

    def _before_step(self, optimizer: Any, args: Any, kwargs: Any) -> None:
        self.quiet, self.told._inside = self.told._inside, True

    def _after_step(self, optimizer: Any, args: Any, kwargs: Any) -> None:
        self.told._inside = self.quiet
        tensors = [t for group in optimizer.param_groups for t in group["params"] if t.grad is not None]
        self.told.stepped(f"{type(optimizer).__name__}.step", tensors, sys._getframe(1))
