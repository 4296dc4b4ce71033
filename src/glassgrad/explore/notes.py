"""What a recording notes while the program runs, floor 8: as little as can be, to be made sense of afterwards.

A call becomes one tuple: which function, the ages of nodes before and after, where the program stood, weak references
to what it took and gave. ``lineage.py`` reads the tuples when somebody asks.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from types import CodeType, FrameType
from typing import Any, TypeAlias
from weakref import ref

from .measure import info_of
from .read import memory_of
from .reasons import COPIES, IN_PLACE, NO_TENSOR_READ, READS, SHAPE_ONLY, how_cut, is_whole, plain_name
from .source import is_users
from .walk import sequence

#: A generator's frame may be called from elsewhere the next time.
MOVES = 0x20 | 0x80 | 0x200
_get_ident = threading.get_ident
boundaries: set[int] = set()  # the code that stands in for the call of a module, by identity
passed: set[int] = set()  # the code of an engine between there and the module's ``forward``
inner: set[int] = set()  # the code of an engine's own ``forward``, as it was met right behind a module's call
_codes: list[CodeType] = []  # so that these identities stay their own


class Spec:
    """What is known of a function before it is called: its plain name, and whether a call of it may be told briefly."""

    __slots__ = ("name", "brief", "writes", "owner")

    def __init__(self, name: str, owner: Any = None) -> None:
        self.name = plain_name(name)
        self.owner = owner  # kept, so that its identity stays its own
        name = self.name
        self.writes = name in IN_PLACE or bool(name.endswith("_") and name[:-1] and name != "requires_grad_")
        self.brief = not (self.writes or name in SHAPE_ONLY or name in ("backward", "detach", "data", "requires_grad_"))


#: A frame of the program as it was met: a number of its own, its code, the seat and the instruction it was called from.
#: The number is 0 for a layer of the engine's, whose outer seat is the one that called the module.
Seat: TypeAlias = "tuple[int, CodeType, Seat | None, int]"


#: A tensor that a call was given or gave: a reference to it, whether it wants a gradient, a reference to its base.
Noted: TypeAlias = "tuple[ref[Any], bool, ref[Any] | None]"


def noted(tensor: Any) -> Noted:
    """See :data:`Noted`."""
    base = getattr(tensor, "_base", None)
    return ref(tensor), bool(getattr(tensor, "requires_grad", False)), None if base is None else ref(base)


@dataclass(slots=True, eq=False)
class Heard:
    """A call that could not be told briefly: everything that is to be known of it."""

    tensors: list[Noted] = field(default_factory=list)
    numbers: list[Any] = field(default_factory=list)  # and arrays among the arguments that came out of the graph
    outs: list[Noted] = field(default_factory=list)
    target: Noted | None = None
    raw: Any = None
    info: Any = None
    taken_in: Sequence[Any] = ()  # what the numbers it was given are like, where what it gave is not finite
    how: str | None = None
    memory: Any = None  # a reference to the memory of what was cut off: another tensor may be made of it
    choices: list[Any] = field(default_factory=list)  # references to the indices among its results
    taken: Any = None  # a reference to the array that was taken out, or True for numbers


class Kinds(dict[type, int]):
    """What the classes of arguments are: 1 a tensor, 2 a sequence, 3 a float, 4 NumPy's, 0 anything else."""

    def __init__(self, tensor: type) -> None:
        super().__init__({float: 3, list: 2, tuple: 2})
        self.tensor = tensor

    def __missing__(self, kind: type) -> int:
        code = 0
        if issubclass(kind, self.tensor):
            code = 1
        elif issubclass(kind, (list, tuple)):
            code = 2
        elif kind.__module__ == "numpy" and kind.__name__ != "dtype":
            code = 4
        self[kind] = code
        return code


