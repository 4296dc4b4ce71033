"""What a program takes for granted, as words of memory that one native call compares before each run.

CPython numbers every state of every dict: a *version* that no other state of any dict has, so that one word tells
whether an attribute, an entry or a key is other than it was. What is no dict is compared itself: the entries of a
list, the slots of a tensor, the variable of a closure. A hundred comparisons take as long as two of Python's.

Words only say that nothing changed. Where one differs, the program's text is asked, which tells what matters; then the
versions are noted anew. Where Python or its objects are of another make than those known here, only the text is asked.
"""

from __future__ import annotations

import ctypes
import gc
import sys
from array import array
from collections import OrderedDict
from collections.abc import Iterable
from functools import cache
from types import CellType, FunctionType, MappingProxyType
from typing import Any

from ..core.tensor import Tensor, wrap
from .guards import Place

_WORD = 8
_TYPE, _SIZE, _ITEMS = 8, 16, 24  # bytes from an object's beginning: its class; of lists, their length and entries
_USED, _VERSION = 16, 24  # of dicts
_CELL = 16
_HOME = range(-4 * _WORD, 8 * _WORD, _WORD)  # where the address of an object's dict may be
ITSELF = -1  # an entry that is the word at its address; others are so many bytes after the address that is there
BEGIN = 3  # words of a table before its entries: whether they hold, how many there are, how many of them are versions
OF_GRADIENT = 7  # entries that tell that a gradient may be used again


def _at(address: int) -> int:
    return ctypes.c_int64.from_address(address).value


class _Layout:
    """Where in objects of this Python the words are that may be compared; LookupError where that is not found."""

    def __init__(self) -> None:
        probe = wrap(None)
        probe._array, probe._edge, probe._counter = [], {}, ()  # type: ignore[assignment]
        names = ("_array", "_edge", "_counter")
        self.slots = {name: _found(probe, getattr(probe, name), range(2 * _WORD, 8 * _WORD, _WORD)) for name in names}
        self.home = _found(probe, probe.__dict__, _HOME)

        def function(x: Any = probe) -> Any:
            return x

        size = range(2 * _WORD, type(function).__basicsize__, _WORD)
        self.fields = {name: _found(function, getattr(function, name), size) for name in ("__code__", "__defaults__")}


def _found(thing: Any, value: Any, where: Iterable[int]) -> int:
    """The offset of the one word of an object that is the address of a value."""
    places = [offset for offset in where if _at(id(thing) + offset) == id(value)]
    if len(places) != 1:
        raise LookupError
    return places[0]


@cache
def layout() -> _Layout | None:
    """The layout of objects, if it is known and was tried."""
    if sys.implementation.name != "cpython" or not (3, 11) <= sys.version_info < (3, 14):
        return None
    if ctypes.sizeof(ctypes.c_void_p) != _WORD or not getattr(sys, "_is_gil_enabled", lambda: True)():
        return None
    if hasattr(sys, "gettotalrefcount") or not (_words_as_known() and _versions_as_known()):
        return None
    try:
        return _Layout()
    except LookupError:
        return None


def _words_as_known() -> bool:
    """Whether lengths, entries, cells, classes and references lie where they are looked for."""
    first, second = object(), object()
    things = [first, second]
    cell = CellType(first)
    items = _at(id(things) + _ITEMS)
    lengths = {0: {}, 2: {1: 2, 3: 4}, 1: OrderedDict(a=1)}  # type: dict[int, Any]
    return (
        _at(id(things) + _SIZE) == 2
        and (_at(items), _at(items + _WORD)) == (id(first), id(second))
        and _at(id(cell) + _CELL) == id(first)
        and _at(id(first) + _TYPE) == id(object)
        and _at(id(second)) == sys.getrefcount(second) - 1
        and all(_at(id(one) + _USED) == n for n, one in lengths.items())
    )


class _Probe:
    """Something whose attributes are set in every way that there is."""

    a: Any = None


def _versions_as_known() -> bool:
    """Whether every change of a dict gives it a version that was not there before."""
    thing = _Probe()
    own = thing.__dict__
    of_class = gc.get_referents(vars(_Probe))[0]
    if type(of_class) is not dict:
        return False
    met = [0]

    def changed(other: Any = own) -> bool:
        met.append(_at(id(other) + _VERSION))
        return met[-1] != met[-2]

    ways = [
        lambda: setattr(thing, "a", 1), lambda: setattr(thing, "a", 2), lambda: own.update(a=3), lambda: own.pop("a"),
        lambda: own.__setitem__("b", 4), lambda: own.setdefault("c", 5), lambda: own.__ior__({"d": 6}),
        lambda: own.__delitem__("b"), lambda: own.popitem(), lambda: setattr(thing, "e", 7),
        lambda: delattr(thing, "e"), lambda: own.clear(), lambda: setattr(thing, "a", 8),
    ]  # fmt: skip
    for way in ways:
        before = dict(own)
        way()
        if (before != own) and not changed():
            return False
    for n in range(64):  # a place in code that is run often is made quicker: it must go on numbering
        thing.a = n
        if not changed():
            return False
    for n in range(64):
        _Probe.a = n
        if not changed(of_class):
            return False
    return thing.__dict__ is own and len(met) == len(set(met))


