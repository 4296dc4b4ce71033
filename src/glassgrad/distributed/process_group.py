"""ProcessGroup: the ranks that communicate together, one collective after the other, at once or in the background."""

from __future__ import annotations

import os
import pickle
import queue
import threading
from collections.abc import Callable, Iterable, Sequence
from datetime import timedelta
from typing import Any

import numpy as np

from ..core.tensor import share
from ..multiprocessing.failures import DistBackendError
from ..multiprocessing.reduce_op import RedOpType
from .calls import Call, call_site
from .work import Work

__all__ = ["ProcessGroup", "pickled"]


def pickled(value: Any) -> np.ndarray:
    """An object as bytes to be sent."""
    return np.frombuffer(bytearray(pickle.dumps(value)), np.uint8)


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
        self.pending = 0  # how many collectives wait for the thread, or are under way there
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

    def call(self, name: str, operands: str, timeout: float | None = None) -> Call:
        """What this rank is about to do, where the program asks for it, within the group's timeout or another."""
        return Call(name, operands, call_site(), self.timeout.total_seconds() if timeout is None else timeout)

    def run(self, call: Call, steps: Callable[[], None], tensors: Sequence[Any] = (), wait: bool = True) -> Work:
        """Meet the other ranks in a call and do ``steps``: now, or with ``wait`` False on a thread of the group's own.

        ``tensors`` will hold the result.
        """
        work = Work(list(tensors))
        if wait and not self.pending:
            with self._turn:
                work._finish(self._tried(call, steps))
        else:
            if self._queue is None:
                self._queue = queue.SimpleQueue()
                threading.Thread(target=self._serve, args=(self._queue,), daemon=True, name="collectives").start()
            with self._turn:
                self.pending += 1
            self._queue.put((call, steps, work))
        if wait:
            work.wait()
        return work

    def _serve(self, waiting: queue.SimpleQueue[Any]) -> None:
        while (entry := waiting.get()) is not None:
            call, steps, work = entry
            error = self._tried(call, steps)
            with self._turn:
                self.pending -= 1
            work._finish(error)
            del entry, steps, work

    def _tried(self, call: Call, steps: Callable[[], None]) -> BaseException | None:
        """Meet and do the steps; what went wrong."""
        try:
            self.check()
            self.channel.meet(call)
            steps()
        except BaseException as error:
            self.broken = self.broken or error
            return error
        return None

    def check(self) -> None:
        """DistBackendError where nothing can be sent any more."""
        if self.broken is not None:
            raise DistBackendError(f"The process group failed before: {self.broken}")
        if not self.owned():
            raise DistBackendError("This process was forked from one of the group, whose connections it may not use")

    def owned(self) -> bool:
        """Whether this process joined the group, and is no fork of one that did."""
        return os.getpid() == self._owner

    def close(self) -> None:
        """Let the group's thread end."""
        if self._queue is not None:
            self._queue.put(None)
            self._queue = None
        if self.broken is None and self.owned():
            self.channel.close()
        self.broken = DistBackendError("it was destroyed")

    # -- arrays and objects ----------------------------------------------------------------------------------------

    def all_reduce(self, array: np.ndarray, op: str = "SUM", wait: bool = True, what: str = "all_reduce") -> Work:
        """Every rank's contiguous ``array`` becomes the reduction of all."""
        call = self.call(what, f"{op} {array.dtype} {array.shape}")
        return self.run(call, lambda: self.channel.all_reduce(array, RedOpType[op]), wait=wait)

    def spread(self, tensors: list[Any], root: int, what: str) -> None:
        """Every rank's ``tensors`` take the values of those of ``root``, all of a dtype in one message."""
        kinds: dict[Any, list[Any]] = {}
        for tensor in tensors:
            kinds.setdefault(tensor._array.dtype, []).append(tensor)
        for same in kinds.values():
            whole = np.concatenate([np.asarray(tensor._array).reshape(-1) for tensor in same])
            call = self.call(what, f"{whole.dtype} {whole.shape} from rank {root}")
            self.run(call, lambda whole=whole: self.channel.broadcast(whole, root))  # type: ignore[misc]
            if self._rank == root:
                continue
            ends = np.cumsum([tensor._array.size for tensor in same])
            for tensor, part in zip(same, np.split(whole, ends[:-1]), strict=True):
                share(tensor)
                np.copyto(tensor._array, part.reshape(tensor._array.shape))

    def exchange(self, call: Call, sources: Iterable[int], contents: dict[int, np.ndarray]) -> list[Any]:
        """Send each rank its pickle of ``contents``; the objects that came from the ranks ``sources``."""
        sizes = {rank: np.empty(1, np.int64) for rank in sources}
        rooms: dict[int, np.ndarray] = {}

        def steps() -> None:
            self.channel.exchange(sizes, {rank: np.array([content.size]) for rank, content in contents.items()})
            rooms.update((rank, np.empty(int(size[0]), np.uint8)) for rank, size in sizes.items())
            self.channel.exchange(rooms, contents)

        self.run(call, steps)
        return [pickle.loads(content.data) for content in rooms.values()]

    def gathered(self, value: Any, what: str = "all_gather_object") -> list[Any]:
        """The objects ``value`` of all ranks."""
        every = range(self.size())
        return self.exchange(self.call(what, ""), every, dict.fromkeys(every, pickled(value)))

    def from_rank(self, root: int, value: Any, what: str) -> Any:
        """The object ``value`` of one rank."""
        contents = [pickled(value if self._rank == root else None)]

        def steps() -> None:
            self.channel.broadcast(size := np.array([contents[0].size]), root)
            if self._rank != root:
                contents[0] = np.empty(int(size[0]), np.uint8)
            self.channel.broadcast(contents[0], root)

        self.run(self.call(what, f"from rank {root}"), steps)
        return value if self._rank == root else pickle.loads(contents[0].data)


ProcessGroup.__module__ = "torch.distributed.distributed_c10d"