class Notes:
    """The notes of one recording: what the listeners of engines write into, in the thread that began it."""

    __slots__ = (
        "inside", "thread", "top", "seat", "scope", "log", "values", "numbers", "arrays", "entered", "root", "chain",
        "_where", "_frames", "_before_steps",
    )  # fmt: skip

    def __init__(self, values: bool) -> None:
        self.values = values
        self.inside = True
        self.thread = 0
        self.top: FrameType | None = None  # the frame that ``seat`` is of
        self.seat: Seat | None = None
        self.scope: int | None = None
        self.log: list[Any] = []
        self.numbers: dict[float, int] = {}
        self.arrays = False
        self.entered: list[Any] = []
        self.root: FrameType | None = None
        self.chain: list[tuple[FrameType, Seat]] = []
        self._where: dict[int, int] = {}
        self._frames = 0
        self._before_steps: list[bool] = []

    def start(self, root: FrameType) -> None:
        """Begin, in the block of ``root``."""
        self.thread, self.root, self.scope, self.inside = _get_ident(), root, None, False

    def stop(self) -> None:
        """End: no frame is kept any longer."""
        self.inside, self.root = True, None
        self.cut(0)
        self.scope = None

    # -- where the program stands -----------------------------------------------------------------------------------

    def sit(self, frame: FrameType) -> Seat:
        """Make ``frame`` the top: find or make the seats of all frames from the block to it."""
        if id(frame.f_code) in inner and frame.f_back is not None and id(frame.f_back.f_code) in passed:
            layer = self.entered[self.scope] if self.scope is not None else None
            if layer is not None:  # a layer of the engine's: where it was called from is all there is to know
                return 0, frame.f_code, layer[4], layer[5]
        where, root, chain = self._where, self.root, self.chain
        fresh: list[FrameType] = []
        here: FrameType | None = frame
        depth = 0
        while here is not None:
            at = where.get(id(here))
            if at is not None and not here.f_code.co_flags & MOVES:
                depth = at + 1
                break
            if here is frame or id(here.f_code) not in passed:
                fresh.append(here)
            if here is root:
                break
            here = here.f_back
        left: list[Any] = []  # kept a while, so that no identity is used again meanwhile
        while len(chain) > depth:
            gone = chain.pop()
            del where[id(gone[0])]
            left.append(gone)
        seat = chain[-1][1] if chain else None
        while fresh:
            one = fresh.pop()
            back = one.f_back
            key = 0
            if left and one.f_code.co_flags & MOVES:
                key = next((s[0] for f, s in left if f is one), 0)
            if not key:
                key = self._frames = self._frames + 1
            seat = (key, one.f_code, seat, -1 if seat is None or back is None else back.f_lasti)
            where[id(one)] = len(chain)
            chain.append((one, seat))
        self.top = None if frame.f_code.co_flags & MOVES else frame
        self.seat = seat
        back = frame.f_back
        if back is not None and id(back.f_code) in passed and not is_users(frame.f_code):
            _codes.append(frame.f_code)
            inner.add(id(frame.f_code))
        return seat  # type: ignore[return-value]  # ``frame`` itself has one

    def cut(self, depth: int) -> None:
        """Forget the frames of the chain from ``depth`` on."""
        chain, where = self.chain, self._where
        while len(chain) > depth:
            del where[id(chain.pop()[0])]
        self.top = None

    def hears(self, thread: int) -> bool:
        """Whether what a thread does now is to be noted."""
        return not self.inside and thread == self.thread

    def enter(self, module: Any, frame: FrameType) -> tuple[int | None, int, FrameType | None, Seat]:
        """Note that a module is called from ``frame``; gives what :meth:`leave` is to be told."""
        seat: Any = self.seat if frame is self.top else self.sit(frame)
        before = self.scope, len(self.chain), frame if frame is self.top else None, seat
        self.entered.append((ref(module), type(module), self.scope, len(self.log), seat, frame.f_lasti))
        self.scope = len(self.entered) - 1
        return before

    def leave(self, scope: int | None, depth: int, top: FrameType | None, seat: Seat) -> None:
        """The call of a module has ended: all is as it was before."""
        self.scope = scope
        if len(self.chain) > depth:
            self.cut(depth)
            if top is not None:
                self.top, self.seat = top, seat

    # -- calls that need more than a line ---------------------------------------------------------------------------

    def find(self, value: Any, kinds: Kinds) -> Any:
        """What is noted of an argument that is no plain tensor: a reference, those in a sequence, or a number's origin.

        A number's origin is the place of the note that tells how it was taken out of the graph.
        """
        kind = kinds[type(value)]
        if kind == 1:
            return ref(value)
        if kind == 0:
            return None
        if kind == 2:
            return tuple([self.find(piece, kinds) for piece in value])
        if kind == 3:
            return self.numbers.get(value) if self.numbers else None
        return self._array(value)

    def _array(self, value: Any) -> Any:
        if self.arrays and getattr(value, "shape", None) is not None:
            try:
                return "array", ref(value)
            except TypeError:
                pass
        if self.numbers and getattr(value, "size", 0) == 1 and value.dtype.kind == "f":
            return self.numbers.get(float(value.item()))
        return None

    def tell(
        self, listener: Any, spec: Spec, start: int, stop: int, frame: FrameType, args: tuple[Any, ...],
        kwargs: Mapping[str, Any], result: Any,
    ) -> None:  # fmt: skip
        """Note a call in full."""
        tensor, name = listener.tensor, spec.name
        outs = tensors_in((result,), {}, tensor) if result is not None else []
        target = None
        if spec.writes:
            target = args[0] if args and isinstance(args[0], tensor) else None
        elif kwargs and kwargs.get("out") is not None:
            target = kwargs["out"] if isinstance(kwargs["out"], tensor) else None
        elif outs and any(value is outs[0] for value in (*args, *kwargs.values())):  # F.relu(x, inplace=True)
            maker = outs[0].grad_fn
            if start <= sequence(maker) < stop if maker is not None else kwargs.get("inplace"):
                target, spec = outs[0], Spec(f"{name}(inplace=True)", spec.owner)
        heard = Heard()
        array = None
        if not outs and target is None and name != "backward":
            array = result if type(result).__module__ == "numpy" and hasattr(result, "dtype") else None
            if name in NO_TENSOR_READ or not (
                array is not None or isinstance(result, (float, complex, list)) or name in READS
            ):
                return
        tensors = tensors_in(args, kwargs, tensor)
        heard.tensors = [noted(one) for one in tensors]
        wants = any(needs for _, needs, _ in heard.tensors)
        if self.numbers or self.arrays:
            kinds = listener.kinds
            for value in (*args, *kwargs.values()):
                if kinds[type(value)] >= 2 and not (isinstance(value, (list, tuple)) and len(value) > 64):
                    origin = self.find(value, kinds)
                    if origin is not None:
                        heard.numbers.append(origin)
        if not outs and target is None:
            if name != "backward":
                self._taken(heard, result, array, wants)
        else:
            self._note_results(listener, heard, spec, tensors, outs, target, wants)
        seat = self.seat if frame is self.top else self.sit(frame)
        self.log.append((spec, start, stop, seat, frame.f_lasti, self.scope, heard))

    def _note_results(
        self, listener: Any, heard: Heard, spec: Spec, tensors: list[Any], outs: list[Any], target: Any, wants: bool
    ) -> None:
        heard.target = None if target is None else noted(target)
        heard.outs = [noted(out) for out in outs if out is not target]
        gives = any(needs for _, needs, _ in heard.outs)
        if outs:
            first = outs[0]
            if self.values:
                inside, self.inside = self.inside, True
                try:
                    heard.info = info_of(first, stats=True, value=True)
                    if heard.info.stats is not None and not heard.info.stats.finite:
                        heard.taken_in = [info_of(one, stats=True, value=True) for one in tensors]
                finally:
                    self.inside = inside
            else:
                try:
                    heard.raw = first.shape, first.dtype, first.nbytes
                except RuntimeError:  # a sparse tensor, or a nested one
                    heard.info = info_of(first)
        copied = gives and spec.name in COPIES and outs[0].is_leaf  # torch.tensor(loss, requires_grad=True)
        if wants and outs and target is None and (copied or not gives) and spec.name not in SHAPE_ONLY:
            heard.how = how_cut(spec.name, str(outs[0].dtype), listener.is_on(), listener.inference())
            try:
                heard.memory = ref(memory_of(outs[0]))
            except TypeError:  # it has none of its own
                pass
        elif wants and target is not None and not target.requires_grad:  # written where nothing is recorded
            heard.how = how_cut(plain_name(spec.name).rstrip("=_"), "", listener.is_on(), listener.inference())
        elif wants and gives and len(outs) > 1:
            heard.choices = [ref(out) for out in outs if not out.requires_grad and is_whole(str(out.dtype))]
        if spec.name == "detach_":
            heard.how = "detach"
        if spec.name == "CheckpointFunction" and outs and not (wants or gives) and listener.is_on():
            heard.how = "checkpoint"

    def _taken(self, heard: Heard, result: Any, array: Any, wants: bool) -> None:
        """A call gave no tensor: perhaps a number or an array was taken out of the graph."""
        if array is not None:
            heard.how = "numpy" if wants else None
            heard.taken = ref(array) if hasattr(array, "__weakref__") or hasattr(array, "base") else True
            self.arrays = True
            return
        heard.how = "item" if wants else None
        heard.taken = True
        for number in result if isinstance(result, list) else [result]:
            if isinstance(number, float) and number not in (0.0, 1.0, -1.0):
                self.numbers[number] = len(self.log)

    def before_step(self, optimizer: Any, args: Any, kwargs: Any) -> Any:
        """Hear nothing of an optimizer's own arithmetic, but what its closure does."""
        before = self.inside
        self._before_steps.append(before)  # a step may be taken inside of another
        self.inside = True
        closure = kwargs.get("closure", args[1] if len(args) == 2 else None)
        if closure is None:
            return None

        def audible() -> Any:
            self.inside = before
            try:
                return closure()
            finally:
                self.inside = True

        return (args, {**kwargs, "closure": audible}) if "closure" in kwargs else ((args[0], audible), kwargs)

    def after_step(self, optimizer: Any, args: Any, kwargs: Any) -> None:
        """Note the parameters that an optimizer has changed in place."""
        if not self._before_steps:
            return  # the recording began inside of this step
        self.inside = self._before_steps.pop()
        tensors = [t for group in optimizer.param_groups for t in group["params"] if t.grad is not None]
        if self.inside or _get_ident() != self.thread or not tensors:
            return
        frame, name = sys._getframe(1), f"{type(optimizer).__name__}.step"
        seat = self.seat if frame is self.top else self.sit(frame)
        at, spec = frame.f_lasti, Spec(f"{name}_")
        spec.name = name
        for tensor in tensors:
            self.log.append((spec, -1, -1, seat, at, self.scope, Heard(target=noted(tensor))))

    def hear(
        self, listener: Any, spec: Spec, run: Callable[..., Any], args: tuple[Any, ...], kwargs: Mapping[str, Any],
        operands: tuple[Any, ...], frame: FrameType,
    ) -> Any:  # fmt: skip
        """One call, run and noted in full; ``operands`` are the arguments that count."""
        self.inside = True
        try:
            start = listener.age()
            result = run(*args, **kwargs)
            stop = listener.age()
            self.tell(listener, spec, start, stop, frame, operands, kwargs, result)
        finally:
            self.inside = False
        return result


