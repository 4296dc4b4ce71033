"""A module's members of one kind by name, shown among its attributes: what Python finds there costs no search."""

from __future__ import annotations

import weakref
from collections.abc import Iterable
from typing import Any

search: Any = None  # the ``__getattr__`` of modules, which finds members where nothing is shown; from tree.py


class Members(dict[str, Any]):
    """A dictionary that keeps its owner's attributes in step; copied and pickled as a plain one.

    Python asks ``__getattr__`` only after a search that failed, which takes longer than a small layer's arithmetic.
    """

    __slots__ = ("_owner",)

    def __init__(self, owner: Any, members: Iterable[Any] = ()) -> None:
        super().__init__(members)
        self._owner = weakref.ref(owner)
        for name, member in self.items():
            self._show(name, member)

    def _show(self, name: str, member: Any) -> None:
        owner = self._owner()
        if owner is None or type(owner).__getattr__ is not search:  # a search of its own is asked each time
            return
        if not hasattr(type(owner), name):  # what the class has is found first, as in PyTorch
            owner.__dict__[name] = member

    def hide(self, *names: str) -> None:
        """Take members out of the owner's attributes."""
        owner = self._owner()
        for name in names if owner is not None else ():
            owner.__dict__.pop(name, None)

    def __setitem__(self, name: str, member: Any) -> None:
        super().__setitem__(name, member)
        self._show(name, member)

    def __delitem__(self, name: str) -> None:
        super().__delitem__(name)
        self.hide(name)

    def pop(self, name: str, *default: Any) -> Any:
        if name in self:
            self.hide(name)
        return super().pop(name, *default)

    def popitem(self) -> tuple[str, Any]:
        name, member = super().popitem()
        self.hide(name)
        return name, member

    def clear(self) -> None:
        self.hide(*self)
        super().clear()

    def update(self, *args: Any, **kwargs: Any) -> None:
        for name, member in dict(*args, **kwargs).items():
            self[name] = member

    def setdefault(self, name: str, default: Any = None) -> Any:
        if name not in self:
            self[name] = default
        return self[name]

    def __ior__(self, others: Any) -> Members:  # type: ignore[override,misc]
        self.update(others)
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        return dict, (), None, None, iter(self.items())
