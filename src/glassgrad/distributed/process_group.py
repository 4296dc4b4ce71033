"""ProcessGroup: the ranks that communicate together, one collective after the other, at once or in the background."""

from __future__ import annotations

import os
import queue
import threading
from collections.abc import Callable, Sequence
from datetime import timedelta
from typing import Any

import numpy as np

from ..core.tensor import share
from .errors import DistBackendError
from .reduce_op import RedOpType
from .waiting import Call, call_site
from .work import Work

__all__ = ["ProcessGroup"]


class ProcessGroup:
    """Some of the processes, each with a rank.

    channel   what carries their arrays: ``mpi.Channel`` or ``local.Channel``
    All ranks must call the same collectives in the same order: before each they compare what they are about to do. What
    goes wrong in one ends the group.
    """

    def __init__(self, channel: Any, name: str, ranks: Sequence[int], rank: int, timeout: timedelta) -> None:
        self.channel, self.group_name, self.ranks, self._rank = channel, name, list(ranks), rank
        self.timeout = timeout
        self.group_desc = "default_pg" if name == "0" else "undefined"
        self.broken: BaseException | None = None
        self._owner = os.getpid()
        self._turn = threading.Lock()
        self._pending = 0
        self._queue: queue.SimpleQueue[Any] | None = None

    def rank(self) -> int:
        """The rank of this process in the group."""
        return self._rank

    def size(self) -> int:
        """How many ranks there are."""
        return len(self.ranks)

    def name(self) -> str:
        """The backend's name."""
        return "gloo"

    def run(
        self, name: str, operands: str, steps: Callable[[], None], tensors: list[Any] | None = None,
        wait: bool = True, timeout: float | None = None,
    ) -> Work:  # fmt: skip
        """Meet the other ranks and do ``steps``: now, or with ``wait`` False on a thread of the group's own.

        name, operands   what all ranks must agree about
        timeout          seconds that the others may take to come, those of the group where not given
        """
        limit = self.timeout.total_seconds() if timeout is None else timeout
        call = Call(name, operands, call_site(), limit)
        work = Work([] if tensors is None else tensors)
        if wait and not self._pending:
            try:
                with self._turn:
                    self._do(call, steps)
            except BaseException as error:
                work._finish(error)
                raise
            work._finish()
            return work
        if self._queue is None:
            self._queue = queue.SimpleQueue()
            threading.Thread(target=self._serve, args=(self._queue,), daemon=True, name="collectives").start()
        with self._turn:
            self._pending += 1
        self._queue.put((call, steps, work))
        if wait:
            work.wait()
        return work

    def _serve(self, waiting: queue.SimpleQueue[Any]) -> None:
        while (entry := waiting.get()) is not None:
            call, steps, work = entry
            error = None
            try:
                self._do(call, steps)
            except BaseException as caught:
                error = caught
            with self._turn:
                self._pending -= 1
            work._finish(error)
            del entry, steps, work

    def _do(self, call: Call, steps: Callable[[], None]) -> None:
        self.check()
        try:
            self.channel.meet(call)
            steps()
        except BaseException as error:
            self.broken = error
            raise

    def check(self) -> None:
        """DistBackendError where nothing can be sent any more."""
        if self.broken is not None:
            raise DistBackendError(f"The process group failed before: {self.broken}")
        if not self.owned():
            raise DistBackendError("This process was forked from one of the group, whose connections it may not use")

    def owned(self) -> bool:
        """Whether this process joined the group, and is no fork of one that did."""
        return os.getpid() == self._owner

    def idle(self) -> bool:
        """Whether nothing is under way."""
        return not self._pending

    def close(self) -> None:
        """Let the group's thread end."""
        if self._queue is not None:
            self._queue.put(None)
            self._queue = None
        if self.broken is None and self.owned():
            self.channel.close()
        self.broken = DistBackendError("it was destroyed")

    def all_reduce(self, array: np.ndarray, op: RedOpType, wait: bool = True, what: str = "all_reduce") -> Work:
        """Every rank's contiguous ``array`` becomes the reduction of all."""
        operands = f"{op.name} {array.dtype} {array.shape}"
        return self.run(what, operands, lambda: self.channel.all_reduce(array, op), wait=wait)

    def broadcast(self, array: np.ndarray, root: int, what: str = "broadcast") -> None:
        """Every rank's contiguous ``array`` becomes that of ``root``."""
        operands = f"{array.dtype} {array.shape} from rank {root}"
        self.run(what, operands, lambda: self.channel.broadcast(array, root))

    def spread(self, tensors: list[Any], root: int, what: str) -> None:
        """Every rank's ``tensors`` take the values of those of ``root``, all of a dtype in one message."""
        kinds: dict[Any, list[Any]] = {}
        for tensor in tensors:
            kinds.setdefault(tensor._array.dtype, []).append(tensor)
        for same in kinds.values():
            whole = np.concatenate([np.asarray(tensor._array).reshape(-1) for tensor in same])
            self.broadcast(whole, root, what)
            if self._rank == root:
                continue
            ends = np.cumsum([tensor._array.size for tensor in same])
            for tensor, part in zip(same, np.split(whole, ends[:-1]), strict=True):
                share(tensor)
                np.copyto(tensor._array, part.reshape(tensor._array.shape))


ProcessGroup.__module__ = "torch.distributed.distributed_c10d"
