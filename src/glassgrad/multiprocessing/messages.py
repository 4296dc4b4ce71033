"""Messages between processes: pickles whose large buffers travel beside them, written by a thread of their own."""

from __future__ import annotations

import io
import os
import queue
import struct
import sys
import threading
from collections.abc import Sequence
from multiprocessing.reduction import ForkingPickler
from pickle import PickleBuffer, loads
from typing import Any

import numpy as np

from . import reductions

_HEAD = struct.Struct("<QQ")  # the size of the pickle, and the number of buffers
_SMALL = 1024  # bytes; a smaller buffer travels in the pickle
_MOST = 512  # buffers in one system call

reductions.init_reductions()


def packed(message: Any) -> list[Any]:
    """The pieces that a message is sent as."""
    if sys.platform == "win32":
        return [bytes(ForkingPickler.dumps(message))]
    buffers: list[memoryview] = []

    def keep(buffer: PickleBuffer) -> bool:
        raw = buffer.raw()
        if raw.nbytes < _SMALL:
            return True
        buffers.append(raw)
        return False

    content = io.BytesIO()
    ForkingPickler(content, 5, True, keep).dump(message)
    sizes = [buffer.nbytes for buffer in buffers]
    head = _HEAD.pack(content.tell(), len(sizes)) + struct.pack(f"<{len(sizes)}Q", *sizes)
    return [head, content.getbuffer(), *buffers]


def send(connection: Any, pieces: Sequence[Any]) -> None:
    """Write a packed message."""
    if sys.platform == "win32":
        connection.send_bytes(pieces[0])
        return
    waiting = [memoryview(piece) for piece in pieces]
    while waiting:
        written = os.writev(connection.fileno(), waiting[:_MOST])
        waiting = _rest(waiting, written)


def receive(connection: Any) -> Any:
    """The next message; its large arrays lie in memory of their own. EOFError where the sender is gone."""
    if sys.platform == "win32":
        return loads(connection.recv_bytes())
    descriptor = connection.fileno()
    head = bytearray(_HEAD.size)
    _fill(descriptor, [memoryview(head)])
    size, count = _HEAD.unpack(head)
    table, content = bytearray(8 * count), bytearray(size)
    _fill(descriptor, [memoryview(table), memoryview(content)])
    buffers = [np.empty(length, np.uint8) for length in struct.unpack(f"<{count}Q", table)]
    _fill(descriptor, [memoryview(buffer) for buffer in buffers])  # type: ignore[arg-type]
    return loads(content, buffers=buffers)


def _fill(descriptor: int, waiting: list[memoryview]) -> None:
    waiting = [piece for piece in waiting if piece.nbytes]
    while waiting:
        read = os.readv(descriptor, waiting[:_MOST])
        if not read:
            raise EOFError
        waiting = _rest(waiting, read)


def _rest(pieces: list[memoryview], done: int) -> list[memoryview]:
    """What is left of pieces after their first ``done`` bytes."""
    for index, piece in enumerate(pieces):
        if done < piece.nbytes:
            return [piece[done:], *pieces[index + 1 :]] if done else pieces[index:]
        done -= piece.nbytes
    return []


def writable(connection: Any) -> bool:
    """Whether a short message can be written without waiting for the reader."""
    if sys.platform == "win32":
        return True
    import select

    try:
        poll = select.poll()
        poll.register(connection.fileno(), select.POLLOUT)
        return any(event & select.POLLOUT for _, event in poll.poll(0))
    except OSError:
        return False


class Outbox:
    """Sends packed messages in their order while whoever puts them goes on working."""

    def __init__(self, connection: Any) -> None:
        self.connection = connection
        self.waiting: queue.SimpleQueue[Any] = queue.SimpleQueue()
        self.thread: threading.Thread | None = None

    def put(self, pieces: Sequence[Any]) -> None:
        """Have a message sent."""
        if self.thread is None:
            thread = threading.Thread(target=self._run, name="outbox", daemon=True)
            try:
                thread.start()
            except RuntimeError:  # the system gives no more threads: whoever puts waits
                send(self.connection, pieces)
                return
            self.thread = thread
        self.waiting.put(pieces)

    def _run(self) -> None:
        while True:
            try:
                send(self.connection, self.waiting.get())
            except OSError:  # nobody reads any more
                return
