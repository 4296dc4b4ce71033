"""The channel between processes that ``mpiexec`` or ``srun`` started: MPI's own collectives, on the arrays' memory."""

from __future__ import annotations

import hashlib
import math
import os
import pickle
import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from ..ground import launched
from .errors import DistBackendError, DistNetworkError
from .reduce_op import RedOpType, function_of
from .waiting import Call, poll

__all__ = ["Channel", "world"]

_NATIVE = "?bBhHiIlLqQfdFD"  # NumPy's letters of what MPI can add up by itself
_operations: dict[Any, Any] = {}  # MPI's operations for other types, by type and way
_notices: Any = None  # a communicator of all processes, for what goes wrong
_abandoned: list[Any] = []  # what MPI may still write into, though nobody waits for it any more
_PATIENCE = 5.0  # seconds that ranks have to end after one another where a collective failed
_owner = 0  # the process that MPI was started in


def _mpi() -> Any:
    try:
        import mpi4py

        mpi4py.rc.finalize = False  # it would wait for ranks that never come: leave() ends MPI
        from mpi4py import MPI
    except (ImportError, RuntimeError) as error:
        raise RuntimeError(
            f"This process was started by an MPI launcher, and MPI cannot be loaded ({error}): "
            "pip install 'glassgrad[mpi]', or start it otherwise"
        ) from None
    return MPI


def world(rank: int, name: str) -> Channel:
    """The channel between all processes; ``rank`` is what this one is to be."""
    global _notices, _owner
    mpi = _mpi()
    if mpi.Query_thread() != mpi.THREAD_MULTIPLE:
        raise RuntimeError("The MPI library must be one that several threads may call (MPI_THREAD_MULTIPLE)")
    if _notices is None:
        _notices, _owner = mpi.COMM_WORLD.Dup(), os.getpid()
        launched.take_names_away()
    return Channel(mpi, mpi.COMM_WORLD.Split(0, rank), name)


def finalize(well: bool) -> None:
    """End MPI, with all ranks; where not all is ``well``, if they come within some seconds, as MPI itself would wait.

    The launcher takes a rank that leaves without this for one that failed, and ends the others.
    """
    if _owner != os.getpid() or _mpi().Is_finalized():
        return
    if poll(_notices.Ibarrier().Test, math.inf if well else _PATIENCE):
        _mpi().Finalize()


def abort(code: int) -> None:
    """End all ranks at once."""
    sys.stdout.flush()
    sys.stderr.flush()
    if _notices is not None and "GLASSGRAD_JOB" not in os.environ:
        _mpi().COMM_WORLD.Abort(code)
    os._exit(code)  # our launcher's mpiexec ends the others, and says less about it


def _bytes(array: np.ndarray) -> np.ndarray:
    """A contiguous array as what any MPI moves."""
    return array.reshape(-1).view(np.uint8)


