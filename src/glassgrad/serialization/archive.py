"""The zip files that checkpoints are: written byte for byte as PyTorch's, read with every claim checked.

An archive holds records, all in one folder: ``data.pkl``, ``data/0``, ``data/1`` ... and a few words about itself.
Records are stored as they are, each on a boundary of 64 bytes, so that they can be mapped into memory.
"""

from __future__ import annotations

import struct
import zipfile
import zlib
from typing import IO, Any

import numpy as np

ALIGNMENT = 64
HUGE = 0xFFFFFFFF  # sizes and places from here on have 64-bit fields of their own
_ELSEWHERE = 0xFFFFFFFF  # what a 32-bit field says then
MAX_VERSION = 10
#: How much may come out of compressed records together, for each byte of the file and at any rate; and out of a pickle,
#: whose bytes stand for more. PyTorch compresses nothing, so only tools make such files.
INFLATED, INFLATED_FREE, PICKLE_FREE = 8, 64 << 20, 1 << 20
_LOCAL = struct.Struct("<4s5H3I2H")
_CENTRAL = struct.Struct("<4s6H3I5H2I")
_END64 = struct.Struct("<4sQ2H2I4Q")
_LOCATOR = struct.Struct("<4sIQI")
_END = struct.Struct("<4s4H2IH")
_BLAME = (
    " This is an internal miniz error. If you are seeing this error, there is a high likelihood that your checkpoint "
    "file is corrupted. This can happen if the checkpoint was not saved properly, was transferred incorrectly, or the "
    "file was modified after saving."
)


def broken(doing: str, why: str) -> RuntimeError:
    """PyTorch's error for an archive that cannot be read."""
    return RuntimeError(f"PytorchStreamReader failed {doing}: {why}.{_BLAME}")


class Writer:
    """Writes records one after another to a stream that need not be seekable; ``finish`` closes the archive."""

    def __init__(self, stream: Any, folder: str, crc: bool = True, alignment: int = ALIGNMENT) -> None:
        self.stream, self.folder, self.crc, self.alignment = stream, folder, crc, alignment
        self.at = 0
        self.records: list[tuple[bytes, int, int, int, int]] = []  # name, flags, checksum, size, place
        self.fingerprint = 0

    def _put(self, content: Any) -> None:
        self.stream.write(content)
        self.at += len(content)

    def write(self, name: str, content: Any) -> None:
        """Add a record: bytes, or a flat array of bytes."""
        content = memoryview(content).cast("B") if len(content) else b""
        path, size, offset = f"{self.folder}/{name}".encode(), len(content), self.at
        wide = self._wide(size, offset)
        extra = struct.pack(f"<2H{len(wide)}Q", 1, 8 * len(wide), *wide) if wide else b""
        start = offset + _LOCAL.size + len(path) + len(extra) + 4
        padding = -start % self.alignment
        extra += b"FB" + struct.pack("<H", padding) + b"Z" * padding
        flags = 0x0808 if size else 0x0800  # names are UTF-8; size and checksum follow the content
        self._put(_LOCAL.pack(b"PK\3\4", 0, flags, 0, 0, 0, 0, 0, 0, len(path), len(extra)) + path + extra)
        if size:
            self._put(content)
        checksum = zlib.crc32(content) if self.crc else 0
        if size:
            self._put(struct.pack("<4sI2Q" if wide else "<4s3I", b"PK\7\10", checksum, size, size))
        self.records.append((path, flags, checksum, size, offset))
        self.fingerprint = _combined(self.fingerprint, checksum) if size else self.fingerprint

    def reserve(self, name: str, size: int) -> None:
        """Add a record of ``size`` zeros, to be filled in by somebody else."""
        self.write(name, np.zeros(size, np.uint8))

    @staticmethod
    def _wide(size: int, offset: int) -> list[int]:
        return [size, size] * (size >= HUGE) + [offset] * (offset >= HUGE)

    def finish(self) -> None:
        """Write the version, the fingerprint and the directory."""
        self.write("version", b"3\n")
        names = 0
        for path, *_ in self.records:
            names = _combined(names, zlib.crc32(path))
        self.write(".data/serialization_id", f"{names:020d}{self.fingerprint:020d}".encode())
        start = self.at
        for path, flags, checksum, size, offset in self.records:
            wide = self._wide(size, offset)
            extra = struct.pack(f"<2H{len(wide)}Q", 1, 8 * len(wide), *wide) if wide else b""
            small, near = _narrow(size), _narrow(offset)
            self._put(
                _CENTRAL.pack(
                    b"PK\1\2", 0, 0, flags, 0, 0, 0, checksum, small, small, len(path), len(extra), 0, 0, 0, 0, near
                )
                + path
                + extra
            )
        size, count, end = self.at - start, len(self.records), self.at
        self._put(_END64.pack(b"PK\6\6", 44, 0x031E, 45, 0, 0, count, count, size, start))
        self._put(_LOCATOR.pack(b"PK\6\7", 0, end, 1))
        few = min(count, 0xFFFF)
        self._put(_END.pack(b"PK\5\6", 0, 0, few, few, _narrow(size), _narrow(start), 0))


