"""The channel between processes of one machine without MPI: authenticated connections, and arrays in shared memory."""

from __future__ import annotations

import multiprocessing.connection
import pickle
import socket
import sys
import threading
from collections import defaultdict, deque
from collections.abc import Callable
from typing import Any

import numpy as np

from ..ground.shared import allocate, mapped
from .errors import DistBackendError, DistNetworkError
from .reduce_op import RedOpType, function_of
from .waiting import Call, poll

__all__ = ["Channel", "Mesh"]

_SMALL = 1 << 15  # bytes up to which every rank reduces whole arrays, rather than its part of them
_FEWEST = 1 << 16  # bytes of an outbox


class Mesh:
    """This process's connections to all others, and a thread that sorts what comes through them."""

    def __init__(self, lines: dict[int, Any]) -> None:
        self.lines = lines
        self.locks = {rank: threading.Lock() for rank in lines}
        self.gone: set[int] = set()
        self.arrived: dict[Any, deque[Any]] = defaultdict(deque)  # what nobody took yet, by (group, kind, rank, tag)
        self.expected: list[Message] = []
        self.sorting = threading.Lock()
        if lines:
            threading.Thread(target=self._read, daemon=True, name="messages").start()

    def post(self, rank: int, key: tuple[str, str, int], content: Any, memory: Any = None) -> None:
        """Send bytes to a rank, and with them shared memory."""
        try:
            with self.locks[rank]:
                self.lines[rank].send_bytes(pickle.dumps((*key, memory is not None)))
                self.lines[rank].send_bytes(content)
                if memory is not None:
                    self._hand(rank, memory)
        except (OSError, ValueError, TypeError):
            self.gone.add(rank)  # who waits for it says so

    def _hand(self, rank: int, memory: Any) -> None:
        if sys.platform == "win32":
            self.lines[rank].send(memory.handle)
        else:
            with socket.fromfd(self.lines[rank].fileno(), socket.AF_UNIX, socket.SOCK_STREAM) as line:
                socket.send_fds(line, [b"m"], [memory.handle])

    def _read(self) -> None:
        waiting: dict[Any, int] = {line: rank for rank, line in self.lines.items()}
        while waiting:
            try:
                ready: list[Any] = multiprocessing.connection.wait(list(waiting))
            except (OSError, ValueError):  # closed by this process
                return
            for line in ready:
                rank = waiting[line]
                try:
                    group, kind, tag, handed = pickle.loads(line.recv_bytes())
                    content: Any = line.recv_bytes()
                    if handed:
                        content = content, _handed(line)
                except (OSError, EOFError, TypeError, ValueError):
                    self.gone.add(rank)
                    del waiting[line]
                    continue
                self._sort((group, kind, rank, tag), content)

    def _sort(self, key: tuple[str, str, int, int], content: Any) -> None:
        with self.sorting:
            for message in self.expected:
                if message.fits(key):
                    self.expected.remove(message)
                    message.arrive(key, content)
                    return
            self.arrived[key].append(content)

    def expect(self, message: Message) -> None:
        """Hand a message what came for it, now or later."""
        with self.sorting:
            for key, contents in self.arrived.items():
                if contents and message.fits(key):
                    message.arrive(key, contents.popleft())
                    return
            self.expected.append(message)

    def close(self) -> None:
        """End the connections, which the others and the thread see at once."""
        for line in self.lines.values():
            if sys.platform != "win32":
                with socket.fromfd(line.fileno(), socket.AF_UNIX, socket.SOCK_STREAM) as ended:
                    ended.shutdown(socket.SHUT_RDWR)
            line.close()


def _handed(line: Any) -> Any:
    if sys.platform == "win32":
        return line.recv()
    with socket.fromfd(line.fileno(), socket.AF_UNIX, socket.SOCK_STREAM) as other:
        return socket.recv_fds(other, 1, 1)[1][0]


