"""What follows from a row's columns, worked out once: a Plan is data, and what a call of the row means.

``call.py`` interprets a Plan; what is printed for speed (code, by ``fast/``) is printed from the same Plan.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence, Sized
from types import FunctionType
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ..ground.synonyms import synonyms_in
from .record import Kind, Record

if TYPE_CHECKING:
    from .row import Row

F32, F64, I64, B1 = np.dtype("f4"), np.dtype("f8"), np.dtype("i8"), np.dtype("?")


class SavedInput(NamedTuple):
    """An input that rules read: its slot in ``record.saved``, which input it is, and for which edges, by number."""

    slot: int
    position: int
    readers: tuple[int, ...]


class Read(NamedTuple):
    """A parameter of a rule: what it is, and where that stands.

    source    "grad", "grads", "needs"; "tensor" or "result" (at ``slot`` of ``record.saved``); "constant" (at ``slot``
              of ``record.constants``)
    promoted  whether a saved input is read in the dtype that the inputs agreed on
    """

    source: str
    slot: int
    promoted: bool


class Rule(NamedTuple):
    """One rule: the numbers of the edges its gradients go to, what it reads, and itself on arrays and on Tensors."""

    edges: tuple[int, ...]
    reads: tuple[Read, ...]
    on_arrays: Callable[..., Any]
    lifted: Callable[..., Any]


#: What a rule may ask of an input's array, by what follows the input's name.
FACTS = {"sizes": "shape", "strides": "strides"}


def fact_of(inputs: Sequence[str], name: str) -> tuple[str, str] | None:
    """Which input's array a rule's parameter is "shape" or "strides" of; None where it is neither."""
    of, _, what = name.rpartition("_")
    return (of, FACTS[what]) if what in FACTS and of in inputs else None


class Plan:
    """What a call of one row does, as data.

    listed    whether the one input is a list of tensors: then ``ruled_inputs`` only tells whether it has a rule
    everyday_dtypes  those that need no promotion, where all inputs have the same
    auxiliary  positions of inputs that keep their dtype and carry no gradient
    optional  positions of inputs that may be None
    parameters, defaults  names of inputs and settings as users write them; the defaults of those that have one
    usual     the settings at their defaults; None where one has no default
    ruled_inputs  positions of the inputs that have a rule: each is an edge of the record
    saved_inputs   the inputs that are saved
    saved_results  the outputs that are saved: (slot, which output)
    constants      what ``record.constants`` holds: ("shape" or "strides" of an input's array, or None; of which input,
                   or which setting)
    saves     all that is saved, by name: name -> ("tensor" | "result" | "constant", slot)
    rules     the rules
    broadcasts  whether gradients may have other sizes than their inputs, and are made to fit
    carry     which outputs carry gradients
    retypes   whether a setting may give the result another dtype
    synonyms  NumPy's names of settings, and PyTorch's
    kind      what its records share
    """

    __slots__ = (
        "listed", "everyday_dtypes", "auxiliary", "optional", "parameters", "defaults", "usual", "ruled_inputs",
        "saved_inputs", "saved_results", "constants", "saves", "rules", "broadcasts", "carry", "retypes", "synonyms",
        "kind",
    )  # fmt: skip

    def __init__(self, row: Row) -> None:
        positions = {name: position for position, name in enumerate(row.inputs)}
        ruled = {name for names, _, _ in row.rules for name in names}
        followed = [name for name in row.inputs if name in ruled]
        self.listed = row.listed
        self.auxiliary = frozenset(positions[name] for name in row.auxiliary)
        self.optional = frozenset(positions[name] for name in row.optional)
        self.parameters = *("input" if name == "self" else name for name in row.inputs), *row.settings
        self.defaults = {**dict.fromkeys(row.optional), **row.defaults}
        complete = len(row.defaults) == len(row.settings)
        self.usual = tuple(row.defaults[name] for name in row.settings) if complete else None
        self.everyday_dtypes: tuple[Any, ...] = (F32, F64) if row.typed == "float" or row.outputs else (F32, F64, I64)
        if len(self.everyday_dtypes) == 3 and row.refuses is None and not row.listed:
            self.everyday_dtypes += (B1,)  # truth values, which have no history, need no other care
        if row.serves is not None:  # others are refused by the kernel, which printed calls pass by
            self.everyday_dtypes = tuple(dtype for dtype in self.everyday_dtypes if dtype.char in row.serves[0])
        self.ruled_inputs = () if row.constant else tuple(positions[name] for name in followed)
        self.carry = row.differentiable
        self.broadcasts = row.typed is not None and (row.listed or len(row.inputs) > 1)
        self.retypes = "dtype" in row.settings
        self.synonyms = synonyms_in(row.settings) if row.public else {}
        self.saves = self._saves(row)
        self.saved_inputs = tuple(
            SavedInput(slot, positions[name], self._readers(row, name, followed))
            for name, (how, slot) in self.saves.items()
            if how == "tensor"
        )
        self.saved_results = tuple(
            (slot, row.outputs.index(name) if name in row.outputs else 0)
            for name, (how, slot) in self.saves.items()
            if how == "result"
        )
        self.constants = tuple(
            (None, row.settings.index(name)) if (fact := fact_of(row.inputs, name)) is None
            else (fact[1], positions[fact[0]])
            for name, (how, _) in self.saves.items()
            if how == "constant"
        )  # fmt: skip
        self.rules = tuple(
            Rule(
                tuple(followed.index(name) for name in names),
                tuple(self._read(row, name) for name in wanted),
                on_arrays(rule),
                rule,
            )
            for names, rule, wanted in row.rules
        )
        self.kind = self._kind(row)

    def edge_positions(self, flat: Sized) -> Sequence[int]:
        """Which inputs of a call are edges: those that have a rule; of a list of tensors, all."""
        return range(len(flat)) if self.listed else self.ruled_inputs

    @staticmethod
    def _readers(row: Row, name: str, followed: list[str]) -> tuple[int, ...]:
        """The edges whose rules read an input."""
        return tuple(followed.index(target) for names, _, wanted in row.rules if name in wanted for target in names)

    @staticmethod
    def _saves(row: Row) -> dict[str, tuple[str, int]]:
        """What a record keeps of what the rules name: inputs first, then results; sizes and settings apart."""
        wanted = dict.fromkeys(name for _, _, names in row.rules for name in names)
        tensors = [name for name in wanted if name in row.inputs]
        results = [name for name in wanted if name == "result" or name in row.outputs]
        settings = [name for name in wanted if fact_of(row.inputs, name) or name in row.settings]
        saves = {name: ("tensor", slot) for slot, name in enumerate(tensors)}
        saves.update({name: ("result", slot) for slot, name in enumerate(results, len(tensors))})
        saves.update({name: ("constant", slot) for slot, name in enumerate(settings)})
        return saves

    def _read(self, row: Row, name: str) -> Read:
        if name in ("grad", "grads", "needs"):
            return Read(name, 0, False)
        source, slot = self.saves[name]
        return Read(source, slot, source == "tensor" and name not in row.auxiliary)

    def _kind(self, row: Row) -> Kind:
        shown: dict[str, tuple[str, Any]] = {}
        for name, where in self.saves.items():
            if name not in row.hidden and not name.endswith("_strides"):
                shown[name[:-6] + "_sym_sizes" if name.endswith("_sizes") else name] = where
        for name, (source, function) in row.shows.items():
            shown[name] = ("derived", (self.saves[source], function))
        outputs = 1
        if len(row.differentiable) > 1 or (row.view and any("grads" in wanted for _, _, wanted in row.rules)):
            outputs = max(len(row.outputs), 2)
        # Indices are tensors, though settings.
        frees = bool(self.saved_inputs or self.saved_results or "indices" in self.saves)
        kind = Kind(row.node_name, gradients, gradients_lifted, shown=shown, outputs=outputs, frees=frees)
        kind.row, kind.unfold, kind.part = row, row.unfold, gradients
        readers = {reader for saved in self.saved_inputs for reader in saved.readers}
        is_whole = row.listed or self.saved_results or "indices" in self.saves
        kind.spares = frees and not is_whole and len(readers) < len(self.ruled_inputs)
        return kind


#: ``gradients_of(record, grad, retain_graph, lifted, wanted)``: from ``gradients.py``, which comes with the first walk.
gradients_of: Callable[..., Sequence[Any]] = NotImplemented


def gradients(
    record: Record, grad: Any, retain_graph: bool, lifted: bool = False, wanted: Sequence[bool] | None = None
) -> Sequence[Any]:
    """The way back of every row: the gradients of a record's inputs."""
    return gradients_of(record, grad, retain_graph, lifted, wanted)


