"""Messages from one rank to another: send and recv, at once or in the background."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..core.tensor import share
from .distributed_c10d import _rank_inside, _resolve
from .errors import DistBackendError
from .process_group import ProcessGroup, flat
from .tensors import check_tensor, dense, outside
from .work import Receipt, Work

__all__ = ["P2POp", "batch_isend_irecv", "irecv", "isend", "recv", "send"]


def _peer(group: ProcessGroup, given: int | None, inside: int | None, word: str) -> int:
    """The rank in the group of the other side."""
    peer = _rank_inside(group, given, inside)
    if peer == group.rank():
        raise ValueError(
            f"Invalid {word} rank: {word} rank should not be the same as the rank of the current process."
        )
    if not 0 <= peer < group.size():
        raise ValueError(f"Invalid {word} rank {peer}: the group has {group.size()} ranks")
    return peer


def isend(
    tensor: Any, dst: int | None = None, group: Any = None, tag: int = 0, group_dst: int | None = None
) -> Work | None:
    """Send a tensor to rank ``dst``; it is done once the tensor may be changed.

    Source: https://docs.pytorch.org/docs/stable/distributed.html#torch.distributed.isend
    """
    check_tensor(tensor, "tensor")
    if outside(group, "isend"):
        return None
    found = _resolve(group)
    peer = found.ranks[_peer(found, dst, group_dst, "destination")]
    if found.mesh is None:
        raise DistBackendError("The process group was destroyed")
    work = Work([tensor])  # the other side reads whatever comes, so this waits for nobody
    found.mesh.post(found.group_name, peer, tag, flat(dense(tensor)), found.timeout.total_seconds())
    work._finish()
    return work


def send(tensor: Any, dst: int | None = None, group: Any = None, tag: int = 0, group_dst: int | None = None) -> None:
    """Send a tensor to rank ``dst``.

    Source: https://docs.pytorch.org/docs/stable/distributed.html#torch.distributed.send
    """
    isend(tensor, dst, group, tag, group_dst)


def irecv(
    tensor: Any, src: int | None = None, group: Any = None, tag: int = 0, group_src: int | None = None
) -> Work | None:
    """Expect a tensor from rank ``src`` (None: from anybody), written into ``tensor`` when it comes.

    Source: https://docs.pytorch.org/docs/stable/distributed.html#torch.distributed.irecv
    """
    check_tensor(tensor, "tensor")
    if outside(group, "irecv"):
        return None
    found = _resolve(group)
    anybody = src is None and group_src is None
    peer = None if anybody else found.ranks[_peer(found, src, group_src, "source")]
    if found.mesh is None:
        raise DistBackendError("There is no other process to receive from")
    share(tensor)

    def write(content: bytearray) -> None:
        data = tensor._array
        if len(content) != data.nbytes:
            raise DistBackendError(f"A message of {len(content)} bytes came for a tensor of {data.nbytes} bytes")
        np.copyto(data, np.frombuffer(content, data.dtype).reshape(data.shape))

    ticket = found.mesh.expect(found.group_name, peer, tag, write)
    return Receipt(found.mesh, ticket, peer, found.timeout.total_seconds(), [tensor])


def recv(tensor: Any, src: int | None = None, group: Any = None, tag: int = 0, group_src: int | None = None) -> int:
    """Receive a tensor from rank ``src`` (None: from anybody) into ``tensor``; the sender's rank.

    Source: https://docs.pytorch.org/docs/stable/distributed.html#torch.distributed.recv
    """
    check_tensor(tensor, "tensor")
    if outside(group, "recv"):
        return -1
    work = irecv(tensor, src, group, tag, group_src)
    assert isinstance(work, Receipt)
    work.wait()
    return work.source_rank()


class P2POp:
    """One message of :func:`batch_isend_irecv`: ``isend`` or ``irecv``, the tensor, the other rank.

    Source: https://docs.pytorch.org/docs/stable/distributed.html#torch.distributed.P2POp
    """

    def __init__(
        self,
        op: Callable[..., Any],
        tensor: Any,
        peer: int | None = None,
        group: Any = None,
        tag: int = 0,
        group_peer: int | None = None,
    ) -> None:
        if op not in (isend, irecv):
            raise ValueError(
                "Invalid ``op``. Expected ``op`` to be of type ``torch.distributed.isend`` or "
                "``torch.distributed.irecv``."
            )
        check_tensor(tensor, "tensor")
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
    begun = []
    for each in sorted(p2p_op_list, key=lambda one: one.op is isend):  # rooms first
        begun.append((p2p_op_list.index(each), each.op(each.tensor, each.peer, each.group, each.tag)))
    return [work for _, work in sorted(begun, key=lambda pair: pair[0])]
