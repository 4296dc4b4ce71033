"""How processes of one machine find each other, and are connected: private sockets, named in a file for one user."""

from __future__ import annotations

import ipaddress
import json
import multiprocessing.connection
import os
import pickle
import secrets
import socket
import stat
import sys
import tempfile
import threading
import time
from collections import defaultdict, deque
from collections.abc import Callable
from contextlib import suppress
from multiprocessing import AuthenticationError
from multiprocessing.connection import Client, Connection, Listener
from typing import Any
from urllib.parse import parse_qsl, urlparse

import numpy as np

from ..ground.waiting import poll
from .failures import DistNetworkError

__all__ = ["card_of", "meet", "place_of", "query_of"]

_FAMILY = "AF_PIPE" if sys.platform == "win32" else "AF_UNIX"  # both end at this machine, and ask for a key besides


def place_of(url: str, rank: int, size: int) -> tuple[str, int, int]:
    """The file by which processes find each other, rank and number of ranks, as PyTorch reads an address."""
    parts = urlparse(url)
    if parts.scheme not in ("env", "tcp", "file"):
        raise RuntimeError(f"No rendezvous handler for {parts.scheme}://")
    known = query_of(url) | {name: str(value) for name, value in (("rank", rank), ("world_size", size)) if value != -1}
    wrong = f"Error initializing torch.distributed using {parts.scheme}:// rendezvous: "

    def read(name: str) -> str:
        if name not in os.environ:
            raise ValueError(f"{wrong}environment variable {name} expected, but not set")
        return os.environ[name]

    host, port, file = "", None, parts.netloc + parts.path
    if parts.scheme == "tcp":
        host, port = parts.hostname or "", parts.port
    elif parts.scheme == "env":
        known = {"rank": known.get("rank") or read("RANK"), "world_size": known.get("world_size") or read("WORLD_SIZE")}
        host, port = read("MASTER_ADDR"), int(read("MASTER_PORT"))
    if parts.scheme == "tcp" and port is None:
        raise ValueError(f"{wrong}port number missing")
    if parts.scheme == "file" and not file:
        raise ValueError(f"{wrong}path missing")
    for name in ("rank", "world_size"):
        if name not in known:
            raise ValueError(f"{wrong}{name.replace('_', ' ')} parameter missing")
    own_rank, count = int(known["rank"]), int(known["world_size"])
    if parts.scheme != "file":
        file = card_of(host, port or 0) if count > 1 else ""
    return file, own_rank, count


def query_of(url: str) -> dict[str, str]:
    """The settings in an address."""
    return dict(parse_qsl(urlparse(url).query))


def card_of(host: str, port: int) -> str:
    """The file that stands for an address of this machine; RuntimeError for any other address."""
    try:
        address = ipaddress.ip_address(socket.gethostbyname(host) if host != "::1" else host)
    except OSError:
        address = None
    if address is None or not address.is_loopback:
        raise RuntimeError(
            "Without MPI the processes of a group meet on one machine, at a loopback address such as 127.0.0.1, not "
            f"at {host}: start them with `glassgrad launch` or mpiexec (pip install 'glassgrad[mpi]')"
        )
    return os.path.join(_private(), str(port))


def _private() -> str:
    """A folder that this user alone may enter."""
    owner = os.getuid() if hasattr(os, "getuid") else os.environ.get("USERNAME", "")
    folder = os.path.join(tempfile.gettempdir(), f"glassgrad-{owner}")
    os.makedirs(folder, 0o700, exist_ok=True)
    about = os.lstat(folder)
    if sys.platform != "win32" and (
        not stat.S_ISDIR(about.st_mode) or about.st_uid != owner or stat.S_IMODE(about.st_mode) & 0o077
    ):
        raise RuntimeError(f"{folder} must be a folder that this user alone may enter (chmod 700)")
    return folder


