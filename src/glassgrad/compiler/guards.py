"""What a function can reach besides its arguments: looked at before and after a capture, and guarded from then on.

A *place* is an entry of something reachable: an attribute, an item, a variable of a closure, a global. A capture whose run
changed one is given up, as a program would not change it again. A program holds as long as the places that its code reads
are what they were.
"""

from __future__ import annotations

import functools
import zlib
from collections import deque
from collections.abc import Iterable
from enum import Enum
from types import BuiltinFunctionType, CellType, CodeType, FunctionType, MethodType, ModuleType
from typing import Any

import numpy as np

from ..ground import dtypes
from ..ground.device import device
from ..ground.size import Size
from ..nn.modules.module import Module
from ..optim.optimizer import Optimizer
from ..tensor.tensor import Tensor

#: Values that are compared as such.
ATOMS = (int, float, complex, bool, str, bytes, type(None), dtypes.dtype, device, slice, range, Enum, Size, type(...))
_LISTS = (list, tuple, deque)
_MANY = 4096  # longer containers are data: they count as one thing
_MISSING = object()


class Place:
    """An entry: where it is, how the program's text reads it, and what was there."""

    __slots__ = ("kind", "container", "key", "value", "owner", "holder")

    def __init__(self, kind: str, container: Any, key: Any, value: Any, owner: str, holder: int) -> None:
        self.kind, self.container, self.key, self.value, self.owner = kind, container, key, value, owner
        self.holder = holder  # the identity of what has this entry

    def now(self) -> Any:
        """What is there now."""
        if self.kind == "cell":
            try:
                return self.container.cell_contents
            except ValueError:
                return _MISSING
        if self.kind in ("length", "attributes"):
            return len(self.container)
        if self.kind == "item":
            return self.container[self.key] if self.key < len(self.container) else _MISSING
        return self.container.get(self.key, _MISSING)

    def holds(self) -> bool:
        """Whether it is as it was."""
        return same(self.now(), self.value)

    def __str__(self) -> str:
        return f"{self.owner}.{self.key}" if self.kind == "attribute" else f"{self.owner}[{self.key!r}]"


def same(one: Any, other: Any) -> bool:
    """Whether two values mean the same to a program."""
    return one is other or (type(one) is type(other) and isinstance(one, ATOMS) and one == other)


