"""How a process joins its group: by MPI where ``mpiexec`` started it, otherwise with others of this machine."""

from __future__ import annotations

import os
import sys
import traceback
from typing import Any
from urllib.parse import parse_qsl, urlparse

from ..ground import launched
from . import local, meeting

__all__ = ["connect"]


def connect(
    url: str, rank: int, size: int, timeout: float, name: str, alone: bool = False
) -> tuple[Any, int, int]:
    """The channel to all other processes, this one's rank, and how many they are.

    url     ``env://``, ``tcp://host:port`` or ``file://path``, with ``rank`` and ``size`` (-1: from url or environment)
    name    of the group, which no other one of this process had
    alone   a process that nothing is said about is a world of its own
    """
    place = launched.place()
    if place is not None and size in (-1, place.size) and _asked(url, "world_size", place.size):
        from . import mpi

        channel = mpi.world(place.rank if rank == -1 else rank, name)
        if channel.size > 1:
            _tell_of_failures(channel.rank)
        return channel, channel.rank, channel.size
    if alone and "RANK" not in os.environ and rank == -1:
        card, rank, size = "", 0, 1
    else:
        card, rank, size = _where(url, rank, size)
    if not 0 <= rank < size:
        raise ValueError(f"rank {rank} is none of the {size} ranks of the group")
    lines = meeting.meet(card, rank, size, timeout) if size > 1 else {}
    return local.Channel(local.Mesh(lines), name, list(range(size)), rank), rank, size


def _asked(url: str, name: str, value: int) -> bool:
    """Whether an address leaves ``name`` open, or names this value."""
    return int(dict(parse_qsl(urlparse(url).query)).get(name, value)) == value


def _where(url: str, rank: int, size: int) -> tuple[str, int, int]:
    """The file by which processes find each other, rank and number of ranks, as PyTorch reads an address."""
    parts = urlparse(url)
    query: dict[str, str] = dict(parse_qsl(parts.query))
    query |= {name: str(value) for name, value in (("rank", rank), ("world_size", size)) if value != -1}
    wrong = f"Error initializing torch.distributed using {parts.scheme}:// rendezvous: "

    def read(name: str) -> str:
        if name not in os.environ:
            raise ValueError(f"{wrong}environment variable {name} expected, but not set")
        return os.environ[name]

    if parts.scheme == "env":
        found = int(query["rank"] if "rank" in query else read("RANK"))
        count = int(query["world_size"] if "world_size" in query else read("WORLD_SIZE"))
        host, port = read("MASTER_ADDR"), int(read("MASTER_PORT"))
        return (meeting.card_of(host, port) if count > 1 else ""), found, count
    if parts.scheme not in ("tcp", "file"):
        raise RuntimeError(f"No rendezvous handler for {parts.scheme}://")
    if parts.scheme == "tcp" and parts.port is None:
        raise ValueError(f"{wrong}port number missing")
    if parts.scheme == "file" and not parts.netloc + parts.path:
        raise ValueError(f"{wrong}path missing")
    for name, words in (("rank", "rank"), ("world_size", "world size")):
        if name not in query:
            raise ValueError(f"{wrong}{words} parameter missing")
    found, count = int(query["rank"]), int(query["world_size"])
    if parts.scheme == "file":
        return parts.netloc + parts.path, found, count
    return (meeting.card_of(parts.hostname or "", parts.port or 0) if count > 1 else ""), found, count


def _tell_of_failures(rank: int) -> None:
    """Have an error that nobody catches name the rank, as PyTorch does, and end the other ranks."""

    def show(kind: type[BaseException], error: BaseException, place: Any) -> None:
        failed(rank, error, "".join(traceback.format_exception(error)))

    sys.excepthook = show


def failed(rank: int, error: BaseException, text: str) -> None:
    """Print the traceback of a rank's error and end all ranks."""
    from . import mpi

    print("\n".join(f"[rank{rank}]: {line}" for line in text.splitlines()), file=sys.stderr, flush=True)
    mpi.abort(130 if isinstance(error, KeyboardInterrupt) else 1)
