"""Stores: small tables of bytes that processes share to find each other; knows no group and no tensor."""

from __future__ import annotations

import os
import struct
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import timedelta
from typing import Any

from .errors import DistStoreError

__all__ = ["FileStore", "HashStore", "PrefixStore", "Store"]

_DEFAULT = timedelta(seconds=300)


def _bytes(value: str | bytes) -> bytes:
    return value.encode() if isinstance(value, str) else bytes(value)


class Store:
    """A table of keys and bytes that several processes read and write.

    ``get`` and ``wait`` wait until keys are there, for the store's timeout at most.
    Source: https://docs.pytorch.org/docs/stable/distributed.html#torch.distributed.Store
    """

    _timeout = _DEFAULT

    @property
    def timeout(self) -> timedelta:
        """How long ``get`` and ``wait`` wait."""
        return self._timeout

    def set_timeout(self, timeout: timedelta) -> None:
        """Set how long ``get`` and ``wait`` wait."""
        self._timeout = timeout

    def set(self, key: str, value: str | bytes) -> None:
        """Put ``value`` under ``key``."""
        raise NotImplementedError

    def get(self, key: str) -> bytes:
        """The value of ``key``, once it has one."""
        raise NotImplementedError

    def add(self, key: str, amount: int) -> int:
        """Add to the number under ``key``, nought at first; the new number."""
        raise NotImplementedError

    def check(self, keys: Sequence[str]) -> bool:
        """Whether all keys are there."""
        raise NotImplementedError

    def wait(self, keys: Sequence[str], timeout: timedelta | None = None) -> None:
        """Return once all keys are there; DistStoreError after the timeout."""
        raise NotImplementedError

    def compare_set(self, key: str, expected_value: str | bytes, desired_value: str | bytes) -> bytes:
        """Put ``desired_value`` where ``expected_value`` is (an empty one: where nothing is); what is there then."""
        raise NotImplementedError

    def append(self, key: str, value: str | bytes) -> None:
        """Put ``value`` behind what is under ``key``."""
        raise NotImplementedError

    def delete_key(self, key: str) -> bool:
        """Remove a key; whether it was there."""
        raise NotImplementedError

    def num_keys(self) -> int:
        """How many keys there are."""
        raise NotImplementedError

    def list_keys(self) -> list[str]:
        """All keys."""
        raise NotImplementedError

    def multi_set(self, keys: Sequence[str], values: Sequence[str | bytes]) -> None:
        """``set`` for several keys."""
        for key, value in zip(keys, values, strict=True):
            self.set(key, value)

    def multi_get(self, keys: Sequence[str]) -> list[bytes]:
        """``get`` of several keys."""
        return [self.get(key) for key in keys]

    def has_extended_api(self) -> bool:
        """Whether ``append``, ``multi_get`` and ``multi_set`` are there: True."""
        return True

    def arrive(self, key: str, count: int, timeout: timedelta | None = None) -> None:
        """Return once ``count`` callers arrived at ``key``."""
        if self.add(key, 1) >= count:
            self.set(f"{key}/all", b"1")
        self.wait([f"{key}/all"], timeout)