class _Door:
    """A socket that others come to; of those who came, the rank that they said first, and the connection."""

    def __init__(self, address: str, key: bytes) -> None:
        self.listener = Listener(address, _FAMILY, authkey=key)
        self.came: list[tuple[int, Connection[Any, Any]]] = []
        self.open = True
        threading.Thread(target=self._receive, daemon=True, name="meeting").start()

    def _receive(self) -> None:
        while self.open:
            try:
                line = self.listener.accept()
                self.came.append((line.recv(), line))
            except (AuthenticationError, EOFError, ConnectionError):
                continue  # somebody without the key, or who went away
            except OSError:
                return  # closed

    def close(self) -> None:
        self.open = False
        with suppress(OSError, EOFError, AuthenticationError):
            Client(self.listener.address).close()  # so that the thread stops waiting
        self.listener.close()


def meet(card: str, rank: int, size: int, timeout: float) -> dict[int, Any]:
    """Connections to all other ranks, by rank; DistNetworkError where some do not come in time.

    Each rank has a socket, to which those of higher ranks come.
    card   a file that rank 0 writes for the others: where its socket is, and the key; gone when all are there
    """
    until = time.monotonic() + timeout
    if rank == 0:
        start = r"\\.\pipe" if sys.platform == "win32" else _private()
        address, key = os.path.join(start, f"door-{secrets.token_hex(4)}-0"), secrets.token_bytes(32)
        lines: dict[int, Any] = {}
    else:
        address, key, first = _reached(lambda: _read(card), 0, rank, timeout)
        lines = {0: first}
    try:
        door = _Door(_beside(address, rank), key)
    except OSError as error:
        raise DistNetworkError(f"Rank {rank} cannot wait for others, as one of the same rank may do: {error}") from None
    try:
        if rank == 0:
            _write(card, {"address": address, "key": key.hex()})
        for lower in range(1, rank):
            there = _beside(address, lower), key
            lines[lower] = _reached(lambda there=there: there, lower, rank, until - time.monotonic())[2]  # type: ignore
        wanted = {*range(rank + 1, size)}
        poll(lambda: len(door.came) >= len(wanted), until - time.monotonic())
        came = [number for number, _ in door.came]
        if len({*came}) < len(came) or {*came} - wanted:
            raise DistNetworkError(f"Processes say that they are the ranks {sorted(came)}, and not {sorted(wanted)}")
        if missing := wanted - {*came}:
            late = ", ".join(map(str, sorted(missing)))
            raise DistNetworkError(f"Timed out: rank {rank} waited {timeout:g} s, and rank {late} did not come")
        return lines | dict(door.came)
    finally:
        door.close()
        if rank == 0 and os.path.exists(card) and _read(card)[1] == key:
            os.unlink(card)


def _beside(address: str, rank: int) -> str:
    """The socket of a rank, from that of rank 0."""
    return f"{address.removesuffix('-0')}-{rank}"


