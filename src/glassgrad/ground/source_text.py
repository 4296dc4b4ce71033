"""Python that is written by programs: its lines, its names, and how it is run."""

from __future__ import annotations

import builtins
import keyword
import linecache
import re
from collections.abc import Callable, Iterable
from math import isfinite
from typing import Any

from .size import Size


def run_text(text: str, filename: str, names: dict[str, Any], made: dict[str, Any] | None = None) -> None:
    """Run a text with some names, to which goes what it defines, or to ``made``; tracebacks show its lines."""
    linecache.cache[filename] = (len(text), None, text.splitlines(keepends=True), filename)
    exec(compile(text, filename, "exec", dont_inherit=True), names, made)


class Text:
    """Lines of Python, and what its names stand for.

    reserved  names that the text has for itself, and the pattern ``own`` of others
    """

    def __init__(self, names: dict[str, Any], reserved: Iterable[str] = (), own: str = "") -> None:
        self.lines: list[str] = []
        self.names = names
        self._reserved, self._own = frozenset([*dir(builtins), *keyword.kwlist, *reserved]), own
        self._named: dict[int, str] = {}
        self._taken: dict[str, int] = {}

    def add(self, line: str) -> None:
        """One more line."""
        self.lines.append(line)

    def name(self, thing: Any, wish: str) -> str:
        """A name for an object of the text's surroundings; the same object has one name."""
        known = self._named.get(id(thing))
        if known is None:
            known = self._free(wish)
            self._named[id(thing)] = known
            self.names[known] = thing
        return known

    def _free(self, wish: str) -> str:
        wish = re.sub(r"\W+", "_", wish, flags=re.ASCII).strip("_") or "thing"
        if wish[0].isdigit() or re.fullmatch(self._own, wish):
            wish = f"n_{wish}"
        taken = self._taken.get(wish, 0)
        self._taken[wish] = taken + 1
        name = wish if not taken else f"{wish}_{taken}"
        return name if name not in self.names and name not in self._reserved else self._free(wish)

    def literal(self, thing: Any) -> str:
        """How the text writes an object: by itself where it is short and plain, else by a name."""
        if thing is None or type(thing) in (bool, int, str) or type(thing) is float and isfinite(thing):
            return repr(thing)
        return self.name(thing, type(thing).__name__)

    def tree(self, thing: Any, leaf: Callable[[Any], str]) -> str:
        """How the text writes nested tuples, lists and dicts, whose leaves ``leaf`` writes."""
        if isinstance(thing, dict):
            inner = ", ".join([f"({self.literal(key)}, {self.tree(piece, leaf)})" for key, piece in thing.items()])
        elif isinstance(thing, (tuple, list)) and type(thing) is not Size:
            inner = ", ".join([self.tree(piece, leaf) for piece in thing])
            if type(thing) is tuple:
                return f"({inner}{',' if len(thing) == 1 else ''})"
        else:
            return leaf(thing)
        if type(thing) is list:
            return f"[{inner}]"
        maker = self.name(type(thing), type(thing).__name__)
        return f"{maker}{'._make' if hasattr(thing, '_make') else ''}([{inner}])"
