"""What a function can reach besides its arguments: looked at before and after a capture, then guarded.

A *place* is an entry of something reachable: an attribute, an item, a variable of a closure, a global. A capture whose
run changed one is given up, as a program would not change it again. A program holds as long as the places that its code
reads are what they were.
"""

from __future__ import annotations

import functools
import inspect
import io
import re
import sys
import threading
import weakref
from collections import deque
from collections.abc import Iterable
from enum import Enum
from types import (
    BuiltinFunctionType,
    CellType,
    CodeType,
    FunctionType,
    GenericAlias,
    GetSetDescriptorType,
    MappingProxyType,
    MemberDescriptorType,
    MethodDescriptorType,
    MethodType,
    ModuleType,
    WrapperDescriptorType,
)
from typing import Any

import numpy as np

from ..amp.autocast_mode import _chosen
from ..core.tensor import LEAF, Tensor
from ..ground import dtypes
from ..ground.device import device
from ..ground.generator import Generator
from ..ground.names import home_of
from ..ground.size import Size
from ..nn.modules.module import Module
from ..optim.lr_scheduler.base import LRScheduler
from ..optim.optimizer import Optimizer, _after_all, _before_all
from .known import checksum
from .program import NotCapturable
from .purity import harmless, reads_any_name

#: Values that are compared as such.
ATOMS = (int, float, complex, bool, str, bytes, type(None), dtypes.dtype, device, slice, range, Enum, Size, type(...))
_OURS = frozenset(
    "glassgrad builtins numpy collections typing abc functools contextlib enum dataclasses threading".split()
)
#: What code may ask of a schedule.
SCHEDULE = frozenset("last_epoch get_last_lr _last_lr _step_count base_lrs get_lr lr_lambdas".split())
HOOKS = (_before_all, _after_all)  # at the steps of every optimizer
_LISTS = (list, tuple, deque)
_MANY = 4096  # longer containers are data: they count as one thing
_MISSING = object()
#: Modules whose contents are taken for granted.
_KNOWN_MODULES = frozenset(
    "glassgrad numpy builtins math cmath operator itertools functools typing collections abc contextlib enum "
    "dataclasses types re inspect warnings copy time random numbers".split()
)
#: What does not change, or only by calls that are looked at.
_STILL = (
    CodeType, CellType, np.generic, np.dtype, np.ufunc, re.Pattern, GenericAlias, GetSetDescriptorType,
    MemberDescriptorType, MethodDescriptorType, WrapperDescriptorType, Generator, type(object().__str__),
    type(functools.lru_cache(repr)), type(inspect.FullArgSpec.args), io.IOBase, type(threading.Lock()),
    type(threading.RLock()),
)  # fmt: skip


class Place:
    """An entry: where it is, how the program's text reads it, and what was there."""

    __slots__ = ("kind", "container", "key", "value", "owner", "holder")

    def __init__(self, kind: str, container: Any, key: Any, value: Any, owner: str, holder: int) -> None:
        self.kind, self.container, self.key, self.value, self.owner = kind, container, key, value, owner
        self.holder = holder  # the identity of what has this entry

    def now(self) -> Any:
        """What is there now."""
        if self.kind in ("length", "attributes"):
            return len(self.container)
        if self.kind == "has":
            return self.key in self.container
        if self.kind == "array":
            return fingerprint(self.container)
        if self.kind == "tags":
            return _tags(self.container)
        if self.kind == "item":
            return self.container[self.key] if self.key < len(self.container) else _MISSING
        if self.kind in ("attribute", "key", "setting"):
            return self.container.get(self.key, _MISSING)
        try:
            return self._read()
        except (AttributeError, ValueError):
            return _MISSING

    def _read(self) -> Any:
        if self.kind == "cell":
            return self.container.cell_contents
        if self.kind == "slot":
            return self.key.__get__(self.container)
        if self.kind == "field":
            return getattr(self.container, self.key)
        return [*self.container] if self.kind == "keys" else set(self.container)

    def holds(self) -> bool:
        """Whether it is as it was."""
        now = self.now()
        return now == self.value if self.kind in ("keys", "set", "array") else same(now, self.value)

    def text(self, text: Any) -> str:
        """How a program tells that it is not as it was."""
        container = text.name(self.container, "attributes" if self.kind in ("attribute", "has") else self.kind)
        if self.kind in ("length", "attributes"):
            return f"len({container}) != {self.value}" if self.value else container
        if self.kind in ("keys", "set"):
            now = f"[*{container}]" if self.kind == "keys" else container
            return f"{now} != {text.name(self.value, self.kind)}"
        if self.kind == "array":
            return f"{text.name(fingerprint, 'fingerprint')}({container}) != {text.name(self.value, 'content')}"
        if self.kind == "has":
            return f"({self.key!r} in {container}) is not {self.value}"
        if self.value is _MISSING:
            return f"hasattr({container}, {self.key.__name__!r})"
        if self.kind == "cell":
            read = f"{container}.cell_contents"
        elif self.kind == "field":
            read = f"{container}.{self.key}"
        elif self.kind == "slot":
            read = f"{text.name(self.key, 'slot')}.__get__({container})"
        else:
            read = f"{container}[{text.literal(self.key)}]"
        if self.value is None or self.value is True or self.value is False:
            return f"{read} is not {self.value}"
        wish = type(self.value).__name__
        if isinstance(self.value, ATOMS):
            return f"({read} is not {text.name(self.value, wish)} and not same({read}, {text.literal(self.value)}))"
        return f"{read} is not {text.name(self.value, wish.lower())}"

    def __str__(self) -> str:
        if self.kind in ("length", "keys", "set", "attributes", "tags", "array"):
            return self.owner
        if self.kind in ("attribute", "slot", "field"):
            return f"{self.owner}.{getattr(self.key, '__name__', self.key)}"
        return f"the variable {self.key!r}" if self.kind == "cell" else f"{self.owner}[{self.key!r}]"


