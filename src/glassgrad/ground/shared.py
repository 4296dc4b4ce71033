"""Memory that several processes see: arrays on it, and how they are handed on; knows no tensor."""

from __future__ import annotations

import itertools
import mmap
import os
import sys
import weakref
from typing import Any

import numpy as np

_known: weakref.WeakValueDictionary[Any, Any] = weakref.WeakValueDictionary()  # by what the system calls the memory
_numbers = itertools.count()


class Shared(np.ndarray):
    """Bytes that processes share: forked ones from the start, others once ``multiprocessing`` has sent it to them.

    Plain pickles and copies hold the content alone.
    """

    handle: Any  # the file descriptor; under Windows, the name

    def __reduce__(self) -> Any:  # type: ignore[override]
        return np.array(self, subok=False).__reduce__()

    def __reduce_ex__(self, protocol: Any) -> Any:
        return np.array(self, subok=False).__reduce_ex__(protocol)

    def __copy__(self) -> Any:
        return np.array(self, subok=False)

    def __deepcopy__(self, memo: Any) -> Any:
        return np.array(self, subok=False)


def allocate(size: int) -> Shared:
    """New shared memory of ``size`` bytes, all nought."""
    if sys.platform == "win32":
        return mapped(f"glassgrad-{os.getpid()}-{next(_numbers)}", size)
    if hasattr(os, "memfd_create"):
        handle = os.memfd_create("glassgrad")
    else:
        import tempfile

        handle, name = tempfile.mkstemp(prefix="glassgrad-")
        os.unlink(name)
    try:
        os.ftruncate(handle, max(size, 1))
        return mapped(handle, size)
    except BaseException:
        os.close(handle)
        raise


def mapped(handle: Any, size: int) -> Shared:
    """The memory that a handle names, as an array; the same array while it lives."""
    register()
    if sys.platform == "win32":
        key: Any = handle
        existing = _known.get(key)
        content = mmap.mmap(-1, max(size, 1), tagname=handle) if existing is None else None
    else:
        about = os.fstat(handle)
        key = about.st_dev, about.st_ino
        existing = _known.get(key)
        if existing is not None:
            os.close(handle)
        content = mmap.mmap(handle, max(size, 1)) if existing is None else None
    if existing is not None:
        return existing
    memory = Shared((size,), np.uint8, content)
    memory.handle = handle
    if sys.platform != "win32":
        weakref.finalize(memory, os.close, handle).atexit = False
    _known[key] = memory
    return memory


def register() -> None:
    """Have ``multiprocessing`` send shared memory as such; a pickler knows only what was registered before it."""
    from multiprocessing.reduction import ForkingPickler

    ForkingPickler.register(Shared, _reduce)


def _reduce(memory: Shared) -> Any:
    """How ``multiprocessing`` sends shared memory: a name for it, no content."""
    if type(memory.base) is not mmap.mmap:  # a part of it
        return memory.__reduce__()
    if sys.platform == "win32":
        return mapped, (memory.handle, memory.size)
    from multiprocessing.reduction import DupFd

    return _attached, (DupFd(memory.handle), memory.size)


def _attached(sent: Any, size: int) -> Shared:
    return mapped(sent.detach(), size)
