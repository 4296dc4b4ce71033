"""Values kept for backward: checked for in-place changes when they are read again."""

from __future__ import annotations

from typing import Any

from ..ground import modes
from . import node, plan
from .overwritten import counter_of, edge_at, own_edge, stale, then
from .packed import Packed
from .record import Record
from .tensor import Tensor, edge_of, share, wrap


def version_of(tensor: Tensor) -> int:
    """How often the memory of a tensor has been written in place."""
    return 0 if tensor._counter is None else tensor._counter.version


def keep(tensor: Any) -> tuple[Any, int]:
    """An input (a Tensor, or None) as a record saves it: the value, and the version it has."""
    if modes.watch and modes.local.saved_hooks and isinstance(tensor, Tensor):
        return Packed(tensor, edge_of(tensor), False, modes.local.saved_hooks[-1]), 0
    counter = None if tensor is None else tensor._counter
    return tensor, 0 if counter is None else counter.version


def keep_result(record: Record, out: Tensor, alone: bool) -> tuple[Any, Any]:
    """An output as its own record saves it: the bare array, as the record is its history, and the version.

    ``alone`` says that no other output carries gradients: then the record knows its version counter, once there is
    one.  Else the counter, which is new, is made and saved in the place of the version.
    """
    if modes.watch and modes.local.saved_hooks:
        return Packed(out, None, True, modes.local.saved_hooks[-1]), 0
    if not alone:
        counter = share(out)
        return out._array, counter
    record.counter = out._counter
    return out._array, 0 if out._counter is None else out._counter.version


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
        counter = value._counter
        if counter is not None and counter.version != version:
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
        if tensor._counter is not None and tensor._counter.version != version:
            stale(record, slot)
    return list(tensors)


def shown(record: Record, source: str, slot: int) -> Any:
    """A saved value as users read it."""
    if record.kind.row.listed and source == "tensor":
        return tuple(record.saved[2 * slot])
    return read(record, source, slot)


def pack(record: Record, source: str, slot: int, pair: tuple[Any, Any]) -> None:
    """Pack what was saved at ``slot`` with the user's hooks, after the fact."""
    tensor = read(record, source, slot)
    if tensor is not None:
        entries = list(record.saved)
        entries[2 * slot] = Packed(tensor, edge_of(tensor), source == "result", pair)
        record.saved = tuple(entries)
        about = getattr(record, "_about", None)  # what is printed for speed knows nothing of packed values
        if about is not None and about.inner is not None:  # hooks stand before it
            about.inner = plan.gradients
        else:
            record.run = plan.gradients


node.read_saved, node.pack_saved = shown, pack


def _result_edge(record: Record, slot: int) -> Any:
    """The history of a saved result: the record itself, its output, or where a write through a view left it."""
    extras = getattr(record, "_about", None)
    if extras is not None and extras.home is not None:
        return extras.home()
    return own_edge(record, slot)


def _again(record: Record, slot: int, array: Any) -> Tensor:
    """The tensor of an input whose bare array was kept: its history is the edge of that input."""
    edge = edge_at(record, slot)
    if edge.counter is not None and edge.counter.version:
        stale(record, slot)
    out = wrap(array)
    out._edge, out._counter = edge, edge.counter
    return out