class Words:
    """The words of one program: what they are told of they keep alive."""

    def __init__(self, known: _Layout, restless: Iterable[Any]) -> None:
        self._known = known
        self._restless = {id(one) for one in restless}  # dicts that change between calls as a matter of course
        self._versions: dict[int, Any] = {}
        self._fixed: dict[tuple[int, int], int] = {}
        self._kept: list[Any] = []

    def _word(self, thing: Any, offset: int, word: int, behind: int = ITSELF) -> bool:
        self._kept.append(thing)
        return self._fixed.setdefault((id(thing) + offset, behind), word) == word

    def _is(self, thing: Any, offset: int, value: Any, behind: int = ITSELF) -> bool:
        self._kept.append(value)
        return self._word(thing, offset, id(value), behind)

    def dictionary(self, thing: Any) -> bool:
        """Tell of everything in a dict; False where that cannot be told."""
        if type(thing) is MappingProxyType:
            (thing, *_) = gc.get_referents(thing)
        if type(thing) is not dict or id(thing) in self._restless or "__builtins__" in thing or "__spec__" in thing:
            return False
        self._versions[id(thing)] = thing
        return True

    def attributes(self, tensor: Tensor) -> bool:
        """Tell of a tensor's attributes."""
        own = tensor.__dict__
        return (
            _at(id(tensor) + self._known.home) == id(own)
            and self.dictionary(own)
            and self._is(tensor, self._known.home, own)
        )

    def slot(self, tensor: Tensor, name: str) -> bool:
        """Tell of a tensor's array, place in the graph, or version."""
        return self._is(tensor, self._known.slots[name], getattr(tensor, name))

    def length(self, thing: Any) -> bool:
        """Tell of the length of a list or dict."""
        if type(thing) is list or type(thing) in (dict, OrderedDict):
            return self._word(thing, _SIZE if type(thing) is list else _USED, len(thing))
        return False

    def items(self, things: Any) -> bool:
        """Tell of everything in a list."""
        if type(things) is not list:
            return False
        self.length(things)
        return all([self._is(things, _ITEMS, one, n * _WORD) for n, one in enumerate(things)])

    def place(self, place: Place) -> bool:
        """Tell of a place; False where that cannot be told."""
        container, kind = place.container, place.kind
        if kind in ("attribute", "key", "has", "attributes", "keys", "setting"):
            return self.dictionary(container)
        if kind == "length":
            return self.length(container)
        if kind == "item":
            return self.items(container)
        if kind == "cell":
            return type(container) is CellType and self._is(container, _CELL, place.value)
        if kind == "field" and place.key == "__class__":
            return type(container) is place.value and self._is(container, _TYPE, place.value)
        if kind == "field" and type(container) is FunctionType and place.key in self._known.fields:
            offset = self._known.fields[place.key]
            self._kept.append(place.value)
            return self._word(container, offset, _at(id(container) + offset))
        return False

    def table(self, gradients: int) -> array[int]:
        """The words with room for those of gradients; nothing holds until the versions were noted."""
        entries = [word for thing in self._versions for word in (thing + _VERSION, ITSELF, 0)]
        entries += [word for (address, behind), value in self._fixed.items() for word in (address, behind, value)]
        count = len(entries) // 3 + OF_GRADIENT * gradients
        return array("q", [0, count, len(self._versions), *entries, *[0] * (3 * OF_GRADIENT * gradients)])

    def note_gradient(self, table: array[int], place: int, grad: Tensor, data: Any) -> None:
        """Tell that nobody else holds a gradient or its array, and that it is as it was made; counted from the last."""
        known = self._known
        own = grad.__dict__
        words = [
            (id(grad), 2), (id(data), 2),  # a list of the program's and the leaf; the same list and the tensor
            (id(grad) + known.slots["_array"], id(data)), (id(grad) + known.slots["_counter"], id(None)),
            (id(grad) + known.slots["_edge"], id(None)), (id(grad) + known.home, id(own)), (id(own) + _USED, 0),
        ]  # fmt: skip
        begin = len(table) - 3 * OF_GRADIENT * (place + 1)
        for n, (address, word) in enumerate(words):
            table[begin + 3 * n], table[begin + 3 * n + 1], table[begin + 3 * n + 2] = address, ITSELF, word
