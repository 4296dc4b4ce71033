"""Copies and pickles of tensors, with the graphs that made them: ``copy.deepcopy(loss)``, ``pickle.dumps(loss)``.

A graph is described as a list of parts that name each other by number, which no depth can overflow: a part is the class
of a record, a tensor or one of their kin, and its attributes.  Leaves stand in it as themselves, so they are copied and
pickled as they are everywhere, once, with whatever else holds them.  Arrays stand in it as windows of the memory that
they look at, so what shares memory shares it in the copy.
"""

from __future__ import annotations

import copy
import importlib
import math
import sys
import weakref
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from ...core import plan
from ...core.record import Fitting, Kind, Record, VersionCounter, freed, tick
from ...core.row import TABLE
from ...core.saved import Packed
from ...core.tensor import Tensor, View, share, wrap
from ...ground import dtypes
from ...ground.meta import blank
from ...ground.names import is_torch
from ...ground.window import owner_of
from ...ops.declare import composite
from ...tensor.hooks import Hooks
from ...tensor.lifted import Lifted
from ...tensor.packed import Bare
from .interchange import OWN, copy_leaf, place_in_memory, reduce_leaf, saving, warn_of_each, warn_of_hooks

#: The classes whose objects make up a graph, beside tensors.
PARTS = (Record, View, VersionCounter, Fitting, Hooks, Packed, Bare)
_ATOMS = frozenset({type(None), bool, int, float, complex, str, type})
#: What of ours in a tensor's dictionary a copy keeps.
_KEPT = frozenset({"_inference", "_conjugate"})


class _Number(int):
    """The number of a part, where another part holds it."""


class _Weak:
    """The same of a part that is held weakly; None where nobody else holds it."""

    def __init__(self, number: int | None) -> None:
        self.number = number


class _Window(NamedTuple):
    """An array: the memory that it looks at, and where; without memory, what is known of a meta tensor."""

    owner: Any
    offset: int
    sizes: tuple[int, ...]
    strides: tuple[int, ...]
    kind: Any


class _Dtype(NamedTuple):
    """A NumPy dtype by its name here, as not all pickle as themselves; ``is_meta`` where it is a meta tensor's."""

    kind: Any
    is_meta: bool


class _KindOf(NamedTuple):
    """What records of one operation share, by the name of its row, or of the variable of ``module`` that has it."""

    module: str
    name: str


class _Alone(NamedTuple):
    """A part that is copied and pickled as it is everywhere, and the number of its version counter."""

    tensor: Tensor
    counter: Any


class _Made(NamedTuple):
    """A part that is made anew: its class (of a custom Function's node, the Function), its slots and its dictionary."""

    cls: Any
    names: tuple[str, ...]
    values: tuple[Any, ...]
    state: dict[str, Any] | None


class _Copied(NamedTuple):
    """A part that an earlier tensor of the same ``deepcopy`` brought."""

    part: Any


# -- described --------------------------------------------------------------------------------------------------------


class _Description:
    """The parts of a tensor's graph, in the order in which they are met; ``memo`` is that of ``deepcopy``."""

    def __init__(self, root: Tensor, memo: dict[Any, Any] | None) -> None:
        self.memo = memo
        self.names: dict[type, tuple[str, ...]] = {}
        self.kinds: dict[Kind, _KindOf] = {}
        self.numbers: dict[int, int] = {}
        self.objects: list[Any] = []
        self.weak: list[tuple[_Weak, Any]] = []
        self.parts: list[Any] = []
        self.number_of(root)
        for part in self.objects:  # which grows
            self.parts.append(self.part_of(part))
        for reference, part in self.weak:
            reference.number = self.numbers.get(id(part))

    def number_of(self, part: Any) -> _Number:
        """The number of an object of the graph."""
        number = self.numbers.get(id(part))
        if number is None:
            number = self.numbers[id(part)] = len(self.objects)
            self.objects.append(part)
        return _Number(number)

    def part_of(self, part: Any) -> Any:
        """What one object of the graph is described by."""
        if isinstance(part, Tensor) and not isinstance(part._edge, (View, Record, Tensor)):
            is_plain = isinstance(part._array, (np.ndarray, np.generic))
            if part._edge is part._counter is None and is_plain and not part._array.flags.writeable:
                part = wrap(np.array(part._array))  # the tensor of a number, which all calls share: it is left alone
            return _Alone(part, self.value_of(part._counter))
        if self.memo is not None and id(part) in self.memo:
            return _Copied(self.memo[id(part)])
        names = self.names.get(type(part)) or self.names.setdefault(type(part), _names_of(type(part)))
        values = [getattr(part, name, None) for name in names]
        state = getattr(part, "__dict__", None)
        if isinstance(part, Tensor):
            if self.memo is None:
                warn_of_hooks(part)
            grad = part._grad
            state = {name: value for name, value in part.__dict__.items() if name not in OWN or name in _KEPT}
            if self.memo is not None and grad is not None:
                state["_grad"] = grad
        elif isinstance(part, Record):
            values[names.index("run")] = _way_back(part)
        elif isinstance(part, Hooks) and self.memo is None:
            warn_of_each(part.tensor_hooks, part.pre_hooks, part.post_hooks)
        return _Made(
            type(part),
            names,
            tuple(map(self.value_of, values)),
            {name: self.value_of(value) for name, value in state.items()} if state else None,
        )

    def value_of(self, value: Any) -> Any:
        """An attribute of a part, with numbers in the place of parts, and windows in the place of arrays."""
        kind = type(value)
        if kind in _ATOMS:
            return value
        if kind is tuple:
            return tuple([self.value_of(item) for item in value])
        if kind is list:
            return [self.value_of(item) for item in value]
        if kind is dict:
            return {key: self.value_of(item) for key, item in value.items()}
        if isinstance(value, PARTS) or (isinstance(value, Tensor) and not isinstance(value, Lifted)):
            return self.number_of(value)
        if kind is np.ndarray or (isinstance(value, np.generic) and value.dtype.kind == "V"):
            return _window_of(value)
        if kind is Kind:
            return self.kinds.get(value) or self.kinds.setdefault(value, _kind_of(value))
        if isinstance(value, np.dtype):
            return _Dtype(dtypes.of(value), value.metadata is not None)
        if kind is weakref.ref:
            part = value()
            reference = _Weak(self.number_of(part) if isinstance(part, Tensor) else None)  # it retains its gradient
            self.weak.append((reference, part))
            return reference
        return value


