"""Messages from one rank to another: send and recv, at once or in the background."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import numpy as np

from ..core.tensor import wrap
from ..ground.waiting import poll
from ..multiprocessing.failures import DistBackendError
from .calls import Call
from .distributed_c10d import _resolve, member, rank_inside
from .process_group import ProcessGroup, pickled
from .tensors import check, room, store, told
from .work import Work

__all__ = [
    "P2POp", "batch_isend_irecv", "irecv", "isend", "recv", "recv_object_list", "send", "send_object_list",
]  # fmt: skip


def _peer(group: ProcessGroup, global_rank: int | None, inside: int | None, word: str) -> int:
    """The rank in the group of the other side."""
    peer = rank_inside(group, global_rank, inside, None, "recv" if word == "source" else "send", word)
    if peer == group.rank():
        words = f"{word} rank should not be the same as the rank of the current process."
        raise ValueError(f"Invalid {word} rank: {words}")
    return peer


def isend(
    tensor: Any, dst: int | None = None, group: Any = None, tag: int = 0, group_dst: int | None = None
) -> Work | None:
    """Send a tensor to rank ``dst``; it is done once the tensor may be changed."""
    return _begun("send", tensor, dst, group, tag, group_dst)


def irecv(
    tensor: Any, src: int | None = None, group: Any = None, tag: int = 0, group_src: int | None = None
) -> Work | None:
    """Expect a tensor from rank ``src`` (None: from anybody), written into ``tensor`` when it comes."""
    return _begun("recv", tensor, src, group, tag, group_src)


def _begun(name: str, tensor: Any, rank: int | None, given: Any, tag: int, inside: int | None) -> Receipt | None:
    check(tensor=tensor)
    if (group := member(given, f"i{name}")) is None:
        return None
    sends = name == "send"
    anybody = not sends and rank is None and inside is None
    peer = None if anybody else _peer(group, rank, inside, "destination" if sends else "source")
    group.check()
    whom = "anybody" if anybody else f"rank {peer}"
    call = group.call(name, f"{told(tensor)} {'to' if sends else 'from'} {whom}")
    if sends:
        content = np.ascontiguousarray(tensor._array)
        return Receipt(group, call, peer, group.channel.send(content, peer, tag), tensor)
    array = room(tensor)
    return Receipt(group, call, peer, group.channel.receive(array, peer, tag), tensor, array)


def send(tensor: Any, dst: int | None = None, group: Any = None, tag: int = 0, group_dst: int | None = None) -> None:
    """Send a tensor to rank ``dst``."""
    if (work := isend(tensor, dst, group, tag, group_dst)) is not None:
        work.wait()


def recv(tensor: Any, src: int | None = None, group: Any = None, tag: int = 0, group_src: int | None = None) -> int:
    """Receive a tensor from rank ``src`` (None: from anybody) into ``tensor``; the sender's rank."""
    work = irecv(tensor, src, group, tag, group_src)
    return work.source_rank() if isinstance(work, Receipt) and work.wait() else -1


def send_object_list(
    object_list: list[Any], dst: int | None = None, group: Any = None, device: Any = None,
    group_dst: int | None = None, use_batch: bool = False,
) -> None:  # fmt: skip
    """Send Python objects, pickled, to rank ``dst``."""
    content = pickled([*object_list])
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
    objects = pickle.loads(content.data)
    object_list[: len(objects)] = objects
    return source


class Receipt(Work):
    """A message that was sent, or with ``array`` one that is expected in it: ``arrived`` gives sender and bytes."""

    def __init__(
        self, group: ProcessGroup, call: Call, peer: int | None, arrived: Callable[[], Any], tensor: Any,
        array: Any = None,
    ) -> None:  # fmt: skip
        super().__init__([tensor])
        self._group, self._call, self._arrived, self._array, self._source = group, call, arrived, array, -1
        self._peers = [rank for rank in range(group.size()) if rank != group.rank()] if peer is None else [peer]

    def is_completed(self) -> bool:
        """Whether it was sent, or is there, well or not."""
        if self._done.is_set():
            return True
        error = None
        try:
            if (came := self._arrived()) is None:
                return False
            if self._array is not None:
                self._take(*came)
        except DistBackendError as caught:
            error = caught
        self._finish(error)
        return True

    def _take(self, source: int, size: int) -> None:
        if size != self._array.nbytes:
            raise DistBackendError(f"A message of {size} bytes came for a tensor of {self._array.nbytes} bytes")
        self._source = source
        store(self._tensors[0], self._array)

    def wait(self, timeout: timedelta | None = None) -> bool:
        """True once it was sent, or is in its tensor."""
        call, channel = self._call, self._group.channel
        if timeout is not None and timeout > timedelta(0):
            call = call._replace(timeout=timeout.total_seconds())
        if not poll(self.is_completed, call.timeout, lambda: channel.look(call, self._peers, self.is_completed)):
            channel.abandon(self._arrived)
            raise call.late([])
        return super().wait()

    def source_rank(self) -> int:
        """The global rank of the sender."""
        return self._group.ranks[self._source]


class P2POp:
    """One message of :func:`batch_isend_irecv`: ``isend`` or ``irecv``, the tensor, the other rank."""

    def __init__(
        self, op: Callable[..., Any], tensor: Any, peer: int | None = None, group: Any = None, tag: int = 0,
        group_peer: int | None = None,
    ) -> None:  # fmt: skip
        if op not in (isend, irecv):
            kinds = "``torch.distributed.isend`` or ``torch.distributed.irecv``"
            raise ValueError(f"Invalid ``op``. Expected ``op`` to be of type {kinds}.")
        check(tensor=tensor)
        self.op, self.tensor, self.tag = op, tensor, tag
        self.group = _resolve(group)
        self.group_peer = _peer(self.group, peer, group_peer, "peer")
        self.peer = self.group.ranks[self.group_peer]

    def __repr__(self) -> str:
        source, target = self.group.rank(), self.group_peer
        if self.op is irecv:
            source, target = target, source
        return (
            f"P2POp({self.op.__name__} pg={self.group.group_name}, group_src={source}, group_dst={target},  "
            f"{self.tensor._array.shape}, {self.tensor.dtype})"
        )


def batch_isend_irecv(p2p_op_list: list[P2POp]) -> list[Work]:
    """Begin several messages, those to receive first; what to wait for."""
    if not all(isinstance(each, P2POp) for each in p2p_op_list):
        raise ValueError("Invalid ``p2p_op_list``. Each op is expected to to be of type ``torch.distributed.P2POp``.")
    begun = {}
    for index, each in sorted(enumerate(p2p_op_list), key=lambda item: item[1].op is isend):
        begun[index] = each.op(each.tensor, each.peer, each.group, each.tag)
    return [begun[index] for index in range(len(begun))]
