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


def _lengths(group: ProcessGroup, own: int) -> list[int]:
    sizes = np.zeros(group.size(), np.int64)
    sizes[group.rank()] = own
    group.all_gather(list(sizes.reshape(-1, 1)))
    return [int(size) for size in sizes]


def all_gather_object(object_list: list[Any], obj: Any, group: Any = None) -> None:
    """``object_list`` becomes the objects of all ranks.

    Source: https://docs.pytorch.org/docs/stable/distributed.html#torch.distributed.all_gather_object
    """
    if outside(group, "all_gather_object"):
        return
    found, own = _resolve(group), _bytes(obj)

    def steps() -> None:
        arrays = [np.empty(size, np.uint8) for size in _lengths(found, own.size)]
        arrays[found.rank()] = own
        found.all_gather(arrays)
        for index, array in enumerate(arrays):
            object_list[index] = _value(array)

    found.run(steps, [], wait=True)


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
    found, own = _resolve(group), _bytes(obj)
    root = _root(found, dst, group_dst, 0, "gather")
    if found.rank() == root and object_gather_list is None:
        raise ValueError("Argument ``gather_list`` must be specified on destination rank.")
    if found.rank() != root and object_gather_list:
        raise ValueError("Argument ``gather_list`` must NOT be specified on non-destination ranks.")

    def steps() -> None:
        arrays = [np.empty(size, np.uint8) for size in _lengths(found, own.size)]
        found.gather(own, arrays if found.rank() == root else None, root)
        if found.rank() == root and object_gather_list is not None:
            for index, array in enumerate(arrays):
                object_gather_list[index] = _value(array)

    found.run(steps, [], wait=True)


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
    found = _resolve(group)
    root = _root(found, src, group_src, 0, "broadcast")

    def steps() -> None:
        content = _bytes(list(object_list)) if found.rank() == root else np.empty(0, np.uint8)
        size = np.array([content.size])
        found.broadcast(size, root)
        if found.rank() != root:
            content = np.empty(int(size[0]), np.uint8)
        found.broadcast(content, root)
        if found.rank() != root:
            for index, value in enumerate(_value(content)):
                object_list[index] = value

    found.run(steps, [], wait=True)


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
    found = _resolve(group)
    root = _root(found, src, group_src, 0, "scatter")
    given = scatter_object_input_list
    if found.rank() == root and (given is None or len(given) != found.size()):
        raise ValueError(f"scatter_object_input_list must have {found.size()} items on the source rank")

    def steps() -> None:
        parts = [_bytes(each) for each in given or ()] if found.rank() == root else []
        sizes = [np.array([part.size]) for part in parts]
        size = np.zeros(1, np.int64)
        found.scatter(size, sizes, root)
        own = np.empty(int(size[0]), np.uint8)
        found.scatter(own, parts, root)
        scatter_object_output_list[0] = _value(own)

    found.run(steps, [], wait=True)


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
