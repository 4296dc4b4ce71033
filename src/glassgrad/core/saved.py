"""Values kept for backward: checked for in-place changes when they are read again, packed by the user's hooks."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..ground import dtypes, errors, modes
from . import anomaly
from .node import pair_of
from .record import Record, output_of
from .tensor import LEAF, Tensor, edge_of, wrap


class Packed:
    """A saved tensor as the user's ``saved_tensors_hooks`` packed it."""

    __slots__ = ("payload", "unpack", "edge", "is_result")

    def __init__(self, tensor: Tensor, edge: Any, is_result: bool, pair: tuple[Any, Any]) -> None:
        pack, self.unpack = pair
        version = 0 if tensor._counter is None else tensor._counter.version
        before = modes.set_grad(False)
        try:
            self.payload = pack(tensor)
        finally:
            modes.set_grad(before)
        self.edge, self.is_result = edge, is_result
        if is_result and self.payload is tensor:  # whose history is the record that keeps this: a cycle
            self.payload = _Bare(tensor)
        if tensor._counter is not None and tensor._counter.version != version:
            raise RuntimeError(
                "A saved tensor pack hook is modifying its input in place. Tensors provided as input to pack hook "
                "cannot be modified by in-place operations as this can lead to unexpected side-effects. Please open an "
                "issue if you need to perform in-place operations on the input to a pack hook."
            )

    def open(self, edge: Any) -> Tensor:
        """The tensor that the user's unpack hook gives, with ``edge`` as its history."""
        payload = self.payload
        tensor = self.unpack(lend(payload, edge) if type(payload) is _Bare else payload)
        if not isinstance(tensor, Tensor):
            raise TypeError(
                "Output of saved tensor unpack_hook expected to be a Tensor but got result of type "
                f"{type(tensor).__name__}"
            )
        return lend(tensor, edge)


class _Bare:
    """The data and version of a result that a pack hook gave back as it was."""

    __slots__ = ("_array", "_counter")

    def __init__(self, tensor: Tensor) -> None:
        self._array, self._counter = tensor._array, tensor._counter


def lend(tensor: Any, edge: Any) -> Tensor:
    """A tensor on the same data whose history is ``edge``; a leaf is lent as itself."""
    if isinstance(edge, Tensor):
        return edge
    out = wrap(tensor._array)
    out._edge, out._counter = edge, tensor._counter
    return out


def keep_tensor(record: Record, slot: int, tensor: Any) -> None:
    """Save an input (a Tensor, or None) at ``slot``."""
    if modes.watch and modes.local.saved_hooks and isinstance(tensor, Tensor):
        setattr(record, f"p{slot}", Packed(tensor, edge_of(tensor), False, modes.local.saved_hooks[-1]))
    else:
        setattr(record, f"p{slot}", tensor)
        version = tensor._counter if tensor is not None else None
        setattr(record, f"v{slot}", 0 if version is None else version.version)


def keep_result(record: Record, slot: int, out: Tensor) -> None:
    """Save an output at ``slot``; its own record is its history, so the tensor itself is not held."""
    if modes.watch and modes.local.saved_hooks:
        setattr(record, f"p{slot}", Packed(out, None, True, modes.local.saved_hooks[-1]))
    else:
        setattr(record, f"p{slot}", out._array)
        version = out._counter
        if not _is_beside(record, slot):
            record.counter = version
        setattr(record, f"v{slot}", 0 if version is None else version.version)


def read(record: Record, how: str, slot: int) -> Tensor | None:
    """What was saved at ``slot``, as a Tensor with its history; raises if it was changed in place since."""
    value = getattr(record, f"p{slot}")
    if value is None:
        return None
    if type(value) is Packed:
        return value.open(_result_edge(record, slot) if value.is_result else value.edge)
    if how == "tensor":
        if not isinstance(value, Tensor):
            return _again(record, slot, value)
        version = value._counter
        if version is not None and version.version != getattr(record, f"v{slot}"):
            stale(record, slot)
        return value
    out = wrap(value)
    if _is_beside(record, slot):
        return out
    cell = record.counter
    if cell is not None and cell.version != getattr(record, f"v{slot}", 0):
        stale(record, slot)
    out._counter, out._edge = cell, _result_edge(record, slot)
    return out