class HashStore(Store):
    """A store for the threads of one process."""

    def __init__(self) -> None:
        self._table: dict[str, bytes] = {}
        self._changed = threading.Condition()

    def set(self, key: str, value: str | bytes) -> None:
        """Put ``value`` under ``key``."""
        with self._changed:
            self._table[key] = _bytes(value)
            self._changed.notify_all()

    def get(self, key: str) -> bytes:
        """The value of ``key``, once it has one."""
        with self._changed:
            self._wait([key], self._timeout)
            return self._table[key]

    def _wait(self, keys: Sequence[str], timeout: timedelta) -> None:
        if not self._changed.wait_for(lambda: all(key in self._table for key in keys), timeout.total_seconds()):
            raise DistStoreError("Wait timeout")

    def add(self, key: str, amount: int) -> int:
        """Add to the number under ``key``, nought at first; the new number."""
        with self._changed:
            total = int(self._table.get(key, b"0")) + amount
            self._table[key] = str(total).encode()
            self._changed.notify_all()
        return total

    def check(self, keys: Sequence[str]) -> bool:
        """Whether all keys are there."""
        with self._changed:
            return all(key in self._table for key in keys)

    def wait(self, keys: Sequence[str], timeout: timedelta | None = None) -> None:
        """Return once all keys are there; DistStoreError after the timeout."""
        with self._changed:
            self._wait(keys, self._timeout if timeout is None else timeout)

    def compare_set(self, key: str, expected_value: str | bytes, desired_value: str | bytes) -> bytes:
        """Put ``desired_value`` where ``expected_value`` is (an empty one: where nothing is); what is there then."""
        expected, desired = _bytes(expected_value), _bytes(desired_value)
        with self._changed:
            present = self._table.get(key)
            if present == expected or (present is None and not expected):
                self._table[key] = present = desired
                self._changed.notify_all()
            return expected if present is None else present

    def append(self, key: str, value: str | bytes) -> None:
        """Put ``value`` behind what is under ``key``."""
        with self._changed:
            self._table[key] = self._table.get(key, b"") + _bytes(value)
            self._changed.notify_all()

    def delete_key(self, key: str) -> bool:
        """Remove a key; whether it was there."""
        with self._changed:
            return self._table.pop(key, None) is not None

    def num_keys(self) -> int:
        """How many keys there are."""
        return len(self._table)

    def list_keys(self) -> list[str]:
        """All keys."""
        with self._changed:
            return list(self._table)

    def arrive(self, key: str, count: int, timeout: timedelta | None = None) -> None:
        """Return once ``count`` callers arrived at ``key``."""
        limit = self._timeout if timeout is None else timeout
        with self._changed:
            self.add(key, 1)
            if not self._changed.wait_for(lambda: int(self._table[key]) >= count, limit.total_seconds()):
                raise DistStoreError(f"Timed out waiting for ranks: {int(self._table[key])} of {count} arrived")


class PrefixStore(Store):
    """A part of another store: its keys begin with ``prefix``."""

    def __init__(self, prefix: str, store: Store) -> None:
        self.prefix, self._store = prefix, store

    @property
    def underlying_store(self) -> Store:
        """The store whose part this is."""
        return self._store

    @property
    def timeout(self) -> timedelta:
        """That of the whole store."""
        return self._store.timeout

    def set_timeout(self, timeout: timedelta) -> None:
        """Set that of the whole store."""
        self._store.set_timeout(timeout)

    def _full(self, key: str) -> str:
        return f"{self.prefix}/{key}"

    def set(self, key: str, value: str | bytes) -> None:
        """Put ``value`` under ``key``."""
        self._store.set(self._full(key), value)

    def get(self, key: str) -> bytes:
        """The value of ``key``, once it has one."""
        return self._store.get(self._full(key))

    def add(self, key: str, amount: int) -> int:
        """Add to the number under ``key``, nought at first; the new number."""
        return self._store.add(self._full(key), amount)

    def check(self, keys: Sequence[str]) -> bool:
        """Whether all keys are there."""
        return self._store.check([self._full(key) for key in keys])

    def wait(self, keys: Sequence[str], timeout: timedelta | None = None) -> None:
        """Return once all keys are there; DistStoreError after the timeout."""
        self._store.wait([self._full(key) for key in keys], timeout)

    def compare_set(self, key: str, expected_value: str | bytes, desired_value: str | bytes) -> bytes:
        """Put ``desired_value`` where ``expected_value`` is (an empty one: where nothing is); what is there then."""
        return self._store.compare_set(self._full(key), expected_value, desired_value)

    def append(self, key: str, value: str | bytes) -> None:
        """Put ``value`` behind what is under ``key``."""
        self._store.append(self._full(key), value)

    def delete_key(self, key: str) -> bool:
        """Remove a key; whether it was there."""
        return self._store.delete_key(self._full(key))

    def num_keys(self) -> int:
        """How many keys the whole store has."""
        return self._store.num_keys()

    def list_keys(self) -> list[str]:
        """The keys of this part, without the prefix."""
        start = self._full("")
        return [key[len(start) :] for key in self._store.list_keys() if key.startswith(start)]

    def arrive(self, key: str, count: int, timeout: timedelta | None = None) -> None:
        """Return once ``count`` callers arrived at ``key``."""
        self._store.arrive(self._full(key), count, timeout)


_SIZES = struct.Struct("!qq")  # of a key and its value; a value of size -1 removes the key


