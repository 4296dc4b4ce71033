"""Index tensors as a setting of rows: what they are, whether they were written since, at which level they are."""

from __future__ import annotations

import builtins
from collections.abc import Iterable
from typing import Any

from ...ground import errors
from ...tensor import lifted
from ...tensor.overwritten import type_name
from ..shape.rows import on_arrays

ALL = builtins.slice(None)


class Indices(tuple[Any, ...]):
    """Index tensors, None for a dimension taken whole; ``parts`` is what NumPy is indexed with."""

    parts: tuple[Any, ...]
    versions: list[int]
    alone: bool  # whether only the last is a tensor

    def __new__(cls, indices: Iterable[Any]) -> Indices:
        self = tuple.__new__(cls, indices)
        self.alone = len(self) == 1 or all(tensor is None for tensor in self[:-1])
        self.parts = tuple([ALL if tensor is None else tensor._array for tensor in self])
        self.versions = [0 if tensor is None or tensor._counter is None else tensor._counter.version for tensor in self]
        return self


def fresh(indices: Any) -> Any:
    """The indices of a forward call, for its rule; RuntimeError where one was changed in place since."""
    if type(indices) is Indices:
        for tensor, version in zip(indices, indices.versions, strict=True):
            if tensor is not None and tensor._counter is not None and tensor._counter.version != version:
                raise RuntimeError(
                    errors.STALE.format(
                        type=type_name(tensor._array),
                        sizes=list(tensor._array.shape),
                        owner="",
                        now=tensor._counter.version,
                        then=version,
                        hint=errors.STALE_HINT,
                    )
                )
    return indices


@on_arrays(lambda tensor, indices: tensor)
def beside(tensor: Any, indices: Any) -> Any:
    """A tensor at the level of the index tensors, where a transform has lifted them."""
    return lifted.beside(tensor, indices) if lifted.is_lifted(indices) else tensor
