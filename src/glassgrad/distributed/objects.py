"""Collectives of Python objects: pickled and unpickled, so only among processes that trust each other."""

from __future__ import annotations

import pickle
from collections.abc import Iterable
from typing import Any

import numpy as np

from ..core.tensor import wrap
from .distributed_c10d import member, rank_inside
from .messages import recv, send

__all__ = [
    "all_gather_object", "broadcast_object_list", "gather_object", "recv_object_list", "scatter_object_list",
    "send_object_list",
]  # fmt: skip


def _bytes(value: Any) -> np.ndarray:
    return np.frombuffer(bytearray(pickle.dumps(value)), np.uint8)


def _exchanged(channel: Any, sources: Iterable[int], given: dict[int, np.ndarray]) -> list[Any]:
    """Send each rank the pickle that is ``given`` for it; the objects that came from the ranks ``sources``."""
    sizes = {rank: np.empty(1, np.int64) for rank in sources}
    channel.exchange(sizes, {rank: np.array([content.size]) for rank, content in given.items()})
    rooms = {rank: np.empty(int(size[0]), np.uint8) for rank, size in sizes.items()}
    channel.exchange(rooms, given)
    return [pickle.loads(content.data) for content in rooms.values()]


def all_gather_object(object_list: list[Any], obj: Any, group: Any = None) -> None:
    """``object_list`` becomes the objects of all ranks.

    Source: https://docs.pytorch.org/docs/stable/distributed.html#torch.distributed.all_gather_object
    """
    if (whole := member(group, "all_gather_object")) is None:
        return
    every, own = range(whole.size()), _bytes(obj)

    def steps() -> None:
        object_list[: len(every)] = _exchanged(whole.channel, every, dict.fromkeys(every, own))

    whole.run("all_gather_object", "", steps)


def gather_object(
    obj: Any, object_gather_list: list[Any] | None = None, dst: int | None = None, group: Any = None,
    group_dst: int | None = None,
) -> None:  # fmt: skip
    """``object_gather_list`` on rank ``dst`` (0 where not given) becomes the objects of all ranks.

    Source: https://docs.pytorch.org/docs/stable/distributed.html#torch.distributed.gather_object
    """
    if (whole := member(group, "gather_object")) is None:
        return
    root, own = rank_inside(whole, dst, group_dst, 0, "gather"), _bytes(obj)
    here = whole.rank() == root
    if here and object_gather_list is None:
        raise ValueError("Argument ``gather_list`` must be specified on destination rank.")
    if not here and object_gather_list:
        raise ValueError("Argument ``gather_list`` must NOT be specified on non-destination ranks.")

    def steps() -> None:
        found = _exchanged(whole.channel, range(whole.size() if here else 0), {root: own})
        if object_gather_list is not None:
            object_gather_list[: len(found)] = found

    whole.run("gather_object", f"to rank {root}", steps)


def broadcast_object_list(
    object_list: list[Any], src: int | None = None, group: Any = None, device: Any = None,
    group_src: int | None = None,
) -> None:  # fmt: skip
    """Every rank's ``object_list`` becomes that of rank ``src`` (0 where not given).

    Source: https://docs.pytorch.org/docs/stable/distributed.html#torch.distributed.broadcast_object_list
    """
    if (whole := member(group, "broadcast_object_list")) is None:
        return
    root = rank_inside(whole, src, group_src, 0, "broadcast")

    def steps() -> None:
        here = whole.rank() == root
        content = _bytes(list(object_list)) if here else np.empty(0, np.uint8)
        size = np.array([content.size])
        whole.channel.broadcast(size, root)
        content = content if here else np.empty(int(size[0]), np.uint8)
        whole.channel.broadcast(content, root)
        if not here:
            found = pickle.loads(content.data)
            object_list[: len(found)] = found

    whole.run("broadcast_object_list", f"from rank {root}", steps)


def scatter_object_list(
    scatter_object_output_list: list[Any], scatter_object_input_list: list[Any] | None = None,
    src: int | None = None, group: Any = None, group_src: int | None = None,
) -> None:  # fmt: skip
    """The first item of every rank's output list becomes its own of the input list on rank ``src``.

    Source: https://docs.pytorch.org/docs/stable/distributed.html#torch.distributed.scatter_object_list
    """
    if (whole := member(group, "scatter_object_list")) is None:
        return
    if not isinstance(scatter_object_output_list, list) or len(scatter_object_output_list) < 1:
        raise ValueError("Expected argument scatter_object_output_list to be a list of size at least 1.")
    root = rank_inside(whole, src, group_src, 0, "scatter")
    given = (scatter_object_input_list or []) if whole.rank() == root else []
    if whole.rank() == root and len(given) != whole.size():
        raise ValueError(f"scatter_object_input_list must have {whole.size()} items on the source rank")

    def steps() -> None:
        parts = {rank: _bytes(each) for rank, each in enumerate(given)}
        scatter_object_output_list[:1] = _exchanged(whole.channel, [root], parts)

    whole.run("scatter_object_list", f"from rank {root}", steps)


def send_object_list(
    object_list: list[Any], dst: int | None = None, group: Any = None, device: Any = None,
    group_dst: int | None = None, use_batch: bool = False,
) -> None:  # fmt: skip
    """Send Python objects to rank ``dst``."""
    content = _bytes(list(object_list))
    for each in (np.array([content.size]), content):
        send(wrap(each), dst, group, group_dst=group_dst)


def recv_object_list(
    object_list: list[Any], src: int | None = None, group: Any = None, device: Any = None,
    group_src: int | None = None, use_batch: bool = False,
) -> int:  # fmt: skip
    """Receive what ``send_object_list`` sent from rank ``src``; the sender's rank."""
    size = np.zeros(1, np.int64)
    source = recv(wrap(size), src, group, group_src=group_src)
    content = np.empty(int(size[0]), np.uint8)
    recv(wrap(content), source, group)
    found = pickle.loads(content.data)
    object_list[: len(found)] = found
    return source
