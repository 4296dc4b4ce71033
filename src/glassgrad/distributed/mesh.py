"""The connections between ranks: made when first wanted, one for each direction; knows sockets and bytes only."""

from __future__ import annotations

import hmac
import os
import secrets
import select
import socket
import struct
import sys
import threading
import time
import weakref
from collections import defaultdict, deque
from collections.abc import Callable, Sequence
from typing import Any

from .errors import DistBackendError, DistNetworkError
from .store import Store

__all__ = ["Mesh", "Ticket", "parcel", "push", "transfer"]

TOGETHER, APART, PING, GIVE_UP = range(4)  # a connection is for collectives, for letters, to see who lives, to warn
_HELLO = struct.Struct("!16sBII")  # token, what for, the sender's rank, the length of the group's name
_FRAME = struct.Struct("!BxxxIQ")  # operation, its number, how many bytes follow
_LETTER = struct.Struct("!qQ")  # tag, how many bytes follow
_SMALL = 4096  # bytes that go out together with what announces them
_PING_EVERY = 1.0  # seconds


def silent(rank: int, seconds: float, what: str) -> DistNetworkError:
    """The error for a rank that says nothing."""
    return DistNetworkError(f"Timed out waiting {seconds * 1000:.0f}ms for {what} operation to complete: rank {rank}")


def gone(rank: int) -> DistNetworkError:
    """The error for a rank that ended."""
    return DistNetworkError(f"Connection closed by peer: the process with rank {rank} ended or left the group")


class Ticket:
    """A message that is expected: ``write`` takes its bytes when they come."""

    __slots__ = ("write", "arrived", "source", "error")

    def __init__(self, write: Callable[[bytearray], None]) -> None:
        self.write, self.arrived = write, threading.Event()
        self.source: int = -1
        self.error: Exception | None = None

    def fill(self, source: int, content: bytearray) -> None:
        self.source = source
        try:
            self.write(content)
        except Exception as error:
            self.error = error
        self.arrived.set()

    def fail(self, error: Exception) -> None:
        self.error = error
        self.arrived.set()


