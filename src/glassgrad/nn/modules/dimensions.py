"""Families of layers that differ in their number of dimensions alone: each of them is one line."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .module import Module

#: How docstrings speak of one, two and three dimensions.
_WORDS = (
    {"last": "the last dimension", "sizes": "L", "windows": "(N, C, windows)", "edges": "(left, right)"},
    {
        "last": "the last two dimensions", "sizes": "H, W", "windows": "(N, C, windows down, windows across)",
        "edges": "(left, right, top, bottom)",
    },
    {
        "last": "the last three dimensions", "sizes": "D, H, W", "windows": "as many windows each way",
        "edges": "(left, right, top, bottom, front, back)",
    },
)  # fmt: skip


class Dimensional(Module):
    """What such a family shares: ``class MaxPool2d(_MaxPool, dims=2)`` is its member for two dimensions.

    The member's function is the second of ``_functions``, if the family has such. Its docstring, unless it has its own,
    is the family's, in which ``{last}`` and the other words above stand for what differs, ``{name}`` for its own name
    and ``{eager}`` for that without "Lazy".
    """

    _dims = 0
    _functions: Sequence[Any] = ()
    _function: Any

    def __init_subclass__(cls, dims: int = 0, **options: Any) -> None:
        super().__init_subclass__(**options)
        if not dims:
            return
        cls._dims = dims
        if cls._functions:
            cls._function = staticmethod(cls._functions[dims - 1])
        if cls.__doc__ is None:
            words = {"name": cls.__name__, "eager": cls.__name__.removeprefix("Lazy"), "dims": dims, **_WORDS[dims - 1]}
            cls.__doc__ = (cls.__bases__[0].__doc__ or "").format(**words)
