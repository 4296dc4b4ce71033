"""TCPStore: a table that one process keeps and others reach over TCP; knows sockets and the store's methods."""

from __future__ import annotations

import os
import random
import socket
import struct
import threading
import time
import weakref
from collections.abc import Sequence
from datetime import timedelta
from typing import Any

from .errors import DistNetworkError, DistStoreError
from .store import HashStore, Store, _bytes

__all__ = ["TCPStore"]

_COUNT, _SIZE = struct.Struct("!I"), struct.Struct("!Q")
_GONE = "The process that keeps the store at {0}:{1} went away"


def _send(line: socket.socket, fields: Sequence[bytes]) -> None:
    line.sendall(b"".join([_COUNT.pack(len(fields)), *(_SIZE.pack(len(field)) + field for field in fields)]))


def _exactly(line: socket.socket, size: int) -> bytes:
    found = bytearray()
    while len(found) < size:
        piece = line.recv(min(size - len(found), 1 << 20))
        if not piece:
            raise ConnectionError("closed")
        found += piece
    return bytes(found)


def _receive(line: socket.socket) -> list[bytes]:
    (count,) = _COUNT.unpack(_exactly(line, _COUNT.size))
    return [_exactly(line, _SIZE.unpack(_exactly(line, _SIZE.size))[0]) for _ in range(count)]


def _timed(seconds: float) -> timedelta:
    return timedelta(seconds=seconds)


class _Server:
    """The process that keeps the table: a thread for each connection."""

    def __init__(self, host: str, port: int) -> None:
        try:
            self.socket = socket.create_server((host, port), backlog=1024)
        except OSError as error:
            if isinstance(error, socket.gaierror) or error.errno in (99, 49, 10049):  # not an address of this machine
                self.socket = socket.create_server(("", port), backlog=1024)
            else:
                raise DistNetworkError(
                    "The server socket has failed to listen on any local network address. "
                    f"port: {port}, error: {error}"
                ) from None
        self.port = self.socket.getsockname()[1]
        self.table = HashStore()
        self.busy = 0
        self.idle = threading.Condition()
        self.lines: set[socket.socket] = set()
        threading.Thread(target=self.accept, daemon=True, name="store").start()

    def accept(self) -> None:
        while True:
            try:
                line, _ = self.socket.accept()
            except OSError:
                return
            self.lines.add(line)
            threading.Thread(target=self.serve, args=(line,), daemon=True, name="store").start()

    def serve(self, line: socket.socket) -> None:
        line.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        try:
            while True:
                request = _receive(line)
                with self.idle:
                    self.busy += 1
                try:
                    try:
                        reply = [b"", *self.answer(request[0].decode(), request[1:])]
                    except DistStoreError:
                        reply = [b"timeout"]
                    except ValueError as error:
                        reply = [str(error).encode()]
                    _send(line, reply)
                finally:
                    with self.idle:
                        self.busy -= 1
                        self.idle.notify_all()
        except OSError:
            pass
        finally:
            self.lines.discard(line)
            line.close()

    def answer(self, name: str, fields: list[bytes]) -> list[bytes]:
        table, key = self.table, fields[0].decode() if fields else ""
        if name == "set":
            table.set(key, fields[1])
        elif name == "get":
            table.wait([key], _timed(float(fields[1])))
            return [table.get(key)]
        elif name == "add":
            return [str(table.add(key, int(fields[1]))).encode()]
        elif name == "wait":
            table.wait([field.decode() for field in fields[1:]], _timed(float(fields[0])))
        elif name == "check":
            return [b"1" if table.check([field.decode() for field in fields]) else b""]
        elif name == "compare_set":
            return [table.compare_set(key, fields[1], fields[2])]
        elif name == "append":
            table.append(key, fields[1])
        elif name == "delete_key":
            return [b"1" if table.delete_key(key) else b""]
        elif name == "list_keys":
            return [name.encode() for name in table.list_keys()]
        elif name == "arrive":
            table.arrive(key, int(fields[1]), _timed(float(fields[2])))
        else:
            raise ValueError(f"the store knows no request {name!r}")
        return []

    def close(self) -> None:
        """Stop, once those who wait for an answer that is there have it."""
        try:  # close() alone would leave accept() waiting
            self.socket.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass
        self.socket.close()
        with self.idle:
            self.idle.wait_for(lambda: not self.busy, 0.2)
        for line in list(self.lines):
            try:
                line.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass

    def leave(self) -> None:
        """In a forked child: give back what belongs to the parent."""
        for line in [self.socket, *self.lines]:
            line.close()


