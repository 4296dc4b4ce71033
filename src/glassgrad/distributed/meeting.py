"""How processes of one machine find each other without MPI: private sockets, named in a file that one user can read."""

from __future__ import annotations

import ipaddress
import json
import os
import secrets
import socket
import stat
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from multiprocessing import AuthenticationError
from multiprocessing.connection import Client, Connection, Listener
from typing import Any

from .errors import DistNetworkError
from .waiting import poll

__all__ = ["card_of", "meet"]

_FAMILY = "AF_PIPE" if sys.platform == "win32" else "AF_UNIX"  # both end at this machine, and ask for a key besides


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
    """A socket that others of the group come to, and whoever came, by what they said first."""

    def __init__(self, key: bytes) -> None:
        address = None if sys.platform == "win32" else os.path.join(_private(), f"door-{secrets.token_hex(4)}")
        self.listener = Listener(address, _FAMILY, authkey=key)
        self.came: list[tuple[Any, Connection[Any, Any]]] = []
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
        try:
            Client(self.listener.address).close()  # so that the thread stops waiting
        except (OSError, EOFError, AuthenticationError):
            pass
        self.listener.close()


def meet(card: str, rank: int, size: int, timeout: float) -> dict[int, Any]:
    """Connections to all other ranks, by rank; DistNetworkError where some do not come in time.

    card   a file that rank 0 writes for the others: where it is, and the key; gone when all are there
    """
    key = secrets.token_bytes(32)
    until = time.monotonic() + timeout
    if rank == 0:
        door = _Door(key)
        try:
            _write(card, {"address": door.listener.address, "key": key.hex()})
            _expect(door, set(range(1, size)), timeout, f"rank 0 waited {timeout:g} s, and")
            lines = {number: line for (number, _), line in door.came}
            doors = {number: address for (number, address), _ in door.came}
            for line in lines.values():
                line.send(doors)
            return lines
        finally:
            door.close()
            if os.path.exists(card) and json.load(open(card))["key"] == key.hex():  # noqa: SIM115
                os.unlink(card)
    first: list[Any] = []
    arrived: Callable[[], bool] = lambda: _visit(card, first)  # noqa: E731
    if not poll(arrived, timeout):
        raise DistNetworkError(f"Timed out: rank 0 could not be reached by rank {rank} within {timeout:g} s ({card})")
    line, key = first
    door = _Door(key)
    try:
        line.send((rank, door.listener.address))
        if not line.poll(max(0.0, until - time.monotonic())):
            raise DistNetworkError(f"Timed out: rank {rank} waited {timeout:g} s, and not all other ranks came")
        lines = {0: line}
        doors = line.recv()
        for number in range(1, rank):
            lines[number] = Client(doors[number], authkey=key)
            lines[number].send((rank, None))
        _expect(door, set(range(rank + 1, size)), until - time.monotonic(), f"rank {rank} waited, and")
        lines.update((number, line) for (number, _), line in door.came)
        return lines
    except EOFError:
        raise DistNetworkError(f"Rank 0 gave up before rank {rank} was connected") from None
    finally:
        door.close()


def _expect(door: _Door, wanted: set[int], timeout: float, words: str) -> None:
    poll(lambda: len(door.came) >= len(wanted), timeout)
    numbers = [number for (number, _), _ in door.came]
    if len(set(numbers)) < len(numbers) or set(numbers) - wanted:
        raise DistNetworkError(f"Processes say that they are the ranks {sorted(numbers)}, and not {sorted(wanted)}")
    if missing := wanted - set(numbers):
        raise DistNetworkError(f"Timed out: {words} rank {', '.join(map(str, sorted(missing)))} did not come")


def _write(card: str, content: dict[str, Any]) -> None:
    part = f"{card}.{os.getpid()}"
    with open(os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
        json.dump(content, file)
    os.replace(part, card)


def _visit(card: str, line: list[Any]) -> bool:
    """Connect to rank 0, where the card is there and not one that was left behind."""
    try:
        with open(card) as file:
            content = json.load(file)
        key = bytes.fromhex(content["key"])
        line[:] = [Client(content["address"], authkey=key), key]
    except (OSError, ValueError, KeyError, EOFError, AuthenticationError):
        return False
    return True