def _is_beside(record: Record, slot: int) -> bool:
    """Whether a saved result is none that carries gradients, but stands beside such a one: it has no history."""
    row = record.kind.row
    return bool(row.outputs) and slot not in row.result_slots


def _result_edge(record: Record, slot: int) -> Any:
    """The history of a saved result: the record itself, its output, or where a write through a view left it."""
    extras = getattr(record, "_about", None)
    if extras is not None and extras.home is not None:
        return extras.home()
    if _is_beside(record, slot):
        return None
    if record.kind.outputs == 1:
        return record
    if slot in record.kind.row.result_slots:
        nr, total = record.kind.row.result_slots[slot]
        return output_of(record, nr, total)
    return None


def pack(record: Record, how: str, slot: int, pair: tuple[Any, Any]) -> None:
    """Pack what was saved at ``slot`` with the user's hooks, after the fact."""
    tensor = read(record, how, slot)
    if tensor is not None:
        setattr(record, f"p{slot}", Packed(tensor, edge_of(tensor), how == "result", pair))
        record.run = record.kind.row.careful_run


def _again(record: Record, slot: int, array: Any) -> Tensor:
    """The tensor of an input whose bare array was kept: its history is the edge of that input."""
    edge = _edge_at(record, slot)
    if edge.counter is not None and edge.counter.version:
        stale(record, slot)
    out = wrap(array)
    out._edge, out._counter = edge, edge.counter
    return out


def _edge_at(record: Record, slot: int) -> Any:
    row = record.kind.row
    name = next(name for name, (how, place) in row.saves.items() if place == slot and how == "tensor")
    return record.edges[row.followed.index(name)]


def stale(record: Record, slot: int) -> None:
    """Raise PyTorch's error for a saved tensor that was changed in place."""
    how = next(h for h, place in record.kind.saved.values() if place == slot and h != "setting")
    value, then = getattr(record, f"p{slot}"), getattr(record, f"v{slot}", 0)  # type: Any, Any
    if type(value) is tuple:  # of a row over a list of tensors
        pairs = zip(value, then, strict=True)
        value, then = next((t, v) for t, v in pairs if t._counter is not None and t._counter.version != v)
    if how == "tensor" and not isinstance(value, Tensor):
        edge = _edge_at(record, slot)
        data, now = value, edge.counter.version
        writer = edge.counter.writer
        if writer is not None and writer() is not None:  # PyTorch names who wrote last
            edge = writer()
    elif how == "tensor":
        edge, data, now = edge_of(value), value._array, value._counter.version
        if value._edge is LEAF:
            edge = None
    else:
        edge, data, now = record, value, record.counter.version
    owner = ""
    if isinstance(edge, Record):
        node, number = pair_of(edge)
        name = type(node).__name__
        owner = f", which is output {number} of {name.rstrip('0123456789').removesuffix('Backward')},"
    if modes.local.anomaly:
        anomaly.explain(record)
    raise RuntimeError(
        errors.STALE.format(
            type=type_name(data),
            sizes=list(np.shape(data)),
            owner=owner,
            now=now,
            then=max(then, 0),
            hint=errors.STALE_HINT_ANOMALY if modes.local.anomaly else errors.STALE_HINT,
        )
    )


def type_name(data: Any) -> str:
    """The legacy name of a tensor type, such as ``torch.FloatTensor``."""
    name = dtypes.of(data.dtype).scalar_name
    if name == "BFloat16" or name.startswith("Complex"):
        return f"CPU{name}Type"
    return f"torch.{name}Tensor"