class TCPStore(Store):
    """A store that the process with ``is_master`` keeps at ``host_name:port``, and others reach there.

    port              0: a free one, then in ``.port``
    world_size        how many processes join; the master waits for them with ``wait_for_workers``
    Source: https://docs.pytorch.org/docs/stable/distributed.html#torch.distributed.TCPStore
    """

    def __init__(
        self,
        host_name: str,
        port: int,
        world_size: int | None = None,
        is_master: bool = False,
        timeout: timedelta = timedelta(seconds=300),
        wait_for_workers: bool = True,
        multi_tenant: bool = False,
        master_listen_fd: int | None = None,
        use_libuv: bool = True,
    ) -> None:
        self._timeout = timeout
        self._server: _Server | None = None
        shared = _shared.get(port) if multi_tenant and port else None
        if is_master and shared is None:
            self._server = _Server(host_name, port)
            port = self._server.port
            if multi_tenant:
                _shared[port] = self._server
        elif is_master:
            self._server = shared
        self._host, self._port, self._pid = host_name, port, os.getpid()
        self._free: list[socket.socket] = []
        self._mutex = threading.Lock()
        self._connect_until(time.monotonic() + timeout.total_seconds())
        _alive.add(self)
        here = self.add("init/", 1)
        if is_master and wait_for_workers and world_size is not None and world_size > 0:
            deadline = time.monotonic() + timeout.total_seconds()
            while (here := self.add("init/", 0)) < world_size:
                if time.monotonic() > deadline:
                    raise DistStoreError(
                        f"Timed out after {timeout.total_seconds() + 1:.0f} seconds waiting for clients. "
                        f"{here}/{world_size} clients joined."
                    )
                time.sleep(0.005)

    @property
    def host(self) -> str:
        """The name of the machine with the table."""
        return self._host

    @property
    def port(self) -> int:
        """The port where the table is."""
        return self._port

    @property
    def libuvBackend(self) -> bool:
        """False: plain threads serve the table."""
        return False

    def __repr__(self) -> str:
        served = f", server=TCPServer(port={self._port})" if self._server is not None else ""
        return f"TCPStore(client=TCPClient({self._host}:{self._port}){served})"

    def local_address(self) -> str:
        """The address under which the machine with the table sees this one."""
        line = self._line()
        try:
            return str(line.getsockname()[0])
        finally:
            self._free.append(line)

    def _connect_until(self, deadline: float) -> None:
        pause = 0.01
        while True:
            try:
                self._free.append(self._connection(max(0.05, deadline - time.monotonic())))
                return
            except OSError:
                if time.monotonic() + pause > deadline:
                    raise DistNetworkError(
                        f"The client socket has timed out after {self._timeout / _MS:.0f}ms "
                        f"while trying to connect to ({self._host}, {self._port})."
                    ) from None
                time.sleep(pause * random.uniform(0.5, 1.0))  # noqa: S311 - spreads those who try again
                pause = min(2 * pause, 0.2)

    def _connection(self, timeout: float) -> socket.socket:
        line = socket.create_connection((self._host, self._port), timeout=timeout)
        if line.getsockname() == line.getpeername():  # nobody listened, and the system chose that very port for us
            line.close()
            raise ConnectionRefusedError
        line.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        return line

    def _line(self) -> socket.socket:
        """A connection nobody uses: a thread that waits keeps one for itself."""
        if self._pid != os.getpid():  # those of the parent are not ours
            self._free, self._pid, self._server = [], os.getpid(), None
        with self._mutex:
            if self._free:
                return self._free.pop()
        try:
            return self._connection(self._timeout.total_seconds())
        except OSError:
            raise DistNetworkError(_GONE.format(self._host, self._port)) from None

    def _ask(self, name: str, *fields: str | bytes, keys: Sequence[str] = (), wait: timedelta | None = None) -> Any:
        line = self._line()
        limit = self._timeout if wait is None else wait
        line.settimeout(max(limit.total_seconds(), 1.0) + 5.0)
        try:
            _send(line, [name.encode(), *map(_bytes, fields)])
            status, *reply = _receive(line)
        except OSError:
            line.close()
            raise DistNetworkError(_GONE.format(self._host, self._port)) from None
        except BaseException:
            line.close()
            raise
        with self._mutex:
            self._free.append(line)
        if status == b"timeout":
            named = ", ".join(f"/{key}" for key in keys)
            raise DistStoreError(f"wait timeout after {limit / _MS:.0f}ms, keys: {named}")
        if status:
            raise ValueError(status.decode())
        return reply

    def set(self, key: str, value: str | bytes) -> None:
        """Put ``value`` under ``key``."""
        self._ask("set", key, value)

    def get(self, key: str) -> bytes:
        """The value of ``key``, once it has one."""
        found: bytes = self._ask("get", key, str(self._timeout.total_seconds()), keys=[key])[0]
        return found

    def add(self, key: str, amount: int) -> int:
        """Add to the number under ``key``, nought at first; the new number."""
        return int(self._ask("add", key, str(amount))[0])

    def check(self, keys: Sequence[str]) -> bool:
        """Whether all keys are there."""
        return bool(self._ask("check", *keys)[0])

    def wait(self, keys: Sequence[str], timeout: timedelta | None = None) -> None:
        """Return once all keys are there; DistStoreError after the timeout."""
        limit = self._timeout if timeout is None else timeout
        self._ask("wait", str(limit.total_seconds()), *keys, keys=keys, wait=limit)

    def compare_set(self, key: str, expected_value: str | bytes, desired_value: str | bytes) -> bytes:
        """Put ``desired_value`` where ``expected_value`` is (an empty one: where nothing is); what is there then."""
        found: bytes = self._ask("compare_set", key, expected_value, desired_value)[0]
        return found

    def append(self, key: str, value: str | bytes) -> None:
        """Put ``value`` behind what is under ``key``."""
        self._ask("append", key, value)

    def delete_key(self, key: str) -> bool:
        """Remove a key; whether it was there."""
        return bool(self._ask("delete_key", key)[0])

    def num_keys(self) -> int:
        """How many keys there are."""
        return len(self.list_keys())

    def list_keys(self) -> list[str]:
        """All keys."""
        return [key.decode() for key in self._ask("list_keys")]

    def arrive(self, key: str, count: int, timeout: timedelta | None = None) -> None:
        """Return once ``count`` callers arrived at ``key``."""
        limit = self._timeout if timeout is None else timeout
        self._ask("arrive", key, str(count), str(limit.total_seconds()), keys=[key], wait=limit)

    def close(self) -> None:
        """Give the connections back, and end the table where this process keeps it."""
        if self._pid == os.getpid():
            for line in self._free:
                line.close()
            if self._server is not None:
                self._server.close()
                _shared.pop(self._port, None)
        self._free, self._server = [], None

    def __del__(self) -> None:
        try:
            self.close()
        except Exception:  # at the interpreter's end nothing may be left to work with
            pass


_MS = timedelta(milliseconds=1)
_alive: weakref.WeakSet[TCPStore] = weakref.WeakSet()
_shared: dict[int, _Server] = {}


def _forked() -> None:
    """In a forked child, close the parent's sockets: the other side must see it when the parent goes."""
    for store in list(_alive):
        for line in store._free:
            line.close()
        if store._server is not None:
            store._server.leave()
        store._free, store._server, store._pid, store._mutex = [], None, os.getpid(), threading.Lock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forked)