class Mesh:
    """How this process reaches the others, and they it.

    host     where this process listens
    store    tells where the others do; wanted only while this is made
    timeout  seconds for that
    """

    def __init__(self, store: Store, host: str, rank: int, size: int, timeout: float) -> None:
        self.rank, self.pid = rank, os.getpid()
        self.changed = threading.Condition()
        self.incoming: dict[tuple[str, int], socket.socket] = {}
        self.outgoing: dict[tuple[str, int], socket.socket] = {}
        self.letters: dict[tuple[str, int, int], deque[bytearray]] = defaultdict(deque)  # group, source, tag
        self.wanted: dict[tuple[str, int], list[tuple[int | None, Ticket]]] = defaultdict(list)  # group, tag
        self.broken: dict[str, str] = {}  # groups whose collectives ended early, and why
        self.ended: set[tuple[str, int]] = set()  # groups and ranks that closed their connection for letters
        self.posts: dict[tuple[str, int], threading.Lock] = defaultdict(threading.Lock)
        self.open = True
        self.listener = socket.create_server((host, 0), backlog=1024)
        self.others: set[socket.socket] = set()
        if rank == 0:
            store.set("token", secrets.token_bytes(16))
        store.set(f"address/{rank}", f"{host} {self.listener.getsockname()[1]}")
        self.token = store.get("token")
        self.addresses = {}
        for peer in range(size):
            place, _, port = store.get(f"address/{peer}").decode().rpartition(" ")
            self.addresses[peer] = place, int(port)
        threading.Thread(target=self._accept, daemon=True, name="mesh").start()
        _alive.add(self)

    # -- who calls ------------------------------------------------------------------------------------------------

    def _accept(self) -> None:
        while True:
            try:
                line, _ = self.listener.accept()
            except OSError:
                return
            self.others.add(line)
            threading.Thread(target=self._greet, args=(line,), daemon=True, name="mesh").start()

    def _greet(self, line: socket.socket) -> None:
        """Find out who calls and what for; strangers are turned away."""
        try:
            line.settimeout(30.0)
            hello = bytearray(_HELLO.size)
            _fill(line, memoryview(hello))
            token, purpose, rank, length = _HELLO.unpack(hello)
            name = bytearray(length if length <= 4096 else 0)
            _fill(line, memoryview(name))
            if not hmac.compare_digest(token, self.token):
                raise ConnectionError
            if purpose == PING:
                line.sendall(b"-" if name.decode() in self.broken else b"+")
                raise ConnectionError
            if purpose == GIVE_UP:
                group, _, reason = name.decode().partition("\n")
                self.hang_up(group, f"rank {rank}: {reason}")
                raise ConnectionError
        except OSError:
            self.others.discard(line)
            line.close()
            return
        key = (name.decode(), rank)
        line.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        if purpose == APART:
            line.settimeout(None)
            self._read_letters(line, *key)
        else:
            line.setblocking(False)
            with self.changed:
                self.incoming[key] = line
                self.changed.notify_all()

    def _call(self, purpose: int, group: str, peer: int, timeout: float) -> socket.socket:
        try:
            line = socket.create_connection(self.addresses[peer], timeout=max(timeout, 0.05))
            line.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            name = group.encode()
            line.sendall(_HELLO.pack(self.token, purpose, self.rank, len(name)) + name)
        except TimeoutError:
            raise silent(peer, timeout, "connect") from None
        except OSError:
            raise gone(peer) from None
        return line

    # -- lines of collectives -------------------------------------------------------------------------------------

    def line_to(self, group: str, peer: int, deadline: float) -> socket.socket:
        """The line on which this process sends to ``peer`` in collectives of ``group``."""
        line = self.outgoing.get((group, peer))
        if line is None:
            self._check()
            line = self._call(TOGETHER, group, peer, deadline - time.monotonic())
            line.setblocking(False)
            self.outgoing[group, peer] = line
        return line

    def line_from(self, group: str, peer: int, deadline: float, timeout: float) -> socket.socket:
        """The line on which ``peer`` sends to this process in collectives of ``group``: it makes it."""
        line = self.incoming.get((group, peer))
        if line is None:
            self._check()
            with self.changed:
                while (line := self.incoming.get((group, peer))) is None:
                    if group in self.broken:
                        raise gone(peer)
                    left = deadline - time.monotonic()
                    if left <= 0:
                        raise silent(peer, timeout, "recv")
                    if not self.changed.wait(min(left, _PING_EVERY)):
                        self._ping(peer, group)
        return line

    def _ping(self, peer: int, group: str) -> None:
        """Raise unless the process of ``peer`` still listens, and takes part in collectives of ``group``."""
        try:
            with self._call(PING, group, peer, _PING_EVERY) as line:
                answer = line.recv(1)
        except (TimeoutError, ConnectionError):  # busy
            return
        except DistNetworkError as error:
            if str(error).startswith("Timed out"):
                return
            raise
        if answer == b"-":
            raise gone(peer)

    def _check(self) -> None:
        if self.pid != os.getpid():
            raise DistBackendError(
                "This process was forked from one with a process group: only the parent can communicate. "
                "Call init_process_group() in the child itself."
            )
        if not self.open:
            raise DistBackendError("The process group was destroyed")

    def hang_up(self, group: str, reason: str) -> None:
        """End the collectives of a group here: close its lines, and wake who waits."""
        with self.changed:
            self.broken.setdefault(group, reason)
            for lines in (self.incoming, self.outgoing):
                for key in [key for key in lines if key[0] == group]:
                    _close(lines.pop(key))
            self.changed.notify_all()

    def give_up(self, group: str, members: Sequence[int], reason: str) -> None:
        """The same after a failure, and the other members are told."""
        if self.pid != os.getpid():  # a forked child speaks for nobody
            return
        first = group not in self.broken
        self.hang_up(group, reason)
        for peer in members if first else ():
            if peer != self.rank and self.open:
                try:
                    self._call(GIVE_UP, f"{group}\n{reason[:1000]}", peer, _PING_EVERY).close()
                except DistNetworkError:  # gone too
                    pass

    # -- letters --------------------------------------------------------------------------------------------------

    def post(self, group: str, peer: int, tag: int, content: memoryview, timeout: float) -> None:
        """Send ``content`` to ``peer``; it is read there as soon as it comes."""
        self._check()
        key = (f"{group}/letters", peer)
        with self.posts[key]:
            line = self.outgoing.get(key)
            if line is None:
                line = self.outgoing[key] = self._call(APART, group, peer, timeout)
            line.settimeout(timeout)
            try:
                line.sendall(_LETTER.pack(tag, content.nbytes))
                line.sendall(content)
            except TimeoutError:
                raise silent(peer, timeout, "send") from None
            except OSError:
                raise gone(peer) from None

    def expect(self, group: str, source: int | None, tag: int, write: Callable[[bytearray], None]) -> Ticket:
        """A ticket for the next letter with ``tag`` from ``source`` (None: from anybody)."""
        self._check()
        ticket = Ticket(write)
        with self.changed:
            here = [key for key in self.letters if key[0] == group and key[2] == tag and source in (None, key[1])]
            for key in here:
                content = self.letters[key].popleft()
                if not self.letters[key]:
                    del self.letters[key]
                ticket.fill(key[1], content)
                return ticket
            if source is not None and (group, source) in self.ended:
                ticket.fail(gone(source))
            else:
                self.wanted[group, tag].append((source, ticket))
        return ticket

    def await_ticket(self, ticket: Ticket, source: int | None, timeout: float) -> None:
        """Return when the letter was written where it belongs, or raise."""
        deadline = time.monotonic() + timeout
        while not ticket.arrived.wait(max(0.0, min(_PING_EVERY, deadline - time.monotonic()))):
            if time.monotonic() >= deadline:
                raise silent(-1 if source is None else source, timeout, "recv")
            if source is not None:
                try:
                    self._ping(source, "")
                except DistNetworkError:
                    if not ticket.arrived.wait(_PING_EVERY):  # what it sent before it ended may be on its way
                        raise
        if ticket.error is not None:
            raise ticket.error

    def _read_letters(self, line: socket.socket, group: str, source: int) -> None:
        header = bytearray(_LETTER.size)
        try:
            while True:
                _fill(line, memoryview(header))
                tag, size = _LETTER.unpack(header)
                content = bytearray(size)
                _fill(line, memoryview(content))
                with self.changed:
                    for entry in self.wanted[group, tag]:
                        if entry[0] in (None, source):
                            self.wanted[group, tag].remove(entry)
                            entry[1].fill(source, content)
                            break
                    else:
                        self.letters[group, source, tag].append(content)
        except OSError:
            line.close()
            with self.changed:
                self.ended.add((group, source))
                for (name, _), entries in self.wanted.items():
                    for entry in [entry for entry in entries if name == group and entry[0] == source]:
                        entries.remove(entry)
                        entry[1].fail(gone(source))

    # -- the end --------------------------------------------------------------------------------------------------

    def close(self) -> None:
        """Close everything."""
        if not self.open or self.pid != os.getpid():
            return
        self.open = False
        for line in [self.listener, *self.incoming.values(), *self.outgoing.values(), *self.others]:
            _close(line)
        self.incoming.clear()
        self.outgoing.clear()

    def leave(self) -> None:
        """In a forked child: give back the parent's sockets, so that their other side sees when the parent ends."""
        for line in [self.listener, *self.incoming.values(), *self.outgoing.values(), *self.others]:
            line.close()
        self.incoming, self.outgoing = {}, {}


