"""Recording a forward pass, floor 8: which line and module call did each operation, what was cut, what was overwritten.

It hears calls through a *listener* of each engine (``listen_glassgrad``, ``listen_torch``) and knows tensors only by
what both engines share. A recording holds no tensor and no module alive.
"""

from __future__ import annotations

import sys
import threading
import weakref
from bisect import bisect_right
from collections.abc import Callable, Iterator, Mapping
from types import CodeType, FrameType, ModuleType, TracebackType
from typing import Any

from .loops import Trail
from .measure import info_of
from .model import SourceLoc, TensorInfo
from .place import Place, arrange
from .source import is_users, location
from .words import IN_PLACE, NO_TENSOR_READ, SHAPE_ONLY, how_cut, plain_name

__all__ = ["Call", "Recording", "record"]


class Call:
    """One call that was heard, or (``name`` empty) a tensor that came from outside.

    ``inputs`` are the calls that made its arguments, ``start`` and ``stop`` bound the ages of the nodes it made,
    ``how`` says what kind of cut it is, ``buffer`` numbers the memory of its result, ``writes`` that it changed it.
    """

    __slots__ = (
        "index", "name", "start", "stop", "code", "at", "trail", "module", "inputs", "grads", "how", "wants", "buffer",
        "writes", "raw", "told", "ref", "place",
    )  # fmt: skip

    index: int
    name: str
    start: int
    stop: int
    code: CodeType | None
    at: int
    trail: Trail
    module: int | None
    inputs: tuple[int, ...]
    grads: tuple[int, ...]
    how: str | None
    wants: bool
    buffer: int
    writes: bool
    raw: Any
    told: TensorInfo | None
    ref: Any
    place: Place | None

    @property
    def info(self) -> TensorInfo | None:
        """What the call gave: its (first) result's shape, dtype and bytes, and its numbers where they were counted."""
        if self.told is None and self.raw is not None:
            shape, dtype, nbytes = self.raw
            self.told = TensorInfo(tuple(map(int, shape)), str(dtype).rpartition(".")[2], int(nbytes))
        return self.told

    @property
    def loc(self) -> SourceLoc | None:
        """Where in the user's program the call stands."""
        return location(self.code, self.at) if self.code is not None else None


class Entered:
    """One call of a module: the module, how it was reached, and the module call around it."""

    __slots__ = ("index", "ref", "cls", "parent", "trail", "code", "at", "frame", "first", "call", "place")

    def __init__(self, index: int, module: Any, parent: int | None, call: int, first: int) -> None:
        self.index, self.ref, self.cls, self.parent = index, weakref.ref(module), type(module).__name__, parent
        self.call, self.first = call, first
        self.trail: Trail = ()
        self.code: CodeType | None = None
        self.at = -1
        self.frame: FrameType | None = None
        self.place: Place | None = None

    @property
    def module(self) -> Any:
        """The module; None where it is gone."""
        return self.ref()