class Channel:
    """One group's communicators: for collectives, and for messages between two ranks."""

    def __init__(self, mpi: Any, communicator: Any, name: str) -> None:
        self.mpi, self.comm, self.name = mpi, communicator, name
        self.messages = communicator.Dup()
        self.rank, self.size = communicator.Get_rank(), communicator.Get_size()
        group, everyone = communicator.Get_group(), _notices.Get_group()
        self.globals = mpi.Group.Translate_ranks(group, list(range(self.size)), everyone)

    def narrow(self, ranks: list[int], name: str) -> Channel:
        """The channel between some of the ranks; they alone call this."""
        tag = int.from_bytes(hashlib.blake2b(name.encode(), digest_size=2).digest(), "big")
        return Channel(self.mpi, self.comm.Create_group(self.comm.Get_group().Incl(ranks), tag), name)

    def leave(self, usable: bool) -> None:
        """End the group of all: who still waits for this rank learns that it waits in vain."""
        if not usable or not poll(self.messages.Ibarrier().Test, 1.0):
            self.tell("ended", self._everywhere())

    def _everywhere(self) -> str:
        return self.name.partition(":")[0] + ":*"

    def close(self) -> None:
        """Give the communicators back."""
        self.messages.Free()
        self.comm.Free()

    # -- meeting -------------------------------------------------------------------------------------------------------

    def meet(self, call: Call) -> None:
        """Return once all ranks are here and want the same: the largest and the least of their words' digests agree."""
        digest = int.from_bytes(hashlib.blake2b(call.what.encode(), digest_size=7).digest(), "big")
        mine, extremes = np.array([digest, -digest]), np.empty(2, np.int64)
        request = self.comm.Iallreduce(mine, extremes, self.mpi.MAX)
        try:
            if not poll(request.Test, call.timeout, lambda: self._read_notices(call)):
                self._give_up(call, {})
        except BaseException:
            _abandoned.append((request, mine, extremes))
            raise
        if extremes[0] != -extremes[1]:
            every = self.comm.allgather(str(call))
            told = "; ".join(f"rank {rank} is in {words}" for rank, words in enumerate(every))
            raise DistBackendError(f"The ranks of the group do different things: {told}")

    def _read_notices(self, call: Call) -> None:
        """Raise where another rank of the group gave up or ended."""
        heard = self._heard({})
        if heard:
            self._give_up(call, heard)

    def _heard(self, heard: dict[int, str]) -> dict[int, str]:
        status = self.mpi.Status()
        while _notices.Iprobe(self.mpi.ANY_SOURCE, self.mpi.ANY_TAG, status):
            name, words = pickle.loads(_notices.recv(source=status.Get_source(), tag=status.Get_tag()))
            source = status.Get_source()
            if source in self.globals and name in (self.name, self._everywhere()):
                heard[self.globals.index(source)] = words
        return heard

    def tell(self, words: str, name: str | None = None) -> None:
        """Send a notice to all ranks of the group."""
        notice = pickle.dumps((self.name if name is None else name, words))
        for rank, place in enumerate(self.globals):
            if rank != self.rank:
                _notices.isend(notice, place)

    def _give_up(self, call: Call, heard: dict[int, str]) -> None:
        """Tell the others that this rank is here and waits in vain, hear who else does, and name who is missing."""
        gone = [rank for rank, words in heard.items() if words == "ended"]
        self.tell(f"waits in {call}")
        if gone:
            some = ", ".join(map(str, gone))
            raise DistNetworkError(f"Rank {some} ended or left the group while rank {self.rank} waits in {call}")
        until = time.monotonic() + 1.0
        while time.monotonic() < until and len(self._heard(heard)) < self.size - 1:
            time.sleep(0.01)
        missing = [rank for rank in range(self.size) if rank != self.rank and rank not in heard]
        who = f"rank {', '.join(map(str, missing))} did not come"
        if not missing:
            who = "; ".join(f"rank {rank} {words}" for rank, words in heard.items())
        raise DistNetworkError(f"Timed out waiting {call.timeout * 1000:.0f}ms in {call}: {who}", missing)

    # -- collectives -----------------------------------------------------------------------------------------------

    def _operands(self, array: np.ndarray, op: RedOpType) -> tuple[Any, Any]:
        """How MPI is told of an array, and which of its operations reduces it."""
        mpi = self.mpi
        if array.dtype.kind == "b":
            ways = {"SUM": mpi.LOR, "MAX": mpi.LOR, "BOR": mpi.LOR, "BXOR": mpi.LXOR}
            return [array, mpi.C_BOOL], ways.get(op.name, mpi.LAND)
        if array.dtype.isbuiltin == 1 and array.dtype.char in _NATIVE:
            return array, getattr(mpi, {"PRODUCT": "PROD", "AVG": "SUM"}.get(op.name, op.name))
        key = array.dtype, op
        if key not in _operations:
            kind, way = array.dtype, function_of(op)

            def reduce(source: Any, target: Any, datatype: Any) -> None:
                total = np.frombuffer(target, kind)
                way(total, np.frombuffer(source, kind), out=total)

            _operations[key] = mpi.Op.Create(reduce, commute=True)
        unsigned = {1: (np.uint8, mpi.UINT8_T), 2: (np.uint16, mpi.UINT16_T)}
        view, datatype = unsigned[array.dtype.itemsize]
        return [array.view(view), datatype], _operations[key]

    def all_reduce(self, array: np.ndarray, op: RedOpType) -> None:
        """Every rank's ``array`` becomes the reduction of all."""
        content, way = self._operands(array, op)
        self.comm.Allreduce(self.mpi.IN_PLACE, content, way)

    def reduce(self, array: np.ndarray, root: int, op: RedOpType) -> None:
        """The root's ``array`` becomes the reduction of all; the others' stay."""
        content, way = self._operands(array, op)
        if self.rank == root:
            self.comm.Reduce(self.mpi.IN_PLACE, content, way, root)
        else:
            self.comm.Reduce(content, None, way, root)

    def broadcast(self, array: np.ndarray, root: int) -> None:
        """Every rank's ``array`` becomes the root's."""
        self.comm.Bcast(_bytes(array), root)

    def all_gather(self, whole: np.ndarray, own: np.ndarray) -> None:
        """``whole`` becomes all ranks' ``own``, one behind the other."""
        self.comm.Allgather(_bytes(own), _bytes(whole))

    def reduce_scatter(self, own: np.ndarray, whole: np.ndarray, counts: list[int], op: RedOpType) -> None:
        """``own`` becomes the reduction of this rank's part of all ranks' ``whole``, whose parts have ``counts``."""
        content, way = self._operands(whole, op)
        room, _ = self._operands(own, op)
        self.comm.Reduce_scatter(content, room, counts, way)

    def exchange(self, outputs: dict[int, np.ndarray], inputs: dict[int, np.ndarray]) -> None:
        """Send ``inputs[i]`` to rank i, and receive ``outputs[i]`` from it; each rank names those it deals with."""
        if self.rank in outputs:
            np.copyto(outputs[self.rank], inputs[self.rank].reshape(outputs[self.rank].shape))
        requests = []
        for distance in range(1, self.size):  # each begins with its neighbour, so that nobody is asked by all at once
            source, target = (self.rank - distance) % self.size, (self.rank + distance) % self.size
            if source in outputs:
                requests.append(self.comm.Irecv(_bytes(outputs[source]), source))
            if target in inputs:
                requests.append(self.comm.Isend(_bytes(inputs[target]), target))
        self.mpi.Request.Waitall(requests)

    def agreed(self, fine: bool) -> bool:
        """Whether all ranks say so."""
        answer = np.array([fine], np.int32)
        self.comm.Allreduce(self.mpi.IN_PLACE, answer, self.mpi.MIN)
        return bool(answer[0])

    # -- messages ------------------------------------------------------------------------------------------------------

    def send(self, array: np.ndarray, peer: int, tag: int) -> Message:
        """Begin to send an array to another rank."""
        return Message(self, self.messages.Isend(_bytes(array), peer, tag), array)

    def receive(self, array: np.ndarray, peer: int | None, tag: int) -> Message:
        """Expect an array from another rank, or with None from anybody."""
        source = self.mpi.ANY_SOURCE if peer is None else peer
        return Message(self, self.messages.Irecv(_bytes(array), source, tag), array, True)


