"""Arguments that hold tensors in containers, spread out: what is in them becomes arguments of the program."""

from __future__ import annotations

from typing import Any

from ..core.tensor import Tensor
from ..ground.size import Size
from ..nn.modules.module import Module

_MOST = 512  # pieces; more are data
_LEAF = ("leaf",)


class Spread:
    """A call's arguments: ``leaves`` in order, the ``layout`` they have, and the containers, by identity."""

    __slots__ = ("leaves", "layout", "holders")

    def __init__(self, leaves: list[Any], layout: Any, holders: frozenset[int]) -> None:
        self.leaves, self.layout, self.holders = leaves, layout, holders


class _TooMuch(Exception):  # noqa: N818  it is told to nobody
    """A container that is not spread out."""


def spread(args: tuple[Any, ...], kwargs: dict[str, Any]) -> Spread | None:
    """The arguments of a call spread out; None where no tensor is in a container."""
    everything = [*args, *kwargs.values()]
    for argument in everything:
        if not isinstance(argument, Tensor) and _parts(argument) is not None:
            break
    else:
        return None
    leaves: list[Any] = []
    met: dict[int, int] = {}

    def layout(thing: Any, inner: bool) -> Any:
        parts = None if isinstance(thing, Tensor) else _parts(thing)
        if parts is None or not (inner or _has_tensor(thing, set())):
            leaves.append(thing)
            if len(leaves) > _MOST:
                raise _TooMuch
            return _LEAF
        if id(thing) in met:
            return "again", met[id(thing)]
        met[id(thing)] = len(met)
        keys, pieces = parts
        return type(thing), keys, tuple([layout(piece, True) for piece in pieces])

    try:
        whole = (len(args), tuple(kwargs), tuple([layout(argument, False) for argument in everything]))
        hash(whole)
    except (_TooMuch, TypeError, RecursionError):
        return None
    return Spread(leaves, whole, frozenset(met)) if met else None


def _parts(thing: Any) -> tuple[Any, Any] | None:
    """The keys of a container and what is there; None for anything else."""
    kind = type(thing)
    if kind is list or kind is tuple or (isinstance(thing, tuple) and hasattr(thing, "_fields")):
        return len(thing), tuple(thing)
    if kind is dict:
        return tuple([(type(key), key) for key in thing]), tuple(thing.values())
    fields = getattr(kind, "__dataclass_fields__", None)
    if fields is not None and not isinstance(thing, (Module, Size)):
        own = getattr(thing, "__dict__", None)
        if own is not None and own.keys() == fields.keys():
            return tuple(own), tuple(own.values())
    return None


def _has_tensor(thing: Any, met: set[int]) -> bool:
    if isinstance(thing, Tensor):
        return True
    parts = _parts(thing)
    if parts is None or id(thing) in met or len(met) > _MOST:
        return False
    met.add(id(thing))
    return any(_has_tensor(piece, met) for piece in parts[1])
