"""Listens to one run of a function and notes every operation it takes: rows, their rules, writes, optimizer steps.

The run is a real one: it gives the caller what the function gives. Only its backward passes go another way to the same
bits: on tensors instead of arrays, so that the rules are heard too. Whatever cannot be followed ends the capture with a
reason, and the run goes on as it is written.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from types import GeneratorType
from typing import Any

import numpy as np

from ..autograd import api
from ..core import write
from ..core.tensor import Tensor
from ..ground import listening, modes
from ..ground.generator import default_generator
from ..nn.modules.module import Module
from ..ops.bind import table_functions
from ..ops.declare import UNITS
from ..optim.lr_scheduler.base import LRScheduler
from ..optim.optimizer import Optimizer
from .heard import has_generator, listened, sized, tensors_in, version, with_steps
from .known import PLAIN, checksum
from .passes import UNHEARD, Passes
from .program import NotCapturable, Value


class Capture(Passes):
    """What is noted of one run; ``reason`` says why it ended early, if it did."""

    def __init__(self, arguments: Sequence[Any], outside: Callable[[Tensor], bool]) -> None:
        super().__init__(outside)
        self._thread = threading.get_ident()
        self._depth = 0  # calls of the table's functions around the present one
        self.arguments: list[Value | None] = []
        self.given = list(arguments)
        for place, argument in enumerate(arguments):
            if not isinstance(argument, Tensor):
                self.arguments.append(None)
                continue
            if type(argument) not in PLAIN or argument._array.dtype.metadata is not None:
                raise NotCapturable(f"an argument of class {type(argument).__name__}")
            known = self._by_array.get(argument._array)
            value = known or self._value(argument, "argument", place)
            self._by_tensor.note(argument, value)
            self.arguments.append(value)
        self._about = listened()
        self._about |= {id(function): ("unit", function.__name__) for function in UNITS}
        functions: list[Any] = [*UNITS]
        for kind, function in (
            ("backward", api.tensor_backward), ("backward", api.backward), ("grad", api.grad),
            ("clear", Optimizer.zero_grad), ("clear", Module.zero_grad), ("set gradient", Tensor.grad.fset),  # type: ignore[attr-defined]
        ):  # fmt: skip
            self._about[id(function)] = (kind, None)
            functions.append(function)
        self._about[id(write.in_place)] = ("write", "in_place")  # of functions that are not heard themselves
        functions.append(write.in_place)
        for kind, base in (("optimizer", Optimizer), ("schedule", LRScheduler)):
            for cls in with_steps(base):
                self._about[id(cls.step)] = (kind, None)
                functions.append(cls.step)
        self._more = functions
        default_generator.mark()  # which makes the twister, if none was: that is nothing of the function's

    def listening(self) -> Any:
        """The block in which calls are noted."""
        return listening.listening(self._hear, [*table_functions(), *self._more])

    def _hear(self, function: Any, proceed: Callable[..., Any], args: Any, kwargs: Any) -> Any:
        if self.reason is not None or self._muted or threading.get_ident() != self._thread:
            return proceed(*args, **kwargs)
        kind, what = self._about.get(id(function), ("other", None))
        if kind == "write" and self._depth:
            return proceed(*args, **kwargs)
        start, drawn = len(self.steps), default_generator.mark()
        try:
            if kind == "backward":
                return self._backward(args, kwargs)
            if kind == "grad":
                return self._grad(*args, **kwargs)
            if kind == "optimizer":
                return self._optimizer(function, proceed, args, kwargs)
            if kind == "schedule":
                return self._schedule(function, proceed, args, kwargs)
            if kind == "clear":
                return self._clear(proceed, args, kwargs)
            if kind == "set gradient":
                return self._set_gradient(proceed, *args)
        except NotCapturable as reason:
            self.give_up(str(reason))
            return proceed(*args, **kwargs)
        if kind == "unit":
            args = tuple(list(piece) if isinstance(piece, GeneratorType) else piece for piece in args)
        tensors = [] if kind == "row" else tensors_in((args, kwargs))
        if self._sums and self.unheard(tensors):
            self.give_up(UNHEARD)
        versions = [version(t) for t in tensors]
        given = {id(t): self.find(t) for t in tensors}  # some calls give a tensor other sizes
        self._depth += 1
        try:
            result = proceed(*args, **kwargs)
        except Exception as error:  # whoever catches it may not meet it again
            self.give_up(f"{getattr(function, '__name__', kind)}() raised {type(error).__name__}, which was caught")
            raise
        finally:
            self._depth -= 1
        if self.reason is None and result is not NotImplemented:
            drew = default_generator.mark() != drawn or has_generator((args, kwargs))
            written = [t for t, before in zip(tensors, versions, strict=True) if version(t) > before]
            wrote = bool(written)
            for place, (array, _) in self._sums.items():
                if kind == "unit" or any(np.may_share_memory(array, t._array) for t in written):
                    self._sums[place] = array, checksum(array)
            try:
                for t in written if modes.grad_enabled() else ():
                    value = given[id(t)]
                    if t._edge is not None and value is not None and value.source in ("outside", "argument"):
                        raise NotCapturable("it writes to a tensor from outside that carries gradients")
                if kind == "unit":
                    if sized(what or "", args, kwargs):
                        self._sized(what or "")
                    self._forget_since(start)
                    self._call(function, what, args, kwargs, given, result, tensors_in(result), result is None, drew)
                elif kind == "row" and self._unseen is None:
                    self._row(what, args, kwargs, result, start, drew)
                else:
                    self._function(function, what, args, kwargs, given, result, start, wrote, drew)
            except NotCapturable as reason:
                self._unseen = f"{getattr(function, '__name__', kind)}: {reason}"
                if not self._depth:
                    self.give_up(self._unseen)
            except Exception as error:  # noqa: BLE001  a mistake of the compiler's is not the function's
                self.give_up(f"{getattr(function, '__name__', kind)}: {type(error).__name__}: {error}")
        return result
