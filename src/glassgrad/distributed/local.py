"""The channel between processes of one machine without MPI: authenticated connections, and arrays in shared memory."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from typing import Any

import numpy as np

from ..ground.shared import allocate, mapped
from ..ground.waiting import poll
from ..multiprocessing.meeting import Mesh
from ..multiprocessing.reduce_op import RedOpType, function_of
from .calls import Call
from .tensors import raw

_SMALL = 1 << 15  # bytes up to which every rank reduces whole arrays, rather than its part of them
_FEWEST = 1 << 16  # bytes of an outbox


class Channel:
    """One group's way through the mesh."""

    def __init__(self, mesh: Mesh, name: str, ranks: list[int], rank: int) -> None:
        self.mesh, self.name, self.ranks, self.rank, self.size = mesh, name, ranks, rank, len(ranks)
        self.others = [place for place in range(self.size) if place != rank]
        self.boxes: list[dict[int, Any]] = [{}, {}]  # what each rank shows, of two turns
        self.turn = 0

    def narrow(self, ranks: list[int], name: str) -> Channel:
        """The channel between some of the ranks."""
        return Channel(self.mesh, name, [self.ranks[rank] for rank in ranks], ranks.index(self.rank))

    def leave(self, usable: bool) -> None:
        """End the group of all."""
        self.mesh.close()

    def close(self) -> None:
        """Let the memory go; the connections are the mesh's."""
        self.boxes = [{}, {}]

    # -- meeting -------------------------------------------------------------------------------------------------------

    def meet(self, call: Call) -> None:
        """Return once all ranks are here and want the same."""
        self.call = call
        heard = self._told((call.what, str(call)))
        if len({what for (what, _), _ in heard.values()}) > 1:
            raise call.unlike(heard[rank][0][1] for rank in range(self.size))

    def look(self, call: Call, ranks: list[int], done: Callable[[], bool]) -> None:
        """Raise where all of some ranks are gone, and what they were to do is not done."""
        if all(self.ranks[rank] in self.mesh.gone for rank in ranks) and not done():
            raise call.ended(ranks, self.rank)

    def _told(self, value: Any, memory: Any = None) -> dict[int, Any]:
        """Tell all others a value, and return once they told theirs: what all say, and the memory they hand along."""
        content, key = pickle.dumps(value), (self.name, None)
        for rank in self.others:
            self.mesh.post(self.ranks[rank], key, content, memory)
        arrived = {rank: self.mesh.arrived[self.ranks[rank], key] for rank in self.others}

        def look() -> None:
            for rank, contents in arrived.items():
                self.look(self.call, [rank], lambda contents=contents: bool(contents))  # type: ignore[misc]

        if not poll(lambda: all(arrived.values()), self.call.timeout, look):
            raise self.call.late([rank for rank, contents in arrived.items() if not contents])
        heard: dict[int, Any] = {self.rank: (value, None)}
        for rank, contents in arrived.items():
            message, handle = contents.popleft()
            heard[rank] = pickle.loads(message), handle
        return heard

    # -- collectives: each rank shows what it has in shared memory, and computes its part ------------------------------

    def _shown(self, pieces: dict[Any, np.ndarray]) -> Callable[..., np.ndarray]:
        """Show arrays, each by a key, to all ranks; what gives the bytes that a rank shows by a key.

        Two boxes take turns: who writes into one knows that all others are past what they read in it.
        """
        self.turn ^= 1
        boxes, places, size, fresh = self.boxes[self.turn], {}, 0, None
        for key, piece in pieces.items():
            places[key] = size, size + piece.nbytes
            size += piece.nbytes
        if self.rank not in boxes or boxes[self.rank].size < size:
            boxes[self.rank] = fresh = allocate(max(2 * size, _FEWEST))
        for key, piece in pieces.items():
            boxes[self.rank][slice(*places[key])] = raw(piece)
        heard = self._told((places, boxes[self.rank].size), fresh)
        for rank, ((_, whole), handle) in heard.items():
            if handle is not None:
                boxes[rank] = mapped(handle, whole)
        return lambda rank, key=None: boxes[rank][slice(*heard[rank][0][0][key])]

    def _total(self, room: np.ndarray, shown: Callable[..., np.ndarray], op: RedOpType, key: Any = None) -> None:
        """``room`` becomes the reduction of what all ranks show by a key, in the order of ranks."""
        np.copyto(room, shown(0, key).view(room.dtype))
        for rank in range(1, self.size):
            function_of(op)(room, shown(rank, key).view(room.dtype), out=room)

    def all_reduce(self, array: np.ndarray, op: RedOpType) -> None:
        """Every rank's ``array`` becomes the reduction of all: the same bits everywhere."""
        whole = array.reshape(-1)
        if array.nbytes <= _SMALL:
            self._total(whole, self._shown({None: whole}), op)
            return
        parts = np.array_split(whole, self.size)
        self._total(parts[self.rank], self._shown(dict(enumerate(parts))), op, self.rank)
        shown = self._shown({None: parts[self.rank]})
        for rank in self.others:
            raw(parts[rank])[:] = shown(rank)

    def reduce(self, array: np.ndarray, root: int, op: RedOpType) -> None:
        """The root's ``array`` becomes the reduction of all; the others' stay."""
        shown = self._shown({None: array})
        if self.rank == root:
            self._total(array.reshape(-1), shown, op)

    def broadcast(self, array: np.ndarray, root: int) -> None:
        """Every rank's ``array`` becomes the root's."""
        shown = self._shown({None: array} if self.rank == root else {})
        if self.rank != root:
            raw(array)[:] = shown(root)

    def all_gather(self, whole: np.ndarray, own: np.ndarray) -> None:
        """``whole`` becomes all ranks' ``own``, one behind the other."""
        shown = self._shown({None: own})
        for rank, part in enumerate(raw(whole).reshape(self.size, -1)):
            part[:] = shown(rank)

    def reduce_scatter(self, own: np.ndarray, whole: np.ndarray, counts: list[int], op: RedOpType) -> None:
        """``own`` becomes the reduction of this rank's part of all ranks' ``whole``, whose parts have ``counts``."""
        parts = np.split(whole, np.cumsum(counts)[:-1])
        self._total(own.reshape(-1), self._shown(dict(enumerate(parts))), op, self.rank)

    def exchange(self, outputs: dict[int, np.ndarray], inputs: dict[int, np.ndarray]) -> None:
        """Send ``inputs[i]`` to rank i, and receive ``outputs[i]`` from it; each rank names those it deals with."""
        shown = self._shown(inputs)
        for rank, room in outputs.items():
            raw(room)[:] = shown(rank, self.rank)

    # -- messages ------------------------------------------------------------------------------------------------------

    def send(self, array: np.ndarray, peer: int, tag: int) -> Callable[[], Any]:
        """Send an array to another rank, which reads whatever comes: this waits for nobody."""
        sent = self.mesh.post(self.ranks[peer], (self.name, tag), raw(array))
        return lambda: (peer, array.nbytes) if sent else None

    def receive(self, array: np.ndarray, peer: int | None, tag: int) -> Callable[[], Any]:
        """Expect an array from another rank, or with None from anybody; what asks for its sender and size in bytes."""
        sources = self.others if peer is None else [peer]
        return self.mesh.expect({(self.ranks[rank], (self.name, tag)): rank for rank in sources}, array)

    def abandon(self, message: Any) -> None:
        """Expect a message no more."""
        self.mesh.abandon(message)
