"""Recording a forward pass, floor 8: which line and module call did each operation, what was cut, what was overwritten.

It hears calls through a *listener* of each engine (``listen_glassgrad``, ``listen_torch``), which write into its
``notes``; what they mean is found out when somebody asks. A recording holds no tensor and no module alive.
"""

from __future__ import annotations

import sys
import weakref
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice
from types import CodeType, ModuleType, TracebackType
from typing import Any, ClassVar

from ..ground.arrival import is_here, when_here
from ..ground.names import home_of
from .facts import info
from .measure import info_of
from .model import SourceLoc, TensorInfo
from .notes import Heard, Notes, Seat, boundaries
from .place import Place, Trail, arrange
from .read import memory_of
from .reasons import SHAPE_ONLY
from .source import is_users, location
from .walk import reach

__all__ = ["Call", "Entered", "Lineage", "Recording", "record"]


class Recording:
    """What was heard in a block of :func:`record`: ``read(loss, record=...)`` and the questions look it up here."""

    living: weakref.WeakSet[Recording] = weakref.WeakSet()
    latest: Recording | None = None  # the last to end: questions find it though nobody gave it a name

    def __init__(self, model: Any = None, *, values: bool = False) -> None:
        self._model, self.values = None if model is None else weakref.ref(model), values
        self.notes = Notes(values)
        self.engines: tuple[str, ...] = ()
        self._lineage = Lineage(self.notes)
        self._listeners: list[Any] = []
        self._alone: Callable[[], None] = lambda: None  # ends waiting for glassgrad's engine
        self._order: list[Call] = []
        self._starts: list[int] = []
        self._sorted = -1
        Recording.living.add(self)

    @property
    def model(self) -> Any:
        """The model whose forward pass is recorded; None where none was given, or where it is gone."""
        return None if self._model is None else self._model()

    # -- the block ------------------------------------------------------------------------------------------------

    def __enter__(self) -> Recording:
        if self._listeners:
            raise RuntimeError("record(): this recording is already running")
        root = sys._getframe(1)
        try:
            for listener in listeners(self):
                listener.start()
                self._listeners.append(listener)
        except BaseException:
            self._leave()
            raise
        self.engines = tuple(listener.name for listener in self._listeners)
        self.notes.start(root)
        if not is_here():
            self._alone = when_here(self._join)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._leave()
        Recording.latest = self

    def _join(self) -> None:
        """Hear glassgrad too, whose engine came while this was running."""
        for listener in listeners(self) if self._listeners else ():
            if listener.name not in self.engines:
                listener.start()
                self._listeners.append(listener)
                self.engines = (*self.engines, listener.name)

    def _leave(self) -> None:
        self._alone()
        self.notes.stop()
        while self._listeners:
            self._listeners.pop().stop()

    def backward(self, loss: Any, gradient: Any = None, *, retain_graph: bool = False) -> Any:
        """``loss.backward()``, observed: gives the graph with the order and the gradients of this backward pass."""
        from .observe import observe

        return observe(loss, gradient, model=self.model, record=self, retain_graph=retain_graph)

    def __repr__(self) -> str:
        heard = sum(bool(call.name) for call in self.calls)
        cuts = sum(call.how is not None for call in self.calls)
        return (
            f"<Recording: {heard:,} calls, {len(self.entered):,} module calls, {cuts:,} cuts, "
            f"{sum(call.writes for call in self.calls):,} writes in place>"
        )

    def quietly(self, run: Callable[[], Any]) -> Any:
        """Run something without hearing what it calls."""
        notes = self.notes
        before, notes.inside = notes.inside, True
        try:
            return run()
        finally:
            notes.inside = before

    # -- answers ----------------------------------------------------------------------------------------------------

    @property
    def calls(self) -> list[Call]:
        """Everything that was heard, in order, and the tensors from outside where they were met first."""
        self._lineage.read()
        return self._lineage.calls

    @property
    def entered(self) -> list[Entered]:
        """The calls of modules, in order."""
        self._lineage.read()
        return self._lineage.entered

    def producer(self, tensor: Any) -> Call | None:
        """The call that made ``tensor`` or changed it last; None where it was not heard."""
        self._lineage.read()
        return self._lineage.producer(tensor)

    def of_age(self, age: float | None, engine: str) -> Call | None:
        """The call during which the node of this age was made."""
        return self.of_ages([age], engine)[0]

    def of_ages(self, ages: Iterable[float | None], engine: str) -> list[Call | None]:
        """For each age of a node the call during which it was made."""
        calls = self.calls
        if self._sorted != len(calls):
            self._order = sorted((call for call in calls if call.start < call.stop), key=lambda call: call.start)
            self._starts = [call.start for call in self._order]
            self._sorted = len(calls)
        starts, order = self._starts, self._order
        matches: list[Call | None] = []
        for age in ages:
            at = -1 if age is None else bisect_right(starts, age) - 1
            matches.append(order[at] if at >= 0 and age < order[at].stop else None)  # type: ignore[operator]
        return matches

    def arrange(self) -> list[Place]:
        """The scopes of everything heard: module calls and turns of loops, outermost first."""
        return arrange(self)

    @property
    def cuts(self) -> list[Call]:
        """The calls at which values left the graph."""
        return [call for call in self.calls if call.how is not None]

    @property
    def inplace(self) -> list[Call]:
        """The calls that changed a tensor in place."""
        return [call for call in self.calls if call.writes]

    def before(self, call: Call) -> Iterator[Call]:
        """Everything a call's result was computed from, with or without gradients, nearest first."""
        calls = self.calls
        return (calls[at] for at in islice(reach(call.index, lambda at: calls[at].inputs), 1, None))