_alive: weakref.WeakSet[Mesh] = weakref.WeakSet()


def _forked() -> None:
    for mesh in list(_alive):
        mesh.leave()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forked)


def _close(line: socket.socket) -> None:
    try:  # wakes a thread of ours that waits on it
        line.shutdown(socket.SHUT_RDWR)
    except OSError:
        pass
    line.close()


def _fill(line: socket.socket, room: memoryview) -> None:
    """Read until ``room`` is full."""
    while room.nbytes:
        count = line.recv_into(room)
        if not count:
            raise ConnectionError("closed")
        room = room[count:]


def _wait(readable: socket.socket | None, writable: socket.socket | None, seconds: float) -> bool:
    """Wait until one of two sockets can go on; False after ``seconds``."""
    if sys.platform == "win32":
        return any(select.select([readable] if readable else [], [writable] if writable else [], [], seconds))
    poll = select.poll()
    if readable is not None:
        poll.register(readable, select.POLLIN)
    if writable is not None:
        poll.register(writable, select.POLLOUT)
    return bool(poll.poll(seconds * 1000))


def parcel(mark: tuple[int, int], content: memoryview) -> list[Any]:
    """The pieces to send of a message: what announces it, and its content."""
    start = _FRAME.pack(*mark, content.nbytes)
    return [memoryview(start + content)] if content.nbytes <= _SMALL else [memoryview(start), content]


