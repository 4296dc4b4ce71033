"""PyTorch's error for a saved value whose memory was written in place since."""

from __future__ import annotations

import re
from typing import Any, NoReturn

from ..core import saved
from ..core.record import Record
from ..core.saved import counter_of, edge_at, own_edge, then
from ..core.tensor import LEAF, Tensor, edge_of
from ..ground import dtypes, errors, modes
from .node import pair_of


def stale(record: Record, slot: int) -> NoReturn:
    """Raise PyTorch's error for a saved tensor that was changed in place."""
    row_plan = record.kind.row.plan
    is_input = any(at == slot for at, _, _ in row_plan.saved_inputs)
    value, version = record.saved[2 * slot], record.saved[2 * slot + 1]
    if type(value) is tuple:  # of a row over a list of tensors
        pairs = zip(value, version, strict=True)
        value, version = next((t, v) for t, v in pairs if t._counter is not None and t._counter.version != v)
    if is_input and not isinstance(value, Tensor):
        edge = edge_at(record, slot)
        data, now = value, edge.counter.version
        writer = edge.counter.writer
        if writer is not None and writer() is not None:  # PyTorch names who wrote last
            edge = writer()
    elif is_input:
        edge, data, now = edge_of(value), value._array, value._counter.version
        if value._edge is LEAF:
            edge = None
    else:
        edge, data, now = own_edge(record, slot), value, counter_of(record, version).version
    if modes.local.anomaly:
        modes.local.anomaly.explain(record)
    raise RuntimeError(stale_error(data, edge, now, max(then(version), 0)))


def stale_error(data: Any, edge: Any, now: int, then: int) -> str:
    """PyTorch's sentence for a saved array, whose history is ``edge``, that was changed in place."""
    owner = ""
    if isinstance(edge, Record):
        producer, number = pair_of(edge)
        name = re.sub(r"Backward(0|(\d*))$", r"\2", producer.name())  # type: ignore[union-attr]  # of a record
        owner = f", which is output {number} of {name},"
    return errors.STALE.format(
        type=type_name(data),
        sizes=list(data.shape),
        owner=owner,
        now=now,
        then=then,
        hint=errors.STALE_HINT_ANOMALY if modes.local.anomaly else errors.STALE_HINT,
    )


def type_name(data: Any) -> str:
    """The legacy name of a tensor type, such as ``torch.FloatTensor``."""
    return dtypes.type_name(dtypes.of(data.dtype))


saved.stale = stale
