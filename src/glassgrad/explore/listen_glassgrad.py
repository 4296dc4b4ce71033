"""Hearing glassgrad's own calls, floor 8: by ``ground/listening.py``, and at calls of modules."""

from __future__ import annotations

from collections.abc import Callable
from threading import get_ident
from types import FunctionType
from typing import Any
from weakref import ref

from numpy import ndarray

from ..autograd import Function
from ..autograd import api as autograd_api
from ..core.record import Record, tick
from ..core.tensor import Tensor, View
from ..ground import listening, modes
from ..ground.later import whole
from ..ground.listening import calling_frame
from ..nn import functional
from ..nn.modules.module import Module
from ..ops.bind import table_functions
from ..optim import optimizer as optimizers
from .notes import Kinds, Spec, leave_modules, listen_to_modules

KINDS = Kinds(Tensor)
_specs: dict[Any, Spec] = {}  # by function


class Listener:
    """Tells a recording what glassgrad does, from :meth:`start` to :meth:`stop`."""

    name = "glassgrad"
    tensor = Tensor
    kinds = KINDS
    age = staticmethod(tick)

    def __init__(self, recording: Any) -> None:
        self.notes = recording.notes
        self.handles: list[Any] = []
        self.started = False

    def is_on(self) -> bool:
        """Whether glassgrad records now."""
        return modes.grad_enabled()

    def inference(self) -> bool:
        """Whether glassgrad is in inference mode now."""
        return modes.local.inference

    def start(self) -> None:
        """Begin to listen."""
        more = [function for function in whole(functional).values() if type(function) is FunctionType]
        listening.start(self._call, [*table_functions(), *more, *_named()])
        listen_to_modules(Module, self.notes)
        self.handles = [
            optimizers.register_optimizer_step_pre_hook(self.notes.before_step),
            optimizers.register_optimizer_step_post_hook(self.notes.after_step),
        ]
        self.started = True

    def stop(self) -> None:
        """Listen no more."""
        if self.started:
            self.started = False
            for handle in self.handles:
                handle.remove()
            leave_modules(Module, self.notes)
            listening.stop(self._call)

    def _call(self, function: Any, proceed: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        notes = self.notes
        if notes.inside or get_ident() != notes.thread:
            return proceed(*args, **kwargs)
        frame = calling_frame()
        spec, operands = _specs.get(function) or spec_of(function), args
        if spec.name == "apply" and args:
            spec, operands = Spec(args[0].__name__), args[1:]
        if notes.values or not spec.brief:
            return notes.hear(self, spec, proceed, args, kwargs, operands, frame)
        notes.inside = True
        try:
            start = tick()
            result = proceed(*args, **kwargs)
            stop = tick()
        finally:
            notes.inside = False
        edge: Any = result._edge if type(result) is Tensor else None
        view = type(edge) is View and result.requires_grad
        if not (view or type(edge) is Record) or (result is args[0] if args else True) or "out" in kwargs:
            notes.tell(self, spec, start, stop, frame, operands, kwargs, result)
            return result
        base = ref(edge.base) if view else None
        array, find = result._array, notes.find
        shape, dtype = (array.shape, array.dtype) if type(array) is ndarray else ((), type(array))
        seat = notes.seat if frame is notes.top else notes.sit(frame)
        noted = [ref(value) if type(value) is Tensor else find(value, KINDS) for value in (*args, *kwargs.values())]
        notes.log.append((spec, start, stop, seat, frame.f_lasti, notes.scope, shape, dtype, ref(result), base, *noted))
        return result


def _named() -> dict[Any, str]:
    """Functions outside the table, and what they are called."""
    data: Any = Tensor.data
    named = {data.fget: "data", data.fset: "data=", Function.__dict__["apply"].__func__: "apply"}
    for home in (autograd_api, Tensor):
        function = getattr(home, "backward", None)
        if type(function) is FunctionType:
            named[function] = "backward"
    named[autograd_api.grad] = "grad"
    return named


def spec_of(function: Any) -> Spec:
    """What is known of one of glassgrad's functions."""
    if function not in _specs:
        _specs[function] = Spec(_named().get(function) or function.__name__, function)
    return _specs[function]
