"""Checkpoints that all ranks write in part, and that any number of ranks reads: a folder with a file for each rank.

Of tensors and other values under one name, which every rank has, as DistributedDataParallel's parameters are, one rank
writes one. ``Shard`` is a part of a tensor whose other parts other ranks have.
Source: https://docs.pytorch.org/docs/stable/distributed.checkpoint.html
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np

from ...core.tensor import Tensor, share
from ...serialization import load as _read
from ...serialization import save as _write
from ..distributed_c10d import _resolve, is_initialized
from ..objects import all_gather_object

__all__ = ["CheckpointException", "FileSystemReader", "FileSystemWriter", "Shard", "async_save", "load", "save"]

_INDEX = "index.pt"


class CheckpointException(Exception):
    """A checkpoint could not be written or read; ``failures`` by rank."""

    def __init__(self, msg: str, failures: dict[int, str]) -> None:
        super().__init__(msg + "".join(f"\n  rank {rank}: {words}" for rank, words in failures.items()))
        self.failures = failures


class FileSystemWriter:
    """Where a checkpoint is written: the folder ``path``."""

    def __init__(self, path: Any, **options: Any) -> None:
        self.path = Path(path)


class FileSystemReader(FileSystemWriter):
    """Where a checkpoint is read from: the folder ``path``."""


class Shard:
    """This rank's part of a tensor of shape ``whole``, which begins at ``offsets``; its values are ``tensor``'s."""

    def __init__(self, tensor: Any, offsets: tuple[int, ...], whole: tuple[int, ...]) -> None:
        sizes = tuple(tensor.shape)
        if any(at < 0 or at + size > full for at, size, full in zip(offsets, sizes, whole, strict=True)):
            raise ValueError(f"a part of shape {sizes} at {tuple(offsets)} does not lie within {tuple(whole)}")
        self.tensor, self.offsets, self.whole = tensor, tuple(offsets), tuple(whole)


def _state(given: Any) -> Any:
    return given.state_dict() if hasattr(given, "state_dict") and not isinstance(given, dict) else given


def _leaves(value: Any, name: str = "") -> Iterator[tuple[str, Any]]:
    """The values in nested dictionaries and lists, by their names with dots."""
    if isinstance(value, dict) or (hasattr(value, "state_dict") and not isinstance(value, Tensor)):
        items = _state(value).items()
    elif isinstance(value, list):
        items = enumerate(value)
    else:
        yield name, value
        return
    for key, each in items:
        yield from _leaves(each, f"{name}.{key}" if name else str(key))


def _folder(checkpoint_id: Any, storage: Any) -> Path:
    if checkpoint_id is None and storage is None:
        raise ValueError("a checkpoint needs a folder: pass checkpoint_id, or a storage_writer or storage_reader")
    return Path(checkpoint_id) if checkpoint_id is not None else storage.path


def _together(group: Any, value: Any, alone: bool) -> list[Any]:
    """What each rank says."""
    if alone or not is_initialized():
        return [value]
    answers: list[Any] = [None] * _resolve(group).size()
    all_gather_object(answers, value, group)
    return answers


def _told(group: Any, failure: str | None, alone: bool, what: str) -> None:
    failures = {rank: words for rank, words in enumerate(_together(group, failure, alone)) if words is not None}
    if failures:
        raise CheckpointException(f"The checkpoint could not be {what}:", failures)


def save(
    state_dict: dict[str, Any], *, checkpoint_id: Any = None, storage_writer: Any = None, planner: Any = None,
    process_group: Any = None, no_dist: bool = False, use_collectives: bool = True,
) -> None:  # fmt: skip
    """Write a checkpoint: each rank its shards, and its share of what all have. All ranks call this.

    state_dict      tensors, Shards, other values, and objects with a state_dict(), in nested dictionaries and lists
    checkpoint_id   the folder; what is in it stays whole until the new checkpoint is there
    CheckpointException on all ranks where one fails.
    """
    folder = _folder(checkpoint_id, storage_writer)
    mine = dict(_leaves(state_dict))
    everyone = _together(process_group, {name: _about(value) for name, value in mine.items()}, no_dist)
    rank = 0 if len(everyone) == 1 else _resolve(process_group).rank()
    load = [0] * len(everyone)
    index: dict[str, Any] = {}
    for name in dict.fromkeys(name for names in everyone for name in names):
        owners = [each for each, names in enumerate(everyone) if name in names]
        if everyone[owners[0]][name]["whole"] is None:  # one of those that have it writes it: who has least so far
            owners = [min(owners, key=lambda each: load[each])]
        index[name] = [{"rank": each, **everyone[each][name]} for each in owners]
        for each in owners:
            load[each] += everyone[each][name]["bytes"]
    failure, new = None, [f"{each}-{os.urandom(4).hex()}.pt" for each in range(len(everyone))]
    files = _together(process_group, new, no_dist)[0]
    try:
        folder.mkdir(parents=True, exist_ok=True)
        own = {name for name, parts in index.items() if any(part["rank"] == rank for part in parts)}
        _write({name: _content(mine[name]) for name in own}, folder / files[rank])
    except OSError as error:
        failure = str(error)
    _told(process_group, failure, no_dist, "written")
    if rank == 0:
        before = {path.name for path in folder.glob("*-*.pt")}
        _write({"files": files, "index": index}, folder / _INDEX)  # whole, or as it was
        for name in before - set(files):
            (folder / name).unlink(missing_ok=True)
    _together(process_group, None, no_dist)


def _about(value: Any) -> dict[str, Any]:
    tensor = value.tensor if isinstance(value, Shard) else value
    sized = isinstance(tensor, Tensor)
    return {
        "whole": value.whole if isinstance(value, Shard) else None,
        "offsets": value.offsets if isinstance(value, Shard) else None,
        "shape": tuple(tensor.shape) if sized else None,
        "bytes": int(tensor._array.nbytes) if sized else 0,
    }


def _content(value: Any) -> Any:
    value = value.tensor if isinstance(value, Shard) else value
    return value.detach() if isinstance(value, Tensor) else value


def async_save(state_dict: dict[str, Any], **settings: Any) -> Future[None]:
    """:func:`save` of the values as they are now, while the program goes on: one that ends when it is written.

    The collectives that it needs go before those that are begun later, so it is called at one place on all ranks.
    """
    def kept(value: Any) -> Any:
        if isinstance(value, Shard):
            return Shard(value.tensor.detach().clone(), value.offsets, value.whole)
        return value.detach().clone() if isinstance(value, Tensor) else value

    settings["process_group"] = settings.get("process_group") or _copy_of_world()
    pool = ThreadPoolExecutor(1)
    done = pool.submit(save, {name: kept(value) for name, value in _leaves(state_dict)}, **settings)
    pool.shutdown(wait=False)
    return done


def _copy_of_world() -> Any:
    from ..distributed_c10d import new_group

    return new_group() if is_initialized() else None


class _Files:
    """The files of a checkpoint, each read when first asked."""

    def __init__(self, folder: Path) -> None:
        whole = _read(folder / _INDEX)
        self.folder, self.index, self.files = folder, whole["index"], whole["files"]
        self.open: dict[int, Any] = {}

    def value(self, name: str, rank: int) -> Any:
        if rank not in self.open:
            self.open[rank] = _read(self.folder / self.files[rank], mmap=True)
        return self.open[rank][name]

    def part(self, name: str, offsets: tuple[int, ...], shape: tuple[int, ...]) -> Any:
        """The values at ``offsets`` of a whole tensor, from all parts that have some of them."""
        result, filled = None, 0
        for part in self.index[name]:
            starts = part["offsets"] or (0,) * len(shape)
            low = [max(a, b) for a, b in zip(offsets, starts, strict=True)]
            high = [min(a + n, b + m) for a, n, b, m in zip(offsets, shape, starts, part["shape"], strict=True)]
            if all(a < b for a, b in zip(low, high, strict=True)):
                content = self.value(name, part["rank"])._array
                result = np.empty(shape, content.dtype) if result is None else result
                inside = tuple(slice(a - o, b - o) for a, b, o in zip(low, high, starts, strict=True))
                target = tuple(slice(a - o, b - o) for a, b, o in zip(low, high, offsets, strict=True))
                result[target] = content[inside]
                filled += int(np.prod([b - a for a, b in zip(low, high, strict=True)]))
        if 0 in shape:
            return np.empty(shape, self.value(name, self.index[name][0]["rank"])._array.dtype)
        if result is None or filled != int(np.prod(shape)):
            raise ValueError(f"the parts of {name!r} do not cover {tuple(shape)} at {tuple(offsets)}")
        return result


def load(
    state_dict: dict[str, Any], *, checkpoint_id: Any = None, storage_reader: Any = None, planner: Any = None,
    process_group: Any = None, no_dist: bool = False,
) -> None:  # fmt: skip
    """Read a checkpoint into the tensors, Shards and values of ``state_dict``, in place; any number of ranks may.

    CheckpointException on all ranks where a name is missing, or a shape is another.
    """
    failure = None
    try:
        files = _Files(_folder(checkpoint_id, storage_reader))
        _fill(state_dict, "", files)
    except (OSError, KeyError, ValueError) as error:
        failure = f"{type(error).__name__}: {error}"
    _told(process_group, failure, no_dist, "read")


def _fill(values: Any, prefix: str, files: _Files) -> None:
    for key in list(values) if isinstance(values, dict) else range(len(values)):
        value, name = values[key], f"{prefix}.{key}" if prefix else str(key)
        if hasattr(value, "state_dict") and hasattr(value, "load_state_dict"):
            state = value.state_dict()
            _fill(state, name, files)
            value.load_state_dict(state)
        elif isinstance(value, (dict, list)):
            _fill(value, name, files)
        elif name not in files.index:
            raise KeyError(f"Missing key in checkpoint state_dict: {name}.")
        elif isinstance(value, (Tensor, Shard)):
            _take(value, name, files)
        else:
            values[key] = files.value(name, files.index[name][0]["rank"])


def _take(value: Any, name: str, files: _Files) -> None:
    about = files.index[name][0]
    sizes = about["whole"] or about["shape"]
    if isinstance(value, Shard):
        tensor, offsets, whole = value.tensor, value.offsets, value.whole
    else:
        tensor, offsets, whole = value, (0,) * value._array.ndim, tuple(value.shape)
    if sizes is None or tuple(sizes) != whole:
        raise ValueError(f"Size mismatch between saved {sizes} and current: {whole} for {name}")
    version = share(tensor)
    np.copyto(tensor._array, files.part(name, offsets, tuple(tensor.shape)), casting="same_kind")
    version.version += 1
