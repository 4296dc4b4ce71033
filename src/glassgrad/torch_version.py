"""The ``torch.torch_version`` namespace: a version that compares with strings and tuples by its numbers."""

from __future__ import annotations

import re
from typing import Any

from .version import __version__ as _internal_version

_NUMBERS = re.compile(r"v?(\d+(?:\.\d+)*)((?:a|b|rc|\.dev)\d*)?")


class TorchVersion(str):
    """A version: ``TorchVersion("2.13.0") >= (2, 1)`` and ``>= "2.1"`` are both true.

    Compared are the numbers, then whether it is a release, then what follows a ``+``.
    """

    def _key(self, other: Any) -> tuple[Any, ...]:
        if not isinstance(other, str):
            other = ".".join(str(part) for part in other)
        public, _, local = other.strip().partition("+")
        match = _NUMBERS.fullmatch(public)
        if match is None:
            raise ValueError(f"Invalid version: '{other}'")
        numbers = [int(part) for part in match[1].split(".")]
        while len(numbers) > 1 and numbers[-1] == 0:
            numbers.pop()
        return tuple(numbers), match[2] is None, match[2] or "", local

    def _compared(self, other: Any, by: str) -> Any:
        if not isinstance(other, (str, tuple, list)):
            return NotImplemented
        try:
            mine, theirs = self._key(self), self._key(other)
        except ValueError:
            return getattr(str, by)(self, other) if isinstance(other, str) else NotImplemented
        return getattr(tuple, by)(mine, theirs)

    def __lt__(self, other: Any) -> Any:
        return self._compared(other, "__lt__")

    def __le__(self, other: Any) -> Any:
        return self._compared(other, "__le__")

    def __gt__(self, other: Any) -> Any:
        return self._compared(other, "__gt__")

    def __ge__(self, other: Any) -> Any:
        return self._compared(other, "__ge__")

    def __eq__(self, other: Any) -> Any:
        return self._compared(other, "__eq__")

    def __ne__(self, other: Any) -> Any:
        return self._compared(other, "__ne__")

    __hash__ = str.__hash__


__version__ = TorchVersion(_internal_version)
__all__ = ["TorchVersion"]
