"""Names for values in printed code: unique, legal in Python, and those of builtins left to the builtins."""

from __future__ import annotations

import builtins
import keyword
import math
import re
from importlib import import_module
from typing import Any, NamedTuple

from ..ground.device import device
from ..utils import _pytree as pytree
from . import _pytree as fx_pytree
from .names import HOME

_SHAPE = re.compile(r"^([a-zA-Z_][0-9a-zA-Z_]*?)(?:_(\d+))?$")
_ILLEGAL = re.compile("[^0-9a-zA-Z_]+")
_CAPITAL = re.compile(r"(?<=[a-z])([A-Z])")


class Builtin(NamedTuple):
    """A name that all printed code may use: how it is imported, and what it is."""

    import_str: str
    obj: Any


custom_builtins = {
    "inf": Builtin("from math import inf", math.inf),
    "nan": Builtin("from math import nan", math.nan),
    "NoneType": Builtin("NoneType = type(None)", type(None)),
    "torch": Builtin("import torch", import_module(HOME)),
    "device": Builtin("from torch import device", device),
    "fx_pytree": Builtin("import torch.fx._pytree as fx_pytree", fx_pytree),
    "pytree": Builtin("import torch.utils._pytree as pytree", pytree),
}
_taken: dict[str, Any] = {
    **{name: object() for name in keyword.kwlist},
    **vars(builtins),
    **{name: builtin.obj for name, builtin in custom_builtins.items()},
}


def snake_case(name: str) -> str:
    """``MaxPool`` as ``max_pool``."""
    return _CAPITAL.sub(r"_\1", name).lower()


class Namespace:
    """The names that are in use."""

    def __init__(self) -> None:
        self._obj_to_name: dict[Any, str] = {}
        self._used_names: set[str] = set()
        self._base_count: dict[str, int] = {}

    def create_name(self, candidate: str, obj: Any) -> str:
        """The name of ``obj``: as before, or a new one like ``candidate``."""
        if obj is not None and obj in self._obj_to_name:
            return self._obj_to_name[obj]
        candidate = _ILLEGAL.sub("_", candidate) or "_unnamed"
        if candidate[0].isdigit():
            candidate = f"_{candidate}"
        base, suffix = _SHAPE.match(candidate).groups()  # type: ignore[union-attr]
        if suffix is None or candidate in self._used_names:
            number = self._base_count.get(base, 0)
            if _taken.get(candidate, obj) is not obj:
                number += 1
                candidate = f"{base}_{number}"
        else:
            number = int(suffix)
        while candidate in self._used_names:
            number += 1
            candidate = f"{base}_{number}"
        self._used_names.add(candidate)
        self._base_count[base] = number
        if obj is not None:
            self._obj_to_name[obj] = candidate
        return candidate
