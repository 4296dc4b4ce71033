"""A register of what many files declare: a name looked up has its file imported first; knows only names."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Generic, TypeVar

from . import importing

Kept = TypeVar("Kept")
load: Callable[[str], None] = NotImplemented  # imports a family; handed in by ops/catalogue.py
load_all: Callable[[], None] = NotImplemented
#: ``hand_in(holder, name, family)``: the first call of ``holder.name`` imports the family, which puts a function there.
hand_in: Callable[[Any, str, str], None] = NotImplemented
#: ``complete(owner, name)``: a class of sparse tensors gets its methods, whose family comes with the first of them.
complete: Callable[[type, str], None] = NotImplemented


class Register(dict[str, Kept], Generic[Kept]):
    """What is declared, by name.  A name looked up has its family imported first; all of it, all families."""

    def __init__(self) -> None:
        self.families: dict[str, str] = {}  # where names are declared, in the order of the catalogue

    def __setitem__(self, name: str, value: Kept) -> None:
        run = importing.declaring()
        if run is importing.elsewhere:
            dict.__setitem__(self, name, value)
        run.declared.append((self, name, value))

    def is_taken(self, name: str) -> bool:
        """Whether this is declared: for all to see, or by the file that is being run."""
        run = importing.declaring()
        is_visible = dict.__contains__(self, name) and not importing.is_superseded(run)
        return is_visible or any(register is self and key == name for register, key, _ in run.declared)

    def __missing__(self, name: str) -> Kept:
        if name not in self.families:
            raise KeyError(name)
        load(self.families[name])
        if not dict.__contains__(self, name):
            raise KeyError(name)
        return self[name]

    def __contains__(self, name: object) -> bool:
        if not dict.__contains__(self, name) and name in self.families:
            load(self.families[name])  # type: ignore[index]
        return dict.__contains__(self, name)

    def get(self, name: str, default: Any = None) -> Any:
        """What goes by this name, or the default."""
        return self[name] if name in self else default

    def keys(self) -> list[str]:  # type: ignore[override]  # in the catalogue's order, whatever was imported first
        """All names."""
        load_all()
        known = dict.fromkeys(name for name in self.families if dict.__contains__(self, name))
        return [*known, *(name for name in dict.__iter__(self) if name not in known)]

    def __iter__(self) -> Iterator[str]:
        return iter(self.keys())

    def __len__(self) -> int:
        return len(self.keys())

    def values(self) -> list[Kept]:  # type: ignore[override]
        """All that is declared."""
        return [self[name] for name in self.keys()]

    def items(self) -> list[tuple[str, Kept]]:  # type: ignore[override]
        """All names with what they stand for."""
        return [(name, self[name]) for name in self.keys()]
