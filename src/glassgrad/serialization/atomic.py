"""Files that are written whole or not at all: whatever happens while writing, the old content stays."""

from __future__ import annotations

import os
import secrets
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import IO


@contextmanager
def replacing(path: str) -> Iterator[IO[bytes]]:
    """A file to write to, which takes the place of ``path`` when the block ends well and vanishes when it raises.

    It is written beside its target and brought to the disk first. A symbolic link goes on pointing where it pointed;
    an existing file keeps its permissions and, where the system lets us, its owner. What is no ordinary file (a
    device, a pipe) is written to directly.
    """
    target = os.path.realpath(path)
    try:
        before = os.stat(target)
    except FileNotFoundError:
        before = None
    if before is not None and not stat.S_ISREG(before.st_mode):
        with open(target, "wb") as device:  # IsADirectoryError for a folder
            yield device
        return
    if before is not None and not os.access(target, os.W_OK):
        raise PermissionError(13, "Permission denied", path)
    folder, name = os.path.split(target)
    beside = os.path.join(folder, f".{name[:100]}.{secrets.token_hex(8)}.tmp")
    try:
        try:  # a new file gets the permissions that an ordinary new file gets
            file = open(beside, "xb")
        except PermissionError:
            if before is None:
                raise
            with open(target, "wb") as direct:  # a folder in which nothing can be made: the file itself can be written
                yield direct
            return
        with file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        if before is not None:
            os.chmod(beside, stat.S_IMODE(before.st_mode))
            with suppress(OSError, AttributeError):
                os.chown(beside, before.st_uid, before.st_gid)
        os.replace(beside, target)
    except BaseException:
        with suppress(OSError):
            os.unlink(beside)
        raise
    _settle(folder)


def _settle(folder: str) -> None:
    """Bring the new name to the disk as well, where folders can be synchronized."""
    with suppress(OSError):
        handle = os.open(folder or ".", os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