def _names_of(cls: type) -> tuple[str, ...]:
    """The slots of a part that are described: no hooks, nothing that a walk gathers."""
    if cls is Hooks:
        return "retain", "metadata"
    names = [name for base in cls.__mro__ for name in getattr(base, "__slots__", ())]
    left_out = {"_gathered", "kind"} if hasattr(cls, "own_kind") else {"_gathered"}
    return tuple(name for name in names if name[:2] != "__" and name not in left_out)


def _way_back(record: Record) -> Any:
    """The function that runs a record, without hooks, by what it is to the record's kind."""
    hooks = getattr(record, "_hooks", None)
    run = record.run if hooks is None or hooks.inner is None or record.run is freed else hooks.inner
    usual = record.kind.run
    if run is usual or getattr(run, "__code__", None) is getattr(usual, "__code__", usual):  # the same for large arrays
        return "kind"
    return "plan" if run is plan.gradients else run


def _kind_of(kind: Kind) -> _KindOf:
    if kind.row is not None:  # a row of sparse tensors is in no table
        in_table = TABLE.get(kind.row.name) is kind.row
        return _KindOf("" if in_table else kind.row.plain.__module__, kind.row.name)
    module = kind.run.__module__
    return _KindOf(module, next(name for name, value in vars(sys.modules[module]).items() if value is kind))


def _named_kind(name: _KindOf) -> Kind:
    if not name.module:
        return TABLE[name.name].plan.kind
    value = vars(importlib.import_module(name.module))[name.name]
    return value if isinstance(value, Kind) else value.row.plan.kind


def _window_of(array: Any) -> _Window:
    kind = dtypes.of(array.dtype)
    if array.dtype.metadata is not None:
        return _Window(None, 0, array.shape, (), kind)
    array = np.asarray(array)
    owner, offset = place_in_memory(array)
    is_there = owner is array or owner is owner_of(array)
    return _Window(owner, offset, array.shape, array.strides if is_there else owner.strides, kind)


# -- built ------------------------------------------------------------------------------------------------------------