def same(one: Any, other: Any) -> bool:
    """Whether two values mean the same to a program."""
    if one is other:
        return True
    if type(one) is not type(other) or not isinstance(one, ATOMS):
        return False
    return repr(one) == repr(other) if isinstance(one, (float, complex)) else bool(one == other)  # -0.0 is not 0.0


def fingerprint(array: Any) -> tuple[Any, ...]:
    """What a NumPy array holds, to compare."""
    return array.shape, array.dtype.str, array.flags.writeable, array.tobytes()


class Surroundings:
    """Everything reachable from a function, its arguments, and the code that earlier calls of it ran, by one walk."""

    def __init__(self, function: Any, args: Any, kwargs: Any, met: Met | None = None) -> None:
        self.places: list[Place] = []
        self.tensors: dict[int, Tensor] = {}
        self.sums: dict[int, int] = {}  # of the tensors' memory
        self.functions: set[CodeType] = set()  # the code of the functions that were looked into
        self.names = met.names if met is not None else set()
        self._users = met.users if met is not None else set()
        self.seen: dict[int, Any] = {}
        self._memory: dict[int, Any] = {}
        self._bare: dict[int, bool] = {}  # which tensors have no gradient
        self._dark: dict[int, str] = {}  # what could change without being noticed, by identity
        self._holder = 0  # the call itself
        self._links: dict[int, list[int]] = {}  # what is part of what, whatever code reads
        self._waiting: deque[tuple[Any, str]] = deque()
        self._go(getattr(function, "__name__", "function"), function)
        for name, argument in [*enumerate(args), *kwargs.items()]:
            self._go(f"argument {name}", argument)
        if "autocast" in self._users:
            self._go("autocast", _chosen)
        for code, space in met.codes.values() if met is not None else ():
            self._globals(code, space)
        while self._waiting:
            thing, owner = self._waiting.popleft()
            self._holder = id(thing)
            self._visit(thing, owner)

    def _go(self, owner: str, *things: Any) -> None:
        for thing in things:
            self._links.setdefault(self._holder, []).append(id(thing))
            self._waiting.append((thing, owner))

    def relevant(self, met: Met, known: frozenset[int] = frozenset()) -> list[Place]:
        """The places that the code that ran may depend on: those it can reach by the names in it.

        What the containers ``known`` hold is told otherwise.
        """
        by_holder: dict[int, list[Place]] = {}
        for place in self.places:
            by_holder.setdefault(place.holder, []).append(place)
        chosen: list[Place] = []
        reached = {0}
        waiting = [0]
        while waiting:
            holder = waiting.pop()
            if holder in self._dark:
                raise NotCapturable(self._dark[holder])
            onward = self._links.get(holder, [])[:]
            for place in by_holder.get(holder, []):
                if self._counts(place, met):
                    if holder not in known:
                        chosen.append(place)
                    onward.append(id(place.value))
            for identity in onward:
                if identity not in reached:
                    reached.add(identity)
                    waiting.append(identity)
        return chosen

    def gradients(self, met: Met) -> list[tuple[Tensor, bool]]:
        """The leaves that code asks for their gradients, and whether they had none."""
        if "grad" not in met.users and not any(code.co_name.startswith("clip_grad") for code in met.own):
            return []
        return [(t, self._bare[identity]) for identity, t in self.tensors.items() if t._edge is LEAF]

    def _counts(self, place: Place, met: Met) -> bool:
        if place.kind == "attribute":
            read = met.any_name or place.key in met.names
            return read or getattr(place.value, "__code__", None) in met.ran
        if place.kind == "setting":
            return "param_groups" in met.users
        return place.kind != "tags"

    def written(self) -> list[Tensor]:
        """The tensors whose memory is not as it was."""
        return [tensor for identity, tensor in self.tensors.items() if checksum(tensor._array) != self.sums[identity]]

    def moved(self) -> bool:
        """Whether a tensor has other memory than it had."""
        return any(
            t._array is not self._memory[identity] and (t._array.ndim > 0 or type(self._memory[identity]) is np.ndarray)
            for identity, t in self.tensors.items()
        )

    def changed(self, scheduled: bool = False) -> Place | None:
        """The first place that is not as it was; ``scheduled`` settings of optimizers may be others."""
        return next(
            (place for place in self.places if not (scheduled and place.kind == "setting") and not place.holds()), None
        )

    def _note(self, kind: str, container: Any, key: Any, value: Any, owner: str) -> None:
        self.places.append(Place(kind, container, key, value, owner, self._holder))
        if not isinstance(value, ATOMS) or isinstance(value, Enum):
            self._waiting.append((value, f"{owner}.{key}" if kind == "attribute" else key if kind == "cell" else owner))

    def _visit(self, thing: Any, owner: str) -> None:
        if isinstance(thing, ATOMS) and not isinstance(thing, Enum) or id(thing) in self.seen:
            return
        self.seen[id(thing)] = thing
        if isinstance(thing, Tensor):
            self.tensors[id(thing)] = thing
            self.sums[id(thing)] = checksum(thing._array)
            self._memory[id(thing)] = thing._array
            self._bare[id(thing)] = thing._grad is None
            self._attributes(thing, owner)
        elif isinstance(thing, FunctionType):
            self._function(thing)
        elif isinstance(thing, MethodType):
            self._go(owner, thing.__self__, thing.__func__)
        elif isinstance(thing, BuiltinFunctionType):
            if not isinstance(thing.__self__, (ModuleType, type(None))):
                self._go(owner, thing.__self__)
        elif isinstance(thing, functools.partial):
            self._go(owner, thing.func, thing.args, thing.keywords)
            if isinstance(thing.func, BuiltinFunctionType) and not harmless(thing.func):
                self._dark[id(thing)] = f"{owner} calls {thing.func.__name__}()"
        elif isinstance(thing, LRScheduler):  # its step reads and changes what is its own
            self._go(owner, thing.optimizer)
            self.places.append(Place("field", thing, "__class__", type(thing), owner, self._holder))
            own = thing.__dict__
            self.places.append(Place("attribute", own, "optimizer", thing.optimizer, owner, self._holder))
            self.places.append(Place("has", own, "step", "step" in own, owner, self._holder))
            if self._users & SCHEDULE:
                self._object(thing, owner)
        elif isinstance(thing, Optimizer):  # its step reads its settings itself
            self._optimizer(thing, owner)
        elif isinstance(thing, (dict, MappingProxyType)):
            self._items(thing, owner)
        elif isinstance(thing, _LISTS):
            self._list(thing, owner)
        elif type(thing) is np.ndarray and thing.size <= _MANY and not thing.dtype.hasobject:
            self.places.append(Place("array", thing, "content", fingerprint(thing), owner, self._holder))
        elif isinstance(thing, (set, frozenset)):
            self._set(thing, owner)
        elif isinstance(thing, type):
            if not _ours(thing):
                for cls in thing.__mro__:
                    if not _ours(cls):
                        self._class(cls)
        elif isinstance(thing, (staticmethod, classmethod)):
            self._go(owner, thing.__func__)
        elif isinstance(thing, property):
            self._go(owner, thing.fget)
        elif isinstance(thing, ModuleType):
            self._module(thing)
        elif isinstance(thing, weakref.ref):
            self._go(owner, thing())
        elif not isinstance(thing, _STILL):
            self._object(thing, owner)
            return
        if isinstance(thing, (dict, set, *_LISTS)) and not _ours(type(thing)):
            self._object(thing, owner)

    def _object(self, thing: Any, owner: str) -> None:
        cls = type(thing)
        self._go(cls.__name__, cls)
        slots = [
            member
            for base in cls.__mro__
            if "__slots__" in vars(base)
            for member in vars(base).values()
            if isinstance(member, MemberDescriptorType)
        ]
        for member in slots if not _ours(cls) else ():
            place = Place("slot", thing, member, _MISSING, owner, self._holder)
            place.value = place.now()
            if place.value is _MISSING:
                self.places.append(place)
            else:
                self._note("slot", thing, member, place.value, owner)
        if type(getattr(thing, "__dict__", None)) is dict:
            self._attributes(thing, owner)
            own = thing.__dict__
            if isinstance(thing, Module):
                self.places.append(Place("attributes", own, "__dict__", len(own), owner, self._holder))
            elif not _ours(cls):
                self.places.append(Place("keys", own, "__dict__", [*own], owner, self._holder))
            if not _ours(cls) or isinstance(thing, Module):
                self.places.append(Place("field", thing, "__class__", cls, owner, self._holder))
        elif not slots and not isinstance(thing, (tuple, dict, list, set, frozenset, deque)) and cls is not object:
            self._dark[id(thing)] = f"it may read {owner}, a {cls.__name__}, which can change without being noticed"

    def _attributes(self, thing: Any, owner: str) -> None:
        own = thing.__dict__
        tensor = isinstance(thing, Tensor)
        for key, value in own.items():
            if not (tensor and key.startswith("_")):  # those are the tensor's own affair
                self._note("attribute", own, key, value, owner)
        if tensor:
            self.places.append(Place("tags", own, "__dict__", _tags(own), owner, self._holder))

    def _class(self, cls: type) -> None:
        for key, value in vars(cls).items():
            if isinstance(value, (FunctionType, staticmethod, classmethod, property)):
                self._note("attribute", vars(cls), key, value, cls.__name__)
                if key.startswith("__"):
                    self._go(cls.__name__, value)
            elif not key.startswith("__") and not isinstance(value, MemberDescriptorType):
                self._note("attribute", vars(cls), key, value, cls.__name__)
        self.places.append(Place("attributes", vars(cls), "__dict__", len(vars(cls)), cls.__name__, self._holder))

    def _function(self, function: FunctionType) -> None:
        if _ours(function):
            return
        if "program_state" in function.__dict__:  # a compiled function
            self._go(function.__name__, function.__wrapped__)  # type: ignore[attr-defined]
            return
        self.functions.add(function.__code__)
        for name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=True):
            try:
                self._note("cell", cell, name, cell.cell_contents, function.__name__)
            except ValueError:
                continue
        for name in ("__code__", "__defaults__"):
            self._note("field", function, name, getattr(function, name), function.__name__)
        self._attributes(function, function.__name__)
        wrapped = getattr(function, "__wrapped__", None)
        self._go(function.__name__, function.__defaults__, function.__kwdefaults__, wrapped)
        self._globals(function.__code__, function.__globals__)

    def _globals(self, code: CodeType, space: dict[str, Any]) -> None:
        for name in names_in([code]):
            if name in space:
                self._note("attribute", space, name, space[name], "globals")

    def _module(self, module: ModuleType) -> None:
        top = module.__name__.partition(".")[0]
        if top == "numpy" and "random" in self._users:
            self._go("numpy", module.__dict__.get("random"))
            if module.__name__.startswith("numpy.random"):
                self._dark[id(module)] = "it may draw random numbers of NumPy, which a program would not draw again"
        if top in _KNOWN_MODULES:
            return
        for name in self.names.intersection(module.__dict__):
            self._note("attribute", module.__dict__, name, module.__dict__[name], module.__name__)
        if top not in sys.stdlib_module_names:
            own = module.__dict__
            self.places.append(Place("attributes", own, "__dict__", len(own), module.__name__, self._holder))

    def _optimizer(self, optimizer: Optimizer, owner: str) -> None:
        own = optimizer.__dict__
        for hooks in (*(own[name] for name in ("_optimizer_step_pre_hooks", "_optimizer_step_post_hooks")), *HOOKS):
            self._length(hooks, f"the hooks of {owner}")
            if hooks:
                self._dark[id(optimizer)] = f"a hook waits for the steps of {owner}"
        self.places.append(Place("field", optimizer, "__class__", type(optimizer), owner, self._holder))
        for name in ("step", "zero_grad"):  # a scheduler puts one there
            self.places.append(Place("has", own, name, name in own, owner, self._holder))
            if name in own:
                self._note("attribute", own, name, own[name], owner)
        self.places.append(Place("attribute", own, "param_groups", optimizer.param_groups, owner, self._holder))
        self._length(optimizer.param_groups, owner)
        for place, group in enumerate(optimizer.param_groups):
            self.places.append(Place("item", optimizer.param_groups, place, group, owner, self._holder))
            self.places.append(Place("key", group, "params", group["params"], owner, self._holder))
            self._list(group["params"], owner)
            for key, value in group.items():
                if key != "params":
                    self._note("setting", group, key, value, f"{owner}.param_groups")

    def _items(self, thing: Any, owner: str) -> None:
        if self._long(thing, owner):
            return
        if len(thing) > 1:
            self.places.append(Place("keys", thing, "keys", [*thing], owner, self._holder))
        else:
            self._length(thing, owner)
        for key, value in thing.items():
            if isinstance(key, ATOMS) or type(key).__eq__ in (object.__eq__, Tensor.__eq__) or _atoms(key):
                self._note("key", thing, key, value, owner)
            else:
                self._dark[id(thing)] = f"it may read {owner}, a dict whose keys are of class {type(key).__name__}"

    def _list(self, thing: Any, owner: str) -> None:
        if self._long(thing, owner):
            return
        if type(thing) is not tuple:
            self._length(thing, owner)
        for place, value in enumerate(thing):
            if type(thing) is tuple:
                self._go(owner, value)
            else:
                self._note("item", thing, place, value, owner)

    def _set(self, thing: Any, owner: str) -> None:
        if self._long(thing, owner):
            return
        if all(isinstance(piece, ATOMS) or _atoms(piece) for piece in thing):
            self.places.append(Place("set", thing, "set", set(thing), owner, self._holder))
        else:
            self._length(thing, owner)
            self._dark[id(thing)] = f"it may read {owner}, a set of objects"

    def _long(self, thing: Any, owner: str) -> bool:
        if len(thing) <= _MANY:
            return False
        self._length(thing, owner)
        self._dark[id(thing)] = f"it may read {owner}, a {type(thing).__name__} of more than {_MANY} entries"
        return True

    def _length(self, thing: Any, owner: str) -> None:
        self.places.append(Place("length", thing, "len", len(thing), owner, self._holder))


