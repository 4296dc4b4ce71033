"""Functions that are promised to be pure: replayed without their Python, as long as their arguments look the same.

The promise is the caller's: that nothing changes between calls but the arguments and the contents of the tensors that
the function reaches, learning rates of optimizers among them; and that what it does beside computing need not be done
again.
"""

from __future__ import annotations

import threading
from typing import Any

from ..core.tensor import Tensor
from ..ground import modes
from ..tensor.parameter import Parameter
from . import function
from .build import Builder
from .capture import Capture
from .function import Compiled
from .passes import UNHEARD
from .program import MISS, NotCapturable
from .tape import Unknown, note_atom, signature
from .verify import State, compared

WARM = 2  # calls that run as they are written, before one is noted: they tell which tensors stay
_noting = threading.Lock()


class Pure(Compiled):
    """The state of a compiled function that is promised to be pure."""

    def forget(self) -> None:
        """Begin anew."""
        super().forget()
        self.replayed: dict[Any, Any] = {}  # programs by what the arguments look like; None where there is none
        self.turns = 0  # so often a program was asked for

    def call(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """A call of the function."""
        if modes.watch or self.eager or function.stance != "default":
            return super().call(args, kwargs)
        key: list[Any] = [modes.local.grad, len(args)]
        given: list[Any] = []
        try:
            for value in args:
                _note(value, key, given)
            for name, value in kwargs.items():
                key.append(name)
                _note(value, key, given)
        except Unknown:
            return super().call(args, kwargs)
        place = tuple(key)
        program = self.replayed.get(place, MISS)
        if program is MISS:
            if self.calls < WARM or len(self.replayed) >= self.limit or not _noting.acquire(False):
                return super().call(args, kwargs)
            try:
                return self._noted(place, given, args, kwargs)
            finally:
                _noting.release()
        if program is not None:
            self.turns += 1
            if self.verify and self.turns % self.verify == 0:
                return self._verified(program, given, args, kwargs)
            answer = program.run(*given)
            if answer is not MISS:
                return answer
        return super().call(args, kwargs)

    def _verified(self, program: Any, given: list[Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Run a program, and then the function as it is written, whose result is given."""
        optimizers = list({id(s.function): s.function for s in program.steps if s.kind == "optimizer"}.values())
        inputs = [value for step in program.steps for value in step.inputs]
        held = [value.held for value in inputs if value.source in ("outside", "gradient")]
        held += [p for optimizer in optimizers for group in optimizer.param_groups for p in group["params"]]
        state = State(list({id(tensor): tensor for tensor in (*given, *held)}.values()), optimizers)
        return compared(self, program, given, state, lambda: self.function(*args, **kwargs))

    def _noted(self, place: Any, given: list[Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Run the function as it is written, while everything is noted, and make a program of it."""
        self.replayed[place] = None
        calls = self.calls
        capture = Capture(given, lambda tensor: type(tensor) is Parameter or self._stays(tensor, calls))
        recorded = modes.grad_enabled()
        with capture.listening():
            result = self.function(*args, **kwargs)
        try:
            if capture.reason is not None:
                raise NotCapturable(capture.reason)
            if capture.unheard():
                raise NotCapturable(UNHEARD)
            program = Builder(self.name, capture, given, result, recorded).program()
        except NotCapturable as reason:
            self.refuse(f"{reason}: its calls are compared, as without pure=True")
            return result
        finally:
            capture.let_go()
        self.made(program)
        self.replayed[place] = program
        return result

    def _stays(self, tensor: Any, calls: int) -> bool:
        known = self.seen.get(id(tensor))
        return known is not None and known[0]() is tensor and known[1] <= calls


def _note(value: Any, key: list[Any], given: list[Any]) -> None:
    """Add an argument to a key; tensors in it are what programs are given."""
    if isinstance(value, Tensor):
        for number, other in enumerate(given):
            if other is value:
                key.append(number)
                return
        key.append(signature(value))
        given.append(value)
    elif type(value) in (tuple, list):
        key += (type(value), len(value))
        for piece in value:
            _note(piece, key, given)
    elif type(value) is dict:
        key += (dict, len(value))
        for name, piece in value.items():
            note_atom(name, key)
            _note(piece, key, given)
    else:
        note_atom(value, key)
