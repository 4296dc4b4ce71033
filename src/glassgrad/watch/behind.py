"""Writes through ``.data``: autograd does not hear of them, and computes with what it saved before."""

from __future__ import annotations

from typing import Any, NamedTuple

from ..explore.model import SourceLoc
from ..explore.walk import Walk, op_name
from .patterns import saved


class Write(NamedTuple):
    """A write behind autograd's back, into what an operation of the graph had saved or given."""

    loc: SourceLoc | None
    name: str  # of the operation
    line: SourceLoc | None  # where it stands
    is_saved: bool


def writes_behind(recording: Any, walked: Walk) -> list[Write]:
    """The writes through ``.data`` that came after an operation of this graph had used or made the tensor."""
    calls = recording.calls
    writes = [call for call in calls if call.writes and _through_data(calls, call)]
    if not writes:
        return []
    nodes = dict(zip(walked.seqs, walked.nodes, strict=True))
    late_writes = []
    for write in writes:
        users = []
        for call in calls[: write.index]:
            meets = call.buffer == write.buffer or any(calls[at].buffer == write.buffer for at in call.inputs)
            created = [nodes[age] for age in range(call.start, call.stop) if age in nodes]
            if meets and created:
                users.append((_saves(created, calls[write.inputs[0]].info), call, op_name(created[-1])))
        if users:
            is_saved, call, name = max(users, key=lambda user: user[0])
            late_writes.append(Write(write.loc, name, call.loc, is_saved))
    return late_writes


def _through_data(calls: list[Any], write: Any) -> bool:
    if write.name == "data=":
        return True
    waiting, seen = list(write.inputs[:1]), set()
    while waiting:
        at = waiting.pop()
        call = calls[at]
        if at in seen or call.buffer != write.buffer:
            continue
        seen.add(at)
        if call.name == "data":
            return True
        waiting += call.inputs
    return False


def _saves(nodes: list[Any], info: Any) -> bool:
    """Whether one of some nodes has saved a tensor of a shape."""
    for node in nodes:
        for name in dir(node):
            if name.startswith("_saved_"):
                shape = getattr(saved(node, name.removeprefix("_saved_")), "shape", None)
                if shape is not None and (info is None or sorted(shape) == sorted(info.shape)):
                    return True
    return False