class Recording:
    """What was heard in a block of :func:`record`: ``read(loss, record=...)`` and the questions look it up here."""

    living: weakref.WeakSet[Recording] = weakref.WeakSet()
    latest: Recording | None = None  # the last to end: questions find it though nobody gave it a name

    def __init__(self, model: Any = None, *, values: bool = False) -> None:
        self._model, self.values = None if model is None else weakref.ref(model), values
        self.calls: list[Call] = []
        self.entered: list[Entered] = []
        self.engines: tuple[str, ...] = ()
        self._made: dict[int, tuple[Any, int]] = {}
        self._numbers: dict[float, int] = {}
        self._stack: list[Entered] = []
        self._calls_of: dict[int, int] = {}
        self._root: FrameType | None = None
        self._thread = 0
        self._inside = False
        self._listeners: list[Any] = []
        self._skip: tuple[str, ...] = (__file__,)
        self._order: list[tuple[int, Call]] | None = None
        self._starts: list[int] = []
        Recording.living.add(self)

    @property
    def model(self) -> Any:
        """The model whose forward pass is recorded; None where none was given, or where it is gone."""
        return None if self._model is None else self._model()

    # -- the block ------------------------------------------------------------------------------------------------

    def __enter__(self) -> Recording:
        if self._listeners:
            raise RuntimeError("record(): this recording is already running")
        self._thread = threading.get_ident()
        self._root = sys._getframe(1)
        try:
            for made in listeners(self):
                made.start()
                self._listeners.append(made)
        except BaseException:
            self._leave()
            raise
        self.engines = tuple(listener.name for listener in self._listeners)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._leave()
        Recording.latest = self

    def _leave(self) -> None:
        while self._listeners:
            self._listeners.pop().stop()
        self._root = None
        for entered in self._stack:
            entered.frame = None
        self._stack.clear()
        self._made = {key: (ref, at) for key, (ref, at) in self._made.items() if ref() is not None}

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

    # -- what listeners tell ----------------------------------------------------------------------------------------

    def hear(
        self, listener: Any, name: str, run: Callable[[], Any], args: tuple[Any, ...], kwargs: Mapping[str, Any]
    ) -> Any:
        """One call of an engine's function: run it, and note what it made of what."""
        if self._inside or threading.get_ident() != self._thread:
            return run()
        self._inside = True
        try:
            given = [self._of(t) for t in tensors_in(args, kwargs, listener.tensor)]
            wanting = [at for at, needs in given if needs]
            start = listener.age()
            result = run()
            stop = listener.age()
            self._note(listener, plain_name(name), args, kwargs, given, wanting, start, stop, result)
        finally:
            self._inside = False
        return result

    def quietly(self, run: Callable[[], Any]) -> Any:
        """Run something without hearing what it calls."""
        before, self._inside = self._inside, True
        try:
            return run()
        finally:
            self._inside = before

    def enter(self, module: Any, frame: FrameType) -> None:
        """A module's call begins; ``frame`` is the engine's frame that makes it."""
        if self._inside or threading.get_ident() != self._thread:
            return
        parent = self._stack[-1].index if self._stack else None
        number = self._calls_of.get(id(module), 0)
        self._calls_of[id(module)] = number + 1
        entered = Entered(len(self.entered), module, parent, number, len(self.calls))
        entered.trail, entered.code, entered.at = self._trail(frame)
        entered.frame = frame
        self.entered.append(entered)
        self._stack.append(entered)

    def leave(self, module: Any) -> None:
        """A module's call ends, or has failed."""
        if self._inside or threading.get_ident() != self._thread:
            return
        if any(entered.module is module for entered in self._stack):
            while True:
                entered = self._stack.pop()
                entered.frame = None
                if entered.module is module:
                    break

    def stepped(self, name: str, tensors: list[Any], frame: FrameType) -> None:
        """An optimizer has changed ``tensors`` in place."""
        if self._inside or threading.get_ident() != self._thread:
            return
        trail = self._trail(frame)
        for tensor in tensors:
            before, _ = self._of(tensor)
            call = self._add(name, (before,), trail)
            call.writes, call.buffer, call.grads = True, self.calls[before].buffer, ()
            self._own(tensor, call)

    # -- notes --------------------------------------------------------------------------------------------------------

    def _of(self, tensor: Any) -> tuple[int, bool]:
        """The call that made ``tensor`` (or a new entry for one from outside), and whether it wants a gradient."""
        found = self._made.get(id(tensor))
        if found is not None and found[0]() is tensor:
            return found[1], bool(getattr(tensor, "requires_grad", False))
        call = self._add("", (), None)
        call.wants = bool(getattr(tensor, "requires_grad", False))
        base = getattr(tensor, "_base", None)
        if base is not None:
            call.inputs = (self._of(base)[0],)
            call.buffer = self.calls[call.inputs[0]].buffer
        self._own(tensor, call)
        return call.index, call.wants

    def _add(self, name: str, inputs: tuple[int, ...], trail: tuple[Trail, CodeType | None, int] | None) -> Call:
        call = Call()
        call.index, call.name, call.inputs, call.grads = len(self.calls), name, inputs, ()
        call.start = call.stop = -1
        call.how = call.raw = call.told = call.ref = call.place = None
        call.wants = call.writes = False
        call.buffer = call.index
        call.module = self._stack[-1].index if self._stack else None
        call.trail, call.code, call.at = trail if trail is not None else ((), None, -1)
        self.calls.append(call)
        return call

    def _own(self, value: Any, call: Call) -> None:
        try:
            call.ref = weakref.ref(value)
        except TypeError:
            return
        self._made[id(value)] = (call.ref, call.index)

    def _note(
        self, listener: Any, name: str, args: Any, kwargs: Mapping[str, Any], given: list[tuple[int, bool]],
        wanting: list[int], start: int, stop: int, result: Any,
    ) -> None:  # fmt: skip
        outs = tensors_in((result,), {}, listener.tensor) if result is not None else []
        target = None
        if name in IN_PLACE or (name.endswith("_") and name[:-1] and name != "requires_grad_"):
            target = args[0] if args else None
        elif kwargs.get("out") is not None:
            target = kwargs["out"]
        if name == "backward":
            self._add(name, tuple(at for at, _ in given), self._trail(sys._getframe(2)))
            return
        if not outs and target is None:
            self._taken(name, given, wanting, result)
            return
        if name in SHAPE_ONLY:
            given, wanting = [], []
        inputs = [at for at, _ in given]
        if self._numbers or self._arrays:
            inputs += self._from_numbers(args, kwargs)
        call = self._add(name, tuple(inputs), self._trail(sys._getframe(2)))
        call.start, call.stop, call.grads = start, stop, tuple(wanting)
        if target is not None and isinstance(target, listener.tensor):
            self._written(target, call)
        for out in outs:
            if out is target:
                continue
            needs = bool(out.requires_grad)
            call.wants = call.wants or needs
            base = getattr(out, "_base", None)
            if base is not None:
                call.buffer = self.calls[self._of(base)[0]].buffer
            elif name in ("detach", "data") and inputs:
                call.buffer = self.calls[inputs[0]].buffer
            self._own(out, call)
        if outs:
            first = outs[0]
            if self.values:
                call.told = info_of(first, stats=True, value=True)
            else:
                call.raw = first.shape, first.dtype, first.nbytes
        if wanting and outs and target is None and not call.wants:
            call.how = how_cut(name, str(outs[0].dtype), listener.is_on(), listener.inference())
        if name == "detach_":
            call.how = "detach"

    @property
    def _arrays(self) -> bool:
        return any(listener.arrays for listener in self._listeners)

    def _written(self, target: Any, call: Call) -> None:
        """``target`` was changed in place by ``call``, and with it the tensor it is a view of."""
        before, _ = self._of(target)
        prior = self.calls[before]
        if before not in call.inputs:
            call.inputs = (before, *call.inputs)
        call.writes, call.wants, call.buffer = True, bool(target.requires_grad), prior.buffer
        base = getattr(target, "_base", None)
        if base is not None:
            whole, _ = self._of(base)
            call.inputs = (*call.inputs, whole)
            call.buffer = self.calls[whole].buffer
            self._own(base, call)
        self._own(target, call)

    def _taken(self, name: str, given: list[tuple[int, bool]], wanting: list[int], result: Any) -> None:
        """A call gave no tensor: perhaps a number or an array was taken out of the graph."""
        array = type(result).__module__ == "numpy" and hasattr(result, "dtype")
        if name in NO_TENSOR_READ or not (array or isinstance(result, (float, complex, list)) or _reads(name)):
            return
        inputs = tuple(at for at, _ in given)
        if not wanting and not any(self._hides(at) for at in inputs):
            return
        call = self._add(name, inputs, self._trail(sys._getframe(3)))
        call.grads = tuple(wanting)
        if array:
            call.how = "numpy" if wanting else None
            self._own(result, call)
            for listener in self._listeners:
                listener.arrays = True
        else:
            call.how = "item" if wanting else None
            for number in result if isinstance(result, list) else [result]:
                if isinstance(number, float) and number not in (0.0, 1.0, -1.0):
                    self._numbers[number] = call.index

    def _hides(self, at: int) -> bool:
        """Whether a value without gradient came out of a cut."""
        seen: set[int] = set()
        waiting = [at]
        while waiting and len(seen) < 50:
            here = waiting.pop()
            if here not in seen:
                seen.add(here)
                if self.calls[here].how is not None:
                    return True
                waiting += self.calls[here].inputs
        return False

    def _from_numbers(self, args: Any, kwargs: Mapping[str, Any]) -> list[int]:
        """The calls that took numbers and arrays out of the graph which come back as arguments here."""
        found = []
        for value in (*args, *kwargs.values()):
            for piece in value if isinstance(value, (list, tuple)) and len(value) <= 64 else (value,):
                if isinstance(piece, float):
                    at = self._numbers.get(piece)
                elif type(piece).__module__ == "numpy":
                    held = self._made.get(id(piece))
                    at = held[1] if held is not None and held[0]() is piece else None
                    if at is None and piece.size == 1:
                        at = self._numbers.get(float(piece.item())) if piece.dtype.kind == "f" else None
                else:
                    continue
                if at is not None:
                    found.append(at)
        return found

    def _trail(self, frame: FrameType | None) -> tuple[Trail, CodeType | None, int]:
        """How ``frame`` was reached from the module call around it, and the user's innermost place on the way."""
        until = self._stack[-1].frame if self._stack else self._root
        steps: list[tuple[int, CodeType, int]] = []
        whole, skip = self._root, self._skip
        while frame is not None and frame is not until:
            code = frame.f_code
            if code.co_filename not in skip:
                steps.append((id(frame), code, frame.f_lasti))
            if frame is whole:
                break
            frame = frame.f_back
        if frame is not None and frame is until and not self._stack:
            steps.append((id(frame), frame.f_code, frame.f_lasti))
        steps.reverse()
        for _, code, at in reversed(steps):
            if is_users(code):
                return steps, code, at
        for entered in reversed(self._stack):
            if entered.code is not None:
                return steps, entered.code, entered.at
        return steps, None, -1

    # -- answers ----------------------------------------------------------------------------------------------------

    def made_by(self, tensor: Any) -> Call | None:
        """The call that made ``tensor`` or changed it last; None where it was not heard."""
        found = self._made.get(id(tensor))
        return self.calls[found[1]] if found is not None and found[0]() is tensor else None

    def of_age(self, age: float | None, engine: str) -> Call | None:
        """The call during which the node of this age was made."""
        if age is None:
            return None
        if self._order is None or len(self._starts) != self._counted:
            spans = [(call.start, call) for call in self.calls if call.start < call.stop]
            spans.sort(key=lambda pair: pair[0])
            self._order, self._starts = spans, [start for start, _ in spans]
        place = bisect_right(self._starts, age) - 1
        if place < 0:
            return None
        call = self._order[place][1]
        return call if call.start <= age < call.stop else None

    @property
    def _counted(self) -> int:
        return len(self._starts) if self._order is not None and not self._listeners else -1

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
        seen, waiting = {call.index}, [call.index]
        for here in waiting:
            for at in self.calls[here].inputs:
                if at not in seen:
                    seen.add(at)
                    waiting.append(at)
                    yield self.calls[at]


