"""Floor 0: every file that is written, whole or not at all: whatever happens while writing, the old content stays."""

from __future__ import annotations

import os
import re
import secrets
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import IO

_HALF = re.compile("[\ud800-\udfff]")


@contextmanager
def replacing(path: str | os.PathLike[str], follow: bool = True) -> Iterator[IO[bytes]]:
    """A file to write to, which takes the place of ``path`` when the block ends well and vanishes when it raises.

    It is written beside its target and brought to the disk first. A symbolic link goes on pointing where it pointed
    (without ``follow`` the link itself is replaced); an existing file keeps its permissions and, where the system lets
    us, its owner. What is no ordinary file (a device, a pipe) is written to directly, and so is a file in a folder in
    which nothing can be made.
    """
    target = os.path.realpath(path) if follow else os.path.abspath(path)
    try:
        before = os.lstat(target)
    except FileNotFoundError:
        before = None
    if before is not None and stat.S_ISLNK(before.st_mode):
        before = None
    if before is not None and not stat.S_ISREG(before.st_mode):
        with open(target, "wb") as device:  # IsADirectoryError for a folder
            yield device
        return
    if before is not None and not os.access(target, os.W_OK):
        raise PermissionError(13, "Permission denied", os.fspath(path))
    folder = os.path.dirname(target)
    if before is not None and not os.access(folder, os.W_OK | os.X_OK):
        with open(target, "wb") as direct:
            yield direct
        return
    mode = 0o666 if before is None else 0o600  # what was kept from others is so meanwhile
    temporary = os.path.join(folder, f".glassgrad-{secrets.token_hex(8)}.tmp")  # known before it is there
    try:
        with open(temporary, "xb", opener=lambda name, flags: os.open(name, flags, mode)) as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        if before is not None:
            os.chmod(temporary, stat.S_IMODE(before.st_mode))
            with suppress(OSError, AttributeError):
                os.chown(temporary, before.st_uid, before.st_gid)
        os.replace(temporary, target)
    except BaseException:
        with suppress(OSError):
            os.unlink(temporary)
        raise
    _settle(folder)


def write(path: str | os.PathLike[str], content: str | bytes, follow: bool = True) -> str:
    """Write a whole file, making its folders; gives its path. See :func:`replacing`, and :func:`utf8` for text."""
    data = utf8(content) if isinstance(content, str) else content
    os.makedirs(os.path.dirname(os.path.abspath(path)), exist_ok=True)
    with replacing(path, follow) as file:
        file.write(data)
    return os.fspath(path)


def whole_letters(text: str) -> str:
    """Text that can be written: half a letter (a lone surrogate, as names that are not UTF-8 have) becomes U+FFFD."""
    return text if text.isascii() else _HALF.sub("\ufffd", text)


def utf8(text: str) -> bytes:
    """The same as UTF-8."""
    return whole_letters(text).encode()


def _settle(folder: str) -> None:
    """Bring the new name to the disk as well, where folders can be synchronized."""
    with suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
