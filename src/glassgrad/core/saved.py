"""Values kept for backward: checked for in-place changes when they are read again."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NoReturn

from .record import Record, VersionCounter, output_of
from .tensor import Tensor, version_of, wrap

#: ``stale(record, slot)`` raises PyTorch's error for a saved tensor that was changed in place: tensor/overwritten.py.
stale: Callable[[Record, int], NoReturn] = NotImplemented
written: Callable[[Any], Any] = NotImplemented  # the history of a result written through a view: views.py


class Packed:
    """A saved value in another form, that of the user's ``saved_tensors_hooks`` perhaps (``tensor/packed.py``).

    ``edge`` is its history, where it is no result of the record that keeps it.
    """

    __slots__ = ("edge", "is_result")

    edge: Any
    is_result: bool

    def open(self, edge: Any) -> Tensor:
        """The tensor, with ``edge`` as its history."""
        raise NotImplementedError


def read(record: Record, source: str, slot: int) -> Tensor | None:
    """What was saved at ``slot``, as a Tensor with its history; raises if it was changed in place since."""
    value, version = record.saved[2 * slot], record.saved[2 * slot + 1]
    if value is None:
        return None
    if isinstance(value, Packed):
        return value.open(_result_edge(record, slot) if value.is_result else value.edge)
    if source == "tensor":
        if not isinstance(value, Tensor):
            return _again(record, slot, value)
        if version_of(value) != version:
            stale(record, slot)
        return value
    out = wrap(value)
    out._counter = counter_of(record, version)
    if out._counter is not None and out._counter.version != then(version):
        stale(record, slot)
    out._edge = _result_edge(record, slot)
    return out


def read_list(record: Record, slot: int) -> list[Tensor]:
    """The list of tensors saved at ``slot``; raises if one was changed in place since."""
    tensors, versions = record.saved[2 * slot], record.saved[2 * slot + 1]
    for tensor, version in zip(tensors, versions, strict=True):
        if version_of(tensor) != version:
            stale(record, slot)
    return list(tensors)


def _result_edge(record: Record, slot: int) -> Any:
    """The history of a saved result: the record itself, its output, or where a write through a view left it."""
    home = getattr(record, "_home", None)
    return own_edge(record, slot) if home is None else written(home())


def own_edge(record: Record, slot: int) -> Any:
    """The edge of the result saved at ``slot``; None where it stands beside those that carry gradients."""
    row_plan = record.kind.row.plan
    number = next(number for at, number in row_plan.saved_results if at == slot)
    if number not in row_plan.carry:
        return None
    return record if record.kind.outputs == 1 else output_of(record, number, len(record.kind.row.outputs))


def counter_of(record: Record, version: Any) -> Any:
    """The version counter of a result that was saved with ``version``, which one of several outputs is itself."""
    return version if isinstance(version, VersionCounter) else record.counter


def then(version: Any) -> int:
    """The version that a result had when it was saved: a counter that was saved for it was new."""
    return 0 if isinstance(version, VersionCounter) else version


def edge_at(record: Record, slot: int) -> Any:
    """The edge of the input saved at ``slot``."""
    row_plan = record.kind.row.plan
    position = next(position for at, position, _ in row_plan.saved_inputs if at == slot)
    return record.edges[row_plan.ruled_inputs.index(position)]


def _again(record: Record, slot: int, array: Any) -> Tensor:
    """The tensor of an input whose bare array was kept: its history is the edge of that input."""
    edge = edge_at(record, slot)
    if edge.counter is not None and edge.counter.version:
        stale(record, slot)
    out = wrap(array)
    out._edge, out._counter = edge, edge.counter
    return out