def _write(card: str, content: dict[str, Any]) -> None:
    part = f"{card}.{os.getpid()}"
    with open(os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
        json.dump(content, file)
    os.replace(part, card)


def _read(card: str) -> tuple[str, bytes]:
    with open(card) as file:
        content = json.load(file)
    return content["address"], bytes.fromhex(content["key"])


def _reached(
    where: Callable[[], tuple[str, bytes]], rank: int, own: int, timeout: float
) -> tuple[str, bytes, Connection[Any, Any]]:
    """The socket of a rank and the key, which ``where`` gives, and the connection to it, as soon as there is one."""
    peer: list[Any] = []

    def visit() -> bool:
        with suppress(OSError, ValueError, KeyError, EOFError, AuthenticationError):  # nobody yet, or gone already
            address, key = where()
            line = Client(address, authkey=key)
            line.send(own)
            peer[:] = address, key, line
        return bool(peer)

    if not poll(visit, timeout):
        raise DistNetworkError(f"Timed out: rank {rank} could not be reached by rank {own} within {timeout:g} s")
    return peer[0], peer[1], peer[2]


# -- connections between all of some processes of one machine ----------------------------------------------------------
# Bytes, and shared memory, sent to each other by keys.


class Mesh:
    """This process's connections to all others, and a thread that sorts what comes through them."""

    def __init__(self, lines: dict[int, Any]) -> None:
        self.lines = lines
        self.locks = {rank: threading.Lock() for rank in lines}
        self.gone: set[int] = set()
        self.arrived: dict[Any, deque[Any]] = defaultdict(deque)  # what nobody took yet, by rank, group and kind
        self.expected: list[Message] = []  # in the order of asking
        self.handing_out = threading.Lock()
        self.reader = threading.Thread(target=self._read, daemon=True, name="messages")
        if lines:
            self.reader.start()

    def post(self, rank: int, key: Any, content: Any, memory: Any = None) -> bool:
        """Send bytes to a rank, and with them shared memory; whether they left: who has got them may be gone by now."""
        try:
            with self.locks[rank]:
                self.lines[rank].send_bytes(pickle.dumps((key, memory is not None)))
                self.lines[rank].send_bytes(content)
                if memory is not None:
                    _hand(self.lines[rank], memory)
            return True
        except (OSError, ValueError, TypeError):
            self.gone.add(rank)  # who waits for it says so
            return False

    def _read(self) -> None:
        waiting: dict[Any, int] = {line: rank for rank, line in self.lines.items()}
        while waiting:
            try:
                ready: list[Any] = multiprocessing.connection.wait(list(waiting))
            except (OSError, ValueError):  # closed by this process
                return
            for line in ready:
                try:
                    key, handed = pickle.loads(line.recv_bytes())
                    self.arrived[waiting[line], key].append((line.recv_bytes(), _handed(line) if handed else None))
                except (OSError, EOFError, TypeError, ValueError, IndexError):  # with IndexError, no memory came
                    self.gone.add(waiting.pop(line))

    def hand_out(self) -> None:
        """Give what came to those that expect it, the first to ask first."""
        with self.handing_out:
            for message in [*self.expected]:
                key = next((key for key in message.senders if self.arrived.get(key)), None)
                if key is not None:
                    message.take(key, self.arrived[key].popleft()[0])
                    self.expected.remove(message)

    def expect(self, senders: dict[Any, int], array: np.ndarray) -> Message:
        """A message for an array: from one of ``senders``, by rank and key."""
        message = Message(self, senders, array)
        self.expected.append(message)
        return message

    def abandon(self, message: Message) -> None:
        """Expect it no more."""
        with self.handing_out:
            if message in self.expected:
                self.expected.remove(message)

    def close(self) -> None:
        """End the connections, which the others and the thread see at once."""
        if sys.platform != "win32":
            for line in self.lines.values():
                with _socket(line) as ended, suppress(OSError):  # not where the other side was first
                    ended.shutdown(socket.SHUT_RDWR)
            if self.reader.is_alive():
                self.reader.join()  # else it might read what is opened next, by the same number
        for line in self.lines.values():
            line.close()


def _socket(line: Any) -> socket.socket:
    return socket.fromfd(line.fileno(), socket.AF_UNIX, socket.SOCK_STREAM)


def _hand(line: Any, memory: Any) -> None:
    if sys.platform == "win32":
        line.send(memory.handle)
    else:
        with _socket(line) as other:
            socket.send_fds(other, [b"m"], [memory.handle])


def _handed(line: Any) -> Any:
    if sys.platform == "win32":
        return line.recv()
    with _socket(line) as other:
        return socket.recv_fds(other, 1, 1)[1][0]


class Message:
    """A message for an array; called, it tells its sender and number of bytes, or None while it is under way."""

    def __init__(self, mesh: Mesh, senders: dict[Any, int], array: np.ndarray) -> None:
        self.mesh, self.senders, self.array = mesh, senders, array
        self.came: tuple[int, int] | None = None

    def take(self, key: Any, content: bytes) -> None:
        """Write what came into the array, where it fits."""
        if len(content) == self.array.nbytes:
            self.array.reshape(-1).view(np.uint8)[:] = np.frombuffer(content, np.uint8)
        self.came = self.senders[key], len(content)

    def __call__(self) -> tuple[int, int] | None:
        self.mesh.hand_out()
        return self.came