def listeners(recording: Recording) -> list[Any]:
    """The listeners of the engines that may be heard: of the model's engine, else of all that are loaded."""
    torch = sys.modules.get("torch")
    real = isinstance(torch, ModuleType) and torch.__package__ == "torch" and hasattr(torch, "_C")
    model = recording.model
    home = ""
    if model is not None:
        kinds = [kind for kind in type(model).__mro__ if kind.__name__ == "Module"]
        home = home_of(kinds[-1]).partition(".")[0] if kinds else ""
    chosen: list[Any] = []
    if not real or home not in ("", "torch") or (not home and is_here()):
        from .listen_glassgrad import Listener as Glass

        chosen.append(Glass(recording))
    if real and home in ("", "torch"):
        from .listen_torch import Listener as Torch

        chosen.append(Torch(recording, torch))
    return chosen


def record(model: Any = None, *, values: bool = False) -> Recording:
    """A block in which the forward pass is recorded: ``with record(model) as r: loss = ...``.

    For every operation it keeps the file, line and exact expression, the module call and the turn of a loop it belongs
    to; it keeps what was cut out of the graph (``detach``, ``no_grad``, ``item`` ...), and writes in place. ``values``
    counts the numbers in every result too: NaN, infinity, range and norm. Nothing is slowed down outside the block.
    """
    return Recording(model, values=values)


# -- what the notes of a recording say ---------------------------------------------------------------------------------
# Calls, and which of them made what the others were given.


@dataclass(slots=True, eq=False)
class Call:
    """One call that was heard, or (``name`` empty) a tensor that came from outside.

    ``inputs`` are the calls that made its arguments, ``start`` and ``stop`` bound the ages of the nodes it made,
    ``how`` says what kind of cut it is, ``taken_in`` what it was given where its result is not finite, ``buffer``
    numbers the memory of its result, ``writes`` that it changed it.
    """

    index: int
    name: str
    inputs: tuple[int, ...]
    buffer: int
    start: int = -1
    stop: int = -1
    seat: Seat | None = None
    step: int = -1
    module: int | None = None
    grads: tuple[int, ...] = ()
    how: str | None = None
    wants: bool = False
    writes: bool = False
    raw: Any = None
    taken_in: tuple[tuple[int, TensorInfo], ...] = ()
    ref: Any = None
    place: Place | None = None
    _info: TensorInfo | None = None
    is_module: ClassVar[bool] = False

    @property
    def info(self) -> TensorInfo | None:
        """What the call gave: its (first) result's shape, dtype and bytes, and its numbers where they were counted."""
        if self._info is None and self.raw is not None:
            shape, dtype, nbytes = self.raw
            if nbytes is None:  # noted briefly: NumPy's shape and dtype
                self._info = info(shape, _name_of(dtype))
            else:
                self._info = TensorInfo(tuple(map(int, shape)), str(dtype).rpartition(".")[2], int(nbytes))
        elif self._info is None and self.name and self.ref is not None:  # noted briefly, and still around
            tensor = self.ref()
            return None if tensor is None or not hasattr(tensor, "dtype") else info_of(tensor)
        return self._info

    @property
    def trail(self) -> Trail:
        """How the call was reached from the module call (or the block) around it."""
        seat = self.seat
        return () if seat is None else (*path_to(seat), (seat[0], seat[1], self.step))

    @property
    def user(self) -> tuple[CodeType | None, int]:
        """The user's code and the instruction at which the call stands."""
        seat: Any = self.seat
        step = self.step
        while seat is not None:
            code = seat[1]
            if is_users(code):
                return code, step
            step, seat = seat[3], seat[2]
        return None, -1

    @property
    def code(self) -> CodeType | None:
        """The user's code in which the call stands."""
        return self.user[0]

    @property
    def loc(self) -> SourceLoc | None:
        """Where in the user's program the call stands."""
        code, at = self.user
        return location(code, at) if code is not None else None


