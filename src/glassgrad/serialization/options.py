"""What can be set about saving and loading, per process as in PyTorch, and what a file of a stranger may ask for."""

from __future__ import annotations

import sys
import threading
from enum import Enum
from pickle import UnpicklingError
from typing import Any


class LoadEndianness(Enum):
    """The byte order taken for files that do not say theirs."""

    NATIVE = 1
    LITTLE = 2
    BIG = 3


class load:  # noqa: N801  its name in torch.utils.serialization.config
    """Options of ``torch.load``."""

    mmap: bool = False
    endianness: LoadEndianness | None = None
    mmap_flags: int | None = None if sys.platform == "win32" else 2  # MAP_PRIVATE
    calculate_storage_offsets: bool = False


class save:  # noqa: N801  likewise
    """Options of ``torch.save``."""

    compute_crc32: bool = True
    use_pinned_memory_for_d2h: bool = False
    storage_alignment: int = 64


def get_default_load_endianness() -> LoadEndianness | None:
    """The byte order of files that do not say theirs; None means little-endian."""
    return load.endianness


def set_default_load_endianness(endianness: Any) -> None:
    """Set the byte order of files that do not say theirs; TypeError unless a LoadEndianness or None."""
    if not isinstance(endianness, LoadEndianness) and endianness is not None:
        raise TypeError("Invalid argument type in function set_default_load_endianness")
    load.endianness = endianness


def get_crc32_options() -> bool:
    """Whether ``torch.save`` computes checksums."""
    return save.compute_crc32


def set_crc32_options(compute_crc32: bool) -> None:
    """Set whether ``torch.save`` computes checksums; without them damage goes unnoticed."""
    save.compute_crc32 = compute_crc32


def get_default_mmap_options() -> int | None:
    """How ``torch.load(mmap=True)`` maps files: ``mmap.MAP_PRIVATE`` or ``mmap.MAP_SHARED``."""
    return load.mmap_flags


class set_default_mmap_options:  # noqa: N801  a function that is a context manager too
    """Set how files are mapped, until the end of the ``with`` block if it is one.

    ValueError unless ``mmap.MAP_PRIVATE`` or ``mmap.MAP_SHARED``; RuntimeError on Windows.
    """

    def __init__(self, flags: int) -> None:
        if sys.platform == "win32":
            raise RuntimeError("Changing the default mmap options is currently not supported for Windows")
        from mmap import MAP_PRIVATE, MAP_SHARED

        if flags not in (MAP_PRIVATE, MAP_SHARED):
            raise ValueError(
                "Invalid argument in function set_default_mmap_options, expected mmap.MAP_PRIVATE or mmap.MAP_SHARED, "
                f"but got {flags}"
            )
        self.before, load.mmap_flags = load.mmap_flags, flags

    def __enter__(self) -> None:
        pass

    def __exit__(self, *exception: object) -> None:
        load.mmap_flags = self.before


class _Here(threading.local):
    skip = False
    map_location: Any = None
    unfilled: list[Any] | None = None  # what is to be done once the storages of a pickle are read, which come after it
    budget: Any = None  # what the file of a stranger may still ask for


here = _Here()


class skip_data:  # noqa: N801  a context manager
    """A block in which ``torch.save`` leaves room for storages instead of their bytes, and ``torch.load`` reads none.

    Source: https://docs.pytorch.org/docs/stable/notes/serialization.html
    """

    def __init__(self, materialize_fake_tensors: bool = False) -> None:
        pass

    def __enter__(self) -> None:
        self.before, here.skip = here.skip, True

    def __exit__(self, *exception: object) -> None:
        here.skip = self.before


# -- what a file of a stranger may ask for -----------------------------------------------------------------------------
# Memory and work, counted for one load against the bytes that the file holds. An honest pickle spells out whatever it
# builds, so each of its bytes pays for ``PICKLED`` bytes of objects; each byte of a storage pays for ``STORED`` bytes
# of reading and copying. What asks for more than that and ``FREE`` bytes is refused. Opcodes that build no more than
# their own length pays for are not counted at all.

PICKLED = 64
STORED = 8
FREE = 1 << 20
CALL = 256  # bytes of what a call gives, such as a tensor, besides its content
ITEM = 64  # bytes of an item of a dictionary or set


class Budget:
    """What is left of it; ``spend`` raises UnpicklingError where that is too little."""

    def __init__(self) -> None:
        self.left = FREE

    def earn(self, amount: int) -> None:
        """Count what the file holds."""
        self.left += amount

    def spend(self, amount: int) -> None:
        """Count what is asked for, before it is done."""
        self.left -= amount
        if self.left < 0:
            raise UnpicklingError("the file asks for far more memory or work than its bytes stand for")


def earn(amount: int) -> None:
    """Count bytes that a storage holds; of files that are trusted nothing is counted."""
    if here.budget is not None:
        here.budget.earn(STORED * amount)


def spend(amount: int) -> None:
    """Count bytes that are made or walked; UnpicklingError where nothing in the file stands for them."""
    if here.budget is not None:
        here.budget.spend(amount)