class Surroundings:
    """Everything reachable from a function and its arguments, by one walk."""

    def __init__(self, function: Any, args: Any, kwargs: Any) -> None:
        self.places: list[Place] = []
        self.tensors: dict[int, Tensor] = {}
        self.sums: dict[int, int] = {}  # of the tensors' memory
        self.too_many = False
        self._seen: dict[int, Any] = {}
        self._holder = 0  # the call itself
        self._links: dict[int, list[int]] = {}  # what is part of what, whatever code reads
        self._waiting: deque[tuple[Any, str]] = deque()
        self._go(getattr(function, "__name__", "function"), function)
        for name, argument in [*enumerate(args), *kwargs.items()]:
            self._go(f"argument {name}", argument)
        while self._waiting:
            thing, owner = self._waiting.popleft()
            self._holder = id(thing)
            self._visit(thing, owner)

    def _go(self, owner: str, *things: Any) -> None:
        for thing in things:
            self._links.setdefault(self._holder, []).append(id(thing))
            self._waiting.append((thing, owner))

    def relevant(self, names: set[str]) -> list[Place]:
        """The places that code reading ``names`` may depend on: those it can reach by them."""
        by_holder: dict[int, list[Place]] = {}
        for place in self.places:
            by_holder.setdefault(place.holder, []).append(place)
        chosen: list[Place] = []
        reached = {0}
        waiting = [0]
        while waiting:
            holder = waiting.pop()
            onward = self._links.get(holder, [])[:]
            for place in by_holder.get(holder, []):
                if place.kind != "attributes" and (place.kind != "attribute" or place.key in names):
                    chosen.append(place)
                    onward.append(id(place.value))
            for identity in onward:
                if identity not in reached:
                    reached.add(identity)
                    waiting.append(identity)
        return chosen

    def written(self) -> list[Tensor]:
        """The tensors whose memory is not as it was."""
        return [tensor for identity, tensor in self.tensors.items() if _sum(tensor) != self.sums[identity]]

    def changed(self) -> Place | None:
        """The first place that is not as it was."""
        return next((place for place in self.places if not place.holds()), None)

    def _note(self, kind: str, container: Any, key: Any, value: Any, owner: str) -> None:
        self.places.append(Place(kind, container, key, value, owner, self._holder))
        if not isinstance(value, ATOMS):
            self._waiting.append((value, f"{owner}.{key}" if kind == "attribute" else owner))

    def _visit(self, thing: Any, owner: str) -> None:
        if isinstance(thing, ATOMS) or id(thing) in self._seen:
            return
        self._seen[id(thing)] = thing
        if isinstance(thing, Tensor):
            self.tensors[id(thing)] = thing
            self.sums[id(thing)] = _sum(thing)
        elif isinstance(thing, FunctionType):
            self._function(thing)
        elif isinstance(thing, MethodType):
            self._go(owner, thing.__self__, thing.__func__)
        elif isinstance(thing, functools.partial):
            self._go(owner, thing.func, thing.args, thing.keywords)
        elif isinstance(thing, Optimizer):  # its step reads its settings itself
            self._length(thing.param_groups, owner)
            for group in thing.param_groups:
                self._length(group["params"], owner)
                self._go(owner, *group["params"])
        elif isinstance(thing, dict):
            self._items(thing, owner)
        elif isinstance(thing, _LISTS):
            self._list(thing, owner)
        elif isinstance(thing, (set, frozenset)):
            self._length(thing, owner)
        elif isinstance(thing, type):
            if not _ours(thing):
                for cls in thing.__mro__:
                    if not _ours(cls):
                        self._class(cls)
        elif isinstance(thing, (staticmethod, classmethod)):
            self._go(owner, thing.__func__)
        elif isinstance(thing, property):
            self._go(owner, thing.fget)
        elif not isinstance(thing, (ModuleType, BuiltinFunctionType, CodeType, CellType)):
            self._object(thing, owner)

    def _object(self, thing: Any, owner: str) -> None:
        if _ours(type(thing)) and not isinstance(thing, Module):
            return
        self._go(type(thing).__name__, type(thing))
        own = getattr(thing, "__dict__", None)
        if type(own) is dict:
            for key, value in own.items():
                self._note("attribute", own, key, value, owner)
            self.places.append(Place("attributes", own, "__dict__", len(own), owner, self._holder))

    def _class(self, cls: type) -> None:
        for key, value in vars(cls).items():
            if isinstance(value, (FunctionType, staticmethod, classmethod, property)):
                self._go(cls.__name__, value)
            elif not key.startswith("__"):
                self._note("attribute", vars(cls), key, value, cls.__name__)

    def _function(self, function: FunctionType) -> None:
        if _ours(function):
            return
        for name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=True):
            try:
                self._note("cell", cell, name, cell.cell_contents, function.__name__)
            except ValueError:
                continue
        wrapped = getattr(function, "__wrapped__", None)
        self._go(function.__name__, function.__defaults__, function.__kwdefaults__, wrapped)
        for name in names_in([function.__code__]):
            if name in function.__globals__:
                self._note("attribute", function.__globals__, name, function.__globals__[name], "globals")

    def _items(self, thing: dict[Any, Any], owner: str) -> None:
        self._length(thing, owner)
        if len(thing) > _MANY:
            self.too_many = True
            return
        for key, value in thing.items():
            if isinstance(key, ATOMS):
                self._note("key", thing, key, value, owner)

    def _list(self, thing: Any, owner: str) -> None:
        if type(thing) is not tuple:
            self._length(thing, owner)
        if len(thing) > _MANY:
            self.too_many = True
            return
        for place, value in enumerate(thing):
            if type(thing) is tuple:
                self._go(owner, value)
            else:
                self._note("item", thing, place, value, owner)

    def _length(self, thing: Any, owner: str) -> None:
        self.places.append(Place("length", thing, "len", len(thing), owner, self._holder))


def _sum(tensor: Tensor) -> int:
    """A checksum of a tensor's memory."""
    data = tensor._d
    return zlib.crc32(np.ascontiguousarray(data).view(np.uint8)) if isinstance(data, (np.ndarray, np.generic)) else 0


def _ours(thing: Any) -> bool:
    """Whether a class or function is of the package, or of Python itself."""
    return (getattr(thing, "__module__", None) or "").partition(".")[0] in (
        "glassgrad", "builtins", "numpy", "collections", "typing", "abc", "functools", "contextlib", "enum", "dataclasses",
    )  # fmt: skip


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
