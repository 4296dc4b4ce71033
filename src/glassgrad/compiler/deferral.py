"""Deferred arithmetic: what a call of a compiled function has not computed yet, and when it does.

Elementwise operations on large arrays are deferred, those that have a formula; their numbers are computed together, in
one loop over memory. Everything else that is heard is made where it stands, after what is pending was computed: so
nothing that is pending can miss a write. Nothing is deferred within a call of another operation, whose own writes
nobody hears.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable
from itertools import takewhile
from threading import RLock
from typing import Any

import numpy as np

from ..core import history
from ..core.call import arguments
from ..core.row import Row
from ..core.tensor import Tensor, new
from ..ground import listening, modes
from ..ground.exposed import is_exposed
from ..kernels.native.formulas import ALONE, FEWEST, formula_of
from ..tensor.parameter import Parameter
from .lazy import Cell, Deferred, Lazy, computed, needed, number
from .operations import TELLING, VALUES, parts

MOST = 32  # operations: longer loops take long to compile
#: Functions in Python that only choose the row, which is heard then.
_FRONTS = frozenset(
    "reflected_sub reflected_div power_operator pow square abs_operator relu sigmoid tanh sub div mul add rsub".split()
)
#: What a function that is heard is to a run: a row that may be deferred, or "through": it only calls what is heard, or
#: tells of shapes; "values": it hands numbers to Python; "other".
_kinds: dict[Any, Any] = {}


def kind_of(function: Any) -> Any:
    """What a function is to a run."""
    known = _kinds.get(function)
    if known is None:
        kind, row = parts().get(function, ("other", None))
        known = "other"
        if kind == "row":
            known = row
        elif function.__name__ in _FRONTS or function.__name__ in TELLING:
            known = "through"
        elif function.__name__ in VALUES:
            known = "values"
        if parts():  # which a first import may not have filled yet
            _kinds[function] = known
    return known


class Run:
    """One call of a compiled function: the cells that are pending, in the order in which they came."""

    def __init__(self, state: Any) -> None:
        self.state = state
        self.pending: list[Cell] = []
        self.lock = RLock()
        self.depth = 0  # of calls that are made where they stand, one in another
        self.ears: Any = None  # who listened when it began
        self.verifies = bool(state.verify) and state.calls % state.verify == 0

    # -- hearing --------------------------------------------------------------------------------------------------

    def hear(self, function: Any, proceed: Callable[..., Any], args: Any, kwargs: Any) -> Any:
        """Answer for a call of an operation: with a lazy tensor, or by making it."""
        if self.depth:
            return proceed(*args, **kwargs)
        kind = kind_of(function)
        if kind == "through":
            return proceed(*args, **kwargs)
        if type(kind) is Row:
            lazy = self._deferred(kind, args, kwargs)
            if lazy is not None:
                return lazy
        elif kind == "values" and self.state.fullgraph:
            self.state.refuse_whole(f"{function.__name__}()")
        self.flush(f"{function.__name__}() is computed where it stands")
        self.depth += 1
        try:
            return proceed(*args, **kwargs)
        finally:
            self.depth -= 1

    def _deferred(self, row: Row, args: Any, kwargs: Any) -> Lazy | None:
        """A lazy tensor in place of a call, where it is arithmetic on large arrays; else None."""
        if modes.unusual or modes.transforming or modes.local.device is not None or row.name in ALONE:
            return None
        if listening.listeners is not self.ears:  # somebody else began to listen
            return None
        try:
            tensors, settings, out = arguments(row, args, kwargs)
        except TypeError:  # which the call itself will tell
            return None
        if out is not None or row.listed or any([isinstance(setting, Tensor) for setting in settings]):
            return None
        formula = formula_of(row, dict(zip(row.settings, settings, strict=True)))
        if formula is None:
            return None
        operands = self._operands(tensors)
        if operands is None:
            return None
        large = next(piece for piece in operands if piece.shape)
        kind = large.kind if type(large) is Cell else large.dtype
        cell = Cell(row, formula, operands, settings, large.shape, kind, self)
        lazy = new(Lazy)
        lazy.__dict__["_cell"] = cell
        lazy._edge = lazy._counter = None
        cell.tensor = weakref.ref(lazy)
        self._record(cell, lazy, tensors)
        with self.lock:
            if len(self.pending) >= MOST:
                self.flush(None)
            self.pending.append(cell)
        self.state.deferred += 1
        return lazy  # type: ignore[no-any-return]

    def _operands(self, tensors: Any) -> list[Any] | None:
        """Cells, large arrays and numbers of one dtype and shape; None where the inputs of a call are anything else."""
        pieces: list[Any] = []
        shape: Any = None
        kind: Any = None
        for tensor in tensors:
            what = type(tensor)
            if what is Tensor or what is Parameter:
                piece = tensor._array
                is_array = type(piece) is np.ndarray
                if piece.dtype.str not in ("<f4", "<f8") or piece.dtype.metadata is not None:
                    return None
                if is_array and is_exposed(piece):
                    return None
                if piece.shape == ():
                    piece = piece[()]
                    is_array = False
                elif not piece.flags.c_contiguous:
                    return None
            elif what is Lazy:
                cell = tensor.__dict__.get("_cell")
                piece = cell if cell is not None and cell.owner is self else tensor._array
                is_array = True
            elif what is float or what is int:
                pieces.append(tensor)
                continue
            else:
                return None
            dtype = piece.kind if type(piece) is Cell else piece.dtype
            if kind is not None and dtype != kind or is_array and shape is not None and piece.shape != shape:
                return None
            kind = dtype
            shape = piece.shape if is_array else shape
            pieces.append(piece)
        if shape is None or np.prod(shape) < FEWEST:
            return None
        pieces = [number(piece, kind) if type(piece) in (float, int) else piece for piece in pieces]
        return None if any(piece is None for piece in pieces) else pieces

    @staticmethod
    def _record(cell: Cell, lazy: Any, tensors: Any) -> None:
        """Record an operation whose result is to come, as a call would that is made at once."""
        row, operands = cell.row, cell.operands
        edges = history.edges_of(row, tensors)
        if not edges:
            return
        record = history.make_record(row, edges, tensors, operands, cell.settings, cell.kind, keeps_dtypes=True)
        sizes = [operands[position].shape for position in row.plan.edge_positions(tensors)]
        if row.plan.broadcasts and any(size != cell.shape for size in sizes):
            record.fit = tuple(sizes)
        lazy._edge = record
        if row.plan.saved_results:
            slot, _ = row.plan.saved_results[0]
            record.saved += (Deferred(cell, slot), 0)
            cell.record = weakref.ref(record)

    # -- computing ------------------------------------------------------------------------------------------------

    def flush(self, why: str | None) -> None:
        """Compute what is pending; it stays so where that is interrupted, or memory is lacking."""
        if not self.pending:
            return
        with self.lock:  # a signal's handler may come in between, and flush and defer too
            pending = [*takewhile(lambda cell: cell.array is not None or not cell.is_busy, self.pending)]
            if why is not None:
                self.state.note(why, len(pending))
            wanted = [cell for cell in pending if cell.array is None and cell.is_wanted()]
            groups: dict[Any, list[Cell]] = {}
            for cell in wanted:
                groups.setdefault((cell.shape, cell.kind), []).append(cell)
            for group in groups.values():
                self._computed(group)
            for cell in pending:
                if cell.array is not None:
                    cell.settle()
                if cell in self.pending:
                    self.pending.remove(cell)

    def end(self) -> None:
        """Compute what is pending at the end of the function, after which nobody hears what is written to operands."""
        interrupt: BaseException | None = None
        for cell in self.pending:
            cell.is_busy = False  # no kernel is at work any more, though an interrupt may have left it said
        while self.pending:
            try:
                self.flush(None)
            except Exception as error:  # noqa: BLE001  there is no memory, say: who asks for the numbers is told
                for cell in self.pending:
                    cell.error = error
                self.pending.clear()
            except BaseException as error:  # noqa: BLE001  an interrupt, which has to wait
                interrupt = error
        if interrupt is not None:
            raise interrupt

    def _computed(self, wanted: list[Cell]) -> None:
        """Compute cells of one shape and dtype, and what they hang on: by a loop where that gains."""
        cells = needed(wanted)
        loop = self.state.loop_for(cells, wanted) if len(cells) > 1 else None
        if loop is None:
            computed(wanted)
            return
        arrays = loop.run(cells)
        if self.verifies:
            computed(wanted)
            self.state.compare(loop, wanted, arrays)
            return
        for cell, array in zip(wanted, arrays, strict=True):
            cell.given(array)