def _narrow(number: int) -> int:
    return number if number < HUGE else _ELSEWHERE


def _combined(one: int, two: int) -> int:
    return (one ^ (two + 0x9E3779B9 + (one << 6) + (one >> 2))) & 0xFFFFFFFFFFFFFFFF


class Reader:
    """Reads an archive from a seekable file, from its present position on; every record is checked before its use."""

    def __init__(self, file: IO[bytes]) -> None:
        self.file = file
        file.seek(0, 2)
        self.length = file.tell()
        try:
            self.zip = zipfile.ZipFile(file)
        except Exception as error:  # whatever a parser of damaged bytes may raise
            raise broken("reading zip archive", "failed finding central directory") from error
        self.entries: dict[str, tuple[zipfile.ZipInfo, int]] = {}
        self.inflated = 0
        self._list()
        self._check_version()

    def _list(self) -> None:
        infos = sorted(self.zip.infolist(), key=lambda entry: entry.header_offset)
        if not infos:
            raise broken("reading zip archive", "the archive holds no files")
        folder = self.zip.infolist()[0].orig_filename.partition("/")[0] + "/"
        ends = [*(entry.header_offset for entry in infos[1:]), self.zip.start_dir]
        for entry, end in zip(infos, ends, strict=True):
            name = entry.orig_filename
            if not name.startswith(folder):
                raise RuntimeError(f"file in archive is not in a subdirectory {folder}: {name}")
            name = name[len(folder) :]
            if name in self.entries:
                raise broken(f"locating file {name}", "the archive holds several files of this name")
            if entry.header_offset < 0 or entry.header_offset + _LOCAL.size + entry.compress_size > end:
                raise broken(f"reading file {name}", "its content overlaps other files of the archive")
            self.entries[name] = entry, end
        self.folder = folder

    def _check_version(self) -> None:
        name = ".data/version" if ".data/version" in self.entries else "version"
        if name not in self.entries:
            raise RuntimeError(
                'Expected hasRecord("version") to be true, but got false.  (Could this error message be improved?  If '
                "so, please report an enhancement request to PyTorch.)"
            )
        text = self.read(name, 64).decode("ascii", "replace").strip()
        if not (text.isascii() and text.isdigit()):
            raise RuntimeError(f"Couldn't parse the version {text} as Long Long.")
        if not 1 <= int(text) <= MAX_VERSION:
            raise RuntimeError(
                f"Attempted to read a PyTorch file with version {text}, but the maximum supported version for reading "
                f"is {MAX_VERSION}. Your PyTorch installation may be too old."
            )

    def __contains__(self, name: str) -> bool:
        return name in self.entries

    def _find(self, name: str) -> tuple[zipfile.ZipInfo, int]:
        if name not in self.entries:
            raise broken(f"locating file {name}", "file not found")
        return self.entries[name]

    def size(self, name: str) -> int:
        """The size of a record's content; RuntimeError where it is not read because of its size."""
        entry, _ = self._find(name)
        self._allow(name, entry)
        return entry.file_size

    def backing(self, name: str) -> int:
        """How many bytes of a record's content the file stands for: not all, where very many came of a few."""
        entry, _ = self._find(name)
        return min(entry.file_size, INFLATED * entry.compress_size)

    def content_offset(self, name: str) -> int:
        """Where in the file the content of a record begins; RuntimeError where it is not as it says."""
        entry, end = self._find(name)
        self.file.seek(entry.header_offset)
        header = self.file.read(_LOCAL.size)
        if len(header) != _LOCAL.size or header[:4] != b"PK\3\4":
            raise broken(f"reading file {name}", "invalid header or archive is corrupted")
        *_, path_length, extra_length = _LOCAL.unpack(header)
        start = entry.header_offset + _LOCAL.size + path_length + extra_length
        path = self.file.read(path_length)
        if path != entry.orig_filename.encode() and path != entry.orig_filename.encode("cp437", "replace"):
            raise broken(f"reading file {name}", "invalid header or archive is corrupted")
        if entry.flag_bits & 0x2061:  # encrypted, patched
            raise broken(f"retrieving file meta-data for {name}", "unsupported encryption")
        if entry.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
            raise broken(f"retrieving file meta-data for {name}", "unsupported method")
        if start + entry.compress_size > end:
            raise broken(f"reading file {name}", "its content overlaps other files of the archive")
        return start

    def is_stored(self, name: str) -> bool:
        """Whether a record lies in the file as it is."""
        return self._find(name)[0].compress_type == zipfile.ZIP_STORED

    def read(self, name: str, limit: int | None = None) -> bytes:
        """The content of a record of at most ``limit`` bytes."""
        if limit is not None and self.size(name) > limit:
            raise broken(f"reading file {name}", f"it should not have more than {limit} bytes")
        return self.load(name).tobytes()

    def load(self, name: str, into: Any = None) -> Any:
        """The content of a record as an array of bytes, ``into`` if given; RuntimeError if its checksum is wrong."""
        entry, _ = self._find(name)
        start = self.content_offset(name)
        self.inflated = self._allow(name, entry)
        content: Any = np.empty(entry.file_size, np.uint8) if into is None else into
        self.file.seek(start)
        if entry.compress_type == zipfile.ZIP_STORED:
            self._fill(name, memoryview(content))
        else:
            self._inflate(name, entry.compress_size, memoryview(content))
        if entry.CRC and zlib.crc32(content) != entry.CRC:  # nought: saved without checksums
            raise broken(f"reading file {name}", "crc-32 check failed")
        return content

    def _fill(self, name: str, view: memoryview) -> None:
        """Read from the file until the array is full."""
        done = 0
        while done < len(view):
            chunk = self.file.read(min(len(view) - done, 1 << 24))
            if not chunk:
                raise broken(f"reading file {name}", "file read failed")
            view[done : done + len(chunk)] = chunk
            done += len(chunk)

    def _allow(self, name: str, entry: zipfile.ZipInfo) -> int:
        """How much has come out of compressed records with this one, asked before room is made for what it claims."""
        if entry.compress_type == zipfile.ZIP_STORED:
            if entry.compress_size != entry.file_size:
                raise broken(f"reading file {name}", "invalid header or archive is corrupted")
            return self.inflated
        inflated = self.inflated + entry.file_size
        free = PICKLE_FREE if name.endswith(".pkl") else INFLATED_FREE
        if inflated > INFLATED * self.length + free:
            raise broken(
                f"reading file {name}",
                f"compressed records that hold more than {INFLATED} times the file's size and {free >> 20} MiB are not "
                "read",
            )
        return inflated

    def _inflate(self, name: str, size: int, view: memoryview) -> None:
        """Fill the array, to the last byte, with what comes out of so many bytes of the file."""
        inflater, done = zlib.decompressobj(-15), 0
        try:
            while not inflater.eof and (packed := self.file.read(min(size, 1 << 20))):
                size -= len(packed)
                while chunk := inflater.decompress(packed, 1 << 24):
                    view[done : done + len(chunk)] = chunk  # ValueError for one that is longer than what is left
                    done += len(chunk)
                    packed = inflater.unconsumed_tail
        except (zlib.error, ValueError) as error:
            raise broken(f"reading file {name}", "decompression failed or archive is corrupted") from error
        if done != len(view):
            raise broken(f"reading file {name}", "decompression failed or archive is corrupted")
