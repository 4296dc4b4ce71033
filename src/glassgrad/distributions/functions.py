"""The catalogue's functions as attributes: how distributions call ``where``, ``stack`` or ``empty``."""

from __future__ import annotations

from typing import Any

from ..ops.catalogue import FUNCTIONS


class _Functions:
    """Has each function as an attribute once it was asked for."""

    def __getattr__(self, name: str) -> Any:
        if name not in FUNCTIONS:
            raise AttributeError(f"no function of the catalogue is named {name!r}")
        function = self.__dict__[name] = FUNCTIONS[name]
        return function


functions: Any = _Functions()
