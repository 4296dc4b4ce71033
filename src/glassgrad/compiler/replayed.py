"""The record that stands for a replayed program in the caller's graph: its way back is the program's."""

from __future__ import annotations

from functools import cache
from typing import Any

from ..core.record import Kind, Record, freed
from ..core.tensor import Tensor, share


def version_of(tensor: Tensor) -> int:
    """How often a tensor's memory was written to."""
    return share(tensor).version


def record_of(name: str, edges: Any, saved: Any, versions: Any, back: Any, kind: Any) -> Record:
    """The record of one run of a program; ``name`` is that of the node which the operation itself makes."""
    record = Record.of(kind_of(name), edges, kind)
    record.saved = (saved, versions, back)
    return record


def watch_version(record: Record, counter: Any, version: int) -> None:
    """Let the way back of a record refuse to run once a result that it needs was written to since this version."""
    saved, versions, back = record.saved
    record.saved = saved, (*versions, (counter, version)), back


def walk(record: Any, grad: Any, retain_graph: bool) -> Any:
    saved, versions, back = record.saved
    _unwritten(record, versions)
    saved = [*saved]  # a list, which the way back empties: each value goes as soon as it is spent
    if not retain_graph and record.constants[1]:  # a graph that frees nothing can be walked as often as one likes
        record.release()
    return back(saved, grad)


def _unwritten(record: Record, versions: Any) -> None:
    """Raise PyTorch's error where memory that the way back needs was written to."""
    for tensor, version in versions:  # or its storage, of what was given back
        now = share(tensor).version if isinstance(tensor, Tensor) else tensor.version
        if now != version:
            shape = tensor._array.shape if isinstance(tensor, Tensor) else record.constants[0]
            raise RuntimeError(
                "one of the variables needed for gradient computation has been modified by an inplace operation: "
                f"[torch.FloatTensor {list(shape)}] is at version {now}; expected version "
                f"{version} instead. Hint: enable anomaly detection to find the operation that failed to compute its "
                "gradient, with torch.autograd.set_detect_anomaly(True)."
            )


def _twice(record: Record, grad: Any, retain_graph: bool) -> Any:
    raise RuntimeError("torch.compile with aot_autograd does not currently support double backward")


@cache
def kind_of(name: str) -> Kind:
    """The kind of the records that stand for programs, and show themselves as nodes of that name."""
    return Kind(name, walk, _twice, frees=True)


def freed_record(name: str) -> Record:
    """The record of a result whose graph was walked and freed within a program."""
    record = Record.of(kind_of(name), ())
    record.run = freed
    return record