def gradients_lifted(record: Record, grad: Any, retain_graph: bool) -> Sequence[Any]:
    """The same as Tensors, by recorded operations."""
    return gradients_of(record, grad, retain_graph, True, None)


_bound: dict[int, dict[str, Any]] = {}  # for each file of rules its names, with rows as their kernels


def on_arrays(rule: Callable[..., Any]) -> Callable[..., Any]:
    """The same rule, bound to names where every row is its kernel: on arrays a rule is plain NumPy."""
    names = _bound.get(id(rule.__globals__))
    if names is None:
        names = {}
        for name, value in rule.__globals__.items():
            if isinstance(value, FunctionType):
                if hasattr(value, "row"):
                    value = value.row.kernel
                elif value.__globals__ is rule.__globals__:  # what rules call, too
                    value = _bound_to(names, value)
                elif "op" in value.__globals__:  # of another file of rows
                    value = on_arrays(value)
            names[name] = value
        _bound[id(rule.__globals__)] = names  # all of them, wherever Ctrl-C comes
    return _bound_to(names, rule)


def _bound_to(names: dict[str, Any], function: Any) -> Callable[..., Any]:
    bound = FunctionType(function.__code__, names, function.__name__, function.__defaults__, function.__closure__)
    bound.__kwdefaults__ = function.__kwdefaults__
    return bound