class Message:
    """A message under way, and the memory that it is in."""

    def __init__(self, channel: Channel, request: Any, array: np.ndarray, expected: bool = False) -> None:
        self.channel, self.request, self.array, self.expected = channel, request, array, expected
        self.status = channel.mpi.Status()
        self.finished = False
        self.source: int | None = None

    def done(self) -> bool:
        """Whether it is there; DistBackendError for one of another size."""
        if self.finished:
            return True
        mpi = self.channel.mpi
        try:
            self.finished = self.request.Test(self.status)
        except mpi.Exception as error:
            raise DistBackendError(
                f"A message came that does not fit a tensor of {self.array.nbytes} bytes: {error}"
            ) from None
        if self.finished and self.expected:
            self.source = self.status.Get_source()
            size = self.status.Get_count(mpi.BYTE)
            if size != self.array.nbytes:
                raise DistBackendError(f"A message of {size} bytes came for a tensor of {self.array.nbytes} bytes")
        return self.finished

    def wait(self, call: Call) -> None:
        """Return once it is done; DistNetworkError where the other rank is silent for too long."""
        look: Callable[[], None] = lambda: self.channel._read_notices(call)  # noqa: E731
        if not poll(self.done, call.timeout, look):
            _abandoned.append((self.request, self.array))
            raise DistNetworkError(f"Timed out waiting {call.timeout * 1000:.0f}ms in {call}")