class _Building:
    """The objects that stand for the parts of a graph; ``own`` copies what is no part of it."""

    def __init__(self, parts: list[Any], own: Callable[[Any], Any]) -> None:
        self.parts, self.own = parts, own
        self.objects: list[Any] = [None] * len(parts)
        for number, part in enumerate(parts):
            if type(part) is _Alone:
                leaf = self.objects[number] = own(part.tensor)
                if part.counter is not None:
                    self.objects[part.counter] = share(leaf)
        for number, part in enumerate(parts):
            if type(part) is _Copied:
                self.objects[number] = part.part
            elif type(part) is _Made and self.objects[number] is None:
                self.objects[number] = Hooks() if part.cls is Hooks else object.__new__(part.cls)

    def fill(self) -> None:
        """Give every object that was made its attributes, and records their age and their way back."""
        filled = [(part, new) for part, new in zip(self.parts, self.objects, strict=True) if type(part) is _Made]
        for part, new in filled:
            for name, value in zip(part.names, part.values, strict=True):
                setattr(new, name, value if value is None else self.value_of(value))
            if part.state is not None:
                new.__dict__.update({name: self.value_of(value) for name, value in part.state.items()})
        records: list[Any] = sorted(
            [new for _, new in filled if isinstance(new, Record)], key=lambda record: record.sequence
        )
        before, age = -1, 0
        for record in records:  # outputs are parts of a step younger than their record
            step = math.floor(record.sequence)
            if step != before:
                before, age = step, tick()
            record.sequence += age - step
            if hasattr(record, "own_kind"):  # of a custom Function
                record.kind = record.own_kind()
            record._gathered = None
            if record.run in ("kind", "plan"):
                record.run = record.kind.run if record.run == "kind" else plan.gradients
            hooks = getattr(record, "_hooks", None)
            if hooks is not None and hooks.retain is not None:
                hooks.install(record)

    def value_of(self, value: Any) -> Any:
        """An attribute as it was before it was described."""
        kind = type(value)
        if kind in _ATOMS:
            return value
        if kind is _Number:
            return self.objects[value]
        if kind is tuple:
            return tuple([self.value_of(item) for item in value])
        if kind is list:
            return [self.value_of(item) for item in value]
        if kind is dict:
            return {key: self.value_of(item) for key, item in value.items()}
        if kind is _Window:
            return self.array_of(value)
        if kind is _Dtype:
            return blank((), value.kind.numpy).dtype if value.is_meta else value.kind.numpy
        if kind is _KindOf:
            return _named_kind(value)
        if kind is _Weak:
            return None if value.number is None else weakref.ref(self.objects[value.number])
        return self.own(value)

    def array_of(self, window: _Window) -> Any:
        """The array on the copied memory."""
        if window.owner is None:
            return blank(window.sizes, window.kind.numpy)
        if 0 in window.sizes:
            return np.empty(window.sizes, window.kind.numpy)
        return np.ndarray(window.sizes, window.kind.numpy, self.own(window.owner), window.offset, window.strides)


def rebuild_graph(parts: list[Any]) -> Tensor:
    """The tensor of a pickle, with the graph that made it."""
    building = _Building(parts, lambda value: value)
    building.fill()
    return building.objects[0]  # type: ignore[no-any-return]


# -- what copies and pickles call -------------------------------------------------------------------------------------


def _has_graph(tensor: Tensor) -> bool:
    return not isinstance(tensor, Lifted) and not tensor.is_leaf


@composite(function=False, name="__deepcopy__")
def deepcopy(self: Tensor, memo: dict[int, Any]) -> Tensor:
    """A copy of a tensor with its memory, attributes and the graph that made it; what is shared is copied once.

    The copy of a graph ends at copies of its leaves: ``backward`` fills their ``.grad``. Hooks are left behind.
    """
    if not _has_graph(self):
        return copy_leaf(self, memo)
    if id(self) in memo:
        return memo[id(self)]  # type: ignore[no-any-return]
    description = _Description(self, memo)
    memo.setdefault(id(memo), []).append(description)  # type: ignore[arg-type]  # the memo goes by what must stay alive

    def own(value: Any) -> Any:
        twin = copy.deepcopy(value, memo)
        if isinstance(value, Tensor) and type(value._array) is np.ndarray and value._array.base is None:
            memo.setdefault(id(value._array), twin._array)  # type: ignore[arg-type]  # views of it look at its copy
        return twin

    building = _Building(description.parts, own)
    memo.update(zip(map(id, description.objects), building.objects, strict=True))
    building.fill()
    return building.objects[0]  # type: ignore[no-any-return]


@composite(function=False, name="__reduce_ex__")
def reduce_ex(self: Tensor, protocol: Any) -> tuple[Any, ...]:
    """What pickles keep: data, strides, ``requires_grad``, attributes, and the graph that made it.

    A file of ``torch.save`` holds no graph, nor does a pickle of a tensor whose graph was freed, or one that is made
    where ``torch`` means glassgrad: there pickles are PyTorch's.
    """
    if saving.reduce is not None:
        return saving.reduce(self)
    edge = self._edge
    if is_torch():
        # a floor above: who pickles under PyTorch's names has its own needs of it
        from ...serialization.writing import reduced

        return reduced(self)
    if not _has_graph(self) or getattr(edge, "run", None) is freed:
        return reduce_leaf(self)
    return rebuild_graph, (_Description(self, None).parts,)


@composite(function=False, name="__copy__")
def shallow(self: Tensor) -> Tensor:
    """What ``copy.copy`` gives: a tensor on the same memory, without history."""
    function, arguments = reduce_leaf(self)
    return function(*arguments)  # type: ignore[no-any-return]
