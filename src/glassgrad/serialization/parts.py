"""Checkpoints in parts: a folder with a file of each writer, and an index of what is where, which is written last.

Of a value under one name, which several writers have, one writes it. ``Shard`` is a part of a tensor whose other parts
other writers have.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from ..core.tensor import Tensor, share
from .reading import load
from .writing import save

__all__ = ["Reader", "Shard", "copied", "described", "fill", "finish", "leaves", "new_file", "placed", "write"]

_INDEX = "index.pt"


class Shard:
    """This rank's part of a tensor of shape ``whole``, which begins at ``offsets``; its values are ``tensor``'s."""

    def __init__(self, tensor: Any, offsets: tuple[int, ...], whole: tuple[int, ...]) -> None:
        sizes = tuple(tensor.shape)
        if any(at < 0 or at + size > full for at, size, full in zip(offsets, sizes, whole, strict=True)):
            raise ValueError(f"a part of shape {sizes} at {tuple(offsets)} does not lie within {tuple(whole)}")
        self.tensor, self.offsets, self.whole = tensor, tuple(offsets), tuple(whole)


def leaves(value: Any, name: str = "") -> Iterator[tuple[str, Any]]:
    """The values in nested dictionaries, lists and objects with a ``state_dict()``, by their names with dots."""
    if hasattr(value, "state_dict") and not isinstance(value, (dict, Tensor)):
        value = value.state_dict()
    if not isinstance(value, (dict, list)):
        yield name, value
        return
    for key, each in value.items() if isinstance(value, dict) else enumerate(value):
        yield from leaves(each, f"{name}.{key}" if name else str(key))


def copied(value: Any) -> Any:
    """A value as it is now."""
    if isinstance(value, Shard):
        return Shard(value.tensor.detach().clone(), value.offsets, value.whole)
    return value.detach().clone() if isinstance(value, Tensor) else value


# -- writing ----------------------------------------------------------------------------------------------------------


def described(values: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """What the index says of each value, and how large it is."""
    about = {}
    for name, value in values.items():
        offsets, whole = (value.offsets, value.whole) if isinstance(value, Shard) else (None, None)
        tensor = value.tensor if isinstance(value, Shard) else value
        shape, size = (tuple(tensor.shape), int(tensor._array.nbytes)) if isinstance(tensor, Tensor) else (None, 0)
        about[name] = {"whole": whole, "offsets": offsets, "shape": shape, "bytes": size}
    return about


def placed(everyone: list[dict[str, dict[str, Any]]]) -> dict[str, list[dict[str, Any]]]:
    """The index, from what each writer describes: of each name the parts, with their writers."""
    burden = [0] * len(everyone)
    index: dict[str, Any] = {}
    for name in dict.fromkeys(name for names in everyone for name in names):
        owners = [each for each, names in enumerate(everyone) if name in names]
        if everyone[owners[0]][name]["whole"] is None:  # one of those that have it writes it: who has least so far
            owners = [min(owners, key=lambda each: burden[each])]
        index[name] = [{"rank": each, **everyone[each][name]} for each in owners]
        for each in owners:
            burden[each] += everyone[each][name]["bytes"]
    return index


def new_file() -> str:
    """The end of a name for a writer's file, after its number, which no other checkpoint has."""
    return f"{os.urandom(4).hex()}.pt"


def write(folder: Path, file: str, values: dict[str, Any], index: dict[str, Any], rank: int) -> None:
    """Write the values that the index has at one writer."""
    own = {}
    for name in (name for name, parts in index.items() if any(part["rank"] == rank for part in parts)):
        value = values[name].tensor if isinstance(values[name], Shard) else values[name]
        own[name] = value.detach() if isinstance(value, Tensor) else value
    folder.mkdir(parents=True, exist_ok=True)
    save(own, folder / file)


def finish(folder: Path, files: list[str], index: dict[str, Any]) -> None:
    """Write the index, whole or as it was, and take the files of the checkpoint before away."""
    before = {path.name for path in folder.glob("*-*.pt")}
    save({"files": files, "index": index}, folder / _INDEX)
    for name in before - set(files):
        (folder / name).unlink(missing_ok=True)


# -- reading ----------------------------------------------------------------------------------------------------------


class Reader:
    """The files of a checkpoint, each read when first asked."""

    def __init__(self, folder: Path) -> None:
        whole = load(folder / _INDEX)
        self.folder, self.index, self.files = folder, whole["index"], whole["files"]
        if any(Path(name).name != name for name in self.files):
            raise ValueError(f"{folder / _INDEX} names files that are not beside it")
        self.open: dict[int, Any] = {}

    def value(self, name: str, rank: int | None = None) -> Any:
        """What a writer, the first where not told, wrote under a name."""
        rank = self.index[name][0]["rank"] if rank is None else rank
        if rank not in self.open:
            self.open[rank] = load(self.folder / self.files[rank], mmap=True)
        return self.open[rank][name]

    def take(self, value: Any, name: str) -> None:
        """Fill a tensor or a Shard; ValueError where the checkpoint has another shape, or not all of it."""
        about = self.index[name][0]
        sizes = about["whole"] or about["shape"]
        part = value if isinstance(value, Shard) else Shard(value, (0,) * value._array.ndim, tuple(value.shape))
        if sizes is None or tuple(sizes) != part.whole:
            raise ValueError(f"Size mismatch between saved {sizes} and current: {part.whole} for {name}")
        version = share(part.tensor)
        np.copyto(part.tensor._array, self._part(name, part.offsets, tuple(part.tensor.shape)), casting="same_kind")
        version.version += 1

    def _part(self, name: str, offsets: tuple[int, ...], shape: tuple[int, ...]) -> Any:
        """The values at ``offsets`` of a whole tensor, from all parts that have some of them."""
        result, filled = np.empty(shape, self.value(name)._array.dtype), 0
        for part in self.index[name]:
            starts = part["offsets"] or (0,) * len(shape)
            low = [max(a, b) for a, b in zip(offsets, starts, strict=True)]
            high = [min(a + n, b + m) for a, n, b, m in zip(offsets, shape, starts, part["shape"], strict=True)]
            if all(a < b for a, b in zip(low, high, strict=True)):
                inside, target = (
                    tuple(slice(a - o, b - o) for a, b, o in zip(low, high, origin, strict=True))
                    for origin in (starts, offsets)
                )
                result[target] = self.value(name, part["rank"])._array[inside]
                filled += result[target].size
        if filled != result.size:
            raise ValueError(f"the parts of {name!r} do not cover {tuple(shape)} at {tuple(offsets)}")
        return result


def fill(values: Any, reader: Reader, prefix: str = "") -> None:
    """Fill the tensors, Shards and other values of nested dictionaries and lists, in place."""
    for key in list(values) if isinstance(values, dict) else range(len(values)):
        value, name = values[key], f"{prefix}.{key}" if prefix else str(key)
        if hasattr(value, "state_dict") and hasattr(value, "load_state_dict"):
            state = value.state_dict()
            fill(state, reader, name)
            value.load_state_dict(state)
        elif isinstance(value, (dict, list)):
            fill(value, reader, name)
        elif name not in reader.index:
            raise KeyError(f"Missing key in checkpoint state_dict: {name}.")
        elif isinstance(value, (Tensor, Shard)):
            reader.take(value, name)
        else:
            values[key] = reader.value(name)
