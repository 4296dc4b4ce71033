"""Values kept for backward: checked for in-place changes when they are read again, packed by the user's hooks."""

from __future__ import annotations

from typing import Any, NoReturn

import numpy as np

from ..ground import dtypes, errors, modes
from . import anomaly, node, plan
from .node import pair_of
from .record import Record, output_of
from .tensor import LEAF, Tensor, edge_of, wrap


class Packed:
    """A saved tensor as the user's ``saved_tensors_hooks`` packed it."""

    __slots__ = ("payload", "unpack", "edge", "is_result")

    def __init__(self, tensor: Tensor, edge: Any, is_result: bool, pair: tuple[Any, Any]) -> None:
        pack, self.unpack = pair
        version = 0 if tensor._counter is None else tensor._counter.version
        before = modes.local.grad
        try:
            modes.set_grad(False)
            self.payload = pack(tensor)
        finally:
            modes.local.grad = before
            modes.settle()
        self.edge, self.is_result = edge, is_result
        if is_result and self.payload is tensor:  # whose history is the record that keeps this: a cycle
            self.payload = Bare(tensor)
        if tensor._counter is not None and tensor._counter.version != version:
            raise RuntimeError(
                "A saved tensor pack hook is modifying its input in place. Tensors provided as input to pack hook "
                "cannot be modified by in-place operations as this can lead to unexpected side-effects. Please open an "
                "issue if you need to perform in-place operations on the input to a pack hook."
            )

    def open(self, edge: Any) -> Tensor:
        """The tensor that the user's unpack hook gives, with ``edge`` as its history."""
        payload = self.payload
        tensor = self.unpack(lend(payload, edge) if type(payload) is Bare else payload)
        if not isinstance(tensor, Tensor):
            raise TypeError(
                "Output of saved tensor unpack_hook expected to be a Tensor but got result of type "
                f"{type(tensor).__name__}"
            )
        return lend(tensor, edge)


class Bare:
    """The data and version of a result that a pack hook gave back as it was."""

    __slots__ = ("_array", "_counter")

    def __init__(self, tensor: Tensor) -> None:
        self._array, self._counter = tensor._array, tensor._counter


def lend(tensor: Any, edge: Any) -> Tensor:
    """A tensor on the same data whose history is ``edge``: a record, or the leaf that it stands for."""
    if tensor is edge:
        return edge
    out = wrap(tensor._array)
    out._edge, out._counter = edge, tensor._counter
    return out


def version_of(tensor: Tensor) -> int:
    """How often the memory of a tensor has been written in place."""
    return 0 if tensor._counter is None else tensor._counter.version


def keep(tensor: Any) -> tuple[Any, int]:
    """An input (a Tensor, or None) as a record saves it: the value, and the version it has."""
    if modes.watch and modes.local.saved_hooks and isinstance(tensor, Tensor):
        return Packed(tensor, edge_of(tensor), False, modes.local.saved_hooks[-1]), 0
    counter = None if tensor is None else tensor._counter
    return tensor, 0 if counter is None else counter.version


def keep_result(record: Record, out: Tensor, beside: bool) -> tuple[Any, int]:
    """An output as its own record saves it: the bare array, as the record is its history.

    ``beside`` says that it carries no gradients but stands beside an output that does.
    """
    if modes.watch and modes.local.saved_hooks:
        return Packed(out, None, True, modes.local.saved_hooks[-1]), 0
    if not beside:
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
    if _is_beside(record, slot):
        return out
    counter = record.counter
    if counter is not None and counter.version != version:
        stale(record, slot)
    out._counter, out._edge = counter, _result_edge(record, slot)
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


def _output_at(record: Record, slot: int) -> int:
    """Which output of its record a saved result is."""
    return next(number for at, number in record.kind.row.plan.results if at == slot)


def _is_beside(record: Record, slot: int) -> bool:
    """Whether a saved result is none that carries gradients, but stands beside such a one: it has no history."""
    return _output_at(record, slot) not in record.kind.row.plan.carry


def _result_edge(record: Record, slot: int) -> Any:
    """The history of a saved result: the record itself, its output, or where a write through a view left it."""
    extras = getattr(record, "_about", None)
    if extras is not None and extras.home is not None:
        return extras.home()
    if _is_beside(record, slot):
        return None
    if record.kind.outputs == 1:
        return record
    return output_of(record, _output_at(record, slot), len(record.kind.row.outputs))


def _again(record: Record, slot: int, array: Any) -> Tensor:
    """The tensor of an input whose bare array was kept: its history is the edge of that input."""
    edge = _edge_at(record, slot)
    if edge.counter is not None and edge.counter.version:
        stale(record, slot)
    out = wrap(array)
    out._edge, out._counter = edge, edge.counter
    return out


def _edge_at(record: Record, slot: int) -> Any:
    """The edge of the input saved at ``slot``."""
    row_plan = record.kind.row.plan
    position = next(position for at, position, _ in row_plan.inputs if at == slot)
    return record.edges[row_plan.edges.index(position)]


def stale(record: Record, slot: int) -> NoReturn:
    """Raise PyTorch's error for a saved tensor that was changed in place."""
    row_plan = record.kind.row.plan
    is_input = any(at == slot for at, _, _ in row_plan.inputs)
    value, then = record.saved[2 * slot], record.saved[2 * slot + 1]
    if type(value) is tuple:  # of a row over a list of tensors
        pairs = zip(value, then, strict=True)
        value, then = next((t, v) for t, v in pairs if t._counter is not None and t._counter.version != v)
    if is_input and not isinstance(value, Tensor):
        edge = _edge_at(record, slot)
        data, now = value, edge.counter.version
        writer = edge.counter.writer
        if writer is not None and writer() is not None:  # PyTorch names who wrote last
            edge = writer()
    elif is_input:
        edge, data, now = edge_of(value), value._array, value._counter.version
        if value._edge is LEAF:
            edge = None
    else:
        edge, data, now = record, value, record.counter.version
    if modes.local.anomaly:
        anomaly.explain(record)
    raise RuntimeError(stale_error(data, edge, now, max(then, 0)))


def stale_error(data: Any, edge: Any, now: int, then: int) -> str:
    """PyTorch's sentence for a saved array, whose history is ``edge``, that was changed in place."""
    owner = ""
    if isinstance(edge, Record):
        producer, number = pair_of(edge)
        name = type(producer).__name__
        owner = f", which is output {number} of {name.rstrip('0123456789').removesuffix('Backward')},"
    return errors.STALE.format(
        type=type_name(data),
        sizes=list(np.shape(data)),
        owner=owner,
        now=now,
        then=then,
        hint=errors.STALE_HINT_ANOMALY if modes.local.anomaly else errors.STALE_HINT,
    )


def type_name(data: Any) -> str:
    """The legacy name of a tensor type, such as ``torch.FloatTensor``."""
    name = dtypes.of(data.dtype).scalar_name
    if name == "BFloat16" or name.startswith("Complex"):
        return f"CPU{name}Type"
    return f"torch.{name}Tensor"