class Entered:
    """One call of a module: the module, how it was reached, and the module call around it."""

    __slots__ = ("index", "ref", "cls", "parent", "call", "mark", "first", "seat", "step", "place")

    is_module = True

    def __init__(self, index: int, call: int, entry: tuple[Any, ...]) -> None:
        self.index, self.call = index, call
        self.ref, kind, self.parent, self.mark, self.seat, self.step = entry
        self.cls: str = kind.__name__
        self.first = -1
        self.place: Place | None = None

    trail = Call.trail
    user = Call.user
    code = Call.code
    loc = Call.loc

    @property
    def module(self) -> Any:
        """The module; None where it is gone."""
        return self.ref()


@lru_cache(64)
def _name_of(dtype: Any) -> str:
    """The name of a dtype of NumPy's, or of a class of its numbers."""
    return str(dtype.name if hasattr(dtype, "name") else dtype.__name__)


_paths: tuple[Any, Trail] = None, ()


def path_to(seat: Any) -> Trail:
    """The steps that lead to a seat from the module call around, without its own."""
    global _paths
    if _paths[0] is not seat:  # calls of one frame come one after the other
        steps = []
        at, outer = seat[3], seat[2] if seat[0] else None
        while outer is not None and id(outer[1]) not in boundaries:
            steps.append((outer[0], outer[1], at))
            at, outer = outer[3], outer[2]
        _paths = seat, tuple(reversed(steps))
    return _paths[1]