class Met:
    """The code that calls of a function ran, and the names in it."""

    def __init__(self) -> None:
        self.codes: dict[tuple[CodeType, int], tuple[CodeType, dict[str, Any]]] = {}
        self.users: set[str] = set()
        self.names: set[str] = set()
        self.ran: set[CodeType] = set()
        self.own: set[CodeType] = set()  # of the package
        self.any_name = False  # whether attributes are read by names that are put together

    def add(self, codes: dict[tuple[CodeType, int], tuple[CodeType, dict[str, Any]]], own: Iterable[CodeType]) -> bool:
        """More code that ran; says whether any of everybody else's is new."""
        new = codes.keys() - self.codes.keys()
        self.codes.update(codes)
        self.own.update(own)
        ran = [code for code, _ in codes.values()]
        self.ran.update(ran)
        self.users |= names_in(ran)
        self.names |= self.users | names_in(own)
        self.any_name = self.any_name or any(reads_any_name(code) for code in ran)
        return bool(new)

    def closed(self, functions: set[CodeType]) -> CodeType | None:
        """Code with variables of its surroundings that could not be looked at."""
        known, waiting = set(functions), [*functions, *(code for code in self.ran if not code.co_freevars)]
        while waiting:
            for const in waiting.pop().co_consts:
                if isinstance(const, CodeType) and const not in known:
                    known.add(const)
                    waiting.append(const)
        return next((code for code in self.ran if code.co_freevars and code not in known), None)


def _tags(own: dict[str, Any]) -> int:
    """How many attributes users gave a tensor."""
    return sum(not key.startswith("_") for key in own)


def _atoms(thing: Any) -> bool:
    return isinstance(thing, (tuple, frozenset)) and all(isinstance(piece, ATOMS) or _atoms(piece) for piece in thing)


def _ours(thing: Any) -> bool:
    """Whether a class or function is of the package, or of Python itself."""
    module = home_of(thing)
    return module.partition(".")[0] in _OURS and not module.startswith("glassgrad.demo")


def names_in(codes: Iterable[CodeType]) -> set[str]:
    """Every name that pieces of code read, those of the functions inside them too."""
    found: set[str] = set()
    waiting = list(codes)
    while waiting:
        code = waiting.pop()
        found.update(code.co_names)
        found.update(code.co_freevars)
        for const in code.co_consts:
            if isinstance(const, CodeType):
                waiting.append(const)
            elif isinstance(const, str) and const.isidentifier():  # read by getattr
                found.add(const)
    return found
