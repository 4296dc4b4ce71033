"""The format before PyTorch 1.6: several pickles in a row, then the bytes of the storages."""

from __future__ import annotations

import inspect
import struct
import sys
import tarfile
import warnings
from pickle import UnpicklingError
from typing import IO, Any

import numpy as np

from ..families.storage.functions import UntypedStorage, as_bytes, storage_of
from ..families.storage.typed import TypedStorage
from ..ground import dtypes
from ..ground.names import is_own
from ..tensor.typename import typename
from . import options
from .location import restorer
from .options import earn
from .rebuild import shown

MAGIC = 0x1950A86A20F9469CFC6C
PROTOCOL = 1001
_SYSTEM = {
    "protocol_version": PROTOCOL,
    "little_endian": sys.byteorder == "little",
    "type_sizes": {"short": 2, "int": 4, "long": 4},
}


class SourceChangeWarning(Warning):
    """Says that a class is no longer written as it was when its instances were saved."""


# -- writing -----------------------------------------------------------------------------------------------------------


def write(obj: Any, file: Any, pickle_module: Any, protocol: int) -> None:
    """Write an object in this format."""
    from .writing import Storages, pickled

    seen: set[type] = set()

    class Keyed(Storages):
        def key(self, untyped: UntypedStorage) -> str:
            return str(untyped._cdata)

    storages = Keyed()

    def identify(obj: Any) -> Any:
        if isinstance(obj, (TypedStorage, UntypedStorage)):
            return "storage", *storages.add(obj), None
        if isinstance(obj, type) and obj not in seen and _is_module(obj):
            seen.add(obj)
            return "module", obj, *((None, None) if _is_ours(obj) else _source(obj))
        return None

    for part in (MAGIC, PROTOCOL, _SYSTEM):
        pickle_module.dump(part, file, protocol=protocol)
    file.write(pickled(obj, pickle_module, protocol, identify))
    keys = sorted(storages.by_key)
    pickle_module.dump(keys, file, protocol=protocol)
    for key in keys:
        untyped = storages.by_key[key]
        dtype = storages.dtypes.get(untyped.data_ptr(), dtypes.uint8)
        content = b"" if untyped._meta else as_bytes(untyped._owner).data
        file.write(struct.pack("<q", len(content) // dtype.itemsize))
        file.write(content)


def _is_module(cls: type) -> bool:
    return any(base.__qualname__ == "Module" and base.__module__.endswith("nn.modules.module") for base in cls.__mro__)


def _is_ours(cls: Any) -> bool:
    """Whether a class is a layer of the package: PyTorch's of that name is written otherwise, so nobody compares."""
    return is_own(cls)


def _source(cls: type) -> tuple[Any, Any]:
    try:
        return inspect.getsourcefile(cls), inspect.getsource(cls)
    except (OSError, TypeError):  # the source is a courtesy
        warnings.warn(
            f"Couldn't retrieve source code for container of type {cls.__name__}. It won't be checked for correctness "
            "upon loading.",
            stacklevel=2,
        )
        return None, None


# -- reading -----------------------------------------------------------------------------------------------------------


def read(file: IO[bytes], map_location: Any, make: Any, arguments: dict[str, Any]) -> Any:
    """The object of a file in this format; its pickles are read by what ``make`` makes."""
    from .reading import UNSAFE
    from .weights import Unpickler

    start = file.tell()
    length = file.seek(0, 2)
    file.seek(start)
    if _is_tar(file):
        if isinstance(make(file, None, **arguments), Unpickler):
            raise RuntimeError(f"Cannot use ``weights_only=True`` with files saved in the legacy .tar format. {UNSAFE}")
        raise RuntimeError(
            "files in the .tar format of PyTorch 0.1 are not read: load the file with PyTorch and save it again"
        )

    def refuse(pid: Any) -> Any:
        raise UnpicklingError("unsupported persistent id encountered")

    def part() -> Any:
        return make(file, refuse, **arguments).load()

    magic = part()
    if type(magic) is not int or magic != MAGIC:
        raise RuntimeError("Invalid magic number; corrupt file?")
    version = part()
    if type(version) is not int or version != PROTOCOL:
        raise RuntimeError(f"Invalid protocol version: {shown(version)}")
    system = part()
    storages = _Storages(map_location, length - file.tell())
    before, options.here.unfilled = options.here.unfilled, []
    try:
        return _filled(file, storages, make(file, storages.persistent_load, **arguments).load(), part, system)
    finally:
        options.here.unfilled = before


def _filled(file: IO[bytes], storages: _Storages, result: Any, part: Any, system: Any) -> Any:
    """What was unpickled, once its storages are read, and what is made of their contents."""
    keys = part()
    if type(keys) is not list:
        raise UnpicklingError("the list of storages is missing")
    if not options.here.skip:
        swap = isinstance(system, dict) and system.get("little_endian") is (sys.byteorder != "little")
        for key in keys:
            storages.fill(file, key, swap)
    for fill in options.here.unfilled or ():
        fill()
    return result


def _is_tar(file: IO[bytes]) -> bool:
    start = file.tell()
    try:
        with tarfile.open(fileobj=file, mode="r:") as archive:
            return archive.next() is not None
    except (tarfile.TarError, OSError, ValueError, EOFError):
        return False
    finally:
        file.seek(start)


class _Storages:
    """The storages of a pickle: made when it names them, filled when it is done."""

    def __init__(self, map_location: Any, room: int) -> None:
        self.restore, self.room = restorer(map_location), room
        self.raw: dict[str, tuple[Any, Any]] = {}
        self.known: dict[str, TypedStorage] = {}

    def persistent_load(self, pid: Any) -> Any:
        """The storage, or the class with its source, that a pickle names."""
        from .reading import checked_id

        if type(pid) is tuple and len(pid) == 4 and pid[0] in ("module", b"module"):
            if all(pid[2:]) and not _is_ours(pid[1]):
                _compare_source(*pid[1:])
            return pid[1]
        _, kind, key, tag, count, view = checked_id(pid, 6)
        dtype = dtypes.uint8 if kind is UntypedStorage else kind.dtype
        if key not in self.known:
            size = count * dtype.itemsize
            self.room -= size
            if self.room < 0:
                raise RuntimeError(f"unexpected EOF, expected {-self.room} more bytes. The file might be corrupted.")
            earn(size)
            owner = np.zeros(count, dtype.numpy)
            self.raw[key] = owner, dtype
            self.known[key] = self._typed(self.restore(storage_of(owner), tag), dtype)
        if view is None:
            return self.known[key]
        return self._view(key, view, dtype)

    def _typed(self, untyped: UntypedStorage, dtype: Any) -> TypedStorage:
        return TypedStorage(wrap_storage=untyped, dtype=dtype, _internal=True)

    def _view(self, root: str, view: Any, dtype: Any) -> TypedStorage:
        if type(view) is not tuple or len(view) != 3 or any(type(part) is not int for part in view[1:]):
            raise UnpicklingError("a part of a storage is named by a key, an offset and a size")
        key, offset, count = view
        start, stop = offset * dtype.itemsize, (offset + count) * dtype.itemsize
        whole = self.known[root].untyped()
        if not 0 <= start <= stop <= whole.nbytes():
            raise UnpicklingError("a part of a storage lies outside it")
        if key not in self.known:
            self.known[key] = self._typed(whole[start:stop], dtype)
        return self.known[key]

    def fill(self, file: IO[bytes], key: Any, swap: bool) -> None:
        """Read the bytes of a storage: the number of its elements, then these."""
        if type(key) is not str or key not in self.raw:
            raise UnpicklingError(f"storage key {shown(key)} not found in deserialized_objects")
        owner, dtype = self.raw[key]
        head = file.read(8)
        if len(head) != 8:
            raise RuntimeError(f"unexpected EOF, expected {8 - len(head)} more bytes. The file might be corrupted.")
        (count,) = struct.unpack(">q" if swap else "<q", head)
        if count * dtype.itemsize != owner.nbytes:
            raise RuntimeError(f"storage has wrong byte size: expected {owner.nbytes} got {count * dtype.itemsize}")
        view = memoryview(owner.view(np.uint8)) if owner.size else memoryview(bytearray())
        done = 0
        while done < len(view):
            chunk = file.read(min(len(view) - done, 1 << 24))
            if not chunk:
                raise RuntimeError(
                    f"unexpected EOF, expected {len(view) - done} more bytes. The file might be corrupted."
                )
            view[done : done + len(chunk)] = chunk
            done += len(chunk)
        if swap:
            storage_of(owner).byteswap(dtype)


def _compare_source(cls: Any, source_file: Any, saved: Any) -> None:
    current = _source(cls)[1]
    if current is not None and current != saved:
        warnings.warn(
            f"source code of class '{typename(cls)}' has changed. you can retrieve the original source code by "
            "accessing the object's source attribute or set `torch.nn.Module.dump_patches = True` and use the patch "
            "tool to revert the changes.",
            SourceChangeWarning,
            stacklevel=4,
        )
