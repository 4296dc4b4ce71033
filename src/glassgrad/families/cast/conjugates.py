"""Conjugates, which have numbers of their own here and are views in PyTorch: they follow what they were made of."""

from __future__ import annotations

import weakref
from typing import Any, NoReturn

import numpy as np

from ...core.record import Kind, Record, VersionCounter
from ...core.tensor import Tensor, edge_of, share
from ...tensor.writable import is_conjugate

_OUTDATED = (
    "a conjugate's gradient is wanted, and the tensor whose conjugate it is has been written in place since by an "
    "operation that was recorded: in PyTorch the conjugate would be read anew. Call conj() after the write."
)

_OUTDATED_TANGENT = (
    "a tensor whose conjugate is in use is being written in place in forward mode: in PyTorch the conjugate, and its "
    "tangent, would be read anew. Call conj() after the write."
)


def _refuse(record: Record, grad: Any, retain_graph: bool) -> NoReturn:
    raise RuntimeError(_OUTDATED)


_OUTDATED_CONJUGATE = Kind("ConjBackward0", _refuse, _refuse)
#: By the counter of memory: the conjugates made of it, weakly, each with its array and the array it was made of.
_followers: weakref.WeakKeyDictionary[VersionCounter, list[tuple[Any, Any, Any]]] = weakref.WeakKeyDictionary()


_version: Any = vars(VersionCounter)["version"]
_writer: Any = vars(VersionCounter)["writer"]


class Followed(VersionCounter):
    """The counter of memory that has conjugates: where it counts a write, they are computed anew."""

    __slots__ = ()

    @property
    def version(self) -> int:  # type: ignore[override]
        """How often the memory was written."""
        return _version.__get__(self)  # type: ignore[no-any-return]

    @version.setter
    def version(self, count: int) -> None:
        _version.__set__(self, count)
        for conjugate, numbers, source in _living(self):
            if conjugate._array is numbers:
                np.conjugate(source, out=numbers)
                share(conjugate).version += 1

    @property
    def writer(self) -> Any:  # type: ignore[override]
        """Who wrote last, if that was recorded."""
        return _writer.__get__(self)

    @writer.setter
    def writer(self, record: Any) -> None:
        _writer.__set__(self, record)
        for conjugate, _, _ in _living(self):
            conjugate._edge = Record.of(_OUTDATED_CONJUGATE, (edge_of(conjugate) or record(),))


def _living(counter: Followed) -> list[tuple[Tensor, Any, Any]]:
    """The conjugates that somebody still holds, with their arrays and those that they were made of."""
    entries = [entry for entry in _followers.get(counter, ()) if entry[0]() is not None]
    _followers[counter] = entries
    return [(conjugate, *arrays) for reference, *arrays in entries if (conjugate := reference()) is not None]


def check_unfollowed(target: Tensor) -> None:
    """RuntimeError where a tensor is to be written whose conjugate is in use, whose tangent would not follow."""
    counter = target._counter
    if isinstance(counter, Followed) and _living(counter):
        raise RuntimeError(_OUTDATED_TANGENT)


def follow(conjugate: Tensor, source: Tensor) -> None:
    """Have a conjugate computed anew whenever the memory that it was made of is written."""
    counter = share(source)
    if source._array.dtype.metadata is not None:
        return  # on meta there are no numbers
    share(conjugate)
    if is_conjugate(source):
        conjugate.__dict__["_followed"] = source  # which must be there to be computed anew, and this one after it
    if type(counter) is VersionCounter:
        counter.__class__ = Followed
    _followers.setdefault(counter, []).append((weakref.ref(conjugate), conjugate._array, source._array))
