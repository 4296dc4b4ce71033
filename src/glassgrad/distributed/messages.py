"""Messages from one rank to another: send and recv, at once or in the background."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Any

from .distributed_c10d import _resolve, member, rank_inside
from .errors import DistBackendError
from .process_group import ProcessGroup
from .tensors import check, dense, room, store, told
from .waiting import Call, call_site
from .work import Work

__all__ = ["P2POp", "batch_isend_irecv", "irecv", "isend", "recv", "send"]


def _peer(group: ProcessGroup, given: int | None, inside: int | None, word: str) -> int:
    """The rank in the group of the other side."""
    peer = rank_inside(group, given, inside, None, "recv" if word == "source" else "send", word)
    if peer == group.rank():
        raise ValueError(
            f"Invalid {word} rank: {word} rank should not be the same as the rank of the current process."
        )
    return peer


def isend(
    tensor: Any, dst: int | None = None, group: Any = None, tag: int = 0, group_dst: int | None = None
) -> Work | None:
    """Send a tensor to rank ``dst``; it is done once the tensor may be changed.

    Source: https://docs.pytorch.org/docs/stable/distributed.html#torch.distributed.isend
    """
    check(tensor=tensor)
    if (whole := member(group, "isend")) is None:
        return None
    peer = _peer(whole, dst, group_dst, "destination")
    whole.check()
    call = Call("send", f"{told(tensor)} to rank {peer}", call_site(), whole.timeout.total_seconds())
    return Receipt(whole.channel.send(dense(tensor), peer, tag), call, tensor)


def send(tensor: Any, dst: int | None = None, group: Any = None, tag: int = 0, group_dst: int | None = None) -> None:
    """Send a tensor to rank ``dst``.

    Source: https://docs.pytorch.org/docs/stable/distributed.html#torch.distributed.send
    """
    work = isend(tensor, dst, group, tag, group_dst)
    if work is not None:
        work.wait()


def irecv(
    tensor: Any, src: int | None = None, group: Any = None, tag: int = 0, group_src: int | None = None
) -> Work | None:
    """Expect a tensor from rank ``src`` (None: from anybody), written into ``tensor`` when it comes.

    Source: https://docs.pytorch.org/docs/stable/distributed.html#torch.distributed.irecv
    """
    check(tensor=tensor)
    if (whole := member(group, "irecv")) is None:
        return None
    anybody = src is None and group_src is None
    peer = None if anybody else _peer(whole, src, group_src, "source")
    whole.check()
    words = f"{told(tensor)} from {'anybody' if peer is None else f'rank {peer}'}"
    call = Call("recv", words, call_site(), whole.timeout.total_seconds())
    array = room(tensor)
    return Receipt(whole.channel.receive(array, peer, tag), call, tensor, array, whole)


def recv(tensor: Any, src: int | None = None, group: Any = None, tag: int = 0, group_src: int | None = None) -> int:
    """Receive a tensor from rank ``src`` (None: from anybody) into ``tensor``; the sender's rank.

    Source: https://docs.pytorch.org/docs/stable/distributed.html#torch.distributed.recv
    """
    work = irecv(tensor, src, group, tag, group_src)
    if not isinstance(work, Receipt):
        return -1
    work.wait()
    return work.source_rank()


class Receipt(Work):
    """A message that was sent, or is expected; then with the array that it comes into, and the group."""

    def __init__(self, message: Any, call: Call, tensor: Any, array: Any = None, group: Any = None) -> None:
        super().__init__([tensor])
        self._message, self._call, self._array, self._group = message, call, array, group

    def is_completed(self) -> bool:
        """Whether it was sent, or is there, well or not."""
        if not self._done.is_set():
            try:
                if self._message.done():
                    self._close()
            except DistBackendError as error:
                self._finish(error)
        return self._done.is_set()

    def wait(self, timeout: timedelta | None = None) -> bool:
        """True once it was sent, or is in its tensor."""
        if not self._done.is_set():
            seconds = timeout.total_seconds() if timeout is not None else 0.0
            self._message.wait(self._call._replace(timeout=seconds) if seconds > 0 else self._call)
            self._close()
        return super().wait()

    synchronize = wait

    def _close(self) -> None:
        if self._array is not None:
            store(self._tensors[0], self._array)
        self._finish()

    def source_rank(self) -> int:
        """The global rank of the sender."""
        return int(self._group.ranks[self._message.source])


class P2POp:
    """One message of :func:`batch_isend_irecv`: ``isend`` or ``irecv``, the tensor, the other rank.

    Source: https://docs.pytorch.org/docs/stable/distributed.html#torch.distributed.P2POp
    """

    def __init__(
        self, op: Callable[..., Any], tensor: Any, peer: int | None = None, group: Any = None, tag: int = 0,
        group_peer: int | None = None,
    ) -> None:  # fmt: skip
        if op not in (isend, irecv):
            raise ValueError(
                "Invalid ``op``. Expected ``op`` to be of type ``torch.distributed.isend`` or "
                "``torch.distributed.irecv``."
            )
        check(tensor=tensor)
        self.op, self.tensor, self.tag = op, tensor, tag
        self.group = _resolve(group)
        self.group_peer = _peer(self.group, peer, group_peer, "peer")
        self.peer = self.group.ranks[self.group_peer]

    def __repr__(self) -> str:
        mine = self.group.ranks[self.group.rank()]
        ends = (mine, self.peer) if self.op is isend else (self.peer, mine)
        return (
            f"P2POp({self.op.__name__} pg={self.group.group_name}, group_src={self.group.ranks.index(ends[0])}, "
            f"group_dst={self.group.ranks.index(ends[1])},  {self.tensor._array.shape}, {self.tensor.dtype})"
        )


def batch_isend_irecv(p2p_op_list: list[P2POp]) -> list[Work]:
    """Begin several messages; what to wait for.

    Source: https://docs.pytorch.org/docs/stable/distributed.html#torch.distributed.batch_isend_irecv
    """
    if not all(isinstance(each, P2POp) for each in p2p_op_list):
        raise ValueError(
            "Invalid ``p2p_op_list``. Each op is expected to to be of type ``torch.distributed.P2POp``."
        )
    rooms_first = sorted(range(len(p2p_op_list)), key=lambda index: p2p_op_list[index].op is isend)
    begun = {}
    for index in rooms_first:
        each = p2p_op_list[index]
        begun[index] = each.op(each.tensor, each.peer, each.group, each.tag)
    return [begun[index] for index in range(len(begun))]
