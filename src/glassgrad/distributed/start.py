"""How a process joins its group: by MPI where ``mpiexec`` started it, otherwise with others of this machine."""

from __future__ import annotations

from typing import Any

from ..ground import launched
from ..multiprocessing import meeting
from ..multiprocessing.meeting import Mesh
from ..multiprocessing.mpi import begun, name_failures
from . import local, mpi


def connect(url: str, rank: int, size: int, timeout: float, name: str) -> tuple[Any, int, int]:
    """The channel to all other processes, this one's rank, and how many they are.

    url     ``env://``, ``tcp://host:port`` or ``file://path``, with ``rank`` and ``size`` (-1: from url or environment)
    name    of the group, which no other one of this process had
    """
    place = launched.place()
    if place is not None and {str(size), meeting.query_of(url).get("world_size", "-1")} <= {"-1", str(place.size)}:
        channel = mpi.Channel(begun().mpi.COMM_WORLD.Split(0, place.rank if rank == -1 else rank), name)
        if channel.size > 1:
            name_failures(channel.rank)
        return channel, channel.rank, channel.size
    card, rank, size = meeting.place_of(url, rank, size)
    if not 0 <= rank < size:
        raise ValueError(f"rank {rank} is none of the {size} ranks of the group")
    lines = meeting.meet(card, rank, size, timeout) if size > 1 else {}
    return local.Channel(Mesh(lines), name, list(range(size)), rank), rank, size
