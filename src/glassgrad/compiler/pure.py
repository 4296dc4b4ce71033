"""Functions that are promised to be pure: traced once, and replayed without their Python from then on.

The promise is the caller's: that nothing changes between calls but the arguments and the contents of the tensors that
the function reaches, learning rates of optimizers among them; and that what it does beside computing need not be done
again. The first call tells which tensors are there before a call. The next ones are traced, until two in a row have
done the same: what hangs on a counter, say, is found out so, though it breaks the promise.
"""

from __future__ import annotations

import weakref
from functools import partial
from typing import Any

from numpy import ndarray

from ..core.plan import F32, F64, I64
from ..core.record import Record
from ..core.tensor import LEAF, Tensor, View
from ..ground import dtypes, listening, modes
from ..ground.window import owner_of
from ..tensor.writable import is_conjugate
from . import function
from .build import Builder
from .capture import Capture
from .function import Compiled
from .operations import OWNERS, parameters
from .program import ATOMS, MISS, NotCapturable, tensors_in
from .verify import State, compared

PROGRAMS = 8  # of one function, for arguments that look otherwise
TRIES = 4  # traces of calls with arguments of one kind


class Unknown(Exception):  # noqa: N818  it is no error of the user's
    """Arguments that a replay cannot be chosen by."""


