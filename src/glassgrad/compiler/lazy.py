"""Lazy tensors, results of deferred arithmetic: all is known of them but their numbers, which come on demand.

Shape, dtype and place in the graph are there at once. The array is a :class:`Cell`, which knows what it is made of.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..core import saved
from ..core.call import compute
from ..core.record import Record
from ..core.tensor import Tensor, wrap
from ..ground import dtypes
from ..ground.size import Size, unchecked
from ..kernels.native.formulas import Formula


class Cell:
    """An array that is not computed yet.

    row       what computes it, and ``formula``, as an expression
    operands  cells of its shape, arrays of its shape without gaps, and single numbers of its dtype
    owner     who has it computed, with what else is pending
    tensor    a weak reference to the lazy tensor that shows it
    record    a weak reference to the record that saved it, where one did
    error     why it could not be computed while its operands were what they are
    is_busy   whether its kernel is at work, in which NumPy may call back
    """

    __slots__ = (
        "row", "formula", "operands", "settings", "shape", "kind", "owner", "array", "tensor", "record", "error",
        "is_busy",
    )  # fmt: skip

    def __init__(
        self, row: Any, formula: Formula, operands: list[Any], settings: Any, shape: Any, kind: Any, owner: Any
    ) -> None:
        self.row, self.formula, self.operands, self.settings = row, formula, operands, settings
        self.shape, self.kind, self.owner = shape, kind, owner
        self.array: Any = None
        self.tensor: Any = None
        self.record: Any = None
        self.error: Exception | None = None
        self.is_busy = False

    def is_wanted(self) -> bool:
        """Whether anybody but other cells may ask for the numbers."""
        return self.tensor() is not None or self.record is not None and self.record() is not None

    def compute(self) -> Any:
        """The array, by the row's kernel, as in a call that is made at once; operands must have theirs."""
        if self.array is None:
            if self.error is not None:
                raise self.error
            arrays = [piece.array if type(piece) is Cell else piece for piece in self.operands]
            try:
                self.is_busy = True
                self.given(compute(self.row, arrays, self.settings))
            finally:
                self.is_busy = False
        return self.array

    def given(self, array: Any) -> None:
        """Take the numbers, once: a signal's handler may have computed them meanwhile, and written to operands."""
        if self.array is None:
            self.array = array

    def settle(self) -> None:
        """Give the numbers to the tensor, which is a plain one from now on, and to the record."""
        tensor, record = self.tensor(), None if self.record is None else self.record()
        if record is not None and record.saved is not None:
            record.saved = tuple([self.array if type(v) is Deferred and v.cell is self else v for v in record.saved])
        if type(tensor) is Lazy:
            _set_array(tensor, self.array)
            _set_class(tensor, Tensor)
            tensor.__dict__.pop("_cell", None)


def computed(cells: list[Cell]) -> None:
    """Compute cells and what they hang on, one row after another."""
    for cell in needed(cells):
        cell.compute()


def needed(cells: list[Cell]) -> list[Cell]:
    """The cells without an array among these and what they are computed from, each after its operands."""
    order: dict[int, Cell] = {}
    waiting = [(cell, False) for cell in reversed(cells)]
    while waiting:
        cell, is_ready = waiting.pop()
        if id(cell) in order or cell.array is not None:
            continue
        if is_ready:
            order[id(cell)] = cell
        else:
            waiting.append((cell, True))
            waiting += [(piece, False) for piece in reversed(cell.operands) if type(piece) is Cell]
    return list(order.values())


class _Named(type(Tensor)):  # type: ignore[misc]
    """The class of :class:`Lazy`, which is equal to Tensor."""

    def __eq__(cls, other: object) -> bool:
        return other is cls or other is Tensor

    def __hash__(cls) -> int:
        return hash(Tensor)


class Lazy(Tensor, metaclass=_Named):
    """A tensor whose array is a cell; it becomes a Tensor when somebody reads the array, or sets another one."""

    __slots__ = ()

    @property  # type: ignore[misc]
    def __class__(self) -> type:  # type: ignore[override]
        return Tensor

    @__class__.setter
    def __class__(self, value: type) -> None:
        demand(self)
        self.__class__ = value  # by now it is a Tensor

    def __getattr__(self, name: str) -> Any:
        if name == "_array":
            demand(self)
            return self._array
        raise AttributeError(f"'Tensor' object has no attribute '{name}'")

    def __setattr__(self, name: str, value: Any) -> None:
        if name == "_array":
            demand(self)
        object.__setattr__(self, name, value)

    @property
    def shape(self) -> Size:
        """The sizes of all dimensions."""
        cell = self.__dict__.get("_cell")
        return unchecked(self._array.shape if cell is None else cell.shape)

    @property
    def dtype(self) -> dtypes.dtype:
        """The type of the elements."""
        cell = self.__dict__.get("_cell")
        return dtypes.of(self._array.dtype if cell is None else cell.kind)

    @property
    def ndim(self) -> int:
        """The number of dimensions."""
        return len(self.shape)

    def __reduce_ex__(self, protocol: Any) -> Any:
        demand(self)
        return self.__reduce_ex__(protocol)


Lazy.__name__ = Lazy.__qualname__ = Tensor.__name__
Lazy.__module__ = Tensor.__module__
_set_class = vars(object)["__class__"].__set__
_set_array = vars(Tensor)["_array"].__set__


def demand(tensor: Any) -> None:
    """Have a lazy tensor computed, with all that is pending beside it."""
    cell = tensor.__dict__.get("_cell")
    if cell is None:  # another thread was quicker
        return
    cell.owner.flush("its value is asked for")
    computed([cell])
    cell.settle()


class Deferred(saved.Packed):
    """The result of a deferred operation, as its own record saves it until the numbers are there."""

    __slots__ = ("cell", "slot")
    edge = None
    is_result = True

    def __init__(self, cell: Cell, slot: int) -> None:
        self.cell, self.slot = cell, slot

    def open(self, edge: Any) -> Tensor:
        """The result, with ``edge`` as its history."""
        if isinstance(edge, Record) and edge.counter is not None and edge.counter.version:
            saved.stale(edge, self.slot)
        computed([self.cell])
        out = wrap(self.cell.array)
        out._edge = edge
        out._counter = edge.counter if isinstance(edge, Record) else None
        return out


def number(value: Any, kind: np.dtype[Any]) -> Any:
    """A plain number as one of a dtype; None where it is none that the dtype holds to the last digit or rounds."""
    if type(value) is float or type(value) is int and abs(value) < 1 << 53:
        with np.errstate(over="ignore"):
            return kind.type(value)
    return None
