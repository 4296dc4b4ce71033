"""Memory that others than tensors see: NumPy's arrays, pointers, storages.  What they write is heard by nobody."""

from __future__ import annotations

import weakref
from typing import Any

import numpy as np

count = 0  # how often memory was exposed that was not
_owners: dict[int, Any] = {}  # weak references to arrays that own such memory, by identity


def _owner(array: Any) -> Any:
    while True:
        base = array.base
        if base is None or type(base) is not np.ndarray:
            return array
        array = base


def expose(array: Any) -> None:
    """Note that somebody else sees the memory of an array."""
    global count
    owner = _owner(array)
    place = id(owner)
    if type(owner) is np.ndarray and place not in _owners:
        count += 1
        _owners[place] = weakref.ref(owner, lambda _: _owners.pop(place, None))


def is_exposed(array: Any) -> bool:
    """Whether somebody else may see the memory of an array; so it is where no array owns it."""
    if type(array) is not np.ndarray:
        return False
    owner = array if array.base is None else _owner(array)
    return id(owner) in _owners or not owner.flags.owndata