class Pure(Compiled):
    """The state of a compiled function that is promised to be pure."""

    def __init__(self, function: Any, limit: int | None = None, **settings: Any) -> None:
        super().__init__(function, limit=PROGRAMS if limit is None else limit, **settings)

    def forget(self) -> None:
        """Begin anew."""
        super().forget()
        self.replays: dict[Any, Any] = {}  # programs by what the arguments look like; a number of tries, or None: none
        self.outlines: dict[Any, Any] = {}  # what the last trace with such arguments did
        self.turns = 0  # so often a replay was asked for
        self.memory: set[int] = set()  # the identities of the arrays whose memory replays reach
        self.met: dict[int, Any] = {}  # weak references to the tensors and owners that calls were heard with

    def call(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """A call of the function."""
        if modes.watch:
            modes.settle()  # an interrupted block may have left this thread among the watched
        if modes.watch or self.eager or function.stance == "force_eager":
            return super().call(args, kwargs)
        local = modes.local
        key: list[Any] = [local.grad, local.device, dtypes._default, len(args)]
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
        replay = self.replays.get(call_key, 0)
        if type(replay) is int:
            is_new = call_key not in self.replays
            if local.device is not None or is_new and not self.may_compile("a program", len(self.replays)):
                return super().call(args, kwargs)
            return self._traced(call_key, replay, inputs, args, kwargs)
        if replay is None:
            return super().call(args, kwargs)
        self.turns += 1
        if self.verify and self.turns % self.verify == 0:
            return self._verified(call_key, inputs, args, kwargs)
        answer = replay.run(*inputs)
        return super().call(args, kwargs) if answer is MISS else answer

    def _is_reached(self, inputs: list[Any]) -> bool:
        """Whether an argument lies where a replay reads or writes something else."""
        for tensor in inputs:
            if id(owner_of(tensor._array)) in self.memory:
                return True
        return False

    def stays(self, thing: Any) -> bool:
        """Whether a tensor, module or optimizer was there before the call."""
        known = self.met.get(id(thing))
        return known is not None and known() is thing

    def _verified(self, call_key: Any, inputs: list[Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Replay, and then run and trace the function as it is written, whose result is given."""
        replay = self.replays[call_key]
        params = [parameter for owner in replay.owners for parameter in parameters(owner)]
        tensors = {id(tensor): tensor for tensor in (*inputs, *replay.reached, *params)}
        state = State(list(tensors.values()), replay.owners)
        capture = Capture(inputs, self.stays, self._gradients())

        def written() -> Any:
            with capture.listening():
                return self.function(*args, **kwargs)

        began = partial(capture.began, self.outlines[call_key])
        try:
            return compared(self, replay, inputs, state, written, began)
        finally:
            capture.let_go()

    # -- tracing --------------------------------------------------------------------------------------------------

    def _traced(
        self, call_key: Any, tries: int, inputs: list[Any], args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> Any:
        """Run the function, and from the second time on make a program of what it does."""
        self.calls += 1
        self.replays[call_key] = tries + 1 if tries < TRIES else None
        if tries == 0:
            with listening.listening(self._meets):
                return self.counted(self.function, args, kwargs)
        capture = Capture(inputs, self.stays, self._gradients())
        try:
            with capture.listening(), listening.listening(self._meets):
                result = self.counted(self.function, args, kwargs)
            outline, before = capture.outline(), self.outlines.get(call_key)
            self.outlines[call_key] = outline
            if outline == before:
                self._keep(call_key, capture, inputs, result)
            elif before is not None and tries == TRIES:
                self.tell("runs as it is written: its calls differ")
        finally:
            capture.let_go()
        return result

    def _keep(self, call_key: Any, capture: Capture, inputs: list[Any], result: Any) -> None:
        """Make a program of what was traced, for calls with such arguments."""
        try:
            if capture.reason is not None:
                raise NotCapturable(capture.reason)
            program = Builder(self.name, capture, result).program()
        except NotCapturable as reason:
            why = str(reason)
        except Exception as error:  # noqa: BLE001  a mistake of the compiler's must not end the program that runs
            why = f"{type(error).__name__} while its program was made: {error}"
        else:
            self.memory.update(id(owner_of(tensor._array)) for tensor in program.reached)
            if not self._is_reached(inputs):
                self.replays[call_key] = program
                self.made(program)
            return
        self.replays[call_key] = None
        if self.fullgraph:
            self.refuse_whole(why)
        self.tell(f"runs as it is written: {why}")

    def _gradients(self) -> dict[int, Any]:
        """The leaves that have a gradient, by the identity of that."""
        met = [thing() for thing in self.met.values()]
        return {id(leaf._grad): leaf for leaf in met if getattr(leaf, "_grad", None) is not None}

    def _meets(self, heard: Any, proceed: Any, args: Any, kwargs: Any) -> Any:
        """Hear a call, and note the tensors that it is given, and the parameters of modules and optimizers."""
        inside = function.inside
        is_part, inside.meets = inside.meets, True
        try:
            result = proceed(*args, **kwargs)
        finally:
            inside.meets = is_part
        if not is_part:
            owners = [piece for piece in (*args, *kwargs.values()) if isinstance(piece, OWNERS)]
            pieces = [*owners, *tensors_in((args, kwargs)), *(param for owner in owners for param in parameters(owner))]
            self.met.update({id(piece): weakref.ref(piece) for piece in pieces})
        return result


def signature(tensor: Any) -> tuple[Any, ...]:
    """What operations see of an argument, beside its numbers; Unknown where that is not everyday."""
    array, edge = tensor._array, tensor._edge
    dtype, shape = array.dtype, array.shape
    is_plain = edge is None and type(array) is ndarray and not tensor._inference
    if is_plain and (dtype is F32 or dtype is I64 or dtype is F64):  # by identity: equal ones may carry metadata
        if array.flags.c_contiguous and 1 not in shape and array.size:
            return type(tensor), dtype, shape  # most arguments: in half the time
    is_everyday = array.dtype.metadata is None and type(array).__module__ == "numpy" and not tensor._inference
    if not is_everyday or array.dtype.kind == "c" and is_conjugate(tensor):
        raise Unknown
    kind: Any = None
    if edge is LEAF:
        kind = "leaf"
    elif type(edge) is View:
        kind = "view", edge.origin, edge.edge is not None, edge.edge is LEAF, tensor.requires_grad
    elif edge is not None:
        if not isinstance(edge, Record):
            raise Unknown
        kind = "record"
    is_usual = array.flags.c_contiguous and 1 not in shape and array.size  # whose strides are those of its sizes
    strides = None if is_usual else array.strides
    return type(tensor), dtype, shape, kind, type(array), strides


def _note(value: Any, key: list[Any], inputs: list[Any]) -> None:
    """Add an argument to a key; tensors in it are what programs are given."""
    what = type(value)
    if isinstance(value, Tensor):
        for number, other in enumerate(inputs):
            if other is value:
                key.append(number)
                return
            if other._array is value._array and type(value._array) is ndarray:
                raise Unknown
        key.append(signature(value))
        inputs.append(value)
    elif what in (tuple, list):
        key += (what, len(value))
        for piece in value:
            _note(piece, key, inputs)
    elif what is dict:
        key += (dict, len(value))
        for name, piece in value.items():
            _note(name, key, inputs)
            _note(piece, key, inputs)
    elif what is float or what is complex:
        key += (what, repr(value))  # which tells zeros apart
    elif what in ATOMS:
        key += (what, value)
    else:
        raise Unknown