def _reads(name: str) -> bool:
    return name in ("item", "float", "int", "tolist", "numpy", "index", "complex")


def tensors_in(args: Any, kwargs: Mapping[str, Any], kind: Any) -> list[Any]:
    """The tensors among arguments, those in lists too."""
    found = []
    for value in (*args, *kwargs.values()) if kwargs else args:
        if isinstance(value, kind):
            found.append(value)
        elif isinstance(value, (list, tuple)) and value:
            for piece in value:
                if isinstance(piece, kind):
                    found.append(piece)
                elif isinstance(piece, (list, tuple)):
                    found += [one for one in piece if isinstance(one, kind)]
    return found


def listeners(recording: Recording) -> list[Any]:
    """The listeners of the engines that may be heard: of the model's engine, else of all that are loaded."""
    from .listen_glassgrad import Listener as Glass

    torch = sys.modules.get("torch")
    real = isinstance(torch, ModuleType) and torch.__name__ == "torch" and hasattr(torch, "_C")
    model = recording.model
    home = ""
    if model is not None:
        kinds = [kind for kind in type(model).__mro__ if kind.__name__ == "Module"]
        home = kinds[-1].__module__.partition(".")[0] if kinds else ""
    found: list[Any] = [] if home == "torch" and real else [Glass(recording)]
    if real and home in ("", "torch"):
        from .listen_torch import Listener as Torch

        found.append(Torch(recording, torch))
    return found


def record(model: Any = None, *, values: bool = False) -> Recording:
    """A block in which the forward pass is recorded: ``with record(model) as r: loss = ...``.

    For every operation it keeps the file, line and exact expression, the module call and the turn of a loop it belongs
    to; it keeps what was cut out of the graph (``detach``, ``no_grad``, ``item`` ...), and writes in place. ``values``
    counts the numbers in every result too: NaN, infinity, range and norm. Nothing is slowed down outside the block.
    """
    return Recording(model, values=values)