def push(rank: int, line: socket.socket, pieces: list[Any]) -> bool:
    """Send what goes out without waiting; whether something did."""
    try:
        count = line.send(pieces[0])
    except BlockingIOError:
        return False
    except OSError:
        raise gone(rank) from None
    pieces[0] = pieces[0][count:]
    if not pieces[0].nbytes:
        del pieces[0]
    return True


def _pull(rank: int, line: socket.socket, rooms: list[Any]) -> bool:
    """Read what is there; whether something was."""
    try:
        count = line.recv_into(rooms[0])
    except BlockingIOError:
        return False
    except OSError:
        raise gone(rank) from None
    if not count:
        raise gone(rank)
    rooms[0] = rooms[0][count:]
    if not rooms[0].nbytes:
        del rooms[0]
    return True


def transfer(
    mark: tuple[int, int],
    names: Callable[[tuple[int, int]], str],
    sending: tuple[int, socket.socket, list[Any]] | None,
    receiving: tuple[int, socket.socket, memoryview] | None,
    deadline: float,
    timeout: float,
) -> None:
    """Send to one rank and at the same time receive from another, each a whole message.

    mark       operation and number, which both sides must agree on; ``names`` gives its words
    sending    rank, line, what is left of a :func:`parcel`
    receiving  rank, line, where the bytes go
    """
    header, rooms = bytearray(_FRAME.size), []
    if receiving is not None:
        source_rank, source, room = receiving
        rooms = [memoryview(header), room]
    announced = False
    while (sending is not None and sending[2]) or rooms:
        moved = sending is not None and bool(sending[2]) and push(*sending)
        if rooms and _pull(source_rank, source, rooms):
            moved = True
            if not announced and len(rooms) == 1:
                announced = True
                _agree(header, mark, names, source_rank, room.nbytes)
                if not room.nbytes:
                    rooms.clear()
        if not moved:
            left = deadline - time.monotonic()
            waits = sending[1] if sending is not None and sending[2] else None
            if left <= 0 or not _wait(source if rooms else None, waits, left):
                if rooms:
                    raise silent(source_rank, timeout, "recv")
                raise silent(sending[0], timeout, "send")  # type: ignore[index]


def _agree(
    header: bytearray, mark: tuple[int, int], names: Callable[[tuple[int, int]], str], rank: int, size: int
) -> None:
    *theirs, theirs_size = _FRAME.unpack(header)
    if tuple(theirs) != mark:
        raise DistBackendError(
            f"The ranks of the group do different things: here {names(mark)}, on rank {rank} {names(tuple(theirs))}"
        )
    if theirs_size != size:
        raise DistBackendError(
            f"Sizes differ between ranks in {names(mark)}: {size} bytes are expected here, rank {rank} sends "
            f"{theirs_size}"
        )
