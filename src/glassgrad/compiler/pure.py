"""Functions that are promised to be pure: replayed without their Python, as long as their arguments look the same.

The promise is the caller's: that nothing changes between calls but the arguments and the contents of the tensors that
the function reaches, learning rates of optimizers among them; and that what it does beside computing need not be done
again. Its first calls are compared, as others are; when one brings nothing new, what it does is written down.
"""

from __future__ import annotations

from typing import Any

from numpy import ndarray

from ..core.tensor import Tensor
from ..ground import dtypes, modes
from ..ground.window import owner_of
from . import function
from .deferral import parameters
from .function import Compiled
from .journal import Journal
from .program import MISS
from .tape import Unknown, note_atom, signature
from .verify import State, compared

WARM = 2  # calls before one is written down: they tell which tensors stay, and make programs
TRIES = 4  # calls with arguments of one kind that may bring something new


class Replay:
    """What a call did, as a function: ``run(*tensors)`` does it again; and what it reaches."""

    def __init__(self, title: str, journal: Journal, result: Any) -> None:
        self.run, self.source = journal.function(title, result)
        self.owners, self.reached = list(journal.owners.values()), journal.reached


class Pure(Compiled):
    """The state of a compiled function that is promised to be pure."""

    is_pure = True

    def forget(self) -> None:
        """Begin anew."""
        super().forget()
        self.replayed: dict[Any, Any] = {}  # by what the arguments look like; a number of tries, or None: there is none
        self.turns = 0  # so often a replay was asked for
        self.memory: set[int] = set()  # the identities of the arrays whose memory replays reach

    def call(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """A call of the function."""
        if modes.watch or self.eager or function.stance != "default":
            return super().call(args, kwargs)
        key: list[Any] = [modes.local.grad, dtypes._default, len(args)]
        inputs: list[Any] = []
        try:
            for value in args:
                _note(value, key, inputs)
            for name, value in kwargs.items():
                key.append(name)
                _note(value, key, inputs)
        except Unknown:
            return super().call(args, kwargs)
        if inputs and self._is_reached(inputs):
            return super().call(args, kwargs)
        call_key = tuple(key)
        replay = self.replayed.get(call_key, 0)
        if type(replay) is int:
            if self.calls < WARM or len(self.replayed) >= self.limit and call_key not in self.replayed:
                return super().call(args, kwargs)
            return self._written_down(call_key, replay, inputs, args, kwargs)
        if replay is None:
            return super().call(args, kwargs)
        self.turns += 1
        if self.verify and self.turns % self.verify == 0:
            return self._verified(replay, inputs, args, kwargs)
        answer = replay.run(*inputs)
        return super().call(args, kwargs) if answer is MISS else answer

    def _is_reached(self, inputs: list[Any]) -> bool:
        """Whether an argument lies where a replay reads or writes something else."""
        return any([id(owner_of(tensor._array)) in self.memory for tensor in inputs])

    def may_rest(self) -> bool:
        """Whether calls may go uncompared: not before it was found that one cannot be replayed."""
        return None in self.replayed.values() and super().may_rest()

    def _verified(self, replay: Replay, inputs: list[Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Do again what was written down, and then run the function as it is written, whose result is given."""
        params = [parameter for owner in replay.owners for parameter in parameters(owner)]
        tensors = {id(tensor): tensor for tensor in (*inputs, *replay.reached.values(), *params)}
        state = State(list(tensors.values()), replay.owners)
        return compared(self, replay, inputs, state, lambda: self.function(*args, **kwargs))

    def _written_down(
        self, call_key: Any, tries: int, inputs: list[Any], args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> Any:
        """Run the function, compared with former calls, and write down what it does, if it is nothing new."""
        met = {key: thing() for key, (thing, _) in [*self.seen.items()]}
        journal = Journal(inputs, {key: thing for key, thing in met.items() if thing is not None})
        self.replayed[call_key] = tries + 1
        result = self.compared(args, kwargs, journal)
        if journal.fresh:
            if tries + 1 < TRIES:
                return result
            journal.refuse("its calls differ")
        elif journal.reason is None:
            replay = Replay(self.name, journal, result)
            self.memory.update(id(owner_of(tensor._array)) for tensor in replay.reached.values())
            if self._is_reached(inputs):
                return result
        if journal.reason is None:
            self.replayed[call_key] = replay
            self.shown_by.source = "\n\n".join([replay.source, *(program.source for program in self.programs)])
        else:
            self.replayed[call_key] = None
            self.refuse(f"{journal.reason}: its calls are compared, as without pure=True")
        return result


def _note(value: Any, key: list[Any], inputs: list[Any]) -> None:
    """Add an argument to a key; tensors in it are what programs are given."""
    if isinstance(value, Tensor):
        for number, other in enumerate(inputs):
            if other is value:
                key.append(number)
                return
            if other._array is value._array and type(value._array) is ndarray:
                raise Unknown("it is given two tensors on one array")
        key.append(signature(value))
        inputs.append(value)
    elif type(value) in (tuple, list):
        key += (type(value), len(value))
        for piece in value:
            _note(piece, key, inputs)
    elif type(value) is dict:
        key += (dict, len(value))
        for name, piece in value.items():
            note_atom(name, key)
            _note(piece, key, inputs)
    else:
        note_atom(value, key)