class Channel:
    """One group's way through the mesh."""

    def __init__(self, mesh: Mesh, name: str, ranks: list[int], rank: int) -> None:
        self.mesh, self.name, self.ranks, self.rank, self.size = mesh, name, ranks, rank, len(ranks)
        self.others = [place for place in range(self.size) if place != rank]
        self.outboxes: list[Any] = [None, None]
        self.inboxes: list[dict[int, Any]] = [{}, {}]
        self.turn = 0
        self.call = Call("a collective", "", "", 0.0)

    def narrow(self, ranks: list[int], name: str) -> Channel:
        """The channel between some of the ranks."""
        places = [self.ranks[rank] for rank in ranks]
        return Channel(self.mesh, name, places, ranks.index(self.rank))

    def leave(self, usable: bool) -> None:
        """End the group of all."""
        self.mesh.close()

    def close(self) -> None:
        """Let the memory go; the connections are the mesh's."""
        self.outboxes, self.inboxes = [None, None], [{}, {}]

    def meet(self, call: Call) -> None:
        """Return once all ranks are here and want the same."""
        self.call = call
        heard = self._tell("meet", pickle.dumps((call.what, str(call))))
        words = {rank: pickle.loads(content) for rank, content in heard.items()}
        words[self.rank] = call.what, str(call)
        if len({what for what, _ in words.values()}) > 1:
            told = "; ".join(f"rank {rank} is in {words[rank][1]}" for rank in range(self.size))
            raise DistBackendError(f"The ranks of the group do different things: {told}")

    def _tell(self, kind: str, content: bytes, memory: Any = None) -> dict[int, Any]:
        """Send bytes to all others, and return once they sent theirs: what they are, by rank."""
        for rank in self.others:
            self.mesh.post(self.ranks[rank], (self.name, kind, 0), content, memory)
        keys = {rank: (self.name, kind, self.ranks[rank], 0) for rank in self.others}

        def missing() -> list[int]:
            return [rank for rank, key in keys.items() if not self.mesh.arrived.get(key)]

        def look() -> None:
            for rank in missing():
                if self.ranks[rank] in self.mesh.gone and rank in missing():
                    words = f"Rank {rank} ended or left the group while rank {self.rank} waits in {self.call}"
                    raise DistNetworkError(words)

        if not poll(lambda: not missing(), self.call.timeout, look):
            late = missing()
            raise DistNetworkError(
                f"Timed out waiting {self.call.timeout * 1000:.0f}ms in {self.call}: "
                f"rank {', '.join(map(str, late))} did not come", late
            )  # fmt: skip
        return {rank: self.mesh.arrived[key].popleft() for rank, key in keys.items()}

    def _publish(self, content: np.ndarray | None) -> Callable[[int, Any], np.ndarray]:
        """Show an array to all ranks: of a rank, what it shows, as an array of a dtype on its memory.

        Two outboxes take turns: who writes into one knows that all others are past what they read in it.
        """
        self.turn ^= 1
        turn, size = self.turn, 0 if content is None else content.nbytes
        box, fresh = self.outboxes[turn], None
        if box is None or box.size < size:
            box = self.outboxes[turn] = fresh = allocate(max(2 * size, _FEWEST))
        if content is not None:
            box[:size] = content.reshape(-1).view(np.uint8)
        sizes = {self.rank: size}
        heard = self._tell("data", pickle.dumps((size, box.size)), fresh)
        # who has memory of another size sends it along
        for rank, came in heard.items():
            if isinstance(came, tuple):
                size, whole = pickle.loads(came[0])
                self.inboxes[turn][rank] = mapped(came[1], whole)
            else:
                size, _ = pickle.loads(came)
            sizes[rank] = size
        boxes = {**self.inboxes[turn], self.rank: box}
        return lambda rank, kind: boxes[rank][: sizes[rank]].view(kind)

    # -- collectives -----------------------------------------------------------------------------------------------

    def all_reduce(self, array: np.ndarray, op: RedOpType) -> None:
        """Every rank's ``array`` becomes the reduction of all: the same bits everywhere."""
        whole, way = array.reshape(-1), function_of(op)
        shown = self._publish(whole)
        if array.nbytes <= _SMALL or whole.size < self.size:
            self._total(whole, slice(None), shown, way)
            return
        cuts = [whole.size * i // self.size for i in range(self.size + 1)]
        parts = [slice(cuts[rank], cuts[rank + 1]) for rank in range(self.size)]
        self._total(whole[parts[self.rank]], parts[self.rank], shown, way)
        shown = self._publish(whole[parts[self.rank]])
        for rank in self.others:
            whole[parts[rank]] = shown(rank, array.dtype)

    def _total(self, room: np.ndarray, part: slice, shown: Any, way: Callable[..., Any]) -> None:
        pieces = [shown(rank, room.dtype)[part] for rank in range(self.size)]
        np.copyto(room, pieces[0])
        for piece in pieces[1:]:
            way(room, piece, out=room)

    def reduce(self, array: np.ndarray, root: int, op: RedOpType) -> None:
        """The root's ``array`` becomes the reduction of all; the others' stay."""
        shown = self._publish(array)
        if self.rank == root:
            self._total(array.reshape(-1), slice(None), shown, function_of(op))

    def broadcast(self, array: np.ndarray, root: int) -> None:
        """Every rank's ``array`` becomes the root's."""
        shown = self._publish(array if self.rank == root else None)
        if self.rank != root:
            array.reshape(-1)[:] = shown(root, array.dtype)

    def all_gather(self, whole: np.ndarray, own: np.ndarray) -> None:
        """``whole`` becomes all ranks' ``own``, one behind the other."""
        shown = self._publish(own)
        for rank, part in enumerate(whole.reshape(self.size, -1)):
            part[:] = shown(rank, own.dtype)

    def reduce_scatter(self, own: np.ndarray, whole: np.ndarray, counts: list[int], op: RedOpType) -> None:
        """``own`` becomes the reduction of this rank's part of all ranks' ``whole``, whose parts have ``counts``."""
        shown = self._publish(whole)
        start = sum(counts[: self.rank])
        self._total(own.reshape(-1), slice(start, start + counts[self.rank]), shown, function_of(op))

    def exchange(self, outputs: dict[int, np.ndarray], inputs: dict[int, np.ndarray]) -> None:
        """Send ``inputs[i]`` to rank i, and receive ``outputs[i]`` from it; each rank names those it deals with."""
        ends, total = {}, 0
        for rank, content in inputs.items():
            ends[rank] = total, total + content.nbytes
            total += content.nbytes
        table = np.array([ends.get(rank, (0, 0)) for rank in range(self.size)], np.int64).reshape(-1)
        pieces = [content.reshape(-1).view(np.uint8) for content in inputs.values()]
        shown = self._publish(np.concatenate([table.view(np.uint8), *pieces]))
        for rank, room in outputs.items():
            content = shown(rank, np.uint8)
            start, end = content[: table.nbytes].view(np.int64)[2 * self.rank : 2 * self.rank + 2] + table.nbytes
            room.reshape(-1).view(np.uint8)[:] = content[start:end]

    def agreed(self, fine: bool) -> bool:
        """Whether all ranks say so."""
        answer = np.array([fine])
        self.all_reduce(answer, RedOpType.BAND)
        return bool(answer[0])

    # -- messages ------------------------------------------------------------------------------------------------------

    def send(self, array: np.ndarray, peer: int, tag: int) -> Message:
        """Send an array to another rank, which reads whatever comes: this waits for nobody."""
        self.mesh.post(self.ranks[peer], (self.name, "message", tag), array.reshape(-1).view(np.uint8))
        message = Message(self, None, peer, tag)
        message.complete = self.ranks[peer] not in self.mesh.gone
        return message

    def receive(self, array: np.ndarray, peer: int | None, tag: int) -> Message:
        """Expect an array from another rank, or with None from anybody."""
        message = Message(self, array, peer, tag)
        self.mesh.expect(message)
        return message


class Message:
    """A message that was sent or is expected."""

    def __init__(self, channel: Channel, array: np.ndarray | None, peer: int | None, tag: int) -> None:
        self.channel, self.array, self.peer, self.tag = channel, array, peer, tag
        self.source: int | None = None
        self.complete = False
        self.wrong: str | None = None

    def fits(self, key: tuple[str, str, int, int]) -> bool:
        """Whether what came under ``key`` is this."""
        group, kind, rank, tag = key
        peers = self.channel.ranks if self.peer is None else [self.channel.ranks[self.peer]]
        return (group, kind, tag) == (self.channel.name, "message", self.tag) and rank in peers

    def arrive(self, key: tuple[str, str, int, int], content: bytes) -> None:
        """Take what came."""
        array = self.array
        assert array is not None
        self.source = self.channel.ranks.index(key[2])
        if len(content) != array.nbytes:
            self.wrong = f"A message of {len(content)} bytes came for a tensor of {array.nbytes} bytes"
        else:
            array.reshape(-1).view(np.uint8)[:] = np.frombuffer(content, np.uint8)
        self.complete = True

    def done(self) -> bool:
        """Whether it is there; DistBackendError for one of another size."""
        if self.wrong is not None:
            raise DistBackendError(self.wrong)
        return self.complete

    def wait(self, call: Call) -> None:
        """Return once it is done; DistNetworkError where the other rank is silent for too long, or went away."""
        mesh, peers = self.channel.mesh, [self.peer] if self.peer is not None else self.channel.others

        def look() -> None:
            if all(self.channel.ranks[peer] in mesh.gone for peer in peers) and not self.complete:
                raise DistNetworkError(f"Rank {peers[0]} ended or left the group while this one waits in {call}")

        if not poll(self.done, call.timeout, look):
            if self in mesh.expected:
                mesh.expected.remove(self)
            raise DistNetworkError(f"Timed out waiting {call.timeout * 1000:.0f}ms in {call}")
