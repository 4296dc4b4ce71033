"""In-place writes: what is refused, then the write, the version, and the new history."""

from __future__ import annotations

import weakref
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np

from ..ground import dtypes, listening, modes
from . import call, history
from .record import Record, VersionCounter
from .row import Row
from .tensor import Tensor, View, carries_gradients, edge_of, move_retained, share, wrap

ndarray = np.ndarray
#: A quicker write for the everyday call, if there is one: ``quick_write(row, target, others, settings)`` tells whether
#: it served.
quick_write: Callable[..., bool] | None = None
#: ``strangers(row, target, others, settings)`` gives what is written where others have a say, or NOT_TAKEN; it is in
#: ``ops/override.py``, as the door of that name in ``call.py``.
strangers: Callable[..., Any] = NotImplemented
refusals: Any = NotImplemented  #: who refuses a write, in PyTorch's words and order: the file ``tensor/writable.py``


def in_place(row: Row, target: Tensor, others: Sequence[Any], settings: Sequence[Any], asked: bool = False) -> Tensor:
    """Compute a row and write its result into ``target``; gives ``target``.

    Nothing is changed where it is refused, or fails.  Listeners are asked first, unless they were ``asked``.
    """
    if modes.watch and listening.listeners and not asked:
        write = partial(in_place, asked=True)
        return listening.heard(in_place, write, (row, target, others, settings), {})  # type: ignore[no-any-return]
    if quick_write is not None and not modes.unusual and quick_write(row, target, others, settings):
        return target
    if not call.ORDINARY.issuperset(map(type, (target, *others))):
        answer = strangers(row, target, others, settings)
        if answer is not call.NOT_TAKEN:
            return answer  # type: ignore[no-any-return]
    if not isinstance(target, Tensor):
        raise TypeError(f"{row.name}_(): argument 'self' (position 1) must be Tensor, not {type(target).__name__}")
    flat = (target, *(operand.item() if isinstance(operand, np.generic) else operand for operand in others))
    if not call.ORDINARY.issuperset(map(type, flat)):
        from .promotion import arrays_of  # few operands come here

        arrays_of(row, flat, True)  # what is no operand is told before what may not be written
    if type(target._edge) is View and not row.constant and modes.grad_enabled():
        refusals.check_origin(target._edge)
    edges = history.edges_of(row, flat)
    if edges and not row.truth and not carries_gradients(target._array.dtype):
        edges = ()  # whole numbers pass no gradient on: PyTorch records it, and fails on the way back
    refusals.check_target(row, target, others, bool(edges))
    agreed = call.everyday_arrays(row.plan, flat)
    if agreed is None:
        agreed = call.agree(row, flat, True)
        refusals.check_result(row, *agreed[:2], target)
    arrays, common, _ = agreed
    try:
        result = call.compute(row, arrays, settings)
    except Exception as error:
        refusals.check_failed(row, target, others, arrays, error)
        numbers = call.refusals.read_numbers(row, arrays, settings, error)
        if numbers is None:
            raise
        return in_place(row, target, others, numbers, asked)
    refusals.check_fits(target, result.shape)
    refusals.check_parts(row, target, result)
    refusals.check_disjoint(row, target, others)
    record = None
    if edges:
        before = (_old_value(row, edges, target), *flat[1:])
        record = history.make_record(row, edges, before, arrays, settings, common)
    store(target, result)
    if record is not None:
        finish(target, record, lambda: history.note_results(row, record, [target]))
    return target


def _old_value(row: Row, edges: Sequence[Any], target: Tensor) -> Tensor:
    """A copy of what will be written over, if a rule will read it; else the target itself."""
    readers = [edge for saved in row.plan.saved_inputs if saved.position == 0 for edge in saved.readers]
    if not any([edges[reader] is not None for reader in readers]):
        return target
    edge = edge_of(target)
    return _copied(target, None if isinstance(edge, Tensor) else edge)


def _copied(tensor: Tensor, edge: Any) -> Tensor:
    """A copy with a history that is another tensor's, whose writes do not concern it."""
    copy = wrap(np.array(tensor._array))
    copy._edge, copy._counter = edge, VersionCounter()
    return copy


def separate(target: Tensor, value: Tensor) -> Tensor:
    """A value of the same history in memory of its own, where it lies on what is written and no rule will read it."""
    if target._lifted and value._lifted:  # where they lie is for their levels to ask
        return value.clone()  # type: ignore[attr-defined]
    if type(value) not in call.ORDINARY or target._lifted or not np.may_share_memory(target._array, value._array):
        return value
    edge = edge_of(value) if modes.grad_enabled() else None  # a view's may be refused to be read
    return value.clone() if isinstance(edge, Tensor) else _copied(value, edge)  # type: ignore[attr-defined]


def finish(target: Tensor, record: Record, note: Callable[[], None]) -> None:
    """Give the memory just written its new history."""
    share(target).writer = weakref.ref(record)
    if modes.local.anomaly:
        modes.local.anomaly.mark(record)
    if type(target._edge) is View:
        call.views.rebase(target, record)
        note()
    else:
        old = edge_of(target)
        target._edge = record
        note()
        move_retained(target, old)


def store(target: Tensor, result: Any) -> None:
    """Write an array into a tensor's memory and count the version up."""
    version = share(target)
    if target._array.dtype.metadata is not None:  # on meta there is nothing to write
        version.version += 1
        return
    if type(result) is ndarray and np.may_share_memory(result, target._array):
        result = result.copy()
    if target._array.dtype.char == "e" and type(result) is ndarray:
        result = dtypes.cast(result, target._array.dtype)
    np.copyto(target._array, result, casting="unsafe")
    version.version += 1