class FileStore(Store):
    """A store in a file that all processes can open, which grows with each change.

    ``world_size`` is the number of processes that use it; the file is removed when the last of them is done.
    """

    def __init__(self, file_name: str, world_size: int = -1) -> None:
        self.path, self._users = str(file_name), world_size
        self._read, self._cache = 0, dict[str, bytes]()
        self._thread = threading.RLock()
        self._pid = os.getpid()
        self._open = True
        with self._locked() as file:
            self._put(file, "cleanup/", str(int(self._cache.get("cleanup/", b"0")) + 1).encode())

    @contextmanager
    def _locked(self) -> Iterator[Any]:
        """The file, for this process alone, with all changes read."""
        with self._thread, open(self.path, "a+b", buffering=0) as file:
            _lock(file)
            file.seek(self._read)
            content, at = file.read(), 0
            while at + _SIZES.size <= len(content):
                named, valued = _SIZES.unpack_from(content, at)
                end = at + _SIZES.size + named + max(valued, 0)
                key = content[at + _SIZES.size : at + _SIZES.size + named].decode()
                if valued < 0:
                    self._cache.pop(key, None)
                else:
                    self._cache[key] = content[end - valued : end]
                at = end
            self._read += at
            yield file  # closing the file gives the lock back

    def _put(self, file: Any, key: str, value: bytes | None) -> None:
        name = key.encode()
        whole = _SIZES.pack(len(name), -1 if value is None else len(value)) + name + (value or b"")
        file.seek(0, os.SEEK_END)
        file.write(whole)

    def set(self, key: str, value: str | bytes) -> None:
        """Put ``value`` under ``key``."""
        with self._locked() as file:
            self._put(file, key, _bytes(value))

    def get(self, key: str) -> bytes:
        """The value of ``key``, once it has one."""
        told = f"Timeout waiting for key: {key} after {self._timeout / timedelta(milliseconds=1):.0f} ms"
        self._wait([key], self._timeout, RuntimeError(told))
        return self._cache[key]

    def _wait(self, keys: Sequence[str], timeout: timedelta, error: Exception) -> None:
        deadline, pause = time.monotonic() + timeout.total_seconds(), 0.001
        while not self.check(keys):
            if time.monotonic() > deadline:
                raise error
            time.sleep(pause)
            pause = min(2 * pause, 0.02)

    def add(self, key: str, amount: int) -> int:
        """Add to the number under ``key``, nought at first; the new number."""
        with self._locked() as file:
            total = int(self._cache.get(key, b"0")) + amount
            self._put(file, key, str(total).encode())
        return total

    def check(self, keys: Sequence[str]) -> bool:
        """Whether all keys are there."""
        with self._locked():
            return all(key in self._cache for key in keys)

    def wait(self, keys: Sequence[str], timeout: timedelta | None = None) -> None:
        """Return once all keys are there; RuntimeError after the timeout."""
        self._wait(keys, self._timeout if timeout is None else timeout, RuntimeError("Wait timeout"))

    def compare_set(self, key: str, expected_value: str | bytes, desired_value: str | bytes) -> bytes:
        """Put ``desired_value`` where ``expected_value`` is (an empty one: where nothing is); what is there then."""
        expected, desired = _bytes(expected_value), _bytes(desired_value)
        with self._locked() as file:
            present = self._cache.get(key)
            if present == expected or (present is None and not expected):
                self._put(file, key, desired)
                return desired
            return expected if present is None else present

    def append(self, key: str, value: str | bytes) -> None:
        """Put ``value`` behind what is under ``key``."""
        with self._locked() as file:
            self._put(file, key, self._cache.get(key, b"") + _bytes(value))

    def delete_key(self, key: str) -> bool:
        """Remove a key; whether it was there."""
        with self._locked() as file:
            found = key in self._cache
            if found:
                self._put(file, key, None)
        return found

    def num_keys(self) -> int:
        """How many keys there are."""
        with self._locked():
            return len(self._cache)

    def list_keys(self) -> list[str]:
        """All keys."""
        with self._locked():
            return list(self._cache)

    def close(self) -> None:
        """Be done with the file; the last user removes it."""
        if self._open and self._pid == os.getpid():
            self._open = False
            try:
                if self.add("cleanup/", -1) == 0 and self._users > 0:
                    os.unlink(self.path)
            except OSError:  # somebody cleared it away
                pass

    def __del__(self) -> None:
        try:
            self.close()
        except Exception:  # at the interpreter's end nothing may be left to work with
            pass


def _lock(file: Any) -> None:
    try:
        import fcntl
    except ImportError:  # Windows
        import msvcrt

        file.seek(0)
        msvcrt.locking(file.fileno(), msvcrt.LK_LOCK, 1)  # type: ignore[attr-defined]
    else:
        fcntl.flock(file, fcntl.LOCK_EX)