def tensors_in(args: Any, kwargs: Mapping[str, Any], kind: Any) -> list[Any]:
    """The tensors among arguments, those in lists too."""
    tensors = []
    for value in (*args, *kwargs.values()) if kwargs else args:
        if isinstance(value, kind):
            tensors.append(value)
        elif isinstance(value, (list, tuple)) and value:
            for piece in value:
                if isinstance(piece, kind):
                    tensors.append(piece)
                elif isinstance(piece, (list, tuple)):
                    tensors += [one for one in piece if isinstance(one, kind)]
    return tensors


# -- calls of modules -------------------------------------------------------------------------------------------------

_rings: dict[type, _Ring] = {}


class _Ring:
    """Stands in for the call of a class of modules while recordings listen; nothing of it is left afterwards."""

    def __init__(self, kind: Any) -> None:
        self.kind, self.own = kind, None
        self.active: list[Notes] = []

    def add(self, notes: Notes) -> None:
        self.active.append(notes)
        if len(self.active) == 1:
            self.own = self.kind.__dict__.get("__call__")
            self.kind.__call__ = self._caller(self.kind.__call__)

    def remove(self, notes: Notes) -> None:
        self.active.remove(notes)
        if not self.active:
            if self.own is None:
                del self.kind.__call__
            else:
                self.kind.__call__ = self.own

    def _caller(self, inner: Any) -> Any:
        ring, get_frame, get_ident = self, sys._getframe, _get_ident
        for name in ("__call__", "_call_impl", "_wrapped_call_impl"):
            for kind in self.kind.__mro__:
                code = getattr(kind.__dict__.get(name), "__code__", None)
                if code is not None:
                    _codes.append(code)
                    passed.add(id(code))

        def __call__(self: Any, /, *args: Any, **kwargs: Any) -> Any:
            frame, thread = get_frame(1), get_ident()
            entered = [(notes, notes.enter(self, frame)) for notes in ring.active if notes.hears(thread)]
            try:
                return inner(self, *args, **kwargs)
            finally:
                for notes, before in entered:
                    notes.leave(*before)

        boundaries.add(id(__call__.__code__))  # one code for all, which this function keeps
        return __call__


_ring_lock = threading.Lock()


def listen_to_modules(kind: type, notes: Notes) -> None:
    """Let ``notes`` be told of every call of a module of class ``kind``."""
    with _ring_lock:
        ring = _rings.get(kind)
        if ring is None:
            ring = _rings[kind] = _Ring(kind)
        ring.add(notes)


def leave_modules(kind: type, notes: Notes) -> None:
    """Let ``notes`` be told no more."""
    with _ring_lock:
        _rings[kind].remove(notes)