class Lineage:
    """The calls of a recording, read from its notes as far as there are any."""

    def __init__(self, notes: Notes) -> None:
        self.notes = notes
        self.calls: list[Call] = []
        self.entered: list[Entered] = []
        self.producers: dict[int, tuple[Any, int]] = {}  # by the identity of the weak reference, which is kept
        self._memories: dict[int, tuple[Any, int]] = {}  # what was cut off, by the identity of the memory it lies in
        self._module_calls: dict[int, int] = {}  # by the identity of the weak reference
        self._of_note: list[int] = []  # the call of each note, -1 where it came to nothing

    def read(self) -> None:
        """Read what was noted since the last time."""
        notes = self.notes
        log = notes.log
        waiting = len(self.entered)
        if len(self._of_note) == len(log) and waiting == len(notes.entered):
            return
        for i in range(waiting, len(notes.entered)):
            entry = notes.entered[i]
            number = self._module_calls[id(entry[0])] = self._module_calls.get(id(entry[0]), -1) + 1
            self.entered.append(Entered(i, number, entry))
        for at in range(len(self._of_note), len(log)):
            while waiting < len(self.entered) and self.entered[waiting].mark <= at:
                self.entered[waiting].first = len(self.calls)
                waiting += 1
            note = log[at]
            log[at] = None
            if note[6].__class__ is Heard:
                self._of_note.append(self._in_full(*note))
            else:
                self._of_note.append(self._in_brief(note))
        for one in self.entered[waiting:]:
            one.first = len(self.calls)

    def producer(self, value: Any) -> Call | None:
        """The call that made ``value`` or changed it last; None where it was not heard."""
        try:
            known = self.producers.get(id(weakref.ref(value)))
        except TypeError:
            return None
        if known is not None and known[0]() is value:
            return self.calls[known[1]]
        at = self._sharing(value)
        return None if at is None else self.calls[at]

    def _sharing(self, tensor: Any) -> int | None:
        """The cut whose result a leaf that nobody heard of was made of: they share their memory."""
        if not self._memories or not getattr(tensor, "is_leaf", False):
            return None
        memory = memory_of(tensor)
        known = self._memories.get(id(memory))
        return known[1] if known is not None and known[0]() is memory else None

    def _add(self, name: str, inputs: tuple[int, ...], *more: Any) -> Call:
        index = len(self.calls)
        call = Call(index, name, inputs, index, *more)
        self.calls.append(call)
        return call

    def _own(self, ref: Any, call: Call) -> None:
        call.ref = ref
        self.producers[id(ref)] = ref, call.index

    def _at(self, ref: Any, needs: bool | None = None, base: Any = None) -> int:
        """The call that made what ``ref`` refers to, or a new entry for a tensor from outside."""
        known = self.producers.get(id(ref))
        if known is not None:
            return known[1]
        tensor = ref()
        call = self._add("", ())
        call.wants = needs if needs is not None else bool(getattr(tensor, "requires_grad", False))
        if base is None and tensor is not None:
            whole = getattr(tensor, "_base", None)
            base = None if whole is None else weakref.ref(whole)
        if base is not None:
            call.inputs = (self._at(base),)
            call.buffer = self.calls[call.inputs[0]].buffer
        elif tensor is not None:
            cut = self._sharing(tensor)
            call.inputs = () if cut is None else (cut,)
        self._own(ref, call)
        return call.index

    def _sources(self, noted: Any, into: list[int]) -> None:
        """The calls that what was noted of an argument leads back to."""
        kind = noted.__class__
        if kind is int:
            at = self._of_note[noted] if noted < len(self._of_note) else -1
            if at >= 0:
                into.append(at)
        elif kind is tuple:
            if noted and noted[0] == "array":
                known = self.producers.get(id(noted[1]))
                if known is not None:
                    into.append(known[1])
            else:
                for piece in noted:
                    if piece is not None:
                        self._sources(piece, into)
        else:
            into.append(self._at(noted))

    def _in_brief(self, note: tuple[Any, ...]) -> int:
        spec, start, stop, seat, step, module, shape, dtype, out, base = note[:10]
        inputs: list[int] = []
        for noted in note[10:]:
            if noted is not None:
                known = self.producers.get(id(noted))
                if known is not None:
                    inputs.append(known[1])
                else:
                    self._sources(noted, inputs)
        call = self._add(spec.name, tuple(inputs), start, stop, seat, step, module)
        call.wants = True
        call.raw = None if shape is None else (shape, dtype, None)
        if base is not None:
            call.buffer = self.calls[self._at(base)].buffer
        self._own(out, call)
        return call.index

    def _in_full(
        self, spec: Any, start: int, stop: int, seat: Seat, step: int, module: int | None, heard: Heard
    ) -> int:
        sources = [(self._at(*one), one[1]) for one in heard.tensors]
        if heard.taken is not None and heard.how is None and not any(self._hides(at) for at, _ in sources):
            return -1
        inputs: list[int] = []
        wanting: list[int] = []
        if spec.name not in SHAPE_ONLY:
            inputs = [at for at, _ in sources]
            wanting = [at for at, needs in sources if needs]
        for noted in heard.numbers:
            self._sources(noted, inputs)
        target = heard.target
        before = self._at(*target) if target is not None else -1
        if spec.name == "backward":
            start = stop = -1
        call = self._add(spec.name, tuple(inputs), start, stop, seat, step, module)
        call.how = heard.how
        if spec.name == "backward":
            return call.index
        call.grads = tuple(wanting)
        if heard.taken is not None:
            if heard.taken is not True:
                self._own(heard.taken, call)
            return call.index
        if target is not None:
            self._written(target, before, call)
        for out, needs, base in heard.outs:
            call.wants = call.wants or needs
            if base is not None:
                call.buffer = self.calls[self._at(base)].buffer
            elif spec.name in ("detach", "data") and inputs:
                call.buffer = self.calls[inputs[0]].buffer
            self._own(out, call)
        if heard.memory is not None and heard.memory() is not None:
            self._memories[id(heard.memory())] = heard.memory, call.index
        for out in heard.choices:
            self._choice(out, call)
        call.raw, call._info = heard.raw, heard.info
        if heard.taken_in:
            call.taken_in = tuple((at, known) for (at, _), known in zip(sources, heard.taken_in, strict=True))
        return call.index

    def _choice(self, out: Any, call: Call) -> None:
        """The indices that a call gave besides its values: they are cut off where the values are not."""
        indices = self._add(call.name, call.inputs, -1, -1, call.seat, call.step, call.module, call.grads, "argmax")
        self._own(out, indices)

    def _written(self, target: Any, before: int, call: Call) -> None:
        """Something was changed in place, and with it the tensor it is a view of."""
        ref, wants, base = target
        if before not in call.inputs:
            call.inputs = (before, *call.inputs)
        call.writes, call.wants, call.buffer = True, wants, self.calls[before].buffer
        if base is not None:
            whole = self._at(base)
            call.inputs = (*call.inputs, whole)
            call.buffer = self.calls[whole].buffer
            self._own(base, call)
        self._own(ref, call)

    def _hides(self, at: int) -> bool:
        """Whether a value without gradient came out of a cut."""
        behind = islice(reach(at, lambda here: self.calls[here].inputs), 50)
        return any(self.calls[here].how is not None for here in behind)
