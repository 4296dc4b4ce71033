"""The channel between processes that ``mpiexec`` or ``srun`` started: MPI's own collectives, on the arrays' memory."""

from __future__ import annotations

import hashlib
import pickle
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from ..ground.waiting import poll
from ..multiprocessing.failures import DistBackendError
from ..multiprocessing.mpi import begun
from ..multiprocessing.reduce_op import RedOpType, function_of
from .calls import Call
from .tensors import raw

_NATIVE = "?bBhHiIlLqQfdFD"  # NumPy's letters of what MPI can add up by itself
_operations: dict[Any, Any] = {}  # MPI's operations for other types, by type and way
_abandoned: list[Any] = []  # what MPI may still write into, though nobody waits for it any more


def _number(text: str, size: int) -> int:
    return int.from_bytes(hashlib.blake2b(text.encode(), digest_size=size).digest(), "big")


class Channel:
    """One group's communicators: for collectives, and for messages between two ranks."""

    def __init__(self, communicator: Any, name: str) -> None:
        self.mpi, self.notices, _ = begun()
        self.comm, self.messages, self.name = communicator, communicator.Dup(), name
        self.rank, self.size = communicator.Get_rank(), communicator.Get_size()
        group, everyone = communicator.Get_group(), self.notices.Get_group()
        self.globals = self.mpi.Group.Translate_ranks(group, list(range(self.size)), everyone)
        self.everywhere = name.partition(":")[0] + ":*"  # the name of all groups in notices

    def narrow(self, ranks: list[int], name: str) -> Channel:
        """The channel between some of the ranks; they alone call this."""
        return Channel(self.comm.Create_group(self.comm.Get_group().Incl(ranks), _number(name, 2)), name)

    def leave(self, usable: bool) -> None:
        """End the group of all: who still waits for this rank learns that it waits in vain."""
        if not usable or not poll(self.messages.Ibarrier().Test, 1.0):
            self._tell("ended", self.everywhere)

    def close(self) -> None:
        """Give the communicators back."""
        self.messages.Free()
        self.comm.Free()

    # -- meeting -------------------------------------------------------------------------------------------------------

    def meet(self, call: Call) -> None:
        """Return once all ranks are here and want the same: the largest and the least of their words' digests agree."""
        digest = _number(call.what, 7)
        mine, extremes = np.array([digest, -digest]), np.empty(2, np.int64)
        request = self.comm.Iallreduce(mine, extremes, self.mpi.MAX)
        try:
            if not poll(request.Test, call.timeout, lambda: self.look(call)):
                self._give_up(call, {})
        except BaseException:
            _abandoned.append((request, mine, extremes))
            raise
        if extremes[0] != -extremes[1]:
            raise call.unlike(self.comm.allgather(str(call)))

    def look(self, call: Call, *_: Any) -> None:
        """Raise where another rank of the group gave up or ended."""
        if heard := self._heard():
            self._give_up(call, heard)

    def _heard(self) -> dict[int, str]:
        """What other ranks of the group told since it was asked last."""
        heard, status = {}, self.mpi.Status()
        while self.notices.Iprobe(self.mpi.ANY_SOURCE, self.mpi.ANY_TAG, status):
            source = status.Get_source()
            name, words = pickle.loads(self.notices.recv(source=source, tag=status.Get_tag()))
            if source in self.globals and name in (self.name, self.everywhere):
                heard[self.globals.index(source)] = words
        return heard

    def _tell(self, words: str, name: str) -> None:
        """Send a notice to all ranks of the group."""
        notice = pickle.dumps((name, words))
        for rank, place in enumerate(self.globals):
            if rank != self.rank:
                self.notices.isend(notice, place)

    def _give_up(self, call: Call, heard: dict[int, str]) -> None:
        """Tell the others that this rank is here and waits in vain, hear who else does, and name who is missing."""
        self._tell(f"waits in {call}", self.name)
        if gone := [rank for rank, words in heard.items() if words == "ended"]:
            raise call.ended(gone, self.rank)
        until = time.monotonic() + 1.0
        while time.monotonic() < until and len(heard) < self.size - 1:
            time.sleep(0.01)
            heard |= self._heard()
        missing = [rank for rank in range(self.size) if rank != self.rank and rank not in heard]
        raise call.late(missing, ": " + "; ".join(f"rank {rank} {words}" for rank, words in heard.items()))

    # -- collectives ---------------------------------------------------------------------------------------------------

    def _operands(self, array: np.ndarray, op: RedOpType) -> tuple[Any, Any]:
        """How MPI is told of an array, and which of its operations reduces it."""
        mpi, kind = self.mpi, array.dtype
        if kind.kind == "b":
            ways = {"SUM": mpi.LOR, "MAX": mpi.LOR, "BOR": mpi.LOR, "BXOR": mpi.LXOR}
            return [array, mpi.C_BOOL], ways.get(op.name, mpi.LAND)
        if kind.isbuiltin == 1 and kind.char in _NATIVE:
            return array, getattr(mpi, {"PRODUCT": "PROD", "AVG": "SUM"}.get(op.name, op.name))
        if (kind, op) not in _operations:
            way = function_of(op)

            def reduce(source: Any, target: Any, datatype: Any) -> None:
                total = np.frombuffer(target, kind)
                way(total, np.frombuffer(source, kind), out=total)

            _operations[kind, op] = mpi.Op.Create(reduce, commute=True)
        unsigned = {1: (np.uint8, mpi.UINT8_T), 2: (np.uint16, mpi.UINT16_T)}
        view, datatype = unsigned[kind.itemsize]
        return [array.view(view), datatype], _operations[kind, op]

    def all_reduce(self, array: np.ndarray, op: RedOpType) -> None:
        """Every rank's ``array`` becomes the reduction of all."""
        content, way = self._operands(array, op)
        self.comm.Allreduce(self.mpi.IN_PLACE, content, way)

    def reduce(self, array: np.ndarray, root: int, op: RedOpType) -> None:
        """The root's ``array`` becomes the reduction of all; the others' stay."""
        content, way = self._operands(array, op)
        ends = (self.mpi.IN_PLACE, content) if self.rank == root else (content, None)
        self.comm.Reduce(*ends, way, root)

    def broadcast(self, array: np.ndarray, root: int) -> None:
        """Every rank's ``array`` becomes the root's."""
        self.comm.Bcast(raw(array), root)

    def all_gather(self, whole: np.ndarray, own: np.ndarray) -> None:
        """``whole`` becomes all ranks' ``own``, one behind the other."""
        self.comm.Allgather(raw(own), raw(whole))

    def reduce_scatter(self, own: np.ndarray, whole: np.ndarray, counts: list[int], op: RedOpType) -> None:
        """``own`` becomes the reduction of this rank's part of all ranks' ``whole``, whose parts have ``counts``."""
        (content, way), (room, _) = self._operands(whole, op), self._operands(own, op)
        self.comm.Reduce_scatter(content, room, counts, way)

    def exchange(self, outputs: dict[int, np.ndarray], inputs: dict[int, np.ndarray]) -> None:
        """Send ``inputs[i]`` to rank i, and receive ``outputs[i]`` from it; each rank names those it deals with."""
        if self.rank in outputs:
            np.copyto(outputs[self.rank], inputs[self.rank].reshape(outputs[self.rank].shape))
        requests = []
        for distance in range(1, self.size):  # each begins with its neighbour, so that nobody is asked by all at once
            source, target = (self.rank - distance) % self.size, (self.rank + distance) % self.size
            if source in outputs:
                requests.append(self.comm.Irecv(raw(outputs[source]), source))
            if target in inputs:
                requests.append(self.comm.Isend(raw(inputs[target]), target))
        self.mpi.Request.Waitall(requests)

    # -- messages ------------------------------------------------------------------------------------------------------

    def send(self, array: np.ndarray, peer: int, tag: int) -> Callable[[], Any]:
        """Begin to send an array to another rank; what asks whether it is through."""
        return self._begun(self.messages.Isend(raw(array), peer, tag), array)

    def receive(self, array: np.ndarray, peer: int | None, tag: int) -> Callable[[], Any]:
        """Expect an array from another rank, or with None from anybody; what asks for its sender and size in bytes."""
        source = self.mpi.ANY_SOURCE if peer is None else peer
        return self._begun(self.messages.Irecv(raw(array), source, tag), array)

    def abandon(self, message: Any) -> None:
        """Wait for a message no more: MPI may still write it."""
        _abandoned.append(message)

    def _begun(self, request: Any, array: np.ndarray) -> Callable[[], Any]:
        status = self.mpi.Status()

        def arrived() -> tuple[int, int] | None:
            try:
                if not request.Test(status):
                    return None
            except self.mpi.Exception as error:
                words = f"A message came that does not fit a tensor of {array.nbytes} bytes: {error}"
                raise DistBackendError(words) from None
            return status.Get_source(), status.Get_count(self.mpi.BYTE)

        return arrived
