"""Checkpoints that all ranks write in part, and that any number of ranks reads: a folder with a file for each rank.

Of tensors and other values under one name, which every rank has, as DistributedDataParallel's parameters are, one rank
writes one. ``Shard`` is a part of a tensor whose other parts other ranks have.
Source: https://docs.pytorch.org/docs/stable/distributed.checkpoint.html
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import Any

from ...ground.names import rehome
from ...serialization import parts
from ...serialization.parts import Shard
from ..distributed_c10d import _resolve, is_initialized, new_group

__all__ = ["CheckpointException", "FileSystemReader", "FileSystemWriter", "Shard", "async_save", "load", "save"]
rehome(Shard, __name__)  # where pickles find it


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


def _folder(checkpoint_id: Any, storage: Any) -> Path:
    if checkpoint_id is None and storage is None:
        raise ValueError("a checkpoint needs a folder: pass checkpoint_id, or a storage_writer or storage_reader")
    return storage.path if checkpoint_id is None else Path(checkpoint_id)


def _together(group: Any, value: Any, alone: bool) -> list[Any]:
    """What each rank says."""
    return [value] if alone or not is_initialized() else _resolve(group).gathered(value)


def _tried(group: Any, alone: bool, what: str, step: Callable[[], None]) -> None:
    """Do ``step``; CheckpointException on all ranks where it fails on one."""
    failure = None
    try:
        step()
    except Exception as error:  # a damaged file may raise anything, and the other ranks wait for what is said here
        failure = f"{type(error).__name__}: {error}"
    every = enumerate(_together(group, failure, alone))
    if failures := {rank: words for rank, words in every if words is not None}:
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
    folder, mine = _folder(checkpoint_id, storage_writer), dict(parts.leaves(state_dict))
    everyone = _together(process_group, (parts.described(mine), parts.new_file()), no_dist)
    rank = 0 if len(everyone) == 1 else _resolve(process_group).rank()
    index = parts.placed([about for about, _ in everyone])
    files = [f"{number}-{file}" for number, (_, file) in enumerate(everyone)]
    _tried(process_group, no_dist, "written", lambda: parts.write(folder, files[rank], mine, index, rank))
    if rank == 0:
        parts.finish(folder, files, index)
    _together(process_group, None, no_dist)


def async_save(state_dict: dict[str, Any], **settings: Any) -> Future[None]:
    """:func:`save` of the values as they are now, while the program goes on: one that ends when it is written.

    The collectives that it needs go before those that are begun later, so it is called at one place on all ranks.
    """
    settings["process_group"] = settings.get("process_group") or (new_group() if is_initialized() else None)
    kept = {name: parts.copied(value) for name, value in parts.leaves(state_dict)}
    pool = ThreadPoolExecutor(1)
    done = pool.submit(save, kept, **settings)
    pool.shutdown(wait=False)
    return done


def load(
    state_dict: dict[str, Any], *, checkpoint_id: Any = None, storage_reader: Any = None, planner: Any = None,
    process_group: Any = None, no_dist: bool = False,
) -> None:  # fmt: skip
    """Read a checkpoint into the tensors, Shards and values of ``state_dict``, in place; any number of ranks may.

    CheckpointException on all ranks where a name is missing, or a shape is another.
    """
    folder = _folder(checkpoint_id, storage_reader)
    _tried(process_group, no_dist, "read", lambda: parts.fill(state_dict, parts.Reader(folder)))
