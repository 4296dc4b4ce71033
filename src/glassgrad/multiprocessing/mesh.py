"""Connections between all of some processes of one machine: bytes, and shared memory, sent to each other by keys."""

from __future__ import annotations

import multiprocessing.connection
import pickle
import socket
import sys
import threading
from collections import defaultdict, deque
from typing import Any

import numpy as np


class Mesh:
    """This process's connections to all others, and a thread that sorts what comes through them."""

    def __init__(self, lines: dict[int, Any]) -> None:
        self.lines = lines
        self.locks = {rank: threading.Lock() for rank in lines}
        self.gone: set[int] = set()
        self.arrived: dict[Any, deque[Any]] = defaultdict(deque)  # what nobody took yet, by rank, group and kind
        self.expected: list[Message] = []  # in the order of asking
        self.handing_out = threading.Lock()
        if lines:
            threading.Thread(target=self._read, daemon=True, name="messages").start()

    def post(self, rank: int, key: Any, content: Any, memory: Any = None) -> None:
        """Send bytes to a rank, and with them shared memory."""
        try:
            with self.locks[rank]:
                self.lines[rank].send_bytes(pickle.dumps((key, memory is not None)))
                self.lines[rank].send_bytes(content)
                if memory is not None:
                    _hand(self.lines[rank], memory)
        except (OSError, ValueError, TypeError):
            self.gone.add(rank)  # who waits for it says so

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
                except (OSError, EOFError, TypeError, ValueError):
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
        for line in self.lines.values():
            if sys.platform != "win32":
                with _socket(line) as ended:
                    ended.shutdown(socket.SHUT_RDWR)
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
