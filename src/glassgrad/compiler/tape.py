"""The tape: the calls that earlier runs of a function made, as a tree, and what each of them gives."""

from __future__ import annotations

from typing import Any

from ..core.record import Record
from ..core.tensor import LEAF, Tensor, View
from ..ground import dtypes
from ..ground.device import device
from ..ground.size import Size
from ..tensor.writable import is_conjugate
from .lazy import Meta
from .program import leaves, mapped

#: Python values that calls are compared by, with their types.
ATOMS = frozenset([int, bool, str, bytes, type(None), dtypes.dtype, device, type(...), Size, type])
ENTRIES = 100_000  # so many calls a tape may hold


class Unknown(Exception):  # noqa: N818  it is no error of the user's
    """Why a call is not deferred."""


class Entry:
    """A call of the tape.

    acts     whether it changes a tensor from outside
    ends     whether it is run at once, with all that is pending
    results  what it gives, with a `Number` for each tensor
    first    the number of the first new tensor
    metas    what is known of the new tensors
    uses     the tensors of the tape that are its operands, once for each time
    draws    whether it takes random numbers
    changes  what is known anew of others, which it writes to
    graded   the leaves that a backward pass gives their first gradients to
    written  the tensors from outside that it writes to; None where it does more to them, as an optimizer's step
    """

    __slots__ = (
        "acts", "after", "changes", "draws", "ends", "first", "function", "graded", "metas", "results", "uses",
        "written",
    )  # fmt: skip

    def __init__(self, acts: bool, results: Any, first: int, metas: list[Meta], uses: list[int]) -> None:
        self.acts, self.results, self.first, self.metas, self.uses = acts, results, first, metas, uses
        self.changes: list[tuple[int, Meta]] = []
        self.graded: list[int] = []
        self.written: list[int] | None = []
        self.draws = self.ends = False
        self.function: Any = None  # the operation
        self.after = Node()

    def real(self, result: Any, things: Any) -> list[tuple[int, Any]]:
        """The new tensors of a call that was made, with their numbers; of a backward pass, they are gradients."""
        if self.graded:
            new = [things[number]._grad for number in self.graded]
        else:
            known = [id(things[piece.number]) for piece in leaves(self.results, Number) if piece.number < self.first]
            new = [tensor for tensor in leaves(result, Tensor) if id(tensor) not in known]
        return list(enumerate(new, self.first))


class Node:
    """A place of the tape: the calls that may follow, by their keys, and the programs of what led here."""

    __slots__ = ("after", "programs", "told", "uses", "_resume")

    def __init__(self) -> None:
        self.after: dict[Any, Entry] = {}
        self.told: dict[Any, Any] = {}  # calls that only tell of shapes and the like, and what they tell
        self.programs: dict[tuple[int, ...], Any] = {}
        self.uses: Any = None  # of the tensors made until here: how often they are operands
        self._resume: Node | None = None

    @property
    def resume(self) -> Node:
        """Where the tape goes on after what was pending here was run."""
        if self._resume is None:
            self._resume = Node()
        return self._resume


class Number:
    """A tensor of the tape among results and arguments."""

    __slots__ = ("number",)

    def __init__(self, number: int) -> None:
        self.number = number


def filled(tree: Any, things: Any) -> Any:
    """Results or arguments with tensors in the place of their numbers."""
    if type(tree) is Number:
        return things[tree.number]
    return mapped(tree, lambda piece: things[piece.number] if type(piece) is Number else piece)


def signature(tensor: Any) -> tuple[Any, ...]:
    """What operations see of a tensor from outside, beside its numbers; Unknown where that is not everyday."""
    array, edge = tensor._array, tensor._edge
    is_everyday = array.dtype.metadata is None and type(array).__module__ == "numpy" and not tensor._inference
    if not is_everyday or array.dtype.kind == "c" and is_conjugate(tensor):
        raise Unknown("it is given a tensor that has no everyday data")
    kind: Any = None
    if edge is LEAF:
        kind = "leaf"
    elif type(edge) is View:
        kind = "view", edge.origin, edge.edge is not None, edge.edge is LEAF, tensor.requires_grad
    elif edge is not None:
        if not isinstance(edge, Record):
            raise Unknown("it is given a tensor of an uncommon place in the graph")
        kind = "record"
    if array.flags.c_contiguous and 1 not in array.shape and array.size:  # whose strides are those of its sizes
        return type(tensor), array.dtype, array.shape, kind, type(array)
    return type(tensor), array.dtype, array.shape, kind, type(array), array.strides


def note_atom(value: Any, key: list[Any]) -> None:
    """Add a Python value to a key; Unknown where it is not one of those that cannot change."""
    kind = type(value)
    key.append(kind)
    if kind is float:
        key.append(value if value == value and value else repr(value))  # which tells zeros apart
    elif kind in ATOMS:
        key.append(value)
    elif kind is complex:
        key.append(repr(value))
    else:
        raise Unknown(f"it is given a {kind.__name__}")
