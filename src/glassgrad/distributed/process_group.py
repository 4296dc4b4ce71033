"""ProcessGroup: the ranks that communicate together, and how arrays go round among them."""

from __future__ import annotations

import itertools
import queue
import threading
import time
from collections.abc import Callable, Sequence
from datetime import timedelta
from typing import Any

import numpy as np

from .errors import DistBackendError, DistNetworkError
from .mesh import Mesh, parcel, push, transfer
from .work import Work

__all__ = ["ProcessGroup"]

OPERATIONS = (
    "all_reduce", "reduce", "broadcast", "all_gather", "gather", "scatter", "reduce_scatter", "all_to_all", "barrier",
    "monitored_barrier",
)  # fmt: skip
_SMALL = 1 << 15  # bytes up to which ranks exchange whole arrays rather than parts


def flat(array: np.ndarray) -> memoryview:
    """The bytes of a contiguous array."""
    return memoryview(array.reshape(-1).view(np.uint8))  # type: ignore[arg-type]


class ProcessGroup:
    """Some of the processes, each with a rank; every method here is a collective on contiguous NumPy arrays.

    All ranks must call the same methods in the same order. What goes wrong in one ends the group.
    """

    def __init__(self, mesh: Mesh | None, name: str, ranks: Sequence[int], rank: int, timeout: timedelta) -> None:
        self.mesh, self.group_name, self.ranks, self._rank = mesh, name, list(ranks), rank
        self.timeout = timeout
        self.group_desc = "default_pg" if name == "0" else "undefined"
        self.broken: BaseException | None = None
        self._number = itertools.count()
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

    # -- one after the other ---------------------------------------------------------------------------------------

    def run(self, steps: Callable[[], None], tensors: list[Any], wait: bool) -> Work:
        """Do ``steps`` after all that was begun before: now, or with ``wait`` False on a thread of the group's own."""
        work = Work(tensors)
        if wait and not self._pending:
            try:
                with self._turn:
                    self._guarded(steps)
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
        self._queue.put((steps, work))
        if wait:
            work.wait()
        return work

    def _serve(self, waiting: queue.SimpleQueue[Any]) -> None:
        while (entry := waiting.get()) is not None:
            steps, work = entry
            error = None
            try:
                self._guarded(steps)
            except BaseException as caught:
                error = caught
            with self._turn:
                self._pending -= 1
            work._finish(error)
            del entry, steps, work

    def _guarded(self, steps: Callable[[], None]) -> None:
        if self.broken is not None:
            raise DistBackendError(f"The process group failed before: {self.broken}")
        try:
            steps()
        except BaseException as error:
            self.broken = error
            mesh = self.mesh
            if mesh is None:
                raise
            told = mesh.broken.get(self.group_name)
            if told is not None and isinstance(error, DistNetworkError):
                self.broken = DistNetworkError(f"The collective was given up by another rank. From {told}")
                raise self.broken from None
            # those who wait for this rank shall not wait for nothing
            mesh.give_up(self.group_name, self.ranks, str(error) or type(error).__name__)
            raise

    def close(self) -> None:
        """Let the group's thread end."""
        if self._queue is not None:
            self._queue.put(None)
            self._queue = None
        self.broken = DistBackendError("it was destroyed")

    # -- who sends what to whom ------------------------------------------------------------------------------------

    def _begin(self, operation: str, timeout: float | None = None) -> _Round:
        return _Round(self, OPERATIONS.index(operation), next(self._number) & 0xFFFFFFFF, timeout)

    def all_reduce(self, array: np.ndarray, way: Callable[..., Any], average: bool = False) -> None:
        """Every rank's ``array`` becomes the reduction of all: the same bits everywhere."""
        n, r = self.size(), self._rank
        if n > 1:
            go = self._begin("all_reduce")
            whole = array.reshape(-1)
            if array.nbytes <= _SMALL or whole.size < n:
                parts = np.empty((n, whole.size), whole.dtype)
                parts[r] = whole
                self._ring(go, list(parts))
                way(parts[0], parts[1], out=whole)
                for part in parts[2:]:
                    way(whole, part, out=whole)
            else:
                cuts = [whole.size * i // n for i in range(n + 1)]
                chunks = [whole[a:b] for a, b in itertools.pairwise(cuts)]
                room = np.empty(max(chunk.size for chunk in chunks), whole.dtype)
                for step in range(n - 1):
                    mine = chunks[(r - step - 2) % n]
                    came = room[: mine.size]
                    go(r + 1, chunks[(r - step - 1) % n], r - 1, came)
                    way(mine, came, out=mine)
                self._ring(go, chunks)
        if average:
            np.divide(array, array.dtype.type(n), out=array)

    def _ring(self, go: _Round, parts: list[np.ndarray]) -> None:
        """Every rank has its own of the parts; after this all have all."""
        n, r = self.size(), self._rank
        for step in range(n - 1):
            go(r + 1, parts[(r - step) % n], r - 1, parts[(r - step - 1) % n])

    def reduce(self, array: np.ndarray, root: int, way: Callable[..., Any], average: bool = False) -> None:
        """The root's ``array`` becomes the reduction of all; the others' stay."""
        n = self.size()
        place = (self._rank - root) % n
        total = array if place == 0 else array.copy()
        came = np.empty_like(array)
        go, mask = self._begin("reduce"), 1
        while mask < n:
            if place & mask:
                go(place - mask + root, total, None, None)
                break
            if place + mask < n:
                go(None, None, place + mask + root, came)
                way(total, came, out=total)
            mask *= 2
        if average and place == 0:
            np.divide(array, array.dtype.type(n), out=array)

    def broadcast(self, array: np.ndarray, root: int) -> None:
        """Every rank's ``array`` becomes the root's."""
        n = self.size()
        place = (self._rank - root) % n
        go, mask = self._begin("broadcast"), 1
        while mask < n:
            if place & mask:
                go(None, None, place - mask + root, array)
                break
            mask *= 2
        while mask := mask // 2:
            if place + mask < n:
                go(place + mask + root, array, None, None)

    def all_gather(self, arrays: list[np.ndarray]) -> None:
        """``arrays`` has this rank's own at its rank; after this it has everybody's."""
        self._ring(self._begin("all_gather"), arrays)

    def gather(self, own: np.ndarray, arrays: list[np.ndarray] | None, root: int) -> None:
        """The root's ``arrays`` become everybody's ``own``."""
        go = self._begin("gather")
        if self._rank != root:
            go(root, own, None, None)
            return
        for rank, room in enumerate(arrays or ()):
            if rank == root:
                np.copyto(room, own)
            else:
                go(None, None, rank, room)

    def scatter(self, own: np.ndarray, arrays: list[np.ndarray] | None, root: int) -> None:
        """Everybody's ``own`` becomes theirs of the root's ``arrays``."""
        go = self._begin("scatter")
        if self._rank != root:
            go(None, None, root, own)
            return
        for rank, content in enumerate(arrays or ()):
            if rank == root:
                np.copyto(own, content)
            else:
                go(rank, content, None, None)

    def reduce_scatter(
        self, own: np.ndarray, arrays: list[np.ndarray], way: Callable[..., Any], average: bool = False
    ) -> None:
        """``own`` becomes the reduction of all ranks' arrays at this rank; ``arrays`` are written over."""
        n, r = self.size(), self._rank
        go = self._begin("reduce_scatter")
        came = np.empty(max(array.size for array in arrays), own.dtype)
        for step in range(n - 1):
            mine = arrays[(r - step - 2) % n].reshape(-1)
            go(r + 1, arrays[(r - step - 1) % n], r - 1, came[: mine.size])
            way(mine, came[: mine.size], out=mine)
        np.copyto(own, arrays[r])
        if average:
            np.divide(own, own.dtype.type(n), out=own)

    def all_to_all(self, outputs: list[np.ndarray], inputs: list[np.ndarray]) -> None:
        """``outputs[i]`` becomes what rank i has at this rank among its ``inputs``."""
        n, r = self.size(), self._rank
        go = self._begin("all_to_all")
        np.copyto(outputs[r], inputs[r])
        for step in range(1, n):
            to, source = (r + step) % n, (r - step) % n
            go(to, inputs[to], source, outputs[source])

    def barrier(self) -> None:
        """Return once all ranks are here."""
        go, distance = self._begin("barrier"), 1
        nothing = np.empty(0, np.uint8)
        while distance < self.size():
            go(self._rank + distance, nothing, self._rank - distance, nothing)
            distance *= 2

    def monitored_barrier(self, timeout: float, wait_all_ranks: bool) -> None:
        """The same, rank 0 telling which ranks are missing after ``timeout`` seconds."""
        go = self._begin("monitored_barrier", timeout)
        nothing = np.empty(0, np.uint8)
        if self._rank:
            go(0, nothing, None, None)
            go.until = time.monotonic() + self.timeout.total_seconds()
            go(None, None, 0, nothing)
            return
        missing = []
        for rank in range(1, self.size()):
            try:
                go(None, None, rank, nothing)
            except RuntimeError:
                missing.append(rank)
                if not wait_all_ranks:
                    break
        if missing:
            some = "Ranks " + ", ".join(map(str, missing)) if len(missing) > 1 else f"Rank {missing[0]}"
            raise DistBackendError(f"[Rank 0]: {some} failed to pass monitoredBarrier in {timeout * 1000:.0f} ms")
        go.until = time.monotonic() + timeout
        for rank in range(1, self.size()):
            go(rank, nothing, None, None)


ProcessGroup.__module__ = "torch.distributed.distributed_c10d"


def _told(mark: tuple[int, int]) -> str:
    known = OPERATIONS[mark[0]] if mark[0] < len(OPERATIONS) else "something unknown"
    return f"{known} as number {mark[1]}"


class _Round:
    """One collective: its mark, its deadline, and the lines of its group."""

    def __init__(self, group: ProcessGroup, operation: int, number: int, timeout: float | None) -> None:
        self.group, self.mark = group, (operation, number)
        self.timeout = group.timeout.total_seconds() if timeout is None else timeout
        self.until = time.monotonic() + self.timeout

    def __call__(
        self, to: int | None, content: np.ndarray | None, source: int | None, room: np.ndarray | None
    ) -> None:
        """Send ``content`` to a rank of the group, and receive into ``room`` from another (each counted in a ring)."""
        group, mesh, sending, receiving = self.group, self.group.mesh, None, None
        if mesh is None:
            raise DistBackendError("The process group was destroyed")
        if to is not None and content is not None:
            peer = group.ranks[to % len(group.ranks)]
            pieces = parcel(self.mark, flat(content))
            sending = peer, mesh.line_to(group.group_name, peer, self.until), pieces
        if source is not None and room is not None:
            peer = group.ranks[source % len(group.ranks)]
            if sending is not None and (group.group_name, peer) not in mesh.incoming:
                push(*sending)  # who is to answer may wait for it
            line = mesh.line_from(group.group_name, peer, self.until, self.timeout)
            receiving = peer, line, flat(room)
        transfer(self.mark, _told, sending, receiving, self.until, self.timeout)
