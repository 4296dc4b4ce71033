"""Collectives of Python objects: pickled and unpickled, so only among processes that trust each other."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np

from ..core.tensor import wrap
from .collectives import _root
from .distributed_c10d import _resolve
from .messages import recv, send
from .process_group import ProcessGroup
from .tensors import outside

__all__ = [
    "all_gather_object", "broadcast_object_list", "gather_object", "recv_object_list", "scatter_object_list",
    "send_object_list",
]  # fmt: skip


def _bytes(value: Any) -> np.ndarray:
    return np.frombuffer(bytearray(pickle.dumps(value)), np.uint8)


def _value(array: np.ndarray) -> Any:
    return pickle.loads(array.tobytes())


def _sizes(group: ProcessGroup, own: int) -> list[int]:
    sizes = np.empty(group.size(), np.int64)
    group.channel.all_gather(sizes, np.array([own]))
    return sizes.tolist()


def all_gather_object(object_list: list[Any], obj: Any, group: Any = None) -> None:
    """``object_list`` becomes the objects of all ranks.

    Source: https://docs.pytorch.org/docs/stable/distributed.html#torch.distributed.all_gather_object
    """
    if outside(group, "all_gather_object"):
        return
    whole, own = _resolve(group), _bytes(obj)

    def steps() -> None:
        arrays = [np.empty(size, np.uint8) for size in _sizes(whole, own.size)]
        whole.channel.exchange(dict(enumerate(arrays)), dict.fromkeys(range(whole.size()), own))
        for index, array in enumerate(arrays):
            object_list[index] = _value(array)

    whole.run("all_gather_object", "", steps)


def gather_object(
    obj: Any,
    object_gather_list: list[Any] | None = None,
    dst: int | None = None,
    group: Any = None,
    group_dst: int | None = None,
) -> None:
    """``object_gather_list`` on rank ``dst`` (0 where not given) becomes the objects of all ranks.

    Source: https://docs.pytorch.org/docs/stable/distributed.html#torch.distributed.gather_object
    """
    if outside(group, "gather_object"):
        return
    whole, own = _resolve(group), _bytes(obj)
    root = _root(whole, dst, group_dst, 0, "gather")
    if whole.rank() == root and object_gather_list is None:
        raise ValueError("Argument ``gather_list`` must be specified on destination rank.")
    if whole.rank() != root and object_gather_list:
        raise ValueError("Argument ``gather_list`` must NOT be specified on non-destination ranks.")

    def steps() -> None:
        arrays = [np.empty(size, np.uint8) for size in _sizes(whole, own.size)]
        here = whole.rank() == root
        whole.channel.exchange(dict(enumerate(arrays)) if here else {}, {root: own})
        if here and object_gather_list is not None:
            for index, array in enumerate(arrays):
                object_gather_list[index] = _value(array)

    whole.run("gather_object", f"to rank {root}", steps)


def broadcast_object_list(
    object_list: list[Any],
    src: int | None = None,
    group: Any = None,
    device: Any = None,
    group_src: int | None = None,
) -> None:
    """Every rank's ``object_list`` becomes that of rank ``src`` (0 where not given).

    Source: https://docs.pytorch.org/docs/stable/distributed.html#torch.distributed.broadcast_object_list
    """
    if outside(group, "broadcast_object_list"):
        return
    whole = _resolve(group)
    root = _root(whole, src, group_src, 0, "broadcast")

    def steps() -> None:
        content = _bytes(list(object_list)) if whole.rank() == root else np.empty(0, np.uint8)
        size = np.array([content.size])
        whole.channel.broadcast(size, root)
        if whole.rank() != root:
            content = np.empty(int(size[0]), np.uint8)
        whole.channel.broadcast(content, root)
        if whole.rank() != root:
            for index, value in enumerate(_value(content)):
                object_list[index] = value

    whole.run("broadcast_object_list", f"from rank {root}", steps)


def scatter_object_list(
    scatter_object_output_list: list[Any],
    scatter_object_input_list: list[Any] | None = None,
    src: int | None = None,
    group: Any = None,
    group_src: int | None = None,
) -> None:
    """The first item of every rank's output list becomes its own of the input list on rank ``src``.

    Source: https://docs.pytorch.org/docs/stable/distributed.html#torch.distributed.scatter_object_list
    """
    if outside(group, "scatter_object_list"):
        return
    if not isinstance(scatter_object_output_list, list) or len(scatter_object_output_list) < 1:
        raise ValueError("Expected argument scatter_object_output_list to be a list of size at least 1.")
    whole = _resolve(group)
    root = _root(whole, src, group_src, 0, "scatter")
    given = scatter_object_input_list
    if whole.rank() == root and (given is None or len(given) != whole.size()):
        raise ValueError(f"scatter_object_input_list must have {whole.size()} items on the source rank")

    def steps() -> None:
        parts = [_bytes(each) for each in given or ()] if whole.rank() == root else []
        sizes = [np.array([part.size]) for part in parts]
        size = np.zeros(1, np.int64)
        whole.channel.exchange({root: size}, dict(enumerate(sizes)))
        own = np.empty(int(size[0]), np.uint8)
        whole.channel.exchange({root: own}, dict(enumerate(parts)))
        scatter_object_output_list[0] = _value(own)

    whole.run("scatter_object_list", f"from rank {root}", steps)


def send_object_list(
    object_list: list[Any],
    dst: int | None = None,
    group: Any = None,
    device: Any = None,
    group_dst: int | None = None,
    use_batch: bool = False,
) -> None:
    """Send Python objects to rank ``dst``."""
    content = _bytes(list(object_list))
    send(wrap(np.array([content.size])), dst, group, group_dst=group_dst)
    send(wrap(content), dst, group, group_dst=group_dst)


def recv_object_list(
    object_list: list[Any],
    src: int | None = None,
    group: Any = None,
    device: Any = None,
    group_src: int | None = None,
    use_batch: bool = False,
) -> int:
    """Receive what ``send_object_list`` sent from rank ``src``; the sender's rank."""
    size = np.zeros(1, np.int64)
    source = recv(wrap(size), src, group, group_src=group_src)
    content = np.empty(int(size[0]), np.uint8)
    recv(wrap(content), source, group)
    for index, value in enumerate(_value(content)):
        object_list[index] = value
    return source
